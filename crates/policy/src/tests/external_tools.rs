//! Decisions about calls of tools that Toolcell does not run.

use serde_json::{Value, json};

use super::layers::row;
use super::policy;
use crate::{CallDecision, Policy};

fn decide(policy: &Policy, tool: &str, args: &Value) -> Option<CallDecision> {
    policy.decide_external(tool, args).map(|ruling| ruling.decision)
}

fn shell(rules: &str) -> impl Fn(&str) -> Option<CallDecision> {
    let policy = policy(rules, "");
    move |command| decide(&policy, "Bash", &json!({ "command": command }))
}

const GIT: &str = "[external_tools]\ndefault = \"ask\"\n\
                   [[external_tools.rules]]\ntools = [\"bash\"]\nargs = { command = [\"git *\", \"ls\"] }\n\
                   decision = \"allow\"\n\
                   [[external_tools.rules]]\ntools = [\"bash\"]\nargs = { command = [\"*git push*\"] }\n\
                   decision = \"deny\"\nreason = \"a person pushes\"\n";

#[test]
fn the_strictest_matching_rule_decides() {
    let decide = shell(GIT);
    assert_eq!(decide("git status"), Some(CallDecision::Allow));
    assert_eq!(decide("ls"), Some(CallDecision::Allow));
    assert_eq!(decide("git push origin"), Some(CallDecision::Deny));
    assert_eq!(decide("rm -r ."), Some(CallDecision::Ask));
    let ruling = policy(GIT, "").decide_external("bash", &json!({ "command": "cd x && git  push" })).unwrap();
    assert_eq!((ruling.decision, ruling.reason.as_deref()), (CallDecision::Deny, Some("a person pushes")));
    assert_eq!(ruling.origin.to_string(), "user config/user.toml:10");
    assert_eq!(Policy::default().decide_external("bash", &json!({})), None);
}

#[test]
fn what_is_allowed_joins_no_second_command() {
    let decide = shell(GIT);
    for more in [
        "git status; rm -r .",
        "git status && rm -r .",
        "git status | sh",
        "git status\nrm -r .",
        "git $(rm -r .)",
        "git `rm -r .`",
        "git log > /etc/passwd",
        "git -C .. status",
        "git status & rm -r .",
        " git status",
        "gitx status",
    ] {
        assert_eq!(decide(more), Some(CallDecision::Ask), "{more:?}");
    }
}

#[test]
fn a_restriction_sees_through_blanks_and_lists_and_a_permission_needs_every_text() {
    let both = "[[external_tools.rules]]\ntools = [\"x\"]\nargs = { a = [\"rm -r*\"] }\ndecision = \"deny\"\n\
                [[external_tools.rules]]\ntools = [\"x\"]\nargs = { a = [\"ls*\"], \"b.c\" = [\"1\"] }\ndecision = \"allow\"";
    let policy = policy(both, "");
    let decide = |args: Value| decide(&policy, "x", &args);
    assert_eq!(decide(json!({ "a": "rm \t\n -rf" })), Some(CallDecision::Deny));
    assert_eq!(decide(json!({ "a": ["ls", { "deep": ["rm -r"] }] })), Some(CallDecision::Deny));
    assert_eq!(decide(json!({ "a": ["ls", "ls -l"], "b": { "c": 1 } })), Some(CallDecision::Allow));
    for not in [
        json!({ "a": ["ls", "id"], "b": { "c": 1 } }),
        json!({ "a": [], "b": { "c": 1 } }),
        json!({ "a": "ls" }),
        json!({ "a": "ls", "b": { "c": 2 } }),
        json!({ "a": null, "b": { "c": 1 } }),
        json!("ls"),
        json!(null),
    ] {
        assert_eq!(decide(not.clone()), None, "{not}");
    }
}

#[test]
fn names_match_as_people_read_them() {
    let rules = "[[external_tools.rules]]\ntools = [\"mcp__*__send-mail\", \"Edit\"]\ndecision = \"ask\"";
    let policy = policy(rules, "");
    for (tool, expected) in [
        ("mcp__post__send_mail", Some(CallDecision::Ask)),
        ("MCP__a__b__SEND-MAIL", Some(CallDecision::Ask)),
        ("edit", Some(CallDecision::Ask)),
        ("mcp__send_mail", None),
        ("MultiEdit", None),
    ] {
        assert_eq!(decide(&policy, tool, &json!({})), expected, "{tool}");
    }
}

#[test]
fn a_project_only_makes_decisions_stricter() {
    let project = "[external_tools]\ndefault = \"allow\"\n\
                   [[external_tools.rules]]\ntools = [\"*\"]\ndecision = \"allow\"\n\
                   [[external_tools.rules]]\ntools = [\"write\"]\ndecision = \"deny\"";
    let both = policy("[external_tools]\ndefault = \"ask\"", project);
    assert_eq!(decide(&both, "bash", &json!({})), Some(CallDecision::Ask));
    assert_eq!(decide(&both, "write", &json!({})), Some(CallDecision::Deny));
    assert_eq!(
        row(&both, "external_tools.default"),
        "\"ask\" (user config/user.toml:2); not \"allow\" (project project/toolcell.toml:2)"
    );
    assert_eq!(
        row(&both, "external_tools.rules"),
        "{ tools = [\"write\"], decision = \"deny\" } (project project/toolcell.toml:8) and none (built-in); not \
         { tools = [\"*\"], decision = \"allow\" } (project project/toolcell.toml:5)"
    );
    let alone = policy("", project);
    assert_eq!(decide(&alone, "bash", &json!({})), None);
    let stricter = policy("[external_tools]\ndefault = \"allow\"", "[external_tools]\ndefault = \"deny\"");
    assert_eq!(decide(&stricter, "bash", &json!({})), Some(CallDecision::Deny));
}

#[test]
fn a_long_text_is_matched_in_linear_time() {
    let rules = format!(
        "[[external_tools.rules]]\ntools = [\"x\"]\nargs = {{ a = [{:?}] }}\ndecision = \"deny\"",
        "*a".repeat(1000) + "b"
    );
    let policy = policy(&rules, "");
    assert_eq!(decide(&policy, "x", &json!({ "a": "a".repeat(1 << 20) })), None);
}
