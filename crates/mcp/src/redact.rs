//! Redaction of host paths in what clients over HTTP read.
//!
//! Errors of the disk, the policy and hooks name files of the host, for whoever operates it. A client of elsewhere is told what
//! happened, and not where.
//!
//! Two passes: paths that are known (the directories of stores, policy files, the working directory) are taken out of every
//! text; where an error is about the host and not about what the client sent, every absolute path is. What a client sent itself,
//! such as a JSON pointer into its parameters, comes back unchanged.
//!
//! A known path is taken out wherever it stands: in a URL, behind a letter, in backquotes. Where a path ends cannot always be told,
//! since names may have blanks in them. So too much of an error is taken out rather than too little.
//!
//! Invariant: no text that the server writes for a client over HTTP has a known path in it, and none of an error of the host has
//! an absolute path in it. The work is linear in the text.

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
    /// The paths as they are given, as they are on the disk, and both as they are in a URL; longer ones first.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let as_given = paths.iter().filter(|path| path.is_absolute()).cloned();
        let on_disk = paths.iter().filter_map(|path| path.canonicalize().ok());
        // The root is no secret, and part of every path.
        let mut known: Vec<String> = as_given
            .chain(on_disk)
            .filter(|path| path.parent().is_some_and(|parent| parent != Path::new("")))
            .map(|path| path.display().to_string())
            .flat_map(|path| [in_url(&path), path])
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
                redacted = Cow::Owned(without(&redacted, |_, rest| known_path(known, rest)));
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

/// A text in which [`PLACE`] stands where a path is. `begins` says of the character before a place and of the text from there on
/// how a path begins.
fn without(text: &str, begins: impl Fn(char, &str) -> Option<PathStart>) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut quotes = Quotes { text, ends: [(0, None); 3] };
    let (mut at, mut before, mut in_backquotes) = (0, ' ', false);
    while let Some(first) = text[at..].chars().next() {
        if let Some(PathStart { length, is_whole }) = begins(before, &text[at..]) {
            redacted.push_str(PLACE);
            at += length;
            if !is_whole {
                let quote = if matches!(before, '\'' | '"') { Some(before) } else { in_backquotes.then_some('`') };
                let closing = quote.and_then(|quote| quotes.closing(quote, at));
                at = closing.unwrap_or_else(|| at + rest_of_path(&text[at..]));
            }
            before = ')';
            continue;
        }
        match first {
            '`' => in_backquotes = !in_backquotes,
            '\n' => in_backquotes = false,
            _ => {}
        }
        redacted.push(first);
        at += first.len_utf8();
        before = first;
    }
    redacted
}

/// How a path begins.
struct PathStart {
    /// The bytes that make it a path.
    length: usize,
    /// Whether these are all of it.
    is_whole: bool,
}

/// The quotes of a text that end what is quoted, on its line.
struct Quotes<'a> {
    text: &'a str,
    /// For each kind of quote: how far the text was searched, and the position that was found.
    ends: [(usize, Option<usize>); 3],
}

impl Quotes<'_> {
    /// Where the next quote of this kind stands on the line. Places are asked for in order, so that no part is looked at twice.
    fn closing(&mut self, quote: char, from: usize) -> Option<usize> {
        let (looked, found) = &mut self.ends[match quote {
            '`' => 0,
            '"' => 1,
            _ => 2,
        }];
        if *looked <= from {
            let rest = &self.text[from..];
            let end = rest.find([quote, '\n']).unwrap_or(rest.len());
            *found = rest[end..].starts_with(quote).then_some(from + end);
            *looked = from + end + 1;
        }
        *found
    }
}

/// A known path at the beginning of some text, unless it is the beginning of a longer name.
fn known_path(known: &str, text: &str) -> Option<PathStart> {
    let rest = text.strip_prefix(known)?;
    let is_of_name = |next: char| next.is_ascii_alphanumeric() || matches!(next, '-' | '_');
    if rest.strip_prefix('.').unwrap_or(rest).starts_with(is_of_name) {
        return None;
    }
    Some(PathStart { length: known.len(), is_whole: !rest.starts_with('/') })
}

/// The first two parts of an absolute path, or of a URL of one: `/`, and an endpoint such as `/mcp`, tell nothing.
fn absolute(before: char, text: &str) -> Option<PathStart> {
    // What is behind a character of a path is the rest of it. Letters of other scripts stand before a path without a blank.
    if before.is_ascii() && is_of_path(before) {
        return None;
    }
    let is_url = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:/"));
    let start = if is_url { 5 } else { 0 };
    let path = text[start..].trim_start_matches('/');
    let slashes = text.len() - start - path.len();
    // In "https://host/…" two slashes stand between a colon and a host.
    if slashes == 0 || slashes == 2 && before == ':' && !is_url {
        return None;
    }
    let first = path.find(|next| !is_of_path(next) || next == '/').unwrap_or(path.len());
    let second = path[first..].strip_prefix('/')?;
    let length = second.find(|next| !is_of_path(next) || next == '/').unwrap_or(second.len());
    (first > 0 && length > 0).then_some(PathStart { length: start + slashes + first + 1 + length, is_whole: false })
}

