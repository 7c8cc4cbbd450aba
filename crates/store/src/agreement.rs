//! Whether the index says what the objects say.
//!
//! Invariant: a bit that flips in what the index derives from objects is found: each step is compared with its version,
//! and what is said about a tool with the newest one. What only the index knows is checked by SQLite and its constraints.

use blake3::Hash;
use rusqlite::{Connection, Row};
use toolcell_tool::ToolName;

use crate::error::Fault;
use crate::fsck::Health;
use crate::index::{FILE, Index, has_our_tables};
use crate::objects::{Found, Objects};
use crate::rebuild::Old;
use crate::spaces;
use crate::store::{joined, stored};
use crate::version::{Event, Version};

/// Whether a line of SQLite's check is about a page that it could not read: the check has nothing but its text to say so.
fn is_failed_read(line: &str) -> bool {
    line.split("error code=").skip(1).any(|rest| {
        let digits = rest.split(|char: char| !char.is_ascii_digit()).next().unwrap_or_default();
        digits.parse::<i32>().is_ok_and(|code| code & 0xff == rusqlite::ffi::SQLITE_IOERR)
    })
}

/// Whether SQLite finds the index whole, and whether what it derives from objects agrees with them.
pub(crate) fn agreement(index: &Index, objects: &Objects, health: &mut Health) -> Result<Old, Fault> {
    index.read(|transaction| {
        let mut check = transaction.prepare("PRAGMA integrity_check(100)")?;
        let said: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        if said != ["ok"] {
            if let Some(fault) = index.read_fault() {
                return Err(fault);
            }
            if said.iter().any(|line| is_failed_read(line)) {
                let source = std::io::Error::other("a read failed, and did not when it was repeated");
                return Err(Fault::Disk { path: FILE.to_owned(), source });
            }
            for line in said {
                health.index_wrong(FILE, format!("is damaged: {line}"));
            }
            return Ok(Old::Damaged);
        }
        if !has_our_tables(transaction)? {
            health.index_wrong(FILE, "is damaged: its tables are not those of a store");
            return Ok(Old::Damaged);
        }
        health.tools = transaction.query_row("SELECT count(*) FROM tool WHERE current = 1", [], |row| row.get(0))?;
        health.unsynced = transaction.query_row("SELECT count(*) FROM unsynced", [], |row| row.get(0))?;
        versions_agree(transaction, objects, health)?;
        tools_agree(transaction, health)?;
        spaces::agree(transaction, health)?;
        Ok(Old::Whole)
    })
}

/// Each step that the index knows is as its object says, and follows one before it.
fn versions_agree(transaction: &Connection, objects: &Objects, health: &mut Health) -> Result<(), Fault> {
    let sql = "SELECT version.folded, number, version.hash, version.event, version.at, num, id, name, tool.folded, \
               current, safety, quality, tags, about.version, source, description, \
               number = (SELECT max(number) FROM version AS all_of WHERE all_of.folded = version.folded) \
               FROM version JOIN tool ON num = version.tool JOIN about ON about.tool = num \
               ORDER BY version.folded, number";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut before: (String, Vec<Hash>) = Default::default();
    while let Some(row) = rows.next()? {
        let (folded, hash): (String, Hash) = (row.get(0)?, Hash::from_bytes(row.get(2)?));
        if before.0 != folded {
            before = (folded, Vec::new());
        }
        // What is lost or damaged is told with the objects.
        if let Found::Whole(bytes) = objects.examine(hash)? {
            let agrees = match Version::from_bytes(&bytes) {
                Ok(version) => agrees(row, hash, &version)? && follows(&version, &before.1, objects),
                Err(_) => false,
            };
            if !agrees {
                let what = format!("{}, version {}", row.get::<_, String>(7)?, row.get::<_, u64>(1)?);
                health.index_wrong(what, "the index does not agree with its object");
            }
        }
        before.1.push(hash);
    }
    Ok(())
}

/// Whether a row of the index says what the object of the step says, and, where nothing was said about the tool since,
/// the same about the tool.
fn agrees(row: &Row<'_>, hash: Hash, version: &Version) -> Result<bool, Fault> {
    let text = |column: usize| row.get_ref(column).map(|value| value.as_str().unwrap_or_default().to_owned());
    let bytes = |column: usize| row.get::<_, [u8; 32]>(column);
    let name = ToolName::parse(&version.name).map(|name| name.folded()).unwrap_or_default();
    let source = version.code_hash().map(|hash| *hash.as_bytes());
    let step = text(0)? == name
        && text(3)? == version.event.name()
        && row.get::<_, i64>(4)? == version.at.as_millisecond()
        && bytes(6)? == *version.tool.as_bytes()
        && text(7)? == version.name
        && text(8)? == name
        && Ok(bytes(14)?) == source;
    let (current, last): (bool, bool) = (row.get(9)?, row.get(16)?);
    let leads = !last || current == (version.event != Event::Deleted);
    let (safety, quality): (i64, i64) = (row.get(10)?, row.get(11)?);
    let said = bytes(13)? != *hash.as_bytes()
        || (safety == stored(version.safety)
            && quality == stored(version.quality)
            && text(12)? == joined(&version.tags)
            && text(15)? == version.description);
    Ok(step && leads && said)
}

/// Whether the step before is one of those that the index has before it, or lost.
fn follows(version: &Version, before: &[Hash], objects: &Objects) -> bool {
    match version.previous_hash() {
        Ok(None) => true,
        Ok(Some(previous)) => before.contains(&previous) || !objects.has(previous),
        Err(_) => false,
    }
}

/// What the index says about each tool is from a step that is about it.
fn tools_agree(transaction: &Connection, health: &mut Health) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM tool LEFT JOIN about ON about.tool = num WHERE NOT EXISTS \
               (SELECT 1 FROM version WHERE folded = tool.folded AND hash = about.version AND version.tool = num)";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        health.index_wrong(row.get::<_, String>(0)?, "the index says what no version of it says");
    }
    Ok(())
}
