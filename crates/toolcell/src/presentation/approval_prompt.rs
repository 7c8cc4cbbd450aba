//! The approval prompt: the text shown to a user who decides about a tool, or about one call of it.
//!
//! ```text
//! facts: tool, grants, caller, findings, every argument
//!   → source, as far as it fits: the lines around findings and uses of capabilities, then from the top
//!   → question
//! ```
//!
//! Invariant: the facts come first and are complete, except that long argument values are truncated
//! one by one; each truncation has a mark with the omitted amount. No text of a tool or a model can
//! control the terminal, forge a line of the prompt, or be invisible.

mod arguments;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolcell_analysis::{Capabilities, Severity};
use toolcell_i18n::{Lang, Message, tr};

use crate::admission::hook::{ApprovalPrompt, ToolApproval};

/// The maximum number of source lines in a prompt.
const MAX_SOURCE_LINES: usize = 40;
/// The number of lines shown before and after a finding or a use of a capability.
const LINES_AROUND: usize = 2;
/// The maximum number of characters of a source line.
const MAX_LINE_CHARS: usize = 160;
/// The mark between source lines that are not adjacent.
const GAP: &str = "  … |";
/// The minimum number of blank columns that are shown as a count.
const MIN_BLANK_RUN: usize = 8;
/// The maximum number of indentation columns that are shown as they are.
const MAX_INDENT: usize = 40;
/// The number of columns of a tab.
const TAB_COLUMNS: usize = 4;

/// The facts do not fit into the client's form, so the prompt is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("the approval prompt has {bytes} bytes of facts, the limit is {limit}")]
pub struct PromptTooLong {
    /// The size of the facts and the question in bytes.
    pub bytes: usize,
    /// The size limit of the form in bytes.
    pub limit: usize,
}

impl ApprovalPrompt {
    /// Returns the lines of the prompt: the facts, and lines of the source if a tool is to be
    /// approved.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut lines = self.facts(lang);
        if let Some(approving) = &self.tool_approval {
            lines.push(String::new());
            lines.extend(approving.source_lines(lang, usize::MAX));
        }
        lines
    }

    /// Returns the facts, line by line. They are shown completely, or the prompt is not shown.
    #[must_use]
    pub fn facts(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: self.summary(lang), lang };
        if let Some(approving) = &self.tool_approval {
            facts.push_findings(approving);
        }
        if self.is_for_call() {
            facts.push_arguments(&self.call.args);
        }
        facts.lines
    }

    /// Returns the first facts: the tool, the grants to be approved, its identifier, and the caller.
    #[must_use]
    pub fn summary(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: Vec::new(), lang };
        facts.push_headline(self);
        // Some clients show three lines.
        if let Some(approving) = &self.tool_approval {
            facts.push_grants(approving);
        }
        if let Some(id) = self.call.tool {
            facts.push_fact(tr!(lang, "approval prompt" => "id"), &id.to_string());
        }
        if let Some(caller) = &self.call.caller {
            facts.push_fact(tr!(lang, "caller"), &single_line_for_display(caller));
        }
        facts.lines
    }

    /// Returns whether a call waits for the answer; false for a review of a tool without a call.
    fn is_for_call(&self) -> bool {
        self.tool_approval.is_none() || self.call.caller.is_some()
    }

    /// Returns the text for a form: the facts, as much of the source as fits, and the question.
    ///
    /// `besides` are additional facts, such as the name of the client; each is shown on one line.
    ///
    /// # Errors
    /// The facts do not fit into `limit` bytes.
    pub fn to_form_text(&self, lang: Lang, besides: &[String], limit: usize) -> Result<String, PromptTooLong> {
        let mut facts = self.facts(lang);
        facts.extend(besides.iter().map(|beside| format!("  {}", single_line_for_display(beside))));
        let lacks_grants = self.tool_approval.as_ref().is_some_and(|approving| !approving.missing.is_empty());
        let asks = if lacks_grants { self.short_question(lang) } else { self.question(lang) };
        let facts = facts.join("\n");
        // The truncation mark is a fact too, so its space is reserved.
        let mark = self.tool_approval.as_ref().map_or(0, |approving| approving.longest_truncation_mark(lang).len() + 2);
        let bytes = facts.len() + 1 + asks.len() + mark;
        let Some(room) = limit.checked_sub(bytes) else { return Err(PromptTooLong { bytes, limit }) };
        let source =
            self.tool_approval.as_ref().map(|approving| approving.source_lines(lang, room)).unwrap_or_default();
        let source = if source.is_empty() { String::new() } else { format!("\n{}\n", source.join("\n")) };
        Ok(format!("{facts}\n{source}{asks}"))
    }

    /// Returns the question whose answers name the grants.
    #[must_use]
    pub fn short_question(&self, lang: Lang) -> String {
        tr!(lang, "Allow `{name}` to run?", name = single_line_for_display(&self.call.tool_name))
    }

    /// Returns the yes-or-no question.
    #[must_use]
    pub fn question(&self, lang: Lang) -> String {
        let name = single_line_for_display(&self.call.tool_name);
        if self.tool_approval.is_some() {
            tr!(lang, "Allow `{name}` to run with these grants from now on?", name)
        } else {
            self.call_question(lang)
        }
    }

    /// Returns the yes-or-no question whose answer holds for this call alone.
    #[must_use]
    pub fn call_question(&self, lang: Lang) -> String {
        tr!(lang, "Allow this call of `{name}`?", name = single_line_for_display(&self.call.tool_name))
    }
}

