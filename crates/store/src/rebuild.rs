//! Making the index anew from the objects.
//!
//! Invariant: nobody else has the store open meanwhile, the old index stays in the quarantine, and a rebuilding that was
//! broken off is known by a mark: until one is finished, the store does not open. Whoever finishes it puts the old index back
//! first, so nothing is lost wherever it was broken off; and where the disk fails to read, the rebuilding stops.
//!
//! What objects do not say is taken over from the old index, as far as it can be read. From one that is damaged no
//! approvals are: a flipped bit must not let anything run. Refusals are, since they only keep tools from running: those of the old
//! index, and those that the audit log tells of. For the same reason the secret goes, and with it whatever was made with it: a token
//! that was spent must not be good again, and a run that is asleep cannot be opened any more.

use std::collections::BTreeMap;
use std::fmt;

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params_from_iter};

use crate::directory::{Directory, OpenError, private};
use crate::error::Fault;
use crate::fsck::Health;
use crate::index::{self, FILE};
use crate::objects::{Found, Name, Objects};
use crate::refusals::{self, Refusals};
use crate::secret;
use crate::spaces;
use crate::step::apply;
use crate::version::Version;

/// The mark of a rebuilding that is not finished.
pub(crate) const MARK: &str = "rebuilding";
/// Where the new index grows.
const NEW: &str = "tmp/index.sqlite";

/// The steps of each name, by its folded form.
type Histories = BTreeMap<String, Vec<(Hash, Version)>>;

/// A step in the history of a name.
struct Step {
    folded: String,
    number: u64,
    hash: Hash,
    version: Version,
}

/// What is taken over from the old index: columns that are read from it, and where they go. Where it is about a tool,
/// the first one is its identifier.
const TAKEN_OVER: [(&str, &str); 11] = [
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
        "SELECT id, successor FROM successor JOIN tool ON num = tool",
        "INSERT OR IGNORE INTO successor SELECT num, ?2 FROM tool WHERE id = ?1",
    ),
    (
        "SELECT tool, hash, kind, at, body, run FROM record ORDER BY num",
        "INSERT OR IGNORE INTO record (tool, hash, kind, at, body, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    (
        "SELECT space, key, value, version, until FROM pair",
        // No store gets as far as this version.
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
];
/// What is taken over from one that is whole, besides.
const WHERE_WHOLE: [(&str, &str); 4] = [
    (
        "SELECT tool, grants, form, granted, by, at FROM approval",
        "INSERT OR IGNORE INTO approval (tool, grants, form, granted, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    (
        "SELECT run, tool, caller, at, bound, blob FROM sleeping",
        "INSERT OR IGNORE INTO sleeping (run, tool, caller, at, bound, blob) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    ),
    ("SELECT token, until FROM spent", "INSERT OR IGNORE INTO spent (token, until) VALUES (?1, ?2)"),
    ("SELECT what, at FROM mark WHERE what = 'forgotten'", "INSERT OR IGNORE INTO mark (what, at) VALUES (?1, ?2)"),
];

/// Rows that are also copied from a damaged index: refusals. The first reads all of them. Where the texts of a refusal cannot be
/// read, it is copied without them, so that a damaged text lets no tool run.
const WHERE_DAMAGED: [(&str, &str); 2] = [
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
];

/// Whether an index can be trusted with what only it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// SQLite finds nothing wrong with it.
    Whole,
    /// SQLite does, or it is not there.
    Damaged,
}

/// Makes the index anew, and says so with each of the problems that were found so far.
pub(crate) fn index(directory: &Directory, objects: &Objects, old: Old, health: &mut Health) -> Result<(), OpenError> {
    if !directory.exclude_others()? {
        return Err(OpenError::InUse { path: directory.path().display().to_string() });
    }
    let made = make(directory, objects, old);
    directory.admit_others()?;
    let mended = made?.to_string();
    health.problems.iter_mut().filter(|problem| problem.mended.is_none() && problem.of_index).for_each(|problem| {
        problem.mended = Some(mended.clone());
    });
    Ok(())
}

/// A new index.
struct Made {
    versions: usize,
    /// The refusals in it; nothing where the old index was whole.
    refusals: Option<TakenRefusals>,
}

/// Refusals that were taken over from a damaged index and from the audit log.
struct TakenRefusals {
    count: u64,
    /// Whether the log has all of them. Of a damaged index it is not known which rows are gone.
    are_all: bool,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the index was made anew from {} versions", self.versions)?;
        match &self.refusals {
            None => Ok(()),
            Some(TakenRefusals { count, are_all: true }) => {
                let were = if *count == 1 { "refusal was" } else { "refusals were" };
                write!(f, ", without approvals; {count} {were} taken over")
            }
            Some(TakenRefusals { count, are_all: false }) => write!(
                f,
                ", without approvals, and not all refusals could be read ({count} of them were): the audit log is not whole; \
                 refuse again what must not run, `toolcell approvals refuse TOOL`"
            ),
        }
    }
}

