//! What a person is shown before they decide about a tool, or about one call of it.
//!
//! ```text
//! facts: who asks, which tool, what it is granted, findings, every argument → source, as far as there is room → the question
//! ```
//!
//! Invariant: the facts come first and are never cut, but for long argument values, each by itself; each cut has a mark that says how
//! much is missing. No text of a tool or a model drives the terminal that it is shown on, forges a line of ours, or is invisible.

mod arguments;

use std::fmt::Write as _;

use toolcell_analysis::{Capabilities, Capability, Need};
use toolcell_tool::Lang;

use crate::gate::{Approving, Question};

/// The most lines of a source that are shown with a question.
const MAX_SOURCE_LINES: usize = 40;
/// The most characters of a line of source that are shown.
const MAX_LINE_CHARS: usize = 160;
/// The fewest columns of blanks that are shown as a count.
const MIN_BLANK_RUN: usize = 8;
/// The most columns of blanks at the beginning of a line that are shown as they are.
const MAX_INDENT: usize = 40;
/// The columns that a tab counts for.
const TAB_COLUMNS: usize = 4;

/// The facts of a question do not fit into the form in which it would be asked, so it is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the facts of the question are {bytes} bytes, the limit is {limit}")]
pub struct QuestionTooLong {
    /// The size of the facts and the question.
    pub bytes: usize,
    /// The size of the form.
    pub limit: usize,
}

impl Question {
    /// What the person is shown, line by line: the facts, and then the first lines of the source where a tool is to be approved.
    #[must_use]
    pub fn told(&self, lang: Lang) -> Vec<String> {
        let mut lines = self.facts(lang);
        if let Some(approving) = &self.approving {
            lines.push(String::new());
            lines.extend(approving.source_lines(lang, usize::MAX));
        }
        lines
    }

    /// The facts, line by line. They are shown whole, or the question is not asked.
    #[must_use]
    pub fn facts(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: self.summary(lang), lang };
        if let Some(approving) = &self.approving {
            facts.findings(approving);
        }
        if self.is_of_call() {
            facts.arguments(&self.call.args);
        }
        facts.lines
    }

    /// The first of the facts: the tool, its identifier, the caller, and the grants that are to be approved.
    #[must_use]
    pub fn summary(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: Vec::new(), lang };
        facts.headline(self);
        if let Some(id) = self.call.tool {
            facts.push("id", "ID", "标识符", &id.to_string());
        }
        if let Some(caller) = &self.call.caller {
            facts.push("caller", "呼び出し元", "调用方", &fact(caller));
        }
        if let Some(approving) = &self.approving {
            facts.grants(approving);
        }
        facts.lines
    }

    /// Whether it comes from a call, and not from a look at a tool that no call waits for.
    fn is_of_call(&self) -> bool {
        self.approving.is_none() || self.call.caller.is_some()
    }

    /// The whole text of a form: the facts, as much of the source as there is room for, and the question.
    ///
    /// `besides` are facts that only the asker knows, such as the name of its client; they are shown as one line each.
    ///
    /// # Errors
    /// The facts do not fit into `limit` bytes.
    pub fn in_form(&self, lang: Lang, besides: &[String], limit: usize) -> Result<String, QuestionTooLong> {
        let mut facts = self.facts(lang);
        facts.extend(besides.iter().map(|beside| format!("  {}", fact(beside))));
        let (facts, asks) = (facts.join("\n"), self.asks(lang));
        // That something of the source is left out is a fact as well: there is always room to say so.
        let mark = self.approving.as_ref().map_or(0, |approving| approving.longest_mark(lang).len() + 2);
        let bytes = facts.len() + 1 + asks.len() + mark;
        let Some(room) = limit.checked_sub(bytes) else { return Err(QuestionTooLong { bytes, limit }) };
        let source = self.approving.as_ref().map(|approving| approving.source_lines(lang, room)).unwrap_or_default();
        let source = if source.is_empty() { String::new() } else { format!("\n{}\n", source.join("\n")) };
        Ok(format!("{facts}\n{source}{asks}"))
    }

    /// What the person says yes or no to.
    #[must_use]
    pub fn asks(&self, lang: Lang) -> String {
        let name = fact(&self.call.tool_name);
        match (self.approving.is_some(), lang) {
            (true, Lang::En) => format!("May `{name}` run with these grants, now and from now on?"),
            (true, Lang::Ja) => format!("この権限でのツール「{name}」の実行を今後も許可しますか?"),
            (true, Lang::Zh) => format!("是否允许工具「{name}」以这些权限现在及以后运行？"),
            (false, Lang::En) => format!("May this call of `{name}` run?"),
            (false, Lang::Ja) => format!("ツール「{name}」のこの呼び出しを実行しますか?"),
            (false, Lang::Zh) => format!("是否执行对工具「{name}」的此次调用？"),
        }
    }
}

