//! The encoding of an event as one line of JSON, and back.
//!
//! Invariant: a line is printable ASCII and at most [`LINE_LIMIT`] bytes long, whatever the event
//! contains. So no name can start a new line, move a cursor or reverse the direction of text.

use std::borrow::Cow;
use std::io::{self, Write};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_tool::{AuditContents, NAME_LIMIT, ToolId};

use super::event::{Action, AuditEvent, Digest, StatusChange};
use super::head::{Head, SEQ_LIMIT};
use super::reader::LINE_LIMIT;

/// The maximum size of recorded parameters, and of a message, in bytes of the line.
const PARAMETERS_LIMIT: usize = 32 << 10;
const MESSAGE_LIMIT: usize = 16 << 10;
/// The maximum size of a rendered line, in bytes: linking it to a later place in the chain adds at
/// most 58 bytes, for the sequence number and a repair.
const RENDERED_LIMIT: usize = LINE_LIMIT - 64;

/// A repair of the end of the log that was made before a line was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Repair {
    /// The start of a line that was never acknowledged was cut off: `{"cut": bytes}`.
    Cut(u64),
    /// A line that is known to exist had lost its newline, which was restored: `{"closed": bytes}`.
    Closed(u64),
}

/// The maximum length of a caller in characters.
const CALLER_LIMIT: usize = 128;

/// Renders the line of an event after the line `before`, with its newline.
pub(super) fn render(
    attempt: &AuditEvent<'_>,
    contents: AuditContents,
    before: &Head,
    repaired: Option<Repair>,
) -> serde_json::Result<Vec<u8>> {
    let mut cuts = Truncations::default();
    let failure = attempt.result.as_ref().err();
    let message =
        failure.and_then(|failure| failure.message.as_deref()).filter(|_| contents == AuditContents::Verbatim);
    let details = &attempt.details;
    let record = LineJson {
        seq: before.next(),
        timestamp: format!("{:.3}", attempt.at),
        action: attempt.action.name(),
        tool_id: attempt.tool,
        tool_name: attempt.name.as_deref().map(|name| cuts.characters("toolName", name)),
        success: failure.is_none(),
        // Evaluated in the order in which they are written, so the list of truncated fields comes
        // last.
        details: DetailsJson {
            parameters: details.parameters.as_ref().map(|digest| cuts.parameters(digest, contents)),
            fuel: details.fuel,
            duration_ms: details.duration_ms,
            outcome: details.outcome,
            decided_by: details.decided_by.as_deref().map(|who| cuts.characters("decidedBy", who)),
            caller: details.caller.as_deref().map(|caller| cuts.first_characters("caller", caller, CALLER_LIMIT)),
            count: details.count,
            status: details.status,
            replaced: details.replaced,
            successor: details.successor,
            run: details.run.as_deref().map(|run| cuts.characters("run", run)),
            message: message.map(|message| cuts.bytes("message", message, MESSAGE_LIMIT)),
            repaired,
            cut: cuts.0,
        },
        error: failure.map(|failure| failure.code.as_str()),
        previous: before.hash().to_hex().to_string(),
    };
    let mut line = Vec::with_capacity(512);
    record.serialize(&mut serde_json::Serializer::with_formatter(&mut line, AsciiFormatter))?;
    line.push(b'\n');
    Ok(line)
}

/// The start of a line that was rendered for the start of the chain.
const START_PREFIX: &str = "{\"seq\":1,";
/// The text before the hash of the previous line, and the text after it.
const PREVIOUS_START: &str = ",\"previous\":\"";
const LINE_END: &str = "\"}";
/// The start of the details of a line. It cannot occur within a string, where quotes are escaped.
const DETAILS_START: &str = "\"details\":{";

