//! Rebuilding a damaged index from the objects: every name resolves as before.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolcell::Status;
use toolcell::store::audit::{Action, AuditEvent};
use toolcell::store::{
    Approval, Decision, Entry, Filter, GcMode, OnConflict, Order, Record, RepairMode, Settings, Store, fsck,
    repair_adopting,
};

use crate::fixtures::store::{StoreFixture, overwrite, returns, sample_tool};
use crate::fsck::{NAMES, cut, delete, empty, mended, shelf};

#[test]
fn an_index_that_is_lost_is_made_anew() {
    let garbage: Vec<u8> = (0..50_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let index = |shelf: &StoreFixture| shelf.path().join("index.sqlite");
    let damages: [&dyn Fn(&Path); 6] = [
        &delete,
        &empty,
        &|path| overwrite(path, &fs::read(path).unwrap()[..100]),
        &cut,
        &|path| overwrite(path, &garbage),
        &|path| overwrite(path, &[b"SQLite format 3\0", garbage.as_slice()].concat()),
    ];
    for damage in damages {
        let mut known = shelf();
        known.reopen();
        let history = known.history("hit");
        let shelf = mended(
            |shelf| {
                damage(&index(shelf));
                let error = Store::open_existing(shelf.path(), &Settings::default()).err();
                assert!(error.is_none_or(|error| error.code() == "integrity"));
            },
            "index.sqlite",
        );
        assert_eq!((shelf.source("hit"), shelf.history("hit")), (returns(5), history));
        assert!(!shelf.path().join("rebuilding").exists());
    }
}

#[test]
fn what_was_refused_does_not_come_back_with_the_index() {
    let mut shelf = StoreFixture::with_settings(Settings { tool_limit: Some(1), ..Settings::default() });
    shelf.tool("hit", &returns(1));
    assert_eq!(
        shelf.insert(&sample_tool("other", &returns(2)), OnConflict::Refuse).unwrap_err().code(),
        "tool-limit-reached"
    );
    shelf.delete("hit").unwrap();
    shelf.tool("other", &returns(3));
    assert_eq!(shelf.undelete("hit").unwrap_err().code(), "tool-limit-reached");
    let before = shelf.state(["hit", "other"]);
    shelf.close();
    delete(&shelf.path().join("index.sqlite"));
    assert!(shelf.repair().is_healthy());
    shelf.reopen();
    assert_eq!(shelf.state(["hit", "other"]), before);
}

#[test]
fn the_order_of_arrival_outlasts_the_index() {
    let mut shelf = StoreFixture::new();
    for tool in ["c", "a", "d", "b"] {
        shelf.tool(tool, &returns(1));
    }
    shelf.replace("c", &returns(2));
    let listed = |shelf: &StoreFixture| {
        let filter = Filter { order: Order::Created, ..Filter::default() };
        let page = shelf.store().list(&filter).unwrap();
        page.entries.iter().map(|entry| (entry.name.to_string(), entry.created_at)).collect::<Vec<_>>()
    };
    let before = listed(&shelf);
    shelf.close();
    delete(&shelf.path().join("index.sqlite"));
    shelf.repair();
    shelf.reopen();
    assert_eq!(listed(&shelf), before);
}

#[test]
fn a_log_of_the_index_that_was_left_behind_is_not_played_into_another() {
    let mut old = StoreFixture::new();
    old.tool("old", &returns(1));
    // While the store is open, its latest changes are in the write-ahead log.
    let log = fs::read(old.path().join("index.sqlite-wal")).unwrap();
    assert!(!log.is_empty());
    old.close();
    for (log, index_is_lost) in [(log, true), (vec![0x37; 40_000], false)] {
        let mut shelf = shelf();
        overwrite(&shelf.path().join("index.sqlite-wal"), &log);
        if index_is_lost {
            delete(&shelf.path().join("index.sqlite"));
        }
        assert!(shelf.repair().is_healthy());
        assert!(shelf.check().problems.is_empty());
        shelf.reopen();
        assert_eq!((shelf.source("hit"), shelf.source("old")), (returns(5), "tool-not-found".to_owned()));
    }
}

#[test]
fn a_bit_that_flips_in_the_index_leads_no_name_elsewhere() {
    let mut shelf = shelf();
    shelf.reopen();
    let sources = |shelf: &StoreFixture| NAMES.map(|tool| (shelf.source(tool), shelf.history(tool)));
    let before = sources(&shelf);
    shelf.close();
    let index = fs::read(shelf.path().join("index.sqlite")).unwrap();
    let mut seed = 7_u64;
    for _ in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap() % index.len();
        let bit = 1 << (seed >> 30 & 7);
        let mut flipped = shelf.copy();
        let mut bytes = index.clone();
        // Most of an index is zero, so flip a byte that is not.
        let at = (at..index.len()).find(|at| index[*at] != 0).unwrap_or(0);
        bytes[at] ^= bit;
        overwrite(&flipped.path().join("index.sqlite"), &bytes);
        let health = flipped.repair();
        assert!(health.is_healthy(), "byte {at}: {:#?}", health.problems);
        assert!(flipped.check().problems.is_empty(), "byte {at}");
        flipped.reopen();
        assert_eq!(sources(&flipped), before, "byte {at}, {bit}");
        assert_eq!(flipped.store().list(&Filter::default()).unwrap().total, 3, "byte {at}");
    }
}

