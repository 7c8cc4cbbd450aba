//! What a worker and its parent exchange: one JSON object a line in each direction.

use serde::{Deserialize, Serialize};

/// Bytes of a request, with its line feed.
pub const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Files of a request.
pub const MAX_FILES: usize = 64;
/// Diagnostics of a reply: the first ones, in the order of files and lines.
pub const MAX_DIAGNOSTICS: usize = 50;
/// Characters of a message. A longer one ends with `…`.
pub const MAX_MESSAGE_CHARS: usize = 1_000;

/// The libraries of ECMAScript that a source sees, as the option `lib` names them: those of the cell's engine, QuickJS-ng.
pub const LIBRARIES: [&str; 6] =
    ["es2025", "esnext.array", "esnext.collection", "esnext.disposable", "esnext.error", "esnext.typedarrays"];

/// The files to check together, as one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// At most [`MAX_FILES`], each with a name of its own. The global declarations of a `.d.ts` file hold
    /// in all of them; any other file is a module.
    pub files: Vec<TypedFile>,
}

/// A source file of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypedFile {
    /// At most 64 of `A-Z a-z 0-9 . _ -`, with the ending `.ts`. A file with the ending `.d.ts` has
    /// declarations, and is not itself checked.
    pub name: String,
    /// The source.
    pub text: String,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CheckReply {
    /// The files were checked.
    Checked {
        /// At most [`MAX_DIAGNOSTICS`], in the order of the files of the request and of their lines. If a file cannot
        /// be parsed, there are only the errors of syntax, as from `tsc`.
        diagnostics: Vec<TypeDiagnostic>,
    },
    /// The request is not one, or the checker failed.
    Failed {
        /// What went wrong.
        error: String,
    },
}

/// A diagnostic of TypeScript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeDiagnostic {
    /// The name of the file, or nothing for a diagnostic of the program as a whole.
    pub file: Option<String>,
    /// The line, from 1; 0 without a file.
    pub line: u32,
    /// The column in UTF-16 code units, from 1; 0 without a file.
    pub column: u32,
    /// The number, as in `TS2322`.
    pub code: i32,
    /// The message in English, at most [`MAX_MESSAGE_CHARS`]. The lines that explain the first one are indented. Control
    /// characters other than the line feed are replaced by U+FFFD.
    pub message: String,
    /// How severe it is.
    pub category: DiagnosticCategory,
}

/// The categories of TypeScript's diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticCategory {
    /// A fault of the source.
    Error,
    /// What is likely a fault.
    Warning,
    /// What could be written better.
    Suggestion,
    /// Anything else.
    Message,
}

/// Bounds a message to [`MAX_MESSAGE_CHARS`], and replaces its control characters other than the line feed by U+FFFD.
#[must_use]
pub fn sanitize_message(text: &str) -> String {
    let mut chars =
        text.chars().map(|char| if char.is_control() && char != '\n' { char::REPLACEMENT_CHARACTER } else { char });
    let mut message: String = chars.by_ref().take(MAX_MESSAGE_CHARS).collect();
    if chars.next().is_some() {
        message.pop();
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_what_it_is_by_its_field() {
        let checked =
            r#"{"diagnostics":[{"file":"a.ts","line":1,"column":7,"code":2322,"message":"m","category":"error"}]}"#;
        let reply: CheckReply = serde_json::from_str(checked).unwrap();
        assert_eq!(serde_json::to_string(&reply).unwrap(), checked);
        let failed = r#"{"error":"why"}"#;
        let reply: CheckReply = serde_json::from_str(failed).unwrap();
        assert_eq!(reply, CheckReply::Failed { error: "why".to_owned() });
        assert_eq!(serde_json::to_string(&reply).unwrap(), failed);
    }

    #[test]
    fn messages_are_bounded_and_have_no_control_characters() {
        assert_eq!(sanitize_message("a\n  b\u{1b}[31m\r\u{85}"), "a\n  b\u{fffd}[31m\u{fffd}\u{fffd}");
        assert_eq!(sanitize_message(&"é".repeat(1_000)), "é".repeat(1_000));
        assert_eq!(sanitize_message(&"é".repeat(1_001)), format!("{}…", "é".repeat(999)));
    }
}
