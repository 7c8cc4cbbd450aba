//! Errors of creating an entry and editing a client's file.
//!
//! Invariant: a refused file is unchanged.

/// An error of creating an entry or editing a client's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The entry name is invalid.
    #[error("`{}` is no name of a server: letters, digits, `-` and `_`, 1 to {limit}", .name.escape_debug())]
    Name {
        /// The beginning of the rejected name.
        name: String,
        /// The longest name, in bytes.
        limit: usize,
    },
    /// An argument would not reach the server unchanged.
    #[error("`{}` cannot be written into the configuration of a client: {why}", .word.escape_debug())]
    Word {
        /// The argument.
        word: String,
        /// What a client would do with it.
        why: &'static str,
    },
    /// The URL is invalid.
    #[error("`{}` is no address of a server: {why}", .url.escape_debug())]
    Url {
        /// The rejected URL, without anything that could be a password.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The name of the environment variable is invalid. It is not repeated, because it could be a
    /// token.
    #[error("this is no name of an environment variable: letters, digits and `_`, and no digit first")]
    Variable,
    /// The file has a syntax error.
    #[error("line {line}, column {column}: {what}")]
    Invalid {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The parser's message.
        what: String,
    },
    /// The file has a value of another type where the entry belongs.
    #[error("line {line}: {what}")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// What the file has there.
        what: String,
    },
    /// The name belongs to another server.
    #[error("line {line}: `{name}` is another server, {leads_to}")]
    Taken {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// A description of the existing server.
        leads_to: String,
    },
}

impl ClientError {
    /// The file is valid, but an entry cannot be added to it.
    pub(super) fn not_editable(key: &str) -> Self {
        Self::Shape { line: 1, what: format!("`{key}` is written so that an entry cannot be added") }
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Name { .. } => "client-name-invalid",
            Self::Word { .. } => "client-word-invalid",
            Self::Url { .. } => "client-url-invalid",
            Self::Variable => "client-variable-invalid",
            Self::Invalid { .. } => "client-file-invalid",
            Self::Shape { .. } => "client-file-shape",
            Self::Taken { .. } => "client-entry-taken",
        }
    }

    /// What the user can do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Name { .. } => "take a plain name, such as toolcell",
            Self::Word { .. } => "give it another path, or put the entry in by hand",
            Self::Url { .. } => "it is that of a running server, such as http://127.0.0.1:8080/mcp",
            Self::Variable => "name the variable that holds the token, such as TOOLCELL_TOKEN, and not the token",
            Self::Invalid { .. } => "mend it, or name another file with --file; nothing was changed",
            Self::Shape { .. } => "put the snippet in by hand, or name another file with --file; nothing was changed",
            Self::Taken { .. } => "take another name with --name, or say --force; nothing was changed",
        }
    }
}