/// How much of some text behind the beginning of a path belongs to it: what may be part of a path, and words behind blanks as far as
/// one of them has a slash within.
fn rest_of_path(text: &str) -> usize {
    let mut end = text.find(|next| !is_of_path(next)).unwrap_or(text.len());
    let mut at = end;
    loop {
        let rest = &text[at..];
        let word = rest.trim_start_matches([' ', '\t']);
        if word.len() == rest.len() || word.starts_with('/') {
            return end;
        }
        let length = word.find(|next: char| next.is_whitespace() || ends_words(next)).unwrap_or(word.len());
        at = text.len() - word.len() + length;
        if word[..length].contains('/') {
            end = at - (length - word[..length].trim_end_matches(|last| !is_of_path(last) || last == '.').len());
        }
    }
}

/// Whether a character ends the words that may belong to a path.
fn ends_words(character: char) -> bool {
    character.is_control() || "'\"`:;|…".contains(character)
}

/// A path as it is written in a URL (WHATWG URL, path percent-encode set).
fn in_url(path: &str) -> String {
    let is_kept = |byte: u8| byte.is_ascii_graphic() && !b"\"#%<>?\\^`{}".contains(&byte);
    let written = |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(written).collect()
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
            ("file:///srv/toolcell/store/index.sqlite", "file://(path on the server)"),
            ("x/srv/toolcell/store/index.sqlite: gone", "x(path on the server): gone"),
            ("打开/srv/toolcell/store失败", "打开(path on the server)失败"),
            ("打开/srv/toolcell/store/a失败: 5", "打开(path on the server): 5"),
            ("it is /srv/toolcell/store.", "it is (path on the server)."),
            ("/srv/toolcell/store.old, /srv/toolcell/store-2", "/srv/toolcell/store.old, /srv/toolcell/store-2"),
            ("`/srv/toolcell/store/my dir/g` is gone", "`(path on the server)` is gone"),
            ("`cat /srv/toolcell/store/my dir` failed", "`cat (path on the server)` failed"),
            ("at \"/srv/toolcell/store/it's, mine/g\": gone", "at \"(path on the server)\": gone"),
            ("`/srv/toolcell/store/a is open", "`(path on the server) is open"),
            ("/srv/toolcell/store/my dir/g: gone", "(path on the server): gone"),
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
            ("`/home/u/my dir/g` is gone", "`(path on the server)` is gone"),
            ("/home/u/my own dir/g: gone", "(path on the server): gone"),
            ("/home/my user/dir (1)/g cannot be read", "(path on the server) cannot be read"),
            ("/home/u/a and /home/u/b are one", "(path on the server) and (path on the server) are one"),
            ("/home/u/a is read by a/b.", "(path on the server)."),
            ("读取/home/u/x: gone", "读取(path on the server): gone"),
            ("at file:///home/u/x: gone", "at (path on the server): gone"),
            ("at file://localhost/home/u/x: gone", "at (path on the server): gone"),
            ("see ///home/u/x", "see (path on the server)"),
            ("see //home/u/x", "see (path on the server)"),
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
    fn a_known_path_is_taken_out_as_it_is_in_a_url() {
        let redaction = Redaction::new(&[PathBuf::from("/srv/my store+1/é")]);
        let text = "file:///srv/my%20store+1/%C3%A9/index.sqlite: gone";
        assert_eq!(redaction.text(text, Scope::Known), "file://(path on the server): gone");
    }

    #[test]
    fn quoted_paths_without_an_end_are_taken_out() {
        let redaction = Redaction(vec!["/srv/store".to_owned()]);
        let times = 100_000;
        // None of these has an end that is found soon.
        for text in ["'/srv/store/a ", "`/srv/store/a x", "'/home/u/a x", "/home/u/a x ", "`\"'/home/u/a"] {
            let redacted = redaction.text(&text.repeat(times), Scope::Absolute).into_owned();
            assert!(redacted.contains(PLACE) && !redacted.contains("/a"), "{text}");
        }
    }

    #[test]
    fn the_root_is_not_taken_for_a_known_path() {
        assert_eq!(
            Redaction::new(&[PathBuf::from("/"), PathBuf::from("relative-and-not-there")]).0,
            <[String; 0]>::default()
        );
    }
}
