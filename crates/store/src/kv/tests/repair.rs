//! Damaged indexes, read-only stores, and bundles.

use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;
use serde_json::json;
use toolcell_tool::{Draft, ToolId, ToolMetadata, ToolName, ToolSpec};

use super::*;
use crate::{Approval, Decision, DecisionOutcome, HistoryScope, NewTool, OnConflict, RepairMode, Scores, fsck};

/// A store with three entries, one of them in another space.
fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    commit(&store, &[put("a", "{\"secret\":\"kept\"}"), put_until("b", "2", 10)]).unwrap();
    let other = SpaceName::parse("other").unwrap();
    store.kv(&other).commit(&[], &[put("a", "[3]")], &LIMITS, at(0)).unwrap();
    folder
}

fn change(folder: &TempDir, sql: &str) {
    Connection::open(folder.path().join("index.sqlite")).unwrap().execute_batch(sql).unwrap();
}

/// The problems that `fsck` reports as repaired.
fn mended(folder: &TempDir) -> Vec<String> {
    let looked = fsck(folder.path(), RepairMode::Check).unwrap();
    let repaired = fsck(folder.path(), RepairMode::Repair).unwrap();
    assert!(repaired.is_healthy(), "{repaired:#?}");
    let again = fsck(folder.path(), RepairMode::Check).unwrap();
    assert!(again.problems.is_empty(), "{:#?}", again.problems);
    looked.problems.into_iter().map(|problem| format!("{} {}", problem.what, problem.wrong)).collect()
}

#[test]
fn a_repair_takes_the_spaces_over() {
    for (damage, found) in [
        ("UPDATE space SET bytes = 5 WHERE name = 'notes'", "the space notes its totals in the index do not match"),
        ("UPDATE space SET keys = 5 WHERE name = 'other'", "the space other its totals in the index do not match"),
        ("DELETE FROM space WHERE name = 'notes'", "the space notes its totals in the index do not match"),
        ("INSERT INTO space VALUES ('third', 1, 1)", "the space third its totals in the index do not match"),
        ("UPDATE mark SET at = 1 WHERE what = 'version'", "the index says that the last version is 1"),
        ("DELETE FROM mark WHERE what = 'version'", "the index says that the last version is 0"),
        (
            "UPDATE mark SET at = 0x7fffffffffffffff WHERE what = 'version'",
            "the index says that the last version is 92",
        ),
    ] {
        let folder = filled();
        let versions: Vec<u64> = ["a", "b"].iter().map(|key| get(&open(&folder), key).unwrap().version).collect();
        change(&folder, damage);
        let wrong = mended(&folder);
        assert!(wrong.len() == 1 && wrong[0].starts_with(found), "{damage}: {wrong:?}");
        let store = open(&folder);
        let spaces: Vec<(u64, u64)> = store.kv_spaces(at(0)).unwrap().iter().map(|of| (of.keys, of.bytes)).collect();
        assert_eq!(spaces, [(2, 20), (1, 4)], "{damage}");
        assert_eq!(
            get(&store, "a").unwrap(),
            KvEntry { value: "{\"secret\":\"kept\"}".to_owned(), version: versions[0] }
        );
        assert_eq!(store.kv(&notes()).get("b", at(10)).unwrap(), None);
        commit(&store, &[put("c", "4")]).unwrap();
        assert!(get(&store, "c").unwrap().version > 2, "{damage}");
    }
}

#[test]
fn a_value_that_cannot_be_read_is_put_aside() {
    let folder = filled();
    change(&folder, "UPDATE pair SET value = '{\"secret' WHERE key = 'a' AND space = 'notes'");
    change(&folder, "UPDATE space SET bytes = 11 WHERE name = 'notes'");
    assert_eq!(mended(&folder), ["the space notes one of its values is not valid JSON"]);
    let store = open(&folder);
    assert_eq!((get(&store, "a"), get(&store, "b").unwrap().value.as_str()), (None, "2"));
    assert_eq!(room(&store, 0), (1, 2));
}

