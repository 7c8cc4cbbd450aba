//! The examples of the documents produce the responses that the documents print.

use serde_json::{Value, json};
use toolcell::policy::LimitOverrides;
use toolcell::{CreateError, CreateResult, Lang, RunOptions, deleted_text};

use crate::fixtures::sandbox::read;
use crate::operations::{ToolboxFixture, refusal, returned_value};

/// Creates the example of this name as the documents do.
fn example(host: &ToolboxFixture, name: &str) -> Result<CreateResult, CreateError> {
    let code = || read(format!("fixtures/tools/{name}.js"));
    host.create(&match name {
        "string_reverse" => json!({ "name": name, "description": "文字列を逆順にする", "code": code() }),
        "calculate_average" => json!({
            "name": name,
            "description": "数値の配列から平均値を計算",
            "code": code(),
            "parameters": {
                "numbers": { "type": "array", "description": "平均を計算する数値の配列", "required": true },
                "precision": {
                    "type": "number", "description": "小数点以下の桁数", "default": 2, "minimum": 0, "maximum": 10
                },
            },
            "tags": ["math", "statistics"],
        }),
        "fetch_json" => json!({
            "name": name,
            "description": "指定URLからJSONデータを取得",
            "code": code(),
            "parameters": {
                "url": { "type": "string", "description": "取得するJSONのURL", "required": true },
                "timeout_ms": { "type": "number", "description": "タイムアウト時間（ミリ秒）", "default": 5000 },
            },
            "tags": ["network", "api"],
            "generated_from": "外部API統合タスク",
        }),
        other => panic!("no example is called {other}"),
    })
}

/// Returns a host with the three examples.
fn host() -> ToolboxFixture {
    let host = ToolboxFixture::new();
    for name in ["string_reverse", "calculate_average", "fetch_json"] {
        example(&host, name).unwrap();
    }
    host
}

#[test]
fn string_reverse_is_created_and_run_as_printed() {
    let host = ToolboxFixture::new();
    let created = example(&host, "string_reverse").unwrap();
    let id = created.id.short();
    assert_eq!((id.len(), &id[..3]), ("dt_abc123def456".len(), "dt_"));
    let text = created.to_text(Lang::Ja);
    assert!(text.starts_with(&format!("ツール「string_reverse」を作成しました。\n\nツールID: {id}\n")), "{text}");
    let usage = format!("\n\n使用方法:\nrun_dynamic_tool({{ tool_id: \"{id}\", parameters: {{ /* ... */ }} }})");
    assert!(text.ends_with(&usage), "{text}");

    for by in [json!({ "tool_name": "string_reverse" }), json!({ "tool_id": id }), json!({ "tool_id": created.id })] {
        let mut fields = by;
        fields["parameters"] = json!({ "text": "Hello World" });
        let ran = host.run_with(&fields, &RunOptions::default()).unwrap();
        let text = ran.to_text(Lang::Ja);
        assert!(text.starts_with("ツール「string_reverse」の実行が完了しました。\n\n実行時間: "), "{text}");
        assert!(text.ends_with("ms\n\n結果:\ndlroW olleH"), "{text}");
    }
}

#[test]
fn calculate_average_takes_what_it_declares() {
    let host = ToolboxFixture::new();
    let created = example(&host, "calculate_average").unwrap();
    let parameters =
        "パラメータ:\n- numbers (array): 平均を計算する数値の配列\n- precision (number): 小数点以下の桁数\n";
    assert!(created.to_text(Lang::Ja).contains(parameters), "{}", created.to_text(Lang::Ja));
    assert_eq!(returned_value(&host.run("calculate_average", &json!({ "numbers": [1, 2, 6] })).unwrap()), 3);
    let none = host.run("calculate_average", &json!({ "numbers": [] })).unwrap();
    assert_eq!(returned_value(&none), json!({ "error": "有効な数値配列を指定してください" }));

    let error = host.run("calculate_average", &json!({})).unwrap_err();
    assert_eq!(error.to_text(Lang::Ja), "エラー: 必須パラメータが不足しています: `numbers`");
    let error = host.run("calculate_average", &json!({ "numbers": [1], "precision": 11 })).unwrap_err();
    assert_eq!(error.to_text(Lang::Ja), "エラー: パラメータが不正です: /precision: 11 です。最大値は 10 です");
}

