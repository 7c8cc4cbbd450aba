//! The parameters of a call.

use super::reader::Reader;
use super::{Json, JsonError};

/// The parameters of a call: a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    json: Json,
    inexact: Vec<(String, String)>,
}

impl Default for Params {
    /// `{}`
    fn default() -> Self {
        Self { json: Json(std::borrow::Cow::Borrowed("{}")), inexact: Vec::new() }
    }
}

impl Params {
    /// Checks a text and notes the numbers that JavaScript cannot hold exactly.
    ///
    /// # Errors
    /// [`JsonError`] where the text is not JSON, not an object, or nested deeper than
    /// [`MAX_DEPTH`](toolcell_protocol::MAX_DEPTH) levels.
    ///
    /// # Examples
    /// ```
    /// use toolcell_host::Params;
    ///
    /// assert!(Params::parse(r#"{"numbers": [1, 2]}"#).is_ok());
    /// assert_eq!(Params::parse("[1]").unwrap_err().to_string(), "expected an object at line 1, column 1");
    /// ```
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        let mut inexact = Vec::new();
        let mut reader = Reader::new(&text);
        reader.expect_object()?;
        reader.read(&mut |number, path| {
            if inexact.len() < 100
                && let Some(became) = inexact_as_double(number)
            {
                inexact
                    .push((path(), format!("{} became {became}: a JavaScript number cannot hold it", shown(number))));
            }
        })?;
        Ok(Self { json: Json(text.into()), inexact })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.json.as_str()
    }

    /// The numbers that the tool sees differently: where, as a JSON Pointer, and what became of them.
    pub(crate) fn inexact(&self) -> &[(String, String)] {
        &self.inexact
    }
}

/// What a number becomes as a double, if that is another number.
///
/// Fractions are rounded everywhere and nobody is surprised; integers and overflow are what goes wrong silently.
fn inexact_as_double(number: &str) -> Option<String> {
    let double: f64 = number.parse().ok()?;
    if double.is_infinite() {
        return Some(if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned());
    }
    let integer = !number.contains(['.', 'e', 'E']);
    let exact = format!("{double:.0}");
    (integer && number.len() > 15 && exact != number).then_some(exact)
}

/// A number as a message shows it.
fn shown(number: &str) -> String {
    if number.len() <= 40 { number.to_owned() } else { format!("{}… ({} digits)", &number[..40], number.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_a_double_cannot_hold_are_noted_with_their_path() {
        let params =
            Params::parse(r#"{"a": [0.1, 9007199254740993], "b/c": {"d": 1e400}, "e": 9007199254740992}"#).unwrap();
        let paths: Vec<&str> = params.inexact().iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/a/1", "/b~1c/d"]);
        assert!(params.inexact()[0].1.contains("9007199254740992"));
        assert!(params.inexact()[1].1.contains("Infinity"));
    }
}
