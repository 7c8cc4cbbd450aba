//! Paths as tools write them.
//!
//! Invariant: each component of a [`ToolPath`] is a plain name: not empty, not `.` or `..`, and not
//! the name of a temporary file of the host.

use toolcell_protocol::OperationError;

/// The maximum length of a path, in bytes.
pub const PATH_LIMIT: usize = 4_095;
/// The maximum length of a path in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;
/// The prefix of temporary files of unfinished writes.
pub(super) const TEMP_FILE_PREFIX: &str = ".toolcell-unfinished-";

/// A path to a granted folder or to an entry in it.
pub(super) struct ToolPath<'a> {
    /// The path as the tool wrote it.
    pub(super) text: &'a str,
    /// The name of the granted folder.
    pub(super) folder: &'a str,
    /// The remaining components; empty for the folder itself.
    pub(super) parts: Vec<&'a str>,
}

impl<'a> ToolPath<'a> {
    /// Parses a path into its components.
    pub(super) fn parse(text: &'a str) -> Result<Self, OperationError> {
        let wrong = |why: &str| Err(invalid_path(text, why));
        if text.is_empty() {
            return wrong("it is empty; write it as `FOLDER/path`");
        }
        if text.len() > PATH_LIMIT {
            return wrong(&format!("it has {} bytes, the limit is {PATH_LIMIT}", text.len()));
        }
        if text.contains('\0') {
            return wrong("it contains a NUL");
        }
        if text.contains('\\') {
            return wrong("it contains a backslash; separate its components with `/`");
        }
        if text.starts_with('/') {
            return wrong("it is absolute; write it as `FOLDER/path`");
        }
        let mut parts = text.split('/');
        let folder = parts.next().unwrap_or_default();
        let parts: Vec<&str> = parts.collect();
        for part in std::iter::once(&folder).chain(&parts) {
            match *part {
                "" => return wrong("it has an empty component; write one `/` between components and none at the end"),
                "." | ".." => return wrong("it contains `.` or `..`; write the path from the folder down"),
                _ if part.starts_with(TEMP_FILE_PREFIX) => {
                    return wrong(&format!(
                        "names that begin with `{TEMP_FILE_PREFIX}` are reserved for files being written"
                    ));
                }
                _ => {}
            }
        }
        Ok(Self { text, folder, parts })
    }

    /// Returns the path relative to the granted folder.
    pub(super) fn relative(&self) -> String {
        self.parts.join("/")
    }

    /// Returns the path, escaped and shortened for messages.
    pub(super) fn escape_for_display(&self) -> String {
        escape_for_display(self.text)
    }
}

/// Escapes control characters and shortens the text, for messages of one line.
pub(super) fn escape_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Creates the error of a path that is refused for its form.
pub(super) fn invalid_path(path: &str, why: &str) -> OperationError {
    OperationError::without_effects(
        "TypeError",
        "files-path",
        format!("`{}` is not a valid path: {why}", escape_for_display(path)),
    )
}
