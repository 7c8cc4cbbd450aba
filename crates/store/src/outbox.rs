//! Changes and the lines that the audit log gets of them: a transactional outbox.
//!
//! ```text
//! one transaction: the change, and its line in the outbox → the line is appended to the log → the log is synced → the outbox
//! forgets the line
//! ```
//!
//! Invariant: a change that is committed has exactly one line in the end, whatever fails and whatever kills the process, and a
//! change that is not has none. A line that cannot be appended now waits in the outbox, from where the next who opens the store
//! appends it. Each says of which change it is, so that nobody appends it twice.
//!
//! A line stays in the outbox until the log was synced. So a change costs one sync of the disk, and its line outlasts a loss
//! of power as the change does. Lines of runs do not; but the index knows how far the log went, and a verification tells.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::{ToolId, ToolName, ToolSpec};

use crate::audit::{Attempt, Audit, Head};
use crate::deprecate::DeprecateError;
use crate::directory::Access;
use crate::error::{Fault, OfFault};
use crate::find::ToolRef;
use crate::gc::Collected;
use crate::import::{Import, ImportError, Imported};
use crate::index::{Durability, Turn, Unwritten};
use crate::names::{NameStepError, Registration, Step, WhenTaken};
use crate::notice::{self, Notice};
use crate::store::Store;
use crate::trust::{Approval, Settled, StatusError};
use crate::version::Scores;
use crate::wait::{BRIEF, PATIENCE};

/// So many appended lines are in the outbox at most, or for so long, until the log is synced because of them.
const UNSYNCED: usize = 64;
const UNSYNCED_FOR: Duration = Duration::from_secs(5);

/// What this process knows of the outbox.
#[derive(Default)]
pub(crate) struct Outbox {
    /// By chance, so that no two processes give one change the same identifier; none until there is one.
    id: Option<u64>,
    /// How many changes there were.
    count: u64,
    /// Lines that are in the log, which was not synced since.
    appended: Vec<String>,
    /// Since when there are some.
    since: Option<Instant>,
    /// Lines that could not be appended.
    waiting: Vec<String>,
}

/// A change, and the line that it gets. What the line says of its outcome the store sees to.
#[must_use = "nothing is changed until it is said what"]
pub struct Change<'a> {
    store: &'a Store,
    attempt: Attempt<'a>,
}

/// A line of the outbox.
struct Row {
    change: String,
    after: u64,
    line: String,
}

