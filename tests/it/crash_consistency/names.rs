//! Name resolution: names that people confuse, abbreviated identifiers, and a clock that goes back.

use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, StoreWorker, SyncMode};
use toolcell_store::{Filter, ToolRef};
use toolcell_tool::{IdPrefix, ToolName};

use super::scratch;

/// Creates a worker with a new store and these tools.
fn worker(folder: &tempfile::TempDir, names: &[&str]) -> StoreWorker {
    let mut worker = StoreWorker::new(folder.path(), SyncMode::Unsynced);
    for name in names {
        let put = StoreOrder { at: 1_000, verb: StoreAction::Put(SampleTool::new(*name, 1)) };
        assert_eq!(worker.perform(&put), StoreReply::Done);
    }
    worker
}

#[test]
fn a_name_that_people_would_take_for_another_is_taken() {
    let folder = scratch();
    let mut worker = worker(&folder, &["String-Reverse", "foo"]);
    for name in ["string_reverse", "STRING-REVERSE", "String-Reverse", "Foo", "FOO"] {
        let put = StoreOrder { at: 1_000, verb: StoreAction::Put(SampleTool::new(name, 2)) };
        assert_eq!(worker.perform(&put).code(), Some("name-taken"), "{name}");
    }
    let store = worker.store().unwrap();
    let entry = store.catalog().find(&ToolRef::parse("string_REVERSE").unwrap()).unwrap();
    assert_eq!(entry.name.as_str(), "String-Reverse");
}

/// Among a hundred thousand identifiers, two share their first eight digits; these two do.
#[test]
fn the_beginning_of_two_identifiers_names_both() {
    let folder = scratch();
    let mut worker = worker(&folder, &["tool-18552", "tool-26353"]);
    let store = worker.store().unwrap();
    for reference in ["dt_2dbd29fa", "dt_2dbd29fab"] {
        let found = store.catalog().find(&ToolRef::parse(reference).unwrap());
        match (reference.len(), found) {
            (11, Err(error)) => {
                assert_eq!(error.code(), "id-ambiguous");
                let message = error.to_string();
                assert!(message.contains("tool-18552") && message.contains("tool-26353"), "{message}");
            }
            (12, Ok(entry)) => assert_eq!(entry.name.as_str(), "tool-26353"),
            (_, other) => panic!("{reference}: {other:?}"),
        }
    }
    assert_eq!(
        store.catalog().find_any(&IdPrefix::parse("dt_00000000").unwrap()).unwrap_err().code(),
        "tool-not-found"
    );
}

#[test]
fn a_clock_that_goes_back_changes_no_order() {
    let folder = scratch();
    let mut worker = StoreWorker::new(folder.path(), SyncMode::Unsynced);
    let mut names: Vec<String> = (0..20).map(|number| format!("tool-{number}")).collect();
    let mut at = 1_000_000_000;
    let mut perform = |verb| {
        at -= 60_000;
        assert_eq!(worker.perform(&StoreOrder { at, verb }), StoreReply::Done);
    };
    for name in &names {
        perform(StoreAction::Put(SampleTool::new(name, 1)));
    }
    perform(StoreAction::Replace(SampleTool::new("tool-0", 2)));
    perform(StoreAction::Delete("tool-0".to_owned()));
    perform(StoreAction::Undelete("tool-0".to_owned()));
    perform(StoreAction::RollBack("tool-0".to_owned(), 1));

    let store = worker.store().unwrap();
    let history = store.catalog().history(&ToolName::parse("tool-0").unwrap()).unwrap();
    let steps: Vec<(u64, &str)> = history.iter().map(|past| (past.number, past.event.name())).collect();
    assert_eq!(steps, [(1, "created"), (2, "replaced"), (3, "deleted"), (4, "undeleted"), (5, "rolled-back")]);
    assert!(history.is_sorted_by(|one, next| one.at > next.at), "{history:?}");
    let page = store.catalog().list(&Filter { limit: 100, ..Filter::default() }).unwrap();
    let listed: Vec<&str> = page.entries.iter().map(|entry| entry.name.as_str()).collect();
    names.reverse();
    assert_eq!(listed, names, "the newest comes first, and it is the one that came last");
}
