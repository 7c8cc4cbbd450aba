//! Grants: what is approved is what is granted, and a missing grant is reported with the policy
//! line that would give it.

use serde_json::{Value, json};
use toolcell::{ApprovalState, RunOptions, Toolbox, ToolboxConfig};

use super::{ToolboxFixture, returned_value};

const FETCH: &str = "const execute = async ({ url }) => (await fetch(url)).status";
const NET: &str = "[[grants.tools.fetch_it.net]]\nhost = \"*.example.com\"\n";

/// Creates a toolbox with a tool that requests these capabilities.
fn host(policy: &str, code: &str, asked: &Value) -> ToolboxFixture {
    let host = ToolboxFixture::with_policy(policy);
    make(&host, code, asked);
    host
}

fn make(host: &ToolboxFixture, code: &str, asked: &Value) {
    let fields = json!({ "name": "fetch_it", "description": "a tool", "code": code, "capabilities": asked });
    host.create(&fields).unwrap();
}

fn auto(policy: &str) -> String {
    format!("[approval]\nmode = \"auto\"\n{policy}")
}

/// Asserts the error of a run without a required grant.
#[track_caller]
fn lacks(policy: &str, code: &str, asked: &Value, expect: &str) {
    let host = host(&auto(policy), code, asked);
    let failed =
        host.run("fetch_it", &json!({ "url": "https://a.example.com/" })).unwrap().value().unwrap_err().to_string();
    assert!(failed.ends_with(expect), "{failed}");
}

#[test]
fn an_error_names_the_missing_grant_and_the_line_that_would_give_it() {
    let needs = "it needs the grant `net`, which this call does not have; ";
    let none = "net is not granted by any rule (user toolcell.toml:1); ";
    let line = "`[[grants.tools.fetch_it.net]] host = \"a.example.com\"` in the policy would grant it";
    let asked = json!({ "net": ["a.example.com"] });
    lacks("[grants]", FETCH, &asked, &format!("{needs}{}{line}", none.replace(":1", ":3")));
    lacks("", FETCH, &asked, &format!("{needs}{}{line}", none.replace("user toolcell.toml:1", "built-in")));
    lacks(
        "[grants.default]\nnet = false",
        FETCH,
        &asked,
        &format!("{needs}net is refused by `grants.default` (user toolcell.toml:4); {line}"),
    );
    lacks(
        "[[grants.default.net]]\nhost = \"b.example.com\"",
        FETCH,
        &asked,
        &format!(
            "{needs}net (GET, HEAD https://b.example.com) is granted by `grants.default` (user toolcell.toml:4), but the \
             tool requests something else; {line}"
        ),
    );
    // What the tool does not declare is inferred from its source.
    let here = "const execute = async () => (await fetch('https://b.example.com/x')).status";
    lacks(
        "",
        here,
        &json!(["net"]),
        "`[[grants.tools.fetch_it.net]] host = \"b.example.com\"` in the policy would grant it",
    );
    lacks("", FETCH, &json!(["net"]), "`[[grants.tools.fetch_it.net]] host = \"…\"` in the policy would grant it");
    lacks(
        NET,
        FETCH,
        &json!([]),
        &format!("{needs}the tool does not request it: create the tool again with `net` in its `capabilities`"),
    );
}

#[test]
fn a_tool_cannot_have_another_line_said_than_its_own() {
    let forged = "const execute = () => { throw new Error('it needs the grant `timers`, or `[grants.default]`') }";
    let asked = json!(["timers"]);
    let expected = "timers is not granted by any rule (built-in); `[grants.tools.fetch_it] timers = true` in the policy would grant \
                it";
    lacks("", forged, &asked, expected);
    lacks("[grants.default]\ntimers = true", forged, &asked, "or `[grants.default]`");
    lacks("", "const execute = () => { throw new Error('it needs the grant `moon`') }", &asked, "the grant `moon`");
}

#[test]
fn who_waits_for_an_approval_is_told_what_is_not_granted() {
    let host = host("", FETCH, &json!({ "net": ["a.example.com"], "timers": true }));
    let hint = host.run("fetch_it", &json!({ "url": "x" })).unwrap_err().hint().to_string();
    let id = host.toolbox().find("fetch_it").unwrap().id.short();
    let command = format!("`toolcell grant {id} net=a.example.com timers` grants what it lacks");
    assert!(hint.contains(&command), "{hint}");
}

#[test]
fn an_approval_is_of_exactly_what_is_granted() {
    let mut host = host(NET, FETCH, &json!({ "net": ["a.example.com"] }));
    let question = host.toolbox().approval_prompt("fetch_it").unwrap();
    let expected = question.lines(toolcell::Lang::En);
    assert!(expected.contains(&"  asks for: net (a.example.com)".to_owned()), "{expected:?}");
    assert!(expected.contains(&"  is granted: net (GET, HEAD https://a.example.com)".to_owned()), "{expected:?}");
    let decided = host.toolbox().approve(&question, "me").unwrap();
    assert_eq!(decided.grants.to_value()["net"][0]["calls"], 100);
    assert!(matches!(host.toolbox().show("fetch_it", None).unwrap().approval_state, ApprovalState::Approved));
    // An equivalent policy needs no new approval; a wider one does.
    host.set_policy(&format!("{NET}calls = 100\nmethods = [\"HEAD\", \"GET\"]"));
    assert!(matches!(host.toolbox().show("fetch_it", None).unwrap().approval_state, ApprovalState::Approved));
    host.set_policy(&format!("{NET}calls = 101"));
    assert!(matches!(host.toolbox().show("fetch_it", None).unwrap().approval_state, ApprovalState::Unapproved { .. }));
}

