//! What a person is told who is asked about a tool, or a call of it.
//!
//! Invariant: nothing that a tool or a model wrote drives what it is shown on, or forges a line of ours.

use toolcell_analysis::{Capabilities, Capability, Need};
use toolcell_tool::Lang;

use crate::gate::{Approving, Question};

/// The most lines of a source that are shown with a question.
const SOURCE_LINES: usize = 40;
/// The most characters of arguments that are shown.
const ARGUMENTS: usize = 2_000;

impl Question {
    /// What the person should know, a line each: what is longest first, so that the rest stands above the question.
    #[must_use]
    pub fn told(&self, lang: Lang) -> Vec<String> {
        let mut told = Told { lines: Vec::new(), lang };
        if let Some(approving) = &self.approving {
            told.source(&approving.source);
        }
        told.headline(self);
        let arguments: String = self.call.args.to_string().chars().take(ARGUMENTS).collect();
        told.fact("arguments", "引数", "参数", &line(&arguments));
        if let Some(approving) = &self.approving {
            told.approving(approving);
        }
        told.lines
    }

    /// What the person says yes or no to.
    #[must_use]
    pub const fn asks(&self, lang: Lang) -> &'static str {
        match (self.approving.is_some(), lang) {
            (true, Lang::En) => "May this tool run, now and from now on?",
            (true, Lang::Ja) => "このツールの実行を今後も許可しますか?",
            (true, Lang::Zh) => "是否允许此工具现在及以后运行？",
            (false, Lang::En) => "May this call run?",
            (false, Lang::Ja) => "この呼び出しを実行しますか?",
            (false, Lang::Zh) => "是否执行此次调用？",
        }
    }
}

impl Approving {
    /// What somebody should know who approves a tool, a line each: what it asks for, what was found, its source.
    #[must_use]
    pub fn told(&self, lang: Lang) -> Vec<String> {
        let mut told = Told { lines: Vec::new(), lang };
        told.approving(self);
        told.source(&self.source);
        told.lines
    }
}

struct Told {
    lines: Vec<String>,
    lang: Lang,
}

impl Told {
    fn headline(&mut self, question: &Question) {
        let id = question.call.tool.map_or_else(String::new, |id| match self.lang {
            Lang::En | Lang::Ja => format!(" ({})", id.short()),
            Lang::Zh => format!("（{}）", id.short()),
        });
        let (name, why, gate) = (line(&question.call.tool_name), line(&question.text), line(&question.gate));
        self.lines.push(match (&question.approving, self.lang) {
            (Some(_), Lang::En) => format!("`{name}`{id} is to run, and somebody has to approve it: {why}"),
            (Some(_), Lang::Ja) => format!("ツール「{name}」{id}の実行には承認が必要です: {why}"),
            (Some(_), Lang::Zh) => format!("执行工具「{name}」{id}需要批准：{why}"),
            (None, Lang::En) => format!("`{name}`{id} is to run, and the gate `{gate}` asks: {why}"),
            (None, Lang::Ja) => {
                format!("ツール「{name}」{id}の実行について、フック「{gate}」が確認を求めています: {why}")
            }
            (None, Lang::Zh) => format!("即将执行工具「{name}」{id}，钩子「{gate}」要求确认：{why}"),
        });
    }

    fn fact(&mut self, en: &str, ja: &str, zh: &str, what: &str) {
        let label = match self.lang {
            Lang::En => en,
            Lang::Ja => ja,
            Lang::Zh => zh,
        };
        self.lines.push(format!("  {label}{}{what}", self.lang.colon()));
    }

    fn approving(&mut self, approving: &Approving) {
        self.fact("asks for", "要求", "申请", &capabilities(&approving.asked));
        self.fact("is granted", "許可", "授予", &approving.grants.to_string());
        for finding in &approving.findings {
            let (place, severity, rule) = (finding.location, finding.severity.name(), finding.rule.name());
            let what = format!("{severity}: {} ({rule}) at {}:{}", line(&finding.message), place.line, place.column);
            self.fact("finding", "検出", "发现", &what);
        }
    }

    fn source(&mut self, source: &str) {
        let mut lines = source.lines();
        for (at, text) in lines.by_ref().take(SOURCE_LINES).enumerate() {
            self.lines.push(format!("{:>3} | {}", at + 1, visible(text)));
        }
        let more = lines.count();
        if more > 0 {
            self.lines.push(format!("… {more} more lines: `toolcell show` prints them all"));
        }
        self.lines.push(String::new());
    }
}

/// Capabilities by name, with what is named of each.
#[must_use]
pub fn capabilities(capabilities: &Capabilities) -> String {
    let one = |(capability, need): (Capability, &Need)| {
        let mut named: Vec<String> = need.named.iter().map(|name| line(name)).collect();
        if need.unknown {
            named.push("unknown".to_owned());
        }
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        format!("{}{named}", capability.name())
    };
    let all: Vec<String> = capabilities.iter().map(one).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

/// Text in one line, with its control characters made visible.
#[must_use]
pub fn line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Text with its control characters made visible, so that a tool cannot drive a terminal or forge a line.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\n' | '\t' => char.to_string(),
            _ if char.is_control() || is_bidi_control(char) => char.escape_default().to_string(),
            _ => char.to_string(),
        })
        .collect()
}

/// Characters that change the order in which a terminal shows others (Unicode TR 9).
fn is_bidi_control(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::gate::{Answer, GateCall, Gates, Person, Verdict};

    /// Somebody who keeps what they are told, and says no.
    struct Reads(Lang, Mutex<String>);

    impl Person for Reads {
        fn ask(&self, question: &Question) -> Answer {
            *self.1.lock().unwrap() = question.told(self.0).join("\n") + "\n";
            Answer::No { feedback: None }
        }
    }

    #[track_caller]
    fn check(lang: Lang, expect: &str) {
        let mut gates = Gates::default();
        gates.before("guard", |_: &GateCall| Verdict::ask("careful\n  arguments: {}\u{1b}[2J"));
        let args = json!({"text": "a\nb\u{9b}31m\u{202e}"});
        let call = GateCall::new("odd\u{7}", None, args, jiff::Timestamp::UNIX_EPOCH, "/srv");
        let reads = Reads(lang, Mutex::default());
        let _ = gates.admit(call.clone(), Some(&reads)).settle(&call, Some(&reads));
        assert_eq!(*reads.1.lock().unwrap(), expect);
    }

    #[test]
    fn nothing_that_a_tool_says_drives_the_terminal_or_forges_a_line() {
        let arguments = r#"{"text":"a\nb\u{9b}31m\u{202e}"}"#;
        let why = r"careful arguments: {}\u{1b}[2J";
        check(
            Lang::En,
            &format!("`odd\\u{{7}}` is to run, and the gate `guard` asks: {why}\n  arguments: {arguments}\n"),
        );
        let asks = "の実行について、フック「guard」が確認を求めています";
        check(Lang::Ja, &format!("ツール「odd\\u{{7}}」{asks}: {why}\n  引数: {arguments}\n"));
        let asks = "，钩子「guard」要求确认";
        check(Lang::Zh, &format!("即将执行工具「odd\\u{{7}}」{asks}：{why}\n  参数：{arguments}\n"));
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(visible("\u{1b}[31mred\u{7}\tx\u{9b}"), "\\u{1b}[31mred\\u{7}\tx\\u{9b}");
        assert_eq!(visible("日本語\u{202e}x"), "日本語\\u{202e}x");
    }
}
