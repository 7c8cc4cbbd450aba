//! Migration of stores in older formats.
#![expect(clippy::disallowed_methods, reason = "the tests make the files of an older version, and damage them")]

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::date;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;
use toolcell_tool::{Draft, Status, ToolMetadata, ToolName, ToolSpec};

use crate::audit::{Action, AuditEvent};
use crate::{
    DailyUsage, Entry, Filter, FinishedRun, KvLimits, KvWrite, NewTool, NonceUse, OnConflict, RUN_KIND, Record,
    RepairMode, Scores, SearchTerms, Settings, Store, ToolRef, UsageEvent, UsageTotals, fsck,
};

/// The tables of format 1.
const FORMAT_1: &str = include_str!("format_1.sql");
const TABLES: [&str; 8] = ["tool", "about", "version", "unsynced", "failure", "cost", "approval", "record"];

fn put(store: &Store, name: &str) {
    let draft = Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
    let spec = ToolSpec::new(ToolName::parse(name).unwrap(), &draft, Value::Null, Value::Null).unwrap();
    let (notes, scores) = (ToolMetadata::new("One").unwrap(), Scores { safety: 1.0, quality: 0.9 });
    let registration = NewTool { spec: &spec, metadata: &notes, scores, at: Timestamp::UNIX_EPOCH };
    store.catalog().insert(&registration, OnConflict::Refuse).unwrap();
}

fn find(store: &Store, name: &str) -> Entry {
    store.catalog().find(&ToolRef::parse(name).unwrap()).unwrap()
}

fn run(store: &Store, name: &str, failure: Option<&str>) {
    let tool = find(store, name).id;
    let (failure, duration) = (failure.map(str::to_owned), Duration::from_millis(250));
    let event = UsageEvent {
        tool,
        at: Timestamp::UNIX_EPOCH,
        failure,
        fuel: 1_000,
        duration,
        tokens_saved: Some(7),
        time_saved: None,
    };
    store.runs().record_usage(event).unwrap();
}

/// A store in format 1: `one` passed and ran four times, `two` never ran, and `gone` was deleted.
fn old() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    for name in ["one", "two", "gone"] {
        put(&store, name);
    }
    for step in [Status::Pending, Status::Passed] {
        store.catalog().set_status(find(&store, "one").id, step).unwrap();
    }
    (0..4).for_each(|_| run(&store, "one", None));
    store.catalog().delete(&ToolRef::parse("gone").unwrap(), Timestamp::UNIX_EPOCH).unwrap();
    drop(store);
    in_format_1(folder.path());
    folder
}

/// Copies the data of format 1 into an index of that format.
fn in_format_1(path: &Path) {
    let (new, old) = (path.join("index.sqlite"), path.join("tmp/old.sqlite"));
    let connection = Connection::open(&old).unwrap();
    connection.execute_batch(FORMAT_1).unwrap();
    connection.execute("ATTACH ? AS new", [new.to_str().unwrap()]).unwrap();
    for table in TABLES {
        connection.execute_batch(&format!("INSERT INTO main.{table} SELECT * FROM new.{table}")).unwrap();
    }
    connection.pragma_update(None, "user_version", 1).unwrap();
    // Every index has been in WAL mode since format 1; to change the mode while other processes
    // open the index is a race.
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(connection);
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(path.join(format!("index.sqlite{ending}")));
    }
    std::fs::rename(old, new).unwrap();
    std::fs::write(path.join("toolcell-store"), "toolcell store, format 1\n").unwrap();
}

#[test]
fn a_store_of_format_1_is_upgraded_when_it_is_opened() {
    let folder = old();
    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let said = std::fs::read_to_string(folder.path().join("toolcell-store")).unwrap();
    assert_eq!(said, "toolcell store, format 10\n");
    let one = find(&store, "one");
    assert_eq!((one.status, one.runs, one.successes), (Status::Passed, 4, 4));
    // The duration of its runs is known from their sketch; the saved tokens were never reported.
    let accounts = store.runs().tool_costs().unwrap();
    assert!(accounts[0].time.abs_diff(Duration::from_secs(1)) <= Duration::from_millis(10), "{:?}", accounts[0].time);
    assert_eq!((accounts.len(), accounts[0].tokens_saved, accounts[1].time), (2, None, Duration::ZERO));
    let all = store.catalog().unindexed("v1", 10).unwrap();
    assert_eq!(all.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    let terms = SearchTerms { name: vec!["first".to_owned()], ..SearchTerms::default() };
    store.catalog().index_terms("v1", &[(one.clone(), terms)]).unwrap();
    assert_eq!(store.catalog().search(&[vec!["first".to_owned()]], 5).unwrap()[0].entry, one);
    run(&store, "one", None);
    assert_eq!(store.runs().tool_costs().unwrap()[0].tokens_saved, Some(7));
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}

#[test]
fn many_that_open_an_old_store_at_once_upgrade_it_once() {
    let folder = old();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
                run(&store, "two", None);
            });
        }
    });
    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    assert_eq!((find(&store, "two").runs, store.catalog().unindexed("v1", 10).unwrap().len()), (8, 2));
    assert_eq!(store.runs().tool_costs().unwrap()[1].time, Duration::from_secs(2));
}

