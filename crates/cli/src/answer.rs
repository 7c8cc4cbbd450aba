//! What is printed of a run: one JSON object, or text for a person.
//!
//! Invariant: the JSON is one line, and the value in it is the text that the guest made, byte for byte.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use toolcell::{Effects, Lang, LogBody, Outcome, Report, Stop, Thrown, UsageBody, WarningBody, headline};

/// The answer to one request.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Box<RawValue>>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    #[serde(flatten)]
    run: Option<RunBody>,
    #[serde(flatten)]
    analysis: Option<BTreeMap<String, Box<RawValue>>>,
}

/// What went wrong.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorBody {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// How far a stored tool changed the world all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Effects>,
}

/// What a run left behind, however it ended.
#[derive(Debug, Serialize)]
struct RunBody {
    logs: Vec<LogBody>,
    warnings: Vec<WarningBody>,
    #[serde(flatten)]
    usage: UsageBody,
}

impl ErrorBody {
    /// A request that was not run.
    pub(crate) fn refusal(code: &'static str, message: String, hint: Option<&str>) -> Self {
        let hint = hint.map(str::to_owned);
        Self { code, name: None, message, line: None, column: None, stack: None, hint, effects: None }
    }

    /// What is said of it.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The same of a stored tool that was to run.
    pub(crate) fn with_effects(self, effects: Effects) -> Self {
        Self { effects: Some(effects), ..self }
    }

    /// The same with a line and a column of the source.
    pub(crate) fn at(self, place: Option<(u32, u32)>) -> Self {
        Self { line: place.map(|(line, _)| line), column: place.map(|(_, column)| column), ..self }
    }

    fn thrown(thrown: Thrown) -> Self {
        let code = code_of(&thrown);
        Self {
            code,
            name: Some(thrown.name),
            message: thrown.message,
            line: thrown.line,
            column: thrown.column,
            stack: Some(thrown.stack),
            hint: None,
            effects: None,
        }
    }
}

/// The code of something that was thrown: a syntax error has no frame of a function that ran.
fn code_of(thrown: &Thrown) -> &'static str {
    if thrown.name == "SyntaxError" && !thrown.stack.contains('(') { "syntax-error" } else { "tool-failed" }
}

impl Answer {
    /// The answer to a request that was not run.
    pub(crate) fn refused(id: Option<Box<RawValue>>, error: ErrorBody) -> Self {
        Self {
            id,
            outcome: "refused",
            stop: None,
            value: None,
            value_json: None,
            error: Some(error),
            run: None,
            analysis: None,
        }
    }

    /// The answer to a request for an analysis, whose fields become the answer's.
    pub(crate) fn analyzed(id: Option<Box<RawValue>>, body: &RawValue) -> Self {
        let analysis = serde_json::from_str(body.get()).ok();
        Self { id, outcome: "analyzed", stop: None, value: None, value_json: None, error: None, run: None, analysis }
    }

    /// The answer to a request for a reflection, whose fields become the answer's.
    pub(crate) fn reflected(id: Option<Box<RawValue>>, body: &RawValue) -> Self {
        Self { outcome: "reflected", ..Self::analyzed(id, body) }
    }

    /// The answer to a request that was run.
    pub(crate) fn of(id: Option<Box<RawValue>>, report: Report) -> Self {
        let run = RunBody {
            logs: report.logs.into_iter().map(LogBody::from).collect(),
            warnings: report.warnings.into_iter().map(WarningBody::from).collect(),
            usage: UsageBody::from(&report.usage),
        };
        let mut answer = Self {
            id,
            outcome: "returned",
            stop: None,
            value: None,
            value_json: None,
            error: None,
            run: Some(run),
            analysis: None,
        };
        match report.outcome {
            Outcome::Returned(value) => {
                answer.value_json = value.map(toolcell::Json::into_string);
                // The sandbox has checked the text; serde_json takes it as it is.
                answer.value = answer.value_json.clone().and_then(|text| RawValue::from_string(text).ok());
            }
            Outcome::Threw(thrown) => {
                answer.outcome = "threw";
                answer.error = Some(ErrorBody::thrown(thrown));
            }
            Outcome::Stopped(stop) => {
                answer.outcome = "stopped";
                answer.stop = Some(stop.code());
                answer.error = Some(ErrorBody::refusal(stop.code(), stop.to_string(), hint(&stop)));
            }
        }
        answer
    }

    /// The same of a stored tool.
    pub(crate) fn with_effects(mut self, effects: Effects) -> Self {
        self.error = self.error.map(|error| error.with_effects(effects));
        self
    }

    /// One line of JSON.
    pub(crate) fn to_json(&self) -> String {
        // Text, numbers and checked JSON: there is nothing in it that cannot be written.
        serde_json::to_string(self)
            .unwrap_or_else(|error| format!(r#"{{"outcome":"refused","error":{{"code":"bug","message":"{error}"}}}}"#))
    }
}

/// How a limit is raised.
fn hint(stop: &Stop) -> Option<&'static str> {
    Some(match stop {
        Stop::OutOfFuel { .. } => "raise it with --fuel (limits.fuel in a batch request)",
        Stop::Deadline { .. } => "raise it with --timeout-ms (limits.timeout_ms in a batch request)",
        Stop::OutOfMemory { .. } => "raise it with --memory-mb (limits.memory_mb in a batch request)",
        Stop::OutputTooLarge { .. } => "raise it with --output-bytes (limits.output_bytes in a batch request)",
        Stop::ConsoleTooLarge { .. } => "raise it with --console-bytes (limits.console_bytes in a batch request)",
        Stop::Stalled => "a promise waits for something that never comes: settle it in the tool",
        Stop::WorkerDied { .. } => {
            "call it again: there is a new worker; where it dies again, it is a bug of Toolcell: please report it with the tool"
        }
        Stop::Crashed { .. } => "this is a bug of Toolcell; please report it with the tool",
        _ => return None,
    })
}

/// What a person reads where a tool did not return, a line each.
pub(crate) fn lines(outcome: &Outcome, lang: Lang) -> Vec<String> {
    let (error, see) = match lang {
        Lang::En => ("error", "hint"),
        Lang::Ja => ("エラー", "ヒント"),
        Lang::Zh => ("错误", "提示"),
    };
    let colon = lang.colon();
    match outcome {
        Outcome::Returned(_) => Vec::new(),
        Outcome::Threw(thrown) => {
            let headline = headline(code_of(thrown), lang).unwrap_or_default();
            let mut lines = vec![format!("{error}{colon}{headline}{colon}{}: {}", thrown.name, thrown.message)];
            lines.extend(thrown.stack.lines().map(str::to_owned));
            lines
        }
        Outcome::Stopped(stop) => {
            let headline = headline(stop.code(), lang).unwrap_or_default();
            let mut lines = vec![format!("{error}{colon}{headline}{colon}{stop}")];
            lines.extend(hint(stop).map(|hint| format!("{see}{colon}{hint}")));
            lines
        }
    }
}
