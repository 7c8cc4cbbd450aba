//! Rules about flows of data: what a client says that it knows, and what its user decides.

use serde_json::{Value, json};

use super::raw_client::{RawClient, elicitation_capabilities};
use super::reply::Reply;
use super::server::{BinaryFixture, poll};

const POLICY: &str = r#"
[approval]
mode = "auto"
[grants.default.kv]
space = "notes"
[grants.drafts.kv]
space = "notes"
[[flows]]
from = ["server:mail", "tool:put"]
to = ["kv:notes:writes"]
do = "deny"
"#;
const CODE: &str = "const execute = () => kv.set('a', 1).then(() => 'put', (e) => e.code)";

fn request(peer: &mut RawClient, name: &str, arguments: Value, context: Option<Value>) -> Reply {
    let mut params = json!({ "name": name, "arguments": arguments });
    if let Some(context) = context {
        params["_meta"] = json!({ "toolcell/context": context });
    }
    peer.request("tools/call", params)
}

#[test]
fn results_carry_labels_and_a_client_says_what_it_knows() {
    let home = BinaryFixture::new(POLICY);
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    let tool = json!({ "name": "put", "description": "Puts", "code": CODE, "capabilities": ["kv"] });
    peer.call("create_tool", tool).done();
    let run = json!({ "tool_name": "put" });
    let code = json!({ "code": CODE, "parameters": {} });
    for (name, arguments) in [("run_dynamic_tool", &run), ("run_code", &code)] {
        let reply = request(&mut peer, name, arguments.clone(), Some(json!(["server:mail.read"])));
        reply.returns(&json!("flow-refused"));
        let labels = &reply.result()["_meta"]["toolcell/labels"];
        assert!(labels.as_array().unwrap().contains(&json!("server:mail.read")), "{labels}");
        // What is no list of sources counts as all.
        for context in [json!("server:mail.read"), json!(["nonsense"]), json!([7])] {
            request(&mut peer, name, arguments.clone(), Some(context)).returns(&json!("flow-refused"));
        }
        let reply = request(&mut peer, name, arguments.clone(), Some(json!([])));
        reply.returns(&json!("put"));
        let labels = &reply.result()["_meta"]["toolcell/labels"];
        assert!(!labels.as_array().unwrap().contains(&json!("server:mail.read")), "{labels}");
    }
    // A client that says nothing is held to what it was told: by this tool.
    request(&mut peer, "run_dynamic_tool", run.clone(), None).returns(&json!("put"));
    request(&mut peer, "run_dynamic_tool", run, None).returns(&json!("flow-refused"));
}

const KEEP: &str = "const execute = async ({ text }) => kv.set('a', text).then(() => kv.get('a'), (e) => [e.code, e.effects, e.message])";

