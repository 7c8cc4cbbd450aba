//! Random operations of three nodes with random faults.

use super::*;
use crate::replication::tests::{unknown_error, unreachable_error};

/// A linear congruential generator (D. E. Knuth, *The Art of Computer Programming*, volume 2).
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.next(of.len())]
    }
}

/// How an operation ended: whether it is known to have been made, and else the code of its error.
type Ended = Result<(), String>;

fn ended<T, E: std::fmt::Display>(result: Result<T, E>, code: impl Fn(&E) -> ErrorCode) -> Ended {
    result.map(drop).map_err(|error| code(&error).as_str().to_owned())
}

fn operate(store: &Store, random: &mut Random, step: i64) -> Ended {
    let text = random.pick(&["a", "b", "c"]);
    let source = format!("const execute = () => {}", random.next(3));
    let tool = spec(text, &source).id();
    let grants = approval(tool, Decision::Approved).grants;
    let now = at(step);
    let asleep = suspended(random.next(3) as u64);
    let token = blake3::hash(&[u8::try_from(random.next(5)).unwrap()]);
    match random.next(22) {
        0..4 => {
            let when_taken = random.pick(&[OnConflict::Refuse, OnConflict::Replace]);
            ended(put(store, text, &source, when_taken), HistoryError::code)
        }
        4 => {
            ended(store.with_audit(event(Action::DeleteDynamicTool)).delete(&reference(text), now), HistoryError::code)
        }
        5 => ended(store.with_audit(event(Action::Undelete)).undelete(&reference(text), now), HistoryError::code),
        6 => {
            let number = 1 + random.next(3) as u64;
            let rollback = store.with_audit(event(Action::Rollback));
            ended(rollback.roll_back(&name(text), number, now), HistoryError::code)
        }
        7 => {
            let to = random.pick(&Status::ALL);
            ended(store.with_audit(event(Action::Status)).set_status(tool, to), crate::StatusError::code)
        }
        8 => {
            let successor = spec(random.pick(&["a", "b", "c"]), &source).id();
            let deprecation = store.with_audit(event(Action::Status));
            ended(deprecation.deprecate(tool, Some(successor)), crate::DeprecationError::code)
        }
        9 | 10 => {
            let decision = random.pick(&[Decision::Approved, Decision::ApprovedOnce, Decision::Refused]);
            ended(decide(store, tool, decision), Fault::code)
        }
        11 => ended(store.with_audit(event(Action::Revoke)).revoke(tool), Fault::code),
        12 => ended(store.approvals().request(tool, &grants, "caller", now), Fault::code),
        13 => ended(store.approvals().take_single(tool, &grants, now), Fault::code),
        14 => {
            ended(store.nonces().consume(token, at(step + i64::try_from(random.next(20)).unwrap()), now), Fault::code)
        }
        15 | 16 => {
            let key = random.pick(&["x", "y"]);
            let seen = get(store, key).map(|seen| seen.version);
            let check = KvCheck { key: key.to_owned(), version: seen };
            let until = random.pick(&[None, Some(at(step + 5))]);
            let write = match random.next(3) {
                0 => KvWrite::Delete { key: key.to_owned() },
                _ => KvWrite::Put { key: key.to_owned(), value: step.to_string(), expires_at: until },
            };
            ended(store.kv(&notes()).commit(&[check], &[write], &LIMITS, now), KvError::code)
        }
        17 => {
            let ended_here = ended(store.suspended().save(&asleep), crate::SuspendError::code);
            // Whether it is taken does not matter: an error is one of the faults.
            ended_here.map(|()| drop(store.suspended().take(&suspended(0))))
        }
        18 => {
            let holder = LabelHolder::Space(notes());
            let sources = [format!("server:s{}", random.next(4))];
            ended(store.labels().join(&[holder], &sources), Fault::code)
        }
        19 => {
            for _ in 0..random.next(4) {
                run(store, tool, Some("tool-failed"));
            }
            Ok(())
        }
        20 => {
            let folder = tempfile::tempdir().unwrap();
            let other = Store::open(folder.path(), &Settings::default()).unwrap();
            for source in 0..2 {
                replace(&other, text, &format!("const execute = () => {source}"));
            }
            let mut bundle = Vec::new();
            other.bundles().export_all(HistoryScope::All, &mut bundle).unwrap();
            let import = Import::read(&bundle).unwrap();
            let judge = |_: &ToolSpec| Ok(Scores { safety: 0.5, quality: 0.5 });
            let when_taken = random.pick(&[OnConflict::Refuse, OnConflict::Replace]);
            let importing = store.with_audit(event(Action::Import));
            ended(importing.import(&import, &judge, when_taken, now), crate::ImportError::code)
        }
        _ => ended(store.with_audit(event(Action::Gc)).collect(at(step - 10), now), Fault::code),
    }
}

