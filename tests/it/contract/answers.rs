//! Each response equals its template, filled in from the typed value that it renders.

use serde_json::json;
use toolcell::{CreateResult, Json, Lang, RunResult, deleted_text};

use super::{LANGUAGES, Template, templates};
use crate::fixtures::sandbox::read;
use crate::operations::{ToolboxFixture, request, returned_value};

/// Creates the averaging tool of the documents.
fn average(host: &ToolboxFixture) -> CreateResult {
    host.create(&json!({
        "name": "calculate_average",
        "description": "数値の配列から平均値を計算",
        "code": read("fixtures/tools/calculate_average.js"),
        "parameters": {
            "numbers": { "type": "array", "description": "平均を計算する数値の配列", "required": true },
            "precision": { "type": "number", "description": "小数点以下の桁数", "default": 2 },
        },
        "tags": ["math", "statistics"],
    }))
    .unwrap()
}

/// Returns the safety and quality scores with two decimals.
fn scores(created: &CreateResult) -> [String; 2] {
    [created.scores.safety, created.scores.quality].map(|score| format!("{score:.2}"))
}

#[test]
fn all_languages_have_the_same_answers_of_the_same_structure() {
    let structure = |lang| {
        let structure = |(name, template): (String, Template)| {
            (name, template.placeholders(), template.0.lines().map(str::is_empty).collect::<Vec<_>>())
        };
        templates(lang).into_iter().map(structure).collect::<Vec<_>>()
    };
    for lang in LANGUAGES {
        assert_eq!(structure(lang), structure(Lang::Ja));
    }
    assert_eq!(structure(Lang::Ja).len(), 7);
}

#[test]
fn a_created_tool_is_told_as_the_contract_says() {
    let created = average(&ToolboxFixture::new());
    let [safety, quality] = scores(&created);
    let short = created.id.short();
    assert_eq!((safety.len(), quality.len()), (4, 4));
    for lang in LANGUAGES {
        let expected = Template::load("create_tool", lang).fill(&[
            ("name", "calculate_average"),
            ("tool_id", &short),
            ("score", &safety),
            ("score", &quality),
            ("verified|unverified", "unverified"),
            ("description", "数値の配列から平均値を計算"),
            ("param1", "numbers"),
            ("type", "array"),
            ("description", "平均を計算する数値の配列"),
            ("param2", "precision"),
            ("type", "number"),
            ("description", "小数点以下の桁数"),
            ("tool_id", &short),
        ]);
        assert_eq!(created.to_text(lang), expected);
    }
}

#[test]
fn a_tool_that_was_verified_is_told_so() {
    let host = ToolboxFixture::new();
    let passed = CreateResult { status: toolcell::Status::Passed, ..host.tool("one", "const execute = () => 1") };
    assert!(passed.to_text(Lang::Ja).contains("検証状態: verified\n"));
    for status in toolcell::Status::ALL.into_iter().filter(|status| *status != toolcell::Status::Passed) {
        let other = CreateResult { status, ..passed.clone() };
        assert!(other.to_text(Lang::Ja).contains("検証状態: unverified\n"), "{status}");
    }
}

#[test]
fn a_tool_without_parameters_is_told_without_their_block() {
    let host = ToolboxFixture::new();
    let created = host.tool("one", "const execute = () => 1");
    let [safety, quality] = scores(&created);
    let id = created.id.short();
    for lang in LANGUAGES {
        let expected = Template::load("create_tool", lang).without_block_of("{param1}").fill(&[
            ("name", "one"),
            ("tool_id", &id),
            ("score", &safety),
            ("score", &quality),
            ("verified|unverified", "unverified"),
            ("description", "a tool"),
            ("tool_id", &id),
        ]);
        assert_eq!(created.to_text(lang), expected);
    }
}

#[test]
fn a_tool_that_is_not_created_is_told_with_the_message() {
    let error = ToolboxFixture::new().create(&json!({ "name": "", "description": "a tool", "code": "" })).unwrap_err();
    for lang in LANGUAGES {
        let expected = Template::load("create_tool fails", lang).fill(&[("message", &error.to_message(lang))]);
        assert_eq!(error.to_text(lang), expected);
    }
}

/// Checks the text of a run with this result, in all languages.
#[track_caller]
fn check_result(code: &str, result: &str) {
    let host = ToolboxFixture::new();
    host.tool("tool", code);
    let ran = host.run("tool", &json!({})).unwrap();
    for lang in LANGUAGES {
        let template = Template::load("run_dynamic_tool", lang);
        let expected = template.fill(&[("name", "tool"), ("ms", &milliseconds(&ran)), ("result", result)]);
        assert_eq!(ran.to_text(lang), expected, "{code}");
    }
}

fn milliseconds(ran: &RunResult) -> String {
    ran.report.usage.duration.as_millis().to_string()
}

#[test]
fn a_result_is_told_as_it_is_or_as_pretty_json() {
    check_result("const execute = () => 'dlroW\\nolleH'", "dlroW\nolleH");
    check_result("const execute = () => '\\na\\n\\n'", "\na\n\n");
    check_result("const execute = () => 3.5", "3.5");
    check_result("const execute = () => null", "null");
    check_result("const execute = () => undefined", "");
    check_result("const execute = () => ''", "");
    check_result(
        "const execute = () => ({ b: [1, '平均'], a: {} })",
        "{\n  \"b\": [\n    1,\n    \"平均\"\n  ],\n  \"a\": {}\n}",
    );
}