/// A fixture with a rule that asks about what is written.
fn asking() -> BinaryFixture {
    BinaryFixture::new(
        "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"\n\
         [[flows]]\nfrom = [\"caller\"]\nto = [\"kv:notes:writes\"]\ndo = \"ask\"\n",
    )
}

/// Runs a check with a session client over each transport.
fn in_session(check: impl Fn(&BinaryFixture, RawClient)) {
    let home = asking();
    check(&home, home.start_stdio(&[]).in_session(elicitation_capabilities()));
    let home = asking();
    let web = home.start_http(&[]);
    check(&home, web.client().in_session(elicitation_capabilities()));
}

fn value(reply: &Reply) -> Value {
    reply.result()["structuredContent"]["value"].clone()
}

#[test]
fn in_a_session_the_user_decides_about_an_operation_that_a_rule_asks_about() {
    in_session(|home, mut peer| {
        peer.create_tool("keep", KEEP);
        peer.set_elicitation_reply(json!({ "action": "accept", "content": { "decision": "approve" } }));
        assert_eq!(value(&peer.run("keep", json!({ "text": "x\u{202e}y" }))), "x\u{202e}y");
        let params = peer.elicitations[0]["params"].clone();
        let message = params["message"].as_str().unwrap();
        let first = "The run of `keep` has data from caller, and is about to do something that reaches kv:notes:writes:\n  kv.commit a\n  rule: flows[0] (";
        assert!(message.starts_with(first), "{message}");
        assert!(message.contains(r"x\u{202e}y") && message.ends_with("\nLet `keep` do this, once?"), "{message}");
        assert_eq!(params["requestedSchema"]["required"], json!(["decision"]));
        let line = home.wait_for_log_line(|line| line["action"] == "run_dynamic_tool" && line["toolName"] == "keep");
        let run = line["details"]["run"].as_str().unwrap();
        let shown = poll(|| Some(home.run(&["audit", "record", run])).filter(|output| output.status.success()));
        let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
        assert!(shown.contains("kv.commit  a  committed") && shown.contains("asked the user: accept"), "{shown}");
        for (reply, why) in [
            (json!({ "action": "accept", "content": { "decision": "refuse" } }), "which was refused"),
            (json!({ "action": "decline" }), "which was refused"),
            (json!({ "action": "accept", "content": {} }), "which was refused"),
            (json!({ "action": "accept", "content": { "decision": "grant_once" } }), "which was refused"),
            (json!({ "action": "cancel" }), "the user dismissed the question"),
            (json!("yes"), "the client did not answer in time, or failed"),
        ] {
            peer.set_elicitation_reply(reply.clone());
            let told = value(&peer.run("keep", json!({ "text": "z" })));
            assert_eq!(told[0], "flow-not-approved", "{reply}");
            assert!(told[2].as_str().unwrap().contains(why), "{reply}: {told}");
        }
    });
}

#[test]
fn what_is_too_long_to_be_shown_is_not_asked_about() {
    in_session(|_, mut peer| {
        let keys = "const execute = async () => { for (let i = 0; i < 300; i++) await kv.get('x'); \
                    return kv.set('k'.repeat(200), Object.fromEntries(Array.from({ length: 60 }, (_, i) => ['k'.repeat(400) + i, i]))) \
                    .then(() => 'kept', (e) => e.message) }";
        peer.create_tool("long", keys);
        peer.set_elicitation_reply(json!({ "action": "accept", "content": { "decision": "approve" } }));
        let told = value(&peer.run("long", json!({})));
        assert!(told.as_str().unwrap().contains("no person was asked: to show it takes"), "{told}");
        assert_eq!(peer.elicitations.len(), 0);
    });
}

#[test]
fn without_a_session_it_is_refused_because_the_run_would_be_done_again() {
    let home = asking();
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    peer.create_tool("keep", KEEP);
    let told = value(&peer.run("keep", json!({ "text": "x" })));
    assert!(told[2].as_str().unwrap().contains("the run would do again what it has done"), "{told}");
}

#[test]
fn a_task_needs_input_until_the_user_decided() {
    let home = asking();
    let mut capabilities = super::raw_client::task_capabilities();
    capabilities["elicitation"] = json!({ "form": {} });
    let mut peer = home.start_stdio(&[]).stateless(capabilities);
    peer.create_tool("keep", KEEP);
    let run = json!({ "tool_name": "keep", "parameters": { "text": "x" }, "timeout_ms": 120_000 });
    let task = peer.call("run_dynamic_tool", run).result();
    assert_eq!(task["resultType"], "task", "{task}");
    let id = json!({ "taskId": task["taskId"] });
    let asked = poll(|| {
        let seen = peer.request("tasks/get", id.clone()).result();
        (seen["status"] == "input_required").then_some(seen)
    });
    let asked = asked.unwrap();
    let (key, _) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let answers = json!({ key.as_str(): { "action": "accept", "content": { "decision": "approve" } } });
    peer.request("tasks/update", json!({ "taskId": task["taskId"], "inputResponses": answers })).result();
    let done = poll(|| {
        let seen = peer.request("tasks/get", id.clone()).result();
        (seen["status"] == "completed").then_some(seen)
    });
    assert_eq!(done.unwrap()["result"]["structuredContent"]["value"], "x");
}
