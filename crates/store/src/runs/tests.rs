//! Tests of the guarantees about runs.
#![expect(clippy::disallowed_methods, reason = "the tests look at the journals and damage them")]

use std::path::PathBuf;
use std::sync::atomic;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::date;
use toolcell_tool::{Draft, ToolId, ToolMetadata, ToolName, ToolSpec};

use super::journal::*;
use super::*;
use crate::Store;
use crate::audit::AuditEvent;
use crate::audit::{Action, AuditFilter, AuditOrder};
use crate::{Entry, NewTool, OnConflict, RUN_KIND, Scores, Settings, ToolRef};

/// A store in a temporary directory.
struct StoreFixture {
    folder: tempfile::TempDir,
    store: Store,
    tool: ToolId,
}

impl StoreFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let draft = Draft::from_bytes("sum.js", b"const execute = () => 1").unwrap();
        let name = ToolName::parse("sum").unwrap();
        let spec = ToolSpec::new(name, &draft, serde_json::Value::Null, serde_json::Value::Null).unwrap();
        let notes = ToolMetadata::new("One").unwrap();
        let scores = Scores { safety: 1.0, quality: 1.0 };
        let registration = NewTool { spec: &spec, metadata: &notes, scores, at: at(0) };
        store.catalog().insert(&registration, OnConflict::Refuse).unwrap();
        Self { folder, store, tool: spec.id() }
    }

    /// Opens the store a second time, as another process would.
    fn reopen(&self) -> Store {
        self.store.runs().flush().unwrap();
        Store::open(self.folder.path(), &Settings::default()).unwrap()
    }

    fn end<'a>(&self, run: RunId, outcome: &'static str) -> FinishedRun<'a> {
        end(self.tool, run, outcome)
    }

    /// Starts some runs and abandons them, as a killed process does.
    fn killed(&self, begun: usize) -> Vec<RunId> {
        let store = self.reopen();
        let begun: Vec<ActiveRun> = (0..begun).map(|_| store.runs().start(payload).unwrap()).collect();
        begun.iter().map(ActiveRun::run).collect()
    }

    fn journals(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("running")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The outcome of each run from its one record and its one audit line, in the order of the
    /// lines.
    fn ended(&self) -> Vec<(String, String)> {
        let store = self.reopen();
        let records = store.runs().records_of_kind(self.tool, RUN_KIND, usize::MAX).unwrap();
        let mut bodies: Vec<String> =
            records.into_iter().map(|(_, record)| String::from_utf8(record.body).unwrap()).collect();
        let lines = store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
        let ended = lines.map(|line| {
            let line = line.unwrap();
            let said = |field: &str| line.details[field].as_str().unwrap().to_owned();
            let (run, outcome) = (said("run"), said("outcome"));
            let body =
                bodies.iter().position(|said| *said == body(&run, &outcome)).expect("a record that says the same");
            bodies.remove(body);
            (run, outcome)
        });
        let ended = ended.collect();
        assert_eq!(bodies, Vec::<String>::new(), "records without a line");
        ended
    }

    fn counted(&self) -> u64 {
        self.reopen().catalog().find(&ToolRef::parse("sum").unwrap()).unwrap().runs
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn payload(run: &RunId) -> Vec<u8> {
    format!("begun {run}").into_bytes()
}

fn body(run: &str, outcome: &str) -> String {
    format!(r#"{{"run":"{run}","outcome":"{outcome}"}}"#)
}

fn end<'a>(tool: ToolId, run: RunId, outcome: &'static str) -> FinishedRun<'a> {
    let body = body(&run.to_string(), outcome).into_bytes();
    let mut attempt = AuditEvent { tool: Some(tool), ..AuditEvent::new(Action::RunDynamicTool, at(1)) };
    attempt.details.outcome = Some(outcome);
    let duration = Duration::from_micros(20);
    let usage = UsageEvent { tool, at: at(1), failure: None, fuel: 1, duration, tokens_saved: None, time_saved: None };
    FinishedRun {
        usage: Some(usage),
        record: Record { kind: RUN_KIND.to_owned(), tool: Some(tool), at: at(1), body },
        audit_event: attempt,
    }
}

/// Recovers the interrupted runs and returns them.
fn close(world: &StoreFixture, store: &Store) -> Vec<(RunId, Vec<u8>)> {
    let interrupted = store.runs().interrupted().unwrap();
    let closed = interrupted.into_iter().map(|interrupted| {
        store.runs().finish(interrupted.active, world.end(interrupted.run, "interrupted")).unwrap();
        (interrupted.run, interrupted.payload)
    });
    closed.collect()
}

fn said(runs: &[RunId], outcome: &str) -> Vec<(String, String)> {
    runs.iter().map(|run| (run.to_string(), outcome.to_owned())).collect()
}

#[test]
fn a_run_that_ends_leaves_its_record_its_line_its_usage_and_nothing_else() {
    let world = StoreFixture::new();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let begun = world.store.runs().start(payload).unwrap();
        runs.push(begun.run());
        let hash = world.store.runs().finish(begun, world.end(runs[runs.len() - 1], "returned")).unwrap();
        assert_eq!(
            world.store.runs().record_of_run(runs[runs.len() - 1]).unwrap(),
            world.store.runs().record(hash).unwrap()
        );
    }
    assert_eq!((world.ended(), world.counted()), (said(&runs, "returned"), 3));
    assert_eq!(world.store.runs().interrupted().unwrap().len(), 0);
    // Sequential runs reuse one slot.
    assert_eq!(world.journals().len(), 1);
    assert!(std::fs::metadata(&world.journals()[0]).unwrap().len() <= 4096);
    let StoreFixture { folder, store, .. } = world;
    drop(store);
    assert_eq!(std::fs::read_dir(folder.path().join("running")).unwrap().count(), 0);
}