#[test]
fn a_tool_that_fails_is_told_with_its_message() {
    let host = ToolboxFixture::new();
    host.tool("tool", "const execute = () => { throw new TypeError('no numbers') }");
    let ran = host.run("tool", &json!({})).unwrap();
    let failed = ran.value().unwrap_err();
    let words = ["ツール実行に失敗しました: ", "the tool failed: ", "工具执行失败："];
    for (lang, words) in LANGUAGES.into_iter().zip(words) {
        let message = failed.to_message(lang);
        assert_eq!(message, format!("{words}TypeError: no numbers"));
        let template = Template::load("run_dynamic_tool fails", lang);
        let expected = template.fill(&[("name", "tool"), ("ms", &milliseconds(&ran)), ("message", &message)]);
        assert_eq!(ran.to_text(lang), expected);
    }
}

#[test]
fn tools_are_listed_as_the_contract_says() {
    let host = ToolboxFixture::new();
    let id = average(&host).id.short();
    let before = host.list(&json!({}));
    for _ in 0..3 {
        assert_eq!(returned_value(&host.run("calculate_average", &json!({ "numbers": [1, 2] })).unwrap()), 1.5);
    }
    let listed = host.list(&json!({}));
    let confidence = |listed: &toolcell::ToolList| format!("{:.2}", listed.tools[0].confidence);
    for (lang, never) in LANGUAGES.into_iter().zip(["未使用", "never", "从未"]) {
        for (listed, runs, last) in [(&before, "0", never), (&listed, "3", "2026-02-18T09:00:00Z")] {
            let expected = Template::load("list_dynamic_tools", lang).fill(&[
                ("count", "1"),
                ("tool_name", "calculate_average"),
                ("tool_id", &id),
                ("description", "数値の配列から平均値を計算"),
                ("confidence_score", &confidence(listed)),
                ("usage_count", runs),
                ("last_used", last),
                ("verification_status", "unverified"),
                ("tag1", "math"),
                ("tag2", "statistics"),
            ]);
            assert_eq!(listed.to_text(lang), expected);
        }
    }
}

#[test]
fn an_empty_list_is_an_answer() {
    let listed = ToolboxFixture::new().list(&json!({ "name": "none" }));
    assert_eq!(listed.to_text(Lang::Ja), "# 登録済み動的ツール (0件)");
    assert_eq!(listed.to_text(Lang::En), "# Registered dynamic tools (0)");
    assert_eq!(listed.to_text(Lang::Zh), "# 已注册的动态工具（0 个）");
}

#[test]
fn each_tool_of_a_list_has_a_block_and_more_are_told() {
    let host = ToolboxFixture::new();
    for name in ["one", "two", "three"] {
        host.tool(name, "const execute = () => 1");
    }
    let listed = host.list(&json!({ "limit": 2, "sort": "name" }));
    let text = listed.to_text(Lang::Ja);
    assert_eq!(text.lines().next(), Some("# 登録済み動的ツール (2件)"));
    assert_eq!(text.matches("\n\n## ").count(), 2);
    let cursor = listed.next_cursor.as_ref().unwrap().to_string();
    assert!(text.ends_with(&format!("\n\n他に1件あります。続き: cursor: \"{cursor}\"")), "{text}");
    let text = listed.to_text(Lang::Zh);
    assert!(text.ends_with(&format!("\n\n还有 1 个工具。继续查看：cursor: \"{cursor}\"")), "{text}");
    let rest = host.list(&json!({ "limit": 2, "sort": "name", "cursor": cursor }));
    assert_eq!((rest.tools.len(), rest.remaining, rest.next_cursor), (1, 0, None));
}

#[test]
fn a_deletion_is_told_as_the_contract_says() {
    let host = ToolboxFixture::new();
    let id = host.tool("old_tool", "const execute = () => 1").id.short();
    let unconfirmed = host.delete(&json!({ "tool_name": "old_tool" })).unwrap_err();
    let deleted = host.delete(&json!({ "tool_name": "old_tool", "confirm": true })).unwrap();
    for lang in LANGUAGES {
        assert_eq!(unconfirmed.to_text(lang), Template::load("delete_dynamic_tool fails", lang).fill(&[]));
        let expected = Template::load("delete_dynamic_tool", lang).fill(&[("name", "old_tool"), ("tool_id", &id)]);
        assert_eq!(deleted_text(&deleted, lang), expected);
    }
}

#[test]
fn a_text_says_what_the_value_says() {
    let host = ToolboxFixture::new();
    host.tool("tool", "const execute = ({ n }) => n");
    let ran =
        host.toolbox().run(&request(&json!({ "tool_name": "tool", "parameters": { "n": [1] } })), &<_>::default());
    let ran = ran.unwrap();
    let shown = ran.to_text(Lang::En).split_once("Result:\n").unwrap().1.to_owned();
    assert_eq!(Json::parse(&*shown).unwrap().to_text(), ran.value().unwrap().unwrap().to_text());
}
