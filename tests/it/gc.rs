//! Garbage collection removes what is unreachable, and nothing else.

use std::fs;

use jiff::Timestamp;
use toolcell::store::{GcMode, GcReport, RECEIPT_KIND, RUN_KIND, Record};

use crate::fixtures::store::{StoreFixture, files_below, returns, sample_tool};

fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn collect(fixture: &StoreFixture, deleted_before: i64, mode: GcMode) -> GcReport {
    fixture.store().maintenance().collect(seconds(deleted_before), seconds(deleted_before), mode).unwrap()
}

fn names(collected: &GcReport) -> Vec<&str> {
    collected.names.iter().map(|(name, _)| name.as_str()).collect()
}

/// Creates a store in which `live` and `back` exist, `early` was deleted at 100 and `late` at 200.
/// `live` has had the same source as `late`.
fn fixture() -> StoreFixture {
    let fixture = StoreFixture::new();
    fixture.set_clock(1).tool("live", "const execute = () => 'shared'");
    fixture.tool("late", "const execute = () => 'shared'");
    fixture.replace("live", &returns(1));
    fixture.tool("early", &returns(2));
    fixture.replace("early", &returns(3));
    fixture.tool("back", &returns(4));
    fixture.delete("back").unwrap();
    fixture.set_clock(50).undelete("back").unwrap();
    fixture.set_clock(100).delete("early").unwrap();
    fixture.set_clock(200).delete("late").unwrap();
    fixture
}

#[test]
fn what_was_deleted_long_enough_ago_goes_and_nothing_else() {
    let fixture = fixture();
    let all = fixture.objects().len();
    for before in [0, 99, 100] {
        assert_eq!(collect(&fixture, before, GcMode::Execute), GcReport::default(), "{before}");
    }
    assert_eq!(fixture.undelete("early").unwrap().number, 4);
    fixture.set_clock(100).delete("early").unwrap();

    // Two sources, their two versions, and three versions for deletions and restorations.
    let collected = collect(&fixture, 101, GcMode::Execute);
    assert_eq!((names(&collected), collected.objects), (vec!["early"], 7));
    assert_eq!(fixture.objects().len(), all + 2 - 7);
    let collected = collect(&fixture, 201, GcMode::Execute);
    // The source is shared with a version of `live`.
    assert_eq!((names(&collected), collected.objects), (vec!["late"], 2));
    assert_eq!(collect(&fixture, i64::from(i32::MAX), GcMode::Execute), GcReport::default());
}

#[test]
fn records_of_runs_go_with_their_receipts_when_they_are_old_and_others_stay() {
    let fixture = StoreFixture::new();
    let tool = fixture.set_clock(1).tool("sum", &returns(1));
    for (kind, at) in [(RUN_KIND, 10), (RECEIPT_KIND, 10), (RUN_KIND, 20), ("other", 10)] {
        let body = format!("{kind} {at}").into_bytes();
        fixture
            .store()
            .runs()
            .insert_record(&Record { kind: kind.to_owned(), tool: Some(tool), at: seconds(at), body })
            .unwrap();
    }
    let left = || fixture.store().runs().records(tool, 10).unwrap().len();
    assert_eq!(collect(&fixture, 10, GcMode::Execute), GcReport::default());
    assert_eq!((collect(&fixture, 11, GcMode::DryRun).records, left()), (1, 4));
    assert_eq!((collect(&fixture, 11, GcMode::Execute).records, left()), (1, 2));
    assert_eq!((collect(&fixture, 99, GcMode::Execute).records, left()), (1, 1));
}

#[test]
fn a_plan_says_exactly_what_is_done_then() {
    for before in [0, 101, 201] {
        let fixture = fixture();
        let old = fixture.path().join("tmp/1.0");
        fs::write(&old, "half").unwrap();
        let state =
            |fixture: &StoreFixture| (files_below(fixture.path()), fixture.state(["live", "late", "early", "back"]));
        let unchanged = state(&fixture);
        let now = Timestamp::MAX;
        let plan = fixture.store().maintenance().collect(seconds(before), now, GcMode::DryRun).unwrap();
        assert_eq!(state(&fixture), unchanged);
        let done = fixture.store().maintenance().collect(seconds(before), now, GcMode::Execute).unwrap();
        assert_eq!(plan, done);
        assert_eq!(unchanged.0.len() as u64 - files_below(fixture.path()).len() as u64, done.objects + done.unfinished);
    }
}