fn make(directory: &Directory, objects: &Objects, old: Old) -> Result<Made, Fault> {
    let root = directory.root();
    let old_path = directory.path().join(FILE);
    let mut options = private();
    root.open_with(MARK, options.create(true).write(true))
        .and_then(|file| file.sync_all())
        .map_err(Fault::disk(MARK))?;
    remove(directory, NEW)?;
    let old_index = match index::connect_to_read(&old_path) {
        Ok(old_index) => Some(old_index),
        Err(error) if old == Old::Whole || is_read_error(&error) => return Err(error.into()),
        Err(_) => None,
    };
    if let Some(old_index) = &old_index {
        keep_unsynced(old_index, old, objects)?;
    }
    let histories = histories(objects)?;
    let mut new_index = index::make_at(directory, NEW)?;
    let transaction = new_index.transaction()?;
    let mut versions = 0;
    for Step { folded, number, hash, version } in in_order_of_arrival(histories) {
        apply(&transaction, &folded, number, hash, &version)?;
        versions += 1;
    }
    if let Some(old_index) = &old_index {
        let besides = if old == Old::Whole { &WHERE_WHOLE[..] } else { &WHERE_DAMAGED[..] };
        for columns in TAKEN_OVER.iter().chain(besides) {
            match take_over(old_index, old, &transaction, columns) {
                // A disk that fails is no reason to forget what people said.
                Err(error) if old == Old::Whole || is_read_error(&error) => return Err(error.into()),
                // What cannot be read is what was lost; the rest is not.
                Err(_) | Ok(()) => {}
            }
        }
    }
    let refusals = if old == Old::Damaged {
        let logged = Refusals::read(directory)?;
        logged.add_to(&transaction)?;
        let count = refusals::count(&transaction)?;
        Some(TakenRefusals { count, are_all: logged.is_complete })
    } else {
        None
    };
    spaces::recount(&transaction, old)?;
    transaction.commit()?;
    drop(old_index);
    new_index.close().map_err(|(_, error)| Fault::from(error))?;
    if old == Old::Damaged {
        secret::put_aside(directory)?;
    }
    replace(directory)?;
    Ok(Made { versions, refusals })
}

/// Whether the disk could not be read, which is not to say that what is on it is damaged.
fn is_read_error(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure)
}

/// Puts an index back that a repair had put aside when it was broken off, with what was in its log: nothing that it says is
/// lost. A new one that is in its place already stays there.
pub(crate) fn roll_back(directory: &Directory) -> Result<(), OpenError> {
    let root = directory.root();
    if root.symlink_metadata(MARK).is_err() {
        return Ok(());
    }
    if !directory.exclude_others()? {
        return Err(OpenError::InUse { path: directory.path().display().to_string() });
    }
    let quarantine = directory.folder("quarantine")?;
    let free = free_number(directory)?;
    // The index itself is put aside last, so that its number is free until then.
    let (number, endings) = match root.symlink_metadata(FILE) {
        Ok(_) => (free, &["-shm", "-wal"][..]),
        Err(_) => (free - 1, &["-shm", "-wal", ""][..]),
    };
    let put_back = endings.iter().try_for_each(|ending| {
        match quarantine.rename(format!("{}{ending}", kept_index(number)), root, format!("{FILE}{ending}")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    });
    directory.admit_others()?;
    put_back.map_err(Fault::disk(FILE))?;
    Ok(())
}

/// What an index is called in the quarantine.
fn kept_index(number: u32) -> String {
    format!("index.{number}.sqlite")
}

/// The first number from 1 that no index in the quarantine has.
fn free_number(directory: &Directory) -> Result<u32, Fault> {
    let quarantine = directory.folder("quarantine")?;
    let free = |number: &u32| quarantine.symlink_metadata(kept_index(*number)).is_err();
    Ok((1..u32::MAX).find(free).unwrap_or(u32::MAX))
}

/// Puts the new index in the place of the old one.
fn replace(directory: &Directory) -> Result<(), Fault> {
    let root = directory.root();
    let quarantine = directory.folder("quarantine")?;
    let kept = kept_index(free_number(directory)?);
    // A log that is left behind would be played into the new index: it goes first.
    for ending in ["-wal", "-shm", ""] {
        let name = format!("{FILE}{ending}");
        match root.rename(&name, &quarantine, format!("{kept}{ending}")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Fault::disk(name)(error)),
            _ => {}
        }
    }
    root.rename(NEW, root, FILE).map_err(Fault::disk(FILE))?;
    let synced = root.open(".").and_then(|dir| dir.sync_all());
    synced.map_err(Fault::disk("."))?;
    remove(directory, MARK)
}

