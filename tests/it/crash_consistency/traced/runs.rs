//! Runs killed at each write in turn, and during recovery too: in the end, each started run has
//! exactly one record and one audit line, which agree, and there are no others.

use std::collections::BTreeSet;
use std::path::Path;

use nix::errno::Errno;
use store_worker::{RunEnd, StoreAction, StoreOrder, StoreReply, StoreWorker, SyncMode};
use toolcell_store::ToolRef;

use super::calls::{CallKind, InjectedFault};
use super::tracer::{ProcessEnd, TracedSession};
use crate::crash_consistency::process::{run_orders, worker_command};
use crate::crash_consistency::start::{StoreSnapshot, copy};
use crate::crash_consistency::{scratch, scripts, torture};

fn name() -> String {
    "sum".to_owned()
}

fn start() -> StoreSnapshot {
    StoreSnapshot::after_orders(SyncMode::Unsynced, &scripts::puts([name()]))
}

/// Sequential and overlapping runs, and some that never finish.
fn script() -> Vec<StoreOrder> {
    let (begin, end) = (|| StoreAction::Begin(name()), || StoreAction::End(name(), None));
    let failed = || StoreAction::End(name(), Some("timeout".to_owned()));
    later(10, [begin(), end(), begin(), begin(), failed(), end(), begin(), end(), begin()])
}

/// Returns orders that start at this second.
fn later(seconds: i64, verbs: impl IntoIterator<Item = StoreAction>) -> Vec<StoreOrder> {
    let mut orders = scripts::orders(verbs);
    for order in &mut orders {
        order.at += seconds * 1_000;
    }
    orders
}

fn close() -> Vec<StoreOrder> {
    later(1_000, [StoreAction::Close])
}

/// Checks the records after recovery. A run whose start was not acknowledged may be there or not.
fn check(folder: &Path, orders: &[StoreOrder], answers: &[StoreReply], context: &str) {
    let mut last = StoreWorker::new(folder, SyncMode::Unsynced);
    assert_eq!(last.perform(&close()[0]), StoreReply::Done, "{context}");
    let store = last.store().unwrap();
    let entry = store.catalog().find(&ToolRef::parse("sum").unwrap()).unwrap();
    let (kept, appended) = RunEnd::all(store, entry.id).unwrap();
    let runs = |ended: &[RunEnd]| ended.iter().map(|ended| ended.run.clone()).collect::<Vec<_>>();
    // A finished run has the time of its end, and an interrupted one that of its start; the record
    // and the audit line agree.
    assert_eq!(kept, appended, "{context}");
    let each: BTreeSet<String> = runs(&kept).into_iter().collect();
    assert_eq!(each.len(), kept.len(), "{context}: a run is there twice");
    assert_eq!(entry.runs, kept.len() as u64, "{context}: runs that are counted");

    let begins = || (0..).zip(orders).filter(|(_, order)| matches!(order.verb, StoreAction::Begin(_)));
    let begun = begins().filter(|(number, _)| answers.get(*number) == Some(&StoreReply::Done)).count();
    let unknown = begins().filter(|(number, _)| *number == answers.len()).count();
    assert!((begun..=begun + unknown).contains(&kept.len()), "{context}: {begun} were begun, {kept:?}");
    let ended = (0..).zip(orders).filter(|(number, order)| {
        matches!(order.verb, StoreAction::End(..)) && answers.get(*number) == Some(&StoreReply::Done)
    });
    for (_, order) in ended {
        assert!(kept.iter().any(|kept| kept.at == order.at && kept.outcome != "interrupted"), "{context}: {order:?}");
    }
    // Work continues.
    for order in later(2_000, [StoreAction::Begin(name()), StoreAction::End(name(), None)]) {
        assert_eq!(last.perform(&order), StoreReply::Done, "{context}");
    }
    let verdict = last.store().unwrap().audit().verify(None).unwrap();
    assert!(verdict.is_clean(), "{context}: {verdict:?}");
    drop(last);
    assert_eq!(journals(folder), 0, "{context}");
}

fn journals(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("running")).map_or(0, Iterator::count)
}

/// Kills a worker at each of these points, passes what is left to `then`, and returns the first
/// point beyond the end.
fn killed(
    from: &Path,
    orders: &[StoreOrder],
    points: impl Iterator<Item = usize>,
    mut then: impl FnMut(usize, &Path, &[StoreReply], &str),
) -> usize {
    for point in points {
        let folder = scratch();
        copy(from, folder.path());
        let run =
            TracedSession::new(folder.path(), SyncMode::Unsynced, orders).with_fault(InjectedFault::Kill, point).run();
        if run.end == ProcessEnd::Exited(0) {
            return point;
        }
        then(point, folder.path(), &run.answers, &format!("killed at {point}: {:?}", run.hit));
    }
    0
}

