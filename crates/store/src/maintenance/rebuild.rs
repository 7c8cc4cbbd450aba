//! Rebuilding the index from the objects.
//!
//! Invariant: no other process has the store open during a rebuild, the old index is kept in the
//! quarantine, and a marker file identifies an interrupted rebuild: until it is finished, the store
//! does not open. Finishing it first restores the old index, so nothing is lost wherever the
//! rebuild was interrupted. If the disk fails to read, the rebuild stops.
//!
//! Data that does not derive from objects is copied from the old index as far as it is readable.
//! From a damaged index no approvals are copied: a flipped bit must not let a tool run. Refusals
//! are copied, since they only keep tools from running: those of the old index, and those in the
//! audit log. For the same reason the store key is replaced, which invalidates everything derived
//! from it: a used token must not become valid again, and suspended runs can no longer be
//! decrypted.

use std::collections::BTreeMap;

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params_from_iter};
use toolcell_i18n::{Localize, Message, message};

use crate::catalog::commit::apply_version;
use crate::db::connection::connect_read_only;
use crate::db::index::{INDEX_FILE, create_at};
use crate::db::{PreviousIndex, REBUILD_MARKER, replica};
use crate::directory::{Directory, OpenError, private_options};
use crate::error::Fault;
use crate::kv;
use crate::objects::{ObjectName, ObjectState, Objects};
use crate::store_key;
use crate::version::Version;

use super::refusals::{self, Refusals};
use super::report::FsckReport;

/// The temporary file of the new index.
const NEW_INDEX: &str = "tmp/index.sqlite";

/// The versions of each name, by folded name.
type Histories = BTreeMap<String, Vec<(Hash, Version)>>;

/// A version with its place in the history of its name.
struct OrderedVersion {
    folded: String,
    number: u64,
    hash: Hash,
    version: Version,
}

