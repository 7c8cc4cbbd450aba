//! Concurrency: two servers and a command line on one store, and clients that do not read.

use std::thread;

use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::server::BinaryFixture;
use crate::fixtures::cli::toolcell;

/// Number of operations per client.
const MANY: usize = 200;

/// Makes calls one after the other, and returns the codes of those that failed.
fn each(peer: &mut RawClient, call: impl Fn(usize) -> (&'static str, Value)) -> Vec<String> {
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
    let home = BinaryFixture::new("[store]\ntools = 1000\nduplicates = 'allow'\n");
    let (mut first, mut second) =
        (home.start_stdio(&[]).in_session(json!({})), home.start_stdio(&[]).stateless(json!({})));
    let web = home.start_http(&[]);
    let mut third = web.client().stateless(json!({}));
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
    assert!(home.stdout_of(&["audit", "verify"]).contains("intact"));
    assert!(home.stdout_of(&["fsck"]).contains("no problems"));
    // Every attempt has a line, and every tool exists or was deleted.
    let lines = home.audit_lines();
    let count = |action: &str, success: bool| {
        lines.iter().filter(|line| line["action"] == action && line["success"] == success).count()
    };
    assert_eq!(count("create_tool", true), MANY);
    for action in ["run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool"] {
        assert_eq!(count(action, true) + count(action, false), MANY, "{action}");
    }
    let left = third.call("list_dynamic_tools", json!({})).response()["total"].as_u64().unwrap();
    assert_eq!(usize::try_from(left).unwrap() + count("delete_dynamic_tool", true), MANY);
    // A tool created through one server runs through the other at once.
    first.create_tool("last", "const execute = () => 'last'");
    for peer in [&mut first, &mut second, &mut third] {
        peer.run("last", json!({})).returns(&json!("last"));
    }
}

#[test]
fn a_client_that_does_not_read_stops_nobody_else() {
    let home = BinaryFixture::new("");
    let web = home.start_http(&[]);
    let mut peer = web.client().stateless(json!({}));
    peer.create_tool("large", "const execute = () => 'x'.repeat(500_000)");
    peer.create_tool("small", "const execute = () => 1");
    let stuck: Vec<_> = (0..8).map(|_| web.flood_without_reading("large", 64)).collect();
    for _ in 0..30 {
        peer.run("small", json!({})).returns(&json!(1));
    }
    assert_eq!(web.get("/healthz", "").0, 200);
    drop(stuck);
    peer.run("large", json!({})).done();
}

#[test]
fn a_client_at_a_pipe_that_does_not_read_is_waited_for_and_loses_nothing() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("large", "const execute = ({ n }) => `${n}` + 'x'.repeat(9_000)");
    // Fewer than may wait: a server refuses more, however fast its machine is.
    let begun: Vec<u64> = (0..200).map(|n| peer.send_run("large", json!({ "parameters": { "n": n } }))).collect();
    // No reply is read until all requests are written: the replies exceed a pipe's buffer.
    for (n, run) in begun.into_iter().enumerate() {
        let value = peer.wait_for_reply(run).done()["value"].as_str().unwrap().to_owned();
        assert!(value.len() > 9_000 && value.starts_with(&format!("{n}x")));
    }
}
