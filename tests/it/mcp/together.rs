//! Many at once: two servers and a command line on one store, and clients that do not read.

use std::thread;

use serde_json::{Value, json};

use super::home::Home;
use super::peer::Peer;
use crate::command_line::toolcell;

/// How much each does.
const MANY: usize = 200;

/// Does one thing after the other, and gives the codes of what failed.
fn each(peer: &mut Peer, call: impl Fn(usize) -> (&'static str, Value)) -> Vec<String> {
    let mut codes = Vec::new();
    for n in 0..MANY {
        let (tool, arguments) = call(n);
        let result = peer.call(tool, arguments).result();
        if result["isError"] == true {
            codes.push(result["_meta"]["toolcell/error"]["code"].as_str().unwrap().to_owned());
        }
    }
    codes
}

#[test]
fn two_servers_and_a_command_line_work_on_one_store() {
    let home = Home::new("[store]\ntools = 1000\nduplicates = 'allow'\n");
    let (mut first, mut second) = (home.piped(&[]).in_session(json!({})), home.piped(&[]).stateless(json!({})));
    let web = home.web(&[]);
    let mut third = web.peer().stateless(json!({}));
    let (store, policy) = (home.path("store"), home.path("policy.toml"));
    let (store, policy) = (store.to_str().unwrap(), policy.to_str().unwrap());
    let created = thread::scope(|scope| {
        let created = scope.spawn(|| {
            each(&mut first, |n| {
                let code = format!("const execute = () => {n}");
                ("create_tool", json!({ "name": format!("t{n}"), "description": "d", "code": code }))
            })
        });
        let ran = scope.spawn(|| each(&mut second, |n| ("run_dynamic_tool", json!({ "tool_name": format!("t{n}") }))));
        let listed = scope.spawn(|| each(&mut third, |_| ("list_dynamic_tools", json!({ "limit": 5 }))));
        for n in 0..MANY {
            let done =
                toolcell(&["--dir", store, "--config", policy, "delete", &format!("t{n}"), "--confirm", "--json"]);
            assert!(done.status == 0 || done.json()["error"]["code"] == "tool-not-found", "{}{}", done.out, done.err);
        }
        let ran = ran.join().unwrap();
        assert!(ran.iter().all(|code| code == "tool-not-found"), "{ran:?}");
        assert_eq!(listed.join().unwrap(), <[String; 0]>::default());
        created.join().unwrap()
    });
    assert_eq!(created, <[String; 0]>::default());
    assert!(home.prints(&["audit", "verify"]).contains("as they were written"));
    assert!(home.prints(&["fsck"]).contains("all is well"));
    // Each attempt is a line, and each tool is there or was deleted.
    let lines = home.audit();
    let count = |action: &str, success: bool| {
        lines.iter().filter(|line| line["action"] == action && line["success"] == success).count()
    };
    assert_eq!(count("create_tool", true), MANY);
    for action in ["run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool"] {
        assert_eq!(count(action, true) + count(action, false), MANY, "{action}");
    }
    let left = third.call("list_dynamic_tools", json!({})).done()["total"].as_u64().unwrap();
    assert_eq!(usize::try_from(left).unwrap() + count("delete_dynamic_tool", true), MANY);
    // What one makes another one runs at once.
    first.make("last", "const execute = () => 'last'");
    for peer in [&mut first, &mut second, &mut third] {
        peer.run("last", json!({})).returns(&json!("last"));
    }
}

#[test]
fn a_client_that_does_not_read_stops_nobody_else() {
    let home = Home::new("");
    let web = home.web(&[]);
    let mut peer = web.peer().stateless(json!({}));
    peer.make("large", "const execute = () => 'x'.repeat(500_000)");
    peer.make("small", "const execute = () => 1");
    let stuck: Vec<_> = (0..8).map(|_| web.sends_and_never_reads("large", 64)).collect();
    for _ in 0..30 {
        peer.run("small", json!({})).returns(&json!(1));
    }
    assert_eq!(web.page("/healthz", "").0, 200);
    drop(stuck);
    peer.run("large", json!({})).done();
}

#[test]
fn a_client_at_a_pipe_that_does_not_read_is_waited_for_and_loses_nothing() {
    let home = Home::new("");
    let mut peer = home.piped(&[]).stateless(json!({}));
    peer.make("large", "const execute = ({ n }) => `${n}` + 'x'.repeat(100_000)");
    let begun: Vec<u64> = (0..50).map(|n| peer.begin_run("large", json!({ "parameters": { "n": n } }))).collect();
    // Nothing is read until all is written: the answers are more than a pipe holds.
    for (n, run) in begun.into_iter().enumerate() {
        let value = peer.wait(run).done()["value"].as_str().unwrap().to_owned();
        assert!(value.len() > 100_000 && value.starts_with(&format!("{n}x")));
    }
}
