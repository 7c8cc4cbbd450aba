//! Approved tools exposed as MCP tools, and the notifications of changes.

use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::server::BinaryFixture;

const PREFIX: &str = "toolcell__";
const TWICE: &str = "const execute = ({ n }) => 2 * n";

/// Returns the names of the tools beside the built-in ones.
fn published(peer: &mut RawClient) -> Vec<String> {
    let tools = peer.request("tools/list", json!({})).result()["tools"].clone();
    let names = tools.as_array().unwrap()[7..].iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.collect()
}

fn make(peer: &mut RawClient, name: &str) {
    let parameters = json!({ "n": { "type": "number", "description": "a number", "required": true } });
    let code = format!("{TWICE} // {name}");
    let tool = json!({ "name": name, "description": "Doubles", "code": code, "parameters": parameters });
    peer.call("create_tool", tool).done();
}

#[test]
fn only_approved_tools_are_published_sorted_and_no_more_than_so_many() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--publish", "2"]).stateless(json!({}));
    for name in ["b", "d", "a", "c"] {
        make(&mut peer, name);
    }
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    for (name, all) in [("d", &["d"][..]), ("c", &["c", "d"]), ("a", &["a", "c"])] {
        home.stdout_of(&["approvals", "grant", name]);
        let all: Vec<String> = all.iter().map(|name| format!("{PREFIX}{name}")).collect();
        assert_eq!(published(&mut peer), all);
    }
    home.stdout_of(&["approvals", "revoke", "a"]);
    assert_eq!(published(&mut peer), ["toolcell__c", "toolcell__d"]);
    home.stdout_of(&["approvals", "refuse", "c"]);
    assert_eq!(published(&mut peer), ["toolcell__d"]);
    peer.call("delete_dynamic_tool", json!({ "tool_name": "d", "confirm": true })).done();
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    // Without `--publish` there are only the built-in tools.
    home.stdout_of(&["approvals", "grant", "b"]);
    assert_eq!(published(&mut peer), ["toolcell__b"]);
    assert_eq!(published(&mut home.start_stdio(&[]).stateless(json!({}))), <[String; 0]>::default());
}

#[test]
fn a_published_tool_is_called_as_it_says_and_is_a_run_like_others() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--publish", "5"]).in_session(json!({}));
    make(&mut peer, "twice");
    peer.call("toolcell__twice", json!({ "n": 21 })).is_refused_with(-32_602);
    home.stdout_of(&["approvals", "grant", "twice"]);
    let tools = peer.request("tools/list", json!({})).result()["tools"].clone();
    let tool = &tools[7];
    assert_eq!(tool["inputSchema"]["properties"]["n"]["type"], "number", "{tool}");
    assert_eq!(tool["inputSchema"]["required"], json!(["n"]), "{tool}");
    assert_eq!(tool["outputSchema"], tools[1]["outputSchema"]);
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    peer.call("toolcell__twice", json!({ "n": 21 })).returns(&json!(42));
    peer.run("twice", json!({ "n": 4 })).returns(&json!(8));
    peer.call("toolcell__twice", json!({})).fails("parameters-missing");
    peer.call("toolcell__twice", json!({ "m": 1, "n": 2 })).fails("parameters-invalid");
    let runs = home.audit_lines();
    assert_eq!(runs.iter().filter(|line| line["action"] == "run_dynamic_tool" && line["success"] == true).count(), 2);
    // An approval is bound to the code of the tool.
    let other = json!({ "name": "twice", "description": "Other", "code": "const execute = () => 0", "replace": true });
    peer.call("create_tool", other).done();
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    peer.call("toolcell__twice", json!({ "n": 21 })).is_refused_with(-32_602);
}

#[test]
fn a_published_tool_has_the_result_that_it_declares() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--publish", "5"]).in_session(json!({}));
    let person = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    for (name, code, returns) in [
        ("number", "const execute = ({ n }) => n", json!({ "type": "number" })),
        ("person", "const execute = ({ n }) => n ? { name: 'x' } : n === 0 ? {} : undefined", person.clone()),
    ] {
        peer.call("create_tool", json!({ "name": name, "description": "d", "code": code, "returns": returns })).done();
        home.stdout_of(&["approvals", "grant", name]);
    }
    let tools = peer.request("tools/list", json!({})).result()["tools"].clone();
    assert_eq!(tools[7]["outputSchema"]["properties"]["value"], json!({ "type": "number" }));
    assert_eq!(tools[8]["outputSchema"], person);
    peer.call("toolcell__number", json!({ "n": 3 })).returns(&json!(3));
    assert_eq!(peer.call("toolcell__person", json!({ "n": 1 })).done(), json!({ "name": "x" }));
    for (tool, arguments) in [
        ("toolcell__number", json!({ "n": "three" })),
        ("toolcell__person", json!({ "n": 0 })),
        ("toolcell__person", json!({})),
    ] {
        let failed = peer.call(tool, arguments);
        failed.fails("tool-failed");
        assert!(
            failed.text().contains("result does not match") || failed.text().contains("returned nothing"),
            "{}",
            failed.text()
        );
    }
}

fn is_notice(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

/// Approvals and revocations by another process are sent to a client that listens.
#[track_caller]
fn assert_notified_of_changes(home: &BinaryFixture, peer: &mut RawClient) {
    home.stdout_of(&["approvals", "grant", "twice"]);
    peer.wait_for_message(is_notice);
    assert_eq!(published(peer), ["toolcell__twice"]);
    home.stdout_of(&["approvals", "revoke", "twice"]);
    peer.wait_for_message(is_notice);
    assert_eq!(published(peer), <[String; 0]>::default());
}

#[test]
fn a_session_is_told_that_the_list_has_changed() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--publish", "5"]).in_session(json!({}));
    make(&mut peer, "twice");
    peer.wait_for_message(is_notice);
    assert_notified_of_changes(&home, &mut peer);
    let web = home.start_http(&["--publish", "5"]);
    let mut peer = web.client().in_session(json!({}));
    peer.open_event_stream();
    assert_notified_of_changes(&home, &mut peer);
}

#[test]
fn whoever_has_no_session_listens() {
    let home = BinaryFixture::new("");
    make(&mut home.start_stdio(&[]).stateless(json!({})), "twice");
    let web = home.start_http(&["--publish", "5"]);
    for mut peer in [home.start_stdio(&["--publish", "5"]).stateless(json!({})), web.client().stateless(json!({}))] {
        let id = peer.send_request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
        let notification =
            peer.wait_for_message(|message| message["method"] == "notifications/subscriptions/acknowledged");
        assert_eq!(notification["params"]["notifications"]["toolsListChanged"], true, "{notification}");
        assert_notified_of_changes(&home, &mut peer);
        // Resource notifications go only to clients that subscribed.
        let others = |heard: &super::raw_client::Incoming| format!("{heard:?}").contains("resources/list_changed");
        assert!(!peer.received.iter().any(others), "{}", peer.describe_received());
        let answers = |heard: &super::raw_client::Incoming| matches!(heard, super::raw_client::Incoming::Message(it) if it["id"] == id);
        assert!(!peer.received.iter().any(answers), "it is answered when it is over: {}", peer.describe_received());
    }
}
