//! Finding tools by what they do.
//!
//! A tool is scored by the words of the question that its name, its server's name or its description have (BM25:
//! Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009, section 3), where words are compared by their
//! stems' beginnings, and a word of the name counts three times.

use std::collections::HashMap;
use std::sync::Arc;

use toolcell_tool::{ServerName, ServerToolName};

use crate::definitions::Definition;

/// How fast a word that is repeated stops to count.
const K1: f64 = 1.2;
/// How much a long text is marked down.
const B: f64 = 0.5;
/// How often a word of the name counts.
const NAME_WEIGHT: f64 = 3.0;
/// The maximum number of words of a question.
const MAX_QUERY_WORDS: usize = 32;
/// The maximum length of a description that is searched, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 2_000;

/// A tool that was found.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// The server.
    pub server: ServerName,
    /// The name of the tool in code.
    pub name: ServerToolName,
    /// The tool.
    pub tool: Arc<Definition>,
}

/// Returns the tools that a question finds, the best first; tools that are equally good are sorted by name.
#[must_use]
pub fn search<'a>(
    tools: impl IntoIterator<Item = (&'a ServerName, &'a ServerToolName, &'a Arc<Definition>)>,
    query: &str,
    limit: usize,
) -> Vec<SearchResult> {
    let mut asked: Vec<String> = words(query).collect();
    asked.dedup();
    asked.truncate(MAX_QUERY_WORDS);
    let texts: Vec<(_, HashMap<String, f64>, f64)> = tools
        .into_iter()
        .map(|entry| {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            let (server, name, tool) = entry;
            let mut description = tool.description.as_str();
            if description.len() > MAX_DESCRIPTION_BYTES {
                description = &description[..description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
            }
            let weighted = [(server.as_str(), 1.0), (name.as_str(), NAME_WEIGHT), (description, 1.0)];
            for (text, weight) in weighted {
                for word in words(text) {
                    *counts.entry(word).or_default() += weight;
                    length += weight;
                }
            }
            (entry, counts, length)
        })
        .collect();
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let average = texts.iter().map(|(.., length)| length).sum::<f64>() / count(texts.len().max(1));
    let weights: Vec<f64> = asked
        .iter()
        .map(|word| {
            let having = count(texts.iter().filter(|(_, counts, _)| counts.contains_key(word)).count());
            ((count(texts.len()) - having + 0.5) / (having + 0.5)).ln_1p()
        })
        .collect();
    let mut scored: Vec<(f64, _)> = texts
        .iter()
        .filter_map(|(entry, counts, length)| {
            let score: f64 = asked
                .iter()
                .zip(&weights)
                .filter_map(|(word, weight)| {
                    let found = counts.get(word)?;
                    Some(weight * found * (K1 + 1.0) / (found + K1 * (1.0 - B + B * length / average)))
                })
                .sum();
            (score > 0.0).then_some((score, entry))
        })
        .collect();
    scored.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| (first.0, first.1).cmp(&(second.0, second.1)))
    });
    let found = scored.into_iter().take(limit);
    found
        .map(|(_, (server, name, tool))| SearchResult {
            server: (*server).clone(),
            name: (*name).clone(),
            tool: Arc::clone(tool),
        })
        .collect()
}

/// Returns the words of a text: runs of letters and digits, parts of `camelCase`, in lower case and without the commonest
/// endings of English.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for char in text.chars() {
        let ends = !char.is_alphanumeric() || char.is_uppercase() && was_lower;
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter().filter(|word| !is_common(word)).map(stem)
}

/// Whether a word says nothing about what a tool does.
fn is_common(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "and"
            | "are"
            | "as"
            | "at"
            | "be"
            | "by"
            | "do"
            | "for"
            | "from"
            | "how"
            | "i"
            | "if"
            | "in"
            | "is"
            | "it"
            | "its"
            | "me"
            | "my"
            | "of"
            | "on"
            | "or"
            | "that"
            | "the"
            | "this"
            | "to"
            | "tool"
            | "use"
            | "used"
            | "using"
            | "want"
            | "we"
            | "what"
            | "which"
            | "with"
            | "you"
            | "your"
    )
}

/// Removes the commonest endings of English words: `issues`, `creating` and `created` are `issu` and `creat`.
fn stem(word: String) -> String {
    let mut stem = word;
    for ending in ["ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e", "y"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.chars().count() >= 3
        {
            stem.truncate(rest.len());
            break;
        }
    }
    stem
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn words_are_compared_by_their_stems() {
        let all = |text: &str| words(text).collect::<Vec<_>>().join(" ");
        assert_eq!(all("createIssues, create_issue: Creating an issue!"), "creat issu creat issu creat issu");
        assert_eq!(all("検索 HTTP2"), "検索 http2");
    }

    #[test]
    fn the_best_tool_comes_first() {
        let server = ServerName::parse("github").unwrap();
        let tools =
            [("create_issue", "Opens a ticket"), ("list_issues", "Lists tickets"), ("fork", "Copies a repository")];
        let tools: Vec<_> = tools
            .into_iter()
            .map(|(name, description)| {
                let tool = Definition::new(name.to_owned(), description.to_owned(), json!({}), None, Value::Null);
                (ServerToolName::parse(name).unwrap(), Arc::new(tool))
            })
            .collect();
        let find = |query: &str| {
            let found = search(tools.iter().map(|(name, tool)| (&server, name, tool)), query, 2);
            found.into_iter().map(|found| found.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(find("creating issues"), ["create_issue", "list_issues"]);
        assert_eq!(find("copy the repositories"), ["fork"]);
        assert_eq!(find("the"), Vec::<String>::new());
        assert_eq!(find(""), Vec::<String>::new());
    }
}
