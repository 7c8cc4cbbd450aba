//! Each row of the error table occurs, in all languages and with the exact wording.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::policy::LimitOverrides;
use toolcell::store::{NewTool, OnConflict, Scores};
use toolcell::{
    CancelToken, CreateError, DeleteError, HookVerdict, Lang, RunError, RunOptions, RunResult, ToolMetadata,
};
use toolcell_error::ErrorCode;

use super::LANGUAGES;
use crate::fixtures::sandbox::read;
use crate::fixtures::store::{overwrite, sample_tool};
use crate::operations::{AUTO, ToolboxFixture, now};

/// A row of the table.
struct Row {
    code: String,
    ja: String,
    en: String,
    zh: String,
}

impl Row {
    fn words(&self, lang: Lang) -> &str {
        match lang {
            Lang::Ja => &self.ja,
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}

fn rows() -> Vec<Row> {
    let table = read("fixtures/contract/errors.md");
    let rows = table.lines().skip(2).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, ja, en, zh] = cells.try_into().unwrap_or_else(|_| panic!("{line}"));
        let [ja, en, zh] = [ja, en, zh].map(str::to_owned);
        Row { code: code.trim_matches('`').to_owned(), ja, en, zh }
    });
    rows.collect()
}

/// An error of any operation.
struct Failure {
    code: ErrorCode,
    text: [String; LANGUAGES.len()],
    hint: String,
}

impl From<CreateError> for Failure {
    fn from(error: CreateError) -> Self {
        let text = LANGUAGES.map(|lang| error.to_text(lang));
        Self { code: error.code(), text, hint: error.hint().to_string() }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let text = LANGUAGES.map(|lang| error.to_text(lang));
        Self { code: error.code(), text, hint: error.hint().to_string() }
    }
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Self {
        let text = LANGUAGES.map(|lang| error.to_text(lang));
        Self { code: error.code(), text, hint: error.hint().to_owned() }
    }
}

impl From<RunResult> for Failure {
    /// Takes the error line from the text of the result.
    fn from(ran: RunResult) -> Self {
        let text = LANGUAGES.map(|lang| ran.to_text(lang).split("ms\n").nth(1).unwrap().to_owned());
        Self { code: ran.value().unwrap_err().code(), text, hint: "there is none".to_owned() }
    }
}

/// Creates a tool under this policy, and returns the error.
fn create(name: &str, code: &str, policy: &str) -> Failure {
    let host = ToolboxFixture::with_policy(policy);
    host.tool("average", "const execute = () => 1");
    host.create(&json!({ "name": name, "description": "a tool", "code": code })).unwrap_err().into()
}

/// Runs a tool with this code and these limits, and returns the error.
fn stop(code: &str, limits: LimitOverrides) -> Failure {
    run_with(code, &RunOptions { limits, ..RunOptions::default() }).into()
}

fn run_with(code: &str, options: &RunOptions) -> RunResult {
    let host = ToolboxFixture::with_policy(AUTO);
    host.tool("tool", code);
    host.run_with(&json!({ "tool_name": "tool", "parameters": {} }), options).unwrap()
}

/// Calls a tool that takes a number, and returns the error.
fn call(parameters: &Value) -> Failure {
    let host = ToolboxFixture::new();
    host.create_echo(&json!({ "n": { "type": "number", "description": "a number", "required": true } }));
    host.run("echo", parameters).unwrap_err().into()
}

/// Runs a tool with a critical finding that was put into the store directly.
fn critical_in_store() -> Failure {
    let host = ToolboxFixture::new();
    let made = sample_tool("sly", "const execute = ({ code }) => eval(code)");
    let (notes, scores) = (ToolMetadata::default(), Scores { safety: 1.0, quality: 1.0 });
    let registration = NewTool { spec: &made.spec, metadata: &notes, scores, at: now() };
    host.store().catalog().insert(&registration, OnConflict::Refuse).unwrap();
    host.run("sly", &json!({})).unwrap_err().into()
}

/// Runs a tool whose source was modified in the store.
fn damaged() -> Failure {
    let mut host = ToolboxFixture::new();
    let code = "const execute = () => 1";
    host.tool("tool", code);
    let hash = blake3::hash(code.as_bytes()).to_hex();
    flip(&host.path().join("objects").join(&hash[..2]).join(&hash[2..]));
    host.reopen();
    host.run("tool", &json!({})).unwrap_err().into()
}

/// Flips one bit of a file.
#[expect(clippy::disallowed_methods, reason = "the file is the test's own")]
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[3] ^= 1;
    overwrite(path, &bytes);
}

