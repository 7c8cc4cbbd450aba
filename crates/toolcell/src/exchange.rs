//! What is done with a store as a whole: taking tools elsewhere, taking them in, and collecting what nobody needs.
//!
//! Invariant: each attempt leaves one line in the audit log, also where it fails. Where the store is read-only, and
//! reading is all that was asked for, there is none.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use toolcell_store::audit::{Action, Attempt, Details, Failure};
use toolcell_store::{
    Access, Collected, ExportError, Fault, Health, History, Import, ImportError, Imported, OpenError, Scores, Settings,
    Store, ToolRef, WhenTaken,
};
use toolcell_tool::{ToolName, ToolSpec};

use crate::alike::NotCompared;
use crate::params::Schema;
use crate::policy::Duplicates;
use crate::toolbox::Toolbox;
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
        record(store, Action::Export, at, done.as_ref().copied().map_err(ExportError::code));
    }
    done
}

/// Takes in the tools of a bundle: analysed as any other, unverified and unapproved.
///
/// # Errors
/// As [`Import::read`] and [`Store::import`]
pub fn import(store: &Store, bundle: &[u8], when_taken: WhenTaken, at: Timestamp) -> Result<Imported, ImportError> {
    let done = Import::read(bundle).and_then(|import| {
        let change = store.change(Attempt::new(Action::Import, at));
        change.import(&import, &judge, when_taken, at)
    });
    if let Err(error) = &done {
        record(store, Action::Import, at, Err(error.code()));
    }
    done
}

impl Toolbox {
    /// Takes in the tools of a bundle as [`import`] does, under the rules of this toolbox: names that are reserved are refused,
    /// and so are tools that do what others do, where the policy says so, and more tools than there may be.
    ///
    /// # Errors
    /// As [`import`], `name-reserved`, and `tool-duplicate`: nothing is taken in.
    pub fn import(&self, bundle: &[u8], when_taken: WhenTaken) -> Result<Imported, ImportError> {
        let (store, at) = (self.shelf()?, self.now());
        let welcome = Import::read(bundle).and_then(|import| self.must_be_welcome(store, &import));
        if let Err(error) = welcome {
            record(store, Action::Import, at, Err(error.code()));
            return Err(error);
        }
        import(store, bundle, when_taken, at)
    }

    /// Refuses what this policy would not let anybody create.
    fn must_be_welcome(&self, store: &Store, import: &Import) -> Result<(), ImportError> {
        let refuse = |name: &ToolName, code, reason| ImportError::Unwelcome { name: name.clone(), code, reason };
        for newcomer in import.newcomers() {
            let names = newcomer.earlier.iter().map(|(spec, _)| spec.name()).chain([newcomer.spec.name()]);
            for name in names {
                if let Some((_, origin)) = self.policy.reserved(name) {
                    return Err(refuse(name, "name-reserved", format!("this name is reserved ({origin})")));
                }
            }
        }
        if self.policy.duplicates() != Duplicates::Refuse {
            return Ok(());
        }
        let mut sources: HashMap<&str, &ToolName> = HashMap::new();
        for newcomer in import.newcomers() {
            let (spec, name) = (&newcomer.spec, newcomer.spec.name());
            let current = store.find(&ToolRef::Name(name.clone())).ok();
            if current.as_ref().is_some_and(|entry| entry.id == spec.id()) {
                continue;
            }
            if let Some(first) = sources.insert(spec.source(), name) {
                return Err(refuse(
                    name,
                    "tool-duplicate",
                    format!("it has the source of `{first}`, which is in the bundle as well"),
                ));
            }
            let twin = store.with_same_source(spec)?.into_iter().map(|entry| entry.name);
            // What does not run is refused by the analysis, with what is wrong with it.
            let alike = match (vet(spec.clone()), Schema::compile(spec.parameters())) {
                (Ok(tool), Ok(schema)) => {
                    let notes = &newcomer.notes;
                    match self.alike_to(&tool, &schema, notes.description(), notes.examples()) {
                        Ok(alike) => alike,
                        Err(NotCompared::Fault(fault)) => return Err(fault.into()),
                        Err(NotCompared::Call(error)) => {
                            let reason = format!("it cannot be compared with others: {error}");
                            return Err(refuse(name, "tool-duplicate", reason));
                        }
                    }
                }
                _ => Vec::new(),
            };
            let mut same = twin.chain(alike.into_iter().map(|alike| alike.entry.name));
            if let Some(other) = same.find(|other| current.as_ref().is_none_or(|entry| entry.name != *other)) {
                return Err(refuse(name, "tool-duplicate", format!("it does what `{other}` does")));
            }
        }
        Ok(())
    }
}

/// Collects what was deleted before a time, and what nothing refers to.
///
/// # Errors
/// As [`Store::collect`]
pub fn collect(store: &Store, deleted_before: Timestamp, now: Timestamp) -> Result<Collected, Fault> {
    let done = store.change(Attempt::new(Action::Gc, now)).collect(deleted_before, now);
    if let Err(fault) = &done {
        record(store, Action::Gc, now, Err(fault.code()));
    }
    done
}

/// Looks at a store, mends what can be mended, and says so in the audit log.
///
/// # Errors
/// As [`fsck`](toolcell_store::fsck)
pub fn repair(path: &Path, settings: &Settings, at: Timestamp) -> Result<Health, OpenError> {
    repair_adopting(path, settings, &[], at)
}

/// The same, which takes in steps that the index does not know.
///
/// # Errors
/// As [`store::repair_adopting`](toolcell_store::repair_adopting)
pub fn repair_adopting(path: &Path, settings: &Settings, steps: &[String], at: Timestamp) -> Result<Health, OpenError> {
    let health = toolcell_store::repair_adopting(path, steps)?;
    let store = Store::open_existing(path, settings)?;
    let mended = health.problems.iter().filter(|problem| problem.mended.is_some()).count() as u64;
    record(&store, Action::Repair, at, Ok(mended));
    Ok(health)
}

/// Appends the line of an attempt. Where that is not possible it is told, and what was done is done.
fn record(store: &Store, action: Action, at: Timestamp, result: Result<u64, &'static str>) {
    let (result, count) = match result {
        Ok(count) => (Ok(()), Some(count)),
        Err(code) => (Err(Failure { code, message: None }), None),
    };
    let details = Details { count, ..Details::default() };
    // It is told as a notice.
    let _ = store.log(&Attempt { result, details, ..Attempt::new(action, at) });
}
