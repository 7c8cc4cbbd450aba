//! Source text as the model wrote it.
//!
//! Invariant: a [`Draft`] is UTF-8 text that is not empty, has no NUL, and is no longer than
//! [`SOURCE_LIMIT`]. Nothing else is checked yet.

/// The maximum size of a tool's source, in bytes.
///
/// JavaScript parsers recurse over their input, so this limit also bounds their stack.
pub const SOURCE_LIMIT: usize = 64 * 1024;

/// The language of a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript. Source that does not parse as JavaScript is parsed as TypeScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// Not known: the file name has neither a JavaScript nor a TypeScript extension.
    Unknown,
}

impl Language {
    /// Returns the language for a file name, by its extension.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Language;
    ///
    /// assert_eq!(Language::from_file_name("sum.ts"), Language::TypeScript);
    /// assert_eq!(Language::from_file_name("stdin"), Language::Unknown);
    /// ```
    #[must_use]
    pub fn from_file_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("js" | "mjs" | "cjs") => Self::JavaScript,
            Some("ts" | "mts" | "cts") => Self::TypeScript,
            _ => Self::Unknown,
        }
    }
}

/// The source text of a tool, as the model wrote it.
///
/// # Examples
/// ```
/// use toolcell_tool::Draft;
///
/// let draft = Draft::from_bytes("sum.js", b"const execute = ({ a, b }) => a + b")?;
/// assert_eq!(draft.name(), "sum.js");
/// assert_eq!(Draft::from_bytes("empty.js", b" \n").unwrap_err().code(), "source-invalid");
/// # Ok::<(), toolcell_tool::DraftError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Draft {
    name: String,
    source: String,
}

impl Draft {
    /// Creates a draft from the bytes of a file or a request. A byte order mark is removed.
    ///
    /// # Errors
    /// `source-too-large`, `source-invalid` (empty, binary, or not UTF-8).
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, DraftError> {
        // The size is checked first, so that input over the limit is never scanned.
        if bytes.len() > SOURCE_LIMIT {
            return Err(DraftError::TooLarge);
        }
        let source = std::str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            if bytes.contains(&0) { DraftError::Binary { line } } else { DraftError::NotUtf8 { line } }
        })?;
        // Editors count columns without the byte order mark, so it is removed before any position
        // is computed.
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        if let Some((before, _)) = source.split_once('\0') {
            return Err(DraftError::Binary { line: before.matches('\n').count() + 1 });
        }
        if source.trim().is_empty() {
            return Err(DraftError::Empty);
        }
        Ok(Self { name: name.replace('\0', "\u{fffd}"), source: source.to_owned() })
    }

    /// Returns the name that stack traces show, usually a file name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the language that the name implies.
    #[must_use]
    pub fn language(&self) -> Language {
        Language::from_file_name(&self.name)
    }

    /// Returns the source text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// The error of [`Draft::from_bytes`]: the bytes are not source text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum DraftError {
    /// The source is empty or only white space.
    #[error("the source is empty")]
    #[code(SourceInvalid)]
    #[hint("write a tool that declares `function execute(params)`")]
    Empty,
    /// The source is longer than [`SOURCE_LIMIT`].
    #[error("the source is longer than {SOURCE_LIMIT} bytes")]
    #[code(SourceTooLarge)]
    #[hint("pass large data as parameters, or split the tool")]
    TooLarge,
    /// The source contains a NUL byte.
    #[error("the source is a binary file: it has a NUL byte in line {line}")]
    #[code(SourceInvalid)]
    #[hint("provide the source text of the tool")]
    Binary {
        /// Line of the first NUL byte, counted from 1.
        line: usize,
    },
    /// The source is not UTF-8.
    #[error("the source is not UTF-8: line {line} has invalid bytes")]
    #[code(SourceInvalid)]
    #[hint("save the file as UTF-8")]
    NotUtf8 {
        /// Line of the first invalid byte, counted from 1.
        line: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Result<&str, &str>) {
        let actual = Draft::from_bytes("t.js", bytes);
        let actual = actual.as_ref().map(Draft::source).map_err(ToString::to_string);
        assert_eq!(actual, expect.map_err(str::to_owned));
    }

    #[test]
    fn text_passes_without_its_byte_order_mark() {
        check(b"let a", Ok("let a"));
        check("\u{feff}let a".as_bytes(), Ok("let a"));
        check("const 名前 = 1".as_bytes(), Ok("const 名前 = 1"));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line() {
        check(b"", Err("the source is empty"));
        check(b" \n\t", Err("the source is empty"));
        check(b"a\n\0b", Err("the source is a binary file: it has a NUL byte in line 2"));
        check(b"\x7fELF\0\xff", Err("the source is a binary file: it has a NUL byte in line 1"));
        check(b"a\n\n\xff", Err("the source is not UTF-8: line 3 has invalid bytes"));
    }

    #[test]
    fn the_limit_is_exact() {
        assert!(Draft::from_bytes("t.js", &vec![b'a'; SOURCE_LIMIT]).is_ok());
        check(&vec![b'a'; SOURCE_LIMIT + 1], Err("the source is longer than 65536 bytes"));
    }
}
