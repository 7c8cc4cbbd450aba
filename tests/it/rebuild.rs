//! Rebuilding a damaged index from the objects: every name resolves as before.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolcell::Status;
use toolcell::store::audit::{Action, AuditEvent};
use toolcell::store::{
    Approval, Decision, Entry, Filter, GcMode, LabelHolder, OnConflict, Order, Record, RepairMode, Settings, Store,
    fsck, repair_adopting,
};

use crate::fixtures::store::{StoreFixture, overwrite, returns, sample_tool};
use crate::fsck::{NAMES, cut, delete, empty, fixture, mended};

#[test]
fn an_index_that_is_lost_is_made_anew() {
    let garbage: Vec<u8> = (0..50_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let index = |fixture: &StoreFixture| fixture.path().join("index.sqlite");
    let damages: [&dyn Fn(&Path); 6] = [
        &delete,
        &empty,
        &|path| overwrite(path, &fs::read(path).unwrap()[..100]),
        &cut,
        &|path| overwrite(path, &garbage),
        &|path| overwrite(path, &[b"SQLite format 3\0", garbage.as_slice()].concat()),
    ];
    for damage in damages {
        let mut known = fixture();
        known.reopen();
        let history = known.history("hit");
        let fixture = mended(
            |fixture| {
                damage(&index(fixture));
                let error = Store::open_existing(fixture.path(), &Settings::default()).err();
                assert!(error.is_none_or(|error| error.code().as_str() == "integrity"));
            },
            "index.sqlite",
        );
        assert_eq!((fixture.source("hit"), fixture.history("hit")), (returns(5), history));
        assert!(!fixture.path().join("rebuilding").exists());
    }
}

#[test]
fn what_was_refused_does_not_come_back_with_the_index() {
    let mut fixture = StoreFixture::with_settings(Settings { tool_limit: Some(1), ..Settings::default() });
    fixture.tool("hit", &returns(1));
    assert_eq!(
        fixture.insert(&sample_tool("other", &returns(2)), OnConflict::Refuse).unwrap_err().code(),
        "tool-limit-reached"
    );
    fixture.delete("hit").unwrap();
    fixture.tool("other", &returns(3));
    assert_eq!(fixture.undelete("hit").unwrap_err().code(), "tool-limit-reached");
    let before = fixture.state(["hit", "other"]);
    fixture.close();
    delete(&fixture.path().join("index.sqlite"));
    assert!(fixture.repair().is_healthy());
    fixture.reopen();
    assert_eq!(fixture.state(["hit", "other"]), before);
}

#[test]
fn the_order_of_arrival_outlasts_the_index() {
    let mut fixture = StoreFixture::new();
    for tool in ["c", "a", "d", "b"] {
        fixture.tool(tool, &returns(1));
    }
    fixture.replace("c", &returns(2));
    let listed = |fixture: &StoreFixture| {
        let filter = Filter { order: Order::Created, ..Filter::default() };
        let page = fixture.store().catalog().list(&filter).unwrap();
        page.entries.iter().map(|entry| (entry.name.to_string(), entry.created_at)).collect::<Vec<_>>()
    };
    let before = listed(&fixture);
    fixture.close();
    delete(&fixture.path().join("index.sqlite"));
    fixture.repair();
    fixture.reopen();
    assert_eq!(listed(&fixture), before);
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
        let mut fixture = fixture();
        overwrite(&fixture.path().join("index.sqlite-wal"), &log);
        if index_is_lost {
            delete(&fixture.path().join("index.sqlite"));
        }
        assert!(fixture.repair().is_healthy());
        assert!(fixture.check().problems.is_empty());
        fixture.reopen();
        assert_eq!((fixture.source("hit"), fixture.source("old")), (returns(5), "tool-not-found".to_owned()));
    }
}

#[test]
fn a_bit_that_flips_in_the_index_leads_no_name_elsewhere() {
    let mut fixture = fixture();
    fixture.reopen();
    let sources = |fixture: &StoreFixture| NAMES.map(|tool| (fixture.source(tool), fixture.history(tool)));
    let before = sources(&fixture);
    fixture.close();
    let index = fs::read(fixture.path().join("index.sqlite")).unwrap();
    let mut seed = 7_u64;
    for _ in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap() % index.len();
        let bit = 1 << (seed >> 30 & 7);
        let mut flipped = fixture.copy();
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
        assert_eq!(flipped.store().catalog().list(&Filter::default()).unwrap().total, 3, "byte {at}");
    }
}

