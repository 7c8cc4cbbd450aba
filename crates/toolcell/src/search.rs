//! Which stored tools are about what somebody says, in whatever language.
//!
//! Invariant: whoever searches first makes what is missing of the index, so that a tool is found however it got into the
//! store. Searching changes nothing else, and leaves no line in the log.

use std::collections::HashSet;

use serde_json::Value;
use toolcell_reflection::{terms, words};
use toolcell_store::{Access, Entry, Fault, PAGE_LIMIT, Store, Terms};
use toolcell_tool::ToolSpec;

use crate::alike::signature;
use crate::params::Schema;
use crate::toolbox::Toolbox;

pub use toolcell_store::Found as Hit;

/// The way in which terms are made. Another one makes the index anew: raise it when `toolcell_reflection::terms` gives
/// other terms than before.
const WAY: &str = "3";
/// So many tools are indexed in one transaction.
const TOGETHER: usize = 256;
/// So many words of a query are looked for.
const WORDS_LIMIT: usize = 64;

/// Why nothing is found out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// As many cannot be had.
    #[error("limit is {actual}, and has to be 1 to {PAGE_LIMIT}")]
    Limit {
        /// How many were asked for.
        actual: usize,
    },
    /// Tools were not indexed yet, and cannot be.
    #[error("tools in {path} were not indexed yet, and it is read-only")]
    Unindexed {
        /// The store.
        path: String,
    },
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl SearchError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Limit { .. } => "filter-invalid",
            Self::Unindexed { .. } => "store-read-only",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Limit { .. } => "leave it out, or say what it may be",
            Self::Unindexed { .. } => "search once where the store can be written",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Toolbox {
    /// The tools that have something to do with a text, the best first, at most `limit`: by name, tags, what is said about
    /// them, and parameters. That there is none is an answer.
    ///
    /// # Errors
    /// `filter-invalid`, `store-read-only` where tools were never indexed, `integrity`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// let (name, description) = ("totals".to_owned(), "Adds up the sales of each region".to_owned());
    /// let code = "const execute = ({ rows }) => rows.length".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// let hits = toolbox.search("sales region", 5)?;
    /// assert_eq!((hits.len(), hits[0].entry.name.as_str()), (1, "totals"));
    /// assert!(hits[0].covered > 0.99);
    /// assert!(toolbox.search("wind and weather", 5)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        if !(1..=PAGE_LIMIT).contains(&limit) {
            return Err(SearchError::Limit { actual: limit });
        }
        let store = self.shelf()?;
        match fill(store) {
            Err(SearchError::Fault(Fault::Full { .. })) => {
                // What tools are found by is made again where there is space.
                let made = made_of_all(store, store.unindexed(WAY, usize::MAX)?)?;
                Ok(store.search_once(WAY, &made, &looked_for(query), limit)?)
            }
            filled => {
                filled?;
                Ok(store.search(&looked_for(query), limit)?)
            }
        }
    }
}

/// Indexes the tools that are not, or not in this way.
fn fill(store: &Store) -> Result<(), SearchError> {
    loop {
        let tools = store.unindexed(WAY, TOGETHER)?;
        if tools.is_empty() {
            return Ok(());
        }
        if store.access() == Access::ReadOnly {
            return Err(SearchError::Unindexed { path: store.path().display().to_string() });
        }
        store.index_terms(WAY, &made_of_all(store, tools)?)?;
    }
}

fn made_of_all(store: &Store, tools: Vec<Entry>) -> Result<Vec<(Entry, Terms)>, Fault> {
    tools.into_iter().map(|entry| made_of(store, &entry).map(|terms| (entry, terms))).collect()
}

/// What a tool is found by. One that is damaged is found by what the index says of it.
fn made_of(store: &Store, entry: &Entry) -> Result<Terms, Fault> {
    let (parameters, signature) = match store.spec(entry) {
        Ok(spec) => (said_of_parameters(&spec), Schema::compile(spec.parameters()).ok().and_then(|it| signature(&it))),
        Err(Fault::Object { .. }) => (String::new(), None),
        Err(fault) => return Err(fault),
    };
    Ok(Terms {
        name: named(entry.name.as_str()),
        tags: terms(&entry.tags.join(" ")),
        about: terms(&entry.description),
        parameters: named(&parameters).into_iter().chain(signature).collect(),
    })
}

/// The terms of a text with names in it: of these, and of their words.
fn named(text: &str) -> Vec<String> {
    terms(&format!("{text} {}", apart(text)))
}

/// The names of parameters, and what is said about each.
fn said_of_parameters(spec: &ToolSpec) -> String {
    let declared = spec.parameters();
    let fields = declared.get("properties").filter(|fields| fields.is_object()).unwrap_or(declared);
    let said = fields.as_object().into_iter().flatten().flat_map(|(name, definition)| {
        [name.as_str(), definition.get("description").and_then(Value::as_str).unwrap_or_default()]
    });
    said.collect::<Vec<_>>().join(" ")
}

/// The words of a query, each with what it may be written as. What it says beyond single words comes last.
fn looked_for(query: &str) -> Vec<Vec<String>> {
    let query = apart(query);
    let mut seen = HashSet::new();
    let single = words(&query).into_iter().map(|word| terms(&word.text));
    let mut all: Vec<Vec<String>> = single
        .filter(|forms| forms.first().is_some_and(|first| seen.insert(first.clone())))
        .take(WORDS_LIMIT)
        .collect();
    let known: HashSet<String> = all.iter().flatten().cloned().collect();
    let beyond = terms(&query).into_iter().filter(|term| term.starts_with('~') && !known.contains(term));
    all.extend(beyond.map(|term| vec![term]));
    all.truncate(WORDS_LIMIT);
    all
}

/// A text with blanks between the words of its names: `parseCsv` and `parse_csv` become `parse Csv` and `parse csv`.
fn apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    let mut was_small = false;
    for char in text.chars() {
        if was_small && char.is_uppercase() {
            apart.push(' ');
        }
        apart.push(if matches!(char, '_' | '-') { ' ' } else { char });
        was_small = char.is_lowercase() || char.is_numeric();
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_by_their_words() {
        let found = |text: &str| looked_for(text).into_iter().map(|forms| forms[0].clone()).collect::<Vec<_>>();
        assert_eq!(found("parseCsv parse_csv"), ["parse", "csv"]);
        assert_eq!(found("売上 売上"), ["売上"]);
        assert!(found(" \n").is_empty());
    }

    #[test]
    fn a_long_text_is_looked_for_in_part() {
        let long: Vec<String> = (0..100_000).map(|number| format!("w{number}")).collect();
        assert_eq!(looked_for(&long.join(" ")).len(), WORDS_LIMIT);
    }

    #[test]
    fn parameters_are_found_in_both_forms() {
        let spec = |parameters: Value| {
            let draft = toolcell_tool::Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
            let name = toolcell_tool::ToolName::parse("t").unwrap();
            ToolSpec::new(name, &draft, parameters, Value::Null).unwrap()
        };
        let short = serde_json::json!({"n": {"type": "number", "description": "how many"}});
        let schema = serde_json::json!({"type": "object", "properties": {"n": {"description": "how many"}, "m": true}});
        assert_eq!(said_of_parameters(&spec(short)), "n how many");
        let said = said_of_parameters(&spec(schema));
        assert!(said.contains("n how many") && said.contains('m'), "{said}");
        assert_eq!(said_of_parameters(&spec(Value::Null)), "");
    }
}
