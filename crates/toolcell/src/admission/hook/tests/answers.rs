use super::*;

/// Checks the decision about the output of a command.
fn check(answer: &str, expect: &str) {
    let command = command(HookPhase::Before, &format!("printf '{answer}'"));
    assert_eq!(decision_text(&hooks(command).admit(event(), None)), expect, "{answer}");
}

fn refused(answer: &str, why: &str) {
    check(answer, &format!("deny: the hook `x` gave an invalid answer: {why}"));
}

#[test]
fn a_command_decides() {
    check(r#"{"permissionDecision":"allow"}"#, "allow");
    check(r#" {"permissionDecision" : "deny", "permissionDecisionReason": "not on Sunday"}\n"#, "deny: not on Sunday");
    check(r#"{"permissionDecision":"deny"}"#, "deny: the hook `x` gives no reason");
    check(r#"{"permissionDecision":"ask","permissionDecisionReason":"why?"}"#, "ask: why?");
}

#[test]
fn no_decision_is_no_objection() {
    for answer in ["null", "{}", "\\n{ }\\n", r#"{"additionalContext":"x"}"#, r#"{"permissionDecision":null}"#] {
        check(answer, "no-objection");
    }
}

#[test]
fn the_other_keys_do_what_they_say() {
    let answer =
        r#"{"permissionDecision":"allow","modifiedArgs":{"n":[2]},"additionalContext":"was 1","suppressOutput":true}"#;
    let admission = hooks(command(HookPhase::Before, &format!("echo '{answer}'"))).admit(event(), None);
    assert_eq!(admission.args.as_deref(), Some(&json!({"n": [2]})));
    assert_eq!(admission.context, [HookContext { hook: "x".to_owned(), text: "was 1".to_owned() }]);
    assert!(admission.suppress_output);
}

#[test]
fn nonsense_denies_and_says_what_is_wrong() {
    check("", "deny: the hook `x` gave no answer; to raise no objection, answer `{}`");
    check(" \\n ", "deny: the hook `x` gave no answer; to raise no objection, answer `{}`");
    refused("{} {}", "trailing characters at line 1 column 4");
    refused("{}{}", "trailing characters at line 1 column 3");
    refused("{} ok", "trailing characters at line 1 column 4");
    refused("ok", "`ok` is neither an object nor null");
    refused("null null", "`null null` is neither an object nor null");
    refused("[\"allow\"]", "`[\"allow\"]` is neither an object nor null");
    refused("true", "`true` is neither an object nor null");
    refused("{", "EOF while parsing an object at line 1 column 1");
    refused(r#"{"permissionDecision":"yes"}"#, "`permissionDecision` is `yes`, it must be allow, ask or deny");
    refused(r#"{"permissionDecision":"Allow"}"#, "`permissionDecision` is `Allow`, it must be allow, ask or deny");
    refused(r#"{"permissionDecision":true}"#, "invalid type: boolean `true`, expected a string at line 1 column 26");
    refused(r#"{"permissionDecision":{"allow":null}}"#, "invalid type: map, expected a string at line 1 column 22");
    refused(
        r#"{"permissionDecision":"allow","permissionDecision":"deny"}"#,
        "duplicate field `permissionDecision` at line 1 column 50",
    );
    refused(r#"{"modifiedArgs":[1]}"#, "invalid type: sequence, expected a map at line 1 column 16");
    refused(r#"{"suppressOutput":"yes"}"#, "invalid type: string \"yes\", expected a boolean at line 1 column 23");
    refused("\\377", "invalid utf-8 sequence of 1 bytes from index 0");
}

#[test]
fn a_misspelt_objection_is_not_taken_for_none() {
    let told = decision_text(
        &hooks(command(HookPhase::Before, r#"echo '{"permissionDecison":"deny"}'"#)).admit(event(), None),
    );
    assert!(told.contains("unknown field `permissionDecison`, expected one of `permissionDecision`"), "{told}");
    let told = decision_text(&hooks(command(HookPhase::Before, r#"echo '{"\u001b[2J":"deny"}'"#)).admit(event(), None));
    assert!(told.contains(r"unknown field `\u{1b}[2J`"), "{told}");
}