#[test]
fn a_store_that_begins_nothing_has_no_journal() {
    let world = StoreFixture::new();
    assert_eq!(world.store.runs().interrupted().unwrap().len(), 0);
    assert!(!world.folder.path().join("running").exists());
}

#[test]
fn what_a_process_that_is_gone_began_is_found_once() {
    let world = StoreFixture::new();
    let runs = world.killed(5);
    let found = close(&world, &world.store);
    assert_eq!(found, runs.iter().map(|run| (*run, payload(run))).collect::<Vec<_>>());
    assert_eq!((world.ended(), world.counted()), (said(&runs, "interrupted"), 5));
    assert_eq!((close(&world, &world.store), world.journals()), (Vec::new(), Vec::new()));
}

#[test]
fn what_a_living_process_began_is_not_interrupted() {
    let world = StoreFixture::new();
    let other = world.reopen();
    let begun = other.runs().start(payload).unwrap();
    assert_eq!(world.store.runs().interrupted().unwrap().len(), 0);
    let run = begun.run();
    other.runs().finish(begun, world.end(run, "returned")).unwrap();
    // This store sees its own runs at once; other processes see them after a flush, at the latest
    // when the store is closed.
    assert_eq!(other.catalog().find(&ToolRef::parse("sum").unwrap()).unwrap().runs, 1);
    assert_eq!(world.ended(), said(&[run], "returned"));
}

#[test]
fn what_has_ended_and_is_not_settled_is_not_lost_with_its_process() {
    let world = StoreFixture::new();
    let other = world.reopen();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let begun = other.runs().start(payload).unwrap();
        runs.push(begun.run());
        let run = begun.run();
        other.runs().finish(begun, world.end(run, "returned")).unwrap();
    }
    assert_eq!((other.runs().unflushed(), world.store.runs().record_of_run(runs[0]).unwrap()), (3, None));
    // A killed process closes nothing; its locks and its memory are gone.
    other.runs.flush_queue.clear();
    drop(other);
    assert_eq!(close(&world, &world.store), []);
    assert_eq!((world.ended(), world.counted()), (said(&runs, "returned"), 3));
    assert_eq!(world.journals().len(), 0);
}

#[test]
fn many_ends_at_once_are_counted_once_each() {
    let world = StoreFixture::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let begun = world.store.runs().start(payload).unwrap();
                    let run = begun.run();
                    world.store.runs().finish(begun, world.end(run, "returned")).unwrap();
                }
            });
        }
        scope.spawn(|| (0..50).for_each(|_| world.store.runs().flush().unwrap()));
    });
    assert_eq!((world.ended().len(), world.counted(), world.store.runs().unflushed()), (2000, 2000, 0));
}

