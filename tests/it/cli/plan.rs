//! Dry runs: a plan lists every held effect, and an approval is for one listed effect and one use.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::{CreateTool, Toolbox, ToolboxConfig};

use crate::fixtures::cli::{CommandOutput, toolcell};

const POLICY: &str =
    "[approval]\nmode = 'auto'\n[grants.default]\ntools = 'any'\n[grants.default.kv]\nspace = 'notes'\n";
/// Sets the given keys one after the other, and continues if one is refused.
const PUT: &str = "const execute = async ({ puts }) => { const said = []; for (const [key, value] of puts) { \
    try { await kv.set(key, value); said.push('done') } catch (error) { said.push(error.code) } } return said }";
/// Sets the given keys concurrently.
const PUT_ALL: &str = "const execute = async ({ puts }) => (await Promise.allSettled(puts.map(([key, value]) => kv.set(key, value))))\
    .map(({ reason }) => reason?.code ?? 'done')";

struct PlanFixture(TempDir);

impl PlanFixture {
    fn new() -> Self {
        let fixture = Self(tempfile::tempdir().unwrap());
        std::fs::write(fixture.path("user.toml"), POLICY).unwrap();
        let toolbox = Toolbox::open(&fixture.path("store"), ToolboxConfig::default()).unwrap();
        let nested = "const execute = async ({ puts }) => { const first = await tools.call('put', { puts }); \
                      return [first, await tools.call('put', { puts })] }";
        for (name, code) in [("put", PUT), ("put_all", PUT_ALL), ("twice", nested)] {
            let (name, description, code) = (name.to_owned(), "Puts".to_owned(), code.to_owned());
            let capabilities = json!(["kv", "tools"]);
            toolbox.create(&CreateTool { name, description, code, capabilities, ..CreateTool::default() }).unwrap();
        }
        fixture
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn on(&self, words: &[&str]) -> CommandOutput {
        let (user, store) = (self.path("user.toml"), self.path("store"));
        let own = ["--config", user.to_str().unwrap(), "--dir", store.to_str().unwrap()];
        toolcell(&[&own[..], words].concat())
    }

    /// Runs a tool with these key-value pairs.
    fn run(&self, tool: &str, puts: &Value, words: &[&str]) -> CommandOutput {
        self.on(&[&["run", tool, &json!({ "puts": puts }).to_string()][..], words].concat())
    }

    fn plan(&self, tool: &str, puts: &Value) -> Value {
        self.run(tool, puts, &["--plan", "--json"]).json()
    }
}

fn digest(line: &Value) -> &str {
    line["digest"].as_str().unwrap()
}

#[test]
fn an_approved_line_happens_once_and_nothing_else_that_looks_like_it() {
    let fixture = PlanFixture::new();
    let puts = json!([["a", 1], ["a", 1], ["a", 1]]);
    let plan = fixture.plan("put", &puts);
    let lines = plan["plan"].as_array().unwrap();
    let about: Vec<(u64, &str, &str)> = lines
        .iter()
        .map(|line| {
            (line["position"].as_u64().unwrap(), line["about"].as_str().unwrap(), line["kind"].as_str().unwrap())
        })
        .collect();
    assert_eq!(about, [(1, "a", "kv.commit"), (2, "a", "kv.commit"), (3, "a", "kv.commit")]);
    assert!(lines.iter().all(|line| digest(line).len() == 64 && line["approved"] == false && line["id"].is_string()));
    let done = fixture.run("put", &puts, &["--approve", digest(&lines[1]), "--json"]).json();
    assert_eq!(done["value"], json!(["effect-not-approved", "done", "effect-not-approved"]), "{done}");
    // The approval does not apply to other parameters or to another tool, and a note says so.
    for (tool, puts) in [("put", json!([["b", 1], ["a", 1]])), ("put_all", puts)] {
        let done = fixture.run(tool, &puts, &["--approve", digest(&lines[1])]);
        assert!(!done.out.contains("\"done\""), "{}", done.out);
        assert!(done.err.contains(&format!("note: the run did not request {}\n", digest(&lines[1]))), "{}", done.err);
    }
}

#[test]
fn what_tools_call_is_in_the_plan_of_the_run_and_approved_line_by_line() {
    let fixture = PlanFixture::new();
    let puts = json!([["a", 1]]);
    let plan = fixture.plan("twice", &puts);
    let lines = plan["plan"].as_array().unwrap();
    assert_eq!((lines.len(), lines[0]["tool"].as_str()), (2, Some("put")));
    assert_ne!(digest(&lines[0]), digest(&lines[1]));
    let done = fixture.run("twice", &puts, &["--approve", digest(&lines[0]), "--json"]).json();
    assert_eq!(done["value"], json!([["done"], ["effect-not-approved"]]), "{done}");
}

#[test]
fn all_of_a_plan_is_approved_by_its_digest_and_what_differs_is_held_again() {
    let fixture = PlanFixture::new();
    let puts = json!([["a", 1], ["b", 2]]);
    for tool in ["put", "put_all"] {
        let listed = fixture.run(tool, &puts, &["--plan"]);
        let (_, all) = listed.err.trim_end().rsplit_once(' ').unwrap();
        assert!(listed.err.contains("to apply all 2 held effects: --approve all:"), "{}", listed.err);
        let done = fixture.run(tool, &puts, &["--approve", all, "--json"]).json();
        assert_eq!(done["value"], json!(["done", "done"]), "{done}");
        assert_eq!(done.get("planDigest"), None);
        for differs in [json!([["a", 1], ["b", 3]]), json!([["a", 1], ["b", 2], ["c", 3]])] {
            let done = fixture.run(tool, &differs, &["--approve", all, "--json"]).json();
            let codes: Vec<&str> = done["value"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(codes.iter().all(|codes| *codes == "effect-not-approved"), "{done}");
        }
    }
    for (wrong, says) in
        [("all", "`all` would approve effects that were not shown"), ("0123456789abcdef", "64 hexadecimal digits")]
    {
        let done = fixture.run("put", &puts, &["--approve", wrong]);
        assert!(done.status == 2 && done.err.contains(says), "{}", done.err);
    }
    let unknown = format!("all:{}", "0a".repeat(32));
    let done = fixture.run("put", &puts, &["--approve", &unknown, "--json"]);
    assert_eq!((done.status, &done.json()["error"]["code"]), (4, &json!("plan-unknown")));
}

#[test]
fn a_run_that_sleeps_does_what_was_listed_and_holds_what_comes_after() {
    let fixture = PlanFixture::new();
    let puts = json!([["a", 1], ["b", 2]]);
    let suspended_run = fixture.run("put", &puts, &["--suspend", "--json"]).json();
    let (run, plan) = (suspended_run["run"].as_str().unwrap(), suspended_run["plan"].as_array().unwrap());
    assert_eq!((plan.len(), &plan[0]["about"]), (1, &json!("a")));
    // Resuming without a decision shows the same line again.
    let again = fixture.on(&["resume", run, "--json"]).json();
    assert_eq!((digest(&again["plan"][0]), &again["planDigest"]), (digest(&plan[0]), &suspended_run["planDigest"]));
    let all = format!("all:{}", suspended_run["planDigest"].as_str().unwrap());
    let next = fixture.on(&["resume", run, "--approve", &all, "--json"]).json();
    // Effects that were not listed are held, even if the whole plan was approved.
    assert_eq!(next["outcome"], "suspended", "{next}");
    let held: Vec<(&str, bool)> = next["plan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["about"].as_str().unwrap(), line["approved"].as_bool().unwrap()))
        .collect();
    assert_eq!(held, [("a", true), ("b", false)]);
    // An approval is for one use: repeating it approves nothing.
    let same = fixture.on(&["resume", run, "--approve", &all, "--json"]).json();
    assert_eq!((&same["outcome"], &same["plan"][0]["approved"]), (&json!("suspended"), &json!(false)));
    let done = fixture.on(&["resume", run, "--approve", digest(&same["plan"][0]), "--json"]).json();
    assert_eq!(done["value"], json!(["done", "done"]), "{done}");
}

#[test]
fn what_goes_along_with_a_line_is_shown_on_request_and_what_is_cut_is_said() {
    let fixture = PlanFixture::new();
    let long = "x".repeat(10_000);
    let puts = json!([["a", "to: mallory\u{202e}"], ["b", long]]);
    let plain = fixture.run("put", &puts, &["--plan"]);
    assert!(!plain.err.contains("mallory"), "{}", plain.err);
    let shown = fixture.run("put", &puts, &["--plan", "--show-content"]).err;
    assert!(shown.contains("    details: ") && shown.contains("to: mallory\\u{202e}"), "{shown}");
    assert!(shown.contains("… (4000 of 10") && shown.contains("--json shows all)"), "{shown}");
    let plan = fixture.plan("put", &puts);
    assert!(plan["plan"][1]["details"].as_str().unwrap().contains(&long));
}
