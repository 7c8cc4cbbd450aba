//! Redaction of host paths in responses to remote clients.
//!
//! Errors of the disk, the policy and hooks name files of the host, for its operator. A remote
//! client is told what happened, but not where.
//!
//! There are two passes. Known paths (store directories, policy files, the working directory) are
//! removed from every text. In errors about the host, rather than about the client's input, every
//! absolute path is removed as well. Text that the client sent itself, such as a JSON pointer into
//! its parameters, comes back unchanged.
//!
//! A known path is removed wherever it occurs: in a URL, after a letter, in backquotes. The end of
//! a path is ambiguous, since names may contain spaces, so too much text is removed rather than too
//! little.
//!
//! Invariant: no text that the server writes for a remote client contains a known path, and no
//! error about the host contains an absolute path. The work is linear in the length of the text.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, ReadResourceResult, ResourceContents};
use serde_json::Value;
use toolcell::Lang;
use toolcell_error::ErrorCode;
use toolcell_i18n::msgid;
use toolcell_model_tools::ERROR_META_KEY;

/// The replacement for a path.
const PLACEHOLDER: &str = msgid!("(path on the server)");

/// Removes paths from texts for remote clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathRedactor(Vec<String>);

impl PathRedactor {
    /// Creates a redactor for these paths: as given, canonicalised, and both percent-encoded.
    /// Longer ones are matched first.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let as_given = paths.iter().filter(|path| path.is_absolute()).cloned();
        let on_disk = paths.iter().filter_map(|path| path.canonicalize().ok());
        // The root is not secret, and a prefix of every path.
        let mut known: Vec<String> = as_given
            .chain(on_disk)
            .filter(|path| path.parent().is_some_and(|parent| parent != Path::new("")))
            .map(|path| path.display().to_string())
            .flat_map(|path| [percent_encode_path(&path), path])
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self(known)
    }

    /// Redacts the response to a call, whose content is in `lang`.
    pub(crate) fn redact_response(&self, response: &mut CallToolResponse, lang: Lang) {
        if let CallToolResponse::Complete(result) = response {
            self.redact_result(result, lang);
        }
    }

    /// Redacts the result of a call or a task. The result of a successful run belongs to the tool,
    /// and is left alone.
    pub(crate) fn redact_result(&self, result: &mut CallToolResult, lang: Lang) {
        if result.is_error != Some(true) {
            return;
        }
        let error = result.meta.as_ref().and_then(|meta| meta.0.get(ERROR_META_KEY));
        let code = error.and_then(|error| error.get("code")).and_then(Value::as_str).unwrap_or_default();
        let scope = RedactionScope::for_code(code);
        for block in &mut result.content {
            if let ContentBlock::Text(text) = block
                && let Cow::Owned(redacted) = self.redact_text_in(&text.text, scope, lang)
            {
                text.text = redacted;
            }
        }
        if let Some(error) = result.meta.as_mut().and_then(|meta| meta.0.get_mut(ERROR_META_KEY)) {
            self.redact_value(error, scope, Lang::En);
        }
    }

    /// Redacts the known paths in the content of a failed run, which a model reads.
    pub(crate) fn redact_content(&self, result: &mut CallToolResult, lang: Lang) {
        if result.is_error != Some(true) {
            return;
        }
        for block in &mut result.content {
            if let ContentBlock::Text(text) = block
                && let Cow::Owned(redacted) = self.redact_text_in(&text.text, RedactionScope::Known, lang)
            {
                text.text = redacted;
            }
        }
    }

    /// Redacts a protocol error, whose message is in `lang`.
    pub(crate) fn redact_error(&self, mut error: ErrorData, lang: Lang) -> ErrorData {
        let code = error.data.as_ref().and_then(|data| data.get("code")).and_then(Value::as_str).unwrap_or_default();
        let scope = RedactionScope::for_code(code);
        if let Cow::Owned(redacted) = self.redact_text_in(&error.message, scope, lang) {
            error.message = redacted.into();
        }
        if let Some(data) = &mut error.data {
            self.redact_value(data, scope, lang);
        }
        error
    }

    /// Redacts the answer to a method of the host, whose texts are in `lang`. What a person approves
    /// and what the host executes stays as it is: the source of a tool, and changed arguments of a call.
    /// Reasons may be those of a hook that failed, and then name files of the server.
    pub(crate) fn redact_host_answer(&self, answer: &mut Value, lang: Lang) {
        let Value::Object(fields) = answer else { return };
        for (name, field) in fields {
            let scope = match name.as_str() {
                "source" | "modifiedArgs" => continue,
                "permissionDecisionReason" | "decidedBy" | "steps" => RedactionScope::Absolute,
                "error" => RedactionScope::for_code(field.get("code").and_then(Value::as_str).unwrap_or_default()),
                _ => RedactionScope::Known,
            };
            self.redact_value(field, scope, lang);
        }
    }

    /// Redacts the texts of a resource.
    pub(crate) fn redact_resource(&self, resource: &mut ReadResourceResult) {
        for contents in &mut resource.contents {
            if let ResourceContents::TextResourceContents { text, .. } = contents
                && let Cow::Owned(redacted) = self.redact_text(text, RedactionScope::Known)
            {
                *text = redacted;
            }
        }
    }

    /// Redacts a text in a language.
    pub(crate) fn redact_text_in<'a>(&self, text: &'a str, scope: RedactionScope, lang: Lang) -> Cow<'a, str> {
        match self.redact_text(text, scope) {
            Cow::Owned(redacted) => redacted.replace(PLACEHOLDER, lang.translate(PLACEHOLDER)).into(),
            unchanged @ Cow::Borrowed(_) => unchanged,
        }
    }

    /// Redacts an English text.
    fn redact_text<'a>(&self, text: &'a str, scope: RedactionScope) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for known in &self.0 {
            if redacted.contains(known.as_str()) {
                redacted = Cow::Owned(replace_paths(&redacted, |_, rest| known_path(known, rest)));
            }
        }
        if scope == RedactionScope::Absolute && redacted.contains('/') {
            redacted = Cow::Owned(replace_paths(&redacted, absolute_path));
        }
        redacted
    }

    fn redact_value(&self, value: &mut Value, scope: RedactionScope, lang: Lang) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact_text_in(text, scope, lang) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item, scope, lang)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.redact_value(field, scope, lang)),
            _ => {}
        }
    }
}