#[test]
fn a_run_that_is_let_go_is_interrupted_in_the_same_process_or_later() {
    let world = StoreFixture::new();
    let let_go = world.store.runs().start(payload).unwrap();
    let runs = [let_go.run()];
    drop(let_go);
    assert_eq!(close(&world, &world.store).len(), 1);
    assert_eq!((world.ended(), close(&world, &world.store)), (said(&runs, "interrupted"), Vec::new()));

    // A caller that only looks releases the runs again.
    let runs = world.killed(2);
    assert_eq!(world.store.runs().interrupted().unwrap().len(), 2);
    assert_eq!(close(&world, &world.reopen()).len(), 2);
    assert_eq!(world.ended()[1..], said(&runs, "interrupted"));
}

#[test]
fn what_somebody_is_closing_is_left_to_them() {
    let world = StoreFixture::new();
    let runs = world.killed(2);
    let closing = world.store.runs().interrupted().unwrap();
    assert_eq!(closing.len(), 2);
    assert_eq!(close(&world, &world.reopen()), []);
    for interrupted in closing {
        world.store.runs().finish(interrupted.active, world.end(interrupted.run, "interrupted")).unwrap();
    }
    assert_eq!(world.ended(), said(&runs, "interrupted"));
    assert_eq!(close(&world, &world.reopen()), []);
}

#[test]
fn what_was_written_before_the_kill_is_not_written_again() {
    let world = StoreFixture::new();
    // Only the slot is left, as it was before the end.
    let store = world.reopen();
    let begun = store.runs().start(payload).unwrap();
    let run = begun.run();
    let journal = world.journals().remove(0);
    let slot = std::fs::read(&journal).unwrap();
    store.runs().finish(begun, world.end(run, "returned")).unwrap();
    drop(store);
    std::fs::write(&journal, &slot).unwrap();
    assert_eq!((close(&world, &world.store), world.journals()), (Vec::new(), Vec::new()));
    assert_eq!((world.ended(), world.counted()), (said(&[run], "returned"), 1));

    // The run record exists, and the audit line does not.
    let log = world.folder.path().join("logs");
    for file in std::fs::read_dir(log).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    std::fs::write(&journal, &slot).unwrap();
    let interrupted = world.reopen().runs().interrupted().unwrap().remove(0);
    assert_eq!(interrupted.record.as_ref().unwrap().body, body(&run.to_string(), "returned").into_bytes());
    world.store.runs().finish(interrupted.active, world.end(run, "returned")).unwrap();
    assert_eq!((world.ended(), world.counted()), (said(&[run], "returned"), 1));
}

#[test]
fn a_line_without_its_record_gets_one() {
    let world = StoreFixture::new();
    let runs = world.killed(1);
    let mut attempt = world.end(runs[0], "interrupted").audit_event;
    attempt.details.run = Some(runs[0].to_string());
    world.store.audit().record(&attempt).unwrap();
    close(&world, &world.store);
    assert_eq!((world.ended(), world.counted()), (said(&runs, "interrupted"), 1));
}

#[test]
fn a_slot_that_was_torn_is_no_run() {
    let world = StoreFixture::new();
    let runs = world.killed(3);
    let journal = world.journals().remove(0);
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[1024 + 60] ^= 1;
    bytes.truncate(2 * 1024 + 30);
    std::fs::write(&journal, bytes).unwrap();
    assert_eq!(close(&world, &world.store).len(), 1);
    assert_eq!((world.ended(), world.journals()), (said(&runs[..1], "interrupted"), Vec::new()));
}

