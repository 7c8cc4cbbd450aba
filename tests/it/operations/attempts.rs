//! Every attempt has one audit line, and every run one record; neither contains parameters or
//! results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcell::hook::{HookEvent, PostRunEvent};
use toolcell::policy::LimitOverrides;
use toolcell::store::{NewTool, OnConflict, Scores};
use toolcell::{
    ApprovalAnswer, ApprovalPrompt, Approver, Budget, CallContext, CancelToken, Draft, HookVerdict, Hooks, Outcome,
    Params, Precheck, Report, Revision, RunOptions, Stop, ToolMetadata, WallClock,
};

use super::{ToolboxFixture, now, request};
use crate::fixtures::store::{files_below, sample_tool_with};

/// Creates a toolbox where every outcome can occur. Hooks act on the argument `hook`.
fn host() -> ToolboxFixture {
    let mut hooks = Hooks::default();
    hooks.before("before", |call: &HookEvent| match call.args["hook"].as_str() {
        Some("denies") => HookVerdict::deny("no"),
        Some("asks") => HookVerdict::ask("well?"),
        Some("panics") => panic!("the hook fell"),
        Some("changes") => HookVerdict::allow().with_args(json!([])),
        _ => HookVerdict::no_objection(),
    });
    hooks.after("after", |call: &HookEvent, _: &PostRunEvent| {
        assert!(call.args["hook"] != "withholds", "the hook fell");
        Revision::unchanged()
    });
    let host = ToolboxFixture::with_hooks("[limits]\nfuel = 500_000_000\ntimeout_ms = 20_000", hooks);
    host.tool("one", "const execute = () => 1");
    host.tool("two", "const execute = () => 2");
    host.tool("throws", "const execute = () => { throw new Error('no') }");
    host.tool("forever", "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }");
    host.tool("stalls", "const execute = () => new Promise(() => {})");
    host.tool("greedy", "const execute = ({ size }) => new Uint8Array(size).length");
    host.tool("wordy", "const execute = () => 'x'.repeat(2e6)");
    host.tool("chatty", "const execute = () => { console.log('x'.repeat(1e5)) }");
    host.tool("waits", "const execute = () => setTimeout(() => {}, 1)");
    host.create_echo(&json!({ "n": { "type": "number", "description": "a number", "required": true } }));
    for (name, source, parameters) in [
        ("sly", "const execute = ({ code }) => eval(code)", Value::Null),
        ("torn", "const execute = () => 1", json!({ "n": { "type": "nonsense" } })),
    ] {
        let (made, notes) = (sample_tool_with(name, source, parameters, Value::Null), ToolMetadata::default());
        let scores = Scores { safety: 1.0, quality: 1.0 };
        host.store()
            .catalog()
            .insert(&NewTool { spec: &made.spec, metadata: &notes, scores, at: now() }, OnConflict::Refuse)
            .unwrap();
    }
    host
}

fn cancelled() -> RunOptions {
    let cancel = CancelToken::new();
    cancel.cancel();
    RunOptions { cancel: Some(cancel), ..RunOptions::default() }
}