/// The paths that are removed from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedactionScope {
    /// Known paths.
    Known,
    /// All absolute paths.
    Absolute,
}

impl RedactionScope {
    /// The scope for an error code. Unknown codes count as errors about the host.
    fn for_code(code: &str) -> Self {
        let is_about_client = ErrorCode::parse(code).is_some_and(ErrorCode::quotes_only_the_client);
        if is_about_client { Self::Known } else { Self::Absolute }
    }
}

/// Replaces paths by [`PLACEHOLDER`]. `begins` matches a path at a position, given the character
/// before it and the text from there on.
fn replace_paths(text: &str, begins: impl Fn(char, &str) -> Option<PathMatch>) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut quotes = QuoteFinder { text, ends: [(0, None); 3] };
    let (mut at, mut before, mut in_backquotes) = (0, ' ', false);
    while let Some(first) = text[at..].chars().next() {
        if let Some(PathMatch { length, is_complete: is_whole }) = begins(before, &text[at..]) {
            redacted.push_str(PLACEHOLDER);
            at += length;
            if !is_whole {
                let quote = if matches!(before, '\'' | '"') { Some(before) } else { in_backquotes.then_some('`') };
                let closing = quote.and_then(|quote| quotes.find_closing(quote, at));
                at = closing.unwrap_or_else(|| at + path_remainder_len(&text[at..]));
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

/// The beginning of a path.
struct PathMatch {
    /// The number of bytes that were matched.
    length: usize,
    /// Whether the match is the complete path.
    is_complete: bool,
}

/// Finds the closing quotes of a text, on the same line.
struct QuoteFinder<'a> {
    text: &'a str,
    /// For each kind of quote: how far the text was searched, and the position that was found.
    ends: [(usize, Option<usize>); 3],
}

impl QuoteFinder<'_> {
    /// The position of the next quote of this kind on the line. Positions are requested in
    /// ascending order, so no part of the text is searched twice.
    fn find_closing(&mut self, quote: char, from: usize) -> Option<usize> {
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

/// Matches a known path at the beginning of a text, unless it is the prefix of a longer name.
fn known_path(known: &str, text: &str) -> Option<PathMatch> {
    let rest = text.strip_prefix(known)?;
    let is_of_name = |next: char| next.is_ascii_alphanumeric() || matches!(next, '-' | '_');
    if rest.strip_prefix('.').unwrap_or(rest).starts_with(is_of_name) {
        return None;
    }
    Some(PathMatch { length: known.len(), is_complete: !rest.starts_with('/') })
}

/// Matches the first two components of an absolute path, or of a `file:` URL. A single component
/// such as `/mcp` reveals nothing.
fn absolute_path(before: char, text: &str) -> Option<PathMatch> {
    // After a path character this is the rest of that path. Non-ASCII letters may precede a path
    // without a space.
    if before.is_ascii() && is_path_char(before) {
        return None;
    }
    let is_url = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:/"));
    let start = if is_url { 5 } else { 0 };
    let path = text[start..].trim_start_matches('/');
    let slashes = text.len() - start - path.len();
    // In "https://host/…" two slashes follow a colon.
    if slashes == 0 || slashes == 2 && before == ':' && !is_url {
        return None;
    }
    let first = path.find(|next| !is_path_char(next) || next == '/').unwrap_or(path.len());
    let second = path[first..].strip_prefix('/')?;
    let length = second.find(|next| !is_path_char(next) || next == '/').unwrap_or(second.len());
    (first > 0 && length > 0).then_some(PathMatch { length: start + slashes + first + 1 + length, is_complete: false })
}

/// The length of the rest of a path: path characters, and further words up to the last one that
/// contains a slash.
fn path_remainder_len(text: &str) -> usize {
    let mut end = text.find(|next| !is_path_char(next)).unwrap_or(text.len());
    let mut at = end;
    loop {
        let rest = &text[at..];
        let word = rest.trim_start_matches([' ', '\t']);
        if word.len() == rest.len() || word.starts_with('/') {
            return end;
        }
        let length = word.find(|next: char| next.is_whitespace() || is_word_terminator(next)).unwrap_or(word.len());
        at = text.len() - word.len() + length;
        if word[..length].contains('/') {
            end = at - (length - word[..length].trim_end_matches(|last| !is_path_char(last) || last == '.').len());
        }
    }
}

/// Whether a character ends the words that may belong to a path.
fn is_word_terminator(character: char) -> bool {
    character.is_control() || "'\"`:;|…".contains(character)
}

/// Percent-encodes a path as in a URL (WHATWG URL, path percent-encode set).
fn percent_encode_path(path: &str) -> String {
    let is_kept = |byte: u8| byte.is_ascii_graphic() && !b"\"#%<>?\\^`{}".contains(&byte);
    let written = |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(written).collect()
}

/// Whether a character may be part of a path in a message. Quotes, colons and white space end it.
fn is_path_char(character: char) -> bool {
    !character.is_whitespace() && !character.is_control() && !"'\"`:;,()[]{}<>=|…".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_paths_are_taken_out_of_every_text() {
        let redaction = PathRedactor(vec!["/srv/toolcell/store".to_owned()]);
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
            assert_eq!(redaction.redact_text(text, RedactionScope::Known), expected);
        }
    }

    #[test]
    fn every_absolute_path_is_taken_out_of_an_error_of_the_host() {
        let redaction = PathRedactor::default();
        for (text, expected) in [
            ("`/opt/hooks/check` cannot be started", "`(path on the server)` cannot be started"),
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
            assert_eq!(redaction.redact_text(text, RedactionScope::Absolute), expected);
        }
        let pointer =
            ErrorData::invalid_params("/home/0 is no number", Some(serde_json::json!({"code": "parameters-invalid"})));
        assert_eq!(redaction.redact_error(pointer, Lang::En).message, "/home/0 is no number");
        let unknown = ErrorData::internal_error("/home/u/x is gone", None);
        assert_eq!(redaction.redact_error(unknown, Lang::En).message, "(path on the server) is gone");
    }

    #[test]
    fn the_placeholder_is_in_the_language_of_the_text() {
        let redaction = PathRedactor(vec!["/srv/store".to_owned()]);
        for (lang, expected) in [
            (Lang::En, "(path on the server): x"),
            (Lang::Ja, "（サーバー上のパス）: x"),
            (Lang::Zh, "（服务器上的路径）: x"),
        ] {
            assert_eq!(redaction.redact_text_in("/srv/store/a: x", RedactionScope::Known, lang), expected);
            assert_eq!(redaction.redact_text_in("/srv/other", RedactionScope::Known, lang), "/srv/other");
        }
    }

    #[test]
    fn a_known_path_is_taken_out_as_it_is_in_a_url() {
        let redaction = PathRedactor::new(&[PathBuf::from("/srv/my store+1/é")]);
        let text = "file:///srv/my%20store+1/%C3%A9/index.sqlite: gone";
        assert_eq!(redaction.redact_text(text, RedactionScope::Known), "file://(path on the server): gone");
    }

    #[test]
    fn quoted_paths_without_an_end_are_taken_out() {
        let redaction = PathRedactor(vec!["/srv/store".to_owned()]);
        let times = 100_000;
        // The end of these is far away, or missing.
        for text in ["'/srv/store/a ", "`/srv/store/a x", "'/home/u/a x", "/home/u/a x ", "`\"'/home/u/a"] {
            let redacted = redaction.redact_text(&text.repeat(times), RedactionScope::Absolute).into_owned();
            assert!(redacted.contains(PLACEHOLDER) && !redacted.contains("/a"), "{text}");
        }
    }

    #[test]
    fn the_root_is_not_taken_for_a_known_path() {
        assert_eq!(
            PathRedactor::new(&[PathBuf::from("/"), PathBuf::from("relative-and-not-there")]).0,
            <[String; 0]>::default()
        );
    }
}