/// What goes wrong with the next operation: nothing most of the time.
fn break_something(engine: &Engine, random: &mut Random) {
    let appends = [
        AppendFault::Unreachable,
        AppendFault::UnknownAppended,
        AppendFault::UnknownLost,
        AppendFault::Taken,
        AppendFault::Died,
    ];
    match random.next(12) {
        0..4 => engine.fail_appends(&[random.pick(&appends)]),
        4 => engine.fail_reads(1),
        5 => engine.fail_puts(&[if random.next(2) == 0 { unknown_error() } else { unreachable_error() }]),
        6 => engine.set_down(true),
        _ => {}
    }
}

fn check_schedule(seed: u64) {
    let mut random = Random(seed);
    let durability = random.pick(&[Durability::Synced, Durability::Unsynced]);
    let mut cluster = Cluster::with(3, durability);
    // A further process of the first node.
    cluster.nodes.push(Store::open(cluster.path(0), &cluster.settings).unwrap());
    for step in 20..80 {
        let node = random.next(4);
        break_something(&cluster.engine, &mut random);
        let before = cluster.len();
        let store = &cluster.nodes[node];
        let made = std::panic::catch_unwind(AssertUnwindSafe(|| operate(store, &mut random, step)));
        cluster.engine.mend();
        let appended = cluster.len() - before;
        match &made {
            Ok(Ok(())) => {}
            Ok(Err(code)) => {
                let is_known = code != "shared-unknown";
                let expected = [
                    "id-ambiguous",
                    "name-taken",
                    "not-deleted",
                    "shared-unknown",
                    "shared-unreachable",
                    "status-illegal",
                    "successor-invalid",
                    "tool-not-found",
                    "version-not-found",
                ];
                assert!(expected.contains(&code.as_str()), "seed {seed}, step {step}: {code}");
                assert!(appended == 0 || !is_known, "seed {seed}, step {step}: {code}");
            }
            Err(_) => cluster.reopen(node),
        }
        if random.next(3) == 0 {
            cluster.nodes[random.next(4)].follow().unwrap();
        }
        if random.next(20) == 0 {
            cluster.reopen(random.next(4));
        }
    }
    cluster.check_agreement();
    assert!(cluster.len() > 10, "seed {seed}");
    // A node that joins later gets to the same.
    let late = tempfile::tempdir().unwrap();
    let store = Store::open(late.path(), &cluster.settings).unwrap();
    assert_eq!(store.follow().unwrap(), cluster.len() as u64);
    assert_eq!(dump(&store), dump(&cluster.nodes[0]), "seed {seed}");
}

#[test]
fn nodes_agree_after_any_schedule_of_changes_and_faults() {
    for seed in 0..30 {
        check_schedule(seed);
    }
}

#[test]
fn nodes_agree_after_many_threads_at_once() {
    for seed in 0..3 {
        let mut cluster = Cluster::with(3, Durability::Unsynced);
        for node in 0..3 {
            cluster.nodes.push(Store::open(cluster.path(node), &cluster.settings).unwrap());
        }
        at_once(&cluster.nodes, 1, |store, thread| {
            let mut random = Random(seed * 100 + thread as u64);
            for step in 20..45 {
                let faults = [AppendFault::Unreachable, AppendFault::UnknownAppended, AppendFault::UnknownLost];
                if random.next(6) == 0 {
                    cluster.engine.fail_appends(&[random.pick(&faults)]);
                }
                if let Err(code) = operate(store, &mut random, step) {
                    assert!(!["integrity", "shared-invalid", "store-busy"].contains(&code.as_str()), "{code}");
                }
            }
        });
        cluster.engine.mend();
        cluster.check_agreement();
    }
}