// Row 66 of the feature table.
#[test]
fn fetch_json_names_the_grant_that_it_lacks() {
    let host = ToolboxFixture::new();
    let created = example(&host, "fetch_json").unwrap();
    let why = created.needs_approval.unwrap().to_string();
    assert!(why.contains("`net`") && why.contains("`timers`"), "{why}");
    let parameters = json!({ "url": "https://api.example.com/data", "timeout_ms": 10000 });
    let fields = json!({ "tool_name": "fetch_json", "parameters": parameters, "timeout_ms": 15000 });

    let (code, message) = refusal(host.run_with(&fields, &RunOptions::default()));
    assert_eq!(code, "permission-denied");
    assert!(message.contains("is not approved") && message.contains("`net`"), "{message}");

    // The approval mode `auto` grants nothing.
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"auto\"");
    example(&host, "fetch_json").unwrap();
    let ran = host.run_with(&fields, &RunOptions::default()).unwrap();
    let failed = ran.value().unwrap_err();
    assert_eq!(failed.code(), "tool-failed");
    assert!(failed.to_string().contains("it needs the grant `timers`, which this call does not have"), "{failed}");
    assert!(ran.to_text(Lang::Ja).starts_with("ツール「fetch_json」の実行に失敗しました。\n\n実行時間: "));
}

#[test]
fn fetch_json_with_timers_alone_answers_with_the_grant_that_it_lacks() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"auto\"\n[grants.tags.network]\ntimers = true");
    example(&host, "fetch_json").unwrap();
    let ran = host.run("fetch_json", &json!({ "url": "https://api.example.com/data" })).unwrap();
    let answer = returned_value(&ran);
    assert!(answer["error"].as_str().unwrap().contains("it needs the grant `net`"), "{answer}");
}

#[test]
fn tools_are_found_by_tag_name_and_score_as_the_documents_ask() {
    let host = host();
    let listed = |fields: Value| {
        let mut names = host.names(&fields);
        names.sort();
        names.join(" ")
    };
    assert_eq!(listed(json!({})), "calculate_average fetch_json string_reverse");
    assert_eq!(listed(json!({ "tags": ["math", "json"] })), "calculate_average");
    assert_eq!(listed(json!({ "tags": ["api", "math"] })), "calculate_average fetch_json");
    assert_eq!(listed(json!({ "name": "JSON" })), "fetch_json");
    assert_eq!(listed(json!({ "min_safety_score": 0.8, "limit": 10 })), "calculate_average string_reverse");
    assert_eq!(listed(json!({ "min_safety_score": 0.0 })), "calculate_average fetch_json string_reverse");
}

#[test]
fn a_tool_is_deleted_once_it_is_confirmed() {
    let host = host();
    let id = host.list(&json!({ "name": "string_reverse" })).tools[0].id.short();
    for unconfirmed in [json!({ "tool_name": "string_reverse" }), json!({ "tool_id": id, "confirm": false })] {
        let error = host.delete(&unconfirmed).unwrap_err();
        assert_eq!(error.to_text(Lang::Ja), "エラー: 削除を確認するには confirm: true を指定してください");
        assert_eq!(host.names(&json!({ "name": "string" })), ["string_reverse"]);
    }
    let deleted = host.delete(&json!({ "tool_id": id, "confirm": true })).unwrap();
    assert_eq!(deleted_text(&deleted, Lang::Ja), format!("ツール「string_reverse」({id})を削除しました。"));
    assert_eq!(refusal(host.run("string_reverse", &json!({}))).0, "tool-not-found");
}

#[test]
fn repo_stats_is_created_as_a_factory() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"auto\"");
    let code = read("fixtures/contract/repo_stats.ts");
    let fields = json!({ "name": "repo_stats", "description": "Counts tracked TypeScript files", "code": code });
    let created = host.create(&fields).unwrap();
    let takes: Vec<_> = created.parameters.iter().map(|one| (&*one.name, &*one.kind, one.required)).collect();
    assert_eq!(takes, [("glob", "string", false)]);
    assert_eq!(created.parameters[0].default, Some(json!("**/*.ts")));

    // The tool reports progress, and then fails because it needs a process.
    let updates = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = std::sync::Arc::clone(&updates);
    let partial = std::sync::Arc::new(move |update: &str| sink.lock().unwrap().push(update.to_owned()));
    let options = RunOptions { partial: Some(partial), limits: LimitOverrides::default(), ..RunOptions::default() };
    let ran = host.run_with(&json!({ "tool_name": "repo_stats", "parameters": {} }), &options).unwrap();
    let failed = ran.value().unwrap_err();
    assert_eq!(failed.code(), "tool-failed");
    assert!(failed.to_string().contains("exec"), "{failed}");
    let update = updates.lock().unwrap().join(" ");
    assert!(update.contains("Scanning files..."), "{update}");
}
