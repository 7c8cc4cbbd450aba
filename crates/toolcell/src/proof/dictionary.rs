//! What a source says that inputs may be made of: its texts, and the names of the fields that it reads.
//!
//! Invariant: it is a help for finding inputs, and no analysis: what it takes for a text may be none.

use std::collections::BTreeSet;

/// The longest text that is taken, in characters.
const LONGEST: usize = 40;
/// How many are taken.
const MOST: usize = 64;

/// What inputs may be made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Dictionary {
    /// Texts in quotes.
    pub(crate) texts: Vec<String>,
    /// Names after a dot that are not called.
    pub(crate) fields: Vec<String>,
}

impl Dictionary {
    /// Reads a source.
    pub(crate) fn of(source: &str) -> Self {
        Self { texts: texts(source), fields: fields(source) }
    }
}

/// What stands between two quotes on a line.
fn texts(source: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        let inside = &rest[at + 1..];
        let end = inside.find([quote, '\n']).unwrap_or(inside.len());
        let text = unescaped(&inside[..end]);
        if found.len() < MOST && !text.is_empty() && text.chars().count() <= LONGEST && !text.contains("${") {
            found.insert(text);
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    found.into_iter().collect()
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\\\", "\\")
}

/// `name` in `row.name`, where no parenthesis follows.
fn fields(source: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for after in source.split('.').skip(1) {
        let end =
            after.find(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '$')).unwrap_or(after.len());
        let (name, rest) = after.split_at(end);
        let is_name = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        if is_name && name != "length" && !rest.trim_start().starts_with('(') && found.len() < MOST {
            found.insert(name.to_owned());
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_fields_are_found() {
        let source = "rows.map((row) => row.price * row['qty']).join(\"\\n\") + `a${b}` + 'it' // row.toFixed(2)";
        let found = Dictionary::of(source);
        assert_eq!(found.texts, ["\n", "it", "qty"]);
        assert_eq!(found.fields, ["price"]);
    }
}
