//! Full-text search for stored tools, in any language.
//!
//! Invariant: a search first indexes the tools that are missing in the index, so a tool is found no
//! matter how it got into the store. Searching changes nothing else, and leaves no audit line.

use std::collections::HashSet;

use serde_json::Value;
use toolcell_reflection::{terms, words};
use toolcell_schema::Schema;
use toolcell_store::{Entry, Fault, PAGE_LIMIT, SearchTerms, Store, StoreAccess};
use toolcell_tool::ToolSpec;

use crate::parts::Parts;
use crate::verification::normalized_kind;

pub use toolcell_store::SearchHit as Hit;

/// The version of the term extraction. A new version rebuilds the index: raise it when
/// `toolcell_reflection::terms` returns other terms than before.
const TERMS_VERSION: &str = "3";
/// The number of tools indexed in one transaction.
const INDEX_BATCH: usize = 256;
/// The maximum number of query words.
const MAX_QUERY_WORDS: usize = 64;

/// The error of a search.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum SearchError {
    /// The limit is out of range.
    #[error("limit is {actual}, it must be 1 to {PAGE_LIMIT}")]
    #[code(FilterInvalid)]
    #[hint("omit it, or use a value in the range")]
    Limit {
        /// The requested limit.
        actual: usize,
    },
    /// Some tools are not indexed, and the store is read-only.
    #[error("{path} is read-only, and some of its tools are not indexed")]
    #[code(StoreReadOnly)]
    #[hint("search once with write access to the store")]
    Unindexed {
        /// The path of the store.
        path: String,
    },
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

/// Returns the tools that match a text, the best first, at most `limit`: by name, tags,
/// description and parameters. No match is an empty list.
pub(crate) fn search(parts: &Parts, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
    if !(1..=PAGE_LIMIT).contains(&limit) {
        return Err(SearchError::Limit { actual: limit });
    }
    let store = parts.require_store()?;
    match index_missing(store) {
        Err(SearchError::Fault(Fault::Full { .. })) => {
            // The disk is full: the missing terms are used for this query only.
            let made = build_all_terms(store, store.catalog().unindexed(TERMS_VERSION, usize::MAX)?)?;
            Ok(store.catalog().search_uncached(TERMS_VERSION, &made, &query_terms(query), limit)?)
        }
        filled => {
            filled?;
            Ok(store.catalog().search(&query_terms(query), limit)?)
        }
    }
}

/// Returns the search term of a schema's parameter types, whatever their names; `None` if there are
/// no parameters.
pub(super) fn signature(schema: &Schema) -> Option<String> {
    let mut kinds: Vec<&str> = schema.parameters().iter().map(|parameter| normalized_kind(&parameter.kind)).collect();
    kinds.sort_unstable();
    (!kinds.is_empty()).then(|| format!("~takes:{}", kinds.join("+").replace(char::is_whitespace, "")))
}

/// Indexes the tools that are not indexed with the current version.
fn index_missing(store: &Store) -> Result<(), SearchError> {
    loop {
        let tools = store.catalog().unindexed(TERMS_VERSION, INDEX_BATCH)?;
        if tools.is_empty() {
            return Ok(());
        }
        if store.access() == StoreAccess::ReadOnly {
            return Err(SearchError::Unindexed { path: store.path().display().to_string() });
        }
        store.catalog().index_terms(TERMS_VERSION, &build_all_terms(store, tools)?)?;
    }
}

fn build_all_terms(store: &Store, tools: Vec<Entry>) -> Result<Vec<(Entry, SearchTerms)>, Fault> {
    tools.into_iter().map(|entry| build_terms(store, &entry).map(|terms| (entry, terms))).collect()
}

/// Returns the search terms of a tool. A damaged tool is found by its index entry.
fn build_terms(store: &Store, entry: &Entry) -> Result<SearchTerms, Fault> {
    let (parameters, signature) = match store.catalog().spec(entry) {
        Ok(spec) => (parameter_text(&spec), Schema::compile(spec.parameters()).ok().and_then(|it| signature(&it))),
        Err(Fault::Object { .. }) => (String::new(), None),
        Err(fault) => return Err(fault),
    };
    Ok(SearchTerms {
        name: name_terms(entry.name.as_str()),
        tags: terms(&entry.tags.join(" ")),
        description: terms(&entry.description),
        parameters: name_terms(&parameters).into_iter().chain(signature).collect(),
    })
}

/// Returns the terms of a text with identifiers: the identifiers and their words.
fn name_terms(text: &str) -> Vec<String> {
    terms(&format!("{text} {}", split_identifiers(text)))
}

/// Returns the names and descriptions of the parameters.
fn parameter_text(spec: &ToolSpec) -> String {
    let declared = spec.parameters();
    let fields = declared.get("properties").filter(|fields| fields.is_object()).unwrap_or(declared);
    let said = fields.as_object().into_iter().flatten().flat_map(|(name, definition)| {
        [name.as_str(), definition.get("description").and_then(Value::as_str).unwrap_or_default()]
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Returns the words of a query, each with its variants. Terms that span several words come last.
fn query_terms(query: &str) -> Vec<Vec<String>> {
    let query = split_identifiers(query);
    let mut seen = HashSet::new();
    let single = words(&query).into_iter().map(|word| terms(&word.text));
    let mut all: Vec<Vec<String>> = single
        .filter(|forms| forms.first().is_some_and(|first| seen.insert(first.clone())))
        .take(MAX_QUERY_WORDS)
        .collect();
    let known: HashSet<String> = all.iter().flatten().cloned().collect();
    let beyond = terms(&query).into_iter().filter(|term| term.starts_with('~') && !known.contains(term));
    all.extend(beyond.map(|term| vec![term]));
    all.truncate(MAX_QUERY_WORDS);
    all
}

/// Splits identifiers into words: `parseCsv` and `parse_csv` become `parse Csv` and `parse csv`.
fn split_identifiers(text: &str) -> String {
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
        let found = |text: &str| query_terms(text).into_iter().map(|forms| forms[0].clone()).collect::<Vec<_>>();
        assert_eq!(found("parseCsv parse_csv"), ["parse", "csv"]);
        assert_eq!(found("売上 売上"), ["売上"]);
        assert!(found(" \n").is_empty());
    }

    #[test]
    fn a_long_text_is_looked_for_in_part() {
        let long: Vec<String> = (0..100_000).map(|number| format!("w{number}")).collect();
        assert_eq!(query_terms(&long.join(" ")).len(), MAX_QUERY_WORDS);
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
        assert_eq!(parameter_text(&spec(short)), "n how many");
        let said = parameter_text(&spec(schema));
        assert!(said.contains("n how many") && said.contains('m'), "{said}");
        assert_eq!(parameter_text(&spec(Value::Null)), "");
    }
}
