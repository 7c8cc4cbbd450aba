//! The heads of the nodes' audit logs, as entries of the history of their library.
//!
//! Each node appends the head of its log now and then. The history is out of reach of a program that can only write the directory of a
//! node. So a log that is cut off or rewritten later contradicts what the other nodes hold, also if its own hash chain fits again (compare
//! the signed heads of transparency logs, RFC 6962). A log whose own chain does not fit is found by its verification.
//!
//! Invariant: the heads of a node form a chain. An entry names the head before it, but only if the log of the node still has that line. A
//! node that applies an entry which does not name the head that it holds notes that the log was cut.

use jiff::{Timestamp, ToSpan as _};
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::{Message, message};

use crate::audit::{Audit, Head};
use crate::db::Db;
use crate::db::replica::{Replica, node_of};
use crate::db::sql::read_time;
use crate::db::transaction::WriteError;
use crate::durability::Durability;
use crate::error::Fault;
use crate::replication::SharedError;
use crate::replication::change::Change;

/// The start of the names of marks: the last head of a node, and the last head that a log did not have any more. The rest of the name is
/// the node, the head and the machine. There is one of each for a node.
const HEAD: &str = "head ";
const CUT: &str = "cut ";
/// A node that published no head for so many days does not count any more.
const ACTIVE_DAYS: i64 = 1;

/// The heads of audit logs that nodes of a library have published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedHeads {
    /// The last head of this node.
    pub own: Option<Head>,
    /// The number of nodes that published a head during the last day.
    pub nodes: u32,
    /// The logs that were cut, in the order in which that was noticed.
    pub cut: Vec<CutLog>,
}

/// An audit log that was cut off or rewritten: it did not have a line any more that its node had published. The directory of a node that
/// was restored from a backup, or that two nodes have copies of, is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutLog {
    /// The copy of the library that the log belongs to.
    pub node: String,
    /// The machine that published the next head.
    pub host: String,
    /// The head that it had published.
    pub head: Head,
    /// When it published the next one.
    pub noticed_at: Timestamp,
}

/// Reads the heads that this store knows of.
pub(crate) fn read(db: &Db, now: Timestamp) -> Result<PublishedHeads, Fault> {
    db.index.read(|transaction| {
        let own = node_of(transaction)?.map(|node| read_head(transaction, &node)).transpose()?.flatten();
        let active = now.saturating_sub(ACTIVE_DAYS.saturating_mul(24).hours()).unwrap_or(Timestamp::MIN);
        let sql = "SELECT count(*) FROM mark WHERE what GLOB 'head *' AND at >= ?";
        let nodes = transaction.prepare_cached(sql)?.query_row([active.as_millisecond()], |row| row.get(0))?;
        let mut statement =
            transaction.prepare_cached("SELECT what, at FROM mark WHERE what GLOB 'cut *' ORDER BY at, what")?;
        let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, read_time(row, 1)?)))?;
        let mut cut = Vec::new();
        for found in found {
            let (what, noticed_at) = found?;
            let words: Vec<&str> = what[CUT.len()..].splitn(3, ' ').collect();
            if let [node, head, host] = words[..]
                && let Ok(head) = head.parse()
            {
                cut.push(CutLog { node: node.to_owned(), host: host.to_owned(), head, noticed_at });
            }
        }
        Ok(PublishedHeads { own, nodes, cut })
    })
}

/// Appends the head of this node's log to the history of the library, unless it was published before, and returns whether it was
/// appended. The lines up to it are made durable first. `host` is the name of the machine.
pub(crate) fn publish(db: &Db, host: &str, now: Timestamp) -> Result<bool, Fault> {
    let Replica::Node(node) = &db.replica else { return Ok(false) };
    let known = db.index.read(|transaction| read_head(transaction, node.id()))?;
    match db.audit.head()? {
        None if known.is_some() => return Err(Audit::lost_head()),
        None => return Ok(false),
        head if head == known => return Ok(false),
        Some(_) => {}
    }
    let Some(head) = db.audit.sync()? else { return Ok(false) };
    let previous = match known {
        Some(known) if db.audit.has_line(known)? => Some(known),
        _ => None,
    };
    let change = || Change::AuditHead {
        node: node.id().to_owned(),
        host: host.to_owned(),
        previous: previous.map(|head| head.to_string()),
        head: head.to_string(),
        at: now,
    };
    let published = db.replicate(
        Durability::Unsynced,
        |transaction| {
            // Another process of this node may have been faster.
            if read_head(transaction, node.id())? != known {
                return Ok(false);
            }
            add_head(transaction, (node.id(), host), previous, head, now)?;
            Ok(true)
        },
        |is_new| is_new.then(change),
    );
    published.map_err(|unwritten: WriteError<Fault>| unwritten.error)
}

/// Applies an entry with the head of a node on a machine.
pub(crate) fn apply(
    transaction: &Connection,
    source: (&str, &str),
    previous: Option<&str>,
    head: &str,
    at: Timestamp,
) -> Result<(), Fault> {
    add_head(transaction, source, previous.map(parse).transpose()?, parse(head)?, at)
}

/// Notes the head of a node in place of the last one, and if the log does not have that one any more, that it was cut.
fn add_head(
    transaction: &Connection,
    source: (&str, &str),
    previous: Option<Head>,
    head: Head,
    at: Timestamp,
) -> Result<(), Fault> {
    if let Some(known) = read_head(transaction, source.0)?
        && (previous != Some(known) || head.seq() <= known.seq())
    {
        write_mark(transaction, CUT, source, known, at)?;
    }
    Ok(write_mark(transaction, HEAD, source, head, at)?)
}

/// Writes a mark of a node in place of the one that there is.
fn write_mark(
    transaction: &Connection,
    kind: &str,
    (node, host): (&str, &str),
    head: Head,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let delete = "DELETE FROM mark WHERE what > ?1 || ?2 || ' ' AND what < ?1 || ?2 || '!'";
    transaction.prepare_cached(delete)?.execute((kind, node))?;
    let insert = "INSERT INTO mark (what, at) VALUES (? || ? || ' ' || ? || ' ' || ?, ?)";
    let row = (kind, node, head.to_string(), host, at.as_millisecond());
    transaction.prepare_cached(insert)?.execute(row).map(drop)
}

fn read_head(transaction: &Connection, node: &str) -> Result<Option<Head>, Fault> {
    let sql =
        "SELECT substr(what, length(?1 || ?2) + 2) FROM mark WHERE what > ?1 || ?2 || ' ' AND what < ?1 || ?2 || '!'";
    let mut statement = transaction.prepare_cached(sql)?;
    let found: Option<String> = statement.query_row([HEAD, node], |row| row.get(0)).optional()?;
    // A mark that is damaged is replaced by the next entry of the node.
    Ok(found.and_then(|rest| rest.split(' ').next()?.parse().ok()))
}

fn parse(head: &str) -> Result<Head, Fault> {
    head.parse().map_err(|error: crate::audit::HeadError| {
        let reason = Message::verbatim(error.to_string());
        SharedError::Invalid { reason: message!("a change of another node cannot be applied: {reason}", reason) }.into()
    })
}

#[cfg(test)]
mod tests;