/// Rows copied from the old index: a query, and the statement that inserts its rows. For data about
/// a tool, the first column is the tool's identifier.
const COPIED_ROWS: [(&str, &str); 14] = [
    ("SELECT id, status FROM tool", "UPDATE tool SET status = ?2 WHERE id = ?1"),
    (
        "SELECT id, confidence, runs, successes, last_used_at FROM tool",
        "UPDATE tool SET confidence = ?2, runs = ?3, successes = ?4, last_used_at = ?5 WHERE id = ?1",
    ),
    (
        "SELECT id, code, count FROM failure JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO failure SELECT num, ?2, ?3 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT id, what, bucket, count FROM cost JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO cost SELECT num, ?2, ?3, ?4 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT id, micros, saved, in_row FROM ledger JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO ledger SELECT num, ?2, ?3, ?4 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT id, day, daily_usage.runs, failures, fuel, max_fuel, micros, saved FROM daily_usage JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO daily_usage SELECT ?2, num, ?3, ?4, ?5, ?6, ?7, ?8 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT id, day, micros FROM daily_time_saved JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO daily_time_saved SELECT ?2, num, ?3 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT id, successor FROM successor JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO successor SELECT num, ?2 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT tool, hash, kind, at, body, run FROM record ORDER BY num",
        "INSERT OR IGNORE INTO record (tool, hash, kind, at, body, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    (
        "SELECT space, key, value, version, until FROM pair",
        // Greater versions are damage; see `MAX_VERSION`.
        "INSERT OR IGNORE INTO pair (space, key, value, version, until) SELECT ?1, ?2, ?3, ?4, ?5 \
         WHERE json_valid(?3) AND ?4 < 0x10000000000000",
    ),
    (
        "SELECT change, after, line FROM outbox ORDER BY num",
        "INSERT OR IGNORE INTO outbox (change, after, line) VALUES (?1, ?2, ?3)",
    ),
    ("SELECT one, seq, hash FROM log_head", "INSERT OR IGNORE INTO log_head (one, seq, hash) VALUES (?1, ?2, ?3)"),
    (
        "SELECT what, at FROM mark WHERE what = 'version'",
        "INSERT OR IGNORE INTO mark (what, at) SELECT ?1, ?2 WHERE ?2 < 0x10000000000000",
    ),
    ("SELECT kind, name, source FROM label", "INSERT OR IGNORE INTO label (kind, name, source) VALUES (?1, ?2, ?3)"),
];
/// Rows that are also copied from an intact index.
const COPIED_IF_INTACT: [(&str, &str); 7] = [
    (
        "SELECT tool, grants, form, granted, by, at FROM approval",
        "INSERT OR IGNORE INTO approval (tool, grants, form, granted, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    (
        "SELECT tool, grants, form, by, at FROM single_approval",
        "INSERT OR IGNORE INTO single_approval (tool, grants, form, by, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    ),
    (
        "SELECT run, tool, caller, at, bound, blob FROM sleeping",
        "INSERT OR IGNORE INTO sleeping (run, tool, caller, at, bound, blob) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    ("SELECT token, until FROM spent", "INSERT OR IGNORE INTO spent (token, until) VALUES (?1, ?2)"),
    (
        "SELECT server, tool, digest, form, by, at FROM server_tool",
        "INSERT OR IGNORE INTO server_tool (server, tool, digest, form, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    (
        "SELECT one, library, node, secret, seen, count, last FROM replica",
        "INSERT OR IGNORE INTO replica (one, library, node, secret, seen, count, last) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    ),
    (
        "SELECT what, at FROM mark WHERE what = 'forgotten' OR what GLOB 'ended *' OR what GLOB 'moved *' \
         OR what GLOB 'head *' OR what GLOB 'cut *'",
        "INSERT OR IGNORE INTO mark (what, at) VALUES (?1, ?2)",
    ),
];

/// Rows that are also copied from a damaged index: refusals, and the row that makes a store a copy. The first query reads refusals
/// completely. If the texts of a refusal cannot be read, the second copies it without them, so that a damaged
/// text does not let a tool run.
const COPIED_IF_DAMAGED: [(&str, &str); 3] = [
    (
        "SELECT tool, grants, form, by, at FROM approval WHERE granted = 0",
        "INSERT OR IGNORE INTO approval (tool, grants, form, granted, by, at) SELECT ?1, ?2, ?3, 0, ?4, ?5 \
         WHERE length(?1) = 32 AND length(?2) = 32 AND json_valid(?3) AND ?5 BETWEEN 0 AND 253402207200000",
    ),
    (
        "SELECT tool, grants FROM approval WHERE granted = 0",
        "INSERT OR IGNORE INTO approval (tool, grants, form, granted, by, at) SELECT ?1, ?2, 'null', 0, 'repair', 0 \
         WHERE length(?1) = 32 AND NOT EXISTS (SELECT 1 FROM approval WHERE tool = ?1 AND granted = 0)",
    ),
    // A copy does not become a store of its own, if this row can still be read.
    (
        "SELECT one, library, node, secret, seen, count FROM replica",
        "INSERT OR IGNORE INTO replica (one, library, node, secret, seen, count, last) VALUES (?1, ?2, ?3, ?4, ?5, ?6, zeroblob(32))",
    ),
];

/// What nodes agree on, each row as a text.
const SHARED_ROWS: [&str; 10] = [
    "SELECT folded || ' ' || number || ' ' || hex(hash) FROM version ORDER BY folded, number",
    "SELECT hex(id) || ' ' || current || ' ' || status FROM tool ORDER BY id",
    "SELECT hex(tool) || hex(grants) || ' ' || granted FROM approval ORDER BY tool, grants",
    "SELECT hex(tool) || hex(grants) FROM single_approval ORDER BY tool, grants",
    "SELECT hex(run) || ' ' || hex(blob) FROM sleeping ORDER BY run",
    "SELECT hex(token) || ' ' || until FROM spent ORDER BY token",
    "SELECT json_array(space, key, value, version, until) FROM pair ORDER BY space, key",
    "SELECT json_array(server, tool, hex(digest)) FROM server_tool ORDER BY server, tool",
    "SELECT json_array(kind, name, source) FROM label ORDER BY kind, name, source",
    "SELECT what || ' ' || at FROM mark WHERE what IN ('version', 'forgotten') OR what GLOB 'ended *' OR what GLOB 'head *' \
     OR what GLOB 'cut *' ORDER BY what",
];

/// Rebuilds the index and marks the index problems found so far as repaired.
pub(crate) fn rebuild_index(
    directory: &Directory,
    objects: &Objects,
    old: PreviousIndex,
    health: &mut FsckReport,
) -> Result<(), OpenError> {
    if !directory.lock_exclusive()? {
        return Err(OpenError::InUse { path: directory.path().display().to_string() });
    }
    let made = build(directory, objects, old);
    directory.lock_shared()?;
    let mended = made?.localize();
    health.problems.iter_mut().filter(|problem| problem.mended.is_none() && problem.is_index_problem).for_each(
        |problem| {
            problem.mended = Some(mended.clone());
        },
    );
    Ok(())
}

/// The result of a rebuild.
struct RebuiltIndex {
    versions: usize,
    /// The refusals in the new index; `None` if the old index was intact.
    refusals: Option<CopiedRefusals>,
}

/// The refusals copied from a damaged index and from the audit log.
struct CopiedRefusals {
    count: u64,
    /// Whether the audit log is complete. Which rows a damaged index lost is not known.
    is_complete: bool,
}

impl Localize for RebuiltIndex {
    fn localize(&self) -> Message {
        let versions = self.versions;
        match self.refusals {
            None => message!("the index was rebuilt from {versions} versions", versions),
            Some(CopiedRefusals { count: 1, is_complete: true }) => message!(
                "the index was rebuilt from {versions} versions, without approvals; 1 refusal was kept",
                versions
            ),
            Some(CopiedRefusals { count, is_complete: true }) => message!(
                "the index was rebuilt from {versions} versions, without approvals; {count} refusals were kept",
                versions,
                count
            ),
            Some(CopiedRefusals { count, is_complete: false }) => message!(
                "the index was rebuilt from {versions} versions, without approvals; the audit log is incomplete, so not \
                 all refusals could be read ({count} were); refuse again the tools that must not run: \
                 `toolcell approvals refuse TOOL`",
                versions,
                count
            ),
        }
    }
}

fn build(directory: &Directory, objects: &Objects, old: PreviousIndex) -> Result<RebuiltIndex, Fault> {
    let root = directory.root();
    let old_path = directory.path().join(INDEX_FILE);
    let mut options = private_options();
    root.open_with(REBUILD_MARKER, options.create(true).write(true))
        .and_then(|file| file.sync_all())
        .map_err(Fault::disk(REBUILD_MARKER))?;
    remove(directory, NEW_INDEX)?;
    let old_index = match connect_read_only(&old_path) {
        Ok(old_index) => Some(old_index),
        Err(error) if old == PreviousIndex::Intact || is_read_error(&error) => return Err(error.into()),
        Err(_) => None,
    };
    if let Some(old_index) = &old_index {
        write_unsynced_objects(old_index, old, objects)?;
    }
    let histories = read_histories(objects)?;
    let mut new_index = create_at(directory, NEW_INDEX)?;
    let transaction = new_index.transaction()?;
    let mut versions = 0;
    for OrderedVersion { folded, number, hash, version } in order_by_time(histories) {
        apply_version(&transaction, &folded, number, hash, &version)?;
        versions += 1;
    }
    if let Some(old_index) = &old_index {
        let besides = if old == PreviousIndex::Intact { &COPIED_IF_INTACT[..] } else { &COPIED_IF_DAMAGED[..] };
        for columns in COPIED_ROWS.iter().chain(besides) {
            match copy_rows(old_index, old, &transaction, columns) {
                // A failing disk is no reason to drop people's decisions.
                Err(error) if old == PreviousIndex::Intact || is_read_error(&error) => return Err(error.into()),
                // Unreadable rows are lost; the rest is copied.
                Err(_) | Ok(()) => {}
            }
        }
    }
    let refusals = if old == PreviousIndex::Damaged {
        let logged = Refusals::read(directory)?;
        logged.add_to(&transaction)?;
        let count = refusals::count(&transaction)?;
        Some(CopiedRefusals { count, is_complete: logged.is_complete })
    } else {
        None
    };
    kv::recount(&transaction, old)?;
    if old == PreviousIndex::Damaged || old_index.as_ref().and_then(shared_digest) != shared_digest(&transaction) {
        replica::mark_diverged(&transaction)?;
    }
    transaction.commit()?;
    drop(old_index);
    new_index.close().map_err(|(_, error)| Fault::from(error))?;
    if old == PreviousIndex::Damaged {
        store_key::quarantine_key(directory)?;
    }
    install(directory)?;
    Ok(RebuiltIndex { versions, refusals })
}

/// A digest of what nodes agree on; `None` if it cannot be read.
fn shared_digest(index: &Connection) -> Option<Hash> {
    let mut hasher = blake3::Hasher::new();
    for sql in SHARED_ROWS {
        let mut statement = index.prepare(sql).ok()?;
        let mut rows = statement.query([]).ok()?;
        while let Some(row) = rows.next().ok()? {
            // Each row is one text.
            let text: String = row.get(0).ok()?;
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        hasher.update(&u64::MAX.to_le_bytes());
    }
    Some(hasher.finalize())
}

/// Whether the disk could not be read, which does not mean that its content is damaged.
fn is_read_error(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure)
}

/// Restores an index that an interrupted rebuild had moved to the quarantine, with its write-ahead
/// log, so that none of its data is lost. A new index that is already in place stays.
pub(crate) fn restore_previous(directory: &Directory) -> Result<(), OpenError> {
    let root = directory.root();
    if root.symlink_metadata(REBUILD_MARKER).is_err() {
        return Ok(());
    }
    if !directory.lock_exclusive()? {
        return Err(OpenError::InUse { path: directory.path().display().to_string() });
    }
    let quarantine = directory.open_folder("quarantine")?;
    let free = free_number(directory)?;
    // The database file itself is moved last, so that its number is free until then.
    let (number, endings) = match root.symlink_metadata(INDEX_FILE) {
        Ok(_) => (free, &["-shm", "-wal"][..]),
        Err(_) => (free - 1, &["-shm", "-wal", ""][..]),
    };
    let put_back = endings.iter().try_for_each(|ending| {
        match quarantine.rename(format!("{}{ending}", quarantined_name(number)), root, format!("{INDEX_FILE}{ending}"))
        {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    });
    directory.lock_shared()?;
    put_back.map_err(Fault::disk(INDEX_FILE))?;
    Ok(())
}

/// The name of an old index in the quarantine.
fn quarantined_name(number: u32) -> String {
    format!("index.{number}.sqlite")
}

/// The first number from 1 that no index in the quarantine has.
fn free_number(directory: &Directory) -> Result<u32, Fault> {
    let quarantine = directory.open_folder("quarantine")?;
    let free = |number: &u32| quarantine.symlink_metadata(quarantined_name(*number)).is_err();
    Ok((1..u32::MAX).find(free).unwrap_or(u32::MAX))
}

/// Replaces the old index by the new one.
fn install(directory: &Directory) -> Result<(), Fault> {
    let root = directory.root();
    let quarantine = directory.open_folder("quarantine")?;
    let kept = quarantined_name(free_number(directory)?);
    // A write-ahead log left behind would be applied to the new index, so it is moved first.
    for ending in ["-wal", "-shm", ""] {
        let name = format!("{INDEX_FILE}{ending}");
        match root.rename(&name, &quarantine, format!("{kept}{ending}")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Fault::disk(name)(error)),
            _ => {}
        }
    }
    root.rename(NEW_INDEX, root, INDEX_FILE).map_err(Fault::disk(INDEX_FILE))?;
    let synced = root.open(".").and_then(|dir| dir.sync_all());
    synced.map_err(Fault::disk("."))?;
    remove(directory, REBUILD_MARKER)
}

fn remove(directory: &Directory, name: &str) -> Result<(), Fault> {
    match directory.root().remove_file(name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::disk(name)(error)),
        _ => Ok(()),
    }
}

/// Writes the objects whose only durable copy is in the old index.
fn write_unsynced_objects(old: &Connection, whether: PreviousIndex, objects: &Objects) -> Result<(), Fault> {
    let kept = || -> rusqlite::Result<()> {
        let mut statement = old.prepare("SELECT hash, bytes FROM unsynced")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (Ok(hash), Ok(bytes)) = (row.get(0).map(Hash::from_bytes), row.get::<_, Vec<u8>>(1)) else { continue };
            if blake3::hash(&bytes) == hash && !matches!(objects.read_verified(hash), Ok(ObjectState::Intact(_))) {
                // If it cannot be written, the check reports the tool as lost.
                let _ = objects.write(hash, &bytes);
            }
        }
        Ok(())
    };
    match kept() {
        Err(error) if whether == PreviousIndex::Intact || is_read_error(&error) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Reads all versions, by folded name.
fn read_histories(objects: &Objects) -> Result<Histories, Fault> {
    let mut histories = Histories::new();
    objects.for_each(&mut |name| {
        let ObjectName::Hash(hash) = name else { return Ok(()) };
        let ObjectState::Intact(bytes) = objects.examine(hash)? else { return Ok(()) };
        if let Some((folded, version)) = Version::from_bytes(&bytes).ok().and_then(with_folded_name) {
            histories.entry(folded).or_default().push((hash, version));
        }
        Ok(())
    })?;
    Ok(histories)
}

/// A version with its folded name, if its name and its source hash are valid.
fn with_folded_name(version: Version) -> Option<(String, Version)> {
    let name = toolcell_tool::ToolName::parse(&version.name).ok()?;
    version.code_hash().ok()?;
    Some((name.case_folded(), version))
}

/// All versions in the order of their commits. A clock that went back never moves a version before
/// its predecessor.
fn order_by_time(histories: Histories) -> Vec<OrderedVersion> {
    let mut steps = Vec::new();
    for (folded, history) in histories {
        let mut latest = Timestamp::MIN;
        for (number, (hash, version)) in (1..).zip(order_by_link(history)) {
            latest = latest.max(version.at);
            steps.push((latest, OrderedVersion { folded: folded.clone(), number, hash, version }));
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
}

/// The versions of a name, each after its predecessor. If two follow the same one, because a
/// process died before its commit, the earlier comes first; if the predecessor is lost, time
/// decides.
fn order_by_link(mut steps: Vec<(Hash, Version)>) -> Vec<(Hash, Version)> {
    steps.sort_by(|(one_hash, one), (other_hash, other)| {
        (one.at, one_hash.as_bytes()).cmp(&(other.at, other_hash.as_bytes()))
    });
    let known: Vec<Hash> = steps.iter().map(|(hash, _)| *hash).collect();
    let mut following: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, (_, version)) in steps.iter().enumerate() {
        let previous = version.previous_hash().ok().flatten();
        let before = previous.and_then(|previous| known.iter().position(|hash| *hash == previous));
        following.entry(before).or_default().push(at);
    }
    // A hash cannot be part of its own input, so there are no cycles, and every version is reached.
    let mut order = Vec::new();
    let mut open: Vec<usize> = following.get(&None).into_iter().flatten().rev().copied().collect();
    while let Some(at) = open.pop() {
        order.push(at);
        open.extend(following.get(&Some(at)).into_iter().flatten().rev());
    }
    let mut steps: Vec<Option<(Hash, Version)>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| steps[at].take()).collect()
}

/// Copies readable rows. Rows of a damaged index with invalid UTF-8 are skipped.
fn copy_rows(
    old: &Connection,
    whether: PreviousIndex,
    new: &Connection,
    (from, to): &(&str, &str),
) -> rusqlite::Result<()> {
    let mut reading = old.prepare(from)?;
    let columns = reading.column_count();
    let mut writing = new.prepare(to)?;
    let mut rows = reading.query([])?;
    let values = |row: &Row<'_>| {
        (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<rusqlite::types::Value>>>()
    };
    while let Some(row) = rows.next()? {
        let values = match values(row) {
            Err(rusqlite::Error::FromSqlConversionFailure(..)) if whether == PreviousIndex::Damaged => continue,
            values => values?,
        };
        // A row that the new tables reject is damage.
        let _ = writing.execute(params_from_iter(values));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrations::create_tables;
    use crate::version::{Scores, VersionEvent};
    use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};

    /// Checks the order of a history. Each version is a letter, with the letter of its predecessor
    /// and its time.
    fn check(steps: &[(&str, Option<&str>, i64)], expect: &str) {
        let draft = Draft::from_bytes("t.ts", b"x").unwrap();
        let spec = |text: &str| {
            let source = Draft::from_bytes(draft.name(), text.as_bytes()).unwrap();
            let name = ToolName::parse("t").unwrap();
            ToolSpec::new(name, &source, serde_json::Value::Null, serde_json::Value::Null).unwrap()
        };
        let hash = |letter: &str| blake3::hash(letter.as_bytes());
        let scores = Scores { safety: 1.0, quality: 1.0 };
        let made = |(letter, before, at): &(&str, Option<&str>, i64)| {
            let at = Timestamp::from_second(*at).unwrap();
            let notes = ToolMetadata::new(*letter).unwrap();
            let version = Version::new(VersionEvent::Created, at, before.map(hash), &spec(letter), &notes, scores);
            (hash(letter), version)
        };
        let actual: String = order_by_link(steps.iter().map(made).collect())
            .into_iter()
            .map(|(_, version)| version.description)
            .collect();
        assert_eq!(actual, expect);
    }

    #[test]
    fn what_is_copied_fits_the_schema() {
        let index = Connection::open_in_memory().unwrap();
        create_tables(&index).unwrap();
        for (query, insertion) in COPIED_ROWS.iter().chain(&COPIED_IF_INTACT) {
            let columns = index.prepare(query).unwrap().column_count();
            assert_eq!(index.prepare(insertion).unwrap().parameter_count(), columns, "{insertion}");
        }
    }

    #[test]
    fn steps_follow_one_another_whatever_their_clocks_said() {
        check(&[("c", Some("b"), 1), ("a", None, 9), ("b", Some("a"), 5)], "abc");
        check(&[("a", None, 1)], "a");
    }

    #[test]
    fn of_two_that_follow_the_same_one_the_later_is_last() {
        check(&[("a", None, 1), ("b", Some("a"), 3), ("x", Some("a"), 2), ("c", Some("b"), 2)], "axbc");
    }

    #[test]
    fn steps_after_a_gap_stay() {
        check(&[("a", None, 1), ("c", Some("lost"), 3), ("d", Some("c"), 4)], "acd");
    }
}
