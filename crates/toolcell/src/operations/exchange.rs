//! Operations on a whole store: export, import, migration, garbage collection and repair.
//!
//! Invariant: each attempt leaves one audit event, even if it fails. Only an export from a
//! read-only store leaves none.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_policy::Duplicates;
use toolcell_schema::Schema;
use toolcell_store::audit::{Action, AuditEvent, Details, EventFailure};
use toolcell_store::{
    ExportError, Fault, FsckReport, GcReport, HistoryScope, Import, ImportError, ImportReport, Migrated,
    MigrationError, OnConflict, OpenError, Replication, Scores, Settings, Store, StoreAccess, ToolRef,
};
use toolcell_tool::{ToolMetadata, ToolName, ToolSpec};

#[cfg(feature = "proof")]
use super::candidates::find_equivalent;
use crate::execution::suspend;
use crate::parts::Parts;
#[cfg(feature = "proof")]
use crate::verification::equivalence::CompareError;
use crate::vet::{VettedTool, vet};

/// The selection of tools to export.
#[derive(Debug, Clone, Copy)]
pub enum ExportSelection<'a> {
    /// All tools that a name refers to.
    All,
    /// The tools with these references.
    Only(&'a [ToolRef]),
}

/// Returns the scores that the analysis gives a tool, or why the tool must not be stored.
///
/// # Errors
/// The reason: it is not a tool, does not run here, or has a critical finding.
pub fn score_tool(spec: &ToolSpec) -> Result<Scores, Message> {
    vet(spec.clone()).map(|tool| tool.scores()).map_err(|refusal| refusal.localize())
}

/// Exports tools into a bundle, and returns how many.
///
/// # Errors
/// As [`Bundles::export`](toolcell_store::Bundles::export)
pub fn export(
    store: &Store,
    what: ExportSelection<'_>,
    history: HistoryScope,
    out: &mut dyn Write,
    at: Timestamp,
) -> Result<u64, ExportError> {
    let done = match what {
        ExportSelection::All => store.bundles().export_all(history, out),
        ExportSelection::Only(references) => store.bundles().export(references, history, out),
    };
    if store.access() == StoreAccess::Full {
        log_event(store, Action::Export, at, done.as_ref().copied().map_err(ExportError::code));
    }
    done
}

/// Imports the tools of a bundle. They are analyzed like any other, and are unverified and
/// unapproved.
///
/// # Errors
/// As [`Import::read`] and [`Bundles::import`](toolcell_store::Bundles::import)
pub fn import(
    store: &Store,
    bundle: &[u8],
    when_taken: OnConflict,
    at: Timestamp,
) -> Result<ImportReport, ImportError> {
    let done = Import::read(bundle).and_then(|import| {
        let change = store.with_audit(AuditEvent::new(Action::Import, at));
        change.import(&import, &score_tool, when_taken, at)
    });
    if let Err(error) = &done {
        log_event(store, Action::Import, at, Err(error.code()));
    }
    done
}

/// Imports the tools of a bundle as [`import`] does, under the rules of this toolbox: refuses
/// reserved names, duplicates if the policy refuses them, and more tools than the store may
/// hold.
pub(crate) fn import_under_policy(
    parts: &Parts,
    bundle: &[u8],
    when_taken: OnConflict,
) -> Result<ImportReport, ImportError> {
    let (store, at) = (parts.require_store()?, parts.now());
    let welcome = Import::read(bundle).and_then(|import| check_import_allowed(parts, store, &import));
    if let Err(error) = welcome {
        log_event(store, Action::Import, at, Err(error.code()));
        return Err(error);
    }
    import(store, bundle, when_taken, at)
}

/// Refuses a bundle with tools that the policy does not allow to be created.
fn check_import_allowed(parts: &Parts, store: &Store, import: &Import) -> Result<(), ImportError> {
    let refuse = |name: &ToolName, code, reason| ImportError::Disallowed { name: name.clone(), code, reason };
    for newcomer in import.tools() {
        let names = newcomer.earlier.iter().map(|(spec, _)| spec.name()).chain([newcomer.spec.name()]);
        for name in names {
            if let Some((_, origin)) = parts.admission.policy().reserved(name) {
                return Err(refuse(
                    name,
                    ErrorCode::NameReserved,
                    message!("this name is reserved ({origin})", origin),
                ));
            }
        }
    }
    if parts.admission.policy().duplicates() != Duplicates::Refuse {
        return Ok(());
    }
    let mut sources: HashMap<&str, &ToolName> = HashMap::new();
    for newcomer in import.tools() {
        let (spec, name) = (&newcomer.spec, newcomer.spec.name());
        let current = store.catalog().find(&ToolRef::Name(name.clone())).ok();
        if current.as_ref().is_some_and(|entry| entry.id == spec.id()) {
            continue;
        }
        if let Some(first) = sources.insert(spec.source(), name) {
            return Err(refuse(
                name,
                ErrorCode::ToolDuplicate,
                message!("it has the same source as `{first}` in the same bundle", first),
            ));
        }
        let twin = store.catalog().find_same_source(spec)?.into_iter().map(|entry| entry.name);
        // A tool that does not run is refused by the analysis, with the reason.
        let alike = match (vet(spec.clone()), Schema::compile(spec.parameters())) {
            (Ok(tool), Ok(schema)) => names_of_equivalent(parts, &tool, &schema, &newcomer.metadata)?
                .map_err(|reason| refuse(name, ErrorCode::ToolDuplicate, reason))?,
            _ => Vec::new(),
        };
        let mut same = twin.chain(alike);
        if let Some(other) = same.find(|other| current.as_ref().is_none_or(|entry| entry.name != *other)) {
            return Err(refuse(name, ErrorCode::ToolDuplicate, message!("it is equivalent to `{other}`", other)));
        }
    }
    Ok(())
}