#[test]
fn what_the_index_says_about_a_tool_is_what_its_objects_say() {
    let mut fixture = fixture();
    fixture.reopen();
    let expected = sample_tool("hit", &returns(5)).tags(&["needle"]).described("Threads").scores(0.5, 0.75);
    let id = fixture.insert(&expected, OnConflict::Replace).unwrap().id;
    let state = |fixture: &StoreFixture| (fixture.find("hit").unwrap(), fixture.source("hit"), fixture.history("hit"));
    let before = state(&fixture);
    let versions: Vec<_> = fixture.objects().iter().map(|path| blake3::hash(&fs::read(path).unwrap())).collect();
    fixture.close();
    let index = fs::read(fixture.path().join("index.sqlite")).unwrap();
    let texts = ["hit", "needle", "Threads", "unverified", "replaced"].map(str::as_bytes);
    let hashes = versions.iter().map(|hash| &hash.as_bytes()[..]).chain([&id.as_bytes()[..]]);
    let mut flips = 0;
    for needle in texts.into_iter().chain(hashes) {
        let places = index.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle);
        for (at, _) in places {
            let mut flipped = fixture.copy();
            let mut bytes = index.clone();
            bytes[at + 1] ^= 1;
            overwrite(&flipped.path().join("index.sqlite"), &bytes);
            flipped.repair();
            assert!(flipped.check().problems.is_empty(), "byte {at}");
            flipped.reopen();
            let after = state(&flipped);
            let text = String::from_utf8_lossy(needle);
            assert_eq!((&after.1, &after.2), (&before.1, &before.2), "byte {at}, {text}");
            let columns = |entry: &Entry| (entry.id, entry.status, entry.description.clone(), entry.tags.clone());
            assert_eq!(columns(&after.0), columns(&before.0), "byte {at}, {text}");
            // The runs are lost with the identifier of their tool.
            assert!(after.0.runs == 1 || needle == id.as_bytes(), "byte {at}, {text}");
            flips += 1;
        }
    }
    assert!(flips > 40, "{flips}");
}

/// Returns what only the index knows about `hit`.
fn known(fixture: &StoreFixture) -> (Status, u64, u64, u64, Vec<blake3::Hash>, usize, usize) {
    let entry = fixture.find("hit").unwrap();
    let usage = fixture.store().runs().usage(&entry).unwrap();
    let (from, to) = (jiff::civil::Date::MIN, jiff::civil::Date::MAX);
    let days = fixture.store().runs().usage_by_day(from..=to, Some(&entry)).unwrap();
    let runs_of_days = days.iter().map(|day| day.totals.runs).sum();
    assert_eq!(usage.last_used_at, entry.last_used_at);
    let records = fixture.store().runs().records(entry.id, 10).unwrap();
    let approvals = fixture.store().approvals().for_tool(entry.id).unwrap().len();
    let labels = fixture.store().labels().all().unwrap().len();
    (entry.status, usage.runs, usage.fuel.p50, runs_of_days, records, approvals, labels)
}

/// Creates a store whose index knows facts about `hit` that no object has.
fn shelf_with_knowledge() -> StoreFixture {
    let mut fixture = fixture();
    fixture.reopen();
    let hit = fixture.find("hit").unwrap().id;
    let (at, grants) = (fixture.now(), json!(["net"]));
    fixture.store().catalog().set_status(hit, Status::Pending).unwrap();
    fixture.store().labels().join(&[LabelHolder::Tool(hit)], &["web:example.com".to_owned()]).unwrap();
    fixture
        .store()
        .approvals()
        .set_decision(&Approval { tool: hit, grants, decision: Decision::Approved, by: "me".to_owned(), at })
        .unwrap();
    let once = Approval { tool: hit, grants: json!(["kv"]), decision: Decision::ApprovedOnce, by: "me".to_owned(), at };
    fixture.store().approvals().set_decision(&once).unwrap();
    fixture
        .store()
        .runs()
        .insert_record(&Record { kind: "run".to_owned(), tool: Some(hit), at, body: b"{}".to_vec() })
        .unwrap();
    fixture.close();
    fixture
}