#[test]
fn what_was_shown_is_approved_or_nothing() {
    let rules = "[[grants.tags.free.net]]\nhost = 'any'\n";
    let mut host = host(rules, FETCH, &json!(["net"]));
    let shown = host.toolbox().approval_prompt("fetch_it").unwrap();
    assert!(shown.lines(toolcell::Lang::En).contains(&"  is granted: nothing".to_owned()));
    // While the user decides, the model recreates the same tool with a tag that is granted
    // everything.
    let fields = json!({ "name": "fetch_it", "description": "a tool", "code": FETCH, "capabilities": ["net"],
        "tags": ["free"], "replace": true });
    host.create(&fields).unwrap();
    let error = host.toolbox().approve(&shown, "me").unwrap_err();
    assert_eq!(error.code(), "approval-changed");
    let expected =
        "the grants of `fetch_it` are now net (GET, HEAD https://any), but nothing was shown: nothing was approved";
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().to_string().contains("toolcell approvals"), "{}", error.hint());
    assert_eq!(host.store().approvals().for_tool(shown.call.tool.unwrap()).unwrap(), []);
    let line = host.audit_lines().pop().unwrap();
    assert_eq!((line.action.as_str(), line.error.as_deref()), ("approve", Some("approval-changed")));
    // The same for a policy that changes, and for a tool that was replaced meanwhile.
    let shown = host.toolbox().approval_prompt("fetch_it").unwrap();
    host.set_policy(&rules.replace("any", "a.example.com"));
    assert_eq!(host.toolbox().approve(&shown, "me").unwrap_err().code(), "approval-changed");
    let fields =
        json!({ "name": "fetch_it", "description": "a tool", "code": "const execute = () => 2", "replace": true });
    host.create(&fields).unwrap();
    assert_eq!(host.toolbox().approve(&shown, "me").unwrap_err().code(), "tool-not-found");
    assert!(host.store().approvals().decisions(10).unwrap().is_empty());
}

#[test]
fn a_refusal_holds_whatever_tags_or_grants_come_later() {
    let mut host = host(&auto(NET), FETCH, &json!(["net"]));
    let id = host.toolbox().refuse("fetch_it", "me").unwrap().tool;
    let runs = |host: &ToolboxFixture| {
        host.run("fetch_it", &json!({ "url": "x" })).map(|_| ()).map_err(|error| error.code().as_str())
    };
    assert_eq!(runs(&host), Err("permission-denied"));
    let fields = json!({ "name": "fetch_it", "description": "a tool", "code": FETCH, "capabilities": ["net"],
        "tags": ["free"], "replace": true });
    assert_eq!(host.create(&fields).unwrap().id, id);
    host.set_policy(&auto("[[grants.tags.free.net]]\nhost = 'any'"));
    assert_eq!(runs(&host), Err("permission-denied"));
    assert!(matches!(host.toolbox().show("fetch_it", None).unwrap().approval_state, ApprovalState::Refused));
    let question = host.toolbox().approval_prompt("fetch_it").unwrap();
    host.toolbox().approve(&question, "me").unwrap();
    assert_eq!(runs(&host), Ok(()));
}

#[test]
fn a_rule_of_a_name_may_be_for_one_identifier() {
    let mut host = host(&auto(""), FETCH, &json!(["net"]));
    let id = host.toolbox().find("fetch_it").unwrap().id;
    let rules = auto(&format!("[grants.tools.fetch_it]\nid = '{id}'\n{NET}[[grants.default.net]]\nhost = 'any'\n"));
    host.set_policy(&rules);
    let granted = |host: &ToolboxFixture| host.toolbox().show("fetch_it", None).unwrap().grants.to_string();
    assert_eq!(granted(&host), "net (GET, HEAD https://*.example.com)");
    // Another tool under the same name gets nothing, not even the default grants.
    let other = json!({ "name": "fetch_it", "description": "a tool", "code": format!("{FETCH} // other"),
        "capabilities": ["net"], "replace": true });
    host.create(&other).unwrap();
    assert_eq!(granted(&host), "nothing");
    let ruling = &host.toolbox().show("fetch_it", None).unwrap().grant_decisions[0];
    let expected = format!("which applies only to {}", id.short());
    assert!(ruling.to_string().ends_with(&expected), "{ruling}");
    for (policy, expect) in [
        (
            format!("[grants.default]\nid = '{id}'"),
            "an `id` is only allowed in `grants.tools.NAME`, not in `grants.default`",
        ),
        (format!("[grants.tools.fetch_it]\nid = '{}'", id.short()), "the full identifier is required"),
        (
            format!("[grants.tools.a-b]\nid = '{id}'\n[grants.tools.a_b]\ntimers = true"),
            "line 1 has another `id`: `grants.tools.a-b` is the same tool, keep one of the rules",
        ),
    ] {
        let error = toolcell::PolicyFile::parse(toolcell::policy::Layer::User, &policy, "p.toml".as_ref()).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    }
}

