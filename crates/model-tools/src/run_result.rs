//! The results of runs: of stored tools, of published tools and of code that is not stored.
//!
//! Some clients show a model the text of a result, some show its structured content, and some both.
//! Both are therefore short: the value, and what else a model needs. Measures and hashes, which are
//! for programs, are in `_meta`, under [`RUN_META_KEY`].
//!
//! Invariant: a value of more than [`MAX_VALUE_BYTES`] is cut in the text, and is not repeated in the
//! structured content; a resource has all of it.

use std::sync::Arc;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use toolcell::hook::HookContext;
use toolcell::{
    CodeResult, ContentItem, Effects, Finding, HookContextResponse, Json, Label, Lang, LogLineResponse, Message,
    Report, RunResult, SourceLine, ToolContent, ToolFailure, UsageResponse, WarningResponse,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid, tr};

use crate::call_failure::{CallFailure, error_result};
use crate::tool_result::{Content, ToolResult};

/// Keeps the JSON of a value that is too long for a model, and returns its URI.
pub type KeepValue<'a> = &'a dyn Fn(&str) -> Arc<str>;

/// The key in `_meta` that holds the measures of a run for programs: its fuel, memory and duration,
/// its tool, and the hash of its record.
pub const RUN_META_KEY: &str = "toolcell/run";
/// The key in `_meta` that holds where the data of a result came from, as a list of sources, if the policy has rules about
/// flows. A client that sends them back as `toolcell/context` has exact rules in its next call.
pub const LABELS_META_KEY: &str = "toolcell/labels";
/// The longest value that a text holds in full, in bytes.
const MAX_VALUE_BYTES: usize = 20_000;
/// The length of the beginning of a longer value in the structured content, in bytes.
const MAX_HEAD_BYTES: usize = 4_000;
/// The console lines that a model reads, in bytes: the last ones.
const MAX_CONSOLE_BYTES: usize = 4_000;
/// The stack frames that a model reads.
const MAX_FRAMES: usize = 10;

/// The structured content of a successful run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultShape {
    /// An object with any `value`, and what else there is to say.
    Envelope,
    /// The same; a published tool declares the schema of `value`.
    CheckedEnvelope,
    /// The value itself, which is an object: a published tool declares its schema.
    Value,
}

/// A run that took place, as its result shows it.
struct FinishedRun<'a> {
    report: &'a Report,
    outcome: Result<Option<&'a Json>, ToolFailure>,
    /// What a model reads of the value, if not the value itself.
    content: Option<&'a ToolContent>,
    thrown_at: Option<&'a SourceLine>,
    context: &'a [HookContext],
    is_suppressed: bool,
    deprecation: Option<String>,
    effects: Effects,
    /// The text of a failure, worded as in the contract.
    failure: String,
    /// The hint for code that is at fault.
    hint: &'static str,
    /// The identity of the run, for programs.
    about: Map<String, Value>,
    /// Where its data came from, if that is followed.
    label: Option<&'a Label>,
    /// What a type checker says about the code.
    type_errors: &'a [Finding],
}

/// Builds the result of a run of a stored tool, which may itself have failed.
#[must_use]
pub fn run_result(ran: &RunResult, shape: ResultShape, keep: Option<KeepValue<'_>>, lang: Lang) -> ToolResult {
    let mut about = Map::from_iter([
        ("toolId".to_owned(), json!(ran.tool.to_string())),
        ("toolName".to_owned(), json!(ran.name.as_str())),
    ]);
    let unrecorded = ran.unrecorded.as_ref().map(ToString::to_string);
    for (key, value) in [("unrecorded", unrecorded), ("revisedBy", ran.revised_by.clone())] {
        about.extend(value.map(|value| (key.to_owned(), Value::from(value))));
    }
    about.extend(record_field(ran.record));
    let outcome = ran.value();
    let run = FinishedRun {
        report: &ran.report,
        failure: if outcome.is_err() { ran.to_text(lang) } else { String::new() },
        outcome,
        content: ran.content.as_ref(),
        thrown_at: ran.thrown_at.as_ref(),
        context: &ran.context,
        is_suppressed: ran.output_suppressed,
        deprecation: ran.deprecated.as_ref().map(|deprecated| deprecated.to_text(&ran.name, lang)),
        effects: ran.effects,
        hint: msgid!("check the parameters and the code; create_tool with replace: true stores a new version"),
        about,
        label: ran.label.as_ref(),
        type_errors: &[],
    };
    run.into_result(shape, keep, lang)
}

