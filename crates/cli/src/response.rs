//! The JSON response to a request or a command: how a run ended, or why it did not start.
//!
//! Invariant: the JSON is one line, and the value in it is the guest's JSON text, byte for byte.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use toolcell::{Effects, LogLineResponse, Outcome, Report, Stop, Thrown, UsageResponse, WarningResponse};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, msgid};

/// The JSON response to one request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommandResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Box<RawValue>>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorResponse>,
    #[serde(flatten)]
    run: Option<RunReport>,
    #[serde(flatten)]
    analysis: Option<BTreeMap<String, Box<RawValue>>>,
}

/// The `error` object of a response.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorResponse {
    code: ErrorCode,
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
    /// How far a stored tool that failed has changed the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Effects>,
}

/// Logs, warnings and resource usage of a run, whatever its outcome.
#[derive(Debug, Serialize)]
struct RunReport {
    logs: Vec<LogLineResponse>,
    warnings: Vec<WarningResponse>,
    #[serde(flatten)]
    usage: UsageResponse,
}

impl ErrorResponse {
    /// Creates the error of a request that was not run.
    ///
    /// Programs read it: message and hint are English in each language.
    pub(crate) fn new(code: ErrorCode, message: &(impl ToString + ?Sized), hint: Option<Message>) -> Self {
        let (message, hint) = (message.to_string(), hint.map(|hint| hint.to_string()));
        Self { code, name: None, message, line: None, column: None, stack: None, hint, effects: None }
    }

    /// Adds the effects of a stored tool's run.
    pub(crate) fn with_effects(self, effects: Effects) -> Self {
        Self { effects: Some(effects), ..self }
    }

    /// Adds a line and a column of the source.
    pub(crate) fn with_position(self, place: Option<(u32, u32)>) -> Self {
        Self { line: place.map(|(line, _)| line), column: place.map(|(_, column)| column), ..self }
    }

    fn from_thrown(thrown: Thrown) -> Self {
        let code = thrown_code(&thrown);
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

/// Returns the error code of an exception. A syntax error is told by its stack, which has no frame
/// of a function that ran.
pub(crate) fn thrown_code(thrown: &Thrown) -> ErrorCode {
    if thrown.name == "SyntaxError" && !thrown.stack.contains('(') {
        ErrorCode::SyntaxError
    } else {
        ErrorCode::ToolFailed
    }
}

impl CommandResponse {
    /// Creates the response to a request that was not run.
    pub(crate) fn for_error(id: Option<Box<RawValue>>, error: ErrorResponse) -> Self {
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

    /// Creates the response to an analysis request; the fields of `body` become fields of the
    /// response.
    pub(crate) fn from_analysis(id: Option<Box<RawValue>>, body: &RawValue) -> Self {
        let analysis = serde_json::from_str(body.get()).ok();
        Self { id, outcome: "analyzed", stop: None, value: None, value_json: None, error: None, run: None, analysis }
    }

    /// Creates the response to a reflection request; the fields of `body` become fields of the
    /// response.
    pub(crate) fn from_reflection(id: Option<Box<RawValue>>, body: &RawValue) -> Self {
        Self { outcome: "reflected", ..Self::from_analysis(id, body) }
    }

    /// Creates the response to a request that was run.
    pub(crate) fn from_report(id: Option<Box<RawValue>>, report: Report) -> Self {
        let run = RunReport {
            logs: report.logs.into_iter().map(LogLineResponse::from).collect(),
            warnings: report.warnings.into_iter().map(WarningResponse::from).collect(),
            usage: UsageResponse::from(&report.usage),
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
                // The sandbox has validated the text, so serde_json passes it through unchanged.
                answer.value = answer.value_json.clone().and_then(|text| RawValue::from_string(text).ok());
            }
            Outcome::Threw(thrown) => {
                answer.outcome = "threw";
                answer.error = Some(ErrorResponse::from_thrown(thrown));
            }
            Outcome::Stopped(stop) => {
                answer.outcome = "stopped";
                answer.stop = Some(stop.code());
                answer.error = Some(ErrorResponse::new(stop.code(), &stop, stop_hint(&stop).map(Message::from)));
            }
        }
        answer
    }

    /// Adds the effects of a stored tool's run to the error, if there is one.
    pub(crate) fn with_effects(mut self, effects: Effects) -> Self {
        self.error = self.error.map(|error| error.with_effects(effects));
        self
    }

    /// Serializes the response to one line of JSON.
    pub(crate) fn to_json(&self) -> String {
        // Serialization cannot fail: the fields are text, numbers and validated JSON.
        serde_json::to_string(self)
            .unwrap_or_else(|error| format!(r#"{{"outcome":"refused","error":{{"code":"bug","message":"{error}"}}}}"#))
    }
}

/// Returns a hint on how to raise the limit that stopped a run.
pub(crate) fn stop_hint(stop: &Stop) -> Option<&'static str> {
    Some(match stop {
        Stop::OutOfFuel { .. } => msgid!("raise it with --fuel (limits.fuel in a batch request)"),
        Stop::Deadline { .. } => msgid!("raise it with --timeout-ms (limits.timeoutMs in a batch request)"),
        Stop::OutOfMemory { .. } => msgid!("raise it with --memory-mb (limits.memoryMb in a batch request)"),
        Stop::OutputTooLarge { .. } => msgid!("raise it with --output-bytes (limits.outputBytes in a batch request)"),
        Stop::ConsoleTooLarge { .. } => {
            msgid!("raise it with --console-bytes (limits.consoleBytes in a batch request)")
        }
        Stop::Stalled => msgid!("the tool awaits a promise that nothing settles: settle it in the tool"),
        Stop::WorkerDied { .. } => {
            msgid!(
                "retry: a new worker started; if it dies again, this is a bug in Toolcell: please report it with the \
                 tool"
            )
        }
        Stop::Crashed { .. } => msgid!("this is a bug in Toolcell: please report it with the tool"),
        _ => return None,
    })
}
