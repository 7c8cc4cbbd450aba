//! Checks the state of the store, and whether its folder is writable.
//!
//! Invariant: checking does not create a store.

use std::path::Path;

use rustix::fs::{Access as Wanted, access};
use serde::Serialize;
use toolcell::store::{Fault, FsckReport, RepairMode, Settings, Store, StoreAccess, fsck};
use toolcell::{Lang, escape_control_chars};
use toolcell_error::ErrorCode;

use crate::render::store::{print_problems, summary};
use crate::streams::Streams;

/// The state of the store.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoreFindings {
    /// The store directory; `None` if it is unknown.
    pub(super) directory: Option<String>,
    /// Whether the folder is writable, or can be created.
    pub(super) writable: bool,
    /// Why the store cannot be opened.
    error: Option<String>,
    access: Option<&'static str>,
    health: Option<FsckReport>,
    /// Problems of the audit log.
    audit: Vec<String>,
    /// Why a check was skipped: another process holds a lock.
    busy: Option<String>,
}

impl StoreFindings {
    /// Checks the store in a directory. A store that does not exist yet is fine.
    pub(super) fn probe(dir: Option<&Path>) -> Self {
        let Some(dir) = dir else {
            return Self {
                directory: None,
                writable: false,
                error: None,
                access: None,
                health: None,
                audit: Vec::new(),
                busy: None,
            };
        };
        let directory = Some(dir.display().to_string());
        let writable = is_writable(dir);
        let none = Self { directory, writable, error: None, access: None, health: None, audit: Vec::new(), busy: None };
        if !dir.exists() {
            return none;
        }
        let health = match fsck(dir, RepairMode::Check) {
            Ok(health) => health,
            Err(error) if error.code() == ErrorCode::StoreBusy => {
                return Self { busy: Some(error.to_string()), ..none };
            }
            Err(error) => return Self { error: Some(error.to_string()), ..none },
        };
        let store = match Store::open_existing(dir, &Settings::default()) {
            Ok(store) => store,
            Err(error) if error.code() == ErrorCode::StoreBusy => {
                return Self { busy: Some(error.to_string()), health: Some(health), ..none };
            }
            Err(error) => return Self { error: Some(error.to_string()), health: Some(health), ..none },
        };
        let access = Some(match store.access() {
            StoreAccess::Full => "read and write",
            StoreAccess::ReadOnly => "read-only: nothing is recorded, and tools run only with `audit.required = false`",
        });
        let (audit, busy) = match store.audit().verify(None) {
            Ok(verdict) => (verdict.problems.iter().map(ToString::to_string).collect(), None),
            Err(error @ Fault::Busy { .. }) => (Vec::new(), Some(error.to_string())),
            Err(error) => (vec![error.to_string()], None),
        };
        Self { access, health: Some(health), audit, busy, ..none }
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.error.is_none() && self.audit.is_empty() && self.health.as_ref().is_none_or(FsckReport::is_healthy)
    }

    /// Whether a lock of another process prevented some checks.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    pub(super) fn print(&self, streams: &mut Streams<'_>) -> std::io::Result<()> {
        let state = match (&self.error, self.access) {
            (Some(error), _) => escape_control_chars(error),
            (None, Some(access)) => access.to_owned(),
            (None, None) => "not created yet".to_owned(),
        };
        let directory = self.directory.as_deref().map_or_else(|| "nowhere".to_owned(), escape_control_chars);
        writeln!(streams.output, "store          {directory} ({state})")?;
        if let Some(health) = &self.health {
            writeln!(streams.output, "               {}", summary(health).to_text(Lang::En))?;
            print_problems(health, Lang::En, streams)?;
        }
        if let Some(busy) = &self.busy {
            writeln!(streams.output, "not checked: {}", escape_control_chars(busy))?;
        }
        self.audit
            .iter()
            .try_for_each(|problem| writeln!(streams.output, "problem: audit log: {}", escape_control_chars(problem)))
    }
}

/// Whether a folder is writable, or can be created in its nearest existing ancestor.
fn is_writable(dir: &Path) -> bool {
    // A relative path starts at the current folder.
    let here = Path::new(".");
    let nearest = dir.ancestors().find(|folder| folder.exists()).unwrap_or(here);
    let nearest = if nearest.as_os_str().is_empty() { here } else { nearest };
    nearest.is_dir() && access(nearest, Wanted::WRITE_OK | Wanted::EXEC_OK).is_ok()
}
