#![expect(clippy::disallowed_methods, reason = "the tests damage files")]

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell_tool::{Draft, Status, ToolId, ToolMetadata, ToolName, ToolSpec};

use super::*;
use crate::catalog::status::demote;
use crate::error::Fault;
use crate::store::Store;
use crate::{
    Approval, Decision, DecisionOutcome, NewTool, OnConflict, RepairMode, Scores, Settings, ToolRef, UsageEvent, fsck,
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn put(store: &Store, name: &str, source: &str) -> ToolId {
    let draft = Draft::from_bytes("t.ts", source.as_bytes()).unwrap();
    let spec = ToolSpec::new(ToolName::parse(name).unwrap(), &draft, Value::Null, Value::Null).unwrap();
    let (notes, scores) = (ToolMetadata::new("One").unwrap(), Scores { safety: 1.0, quality: 0.9 });
    let registration = NewTool { spec: &spec, metadata: &notes, scores, at: NOW };
    store.catalog().insert(&registration, OnConflict::Replace).unwrap().id
}

fn run(store: &Store, tool: ToolId, failure: Option<&str>) {
    let (failure, duration) = (failure.map(str::to_owned), Duration::from_millis(1));
    let event = UsageEvent { tool, at: NOW, failure, fuel: 1, duration, tokens_saved: None, time_saved: None };
    store.runs().record_usage(event).unwrap();
    store.runs().flush().unwrap();
}

fn said(tool: ToolId, decision: Decision) -> Approval {
    Approval { tool, grants: json!({}), decision, by: "me".to_owned(), at: NOW }
}

#[test]
fn every_change_to_a_tool_shows_in_every_process() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = [0, 1].map(|_| Store::open(folder.path(), &Settings::default()).unwrap());
    let mut last = there.catalog().generation().unwrap();
    let mut changes = |what: &str, change: &dyn Fn(&Store)| {
        change(&here);
        let now = there.catalog().generation().unwrap();
        assert_ne!(now, last, "{what}");
        assert_eq!(now, here.catalog().generation().unwrap());
        last = now;
    };
    let name = || ToolRef::parse("one").unwrap();
    let id = || here.catalog().find(&name()).unwrap().id;
    changes("created", &|store| {
        put(store, "one", "const execute = () => 1");
    });
    changes("replaced", &|store| {
        put(store, "one", "const execute = () => 2");
    });
    changes("deleted", &|store| {
        store.catalog().delete(&name(), NOW).unwrap();
    });
    changes("undeleted", &|store| {
        store.catalog().undelete(&name(), NOW).unwrap();
    });
    changes("rolled back", &|store| {
        store.catalog().roll_back(&ToolName::parse("one").unwrap(), 1, NOW).unwrap();
    });
    changes("pending", &|store| {
        store.catalog().set_status(id(), Status::Pending).unwrap();
    });
    changes("passed", &|store| {
        store.catalog().set_status(id(), Status::Passed).unwrap();
    });
    for (what, decision) in [("approved", Decision::Approved), ("refused", Decision::Refused)] {
        changes(what, &|store| {
            assert_eq!(store.approvals().set_decision(&said(id(), decision)).unwrap(), DecisionOutcome::Stored);
        });
    }
    changes("revoked", &|store| {
        store.approvals().revoke(id()).unwrap();
    });
    changes("fallen back", &|store| (0..3).for_each(|_| run(store, id(), Some("tool-failed"))));
    assert_eq!(here.catalog().find(&name()).unwrap().status, Status::Unverified);
    changes("deprecated", &|store| {
        store.catalog().deprecate(id(), None).unwrap();
    });
    changes("distrusted", &|store| store.db.write(|transaction| demote(transaction, id())).unwrap());
}

#[test]
fn runs_and_questions_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    let tool = put(&store, "one", "const execute = () => 1");
    let before = store.catalog().generation().unwrap();
    run(&store, tool, None);
    run(&store, tool, Some("tool-failed"));
    store.approvals().request(tool, &json!({}), "run", NOW).unwrap();
    store.catalog().delete(&ToolRef::parse("another").unwrap(), NOW).unwrap_err();
    assert_eq!(store.catalog().generation().unwrap(), before);
}

#[test]
fn an_index_that_is_made_anew_does_not_go_on_counting() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    put(&store, "one", "const execute = () => 1");
    let before = store.catalog().generation().unwrap();
    drop(store);
    let path = folder.path().join("index.sqlite");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fsck(folder.path(), RepairMode::Repair).unwrap().is_healthy());
    assert_ne!(Store::open(folder.path(), &Settings::default()).unwrap().catalog().generation().unwrap(), before);
}

#[test]
fn a_number_that_a_flipped_bit_made_too_large_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    for damage in ["UPDATE mark SET at = 0x7fffffffffffffff", "DELETE FROM mark"] {
        let damage = |transaction: &Connection| Ok::<_, Fault>(transaction.execute_batch(damage)?);
        store.db.index.write(crate::Durability::Synced, damage).unwrap();
        let before = store.catalog().generation().unwrap();
        put(&store, "one", "const execute = () => 1");
        assert_ne!(store.catalog().generation().unwrap(), before);
    }
}
