//! What a client carries from one request to the next: it opens once, for whom and for what it was made, and for nothing else.

use serde_json::{Value, json};

use super::approvals::{again, is_asked, says};
use super::home::Home;
use super::peer::{Peer, asks};

const ASK: &str = "[approval]\nmode = 'ask'\n";
const ONE: &str = "const execute = () => 1";

/// How often the log says that a state was not good.
fn refusals(lines: &[Value]) -> usize {
    let is_one = |line: &&Value| line["action"] == "run_dynamic_tool" && line["error"] == "state-invalid";
    lines.iter().filter(is_one).count()
}

#[track_caller]
fn is_foreign(peer: &mut Peer, request: Value) {
    let code = peer.ask("tools/call", request).is_refused_with(-32_602);
    assert_eq!(code, "state-invalid");
}

#[test]
fn a_state_is_good_for_its_own_request_alone() {
    let home = Home::new(ASK);
    let mut peer = home.piped(&[]).stateless(asks());
    peer.make("one", ONE);
    peer.make("two", &ONE.replace('1', "2"));
    let asked = is_asked(&mut peer, "one");
    let good = again("one", &asked, &says("approve"));
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
        is_foreign(&mut peer, other);
        assert_eq!(refusals(&home.audit()), count + 1);
    }
    // Whoever tries others has not used it.
    peer.ask("tools/call", good.clone()).returns(&json!(1));
    is_foreign(&mut peer, good);
    assert_eq!(home.audit().iter().filter(|line| line["action"] == "approve").count(), 1);
}

#[test]
fn a_state_is_used_once_also_by_two_servers_on_one_store() {
    let home = Home::new(ASK);
    let (mut first, mut second) = (home.piped(&[]).stateless(asks()), home.piped(&[]).stateless(asks()));
    first.make("one", ONE);
    let asked = is_asked(&mut first, "one");
    let request = again("one", &asked, &json!({ "action": "cancel" }));
    second.ask("tools/call", request.clone()).fails("permission-denied");
    is_foreign(&mut first, request);
    assert_eq!(refusals(&home.audit()), 1);
    // It is asked anew.
    is_asked(&mut first, "one");
}

#[test]
fn a_state_of_one_principal_is_none_of_another() {
    let home = Home::new(ASK);
    let tokens = home.tokens(&["alice", "bob"], "");
    let web = home.web(&["--tokens", &tokens]);
    let of = |name: &str| web.peer_of(&Home::token(name)).stateless(asks());
    let (mut alice, mut bob) = (of("alice"), of("bob"));
    alice.make("one", ONE);
    bob.make("one", ONE);
    let asked = is_asked(&mut alice, "one");
    let request = again("one", &asked, &says("approve"));
    is_foreign(&mut bob, request.clone());
    assert_eq!((refusals(&home.audit_of("bob")), refusals(&home.audit_of("alice"))), (1, 0));
    alice.ask("tools/call", request).returns(&json!(1));
    is_asked(&mut bob, "one");
}

#[test]
fn what_was_approved_is_the_code_that_was_shown() {
    let home = Home::new(ASK);
    let mut peer = home.piped(&[]).stateless(asks());
    peer.make("one", ONE);
    let asked = is_asked(&mut peer, "one");
    // Somebody changes it while the question is open.
    let other = json!({ "name": "one", "description": "Another", "code": "const execute = () => 2", "replace": true });
    peer.call("create_tool", other).done();
    let result = peer.ask("tools/call", again("one", &asked, &says("approve"))).result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert_eq!(home.audit().iter().filter(|line| line["action"] == "approve").count(), 0);
}

#[test]
fn what_was_approved_are_the_grants_that_were_shown() {
    let home = Home::new(&format!("{ASK}[[grants.tags.free.net]]\nhost = 'any'\n"));
    let mut peer = home.piped(&[]).stateless(asks());
    let make = |peer: &mut Peer, tags: &[&str]| {
        let fields = json!({ "name": "one", "description": "Asks", "code": ONE, "capabilities": ["net"], "tags": tags,
            "replace": true });
        peer.call("create_tool", fields).done()["id"].clone()
    };
    let id = make(&mut peer, &[]);
    let asked = is_asked(&mut peer, "one");
    // While the question is open, the same tool gets a tag that is granted any host.
    assert_eq!(make(&mut peer, &["free"]), id);
    let result = peer.ask("tools/call", again("one", &asked, &says("approve"))).result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let message = result["inputRequests"]["decision"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("\n  is granted: net (GET, HEAD https://any)\n"), "{message}");
    assert_eq!(home.audit().iter().filter(|line| line["action"] == "approve").count(), 0);
}
