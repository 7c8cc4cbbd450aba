//! Host calls on a granted key-value space.
//!
//! Invariant: a commit is atomic, and the versions it depends on are checked within the same
//! transaction.

use std::time::Duration;

use jiff::SignedDuration;
use serde::Serialize;
use serde_json::value::RawValue;
use toolcell_error::ErrorCode;
use toolcell_host::{
    Completion, Effects, KvCommitRequest, KvGetRequest, KvListRequest, KvVersionCheck, KvWriteRequest, OperationError,
};
use toolcell_store::{KvCheck, KvError, KvLimits, KvWrite};
use toolcell_tool::Access;

use super::KvAccess;
use super::completions::CompletionEvent;
use super::error::{Result, error_without_effects, to_output};

/// The default and the maximum number of keys in a list.
const MAX_LISTED_KEYS: u32 = 1_000;

/// A host call on a key-value space.
pub(super) enum KvCall {
    Get(KvGetRequest),
    List(KvListRequest),
    Commit(KvCommitRequest),
}

#[derive(Serialize)]
struct KvValue {
    value: Box<RawValue>,
    version: u64,
}

#[derive(Serialize)]
struct KeyPage {
    keys: Vec<String>,
    more: bool,
}

#[derive(Serialize)]
struct CommitReply {
    committed: bool,
}

impl KvCall {
    /// Performs the host call with this number.
    pub(super) fn perform(self, id: u32, space: &KvAccess) -> CompletionEvent {
        match self {
            Self::Get(form) => CompletionEvent::Finished(Completion { id, result: get(form, space) }),
            Self::List(form) => CompletionEvent::Finished(Completion { id, result: list(form, space) }),
            Self::Commit(form) => {
                let writes = !form.writes.is_empty();
                let done = commit(form, space);
                let as_far = |is_so| if is_so { Effects::Committed } else { Effects::None };
                // A commit whose checks hold is made even if it writes nothing.
                let is_made = matches!(done, Ok(true));
                let (effects, changed) = (as_far(is_made), as_far(is_made && writes));
                let result = done.and_then(|committed| to_output(&CommitReply { committed }));
                CompletionEvent::WithEffects { completion: Completion { id, result }, effects, world_effects: changed }
            }
        }
    }
}

fn get(request: KvGetRequest, KvAccess { store, grant, now }: &KvAccess) -> Result {
    let key = request.key;
    let pair = store.kv(&grant.space).get(&key, now()).map_err(from_kv_error)?;
    let found = pair.map(|pair| {
        let value = RawValue::from_string(pair.value)?;
        Ok(KvValue { value, version: pair.version })
    });
    to_output(&found.transpose().map_err(|error: serde_json::Error| {
        error_without_effects("Error", "integrity", format!("the value of `{key}` is not valid JSON: {error}"))
    })?)
}

fn list(request: KvListRequest, KvAccess { store, grant, now }: &KvAccess) -> Result {
    let KvListRequest { prefix, after, limit } = request;
    let limit = limit.unwrap_or(MAX_LISTED_KEYS).clamp(1, MAX_LISTED_KEYS);
    let found = store.kv(&grant.space).keys(&prefix, after.as_deref(), limit, now());
    let (keys, more) = found.map_err(from_kv_error)?;
    to_output(&KeyPage { keys, more })
}

/// Commits the writes. Returns whether the checks held, so that the commit was made.
fn commit(request: KvCommitRequest, KvAccess { store, grant, now }: &KvAccess) -> Result<bool> {
    let (now, KvCommitRequest { checks, writes }) = (now(), request);
    if grant.access == Access::Read && !writes.is_empty() {
        let message = format!("the space `{}` is granted for reading only", grant.space);
        return Err(error_without_effects("NotAllowedError", "kv-not-granted", message));
    }
    let checks = checks.into_iter().map(|KvVersionCheck { key, version }| KvCheck { key, version }).collect::<Vec<_>>();
    let writes = writes.into_iter().map(|write| to_write(write, now)).collect::<Result<Vec<_>>>()?;
    let (bytes, keys, value_bytes) = (grant.bytes, u64::from(grant.keys), grant.value_bytes);
    let limits = KvLimits { bytes, keys, value_bytes };
    store.kv(&grant.space).commit(&checks, &writes, &limits, now).map_err(from_kv_error)
}

fn to_write(request: KvWriteRequest, now: jiff::Timestamp) -> Result<KvWrite> {
    let KvWriteRequest { key, value, ttl_ms, delete } = request;
    match value {
        None if delete => Ok(KvWrite::Delete { key }),
        Some(value) if !delete => {
            let ttl =
                ttl_ms.map(|ms| SignedDuration::try_from(Duration::from_millis(ms)).unwrap_or(SignedDuration::MAX));
            // A time beyond the calendar means that the entry does not expire.
            let expires_at = ttl.and_then(|ttl| now.checked_add(ttl).ok());
            Ok(KvWrite::Put { key, value: value.get().to_owned(), expires_at })
        }
        _ => Err(error_without_effects("TypeError", "operation-invalid", "a write needs either a value or `delete`")),
    }
}

fn from_kv_error(error: impl Into<KvError>) -> OperationError {
    let error = error.into();
    let name = match error.code() {
        ErrorCode::KvKey => "TypeError",
        ErrorCode::KvValueTooLarge | ErrorCode::KvQuota | ErrorCode::KvTooMany => "QuotaExceededError",
        _ => "Error",
    };
    let effects = match error {
        KvError::CommitUnknown(_) => Effects::Started,
        KvError::FailedAfterCommit(_) => Effects::Committed,
        _ => Effects::None,
    };
    OperationError { effects, ..error_without_effects(name, error.code().as_str(), error.to_string()) }
}
