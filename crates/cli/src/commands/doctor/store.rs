//! Checks the state of the store, and whether its folder is writable.
//!
//! Invariant: checking does not create a store.

use std::path::Path;

use rustix::fs::{Access as Wanted, access};
use serde::Serialize;
use toolcell::escape_control_chars;
use toolcell::store::{Fault, FsckReport, RepairMode, Settings, Store, StoreAccess, fsck};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, Localize, Message, message, msgid, tr};

use super::line;
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
    error: Option<Message>,
    access: Option<&'static str>,
    health: Option<FsckReport>,
    /// Problems of the audit log.
    audit: Vec<Message>,
    /// Why a check was skipped: another process holds a lock.
    busy: Option<Message>,
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
                return Self { busy: Some(error.localize()), ..none };
            }
            Err(error) => return Self { error: Some(error.localize()), ..none },
        };
        let store = match Store::open_existing(dir, &Settings::default()) {
            Ok(store) => store,
            Err(error) if error.code() == ErrorCode::StoreBusy => {
                return Self { busy: Some(error.localize()), health: Some(health), ..none };
            }
            Err(error) => return Self { error: Some(error.localize()), health: Some(health), ..none },
        };
        let access = Some(match store.access() {
            StoreAccess::Full => msgid!("read and write"),
            StoreAccess::ReadOnly => {
                msgid!("read-only: nothing is recorded, and tools run only with `audit.required = false`")
            }
        });
        let (audit, busy) = match store.verify_audit(None, toolcell::now()) {
            Ok(verdict) => (verdict.problems.iter().map(Localize::localize).collect(), None),
            Err(error @ Fault::Busy { .. }) => (Vec::new(), Some(error.localize())),
            Err(error) => (vec![error.localize()], None),
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

    pub(super) fn print(&self, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
        let state = match (&self.error, self.access) {
            (Some(error), _) => error.clone(),
            (None, Some(access)) => access.into(),
            (None, None) => message!("not created yet"),
        };
        let directory = match &self.directory {
            Some(directory) => Message::verbatim(directory.clone()),
            None => message!("nowhere"),
        };
        let text = escape_control_chars(&tr!(lang, "{directory} ({state})", directory, state));
        writeln!(streams.output, "{}", line(tr!(lang, "store"), &text))?;
        if let Some(health) = &self.health {
            writeln!(streams.output, "{}", line("", &summary(health).to_text(lang)))?;
            print_problems(health, lang, streams)?;
        }
        if let Some(reason) = &self.busy {
            let text = tr!(lang, "not checked: {reason}", reason);
            writeln!(streams.output, "{}", escape_control_chars(&text))?;
        }
        self.audit.iter().try_for_each(|problem| {
            let text = tr!(lang, "problem: audit log: {problem}", problem);
            writeln!(streams.output, "{}", escape_control_chars(&text))
        })
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
