//! Questions that MCP servers ask during a run, passed on to the client of `toolcell mcp`.

use std::path::Path;

use serde_json::{Value, json};

use super::raw_client::{RawClient, elicitation_capabilities};
use super::server::{BinaryFixture, poll};

const BOOK: &str = "const execute = () => servers.s.book({ how: 'plain' }).then(JSON.parse, (e) => e.message)";
const ERAS: [&str; 2] = ["asks", "asks-stateless"];

/// A fixture with a server `s` of this kind, whose tools may be called.
fn home(kind: &str) -> BinaryFixture {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/servers/server.py").canonicalize().unwrap();
    BinaryFixture::new(&format!(
        "[approval]\nmode = \"auto\"\n[grants.default]\nservers = {{ s = \"any\" }}\n\
         [servers.s]\ncommand = [\"python3\", \"{}\", \"{kind}\"]\n",
        script.display()
    ))
}

/// Runs a check with session clients over each transport, with servers of each era.
fn in_session(capabilities: Value, check: impl Fn(&BinaryFixture, RawClient)) {
    for kind in ERAS {
        let home_of_one = home(kind);
        check(&home_of_one, home_of_one.start_stdio(&[]).in_session(capabilities.clone()));
        let home_of_one = home(kind);
        let web = home_of_one.start_http(&[]);
        check(&home_of_one, web.client().in_session(capabilities.clone()));
    }
}

fn value(reply: &super::reply::Reply) -> Value {
    reply.result()["structuredContent"]["value"].clone()
}

#[test]
fn in_a_session_the_form_of_a_server_is_shown_and_what_is_filled_in_reaches_it() {
    in_session(elicitation_capabilities(), |home, mut peer| {
        peer.create_tool("trip", BOOK);
        peer.set_elicitation_reply(json!({ "action": "accept", "content": { "seat": "12A" } }));
        assert_eq!(value(&peer.run("trip", json!({}))), json!([{ "action": "accept", "content": { "seat": "12A" } }]));
        let params = peer.elicitations[0]["params"].clone();
        let message = params["message"].as_str().unwrap();
        assert!(message.starts_with("The server `s` asks for input, in a call of `book` by `trip`."), "{message}");
        assert!(message.contains("\n  | Which seat?\nEnter no password"), "{message}");
        let seat = json!({ "type": "string", "title": "Seat", "minLength": 2, "maxLength": 4 });
        assert_eq!(params["requestedSchema"]["properties"]["seat"], seat, "{params}");
        assert_eq!(params["requestedSchema"]["required"], json!(["seat"]));
        let line = home.wait_for_log_line(|line| line["action"] == "run_dynamic_tool" && line["toolName"] == "trip");
        let run = line["details"]["run"].as_str().unwrap();
        // The record follows its line in the log.
        let shown = poll(|| Some(home.run(&["audit", "record", run])).filter(|output| output.status.success()));
        let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
        assert!(shown.contains("servers.call  s.book  committed  asked the user: accept"), "{shown}");
    });
}

/// The reason for an answer that does not match the form.
const MISMATCH: &str = "the answer does not match the form";

#[test]
fn in_a_session_each_other_answer_is_told_as_what_it_is() {
    in_session(elicitation_capabilities(), |_, mut peer| {
        peer.create_tool("trip", BOOK);
        for (reply, action, why) in [
            (json!({ "action": "decline" }), "decline", "the user declined"),
            (json!({ "action": "cancel" }), "cancel", "the user dismissed the question"),
            // What is wrong is not repeated: it would reach the server and the code.
            (json!({ "action": "accept", "content": { "seat": "wrong" } }), "cancel", MISMATCH),
            (json!({ "action": "accept", "content": { "seat": "12A", "x": 1 } }), "cancel", MISMATCH),
            (json!({ "action": "accept" }), "cancel", MISMATCH),
            (json!({ "action": "perhaps" }), "cancel", "the client did not answer in time, or failed"),
            (json!("12A"), "cancel", "the client did not answer in time, or failed"),
        ] {
            peer.set_elicitation_reply(reply.clone());
            let told = value(&peer.run("trip", json!({})));
            let told = told.as_str().unwrap();
            assert!(told.contains(&format!("\"action\": \"{action}\"")) && told.contains(why), "{reply}: {told}");
            assert!(!told.contains("12A") && !told.contains("wrong"), "{reply}: {told}");
        }
        assert_eq!(peer.elicitations.len(), 7);
    });
}

#[test]
fn a_client_that_cannot_ask_is_not_asked() {
    in_session(json!({}), |_, mut peer| {
        peer.create_tool("trip", BOOK);
        let told = value(&peer.run("trip", json!({})));
        assert!(told.as_str().unwrap().ends_with("the caller of this run cannot pass questions on"), "{told}");
        assert_eq!(peer.elicitations.len(), 0);
    });
}

#[test]
fn without_a_session_it_is_declined_because_the_run_would_be_done_again() {
    for kind in ERAS {
        let home = home(kind);
        for (name, mut peer) in [
            ("one", home.start_stdio(&[]).stateless(elicitation_capabilities())),
            ("two", home.start_http(&[]).client().stateless(elicitation_capabilities())),
        ] {
            peer.create_tool(name, &format!("{BOOK} // {name}"));
            let told = value(&peer.run(name, json!({})));
            assert!(told.as_str().unwrap().contains("the run would do again what it has done"), "{told}");
        }
    }
}

#[test]
fn a_task_needs_input_until_the_question_is_answered() {
    for kind in ERAS {
        let home = home(kind);
        let mut capabilities = super::raw_client::task_capabilities();
        capabilities["elicitation"] = json!({ "form": {} });
        let mut peer = home.start_stdio(&[]).stateless(capabilities);
        peer.create_tool("trip", BOOK);
        let task = peer.call("run_dynamic_tool", json!({ "tool_name": "trip", "timeout_ms": 120_000 })).result();
        assert_eq!(task["resultType"], "task", "{task}");
        let id = json!({ "taskId": task["taskId"] });
        let asked = poll(|| {
            let seen = peer.request("tasks/get", id.clone()).result();
            (seen["status"] == "input_required").then_some(seen)
        });
        let asked = asked.unwrap();
        let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert!(question["params"]["message"].as_str().unwrap().starts_with("The server `s` asks"), "{asked}");
        let answers = json!({ key.as_str(): { "action": "accept", "content": { "seat": "7C" } } });
        peer.request("tasks/update", json!({ "taskId": task["taskId"], "inputResponses": answers })).result();
        let done = poll(|| {
            let seen = peer.request("tasks/get", id.clone()).result();
            (seen["status"] == "completed").then_some(seen)
        });
        let value = done.unwrap()["result"]["structuredContent"]["value"].clone();
        assert_eq!(value, json!([{ "action": "accept", "content": { "seat": "7C" } }]));
    }
}
