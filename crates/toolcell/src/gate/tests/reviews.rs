use toolcell_host::Json;

use super::*;

const TOOK: Duration = Duration::from_millis(12);

fn returned(json: &str) -> GateEnd {
    GateEnd::returned(Some(Json::parse(json).unwrap()), TOOK)
}

/// `returned 1`, or the class, code and message of a failure.
fn said(end: &GateEnd) -> String {
    let code = end.code.as_ref().map_or_else(String::new, |code| format!(" {code}:"));
    format!("{}{code} {}", end.ending.name(), end.text())
}

fn after<R: Says<Revision>>(gate: impl Fn(&GateCall, &GateEnd) -> R + Send + Sync + 'static) -> Gates {
    let mut gates = Gates::default();
    gates.after("x", gate);
    gates
}

#[test]
fn every_class_of_end_is_shown() {
    let gates = after(|_, end| Revision::keep().with_context(format!("{} {}", end.ending.name(), end.result_type())));
    let check = |end: GateEnd, expect: &str| {
        let reviewed = gates.review(&call(), end.clone());
        assert_eq!((reviewed.context[0].text.as_str(), &reviewed.end), (expect, &end));
        assert_eq!(reviewed.decided_by, None);
    };
    check(returned("1"), "returned success");
    check(GateEnd::returned(None, TOOK), "returned success");
    check(GateEnd::failed(Ending::Threw, "tool-failed", "x", TOOK), "threw failure");
    check(GateEnd::failed(Ending::Stopped, "timeout", "x", TOOK), "stopped timeout");
    check(GateEnd::failed(Ending::Stopped, "out-of-fuel", "x", TOOK), "stopped failure");
    check(GateEnd::failed(Ending::Refused, "permission-denied", "x", TOOK), "refused denied");
    check(GateEnd::failed(Ending::Refused, "parameters-invalid", "x", TOOK), "refused rejected");
}

#[test]
fn a_gate_replaces_a_result_and_turns_an_end_into_another() {
    let seven = after(|_, _| Revision::succeed(Json::parse("7").unwrap()));
    let failing = after(|_, _| Revision::fail("it has a secret in it"));
    let threw = || GateEnd::failed(Ending::Threw, "tool-failed", "x", TOOK);
    assert_eq!(said(&seven.review(&call(), returned("1")).end), "returned 7");
    assert_eq!(said(&seven.review(&call(), threw()).end), "returned 7");
    let reviewed = failing.review(&call(), returned("1"));
    assert_eq!(said(&reviewed.end), "threw tool-failed: it has a secret in it");
    assert_eq!((reviewed.decided_by.as_deref(), reviewed.end.duration), (Some("x"), TOOK));
}

#[test]
fn a_gate_that_fails_withholds_the_result() {
    let check = |gates: Gates, expect: &str| {
        let reviewed = gates.review(&call(), returned("\"secret\""));
        assert_eq!(said(&reviewed.end), format!("refused result-withheld: the gate `x` {expect}"));
        assert_eq!(reviewed.end.result, None);
    };
    check(after(|_, _| -> Revision { panic!("oh") }), "panicked: oh");
    check(after(|_, _| Err::<Revision, _>("no rules")), "failed: no rules");
    let hangs = |_: &GateCall, _: &GateEnd| {
        std::thread::sleep(LONG);
        Revision::keep()
    };
    let mut hanging = Gates::default();
    hanging.after("x", hangs).within(SHORT);
    check(hanging, "did not answer within 80 ms");
    check(gates(command(When::After, "exit 1")), "exited with status 1");
    check(gates(command(When::After, "echo")), "answered nothing; the answer without an objection is `{}`");
    let both = r#"echo '{"modifiedResult":1,"error":"x"}'"#;
    check(
        gates(command(When::After, both)),
        "gave an answer that does not count: both `modifiedResult` and `error`, it may be one of them",
    );
}

#[test]
fn what_is_withheld_stays_withheld_and_the_gates_after_it_see_that() {
    let mut gates = after(|_, _| -> Revision { panic!("oh") });
    gates.after("y", |_: &GateCall, end: &GateEnd| {
        Revision::succeed(Json::parse("7").unwrap()).with_context(end.text()).suppressing()
    });
    let reviewed = gates.review(&call(), returned("1"));
    assert_eq!(said(&reviewed.end), "refused result-withheld: the gate `x` panicked: oh");
    assert_eq!(reviewed.context[0].text, "the gate `x` panicked: oh");
    assert_eq!(reviewed.steps.len(), 2);
    assert!(reviewed.suppress_output);
}

#[test]
fn a_later_gate_sees_the_end_as_the_earlier_one_changed_it() {
    let mut gates = after(|_, _| Revision::succeed(Json::parse("[7]").unwrap()));
    gates.after_async("y", |_: GateCall, end: GateEnd| async move { Revision::fail(format!("saw {}", end.text())) });
    let reviewed = gates.review(&call(), returned("1"));
    assert_eq!(said(&reviewed.end), "threw tool-failed: saw [\n  7\n]");
    assert_eq!(reviewed.decided_by.as_deref(), Some("y"));
}

fn command_sees(end: &GateEnd, expect: &str) {
    let script = format!(
        r#"input=$(cat); case "$input" in '{{"hookEventName":"postToolUse",'*'"toolResult":{expect}}}') echo '{{}}';; *) echo "$input" >&2; exit 1;; esac"#
    );
    let reviewed = gates(command(When::BeforeAndAfter, &script)).review(&call(), end.clone());
    assert_eq!(&reviewed.end, end);
}

#[test]
fn a_command_sees_the_end() {
    command_sees(
        &returned(r#"{"big": 1e400}"#),
        r#"{"resultType":"success","textResultForLlm":"{\n  \"big\": 1e400\n}","result":{"big": 1e400},"durationMs":12}"#,
    );
    command_sees(
        &GateEnd::failed(Ending::Stopped, "timeout", "30000 ms are over", TOOK),
        r#"{"resultType":"timeout","textResultForLlm":"30000 ms are over","error":"30000 ms are over","code":"timeout","durationMs":12}"#,
    );
}

#[test]
fn a_command_changes_the_end() {
    let check = |answer: &str, expect: &str| {
        let gates = gates(command(When::After, &format!("echo '{answer}'")));
        assert_eq!(said(&gates.review(&call(), returned("1")).end), expect);
    };
    check("{}", "returned 1");
    check("null", "returned 1");
    check(r#"{"modifiedResult":"x"}"#, "returned x");
    check(r#"{"modifiedResult":null}"#, "returned null");
    check(r#"{"modifiedResult":9007199254740993}"#, "returned 9007199254740993");
    check(r#"{"error":"no"}"#, "threw tool-failed: no");
}
