//! Progress notifications of a run, and cancellation.

use serde_json::{Value, json};

use super::raw_client::{Incoming, RawClient};
use super::server::BinaryFixture;
use super::{BEGINS, for_each_client};

const COUNTS: &str = "export default () => ({ name: 'counts', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { for (const n of [1, 2, 3]) onUpdate({ n }); return 'done' } })";

/// Sends a request to run a tool with a progress token.
fn begin(peer: &mut RawClient, name: &str, token: &str) -> u64 {
    let arguments = json!({ "tool_name": name });
    let params = json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": { "progressToken": token } });
    peer.send_request("tools/call", params)
}

/// Parses the partial result in a progress message.
fn message((_, text): &(f64, String)) -> Value {
    serde_json::from_str(text).unwrap()
}

fn is_progress(message: &Value) -> bool {
    message["method"] == "notifications/progress"
}

#[test]
fn partial_results_are_told_in_order_to_who_asks_for_them_and_to_nobody_else() {
    let home = BinaryFixture::new("");
    home.start_stdio(&[]).stateless(json!({})).create_tool("counts", COUNTS);
    for_each_client(&home, &json!({}), |mut peer| {
        let run = begin(&mut peer, "counts", "mine");
        let reply = peer.wait_for_reply(run);
        reply.returns(&json!("done"));
        let notifications = reply.progress();
        assert_eq!(notifications.iter().map(message).collect::<Value>(), json!([{ "n": 1 }, { "n": 2 }, { "n": 3 }]));
        assert!(notifications.windows(2).all(|pair| pair[0].0 < pair[1].0), "{notifications:?}");
        let tokens = reply.notices.iter().filter(|notice| is_progress(notice));
        assert!(tokens.map(|notice| &notice["params"]["progressToken"]).all(|token| token == "mine"));
        // No progress follows the reply, and none is sent without a token.
        let other = peer.run("counts", json!({}));
        other.returns(&json!("done"));
        assert_eq!(other.progress(), []);
    });
}

#[test]
fn a_partial_result_is_a_value_for_programs_and_a_text_for_people() {
    let home = BinaryFixture::new("");
    let says = "[{ content: [{ type: 'text', text: 'step 1' }], details: { i: 1 } }, 'half', 'x'.repeat(70_000)]";
    home.start_stdio(&[])
        .stateless(json!({}))
        .create_tool("says", &COUNTS.replace("[1, 2, 3]", says).replace("{ n }", "n"));
    for_each_client(&home, &json!({}), |mut peer| {
        let run = begin(&mut peer, "says", "mine");
        let reply = peer.wait_for_reply(run);
        let told = reply.notices.iter().filter(|notice| is_progress(notice)).map(|notice| &notice["params"]);
        let told: Vec<(&Value, &Value)> =
            told.map(|told| (&told["message"], &told["_meta"]["toolcell/partial"])).collect();
        let step = json!({ "content": [{ "type": "text", "text": "step 1" }], "details": { "i": 1 } });
        assert_eq!(told[..2], [(&json!("step 1"), &step), (&json!("half"), &json!("half"))]);
        // A value that is too long is a text that says so.
        let (text, value) = told[2];
        assert!(text.as_str().unwrap().len() < 5_000 && text.as_str().unwrap().ends_with('…'), "{text}");
        assert_eq!(value, &Value::Null);
    });
}

#[test]
fn who_calls_is_in_the_record_and_the_log_as_it_says_itself() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    let caller = json!({ "session": "s-1", "agent": "a".repeat(100), "call": 7 });
    let params = json!({
        "name": "run_dynamic_tool", "arguments": { "tool_name": "one" }, "_meta": { "toolcell/caller": caller },
    });
    peer.request("tools/call", params).returns(&json!(1));
    let lines = home.audit_lines();
    let line = lines.iter().find(|line| line["action"] == "run_dynamic_tool").unwrap();
    let said = line["details"]["caller"].as_str().unwrap();
    assert!(said.starts_with("mcp client=") && said.contains(" session=s-1 agent=aaaa"), "{said}");
    assert!(!said.contains("call=") && !said.contains(&"a".repeat(65)), "{said}");
}

#[test]
fn more_partial_results_than_anybody_reads_are_told_in_part_and_the_last_one_is_among_them() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("counts", &COUNTS.replace("[1, 2, 3]", "Array.from({ length: 500 }, (_, n) => n)"));
    let run = begin(&mut peer, "counts", "mine");
    let reply = peer.wait_for_reply(run);
    let notifications = reply.progress();
    assert!((1..500).contains(&notifications.len()), "{}", notifications.len());
    assert!(notifications.windows(2).all(|pair| pair[0].0 < pair[1].0), "{notifications:?}");
    assert_eq!(message(notifications.last().unwrap()), json!({ "n": 499 }));
}

#[test]
fn a_run_that_says_nothing_is_heard_to_go_on() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("loops", "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }");
    let run = begin(&mut peer, "loops", "mine");
    let beat = peer.wait_for_message(is_progress);
    assert_eq!(beat["params"]["message"], "running for 5 s");
    assert_eq!(beat["params"]["_meta"], json!({ "toolcell/heartbeat": 5 }));
    peer.notify("notifications/cancelled", json!({ "requestId": run }));
    home.wait_for_failure("loops", "cancelled");
}

#[test]
fn a_run_that_is_cancelled_ends_and_the_record_says_so() {
    let home = BinaryFixture::new("");
    home.start_stdio(&[]).stateless(json!({})).create_tool("begins", BEGINS);
    for peer in [home.start_stdio(&[]).in_session(json!({})), home.start_stdio(&[]).stateless(json!({}))] {
        is_cancelled(&home, peer);
    }
    let web = home.start_http(&[]);
    is_cancelled(&home, web.client().in_session(json!({})));
    let gauge = || web.metric("toolcell_requests_under_way");
    assert_eq!(super::server::poll(|| (gauge() == 0).then_some(())), Some(()));
}

fn is_cancelled(home: &BinaryFixture, mut peer: RawClient) {
    let before = home.failures("begins", "cancelled").len();
    let run = begin(&mut peer, "begins", "mine");
    peer.wait_for_message(is_progress);
    peer.notify("notifications/cancelled", json!({ "requestId": run, "reason": "enough" }));
    let ended = super::server::poll(|| (home.failures("begins", "cancelled").len() > before).then_some(()));
    assert_eq!(ended, Some(()), "{}", peer.describe_received());
    // The server continues, and sends nothing more about the cancelled run.
    peer.request("tools/list", json!({})).result();
    let of_run = |heard: &&Incoming| matches!(heard, Incoming::Message(message) if message["id"] == run);
    assert_eq!(peer.received.iter().filter(of_run).count(), 0, "{}", peer.describe_received());
}

#[test]
fn a_run_whose_client_has_left_ends_and_the_record_says_so() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&[]);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("begins", BEGINS);
    let run = begin(&mut peer, "begins", "mine");
    peer.wait_for_message(is_progress);
    peer.disconnect(run);
    home.wait_for_failure("begins", "cancelled");
    // This holds also for a run that has not reported progress.
    let run = peer.send_run("begins", json!({}));
    let under_way = || web.metric("toolcell_requests_under_way");
    assert_eq!(super::server::poll(|| (under_way() == 1).then_some(())), Some(()));
    peer.disconnect(run);
    assert_eq!(super::server::poll(|| (home.failures("begins", "cancelled").len() == 2).then_some(())), Some(()));
    assert_eq!(super::server::poll(|| (under_way() == 0).then_some(())), Some(()));
}