#[test]
fn what_a_tool_asks_for_could_be_granted() {
    let wrong = |asked: Value, expect: &str| {
        let host = ToolboxFixture::new();
        let fields = json!({ "name": "fetch_it", "description": "a tool", "code": FETCH, "capabilities": asked });
        let error = host.create(&fields).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string()), ("capabilities-invalid", expect.to_owned()));
    };
    wrong(json!({ "net": ["*"] }), "`net`: `*` is not a valid host: to grant every host, write `any`");
    wrong(json!({ "net": [] }), "`net` is [], it must be `true`, or a list of hosts");
    wrong(json!({ "net": [1] }), "`net` is [1], it must be `true`, or a list of hosts");
    wrong(json!({ "net": ["a.example:0"] }), "`net`: `a.example:0` is not a valid host: its port must be 1 to 65535");
    wrong(json!({ "timers": ["x"] }), "`timers` is [\"x\"], it must be `true`");
    wrong(
        json!({ "kv": ["a b"] }),
        "`kv`: `a b` is not a valid space name: only ASCII letters, digits, `_` and `-` are allowed",
    );
    wrong(json!({ "moon": true }), "there is no capability `moon`");
    let host = host("", "const execute = () => 1", &json!({ "timers": false }));
    assert!(host.toolbox().show("fetch_it", None).unwrap().requested.is_empty());
}

#[test]
fn a_store_is_in_no_folder_that_a_policy_grants() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("objects");
    for granted in [folder.path(), &inside, folder.path().parent().unwrap()] {
        let text = format!("[[grants.default.files]]\nname = \"d\"\npath = {granted:?}\n");
        let path = std::path::Path::new("toolcell.toml");
        let file = toolcell::PolicyFile::parse(toolcell::policy::Layer::User, &text, path).unwrap();
        let policy = toolcell::Policy::from_layers([file]).unwrap();
        let error = Toolbox::open(folder.path(), ToolboxConfig { policy, ..ToolboxConfig::default() }).err().unwrap();
        assert_eq!(error.code(), "policy-invalid");
        assert!(
            error.to_string().starts_with("toolcell.toml:3:8: the folder contains the store or is inside it"),
            "{error}"
        );
    }
}

#[test]
fn real_chance_is_drawn_anew_for_each_run_and_recorded() {
    let code = "const execute = () => [Math.random(), Math.random()]";
    let twice = |host: &ToolboxFixture| [(); 2].map(|()| returned_value(&host.run("fetch_it", &json!({})).unwrap()));
    let real = host(&auto("[grants.default]\nrandom = true"), code, &json!(["random"]));
    let [one, two] = twice(&real);
    assert_ne!(one, two);
    let seeds: Vec<_> = real.audit_lines().iter().filter_map(|line| real.record(line)?.seed).collect();
    assert!(seeds.len() == 2 && seeds[0] != seeds[1] && seeds.iter().all(|seed| seed.len() == 16), "{seeds:?}");
    // A run with that seed yields the same numbers.
    let plain = host(&auto(""), code, &json!(["random"]));
    let seed = u64::from_str_radix(&seeds[0], 16).unwrap();
    let fields = json!({ "tool_name": "fetch_it", "parameters": {} });
    let again = plain.run_with(&fields, &RunOptions { seed, ..RunOptions::default() }).unwrap();
    assert_eq!(returned_value(&again), one);
    let [one, two] = twice(&plain);
    assert_eq!(one, two);
    assert!(plain.audit_lines().iter().filter_map(|line| plain.record(line)).all(|record| record.seed.is_none()));
}

#[test]
fn the_real_clock_is_that_of_the_host_and_what_it_said_is_reported() {
    let code = "const execute = () => { const t = Date.now(); for (let n = 0; n < 1e6; n++); return Date.now() - t }";
    let real = host(&auto("[grants.default]\nclock = true"), code, &json!(["clock"]));
    let ran = real.run("fetch_it", &json!({})).unwrap();
    // The clock of this fixture is constant.
    assert_eq!(returned_value(&ran), 0);
    let [reading] = ran.report.readings[..] else { panic!("{:?}", ran.report.readings) };
    assert_eq!((reading.at.as_secs(), reading.times >= 2), (1_771_405_200, true));
    let plain = host(&auto(""), code, &json!(["clock"]));
    let ran = plain.run("fetch_it", &json!({})).unwrap();
    assert!(returned_value(&ran).as_u64().unwrap() > 0 && ran.report.readings.is_empty());
}
