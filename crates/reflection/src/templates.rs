//! The library of ready tools that a reflection can propose.
//!
//! A template is a small, pure function with its parameters, examples and properties, and the ways in which tasks ask
//! for it (`templates/NAME.ts` and `templates/NAME.json`). Words are mapped to concepts by `templates/concepts/`.
//!
//! Invariant: a template is proposed only for a task whose every word is accounted for by it, and only if no other
//! template fits as well. Text of a task gets into parameter defaults and names, never into code.

mod ask;
mod clause;
mod token;
mod vocabulary;

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolcell_tool::{NAME_LIMIT, ToolName};

use crate::task_language::TaskLanguage;
use crate::trigger::Trigger;
use ask::Ask;
use clause::{Convention, Request};
use token::tokens;
use vocabulary::Vocabulary;

/// The templates and the words, compressed with Zstandard (RFC 8878).
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/template.zst"));

/// A template.
#[derive(Debug)]
pub(crate) struct Template {
    /// The source code.
    code: &'static str,
    about: About,
}

impl Template {
    /// Whether the template keeps a convention.
    fn keeps(&self, convention: Convention) -> bool {
        match convention {
            Convention::Returns(types) => self.about.returns["type"].as_str().is_some_and(|kind| types.contains(&kind)),
            Convention::KeepsOrder => self.about.keeps_order,
            Convention::KeepsRemainder => self.about.keeps_remainder,
            Convention::LeavesRest => self.about.leaves_rest,
            Convention::Takes(count) => self.about.parameters.0.len() >= count,
            Convention::IsoDates => {
                let mut parameters = self.about.parameters.0.iter();
                parameters.any(|(_, parameter)| parameter.description.en.contains("YYYY-MM-DD"))
            }
        }
    }

    /// Whether the main input is one text.
    fn takes_one_text(&self) -> bool {
        self.about.parameters.0.first().is_some_and(|(_, main)| main.definition["type"] == "string")
    }
}

/// The file of a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    name: String,
    description: Texts,
    tags: Vec<String>,
    trigger: Trigger,
    parameters: Parameters,
    returns: Value,
    examples: Vec<Value>,
    /// Whether the result is made of parts of the input, in their order.
    #[serde(default)]
    keeps_order: bool,
    /// Whether a last part that is smaller than the others is part of the result.
    #[serde(default)]
    keeps_remainder: bool,
    /// Whether what the template is not for stays as it is.
    #[serde(default)]
    leaves_rest: bool,
    /// Expressions that hold for all results. Tests check them.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    properties: Vec<String>,
    asks: Vec<Ask>,
}

/// The parameters of a template, the main input first.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct Parameters(Vec<(String, Parameter)>);

impl TryFrom<Map<String, Value>> for Parameters {
    type Error = serde_json::Error;

    fn try_from(parameters: Map<String, Value>) -> Result<Self, Self::Error> {
        let parse = |(name, definition)| Ok((name, serde_json::from_value(definition)?));
        parameters.into_iter().map(parse).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Debug, Deserialize)]
struct Parameter {
    description: Texts,
    /// The other fields of the short form of `create_tool`.
    #[serde(flatten)]
    definition: Map<String, Value>,
}

/// A text in the languages of tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    en: String,
    ja: String,
    zh: String,
}

impl Texts {
    fn pick(&self, language: TaskLanguage) -> &str {
        match language {
            TaskLanguage::En | TaskLanguage::Th => &self.en,
            TaskLanguage::Ja => &self.ja,
            TaskLanguage::Zh => &self.zh,
        }
    }
}

/// All templates and the words that ask for them.
#[derive(Debug, Default)]
struct Library {
    templates: Vec<Template>,
    vocabulary: Vocabulary,
}

/// The library, which is unpacked on first use and kept. If the binary is damaged there, it has no template.
static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::unpack().unwrap_or_default());

