//! The check that the index agrees with the objects.
//!
//! Invariant: a flipped bit in any data that the index derives from objects is detected: every row
//! of a history is compared with its version, and the metadata of a tool with its newest version.
//! Data that only the index holds is checked by SQLite and the constraints of the tables.

use blake3::Hash;
use rusqlite::{Connection, Row};
use toolcell_i18n::{Message, message};
use toolcell_tool::ToolName;

use crate::db::PreviousIndex;
use crate::db::index::{INDEX_FILE, Index, has_expected_schema};
use crate::db::read_error::retried_read;
use crate::entry::{join_tags, score_to_stored};
use crate::error::Fault;
use crate::kv;
use crate::objects::{ObjectState, Objects};
use crate::version::{Version, VersionEvent};

use super::report::FsckReport;

/// Whether a line of SQLite's integrity check reports a page that could not be read. Only the text
/// of the line tells.
fn is_read_failure(line: &str) -> bool {
    line.split("error code=").skip(1).any(|rest| {
        let digits = rest.split(|char: char| !char.is_ascii_digit()).next().unwrap_or_default();
        digits.parse::<i32>().is_ok_and(|code| code & 0xff == rusqlite::ffi::SQLITE_IOERR)
    })
}

/// The file of the index, as the subject of a problem.
pub(crate) fn index_file() -> Message {
    Message::verbatim(INDEX_FILE.to_owned())
}

/// Whether SQLite finds the index intact, and whether the data derived from objects agrees with
/// them.
pub(crate) fn check_index(index: &Index, objects: &Objects, health: &mut FsckReport) -> Result<PreviousIndex, Fault> {
    index.read(|transaction| {
        let mut check = transaction.prepare("PRAGMA integrity_check(100)")?;
        let said: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        if said != ["ok"] {
            if let Some(fault) = index.read_fault() {
                return Err(fault);
            }
            if said.iter().any(|line| is_read_failure(line)) {
                return Err(Fault::disk(INDEX_FILE)(retried_read()));
            }
            for line in said {
                health.add_index_problem(index_file(), message!("is damaged: {reason}", reason = line));
            }
            return Ok(PreviousIndex::Damaged);
        }
        if !has_expected_schema(transaction)? {
            health.add_index_problem(index_file(), message!("is damaged: its schema is not that of a store"));
            return Ok(PreviousIndex::Damaged);
        }
        health.tools = transaction.query_row("SELECT count(*) FROM tool WHERE current = 1", [], |row| row.get(0))?;
        health.unsynced = transaction.query_row("SELECT count(*) FROM unsynced", [], |row| row.get(0))?;
        check_versions(transaction, objects, health)?;
        check_tools(transaction, health)?;
        kv::check_consistency(transaction, &mut |what, wrong| health.add_index_problem(what, wrong))?;
        Ok(PreviousIndex::Intact)
    })
}

/// Checks that every version in the index matches its object and follows an earlier version.
fn check_versions(transaction: &Connection, objects: &Objects, health: &mut FsckReport) -> Result<(), Fault> {
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
        // Lost and damaged objects are reported by the check of the objects.
        if let ObjectState::Intact(bytes) = objects.examine(hash)? {
            let agrees = match Version::from_bytes(&bytes) {
                Ok(version) => {
                    row_matches_version(row, hash, &version)? && has_known_predecessor(&version, &before.1, objects)
                }
                Err(_) => false,
            };
            if !agrees {
                let (name, number) = (row.get::<_, String>(7)?, row.get::<_, u64>(1)?);
                let what = message!("{name}, version {number}", name, number);
                health.add_index_problem(what, message!("the index does not match its object"));
            }
        }
        before.1.push(hash);
    }
    Ok(())
}

/// Whether a row of the index matches the version's object and, if this is the newest version of
/// the tool, whether the tool's metadata does too.
fn row_matches_version(row: &Row<'_>, hash: Hash, version: &Version) -> Result<bool, Fault> {
    let text = |column: usize| row.get_ref(column).map(|value| value.as_str().unwrap_or_default().to_owned());
    let bytes = |column: usize| row.get::<_, [u8; 32]>(column);
    let name = ToolName::parse(&version.name).map(|name| name.case_folded()).unwrap_or_default();
    let source = version.code_hash().map(|hash| *hash.as_bytes());
    let step = text(0)? == name
        && text(3)? == version.event.name()
        && row.get::<_, i64>(4)? == version.at.as_millisecond()
        && bytes(6)? == *version.tool.as_bytes()
        && text(7)? == version.name
        && text(8)? == name
        && Ok(bytes(14)?) == source;
    let (current, last): (bool, bool) = (row.get(9)?, row.get(16)?);
    let leads = !last || current == (version.event != VersionEvent::Deleted);
    let (safety, quality): (i64, i64) = (row.get(10)?, row.get(11)?);
    let said = bytes(13)? != *hash.as_bytes()
        || (safety == score_to_stored(version.safety)
            && quality == score_to_stored(version.quality)
            && text(12)? == join_tags(&version.tags)
            && text(15)? == version.description);
    Ok(step && leads && said)
}

/// Whether the predecessor of a version comes before it in the index, or its object is lost.
fn has_known_predecessor(version: &Version, before: &[Hash], objects: &Objects) -> bool {
    match version.previous_hash() {
        Ok(None) => true,
        Ok(Some(previous)) => before.contains(&previous) || !objects.exists(previous),
        Err(_) => false,
    }
}

/// Checks that the metadata of every tool comes from one of its versions.
fn check_tools(transaction: &Connection, health: &mut FsckReport) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM tool LEFT JOIN about ON about.tool = num WHERE NOT EXISTS \
               (SELECT 1 FROM version WHERE folded = tool.folded AND hash = about.version AND version.tool = num)";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let wrong = message!("its metadata in the index matches none of its versions");
        health.add_index_problem(Message::verbatim(row.get(0)?), wrong);
    }
    Ok(())
}