#[test]
fn what_is_no_journal_stays_where_it_is() {
    let world = StoreFixture::new();
    let running = world.folder.path().join("running");
    std::fs::create_dir(&running).unwrap();
    std::fs::write(running.join("notes.txt"), "mine").unwrap();
    std::fs::create_dir(running.join("00000000000000ab")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", running.join("00000000000000cd")).unwrap();
    std::fs::write(running.join("00000000000000ef"), vec![0xff; 4_000]).unwrap();
    let runs = world.killed(1);
    assert_eq!(close(&world, &world.store).len(), 1);
    assert_eq!((world.ended(), world.journals().len()), (said(&runs, "interrupted"), 3));
}

#[test]
fn what_a_run_begins_with_fits_its_slot() {
    let world = StoreFixture::new();
    let longest = world.store.runs().start(|_| vec![7; PAYLOAD_LIMIT]).unwrap();
    let refused = world.store.runs().start(|_| vec![7; PAYLOAD_LIMIT + 1]).err().unwrap();
    assert_eq!(refused.code(), "disk-failed");
    assert!(refused.to_string().ends_with("the start record of a run is 985 bytes, the limit is 984"), "{refused}");
    drop(longest);
    let found = world.store.runs().interrupted().unwrap();
    assert_eq!(found.iter().map(|found| found.payload.len()).collect::<Vec<_>>(), [PAYLOAD_LIMIT]);
}

#[test]
fn a_panic_before_a_run_is_begun_begins_nothing() {
    let world = StoreFixture::new();
    let begin = || world.store.runs().start(|_| panic!("while it says what it is about")).map(|_| ());
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(begin)).unwrap_err();
    assert_eq!(close(&world, &world.store), []);
    let runs = world.killed(0);
    assert_eq!((world.ended(), runs), (Vec::new(), Vec::new()));
}

#[test]
fn many_threads_end_their_runs_and_many_look_for_others() {
    let world = StoreFixture::new();
    let killed = world.killed(20);
    let ended = atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let begun = world.store.runs().start(payload).unwrap();
                    let end = world.end(begun.run(), "returned");
                    world.store.runs().finish(begun, end).unwrap();
                }
            });
            scope.spawn(|| ended.fetch_add(close(&world, &world.reopen()).len(), atomic::Ordering::Relaxed));
        }
    });
    assert_eq!(ended.into_inner(), killed.len());
    let ended = world.ended();
    assert_eq!((ended.len(), world.counted()), (100, 100));
    assert_eq!(ended.iter().filter(|(_, outcome)| outcome == "interrupted").count(), 20);
}

#[test]
fn an_index_that_is_made_anew_knows_the_runs() {
    let world = StoreFixture::new();
    let runs = world.killed(1);
    let begun = world.store.runs().start(payload).unwrap();
    let run = begun.run();
    world.store.runs().finish(begun, world.end(run, "returned")).unwrap();
    let StoreFixture { folder, store, tool } = world;
    drop(store);
    // The marker of an interrupted repair.
    std::fs::write(folder.path().join("rebuilding"), "").unwrap();
    assert!(crate::fsck(folder.path(), crate::RepairMode::Repair).unwrap().is_healthy());
    let store = Store::open(folder.path(), &Settings::default()).unwrap();
    let world = StoreFixture { folder, store, tool };
    assert!(world.store.runs().record_of_run(run).unwrap().is_some());
    assert_eq!(close(&world, &world.store).len(), 1);
    let outcomes = [said(&[run], "returned"), said(&runs, "interrupted")].concat();
    assert_eq!((world.ended(), world.counted()), (outcomes, 2));
}

#[test]
fn threads_that_look_at_once_share_what_was_let_go() {
    let world = StoreFixture::new();
    for _ in 0..100 {
        drop(world.store.runs().start(payload).unwrap());
    }
    let closed: usize = std::thread::scope(|scope| {
        let closing: Vec<_> = (0..4).map(|_| scope.spawn(|| close(&world, &world.store).len())).collect();
        closing.into_iter().map(|closing| closing.join().unwrap()).sum()
    });
    assert_eq!((closed, world.ended().len()), (100, 100));
    assert_eq!(close(&world, &world.store), []);
}