impl ToolApproval {
    /// Returns the lines for the approval of a tool: the requested capabilities, the grants, the
    /// findings and the source.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut facts = Facts { lines: Vec::new(), lang };
        facts.push_grants(self);
        facts.push_findings(self);
        facts.lines.extend(self.source_lines(lang, usize::MAX));
        facts.lines
    }

    /// Returns the mark that says how many source lines are shown.
    fn truncation_mark(&self, shown: usize, all: usize, lang: Lang) -> String {
        let command = format!("toolcell show {} --source", self.tool.short());
        tr!(lang, "… {shown} of {all} lines shown: `{command}` prints them all", shown, all, command)
    }

    /// Returns the longest possible mark for this source.
    fn longest_truncation_mark(&self, lang: Lang) -> String {
        let all = self.source.lines().count();
        self.truncation_mark(all, all, lang)
    }

    /// Returns source lines in at most `room` bytes, plus a mark if something is omitted, which does
    /// not count. The lines around findings and uses of capabilities are chosen first, then those
    /// from the top; `…` stands between lines that are not adjacent.
    fn source_lines(&self, lang: Lang, mut room: usize) -> Vec<String> {
        let source: Vec<&str> = self.source.lines().collect();
        let mut chosen = BTreeMap::new();
        let mut is_cut = false;
        for at in self.lines_by_importance(source.len()) {
            if chosen.len() == MAX_SOURCE_LINES {
                break;
            }
            let Some(text) = source.get(at).filter(|_| !chosen.contains_key(&at)) else { continue };
            let (text, cut) = cut_line(text, lang);
            let text = format!("{:>3} | {text}", at + 1);
            // A line that is not adjacent to another one needs a gap before it.
            let is_adjacent = at == 0 || chosen.contains_key(&(at - 1)) || chosen.contains_key(&(at + 1));
            let gap = if is_adjacent { 0 } else { GAP.len() + 1 };
            let Some(left) = room.checked_sub(text.len() + 1 + gap) else { break };
            room = left;
            is_cut |= cut;
            chosen.insert(at, text);
        }
        let count = chosen.len();
        let mut lines = Vec::new();
        let mut next = 0;
        for (at, text) in chosen {
            if at != next {
                lines.push(GAP.to_owned());
            }
            next = at + 1;
            lines.push(text);
        }
        if count < source.len() || is_cut {
            lines.push(self.truncation_mark(count, source.len(), lang));
        }
        lines
    }

    /// Returns the indices of the `count` source lines, the most important first; some occur twice.
    fn lines_by_importance(&self, count: usize) -> impl Iterator<Item = usize> {
        let mut places: Vec<(Severity, usize)> = Vec::new();
        places.extend(self.findings.iter().map(|finding| (finding.severity, finding.location.line as usize)));
        places.extend(self.capability_lines.iter().map(|line| (Severity::Medium, *line as usize)));
        places.sort_by_key(|(severity, line)| (Reverse(*severity), *line));
        let lines: Vec<usize> = places.into_iter().map(|(_, line)| line.saturating_sub(1)).collect();
        let around = |at: usize| at.saturating_sub(LINES_AROUND)..(at + LINES_AROUND + 1).min(count);
        // The lines themselves come before what is around them.
        let surroundings: Vec<usize> = lines.iter().flat_map(|at| around(*at)).collect();
        lines.into_iter().chain(surroundings).chain(0..count)
    }
}

/// Escapes and truncates a source line, and returns whether it was truncated.
fn cut_line(text: &str, lang: Lang) -> (String, bool) {
    let all = text.chars().count();
    if all <= MAX_LINE_CHARS {
        return (escape_for_display(text), false);
    }
    let start: String = text.chars().take(MAX_LINE_CHARS).collect();
    (format!("{}{}", escape_for_display(&start), cut_mark(MAX_LINE_CHARS, all, lang)), true)
}

