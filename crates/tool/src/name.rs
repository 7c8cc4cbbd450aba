//! Tool names.
//!
//! Invariant: a [`ToolName`] is an ASCII letter followed by letters, digits, `_` and `-`, at most
//! 64 characters in total. So it is safe as a path component, in a terminal and in a log, and it is
//! never mistaken for an identifier.

use std::fmt;

use crate::id::IdPrefix;

/// The maximum length of a name, in characters.
pub const NAME_LIMIT: usize = 64;

/// The five built-in tools, whose names are reserved.
pub const BUILTIN_TOOLS: [&str; 5] =
    ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection"];

/// The name of a tool.
///
/// # Examples
/// ```
/// use toolcell_tool::ToolName;
///
/// let name = ToolName::parse("String-Reverse")?;
/// assert_eq!(name.as_str(), "String-Reverse");
/// assert_eq!(name.case_folded(), ToolName::parse("string_reverse")?.case_folded());
/// assert_eq!(ToolName::parse("../x").unwrap_err().code(), "name-invalid");
/// # Ok::<(), toolcell_tool::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(String);

impl ToolName {
    /// Parses a name as a user writes it.
    ///
    /// # Errors
    /// `name-required` for an empty name, `name-invalid`, `name-reserved`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.trim().is_empty() {
            return Err(NameError::Missing);
        }
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(NameError::Invalid { name: escape_for_display(text), detail: NameDefect::FirstNotALetter });
        }
        let wrong = text.chars().find(|char| !(char.is_ascii_alphanumeric() || matches!(char, '_' | '-')));
        if let Some(char) = wrong {
            return Err(NameError::Invalid { name: escape_for_display(text), detail: NameDefect::InvalidChar(char) });
        }
        if text.len() > NAME_LIMIT {
            return Err(NameError::Invalid { name: escape_for_display(text), detail: NameDefect::TooLong(text.len()) });
        }
        let name = Self(text.to_owned());
        if IdPrefix::parse(&name.case_folded()).is_ok() {
            return Err(NameError::Invalid { name: escape_for_display(text), detail: NameDefect::LooksLikeId });
        }
        if BUILTIN_TOOLS.contains(&name.case_folded().as_str()) {
            return Err(NameError::Reserved { name: text.to_owned() });
        }
        Ok(name)
    }

    /// Returns the name as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key under which names are compared: lower case, with `_` for `-`.
    #[must_use]
    pub fn case_folded(&self) -> String {
        self.0.to_ascii_lowercase().replace('-', "_")
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Escapes control characters and shortens the text, so that it is safe to print on one line of a
/// terminal.
fn escape_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(NAME_LIMIT).flat_map(char::escape_debug).collect();
    if text.chars().nth(NAME_LIMIT).is_some() {
        shown.push('…');
    }
    shown
}

/// The error of [`ToolName::parse`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[hint("choose a name such as `average` or `json-to-csv`")]
pub enum NameError {
    /// The name is empty or only white space.
    #[error("a tool needs a name")]
    #[code(NameRequired)]
    Missing,
    /// The name breaks the syntax rules.
    #[error("`{name}` is not a valid tool name: {detail}")]
    #[code(NameInvalid)]
    Invalid {
        /// The rejected text, escaped and shortened.
        name: String,
        /// The violated rule.
        detail: NameDefect,
    },
    /// The name belongs to a built-in tool.
    #[error("`{name}` is the name of an operation")]
    #[code(NameReserved)]
    Reserved {
        /// The rejected name.
        name: String,
    },
}

/// The syntax rule that a name violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum NameDefect {
    /// The name does not start with an ASCII letter.
    #[error("it must start with an ASCII letter")]
    FirstNotALetter,
    /// The name contains a character that is not allowed.
    #[error("it contains {0:?}, only ASCII letters, digits, `_` and `-` are allowed")]
    InvalidChar(char),
    /// The name has this many characters, more than [`NAME_LIMIT`].
    #[error("it has {0} characters, the limit is {NAME_LIMIT}")]
    TooLong(usize),
    /// The name could be read as a tool identifier.
    #[error("it looks like a tool identifier")]
    LooksLikeId,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let actual = match ToolName::parse(text) {
            Ok(name) => name.case_folded(),
            Err(error) => format!("{}: {error}", error.code()),
        };
        assert_eq!(actual, expect);
    }

    #[test]
    fn a_name_is_a_letter_and_then_letters_digits_and_two_signs() {
        check("average", "average");
        check("JSON-to_csv2", "json_to_csv2");
        check(&"a".repeat(64), &"a".repeat(64));
    }

    #[test]
    fn anything_else_is_refused_with_what_is_wrong() {
        check("", "name-required: a tool needs a name");
        check("  ", "name-required: a tool needs a name");
        check("1a", "name-invalid: `1a` is not a valid tool name: it must start with an ASCII letter");
        check("../x", "name-invalid: `../x` is not a valid tool name: it must start with an ASCII letter");
        check("平均", "name-invalid: `平均` is not a valid tool name: it must start with an ASCII letter");
        check(
            "a/b",
            "name-invalid: `a/b` is not a valid tool name: it contains '/', only ASCII letters, digits, `_` and `-` \
             are allowed",
        );
        check(
            "аverage".trim_start_matches('а').replace('v', "aа").as_str(),
            "name-invalid: `aаerage` is not a valid tool name: it contains 'а', only ASCII letters, digits, `_` and \
             `-` are allowed",
        );
        check(
            "a\u{1b}[31m",
            "name-invalid: `a\\u{1b}[31m` is not a valid tool name: it contains '\\u{1b}', only ASCII letters, \
             digits, `_` and `-` are allowed",
        );
        let long = format!(
            "name-invalid: `{}…` is not a valid tool name: it has 65 characters, the limit is \
                     64",
            "a".repeat(64)
        );
        check(&"a".repeat(65), &long);
        check(
            "dt_0123456789ab",
            "name-invalid: `dt_0123456789ab` is not a valid tool name: it looks like a tool identifier",
        );
        check(
            "DT-0123456789AB",
            "name-invalid: `DT-0123456789AB` is not a valid tool name: it looks like a tool identifier",
        );
        check("Create-Tool", "name-reserved: `Create-Tool` is the name of an operation");
    }
}
