//! There is one way into the sandbox, and every road leads over it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolcell::{Budget, Draft, Params, Precheck, Ran, Run, RunError, RunOptions, RunRecord, RunTool, Verdict};

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

/// A way to make something run: the code of what was refused, or nothing where it ran.
type Road = fn(&Host) -> Result<(), &'static str>;

/// The ways there are.
///
/// A new surface adds its road here: what a gate denies has to be denied on it as well. The commands come here with the
/// policy file that they read their gates from.
const ROADS: [(&str, Road); 6] = [
    ("run", |host| came_of(host.run("tool", &json!({})))),
    ("run by identifier", |host| {
        let id = host.list(&json!({})).tools[0].id;
        came_of(host.run_as(&json!({ "tool_id": id, "parameters": {} }), &RunOptions::default()))
    }),
    ("run_async", |host| {
        let run = host.toolbox().run_async(called(), RunOptions::default());
        came_of(runtime().block_on(run))
    }),
    ("start", |host| {
        let run = async { host.toolbox().start(called(), RunOptions::default()).ended().await };
        came_of(runtime().block_on(run))
    }),
    ("exec", |host| exec(host, Precheck::Critical)),
    ("exec without analysis", |host| exec(host, Precheck::Off)),
];

fn came_of(ran: Result<Ran, RunError>) -> Result<(), &'static str> {
    ran.map(|_| ()).map_err(|error| error.code())
}

fn called() -> RunTool {
    request(&json!({ "tool_name": "tool", "parameters": {} }))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn exec(host: &Host, precheck: Precheck) -> Result<(), &'static str> {
    let draft = Draft::from_bytes("tool", b"const execute = () => 1").unwrap();
    let done = host.toolbox().exec(&draft, &Params::default(), &Budget::default(), &Run::default(), precheck);
    done.map(|_| ()).map_err(|error| error.code())
}

/// What came of a road at a host with this gate, how often the gate was asked, and the one record that it left.
fn walked(road: &str, go: Road, verdict: fn() -> Verdict) -> (Result<(), &'static str>, usize, RunRecord) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let host = Host::asking(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        verdict()
    });
    host.tool("tool", "const execute = () => 1");
    let came = go(&host);
    let lines = host.lines();
    let runs: Vec<_> = lines.iter().filter(|line| line.details.contains_key("run")).collect();
    let [line] = &*runs else { panic!("{road} leaves {} lines", runs.len()) };
    assert_eq!(line.error.as_deref(), came.err(), "{road}");
    (came, asked.load(Ordering::Relaxed), host.record(line).unwrap())
}

#[test]
fn every_road_is_denied_once_and_recorded_once() {
    for (road, go) in ROADS {
        let (came, asked, record) = walked(road, go, || Verdict::deny("nothing runs here"));
        assert_eq!((came, asked), (Err("permission-denied"), 1), "{road}");
        assert_eq!((&*record.outcome, record.used), ("refused", None), "{road}");
    }
}

#[test]
fn every_road_is_open_where_the_gate_does_not_object() {
    for (road, go) in ROADS {
        let (came, asked, record) = walked(road, go, Verdict::no_objection);
        assert_eq!((came, asked, &*record.outcome), (Ok(()), 1, "returned"), "{road}");
        assert!(record.used.is_some_and(|used| used.fuel > 0), "{road}");
    }
}