#[test]
fn an_old_index_that_is_damaged_is_made_anew_in_this_format() {
    let folder = old();
    let path = folder.path().join("index.sqlite");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fsck(folder.path(), RepairMode::Repair).unwrap().is_healthy());
    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    assert_eq!((find(&store, "one").name.as_str(), store.catalog().unindexed("v1", 10).unwrap().len()), ("one", 2));
    let said = std::fs::read_to_string(folder.path().join("toolcell-store")).unwrap();
    assert_eq!(said, "toolcell store, format 10\n");
}

#[test]
fn a_store_of_format_2_is_upgraded_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    put(&Store::open(folder.path(), &Settings::default()).unwrap(), "one");
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    connection
        .execute_batch("DROP TABLE spent; DROP TABLE mark; DROP TABLE pair; DROP TABLE space; DROP TABLE sleeping; DROP TABLE outbox; DROP TABLE log_head; DROP TABLE damaged; DROP TABLE replica; PRAGMA user_version = 2")
        .unwrap();
    drop(connection);
    std::fs::write(folder.path().join("toolcell-store"), "toolcell store, format 2\n").unwrap();

    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let before = store.catalog().generation().unwrap();
    put(&store, "two");
    assert_ne!(store.catalog().generation().unwrap(), before);
    let (token, at) = (blake3::hash(b"t"), Timestamp::UNIX_EPOCH);
    let spent = [0, 1].map(|_| store.nonces().consume(token, at + Duration::from_secs(1), at).unwrap());
    assert_eq!(spent, [NonceUse::Fresh, NonceUse::Replayed]);
    assert_eq!(store.catalog().list(&Filter::default()).unwrap().total, 2);
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}

#[test]
fn a_store_of_format_3_is_upgraded_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    put(&Store::open(folder.path(), &Settings::default()).unwrap(), "one");
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    connection
        .execute_batch("DROP TABLE pair; DROP TABLE space; DROP TABLE sleeping; DROP TABLE outbox; DROP TABLE log_head; DROP TABLE damaged; DROP TABLE replica; PRAGMA user_version = 3")
        .unwrap();
    drop(connection);
    std::fs::write(folder.path().join("toolcell-store"), "toolcell store, format 3\n").unwrap();

    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let said = std::fs::read_to_string(folder.path().join("toolcell-store")).unwrap();
    assert_eq!(
        (said.as_str(), store.catalog().list(&Filter::default()).unwrap().total),
        ("toolcell store, format 10\n", 1)
    );
    let (space, now) = (toolcell_tool::SpaceName::parse("notes").unwrap(), Timestamp::UNIX_EPOCH);
    assert!(store.kv_spaces(now).unwrap().is_empty());
    let limits = KvLimits { bytes: 10, keys: 1, value_bytes: 10 };
    let write = KvWrite::Put { key: "n".to_owned(), value: "1".to_owned(), expires_at: None };
    assert!(store.kv(&space).commit(&[], &[write], &limits, now).unwrap());
    assert_eq!(store.kv(&space).get("n", now).unwrap().unwrap().version, 1);
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}

