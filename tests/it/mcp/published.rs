//! Approved tools as tools of their own, and the notices that there are others now.

use serde_json::{Value, json};

use super::home::Home;
use super::peer::Peer;

const PREFIX: &str = "toolcell__";
const TWICE: &str = "const execute = ({ n }) => 2 * n";

/// The names of the tools that are not among the five.
fn published(peer: &mut Peer) -> Vec<String> {
    let tools = peer.ask("tools/list", json!({})).result()["tools"].clone();
    let names = tools.as_array().unwrap()[5..].iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.collect()
}

fn make(peer: &mut Peer, name: &str) {
    let parameters = json!({ "n": { "type": "number", "description": "a number", "required": true } });
    let code = format!("{TWICE} // {name}");
    let tool = json!({ "name": name, "description": "Doubles", "code": code, "parameters": parameters });
    peer.call("create_tool", tool).done();
}

#[test]
fn only_approved_tools_are_published_sorted_and_no_more_than_so_many() {
    let home = Home::new("");
    let mut peer = home.piped(&["--publish", "2"]).stateless(json!({}));
    for name in ["b", "d", "a", "c"] {
        make(&mut peer, name);
    }
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    for (name, all) in [("d", &["d"][..]), ("c", &["c", "d"]), ("a", &["a", "c"])] {
        home.prints(&["approvals", "grant", name]);
        let all: Vec<String> = all.iter().map(|name| format!("{PREFIX}{name}")).collect();
        assert_eq!(published(&mut peer), all);
    }
    home.prints(&["approvals", "revoke", "a"]);
    assert_eq!(published(&mut peer), ["toolcell__c", "toolcell__d"]);
    home.prints(&["approvals", "refuse", "c"]);
    assert_eq!(published(&mut peer), ["toolcell__d"]);
    peer.call("delete_dynamic_tool", json!({ "tool_name": "d", "confirm": true })).done();
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    // Where nobody wants that, there are five.
    home.prints(&["approvals", "grant", "b"]);
    assert_eq!(published(&mut peer), ["toolcell__b"]);
    assert_eq!(published(&mut home.piped(&[]).stateless(json!({}))), <[String; 0]>::default());
}

#[test]
fn a_published_tool_is_called_as_it_says_and_is_a_run_like_others() {
    let home = Home::new("");
    let mut peer = home.piped(&["--publish", "5"]).in_session(json!({}));
    make(&mut peer, "twice");
    peer.call("toolcell__twice", json!({ "n": 21 })).is_refused_with(-32_602);
    home.prints(&["approvals", "grant", "twice"]);
    let tools = peer.ask("tools/list", json!({})).result()["tools"].clone();
    let tool = &tools[5];
    assert_eq!(tool["inputSchema"]["properties"]["n"]["type"], "number", "{tool}");
    assert_eq!(tool["inputSchema"]["required"], json!(["n"]), "{tool}");
    assert_eq!(tool["outputSchema"], tools[1]["outputSchema"]);
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    peer.call("toolcell__twice", json!({ "n": 21 })).returns(&json!(42));
    peer.run("twice", json!({ "n": 4 })).returns(&json!(8));
    peer.call("toolcell__twice", json!({})).fails("parameters-missing");
    peer.call("toolcell__twice", json!({ "m": 1, "n": 2 })).fails("parameters-invalid");
    let runs = home.audit();
    assert_eq!(runs.iter().filter(|line| line["action"] == "run_dynamic_tool" && line["success"] == true).count(), 2);
    // An approval is one of the code that it was given to.
    let other = json!({ "name": "twice", "description": "Other", "code": "const execute = () => 0", "replace": true });
    peer.call("create_tool", other).done();
    assert_eq!(published(&mut peer), <[String; 0]>::default());
    peer.call("toolcell__twice", json!({ "n": 21 })).is_refused_with(-32_602);
}

fn is_notice(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

/// What somebody else approves and takes back is told to whoever listens.
#[track_caller]
fn hears_of_changes(home: &Home, peer: &mut Peer) {
    home.prints(&["approvals", "grant", "twice"]);
    peer.hears(is_notice);
    assert_eq!(published(peer), ["toolcell__twice"]);
    home.prints(&["approvals", "revoke", "twice"]);
    peer.hears(is_notice);
    assert_eq!(published(peer), <[String; 0]>::default());
}

#[test]
fn a_session_is_told_that_the_list_has_changed() {
    let home = Home::new("");
    let mut peer = home.piped(&["--publish", "5"]).in_session(json!({}));
    make(&mut peer, "twice");
    peer.hears(is_notice);
    hears_of_changes(&home, &mut peer);
    let web = home.web(&["--publish", "5"]);
    let mut peer = web.peer().in_session(json!({}));
    peer.listens();
    hears_of_changes(&home, &mut peer);
}

#[test]
fn whoever_has_no_session_listens() {
    let home = Home::new("");
    make(&mut home.piped(&[]).stateless(json!({})), "twice");
    let web = home.web(&["--publish", "5"]);
    for mut peer in [home.piped(&["--publish", "5"]).stateless(json!({})), web.peer().stateless(json!({}))] {
        let id = peer.begin("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
        let told = peer.hears(|message| message["method"] == "notifications/subscriptions/acknowledged");
        assert_eq!(told["params"]["notifications"]["toolsListChanged"], true, "{told}");
        hears_of_changes(&home, &mut peer);
        // Nobody who did not ask for it hears of resources.
        let others = |heard: &super::peer::Heard| format!("{heard:?}").contains("resources/list_changed");
        assert!(!peer.all.iter().any(others), "{}", peer.told());
        let answers = |heard: &super::peer::Heard| matches!(heard, super::peer::Heard::Message(it) if it["id"] == id);
        assert!(!peer.all.iter().any(answers), "it is answered when it is over: {}", peer.told());
    }
}
