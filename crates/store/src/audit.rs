//! The audit log: one line for every audited event, refused attempts included, in a tamper-evident
//! hash chain.
//!
//! ```text
//! logs/dynamic-tools-audit.jsonl          the current file, to which lines are appended
//! logs/dynamic-tools-audit.000001.jsonl   a rotated file; never deleted
//! logs/dynamic-tools-audit.head           the head file: the end of the log, and the lock
//! ```
//!
//! Each line carries the hash of the line before it, and the head file carries the hash of the last
//! one. So [`Audit::verify`] detects and names lines that were changed, dropped, moved or cut off,
//! by accident or by hand. The chain has no key: a process that can write the directory can also
//! rewrite the log from any line on, with hashes that fit. Only a [`Head`] that was saved out of their
//! reach proves otherwise. The report of a verification contains a head to save, and a verification
//! accepts a saved one.
//!
//! Reading order: [`event`] is what is recorded, [`mod@line`] its encoding, [`head`] the end of the
//! chain, [`files`] the files and the lock, [`reader`] reads lines forwards and backwards, then
//! [`append`], [`verify`] with [`chain`] and its [`report`], and [`query`].
//!
//! Invariant: a line is appended whole or not at all, under a lock that all processes share, and an
//! acknowledged line is never changed.

mod append;
mod chain;
mod event;
mod files;
mod head;
mod line;
mod query;
mod reader;
mod report;
mod verify;

#[cfg(test)]
mod tests;

pub use event::{Action, AuditEvent, Details, Digest, EventFailure, StatusChange};
pub use head::{Head, HeadError};
pub use line::AuditLine;
pub use query::{AuditFilter, AuditLines, AuditOrder};
pub use report::{AuditReport, ChainProblem, ProblemKind};
pub use toolcell_tool::AuditContents;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use append::{Appender, LineSource};
use files::{FOLDER, HeadFile, LogFiles};
use toolcell_i18n::{Message, message};

use crate::directory::Directory;
use crate::durability::Durability;
use crate::error::{Fault, Reason};

/// The settings of an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditConfig {
    /// What is recorded of parameters and messages.
    pub contents: AuditContents,
    /// The failures that an acknowledged line survives: at least a crash of the process. If the log
    /// is not synced, a power failure may lose its last lines, which a verification detects.
    pub durability: Durability,
    /// The maximum size of a file, in bytes; 10 MiB by default. A file holds at least one line,
    /// whatever its size.
    pub file_limit: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        // A sync costs a hundred times as much as a call of a tool.
        Self { contents: AuditContents::default(), durability: Durability::Unsynced, file_limit: 10 << 20 }
    }
}

/// The audit log of a store. Threads share one value; every process has its own.
pub struct Audit {
    files: LogFiles,
    config: AuditConfig,
    appender: Appender,
    /// The sequence number of some line that is known to be in the log, or 0.
    known_seq: AtomicU64,
    /// The last line that the index of the store knows.
    witness: Mutex<Option<Head>>,
    /// The path of the directory, if it cannot be written.
    read_only: Option<String>,
}

impl Audit {
    /// Opens the log in the directory of a store.
    pub(crate) fn open(directory: &Directory, config: AuditConfig) -> Result<Self, Fault> {
        let read_only = directory.check_writable().is_err().then(|| directory.path().display().to_string());
        let files = LogFiles::new(directory.open_folder(FOLDER)?);
        Ok(Self {
            files,
            config,
            appender: Appender::default(),
            known_seq: AtomicU64::new(0),
            witness: Mutex::default(),
            read_only,
        })
    }

    /// Appends the line of an event and returns its sequence number and hash. Waits while another
    /// process appends.
    ///
    /// # Errors
    /// `store-read-only`; `disk-full` or `disk-failed`, in which case no line was written.
    pub fn record(&self, attempt: &AuditEvent<'_>) -> Result<Head, Fault> {
        if let Some(path) = &self.read_only {
            return Err(Fault::ReadOnly { path: Message::verbatim(path.clone()) });
        }
        self.append_source(LineSource::Event(attempt))
    }

    fn append_source(&self, text: LineSource<'_>) -> Result<Head, Fault> {
        let head = self.appender.append(&self.files, &self.config, text, self.witness())?;
        self.known_seq.store(head.seq(), Ordering::Relaxed);
        Ok(head)
    }

