//! The entries of a history, as bytes.
//!
//! ```text
//! entry = tag (32 bytes) ‖ 0 ‖ JSON            or, where the JSON is large,
//!         tag (32 bytes) ‖ 1 ‖ hash of a blob that has the JSON
//! tag   = blake3 keyed with the key of the library, over: number (8 bytes) ‖ hash of the entry before ‖ what follows the tag
//! ```
//!
//! Invariant: only a node that has the secret of the library makes an entry, and an entry is right at one place of one history. The
//! tags are compared in constant time.

use blake3::Hash;
use serde::{Deserialize, Serialize};
use toolcell_i18n::{Message, message};

use super::change::Change;
use super::{Replication, SharedError};

/// JSON up to this size is in the entry itself, in bytes.
const INLINE_LIMIT: usize = 64 << 10;
/// The maximum size of the JSON, in bytes.
const JSON_LIMIT: usize = 256 << 20;
/// The size of a tag, in bytes.
const TAG_BYTES: usize = 32;
/// The context string of key derivation, for domain separation.
const CONTEXT: &str = "toolcell 2026-12 entries of a library";

/// The place of an entry: how many come before it, and the hash of the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) count: u64,
    pub(crate) last: Hash,
}

impl Position {
    /// The place of the first entry.
    pub(crate) fn start() -> Self {
        Self { count: 0, last: Hash::from_bytes([0; 32]) }
    }

    /// The place after an entry.
    pub(crate) fn after(self, entry: &[u8]) -> Self {
        Self { count: self.count + 1, last: blake3::hash(entry) }
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The node that made it.
    pub(crate) node: String,
    /// The line of that node's audit log, if the change has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) audit: Option<EntryAudit>,
    /// The change.
    pub(crate) change: Change,
}

/// The line of an audit log about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryAudit {
    /// The identifier of the change in that log.
    pub(crate) id: String,
    /// The number of the line that the log ended with when this one was made.
    pub(crate) after: u64,
    /// The line, which the log links to the line before it.
    pub(crate) line: String,
}

impl Replication {
    /// Encodes an entry for its place.
    pub(crate) fn seal(&self, entry: &Entry, at: Position) -> Result<Vec<u8>, SharedError> {
        let json = serde_json::to_vec(entry).map_err(|error| invalid(at, &Message::verbatim(error.to_string())))?;
        if json.len() > JSON_LIMIT {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the change takes {bytes} bytes, the limit is {limit}",
                    bytes = json.len(),
                    limit = JSON_LIMIT
                ),
            });
        }
        let mut body = Vec::with_capacity(json.len().min(INLINE_LIMIT) + 1);
        if json.len() <= INLINE_LIMIT {
            body.push(0);
            body.extend(&json);
        } else {
            let hash = blake3::hash(&json);
            self.put_blob(hash, &json)?;
            body.push(1);
            body.extend(hash.as_bytes());
        }
        Ok([&self.tag(at, &body).as_bytes()[..], &body].concat())
    }

    /// Decodes the entry at a place, and returns it with the size of its JSON in bytes.
    pub(crate) fn open(&self, bytes: &[u8], at: Position) -> Result<(Entry, usize), SharedError> {
        let (tag, body) =
            bytes.split_first_chunk::<TAG_BYTES>().ok_or_else(|| invalid(at, &message!("it is cut off")))?;
        // `blake3::Hash` compares in constant time.
        if Hash::from_bytes(*tag) != self.tag(at, body) {
            return Err(SharedError::Invalid {
                reason: message!(
                    "entry {number} is not one that this library's secret made at this place: the secret is another one, or the \
                     history is not the one that this node followed so far",
                    number = at.count + 1
                ),
            });
        }
        let json = match body.split_first() {
            Some((0, json)) => json.to_vec(),
            Some((1, hash)) => {
                self.blob(Hash::from_slice(hash).map_err(|error| invalid(at, &Message::verbatim(error.to_string())))?)?
            }
            _ => return Err(invalid(at, &message!("its form is unknown"))),
        };
        let entry =
            serde_json::from_slice(&json).map_err(|error| invalid(at, &Message::verbatim(error.to_string())))?;
        Ok((entry, json.len()))
    }

    pub(crate) fn tag(&self, at: Position, body: &[u8]) -> Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.derive_key(CONTEXT, ""));
        hasher.update(&(at.count + 1).to_le_bytes()).update(at.last.as_bytes()).update(body);
        hasher.finalize()
    }
}

/// An entry that this version cannot read or make. The most likely reason is that a newer version made it.
fn invalid(at: Position, reason: &Message) -> SharedError {
    let number = at.count + 1;
    SharedError::Invalid {
        reason: message!("entry {number} cannot be read by this version of Toolcell: {reason}", number, reason),
    }
}
