//! Names that TypeScript accepts, and values as source text.

use std::fmt::Write as _;

use serde_json::Value;

use crate::comment::is_hidden;

/// Returns the name of a property for a name, which needs no quotes: each character that an identifier cannot have becomes `_`.
///
/// # Examples
/// ```
/// assert_eq!(toolcell_dts::identifier("API-post-page"), "API_post_page");
/// assert_eq!(toolcell_dts::identifier("2fa"), "_2fa");
/// ```
#[must_use]
pub fn identifier(name: &str) -> String {
    let mut identifier: String = name.chars().map(|char| if is_part(char) { char } else { '_' }).collect();
    if !identifier.starts_with(is_start) {
        identifier.insert(0, '_');
    }
    identifier
}

/// Returns the name of a method for a name: the [`identifier`], with `_` behind a name that the language asks of any object.
///
/// # Examples
/// ```
/// assert_eq!(toolcell_dts::method_name("create-issue"), "create_issue");
/// assert_eq!(toolcell_dts::method_name("then"), "then_");
/// ```
#[must_use]
pub fn method_name(name: &str) -> String {
    let mut name = identifier(name);
    // An object with a method `then` would be taken for a promise.
    if matches!(name.as_str(), "constructor" | "then" | "toJSON" | "toString" | "valueOf") {
        name.push('_');
    }
    name
}

/// Returns whether a name is an identifier, or a reserved word, which may stand where a property's name does.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(is_start) && name.chars().all(is_part)
}

// Other letters are allowed in identifiers, too; which of them look the same is not for a reader to know.
const fn is_start(char: char) -> bool {
    matches!(char, 'a'..='z' | 'A'..='Z' | '_' | '$')
}

const fn is_part(char: char) -> bool {
    is_start(char) || char.is_ascii_digit()
}

/// Returns the part of a type's name that follows its prefix: it begins with a capital.
pub(crate) fn type_name(name: &str) -> String {
    let mut chars = name.chars();
    let name: String = chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect();
    identifier(&name)
}

/// Returns a value as source text of one line. In texts, characters that are not displayed are escaped.
pub(crate) fn literal(value: &Value) -> String {
    let mut text = String::new();
    for char in value.to_string().chars() {
        // Another space looks like the usual one.
        if is_hidden(char) || char.is_whitespace() && char != ' ' {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(char);
        }
    }
    text
}