#[test]
fn usage_is_summed_by_day_and_tool() {
    let world = StoreFixture::new();
    let (runs, day) = (world.store.runs(), 86_400);
    let (first, last) = (date(1970, 1, 1), date(1970, 1, 9));
    let event = |second, fuel, failure: Option<&str>, tokens_saved| UsageEvent {
        tool: world.tool,
        at: at(second),
        failure: failure.map(str::to_owned),
        fuel,
        duration: Duration::from_micros(20),
        tokens_saved,
        time_saved: None,
    };
    let events = [
        event(day, 5, None, Some(3)),
        event(2 * day - 1, u64::MAX, Some("tool-failed"), Some(100)),
        event(2 * day, 7, None, None),
        event(0, 1, None, None),
    ];
    for event in events {
        runs.record_usage(event).unwrap();
    }
    let found = runs.usage_by_day(date(1970, 1, 2)..=last, None).unwrap();
    let totals = |runs, failures, fuel, max_fuel, micros, tokens_saved| UsageTotals {
        runs,
        failures,
        fuel,
        max_fuel,
        time: Duration::from_micros(micros),
        tokens_saved,
        time_saved: None,
    };
    let most = i64::MAX.cast_unsigned();
    let expected = [
        // A failed run saves nothing. Sums of a period are numbers of 53 bits.
        DailyUsage { day: date(1970, 1, 2), totals: totals(2, 1, 9_000_000_000_000_000_000, most, 40, Some(3)) },
        DailyUsage { day: date(1970, 1, 3), totals: totals(1, 0, 7, 7, 20, None) },
    ];
    assert_eq!(found, expected);
    let tool = world.store.catalog().find(&ToolRef::parse("sum").unwrap()).unwrap();
    assert_eq!(runs.usage_by_day(date(1970, 1, 3)..=last, Some(&tool)).unwrap(), expected[1..]);
    let expensive = runs.most_expensive(first..=last, 5).unwrap();
    assert_eq!(expensive, [(tool.clone(), totals(4, 1, 9_000_000_000_000_000_000, most, 80, Some(3)))]);
    assert_eq!(
        (runs.most_expensive(date(1970, 1, 4)..=last, 5).unwrap(), runs.most_expensive(first..=last, 0).unwrap()),
        (vec![], vec![])
    );
    assert_eq!(runs.usage_by_day(first..=first, None).unwrap().len(), 1);

    // Saved time is that of runs that did not fail, and is kept apart: most hosts report none.
    for (second, failure, seconds) in [(2 * day, None, 90), (2 * day + 1, Some("timeout"), 8), (2 * day + 2, None, 10)]
    {
        let time_saved = Some(Duration::from_secs(seconds));
        runs.record_usage(UsageEvent { time_saved, ..event(second, 1, failure, None) }).unwrap();
    }
    runs.record_usage(UsageEvent { time_saved: Some(Duration::MAX), ..event(4 * day, 1, None, None) }).unwrap();
    let saved = |from, to, tool: Option<&Entry>| {
        let days = runs.usage_by_day(from..=to, tool).unwrap();
        days.into_iter().map(|day| day.totals.time_saved).collect::<Vec<_>>()
    };
    let hundred = Some(Duration::from_secs(100));
    assert_eq!(saved(first, date(1970, 1, 3), None), [None, None, hundred]);
    assert_eq!(saved(date(1970, 1, 3), date(1970, 1, 3), Some(&tool)), [hundred]);
    let most = Some(Duration::from_hours(2_500_000_000));
    assert_eq!(saved(date(1970, 1, 5), last, None), [most]);
    assert_eq!(runs.most_expensive(first..=date(1970, 1, 3), 5).unwrap()[0].1.time_saved, hundred);
    assert_eq!(runs.most_expensive(first..=last, 5).unwrap()[0].1.time_saved, most);
    // The usage of a tool goes with the tool.
    world.store.catalog().delete(&ToolRef::parse("sum").unwrap(), at(0)).unwrap();
    world.store.maintenance().collect(at(9), at(9), crate::GcMode::Execute).unwrap();
    assert_eq!(runs.usage_by_day(first..=last, None).unwrap(), []);
}

#[test]
fn the_oldest_receipts_give_way() {
    let world = StoreFixture::new();
    let runs = world.store.runs();
    let receipt = |second: i64, bytes: usize| Record {
        kind: RECEIPT_KIND.to_owned(),
        tool: Some(world.tool),
        at: at(0),
        body: format!("{second:0bytes$}").into_bytes(),
    };
    let limits = ReceiptLimits { count: 3, bytes: 1_000 };
    let hashes: Vec<_> = (0..5).map(|second| runs.keep_receipt(&receipt(second, 100), limits).unwrap()).collect();
    let is_kept = |hash| runs.record(hash).unwrap().is_some();
    assert_eq!(hashes.iter().map(|hash| is_kept(*hash)).collect::<Vec<_>>(), [false, false, true, true, true]);
    let large = runs.keep_receipt(&receipt(9, 900), limits).unwrap();
    assert_eq!((is_kept(large), is_kept(hashes[3]), is_kept(hashes[4])), (true, false, true));
}
