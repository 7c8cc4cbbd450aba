use toolcell_host::Json;

use super::*;

const TOOK: Duration = Duration::from_millis(12);

fn returned(json: &str) -> PostRunEvent {
    PostRunEvent::returned(Some(Json::parse(json).unwrap()), TOOK)
}

/// Formats an outcome: `returned 1`, or the kind, code and message of a failure.
fn end_text(end: &PostRunEvent) -> String {
    let code = end.code.as_ref().map_or_else(String::new, |code| format!(" {code}:"));
    format!("{}{code} {}", end.kind.name(), end.text())
}

fn after<R: IntoHookResult<Revision>>(hook: impl Fn(&HookEvent, &PostRunEvent) -> R + Send + Sync + 'static) -> Hooks {
    let mut hooks = Hooks::default();
    hooks.after("x", hook);
    hooks
}

#[test]
fn every_class_of_end_is_shown() {
    let hooks =
        after(|_, end| Revision::unchanged().with_context(format!("{} {}", end.kind.name(), end.result_type())));
    let check = |end: PostRunEvent, expect: &str| {
        let reviewed = hooks.review(&event(), end.clone());
        assert_eq!((reviewed.context[0].text.as_str(), &reviewed.end), (expect, &end));
        assert_eq!(reviewed.decided_by, None);
    };
    check(returned("1"), "returned success");
    check(PostRunEvent::returned(None, TOOK), "returned success");
    check(PostRunEvent::failed(EndKind::Threw, "tool-failed", "x", TOOK), "threw failure");
    check(PostRunEvent::failed(EndKind::Stopped, "timeout", "x", TOOK), "stopped timeout");
    check(PostRunEvent::failed(EndKind::Stopped, "out-of-fuel", "x", TOOK), "stopped failure");
    check(PostRunEvent::failed(EndKind::Refused, "permission-denied", "x", TOOK), "refused denied");
    check(PostRunEvent::failed(EndKind::Refused, "parameters-invalid", "x", TOOK), "refused rejected");
}

#[test]
fn a_hook_replaces_a_result_and_turns_an_end_into_another() {
    let seven = after(|_, _| Revision::succeed(Json::parse("7").unwrap()));
    let failing = after(|_, _| Revision::fail("it has a secret in it"));
    let threw = || PostRunEvent::failed(EndKind::Threw, "tool-failed", "x", TOOK);
    assert_eq!(end_text(&seven.review(&event(), returned("1")).end), "returned 7");
    assert_eq!(end_text(&seven.review(&event(), threw()).end), "returned 7");
    let reviewed = failing.review(&event(), returned("1"));
    assert_eq!(end_text(&reviewed.end), "threw tool-failed: it has a secret in it");
    assert_eq!((reviewed.decided_by.as_deref(), reviewed.end.duration), (Some("x"), TOOK));
}

#[test]
fn a_hook_that_fails_withholds_the_result() {
    let check = |hooks: Hooks, expect: &str| {
        let reviewed = hooks.review(&event(), returned("\"secret\""));
        assert_eq!(end_text(&reviewed.end), format!("refused result-withheld: the hook `x` {expect}"));
        assert_eq!(reviewed.end.result, None);
    };
    check(after(|_, _| -> Revision { panic!("oh") }), "panicked: oh");
    check(after(|_, _| Err::<Revision, _>("no rules")), "failed: no rules");
    let hangs = |_: &HookEvent, _: &PostRunEvent| {
        std::thread::sleep(LONG);
        Revision::unchanged()
    };
    let mut hanging = Hooks::default();
    hanging.after("x", hangs).set_timeout(SHORT);
    check(hanging, "did not answer within 80 ms");
    check(hooks(command(HookPhase::After, "exit 1")), "exited with status 1");
    check(hooks(command(HookPhase::After, "echo")), "gave no answer; to raise no objection, answer `{}`");
    let both = r#"echo '{"modifiedResult":1,"error":"x"}'"#;
    check(
        hooks(command(HookPhase::After, both)),
        "gave an invalid answer: both `modifiedResult` and `error` are set, only one is allowed",
    );
}

#[test]
fn what_is_withheld_stays_withheld_and_the_hooks_after_it_see_that() {
    let mut hooks = after(|_, _| -> Revision { panic!("oh") });
    hooks.after("y", |_: &HookEvent, end: &PostRunEvent| {
        Revision::succeed(Json::parse("7").unwrap()).with_context(end.text()).with_suppressed_output()
    });
    let reviewed = hooks.review(&event(), returned("1"));
    assert_eq!(end_text(&reviewed.end), "refused result-withheld: the hook `x` panicked: oh");
    assert_eq!(reviewed.context[0].text, "the hook `x` panicked: oh");
    assert_eq!(reviewed.steps.len(), 2);
    assert!(reviewed.suppress_output);
}

#[test]
fn a_later_hook_sees_the_end_as_the_earlier_one_changed_it() {
    let mut hooks = after(|_, _| Revision::succeed(Json::parse("[7]").unwrap()));
    hooks.after_async(
        "y",
        |_: HookEvent, end: PostRunEvent| async move { Revision::fail(format!("saw {}", end.text())) },
    );
    let reviewed = hooks.review(&event(), returned("1"));
    assert_eq!(end_text(&reviewed.end), "threw tool-failed: saw [\n  7\n]");
    assert_eq!(reviewed.decided_by.as_deref(), Some("y"));
}

fn command_sees(end: &PostRunEvent, expect: &str) {
    let script = format!(
        r#"input=$(cat); case "$input" in '{{"hookEventName":"postToolUse",'*'"toolResult":{expect}}}') echo '{{}}';; *) echo "$input" >&2; exit 1;; esac"#
    );
    let reviewed = hooks(command(HookPhase::BeforeAndAfter, &script)).review(&event(), end.clone());
    assert_eq!(&reviewed.end, end);
}

#[test]
fn a_command_sees_the_end() {
    command_sees(
        &returned(r#"{"big": 1e400}"#),
        r#"{"resultType":"success","textResultForLlm":"{\n  \"big\": 1e400\n}","result":{"big": 1e400},"durationMs":12}"#,
    );
    command_sees(
        &PostRunEvent::failed(EndKind::Stopped, "timeout", "30000 ms are over", TOOK),
        r#"{"resultType":"timeout","textResultForLlm":"30000 ms are over","error":"30000 ms are over","code":"timeout","durationMs":12}"#,
    );
}

#[test]
fn a_command_changes_the_end() {
    let check = |answer: &str, expect: &str| {
        let hooks = hooks(command(HookPhase::After, &format!("echo '{answer}'")));
        assert_eq!(end_text(&hooks.review(&event(), returned("1")).end), expect);
    };
    check("{}", "returned 1");
    check("null", "returned 1");
    check(r#"{"modifiedResult":"x"}"#, "returned x");
    check(r#"{"modifiedResult":null}"#, "returned null");
    check(r#"{"modifiedResult":9007199254740993}"#, "returned 9007199254740993");
    check(r#"{"error":"no"}"#, "threw tool-failed: no");
}
