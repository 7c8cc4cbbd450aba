//! `create_tool`: the stored tool is the requested one, and a rejected request leaves only its
//! audit line.

use serde_json::{Value, json};
use toolcell::store::{RepairMode, ToolRef, fsck};
use toolcell::{CreateResult, CreateTool, ExampleComparison, Lang, Status, read_request};

use super::{ToolboxFixture, refusal, returned_value};
use crate::fixtures::store::{files_below, overwrite};

/// Returns a request with these fields changed.
fn fields(changes: &Value) -> Value {
    let mut fields = json!({ "name": "tool", "description": "a tool", "code": "const execute = (params) => params" });
    for (field, value) in changes.as_object().unwrap() {
        fields[field] = value.clone();
    }
    fields
}

fn created(host: &ToolboxFixture, changes: &Value) -> CreateResult {
    host.create(&fields(changes)).unwrap()
}

/// Asserts that a request is rejected with this code and a message that contains this text, and
/// that nothing is stored.
#[track_caller]
fn check_refused(changes: &Value, code: &str, message: &str) {
    let host = ToolboxFixture::with_policy("[names]\nreserved = [\"send-mail\"]");
    let error = host.create(&fields(changes)).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert!(files_below(&host.path().join("objects")).is_empty(), "something of it is kept");
    assert_eq!(host.list(&json!({})).total, 0);
    let [line, _] = &*host.audit_lines() else { panic!("there is a line of the creation, and one of the list") };
    assert_eq!((&*line.action, line.success, line.error.as_deref()), ("create_tool", false, Some(code)));
}

