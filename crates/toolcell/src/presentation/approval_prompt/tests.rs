use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcell_policy::Grants;
use toolcell_tool::{Draft, HostPattern, NetGrant, Scheme, SecretGrant, SecretName, ToolName, ToolSpec};

use super::*;
use crate::admission::hook::{ApprovalAnswer, Approver, HookEvent, HookVerdict, Hooks};

/// An approver that records the prompt and refuses.
struct RecordingApprover(Lang, Mutex<String>);

impl Approver for RecordingApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        *self.1.lock().unwrap() = question.lines(self.0).join("\n") + "\n";
        ApprovalAnswer::Refuse { feedback: None }
    }
}

/// Returns the prompt of a hook that asks about a call with these arguments.
fn prompt_text(lang: Lang, args: Value) -> String {
    let mut hooks = Hooks::default();
    hooks.before("guard", |_: &HookEvent| HookVerdict::ask("careful\n  arguments: {}\u{1b}[2J"));
    let call = HookEvent::new("odd\u{7}", None, args, jiff::Timestamp::UNIX_EPOCH, "/srv").with_caller("mcp a\nb");
    let reads = RecordingApprover(lang, Mutex::default());
    let _ = hooks.admit(call.clone(), Some(&reads)).resolve_ask(&call, Some(&reads));
    reads.1.into_inner().unwrap()
}

/// Creates a prompt about a tool with this source that would be granted all hosts, and a secret for
/// all hosts.
fn tool_prompt(source: &str, args: Value) -> ApprovalPrompt {
    let draft = Draft::from_bytes("t.js", source.as_bytes()).unwrap();
    let spec =
        ToolSpec::new(ToolName::parse("sender").unwrap(), &draft, Value::Null, json!(["net", "secrets"])).unwrap();
    let any = || HostPattern::parse("any").unwrap();
    let secret = SecretGrant::new(SecretName::parse("TOK").unwrap(), vec![any()]);
    let grants = Grants { net: vec![NetGrant::new(any(), Scheme::Https)], secrets: vec![secret], ..Grants::default() };
    let tool = crate::vet::vet(spec).unwrap();
    let call = HookEvent::new("sender", Some(tool.spec().id()), args, jiff::Timestamp::UNIX_EPOCH, "/srv");
    ApprovalPrompt::for_tool(
        &tool,
        &grants,
        call.with_caller("mcp alice"),
        Message::verbatim("it asks for `net`".to_owned()),
    )
}

/// Returns the lines that each prompt about that tool must contain.
fn facts(question: &ApprovalPrompt) -> Vec<String> {
    vec![
        "`sender` needs approval to run: it asks for `net`".to_owned(),
        "  asks for: net, secrets".to_owned(),
        "  is granted: net (GET, HEAD https://any), secrets (TOK in header to any)".to_owned(),
        format!("  id: {}", question.call.tool.unwrap()),
        "  caller: mcp alice".to_owned(),
    ]
}

#[test]
fn nothing_that_a_tool_says_drives_the_terminal_or_forges_a_line() {
    let args = json!({"text": "a\nb\u{9b}31m\u{202e}", "k\n  caller": 1});
    let arguments = "    text: \"a\\nb\\u{9b}31m\\u{202e}\"\n    \"k\\n  caller\": 1\n";
    let why = r"careful arguments: {}\u{1b}[2J";
    let expect = format!(
        "`odd\\u{{7}}` is about to run, and the hook `guard` asks for confirmation: {why}\n  caller: mcp a b\n  \
         arguments:\n{arguments}"
    );
    assert_eq!(prompt_text(Lang::En, args.clone()), expect);
    let asks = "の実行について、フック「guard」が確認を求めています";
    let expect = format!("ツール「odd\\u{{7}}」{asks}: {why}\n  呼び出し元: mcp a b\n  引数:\n{arguments}");
    assert_eq!(prompt_text(Lang::Ja, args.clone()), expect);
    let asks = "，钩子「guard」要求确认";
    let expect = format!("即将运行工具「odd\\u{{7}}」{asks}：{why}\n  调用方：mcp a b\n  参数：\n{arguments}");
    assert_eq!(prompt_text(Lang::Zh, args), expect);
}

#[test]
fn every_argument_is_shown_and_each_long_value_is_cut_by_itself_with_its_size() {
    let told =
        prompt_text(Lang::En, json!({"text": "x".repeat(5_000), "to": "boss@example.com", "attach": ["/etc/passwd"]}));
    let cut = format!("    text: \"{}… (200 of 5002 characters shown)\n", "x".repeat(199));
    assert!(told.contains(&cut), "{told}");
    assert!(told.ends_with("    to: \"boss@example.com\"\n    attach: [\"/etc/passwd\"]\n"), "{told}");
}