#[test]
fn each_run_leaves_one_line_and_one_record_however_it_ends() {
    let host = host();
    let fuel = |fuel| RunOptions {
        limits: LimitOverrides { fuel: Some(fuel), ..LimitOverrides::default() },
        ..RunOptions::default()
    };
    let plain = RunOptions::default;
    let call = |tool: &str| json!({ "tool_name": tool, "parameters": {} });
    let hook = |hook: &str| json!({ "tool_name": "one", "parameters": { "hook": hook } });
    let damaged = json!({ "tool_name": "two", "parameters": {} });
    let two = blake3::hash(b"const execute = () => 2").to_hex();
    std::fs::remove_file(host.path().join("objects").join(&two[..2]).join(&two[2..])).unwrap();
    for (fields, options, outcome, code) in [
        (call("one"), plain(), "returned", ""),
        (call("throws"), plain(), "threw", "tool-failed"),
        (json!({ "tool_name": "forever", "parameters": {}, "timeout_ms": 5 }), plain(), "stopped", "timeout"),
        (call("forever"), fuel(2_000_000), "stopped", "out-of-fuel"),
        (call("stalls"), plain(), "stopped", "stalled"),
        (json!({ "tool_name": "greedy", "parameters": { "size": 1e9 } }), plain(), "stopped", "out-of-memory"),
        (call("wordy"), plain(), "stopped", "output-too-large"),
        (call("chatty"), plain(), "stopped", "console-too-large"),
        (call("one"), cancelled(), "stopped", "cancelled"),
        (json!({ "parameters": {} }), plain(), "refused", "request-invalid"),
        (call("none"), plain(), "refused", "tool-not-found"),
        (call("../../x"), plain(), "refused", "tool-not-found"),
        (
            json!({ "tool_name": "one", "tool_id": "dt_00000000", "parameters": {} }),
            plain(),
            "refused",
            "tool-not-found",
        ),
        (json!({ "tool_name": "one", "parameters": {}, "timeout_ms": 0 }), plain(), "refused", "limit-invalid"),
        (call("echo"), plain(), "refused", "parameters-missing"),
        (json!({ "tool_name": "echo", "parameters": { "n": [] } }), plain(), "refused", "parameters-invalid"),
        (call("torn"), plain(), "refused", "parameters-invalid"),
        (call("sly"), plain(), "refused", "safety-check-failed"),
        (call("waits"), plain(), "refused", "permission-denied"),
        (hook("denies"), plain(), "refused", "permission-denied"),
        (hook("asks"), plain(), "refused", "permission-denied"),
        (hook("panics"), plain(), "refused", "permission-denied"),
        (hook("changes"), plain(), "refused", "permission-denied"),
        // The tool ran, and its result is withheld.
        (hook("withholds"), plain(), "returned", "result-withheld"),
        (damaged, plain(), "refused", "integrity"),
    ] {
        let before = host.audit_lines().len();
        let hash = match host.run_with(&fields, &options) {
            Ok(ran) => ran.record,
            Err(error) => {
                assert_eq!(error.code(), code, "{fields}: {error}");
                None
            }
        };
        let lines = host.audit_lines();
        assert_eq!(lines.len(), before + 1, "{fields}");
        let line = lines.last().unwrap();
        let attempt = (&*line.action, line.success, line.error.as_deref().unwrap_or_default());
        assert_eq!(attempt, ("run_dynamic_tool", code.is_empty(), code), "{fields}");
        assert_eq!(line.details["outcome"], outcome, "{fields}");
        let record = host.record(line).unwrap();
        assert_eq!((&*record.outcome, record.code.as_deref().unwrap_or_default()), (outcome, code), "{fields}");
        assert_eq!((record.caller.as_str(), record.at), ("host", now()));
        if let Some(hash) = hash {
            assert_eq!(
                host.store().runs().record(hash).unwrap(),
                host.store().runs().record_of_run(record.run.parse().unwrap()).unwrap()
            );
        }
    }
    check_counts(&host);
}

/// Asserts that every tool has as many records as audit lines of runs, and that the journal is
/// empty.
fn check_counts(host: &ToolboxFixture) {
    let lines = host.audit_lines();
    for tool in host.list(&json!({ "limit": 1000 })).tools {
        let about = lines.iter().filter(|line| line.tool == Some(tool.id) && line.details.contains_key("run")).count();
        assert_eq!(host.store().runs().records(tool.id, 1000).unwrap().len(), about, "{}", tool.name);
    }
    assert!(host.store().runs().interrupted().unwrap().is_empty());
    assert!(host.store().audit().verify(None).unwrap().is_clean());
}

#[test]
fn the_other_operations_leave_one_line_each() {
    let host = ToolboxFixture::new();
    let made = |name: &str, code: &str| host.create(&json!({ "name": name, "description": "d", "code": code })).is_ok();
    let reference = |text: &str| toolcell::store::ToolRef::parse(text).unwrap();
    let name = toolcell::ToolName::parse("one").unwrap();
    assert!(made("one", "const execute = () => 1"));
    assert!(!made("one", "const execute = () => 1"));
    assert!(!made("bad", "const execute = ({ code }) => eval(code)"));
    let _ = host.list(&json!({}));
    assert!(host.toolbox().list(&request(&json!({ "limit": 0 }))).is_err());
    assert!(host.delete(&json!({ "tool_name": "one" })).is_err());
    assert!(host.delete(&json!({ "tool_name": "one", "confirm": true })).is_ok());
    assert!(host.delete(&json!({ "tool_name": "one", "confirm": true })).is_err());
    assert!(host.toolbox().undelete(&reference("one")).is_ok());
    assert!(host.toolbox().undelete(&reference("one")).is_err());
    assert!(host.toolbox().roll_back(&name, 1).is_ok());
    assert!(host.toolbox().roll_back(&name, 99).is_err());
    let attempt: Vec<String> = host
        .audit_lines()
        .iter()
        .map(|line| format!("{} {}", line.action, line.error.as_deref().unwrap_or("done")))
        .collect();
    let expected = [
        "create_tool done",
        "create_tool name-taken",
        "create_tool critical-risk",
        "list_dynamic_tools done",
        "list_dynamic_tools filter-invalid",
        "delete_dynamic_tool confirm-required",
        "delete_dynamic_tool done",
        "delete_dynamic_tool tool-not-found",
        "undelete done",
        "undelete not-deleted",
        "rollback done",
        "rollback version-not-found",
    ];
    assert_eq!(attempt, expected);
    assert!(host.store().audit().verify(None).unwrap().is_clean());
}

