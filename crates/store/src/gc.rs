//! Taking away what nobody can reach any more.
//!
//! Invariant: what a name leads to, its whole history, receipts, and what was deleted or happened a short while ago, stay.
//! First the index forgets; then, while nobody else writes, the files go that it does not refer to. Whoever stops in between leaves
//! nothing but files for the next time.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::Connection;
use toolcell_tool::{ToolId, ToolName};

use crate::audit::Attempt;
use crate::error::Fault;
use crate::objects::Name;
use crate::records::{PLAN, RUN};
use crate::reserve;
use crate::sleeping;
use crate::spaces;
use crate::store::{Store, parsed};
use crate::version::Event;

/// How old an unfinished file is before nobody can be writing it any more.
const UNFINISHED: Duration = Duration::from_hours(1);

/// Whether something is done, or only said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is done.
    Do,
    /// It is said what would be done.
    Plan,
}

/// What was collected, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collected {
    /// Names that were deleted, and the tool they led to last.
    pub names: Vec<(ToolName, ToolId)>,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that nobody finished writing.
    pub unfinished: u64,
    /// Records of runs.
    pub records: u64,
    /// Pairs of keys and values that had expired.
    pub expired: u64,
    /// Runs that were asleep.
    pub sleeping: u64,
    /// What kept some files from going, where something did. They go the next time.
    pub trouble: Option<String>,
}

impl Store {
    /// Collects what was deleted before a time, the records of runs before that time, runs that sleep since before that time, what nothing refers to since before
    /// that time, and the pairs of keys and values that have expired by now. Later files that nothing refers to may be what
    /// an older copy of the index does not know: `fsck` tells of them.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn collect(&self, deleted_before: Timestamp, now: Timestamp, mode: Mode) -> Result<Collected, Fault> {
        match mode {
            Mode::Plan => self.plan_to_collect(deleted_before, now),
            Mode::Do => self.collect_noted(deleted_before, now, None),
        }
    }

    fn plan_to_collect(&self, deleted_before: Timestamp, now: Timestamp) -> Result<Collected, Fault> {
        let plan = self.index.read(|transaction| Plan::of(transaction, deleted_before, now))?;
        let mut collected = plan.collected();
        let before = system_time(deleted_before);
        self.index.read(|transaction| {
            let kept = referred_to(transaction, |name| !plan.folded.contains(name))?;
            self.find_garbage(&kept, |hash| plan.takes(self, hash, before), &mut collected).map(|_| ())
        })?;
        collected.unfinished = self.sweep(now, Mode::Plan, &mut collected.trouble);
        Ok(collected)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn collect_noted(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Collected, Fault> {
        self.directory.must_be_writable()?;
        // What is not recorded is not destroyed: the line is in the transaction that forgets, which is before any file goes.
        let plan = self.with_reserve(|| {
            let work = |transaction: &Connection, attempt: &mut Attempt<'_>| {
                let plan = Plan::of(transaction, deleted_before, now)?;
                plan.folded.iter().try_for_each(|folded| forget(transaction, folded))?;
                forget_runs(transaction, deleted_before)?;
                sleeping::forget_overslept(transaction, deleted_before)?;
                spaces::forget_expired(transaction, now)?;
                attempt.details.count = Some(plan.names.len() as u64);
                Ok::<_, Fault>(Some(plan))
            };
            self.make(attempt.clone(), work, |_, _| ())
        })?;
        let plan = plan.unwrap_or_default();
        let mut collected = plan.collected();
        let before = system_time(deleted_before);
        let removed = self.with_reserve(|| {
            let mut found = Collected::default();
            self.index.write(self.settings.durability, |transaction| {
                let kept = referred_to(transaction, |_| true)?;
                let mut forget = transaction.prepare_cached("DELETE FROM unsynced WHERE hash = ?")?;
                for hash in self.find_garbage(&kept, |hash| plan.takes(self, hash, before), &mut found)? {
                    forget.execute([hash.as_bytes()])?;
                    self.objects.remove(hash)?;
                }
                Ok::<_, Fault>(())
            })?;
            Ok::<_, Fault>(found)
        });
        match removed {
            Ok(found) => (collected.objects, collected.bytes) = (found.objects, found.bytes),
            // What was collected is gone from the index, and was recorded.
            Err(fault) => collected.trouble = Some(fault.to_string()),
        }
        collected.unfinished = self.sweep(now, Mode::Do, &mut collected.trouble);
        reserve::keep(&self.directory);
        Ok(collected)
    }

    fn sweep(&self, now: Timestamp, mode: Mode, trouble: &mut Option<String>) -> u64 {
        let unfinished = system_time(now).checked_sub(UNFINISHED).unwrap_or(SystemTime::UNIX_EPOCH);
        match self.objects.sweep_unfinished(unfinished, mode) {
            Ok(swept) => swept,
            Err(fault) => {
                trouble.get_or_insert_with(|| fault.to_string());
                0
            }
        }
    }

    /// Objects that nothing refers to. Those that say that a name was deleted come last: were the rest of a history to
    /// stay behind without them, the name would be back when the index is made anew.
    fn find_garbage(
        &self,
        kept: &HashSet<Hash>,
        goes: impl Fn(&Hash) -> bool,
        collected: &mut Collected,
    ) -> Result<Vec<Hash>, Fault> {
        let (mut garbage, mut deletions) = (Vec::new(), Vec::new());
        self.objects.each(&mut |name| {
            let Name::Hash(hash) = name else { return Ok(()) };
            if kept.contains(&hash) || !goes(&hash) {
                return Ok(());
            }
            collected.objects += 1;
            collected.bytes += self.objects.len(hash);
            let deletion = self.version(hash).is_ok_and(|version| version.event == Event::Deleted);
            if deletion {
                deletions.push(hash);
            } else {
                garbage.push(hash);
            }
            Ok(())
        })?;
        garbage.extend(deletions);
        Ok(garbage)
    }
}

