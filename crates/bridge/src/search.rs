//! Finding tools by what they do.
//!
//! A tool is scored by the words of the query that its definition has (BM25F: Robertson and Zaragoza, *The Probabilistic
//! Relevance Framework*, 2009, section 3.6). A word of the name counts most, then one of the title, of the server's name or
//! of the first sentence of the description, and one of the inputs least. Words are compared by their stems, and a synonym
//! counts less than the word itself.
//!
//! Invariant: a definition is split into words once, when it is first searched, and what is kept of it is bounded. How
//! rare a word is depends on the searched tools only: tools that the caller may not see do not change the order.

mod synonyms;

use std::collections::HashMap;
use std::sync::Arc;

use toolcell_tool::{ServerName, ServerToolName};

use crate::definitions::Definition;
use crate::terms::{SearchTerms, Term, start, terms};

/// The term frequency at which a word counts half of what it can.
const K1: f64 = 1.2;
/// The weight of a synonym, compared with the word itself.
const SYNONYM_WEIGHT: f32 = 0.5;
/// The weight of a word of the server's name.
const SERVER_WEIGHT: f32 = 1.0;
/// The maximum length of a query, in bytes; the rest is ignored.
const MAX_QUERY_BYTES: usize = 2_000;
/// The maximum number of words of a query; the rest is ignored.
const MAX_QUERY_WORDS: usize = 32;

/// A tool to search: its server, its name in code, its definition.
type SearchItem<'a> = (&'a ServerName, &'a ServerToolName, &'a Arc<Definition>);

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

/// A word of a query.
struct QueryWord {
    term: Term,
    synonyms: Vec<Term>,
}

impl QueryWord {
    /// Returns the weighted frequency of the word and its most frequent synonym in a tool.
    fn frequency(&self, tool: &SearchTerms, server: &[Term]) -> f32 {
        let frequency = |term: &Term| {
            let in_server = if server.contains(term) { SERVER_WEIGHT } else { 0.0 };
            tool.frequency(*term) + in_server
        };
        frequency(&self.term) + SYNONYM_WEIGHT * self.synonyms.iter().map(frequency).fold(0.0, f32::max)
    }
}

/// Returns the tools that a query finds, the best first; tools that are equally good are sorted by name.
#[must_use]
pub fn search<'a>(tools: impl IntoIterator<Item = SearchItem<'a>>, query: &str, limit: usize) -> Vec<SearchResult> {
    let words = query_words(query);
    if words.is_empty() {
        return Vec::new();
    }
    let mut servers: HashMap<&ServerName, Vec<Term>> = HashMap::new();
    let mut searched = 0_u32;
    let mut matches = Vec::new();
    // A row for each match, with a column for each word.
    let mut frequencies: Vec<f32> = Vec::new();
    for entry in tools {
        let (server, _, tool) = entry;
        let server = servers.entry(server).or_insert_with(|| terms(server.as_str()));
        searched = searched.saturating_add(1);
        let row = frequencies.len();
        frequencies.extend(words.iter().map(|word| word.frequency(tool.search_terms(), server)));
        if frequencies[row..].iter().any(|frequency| *frequency > 0.0) {
            matches.push(entry);
        } else {
            frequencies.truncate(row);
        }
    }
    let weights: Vec<f64> = (0..words.len())
        .map(|word| {
            let column = frequencies.iter().skip(word).step_by(words.len());
            let having: f64 = column.map(|frequency| if *frequency > 0.0 { 1.0 } else { 0.0 }).sum();
            ((f64::from(searched) - having + 0.5) / (having + 0.5)).ln_1p()
        })
        .collect();
    let scores = frequencies.chunks_exact(words.len()).map(|row| {
        let weighted = row.iter().zip(&weights).map(|(frequency, weight)| {
            let frequency = f64::from(*frequency);
            weight * frequency / (frequency + K1)
        });
        weighted.sum::<f64>()
    });
    let mut scored: Vec<_> = scores.zip(matches).collect();
    let best_first = |(one, first): &(f64, SearchItem<'a>), (other, second): &(f64, SearchItem<'a>)| {
        other.total_cmp(one).then_with(|| (first.0, first.1).cmp(&(second.0, second.1)))
    };
    if limit < scored.len() {
        scored.select_nth_unstable_by(limit, best_first);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(best_first);
    scored
        .into_iter()
        .map(|(_, (server, name, tool))| SearchResult {
            server: server.clone(),
            name: name.clone(),
            tool: Arc::clone(tool),
        })
        .collect()
}

/// Returns the words of a query, each once.
fn query_words(query: &str) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = Vec::new();
    for term in terms(start(query, MAX_QUERY_BYTES)).into_iter().take(MAX_QUERY_WORDS) {
        if words.iter().all(|known| known.term != term) {
            words.push(QueryWord { term, synonyms: synonyms::synonyms(term).collect() });
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tool(name: &str, description: &str, input: Value) -> (ServerToolName, Arc<Definition>) {
        let tool = Definition::new(name.to_owned(), description.to_owned(), input, None, Value::Null);
        (ServerToolName::parse(name).unwrap(), Arc::new(tool))
    }

    fn find(tools: &[(ServerToolName, Arc<Definition>)], query: &str) -> Vec<String> {
        let server = ServerName::parse("github").unwrap();
        let found = search(tools.iter().map(|(name, tool)| (&server, name, tool)), query, 2);
        found.into_iter().map(|found| found.name.to_string()).collect()
    }

    #[test]
    fn the_best_tool_comes_first() {
        let tools =
            [("create_issue", "Opens a ticket"), ("list_issues", "Lists tickets"), ("fork", "Copies a repository")];
        let tools = tools.map(|(name, description)| tool(name, description, json!({})));
        assert_eq!(find(&tools, "creating issues"), ["create_issue", "list_issues"]);
        assert_eq!(find(&tools, "copy the repositories"), ["fork"]);
        assert_eq!(find(&tools, "the"), Vec::<String>::new());
        assert_eq!(find(&tools, ""), Vec::<String>::new());
    }

    #[test]
    fn a_synonym_finds_a_tool_and_the_word_itself_finds_it_first() {
        let tools = ["delete_note", "erase_note", "read_note"].map(|name| tool(name, "", json!({})));
        assert_eq!(find(&tools, "remove notes"), ["delete_note", "erase_note"]);
        assert_eq!(find(&tools, "erase notes"), ["erase_note", "delete_note"]);
    }

    #[test]
    fn the_inputs_tell_equal_tools_apart() {
        let input = json!({ "properties": { "colour": { "enum": ["red"] }, "size": { "description": "in metres" } } });
        let tools = [tool("paint_a", "", json!({})), tool("paint_b", "", input)];
        for query in ["paint colour", "paint red", "paint metres"] {
            assert_eq!(find(&tools, query), ["paint_b", "paint_a"], "{query}");
        }
    }

    #[test]
    fn a_word_is_as_rare_as_the_searched_tools_make_it() {
        let tools = ["alpha_one", "beta_two", "alpha_three", "alpha_four"].map(|name| tool(name, "", json!({})));
        assert_eq!(find(&tools, "alpha beta")[0], "beta_two");
        assert_eq!(find(&tools[..2], "alpha beta"), ["alpha_one", "beta_two"]);
    }
}
