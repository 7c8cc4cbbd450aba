//! The built-in tools, as a client sees them.

use serde_json::{Value, json};

use super::for_each_client;
use super::raw_client::RawClient;
use super::server::BinaryFixture;

const OPERATIONS: [&str; 7] = [
    "create_tool",
    "run_dynamic_tool",
    "list_dynamic_tools",
    "delete_dynamic_tool",
    "tool_reflection",
    "verify_dynamic_tool",
    "run_code",
];
const TWICE: &str = "const execute = ({ n }) => 2 * n";
/// A loop whose end the analysis cannot rule out.
const ENDLESS: &str = "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }";

fn tools(peer: &mut RawClient) -> Value {
    peer.request("tools/list", json!({})).result()["tools"].clone()
}

#[test]
fn the_operations_are_the_same_list_for_everybody() {
    let home = BinaryFixture::new("");
    let first = tools(&mut home.start_stdio(&[]).in_session(json!({}))).to_string();
    for_each_client(&home, &json!({}), |mut peer| {
        let tools = tools(&mut peer);
        assert_eq!(tools.to_string(), first);
        let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(json!(names), json!(OPERATIONS));
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
        assert_eq!(ran.text(), "42");
        let listed = answered("list_dynamic_tools", json!({ "name": "twi" }));
        assert_eq!(listed.text(), "# Registered dynamic tools (1)\n\n- twice(n: number): Doubles (unverified)");
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
    assert_eq!(ran.text(), "こんにちは");
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
        peer.create_tool("loops", ENDLESS);
        let call = json!({ "tool_name": "loops", "timeout_ms": 20 });
        peer.call("run_dynamic_tool", call).fails("timeout");
        for name in ["fails", "loops"] {
            peer.call("delete_dynamic_tool", json!({ "tool_name": name, "confirm": true })).done();
        }
    });
}

#[test]
fn code_that_is_not_stored_runs_once_and_leaves_no_tool() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        let mut run =
            |code: &str, parameters: Value| peer.call("run_code", json!({ "code": code, "parameters": parameters }));
        let ran = run(TWICE, json!({ "n": 21 }));
        ran.returns(&json!(42));
        assert_eq!((ran.text().as_str(), ran.done()), ("42", json!({ "value": 42 })));
        let failed = run("const execute = () => {\n  console.log('before');\n  return undefined.foo\n}", json!({}));
        failed.fails("tool-failed");
        let text = failed.text();
        for part in ["TypeError: ", "at execute (code:3:", "3 | return undefined.foo", "console:\nbefore"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        run("const execute = () => eval('1')", json!({})).fails("critical-risk");
        run("", json!({})).fails("source-invalid");
        run("const other = 1", json!({})).fails("tool-missing");
        let endless = json!({ "code": ENDLESS, "timeout_ms": 20 });
        peer.call("run_code", endless).fails("timeout");
        peer.call("run_code", json!({ "code": TWICE, "timeout_ms": 0 })).fails("limit-invalid");
        peer.call("run_code", json!({ "code": TWICE, "parameters": [1] })).fails("request-invalid");
        assert_eq!(peer.call("list_dynamic_tools", json!({})).done(), json!({ "tools": [] }));
    });
    let lines = home.audit_lines();
    assert!(lines.iter().any(|line| line["action"] == "exec" && line["success"] == true), "{lines:?}");
}

#[test]
fn code_that_is_not_stored_gets_what_the_policy_grants_to_it() {
    let waits =
        json!({ "code": "const execute = async () => { await sleep(1); await kv.set('k', 1); return kv.get('k') }" });
    let rules = "timers = true\n[grants.default.kv]\nspace = 'notes'\n";
    let home = BinaryFixture::new(&format!("[grants.default]\n{rules}"));
    home.start_stdio(&[]).in_session(json!({})).call("run_code", waits.clone()).fails("tool-failed");
    let home = BinaryFixture::new(&format!("[grants.drafts]\n{}", rules.replace("default", "drafts")));
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    let run_code = tools(&mut peer)[6].clone();
    assert_eq!((&run_code["name"], &run_code["annotations"]["readOnlyHint"]), (&json!("run_code"), &json!(false)));
    peer.call("run_code", waits).returns(&json!(1));
    let failed = peer.call("run_code", json!({ "code": "const execute = () => fetch('https://example.com')" }));
    failed.fails("tool-failed");
    assert!(failed.text().contains("`grants.drafts` in the policy would grant `net`"), "{}", failed.text());
}

#[test]
fn code_does_not_run_where_every_tool_requires_approval() {
    let home = BinaryFixture::new("[approval]\nmode = 'ask'\n");
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    let denied = peer.call("run_code", json!({ "code": TWICE, "parameters": { "n": 1 } }));
    let error = denied.fails("permission-denied");
    assert!(error["hint"].as_str().unwrap().contains("`create_tool`"), "{error}");
}

