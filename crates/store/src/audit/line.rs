//! One attempt as one line of JSON, and back.
//!
//! Invariant: a line is printable ASCII and at most [`LINE_LIMIT`] bytes, whatever is in an attempt. So no name can begin a
//! line, move a cursor or reverse the order of a text.

use std::borrow::Cow;
use std::io::{self, Write};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_tool::{NAME_LIMIT, ToolId};

use super::attempt::{Action, Attempt, Change, Contents, Digest};
use super::head::{Head, SEQ_LIMIT};
use super::pieces::LINE_LIMIT;

/// How much is recorded of parameters and of a message, in bytes of the line.
const PARAMETERS_LIMIT: usize = 32 << 10;
const MESSAGE_LIMIT: usize = 16 << 10;
/// The longest line, in bytes, that was rendered for the start of the chain and can be linked to another one: the number of a
/// later line and a repair take at most 58 bytes more.
const RENDERED_LIMIT: usize = LINE_LIMIT - 64;

/// What was done to the end of the log before a line was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Repair {
    /// The beginning of a line, which nobody was told of, was cut off: `{"cut": bytes}`.
    Cut(u64),
    /// A line that is known to be there had lost its newline, and got it back: `{"closed": bytes}`.
    Closed(u64),
}

/// The line of an attempt that comes after another one, with its newline.
pub(super) fn render(
    attempt: &Attempt<'_>,
    contents: Contents,
    before: &Head,
    repaired: Option<Repair>,
) -> serde_json::Result<Vec<u8>> {
    let mut cuts = Cuts::default();
    let failure = attempt.result.as_ref().err();
    let message = failure.and_then(|failure| failure.message.as_deref()).filter(|_| contents == Contents::Verbatim);
    let details = &attempt.details;
    let record = Record {
        seq: before.next(),
        timestamp: format!("{:.3}", attempt.at),
        action: attempt.action.name(),
        tool_id: attempt.tool,
        tool_name: attempt.name.as_deref().map(|name| cuts.characters("toolName", name)),
        success: failure.is_none(),
        // In the order that they are written here: the cuts come last.
        details: Recorded {
            parameters: details.parameters.as_ref().map(|digest| cuts.parameters(digest, contents)),
            fuel: details.fuel,
            duration_ms: details.duration_ms,
            outcome: details.outcome,
            decided_by: details.decided_by.as_deref().map(|who| cuts.characters("decidedBy", who)),
            count: details.count,
            status: details.status,
            replaced: details.replaced,
            successor: details.successor,
            run: details.run.as_deref().map(|run| cuts.characters("run", run)),
            message: message.map(|message| cuts.bytes("message", message, MESSAGE_LIMIT)),
            repaired,
            cut: cuts.0,
        },
        error: failure.map(|failure| failure.code),
        previous: before.hash().to_hex().to_string(),
    };
    let mut line = Vec::with_capacity(512);
    record.serialize(&mut serde_json::Serializer::with_formatter(&mut line, Ascii))?;
    line.push(b'\n');
    Ok(line)
}

/// What a line begins with that was rendered for the start of the chain.
const START_PREFIX: &str = "{\"seq\":1,";
/// What is before the hash of the line before, and after it.
const PREVIOUS: &str = ",\"previous\":\"";
const END: &str = "\"}";
/// What the details of a line begin with. Within a string the quotes would be escaped.
const DETAILS: &str = "\"details\":{";

/// A line that was rendered for the start of the chain, with the change of the store that it is the one line of.
pub(super) fn about(rendered: &str, change: &str) -> Option<String> {
    let (front, details) = rendered.trim_end().split_once(DETAILS)?;
    let comma = if details.starts_with('}') { "" } else { "," };
    Some(format!("{front}{DETAILS}\"change\":\"{change}\"{comma}{details}"))
}

