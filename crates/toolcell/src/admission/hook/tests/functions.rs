use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use toolcell_i18n::Lang;

use super::*;

fn check<R: IntoHookResult<HookVerdict>>(
    hook: impl Fn(&HookEvent) -> R + Send + Sync + 'static,
    expect: &str,
    code: &str,
) {
    check_within(LONG, hook, expect, code);
}

fn check_within<R: IntoHookResult<HookVerdict>>(
    timeout: Duration,
    hook: impl Fn(&HookEvent) -> R + Send + Sync + 'static,
    expect: &str,
    code: &str,
) {
    let mut hooks = Hooks::default();
    hooks.before("x", hook).set_timeout(timeout);
    let admission = hooks.admit(event(), None);
    assert_eq!(decision_text(&admission), expect);
    assert_eq!(admission.decided_by.as_deref(), Some("x"));
    assert_eq!(admission.steps[0].failure.as_ref().map_or("", |failure| failure.code().as_str()), code);
}

#[test]
fn a_hook_that_fails_denies_with_its_name_and_the_cause() {
    check(|_| -> HookVerdict { panic!("no way") }, "deny: the hook `x` panicked: no way", "gate-failed");
    check(
        |_| -> HookVerdict { std::panic::panic_any(7) },
        "deny: the hook `x` panicked: no panic message",
        "gate-failed",
    );
    check(|_| Err::<HookVerdict, _>("no\nledger"), "deny: the hook `x` failed: no\\nledger", "gate-failed");
    check(|_| Ok::<_, String>(HookVerdict::allow()), "allow", "");
}

#[test]
fn a_failure_is_told_in_the_language_of_the_reader_and_the_words_of_the_hook_as_they_are() {
    let mut hooks = Hooks::default();
    hooks.before("x", |_: &HookEvent| Err::<HookVerdict, _>("no ledger"));
    let reason = hooks.admit(event(), None).decision.reason().unwrap().clone();
    assert_eq!(reason.to_text(Lang::Ja), "フック「x」が失敗しました: no ledger");
    assert_eq!(reason.to_text(Lang::Zh), "钩子「x」失败：no ledger");

    let mut hooks = Hooks::default();
    hooks.before("x", |_: &HookEvent| HookVerdict::ask("error"));
    let reason = hooks.admit(event(), None).resolve_ask(&event(), None).decision.reason().unwrap().clone();
    assert_eq!(reason.to_text(Lang::Ja), "フック「x」が確認を求めていますが、承認者がいません: error");
}

#[test]
fn a_hook_that_hangs_denies_when_its_time_is_over() {
    let hangs = |_: &HookEvent| {
        std::thread::sleep(LONG);
        HookVerdict::allow()
    };
    check_within(SHORT, hangs, "deny: the hook `x` did not answer within 80 ms", "gate-timeout");
}

#[test]
fn a_hook_that_always_hangs_is_not_asked_for_ever() {
    let (release, hang) = mpsc::channel::<()>();
    let hang = std::sync::Mutex::new(hang);
    let mut hooks = Hooks::default();
    let hook = move |_: &HookEvent| {
        let _ = hang.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        HookVerdict::allow()
    };
    hooks.before("x", hook).set_timeout(Duration::from_millis(1));
    for _ in 0..32 {
        assert_eq!(decision_text(&hooks.admit(event(), None)), "deny: the hook `x` did not answer within 1 ms");
    }
    let admission = hooks.admit(event(), None);
    assert_eq!(
        decision_text(&admission),
        "deny: the hook `x` is not called: 32 of its earlier runs still hang, the limit is 32"
    );
    drop(release);
    // The threads end, and the hook is invoked again.
    hooks = {
        let mut patient = hooks.clone();
        Arc::make_mut(&mut patient.0)[0].set_timeout(LONG);
        patient
    };
    while decision_text(&hooks.admit(event(), None)) != "allow" {
        std::thread::yield_now();
    }
}

#[test]
fn twenty_calls_at_once_each_have_their_own_clock() {
    let mut hooks = Hooks::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    hooks.before("x", move |_: &HookEvent| {
        counted.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(300));
        HookVerdict::allow()
    });
    hooks.before("y", |_: &HookEvent| HookVerdict::ask("both were asked"));
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(decision_text(&hooks.admit(event(), None)), "ask: both were asked"));
        }
    });
    assert_eq!(asked.load(Ordering::Relaxed), 20);
}

fn asynchronous() -> Hooks {
    let mut hooks = Hooks::default();
    hooks.before_async("x", |call: HookEvent| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let n = tokio::spawn(async move { call.args["n"].clone() }).await.unwrap();
        HookVerdict::allow().with_args(json!({"n": [n]}))
    });
    hooks
}

#[test]
fn an_async_hook_needs_no_runtime() {
    let admission = asynchronous().admit(event(), None);
    assert_eq!((decision_text(&admission).as_str(), admission.args.as_deref()), ("allow", Some(&json!({"n": [1]}))));
}

#[tokio::test]
async fn an_async_hook_works_while_it_blocks_the_only_thread_of_a_runtime() {
    assert_eq!(decision_text(&asynchronous().admit(event(), None)), "allow");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_hook_works_in_the_runtime_of_its_caller() {
    let mut hooks = Hooks::default();
    hooks.before_async("x", |_: HookEvent| async {
        HookVerdict::deny(format!("{:?}", tokio::runtime::Handle::current().id()))
    });
    let here = format!("deny: {:?}", tokio::runtime::Handle::current().id());
    let asked = {
        let hooks = hooks.clone();
        tokio::spawn(async move { decision_text(&hooks.admit(event(), None)) })
    };
    assert_eq!(asked.await.unwrap(), here);
    assert_eq!(tokio::task::spawn_blocking(move || decision_text(&hooks.admit(event(), None))).await.unwrap(), here);
}

#[test]
fn what_an_async_hook_starts_lives_on_from_call_to_call() {
    let (sender, ticks) = mpsc::channel();
    let mut hooks = Hooks::default();
    hooks.before_async("x", move |_: HookEvent| {
        let sender = sender.clone();
        async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                let _ = sender.send(());
            });
            HookVerdict::allow()
        }
    });
    assert_eq!(decision_text(&hooks.admit(event(), None)), "allow");
    ticks.recv_timeout(LONG).unwrap();
}

#[test]
fn an_async_hook_that_hangs_is_dropped() {
    struct Dropped(mpsc::Sender<()>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (sender, dropped) = mpsc::channel();
    let mut hooks = Hooks::default();
    let hook = move |_: HookEvent| {
        let guard = Dropped(sender.clone());
        async move {
            let _guard = guard;
            std::future::pending::<HookVerdict>().await
        }
    };
    hooks.before_async("x", hook).set_timeout(SHORT);
    assert_eq!(decision_text(&hooks.admit(event(), None)), "deny: the hook `x` did not answer within 80 ms");
    dropped.recv_timeout(LONG).unwrap();
}

#[test]
fn an_async_hook_that_fails_denies() {
    let mut hooks = Hooks::default();
    hooks.before_async("x", |_: HookEvent| async { Err::<HookVerdict, _>("no ledger") });
    assert_eq!(decision_text(&hooks.admit(event(), None)), "deny: the hook `x` failed: no ledger");
    let mut hooks = Hooks::default();
    hooks.before_async("x", |call: HookEvent| async move {
        assert_eq!(call.cwd, "/", "wrong place");
        HookVerdict::allow()
    });
    let told = decision_text(&hooks.admit(event(), None));
    assert!(told.starts_with("deny: the hook `x` panicked: assertion"), "{told}");
}
