//! Runs are killed at each write in turn, and so is whoever closes them: each that was begun has one record and one line
//! in the end, which say the same, and nothing else has.

use std::collections::BTreeSet;
use std::path::Path;

use clerk::{Answer, Clerk, Ended, Keeping, Order, Verb};
use nix::errno::Errno;
use toolcell_store::ToolRef;

use super::calls::{Fault, Kind};
use super::tracer::{End, Session};
use crate::survival::process::{clerk, tell};
use crate::survival::start::{Start, copy};
use crate::survival::{scratch, scripts, torture};

fn name() -> String {
    "sum".to_owned()
}

fn start() -> Start {
    Start::with(Keeping::Unsynced, &scripts::puts([name()]))
}

/// Runs one after the other, within one another, and some that nobody ends.
fn script() -> Vec<Order> {
    let (begin, end) = (|| Verb::Begin(name()), || Verb::End(name(), None));
    let failed = || Verb::End(name(), Some("timeout".to_owned()));
    later(10, [begin(), end(), begin(), begin(), failed(), end(), begin(), end(), begin()])
}

/// Orders that come after others.
fn later(seconds: i64, verbs: impl IntoIterator<Item = Verb>) -> Vec<Order> {
    let mut orders = scripts::orders(verbs);
    for order in &mut orders {
        order.at += seconds * 1_000;
    }
    orders
}

fn close() -> Vec<Order> {
    later(1_000, [Verb::Close])
}

/// Looks at what is there after all was closed. Runs of which it is not known whether they were begun may be there or not.
fn check(folder: &Path, orders: &[Order], answers: &[Answer], context: &str) {
    let mut last = Clerk::new(folder, Keeping::Unsynced);
    assert_eq!(last.perform(&close()[0]), Answer::Done, "{context}");
    let store = last.store().unwrap();
    let entry = store.find(&ToolRef::parse("sum").unwrap()).unwrap();
    let (kept, appended) = Ended::all(store, entry.id).unwrap();
    let runs = |ended: &[Ended]| ended.iter().map(|ended| ended.run.clone()).collect::<Vec<_>>();
    // A record of a run that ended says when that was, and one that was interrupted when it was begun; the line says the
    // same.
    assert_eq!(kept, appended, "{context}");
    let each: BTreeSet<String> = runs(&kept).into_iter().collect();
    assert_eq!(each.len(), kept.len(), "{context}: a run is there twice");
    assert_eq!(entry.runs, kept.len() as u64, "{context}: runs that are counted");

    let begins = || (0..).zip(orders).filter(|(_, order)| matches!(order.verb, Verb::Begin(_)));
    let begun = begins().filter(|(number, _)| answers.get(*number) == Some(&Answer::Done)).count();
    let unknown = begins().filter(|(number, _)| *number == answers.len()).count();
    assert!((begun..=begun + unknown).contains(&kept.len()), "{context}: {begun} were begun, {kept:?}");
    let ended = (0..)
        .zip(orders)
        .filter(|(number, order)| matches!(order.verb, Verb::End(..)) && answers.get(*number) == Some(&Answer::Done));
    for (_, order) in ended {
        assert!(kept.iter().any(|kept| kept.at == order.at && kept.outcome != "interrupted"), "{context}: {order:?}");
    }
    // Work goes on.
    for order in later(2_000, [Verb::Begin(name()), Verb::End(name(), None)]) {
        assert_eq!(last.perform(&order), Answer::Done, "{context}");
    }
    let verdict = last.store().unwrap().audit().verify(None).unwrap();
    assert!(verdict.is_clean(), "{context}: {verdict:?}");
    drop(last);
    assert_eq!(journals(folder), 0, "{context}");
}

fn journals(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("running")).map_or(0, Iterator::count)
}

/// Kills a clerk at points of its work in turn, hands what is left to `then`, and says at which point nothing happened.
fn killed(
    from: &Path,
    orders: &[Order],
    points: impl Iterator<Item = usize>,
    mut then: impl FnMut(usize, &Path, &[Answer], &str),
) -> usize {
    for point in points {
        let folder = scratch();
        copy(from, folder.path());
        let run = Session::new(folder.path(), Keeping::Unsynced, orders).with(Fault::Kill, point).run();
        if run.end == End::Exited(0) {
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
            "begin" => Verb::Begin(name()),
            _ => Verb::End(name(), None),
        }),
    );
    let mut all = 0;
    killed(start.path(), &script, 0.., |point, left, answers, context| {
        // Nothing was begun, or it was done long ago.
        if !torture() && journals(left) == 0 {
            return;
        }
        // What is left differs little from one point to the next, so they share the points of whoever closes it.
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
    for fault in [Fault::Fail(Errno::ENOSPC), Fault::Fail(Errno::EIO), Fault::Fail(Errno::EINTR), Fault::Short] {
        for point in (0..).step_by(if torture() { 1 } else { 3 }) {
            let folder = start.again();
            let run = Session::new(folder.path(), Keeping::Unsynced, &script).with(fault, point).run();
            if run.hit.is_none() {
                break;
            }
            let context = format!("{fault:?} at {point}: {:?}: {:?}", run.hit, run.answers);
            assert_eq!((run.end, run.answers.len()), (End::Exited(0), script.len()), "{context}");
            check(folder.path(), &script, &run.answers, &context);
        }
    }
}

#[test]
fn two_who_close_the_same_runs_at_once_close_them_once() {
    let folder = start().again();
    let begins = later(10, std::iter::repeat_n(Verb::Begin(name()), 100));
    for _ in 0..4 {
        // Whoever goes without ending what it began is as one that was killed.
        assert_eq!(tell(clerk(folder.path(), Keeping::Unsynced), &begins), vec![Answer::Done; 100]);
    }
    assert_eq!(journals(folder.path()), 4);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let closed = tell(clerk(folder.path(), Keeping::Unsynced), &close());
                assert_eq!(closed, [Answer::Done]);
            });
        }
    });
    let (begun, answers) = ([&begins[..]; 4].concat(), vec![Answer::Done; 400]);
    check(folder.path(), &begun, &answers, "closed by two");
}

#[test]
fn a_run_takes_a_write_to_begin_one_to_end_and_one_to_be_forgotten() {
    let folder = start().again();
    let begin_and_end = || [Verb::Begin(name()), Verb::End(name(), None)];
    let script = later(10, [begin_and_end(), begin_and_end(), begin_and_end()].concat());
    let (mut answers, mut writes) = (0, Vec::new());
    let mut watch = |call: &super::calls::Call| {
        answers += usize::from(call.kind == Kind::Answer);
        let in_journal = call.file.parent().is_some_and(|parent| parent.ends_with("running"));
        // The first run of a process makes the journal as well.
        if answers >= 2 && in_journal && matches!(call.kind, Kind::Write(_)) {
            writes.push(answers);
        }
    };
    let run = Session::new(folder.path(), Keeping::Unsynced, &script).watched(&mut watch).run();
    // A clerk that begins a run asks for its tool, which settles what has ended before, and forgets it in the journal.
    assert_eq!((run.end, writes), (End::Exited(0), vec![2, 2, 3, 4, 4, 5, 6]));
}