/// Produces the error with this code.
fn failure(code: &str) -> Failure {
    const ONE: &str = "const execute = () => 1";
    let nothing = LimitOverrides::default();
    match code {
        "name-required" => create(" ", ONE, ""),
        "name-invalid" => create("平均", ONE, ""),
        "name-taken" => create("Average", ONE, ""),
        "tool-limit-reached" => create("other", ONE, "[store]\ntools = 1"),
        "critical-risk" => create("other", "const execute = ({ code }) => eval(code)", ""),
        "syntax-error" => create("other", "const execute = () => {", ""),
        "tool-not-found" => ToolboxFixture::new().run("none", &json!({})).unwrap_err().into(),
        "parameters-missing" => call(&json!({})),
        "parameters-invalid" => call(&json!({ "n": "many" })),
        "safety-check-failed" => critical_in_store(),
        "permission-denied" => {
            let host = ToolboxFixture::with_hook(|_| HookVerdict::deny("not on a Sunday"));
            host.tool("tool", ONE);
            host.run("tool", &json!({})).unwrap_err().into()
        }
        "integrity" => damaged(),
        "timeout" => stop(
            "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }",
            LimitOverrides { timeout_ms: Some(30), ..nothing },
        ),
        "out-of-fuel" => stop(
            "const execute = () => { let n = 1; while (n >= 0) n = (n + 1) % 7 }",
            LimitOverrides { fuel: Some(1_000_000), ..nothing },
        ),
        "out-of-memory" => stop("const execute = () => new Uint8Array(1e9).length", nothing),
        "output-too-large" => {
            stop("const execute = () => 'x'.repeat(100)", LimitOverrides { output_bytes: Some(9), ..nothing })
        }
        "stalled" => stop("const execute = () => new Promise(() => {})", nothing),
        "tool-failed" => stop("const execute = () => { throw new Error('no') }", nothing),
        "cancelled" => {
            let cancel = CancelToken::new();
            cancel.cancel();
            run_with(ONE, &RunOptions { cancel: Some(cancel), ..RunOptions::default() }).into()
        }
        "confirm-required" => {
            let host = ToolboxFixture::new();
            host.tool("tool", ONE);
            host.delete(&json!({ "tool_name": "tool" })).unwrap_err().into()
        }
        other => panic!("no test makes `{other}` happen"),
    }
}

// Rows 4 and 90 of the feature table.
#[test]
fn every_row_of_the_error_table_happens_and_begins_with_its_words() {
    for row in rows() {
        let failure = failure(&row.code);
        assert_eq!(failure.code, row.code.as_str());
        assert!(!failure.hint.is_empty(), "{}", row.code);
        for (text, lang) in failure.text.iter().zip(LANGUAGES) {
            let words = row.words(lang).replace("{name}", "average");
            let (error, colon) = match lang {
                Lang::Ja => ("エラー: ", ": "),
                Lang::En => ("error: ", ": "),
                Lang::Zh => ("错误：", "："),
            };
            let Some(rest) = text.strip_prefix(&format!("{error}{words}")) else {
                panic!("{}: {text}", row.code);
            };
            assert!(rest.is_empty() || rest.starts_with(colon), "{}: {text}", row.code);
            assert!(!rest.contains(&words), "{} says it twice: {text}", row.code);
            assert!(!text.contains('\n') && !text.ends_with(['.', ':', ' ', '。', '：']), "{}: {text}", row.code);
        }
    }
}

#[test]
fn the_words_are_those_of_the_table() {
    for row in rows() {
        for lang in LANGUAGES {
            let words = match &*row.code {
                "name-taken" => Some(lang.translate("the tool `{name}` exists already").to_owned()),
                code => ErrorCode::parse(code).unwrap().title(lang).map(str::to_owned),
            };
            assert_eq!(words.as_deref(), Some(row.words(lang)), "{}", row.code);
        }
    }
    assert_eq!(rows().len(), 20);
}

#[test]
fn the_detail_names_what_is_wrong_the_limit_and_the_place() {
    for (code, detail) in [
        ("name-required", "a tool needs a name"),
        ("name-invalid", "`平均` is not a valid tool name: it must start with an ASCII letter"),
        ("tool-limit-reached", "the store has 1 tools, which is the limit"),
        ("tool-not-found", "there is no tool `none`"),
        ("parameters-missing", "`n`"),
        ("parameters-invalid", "/n is \"many\" (string), expected number"),
        ("permission-denied", "not on a Sunday"),
        ("timeout", "the tool ran longer than 30 ms"),
        ("out-of-fuel", "the tool burned all of its 1000000 units of fuel"),
        ("out-of-memory", "the tool needs more than 67108864 bytes of memory"),
        ("output-too-large", "the result is longer than 9 bytes"),
        ("tool-failed", "Error: no"),
    ] {
        let [_, en, _] = failure(code).text;
        assert!(en.ends_with(&format!(": {detail}")), "{code}: {en}");
    }
    for text in failure("syntax-error").text {
        assert!(text.contains("line 1") || text.contains("1:"), "{text}");
    }
    let [ja, ..] = failure("name-taken").text;
    assert!(ja.contains("dt_"), "{ja}");
}

#[test]
fn the_detail_is_in_the_language_of_the_title() {
    for (code, ja, zh) in [
        ("tool-not-found", "「none」というツールはありません", "不存在工具「none」"),
        // What a tool, a hook or the request says is not translated.
        ("permission-denied", "not on a Sunday", "not on a Sunday"),
        ("tool-failed", "Error: no", "Error: no"),
        ("parameters-missing", "`n`", "`n`"),
    ] {
        let [in_ja, _, in_zh] = failure(code).text;
        assert!(in_ja.ends_with(&format!(": {ja}")), "{code}: {in_ja}");
        assert!(in_zh.ends_with(&format!("：{zh}")), "{code}: {in_zh}");
    }
}
