//! The audit log: one line for each attempt, refused ones included, that nobody changes unnoticed.
//!
//! ```text
//! logs/dynamic-tools-audit.jsonl          what is appended to
//! logs/dynamic-tools-audit.000001.jsonl   what was full, and is never deleted
//! logs/dynamic-tools-audit.head           where the log ends; the lock as well
//! ```
//!
//! Each line carries the hash of the line before it, and the head file that of the last one. So [`Audit::verify`] names
//! what was changed, dropped, moved or cut off by accident or by hand. The chain has no key: who can write the directory
//! can also write all of it anew, from any line on, with hashes that fit. What proves the contrary is a [`Head`] that
//! was kept where they cannot write; the verdict gives one to keep, and takes one that was kept.
//!
//! Reading order: [`attempt`] is what is recorded, [`line`] its form, [`head`] the end of the chain, [`files`] the files and
//! the lock, [`pieces`] their lines, [`append`], [`verify`] with [`chain`], and [`query`].
//!
//! Invariant: a line is appended whole or not at all, under a lock that all processes share, and what was acknowledged is
//! not touched again.

mod append;
mod attempt;
mod chain;
mod files;
mod head;
mod line;
mod pieces;
mod query;
mod verify;

#[cfg(test)]
mod tests;

pub use attempt::{Action, Attempt, Change, Contents, Details, Digest, Failure};
pub use head::{Head, HeadError};
pub use line::Line;
pub use query::{Filter, Lines, Order};
pub use verify::{Problem, Verdict, What};

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use append::{Appender, Text};
use files::{FOLDER, Files, Kept};

use crate::directory::Directory;
use crate::error::Fault;
use crate::index::Durability;

/// How a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditConfig {
    /// What is recorded of parameters and messages.
    pub contents: Contents,
    /// What an acknowledged line survives: the end of the process at least. A loss of power may take the last lines of a
    /// log that is not synced, and a verification tells.
    pub durability: Durability,
    /// How many bytes a file may have; 10 MiB unless told otherwise. A file has at least one line.
    pub file_limit: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        // A sync costs a hundred times what a call of a tool does.
        Self { contents: Contents::default(), durability: Durability::Unsynced, file_limit: 10 << 20 }
    }
}

/// The audit log of a store. Threads share one, and processes have one each.
pub struct Audit {
    files: Files,
    config: AuditConfig,
    appender: Appender,
    /// The number of a line that is in the log, or 0.
    known: AtomicU64,
    /// The last line that the index of the store knows of.
    witness: Mutex<Option<Head>>,
    /// Where nothing can be written: the directory.
    read_only: Option<String>,
}

impl Audit {
    /// The log in the directory of a store.
    pub(crate) fn open(directory: &Directory, config: AuditConfig) -> Result<Self, Fault> {
        let read_only = directory.must_be_writable().is_err().then(|| directory.path().display().to_string());
        let files = Files::new(directory.folder(FOLDER)?);
        Ok(Self {
            files,
            config,
            appender: Appender::default(),
            known: AtomicU64::new(0),
            witness: Mutex::default(),
            read_only,
        })
    }

    /// Appends the line of an attempt, and says which one it is. It waits while another process appends.
    ///
    /// # Errors
    /// `store-read-only`; `disk-full` and `disk-failed`, and then there is no line.
    pub fn record(&self, attempt: &Attempt<'_>) -> Result<Head, Fault> {
        if let Some(path) = &self.read_only {
            return Err(Fault::ReadOnly { path: path.clone() });
        }
        self.append(Text::Attempt(attempt))
    }

    fn append(&self, text: Text<'_>) -> Result<Head, Fault> {
        let head = self.appender.append(&self.files, &self.config, text, self.witness())?;
        self.known.store(head.seq(), Ordering::Relaxed);
        Ok(head)
    }

    /// The line of an attempt, to be appended later with [`Audit::append_rendered`]. It says which change of the store it is
    /// about, where it is about one.
    pub(crate) fn render(&self, attempt: &Attempt<'_>, change: Option<&str>) -> Result<String, Fault> {
        let rendered = || -> std::io::Result<String> {
            let line = line::render(attempt, self.config.contents, &Head::START, None)?;
            let invalid = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            let text = String::from_utf8(line).map_err(invalid)?;
            let about = change.map_or_else(|| Some(text.trim_end().to_owned()), |change| line::about(&text, change));
            about.ok_or_else(|| std::io::Error::other("a line has no details"))
        };
        rendered().map_err(files::fault(files::CURRENT))
    }

    /// Appends a line that was rendered before.
    pub(crate) fn append_rendered(&self, rendered: &str) -> Result<Head, Fault> {
        self.append(Text::Rendered(rendered))
    }

    /// Whether this is a line that was rendered.
    pub(crate) fn is_rendered(rendered: &str) -> bool {
        line::relink(rendered, &Head::START, None).is_some()
    }

    /// Makes the log outlast a loss of power, and says up to which line it does.
    pub(crate) fn sync(&self) -> Result<Option<Head>, Fault> {
        self.appender.sync(&self.files)
    }

    /// The last line that this process appended, or that the index knows of.
    pub(crate) fn last_known(&self) -> Option<Head> {
        [self.appender.head(), self.witness()].into_iter().flatten().max_by_key(Head::seq)
    }

    /// Notes a line that the index knows of.
    pub(crate) fn remember(&self, head: Option<Head>) {
        *self.witness.lock().unwrap_or_else(PoisonError::into_inner) = head;
    }

    fn witness(&self) -> Option<Head> {
        *self.witness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the whole log and says what is wrong with it. A head that was kept elsewhere must be in the chain.
    ///
    /// What is appended in the meantime is not looked at.
    ///
    /// # Errors
    /// `disk-failed`: a file cannot be read, or is no file.
    pub fn verify(&self, earlier: Option<&Head>) -> Result<Verdict, Fault> {
        verify::verify(&self.files, earlier, self.witness())
    }

    /// The number of a line that is in the log already: a line that is appended from now on has a greater one.
    pub(crate) fn known(&self) -> u64 {
        self.known.load(Ordering::Relaxed)
    }

    /// Looks where the log ends, so that something is known.
    pub(crate) fn look(&self) -> Result<(), Fault> {
        if let Kept::Head(head) = self.files.head()? {
            self.known.store(head.seq(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The lines of these runs, of those after the one with this number.
    pub(crate) fn runs_after(&self, after: u64, runs: HashSet<String>) -> Result<HashMap<String, Line>, Fault> {
        self.lines_after(after, "run", runs)
    }

    /// The lines whose details have one of these values, of those after the one with this number.
    pub(crate) fn lines_after(
        &self,
        after: u64,
        detail: &str,
        mut values: HashSet<String>,
    ) -> Result<HashMap<String, Line>, Fault> {
        let mut found = HashMap::new();
        for line in self.query(Filter::default(), Order::NewestFirst)? {
            let line = line?;
            if values.is_empty() || line.seq.is_some_and(|seq| seq <= after) {
                break;
            }
            let value = line.details.get(detail).and_then(|value| value.as_str());
            if let Some(value) = value.and_then(|value| values.take(value)) {
                found.insert(value, line);
            }
        }
        Ok(found)
    }

    /// The lines that fit a filter, as the log is now.
    ///
    /// # Errors
    /// `disk-failed`: a file cannot be read, or is no file.
    pub fn query(&self, filter: Filter, order: Order) -> Result<Lines<'_>, Fault> {
        Lines::find(&self.files, filter, order)
    }
}
