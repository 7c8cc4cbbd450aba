//! Verification: what passes, the counterexamples, and what is stored.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolcell::proof::{CheckKind, CheckStatus, PROOF, ProofStatus};
use toolcell::{Proof, Status, VerifyOptions};

use super::{AUTO, ToolboxFixture};

/// Returns the request fields of a fixture; its other fields are for the tests.
fn fixtures(folder: &str) -> Vec<(String, Value, Value)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/proof").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let mut fields: Map<String, Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let planted = fields.shift_remove("planted").unwrap_or_default();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), Value::Object(fields), planted)
    };
    paths.iter().map(read).collect()
}

fn status(host: &ToolboxFixture, name: &str) -> Status {
    host.store().catalog().find(&toolcell::store::ToolRef::parse(name).unwrap()).unwrap().status
}

fn proved(host: &ToolboxFixture, fields: &Value) -> Proof {
    let name = fields["name"].as_str().unwrap();
    host.create(fields).unwrap();
    host.toolbox().verify(name, &VerifyOptions::default()).unwrap()
}

#[test]
fn a_planted_bug_is_found_in_each_of_the_fixtures() {
    let host = ToolboxFixture::with_policy(AUTO);
    let mut missed = Vec::new();
    for (name, fields, planted) in fixtures("planted") {
        let proof = proved(&host, &fields);
        let Some(found) = &proof.counterexample else {
            missed.push(format!("{name}: {:?} {planted}", proof.checks));
            continue;
        };
        assert_eq!(
            (proof.verdict, found.check, status(&host, &name)),
            (ProofStatus::Failed, CheckKind::Challenger, Status::Failed)
        );
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn citizens_pass() {
    let host = ToolboxFixture::with_policy(AUTO);
    let mut failed = Vec::new();
    for (name, fields, _) in fixtures("citizens") {
        let proof = proved(&host, &fields);
        if proof.verdict != ProofStatus::Passed {
            failed.push(format!("{name}: {:?} {:?}", proof.counterexample, proof.checks));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns a tool with one example and these fields.
fn doubled(more: &Value) -> Value {
    let mut fields = json!({
        "name": "doubled", "description": "Doubles a number", "code": "const execute = ({ n }) => 2 * n",
        "parameters": { "n": { "type": "number", "description": "what to double", "required": true } },
        "examples": [{ "parameters": { "n": 21 }, "result": 42 }],
    });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fields
}

/// Asserts the status of such a tool, and what is wrong with it.
fn check(more: &Value, verdict: ProofStatus, wrong: &str) -> Proof {
    let host = ToolboxFixture::with_policy(AUTO);
    let proof = proved(&host, &doubled(more));
    let found = proof.counterexample.as_ref().map(|found| format!("{}: {}", found.kind, found.message));
    assert_eq!((proof.verdict, found.unwrap_or_default().as_str()), (verdict, wrong));
    let expected = match verdict {
        ProofStatus::Passed => Status::Passed,
        ProofStatus::Failed => Status::Failed,
        ProofStatus::Unproven => Status::Unverified,
    };
    assert_eq!(status(&host, "doubled"), expected);
    proof
}

#[test]
fn a_tool_passes_by_evidence_alone() {
    let proof = check(&json!({}), ProofStatus::Passed, "");
    let verdicts: Vec<(CheckKind, CheckStatus)> =
        proof.checks.iter().map(|check| (check.check, check.verdict)).collect();
    let each = [
        CheckKind::Examples,
        CheckKind::Determinism,
        CheckKind::Headroom,
        CheckKind::Parameters,
        CheckKind::Challenger,
    ];
    assert_eq!(verdicts, each.map(|check| (check, CheckStatus::Passed)));
    assert!(proof.checks[4].runs >= 200, "{:?}", proof.checks[4]);
    // Without an example the correct result is unknown.
    check(&json!({ "examples": [] }), ProofStatus::Unproven, "");
    check(&json!({ "examples": [{ "parameters": { "n": 1 } }] }), ProofStatus::Unproven, "");
}

#[test]
fn an_example_that_does_not_hold_fails_the_tool() {
    let with = |example: Value| json!({ "examples": [example] });
    let wrong = "unlike-example: example 1: it returns 42, expected 41";
    check(&with(json!({ "parameters": { "n": 21 }, "result": 41 })), ProofStatus::Failed, wrong);
    check(&with(json!({ "parameters": { "n": 21 }, "result": 42.0 })), ProofStatus::Passed, "");
    check(&with(json!({ "parameters": { "n": 2 }, "holds": "result === parameters.n + 2" })), ProofStatus::Passed, "");
    let wrong = "unlike-example: example 1: `result === parameters.n + 2` is false for 6";
    check(
        &with(json!({ "parameters": { "n": 3 }, "holds": "result === parameters.n + 2" })),
        ProofStatus::Failed,
        wrong,
    );
    let wrong = "unlike-example: example 1: it does not throw, expected an error that contains `too large`";
    check(&with(json!({ "parameters": { "n": 3 }, "throws": "too large" })), ProofStatus::Failed, wrong);
    let wrong = "parameters-invalid: example 1: the schema rejects its parameters: \
                 the parameters are invalid: /n is \"x\" (string), expected number";
    check(&with(json!({ "parameters": { "n": "x" }, "result": 1 })), ProofStatus::Failed, wrong);
}

#[test]
fn a_predicate_is_source_and_runs_in_the_cell() {
    let with = |holds: &str| json!({ "examples": [{ "parameters": { "n": 1 }, "holds": holds }] });
    let failed = |holds: &str, why: &str| {
        let wrong = format!("unlike-example: example 1: `{holds}` cannot be evaluated: {why}");
        check(&with(holds), ProofStatus::Failed, &wrong);
    };
    failed("result.x.y", "it throws TypeError: cannot read property 'y' of undefined");
    failed("(() => { while (true) {} })()", "the tool burned all of its 2000000000 units of fuel");
    let proof = check_failed(&with("process.exit(0)"));
    assert!(proof.contains("cannot be evaluated"), "{proof}");
}

fn check_failed(more: &Value) -> String {
    let proof = proved(&ToolboxFixture::with_policy(AUTO), &doubled(more));
    assert_eq!(proof.verdict, ProofStatus::Failed);
    proof.counterexample.unwrap().message.to_string()
}

#[test]
fn what_throws_is_a_fault_unless_the_author_throws_it() {
    let code = |code: &str| json!({ "code": code });
    let own = "const execute = ({ n }) => { if (n < 0) throw new Error('n is negative'); return 2 * n }";
    let proof = check(&code(own), ProofStatus::Passed, "");
    assert!(proof.checks[4].says.to_string().contains("rejected by the tool"), "{}", proof.checks[4].says);
    let own = "const execute = ({ n }) => { if (n < 0) throw new RangeError(`out of range: ${n}`); return 2 * n }";
    check(&code(own), ProofStatus::Passed, "");
    let engine = "const execute = ({ n }) => [2 * n][n < 0 ? 1 : 0].valueOf()";
    let wrong = "threw: it throws TypeError: cannot read property 'valueOf' of undefined";
    let proof = check(&code(engine), ProofStatus::Failed, wrong);
    let found = proof.counterexample.unwrap();
    // The counterexample is shrunk: the integer nearest to zero that fails, or a boundary value.
    assert!(found.parameters["n"].as_f64().unwrap() < 0.0 && found.place.is_some(), "{found:?}");
}

#[test]
fn the_input_that_is_shown_is_a_small_one() {
    let code =
        "const execute = ({ xs }) => { if (xs.length > 2 && xs.includes('😀')) return xs.nothing.x; return xs.length }";
    let more = json!({ "code": code, "examples": [{ "parameters": { "xs": ["a"] }, "result": 1 }],
        "parameters": { "xs": { "type": "array", "required": true, "items": { "type": "string" } } } });
    let proof = check(&more, ProofStatus::Failed, "threw: it throws TypeError: cannot read property 'x' of undefined");
    let found = proof.counterexample.unwrap();
    let xs = found.parameters["xs"].as_array().unwrap();
    assert!(xs.len() == 3 && found.found_with.is_some(), "{found:?}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let more = json!({ "code": "const execute = ({ n }) => n > 90 ? null.x : 2 * n" });
    let one = check(&more, ProofStatus::Failed, "threw: it throws TypeError: cannot read property 'x' of null");
    let two = check(&more, ProofStatus::Failed, "threw: it throws TypeError: cannot read property 'x' of null");
    assert_eq!((one.counterexample, one.checks), (two.counterexample, two.checks));
}

#[test]
fn what_is_kept_of_a_proof_can_be_run_again() {
    let host = ToolboxFixture::with_policy(AUTO);
    let proof = proved(&host, &doubled(&json!({})));
    let entry = host.store().catalog().find(&toolcell::store::ToolRef::parse("doubled").unwrap()).unwrap();
    let stored = |proof: Option<Proof>| serde_json::to_value(proof).unwrap();
    assert_eq!(stored(host.toolbox().proof(&entry).unwrap()), stored(Some(proof.clone())));
    assert_eq!(host.store().runs().records_of_kind(entry.id, PROOF, 9).unwrap().len(), 1);
    assert_eq!(stored(host.toolbox().show("doubled", None).unwrap().proof), stored(Some(proof.clone())));
    // The first receipt is the example's: a run yields the same result with the same fuel.
    let receipt = &proof.receipts[0];
    let ran = host.run("doubled", &json!({ "n": 21 })).unwrap();
    assert_eq!((ran.report.usage.fuel, receipt.outcome.as_str()), (receipt.fuel, "returned"));
}

#[test]
fn what_was_proven_is_proven_no_more_when_something_else_is_expected() {
    let host = ToolboxFixture::with_policy(AUTO);
    proved(&host, &doubled(&json!({})));
    assert_eq!(status(&host, "doubled"), Status::Passed);
    host.create(&doubled(&json!({ "replace": true, "tags": ["math"] }))).unwrap();
    assert_eq!(status(&host, "doubled"), Status::Passed);
    let example = json!([{ "parameters": { "n": 2 }, "result": 5 }]);
    let created = host.create(&doubled(&json!({ "replace": true, "examples": example }))).unwrap();
    assert_eq!((status(&host, "doubled"), created.status), (Status::Unverified, Status::Unverified));
}

#[test]
fn whoever_may_not_run_a_tool_does_not_try_it_either() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"never\"");
    host.create(&doubled(&json!({}))).unwrap();
    let refused = host.toolbox().verify("doubled", &VerifyOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "permission-denied");
    assert_eq!(status(&host, "doubled"), Status::Unverified);
    let lines = host.audit_lines();
    let line = lines.last().unwrap();
    assert_eq!((line.action.as_str(), line.error.as_deref()), ("verify_tool", Some("permission-denied")));
    assert_eq!(host.record(line).unwrap().outcome, "refused");
}

#[test]
fn a_hook_is_asked_once_for_a_whole_proof() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&asked);
    let host = ToolboxFixture::with_hook(move |call| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(*call.args, json!({ "n": 21 }));
        toolcell::HookVerdict::allow()
    });
    let proof = proved(&host, &doubled(&json!({})));
    // Once for the examples when the tool was created, and once for the proof.
    assert_eq!((proof.verdict, asked.load(std::sync::atomic::Ordering::Relaxed)), (ProofStatus::Passed, 2));
    let line = host.audit_lines().pop().unwrap();
    let record = host.record(&line).unwrap();
    assert_eq!((line.action.as_str(), record.outcome.as_str(), record.run), ("verify_tool", "passed", proof.run));
}

#[test]
fn all_tools_are_proven_side_by_side() {
    let host = ToolboxFixture::with_policy(AUTO);
    for number in 0..12 {
        let wrong = i32::from(number % 3 == 0);
        let example = json!([{ "parameters": { "n": number }, "result": 2 * number + wrong }]);
        host.create(&doubled(&json!({ "name": format!("tool_{number}"), "examples": example }))).unwrap();
    }
    let progress_lines = std::sync::Mutex::new(Vec::new());
    let all = host.toolbox().verify_all(&VerifyOptions::default(), &|proved| {
        progress_lines.lock().unwrap().push((proved.done, proved.all));
    });
    let all = all.unwrap();
    assert_eq!(all.iter().filter(|(_, proof)| proof.as_ref().unwrap().verdict == ProofStatus::Failed).count(), 4);
    let progress_lines = progress_lines.into_inner().unwrap();
    assert_eq!(progress_lines, (1..=12).map(|done| (done, 12)).collect::<Vec<_>>());
}

#[test]
fn a_trial_that_is_broken_off_leaves_the_tool_unverified() {
    let host = ToolboxFixture::with_policy(AUTO);
    host.create(&doubled(&json!({}))).unwrap();
    let cancel = toolcell::CancelToken::new();
    cancel.cancel();
    let options = VerifyOptions { cancel: Some(cancel), ..VerifyOptions::default() };
    assert_eq!(host.toolbox().verify("doubled", &options).unwrap_err().code(), "cancelled");
    assert_eq!(status(&host, "doubled"), Status::Unverified);
}

#[test]
fn examples_and_claims_that_are_none_are_refused_by_their_number() {
    let host = ToolboxFixture::with_policy(AUTO);
    let refused = |more: Value, message: &str| {
        let error = host.create(&doubled(&more)).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().as_str()), ("notes-invalid", message));
    };
    let without = "example 2 has no `parameters`: write {\"parameters\": {…}, \"result\": …}, or `throws` or `holds` \
                   instead of `result`";
    refused(json!({ "examples": [{ "parameters": {} }, { "n": 1 }] }), without);
    refused(
        json!({ "returns": { "type": "nubmer" } }),
        "the postconditions cannot be stored: `returns`: `result` has the unknown type \"nubmer\"; did you mean \
         `number`?",
    );
    refused(
        json!({ "idempotent": "m" }),
        "the postconditions cannot be stored: `idempotent` names `m`, but the parameters are n",
    );
}