impl Library {
    fn unpack() -> Option<Self> {
        let size = env!("TOOLCELL_TEMPLATE_BYTES").parse().ok()?;
        let bytes: &'static [u8] = zstd::bulk::decompress(PACKED, size).ok()?.leak();
        let (templates, concepts): (Vec<(&str, &str)>, Vec<&str>) = postcard::from_bytes(bytes).ok()?;
        Self::parse(&templates, &concepts).ok()
    }

    fn parse(templates: &[(&str, &'static str)], concepts: &[&str]) -> Result<Self, serde_json::Error> {
        let templates =
            templates.iter().map(|(about, code)| Ok(Template { code, about: serde_json::from_str(about)? }));
        Ok(Self { templates: templates.collect::<Result<_, _>>()?, vocabulary: Vocabulary::parse(concepts)? })
    }
}

/// A template that does a task, with the parameters that the task sets.
#[derive(Debug)]
pub(crate) struct Match {
    template: &'static Template,
    bound: Map<String, Value>,
}

/// Finds the template that does a task, if exactly one does.
///
/// What a task says about the purpose of the result is ignored. A convention may be part of how a template is asked for,
/// or else the template must keep it.
pub(crate) fn find_template(task: &str) -> Option<Match> {
    let library = &*LIBRARY;
    let Request { text, core, conventions } = Request::parse(task);
    let whole = library.find(&text, &[]);
    match core {
        Some(core) if whole.is_empty() => only(library.find(&core, &conventions)),
        _ => only(whole),
    }
}

/// Returns the match, if there is exactly one.
fn only(mut found: Vec<Match>) -> Option<Match> {
    let first = found.pop()?;
    found.is_empty().then_some(first)
}

impl Library {
    /// Returns the most specific matches among the templates that keep these conventions.
    fn find(&'static self, text: &str, conventions: &[Convention]) -> Vec<Match> {
        let Some(tokens) = tokens(text, &self.vocabulary) else { return Vec::new() };
        let (mut most, mut best) = (0, Vec::new());
        for template in self.templates.iter().filter(|template| conventions.iter().all(|it| template.keeps(*it))) {
            let asks = template.about.asks.iter();
            let matching =
                asks.filter_map(|ask| Some((ask.specificity(), ask.matches(&tokens, template.takes_one_text())?)));
            let Some((specificity, bound)) = matching.max_by_key(|(specificity, _)| *specificity) else { continue };
            if specificity > most {
                best.clear();
            }
            if specificity >= most {
                most = specificity;
                best.push(Match { template, bound });
            }
        }
        best
    }
}

impl Match {
    pub(crate) fn trigger(&self) -> Trigger {
        self.template.about.trigger
    }

    /// The name, with the parameters that the task sets. Those may be any quoted text: a parameter
    /// whose value has no letter or digit of a tool name gives its own name.
    pub(crate) fn name(&self) -> String {
        let name = self.fill(&self.template.about.name, |parameter, value| {
            let is_part = |char: &char| char.is_ascii_alphanumeric();
            let parts: Vec<_> = value.split(|char: char| !is_part(&char)).filter(|part| !part.is_empty()).collect();
            if parts.is_empty() { parameter.to_owned() } else { parts.join("_") }
        });
        let name: String = name.chars().take(NAME_LIMIT).collect();
        let is_valid = ToolName::parse(&name).is_ok();
        if is_valid { name } else { format!("tool_{name}").chars().take(NAME_LIMIT).collect() }
    }

    pub(crate) fn description(&self, language: TaskLanguage) -> String {
        self.fill(self.template.about.description.pick(language), |_, value| value.to_owned())
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.template.code
    }

    pub(crate) fn tags(&self) -> Vec<String> {
        self.template.about.tags.clone()
    }

    pub(crate) fn returns(&self) -> Value {
        self.template.about.returns.clone()
    }

    /// The examples, marked as those of a template.
    pub(crate) fn examples(&self) -> Vec<Value> {
        let mut examples = self.template.about.examples.clone();
        for fields in examples.iter_mut().filter_map(Value::as_object_mut) {
            fields.insert("source".to_owned(), Value::from("template"));
        }
        examples
    }

    /// The parameters in the short form of `create_tool`, with the defaults that the task sets.
    pub(crate) fn parameters(&self, language: TaskLanguage) -> Value {
        let parameters = self.template.about.parameters.0.iter().map(|(name, parameter)| {
            let mut definition = parameter.definition.clone();
            definition.insert("description".to_owned(), Value::from(parameter.description.pick(language)));
            if let Some(value) = self.bound.get(name) {
                definition.remove("required");
                definition.insert("default".to_owned(), value.clone());
            }
            (name.clone(), Value::Object(definition))
        });
        Value::Object(parameters.collect())
    }

    /// Replaces each `{parameter}` that the task sets by `show(parameter, value)`.
    fn fill(&self, text: &str, show: impl Fn(&str, &str) -> String) -> String {
        self.bound.iter().fold(text.to_owned(), |text, (parameter, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.replace(&format!("{{{parameter}}}"), &show(parameter, &value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::token::{NUMBER, QUOTED};
    use super::*;

    #[test]
    fn each_template_is_consistent() {
        let library = Library::unpack().unwrap();
        assert!(library.templates.len() > 200);
        let mut wrong = Vec::new();
        for template in &library.templates {
            let About { name, description, parameters, returns, examples, properties, asks, .. } = &template.about;
            let mut check = |is: bool, what: String| wrong.extend((!is).then(|| format!("{name}: {what}")));
            check(
                [&description.en, &description.ja, &description.zh].iter().all(|text| !text.is_empty()),
                "a description".into(),
            );
            check(
                returns.is_object() && examples.len() > 1 && !properties.is_empty() && !asks.is_empty(),
                "a part is missing".into(),
            );
            let is_parameter = |name: &str| parameters.0.iter().any(|(known, _)| known == name);
            for (parameter, Parameter { description, .. }) in &parameters.0 {
                let is_described =
                    !description.en.is_empty() && !description.ja.is_empty() && !description.zh.is_empty();
                check(is_described, format!("{parameter} is not described"));
            }
            for ask in asks {
                check(ask.parameters().all(is_parameter), "a slot is no parameter".into());
                let is_known =
                    |concept: &&str| [NUMBER, QUOTED].contains(concept) || library.vocabulary.has_concept(concept);
                for concept in ask.concepts().filter(|concept| !is_known(concept)) {
                    check(false, format!("there is no concept {concept}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_task_that_says_more_than_a_template_does_gets_none() {
        let name = |task: &str| find_template(task).map(|found| found.name());
        let check = |task: &str, expect: Option<&str>| assert_eq!(name(task).as_deref(), expect, "{task}");
        check("Convert miles to kilometres", Some("mile_to_kilometre"));
        check("to kilometres from miles, please convert", Some("mile_to_kilometre"));
        check("把华氏温度换算成摄氏度", Some("fahrenheit_to_celsius"));
        check("複数のCSVファイルをJSONに変換する", Some("csv_to_json"));
        check("Sort people by age", Some("sort_by_age"));
        check("Sort people by age and e-mail the list to Bob", None);
        check("Sort people by last name", None);
        check("Do not convert miles to kilometres", None);
        check("Calculate the average of the numbers. Args: drop lowest, drop highest", None);
        check("Reverse the text. Args: text, n", None);
        check("Convert miles to kilometres unless the value is negative", None);
        for trap in
            ["sum up the discussion", "count on me", "sort out the tests", "merge the branches", "reverse the decision"]
        {
            check(trap, None);
        }
        check(&"convert miles to kilometres ".repeat(10_000), None);
    }

    #[test]
    fn whatever_a_task_quotes_a_name_is_valid() {
        let long = "x".repeat(80);
        for quoted in ["年齢", "__proto__", "{key}", "a b", "7", "'; drop", &long] {
            for template in &LIBRARY.templates {
                let asks = template.about.asks.iter().flat_map(Ask::parameters);
                let bound = asks.map(|name| (name.to_owned(), Value::from(quoted))).collect();
                let name = Match { template, bound }.name();
                assert!(ToolName::parse(&name).is_ok(), "{name:?} of {}", template.about.name);
            }
        }
    }
}
