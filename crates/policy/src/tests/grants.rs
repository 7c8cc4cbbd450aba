//! The details of grants, and their display.

use std::collections::BTreeSet;

use toolcell_i18n::{Lang, Localize as _};
use toolcell_tool::ToolId;
use toolcell_tool::{Capabilities, Capability};

use super::{ALL, name, policy, user};
use crate::{GrantDecision, GrantVerdict, Policy};

const ID: ToolId = ToolId::from_bytes([0x0b; 32]);

/// Returns the decision about one capability that `x` requests, in part or as a whole.
fn ruled(policy: &Policy, capability: Capability, named: &[&str]) -> GrantDecision {
    let named: BTreeSet<String> = named.iter().map(ToString::to_string).collect();
    let asked = Capabilities::scoped([(capability, named)]);
    policy.grant_decisions(ID, &name("x"), &["one".to_owned(), "two".to_owned()], &asked).remove(0)
}

#[track_caller]
fn check(of_user: &str, of_project: &str, named: &[&str], expect: &str) {
    let said = ruled(&policy(of_user, of_project), Capability::Net, named).to_string();
    assert_eq!(said.replace("config/user.toml", "U").replace("project/toolcell.toml", "P"), expect);
}

fn net(of: &str, host: &str, more: &str) -> String {
    format!("[[grants.{of}.net]]\nhost = \"{host}\"\n{more}\n")
}

#[test]
fn a_project_narrows_what_the_user_grants() {
    let wide = net("default", "*.example.com", "methods = [\"GET\", \"POST\"]\ncalls = 50");
    let (rule, project) = ("`grants.default` (user U:2)", "`grants.default` (project P:2)");
    let whole = "net (GET, POST https://*.example.com, at most 50 requests per run)";
    check(&wide, "", &[], &format!("{whole} is granted by {rule}"));
    check(
        &wide,
        &net("default", "any", "methods = [\"GET\", \"POST\", \"PUT\"]"),
        &[],
        &format!("{whole} is granted by {rule}"),
    );
    check(
        &wide,
        &net("default", "a.example.com", "path = \"/v1\""),
        &[],
        &format!("net (GET https://a.example.com/v1, at most 50 requests per run) is granted by {project}"),
    );
    check(&wide, &net("default", "other.example", ""), &[], &format!("net is refused by {project}"));
    check(&wide, "[grants.default]\nnet = false", &[], &format!("net is refused by {project}"));
    check(&wide, "[grants.default]\ntimers = true", &[], "net is not granted by any rule (project P:1)");
    check("", &wide, &[], "net is not granted by any rule (built-in)");
}

#[test]
fn a_decision_is_told_in_the_language_of_the_reader() {
    let decision = ruled(&policy("[grants.default]\nnet = false", ""), Capability::Net, &[]);
    assert_eq!(
        decision.localize().to_text(Lang::Ja),
        "net は `grants.default` によって拒否されています (ユーザー config/user.toml:2)"
    );
    assert_eq!(decision.localize().to_text(Lang::Zh), "net 被 `grants.default` 拒绝（用户 config/user.toml:2）");
}

#[test]
fn a_tool_gets_no_more_than_it_asks_for() {
    let wide = net("default", "*.example.com", "ports = [443, 8443]");
    let rule = "`grants.default` (user U:2)";
    check(
        &wide,
        "",
        &["a.example.com:8443"],
        &format!("net (GET, HEAD https://a.example.com:8443) is granted by {rule}"),
    );
    check(
        &wide,
        "",
        &["other.example"],
        &format!(
            "net (GET, HEAD https://*.example.com:443,8443) is granted by {rule}, but the tool requests something else"
        ),
    );
    assert_eq!(ruled(&policy(&wide, ""), Capability::Net, &["other.example"]).verdict, GrantVerdict::Refused);
    let kept = policy("[grants.default.kv]\nspace = \"notes\"", "");
    assert_eq!(ruled(&kept, Capability::Kv, &["notes"]).verdict, GrantVerdict::Granted);
    assert_eq!(ruled(&kept, Capability::Kv, &["others"]).verdict, GrantVerdict::Refused);
}

