//! Detects changes of what a viewer shows: tools, decisions, pending approvals, suspended runs and runs.
//!
//! Invariant: reading a marker takes the same time for any number of tools and runs, so that it can be polled.

use std::fmt;

use rusqlite::Connection;

use crate::db::generation::Generation;
use crate::db::{Db, generation};
use crate::error::Fault;

/// The changes of a store.
pub struct Changes<'a> {
    db: &'a Db,
}

/// The state of a store at one moment. Two values are equal if nothing changed between them that a viewer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeMarker {
    tools: Generation,
    pending: (i64, i64),
    suspended: (i64, i64),
    newest_record: i64,
}

impl fmt::Display for ChangeMarker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, pending, suspended, newest_record } = self;
        write!(formatter, "{tools}.{}.{}.{}.{}.{newest_record}", pending.0, pending.1, suspended.0, suspended.1)
    }
}

impl<'a> Changes<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// The current state. Runs of another process count once that process has moved them into the index, within seconds.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn marker(&self) -> Result<ChangeMarker, Fault> {
        self.db.index.read(|transaction| {
            Ok::<_, Fault>(ChangeMarker {
                tools: generation::current(transaction)?,
                pending: count_and_newest(transaction, "approval WHERE granted IS NULL")?,
                suspended: count_and_newest(transaction, "sleeping")?,
                newest_record: transaction
                    .prepare_cached("SELECT coalesce(max(num), 0) FROM record")?
                    .query_row([], |row| row.get(0))?,
            })
        })
    }
}

fn count_and_newest(transaction: &Connection, rows: &str) -> rusqlite::Result<(i64, i64)> {
    let sql = format!("SELECT count(*), coalesce(max(at), 0) FROM {rows}");
    transaction.prepare_cached(&sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;
    use toolcell_tool::ToolId;

    use crate::{PLAN_KIND, Record, Settings, Store, SuspendedRow};

    #[test]
    fn a_marker_changes_with_what_is_shown_and_stays_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let (tool, at) = (ToolId::from_bytes([1; 32]), Timestamp::UNIX_EPOCH);
        let mut markers = vec![store.changes().marker().unwrap()];
        assert_eq!(store.changes().marker().unwrap(), markers[0]);
        let mut changed = || {
            let now = store.changes().marker().unwrap();
            assert!(!markers.contains(&now), "{now:?}");
            markers.push(now);
        };
        store.approvals().request(tool, &json!({}), "cli", at).unwrap();
        changed();
        let (run, caller, binding) = ("r_00c0ffee00c0ffee-1f".parse().unwrap(), "cli".to_owned(), "{}".to_owned());
        let row = SuspendedRow { run, tool, caller, suspended_at: at, binding, blob: Vec::new() };
        store.suspended().save(&row).unwrap();
        changed();
        let record = Record { kind: PLAN_KIND.to_owned(), tool: None, at, body: b"{}".to_vec() };
        store.runs().insert_record(&record).unwrap();
        changed();
        assert_eq!(store.changes().marker().unwrap(), *markers.last().unwrap());
    }
}
