//! JSON text that was checked, and nothing else: RFC 8259, read without recursion.
//!
//! Invariant: a [`Json`] is one well-formed JSON value, nested at most [`MAX_DEPTH`] levels. Its text is never
//! changed: numbers beyond what a double holds and escapes of lone surrogates stay as they were written, which is why
//! this is a reader of our own. (`serde_json` refuses both, and stops at 128 levels.)

mod pretty;

use std::fmt::Write as _;

use toolcell_protocol::MAX_DEPTH;

/// The text of one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(std::borrow::Cow<'static, str>);

impl Json {
    /// `null`
    pub const NULL: Self = Self(std::borrow::Cow::Borrowed("null"));

    /// Checks a text.
    ///
    /// # Errors
    /// [`JsonError`] with the place of the first fault.
    ///
    /// # Examples
    /// ```
    /// use toolcell_host::Json;
    ///
    /// assert_eq!(Json::parse(r#"{"n": 1e400}"#)?.as_str(), r#"{"n": 1e400}"#);
    /// assert_eq!(Json::parse("[1,]").unwrap_err().to_string(), "expected a value at line 1, column 4");
    /// # Ok::<(), toolcell_host::JsonError>(())
    /// ```
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        Reader::new(&text).read(&mut |_, _| {})?;
        Ok(Self(text.into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as a person reads it: a string as it is, anything else indented by two spaces.
    ///
    /// # Examples
    /// ```
    /// use toolcell_host::Json;
    ///
    /// assert_eq!(Json::parse(r#""a\nb""#)?.to_text(), "a\nb");
    /// assert_eq!(Json::parse(r#"{"a":[1,-0],"b":{}}"#)?.to_text(), "{\n  \"a\": [\n    1,\n    -0\n  ],\n  \"b\": {}\n}");
    /// # Ok::<(), toolcell_host::JsonError>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        pretty::text(&self.0)
    }

    /// The text, owned.
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

/// The parameters of a call: a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    json: Json,
    inexact: Vec<(String, String)>,
}

impl Params {
    /// Checks a text and notes the numbers that JavaScript cannot hold exactly.
    ///
    /// # Errors
    /// [`JsonError`] where the text is not JSON, not an object, or nested deeper than [`MAX_DEPTH`] levels.
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

/// What is wrong with a text that should be JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line}, column {column}")]
pub struct JsonError {
    what: &'static str,
    line: usize,
    column: usize,
}

impl JsonError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "parameters-invalid"
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

/// An array or object that is being read.
enum Level {
    Array { index: usize },
    Object { key: std::ops::Range<usize> },
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, levels: Vec::new() }
    }

    fn expect_object(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.peek() == Some(b'{') { Ok(()) } else { Err(self.error("expected an object")) }
    }

    /// Reads the whole text; `number` is called with each number and a function that gives its path.
    fn read(&mut self, number: &mut dyn FnMut(&str, &dyn Fn() -> String)) -> Result<(), JsonError> {
        loop {
            self.skip_space();
            let opened = self.value(number)?;
            if opened {
                continue;
            }
            // A value is complete: close what it completes, up to the next comma.
            loop {
                self.skip_space();
                match (self.levels.last_mut(), self.bytes.get(self.at)) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return Err(self.error("expected nothing more")),
                    (Some(Level::Array { index }), Some(b',')) => {
                        *index += 1;
                        self.at += 1;
                        break;
                    }
                    (Some(Level::Object { .. }), Some(b',')) => {
                        self.at += 1;
                        self.skip_space();
                        self.key()?;
                        break;
                    }
                    (Some(Level::Array { .. }), Some(b']')) | (Some(Level::Object { .. }), Some(b'}')) => {
                        self.at += 1;
                        self.levels.pop();
                    }
                    (Some(Level::Array { .. }), _) => return Err(self.error("expected `,` or `]`")),
                    (Some(Level::Object { .. }), _) => return Err(self.error("expected `,` or `}`")),
                }
            }
        }
    }

    /// Reads a scalar or an empty array or object, or opens one and stands before its first member: `true`.
    fn value(&mut self, number: &mut dyn FnMut(&str, &dyn Fn() -> String)) -> Result<bool, JsonError> {
        match self.peek() {
            Some(b'{') => {
                self.open(Level::Object { key: 0..0 })?;
                if self.peek() == Some(b'}') {
                    self.close();
                    return Ok(false);
                }
                self.key()?;
                Ok(true)
            }
            Some(b'[') => {
                self.open(Level::Array { index: 0 })?;
                if self.peek() == Some(b']') {
                    self.close();
                    return Ok(false);
                }
                Ok(true)
            }
            Some(b'"') => self.string().map(|_| false),
            Some(b'-' | b'0'..=b'9') => {
                let read = self.number()?;
                let text = &self.text[read];
                number(text, &|| self.path());
                Ok(false)
            }
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.error("expected a value")),
        }
    }

    fn open(&mut self, level: Level) -> Result<(), JsonError> {
        if self.levels.len() >= MAX_DEPTH {
            return Err(self.error("nested deeper than 512 levels"));
        }
        self.levels.push(level);
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn close(&mut self) {
        self.levels.pop();
        self.at += 1;
    }

    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in double quotes"));
        }
        let read = self.string()?;
        if let Some(Level::Object { key }) = self.levels.last_mut() {
            *key = read;
        }
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string and gives the range between its quotes.
    fn string(&mut self) -> Result<std::ops::Range<usize>, JsonError> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                None => return Err(self.error("the string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at - 1);
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            let digits = self.bytes.get(self.at + 1..self.at + 5);
                            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                                return Err(self.error("expected four hexadecimal digits"));
                            }
                            self.at += 5;
                        }
                        _ => return Err(self.error("unknown escape")),
                    }
                }
                Some(0..0x20) => return Err(self.error("control character in a string")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Result<std::ops::Range<usize>, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(start..self.at)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.error("expected a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str) -> Result<bool, JsonError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(false)
        } else {
            Err(self.error("expected a value"))
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Where the value that is being read stands, as a JSON Pointer. Escapes in keys stay as they are written.
    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            let _ = match level {
                Level::Array { index } => write!(path, "/{index}"),
                Level::Object { key } => {
                    write!(path, "/{}", self.text[key.clone()].replace('~', "~0").replace('/', "~1"))
                }
            };
        }
        path
    }

    #[cold]
    fn error(&self, what: &'static str) -> JsonError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        JsonError { what, line, column }
    }
}

#[cfg(test)]
mod tests {
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
        check("01", Err("expected nothing more at line 1, column 2"));
        check("1.", Err("expected a digit at line 1, column 3"));
        check("\"\u{1}\"", Err("control character in a string at line 1, column 2"));
        check("\"\\x\"", Err("unknown escape at line 1, column 3"));
        check("[\n 日]", Err("expected a value at line 2, column 2"));
        check("\"a", Err("the string does not end at line 1, column 3"));
        check("nul", Err("expected a value at line 1, column 1"));
        check("NaN", Err("expected a value at line 1, column 1"));
    }

    #[test]
    fn nesting_is_bounded_and_costs_no_stack() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        check(&deep(MAX_DEPTH), Ok(()));
        check(&deep(100_000), Err("nested deeper than 512 levels at line 1, column 513"));
    }

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