/// Adds the identifier of a store change to a line that was rendered for the start of the chain.
pub(super) fn with_change_id(rendered: &str, change: &str) -> Option<String> {
    let (front, details) = rendered.trim_end().split_once(DETAILS_START)?;
    let comma = if details.starts_with('}') { "" } else { "," };
    Some(format!("{front}{DETAILS_START}\"change\":\"{change}\"{comma}{details}"))
}

/// Links a line that was rendered for the start of the chain to the line `before`, and adds a
/// newline. `None` if the text is not such a line, or is too long.
pub(super) fn relink(rendered: &str, before: &Head, repaired: Option<Repair>) -> Option<Vec<u8>> {
    if rendered.len() > RENDERED_LIMIT {
        return None;
    }
    let rest = rendered.strip_prefix(START_PREFIX)?.strip_suffix(LINE_END)?;
    let at = rest.len().checked_sub(PREVIOUS_START.len() + 2 * blake3::OUT_LEN)?;
    let body = rest.get(..at).filter(|_| rest.get(at..).is_some_and(|link| link.starts_with(PREVIOUS_START)))?;
    let (front, details) = body.split_once(DETAILS_START)?;
    let noted = match repaired {
        // A delayed line names its change or its run, so another detail follows the comma.
        Some(repaired) => format!("\"repaired\":{},", serde_json::to_string(&repaired).ok()?),
        None => String::new(),
    };
    let (seq, hash) = (before.next(), before.hash().to_hex());
    let line = format!("{{\"seq\":{seq},{front}{DETAILS_START}{noted}{details}{PREVIOUS_START}{hash}{LINE_END}\n");
    let content = line.trim_end().as_bytes();
    let is_one =
        content.iter().all(|byte| matches!(byte, b' '..=b'~')) && matches!(parse_link(content), Link::Chained(..));
    is_one.then(|| line.into_bytes())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineJson<'a> {
    seq: u64,
    timestamp: String,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_id: Option<ToolId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    success: bool,
    details: DetailsJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    previous: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DetailsJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Parameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<StatusChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<ToolId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    successor: Option<ToolId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Repair>,
    /// The names of truncated fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<&'static str>,
}

#[derive(Serialize)]
struct Parameters {
    blake3: String,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Collects the names of truncated fields.
#[derive(Default)]
struct Truncations(Vec<&'static str>);

impl Truncations {
    /// Truncates a text to the maximum length of a name.
    fn characters<'a>(&mut self, field: &'static str, text: &'a str) -> &'a str {
        self.first_characters(field, text, NAME_LIMIT)
    }

    /// Truncates a text to this number of characters.
    fn first_characters<'a>(&mut self, field: &'static str, text: &'a str, limit: usize) -> &'a str {
        let end = text.char_indices().nth(limit).map(|(at, _)| at);
        self.shorten(field, text, end)
    }

    /// Truncates a text so that it takes at most `limit` bytes of the line.
    fn bytes<'a>(&mut self, field: &'static str, text: &'a str, limit: usize) -> &'a str {
        let mut left = limit;
        let end = text.char_indices().find(|(_, char)| {
            let fits = left.checked_sub(escaped_width(*char));
            left = fits.unwrap_or(left);
            fits.is_none()
        });
        self.shorten(field, text, end.map(|(at, _)| at))
    }

    fn parameters(&mut self, digest: &Digest<'_>, contents: AuditContents) -> Parameters {
        let text = (contents == AuditContents::Verbatim).then(|| {
            // A byte of input takes at least one byte of the line. A character that this slice cuts
            // in two is removed by the truncation.
            let raw = &digest.raw()[..digest.bytes().min(PARAMETERS_LIMIT + 4)];
            self.bytes("parameters", &String::from_utf8_lossy(raw), PARAMETERS_LIMIT).to_owned()
        });
        Parameters { blake3: digest.blake3().to_hex().to_string(), bytes: digest.bytes(), text }
    }

    fn shorten<'a>(&mut self, field: &'static str, text: &'a str, end: Option<usize>) -> &'a str {
        let Some(end) = end else { return text };
        self.0.push(field);
        &text[..end]
    }
}

/// The number of bytes that a character takes in a line.
fn escaped_width(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        _ => "\\u0000".len() * char.len_utf16(),
    }
}

/// A JSON formatter that escapes everything except printable ASCII.
struct AsciiFormatter;

impl serde_json::ser::Formatter for AsciiFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        for char in fragment.chars() {
            match char {
                ' '..='~' => write!(writer, "{char}")?,
                _ => char.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))?,
            }
        }
        Ok(())
    }
}