/// A line that was rendered for the start of the chain, linked to another line before it, with its newline. None where it is
/// not such a line, or is longer than one is.
pub(super) fn relink(rendered: &str, before: &Head, repaired: Option<Repair>) -> Option<Vec<u8>> {
    if rendered.len() > RENDERED_LIMIT {
        return None;
    }
    let rest = rendered.strip_prefix(START_PREFIX)?.strip_suffix(END)?;
    let at = rest.len().checked_sub(PREVIOUS.len() + 2 * blake3::OUT_LEN)?;
    let body = rest.get(..at).filter(|_| rest.get(at..).is_some_and(|link| link.starts_with(PREVIOUS)))?;
    let (front, details) = body.split_once(DETAILS)?;
    let noted = match repaired {
        // A line that waited says of which change it is, so something follows.
        Some(repaired) => format!("\"repaired\":{},", serde_json::to_string(&repaired).ok()?),
        None => String::new(),
    };
    let (seq, hash) = (before.next(), before.hash().to_hex());
    let line = format!("{{\"seq\":{seq},{front}{DETAILS}{noted}{details}{PREVIOUS}{hash}{END}\n");
    let content = line.trim_end().as_bytes();
    let is_one = content.iter().all(|byte| matches!(byte, b' '..=b'~')) && matches!(link(content), Link::Chained(..));
    is_one.then(|| line.into_bytes())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    seq: u64,
    timestamp: String,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_id: Option<ToolId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    success: bool,
    details: Recorded<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    previous: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Recorded<'a> {
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
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Change>,
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
    /// What is there in part only.
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

/// The fields that are recorded in part.
#[derive(Default)]
struct Cuts(Vec<&'static str>);

impl Cuts {
    /// So many characters as a name has at most.
    fn characters<'a>(&mut self, field: &'static str, text: &'a str) -> &'a str {
        let end = text.char_indices().nth(NAME_LIMIT).map(|(at, _)| at);
        self.shorten(field, text, end)
    }

    /// So many characters as take this many bytes of a line.
    fn bytes<'a>(&mut self, field: &'static str, text: &'a str, limit: usize) -> &'a str {
        let mut left = limit;
        let end = text.char_indices().find(|(_, char)| {
            let fits = left.checked_sub(width(*char));
            left = fits.unwrap_or(left);
            fits.is_none()
        });
        self.shorten(field, text, end.map(|(at, _)| at))
    }

    fn parameters(&mut self, digest: &Digest<'_>, contents: Contents) -> Parameters {
        let text = (contents == Contents::Verbatim).then(|| {
            // No byte takes less than a byte of the line. A character that is halved here is cut off below.
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

/// How many bytes of a line a character takes.
fn width(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        _ => "\\u0000".len() * char.len_utf16(),
    }
}

/// JSON in which everything that is not printable ASCII is escaped.
struct Ascii;

impl serde_json::ser::Formatter for Ascii {
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

/// What a line is to the chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A link of it: the line's number, and the hash of the line before as it says.
    Chained(u64, blake3::Hash),
    /// A line of a program that wrote this log before there was a chain.
    Unchained,
    /// No line of the log.
    Broken,
}

/// Reads of a line what the chain is made of.
pub(super) fn link(line: &[u8]) -> Link {
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

/// A line of the log, read.
///
/// Fields that a later version adds are passed over, and actions that it adds are there by name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// Its number; none in the lines of programs that wrote this log before there was a chain.
    pub seq: Option<u64>,
    /// When the attempt ended.
    pub at: Timestamp,
    /// The name of what was tried; see [`Line::action`].
    pub action: String,
    /// The tool.
    pub tool: Option<ToolId>,
    /// The name that the caller gave, which need not be a name and may hold anything.
    pub name: Option<String>,
    /// Whether it succeeded.
    pub success: bool,
    /// What else was recorded.
    pub details: Map<String, Value>,
    /// The stable code of the failure.
    pub error: Option<String>,
}

impl Line {
    /// What was tried, where this version knows it.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        Action::named(&self.action)
    }

    /// The line as an object with the field names of the log.
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

    /// Reads a line; none where it is broken.
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
            // Before there was a chain, identifiers were other ones.
            tool: fields.tool_id.and_then(|id| id.parse().ok()),
            name: fields.tool_name,
            success: fields.success,
            details: fields.details.unwrap_or_default(),
            error: fields.error,
        })
    }
}
