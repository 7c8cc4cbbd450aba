//! Garbage collection.
//!
//! Invariant: tools that names resolve to, their whole history, and anything deleted or
//! recorded recently are kept. First the index drops its rows; then, while no other process writes,
//! the files that it no longer references are removed. An interrupted collection leaves only
//! unreferenced files, for the next one to remove.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::Connection;
use toolcell_tool::{ToolId, ToolName};

use crate::audit::AuditEvent;
use crate::db::sql::decode_column;
use crate::db::{Db, reserve};
use crate::error::Fault;
use crate::kv;
use crate::objects::ObjectName;
use crate::replication::change::Change;
use crate::runs::{PLAN_KIND, RECEIPT_KIND, RUN_KIND};
use crate::suspended;
use crate::version::{VersionEvent, read_version};

use super::Maintenance;

/// The age above which a temporary file cannot still be in use.
const TEMP_FILE_MAX_AGE: Duration = Duration::from_hours(1);

/// Whether garbage is collected or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcMode {
    /// Collect garbage.
    Execute,
    /// Only report what would be collected.
    DryRun,
}

/// The result of a garbage collection, or of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GcReport {
    /// Deleted names, with the last tool of each.
    pub names: Vec<(ToolName, ToolId)>,
    /// The number of objects.
    pub objects: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The number of abandoned temporary files.
    pub unfinished: u64,
    /// The number of run records and plans.
    pub records: u64,
    /// The number of expired key-value entries.
    pub expired: u64,
    /// The number of suspended runs.
    pub suspended: u64,
    /// Why some files could not be removed, if that happened. The next collection removes them.
    pub error: Option<String>,
}

