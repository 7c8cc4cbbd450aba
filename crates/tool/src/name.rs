//! What people call a tool.
//!
//! Invariant: a [`ToolName`] is an ASCII letter and then letters, digits, `_` and `-`, at most 64 of them. So it is safe
//! as a path component, in a terminal and in a log, and it is never mistaken for an identifier.

use std::fmt;

use crate::id::IdPrefix;

/// The longest name, in characters.
pub const NAME_LIMIT: usize = 64;

/// The five operations: no tool takes their names.
pub const OPERATIONS: [&str; 5] =
    ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection"];

/// The name of a tool.
///
/// # Examples
/// ```
/// use toolcell_tool::ToolName;
///
/// let name = ToolName::parse("String-Reverse")?;
/// assert_eq!(name.as_str(), "String-Reverse");
/// assert_eq!(name.folded(), ToolName::parse("string_reverse")?.folded());
/// assert_eq!(ToolName::parse("../x").unwrap_err().code(), "name-invalid");
/// # Ok::<(), toolcell_tool::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(String);

impl ToolName {
    /// Takes a name as it was typed.
    ///
    /// # Errors
    /// `name-required` for an empty one, `name-invalid`, `name-reserved`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.trim().is_empty() {
            return Err(NameError::Missing);
        }
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(NameError::Invalid { name: shown(text), detail: Detail::First });
        }
        let wrong = text.chars().find(|char| !(char.is_ascii_alphanumeric() || matches!(char, '_' | '-')));
        if let Some(char) = wrong {
            return Err(NameError::Invalid { name: shown(text), detail: Detail::Char(char) });
        }
        if text.len() > NAME_LIMIT {
            return Err(NameError::Invalid { name: shown(text), detail: Detail::Long(text.len()) });
        }
        let name = Self(text.to_owned());
        if IdPrefix::parse(&name.folded()).is_ok() {
            return Err(NameError::Invalid { name: shown(text), detail: Detail::Id });
        }
        if OPERATIONS.contains(&name.folded().as_str()) {
            return Err(NameError::Reserved { name: text.to_owned() });
        }
        Ok(name)
    }

    /// The name as it was typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two names have in common that people take for the same: case, and `-` for `_`, are not told apart.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase().replace('-', "_")
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// So much of a wrong name that a message stays a line, and nothing that a terminal would obey.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(NAME_LIMIT).flat_map(char::escape_debug).collect();
    if text.chars().nth(NAME_LIMIT).is_some() {
        shown.push('…');
    }
    shown
}

/// Why some text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is none.
    #[error("a tool needs a name")]
    Missing,
    /// It breaks the rule.
    #[error("`{name}` is no name of a tool: {detail}")]
    Invalid {
        /// The text, cut where it is long.
        name: String,
        /// What is wrong with it.
        detail: Detail,
    },
    /// One of the five operations is called so.
    #[error("`{name}` is the name of an operation")]
    Reserved {
        /// The name.
        name: String,
    },
}

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Detail {
    /// It does not start with a letter.
    #[error("it must start with an ASCII letter")]
    First,
    /// It has a character that no name has.
    #[error("it has {0:?} in it, and only ASCII letters, digits, `_` and `-` may be")]
    Char(char),
    /// It is too long.
    #[error("it has {0} characters, the limit is {NAME_LIMIT}")]
    Long(usize),
    /// It reads as an identifier.
    #[error("it reads as the identifier of a tool")]
    Id,
}

impl NameError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing => "name-required",
            Self::Invalid { .. } => "name-invalid",
            Self::Reserved { .. } => "name-reserved",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "take a name such as `average` or `json-to-csv`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let actual = match ToolName::parse(text) {
            Ok(name) => name.folded(),
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
        check("1a", "name-invalid: `1a` is no name of a tool: it must start with an ASCII letter");
        check("../x", "name-invalid: `../x` is no name of a tool: it must start with an ASCII letter");
        check("平均", "name-invalid: `平均` is no name of a tool: it must start with an ASCII letter");
        check(
            "a/b",
            "name-invalid: `a/b` is no name of a tool: it has '/' in it, and only ASCII letters, digits, `_` and `-` may be",
        );
        check(
            "аverage".trim_start_matches('а').replace('v', "aа").as_str(),
            "name-invalid: `aаerage` is no name of a tool: it has 'а' in it, and only ASCII letters, digits, `_` and `-` may be",
        );
        check(
            "a\u{1b}[31m",
            "name-invalid: `a\\u{1b}[31m` is no name of a tool: it has '\\u{1b}' in it, and only ASCII letters, digits, `_` and `-` may be",
        );
        let long =
            format!("name-invalid: `{}…` is no name of a tool: it has 65 characters, the limit is 64", "a".repeat(64));
        check(&"a".repeat(65), &long);
        check(
            "dt_0123456789ab",
            "name-invalid: `dt_0123456789ab` is no name of a tool: it reads as the identifier of a tool",
        );
        check(
            "DT-0123456789AB",
            "name-invalid: `DT-0123456789AB` is no name of a tool: it reads as the identifier of a tool",
        );
        check("Create-Tool", "name-reserved: `Create-Tool` is the name of an operation");
    }
}
