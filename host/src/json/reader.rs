//! A reader of RFC 8259 that keeps its own stack.
//!
//! Invariant: depth costs no machine stack, and nothing is built: the reader checks, and names numbers and places.

use std::borrow::Cow;

use toolcell_protocol::MAX_DEPTH;

use super::JsonError;

/// The longest path that is named, in characters.
const PATH_LIMIT: usize = 500;

/// An array or object that is being read.
enum Level {
    Array { index: usize },
    Object { key: std::ops::Range<usize> },
}

pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, levels: Vec::new() }
    }

    pub(super) fn expect_object(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.peek() == Some(b'{') { Ok(()) } else { Err(self.error("expected an object")) }
    }

    /// Reads the whole text; `number` is called with each number and a function that gives its path.
    pub(super) fn read(&mut self, number: &mut dyn FnMut(&str, &dyn Fn() -> String)) -> Result<(), JsonError> {
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

    /// Where the value that is being read stands, as a JSON Pointer. Escapes in keys stay as they are written. A path of
    /// more than [`PATH_LIMIT`] characters is cut, and ends with `…`.
    fn path(&self) -> String {
        let mut path = String::new();
        let mut left = PATH_LIMIT;
        for level in &self.levels {
            let name: Cow<'_, str> = match level {
                Level::Array { index } => index.to_string().into(),
                Level::Object { key } => self.text[key.clone()].into(),
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
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        JsonError { what, line, column }
    }
}