#[test]
fn of_rules_that_are_as_close_what_all_of_them_grant_counts() {
    let both = net("tags.one", "any", "") + &net("tags.two", "a.example", "");
    check(&both, "", &[], "net (GET, HEAD https://a.example) is granted by `grants.tags.two` (user U:5)");
    let closer = both + &net("tools.x", "b.example", "") + "[grants.default]\nnet = false\n";
    check(&closer, "", &[], "net (GET, HEAD https://b.example) is granted by `grants.tools.x` (user U:8)");
    let apart = net("tags.one", "b.example", "") + &net("tags.two", "a.example", "");
    check(&apart, "", &[], "net is refused by `grants.tags.two` (user U:5)");
}

#[test]
fn a_file_with_everything_grants_everything() {
    let policy = Policy::from_layers([user(ALL).unwrap()]).unwrap();
    assert_eq!(policy.upper_bound().len(), 7, "{:?}", policy.upper_bound());
    let asked = Capabilities::unscoped(Capability::ALL);
    let grants = policy.grants_for(ID, &name("Fetch-JSON"), &[], &asked);
    assert_eq!(
        grants.to_string(),
        "net (GET, POST https://api.example.com:443,8443/v1 at 10.1.0.0/16, at most 1024 request bytes, at most 65536 \
         response bytes, at most 10 requests per run, at most 60 requests per minute; GET, HEAD \
         https://*.example.org), timers, random, \
         files (read data at data, at most 1048576 bytes read), secrets (API_TOKEN in header, query to api.example.com), \
         tools (avg, sum)"
    );
}

#[test]
fn what_is_granted_is_shown_as_a_file_would_state_it() {
    let policy = Policy::from_layers([user(ALL).unwrap()]).unwrap();
    let row = |key: &str| policy.settings().into_iter().find(|setting| setting.key == key).unwrap().value;
    assert_eq!(
        row("grants.tools.fetch_json.net"),
        "[{ host = \"api.example.com\", ports = [443, 8443], methods = [\"GET\", \"POST\"], \
         path = \"/v1\", addresses = [\"10.1.0.0/16\"], request_bytes = 1024, response_bytes = 65536, calls = 10, \
         per_minute = 60 }, { host = \"*.example.org\" }]"
    );
    assert_eq!(
        row("grants.default.kv"),
        "{ space = \"notes\", access = \"read\", bytes = 65536, keys = 10, value_bytes = 1024 }"
    );
    assert_eq!(row("grants.tools.fetch_json.kv"), "false");
    assert_eq!(
        row("grants.tools.fetch_json.files"),
        "[{ name = \"data\", path = \"data\", bytes = 1, read_bytes = 1048576 }]"
    );
    assert_eq!(
        row("grants.tools.fetch_json.secrets"),
        "[{ name = \"API_TOKEN\", hosts = [\"api.example.com\"], into = [\"header\", \"query\"] }]"
    );
    assert_eq!(row("grants.tools.fetch_json.tools"), "[\"avg\", \"sum\"]");
    assert_eq!(row("grants.tools.dt_0a0a0a0a.tools"), "\"any\"");
    // The displayed grants can be parsed again.
    for (key, capability) in [("net", "net"), ("files", "files"), ("secrets", "secrets"), ("tools", "tools")] {
        let text = format!("[grants.default]\n{capability} = {}", row(&format!("grants.tools.fetch_json.{key}")));
        user(&text).unwrap();
    }
}

#[test]
fn code_that_is_not_stored_gets_what_its_rule_grants_and_no_tool_does() {
    let rules = "[grants.default]\ntimers = true\n[grants.drafts]\nclock = true\n";
    let all = Capabilities::unscoped(Capability::ALL);
    let granted = policy(rules, "").grants_for(ID, &name("x"), &[], &all);
    assert_eq!(granted.capabilities(), BTreeSet::from([Capability::Timers]));
    assert_eq!(policy(rules, "").draft_grants().capabilities(), BTreeSet::from([Capability::Clock]));
    assert!(policy("[grants.default]\ntimers = true\n", "").draft_grants().is_empty());
    // A project narrows it like any other rule.
    assert!(policy(rules, "[grants.default]\nclock = true\n").draft_grants().is_empty());
    let kept = policy(rules, "[grants.drafts]\nclock = true\ntimers = true\n").draft_grants();
    assert_eq!(kept.capabilities(), BTreeSet::from([Capability::Clock]));
}