/// Builds the result of a published tool whose value does not match the schema that it declares.
#[must_use]
pub fn mismatch_result(ran: &RunResult, problem: &Message, lang: Lang) -> ToolResult {
    let problem = message!("its result does not match `returns`: {problem}", problem);
    let hint = msgid!("correct the code or `returns`; create_tool with replace: true stores a new version");
    let failure = CallFailure::for_server(ErrorCode::ToolFailed, &problem, hint, lang);
    error_result(CallFailure { effects: Some(ran.effects), ..failure }, lang)
}

/// Builds the result of code that is not stored.
#[must_use]
pub fn code_result(ran: &CodeResult, keep: Option<KeepValue<'_>>, lang: Lang) -> ToolResult {
    let outcome = ran.value();
    let failure = outcome
        .as_ref()
        .err()
        .map(|failed| format!("{}{}{}", tr!(lang, "error"), lang.colon(), failed.to_message(lang)));
    let run = FinishedRun {
        report: &ran.report,
        outcome,
        content: None,
        thrown_at: ran.thrown_at.as_ref(),
        context: &ran.context,
        is_suppressed: ran.output_suppressed,
        deprecation: None,
        effects: ran.effects,
        hint: msgid!("correct the code, and run it again"),
        failure: failure.unwrap_or_default(),
        about: record_field(ran.record).into_iter().collect(),
        label: ran.label.as_ref(),
        type_errors: &ran.type_errors,
    };
    run.into_result(ResultShape::Envelope, keep, lang)
}

/// Returns a type error as one line: its place and its text.
fn type_error(finding: &Finding) -> String {
    let (line, column) = (finding.location.line, finding.location.column);
    format!("{line}:{column} {}", finding.message)
}

fn record_field(record: Option<blake3::Hash>) -> Option<(String, Value)> {
    record.map(|hash| ("record".to_owned(), Value::from(hash.to_string())))
}