#[test]
fn a_draft_leaves_one_line_and_one_record_as_well() {
    let host = host();
    let exec = |source: &str, params: &str, budget: Budget| {
        let draft = Draft::from_bytes("draft", source.as_bytes()).unwrap();
        let done = host.toolbox().exec(
            &draft,
            &Params::parse(params.to_owned()).unwrap(),
            &budget,
            &CallContext::default(),
            Precheck::Critical,
        );
        let line = host.audit_lines().pop().unwrap();
        let record = host.record(&line).unwrap();
        assert_eq!((&*line.action, &*record.action), ("exec", "exec"));
        let code = done.map_or_else(|error| error.code().to_string(), |_| record.code.clone().unwrap_or_default());
        assert_eq!(code, line.error.unwrap_or_default());
        format!("{} {code}", record.outcome)
    };
    let plain = Budget::default();
    let before = host.audit_lines().len();
    assert_eq!(exec("const execute = () => 1", "{}", plain), "returned ");
    assert_eq!(exec("const execute = () => { throw 1 }", "{}", plain), "threw tool-failed");
    assert_eq!(
        exec(
            "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }",
            "{}",
            Budget { fuel: 1_000_000, ..plain }
        ),
        "stopped out-of-fuel"
    );
    assert_eq!(exec("const execute = () => {", "{}", plain), "refused syntax-error");
    assert_eq!(exec("const execute = ({ code }) => eval(code)", "{}", plain), "refused safety-check-failed");
    assert_eq!(exec("const execute = () => 1", r#"{"hook":"denies"}"#, plain), "refused permission-denied");
    assert_eq!(exec("const execute = () => 1", r#"{"hook":"panics"}"#, plain), "refused permission-denied");
    assert_eq!(exec("const execute = () => 1", r#"{"hook":"withholds"}"#, plain), "returned result-withheld");
    assert_eq!(exec("const execute = () => 1", "{}", Budget { fuel: 0, ..plain }), "refused limit-invalid");
    assert_eq!(host.audit_lines().len(), before + 9);
    check_counts(&host);
}

fn exec(host: &ToolboxFixture, source: &str, budget: &Budget, run: &CallContext<'_>) -> Report {
    let draft = Draft::from_bytes("draft", source.as_bytes()).unwrap();
    host.toolbox().exec(&draft, &Params::default(), budget, run, Precheck::Off).unwrap()
}

/// Toolboxes that call in this process and in the jail.
const HERE_AND_JAILED: [fn() -> ToolboxFixture; 2] = [host, || host().in_jail()];

#[test]
fn loading_and_the_call_share_one_deadline() {
    // A real clock, so that loading takes more than half of the deadline on any machine; the call
    // must not get a new deadline.
    let clock: WallClock = Arc::new({
        let started = Instant::now();
        move || started.elapsed()
    });
    let run = CallContext { wall_clock: Some(&clock), ..CallContext::default() };
    let (deadline, half) = (Duration::from_millis(400), 250);
    let budget = Budget { deadline, ..Budget::default() };
    let loads = format!("const from = Date.now(); while (Date.now() - from < {half}); const execute = () => 1");
    for make in HERE_AND_JAILED {
        let host = make();
        let began = Instant::now();
        let ended = exec(&host, &loads, &budget, &run);
        assert_eq!(ended.outcome, Outcome::Stopped(Stop::Deadline { limit: deadline }));
        assert!(began.elapsed() >= deadline);
    }
}

#[test]
fn loading_and_the_call_share_one_limit_of_fuel() {
    let loop_of = |turns: u32| format!("for (let i = 0; i < {turns}; i++) n += i;");
    let source = format!("let n = 0; {} const execute = () => {{ {} return n }}", loop_of(200_000), loop_of(200_000));
    let run = CallContext::default();
    for make in HERE_AND_JAILED {
        let host = make();
        let usage = exec(&host, &source, &Budget::default(), &run).usage;
        assert!(usage.load_fuel > 1_000_000 && usage.fuel > 1_000_000, "{usage:?}");
        let both = Budget { fuel: usage.load_fuel + usage.fuel, ..Budget::default() };
        let exact = exec(&host, &source, &both, &run);
        assert!(matches!(exact.outcome, Outcome::Returned(_)), "{:?}", exact.outcome);
        assert_eq!((exact.usage.load_fuel, exact.usage.fuel), (usage.load_fuel, usage.fuel));
        // The same whether the script is loaded for this call or cached.
        for fuel in [both.fuel - 100_000, usage.load_fuel.max(usage.fuel) + 1] {
            let less = Budget { fuel, ..both };
            for (kept, host) in [(true, &host), (false, &make())] {
                let ended = exec(host, &source, &less, &run);
                assert_eq!(ended.outcome, Outcome::Stopped(Stop::OutOfFuel { limit: fuel }), "{fuel} {kept}");
                assert!(ended.usage.load_fuel + ended.usage.fuel <= fuel, "{:?}", ended.usage);
            }
        }
    }
}

/// An approver that panics.
struct PanickingApprover;

impl Approver for PanickingApprover {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        panic!("the person fell");
    }

    fn can_grant(&self, _: &[toolcell::policy::SuggestedArgument]) -> bool {
        true
    }
}

#[test]
fn a_host_that_panics_in_the_middle_of_a_run_leaves_its_line_and_its_record() {
    let host = host();
    let update = "export default () => ({ name: 'update', description: 'd', parameters: {}, \
        execute: (id, params, onUpdate) => { onUpdate(1) } })";
    host.tool("update", update);
    let before = host.audit_lines().len();
    let person = RunOptions { approver: Some(Arc::new(PanickingApprover)), ..RunOptions::default() };
    let sink = RunOptions { partial: Some(Arc::new(|_: &str| panic!("the sink fell"))), ..RunOptions::default() };
    for (tool, options) in [("waits", person), ("update", sink)] {
        let run = || host.run_with(&json!({ "tool_name": tool, "parameters": {} }), &options);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{tool}");
        let line = host.audit_lines().pop().unwrap();
        assert_eq!((line.name.as_deref(), line.success), (Some(tool), false));
        assert_eq!(host.record(&line).unwrap().outcome, "interrupted", "{tool}");
    }
    assert_eq!(host.audit_lines().len(), before + 2);
    check_counts(&host);
    let _ = host.run("one", &json!({})).unwrap();
}

// Rows 20 and 87 of the feature table.
#[test]
fn a_secret_that_was_a_parameter_is_in_no_file() {
    const SECRET: &str = "Vq7-tiger-lily-Zx93";
    let mut host = host();
    host.tool("keep", "const execute = ({ secret }) => secret.length");
    host.tool("tell", "const execute = ({ secret }) => { console.log(secret); throw new Error(secret) }");
    host.tool("give", "const execute = ({ secret }) => secret");
    for (tool, parameters) in [
        ("keep", json!({ "secret": SECRET })),
        ("tell", json!({ "secret": SECRET })),
        ("give", json!({ "secret": SECRET })),
        ("keep", json!({ "secret": SECRET, "hook": "denies" })),
        ("keep", json!({ "secret": SECRET, "hook": "panics" })),
        ("echo", json!({ "n": SECRET })),
        ("echo", json!({ SECRET: 1 })),
        ("sly", json!({ "code": SECRET })),
        ("waits", json!({ "secret": SECRET })),
    ] {
        let _ = host.run(tool, &parameters);
    }
    let draft = Draft::from_bytes("draft", b"const execute = ({ secret }) => { throw secret }").unwrap();
    let params = Params::parse(json!({ "secret": SECRET }).to_string()).unwrap();
    let _ = host.toolbox().exec(&draft, &params, &Budget::default(), &CallContext::default(), Precheck::Critical);
    host.toolbox = None;
    let files = files_below(host.path());
    assert!(files.len() > 10);
    for file in files {
        #[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{}", file.display());
    }
}

// Row 9 of the feature table.
#[test]
fn a_byte_that_flipped_is_refused_and_told() {
    let mut host = ToolboxFixture::new();
    let code = "const execute = () => 'whole'";
    let id = host.tool("tool", code).id;
    let _ = host.run("tool", &json!({})).unwrap();
    let hash = blake3::hash(code.as_bytes()).to_hex();
    let path = host.path().join("objects").join(&hash[..2]).join(&hash[2..]);
    crate::fixtures::store::overwrite(&path, code.replace("whole", "whale").as_bytes());
    host.reopen();
    let error = host.run("tool", &json!({})).unwrap_err();
    assert_eq!(error.code(), "integrity");
    let line = host.audit_lines().pop().unwrap();
    assert_eq!((line.tool, line.error.as_deref()), (Some(id), Some("integrity")));
    assert!(!error.hint().to_string().is_empty());
}