/// The place of a line in the chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A link: the sequence number of the line, and the hash of the previous line that it states.
    Chained(u64, blake3::Hash),
    /// A line of an earlier program, which wrote this log without a chain.
    Unchained,
    /// Not a line of the log.
    Broken,
}

/// Parses only the fields of a line that form the chain.
pub(super) fn parse_link(line: &[u8]) -> Link {
    #[derive(Deserialize)]
    struct Fields<'a> {
        seq: Option<u64>,
        #[serde(borrow)]
        previous: Option<Cow<'a, str>>,
        #[serde(borrow)]
        timestamp: Cow<'a, str>,
        #[serde(borrow)]
        action: Cow<'a, str>,
    }
    let Ok(fields) = serde_json::from_slice::<Fields<'_>>(line) else { return Link::Broken };
    match (fields.seq, fields.previous) {
        (None, None) if !fields.timestamp.is_empty() && !fields.action.is_empty() => Link::Unchained,
        (Some(seq @ 1..=SEQ_LIMIT), Some(previous)) => match blake3::Hash::from_hex(previous.as_bytes()) {
            Ok(previous) => Link::Chained(seq, previous),
            Err(_) => Link::Broken,
        },
        _ => Link::Broken,
    }
}

/// A parsed line of the log.
///
/// Unknown fields from later versions are ignored; unknown actions are kept by name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditLine {
    /// The sequence number; `None` in lines from before the chain.
    pub seq: Option<u64>,
    /// When the action ended.
    pub at: Timestamp,
    /// The name of the action; see [`AuditLine::action`].
    pub action: String,
    /// The affected tool.
    pub tool: Option<ToolId>,
    /// The name that the caller gave. It need not be valid and may contain anything.
    pub name: Option<String>,
    /// Whether the action succeeded.
    pub success: bool,
    /// The details.
    pub details: Map<String, Value>,
    /// The stable code of the failure.
    pub error: Option<String>,
}

impl AuditLine {
    /// The action, if this version knows it.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        Action::from_name(&self.action)
    }

    /// The line as a JSON object with the field names of the log.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| value.map(|value| fields.insert(name.to_owned(), value));
        put("seq", self.seq.map(Value::from));
        put("timestamp", Some(self.at.to_string().into()));
        put("action", Some(self.action.clone().into()));
        put("toolId", self.tool.map(|id| id.to_string().into()));
        put("toolName", self.name.clone().map(Value::from));
        put("success", Some(self.success.into()));
        put("details", Some(Value::Object(self.details.clone())));
        put("error", self.error.clone().map(Value::from));
        Value::Object(fields)
    }

    /// Parses a line; `None` if it is broken.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            seq: Option<u64>,
            timestamp: String,
            action: String,
            tool_id: Option<String>,
            tool_name: Option<String>,
            success: bool,
            details: Option<Map<String, Value>>,
            error: Option<String>,
        }
        let fields = serde_json::from_slice::<Fields>(line).ok()?;
        Some(Self {
            seq: fields.seq,
            at: fields.timestamp.parse().ok()?,
            action: fields.action,
            // Lines from before the chain contain identifiers in another format.
            tool: fields.tool_id.and_then(|id| id.parse().ok()),
            name: fields.tool_name,
            success: fields.success,
            details: fields.details.unwrap_or_default(),
            error: fields.error,
        })
    }
}
