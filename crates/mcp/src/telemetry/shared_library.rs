//! Spans and metrics of what a node asks of the engines of its shared library.
//!
//! Invariant: a span belongs to a call. What a node asks by itself, such as whether others changed something, is only counted. Neither
//! names a principal or a tool.

use std::sync::Arc;
use std::time::Instant;

use blake3::Hash;
use toolcell::store::{Appended, Blobs, Histories, HistoryKey, SharedError};
use tracing::field::Empty;

use super::metrics::{SHARED_DURATION, SHARED_REQUESTS};

/// Measures what is asked of the engine of histories.
#[must_use]
pub fn measure_histories(histories: Arc<dyn Histories>) -> Arc<dyn Histories> {
    Arc::new(MeasuredHistories(histories))
}

/// Measures what is asked of the engine of objects.
#[must_use]
pub fn measure_blobs(blobs: Arc<dyn Blobs>) -> Arc<dyn Blobs> {
    Arc::new(MeasuredBlobs(blobs))
}

struct MeasuredHistories(Arc<dyn Histories>);

struct MeasuredBlobs(Arc<dyn Blobs>);

impl Histories for MeasuredHistories {
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError> {
        let outcome = |appended: &Appended| match appended {
            Appended::Done => "ok",
            Appended::Taken => "taken",
        };
        measure("append", outcome, || self.0.append(key, after, entry))
    }

    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError> {
        measure("read", |_| "ok", || self.0.read(key, after, limit))
    }

    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        measure("lengths", |_| "ok", || self.0.lengths(keys))
    }
}

impl Blobs for MeasuredBlobs {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        measure("put", |()| "ok", || self.0.put(hash, bytes))
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        let outcome = |found: &Option<Vec<u8>>| if found.is_some() { "ok" } else { "missing" };
        measure("get", outcome, || self.0.get(hash))
    }
}

/// Measures a request to an engine. Its outcome is `ok`, another word for what it found, or the code of the failure.
fn measure<T>(
    operation: &'static str,
    outcome: impl FnOnce(&T) -> &'static str,
    ask: impl FnOnce() -> Result<T, SharedError>,
) -> Result<T, SharedError> {
    let span = if tracing::Span::current().is_none() {
        tracing::Span::none()
    } else {
        tracing::info_span!(
            "shared library",
            otel.name = operation,
            otel.kind = "client",
            db.operation.name = operation,
            error.type = Empty,
        )
    };
    let started = Instant::now();
    let answer = span.in_scope(ask);
    let outcome = match &answer {
        Ok(found) => outcome(found),
        Err(error) => {
            let code = error.code().as_str();
            span.record("error.type", code);
            code
        }
    };
    metrics::counter!(SHARED_REQUESTS, "operation" => operation, "outcome" => outcome).increment(1);
    metrics::histogram!(SHARED_DURATION, "operation" => operation).record(started.elapsed().as_secs_f64());
    answer
}