#[test]
fn an_operation_that_is_switched_off_is_neither_listed_nor_called() {
    let home = BinaryFixture::new("");
    let mut peer =
        home.start_stdio(&["--disable", "run_code", "--disable", "delete_dynamic_tool"]).in_session(json!({}));
    let listed = tools(&mut peer);
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        OPERATIONS
            .into_iter()
            .filter(|name| !name.starts_with("run_code") && !name.starts_with("delete"))
            .collect::<Vec<_>>()
    );
    for name in ["run_code", "delete_dynamic_tool"] {
        let refused = peer.call(name, json!({ "code": TWICE, "tool_name": "x", "confirm": true }));
        assert_eq!(refused.is_refused_with(-32_602), "tool-unknown");
        assert!(!refused.message["error"]["message"].as_str().unwrap().ends_with(name), "{}", refused.message);
    }
}

#[test]
fn a_tool_is_verified_and_its_examples_are_compared_when_it_is_created() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        let tool = |examples: Value| json!({ "name": "twice", "description": "Doubles", "code": TWICE, "examples": examples, "replace": true });
        let wrong = json!([{ "parameters": { "n": 2 }, "result": 4 }, { "parameters": { "n": 3 }, "result": 5 }]);
        let created = peer.call("create_tool", tool(wrong));
        let mismatch = "example 2: it returns 6, expected 5";
        assert_eq!(created.done()["examples"], json!({ "count": 2, "fromTemplate": 0, "mismatches": [mismatch] }));
        assert!(created.text().contains(&format!("Examples: 1 of 2 match\n- {mismatch}")), "{}", created.text());
        let failed = peer.call("verify_dynamic_tool", json!({ "tool_name": "twice" }));
        assert_eq!(
            (&failed.done()["verdict"], &failed.done()["counterexample"]["message"]),
            (&json!("failed"), &json!(mismatch))
        );
        let right = peer.call("create_tool", tool(json!([{ "parameters": { "n": 2 }, "result": 4 }])));
        assert!(right.text().ends_with("Examples: 1 of 1 match"), "{}", right.text());
        let passed = peer.call("verify_dynamic_tool", json!({ "tool_id": "twice" }));
        assert_eq!(passed.done()["verdict"], "passed", "{}", passed.message);
        assert!(passed.text().starts_with("Verification of the tool `twice`: passed"), "{}", passed.text());
        peer.call("verify_dynamic_tool", json!({ "tool_name": "nobody" })).fails("tool-not-found");
        peer.call("verify_dynamic_tool", json!({})).fails("request-invalid");
        // An example that takes long is left to the verification.
        let long = json!({ "name": "endless", "description": "d", "code": ENDLESS, "replace": true, "examples": [{ "parameters": {}, "result": 1 }] });
        let created = peer.call("create_tool", long).done();
        assert!(
            created["examples"]["notRun"].as_str().unwrap().starts_with("example 1 takes too long here"),
            "{created}"
        );
    });
}

#[test]
fn a_model_reads_little_beside_a_value() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    peer.create_tool("six", "const execute = () => 6");
    let ran = peer.run("six", json!({}));
    // Some clients show the text, some the structured content, and some both.
    let [text, structured] = [ran.text(), ran.done().to_string()].map(|shown| shown.len());
    assert_eq!((text, structured), (1, 11), "{}", ran.message);
    peer.create_tool(
        "talks",
        "const execute = () => { for (let n = 0; n < 900; n++) console.log('line ' + n); return [NaN] }",
    );
    let ran = peer.run("talks", json!({}));
    let notes = ran.result()["content"][1]["text"].as_str().unwrap().to_owned();
    assert!(notes.starts_with("console:\n(") && notes.contains("earlier lines omitted)\nline "), "{notes}");
    assert!(notes.contains("\nline 899\nwarning: /0: "), "{notes}");
    assert!(notes.len() < 5_000 && ran.done()["omittedLogs"].as_u64().unwrap() > 300, "{}", ran.message);
    for (name, code, text, value) in [
        ("nothing", "const execute = () => {}", "undefined", None),
        ("empty", "const execute = () => ''", "\"\"", Some(json!(""))),
        ("object", "const execute = () => ({ a: [1] })", "{\n  \"a\": [\n    1\n  ]\n}", Some(json!({ "a": [1] }))),
    ] {
        peer.create_tool(name, code);
        let ran = peer.run(name, json!({}));
        assert_eq!((ran.text().as_str(), ran.done().get("value")), (text, value.as_ref()), "{name}");
    }
}