#[test]
fn a_tool_whose_trial_was_killed_is_unverified_when_the_store_is_opened_next() {
    let mut host = ToolboxFixture::with_policy(AUTO);
    host.create(&doubled(&json!({}))).unwrap();
    let entry = host.store().catalog().find(&toolcell::store::ToolRef::parse("doubled").unwrap()).unwrap();
    host.store().catalog().set_status(entry.id, Status::Pending).unwrap();
    // What a killed process leaves behind: a run that was started.
    let begun = host.store().runs().start(|run| {
        json!({ "run": run.to_string(), "action": "verify_tool", "caller": "cli", "name": "doubled",
            "at": "2026-02-18T09:00:00Z", "blake3": "", "bytes": 2 })
        .to_string()
        .into_bytes()
    });
    drop(begun.unwrap());
    host.reopen();
    assert_eq!(status(&host, "doubled"), Status::Unverified);
    let line = host.audit_lines().pop().unwrap();
    assert_eq!((line.action.as_str(), line.error.as_deref()), ("verify_tool", Some("interrupted")));
}

#[test]
fn a_declaration_that_is_made_to_cost_much_costs_little() {
    let host = ToolboxFixture::with_policy(AUTO);
    let fields: Map<String, Value> = (0..64).map(|number| (format!("p{number}"), json!({ "$ref": "#" }))).collect();
    let schemas = [
        json!({ "type": "object", "properties": { "a": { "type": "array", "minItems": 1_000_000_000_000_u64 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "minLength": 1_000_000_000_000_u64 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "(((x{1000}){1000}){1000})" } } }),
        json!({ "type": "object", "properties": fields }),
        json!({ "type": "object", "properties": { "a": { "type": "array", "minItems": 40, "items": { "type": "array",
            "minItems": 40, "items": { "type": "array", "minItems": 40, "items": { "type": "array", "minItems": 40 } } } } } }),
    ];
    let mut proven = 0;
    for (number, schema) in schemas.iter().enumerate() {
        // Two copies of each, so that they are compared as well.
        for copy in ["one", "other"] {
            let name = format!("{copy}_{number}");
            let made = host.create(&json!({ "name": name, "description": "Takes much", "parameters": schema,
                "code": format!("const execute = (params) => Object.keys(params).length // {copy}"),
                "examples": [{ "parameters": {}, "result": 0 }] }));
            // A declaration that no parameters satisfy may be rejected.
            if made.is_ok() {
                let proof = host.toolbox().verify(&name, &VerifyOptions::default()).unwrap();
                assert_eq!(proof.verdict, ProofStatus::Passed, "{name}: {:?}", proof.counterexample);
                proven += 1;
            }
        }
    }
    assert_eq!(proven, 8);
}
