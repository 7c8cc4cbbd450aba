//! The five built-in tools, as a client sees them.

use serde_json::{Value, json};

use super::for_each_client;
use super::raw_client::RawClient;
use super::server::BinaryFixture;

const FIVE: [&str; 5] =
    ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection"];
const TWICE: &str = "const execute = ({ n }) => 2 * n";

fn tools(peer: &mut RawClient) -> Value {
    peer.request("tools/list", json!({})).result()["tools"].clone()
}

#[test]
fn the_five_operations_are_the_same_list_for_everybody() {
    let home = BinaryFixture::new("");
    let first = tools(&mut home.start_stdio(&[]).in_session(json!({}))).to_string();
    for_each_client(&home, &json!({}), |mut peer| {
        let tools = tools(&mut peer);
        assert_eq!(tools.to_string(), first);
        let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(json!(names), json!(FIVE));
    });
}

/// Asserts that a value matches a schema, for the keywords that these schemas use.
fn is_like(schema: &Value, value: &Value, at: &str) {
    let of_type = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{at}: a type `{other}`"),
    };
    match &schema["type"] {
        Value::String(name) => assert!(of_type(name), "{at}: {value} is no {name}"),
        Value::Array(names) => {
            assert!(names.iter().any(|name| of_type(name.as_str().unwrap())), "{at}: {value} is none of {names:?}");
        }
        _ => {}
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(required.as_str().unwrap()).is_some() || value.is_null(), "{at}: {required} is missing");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            is_like(property, value, &format!("{at}/{name}"));
        }
    }
    for value in value.as_array().into_iter().flatten() {
        is_like(&schema["items"], value, &format!("{at}/*"));
    }
}

#[test]
fn each_operation_answers_with_a_value_of_its_schema_and_the_text_of_the_contract() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        let schemas = tools(&mut peer);
        let mut answered = |name: &str, arguments: Value| {
            let reply = peer.call(name, arguments);
            let tool = schemas.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["outputSchema"]["type"], "object");
            is_like(&tool["outputSchema"], &reply.done(), name);
            reply
        };
        let parameters = json!({ "n": { "type": "number", "description": "a number", "required": true } });
        let twice = json!({ "name": "twice", "description": "Doubles", "code": TWICE, "parameters": parameters });
        let created = answered("create_tool", twice);
        assert!(created.text().starts_with("Created the tool `twice`."), "{}", created.text());
        let ran = answered("run_dynamic_tool", json!({ "tool_name": "twice", "parameters": { "n": 21 } }));
        ran.returns(&json!(42));
        assert!(ran.text().ends_with("\n42"), "{}", ran.text());
        let listed = answered("list_dynamic_tools", json!({ "name": "twi" }));
        assert!(listed.text().starts_with("# Registered dynamic tools (1)\n\n## twice"), "{}", listed.text());
        let task = "Convert 40 CSV files to JSON";
        let reflected = answered("tool_reflection", json!({ "task_description": task, "last_tool_result": "" }));
        assert!(reflected.text().contains(task), "{}", reflected.text());
        let deleted = answered("delete_dynamic_tool", json!({ "tool_name": "twice", "confirm": true }));
        assert!(deleted.text().contains("`twice`"), "{}", deleted.text());
    });
}

#[test]
fn the_texts_are_japanese_where_that_is_asked_for() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--lang", "ja"]).stateless(json!({}));
    let code = "const execute = () => 'こんにちは'";
    let made = peer.call("create_tool", json!({ "name": "hello", "description": "挨拶", "code": code }));
    let id = made.done()["id"].as_str().unwrap()[..15].to_owned();
    let begin = format!("ツール「hello」を作成しました。\n\nツールID: {id}\n安全性スコア: ");
    assert!(made.text().starts_with(&begin), "{}", made.text());
    let ran = peer.run("hello", json!({}));
    assert!(ran.text().starts_with("ツール「hello」の実行が完了しました。\n\n実行時間: "), "{}", ran.text());
    assert!(ran.text().ends_with("\n\n結果:\nこんにちは"), "{}", ran.text());
    assert!(peer.call("list_dynamic_tools", json!({})).text().starts_with("# 登録済み動的ツール (1件)"));
    let kept = peer.call("delete_dynamic_tool", json!({ "tool_name": "hello" }));
    kept.fails("confirm-required");
    assert_eq!(kept.text(), "エラー: 削除を確認するには confirm: true を指定してください");
    let deleted = peer.call("delete_dynamic_tool", json!({ "tool_name": "hello", "confirm": true }));
    assert_eq!(deleted.text(), format!("ツール「hello」({id})を削除しました。"));
}

