//! What the tables of the index are, and how an index of an older format gets those of this one.
//!
//! Invariant: a format adds tables to those of the one before, and changes none. So an index that was upgraded has, to the
//! letter, the tables of one that was made new. It is upgraded in one transaction, by the first who may write it.

use rusqlite::{Connection, TransactionBehavior};

use crate::directory::FORMAT;
use crate::{generation, ledger, usage};

/// What each format adds; see these files.
const ADDED: [&str; FORMAT as usize] = [
    include_str!("schema.sql"),
    include_str!("schema.2.sql"),
    include_str!("schema.3.sql"),
    include_str!("schema.4.sql"),
    include_str!("schema.5.sql"),
];

/// Makes all tables, in an index that has none.
pub(crate) fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    ADDED.iter().try_for_each(|added| connection.execute_batch(added))
}

/// The format of an index; 0 where there is nothing in it.
pub(crate) fn format(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Adds the tables that are missing, unless somebody was faster, or the index is newer than we are.
pub(crate) fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = format(&transaction)?;
    if before >= FORMAT {
        return Ok(());
    }
    for added in ADDED.iter().skip(before as usize) {
        transaction.execute_batch(added)?;
    }
    if before < 2 {
        fill(&transaction)?;
    }
    if before < 3 {
        generation::begin(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

/// Fills the tables of format 2 with what is known: that nothing is said yet of how to find a tool, and how long runs took.
fn fill(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO terms (tool, way, words) SELECT num, '', '' FROM tool WHERE current = 1", [])?;
    for (tool, micros) in usage::estimated_times(connection)? {
        ledger::begin(connection, tool, micros)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
