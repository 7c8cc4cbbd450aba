//! A validator for RFC 8259 that keeps its own stack.
//!
//! Invariant: nesting uses no native stack, and no values are built: the validator checks the text,
//! and reports numbers and error positions.

use std::borrow::Cow;

use toolcell_i18n::msgid;
use toolcell_protocol::MAX_DEPTH;

use crate::JsonError;

/// The maximum length of a reported path, in characters.
const MAX_PATH_CHARS: usize = 500;

/// An array or object that is being read.
enum Container {
    Array { index: usize },
    Object { key: std::ops::Range<usize> },
}

pub(crate) struct Validator<'a> {
    text: &'a str,
    bytes: &'a [u8],
    offset: usize,
    open_containers: Vec<Container>,
}

impl<'a> Validator<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), offset: 0, open_containers: Vec::new() }
    }

    pub(crate) fn expect_object(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.peek() == Some(b'{') { Ok(()) } else { Err(self.error(msgid!("expected an object"))) }
    }

    /// Validates the whole text. Calls `number` with each number and a function that returns its
    /// path.
    pub(crate) fn validate(&mut self, number: &mut dyn FnMut(&str, &dyn Fn() -> String)) -> Result<(), JsonError> {
        loop {
            self.skip_space();
            let opened = self.value(number)?;
            if opened {
                continue;
            }
            // A value is complete: close the containers that it completes, up to the next comma.
            loop {
                self.skip_space();
                match (self.open_containers.last_mut(), self.bytes.get(self.offset)) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return Err(self.error(msgid!("expected the end of the text"))),
                    (Some(Container::Array { index }), Some(b',')) => {
                        *index += 1;
                        self.offset += 1;
                        break;
                    }
                    (Some(Container::Object { .. }), Some(b',')) => {
                        self.offset += 1;
                        self.skip_space();
                        self.key()?;
                        break;
                    }
                    (Some(Container::Array { .. }), Some(b']')) | (Some(Container::Object { .. }), Some(b'}')) => {
                        self.offset += 1;
                        self.open_containers.pop();
                    }
                    (Some(Container::Array { .. }), _) => return Err(self.error(msgid!("expected `,` or `]`"))),
                    (Some(Container::Object { .. }), _) => return Err(self.error(msgid!("expected `,` or `}`"))),
                }
            }
        }
    }

    /// Reads a scalar or an empty container. Returns `true` if it opened a container with members
    /// instead, and stops before the first one.
    fn value(&mut self, number: &mut dyn FnMut(&str, &dyn Fn() -> String)) -> Result<bool, JsonError> {
        match self.peek() {
            Some(b'{') => {
                self.open(Container::Object { key: 0..0 })?;
                if self.peek() == Some(b'}') {
                    self.close();
                    return Ok(false);
                }
                self.key()?;
                Ok(true)
            }
            Some(b'[') => {
                self.open(Container::Array { index: 0 })?;
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
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => Err(self.error(msgid!("expected a value"))),
        }
    }

    fn open(&mut self, level: Container) -> Result<(), JsonError> {
        if self.open_containers.len() >= MAX_DEPTH {
            return Err(self.error(msgid!("nested deeper than 512 levels")));
        }
        self.open_containers.push(level);
        self.offset += 1;
        self.skip_space();
        Ok(())
    }

    fn close(&mut self) {
        self.open_containers.pop();
        self.offset += 1;
    }

    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(msgid!("expected a key in double quotes")));
        }
        let read = self.string()?;
        if let Some(Container::Object { key }) = self.open_containers.last_mut() {
            *key = read;
        }
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error(msgid!("expected `:`")));
        }
        self.offset += 1;
        Ok(())
    }

    /// Reads a string and returns the range between its quotes.
    fn string(&mut self) -> Result<std::ops::Range<usize>, JsonError> {
        self.offset += 1;
        let start = self.offset;
        loop {
            match self.peek() {
                None => return Err(self.error(msgid!("unterminated string"))),
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(start..self.offset - 1);
                }
                Some(b'\\') => {
                    self.offset += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.offset += 1,
                        Some(b'u') => {
                            let digits = self.bytes.get(self.offset + 1..self.offset + 5);
                            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                                return Err(self.error(msgid!("expected four hexadecimal digits")));
                            }
                            self.offset += 5;
                        }
                        _ => return Err(self.error(msgid!("unknown escape"))),
                    }
                }
                Some(0..0x20) => return Err(self.error(msgid!("control character in a string"))),
                Some(_) => self.offset += 1,
            }
        }
    }

    fn number(&mut self) -> Result<std::ops::Range<usize>, JsonError> {
        let start = self.offset;
        if self.peek() == Some(b'-') {
            self.offset += 1;
        }
        match self.peek() {
            Some(b'0') => self.offset += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.offset += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.offset += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.offset += 1;
            }
            self.digits()?;
        }
        Ok(start..self.offset)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.offset;
        while let Some(b'0'..=b'9') = self.peek() {
            self.offset += 1;
        }
        if self.offset == start { Err(self.error(msgid!("expected a digit"))) } else { Ok(()) }
    }

    fn literal(&mut self, word: &'static str) -> Result<bool, JsonError> {
        if self.bytes[self.offset..].starts_with(word.as_bytes()) {
            self.offset += word.len();
            Ok(false)
        } else {
            Err(self.error(msgid!("expected a value")))
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.offset += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.offset).copied()
    }

    /// Returns the path of the current value as a JSON Pointer. Escapes in keys stay as they are
    /// written. A path longer than [`MAX_PATH_CHARS`] is truncated and ends with `…`.
    fn path(&self) -> String {
        let mut path = String::new();
        let mut left = MAX_PATH_CHARS;
        for level in &self.open_containers {
            let name: Cow<'_, str> = match level {
                Container::Array { index } => index.to_string().into(),
                Container::Object { key } => self.text[key.clone()].into(),
            };
            let escaped = name.chars().flat_map(|char| match char {
                '~' => ['~', '0'].into_iter().take(2),
                '/' => ['~', '1'].into_iter().take(2),
                _ => [char, ' '].into_iter().take(1),
            });
            for char in std::iter::once('/').chain(escaped) {
                if left == 0 {
                    path.push('…');
                    return path;
                }
                path.push(char);
                left -= 1;
            }
        }
        path
    }

    #[cold]
    fn error(&self, what: &'static str) -> JsonError {
        let before = self.text.get(..self.offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        JsonError { what: what.into(), line, column }
    }
}