/// What is collected.
#[derive(Default)]
struct Plan {
    names: Vec<(ToolName, ToolId)>,
    folded: HashSet<String>,
    gone: HashSet<Hash>,
    records: u64,
    expired: u64,
    sleeping: u64,
}

impl Plan {
    fn of(transaction: &Connection, deleted_before: Timestamp, now: Timestamp) -> Result<Self, Fault> {
        let names = deleted(transaction, deleted_before)?;
        let folded: HashSet<String> = names.iter().map(|(name, _)| name.folded()).collect();
        let gone = referred_to(transaction, |name| folded.contains(name))?;
        let (records, expired) = (old_runs(transaction, deleted_before)?, spaces::expired(transaction, now)?);
        let sleeping = sleeping::overslept(transaction, deleted_before)?;
        Ok(Self { names, folded, gone, records, expired, sleeping })
    }

    fn collected(&self) -> Collected {
        let Self { names, records, expired, sleeping, .. } = self;
        let (records, expired, sleeping) = (*records, *expired, *sleeping);
        Collected { names: names.clone(), records, expired, sleeping, ..Collected::default() }
    }

    /// Whether an object that nothing refers to goes.
    fn takes(&self, store: &Store, hash: &Hash, before: SystemTime) -> bool {
        self.gone.contains(hash) || store.objects.modified(*hash).is_some_and(|time| time < before)
    }
}

fn system_time(time: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(time.as_millisecond().try_into().unwrap_or(0))
}

/// Names that lead nowhere since before a time, and where they led last.
fn deleted(transaction: &Connection, before: Timestamp) -> rusqlite::Result<Vec<(ToolName, ToolId)>> {
    let sql = "SELECT name, id FROM version AS last JOIN tool ON num = last.tool \
               WHERE event = 'deleted' AND at < ? AND number = \
               (SELECT max(number) FROM version WHERE folded = last.folded) ORDER BY last.folded";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map([before.as_millisecond()], |row| {
        Ok((parsed(0, ToolName::parse(row.get_ref(0)?.as_str()?))?, ToolId::from_bytes(row.get(1)?)))
    })?;
    rows.collect()
}

/// How many runs and plans there were before a time.
fn old_runs(transaction: &Connection, before: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM record WHERE kind IN (?, ?) AND at < ?";
    transaction.prepare_cached(sql)?.query_row((RUN, PLAN, before.as_millisecond()), |row| row.get(0))
}

/// Lets the index forget the runs and plans before a time.
fn forget_runs(transaction: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM record WHERE kind IN (?, ?) AND at < ?";
    transaction.prepare_cached(sql)?.execute((RUN, PLAN, before.as_millisecond()))
}

/// Lets the index forget a name and its tools. Records stay: they say what happened.
fn forget(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM approval WHERE granted IS NOT 0 AND tool IN (SELECT id FROM tool WHERE folded = ?)",
        "DELETE FROM failure WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM cost WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM ledger WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM successor WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM found_by WHERE rowid IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM terms WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM damaged WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM about WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM version WHERE folded = ?",
        "DELETE FROM tool WHERE folded = ?",
    ] {
        transaction.prepare_cached(sql)?.execute([folded])?;
    }
    Ok(())
}

/// The objects that the index refers to, for names that are kept.
pub(crate) fn referred_to(transaction: &Connection, kept: impl Fn(&str) -> bool) -> rusqlite::Result<HashSet<Hash>> {
    let mut hashes = HashSet::new();
    for sql in [
        "SELECT folded, hash FROM version",
        "SELECT folded, source FROM about JOIN tool ON num = about.tool",
        "SELECT folded, version FROM about JOIN tool ON num = about.tool",
    ] {
        let mut statement = transaction.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if kept(row.get_ref(0)?.as_str()?) {
                hashes.insert(Hash::from_bytes(row.get(1)?));
            }
        }
    }
    Ok(hashes)
}
