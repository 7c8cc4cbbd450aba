//! Killed at each write in turn: nothing acknowledged is lost, nothing is half there, and work goes on.

use clerk::{Answer, Clerk, Keeping, Order, State};
use nix::sys::signal::Signal;

use super::calls::Fault;
use super::tracer::{End, Session};
use crate::survival::model::{after_all, possible, which};
use crate::survival::start::Start;
use crate::survival::{scripts, torture};

/// Kills a clerk at each point of its work, or at some of many, and lets another go on with it.
fn killed(start: &Start, keeping: Keeping, script: &[Order], points: impl Iterator<Item = usize>) {
    let names = start.names(script);
    let expect = after_all(&start.state, script);
    let mut last = 0;
    for point in points {
        let folder = start.again();
        let run = Session::new(folder.path(), keeping, script).with(Fault::Kill, point).run();
        if run.end == End::Exited(0) {
            break;
        }
        last = point;
        let context = format!("killed at {point}: {:?}", run.hit);
        assert_eq!(run.end, End::Killed(Signal::SIGKILL), "{context}");
        let possible = possible(&start.state, script, &run.answers, &[]);
        let possible = possible.unwrap_or_else(|wrong| panic!("{context}: {wrong}"));

        let mut next = Clerk::new(folder.path(), Keeping::Unsynced);
        let found = State::of(next.store().unwrap_or_else(|error| panic!("{context}: {error}")), &names);
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        let taken = which(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        for order in &script[run.answers.len() + taken..] {
            assert_eq!(next.perform(order), Answer::Done, "{context}, then {order:?}");
        }
        assert_eq!(State::of(next.store().unwrap(), &names).unwrap(), expect, "{context}");
    }
    assert!(last > 10 * script.len(), "{last} points are not all that there are");
}

#[test]
fn a_synced_store_that_is_killed_at_any_write_loses_nothing() {
    killed(&Start::nothing(), Keeping::Synced, &scripts::life(), 0..);
}

#[test]
fn an_unsynced_store_that_is_killed_at_any_write_loses_nothing() {
    killed(&Start::nothing(), Keeping::Unsynced, &scripts::life(), 0..);
}

#[test]
fn a_store_that_is_killed_while_it_syncs_hundreds_of_objects_loses_nothing() {
    let every = if torture() { 1 } else { 5 };
    killed(&Start::about_to_sync(), Keeping::Synced, &scripts::more()[..2], (0..).step_by(every));
}

#[test]
fn a_store_that_is_killed_while_its_log_is_written_into_the_index_loses_nothing() {
    let every = if torture() { 1 } else { 5 };
    killed(&Start::about_to_checkpoint(), Keeping::Synced, &scripts::more(), (0..).step_by(every));
}
