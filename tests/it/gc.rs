//! Garbage collection removes what is unreachable, and nothing else.

use std::fs;

use jiff::Timestamp;
use toolcell::store::{GcMode, GcReport, RUN_KIND, Record};

use crate::fixtures::store::{StoreFixture, files_below, returns, sample_tool};

fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn collect(shelf: &StoreFixture, deleted_before: i64, mode: GcMode) -> GcReport {
    shelf.store().collect(seconds(deleted_before), seconds(deleted_before), mode).unwrap()
}

fn names(collected: &GcReport) -> Vec<&str> {
    collected.names.iter().map(|(name, _)| name.as_str()).collect()
}

/// Creates a store in which `live` and `back` exist, `early` was deleted at 100 and `late` at 200.
/// `live` has had the same source as `late`.
fn shelf() -> StoreFixture {
    let shelf = StoreFixture::new();
    shelf.set_clock(1).tool("live", "const execute = () => 'shared'");
    shelf.tool("late", "const execute = () => 'shared'");
    shelf.replace("live", &returns(1));
    shelf.tool("early", &returns(2));
    shelf.replace("early", &returns(3));
    shelf.tool("back", &returns(4));
    shelf.delete("back").unwrap();
    shelf.set_clock(50).undelete("back").unwrap();
    shelf.set_clock(100).delete("early").unwrap();
    shelf.set_clock(200).delete("late").unwrap();
    shelf
}

#[test]
fn what_was_deleted_long_enough_ago_goes_and_nothing_else() {
    let shelf = shelf();
    let all = shelf.objects().len();
    for before in [0, 99, 100] {
        assert_eq!(collect(&shelf, before, GcMode::Execute), GcReport::default(), "{before}");
    }
    assert_eq!(shelf.undelete("early").unwrap().number, 4);
    shelf.set_clock(100).delete("early").unwrap();

    // Two sources, their two versions, and three versions for deletions and restorations.
    let collected = collect(&shelf, 101, GcMode::Execute);
    assert_eq!((names(&collected), collected.objects), (vec!["early"], 7));
    assert_eq!(shelf.objects().len(), all + 2 - 7);
    let collected = collect(&shelf, 201, GcMode::Execute);
    // The source is shared with a version of `live`.
    assert_eq!((names(&collected), collected.objects), (vec!["late"], 2));
    assert_eq!(collect(&shelf, i64::from(i32::MAX), GcMode::Execute), GcReport::default());
}

#[test]
fn records_of_runs_go_when_they_are_old_and_receipts_stay() {
    let shelf = StoreFixture::new();
    let tool = shelf.set_clock(1).tool("sum", &returns(1));
    for (kind, at) in [(RUN_KIND, 10), (RUN_KIND, 20), ("receipt", 10)] {
        let body = format!("{kind} {at}").into_bytes();
        shelf
            .store()
            .insert_record(&Record { kind: kind.to_owned(), tool: Some(tool), at: seconds(at), body })
            .unwrap();
    }
    let left = || shelf.store().records(tool, 10).unwrap().len();
    assert_eq!(collect(&shelf, 10, GcMode::Execute), GcReport::default());
    assert_eq!((collect(&shelf, 11, GcMode::DryRun).records, left()), (1, 3));
    assert_eq!((collect(&shelf, 11, GcMode::Execute).records, left()), (1, 2));
    assert_eq!((collect(&shelf, 99, GcMode::Execute).records, left()), (1, 1));
}

#[test]
fn a_plan_says_exactly_what_is_done_then() {
    for before in [0, 101, 201] {
        let shelf = shelf();
        let old = shelf.path().join("tmp/1.0");
        fs::write(&old, "half").unwrap();
        let state = |shelf: &StoreFixture| (files_below(shelf.path()), shelf.state(["live", "late", "early", "back"]));
        let unchanged = state(&shelf);
        let now = Timestamp::MAX;
        let plan = shelf.store().collect(seconds(before), now, GcMode::DryRun).unwrap();
        assert_eq!(state(&shelf), unchanged);
        let done = shelf.store().collect(seconds(before), now, GcMode::Execute).unwrap();
        assert_eq!(plan, done);
        assert_eq!(unchanged.0.len() as u64 - files_below(shelf.path()).len() as u64, done.objects + done.unfinished);
    }
}

