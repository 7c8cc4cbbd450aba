//! Each call that changes the disk fails once: what was acknowledged is there, the clerk says what went wrong with a
//! code that fits, and goes on to work.

use clerk::{Answer, Clerk, Keeping, Order, Sample, State, Verb};
use nix::errno::Errno;

use super::calls::{Call, Fault, Kind};
use super::tracer::{End, Session};
use crate::survival::model::{after, possible, which};
use crate::survival::start::{Start, lose_index, repaired};
use crate::survival::{scripts, torture};

/// Lets a fault happen at each point of the work of a clerk, who may answer with these codes.
fn at_every_point(fault: Fault, codes: impl Fn(&Call) -> &'static [&'static str]) {
    let life = if torture() { scripts::life() } else { scripts::short_life() };
    at_points(&Start::nothing(), life, 0.., fault, &codes);
    let every = if torture() { 1 } else { 20 };
    at_points(&Start::about_to_sync(), scripts::more(), (0..).step_by(every), fault, &codes);
    at_points(&Start::about_to_checkpoint(), scripts::more(), (0..).step_by(every), fault, &codes);
}

fn at_points(
    start: &Start,
    mut script: Vec<Order>,
    points: impl Iterator<Item = usize>,
    fault: Fault,
    codes: &impl Fn(&Call) -> &'static [&'static str],
) {
    let late = Order { at: 3_000_000, verb: Verb::Put(Sample::new("late", 1)) };
    let mut names = start.names(&script);
    names.push("late".to_owned());
    script.push(Order { at: 2_000_000, verb: Verb::Look(names.clone()) });
    for point in points {
        let folder = start.again();
        let run = Session::new(folder.path(), Keeping::Synced, &script).with(fault, point).run();
        let Some(hit) = &run.hit else {
            assert!(point > script.len(), "{point} points are not all that there are");
            return;
        };
        let refusals: Vec<&Answer> = run.answers.iter().filter(|answer| answer.code().is_some()).collect();
        let context = format!("{fault:?} at {point}: {hit:?}: {refusals:?}");
        assert_eq!((run.end, run.answers.len()), (End::Exited(0), script.len()), "{context}");
        let once = refusals.iter().filter(|answer| {
            let code = answer.code().unwrap();
            // Whoever must not write the directory when it is opened only reads from then on.
            let stays = fault == Fault::Full || fault == Fault::Fail(Errno::EACCES) && code == "store-read-only";
            FAILURES.contains(&code) && !stays
        });
        assert!(once.count() <= 1, "one fault, more than one failure: {context}");
        let possible = possible(&start.state, &script, &run.answers, codes(hit));
        let possible = possible.unwrap_or_else(|wrong| panic!("{context}: {wrong}"));

        let mut next = Clerk::new(folder.path(), Keeping::Unsynced);
        let found = State::of(next.store().unwrap_or_else(|error| panic!("{context}: {error}")), &names);
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        which(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        assert_eq!(next.perform(&late), Answer::Done, "{context}");
        let expect = after(&found, &late).unwrap();
        assert_eq!(State::of(next.store().unwrap(), &names).unwrap(), expect, "{context}");
    }
}

/// The codes of orders that the disk broke off.
const FAILURES: [&str; 3] = ["disk-full", "disk-failed", "store-read-only"];

/// Whether SQLite keeps to itself why this failed: it could not open a file (which it then opens to
/// read it), sync it or give it another length.
fn is_opaque(call: &Call) -> bool {
    let is_index = call.file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"index.sqlite"));
    is_index && matches!(call.kind, Kind::Open | Kind::Sync | Kind::Alter)
}

/// Whether this takes space for the memory that processes share, which SQLite reports as a lack of space.
fn is_shared_memory(call: &Call) -> bool {
    call.file.ends_with("index.sqlite-shm") && matches!(call.kind, Kind::Write(_))
}

#[test]
fn any_call_may_find_no_space_once() {
    at_every_point(Fault::Fail(Errno::ENOSPC), |hit| if is_opaque(hit) { &FAILURES } else { &["disk-full"] });
}

#[test]
fn any_call_may_fail_once() {
    at_every_point(Fault::Fail(Errno::EIO), |hit| {
        if is_opaque(hit) || is_shared_memory(hit) { &FAILURES } else { &["disk-failed"] }
    });
}

#[test]
fn any_call_may_be_denied_once() {
    at_every_point(Fault::Fail(Errno::EACCES), |hit| {
        if is_shared_memory(hit) { &FAILURES } else { &["disk-failed", "store-read-only"] }
    });
}

#[test]
fn any_write_may_be_interrupted() {
    at_every_point(Fault::Fail(Errno::EINTR), |_| &[]);
}

#[test]
fn any_write_may_be_cut_short() {
    at_every_point(Fault::Short, |_| &[]);
}

#[test]
fn the_disk_may_be_full_from_any_write_on() {
    at_every_point(Fault::Full, |_| &["disk-full"]);
}

/// Where nothing is synced, versions are in their files alone, and those are written before the index takes the step.
#[test]
fn a_step_that_failed_is_not_in_an_index_that_is_made_anew() {
    let sum = || "sum".to_owned();
    let start = Start::with(Keeping::Unsynced, &scripts::puts([sum()]));
    let mut script =
        scripts::orders([Verb::Replace(Sample::new("sum", 2)), Verb::Delete(sum()), Verb::Put(Sample::new("mean", 1))]);
    for order in &mut script {
        order.at += 10_000;
    }
    let names = start.names(&script);
    let mut failed = 0;
    for point in 0.. {
        let folder = start.again();
        let run = Session::new(folder.path(), Keeping::Unsynced, &script).with(Fault::Fail(Errno::EIO), point).run();
        if run.hit.is_none() {
            break;
        }
        if run.answers.iter().all(|answer| *answer == Answer::Done) {
            continue;
        }
        failed += 1;
        let context = format!("EIO at {point}: {:?}: {:?}", run.hit, run.answers);
        let found = || {
            let mut clerk = Clerk::new(folder.path(), Keeping::Unsynced);
            let state =
                State::of(clerk.store().unwrap(), &names).unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
            (state.listed, state.names)
        };
        let before = found();
        lose_index(folder.path());
        let health = repaired(folder.path());
        assert!(health.is_good(), "{context}: {health:?}");
        assert_eq!(found(), before, "{context}");
    }
    assert!(failed > 6, "{failed}");
}
