//! The rules about calls of tools that Toolcell does not run, such as the shell tool of an agent.
//!
//! Invariant: the strictest matching rule decides, whatever the order of rules and files. A
//! project's file can only make the decision about a call stricter.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::provenance::{Effective, Origin, Setting, Sourced, toml_key, toml_list, toml_string};

/// The characters that join or nest commands of a shell. `*` does not match them in a rule that
/// allows: `git *` is not to allow `git status; rm -r .`.
const SHELL_CONTROL: [char; 11] = [';', '&', '|', '<', '>', '$', '(', ')', '`', '\n', '\r'];
/// The parent folder in a path. A rule that allows `src/*` is not to allow `src/../../etc`.
const PARENT_FOLDER: &str = "..";

/// The decision of a rule about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallDecision {
    /// The call may run.
    Allow,
    /// A person decides.
    Ask,
    /// The call may not run.
    Deny,
}

impl CallDecision {
    /// Returns the name of the decision in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What the policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalRuling {
    /// The decision.
    pub decision: CallDecision,
    /// The reason that the rule gives.
    pub reason: Option<String>,
    /// The rule: its key and its position in a policy file.
    pub origin: Origin,
}

/// A rule of a policy file.
#[derive(Debug, Clone)]
pub(super) struct ExternalRule {
    tools: Vec<Glob>,
    args: BTreeMap<String, Vec<Glob>>,
    decision: CallDecision,
    reason: Option<String>,
    origin: Origin,
}

impl ExternalRule {
    /// Creates a rule from patterns, in which `*` stands for any text.
    pub(super) fn new(
        tools: &[String],
        args: BTreeMap<String, Vec<String>>,
        decision: CallDecision,
        reason: Option<String>,
        origin: Origin,
    ) -> Self {
        let patterns = |texts: Vec<String>| texts.iter().map(|text| Glob::new(text, str::to_owned)).collect();
        Self {
            tools: tools.iter().map(|tool| Glob::new(tool, case_folded)).collect(),
            args: args.into_iter().map(|(name, texts)| (name, patterns(texts))).collect(),
            decision,
            reason,
            origin,
        }
    }

    fn matches(&self, tool_name: &str, args: &Value) -> bool {
        let name = case_folded(tool_name);
        let matches_name = |tool: &Glob| tool.matches(&name, |_| true);
        self.tools.iter().any(matches_name)
            && self.args.iter().all(|(path, globs)| self.matches_argument(member(args, path), globs))
    }

    /// Whether an argument matches one of the patterns: for a rule that allows, each text in it has
    /// to; for one that restricts, any text.
    fn matches_argument(&self, argument: Option<&Value>, globs: &[Glob]) -> bool {
        let mut texts = Vec::new();
        if let Some(argument) = argument {
            collect_texts(argument, &mut texts);
        }
        let is_matched = |text: &Cow<'_, str>| globs.iter().any(|glob| self.matches_text(text, glob));
        match self.decision {
            CallDecision::Allow => !texts.is_empty() && texts.iter().all(is_matched),
            CallDecision::Ask | CallDecision::Deny => texts.iter().any(is_matched),
        }
    }

    fn matches_text(&self, text: &str, glob: &Glob) -> bool {
        match self.decision {
            CallDecision::Allow => {
                let leads_up = text.contains(PARENT_FOLDER) && !glob.text.contains(PARENT_FOLDER);
                !leads_up && glob.matches(text, |gap| !gap.contains(SHELL_CONTROL))
            }
            // Blanks are not significant to a shell.
            CallDecision::Ask | CallDecision::Deny => {
                glob.matches(text, |_| true) || glob.matches(&collapse_blanks(text), |_| true)
            }
        }
    }

    /// Formats the rule as TOML.
    fn to_toml(&self) -> String {
        let args: Vec<String> = self
            .args
            .iter()
            .map(|(name, globs)| format!("{} = {}", toml_key(name), toml_list(globs.iter().map(|glob| &glob.text))))
            .collect();
        let mut fields = vec![format!("tools = {}", toml_list(self.tools.iter().map(|tool| &tool.text)))];
        if !args.is_empty() {
            fields.push(format!("args = {{ {} }}", args.join(", ")));
        }
        fields.push(format!("decision = {}", toml_string(self.decision.name())));
        fields.extend(self.reason.iter().map(|reason| format!("reason = {}", toml_string(reason))));
        format!("{{ {} }}", fields.join(", "))
    }
}

/// The rules of all files.
#[derive(Debug, Clone)]
pub(super) struct ExternalRules {
    default: Effective<Option<CallDecision>>,
    rules: Vec<ExternalRule>,
    /// The rules of projects that would allow something.
    ignored: Vec<ExternalRule>,
}