fn remove(directory: &Directory, name: &str) -> Result<(), Fault> {
    match directory.root().remove_file(name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::disk(name)(error)),
        _ => Ok(()),
    }
}

/// Writes the objects that only the old index kept safe.
fn keep_unsynced(old: &Connection, whether: Old, objects: &Objects) -> Result<(), Fault> {
    let kept = || -> rusqlite::Result<()> {
        let mut statement = old.prepare("SELECT hash, bytes FROM unsynced")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (Ok(hash), Ok(bytes)) = (row.get(0).map(Hash::from_bytes), row.get::<_, Vec<u8>>(1)) else { continue };
            if blake3::hash(&bytes) == hash && !matches!(objects.look(hash), Ok(Found::Whole(_))) {
                // Where it cannot be written, the tool is found to be lost.
                let _ = objects.write(hash, &bytes);
            }
        }
        Ok(())
    };
    match kept() {
        Err(error) if whether == Old::Whole || is_read_error(&error) => Err(error.into()),
        _ => Ok(()),
    }
}

/// All versions, by name.
fn histories(objects: &Objects) -> Result<Histories, Fault> {
    let mut histories = Histories::new();
    objects.each(&mut |name| {
        let Name::Hash(hash) = name else { return Ok(()) };
        let Found::Whole(bytes) = objects.examine(hash)? else { return Ok(()) };
        if let Some((folded, version)) = Version::from_bytes(&bytes).ok().and_then(named) {
            histories.entry(folded).or_default().push((hash, version));
        }
        Ok(())
    })?;
    Ok(histories)
}

/// A version under its folded name, if it has a name and a source.
fn named(version: Version) -> Option<(String, Version)> {
    let name = toolcell_tool::ToolName::parse(&version.name).ok()?;
    version.code_hash().ok()?;
    Some((name.folded(), version))
}

/// The steps of all names, as they were taken. A clock that went back moves no step before one that it follows.
fn in_order_of_arrival(histories: Histories) -> Vec<Step> {
    let mut steps = Vec::new();
    for (folded, history) in histories {
        let mut latest = Timestamp::MIN;
        for (number, (hash, version)) in (1..).zip(in_order(history)) {
            latest = latest.max(version.at);
            steps.push((latest, Step { folded: folded.clone(), number, hash, version }));
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
}

/// The steps of a name, each after the one that it follows. Where two follow the same one, because a process died before
/// its step counted, the earlier comes first; where the one before is lost, time decides.
fn in_order(mut steps: Vec<(Hash, Version)>) -> Vec<(Hash, Version)> {
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
    // A hash cannot be among what it was made of, so there are no circles and every step is reached.
    let mut order = Vec::new();
    let mut open: Vec<usize> = following.get(&None).into_iter().flatten().rev().copied().collect();
    while let Some(at) = open.pop() {
        order.push(at);
        open.extend(following.get(&Some(at)).into_iter().flatten().rev());
    }
    let mut steps: Vec<Option<(Hash, Version)>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| steps[at].take()).collect()
}

/// Copies the rows that can be read. Rows of a damaged index whose texts are not UTF-8 are skipped.
fn take_over(old: &Connection, whether: Old, new: &Connection, (from, to): &(&str, &str)) -> rusqlite::Result<()> {
    let mut reading = old.prepare(from)?;
    let columns = reading.column_count();
    let mut writing = new.prepare(to)?;
    let mut rows = reading.query([])?;
    let values = |row: &Row<'_>| {
        (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<rusqlite::types::Value>>>()
    };
    while let Some(row) = rows.next()? {
        let values = match values(row) {
            Err(rusqlite::Error::FromSqlConversionFailure(..)) if whether == Old::Damaged => continue,
            values => values?,
        };
        // A row that the new tables refuse is damage.
        let _ = writing.execute(params_from_iter(values));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::{Event, Scores};
    use toolcell_tool::{Draft, Notes, ToolName, ToolSpec};

    /// A history, in any order: each step is a letter, the letter of the one before it, and its time.
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
            let notes = Notes::new(*letter).unwrap();
            let version = Version::new(Event::Created, at, before.map(hash), &spec(letter), &notes, scores);
            (hash(letter), version)
        };
        let actual: String =
            in_order(steps.iter().map(made).collect()).into_iter().map(|(_, version)| version.description).collect();
        assert_eq!(actual, expect);
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
