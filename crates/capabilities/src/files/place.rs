//! Paths, as tools say them.
//!
//! Invariant: each part of a [`Place`] is a plain name, which leads neither up nor elsewhere, and none that the host gives to
//! files that it is writing.

use crate::failure::Failure;
use crate::files::error::{shown, wrong_path};

/// The longest path, in bytes.
pub const PATH_LIMIT: usize = 4_095;
/// How the names of files begin that are being written.
pub(super) const UNFINISHED: &str = ".toolcell-unfinished-";

/// A path that leads to something in a folder, or to the folder itself.
pub(super) struct Place<'a> {
    /// The path as it was said.
    pub(super) text: &'a str,
    /// The name of the folder.
    pub(super) folder: &'a str,
    /// The way from there on; empty for the folder itself.
    pub(super) parts: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// Takes a path apart.
    pub(super) fn parse(text: &'a str) -> Result<Self, Failure> {
        let wrong = |why: &str| Err(wrong_path(text, why));
        if text.is_empty() {
            return wrong("it is empty; write the name of a folder, `/`, and the way from there");
        }
        if text.len() > PATH_LIMIT {
            return wrong(&format!("it has {} bytes, the limit is {PATH_LIMIT}", text.len()));
        }
        if text.contains('\0') {
            return wrong("a NUL is in it");
        }
        if text.contains('\\') {
            return wrong("a backslash is in it; write `/` between its parts");
        }
        if text.starts_with('/') {
            return wrong("it starts at the root; write the name of a folder, `/`, and the way from there");
        }
        let mut parts = text.split('/');
        let folder = parts.next().unwrap_or_default();
        let parts: Vec<&str> = parts.collect();
        for part in std::iter::once(&folder).chain(&parts) {
            match *part {
                "" => return wrong("a part of it is empty; write one `/` between two parts and none at the end"),
                "." | ".." => return wrong("`.` and `..` may not be in it; write the way from the folder down"),
                _ if part.starts_with(UNFINISHED) => {
                    return wrong(&format!("names that begin with `{UNFINISHED}` are those of files being written"));
                }
                _ => {}
            }
        }
        Ok(Self { text, folder, parts })
    }

    /// The way from the folder on.
    pub(super) fn below(&self) -> String {
        self.parts.join("/")
    }

    /// The path as messages show it.
    pub(super) fn shown(&self) -> String {
        shown(self.text)
    }
}
