//! Keys and values of a granted space.
//!
//! Invariant: a commit happens whole or not at all, and the versions that it was made with are checked where it happens.

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolcell_host::{Effects, Ended, Operation, OperationFailure};
use toolcell_store::{Check, SpaceError, SpaceLimits, Write};
use toolcell_tool::Access;

use super::Space;
use super::failure::{Result, answer, nothing_done, payload};
use super::inbox::Came;

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
    /// Does it, for the operation with this number.
    pub(super) fn came(self, id: u32, space: &Space) -> Came {
        match self {
            Self::Get(form) => Came::Ended(Ended { id, result: form.found(space) }),
            Self::List(form) => Came::Ended(Ended { id, result: form.listed(space) }),
            Self::Commit(form) => {
                let writes = !form.writes.is_empty();
                let done = form.committed(space);
                let as_far = |is_so| if is_so { Effects::Committed } else { Effects::None };
                // A commit whose checks hold is made, also where nothing is written by it.
                let is_made = matches!(done, Ok(true));
                let (effects, changed) = (as_far(is_made), as_far(is_made && writes));
                let result = done.and_then(|committed| answer(&Committed { committed }));
                Came::Reached { ended: Ended { id, result }, effects, changed }
            }
        }
    }
}

impl GetForm {
    fn found(self, Space { store, grant, now }: &Space) -> Result {
        let key = self.key;
        let pair = store.space_get(&grant.space, &key, now()).map_err(failed)?;
        let found = pair.map(|pair| {
            let value = RawValue::from_string(pair.value)?;
            Ok(Found { value, version: pair.version })
        });
        answer(&found.transpose().map_err(|error: serde_json::Error| {
            nothing_done("Error", "integrity", format!("what the space has under `{key}` is no JSON: {error}"))
        })?)
    }
}

impl ListForm {
    fn listed(self, Space { store, grant, now }: &Space) -> Result {
        let limit = self.limit.unwrap_or(LISTED).clamp(1, LISTED);
        let found = store.space_keys(&grant.space, &self.prefix, self.after.as_deref(), limit, now());
        let (keys, more) = found.map_err(failed)?;
        answer(&Listed { keys, more })
    }
}

impl CommitForm {
    /// Whether its checks held, so that it was made.
    fn committed(self, Space { store, grant, now }: &Space) -> Result<bool> {
        let (now, Self { checks, writes }) = (now(), self);
        if grant.access == Access::Read && !writes.is_empty() {
            let message = format!("the space `{}` is granted to be read, not to be changed", grant.space);
            return Err(nothing_done("NotAllowedError", "kv-not-granted", message));
        }
        let checks = checks.into_iter().map(|CheckForm { key, version }| Check { key, version }).collect::<Vec<_>>();
        let writes = writes.into_iter().map(|form| form.write(now)).collect::<Result<Vec<_>>>()?;
        let (bytes, keys, value_bytes) = (grant.bytes, u64::from(grant.keys), grant.value_bytes);
        let limits = SpaceLimits { bytes, keys, value_bytes };
        store.space_commit(&grant.space, &checks, &writes, &limits, now).map_err(failed)
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

fn failed(error: impl Into<SpaceError>) -> OperationFailure {
    let error = error.into();
    let name = match error.code() {
        "kv-key" => "TypeError",
        code if code.starts_with("kv-") => "QuotaExceededError",
        _ => "Error",
    };
    let effects = match error {
        SpaceError::Unsure(_) => Effects::Started,
        SpaceError::Written(_) => Effects::Committed,
        _ => Effects::None,
    };
    OperationFailure { effects, ..nothing_done(name, error.code(), error.to_string()) }
}
