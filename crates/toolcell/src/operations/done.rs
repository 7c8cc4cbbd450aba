//! What was done for a tool, for the record of its run.
//!
//! Invariant: each operation that a tool asks for is in it, with how far it got: by itself, or counted among those of its kind. What
//! is kept of one is what it was about, never what it carried, and all of it is at most 400 KiB, whatever a tool asks for.

mod notes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolcell_host::{Effects, Operation};

pub(crate) use notes::Ledger;
pub(super) use notes::Piece;

/// How much of what an operation is about is kept, in characters.
const ABOUT: usize = 160;

/// What was done for a tool in one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// The operations in the order in which they were asked for, as far as each is kept by itself: 256 of them, of which 64 may be
    /// timers. The pieces of a body that is read belong to its request.
    pub effects: Vec<Effect>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// What those were: how many of each kind, by how far they got.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rest: BTreeMap<String, BTreeMap<Effects, u64>>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Its number in the run.
    pub id: u32,
    /// What it was, such as `fetch`, or `timer` for whatever a tool waits with.
    pub kind: String,
    /// What it was about: `POST https://api.example.com/v1/items`, the key of a pair, a path, `250 ms`.
    pub about: String,
    /// How far it got: `none`, `started` (it may have happened), `committed`. A timer that was cleared, or left, has come to nothing.
    pub effects: Effects,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What came of the body, of a request that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Received>,
}

/// What a tool got of the body of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// In how many pieces.
    pub pieces: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Why there were no more.
    pub end: BodyEnd,
    /// Why it broke off, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Where the body of an answer stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyEnd {
    /// At its end.
    Whole,
    /// Where the tool, or the end of its run, gave it up.
    Cancelled,
    /// Where it broke off.
    Failed,
}

impl BodyEnd {
    /// Its name, as records say it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// What the details of an operation name.
#[derive(Default, Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    method: String,
    url: Option<String>,
    path: Option<String>,
    key: Option<String>,
    name: Option<String>,
    ms: Option<f64>,
    #[serde(default)]
    writes: Vec<Named>,
}

/// What the details of an operation name; nothing where they cannot be read.
pub(super) fn named_in(operation: &Operation) -> Named {
    serde_json::from_str(&operation.payload).unwrap_or_default()
}

impl Named {
    /// All of it, in one line.
    pub(super) fn whole(self) -> String {
        if let Some(url) = self.url {
            format!("{} {url}", self.method)
        } else if let Some(ms) = self.ms {
            format!("{ms} ms")
        } else if !self.writes.is_empty() {
            self.writes.into_iter().filter_map(|write| write.key).collect::<Vec<_>>().join(", ")
        } else {
            self.path.or(self.key).or(self.name).unwrap_or_default()
        }
    }
}

/// What an operation is about, for a record. The query of a URL is left out: it carries data.
pub(super) fn about(operation: &Operation) -> String {
    let mut named = named_in(operation);
    named.url = named.url.map(|url| url.split(['?', '#']).next().unwrap_or_default().to_owned());
    named.whole().chars().take(ABOUT).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