#[test]
fn the_keys_of_long_nested_values_are_shown_and_left_out_entries_are_counted() {
    let mail = json!({"text": "y".repeat(300), "to": {"address": "a@b.c"}});
    let many: Vec<u32> = (0..1_000).collect();
    let listed = prompt_text(Lang::En, json!({"mail": mail, "many": many}));
    let expect = format!(
        "    mail\n      text: \"{}… (200 of 302 characters shown)\n      to: {{\"address\":\"a@b.c\"}}\n    many\n      [0]: 0\n",
        "y".repeat(199)
    );
    assert!(listed.contains(&expect), "{listed}");
    assert!(listed.ends_with("      [63]: 63\n      … 64 of 1000 entries shown\n"), "{listed}");
    // However deep the value is, its size is stated.
    let deep = (0..100).fold(json!("z".repeat(500)), |inner, _| json!({ "a": inner }));
    let shown = prompt_text(Lang::En, deep);
    assert!(shown.ends_with("characters shown)\n") && shown.len() < 1_000, "{shown}");
}

#[test]
fn a_question_about_a_tool_begins_with_the_facts_however_long_its_source_is() {
    let harmless = format!("// {}\n", "harmless ".repeat(47));
    let source = harmless.repeat(39) + "const execute = async () => (await fetch('https://evil.example')).status";
    let question = tool_prompt(&source, json!({"n": 1}));
    let form = question.to_form_text(Lang::En, &["client: c".to_owned()], 16 << 10).unwrap();
    assert!(form.len() <= 16 << 10, "{}", form.len());
    let mut expect = facts(&question);
    expect.extend(["  arguments:".to_owned(), "    n: 1".to_owned(), "  client: c".to_owned()]);
    let lines: Vec<&str> = form.lines().filter(|line| !line.starts_with("  finding: ")).collect();
    assert_eq!(lines[..expect.len()], expect);
    assert!(form.contains("… (160 of 426 characters shown)\n"), "{form}");
    let marks = format!(
        "… 40 of 40 lines shown: `toolcell show {} --source` prints them all\n",
        question.call.tool.unwrap().short()
    );
    assert!(form.contains(&marks), "{form}");
    assert!(form.ends_with("\nAllow `sender` to run with these grants from now on?"), "{form}");
    assert_eq!(question.lines(Lang::En)[..5], expect[..5]);
}

#[test]
fn the_findings_of_the_analysis_are_facts_of_the_question() {
    let source = "// harmless\n".repeat(39) + "const execute = () => process.env.TOK";
    let question = tool_prompt(&source, json!({}));
    for (lang, label, end) in [
        (Lang::En, "  finding: high: ", " (environment-access) at 40:23"),
        (Lang::Ja, "  検出事項: 高: ", " (environment-access) 40:23"),
        (Lang::Zh, "  发现项：高：", "（environment-access）40:23"),
    ] {
        let is_finding = |line: &str| line.starts_with(label) && line.ends_with(end);
        for text in [question.to_form_text(lang, &[], 16 << 10).unwrap(), question.lines(lang).join("\n")] {
            // Above the source, which starts after an empty line.
            assert!(text.lines().take_while(|line| !line.is_empty()).any(is_finding), "{text}");
        }
    }
}

#[test]
fn of_a_source_as_much_is_shown_as_there_is_room_for_and_how_much_that_is() {
    let source = "// a line of a source that goes on for a while\n".repeat(811) + "const execute = () => 1";
    let question = tool_prompt(&source, json!({}));
    let says = |form: &str, shown: u32| form.contains(&format!("… {shown} of 812 lines shown: "));
    let whole = question.to_form_text(Lang::En, &[], 16 << 10).unwrap();
    assert!(says(&whole, 40), "{whole}");
    let bare = question.facts(Lang::En).join("\n").len() + 1 + question.question(Lang::En).len();
    for room in [0, 60] {
        assert!(
            question.to_form_text(Lang::En, &[], bare + room).is_err(),
            "that it is cut could not be said in {room} bytes"
        );
    }
    for room in [100, 250, 1_000] {
        let form = question.to_form_text(Lang::En, &[], bare + room).unwrap();
        let lines: Vec<&str> = form.lines().filter(|line| line.contains(" | ")).collect();
        assert!(says(&form, u32::try_from(lines.len()).unwrap()), "{room}: {form}");
        // One more line would not fit.
        let left = bare + room - form.len();
        assert!(left < 60 && (room < 250) == lines.is_empty(), "{room}: {form}");
    }
}

