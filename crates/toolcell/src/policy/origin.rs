//! Where a value comes from, and which one counts.
//!
//! Invariant: what a project states counts only where it is no wider than what held before; what it asked for beyond
//! that is kept, so that people can be told.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// The person's own, for all projects. It decides.
    User,
    /// A project's, which came with its other files. It may only narrow.
    Project,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// No file says anything.
    BuiltIn,
    /// A line of a file.
    File {
        /// Whose file.
        layer: Layer,
        /// Its path, for messages.
        path: Arc<Path>,
        /// The line, from 1.
        line: u32,
    },
    /// Whoever started the process.
    Flag,
}

impl Origin {
    /// Whether what comes from there may only narrow what holds without it.
    pub(super) const fn narrows_only(&self) -> bool {
        matches!(self, Self::File { layer: Layer::Project, .. })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { layer, path, line } => write!(f, "{layer} {}:{line}", path.display()),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// A value that was stated somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stated<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

/// The value that counts.
#[derive(Debug, Clone)]
pub(super) struct Held<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
    /// What was asked for and does not count.
    pub(super) beyond: Vec<Stated<T>>,
}

impl<T: Copy + PartialEq> Held<T> {
    pub(super) const fn built_in(value: T) -> Self {
        Self { value, origin: Origin::BuiltIn, beyond: Vec::new() }
    }

    /// Lets a statement count, or, if it is a project's and wider than what held before, only be known.
    /// The lower the width, the narrower the value.
    pub(super) fn settle(&mut self, stated: Option<&Stated<T>>, width: impl Fn(T) -> u64) {
        let Some(stated) = stated else { return };
        if !stated.origin.narrows_only() || width(stated.value) < width(self.value) {
            (self.value, self.origin) = (stated.value, stated.origin.clone());
        } else if width(stated.value) > width(self.value) {
            self.beyond.push(stated.clone());
        }
    }
}

/// A value of a policy, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key in a file, such as `limits.fuel`.
    pub key: String,
    /// The value that counts, as a file would state it.
    pub value: String,
    /// Where that comes from.
    pub origin: Origin,
    /// What projects asked for beyond it, and where. It does not count.
    pub beyond: Vec<(String, Origin)>,
}

/// Text as a file would state it.
pub(super) fn quoted(text: &str) -> String {
    // What JSON escapes, TOML escapes alike; it wants one character more.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A list of texts as a file would state it.
pub(super) fn listed<T: fmt::Display>(texts: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(&text.to_string())).collect();
    format!("[{}]", quoted.join(", "))
}

/// A key as a file would state it.
pub(super) fn keyed(text: &str) -> String {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { text.to_owned() } else { quoted(text) }
}
