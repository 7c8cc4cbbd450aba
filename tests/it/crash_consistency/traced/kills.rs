//! Killed at each write in turn: nothing acknowledged is lost, no partial change remains, and work
//! continues.

use nix::sys::signal::Signal;
use store_worker::{StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};

use super::calls::InjectedFault;
use super::tracer::{ProcessEnd, TracedSession};
use crate::crash_consistency::model::{apply_all, matching_state, possible_states};
use crate::crash_consistency::start::StoreSnapshot;
use crate::crash_consistency::{scripts, torture};

/// Kills a worker at each point, or at some of many, and lets another one continue.
fn kill_at_points(
    start: &StoreSnapshot,
    keeping: SyncMode,
    script: &[StoreOrder],
    points: impl Iterator<Item = usize>,
) {
    let names = start.names(script);
    let expect = apply_all(&start.state, script);
    let mut last = 0;
    for point in points {
        let folder = start.copy_to_temp();
        let run = TracedSession::new(folder.path(), keeping, script).with_fault(InjectedFault::Kill, point).run();
        if run.end == ProcessEnd::Exited(0) {
            break;
        }
        last = point;
        let context = format!("killed at {point}: {:?}", run.hit);
        assert_eq!(run.end, ProcessEnd::Killed(Signal::SIGKILL), "{context}");
        let possible = possible_states(&start.state, script, &run.answers, &[]);
        let possible = possible.unwrap_or_else(|wrong| panic!("{context}: {wrong}"));

        let mut next = StoreWorker::new(folder.path(), SyncMode::Unsynced);
        let found = StoreState::read(next.store().unwrap_or_else(|error| panic!("{context}: {error}")), &names);
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        let taken = matching_state(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        for order in &script[run.answers.len() + taken..] {
            assert_eq!(next.perform(order), StoreReply::Done, "{context}, then {order:?}");
        }
        assert_eq!(StoreState::read(next.store().unwrap(), &names).unwrap(), expect, "{context}");
    }
    assert!(last > 10 * script.len(), "{last} points are not all that there are");
}

#[test]
fn a_synced_store_that_is_killed_at_any_write_loses_nothing() {
    kill_at_points(&StoreSnapshot::empty(), SyncMode::Synced, &scripts::full_script(), 0..);
}

#[test]
fn an_unsynced_store_that_is_killed_at_any_write_loses_nothing() {
    kill_at_points(&StoreSnapshot::empty(), SyncMode::Unsynced, &scripts::full_script(), 0..);
}

#[test]
fn a_store_that_is_killed_while_it_syncs_hundreds_of_objects_loses_nothing() {
    let every = if torture() { 1 } else { 5 };
    kill_at_points(
        &StoreSnapshot::about_to_sync(),
        SyncMode::Synced,
        &scripts::late_script()[..2],
        (0..).step_by(every),
    );
}

#[test]
fn a_store_that_is_killed_while_its_log_is_written_into_the_index_loses_nothing() {
    let every = if torture() { 1 } else { 5 };
    kill_at_points(
        &StoreSnapshot::about_to_checkpoint(),
        SyncMode::Synced,
        &scripts::late_script(),
        (0..).step_by(every),
    );
}
