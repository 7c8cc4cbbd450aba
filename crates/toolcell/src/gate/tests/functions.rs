use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

fn check<R: Says<Verdict>>(gate: impl Fn(&GateCall) -> R + Send + Sync + 'static, expect: &str, code: &str) {
    check_within(LONG, gate, expect, code);
}

fn check_within<R: Says<Verdict>>(
    timeout: Duration,
    gate: impl Fn(&GateCall) -> R + Send + Sync + 'static,
    expect: &str,
    code: &str,
) {
    let mut gates = Gates::default();
    gates.before("x", gate).within(timeout);
    let admission = gates.admit(call(), None);
    assert_eq!(told(&admission), expect);
    assert_eq!(admission.decided_by.as_deref(), Some("x"));
    assert_eq!(admission.steps[0].failure.as_ref().map_or("", GateFailure::code), code);
}

#[test]
fn a_gate_that_fails_denies_with_its_name_and_the_cause() {
    check(|_| -> Verdict { panic!("no way") }, "deny: the gate `x` panicked: no way", "gate-failed");
    check(
        |_| -> Verdict { std::panic::panic_any(7) },
        "deny: the gate `x` panicked: it does not say why",
        "gate-failed",
    );
    check(|_| Err::<Verdict, _>("no\nledger"), "deny: the gate `x` failed: no\\nledger", "gate-failed");
    check(|_| Ok::<_, String>(Verdict::allow()), "allow", "");
}

#[test]
fn a_gate_that_hangs_denies_when_its_time_is_over() {
    let hangs = |_: &GateCall| {
        std::thread::sleep(LONG);
        Verdict::allow()
    };
    check_within(SHORT, hangs, "deny: the gate `x` did not answer within 80 ms", "gate-timeout");
}

#[test]
fn a_gate_that_always_hangs_is_not_asked_for_ever() {
    let (release, hang) = mpsc::channel::<()>();
    let hang = std::sync::Mutex::new(hang);
    let mut gates = Gates::default();
    let gate = move |_: &GateCall| {
        let _ = hang.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        Verdict::allow()
    };
    gates.before("x", gate).within(Duration::from_millis(1));
    for _ in 0..32 {
        assert_eq!(told(&gates.admit(call(), None)), "deny: the gate `x` did not answer within 1 ms");
    }
    let admission = gates.admit(call(), None);
    assert_eq!(told(&admission), "deny: the gate `x` is not asked: 32 of its runs still hang, the limit is 32");
    drop(release);
    // The threads end, and the gate is asked again.
    gates = {
        let mut patient = gates.clone();
        Arc::make_mut(&mut patient.0)[0].within(LONG);
        patient
    };
    while told(&gates.admit(call(), None)) != "allow" {
        std::thread::yield_now();
    }
}

#[test]
fn twenty_calls_at_once_each_have_their_own_clock() {
    let mut gates = Gates::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    gates.before("x", move |_: &GateCall| {
        counted.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(300));
        Verdict::allow()
    });
    gates.before("y", |_: &GateCall| Verdict::ask("both were asked"));
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(told(&gates.admit(call(), None)), "ask: both were asked"));
        }
    });
    assert_eq!(asked.load(Ordering::Relaxed), 20);
}

fn asynchronous() -> Gates {
    let mut gates = Gates::default();
    gates.before_async("x", |call: GateCall| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let n = tokio::spawn(async move { call.args["n"].clone() }).await.unwrap();
        Verdict::allow().with_args(json!({"n": [n]}))
    });
    gates
}

#[test]
fn an_async_gate_needs_no_runtime() {
    let admission = asynchronous().admit(call(), None);
    assert_eq!((told(&admission).as_str(), admission.args.as_deref()), ("allow", Some(&json!({"n": [1]}))));
}

#[tokio::test]
async fn an_async_gate_works_while_it_blocks_the_only_thread_of_a_runtime() {
    assert_eq!(told(&asynchronous().admit(call(), None)), "allow");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_gate_works_in_the_runtime_of_its_caller() {
    let mut gates = Gates::default();
    gates.before_async("x", |_: GateCall| async {
        Verdict::deny(format!("{:?}", tokio::runtime::Handle::current().id()))
    });
    let here = format!("deny: {:?}", tokio::runtime::Handle::current().id());
    let asked = {
        let gates = gates.clone();
        tokio::spawn(async move { told(&gates.admit(call(), None)) })
    };
    assert_eq!(asked.await.unwrap(), here);
    assert_eq!(tokio::task::spawn_blocking(move || told(&gates.admit(call(), None))).await.unwrap(), here);
}

#[test]
fn what_an_async_gate_starts_lives_on_from_call_to_call() {
    let (sender, ticks) = mpsc::channel();
    let mut gates = Gates::default();
    gates.before_async("x", move |_: GateCall| {
        let sender = sender.clone();
        async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                let _ = sender.send(());
            });
            Verdict::allow()
        }
    });
    assert_eq!(told(&gates.admit(call(), None)), "allow");
    ticks.recv_timeout(LONG).unwrap();
}

#[test]
fn an_async_gate_that_hangs_is_dropped() {
    struct Dropped(mpsc::Sender<()>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (sender, dropped) = mpsc::channel();
    let mut gates = Gates::default();
    let gate = move |_: GateCall| {
        let guard = Dropped(sender.clone());
        async move {
            let _guard = guard;
            std::future::pending::<Verdict>().await
        }
    };
    gates.before_async("x", gate).within(SHORT);
    assert_eq!(told(&gates.admit(call(), None)), "deny: the gate `x` did not answer within 80 ms");
    dropped.recv_timeout(LONG).unwrap();
}

#[test]
fn an_async_gate_that_fails_denies() {
    let mut gates = Gates::default();
    gates.before_async("x", |_: GateCall| async { Err::<Verdict, _>("no ledger") });
    assert_eq!(told(&gates.admit(call(), None)), "deny: the gate `x` failed: no ledger");
    let mut gates = Gates::default();
    gates.before_async("x", |call: GateCall| async move {
        assert_eq!(call.cwd, "/", "wrong place");
        Verdict::allow()
    });
    let told = told(&gates.admit(call(), None));
    assert!(told.starts_with("deny: the gate `x` panicked: assertion"), "{told}");
}
