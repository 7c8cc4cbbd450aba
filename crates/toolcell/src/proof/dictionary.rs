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
    /// Names after a dot that are not called, and those that objects are taken apart by.
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
    // What is spread has three dots.
    for after in source.replace("...", " ").split('.').skip(1) {
        let end =
            after.find(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '$')).unwrap_or(after.len());
        let (name, rest) = after.split_at(end);
        let is_name = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        if is_name && name != "length" && !rest.trim_start().starts_with('(') && found.len() < MOST {
            found.insert(name.to_owned());
        }
    }
    found.extend(apart(source));
    found.into_iter().take(MOST).collect()
}

/// The names in `{ name, qty: count = 1 }` where that is followed by what is taken apart: `of`, `=`, `)` or `:`.
fn apart(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for inside in source.split('{').skip(1) {
        let Some((inside, after)) = inside.split_once('}') else { continue };
        let after = after.trim_start();
        let is_apart = after.starts_with("of ")
            || (after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
            || after.starts_with(':')
            || after.strip_prefix(')').is_some_and(|after| after.trim_start().starts_with(['=', '{']));
        // What is declared of types has semicolons.
        let names: Vec<&str> = inside
            .split(',')
            .map(|part| part.split([':', '=']).next().unwrap_or_default().trim())
            .filter(|name| !name.is_empty())
            .collect();
        if is_apart && !inside.contains(';') && names.iter().all(|name| is_name(name)) {
            found.extend(names.into_iter().map(str::to_owned));
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
        && text.chars().all(|sign| sign.is_alphanumeric() || sign == '_')
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
        let source = "for (const { currency, value: n } of all) add({ sum: n }); rows.map(({ id = 1, }) => id); \
                      const { a } = params; const f = (p: { b: string; c?: number }) => { return p }";
        assert_eq!(Dictionary::of(source).fields, ["a", "currency", "id", "value"]);
    }
}
