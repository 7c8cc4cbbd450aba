//! Redaction of host paths in what clients over HTTP read.
//!
//! Errors of the disk, the policy and hooks name files of the host, for whoever operates it. A client of elsewhere is told what
//! happened, and not where.
//!
//! Two passes: paths that are known (the directories of stores, policy files, the working directory) are taken out of every
//! text; where an error is about the host and not about what the client sent, every absolute path is. What a client sent itself,
//! such as a JSON pointer into its parameters, comes back unchanged.
//!
//! Invariant: no text that the server writes for a client over HTTP has a known path in it, and none of an error of the host has
//! an absolute path in it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, ReadResourceResult, ResourceContents};
use serde_json::Value;

use crate::answer::ERROR;

/// What stands in the place of a path.
const PLACE: &str = "(path on the server)";

/// The codes of errors that quote what the client sent or what its tool said, and nothing of the host.
const OF_THE_CLIENT: [&str; 12] = [
    "critical-risk",
    "description-required",
    "name-invalid",
    "name-required",
    "parameters-invalid",
    "request-invalid",
    "resource-not-found",
    "syntax-error",
    "syntax-unsupported",
    "tool-failed",
    "tool-not-found",
    "tool-unknown",
];

/// Paths that clients over HTTP are not told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(Vec<String>);

impl Redaction {
    /// The paths as they are given and as they are on the disk; longer ones first.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let as_given = paths.iter().filter(|path| path.is_absolute()).cloned();
        let on_disk = paths.iter().filter_map(|path| path.canonicalize().ok());
        // The root is no secret, and part of every path.
        let mut known: Vec<String> = as_given
            .chain(on_disk)
            .filter(|path| path.parent().is_some_and(|parent| parent != Path::new("")))
            .map(|path| path.display().to_string())
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self(known)
    }

    /// The answer of a call.
    pub(crate) fn response(&self, response: &mut CallToolResponse) {
        if let CallToolResponse::Complete(result) = response {
            self.result(result);
        }
    }

    /// The answer of a call, or of a task. What a run returned is the tool's own.
    pub(crate) fn result(&self, result: &mut CallToolResult) {
        if result.is_error != Some(true) {
            return;
        }
        let error = result.meta.as_ref().and_then(|meta| meta.0.get(ERROR));
        let code = error.and_then(|error| error.get("code")).and_then(Value::as_str).unwrap_or_default();
        let scope = Scope::of(code);
        for block in &mut result.content {
            if let ContentBlock::Text(text) = block
                && let Cow::Owned(redacted) = self.text(&text.text, scope)
            {
                text.text = redacted;
            }
        }
        if let Some(error) = result.meta.as_mut().and_then(|meta| meta.0.get_mut(ERROR)) {
            self.value(error, scope);
        }
    }

    /// An error of the protocol.
    pub(crate) fn error(&self, mut error: ErrorData) -> ErrorData {
        let code = error.data.as_ref().and_then(|data| data.get("code")).and_then(Value::as_str).unwrap_or_default();
        let scope = Scope::of(code);
        if let Cow::Owned(redacted) = self.text(&error.message, scope) {
            error.message = redacted.into();
        }
        if let Some(data) = &mut error.data {
            self.value(data, scope);
        }
        error
    }

    /// The texts of a resource.
    pub(crate) fn resource(&self, resource: &mut ReadResourceResult) {
        for contents in &mut resource.contents {
            if let ResourceContents::TextResourceContents { text, .. } = contents
                && let Cow::Owned(redacted) = self.text(text, Scope::Known)
            {
                *text = redacted;
            }
        }
    }

    /// A text without paths.
    pub(crate) fn text<'a>(&self, text: &'a str, scope: Scope) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for known in &self.0 {
            if redacted.contains(known.as_str()) {
                redacted =
                    Cow::Owned(without(&redacted, |rest| rest.starts_with(known.as_str()).then_some(known.len())));
            }
        }
        if scope == Scope::Absolute && redacted.contains('/') {
            redacted = Cow::Owned(without(&redacted, absolute));
        }
        redacted
    }

    fn value(&self, value: &mut Value, scope: Scope) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text, scope) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, scope)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.value(field, scope)),
            _ => {}
        }
    }
}

