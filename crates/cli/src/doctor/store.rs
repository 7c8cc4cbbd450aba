//! How the store is, and whether its folder can be written.
//!
//! Invariant: a store is not made by looking at it.

use std::path::Path;

use rustix::fs::{Access as Wanted, access};
use serde::Serialize;
use toolcell::store::{Access, Fault, Health, Mending, Settings, Store, fsck};
use toolcell::visible;

use crate::Streams;
use crate::fsck::{print_problems, summary};

/// How the store is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoreFindings {
    /// Where it is; nowhere, where nothing says it.
    pub(super) directory: Option<String>,
    /// Whether it can be written, or made where there is none yet.
    pub(super) writable: bool,
    /// Why it cannot be opened, or does not exist.
    error: Option<String>,
    access: Option<&'static str>,
    health: Option<Health>,
    /// What is wrong with the audit log.
    audit: Vec<String>,
    /// Why something was not looked at: another process has locked it.
    busy: Option<String>,
}

impl StoreFindings {
    /// Looks at a store, if there is one; none yet is fine.
    pub(super) fn look(dir: Option<&Path>) -> Self {
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
        let health = match fsck(dir, Mending::Look) {
            Ok(health) => health,
            Err(error) if error.code() == "store-busy" => return Self { busy: Some(error.to_string()), ..none },
            Err(error) => return Self { error: Some(error.to_string()), ..none },
        };
        let store = match Store::open_existing(dir, &Settings::default()) {
            Ok(store) => store,
            Err(error) if error.code() == "store-busy" => {
                return Self { busy: Some(error.to_string()), health: Some(health), ..none };
            }
            Err(error) => return Self { error: Some(error.to_string()), health: Some(health), ..none },
        };
        let access = Some(match store.access() {
            Access::Full => "read and write",
            Access::ReadOnly => "read-only: nothing is recorded, and tools run with `audit.required = false` only",
        });
        let (audit, busy) = match store.audit().verify(None) {
            Ok(verdict) => (verdict.problems.iter().map(ToString::to_string).collect(), None),
            Err(error @ Fault::Busy { .. }) => (Vec::new(), Some(error.to_string())),
            Err(error) => (vec![error.to_string()], None),
        };
        Self { access, health: Some(health), audit, busy, ..none }
    }

    pub(super) fn is_good(&self) -> bool {
        self.error.is_none() && self.audit.is_empty() && self.health.as_ref().is_none_or(Health::is_good)
    }

    /// Whether another process kept this one from looking at all of it.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    pub(super) fn print(&self, streams: &mut Streams<'_>) -> std::io::Result<()> {
        let state = match (&self.error, self.access) {
            (Some(error), _) => visible(error),
            (None, Some(access)) => access.to_owned(),
            (None, None) => "none yet".to_owned(),
        };
        let directory = self.directory.as_deref().map_or_else(|| "nowhere".to_owned(), visible);
        writeln!(streams.output, "store          {directory} ({state})")?;
        if let Some(health) = &self.health {
            writeln!(streams.output, "               {}", summary(health))?;
            print_problems(health, streams)?;
        }
        if let Some(busy) = &self.busy {
            writeln!(streams.output, "not looked at: {}", visible(busy))?;
        }
        self.audit.iter().try_for_each(|problem| writeln!(streams.output, "wrong: audit log: {}", visible(problem)))
    }
}

/// Whether a folder can be written, or made in the nearest one that there is.
fn is_writable(dir: &Path) -> bool {
    // A path that is relative begins where the process is.
    let here = Path::new(".");
    let nearest = dir.ancestors().find(|folder| folder.exists()).unwrap_or(here);
    let nearest = if nearest.as_os_str().is_empty() { here } else { nearest };
    nearest.is_dir() && access(nearest, Wanted::WRITE_OK | Wanted::EXEC_OK).is_ok()
}