/// Returns the mark for omitted characters.
fn cut_mark(shown: usize, all: usize, lang: Lang) -> String {
    tr!(lang, "… ({shown} of {all} characters shown)", shown, all)
}

struct Facts {
    lines: Vec<String>,
    lang: Lang,
}

impl Facts {
    fn push_headline(&mut self, question: &ApprovalPrompt) {
        let (name, why, hook) = (
            single_line_for_display(&question.call.tool_name),
            single_line_for_display(&question.text.to_text(self.lang)),
            single_line_for_display(&question.asked_by),
        );
        self.lines.push(if question.tool_approval.is_some() {
            tr!(self.lang, "`{name}` needs approval to run: {why}", name, why)
        } else {
            tr!(
                self.lang,
                "`{name}` is about to run, and the hook `{hook}` asks for confirmation: {why}",
                name,
                hook,
                why
            )
        });
    }

    fn push_fact(&mut self, label: &str, what: &str) {
        self.lines.push(format!("  {label}{}{what}", self.lang.colon()));
    }

    fn push_grants(&mut self, approving: &ToolApproval) {
        let lang = self.lang;
        self.push_fact(tr!(lang, "asks for"), &describe_capabilities(&approving.requested).to_text(lang));
        let granted = tr!(lang, "is granted: {grants}", grants = approving.grants);
        self.lines.push(format!("  {}", escape_for_display(&granted)));
    }

    fn push_findings(&mut self, approving: &ToolApproval) {
        for finding in &approving.findings {
            let (place, rule) = (finding.location, finding.rule.name());
            let what = tr!(
                self.lang,
                "{severity}: {message} ({rule}) at {line}:{column}",
                severity = finding.severity,
                message = finding.message,
                rule,
                line = place.line,
                column = place.column
            );
            self.push_fact(tr!(self.lang, "finding"), &single_line_for_display(&what));
        }
    }

    fn push_arguments(&mut self, args: &serde_json::Value) {
        let label = tr!(self.lang, "arguments");
        self.lines.push(format!("  {label}{}", self.lang.colon().trim_end()));
        self.lines.extend(arguments::argument_lines(args, self.lang));
    }
}

/// Describes capabilities: their names and the named resources.
#[must_use]
pub fn describe_capabilities(capabilities: &Capabilities) -> Message {
    capabilities.describe(single_line_for_display)
}

/// Returns a text on one line, with control characters escaped.
#[must_use]
pub fn single_line(text: &str) -> String {
    escape_control_chars(&collapse_whitespace(text))
}

/// Returns a text on one line for a user's decision; see [`escape_for_display`].
#[must_use]
pub fn single_line_for_display(text: &str) -> String {
    escape_for_display(&collapse_whitespace(text))
}

fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes control characters, so that a tool cannot control a terminal or forge a line.
#[must_use]
pub fn escape_control_chars(text: &str) -> String {
    escape_where(text, |char| char.is_control() || is_bidi_control(char))
}

/// Escapes a text for a user's decision: besides what [`escape_control_chars`] escapes, each
/// character that is invisible or breaks a line. A long run of blanks is shown as its count
/// (`·×70`), except the indentation of a line. What is left looks like what it is.
#[must_use]
pub fn escape_for_display(text: &str) -> String {
    escape_where(&count_blank_runs(text), is_hidden_char)
}

/// Returns whether [`escape_for_display`] escapes the character: it is invisible, controls a terminal, breaks a line or changes the
/// order of others. Line feeds and tabs are not escaped.
#[must_use]
pub fn is_hidden_char(char: char) -> bool {
    let is_separator = matches!(char, '\u{2028}' | '\u{2029}');
    let is_hidden = char.is_control() || is_bidi_control(char) || is_ignorable(char) || is_separator;
    is_hidden && !matches!(char, '\n' | '\t')
}

/// Replaces long runs of blanks with their count.
fn count_blank_runs(text: &str) -> String {
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

/// Returns whether a terminal shows the character as blank space.
fn is_blank(char: char) -> bool {
    // Musical null notehead, Egyptian blanks and a filler are not white space, but have no glyph.
    // Line and control characters are escaped.
    let has_no_glyph = matches!(char, '\u{2800}' | '\u{13441}'..='\u{13442}' | '\u{16fe4}' | '\u{1d159}');
    let is_room = char.is_whitespace() && !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}');
    char == '\t' || has_no_glyph || is_room
}

fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
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

/// Returns whether the character changes the display order of others (Unicode TR 9).
fn is_bidi_control(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether the character is not displayed (`Default_Ignorable_Code_Point` of Unicode 17,
/// and the anchors of interlinear annotation).
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
