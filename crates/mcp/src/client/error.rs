//! Why an entry is not made, and a file not edited.
//!
//! Invariant: nothing of a refused file was changed.

/// Why an entry is not made, or a file of a client is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// It is no name of an entry.
    #[error("`{}` is no name of a server: letters, digits, `-` and `_`, 1 to {limit}", .name.escape_debug())]
    Name {
        /// The beginning of what was said.
        name: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A word would not reach the server as it is.
    #[error("`{}` cannot be written into the configuration of a client: {why}", .word.escape_debug())]
    Word {
        /// The word.
        word: String,
        /// What would come of it.
        why: &'static str,
    },
    /// It is no address of a server.
    #[error("`{}` is no address of a server: {why}", .url.escape_debug())]
    Url {
        /// What was said, without what could be a password.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It is no name of an environment variable. What it is instead could be a token, and is not repeated.
    #[error("this is no name of an environment variable: letters, digits and `_`, and no digit first")]
    Variable,
    /// The file is not in its language.
    #[error("line {line}, column {column}: {what}")]
    Invalid {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The file has something else where the entry belongs.
    #[error("line {line}: {what}")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// What is there.
        what: String,
    },
    /// The name leads to another server.
    #[error("line {line}: `{name}` is another server, {leads_to}")]
    Taken {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// What it leads to.
        leads_to: String,
    },
}

impl ClientError {
    /// Something in the file does not let an entry in.
    pub(super) fn closed(key: &str) -> Self {
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

    /// What to do next.
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