#[test]
fn what_the_index_says_about_a_tool_is_what_its_objects_say() {
    let mut shelf = shelf();
    shelf.reopen();
    let said = sample_tool("hit", &returns(5)).tags(&["needle"]).described("Threads").scores(0.5, 0.75);
    let id = shelf.insert(&said, OnConflict::Replace).unwrap().id;
    let state = |shelf: &StoreFixture| (shelf.find("hit").unwrap(), shelf.source("hit"), shelf.history("hit"));
    let before = state(&shelf);
    let versions: Vec<_> = shelf.objects().iter().map(|path| blake3::hash(&fs::read(path).unwrap())).collect();
    shelf.close();
    let index = fs::read(shelf.path().join("index.sqlite")).unwrap();
    let texts = ["hit", "needle", "Threads", "unverified", "replaced"].map(str::as_bytes);
    let hashes = versions.iter().map(|hash| &hash.as_bytes()[..]).chain([&id.as_bytes()[..]]);
    let mut flips = 0;
    for needle in texts.into_iter().chain(hashes) {
        let places = index.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle);
        for (at, _) in places {
            let mut flipped = shelf.copy();
            let mut bytes = index.clone();
            bytes[at + 1] ^= 1;
            overwrite(&flipped.path().join("index.sqlite"), &bytes);
            flipped.repair();
            assert!(flipped.check().problems.is_empty(), "byte {at}");
            flipped.reopen();
            let after = state(&flipped);
            let text = String::from_utf8_lossy(needle);
            assert_eq!((&after.1, &after.2), (&before.1, &before.2), "byte {at}, {text}");
            let told = |entry: &Entry| (entry.id, entry.status, entry.description.clone(), entry.tags.clone());
            assert_eq!(told(&after.0), told(&before.0), "byte {at}, {text}");
            // The runs are lost with the identifier of their tool.
            assert!(after.0.runs == 1 || needle == id.as_bytes(), "byte {at}, {text}");
            flips += 1;
        }
    }
    assert!(flips > 40, "{flips}");
}

/// Returns what only the index knows about `hit`.
fn known(shelf: &StoreFixture) -> (Status, u64, u64, Option<jiff::Timestamp>, Vec<blake3::Hash>, usize) {
    let entry = shelf.find("hit").unwrap();
    let usage = shelf.store().usage(&entry).unwrap();
    let records = shelf.store().records(entry.id, 10).unwrap();
    let approvals = shelf.store().approvals(entry.id).unwrap().len();
    (entry.status, usage.runs, usage.fuel.p50, usage.last_used_at, records, approvals)
}

/// Creates a store whose index knows facts about `hit` that no object has.
fn shelf_with_knowledge() -> StoreFixture {
    let mut shelf = shelf();
    shelf.reopen();
    let hit = shelf.find("hit").unwrap().id;
    let (at, grants) = (shelf.now(), json!(["net"]));
    shelf.store().set_status(hit, Status::Pending).unwrap();
    shelf
        .store()
        .set_decision(&Approval { tool: hit, grants, decision: Decision::Approved, by: "me".to_owned(), at })
        .unwrap();
    shelf.store().insert_record(&Record { kind: "run".to_owned(), tool: Some(hit), at, body: b"{}".to_vec() }).unwrap();
    shelf.close();
    shelf
}

