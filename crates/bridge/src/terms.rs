//! The words of a definition, as far as they are searched.
//!
//! Invariant: what is kept of a definition takes at most [`MAX_TERMS`] terms of 8 bytes, whatever a server says, and is made
//! of a bounded part of its texts.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

/// The weight of a word of the name.
const NAME_WEIGHT: f32 = 3.0;
/// The weight of a word of the title, and of the first sentence of the description.
const SUMMARY_WEIGHT: f32 = 1.0;
/// The weight of a word of the rest of the description.
const DESCRIPTION_WEIGHT: f32 = 0.5;
/// The weight of a word of the name of an input.
const INPUT_WEIGHT: f32 = 0.5;
/// The weight of a word of the description or of a value of an input.
const INPUT_TEXT_WEIGHT: f32 = 0.25;
/// How much a text that is longer than the average is marked down.
const B: f32 = 0.5;
/// The average numbers of words of a name, of a description and of inputs, the latter two weighted. They are about those of
/// `fixtures/servers/definitions`, and fixed so that a definition can be weighted without the others.
const AVERAGE_NAME: f32 = 3.0;
const AVERAGE_DESCRIPTION: f32 = 20.0;
const AVERAGE_INPUTS: f32 = 10.0;
/// The maximum length of a title that is searched, in bytes.
const MAX_TITLE_BYTES: usize = 256;
/// The maximum length of a description that is searched, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 2_000;
/// The maximum length of all that is searched of the inputs, in bytes.
const MAX_INPUT_BYTES: usize = 2_000;
/// The maximum number of different terms of a definition; those that count least are not searched.
const MAX_TERMS: usize = 256;

/// The hash of a word's stem. Words whose hashes are equal count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(u32);

impl Term {
    fn new(stem: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        stem.hash(&mut hasher);
        let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }
}

/// The terms of a definition, with their weighted frequencies.
#[derive(Debug)]
pub(crate) struct SearchTerms {
    /// Sorted by term.
    frequencies: Box<[(Term, f32)]>,
}

impl SearchTerms {
    /// Splits the texts of a definition into words. `input` is the JSON Schema of its input.
    pub(crate) fn new(name: &str, title: &str, description: &str, input: &Value) -> Self {
        let (summary, rest) = split_summary(start(description, MAX_DESCRIPTION_BYTES));
        let description =
            [(start(title, MAX_TITLE_BYTES), SUMMARY_WEIGHT), (summary, SUMMARY_WEIGHT), (rest, DESCRIPTION_WEIGHT)];
        let mut room = MAX_INPUT_BYTES;
        let inputs = input_texts(input).map_while(|(text, weight)| {
            let text = start(text, room);
            // An empty text takes time, too.
            room = room.checked_sub(text.len() + 1)?;
            Some((text, weight))
        });
        let mut found = Vec::new();
        add_field(&mut found, [(name, NAME_WEIGHT)], AVERAGE_NAME * NAME_WEIGHT);
        add_field(&mut found, description, AVERAGE_DESCRIPTION);
        add_field(&mut found, inputs, AVERAGE_INPUTS);
        found.sort_unstable_by_key(|(term, _)| *term);
        found.dedup_by(|(next, weight), (term, frequency)| {
            let is_same = next == term;
            if is_same {
                *frequency += *weight;
            }
            is_same
        });
        if found.len() > MAX_TERMS {
            found.sort_unstable_by(|(_, one), (_, other)| other.total_cmp(one));
            found.truncate(MAX_TERMS);
            found.sort_unstable_by_key(|(term, _)| *term);
        }
        Self { frequencies: found.into() }
    }

    /// Returns the weighted frequency of a term.
    pub(crate) fn frequency(&self, term: Term) -> f32 {
        let found = self.frequencies.binary_search_by_key(&term, |(known, _)| *known);
        found.map_or(0.0, |at| self.frequencies[at].1)
    }
}

/// Adds the words of a field, which count less if it is longer than the average.
fn add_field<'a>(found: &mut Vec<(Term, f32)>, texts: impl IntoIterator<Item = (&'a str, f32)>, average_length: f32) {
    let first = found.len();
    for (text, weight) in texts {
        for_each_term(text, |term| found.push((term, weight)));
    }
    let length: f32 = found[first..].iter().map(|(_, weight)| weight).sum();
    let norm = 1.0 - B + B * length / average_length;
    for (_, weight) in &mut found[first..] {
        *weight /= norm;
    }
}

/// Returns the texts that describe the inputs: their names, descriptions and values, each with its weight.
fn input_texts(schema: &Value) -> impl Iterator<Item = (&str, f32)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().flat_map(|(name, property)| {
        let description = property.get("description").and_then(Value::as_str);
        let values = property.get("enum").and_then(Value::as_array);
        let values = values.into_iter().flatten().filter_map(Value::as_str);
        let texts = description.into_iter().chain(values).map(|text| (text, INPUT_TEXT_WEIGHT));
        std::iter::once((name.as_str(), INPUT_WEIGHT)).chain(texts)
    })
}

