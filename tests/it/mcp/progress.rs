//! What a client hears of a run while it is under way, and what becomes of one that it does not want any more.

use serde_json::{Value, json};

use super::home::Home;
use super::peer::{Heard, Peer};
use super::{BEGINS, peers};

const COUNTS: &str = "export default () => ({ name: 'counts', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { for (const n of [1, 2, 3]) onUpdate({ n }); return 'done' } })";

/// A run whose progress is asked for.
fn begin(peer: &mut Peer, name: &str, token: &str) -> u64 {
    let arguments = json!({ "tool_name": name });
    let params = json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": { "progressToken": token } });
    peer.begin("tools/call", params)
}

/// What a partial result was, by its text.
fn message((_, text): &(f64, String)) -> Value {
    serde_json::from_str(text).unwrap()
}

fn is_progress(message: &Value) -> bool {
    message["method"] == "notifications/progress"
}

#[test]
fn partial_results_are_told_in_order_to_who_asks_for_them_and_to_nobody_else() {
    let home = Home::new("");
    home.piped(&[]).stateless(json!({})).make("counts", COUNTS);
    peers(&home, &json!({}), |mut peer| {
        let run = begin(&mut peer, "counts", "mine");
        let reply = peer.wait(run);
        reply.returns(&json!("done"));
        let told = reply.progress();
        assert_eq!(told.iter().map(message).collect::<Value>(), json!([{ "n": 1 }, { "n": 2 }, { "n": 3 }]));
        assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
        let tokens = reply.notices.iter().filter(|notice| is_progress(notice));
        assert!(tokens.map(|notice| &notice["params"]["progressToken"]).all(|token| token == "mine"));
        // Nothing comes behind the answer, and nothing where nobody asked for it.
        let other = peer.run("counts", json!({}));
        other.returns(&json!("done"));
        assert_eq!(other.progress(), []);
    });
}

#[test]
fn more_partial_results_than_anybody_reads_are_told_in_part_and_the_last_one_is_among_them() {
    let home = Home::new("");
    let mut peer = home.piped(&[]).stateless(json!({}));
    peer.make("counts", &COUNTS.replace("[1, 2, 3]", "Array.from({ length: 500 }, (_, n) => n)"));
    let run = begin(&mut peer, "counts", "mine");
    let reply = peer.wait(run);
    let told = reply.progress();
    assert!((1..500).contains(&told.len()), "{}", told.len());
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
    assert_eq!(message(told.last().unwrap()), json!({ "n": 499 }));
}

#[test]
fn a_run_that_says_nothing_is_heard_to_go_on() {
    let home = Home::new("");
    let mut peer = home.piped(&[]).stateless(json!({}));
    peer.make("loops", "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }");
    let run = begin(&mut peer, "loops", "mine");
    let beat = peer.hears(is_progress);
    assert_eq!(beat["params"]["message"], "running for 5 s");
    peer.tell("notifications/cancelled", json!({ "requestId": run }));
    home.logs_failure("loops", "cancelled");
}

#[test]
fn a_run_that_is_cancelled_ends_and_the_record_says_so() {
    let home = Home::new("");
    home.piped(&[]).stateless(json!({})).make("begins", BEGINS);
    for peer in [home.piped(&[]).in_session(json!({})), home.piped(&[]).stateless(json!({}))] {
        is_cancelled(&home, peer);
    }
    let web = home.web(&[]);
    is_cancelled(&home, web.peer().in_session(json!({})));
    let gauge = || web.metric("toolcell_requests_under_way");
    assert_eq!(super::home::until(|| (gauge() == 0).then_some(())), Some(()));
}

fn is_cancelled(home: &Home, mut peer: Peer) {
    let before = home.failures("begins", "cancelled").len();
    let run = begin(&mut peer, "begins", "mine");
    peer.hears(is_progress);
    peer.tell("notifications/cancelled", json!({ "requestId": run, "reason": "enough" }));
    let ended = super::home::until(|| (home.failures("begins", "cancelled").len() > before).then_some(()));
    assert_eq!(ended, Some(()), "{}", peer.told());
    // The server goes on, and says nothing more of what was cancelled.
    peer.ask("tools/list", json!({})).result();
    let of_run = |heard: &&Heard| matches!(heard, Heard::Message(message) if message["id"] == run);
    assert_eq!(peer.all.iter().filter(of_run).count(), 0, "{}", peer.told());
}

#[test]
fn a_run_whose_client_has_left_ends_and_the_record_says_so() {
    let home = Home::new("");
    let web = home.web(&[]);
    let mut peer = web.peer().stateless(json!({}));
    peer.make("begins", BEGINS);
    let run = begin(&mut peer, "begins", "mine");
    peer.hears(is_progress);
    peer.leaves(run);
    home.logs_failure("begins", "cancelled");
    // Also where nothing was said to it yet.
    let run = peer.begin_run("begins", json!({}));
    let under_way = || web.metric("toolcell_requests_under_way");
    assert_eq!(super::home::until(|| (under_way() == 1).then_some(())), Some(()));
    peer.leaves(run);
    assert_eq!(super::home::until(|| (home.failures("begins", "cancelled").len() == 2).then_some(())), Some(()));
    assert_eq!(super::home::until(|| (under_way() == 0).then_some(())), Some(()));
}
