//! The request state that a stateless client carries between requests: it is valid once, and only
//! for the caller and the request it was issued for.

use serde_json::{Value, json};

use super::approvals::{expect_elicitation, form_reply, retry_with_reply};
use super::raw_client::{RawClient, elicitation_capabilities};
use super::server::BinaryFixture;

const ASK: &str = "[approval]\nmode = 'ask'\n";
const ONE: &str = "const execute = () => 1";

/// Counts the log lines of rejected states.
fn refusals(lines: &[Value]) -> usize {
    let is_one = |line: &&Value| line["action"] == "run_dynamic_tool" && line["error"] == "state-invalid";
    lines.iter().filter(is_one).count()
}

#[track_caller]
fn assert_foreign(peer: &mut RawClient, request: Value) {
    let code = peer.request("tools/call", request).is_refused_with(-32_602);
    assert_eq!(code, "state-invalid");
}

#[test]
fn a_state_is_good_for_its_own_request_alone() {
    let home = BinaryFixture::new(ASK);
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    peer.create_tool("one", ONE);
    peer.create_tool("two", &ONE.replace('1', "2"));
    let asked = expect_elicitation(&mut peer, "one");
    let good = retry_with_reply("one", &asked, &form_reply("approve"));
    let with = |pointer: &str, value: Value| {
        let mut other = good.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        other
    };
    let state = asked["requestState"].as_str().unwrap();
    let flipped = |at: usize| {
        let mut bytes = state.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let others = [
        with("/arguments/tool_name", json!("two")),
        with("/arguments", json!({ "tool_name": "one", "parameters": { "n": 1 } })),
        with("/arguments", json!({ "tool_name": "one", "timeout_ms": 1_000 })),
        with("/requestState", json!(flipped(0))),
        with("/requestState", json!(flipped(state.len() / 2))),
        with("/requestState", json!(flipped(state.len() - 2))),
        with("/requestState", json!(&state[..state.len() - 1])),
        with("/requestState", json!(format!("{state}A"))),
        with("/requestState", json!("")),
        with("/requestState", json!("state")),
        with("/requestState", json!("x".repeat(100_000))),
    ];
    for (count, other) in others.into_iter().enumerate() {
        assert_foreign(&mut peer, other);
        assert_eq!(refusals(&home.audit_lines()), count + 1);
    }
    // Rejected states do not use up the valid one.
    peer.request("tools/call", good.clone()).returns(&json!(1));
    assert_foreign(&mut peer, good);
    assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 1);
}

#[test]
fn a_state_is_used_once_also_by_two_servers_on_one_store() {
    let home = BinaryFixture::new(ASK);
    let (mut first, mut second) = (
        home.start_stdio(&[]).stateless(elicitation_capabilities()),
        home.start_stdio(&[]).stateless(elicitation_capabilities()),
    );
    first.create_tool("one", ONE);
    let asked = expect_elicitation(&mut first, "one");
    let request = retry_with_reply("one", &asked, &json!({ "action": "cancel" }));
    second.request("tools/call", request.clone()).fails("permission-denied");
    assert_foreign(&mut first, request);
    assert_eq!(refusals(&home.audit_lines()), 1);
    // The user is asked again.
    expect_elicitation(&mut first, "one");
}

#[test]
fn a_state_of_one_principal_is_none_of_another() {
    let home = BinaryFixture::new(ASK);
    let tokens = home.write_tokens(&["alice", "bob"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let of = |name: &str| web.client_with_token(&BinaryFixture::token(name)).stateless(elicitation_capabilities());
    let (mut alice, mut bob) = (of("alice"), of("bob"));
    alice.create_tool("one", ONE);
    bob.create_tool("one", ONE);
    let asked = expect_elicitation(&mut alice, "one");
    let request = retry_with_reply("one", &asked, &form_reply("approve"));
    assert_foreign(&mut bob, request.clone());
    assert_eq!((refusals(&home.principal_audit_lines("bob")), refusals(&home.principal_audit_lines("alice"))), (1, 0));
    alice.request("tools/call", request).returns(&json!(1));
    expect_elicitation(&mut bob, "one");
}

#[test]
fn what_was_approved_is_the_code_that_was_shown() {
    let home = BinaryFixture::new(ASK);
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    peer.create_tool("one", ONE);
    let asked = expect_elicitation(&mut peer, "one");
    // The tool changes while the question is open.
    let other = json!({ "name": "one", "description": "Another", "code": "const execute = () => 2", "replace": true });
    peer.call("create_tool", other).done();
    let result = peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("approve"))).result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
}

#[test]
fn what_was_approved_are_the_grants_that_were_shown() {
    let home =
        BinaryFixture::new(&format!("{ASK}[grants.default]\ntimers = true\n[[grants.tags.free.net]]\nhost = 'any'\n"));
    let mut peer = home.start_stdio(&[]).stateless(elicitation_capabilities());
    let make = |peer: &mut RawClient, tags: &[&str]| {
        let fields = json!({ "name": "one", "description": "Asks", "code": ONE, "capabilities": ["net", "timers"], "tags": tags,
            "replace": true });
        peer.call("create_tool", fields).done()["id"].clone()
    };
    let id = make(&mut peer, &[]);
    let asked = expect_elicitation(&mut peer, "one");
    // While the question is open, the same tool gets a tag whose grants include any host.
    assert_eq!(make(&mut peer, &["free"]), id);
    let result = peer.request("tools/call", retry_with_reply("one", &asked, &form_reply("approve"))).result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let message = result["inputRequests"]["decision"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("\n  is granted: net (GET, HEAD https://any), timers\n"), "{message}");
    assert_eq!(home.audit_lines().iter().filter(|line| line["action"] == "approve").count(), 0);
}
