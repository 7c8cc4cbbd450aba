//! The changes of a library, as entries of its history have them.
//!
//! Invariant: a change says what was decided, with all numbers and times that it depends on. All nodes that apply it to the same state get the same state.

use blake3::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_tool::{Status, ToolId};

/// A change of a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Change {
    /// Versions of names.
    Versions { versions: Vec<NewVersion> },
    /// A decision about a tool, or the request for one.
    Decide { tool: ToolId, grants: Value, decision: ApprovalChange, by: String, at: Timestamp },
    /// The end of all decisions about a tool.
    Revoke { tool: ToolId },
    /// The run of an approval for one run.
    TakeApproval { tool: ToolId, grants: Value },
    /// Another status of a tool.
    SetStatus { tool: ToolId, status: Status },
    /// A tool that is deprecated.
    Deprecate { tool: ToolId, successor: Option<ToolId> },
    /// The definitions of a server that are trusted.
    Trust { server: String, tools: Vec<SharedDefinition>, by: String, at: Timestamp },
    /// A suspended run.
    Suspend { run: String, tool: ToolId, caller: String, at: Timestamp, binding: String, state: String },
    /// A suspended run that a node takes.
    TakeSuspended { run: String },
    /// A one-time token that is used.
    Spend { token: SharedHash, until: Timestamp, now: Timestamp },
    /// Writes to a key-value space.
    Write { space: String, writes: Vec<SharedWrite>, now: Timestamp },
    /// A key-value space that is emptied.
    ClearSpace { space: String },
    /// Where the data came from that these may hold.
    Label { holders: Vec<String>, sources: Vec<String> },
    /// A label that is cleared.
    ClearLabel { holder: String },
    /// Names, suspended runs and values that are collected.
    Collect { names: Vec<String>, suspended_before: Timestamp, now: Timestamp },
    /// The head of the audit log of a node on a machine, and the one before it, if the log still has that line.
    AuditHead {
        node: String,
        host: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous: Option<String>,
        head: String,
        at: Timestamp,
    },
    /// The end of the library: the copy `node` became a store of its own.
    End { node: String, at: Timestamp },
}

/// A version of a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewVersion {
    /// The name, case-folded.
    pub(crate) folded: String,
    /// The number in the history of the name.
    pub(crate) number: u64,
    /// The hash of the version.
    pub(crate) version: SharedHash,
    /// The hash of its source.
    pub(crate) source: SharedHash,
    /// Whether the tool starts again without status and approvals, as an imported one does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) demotes: bool,
}

/// What is decided about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApprovalChange {
    Approved,
    ApprovedOnce,
    Refused,
    /// Nothing yet: it is requested.
    Requested,
}

/// A trusted definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedDefinition {
    pub(crate) tool: String,
    pub(crate) digest: SharedHash,
    pub(crate) form: String,
}

/// A write to a key-value space. Without a value, the key is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SharedWrite {
    pub(crate) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
}

/// A hash, as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedHash(pub(crate) Hash);

impl Serialize for SharedHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for SharedHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Hash::from_hex(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

impl Change {
    /// The objects that have to be there before the change is applied.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Hash> {
        let versions = match self {
            Self::Versions { versions } => &versions[..],
            _ => &[],
        };
        versions.iter().flat_map(|version| [version.source.0, version.version.0])
    }
}