impl Approving {
    /// What a person should know who approves a tool, line by line: what it asks for, what it is granted, findings, and its source.
    #[must_use]
    pub fn told(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: Vec::new(), lang };
        facts.grants(self);
        facts.findings(self);
        facts.lines.extend(self.source_lines(lang, usize::MAX));
        facts.lines
    }

    /// What says how many lines of the source are shown.
    fn mark(&self, shown: usize, all: usize, lang: Lang) -> String {
        let command = format!("toolcell show {} --source", self.tool.short());
        match lang {
            Lang::En => format!("… {shown} of {all} lines shown: `{command}` prints them all"),
            Lang::Ja => format!("… {all}行のうち{shown}行を表示: 全体は `{command}`"),
            Lang::Zh => format!("… 显示 {all} 行中的 {shown} 行：`{command}` 可查看全部"),
        }
    }

    /// A mark that is as long as any of this source.
    fn longest_mark(&self, lang: Lang) -> String {
        let all = self.source.lines().count();
        self.mark(all, all, lang)
    }

    /// The first lines of the source, in at most `room` bytes, and a mark where something is left out, which does not count.
    fn source_lines(&self, lang: Lang, mut room: usize) -> Vec<String> {
        let all = self.source.lines().count();
        let mut lines = Vec::new();
        let mut is_cut = false;
        for (at, text) in self.source.lines().take(MAX_SOURCE_LINES).enumerate() {
            let (text, cut) = cut_line(text, lang);
            let text = format!("{:>3} | {text}", at + 1);
            let Some(left) = room.checked_sub(text.len() + 1) else { break };
            room = left;
            is_cut |= cut;
            lines.push(text);
        }
        if lines.len() < all || is_cut {
            lines.push(self.mark(lines.len(), all, lang));
        }
        lines
    }
}

/// A line of source as it is shown, and whether it is cut.
fn cut_line(text: &str, lang: Lang) -> (String, bool) {
    let all = text.chars().count();
    if all <= MAX_LINE_CHARS {
        return (unmasked(text), false);
    }
    let start: String = text.chars().take(MAX_LINE_CHARS).collect();
    (format!("{}{}", unmasked(&start), cut_mark(MAX_LINE_CHARS, all, lang)), true)
}

/// What stands where characters are left out.
fn cut_mark(shown: usize, all: usize, lang: Lang) -> String {
    match lang {
        Lang::En => format!("… ({shown} of {all} characters shown)"),
        Lang::Ja => format!("…（{all}文字のうち{shown}文字を表示）"),
        Lang::Zh => format!("…（显示 {all} 个字符中的 {shown} 个）"),
    }
}

struct Facts {
    lines: Vec<String>,
    lang: Lang,
}

impl Facts {
    fn headline(&mut self, question: &Question) {
        let (name, why, gate) = (fact(&question.call.tool_name), fact(&question.text), fact(&question.gate));
        self.lines.push(match (&question.approving, self.lang) {
            (Some(_), Lang::En) => format!("`{name}` is to run, and somebody has to approve it: {why}"),
            (Some(_), Lang::Ja) => format!("ツール「{name}」の実行には承認が必要です: {why}"),
            (Some(_), Lang::Zh) => format!("执行工具「{name}」需要批准：{why}"),
            (None, Lang::En) => format!("`{name}` is to run, and the gate `{gate}` asks: {why}"),
            (None, Lang::Ja) => {
                format!("ツール「{name}」の実行について、フック「{gate}」が確認を求めています: {why}")
            }
            (None, Lang::Zh) => format!("即将执行工具「{name}」，钩子「{gate}」要求确认：{why}"),
        });
    }

