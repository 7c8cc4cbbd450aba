//! The fuzzing dictionary of a source: its string literals, and the names of the fields that it
//! reads.
//!
//! Invariant: this is a heuristic for finding inputs, not an analysis: a literal found here may not
//! be one.

use std::collections::BTreeSet;

/// The maximum length of a text in characters.
const MAX_TEXT_CHARS: usize = 40;
/// The maximum number of entries of each kind.
const MAX_ENTRIES: usize = 64;

/// The fuzzing dictionary of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Dictionary {
    /// String literals.
    pub(crate) texts: Vec<String>,
    /// Names after a dot that are not called, and names in destructuring patterns.
    pub(crate) fields: Vec<String>,
}

impl Dictionary {
    /// Scans a source.
    pub(crate) fn from_source(source: &str) -> Self {
        Self { texts: string_literals(source), fields: field_names(source) }
    }
}

/// Returns the texts between two quotes on a line.
fn string_literals(source: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        let inside = &rest[at + 1..];
        let end = inside.find([quote, '\n']).unwrap_or(inside.len());
        let text = unescape(&inside[..end]);
        if found.len() < MAX_ENTRIES
            && !text.is_empty()
            && text.chars().count() <= MAX_TEXT_CHARS
            && !text.contains("${")
        {
            found.insert(text);
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    found.into_iter().collect()
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\\\", "\\")
}

/// Returns `name` in `row.name`, if no parenthesis follows, and destructured names.
fn field_names(source: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    // Spread syntax has three dots.
    for after in source.replace("...", " ").split('.').skip(1) {
        let end =
            after.find(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '$')).unwrap_or(after.len());
        let (name, rest) = after.split_at(end);
        let is_name = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        if is_name && name != "length" && !rest.trim_start().starts_with('(') && found.len() < MAX_ENTRIES {
            found.insert(name.to_owned());
        }
    }
    found.extend(destructured_names(source));
    found.into_iter().take(MAX_ENTRIES).collect()
}

/// Returns the names in `{ name, qty: count = 1 }` if it is a destructuring pattern: followed by
/// `of`, `=`, `)` or `:`.
fn destructured_names(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for inside in source.split('{').skip(1) {
        let Some((inside, after)) = inside.split_once('}') else { continue };
        let after = after.trim_start();
        let is_apart = after.starts_with("of ")
            || (after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
            || after.starts_with(':')
            || after.strip_prefix(')').is_some_and(|after| after.trim_start().starts_with(['=', '{']));
        // Type declarations have semicolons.
        let names: Vec<&str> = inside
            .split(',')
            .map(|part| part.split([':', '=']).next().unwrap_or_default().trim())
            .filter(|name| !name.is_empty())
            .collect();
        if is_apart && !inside.contains(';') && names.iter().all(|name| is_identifier(name)) {
            found.extend(names.into_iter().map(str::to_owned));
        }
    }
    found
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
        && text.chars().all(|sign| sign.is_alphanumeric() || sign == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_fields_are_found() {
        let source = "rows.map((row) => row.price * row['qty']).join(\"\\n\") + `a${b}` + 'it' // row.toFixed(2)";
        let found = Dictionary::from_source(source);
        assert_eq!(found.texts, ["\n", "it", "qty"]);
        assert_eq!(found.fields, ["price"]);
        let source = "for (const { currency, value: n } of all) add({ sum: n }); rows.map(({ id = 1, }) => id); \
                      const { a } = params; const f = (p: { b: string; c?: number }) => { return p }";
        assert_eq!(Dictionary::from_source(source).fields, ["a", "currency", "id", "value"]);
    }
}