/// Returns the names of the stored tools that give the same answers as a new one; the inner error says why it cannot be
/// compared.
#[cfg(feature = "proof")]
fn names_of_equivalent(
    parts: &Parts,
    tool: &VettedTool,
    schema: &Schema,
    notes: &ToolMetadata,
) -> Result<Result<Vec<ToolName>, Message>, Fault> {
    match find_equivalent(parts, tool, schema, notes.description(), notes.examples()) {
        Ok(alike) => Ok(Ok(alike.into_iter().map(|alike| alike.entry.name).collect())),
        Err(CompareError::Fault(fault)) => Err(fault),
        Err(CompareError::Call(error)) => {
            Ok(Err(message!("it cannot be compared with existing tools: {error}", error)))
        }
    }
}

/// Compares nothing: this build cannot.
#[cfg(not(feature = "proof"))]
#[expect(clippy::unnecessary_wraps, reason = "it has the signature that it has with the feature")]
fn names_of_equivalent(
    _parts: &Parts,
    _tool: &VettedTool,
    _schema: &Schema,
    _notes: &ToolMetadata,
) -> Result<Result<Vec<ToolName>, Message>, Fault> {
    Ok(Err(message!("this build cannot compare it with existing tools, and the policy refuses duplicates")))
}

/// Copies what a store holds to a shared library that is empty, with its decisions and suspended runs.
///
/// # Errors
/// As [`Store::copy_to_library`]
pub fn copy_to_library(store: &Store, library: &Replication, at: Timestamp) -> Result<Migrated, MigrationError> {
    let copied = store.copy_to_library(library, &suspend::KEYS, at);
    if let Err(error) = &copied {
        log_event(store, Action::Migrate, at, Err(error.code()));
    }
    copied
}

/// Makes the copy of a shared library a store of its own, with its decisions and suspended runs, and ends the library.
///
/// # Errors
/// As [`Store::take_from_library`]
pub fn take_from_library(store: Store, at: Timestamp) -> Result<Migrated, MigrationError> {
    store.take_from_library(&suspend::KEYS, at)
}

/// Removes what was deleted before a time, and unreferenced objects.
///
/// # Errors
/// As [`Maintenance::collect`](toolcell_store::Maintenance::collect)
pub fn collect(store: &Store, deleted_before: Timestamp, now: Timestamp) -> Result<GcReport, Fault> {
    let done = store.with_audit(AuditEvent::new(Action::Gc, now)).collect(deleted_before, now);
    if let Err(fault) = &done {
        log_event(store, Action::Gc, now, Err(fault.code()));
    }
    done
}

/// Checks a store, repairs what can be repaired, and writes an audit event.
///
/// # Errors
/// As [`fsck`](toolcell_store::fsck)
pub fn repair(path: &Path, settings: &Settings, at: Timestamp) -> Result<FsckReport, OpenError> {
    repair_adopting(path, settings, &[], at)
}

/// Repairs a store as [`repair`] does, and adopts steps that the index does not know.
///
/// # Errors
/// As [`store::repair_adopting`](toolcell_store::repair_adopting)
pub fn repair_adopting(
    path: &Path,
    settings: &Settings,
    steps: &[String],
    at: Timestamp,
) -> Result<FsckReport, OpenError> {
    let health = toolcell_store::repair_adopting(path, steps)?;
    let store = Store::open_existing(path, settings)?;
    let mended = health.problems.iter().filter(|problem| problem.mended.is_some()).count() as u64;
    log_event(&store, Action::Repair, at, Ok(mended));
    Ok(health)
}

/// Writes an audit event. If that fails, the failure is reported as a notice, and the operation
/// stands.
fn log_event(store: &Store, action: Action, at: Timestamp, result: Result<u64, ErrorCode>) {
    let (result, count) = match result {
        Ok(count) => (Ok(()), Some(count)),
        Err(code) => (Err(EventFailure { code, message: None }), None),
    };
    let details = Details { count, ..Details::default() };
    // The store reports a failure as a notice.
    let _ = store.log(&AuditEvent { result, details, ..AuditEvent::new(action, at) });
}
