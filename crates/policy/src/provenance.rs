//! The provenance of policy values, and the merge of user and project values.
//!
//! Invariant: a project's value takes effect only if it is no wider than the value before; a wider
//! value is kept as ignored, so that it can be reported.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toolcell_i18n::{Localize, Message, message, msgid};

/// The layer of a policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// The user's file, for all projects. It decides.
    User,
    /// A project's file, which comes with the project. It can only narrow.
    Project,
}

impl Layer {
    const fn name(self) -> &'static str {
        match self {
            Self::User => msgid!("user"),
            Self::Project => msgid!("project"),
        }
    }
}

impl Localize for Layer {
    fn localize(&self) -> Message {
        self.name().into()
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The built-in default.
    BuiltIn,
    /// A line of a policy file.
    File {
        /// The layer of the file.
        layer: Layer,
        /// The path, for messages.
        path: Arc<Path>,
        /// The line, counted from 1.
        line: u32,
    },
    /// A command-line flag or the embedding host.
    Flag,
}

impl Origin {
    /// Returns whether values from this source can only narrow.
    pub(super) const fn can_only_narrow(&self) -> bool {
        matches!(self, Self::File { layer: Layer::Project, .. })
    }
}

impl Localize for Origin {
    fn localize(&self) -> Message {
        match self {
            Self::BuiltIn => message!("built-in"),
            Self::File { layer, path, line } => {
                message!("{layer} {path}:{line}", layer, path = path.display(), line)
            }
            Self::Flag => message!("flag"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

/// The value in effect.
#[derive(Debug, Clone)]
pub(super) struct Effective<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
    /// The values that were requested and ignored.
    pub(super) ignored: Vec<Sourced<T>>,
}

impl<T: Copy + PartialEq> Effective<T> {
    pub(super) const fn built_in(value: T) -> Self {
        Self { value, origin: Origin::BuiltIn, ignored: Vec::new() }
    }

    /// Applies a value, or records it as ignored if it is a project's and wider than the value in
    /// effect. A lower width is narrower.
    pub(super) fn apply(&mut self, stated: Option<&Sourced<T>>, width: impl Fn(T) -> u64) {
        let Some(stated) = stated else { return };
        if !stated.origin.can_only_narrow() || width(stated.value) < width(self.value) {
            (self.value, self.origin) = (stated.value, stated.origin.clone());
        } else if width(stated.value) > width(self.value) {
            self.ignored.push(stated.clone());
        }
    }
}

/// A setting of a policy, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key in a policy file, such as `limits.fuel`.
    pub key: String,
    /// The value in effect, as TOML.
    pub value: String,
    /// The source of the value.
    pub origin: Origin,
    /// The wider values of projects and their sources, which are ignored.
    pub ignored: Vec<(String, Origin)>,
}

/// Formats a text as a TOML string.
pub(super) fn toml_string(text: &str) -> String {
    // TOML escapes what JSON escapes, and one character more.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Formats a list of texts as a TOML array.
pub(super) fn toml_list<T: fmt::Display>(texts: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| toml_string(&text.to_string())).collect();
    format!("[{}]", quoted.join(", "))
}

/// Formats a TOML key.
pub(super) fn toml_key(text: &str) -> String {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { text.to_owned() } else { toml_string(text) }
}
