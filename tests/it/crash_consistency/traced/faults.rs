//! Each call that changes the disk fails once: acknowledged data is kept, the worker reports a
//! fitting code, and it continues to work.

use nix::errno::Errno;
use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};

use super::calls::{CallKind, InjectedFault, InterceptedCall};
use super::tracer::{ProcessEnd, TracedSession};
use crate::crash_consistency::model::{apply, matching_state, possible_states};
use crate::crash_consistency::start::{StoreSnapshot, lose_index, repair};
use crate::crash_consistency::{scripts, torture};

/// Injects a fault at each point of a worker's script; `codes` are the codes it may report.
fn at_every_point(fault: InjectedFault, codes: impl Fn(&InterceptedCall) -> &'static [&'static str]) {
    let life = if torture() { scripts::full_script() } else { scripts::short_script() };
    at_points(&StoreSnapshot::empty(), life, 0.., fault, &codes);
    let every = if torture() { 1 } else { 20 };
    at_points(&StoreSnapshot::about_to_sync(), scripts::late_script(), (0..).step_by(every), fault, &codes);
    at_points(&StoreSnapshot::about_to_checkpoint(), scripts::late_script(), (0..).step_by(every), fault, &codes);
}

fn at_points(
    start: &StoreSnapshot,
    mut script: Vec<StoreOrder>,
    points: impl Iterator<Item = usize>,
    fault: InjectedFault,
    codes: &impl Fn(&InterceptedCall) -> &'static [&'static str],
) {
    let late = StoreOrder { at: 3_000_000, verb: StoreAction::Put(SampleTool::new("late", 1)) };
    let mut names = start.names(&script);
    names.push("late".to_owned());
    script.push(StoreOrder { at: 2_000_000, verb: StoreAction::Look(names.clone()) });
    for point in points {
        let folder = start.copy_to_temp();
        let run = TracedSession::new(folder.path(), SyncMode::Synced, &script).with_fault(fault, point).run();
        let Some(hit) = &run.hit else {
            assert!(point > script.len(), "{point} points are not all that there are");
            return;
        };
        let refusals: Vec<&StoreReply> = run.answers.iter().filter(|answer| answer.code().is_some()).collect();
        let context = format!("{fault:?} at {point}: {hit:?}: {refusals:?}");
        assert_eq!((run.end, run.answers.len()), (ProcessEnd::Exited(0), script.len()), "{context}");
        let once = refusals.iter().filter(|answer| {
            let code = answer.code().unwrap();
            // A store that was not writable when it was opened stays read-only.
            let stays = fault == InjectedFault::Full
                || fault == InjectedFault::Fail(Errno::EACCES) && code == "store-read-only";
            FAILURES.contains(&code) && !stays
        });
        assert!(once.count() <= 1, "one fault, more than one failure: {context}");
        let possible = possible_states(&start.state, &script, &run.answers, codes(hit));
        let possible = possible.unwrap_or_else(|wrong| panic!("{context}: {wrong}"));

        let mut next = StoreWorker::new(folder.path(), SyncMode::Unsynced);
        let found = StoreState::read(next.store().unwrap_or_else(|error| panic!("{context}: {error}")), &names);
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        matching_state(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        assert_eq!(next.perform(&late), StoreReply::Done, "{context}");
        let expect = apply(&found, &late).unwrap();
        assert_eq!(StoreState::read(next.store().unwrap(), &names).unwrap(), expect, "{context}");
    }
}

/// The codes of orders that a disk fault interrupted.
const FAILURES: [&str; 3] = ["disk-full", "disk-failed", "store-read-only"];

/// Whether SQLite hides the reason of this failure: it could not open a file (which it then opens
/// read-only), sync it or truncate it.
fn is_opaque(call: &InterceptedCall) -> bool {
    let is_index = call.file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"index.sqlite"));
    is_index && matches!(call.kind, CallKind::Open | CallKind::Sync | CallKind::Alter)
}

/// Whether the call takes space for shared memory, whose failure SQLite reports as a lack of space.
fn is_shared_memory(call: &InterceptedCall) -> bool {
    call.file.ends_with("index.sqlite-shm") && matches!(call.kind, CallKind::Write(_))
}

#[test]
fn any_call_may_find_no_space_once() {
    at_every_point(InjectedFault::Fail(Errno::ENOSPC), |hit| if is_opaque(hit) { &FAILURES } else { &["disk-full"] });
}

#[test]
fn any_call_may_fail_once() {
    at_every_point(InjectedFault::Fail(Errno::EIO), |hit| {
        if is_opaque(hit) || is_shared_memory(hit) { &FAILURES } else { &["disk-failed"] }
    });
}

#[test]
fn any_call_may_be_denied_once() {
    at_every_point(InjectedFault::Fail(Errno::EACCES), |hit| {
        if is_shared_memory(hit) { &FAILURES } else { &["disk-failed", "store-read-only"] }
    });
}

#[test]
fn any_write_may_be_interrupted() {
    at_every_point(InjectedFault::Fail(Errno::EINTR), |_| &[]);
}

#[test]
fn any_write_may_be_cut_short() {
    at_every_point(InjectedFault::Short, |_| &[]);
}

#[test]
fn the_disk_may_be_full_from_any_write_on() {
    at_every_point(InjectedFault::Full, |_| &["disk-full"]);
}

/// In an unsynced store, versions are only in their files, which are written before the index
/// commits the step.
#[test]
fn a_step_that_failed_is_not_in_an_index_that_is_made_anew() {
    let sum = || "sum".to_owned();
    let start = StoreSnapshot::after_orders(SyncMode::Unsynced, &scripts::puts([sum()]));
    let mut script = scripts::orders([
        StoreAction::Replace(SampleTool::new("sum", 2)),
        StoreAction::Delete(sum()),
        StoreAction::Put(SampleTool::new("mean", 1)),
    ]);
    for order in &mut script {
        order.at += 10_000;
    }
    let names = start.names(&script);
    let mut failed = 0;
    for point in 0.. {
        let folder = start.copy_to_temp();
        let run = TracedSession::new(folder.path(), SyncMode::Unsynced, &script)
            .with_fault(InjectedFault::Fail(Errno::EIO), point)
            .run();
        if run.hit.is_none() {
            break;
        }
        if run.answers.iter().all(|answer| *answer == StoreReply::Done) {
            continue;
        }
        failed += 1;
        let context = format!("EIO at {point}: {:?}: {:?}", run.hit, run.answers);
        let found = || {
            let mut worker = StoreWorker::new(folder.path(), SyncMode::Unsynced);
            let state = StoreState::read(worker.store().unwrap(), &names)
                .unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
            (state.listed, state.names)
        };
        let before = found();
        lose_index(folder.path());
        let health = repair(folder.path());
        assert!(health.is_healthy(), "{context}: {health:?}");
        assert_eq!(found(), before, "{context}");
    }
    assert!(failed > 6, "{failed}");
}
