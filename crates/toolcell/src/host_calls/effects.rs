//! The log of a run's host calls, which is part of its record.
//!
//! Invariant: the log covers each host call with the effects it had, either as an entry or in a
//! count per kind. It names the target of a call, but never the data transferred, and takes at most
//! 400 KiB, however many calls a tool makes.

mod recorder;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolcell_host::{Effects, HostCall};

use crate::admission::hook::QuestionOutcome;

pub(super) use recorder::BodyChunk;
pub(crate) use recorder::EffectRecorder;

/// The maximum length of the description of a host call, in characters.
const MAX_RECORDED_ABOUT_CHARS: usize = 160;

/// The log of the host calls of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectLog {
    /// The listed host calls in the order of their requests: at most 256, of which at most 64 are
    /// timers. Reads of a response body are part of the entry of their request.
    pub effects: Vec<Effect>,
    /// Where the data came from that the run was handed, in the order in which it came, if the policy has rules about
    /// flows: at most 64 sources, then `*` for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What came of the question whether the tool may run, if a rule about flows asked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<QuestionOutcome>,
    /// The number of host calls that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// The number of unlisted host calls, by kind and by effects.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rest: BTreeMap<String, BTreeMap<Effects, u64>>,
}

/// A host call and its effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The number of the call within the run.
    pub id: u32,
    /// The kind of the call, such as `fetch`, or `timer` for any kind of waiting.
    pub kind: String,
    /// The target of the call: `POST https://api.example.com/v1/items`, a key, a path, `250 ms`.
    pub about: String,
    /// The effects: `none`, `started` (it may have happened), `committed`. A timer that was cleared
    /// or abandoned has none.
    pub effects: Effects,
    /// How many of the [`sources`](EffectLog::sources) the run had been handed when it began: the call may depend on those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The error code, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What came of the questions that the user was asked: by a rule about flows before the call, by the server during it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<QuestionOutcome>,
    /// What the tool received of the response body, if a request was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<ReceivedBody>,
}

/// What a tool received of a response body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedBody {
    /// The number of chunks.
    pub pieces: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// Why the body ended.
    pub end: BodyEnd,
    /// The error code, if the body failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Why a response body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyEnd {
    /// The body was read to its end.
    Whole,
    /// The tool, or the end of its run, cancelled the body.
    Cancelled,
    /// Reading the body failed.
    Failed,
}

impl BodyEnd {
    /// Returns the name of this end, as records show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// The fields of a host call's payload that name its target.
#[derive(Default, Deserialize)]
pub(super) struct CallDetails {
    #[serde(default)]
    method: String,
    url: Option<String>,
    path: Option<String>,
    key: Option<String>,
    name: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    ms: Option<f64>,
    #[serde(default)]
    writes: Vec<WriteDetails>,
}

/// The fields of a write of a commit that say what it does to which key.
#[derive(Deserialize)]
struct WriteDetails {
    key: String,
    #[serde(default)]
    delete: bool,
}

impl WriteDetails {
    /// Formats the write. A key that could be read as something else is quoted.
    fn into_text(self) -> String {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:".contains(char);
        let is_clear = !self.key.is_empty() && self.key.chars().all(is_plain);
        let key = if is_clear { self.key } else { quote(&self.key) };
        if self.delete { format!("delete {key}") } else { key }
    }
}

/// Quotes a text so that it looks like no other one: all but ASCII is escaped, and so are spaces after a space, which may be
/// drawn as one.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut before = None;
    for char in text.chars() {
        if char == ' ' && before == Some(' ') {
            quoted.extend(char.escape_unicode());
        } else {
            quoted.extend(char.escape_default());
        }
        before = Some(char);
    }
    quoted.push('"');
    quoted
}

/// Parses the target of a host call. Returns empty details if the payload cannot be parsed.
pub(super) fn parse_details(operation: &HostCall) -> CallDetails {
    serde_json::from_str(&operation.payload).unwrap_or_default()
}

impl CallDetails {
    /// Formats the target as one line.
    pub(super) fn into_line(self) -> String {
        if let Some(url) = self.url {
            format!("{} {url}", self.method)
        } else if let Some(ms) = self.ms {
            format!("{ms} ms")
        } else if !self.writes.is_empty() {
            self.writes.into_iter().map(WriteDetails::into_text).collect::<Vec<_>>().join(", ")
        } else if let Some(tool) = self.tool {
            let whole = self.server.map_or_else(|| tool.clone(), |server| format!("{server}.{tool}"));
            let is_clear = whole.chars().all(|char| char.is_ascii_alphanumeric() || "_.$-".contains(char));
            if is_clear { whole } else { quote(&whole) }
        } else {
            self.path.or(self.key).or(self.name).unwrap_or_default()
        }
    }
}

/// Describes the target of a host call for a record. The query and the fragment of a URL are left
/// out, because they carry data.
pub(super) fn describe_for_record(operation: &HostCall) -> String {
    let mut named = parse_details(operation);
    named.url = named.url.map(|url| url.split(['?', '#']).next().unwrap_or_default().to_owned());
    named.into_line().chars().take(MAX_RECORDED_ABOUT_CHARS).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