#[test]
fn a_model_is_told_operations_in_the_language_of_the_server() {
    let home = BinaryFixture::new("");
    let hint = "`list_dynamic_tools` lists the stored tools";
    for (lang, told) in [
        ("en", format!("code: tool-not-found\nhint: {hint}")),
        ("ja", "コード: tool-not-found\nヒント: `list_dynamic_tools` で保存済みのツールを一覧できます".to_owned()),
        ("zh", "代码：tool-not-found\n提示：可用 `list_dynamic_tools` 列出已存储的工具".to_owned()),
    ] {
        let mut peer = home.start_stdio(&["--lang", lang]).stateless(json!({}));
        peer.create_tool("gone", &format!("const execute = () => '{lang}'"));
        peer.call("delete_dynamic_tool", json!({ "tool_name": "gone", "confirm": true })).done();
        for name in ["gone", "nobody"] {
            let failed = peer.run(name, json!({}));
            assert_eq!(failed.fails("tool-not-found")["hint"], hint);
            assert_eq!(failed.result()["content"][1]["text"], told);
            assert!(!failed.message.to_string().contains("toolcell "), "{}", failed.message);
        }
    }
}

#[test]
fn what_fails_has_a_code_and_no_value() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        peer.call("create_tool", json!({ "name": "", "description": "x", "code": TWICE })).fails("name-required");
        peer.call("create_tool", json!({ "name": "a b", "description": "x", "code": TWICE })).fails("name-invalid");
        let error = peer.run("nobody", json!({})).fails("tool-not-found");
        assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{error}");
        peer.create_tool("fails", "function execute() { throw new Error('no') }");
        let failed = peer.run("fails", json!({}));
        failed.fails("tool-failed");
        assert!(failed.text().contains("no"), "{}", failed.text());
        peer.create_tool("loops", "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }");
        let call = json!({ "tool_name": "loops", "timeout_ms": 20 });
        peer.call("run_dynamic_tool", call).fails("timeout");
        for name in ["fails", "loops"] {
            peer.call("delete_dynamic_tool", json!({ "tool_name": name, "confirm": true })).done();
        }
    });
}

#[test]
fn what_a_run_may_do_is_what_the_policy_grants() {
    let run = |policy: &str| {
        let home = BinaryFixture::new(policy);
        let tools = tools(&mut home.start_stdio(&[]).stateless(json!({})));
        let hints = |name: &str| {
            let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            let says = |hint: &str| tool["annotations"][hint].as_bool().unwrap();
            [says("readOnlyHint"), says("destructiveHint"), says("idempotentHint"), says("openWorldHint")]
        };
        // The hints of the other tools do not depend on the policy.
        assert_eq!(hints("list_dynamic_tools"), [true, false, true, false]);
        assert_eq!(hints("delete_dynamic_tool"), [false, true, true, false]);
        hints("run_dynamic_tool")
    };
    let (nothing, timers) = (run(""), run("[grants.default]\ntimers = true\n"));
    // Waiting on timers has no effects.
    assert_eq!((nothing, timers), ([true, false, true, false], [true, false, true, false]));
}

#[test]
fn what_failed_says_how_far_it_changed_the_world() {
    let home = BinaryFixture::new("[approval]\nmode = 'auto'\n[grants.default.kv]\nspace = 'notes'\n");
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    peer.run("nobody", json!({})).fails("tool-not-found");
    for (name, does, effects) in [("reads", "kv.get('k')", "none"), ("writes", "kv.set('k', 1)", "committed")] {
        let code = format!("const execute = async () => {{ await {does}; throw new Error('no') }}");
        let tool = json!({ "name": name, "description": "a tool", "code": code, "capabilities": ["kv"] });
        peer.call("create_tool", tool).done();
        let failed = peer.run(name, json!({}));
        assert_eq!(failed.fails("tool-failed")["effects"], effects);
        // The text for the model warns against a blind retry.
        let says_effects = failed.result()["content"][1]["text"].as_str().unwrap().ends_with("\neffects: committed");
        assert_eq!(says_effects, effects == "committed");
    }
}
