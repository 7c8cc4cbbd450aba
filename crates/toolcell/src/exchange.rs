//! What is done with a store as a whole: taking tools elsewhere, taking them in, and collecting what nobody needs.
//!
//! Invariant: each attempt leaves one line in the audit log, also where it fails. Where the store is read-only, and
//! reading is all that was asked for, there is none.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use toolcell_store::audit::{Action, Attempt, Audit, Details, Failure};
use toolcell_store::{
    Access, Collected, ExportError, Fault, Health, History, Import, ImportError, Imported, Mending, Mode, OpenError,
    Scores, Settings, Store, ToolRef, WhenTaken, fsck,
};
use toolcell_tool::ToolSpec;

use crate::vet::vet;

/// What goes into a bundle.
#[derive(Debug, Clone, Copy)]
pub enum Bundle<'a> {
    /// All tools that names lead to.
    All,
    /// These.
    Of(&'a [ToolRef]),
}

/// How well a tool does in the analysis, or why it must not be stored.
///
/// # Errors
/// What is wrong with it: it is no tool, does not run here, or has a critical finding.
pub fn judge(spec: &ToolSpec) -> Result<Scores, String> {
    vet(spec.clone()).map(|tool| tool.scores()).map_err(|refusal| refusal.to_string())
}

/// Writes tools into a bundle, and says how many they are.
///
/// # Errors
/// As [`Store::export`]
pub fn export(
    store: &Store,
    what: Bundle<'_>,
    history: History,
    out: &mut dyn Write,
    at: Timestamp,
) -> Result<u64, ExportError> {
    let done = match what {
        Bundle::All => store.export_all(history, out),
        Bundle::Of(references) => store.export(references, history, out),
    };
    if store.access() == Access::Full {
        record(store.audit(), Action::Export, at, done.as_ref().map_err(ExportError::code), |count| Some(*count))?;
    }
    done
}

/// Takes in the tools of a bundle: analysed as any other, unverified and unapproved.
///
/// # Errors
/// As [`Import::read`] and [`Store::import`]
pub fn import(store: &Store, bundle: &[u8], when_taken: WhenTaken, at: Timestamp) -> Result<Imported, ImportError> {
    let done = Import::read(bundle).and_then(|import| store.import(&import, &judge, when_taken, at));
    let count = |imported: &Imported| Some((imported.added.len() + imported.replaced.len()) as u64);
    record(store.audit(), Action::Import, at, done.as_ref().map_err(ImportError::code), count)?;
    done
}

/// Collects what was deleted before a time, and what nothing refers to.
///
/// # Errors
/// As [`Store::collect`]
pub fn collect(store: &Store, deleted_before: Timestamp, now: Timestamp) -> Result<Collected, Fault> {
    let done = store.collect(deleted_before, now, Mode::Do);
    let count = |collected: &Collected| Some(collected.names.len() as u64);
    record(store.audit(), Action::Gc, now, done.as_ref().map_err(Fault::code), count)?;
    done
}

/// Looks at a store, mends what can be mended, and says so in the audit log.
///
/// # Errors
/// As [`fsck`]
pub fn repair(path: &Path, settings: &Settings, at: Timestamp) -> Result<Health, OpenError> {
    let health = fsck(path, Mending::Repair)?;
    let store = Store::open_existing(path, settings)?;
    let mended = health.problems.iter().filter(|problem| problem.mended.is_some()).count() as u64;
    record(store.audit(), Action::Repair, at, Ok(&mended), |mended| Some(*mended))?;
    Ok(health)
}

/// Appends the line of an attempt.
fn record<T>(
    audit: &Audit,
    action: Action,
    at: Timestamp,
    result: Result<T, &'static str>,
    count: impl FnOnce(T) -> Option<u64>,
) -> Result<(), Fault> {
    let (result, count) = match result {
        Ok(value) => (Ok(()), count(value)),
        Err(code) => (Err(Failure { code, message: None }), None),
    };
    let details = Details { count, ..Details::default() };
    audit.record(&Attempt { result, details, ..Attempt::new(action, at) }).map(|_| ())
}
