//! Errors of creating an entry and editing a client's file.
//!
//! Invariant: a refused file is unchanged.

use toolcell_i18n::{Message, message};

/// An error of creating an entry or editing a client's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
pub(crate) enum ClientError {
    /// The entry name is invalid.
    #[error("`{}` is not a valid server name: use 1 to {limit} letters, digits, `-` or `_`", .name.escape_debug())]
    #[code(ClientNameInvalid)]
    #[hint("use a plain name, such as toolcell")]
    Name {
        /// The beginning of the rejected name.
        name: String,
        /// The longest name, in bytes.
        limit: usize,
    },
    /// An argument would not reach the server unchanged.
    #[error("`{}` cannot be written to a client's configuration: {why}", .word.escape_debug())]
    #[code(ClientWordInvalid)]
    #[hint("use another path, or add the entry by hand")]
    Word {
        /// The argument.
        word: String,
        /// What a client would do with it.
        why: Message,
    },
    /// The URL is invalid.
    #[error("`{}` is not a valid server URL: {why}", .url.escape_debug())]
    #[code(ClientUrlInvalid)]
    #[hint("give the URL of a running server, such as http://127.0.0.1:8080/mcp")]
    Url {
        /// The rejected URL, without anything that could be a password.
        url: String,
        /// What is wrong with it.
        why: Message,
    },
    /// The name of the environment variable is invalid. It is not repeated, because it could be a
    /// token.
    #[error("invalid environment variable name: use letters, digits and `_`, and do not start with a digit")]
    #[code(ClientVariableInvalid)]
    #[hint("name the variable that holds the token, such as TOOLCELL_TOKEN, not the token itself")]
    Variable,
    /// The file has a syntax error.
    #[error("line {line}, column {column}: {what}")]
    #[code(ClientFileInvalid)]
    #[hint("fix the file, or name another one with --file; nothing was changed")]
    Invalid {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The parser's message.
        what: Message,
    },
    /// The file has a value of another type where the entry belongs.
    #[error("line {line}: {what}")]
    #[code(ClientFileShape)]
    #[hint("add the snippet by hand, or name another file with --file; nothing was changed")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// What the file has there.
        what: Message,
    },
    /// The name belongs to another server.
    #[error("line {line}: `{name}` belongs to another entry, {leads_to}")]
    #[code(ClientEntryTaken)]
    #[hint("choose another name with --name, or pass --force; nothing was changed")]
    Taken {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// A description of the existing server.
        leads_to: Message,
    },
}

impl ClientError {
    /// The file is valid, but an entry cannot be added to it.
    pub(super) fn not_editable(key: &str) -> Self {
        Self::Shape { line: 1, what: message!("an entry cannot be added to `{key}` in its present form", key) }
    }
}
