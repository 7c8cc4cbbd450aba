//! There is one way into the sandbox, and every road leads over it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use toolcell::{Budget, Draft, Params, Precheck, Run, RunOptions, Verdict};

use super::{Host, request};
use crate::shelf::files_below;
use crate::world::{read, root};

/// The sources that have these words in their code, of the crates that can reach the sandbox.
fn sources_with(words: &str) -> Vec<PathBuf> {
    let files = files_below(&root().join("crates")).into_iter();
    let files = files.map(|file| file.strip_prefix(root()).unwrap().to_owned());
    let sources = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    sources.filter(|file| can_reach_the_sandbox(file) && code_of(file).contains(words)).collect()
}

fn can_reach_the_sandbox(file: &Path) -> bool {
    let folder: PathBuf = file.components().take(2).collect();
    let manifest = read(folder.join("Cargo.toml"));
    ["\ntoolcell-host =", "\ntoolcell ="].iter().any(|dependency| manifest.contains(dependency))
}

/// A source without its comments and its tests.
fn code_of(file: &Path) -> String {
    let text = read(file);
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sandbox_is_entered_in_one_place() {
    let cell = [PathBuf::from("crates/toolcell/src/cell.rs")];
    assert_eq!(sources_with("sandbox.call("), cell);
    assert_eq!(sources_with(".prepare("), cell);
    assert_eq!(sources_with("Sandbox::new("), [PathBuf::from("crates/toolcell/src/toolbox.rs")]);
    // Who enters it: a stored tool, a draft. Who only evaluates: a factory, to be told what its tool takes.
    let of = |names: [&str; 2]| names.map(|name| Path::new("crates/toolcell/src").join(name));
    assert_eq!(sources_with("self.enter("), of(["exec.rs", "run.rs"]));
    assert_eq!(sources_with("self.evaluate("), of(["cell.rs", "create.rs"]));
    // What admits is a permit, and it is made in one place.
    assert_eq!(sources_with("Ok(Permit {"), [PathBuf::from("crates/toolcell/src/permit.rs")]);
}

/// The ways to make something run, each with the code of what comes of it.
///
/// A new surface adds its road here: what a gate denies has to be denied on it as well.
const ROADS: [(&str, fn(&Host) -> &'static str); 6] = [
    ("run", |host| host.run("tool", &json!({})).unwrap_err().code()),
    ("run by identifier", |host| {
        let id = host.list(&json!({})).tools[0].id;
        host.run_as(&json!({ "tool_id": id, "parameters": {} }), &RunOptions::default()).unwrap_err().code()
    }),
    ("run_async", |host| {
        let run = host.toolbox().run_async(called(), RunOptions::default());
        runtime().block_on(run).unwrap_err().code()
    }),
    ("start", |host| {
        let run = async { host.toolbox().start(called(), RunOptions::default()).ended().await };
        runtime().block_on(run).unwrap_err().code()
    }),
    ("exec", |host| exec(host, Precheck::Critical)),
    ("exec without analysis", |host| exec(host, Precheck::Off)),
];

fn called() -> toolcell::RunTool {
    request(&json!({ "tool_name": "tool", "parameters": {} }))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn exec(host: &Host, precheck: Precheck) -> &'static str {
    let draft = Draft::from_bytes("tool", b"const execute = () => 1").unwrap();
    let params = Params::default();
    host.toolbox().exec(&draft, &params, &Budget::default(), &Run::default(), precheck).unwrap_err().code()
}

#[test]
fn every_road_is_denied_once_and_recorded_once() {
    for (road, go) in ROADS {
        let denials = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Arc::clone(&denials);
        let host = Host::asking(move |_| {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Verdict::deny("nothing runs here")
        });
        host.tool("tool", "const execute = () => 1");
        assert_eq!(go(&host), "permission-denied", "{road}");
        assert_eq!(denials.load(std::sync::atomic::Ordering::Relaxed), 1, "{road}");
        let lines = host.lines();
        let runs: Vec<_> = lines.iter().filter(|line| line.details.contains_key("run")).collect();
        let [line] = &*runs else { panic!("{road} leaves {} lines", runs.len()) };
        assert_eq!(line.error.as_deref(), Some("permission-denied"), "{road}");
        let record = host.record(line).unwrap();
        assert_eq!((&*record.outcome, record.used), ("refused", None), "{road}");
    }
}

#[test]
fn every_road_is_let_through_by_a_gate_that_does_not_object() {
    for (road, go) in ROADS {
        let host = Host::asking(|_| Verdict::no_objection());
        host.tool("tool", "const execute = () => 1");
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| go(&host))).is_err(), "{road} is denied");
        assert_eq!(host.lines().iter().filter(|line| line.details.contains_key("run")).count(), 1, "{road}");
    }
}