#[test]
fn what_only_the_index_knows_is_taken_over_and_approvals_from_a_whole_one_only() {
    let mut shelf = shelf_with_knowledge();
    shelf.reopen();
    let before = known(&shelf);
    shelf.close();
    let mut whole = shelf.copy();
    fs::write(whole.path().join("rebuilding"), "").unwrap();
    assert!(whole.repair().is_healthy());
    whole.reopen();
    assert_eq!(known(&whole), before);

    // The last page belongs to some table or index: that one is damaged, and the rest is readable.
    let mut damaged = shelf.copy();
    let path = damaged.path().join("index.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() - 4096;
    bytes[page..].fill(0xa5);
    overwrite(&path, &bytes);
    assert!(damaged.repair().is_healthy());
    damaged.reopen();
    let (status, runs, .., approvals) = known(&damaged);
    assert_eq!((status, runs, approvals), (Status::Pending, 1, 0));
}

/// Creates a store in which `hit` is refused and `other` is approved, and returns it with its
/// index.
fn shelf_with_a_refusal() -> (StoreFixture, Vec<u8>) {
    let mut shelf = shelf();
    shelf.reopen();
    let decide = |tool: &str, decision: Decision| {
        let (tool, at) = (shelf.find(tool).unwrap().id, shelf.now());
        let by = "a careful person".to_owned();
        shelf.store().set_decision(&Approval { tool, grants: json!(["net"]), decision, by, at }).unwrap();
    };
    decide("hit", Decision::Refused);
    decide("other", Decision::Approved);
    shelf.close();
    let index = fs::read(shelf.path().join("index.sqlite")).unwrap();
    (shelf, index)
}

#[test]
fn refusals_outlast_a_damaged_index_and_approvals_do_not() {
    let (shelf, index) = shelf_with_a_refusal();
    let needle = b"a careful person";
    let places: Vec<usize> = (0..index.len()).filter(|at| index[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty());
    for texts_are_damaged in [false, true] {
        let mut bytes = index.clone();
        // Damage any page without decisions: the index is corrupt, and the table of decisions is
        // readable.
        let page = (1..bytes.len() / 4096).rev().find(|page| places.iter().all(|at| at / 4096 != *page)).unwrap();
        bytes[page * 4096..][..4096].fill(0xa5);
        if texts_are_damaged {
            for at in &places {
                bytes[*at..][..needle.len()].fill(0xff);
            }
        }
        let mut damaged = shelf.copy();
        overwrite(&damaged.path().join("index.sqlite"), &bytes);
        assert!(damaged.repair().is_healthy());
        damaged.reopen();
        let decided = |tool: &str| damaged.store().decision(damaged.find(tool).unwrap().id, &json!(["net"])).unwrap();
        assert_eq!((decided("hit"), decided("other")), (Some(Decision::Refused), None), "{texts_are_damaged}");
        let said = damaged.store().approvals(damaged.find("hit").unwrap().id).unwrap();
        let by = if texts_are_damaged { "repair" } else { "a careful person" };
        assert_eq!(said.iter().map(|one| one.by.as_str()).collect::<Vec<_>>(), [by]);
        assert_eq!(damaged.store().decisions(10).unwrap().len(), 1);
    }
}

#[test]
fn refusals_outlast_an_index_that_is_gone_and_approvals_do_not() {
    let mut shelf = shelf();
    shelf.reopen();
    let decide = |tool: &str, action: Action, decision: Decision| {
        let (tool, at) = (shelf.find(tool).unwrap().id, shelf.now());
        let attempt = AuditEvent { tool: Some(tool), ..AuditEvent::new(action, at) };
        let approval = Approval { tool, grants: json!(["net"]), decision, by: "me".to_owned(), at };
        shelf.store().with_audit(attempt).set_decision(&approval).unwrap();
    };
    decide("hit", Action::Refuse, Decision::Refused);
    decide("other", Action::Refuse, Decision::Refused);
    decide("other", Action::Approve, Decision::Approved);
    shelf.close();
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(shelf.path().join(format!("index.sqlite{ending}")));
    }
    let health = shelf.repair();
    let mended = health.problems[0].mended.as_deref().unwrap();
    assert!(health.is_healthy() && mended.ends_with("without approvals; 1 refusal was kept"), "{mended}");
    shelf.reopen();
    let decided = |tool: &str| shelf.store().decision(shelf.find(tool).unwrap().id, &json!(["net"])).unwrap();
    assert_eq!((decided("hit"), decided("other")), (Some(Decision::Refused), None));
}

#[test]
fn a_repair_that_was_broken_off_is_finished_by_the_next() {
    let mut shelf = shelf_with_knowledge();
    shelf.reopen();
    let before = known(&shelf);
    shelf.close();
    let index = |ending: &str| shelf.path().join(format!("index.sqlite{ending}"));
    fs::write(shelf.path().join("rebuilding"), "").unwrap();
    // The old index was quarantined, and the new one is not in place yet.
    fs::rename(index(""), shelf.path().join("quarantine/index.1.sqlite")).unwrap();
    fs::write(shelf.path().join("tmp/index.sqlite"), "half").unwrap();
    let error = Store::open_existing(shelf.path(), &Settings::default()).err().unwrap();
    assert_eq!(error.code(), "integrity");
    assert!(!shelf.check().is_healthy());
    assert!(shelf.repair().is_healthy());
    assert!(shelf.check().problems.is_empty());
    shelf.reopen();
    assert_eq!(known(&shelf), before, "what people said is there as well");
}

#[test]
fn nobody_has_the_store_open_while_its_index_is_made_anew() {
    let mut shelf = shelf();
    shelf.reopen();
    fs::write(shelf.path().join("rebuilding"), "").unwrap();
    let error = fsck(shelf.path(), RepairMode::Repair).unwrap_err();
    assert_eq!((error.code(), shelf.source("hit")), ("store-busy", returns(5)));
    shelf.close();
    assert!(shelf.repair().is_healthy());
}

/// Creates a store whose index is an older copy, and returns it with the state that it had.
pub(crate) fn with_an_older_index() -> (StoreFixture, String) {
    let mut shelf = StoreFixture::new();
    shelf.set_clock(1).tool("old", &returns(1));
    shelf.close();
    let index = shelf.path().join("index.sqlite");
    let older = fs::read(&index).unwrap();
    shelf.reopen();
    shelf.set_clock(2).tool("new", &returns(2));
    shelf.replace("old", &returns(3));
    shelf.set_clock(3).delete("old").unwrap();
    let before = format!("{:?}", shelf.state(["old", "new"]));
    shelf.close();
    overwrite(&index, &older);
    (shelf, before)
}

#[test]
fn what_an_older_copy_of_the_index_does_not_know_is_told_and_taken_in_where_it_is_asked_for() {
    let (mut shelf, before) = with_an_older_index();
    shelf.reopen();
    assert_eq!(shelf.find("new").unwrap_err().code(), "tool-not-found");
    let collected = shelf.store().collect(shelf.now(), shelf.now(), GcMode::Execute).unwrap();
    assert_eq!(collected.objects, 0, "what is young stays, whatever the index knows");
    let health = shelf.check();
    assert_eq!((health.problems.len(), health.unreferenced, health.unknown_steps), (0, 5, 3));
    let told: Vec<_> = health.unknown.iter().map(|step| (step.name.as_str(), step.event.as_str())).collect();
    assert!(told.contains(&("new", "created")) && told.contains(&("old", "deleted")), "{told:?}");
    shelf.close();
    let unknown = repair_adopting(shelf.path(), &["nobody".to_owned()]).unwrap_err();
    assert_eq!(unknown.code(), "step-not-found");
    let health = repair_adopting(shelf.path(), &["new".to_owned(), "old".to_owned()]).unwrap();
    assert_eq!((health.is_healthy(), health.unreferenced, health.unknown_steps), (true, 0, 0));
    shelf.reopen();
    assert_eq!(format!("{:?}", shelf.state(["old", "new"])), before);
}

#[test]
fn steps_that_a_whole_index_does_not_know_are_put_aside_and_can_be_had_back() {
    let (mut shelf, before) = with_an_older_index();
    assert!(shelf.repair().is_healthy());
    shelf.reopen();
    assert_eq!(shelf.find("new").unwrap_err().code(), "tool-not-found");
    assert_eq!(shelf.source("old"), returns(1));
    shelf.close();
    assert_eq!(shelf.check().unknown_steps, 0);
    let health = repair_adopting(shelf.path(), &["new".to_owned(), "old".to_owned()]).unwrap();
    assert!(health.is_healthy(), "{health:?}");
    shelf.reopen();
    assert_eq!(format!("{:?}", shelf.state(["old", "new"])), before);
}