impl FinishedRun<'_> {
    fn into_result(mut self, shape: ResultShape, keep: Option<KeepValue<'_>>, lang: Lang) -> ToolResult {
        let outcome = std::mem::replace(&mut self.outcome, Ok(None));
        let measures = self.measures();
        let mut result = match outcome {
            Ok(value) => self.success(value, shape, keep, lang),
            Err(failed) => self.failure(&failed, lang),
        };
        result.meta.insert(RUN_META_KEY.to_owned(), measures);
        if let Some(label) = self.label {
            result.meta.insert(LABELS_META_KEY.to_owned(), json!(label.to_texts()));
        }
        result
    }

    /// The measures of the run, for programs.
    fn measures(&self) -> Value {
        let UsageResponse { fuel, load_fuel, memory_bytes, duration_ms } = UsageResponse::from(&self.report.usage);
        let mut fields = self.about.clone();
        fields.extend([
            ("fuel".to_owned(), json!(fuel)),
            ("loadFuel".to_owned(), json!(load_fuel)),
            ("memoryBytes".to_owned(), json!(memory_bytes)),
            ("durationMs".to_owned(), json!(duration_ms)),
        ]);
        Value::Object(fields)
    }

    fn success(&self, value: Option<&Json>, shape: ResultShape, keep: Option<KeepValue<'_>>, lang: Lang) -> ToolResult {
        let shown = value.filter(|_| !self.is_suppressed);
        if shape == ResultShape::Value && shown.is_none() {
            return self.missing_value(lang);
        }
        let text = match (shown, self.content) {
            _ if self.is_suppressed => tr!(lang, "(output hidden by a hook)").to_owned(),
            (Some(_), Some(content)) => not_empty(content.to_text()),
            (Some(value), None) => not_empty(value.to_text()),
            (None, _) => "undefined".to_owned(),
        };
        let link = match (shown, keep) {
            (Some(value), Some(keep)) if text.len() > MAX_VALUE_BYTES => Some(keep(value.as_str())),
            _ => None,
        };
        let mut content = vec![Content::Text(cut_text(text, link.as_deref(), lang))];
        let images = shown.and(self.content).into_iter().flat_map(ToolContent::items).filter_map(|item| match item {
            ContentItem::Image { mime_type, data } => {
                Some(Content::Image { mime_type: mime_type.clone(), data: BASE64.encode(data) })
            }
            _ => None,
        });
        content.extend(images);
        let notes = self.notes(lang);
        if !notes.is_empty() {
            content.push(Content::Text(notes));
        }
        if let (Some(link), Some(value)) = (&link, shown) {
            content.push(Content::Link { uri: Arc::clone(link), bytes: value.as_str().len() });
        }
        let structured = match (shape, shown) {
            (ResultShape::Value, Some(value)) => parse(value),
            _ => Value::Object(self.envelope(shown, link.as_ref(), shape)),
        };
        ToolResult { content, structured: Some(structured), meta: Map::new(), is_error: false }
    }

    /// The value, and what else there is to say about the run. What is empty is left out.
    fn envelope(&self, value: Option<&Json>, link: Option<&Arc<str>>, shape: ResultShape) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
        match (value, link) {
            (Some(value), None) => put(
                "value",
                match self.content {
                    // A value with a declared schema is whole.
                    Some(content) if shape == ResultShape::Envelope => content.without_image_data(value.as_str()),
                    _ => parse(value),
                },
            ),
            (Some(value), Some(link)) => {
                let (text, bytes) = (value.as_str(), value.as_str().len());
                let head = &text[..text.floor_char_boundary(MAX_HEAD_BYTES)];
                put("truncated", json!({"bytes": bytes, "head": head, "resource": link.as_ref()}));
            }
            (None, _) => {}
        }
        if !self.is_suppressed {
            let (lines, omitted) = self.last_lines();
            if !lines.is_empty() {
                let lines: Vec<_> = lines.iter().cloned().map(LogLineResponse::from).collect();
                put("logs", json!(lines));
            }
            if omitted > 0 {
                put("omittedLogs", json!(omitted));
            }
        }
        let warnings: Vec<_> = self.warnings().cloned().map(WarningResponse::from).collect();
        let context: Vec<_> = self.context.iter().cloned().map(HookContextResponse::from).collect();
        for (key, value, is_empty) in
            [("warnings", json!(warnings), warnings.is_empty()), ("context", json!(context), context.is_empty())]
        {
            if !is_empty {
                put(key, value);
            }
        }
        if self.is_suppressed {
            put("suppressed", json!(true));
        }
        if let Some(deprecation) = &self.deprecation {
            put("deprecated", json!(deprecation));
        }
        if !self.type_errors.is_empty() {
            put("typeErrors", self.type_errors.iter().map(|finding| json!(type_error(finding))).collect());
        }
        fields
    }

    /// The result of a published tool whose value a hook hides or that returned nothing: it cannot
    /// match the declared schema.
    fn missing_value(&self, lang: Lang) -> ToolResult {
        let text = if self.is_suppressed {
            tr!(lang, "(output hidden by a hook)")
        } else {
            tr!(lang, "the tool returned nothing, but declares an object")
        };
        let code = if self.is_suppressed { ErrorCode::ResultWithheld } else { ErrorCode::ToolFailed };
        let failure = CallFailure::new(code, text.to_owned(), "");
        error_result(CallFailure { effects: Some(self.effects), ..failure }, lang)
    }

    fn failure(&self, failed: &ToolFailure, lang: Lang) -> ToolResult {
        let mut lines = vec![self.failure.clone()];
        if !self.is_suppressed {
            if let ToolFailure::Threw(thrown) = failed {
                lines.extend(thrown.stack.lines().take(MAX_FRAMES).map(str::to_owned));
            }
            lines.extend(self.thrown_at.map(|SourceLine { line, text, .. }| format!("{line} | {}", text.trim())));
            lines.extend(self.type_lines(lang));
            let console = Some(self.console(lang)).filter(|console| !console.is_empty());
            lines.extend(console.map(|console| format!("\n{console}")));
        }
        let text = lines.join("\n");
        let hint = if failed.code() == ErrorCode::ToolFailed { self.hint } else { limit_hint(failed.code()) };
        let failure = CallFailure::new(failed.code(), text, hint);
        error_result(CallFailure { effects: Some(self.effects), ..failure }, lang)
    }

    /// What a type checker says about the code, line by line.
    fn type_lines(&self, lang: Lang) -> Vec<String> {
        let line = |finding: &Finding| format!("{}{}{}", tr!(lang, "type error"), lang.colon(), type_error(finding));
        self.type_errors.iter().map(line).collect()
    }

    /// What a model reads beside a value: the console, warnings, and the notes of hooks.
    fn notes(&self, lang: Lang) -> String {
        let colon = lang.colon();
        let warnings = self.warnings().map(|warning| {
            let place = if warning.path.is_empty() { "/" } else { &warning.path };
            format!("{}{colon}{place}: {}", tr!(lang, "warning"), warning.message)
        });
        let context =
            self.context.iter().map(|HookContext { hook, text }| tr!(lang, "Note (hook `{hook}`): {text}", hook, text));
        let deprecation = self.deprecation.iter().map(|text| format!("{}{colon}{text}", tr!(lang, "Note")));
        let console = Some(self.console(lang)).filter(|console| !console.is_empty());
        let lines: Vec<String> = console
            .into_iter()
            .chain(warnings)
            .chain(self.type_lines(lang))
            .chain(context)
            .chain(deprecation)
            .collect();
        lines.join("\n")
    }

    /// The last console lines, with a heading; empty if there are none to show.
    fn console(&self, lang: Lang) -> String {
        let (lines, omitted) = self.last_lines();
        if self.is_suppressed || lines.is_empty() {
            return String::new();
        }
        let mut text = format!("{}{}", tr!(lang, "console"), lang.colon().trim_end());
        if omitted > 0 {
            text.push('\n');
            text.push_str(&tr!(lang, "({omitted} earlier lines omitted)", omitted));
        }
        for line in lines {
            let kept = &line.text[..line.text.floor_char_boundary(MAX_CONSOLE_BYTES)];
            text.push('\n');
            text.push_str(kept);
        }
        text
    }

    /// The last console lines that have room, and the number of those before them.
    fn last_lines(&self) -> (&[toolcell::LogLine], usize) {
        let logs = &self.report.logs;
        let mut room = MAX_CONSOLE_BYTES;
        let kept = logs.iter().rev().take_while(|line| {
            let fits = line.text.len() < room || room == MAX_CONSOLE_BYTES;
            room = room.saturating_sub(line.text.len() + 1);
            fits
        });
        let omitted = logs.len() - kept.count();
        (&logs[omitted..], omitted)
    }

    /// The warnings; those about a hidden result are hidden too.
    fn warnings(&self) -> impl Iterator<Item = &toolcell::Warning> {
        let is_hidden = self.is_suppressed;
        let shown = move |warning: &&toolcell::Warning| !is_hidden || warning.place == toolcell::ValueSide::Params;
        self.report.warnings.iter().filter(shown)
    }
}