impl Store {
    /// A change of which the audit log gets this line, if the change is made: both happen, or neither does.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::audit::{Action, Attempt, Filter, Order};
    /// use toolcell_store::{Settings, Store, ToolRef};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (at, unknown) = (Timestamp::UNIX_EPOCH, ToolRef::parse("nobody")?);
    /// assert!(store.change(Attempt::new(Action::DeleteDynamicTool, at)).delete(&unknown, at).is_err());
    /// assert_eq!(store.audit().query(Filter::default(), Order::OldestFirst)?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change<'a>(&'a self, attempt: Attempt<'a>) -> Change<'a> {
        Change { store: self, attempt }
    }

    /// Appends the line of an attempt that changed nothing. Where the log cannot be written the line is kept in the index, and
    /// appended later; where that cannot be written either it is lost, which is told as a [`Notice`].
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk: the line is lost.
    pub fn log(&self, attempt: &Attempt<'_>) -> Result<(), Fault> {
        let Err(fault) = self.audit.record(attempt) else { return Ok(()) };
        if self.access() == Access::ReadOnly {
            return Err(fault);
        }
        let kept = self.index.write_soon(self.settings.durability, |transaction| {
            let row = self.insert(transaction, attempt)?;
            Ok::<_, Fault>(row.change)
        });
        let (action, why) = (attempt.action.name(), fault.to_string());
        let Ok(change) = kept else {
            notice::tell(&Notice::Lost { action, why: &why });
            return Err(fault);
        };
        self.outbox().waiting.push(change);
        notice::tell(&Notice::Delayed { action, why: &why });
        Ok(())
    }

    /// How many lines wait to be appended to the log.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn delayed_lines(&self) -> Result<u64, Fault> {
        let rows = self.index.read(|transaction| Ok::<_, Fault>(rows(transaction, None)?))?;
        let appended = self.appended_of(&rows)?;
        Ok(rows.iter().filter(|row| !appended.contains(&row.change)).count() as u64)
    }

    /// Makes a change, and appends its line. Where nothing is to be changed, `work` gives none, and there is no line.
    pub(crate) fn make<T, E: OfFault>(
        &self,
        attempt: Option<Attempt<'_>>,
        work: impl FnOnce(&Connection, &mut Attempt<'_>) -> Result<Option<T>, E>,
        then: impl FnOnce(&mut Turn<'_>, &Result<Option<T>, Unwritten<E>>),
    ) -> Result<Option<T>, E> {
        let is_recorded = attempt.is_some();
        let mut attempt = attempt.unwrap_or_else(|| Attempt::new(crate::audit::Action::Status, Timestamp::UNIX_EPOCH));
        let mut own = None;
        let made = self.index.turn(PATIENCE, |turn| {
            let made = turn.write(self.settings.durability, |transaction| {
                let value = work(transaction, &mut attempt)?;
                if is_recorded && value.is_some() {
                    own = Some(self.insert(transaction, &attempt)?);
                }
                self.note_head(transaction).map_err(Fault::from)?;
                Ok(value)
            });
            then(turn, &made);
            if made.is_ok()
                && let Some(own) = own.take()
            {
                self.append_own(turn, own, attempt.action.name());
            }
            made
        });
        made?.map_err(|unwritten| unwritten.error)
    }

    /// Writes a line into the outbox.
    fn insert(&self, transaction: &Connection, attempt: &Attempt<'_>) -> Result<Row, Fault> {
        let change = self.next_change();
        let (line, after) =
            (self.audit.render(attempt, Some(&change))?, self.audit.last_known().map_or(0, |head| head.seq()));
        let sql = "INSERT INTO outbox (change, after, line) VALUES (?, ?, ?)";
        transaction.prepare_cached(sql)?.execute((&change, after, &line))?;
        Ok(Row { change, after, line })
    }

    fn next_change(&self) -> String {
        let mut outbox = self.outbox();
        // Keys of the standard library's hash maps come from the system's random numbers.
        let chance = || std::collections::hash_map::RandomState::new().build_hasher().finish();
        let id = *outbox.id.get_or_insert_with(chance);
        outbox.count += 1;
        format!("c_{id:016x}-{:x}", outbox.count)
    }

    /// Notes up to which line the log is known to go.
    pub(crate) fn note_head(&self, transaction: &Connection) -> rusqlite::Result<()> {
        let Some(head) = self.audit.last_known() else { return Ok(()) };
        let sql = "INSERT INTO log_head (one, seq, hash) VALUES (1, ?1, ?2) \
                   ON CONFLICT DO UPDATE SET seq = ?1, hash = ?2 WHERE seq < ?1";
        transaction.prepare_cached(sql)?.execute((head.seq(), head.hash().as_bytes())).map(|_| ())
    }

    /// Appends the line of a change that was just committed, after those that waited before it.
    fn append_own(&self, turn: &mut Turn<'_>, own: Row, action: &str) {
        if !self.outbox().waiting.is_empty()
            && let Err(fault) = self.append_waiting()
        {
            self.outbox().waiting.push(own.change);
            return notice::tell(&Notice::Delayed { action, why: &fault.to_string() });
        }
        match self.audit.append_rendered(&own.line) {
            Ok(_) => self.was_appended(own.change),
            Err(fault) => {
                self.outbox().waiting.push(own.change);
                notice::tell(&Notice::Delayed { action, why: &fault.to_string() });
            }
        }
        if self.outbox().appended.len() >= UNSYNCED
            && let Err(fault) = self.sync_log(turn)
        {
            // The lines stay where they are, and the next change tries again.
            tracing::warn!(%fault, "the audit log could not be synced");
        }
    }

    fn was_appended(&self, change: String) {
        let mut outbox = self.outbox();
        outbox.appended.push(change);
        outbox.since.get_or_insert_with(Instant::now);
    }

    /// Appends what could not be appended before, unless somebody else did.
    fn append_waiting(&self) -> Result<(), Fault> {
        let waiting: HashSet<String> = self.outbox().waiting.iter().cloned().collect();
        let rows = self.index.read(|transaction| Ok::<_, Fault>(rows(transaction, Some(&waiting))?))?;
        self.append_missing(rows)?;
        self.outbox().waiting.clear();
        Ok(())
    }

    /// Appends those lines that are not in the log.
    fn append_missing(&self, rows: Vec<Row>) -> Result<(), Fault> {
        let appended = self.appended_of(&rows)?;
        for row in rows {
            if !appended.contains(&row.change) {
                if !Audit::is_rendered(&row.line) {
                    // The index is damaged, or another program wrote to it: this is no line of the log.
                    tracing::error!(change = row.change, "a line of the audit log that waited is lost");
                    continue;
                }
                self.audit.append_rendered(&row.line)?;
            }
            self.was_appended(row.change);
        }
        Ok(())
    }

    /// Which of these lines are in the log.
    fn appended_of(&self, rows: &[Row]) -> Result<HashSet<String>, Fault> {
        let Some(after) = rows.iter().map(|row| row.after).min() else { return Ok(HashSet::new()) };
        let changes = rows.iter().map(|row| row.change.clone()).collect();
        let found = self.audit.lines_after(after, "change", changes)?;
        Ok(found.into_keys().collect())
    }

    /// Notes how far the log went, and appends what others left in the outbox, when the store is opened.
    pub(crate) fn open_outbox(&self) -> Result<(), Fault> {
        let (head, is_empty) = self.index.read(|transaction| {
            let head = known_head(transaction)?;
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM outbox)";
            Ok::<_, Fault>((head, transaction.prepare_cached(sql)?.query_row([], |row| row.get::<_, bool>(0))?))
        })?;
        self.audit.remember(head);
        if is_empty || self.access() == Access::ReadOnly {
            return Ok(());
        }
        // Whoever is between its change and its line has the turn.
        self.index.turn(BRIEF, |_| {
            let rows = self.index.read(|transaction| Ok::<_, Fault>(rows(transaction, None)?))?;
            self.append_missing(rows)
        })?
    }

    /// Appends what waits, and lets the outbox forget what the log has, once that was synced.
    pub(crate) fn close_outbox(&self) -> Result<(), Fault> {
        let (is_waiting, is_unsynced) = {
            let outbox = self.outbox();
            (!outbox.waiting.is_empty(), !outbox.appended.is_empty())
        };
        if !is_waiting && !is_unsynced {
            return Ok(());
        }
        self.index.turn(BRIEF, |turn| {
            if is_waiting {
                self.append_waiting()?;
            }
            self.sync_log(turn)
        })?
    }

    /// The same, where lines are in the outbox for long enough.
    pub(crate) fn close_outbox_in_time(&self) -> Result<(), Fault> {
        let is_due = self.outbox().since.is_some_and(|since| since.elapsed() > UNSYNCED_FOR);
        if is_due { self.close_outbox() } else { Ok(()) }
    }

    /// Syncs the log, and lets the outbox forget the lines that are in it.
    fn sync_log(&self, turn: &mut Turn<'_>) -> Result<(), Fault> {
        let appended = self.outbox().appended.clone();
        self.audit.sync()?;
        let forgotten = turn.write(Durability::Unsynced, |transaction| {
            let mut forget = transaction.prepare_cached("DELETE FROM outbox WHERE change = ?")?;
            for change in &appended {
                forget.execute([change])?;
            }
            self.note_head(transaction)?;
            Ok::<_, Fault>(())
        });
        forgotten.map_err(|unwritten| unwritten.error)?;
        let mut outbox = self.outbox();
        outbox.appended.drain(..appended.len());
        outbox.since = (!outbox.appended.is_empty()).then(Instant::now);
        Ok(())
    }

    /// A thread that panicked left it as it should be.
    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Change<'_> {
    /// As [`Store::put`]. The line says which tool was replaced.
    ///
    /// # Errors
    /// As [`Store::put`]
    pub fn put(self, registration: &Registration<'_>, when_taken: WhenTaken) -> Result<Step, NameStepError> {
        self.store.put_noted(registration, when_taken, Some(self.attempt))
    }

    /// As [`Store::delete`].
    ///
    /// # Errors
    /// As [`Store::delete`]
    pub fn delete(self, reference: &ToolRef, at: Timestamp) -> Result<Step, NameStepError> {
        self.store.delete_noted(reference, at, Some(self.attempt))
    }

    /// As [`Store::undelete`].
    ///
    /// # Errors
    /// As [`Store::undelete`]
    pub fn undelete(self, reference: &ToolRef, at: Timestamp) -> Result<Step, NameStepError> {
        self.store.undelete_noted(reference, at, Some(self.attempt))
    }

    /// As [`Store::roll_back`].
    ///
    /// # Errors
    /// As [`Store::roll_back`]
    pub fn roll_back(self, name: &ToolName, number: u64, at: Timestamp) -> Result<Step, NameStepError> {
        self.store.roll_back_noted(name, number, at, Some(self.attempt))
    }

    /// As [`Store::decide`].
    ///
    /// # Errors
    /// As [`Store::decide`]
    pub fn decide(self, approval: &Approval) -> Result<Settled, Fault> {
        self.store.decide_noted(approval, Some(self.attempt))
    }

    /// As [`Store::revoke`]. The line says how much was taken back.
    ///
    /// # Errors
    /// As [`Store::revoke`]
    pub fn revoke(self, tool: ToolId) -> Result<usize, Fault> {
        self.store.revoke_noted(tool, Some(self.attempt))
    }

    /// As [`Store::set_status`]. The line says which status it was.
    ///
    /// # Errors
    /// As [`Store::set_status`]
    pub fn set_status(self, id: ToolId, to: toolcell_tool::Status) -> Result<toolcell_tool::Status, StatusError> {
        self.store.set_status_noted(id, to, Some(self.attempt))
    }

    /// As [`Store::deprecate`]. The line says which status the tool had.
    ///
    /// # Errors
    /// As [`Store::deprecate`]
    pub fn deprecate(self, id: ToolId, successor: Option<ToolId>) -> Result<toolcell_tool::Status, DeprecateError> {
        self.store.deprecate_noted(id, successor, Some(self.attempt))
    }

    /// As [`Store::import`]. The line says how many tools were taken in.
    ///
    /// # Errors
    /// As [`Store::import`]
    pub fn import(
        self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, String>,
        when_taken: WhenTaken,
        at: Timestamp,
    ) -> Result<Imported, ImportError> {
        self.store.import_noted(import, judge, when_taken, at, Some(self.attempt))
    }

    /// Collects as [`Store::collect`] does with [`Mode::Do`](crate::Mode::Do). Nothing is destroyed that is not recorded: the
    /// line, which says how many names were collected, is written before any file goes.
    ///
    /// # Errors
    /// As [`Store::collect`]
    pub fn collect(self, deleted_before: Timestamp, now: Timestamp) -> Result<Collected, Fault> {
        self.store.collect_noted(deleted_before, now, Some(self.attempt))
    }
}

/// The last line of the log that the index knows of.
pub(crate) fn known_head(transaction: &Connection) -> rusqlite::Result<Option<Head>> {
    let mut statement = transaction.prepare_cached("SELECT seq, hash FROM log_head")?;
    let row = statement.query_row([], |row| Ok(Head::new(row.get(0)?, blake3::Hash::from_bytes(row.get(1)?))));
    row.optional()
}

/// The lines of the outbox, or some of them.
fn rows(transaction: &Connection, which: Option<&HashSet<String>>) -> rusqlite::Result<Vec<Row>> {
    let mut statement = transaction.prepare_cached("SELECT change, after, line FROM outbox ORDER BY num")?;
    let rows = statement.query_map([], |row| Ok(Row { change: row.get(0)?, after: row.get(1)?, line: row.get(2)? }))?;
    let wanted = |row: &Row| which.is_none_or(|which| which.contains(&row.change));
    rows.filter(|row| row.as_ref().map_or(true, wanted)).collect()
}

/// Notes in the line of a step what it was about.
pub(crate) fn is_about(attempt: &mut Attempt<'_>, tool: ToolId, name: &ToolName) {
    (attempt.tool, attempt.name) = (Some(tool), Some(name.to_string()));
}

#[cfg(test)]
mod tests;