/// Which paths are taken out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that are known.
    Known,
    /// Every absolute one.
    Absolute,
}

impl Scope {
    /// The scope of an error with this code. One that nobody thought of is about the host.
    fn of(code: &str) -> Self {
        if OF_THE_CLIENT.contains(&code) { Self::Known } else { Self::Absolute }
    }
}

/// A text in which [`PLACE`] stands where a path begins. `begins` gives the length of what makes it a path.
fn without(text: &str, begins: impl Fn(&str) -> Option<usize>) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = if is_of_path(before) { None } else { begins(rest) };
        match found {
            // A longer name is another path.
            Some(length) if !rest[length..].starts_with(|next| is_of_path(next) && next != '/') => {
                redacted.push_str(PLACE);
                let tail = &rest[length..];
                rest = &tail[tail.find(|next| !is_of_path(next)).unwrap_or(tail.len())..];
                before = ')';
            }
            _ => {
                redacted.push(first);
                rest = &rest[first.len_utf8()..];
                before = first;
            }
        }
    }
    redacted
}

/// The length of the first two parts of an absolute path: `/`, and an endpoint such as `/mcp`, tell nothing.
fn absolute(rest: &str) -> Option<usize> {
    let path = rest.strip_prefix('/')?;
    let first = path.find(|next| !is_of_path(next) || next == '/').unwrap_or(path.len());
    let second = path[first..].strip_prefix('/')?;
    let length = second.find(|next| !is_of_path(next) || next == '/').unwrap_or(second.len());
    (first > 0 && length > 0).then_some(1 + first + 1 + length)
}

/// Whether a character may be part of a path in a message. Quotes, colons and white space end it.
fn is_of_path(character: char) -> bool {
    !character.is_whitespace() && !character.is_control() && !"'\"`:;,()[]{}<>=|…".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_paths_are_taken_out_of_every_text() {
        let redaction = Redaction(vec!["/srv/toolcell/store".to_owned()]);
        for (text, expected) in [
            ("/srv/toolcell/store is read-only", "(path on the server) is read-only"),
            ("run `x --dir '/srv/toolcell/store/principals/a'`", "run `x --dir '(path on the server)'`"),
            ("user /srv/toolcell/store/p.toml:12", "user (path on the server):12"),
            ("/srv/toolcell/storehouse", "/srv/toolcell/storehouse"),
            ("file:/srv/toolcell/store", "file:(path on the server)"),
            ("at /srv/0 and /a/b", "at /srv/0 and /a/b"),
        ] {
            assert_eq!(redaction.text(text, Scope::Known), expected);
        }
    }

    #[test]
    fn every_absolute_path_is_taken_out_of_an_error_of_the_host() {
        let redaction = Redaction::default();
        for (text, expected) in [
            ("`/opt/gates/check` cannot be started", "`(path on the server)` cannot be started"),
            (
                "the folder is not at /home/u/data: no such file",
                "the folder is not at (path on the server): no such file",
            ),
            ("running/abc: No space left", "running/abc: No space left"),
            ("https://example.com/a/b", "https://example.com/a/b"),
            ("GET /mcp", "GET /mcp"),
            ("a/b/c, /x, 1 / 2 / 3", "a/b/c, /x, 1 / 2 / 3"),
        ] {
            assert_eq!(redaction.text(text, Scope::Absolute), expected);
        }
        let pointer =
            ErrorData::invalid_params("/home/0 is no number", Some(serde_json::json!({"code": "parameters-invalid"})));
        assert_eq!(redaction.error(pointer).message, "/home/0 is no number");
        let unknown = ErrorData::internal_error("/home/u/x is gone", None);
        assert_eq!(redaction.error(unknown).message, "(path on the server) is gone");
    }

    #[test]
    fn the_root_is_not_taken_for_a_known_path() {
        assert_eq!(
            Redaction::new(&[PathBuf::from("/"), PathBuf::from("relative-and-not-there")]).0,
            <[String; 0]>::default()
        );
    }
}