#[test]
fn a_long_value_is_cut_and_a_resource_has_all_of_it() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice", "bob"], "");
    let web = home.start_http(&["--tokens", &tokens]);
    let mut alice = super::tenants::client_of(&web, "alice").stateless(json!({}));
    alice.create_tool("long", "const execute = ({ n }) => '界'.repeat(n)");
    alice.run("long", json!({ "n": 6_000 })).returns(&json!("界".repeat(6_000)));
    let ran = alice.run("long", json!({ "n": 60_000 }));
    let result = ran.result();
    assert!(result.to_string().len() < 30_000, "{}", result.to_string().len());
    let link = &result["content"].as_array().unwrap().last().unwrap().clone();
    let uri = link["uri"].as_str().unwrap().to_owned();
    assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(180_002)));
    assert!(ran.text().ends_with(&format!("the whole value is the resource {uri})")), "{}", ran.text().len());
    let truncated = &ran.done()["truncated"];
    assert_eq!((&truncated["bytes"], &truncated["resource"]), (&json!(180_002), &json!(uri)));
    assert_eq!(ran.done().get("value"), None);
    let read = alice.request("resources/read", json!({ "uri": uri })).result()["contents"][0]["text"].clone();
    assert_eq!(serde_json::from_str::<String>(read.as_str().unwrap()).unwrap(), "界".repeat(60_000));
    // It belongs to the principal whose run it was.
    let mut bob = super::tenants::client_of(&web, "bob").stateless(json!({}));
    assert_eq!(bob.request("resources/read", json!({ "uri": uri })).is_refused_with(-32_602), "resource-not-found");
}

#[test]
fn a_model_is_never_told_how_to_approve_a_tool() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    let waits = json!({ "name": "waits", "description": "d", "code": "const execute = () => sleep(1)", "capabilities": ["timers"] });
    let created = peer.call("create_tool", waits);
    assert!(created.text().contains("The user must approve the tool before it runs"), "{}", created.text());
    for reply in
        [created, peer.run("waits", json!({})), peer.call("verify_dynamic_tool", json!({ "tool_name": "waits" }))]
    {
        let read = [reply.result()["content"].to_string(), reply.result()["structuredContent"].to_string()].concat();
        assert!(!read.contains("toolcell approvals") && !read.contains("toolcell show"), "{read}");
    }
    // Nor where the policy file and the store are.
    home.stdout_of(&["approvals", "grant", "waits"]);
    let failed = peer.run("waits", json!({}));
    failed.fails("tool-failed");
    let text = failed.text();
    assert!(text.contains("`[grants.tools.waits] timers = true` in the policy would grant it"), "{text}");
    assert!(!text.contains(home.path("").to_str().unwrap().trim_end_matches('/')), "{text}");
    home.stdout_of(&["approvals", "revoke", "waits"]);
    let error = peer.run("waits", json!({})).fails("permission-denied");
    assert_eq!(error["hint"], "only the user can approve the tool: ask them to review it, then run it again");
    // The command is for the program around the model.
    assert!(error["pending"]["command"].as_str().unwrap().starts_with("toolcell approvals grant dt_"), "{error}");
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

#[test]
fn a_custom_tool_gives_its_content_with_images_as_images() {
    let home = BinaryFixture::new("");
    let code = "export default (pi) => ({ name: 'paint', description: 'd', parameters: pi.zod.object({ kind: pi.zod.string() }),
        execute: (id, { kind }) => ({
            content: [{ type: 'text', text: 'a pixel' }, { type: kind, data: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', mimeType: 'image/gif' }],
            details: { size: 1 },
        }) })";
    for_each_client(&home, &json!({}), |mut peer| {
        let tool = json!({ "name": "paint", "description": "Paints", "code": code, "replace": true });
        peer.call("create_tool", tool).done();
        let painted = peer.run("paint", json!({ "kind": "image" })).result();
        let image = json!({
            "type": "image", "mimeType": "image/gif", "data": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        });
        let text = json!({ "type": "text", "text": "a pixel\n[image/gif, 42 bytes]" });
        assert_eq!(painted["content"], json!([text, image]), "{painted}");
        let item = json!({ "type": "image", "mimeType": "image/gif", "bytes": 42 });
        let expected = json!({ "content": [{ "type": "text", "text": "a pixel" }, item], "details": { "size": 1 } });
        assert_eq!(painted["structuredContent"]["value"], expected);
        // Content of another form is a value like any other.
        let odd = peer.run("paint", json!({ "kind": "video" })).result();
        assert_eq!(odd["structuredContent"]["value"]["content"][1]["type"], "video");
        assert!(odd["content"][0]["text"].as_str().unwrap().contains("\"video\""), "{odd}");
    });
}