#[test]
fn what_is_collected_is_no_more_and_can_be_made_again() {
    let shelf = shelf();
    let id = sample_tool("early", &returns(3)).id();
    shelf.run(id, None, 1, 1);
    collect(&shelf, 101, GcMode::Execute);
    assert_eq!(shelf.undelete("early").unwrap_err().code(), "tool-not-found");
    assert_eq!(shelf.undelete(&id.short()).unwrap_err().code(), "tool-not-found");
    assert_eq!(shelf.roll_back("early", 1).unwrap_err().code(), "tool-not-found");
    assert_eq!(shelf.set_clock(300).tool("early", &returns(3)), id);
    let entry = shelf.find("early").unwrap();
    assert_eq!((entry.runs, entry.created_at), (0, seconds(300)));
    assert_eq!(shelf.history("early"), format!("created {} at 300", id.short()));
}

#[test]
fn histories_of_live_names_stay() {
    let mut shelf = shelf();
    let before = shelf.state(["live", "back"]);
    collect(&shelf, i64::from(i32::MAX), GcMode::Execute);
    assert_eq!(shelf.state(["live", "back"]), before);
    shelf.roll_back("live", 1).unwrap();
    assert_eq!(shelf.source("live"), "const execute = () => 'shared'");
    let before = shelf.state(["live", "back", "late", "early"]);
    shelf.close();
    assert!(shelf.check().problems.is_empty());
    for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(shelf.path().join(file));
    }
    assert!(shelf.repair().is_healthy());
    shelf.reopen();
    assert_eq!(shelf.state(["live", "back", "late", "early"]), before);
}

#[test]
fn nothing_that_can_be_reached_is_collected_whatever_happened() {
    let shelf = StoreFixture::new();
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
            0 | 1 => shelf.insert(&sample_tool(tool, &returns(random(4))), toolcell::store::OnConflict::Replace),
            2 => shelf.delete(tool),
            3 => shelf.undelete(tool),
            _ => shelf.roll_back(tool, random(5)),
        };
        if random(10) == 0 {
            let before = shelf.state(tools);
            let deleted: Vec<bool> = tools.iter().map(|tool| shelf.find(tool).is_err()).collect();
            let all = shelf.now();
            shelf.store().collect(all, all, GcMode::Execute).unwrap();
            for ((before, after), deleted) in before.iter().zip(shelf.state(tools)).zip(deleted) {
                assert!(if deleted { after.ends_with("← ") } else { *before == after }, "{before} became {after}");
            }
            let health = shelf.check();
            assert!(health.problems.is_empty() && health.unreferenced == 0, "{health:?}");
        }
    }
}

#[test]
fn what_nobody_finished_writing_goes_when_nobody_can_be_writing_it() {
    let shelf = shelf();
    fs::write(shelf.path().join("tmp/9999.1"), "half").unwrap();
    let written = fs::metadata(shelf.path().join("tmp/9999.1")).unwrap().modified().unwrap();
    let written: Timestamp = written.try_into().unwrap();
    let at = |minutes: i64| written + jiff::SignedDuration::from_mins(minutes);
    let never = seconds(0);
    assert_eq!(shelf.store().collect(never, at(59), GcMode::Execute).unwrap().unfinished, 0);
    assert_eq!(shelf.store().collect(never, at(61), GcMode::DryRun).unwrap().unfinished, 1);
    assert_eq!(shelf.store().collect(never, at(61), GcMode::Execute).unwrap().unfinished, 1);
    assert!(!shelf.path().join("tmp/9999.1").exists());
}
