//! Processes killed while they resume a run: it stays suspended or is interrupted, and each of its
//! effects happens once.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{KV, make, outcomes};
use crate::mcp::server::binary;
use crate::operations::{ToolboxFixture, returned_value};

/// Number of runs that are resumed by a process that is killed.
const ROUNDS: u64 = 24;

/// Returns the command line of the binary, on this toolbox's store and policy.
fn toolcell(host: &ToolboxFixture, words: &[&str]) -> Command {
    let config = host.path().join("rules.toml");
    std::fs::write(&config, KV).unwrap();
    let mut command = Command::new(binary());
    command.arg("--json").arg("--config").arg(config).arg("--dir").arg(host.path()).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn response(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_run_is_resumed_after_kill_9_and_does_nothing_twice() {
    let mut host = ToolboxFixture::with_policy(KV);
    let code = "const execute = async ({ round }) => { \
        const add = (at) => kv.update(`${round}.${at}`, (times = 0) => times + 1); \
        return Promise.all([...Array(8).keys()].map(add)) }";
    make(&host, "adds", code);
    make(
        &host,
        "read",
        "const execute = async () => { const all = []; for (const key of (await kv.list()).keys) all.push(await kv.get(key)); return all }",
    );
    host.reopen();
    let (mut resumed, mut killed) = (0, 0);
    for round in 0..ROUNDS {
        let begun =
            response(&toolcell(&host, &["run", "adds", &format!("round={round}"), "--suspend"]).output().unwrap());
        assert_eq!((&begun["outcome"], begun["plan"].as_array().unwrap().len()), (&json!("suspended"), 8), "{begun}");
        let run = begun["run"].as_str().unwrap();
        let all = format!("all:{}", begun["planDigest"].as_str().unwrap());
        let mut child = toolcell(&host, &["resume", run, "--approve", &all]).spawn().unwrap();
        // Later in each round: before it has read anything, while the run is in progress, and after
        // it has finished.
        std::thread::sleep(Duration::from_millis(round * 5));
        child.kill().unwrap();
        child.wait().unwrap();
        let again = response(&toolcell(&host, &["resume", run, "--approve", &all]).output().unwrap());
        if again["outcome"] == "returned" {
            assert_eq!(again["value"], json!(vec![1; 8]), "{again}");
            resumed += 1;
        } else {
            assert_eq!(again["error"]["code"], "run-not-asleep", "{again}");
            killed += 1;
        }
    }
    assert!(resumed > 0 && killed > 0, "{resumed} were resumed, {killed} had been woken");
    host.reopen();
    // A commit happened once or not at all.
    let times = returned_value(&host.run("read", &json!({})).unwrap());
    assert!(times.as_array().unwrap().iter().all(|times| *times == 1), "{times}");
    assert_eq!(host.toolbox().suspended_runs().unwrap(), []);
    // A killed process leaves one record all the same.
    let ended: Vec<String> =
        outcomes(&host).into_iter().filter(|(action, _)| action == "resume").map(|(_, outcome)| outcome).collect();
    assert!(ended.iter().all(|outcome| ["returned", "refused", "interrupted"].contains(&&**outcome)), "{ended:?}");
}