#[test]
fn what_is_collected_is_no_more_and_can_be_made_again() {
    let fixture = fixture();
    let id = sample_tool("early", &returns(3)).id();
    fixture.run(id, None, 1, 1);
    collect(&fixture, 101, GcMode::Execute);
    assert_eq!(fixture.undelete("early").unwrap_err().code(), "tool-not-found");
    assert_eq!(fixture.undelete(&id.short()).unwrap_err().code(), "tool-not-found");
    assert_eq!(fixture.roll_back("early", 1).unwrap_err().code(), "tool-not-found");
    assert_eq!(fixture.set_clock(300).tool("early", &returns(3)), id);
    let entry = fixture.find("early").unwrap();
    assert_eq!((entry.runs, entry.created_at), (0, seconds(300)));
    assert_eq!(fixture.history("early"), format!("created {} at 300", id.short()));
}

#[test]
fn histories_of_live_names_stay() {
    let mut fixture = fixture();
    let before = fixture.state(["live", "back"]);
    collect(&fixture, i64::from(i32::MAX), GcMode::Execute);
    assert_eq!(fixture.state(["live", "back"]), before);
    fixture.roll_back("live", 1).unwrap();
    assert_eq!(fixture.source("live"), "const execute = () => 'shared'");
    let before = fixture.state(["live", "back", "late", "early"]);
    fixture.close();
    assert!(fixture.check().problems.is_empty());
    for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(fixture.path().join(file));
    }
    assert!(fixture.repair().is_healthy());
    fixture.reopen();
    assert_eq!(fixture.state(["live", "back", "late", "early"]), before);
}

#[test]
fn nothing_that_can_be_reached_is_collected_whatever_happened() {
    let fixture = StoreFixture::new();
    let mut state = 11_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let tools = ["a", "b", "c", "d"];
    for _ in 0..400 {
        let tool = tools[usize::try_from(random(4)).unwrap()];
        // Operations that fail have no effect.
        let _ = match random(5) {
            0 | 1 => fixture.insert(&sample_tool(tool, &returns(random(4))), toolcell::store::OnConflict::Replace),
            2 => fixture.delete(tool),
            3 => fixture.undelete(tool),
            _ => fixture.roll_back(tool, random(5)),
        };
        if random(10) == 0 {
            let before = fixture.state(tools);
            let deleted: Vec<bool> = tools.iter().map(|tool| fixture.find(tool).is_err()).collect();
            let all = fixture.now();
            fixture.store().maintenance().collect(all, all, GcMode::Execute).unwrap();
            for ((before, after), deleted) in before.iter().zip(fixture.state(tools)).zip(deleted) {
                assert!(if deleted { after.ends_with("← ") } else { *before == after }, "{before} became {after}");
            }
            let health = fixture.check();
            assert!(health.problems.is_empty() && health.unreferenced == 0, "{health:?}");
        }
    }
}

#[test]
fn what_nobody_finished_writing_goes_when_nobody_can_be_writing_it() {
    let fixture = fixture();
    fs::write(fixture.path().join("tmp/9999.1"), "half").unwrap();
    let written = fs::metadata(fixture.path().join("tmp/9999.1")).unwrap().modified().unwrap();
    let written: Timestamp = written.try_into().unwrap();
    let at = |minutes: i64| written + jiff::SignedDuration::from_mins(minutes);
    let never = seconds(0);
    assert_eq!(fixture.store().maintenance().collect(never, at(59), GcMode::Execute).unwrap().unfinished, 0);
    assert_eq!(fixture.store().maintenance().collect(never, at(61), GcMode::DryRun).unwrap().unfinished, 1);
    assert_eq!(fixture.store().maintenance().collect(never, at(61), GcMode::Execute).unwrap().unfinished, 1);
    assert!(!fixture.path().join("tmp/9999.1").exists());
}