#[test]
fn a_store_of_format_4_is_upgraded_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    put(&Store::open(folder.path(), &Settings::default()).unwrap(), "one");
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    let sql = "DROP TABLE outbox; DROP TABLE log_head; DROP TABLE damaged; DROP TABLE replica; PRAGMA user_version = 4";
    connection.execute_batch(sql).unwrap();
    drop(connection);
    std::fs::write(folder.path().join("toolcell-store"), "toolcell store, format 4\n").unwrap();

    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let said = std::fs::read_to_string(folder.path().join("toolcell-store")).unwrap();
    assert_eq!(
        (said.as_str(), store.catalog().list(&Filter::default()).unwrap().total),
        ("toolcell store, format 10\n", 1)
    );
    let at = Timestamp::UNIX_EPOCH;
    store
        .with_audit(AuditEvent::new(Action::DeleteDynamicTool, at))
        .delete(&ToolRef::parse("one").unwrap(), at)
        .unwrap();
    assert_eq!((store.delayed_lines().unwrap(), store.catalog().list(&Filter::default()).unwrap().total), (0, 0));
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}

#[test]
fn a_store_of_format_7_gets_its_usage_by_day_from_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    put(&store, "one");
    let (tool, second) = (find(&store, "one").id, 86_400);
    let runs = [
        (0, "returned", r#","used":{"fuel":10,"micros":3}"#),
        (second - 1, "threw", r#","used":{"fuel":30,"micros":4}"#),
        (second, "stopped", r#","used":{"fuel":9223372036854775807,"micros":5}"#),
        (second, "returned", r#","used":{"fuel":9223372036854775807,"micros":5}"#),
        (second, "refused", ""),
        (second, "stopped", r#","code":"cancelled","used":{"fuel":1,"micros":5}"#),
    ];
    for (at, outcome, used) in runs {
        let (begun, at) = (store.runs().start(|_| Vec::new()).unwrap(), Timestamp::from_second(at).unwrap());
        let body = format!(r#"{{"run":"{}","outcome":"{outcome}"{used}}}"#, begun.run()).into_bytes();
        let record = Record { kind: RUN_KIND.to_owned(), tool: Some(tool), at, body };
        let audit_event = AuditEvent::new(Action::RunDynamicTool, at);
        store.runs().finish(begun, FinishedRun { usage: None, record, audit_event }).unwrap();
    }
    drop(store);
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    for (hash, at, body) in [("00", 0, "x'ff7b'"), ("01", i64::MAX, "body")] {
        let sql = format!(
            "INSERT INTO record (hash, kind, tool, at, body) SELECT x'{hash}', 'run', tool, {at}, {body} FROM record LIMIT 1"
        );
        connection.execute_batch(&sql).unwrap();
    }
    connection.execute_batch("DROP TABLE daily_usage; DROP INDEX record_receipt; DROP TABLE single_approval; DROP TABLE daily_time_saved; DROP TABLE replica; PRAGMA user_version = 7").unwrap();
    drop(connection);
    std::fs::write(folder.path().join("toolcell-store"), "toolcell store, format 7\n").unwrap();

    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let of_day = |runs, failures, fuel, max_fuel, micros| UsageTotals {
        runs,
        failures,
        fuel,
        max_fuel,
        time: Duration::from_micros(micros),
        tokens_saved: None,
        time_saved: None,
    };
    let days = store.runs().usage_by_day(date(1970, 1, 1)..=date(1970, 1, 9), None).unwrap();
    let most = i64::MAX.cast_unsigned();
    assert_eq!(days[0], DailyUsage { day: date(1970, 1, 1), totals: of_day(2, 1, 40, 30, 7) });
    // Sums are numbers of 53 bits here, and stop before they overflow.
    assert_eq!(
        days[1],
        DailyUsage { day: date(1970, 1, 2), totals: of_day(2, 1, 9_000_000_000_000_000_000, most, 10) }
    );
    assert_eq!(days.len(), 2);
}

#[test]
fn a_store_of_format_9_is_upgraded_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    put(&Store::open(folder.path(), &Settings::default()).unwrap(), "one");
    let connection = Connection::open(folder.path().join("index.sqlite")).unwrap();
    connection.execute_batch("DROP TABLE replica; PRAGMA user_version = 9").unwrap();
    drop(connection);
    std::fs::write(folder.path().join("toolcell-store"), "toolcell store, format 9\n").unwrap();

    let store = Store::open_existing(folder.path(), &Settings::default()).unwrap();
    let said = std::fs::read_to_string(folder.path().join("toolcell-store")).unwrap();
    assert_eq!(said, "toolcell store, format 10\n");
    assert_eq!(store.replication_status().unwrap(), None);
    put(&store, "two");
    assert_eq!(store.catalog().list(&Filter::default()).unwrap().total, 2);
    drop(store);
    let health = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
}