    /// Renders the line of an event, to be appended later with [`Audit::append_rendered`]. The line
    /// names the change of the store that it belongs to, if there is one.
    pub(crate) fn render(&self, attempt: &AuditEvent<'_>, change: Option<&str>) -> Result<String, Fault> {
        let rendered = || -> std::io::Result<String> {
            let line = line::render(attempt, self.config.contents, &Head::START, None)?;
            let invalid = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            let text = String::from_utf8(line).map_err(invalid)?;
            let about =
                change.map_or_else(|| Some(text.trim_end().to_owned()), |change| line::with_change_id(&text, change));
            about.ok_or_else(|| Reason::io(std::io::ErrorKind::Other, message!("a line has no details")))
        };
        rendered().map_err(files::fault(files::CURRENT))
    }

    /// Appends a line that was rendered before.
    pub(crate) fn append_rendered(&self, rendered: &str) -> Result<Head, Fault> {
        self.append_source(LineSource::Rendered(rendered))
    }

    /// Whether a text is a rendered line.
    pub(crate) fn is_rendered(rendered: &str) -> bool {
        line::relink(rendered, &Head::START, None).is_some()
    }

    /// Makes the log durable and returns the last line that is durable now.
    pub(crate) fn sync(&self) -> Result<Option<Head>, Fault> {
        self.appender.sync(&self.files)
    }

    /// The last line that this process appended or that the index knows.
    pub(crate) fn last_known(&self) -> Option<Head> {
        [self.appender.head(), self.witness()].into_iter().flatten().max_by_key(Head::seq)
    }

    /// Remembers the last line that the index knows.
    pub(crate) fn set_witness(&self, head: Option<Head>) {
        *self.witness.lock().unwrap_or_else(PoisonError::into_inner) = head;
    }

    fn witness(&self) -> Option<Head> {
        *self.witness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the whole log and reports its problems. A head that was saved earlier must be in the
    /// chain.
    ///
    /// Lines appended in the meantime are not read.
    ///
    /// # Errors
    /// `disk-failed`: a file cannot be read, or is not a regular file.
    pub fn verify(&self, earlier: Option<&Head>) -> Result<AuditReport, Fault> {
        self.verify_published(earlier, None)
    }

    /// The same, and the head that this node has published last must be in the chain, too.
    pub(crate) fn verify_published(
        &self,
        earlier: Option<&Head>,
        published: Option<Head>,
    ) -> Result<AuditReport, Fault> {
        let claims = [
            earlier.map(|head| (*head, ProblemKind::Rewritten)),
            self.witness().map(|head| (head, ProblemKind::NotAsIndexed)),
            published.map(|head| (head, ProblemKind::NotAsPublished)),
        ];
        verify::verify(&self.files, claims.into_iter().flatten())
    }

    /// The sequence number of some line in the log: every line appended from now on has a greater
    /// one.
    pub(crate) fn known_seq(&self) -> u64 {
        self.known_seq.load(Ordering::Relaxed)
    }

    /// The end of the log as its head file has it; `None` without a file.
    pub(crate) fn head(&self) -> Result<Option<Head>, Fault> {
        match self.files.head()? {
            HeadFile::Head(head) => Ok(Some(head)),
            HeadFile::Missing => Ok(None),
            HeadFile::Damaged => Err(Self::lost_head()),
        }
    }

    /// Whether the log has the line of a head. Only the lines after it are read.
    pub(crate) fn has_line(&self, head: Head) -> Result<bool, Fault> {
        verify::has_line(&self.files, head)
    }

    /// The fault of a head file that was there, and is missing or damaged now.
    pub(crate) fn lost_head() -> Fault {
        files::fault(files::HEAD)(Reason::io(std::io::ErrorKind::InvalidData, message!("cannot be read")))
    }

    /// Reads the current end of the log.
    pub(crate) fn refresh_known_seq(&self) -> Result<(), Fault> {
        if let HeadFile::Head(head) = self.files.head()? {
            self.known_seq.store(head.seq(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The lines of these runs among those after `after`, by run.
    pub(crate) fn runs_after(&self, after: u64, runs: HashSet<String>) -> Result<HashMap<String, AuditLine>, Fault> {
        self.lines_after(after, "run", runs)
    }

    /// The lines after `after` whose `detail` has one of these values, by value.
    pub(crate) fn lines_after(
        &self,
        after: u64,
        detail: &str,
        mut values: HashSet<String>,
    ) -> Result<HashMap<String, AuditLine>, Fault> {
        let mut found = HashMap::new();
        for line in self.query(AuditFilter::default(), AuditOrder::NewestFirst)? {
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

    /// The lines that match a filter, from a snapshot of the log.
    ///
    /// # Errors
    /// `disk-failed`: a file cannot be read, or is not a regular file.
    pub fn query(&self, filter: AuditFilter, order: AuditOrder) -> Result<AuditLines<'_>, Fault> {
        AuditLines::new(&self.files, filter, order)
    }
}