// Row 2 of the feature table.
#[test]
fn what_is_required_is_named_and_what_is_unknown_is_refused() {
    for field in ["description", "code"] {
        check_refused(&json!({ field: "" }), "request-invalid", &format!("`{field}` is required"));
        check_refused(&json!({ field: " \n" }), "request-invalid", &format!("`{field}` is required"));
    }
    check_refused(&json!({ "name": "" }), "name-required", "");
    let error = read_request::<CreateTool>(r#"{"name": "tool", "kode": "x"}"#).unwrap_err();
    assert_eq!(error.code(), "request-invalid");
    assert!(error.to_string().contains("kode"), "{error}");
}

// Row 3 of the feature table.
#[test]
fn what_is_told_is_what_is_stored() {
    let host = ToolboxFixture::new();
    for (number, code) in
        ["() => 1", "() => fetch('https://a.example/')", "(p) => { var a = p == 1; return a }"].into_iter().enumerate()
    {
        let name = format!("tool-{number}");
        let result = host.tool(&name, &format!("const execute = {code}"));
        let stored = host.store().catalog().find(&ToolRef::parse(&name).unwrap()).unwrap();
        assert_eq!((result.id, result.status, result.scores), (stored.id, stored.status, stored.scores));
        // Row 17 of the feature table.
        assert!((stored.confidence - stored.scores.safety.min(stored.scores.quality)).abs() < 1e-9);
    }
}

// Row 5 of the feature table, with capitals as the contract has it.
#[test]
fn a_name_is_a_letter_and_then_letters_digits_and_two_signs() {
    let host = ToolboxFixture::new();
    for name in ["Foo", "a-b_1", &"x".repeat(64)] {
        assert_eq!(host.tool(name, "const execute = () => 1").name.as_str(), name);
    }
    for name in ["1a", "a b", "a.b", "../x", "平均", &"x".repeat(65), "dt_0123456789ab"] {
        check_refused(&json!({ "name": name }), "name-invalid", "is not a valid tool name");
    }
}

// Rows 6 and 114 of the feature table.
#[test]
fn names_of_operations_and_of_the_host_are_refused() {
    for name in ["create_tool", "tool_reflection", "Run-Dynamic-Tool"] {
        check_refused(&json!({ "name": name }), "name-reserved", "is the name of an operation");
    }
    check_refused(&json!({ "name": "Send_Mail" }), "name-reserved", "toolcell.toml:2");
}

// Rows 10 and 132 of the feature table.
#[test]
fn a_name_that_is_taken_is_refused_with_the_tool_that_has_it() {
    let host = ToolboxFixture::new();
    let first = host.tool("json-to-csv", "const execute = () => 1").id;
    for name in ["json-to-csv", "json_to_csv", "JSON-to-CSV"] {
        let error = host.create(&fields(&json!({ "name": name }))).unwrap_err();
        assert_eq!((error.code().as_str(), error.taken_name()), ("name-taken", Some("json-to-csv")));
        assert!(error.to_string().contains(&first.short()), "{error}");
    }
    assert_eq!(host.list(&json!({})).tools[0].id, first);
}

// Row 10 of the feature table.
#[test]
fn a_new_version_replaces_the_old_one_which_stays_in_the_history() {
    let host = ToolboxFixture::new();
    let old = host.tool("tool", "const execute = () => 1");
    let new = created(&host, &json!({ "code": "const execute = () => 2", "replace": true }));
    assert_eq!((old.version, new.version, new.replaced), (1, 2, Some(old.id)));
    assert_eq!(returned_value(&host.run("tool", &json!({})).unwrap()), 2);
    host.toolbox().roll_back(&new.name, 1).unwrap();
    assert_eq!(returned_value(&host.run("tool", &json!({})).unwrap()), 1);

    let fresh = created(&host, &json!({ "name": "other", "replace": true }));
    assert_eq!((fresh.version, fresh.replaced), (1, None));
}

#[test]
fn a_tool_that_was_damaged_is_whole_again_once_it_is_created_again() {
    for mending in [RepairMode::Check, RepairMode::Repair] {
        let mut host = ToolboxFixture::new();
        let code = "const execute = () => 'whole'";
        let id = host.tool("tool", code).id;
        let source = blake3::hash(code.as_bytes()).to_hex();
        overwrite(&host.path().join("objects").join(&source[..2]).join(&source[2..]), b"broken");
        host.toolbox = None;
        fsck(host.path(), mending).unwrap();
        host.reopen();
        assert_eq!(refusal(host.run("tool", &json!({}))).0, "integrity");

        let error = host.create(&fields(&json!({}))).unwrap_err();
        assert_eq!(error.code(), "name-taken", "another tool does not get the name: {error}");
        let again = host.tool("tool", code);
        assert_eq!((again.id, again.status, again.replaced), (id, Status::Unverified, None));
        assert_eq!(returned_value(&host.run("tool", &json!({})).unwrap()), "whole");
    }
}

// Row 7 of the feature table.
#[test]
fn what_decides_behaviour_decides_the_identifier() {
    let id = |changes: Value| created(&ToolboxFixture::new(), &changes).id;
    let parameters = |text: &str| json!({ "parameters": serde_json::from_str::<Value>(text).unwrap() });
    let one = id(parameters(r#"{"n": {"type": "number", "description": "n", "default": 1}, "m": {"type": "string"}}"#));
    let same =
        id(parameters(r#"{"m": {"type": "string"}, "n": {"default": 1, "description": "n", "type": "number"}}"#));
    assert_eq!(one, same);
    for other in [
        parameters(r#"{"n": {"type": "number", "description": "n", "default": 2}, "m": {"type": "string"}}"#),
        parameters(r#"{"n": {"type": "string", "description": "n", "default": "1"}, "m": {"type": "string"}}"#),
        json!({ "name": "other" }),
        json!({ "code": "const execute = (params) =>  params" }),
        json!({ "capabilities": ["timers"] }),
    ] {
        assert_ne!(id(other.clone()), one, "{other}");
    }
}

// Rows 8 and 28 of the feature table.
#[test]
fn what_is_said_about_a_tool_does_not_change_the_identifier() {
    let host = ToolboxFixture::new();
    let plain = created(&ToolboxFixture::new(), &json!({})).id;
    let expected =
        json!({ "tags": ["a"], "description": "another", "generated_from": "a task", "examples": [{ "params": {} }] });
    assert_eq!(created(&host, &expected).id, plain);
    let entry = host.store().catalog().find(&ToolRef::parse("tool").unwrap()).unwrap();
    let notes = host.store().catalog().metadata(&entry).unwrap();
    assert_eq!((notes.generated_from(), notes.tags()), (Some("a task"), &["a".to_owned()][..]));
}

// Row 11 of the feature table.
#[test]
fn the_same_source_under_two_names_is_kept_once_and_told() {
    let host = ToolboxFixture::new();
    let code = "const execute = () => 'the same'";
    let one = host.tool("one", code);
    let two = host.tool("two", code);
    assert!(one.identical_to.is_empty());
    assert_eq!(two.identical_to, [(one.name, one.id)]);
    let sources = files_below(&host.path().join("objects")).into_iter();
    #[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
    let same = sources.filter(|file| std::fs::read(file).unwrap() == code.as_bytes());
    assert_eq!(same.count(), 1);
}

// Row 12 of the feature table.
#[test]
fn the_hundred_and_first_tool_waits_until_one_is_deleted() {
    let host = ToolboxFixture::with_policy("[store]\ntools = 100");
    for number in 0..100 {
        host.tool(&format!("tool-{number}"), "const execute = () => 1");
    }
    let error = host.create(&fields(&json!({}))).unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.to_string()),
        ("tool-limit-reached", "the store has 100 tools, which is the limit".into())
    );
    // A new version does not count towards the limit.
    created(&host, &json!({ "name": "tool-7", "replace": true }));
    host.delete(&json!({ "tool_name": "tool-7", "confirm": true })).unwrap();
    created(&host, &json!({}));
    let error = host.toolbox().undelete(&ToolRef::parse("tool-7").unwrap()).unwrap_err();
    assert_eq!(error.code(), "tool-limit-reached");
}

// Row 25 of the feature table.
#[test]
fn a_definition_that_contradicts_itself_is_refused() {
    for (definition, message) in [
        (json!({ "type": "number", "minimum": 2, "maximum": 1 }), "its `minimum` 2 is above its `maximum` 1"),
        (json!({ "type": "string", "enum": ["a"], "default": "b" }), "contradicts itself"),
        (json!({ "type": "date" }), "`n`"),
    ] {
        check_refused(&json!({ "parameters": { "n": definition } }), "parameters-invalid", message);
    }
    // Row 100 of the feature table.
    let reference = json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/none" } } });
    check_refused(&json!({ "parameters": reference }), "parameters-invalid", "#/$defs/none");
}

// Row 29 of the feature table.
#[test]
fn a_mode_without_a_sandbox_is_refused() {
    for mode in ["bash", "template", "skill"] {
        check_refused(&json!({ "mode": mode }), "mode-unsupported", mode);
    }
    created(&ToolboxFixture::new(), &json!({ "mode": "function" }));
}

// Row 106 of the feature table.
#[test]
fn half_a_source_is_refused_with_its_end() {
    let host = ToolboxFixture::new();
    let error = host.create(&fields(&json!({ "code": "function execute(params) {\n  if (params.a) {" }))).unwrap_err();
    assert_eq!((error.code().as_str(), error.position().map(|(line, _)| line)), ("syntax-error", Some(2)));
}

#[test]
fn a_critical_finding_is_refused_with_its_place() {
    let code = "function execute(params) {\n  return eval(params.code)\n}";
    check_refused(&json!({ "code": code }), "critical-risk", "at 2:");
    check_refused(&json!({ "code": "const x = 1" }), "tool-missing", "");
    check_refused(&json!({ "capabilities": ["teleport"] }), "capabilities-invalid", "`teleport`");
    check_refused(&json!({ "code": "x".repeat(1 << 20) }), "source-too-large", "65536");
    check_refused(&json!({ "tags": ["\u{1b}[31m"] }), "notes-invalid", "\\u{1b}");
}

#[test]
fn every_shape_of_a_tool_is_created_and_runs() {
    for code in [
        "function execute(params) { return params.n }",
        "async function execute({ n }: { n: number }): Promise<number> { return n }",
        "export const execute = ({ n }) => n",
        "export default ({ n }) => n",
        "export default { execute({ n }) { return n } }",
        "export default (pi) => ({ name: 'tool', description: 'd', parameters: {}, execute: (id, { n }) => n })",
        "export default async (pi) => [\
            { name: 'other', description: 'd', parameters: {}, execute: () => 0 },\
            { name: 'tool', description: 'd', parameters: {}, execute: (id, { n }) => n }]",
    ] {
        let host = ToolboxFixture::new();
        let result = created(&host, &json!({ "code": code }));
        assert_eq!(result.status, Status::Unverified);
        assert_eq!(returned_value(&host.run("tool", &json!({ "n": 7 })).unwrap()), 7, "{code}");
    }
}

// Rows 9 and 15 of the feature table.
#[test]
fn what_is_no_identifier_finds_nothing() {
    let host = ToolboxFixture::new();
    host.tool("tool", "const execute = () => 1");
    for id in ["../../x", "dt_", "dt_0123456g", "dt_../../../etc", "objects"] {
        let fields = json!({ "tool_id": id, "parameters": {} });
        assert_eq!(refusal(host.run_with(&fields, &<_>::default())).0, "tool-not-found", "{id}");
        let error = host.delete(&json!({ "tool_id": id, "confirm": true })).unwrap_err();
        assert_eq!(error.code(), "tool-not-found", "{id}");
    }
}

// Row 211 of the feature table.
#[test]
fn where_the_policy_wants_each_thing_once_what_does_the_same_is_refused() {
    let twice = |name: &str, code: &str, parameter: &str| {
        fields(&json!({ "name": name, "code": code, "description": "Doubles a number",
            "parameters": { parameter: { "type": "number", "description": "a number", "required": true } } }))
    };
    let (one, two) =
        (twice("double", "const execute = ({ n }) => 2 * n", "n"), "const execute = (p) => p.value + p.value");
    let result = ToolboxFixture::new();
    result.create(&one).unwrap();
    let created = result.create(&twice("add_to_itself", two, "value")).unwrap();
    let alike = &created.equivalent[0];
    assert_eq!((alike.entry.name.as_str(), &alike.parameters), ("double", &vec![("value".to_owned(), "n".to_owned())]));
    assert!(created.to_text(Lang::En).contains("\nNote: the tool `double` (dt_"), "{}", created.to_text(Lang::En));
    // A new version of a tool is not a duplicate of the old one.
    let again = result.create(&fields(&json!({ "name": "double", "code": two.replace("value", "n"), "replace": true,
        "description": "Doubles a number", "parameters": one["parameters"] })));
    assert!(again.unwrap().equivalent.iter().all(|alike| alike.entry.name.as_str() != "double"));
    let strict = ToolboxFixture::with_policy("[store]\nduplicates = \"refuse\"");
    strict.create(&one).unwrap();
    let refused = strict.create(&twice("add_to_itself", two, "value")).unwrap_err();
    assert_eq!(refused.code(), "tool-duplicate");
    assert!(refused.to_string().starts_with("`double` (dt_"), "{refused}");
    assert!(refused.hint().to_string().contains("run `double`"), "{}", refused.hint());
    assert!(strict.create(&twice("triple", "const execute = (p) => 3 * p.value", "value")).is_ok());
    let free = ToolboxFixture::with_policy("[store]\nduplicates = \"allow\"");
    free.create(&one).unwrap();
    assert!(free.create(&twice("add_to_itself", two, "value")).unwrap().equivalent.is_empty());
    // Tools that need approval are not run for the comparison.
    let careful = ToolboxFixture::with_policy("[approval]\nmode = \"ask\"");
    careful.create(&one).unwrap();
    assert!(careful.create(&twice("add_to_itself", two, "value")).unwrap().equivalent.is_empty());
}

#[test]
fn examples_are_compared_within_a_limit_of_time_and_those_of_a_template_are_counted() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = 'auto'\n");
    let compared =
        |name: &str, examples: Value| created(&host, &json!({ "name": name, "examples": examples })).examples;
    let endless = "(() => { let n = 1; while (n >= 0) n = (n + 1) % 7; return true })()";
    let slow: Vec<Value> = (0..200).map(|n| json!({ "parameters": { "n": n }, "holds": endless })).collect();
    let told = compared("slow", Value::from(slow));
    assert!(
        matches!(&told, ExampleComparison::NotRun(why) if why.to_string().ends_with("take too long here")),
        "{told:?}"
    );
    assert_eq!(compared("none", json!([])), ExampleComparison::NoExamples);
    let examples = json!([
        { "parameters": { "n": 1 }, "holds": "result !== null", "source": "template" },
        { "parameters": { "n": 1 }, "throws": "never" },
    ]);
    let ExampleComparison::Compared { count, from_template, mismatches } = compared("mixed", examples) else {
        panic!()
    };
    assert_eq!((count, from_template, mismatches.len()), (2, 1, 1));
}