/// Some model APIs refuse an empty text.
fn not_empty(text: String) -> String {
    if text.is_empty() { "\"\"".to_owned() } else { text }
}

/// The sandbox has validated the text of a value.
fn parse(value: &Json) -> Value {
    serde_json::from_str(value.as_str()).unwrap_or_default()
}

/// The beginning of a long value, and where the rest is, if it is kept.
fn cut_text(text: String, link: Option<&str>, lang: Lang) -> String {
    if text.len() <= MAX_VALUE_BYTES {
        return text;
    }
    let head = &text[..text.floor_char_boundary(MAX_VALUE_BYTES)];
    let more = text.len() - head.len();
    let note = match link {
        Some(link) => tr!(lang, "({more} more bytes; the whole value is the resource {link})", more, link),
        None => tr!(lang, "({more} more bytes; return less: a summary, or one page at a time)", more),
    };
    format!("{head}\n{note}")
}

/// Returns what the caller can do about a limit that was reached.
fn limit_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Timeout => msgid!("raise timeout_ms (up to 600000), or do less in one run"),
        ErrorCode::OutOfFuel | ErrorCode::OutOfMemory => {
            msgid!("do less in one run, or ask the operator to raise the limit")
        }
        ErrorCode::OutputTooLarge => msgid!("return less: a summary, or one page at a time"),
        ErrorCode::Stalled => msgid!("a promise never settles: resolve or reject it in the tool"),
        ErrorCode::Cancelled => msgid!("the run was cancelled from outside; run it again if that was not intended"),
        _ => "",
    }
}