impl Default for ExternalRules {
    fn default() -> Self {
        Self { default: Effective::built_in(None), rules: Vec::new(), ignored: Vec::new() }
    }
}

impl ExternalRules {
    /// Adds the rules of a file. Rules of a project that allow a call are ignored.
    pub(super) fn apply(&mut self, default: Option<&Sourced<CallDecision>>, rules: Vec<ExternalRule>) {
        let default = default.map(|stated| Sourced { value: Some(stated.value), origin: stated.origin.clone() });
        self.default.apply(default.as_ref(), width);
        let (wider, rules): (Vec<_>, Vec<_>) =
            rules.into_iter().partition(|rule| rule.decision == CallDecision::Allow && rule.origin.can_only_narrow());
        self.rules.extend(rules);
        self.ignored.extend(wider);
    }

    /// Returns the decision about a call; `None` if no rule decides.
    pub(super) fn decide(&self, tool_name: &str, args: &Value) -> Option<ExternalRuling> {
        let matching = self.rules.iter().filter(|rule| rule.matches(tool_name, args));
        // The first of several rules that are equally strict.
        let strictest = matching.reduce(|best, rule| if rule.decision > best.decision { rule } else { best });
        match strictest {
            Some(rule) => Some(ExternalRuling {
                decision: rule.decision,
                reason: rule.reason.clone(),
                origin: rule.origin.clone(),
            }),
            None => Some(ExternalRuling {
                decision: self.default.value?,
                reason: None,
                origin: self.default.origin.clone(),
            }),
        }
    }

    /// Returns the settings for display.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let name =
            |decision: Option<CallDecision>| decision.map_or_else(|| "none".to_owned(), |it| toml_string(it.name()));
        let mut settings = Vec::new();
        if self.default.value.is_some() || !self.default.ignored.is_empty() {
            settings.push(Setting {
                key: "external_tools.default".to_owned(),
                value: name(self.default.value),
                origin: self.default.origin.clone(),
                ignored: self.default.ignored.iter().map(|it| (name(it.value), it.origin.clone())).collect(),
            });
        }
        let row = |value: String, origin: &Origin, ignored| Setting {
            key: "external_tools.rules".to_owned(),
            value,
            origin: origin.clone(),
            ignored,
        };
        settings.extend(self.rules.iter().map(|rule| row(rule.to_toml(), &rule.origin, Vec::new())));
        settings.extend(
            self.ignored
                .iter()
                .map(|rule| row("none".to_owned(), &Origin::BuiltIn, vec![(rule.to_toml(), rule.origin.clone())])),
        );
        settings
    }
}

/// Returns how much a default permits. A call without a decision is left to the program that asks.
fn width(decision: Option<CallDecision>) -> u64 {
    match decision {
        Some(CallDecision::Deny) => 0,
        Some(CallDecision::Ask) => 1,
        None => 2,
        Some(CallDecision::Allow) => 3,
    }
}

/// Returns the member of an object that a path of names leads to.
fn member<'v>(args: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(args, |value, name| value.get(name))
}

/// Collects the texts of a value: strings as they are, other scalars as JSON.
fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<Cow<'v, str>>) {
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => texts.push(value.to_string().into()),
        Value::String(text) => texts.push(text.into()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|item| collect_texts(item, texts)),
    }
}

/// Replaces each run of blanks by one space.
fn collapse_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the form of a name in which names that people would confuse are equal.
fn case_folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// A pattern in which `*` stands for any text.
#[derive(Debug, Clone)]
struct Glob {
    /// The pattern as written.
    text: String,
    /// The texts between the `*`.
    literals: Vec<String>,
}

impl Glob {
    fn new(text: &str, fold: impl Fn(&str) -> String) -> Self {
        Self { text: text.to_owned(), literals: text.split('*').map(fold).collect() }
    }

    /// Whether the pattern matches the whole text, and each text that a `*` stands for is
    /// permitted. Takes time proportional to the text for each `*`.
    fn matches(&self, text: &str, permits: impl Fn(&str) -> bool) -> bool {
        let [first, middle @ .., last] = &self.literals[..] else {
            return self.literals.first().is_some_and(|only| only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for literal in middle {
            // The leftmost place leaves most to the rest of the pattern.
            let Some((gap, after)) = rest.split_once(literal.as_str()) else { return false };
            if !permits(gap) {
                return false;
            }
            rest = after;
        }
        rest.strip_suffix(last.as_str()).is_some_and(permits)
    }
}
