//! Keys and values of a granted space.
//!
//! Invariant: a commit happens whole or not at all, and the versions that it was made with are checked where it happens.

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolcell_host::Operation;
use toolcell_store::{Check, SpaceError, SpaceLimits, Write};
use toolcell_tool::Access;

use super::Space;
use super::failure::{Result, answer, nothing_done, payload};

/// How many keys are listed where nothing is said, and at most.
const LISTED: u32 = 1_000;

/// What is to be done with a space.
pub(super) enum Work {
    Get(GetForm),
    List(ListForm),
    Commit(CommitForm),
}

#[derive(Deserialize)]
pub(super) struct GetForm {
    key: String,
}

#[derive(Deserialize)]
pub(super) struct ListForm {
    #[serde(default)]
    prefix: String,
    after: Option<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct CommitForm {
    checks: Vec<CheckForm>,
    writes: Vec<WriteForm>,
}

#[derive(Deserialize)]
struct CheckForm {
    key: String,
    version: Option<u64>,
}

#[derive(Deserialize)]
struct WriteForm {
    key: String,
    value: Option<Box<RawValue>>,
    ttl_ms: Option<u64>,
    #[serde(default)]
    delete: bool,
}

#[derive(Serialize)]
struct Found {
    value: Box<RawValue>,
    version: u64,
}

#[derive(Serialize)]
struct Listed {
    keys: Vec<String>,
    more: bool,
}

#[derive(Serialize)]
struct Committed {
    committed: bool,
}

/// What a tool asks for.
pub(super) fn read(operation: &Operation) -> Result<Work> {
    match operation.kind.as_str() {
        "kv.get" => payload(operation).map(Work::Get),
        "kv.list" => payload(operation).map(Work::List),
        "kv.commit" => payload(operation).map(Work::Commit),
        other => Err(nothing_done("TypeError", "operation-invalid", format!("nothing is called `{other}`"))),
    }
}

impl Work {
    /// Does it.
    pub(super) fn done(self, space: &Space) -> Result {
        let Space { store, grant, now } = space;
        let now = now();
        match self {
            Self::Get(GetForm { key }) => {
                let pair = store.space_get(&grant.space, &key, now).map_err(failed)?;
                let found = pair.map(|pair| {
                    let value = RawValue::from_string(pair.value)?;
                    Ok(Found { value, version: pair.version })
                });
                answer(&found.transpose().map_err(|error: serde_json::Error| {
                    nothing_done("Error", "integrity", format!("what the space has under `{key}` is no JSON: {error}"))
                })?)
            }
            Self::List(ListForm { prefix, after, limit }) => {
                let limit = limit.unwrap_or(LISTED).clamp(1, LISTED);
                let found = store.space_keys(&grant.space, &prefix, after.as_deref(), limit, now);
                let (keys, more) = found.map_err(failed)?;
                answer(&Listed { keys, more })
            }
            Self::Commit(CommitForm { checks, writes }) => {
                if grant.access == Access::Read && !writes.is_empty() {
                    let message = format!("the space `{}` is granted to be read, not to be changed", grant.space);
                    return Err(nothing_done("NotAllowedError", "kv-not-granted", message));
                }
                let checks =
                    checks.into_iter().map(|CheckForm { key, version }| Check { key, version }).collect::<Vec<_>>();
                let writes = writes.into_iter().map(|form| form.write(now)).collect::<Result<Vec<_>>>()?;
                let (bytes, keys, value_bytes) = (grant.bytes, u64::from(grant.keys), grant.value_bytes);
                let limits = SpaceLimits { bytes, keys, value_bytes };
                let committed = store.space_commit(&grant.space, &checks, &writes, &limits, now).map_err(failed)?;
                answer(&Committed { committed })
            }
        }
    }
}

impl WriteForm {
    fn write(self, now: jiff::Timestamp) -> Result<Write> {
        let Self { key, value, ttl_ms, delete } = self;
        match value {
            None if delete => Ok(Write::Delete { key }),
            Some(value) if !delete => {
                let ttl =
                    ttl_ms.map(|ms| SignedDuration::try_from(Duration::from_millis(ms)).unwrap_or(SignedDuration::MAX));
                // What expires after the end of time does not expire.
                let expires_at = ttl.and_then(|ttl| now.checked_add(ttl).ok());
                Ok(Write::Put { key, value: value.get().to_owned(), expires_at })
            }
            _ => Err(nothing_done("TypeError", "operation-invalid", "a pair is written with a value, or deleted")),
        }
    }
}

fn failed(error: impl Into<SpaceError>) -> toolcell_host::OperationFailure {
    let error = error.into();
    let name = match error.code() {
        "kv-key" => "TypeError",
        code if code.starts_with("kv-") => "QuotaExceededError",
        _ => "Error",
    };
    nothing_done(name, error.code(), error.to_string())
}
