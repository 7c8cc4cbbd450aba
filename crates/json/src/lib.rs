//! Validated JSON text (RFC 8259), parsed without recursion.
//!
//! Invariant: a [`Json`] is one well-formed JSON value, nested at most
//! [`MAX_DEPTH`](toolcell_protocol::MAX_DEPTH) levels. Its text is never changed: numbers beyond
//! the range of a double and escapes of lone surrogates are preserved. This is why the crate has
//! its own validator: `serde_json` refuses both, and stops at 128 levels.

mod params;
mod pretty;
mod serde_impls;
mod validate;

pub use params::Params;

use toolcell_i18n::Message;

use validate::Validator;

/// The text of one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(std::borrow::Cow<'static, str>);

impl Json {
    /// `null`
    pub const NULL: Self = Self(std::borrow::Cow::Borrowed("null"));

    /// Validates a text.
    ///
    /// # Errors
    /// [`JsonError`] with the position of the first error.
    ///
    /// # Examples
    /// ```
    /// use toolcell_json::Json;
    ///
    /// assert_eq!(Json::parse(r#"{"n": 1e400}"#)?.as_str(), r#"{"n": 1e400}"#);
    /// assert_eq!(Json::parse("[1,]").unwrap_err().to_string(), "expected a value at line 1, column 4");
    /// # Ok::<(), toolcell_json::JsonError>(())
    /// ```
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        Validator::new(&text).validate(&mut |_, _| {})?;
        Ok(Self(text.into()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Formats the value for a person: a string without quotes and escapes, anything else indented
    /// by two spaces.
    ///
    /// # Examples
    /// ```
    /// use toolcell_json::Json;
    ///
    /// assert_eq!(Json::parse(r#""a\nb""#)?.to_text(), "a\nb");
    /// assert_eq!(Json::parse(r#"{"a":[1,-0],"b":{}}"#)?.to_text(), "{\n  \"a\": [\n    1,\n    -0\n  ],\n  \"b\": {}\n}");
    /// # Ok::<(), toolcell_json::JsonError>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        pretty::format_text(&self.0)
    }

    /// Returns the owned text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A syntax error in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("{what} at line {line}, column {column}")]
#[coded(no_hint)]
#[code(ParametersInvalid)]
pub struct JsonError {
    what: Message,
    line: usize,
    column: usize,
}

#[cfg(test)]
mod tests {
    use toolcell_i18n::{Lang, Localize as _};
    use toolcell_protocol::MAX_DEPTH;

    use super::*;

    fn check(text: &str, expect: Result<(), &str>) {
        let actual = Json::parse(text).map(drop).map_err(|error| error.to_string());
        assert_eq!(actual, expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn well_formed_texts_pass_unchanged() {
        for text in ["null", " true ", "-0", "1e400", "9007199254740993", "\"\\ud800\"", "[]", "{}", "[[],{}]"] {
            check(text, Ok(()));
            assert_eq!(Json::parse(text).unwrap().as_str(), text);
        }
        check(r#"{"a": [1, {"b": null}], "__proto__": "\u0000"}"#, Ok(()));
    }

    #[test]
    fn the_first_fault_is_named_with_its_place() {
        check("", Err("expected a value at line 1, column 1"));
        check("[1,]", Err("expected a value at line 1, column 4"));
        check("[1 2]", Err("expected `,` or `]` at line 1, column 4"));
        check("{\"a\"}", Err("expected `:` at line 1, column 5"));
        check("{a: 1}", Err("expected a key in double quotes at line 1, column 2"));
        check("01", Err("expected the end of the text at line 1, column 2"));
        check("1.", Err("expected a digit at line 1, column 3"));
        check("\"\u{1}\"", Err("control character in a string at line 1, column 2"));
        check("\"\\x\"", Err("unknown escape at line 1, column 3"));
        check("[\n 日]", Err("expected a value at line 2, column 2"));
        check("\"a", Err("unterminated string at line 1, column 3"));
        check("nul", Err("expected a value at line 1, column 1"));
        check("NaN", Err("expected a value at line 1, column 1"));
    }

    #[test]
    fn a_fault_is_named_in_the_language_of_the_reader() {
        let error = Json::parse("[1,]").unwrap_err();
        assert_eq!(error.localize().to_text(Lang::Ja), "1 行 4 列: 値が必要です");
        assert_eq!(error.localize().to_text(Lang::Zh), "第 1 行第 4 列：此处应为一个值");
    }

    #[test]
    fn nesting_is_bounded_and_costs_no_stack() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        check(&deep(MAX_DEPTH), Ok(()));
        check(&deep(100_000), Err("nested deeper than 512 levels at line 1, column 513"));
    }
}