#[test]
fn a_question_whose_facts_do_not_fit_is_not_asked() {
    let args: serde_json::Map<String, Value> = (0..2_000).map(|at| (format!("argument_{at}"), json!(at))).collect();
    let question = tool_prompt("const execute = () => 1", Value::Object(args));
    let error = question.to_form_text(Lang::En, &[], 16 << 10).unwrap_err();
    assert!(error.bytes > 16 << 10 && error.limit == 16 << 10, "{error}");
    // A terminal has room for all of them.
    assert!(question.lines(Lang::En).contains(&"    argument_1999: 1999".to_owned()));
}

#[test]
fn control_characters_are_made_visible() {
    assert_eq!(escape_control_chars("\u{1b}[31mred\u{7}\tx\u{9b}"), "\\u{1b}[31mred\\u{7}\tx\\u{9b}");
    assert_eq!(escape_control_chars("日本語\u{202e}x\u{61c}"), "日本語\\u{202e}x\\u{61c}");
}

#[test]
fn each_fact_is_in_the_language_of_the_person_who_decides() {
    let mut question = tool_prompt("const execute = () => 1", json!({}));
    let facts = question.facts(Lang::Ja);
    assert!(facts.contains(&"  要求: net、secrets".to_owned()), "{facts:?}");
    assert!(facts.ends_with(&["  引数:".to_owned(), "    なし".to_owned()]), "{facts:?}");
    let approval = Arc::make_mut(question.tool_approval.as_mut().unwrap());
    (approval.requested, approval.grants) = Default::default();
    for (lang, asks, granted) in [
        (Lang::En, "  asks for: nothing", "  is granted: nothing"),
        (Lang::Ja, "  要求: なし", "  許可: なし"),
        (Lang::Zh, "  申请：无", "  授予：无"),
    ] {
        let facts = question.facts(lang);
        assert!(facts.contains(&asks.to_owned()) && facts.contains(&granted.to_owned()), "{facts:?}");
    }
}

#[test]
fn what_cannot_be_seen_is_made_visible_to_whoever_decides() {
    let hidden = "pay\u{200b}ee \u{feff}\u{2060}a\u{ad}b\u{e0041}c\u{3164}d\u{2028}e\u{fe0f}";
    let expect = "pay\\u{200b}ee \\u{feff}\\u{2060}a\\u{ad}b\\u{e0041}c\\u{3164}d\\u{2028}e\\u{fe0f}";
    assert_eq!(escape_for_display(hidden), expect);
    let question = tool_prompt(&format!("const execute = () => 1 // {hidden}"), json!({ "to": hidden }));
    let told = question.lines(Lang::En).join("\n");
    assert_eq!(told.matches(expect).count(), 2, "{told}");
}

#[test]
fn many_blanks_in_a_row_are_shown_as_their_count_except_indentation() {
    for blank in [' ', '\u{a0}', '\u{2800}', '\u{3000}', '\u{2003}', '\u{1d159}'] {
        let padded = format!("a{}is granted: nothing", blank.to_string().repeat(70));
        assert_eq!(escape_for_display(&padded), "a ·×70 is granted: nothing");
        let question =
            tool_prompt(&format!("const execute = () => 1 // {padded}"), json!({ "k": padded, padded.clone(): 1 }));
        let told = question.lines(Lang::En).join("\n");
        assert_eq!(told.matches("a ·×70 is granted: nothing").count(), 3, "{told}");
    }
    assert_eq!(single_line_for_display(&format!("a{}b", "\u{2800}".repeat(8))), "a ·×8 b");
    assert_eq!(escape_for_display("\t\tdeep\n            deeper\tb        c"), "\t\tdeep\n            deeper\tb ·×8 c");
    assert_eq!(escape_for_display(&format!("{}x\t\ty", " ".repeat(41))), " ·×41 x ·×2 y");
    assert_eq!(escape_for_display(&"\u{2800}".repeat(9)), " ·×9 ");
    assert_eq!(escape_for_display("a       b  c"), "a       b  c");
}

#[test]
fn a_summary_is_the_beginning_of_the_facts() {
    let question = tool_prompt("const execute = () => fetch('https://evil.example')", json!({ "n": 1 }));
    assert_eq!(question.summary(Lang::En), facts(&question));
    assert_eq!(question.facts(Lang::En)[..5], question.summary(Lang::En));
}