#[test]
fn what_only_the_index_knows_is_taken_over_and_approvals_from_a_whole_one_only() {
    let mut fixture = shelf_with_knowledge();
    fixture.reopen();
    let before = known(&fixture);
    fixture.close();
    let mut whole = fixture.copy();
    fs::write(whole.path().join("rebuilding"), "").unwrap();
    assert!(whole.repair().is_healthy());
    whole.reopen();
    assert_eq!(known(&whole), before);
    assert_eq!((before.1, before.3), (1, 1));

    // The third page from the end belongs to some table or index: that one is damaged, and the rest is readable. The last two
    // are pages of the schema.
    let mut damaged = fixture.copy();
    let path = damaged.path().join("index.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() - 3 * 4096;
    bytes[page..][..4096].fill(0xa5);
    overwrite(&path, &bytes);
    assert!(damaged.repair().is_healthy());
    damaged.reopen();
    let (status, runs, .., approvals, labels) = known(&damaged);
    assert_eq!((status, runs, approvals, labels), (Status::Pending, 1, 0, 1));
}

/// Creates a store in which `hit` is refused and `other` is approved, and returns it with its
/// index.
fn shelf_with_a_refusal() -> (StoreFixture, Vec<u8>) {
    let mut fixture = fixture();
    fixture.reopen();
    let decide = |tool: &str, decision: Decision| {
        let (tool, at) = (fixture.find(tool).unwrap().id, fixture.now());
        let by = "a careful person".to_owned();
        fixture.store().approvals().set_decision(&Approval { tool, grants: json!(["net"]), decision, by, at }).unwrap();
    };
    decide("hit", Decision::Refused);
    decide("other", Decision::Approved);
    fixture.close();
    let index = fs::read(fixture.path().join("index.sqlite")).unwrap();
    (fixture, index)
}

#[test]
fn refusals_outlast_a_damaged_index_and_approvals_do_not() {
    let (fixture, index) = shelf_with_a_refusal();
    let needle = b"a careful person";
    let places: Vec<usize> = (0..index.len()).filter(|at| index[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty());
    for texts_are_damaged in [false, true] {
        let mut bytes = index.clone();
        // Damage any page without decisions: the index is corrupt, and the table of decisions is
        // readable. The last two pages are of the schema.
        let page = (1..bytes.len() / 4096 - 2).rev().find(|page| places.iter().all(|at| at / 4096 != *page)).unwrap();
        bytes[page * 4096..][..4096].fill(0xa5);
        if texts_are_damaged {
            for at in &places {
                bytes[*at..][..needle.len()].fill(0xff);
            }
        }
        let mut damaged = fixture.copy();
        overwrite(&damaged.path().join("index.sqlite"), &bytes);
        assert!(damaged.repair().is_healthy());
        damaged.reopen();
        let decided =
            |tool: &str| damaged.store().approvals().decision(damaged.find(tool).unwrap().id, &json!(["net"])).unwrap();
        assert_eq!((decided("hit"), decided("other")), (Some(Decision::Refused), None), "{texts_are_damaged}");
        let expected = damaged.store().approvals().for_tool(damaged.find("hit").unwrap().id).unwrap();
        let by = if texts_are_damaged { "repair" } else { "a careful person" };
        assert_eq!(expected.iter().map(|one| one.by.as_str()).collect::<Vec<_>>(), [by]);
        assert_eq!(damaged.store().approvals().decisions(10).unwrap().len(), 1);
    }
}

#[test]
fn refusals_outlast_an_index_that_is_gone_and_approvals_do_not() {
    let mut fixture = fixture();
    fixture.reopen();
    let decide = |tool: &str, action: Action, decision: Decision| {
        let (tool, at) = (fixture.find(tool).unwrap().id, fixture.now());
        let attempt = AuditEvent { tool: Some(tool), ..AuditEvent::new(action, at) };
        let approval = Approval { tool, grants: json!(["net"]), decision, by: "me".to_owned(), at };
        fixture.store().with_audit(attempt).set_decision(&approval).unwrap();
    };
    decide("hit", Action::Refuse, Decision::Refused);
    decide("other", Action::Refuse, Decision::Refused);
    decide("other", Action::Approve, Decision::Approved);
    fixture.close();
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(fixture.path().join(format!("index.sqlite{ending}")));
    }
    let health = fixture.repair();
    let mended = health.problems[0].mended.as_ref().unwrap().to_string();
    assert!(health.is_healthy() && mended.ends_with("without approvals; 1 refusal was kept"), "{mended}");
    fixture.reopen();
    let decided =
        |tool: &str| fixture.store().approvals().decision(fixture.find(tool).unwrap().id, &json!(["net"])).unwrap();
    assert_eq!((decided("hit"), decided("other")), (Some(Decision::Refused), None));
}

#[test]
fn a_repair_that_was_broken_off_is_finished_by_the_next() {
    let mut fixture = shelf_with_knowledge();
    fixture.reopen();
    let before = known(&fixture);
    fixture.close();
    let index = |ending: &str| fixture.path().join(format!("index.sqlite{ending}"));
    fs::write(fixture.path().join("rebuilding"), "").unwrap();
    // The old index was quarantined, and the new one is not in place yet.
    fs::rename(index(""), fixture.path().join("quarantine/index.1.sqlite")).unwrap();
    fs::write(fixture.path().join("tmp/index.sqlite"), "half").unwrap();
    let error = Store::open_existing(fixture.path(), &Settings::default()).err().unwrap();
    assert_eq!(error.code(), "integrity");
    assert!(!fixture.check().is_healthy());
    assert!(fixture.repair().is_healthy());
    assert!(fixture.check().problems.is_empty());
    fixture.reopen();
    assert_eq!(known(&fixture), before, "what people said is there as well");
}

#[test]
fn nobody_has_the_store_open_while_its_index_is_made_anew() {
    let mut fixture = fixture();
    fixture.reopen();
    fs::write(fixture.path().join("rebuilding"), "").unwrap();
    let error = fsck(fixture.path(), RepairMode::Repair).unwrap_err();
    assert_eq!((error.code().as_str(), fixture.source("hit")), ("store-busy", returns(5)));
    fixture.close();
    assert!(fixture.repair().is_healthy());
}

/// Creates a store whose index is an older copy, and returns it with the state that it had.
pub(crate) fn with_an_older_index() -> (StoreFixture, String) {
    let mut fixture = StoreFixture::new();
    fixture.set_clock(1).tool("old", &returns(1));
    fixture.close();
    let index = fixture.path().join("index.sqlite");
    let older = fs::read(&index).unwrap();
    fixture.reopen();
    fixture.set_clock(2).tool("new", &returns(2));
    fixture.replace("old", &returns(3));
    fixture.set_clock(3).delete("old").unwrap();
    let before = format!("{:?}", fixture.state(["old", "new"]));
    fixture.close();
    overwrite(&index, &older);
    (fixture, before)
}

#[test]
fn what_an_older_copy_of_the_index_does_not_know_is_told_and_taken_in_where_it_is_asked_for() {
    let (mut fixture, before) = with_an_older_index();
    fixture.reopen();
    assert_eq!(fixture.find("new").unwrap_err().code(), "tool-not-found");
    let collected = fixture.store().maintenance().collect(fixture.now(), fixture.now(), GcMode::Execute).unwrap();
    assert_eq!(collected.objects, 0, "what is young stays, whatever the index knows");
    let health = fixture.check();
    assert_eq!((health.problems.len(), health.unreferenced, health.unknown_steps), (0, 5, 3));
    let columns: Vec<_> = health.unknown.iter().map(|step| (step.name.as_str(), step.event.name())).collect();
    assert!(columns.contains(&("new", "created")) && columns.contains(&("old", "deleted")), "{columns:?}");
    fixture.close();
    let unknown = repair_adopting(fixture.path(), &["nobody".to_owned()]).unwrap_err();
    assert_eq!(unknown.code(), "step-not-found");
    let health = repair_adopting(fixture.path(), &["new".to_owned(), "old".to_owned()]).unwrap();
    assert_eq!((health.is_healthy(), health.unreferenced, health.unknown_steps), (true, 0, 0));
    fixture.reopen();
    assert_eq!(format!("{:?}", fixture.state(["old", "new"])), before);
}

#[test]
fn steps_that_a_whole_index_does_not_know_are_put_aside_and_can_be_had_back() {
    let (mut fixture, before) = with_an_older_index();
    assert!(fixture.repair().is_healthy());
    fixture.reopen();
    assert_eq!(fixture.find("new").unwrap_err().code(), "tool-not-found");
    assert_eq!(fixture.source("old"), returns(1));
    fixture.close();
    assert_eq!(fixture.check().unknown_steps, 0);
    let health = repair_adopting(fixture.path(), &["new".to_owned(), "old".to_owned()]).unwrap();
    assert!(health.is_healthy(), "{health:?}");
    fixture.reopen();
    assert_eq!(format!("{:?}", fixture.state(["old", "new"])), before);
}