/// Splits a description after its first sentence or paragraph.
fn split_summary(description: &str) -> (&str, &str) {
    let description = description.trim_start();
    let end = [". ", ".\n", "\n\n"].iter().filter_map(|end| description.find(end)).min();
    description.split_at(end.unwrap_or(description.len()))
}

/// Returns the start of a text, of so many bytes at most.
pub(crate) fn start(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns the terms of a text, in order.
pub(crate) fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for_each_term(text, |term| terms.push(term));
    terms
}

/// Passes on the terms of a text, in order: of runs of letters and digits and of the parts of `camelCase`, without stop
/// words.
fn for_each_term(text: &str, mut pass: impl FnMut(Term)) {
    let mut word = String::new();
    let mut was_lower = false;
    // The space ends the last word.
    for char in text.chars().chain([' ']) {
        let ends = !char.is_alphanumeric() || char.is_uppercase() && was_lower;
        if ends && !word.is_empty() {
            if STOP_WORDS.binary_search(&word.as_str()).is_err() {
                pass(Term::new(stem(&word)));
            }
            word.clear();
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase();
    }
}

/// The words that say nothing about what a tool does.
const STOP_WORDS: [&str; 75] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "each", "every", "for", "from", "had", "has", "have", "how", "i", "if", "in", "is", "it", "its", "may", "me",
    "might", "must", "my", "need", "of", "on", "one", "or", "our", "please", "should", "so", "some", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "tool", "use", "used", "using", "want",
    "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

/// Removes the commonest endings of English words: `issues`, `creating` and `created` are `issu` and `creat`, and
/// `dragging` is `drag`.
fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().count() >= 3
        {
            return if matches!(ending, "ings" | "ing" | "ed") { undouble(rest) } else { rest };
        }
    }
    word
}

/// Removes the consonant that an ending doubled. As in Porter's algorithm (*An algorithm for suffix stripping*, 1980, step
/// 1b), an `l`, `s` or `z` stays.
fn undouble(stem: &str) -> &str {
    match stem.as_bytes() {
        [_, _, .., before, last] if before == last && last.is_ascii_lowercase() && !b"aeioulsz".contains(last) => {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(description: &str, input: &Value) -> SearchTerms {
        SearchTerms::new("x", "", description, input)
    }

    #[test]
    fn words_are_compared_by_their_stems() {
        let check =
            |text: &str, expect: &str| assert_eq!(terms(text), expect.split(' ').map(Term::new).collect::<Vec<_>>());
        check("createIssues, create_issue: Creating an issue!", "creat issu creat issu creat issu");
        check("dragging dragged drags drag", "drag drag drag drag");
        check("adding added add", "add add add");
        check("copied copies copy", "cop cop cop");
        check("calling calls", "call call");
        check("検索 HTTP2", "検索 http2");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_word_counts_by_where_it_stands() {
        let input = json!({ "properties": { "account": { "description": "Whose account", "enum": ["savings"] } } });
        let tool = SearchTerms::new("post", "Mailer", "Sends letters. Costs money.\n\nWorks.", &input);
        let frequency = |text: &str| tool.frequency(terms(text)[0]);
        let in_order = ["post", "letters", "money", "savings", "absent"].map(frequency);
        assert!(in_order.is_sorted_by(|one, other| one > other), "{in_order:?}");
        assert_eq!(frequency("mailer").to_bits(), frequency("letters").to_bits());
        assert_eq!(frequency("works").to_bits(), frequency("money").to_bits());
    }

    #[test]
    fn a_word_of_a_long_text_counts_less() {
        let frequency = |description: &str| described(description, &json!({})).frequency(terms("mail")[0]);
        assert!(frequency("mail") > frequency(&("mail ".to_owned() + &"word ".repeat(50))));
    }

    #[test]
    fn what_is_kept_of_a_hostile_definition_is_bounded() {
        let many = |count: usize| (0..count).map(|at| format!("w{at}x")).collect::<Vec<_>>().join(" ");
        let properties: serde_json::Map<String, Value> =
            (0..1_000).map(|at| (format!("p{at}q"), json!({ "description": many(50) }))).collect();
        let kept = described(&many(1_000_000), &json!({ "properties": properties })).frequencies;
        assert_eq!(kept.len(), MAX_TERMS);
        assert_eq!(size_of_val(&*kept), 8 * MAX_TERMS);
        // What counts most is kept: the name comes first.
        assert!(kept.iter().any(|(term, _)| *term == Term::new("x")));
    }

    #[test]
    fn empty_texts_of_inputs_are_read_within_the_limit() {
        let empty = |count: usize| vec![Value::from(""); count];
        let input = |count: usize| json!({ "properties": { "a": { "enum": empty(count) }, "b": {} } });
        let is_read = |count: usize| described("", &input(count)).frequency(terms("b")[0]) > 0.0;
        assert!(is_read(MAX_INPUT_BYTES / 2));
        assert!(!is_read(MAX_INPUT_BYTES));
    }
}