impl Maintenance<'_> {
    /// Collects names deleted before a time, run records and plans from before it, runs suspended
    /// before it, unreferenced objects written before it, and key-value entries that have expired
    /// by `now`. Newer unreferenced objects stay: an older copy of the index may not know them, and
    /// `fsck` reports them.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn collect(&self, deleted_before: Timestamp, now: Timestamp, mode: GcMode) -> Result<GcReport, Fault> {
        match mode {
            GcMode::DryRun => self.plan_collection(deleted_before, now),
            GcMode::Execute => self.collect_audited(deleted_before, now, None),
        }
    }

    fn plan_collection(&self, deleted_before: Timestamp, now: Timestamp) -> Result<GcReport, Fault> {
        let plan = self.db.index.read(|transaction| GcPlan::new(transaction, deleted_before, now))?;
        let mut collected = plan.report();
        let before = system_time(deleted_before);
        self.db.index.read(|transaction| {
            let kept = referenced_objects(transaction, |name| !plan.folded.contains(name))?;
            self.find_garbage(&kept, |hash| plan.is_garbage(self.db, hash, before), &mut collected).map(|_| ())
        })?;
        collected.unfinished = self.sweep_temp_files(now, GcMode::DryRun, &mut collected.error);
        Ok(collected)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn collect_audited(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<GcReport, Fault> {
        self.db.directory.check_writable()?;
        // Nothing is deleted unrecorded: the audit line is in the transaction that drops the rows,
        // before any file is removed.
        let plan = self.db.with_reserve(|| {
            let work = |transaction: &Connection, attempt: &mut AuditEvent<'_>| {
                let plan = GcPlan::new(transaction, deleted_before, now)?;
                plan.folded.iter().try_for_each(|folded| delete_name(transaction, folded))?;
                delete_old_runs(transaction, deleted_before)?;
                suspended::delete_expired(transaction, deleted_before)?;
                kv::delete_expired(transaction, now)?;
                attempt.details.count = Some(plan.names.len() as u64);
                Ok::<_, Fault>(Some(plan))
            };
            let describe = |plan: &GcPlan| Change::Collect {
                names: plan.folded.iter().cloned().collect(),
                suspended_before: deleted_before,
                now,
            };
            self.db.commit_change(attempt.clone(), work, describe, |_, _| ())
        })?;
        let plan = plan.unwrap_or_default();
        let mut collected = plan.report();
        let before = system_time(deleted_before);
        let removed = self.db.with_reserve(|| {
            let mut found = GcReport::default();
            self.db.write(|transaction| {
                let kept = referenced_objects(transaction, |_| true)?;
                let mut forget = transaction.prepare_cached("DELETE FROM unsynced WHERE hash = ?")?;
                for hash in self.find_garbage(&kept, |hash| plan.is_garbage(self.db, hash, before), &mut found)? {
                    forget.execute([hash.as_bytes()])?;
                    self.db.objects.remove(hash)?;
                }
                Ok::<_, Fault>(())
            })?;
            Ok::<_, Fault>(found)
        });
        match removed {
            Ok(found) => (collected.objects, collected.bytes) = (found.objects, found.bytes),
            // The index has dropped the rows, and the audit line is written.
            Err(fault) => collected.error = Some(fault.to_string()),
        }
        collected.unfinished = self.sweep_temp_files(now, GcMode::Execute, &mut collected.error);
        reserve::allocate(&self.db.directory);
        Ok(collected)
    }

    fn sweep_temp_files(&self, now: Timestamp, mode: GcMode, trouble: &mut Option<String>) -> u64 {
        let unfinished = system_time(now).checked_sub(TEMP_FILE_MAX_AGE).unwrap_or(SystemTime::UNIX_EPOCH);
        let swept = match mode {
            GcMode::DryRun => self.db.objects.count_temp_files(unfinished),
            GcMode::Execute => self.db.objects.remove_temp_files(unfinished),
        };
        match swept {
            Ok(swept) => swept,
            Err(fault) => {
                trouble.get_or_insert_with(|| fault.to_string());
                0
            }
        }
    }

    /// Finds unreferenced objects. Versions that record a deletion come last: if the rest of a
    /// history outlived them, a rebuild of the index would restore the name.
    fn find_garbage(
        &self,
        kept: &HashSet<Hash>,
        goes: impl Fn(&Hash) -> bool,
        collected: &mut GcReport,
    ) -> Result<Vec<Hash>, Fault> {
        let (mut garbage, mut deletions) = (Vec::new(), Vec::new());
        self.db.objects.for_each(&mut |name| {
            let ObjectName::Hash(hash) = name else { return Ok(()) };
            if kept.contains(&hash) || !goes(&hash) {
                return Ok(());
            }
            collected.objects += 1;
            collected.bytes += self.db.objects.len(hash);
            let deletion = read_version(self.db, hash).is_ok_and(|version| version.event == VersionEvent::Deleted);
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

/// The set of things to collect.
#[derive(Default)]
struct GcPlan {
    names: Vec<(ToolName, ToolId)>,
    folded: HashSet<String>,
    garbage: HashSet<Hash>,
    records: u64,
    expired: u64,
    suspended: u64,
}

impl GcPlan {
    fn new(transaction: &Connection, deleted_before: Timestamp, now: Timestamp) -> Result<Self, Fault> {
        let names = deleted_names(transaction, deleted_before)?;
        let folded: HashSet<String> = names.iter().map(|(name, _)| name.case_folded()).collect();
        let gone = referenced_objects(transaction, |name| folded.contains(name))?;
        let (records, expired) = (count_old_runs(transaction, deleted_before)?, kv::count_expired(transaction, now)?);
        let sleeping = suspended::count_expired(transaction, deleted_before)?;
        Ok(Self { names, folded, garbage: gone, records, expired, suspended: sleeping })
    }

    fn report(&self) -> GcReport {
        let Self { names, records, expired, suspended: sleeping, .. } = self;
        let (records, expired, sleeping) = (*records, *expired, *sleeping);
        GcReport { names: names.clone(), records, expired, suspended: sleeping, ..GcReport::default() }
    }

    /// Whether an unreferenced object may be removed.
    fn is_garbage(&self, db: &Db, hash: &Hash, before: SystemTime) -> bool {
        self.garbage.contains(hash) || db.objects.modified(*hash).is_some_and(|time| time < before)
    }
}

fn system_time(time: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(time.as_millisecond().try_into().unwrap_or(0))
}

/// Names deleted before a time, with the last tool of each.
fn deleted_names(transaction: &Connection, before: Timestamp) -> rusqlite::Result<Vec<(ToolName, ToolId)>> {
    let sql = "SELECT name, id FROM version AS last JOIN tool ON num = last.tool \
               WHERE event = 'deleted' AND at < ? AND number = \
               (SELECT max(number) FROM version WHERE folded = last.folded) ORDER BY last.folded";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map([before.as_millisecond()], |row| {
        Ok((decode_column(0, ToolName::parse(row.get_ref(0)?.as_str()?))?, ToolId::from_bytes(row.get(1)?)))
    })?;
    rows.collect()
}

/// The number of run records and plans from before a time. A receipt is a part of its record.
fn count_old_runs(transaction: &Connection, before: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM record WHERE kind IN (?, ?) AND at < ?";
    transaction.prepare_cached(sql)?.query_row((RUN_KIND, PLAN_KIND, before.as_millisecond()), |row| row.get(0))
}

/// Deletes the run records, receipts and plans from before a time.
fn delete_old_runs(transaction: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM record WHERE kind IN (?, ?, ?) AND at < ?";
    transaction.prepare_cached(sql)?.execute((RUN_KIND, PLAN_KIND, RECEIPT_KIND, before.as_millisecond()))
}

/// Deletes a name and its tools from the index. Run records stay: they say what happened.
pub(crate) fn delete_name(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM approval WHERE granted IS NOT 0 AND tool IN (SELECT id FROM tool WHERE folded = ?)",
        "DELETE FROM single_approval WHERE tool IN (SELECT id FROM tool WHERE folded = ?)",
        "DELETE FROM failure WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM cost WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM daily_usage WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
        "DELETE FROM daily_time_saved WHERE tool IN (SELECT num FROM tool WHERE folded = ?)",
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

/// The objects that the index references for the names that `kept` selects.
pub(crate) fn referenced_objects(
    transaction: &Connection,
    kept: impl Fn(&str) -> bool,
) -> rusqlite::Result<HashSet<Hash>> {
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