#[test]
fn runs_that_are_killed_at_any_write_are_closed_once() {
    let (start, script) = (start(), script());
    let points = killed(start.path(), &script, 0.., |_, folder, answers, context| {
        check(folder, &script, answers, context);
    });
    assert!(points > 5 * script.len(), "{points} points are not all that there are");
}

#[test]
fn who_closes_runs_and_is_killed_at_any_write_closes_them_once() {
    let (start, close) = (start(), close());
    let script = later(
        10,
        ["begin", "begin", "end"].map(|verb| match verb {
            "begin" => StoreAction::Begin(name()),
            _ => StoreAction::End(name(), None),
        }),
    );
    let mut all = 0;
    killed(start.path(), &script, 0.., |point, left, answers, context| {
        // Either no run was started, or all were finished long before.
        if !torture() && journals(left) == 0 {
            return;
        }
        // Neighboring points leave similar states, so they share the points of the recovery.
        let (first, every) = if torture() { (0, 1) } else { (point % 4, 4) };
        all += killed(left, &close, (first..).step_by(every), |_, folder, _, then| {
            check(folder, &script, answers, &format!("{context}, and who closed it {then}"));
        });
    });
    assert!(all > 100, "{all} points are not all that there are");
}

#[test]
fn runs_whose_writes_fail_are_closed_once() {
    let start = start();
    let script = [script(), close()].concat();
    for fault in [
        InjectedFault::Fail(Errno::ENOSPC),
        InjectedFault::Fail(Errno::EIO),
        InjectedFault::Fail(Errno::EINTR),
        InjectedFault::Short,
    ] {
        for point in (0..).step_by(if torture() { 1 } else { 3 }) {
            let folder = start.copy_to_temp();
            let run = TracedSession::new(folder.path(), SyncMode::Unsynced, &script).with_fault(fault, point).run();
            if run.hit.is_none() {
                break;
            }
            let context = format!("{fault:?} at {point}: {:?}: {:?}", run.hit, run.answers);
            assert_eq!((run.end, run.answers.len()), (ProcessEnd::Exited(0), script.len()), "{context}");
            check(folder.path(), &script, &run.answers, &context);
        }
    }
}

#[test]
fn two_who_close_the_same_runs_at_once_close_them_once() {
    let folder = start().copy_to_temp();
    let begins = later(10, std::iter::repeat_n(StoreAction::Begin(name()), 100));
    for _ in 0..4 {
        // A worker that exits without finishing its runs is like one that was killed.
        assert_eq!(run_orders(worker_command(folder.path(), SyncMode::Unsynced), &begins), vec![StoreReply::Done; 100]);
    }
    assert_eq!(journals(folder.path()), 4);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let closed = run_orders(worker_command(folder.path(), SyncMode::Unsynced), &close());
                assert_eq!(closed, [StoreReply::Done]);
            });
        }
    });
    let (begun, answers) = ([&begins[..]; 4].concat(), vec![StoreReply::Done; 400]);
    check(folder.path(), &begun, &answers, "closed by two");
}

#[test]
fn a_run_takes_a_write_to_begin_one_to_end_and_one_to_be_forgotten() {
    let folder = start().copy_to_temp();
    let begin_and_end = || [StoreAction::Begin(name()), StoreAction::End(name(), None)];
    let script = later(10, [begin_and_end(), begin_and_end(), begin_and_end()].concat());
    let (mut answers, mut writes) = (0, Vec::new());
    let mut watch = |call: &super::calls::InterceptedCall| {
        answers += usize::from(call.kind == CallKind::Answer);
        let in_journal = call.file.parent().is_some_and(|parent| parent.ends_with("running"));
        // The first run of a process creates the journal as well.
        if answers >= 2 && in_journal && matches!(call.kind, CallKind::Write(_)) {
            writes.push(answers);
        }
    };
    let run = TracedSession::new(folder.path(), SyncMode::Unsynced, &script).with_watch(&mut watch).run();
    // Starting a run looks up its tool, which flushes the finished runs and removes them from the
    // journal.
    assert_eq!((run.end, writes), (ProcessEnd::Exited(0), vec![2, 2, 3, 4, 4, 5, 6]));
}