    fn label(&self, en: &str, ja: &str, zh: &str) -> String {
        let label = match self.lang {
            Lang::En => en,
            Lang::Ja => ja,
            Lang::Zh => zh,
        };
        format!("  {label}{}", self.lang.colon())
    }

    fn push(&mut self, en: &str, ja: &str, zh: &str, what: &str) {
        let label = self.label(en, ja, zh);
        self.lines.push(format!("{label}{what}"));
    }

    fn grants(&mut self, approving: &Approving) {
        self.push("asks for", "要求", "申请", &capabilities(&approving.asked));
        self.push("is granted", "許可", "授予", &unmasked(&approving.grants.to_string()));
    }

    fn findings(&mut self, approving: &Approving) {
        for finding in &approving.findings {
            let (place, severity, rule) = (finding.location, finding.severity.name(), finding.rule.name());
            let what = format!("{severity}: {} ({rule}) at {}:{}", fact(&finding.message), place.line, place.column);
            self.push("finding", "検出", "发现", &what);
        }
    }

    fn arguments(&mut self, args: &serde_json::Value) {
        let label = self.label("arguments", "引数", "参数");
        self.lines.push(label.trim_end().to_owned());
        self.lines.extend(arguments::lines(args, self.lang));
    }
}

/// Capabilities by name, with what is named of each.
#[must_use]
pub fn capabilities(capabilities: &Capabilities) -> String {
    let one = |(capability, need): (Capability, &Need)| {
        let mut named: Vec<String> = need.named.iter().map(|name| fact(name)).collect();
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
    visible(&joined(text))
}

/// Text in one line for a person who decides by it; see [`unmasked`].
#[must_use]
pub fn fact(text: &str) -> String {
    unmasked(&joined(text))
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text with its control characters made visible, so that a tool cannot drive a terminal or forge a line.
#[must_use]
pub fn visible(text: &str) -> String {
    escaped(text, |char| char.is_control() || is_bidi_control(char))
}

/// Text for a person who decides by it: besides what [`visible`] escapes, each character that takes no room on a screen or breaks a
/// line. Many blanks in a row are shown as their count (`·×70`), except the indentation of a line. What is left looks like what it is.
#[must_use]
pub fn unmasked(text: &str) -> String {
    escaped(&with_blanks_counted(text), |char| {
        char.is_control() || is_bidi_control(char) || is_ignorable(char) || matches!(char, '\u{2028}' | '\u{2029}')
    })
}

/// Text whose long runs of blanks are replaced by their count.
fn with_blanks_counted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_blank) {
        let (before, from) = rest.split_at(start);
        let (run, after) = from.split_at(from.find(|char| !is_blank(char)).unwrap_or(from.len()));
        shown.push_str(before);
        let is_at_start = shown.is_empty() || shown.ends_with('\n');
        let count = run.chars().count();
        let columns = count + (TAB_COLUMNS - 1) * run.matches('\t').count();
        let is_indentation = is_at_start && columns <= MAX_INDENT && run.chars().all(|char| matches!(char, ' ' | '\t'));
        if columns < MIN_BLANK_RUN || is_indentation {
            shown.push_str(run);
        } else {
            let _ = write!(shown, " ·×{count} ");
        }
        rest = after;
    }
    shown + rest
}

/// Characters that a terminal shows as nothing but room.
fn is_blank(char: char) -> bool {
    // Musical null notehead, Egyptian blanks and a filler are no white space, but have no glyph. Line and control characters are escaped.
    let has_no_glyph = matches!(char, '\u{2800}' | '\u{13441}'..='\u{13442}' | '\u{16fe4}' | '\u{1d159}');
    let is_room = char.is_whitespace() && !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}');
    char == '\t' || has_no_glyph || is_room
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => shown.push(char),
            _ if is_escaped(char) => shown.extend(char.escape_default()),
            _ => shown.push(char),
        }
    }
    shown
}

/// Characters that change the order in which a terminal shows others (Unicode TR 9).
fn is_bidi_control(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that are not shown (`Default_Ignorable_Code_Point` of Unicode 17, and the anchors of interlinear annotation).
fn is_ignorable(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests;