#[test]
fn what_was_planted_among_the_tables_is_found_and_a_repair_takes_it_away() {
    let refusal = Approval {
        tool: ToolId::from_bytes([1; 32]),
        grants: json!(["net"]),
        decision: Decision::Refused,
        by: "a careful person".to_owned(),
        at: at(0),
    };
    for planted in [
        "CREATE TRIGGER planted AFTER INSERT ON approval BEGIN UPDATE approval SET granted = 1; END",
        "CREATE VIEW planted AS SELECT tool FROM approval",
        "CREATE TABLE planted (tool BLOB)",
        "DROP INDEX approval_asked",
    ] {
        let folder = filled();
        assert_eq!(open(&folder).approvals().set_decision(&refusal).unwrap(), DecisionOutcome::Stored);
        change(&folder, planted);
        let wrong = mended(&folder);
        assert_eq!(wrong, ["index.sqlite is damaged: its schema is not that of a store"], "{planted}");
        let store = open(&folder);
        assert_eq!(
            store.approvals().decision(refusal.tool, &refusal.grants).unwrap(),
            Some(Decision::Refused),
            "{planted}"
        );
        assert_eq!(get(&store, "b").unwrap().value, "2", "{planted}");
    }
}

#[test]
fn versions_go_on_growing_after_the_index_was_lost() {
    let folder = filled();
    let store = open(&folder);
    (0..20).for_each(|_| assert!(commit(&store, &[put("c", "4"), delete("c")]).unwrap()));
    commit(&store, &[put("c", "4")]).unwrap();
    let last = get(&store, "c").unwrap().version;
    commit(&store, &[delete("c")]).unwrap();
    drop(store);
    let path = folder.path().join("index.sqlite");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fsck(folder.path(), RepairMode::Repair).unwrap().is_healthy());
    let store = open(&folder);
    commit(&store, &[put("c", "4")]).unwrap();
    assert!(get(&store, "c").unwrap().version > last);
}

#[test]
fn a_store_that_cannot_be_written_is_read() {
    let folder = filled();
    let set = |mode| {
        for entry in [folder.path().join("tmp"), folder.path().to_owned()] {
            std::fs::set_permissions(entry, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o500);
    let store = open(&folder);
    let read = get(&store, "b").unwrap().value;
    let refused = (store.access() == crate::StoreAccess::ReadOnly).then(|| {
        let held = store.kv(&notes()).commit(&[is("c", None)], &[], &LIMITS, at(0)).unwrap();
        (held, commit(&store, &[put("c", "1")]), store.kv(&notes()).clear())
    });
    set(0o700);
    assert_eq!(read, "2");
    // Permissions do not bind the superuser.
    if let Some((held, written, cleared)) = refused {
        assert!(held);
        assert_eq!(
            (written.unwrap_err().code().as_str(), cleared.unwrap_err().code().as_str()),
            ("store-read-only", "store-read-only")
        );
    }
}

#[test]
fn no_bundle_has_what_is_kept_in_spaces() {
    let folder = filled();
    let store = open(&folder);
    let draft = Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
    let spec = ToolSpec::new(ToolName::parse("one").unwrap(), &draft, serde_json::Value::Null, serde_json::Value::Null);
    let (spec, notes, scores) =
        (spec.unwrap(), ToolMetadata::new("One").unwrap(), Scores { safety: 1.0, quality: 1.0 });
    let registration = NewTool { spec: &spec, metadata: &notes, scores, at: at(0) };
    store.catalog().insert(&registration, OnConflict::Refuse).unwrap();
    let mut bundle = Vec::new();
    assert_eq!(store.bundles().export_all(HistoryScope::All, &mut bundle).unwrap(), 1);
    let bundle = String::from_utf8(bundle).unwrap();
    assert!(bundle.contains("const execute") && !bundle.contains("secret"), "{bundle}");
}
