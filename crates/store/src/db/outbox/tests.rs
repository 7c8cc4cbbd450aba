use super::*;
use crate::Settings;
use crate::audit::{Action, AuditFilter, AuditOrder};
use crate::store::Store;

/// The rendered line of a change, padded to this length with an unknown detail.
fn padded(store: &Store, change: &str, bytes: usize) -> String {
    let attempt = AuditEvent::new(Action::DeleteDynamicTool, Timestamp::UNIX_EPOCH);
    let line = store.db.audit.render(&attempt, Some(change)).unwrap();
    let (front, details) = line.split_once("\"details\":{").unwrap();
    let padding = "x".repeat(bytes - line.len() - "\"x\":\"\",".len());
    format!("{front}\"details\":{{\"x\":\"{padding}\",{details}")
}

#[test]
fn a_line_longer_than_those_of_the_log_is_not_appended() {
    const LINE_LIMIT: usize = 64 << 10;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    // In the log, a line also has its number and possibly a repair.
    let rows = [("c_long", LINE_LIMIT + 1), ("c_longer_when_linked", LINE_LIMIT), ("c_longest", LINE_LIMIT - 64)];
    let rows = rows.map(|(change, bytes)| (change, padded(&store, change, bytes)));
    assert_eq!(rows[2].1.len(), LINE_LIMIT - 64);
    let written = store.db.index.write(Durability::Unsynced, |transaction| {
        for (change, line) in &rows {
            let sql = "INSERT INTO outbox (change, after, line) VALUES (?, 0, ?)";
            transaction.execute(sql, (change, line))?;
        }
        Ok::<_, Fault>(())
    });
    written.unwrap();
    drop(store);

    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    let lines = store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
    let changes: Vec<_> = lines.map(|line| line.unwrap().details["change"].clone()).collect();
    assert_eq!(changes, ["c_longest"]);
    assert_eq!(store.audit().verify(None).unwrap().problems.len(), 0);
}
