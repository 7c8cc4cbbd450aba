//! The response of `run_dynamic_tool` for a tool that returned.
//!
//! Invariant: the value is the text from the guest, byte for byte. An output that a hook suppresses
//! is not included.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcell_host::{Level, LogLine, Usage, ValueSide, Warning};
use toolcell_tool::{ToolId, ToolName};

use crate::admission::hook::HookContext;
use crate::operations::run::{Deprecation, RunResult, ToolFailure};

/// A run of a tool that returned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResponse<'a> {
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub tool_id: ToolId,
    /// The name of the tool.
    pub tool_name: &'a str,
    /// The outcome of the run.
    #[schemars(extend("const" = "returned"))]
    pub outcome: &'static str,
    /// The value that the tool returned; missing for `undefined`, and if a hook suppresses the
    /// output.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub value: Option<&'a RawValue>,
    /// The lines that the tool wrote to the console; missing if a hook suppresses the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Vec<LogLineResponse>>,
    /// Values that could not be represented exactly.
    pub warnings: Vec<WarningResponse>,
    /// The resources that the run used.
    #[serde(flatten)]
    pub usage: UsageResponse,
    /// The hash of the run's record.
    #[schemars(with = "Option<String>")]
    pub record: Option<String>,
    /// Why the run is not recorded, or not completely yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
    /// Texts that hooks add for the model.
    pub context: Vec<HookContextResponse>,
    /// Whether a hook suppresses the output.
    pub suppressed: bool,
    /// The name of the hook that changed the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised_by: Option<&'a str>,
    /// Present if the tool is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<DeprecationResponse>,
}

/// A line that a tool wrote to the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLineResponse {
    /// The level of the line.
    #[schemars(with = "String", extend("enum" = ["debug", "log", "info", "warn", "error"]))]
    pub level: Level,
    /// The text of the line.
    pub text: String,
}

/// A value that could not be represented exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WarningResponse {
    /// Whether the value is in the parameters or in the result.
    #[schemars(extend("enum" = ["params", "result"]))]
    pub place: &'static str,
    /// The location as a JSON Pointer (RFC 6901); `""` for the whole value.
    pub path: String,
    /// What the value was and what it became.
    pub message: String,
}

/// The resources that a run used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageResponse {
    /// The fuel of the call.
    pub fuel: u64,
    /// The fuel of loading the script.
    pub load_fuel: u64,
    /// The memory in bytes.
    pub memory_bytes: usize,
    /// The duration in milliseconds.
    pub duration_ms: f64,
}

/// A text that a hook adds for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookContextResponse {
    /// The name of the hook.
    pub hook: String,
    /// The text.
    pub text: String,
}

/// The notice that a tool is deprecated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeprecationResponse {
    /// The name of the tool to use instead, if there is one.
    pub successor: Option<String>,
}

impl RunResult {
    /// Returns the run as a JSON response.
    ///
    /// # Errors
    /// As [`RunResult::value`]: a tool that did not return has no response.
    pub fn response(&self) -> Result<RunResponse<'_>, ToolFailure> {
        let (value, report) = (self.value()?, &self.report);
        let is_shown = |warning: &&Warning| !self.output_suppressed || warning.place == ValueSide::Params;
        Ok(RunResponse {
            tool_id: self.tool,
            tool_name: self.name.as_str(),
            outcome: "returned",
            // The sandbox has validated the text; serde_json passes it through unchanged.
            value: value
                .filter(|_| !self.output_suppressed)
                .and_then(|value| serde_json::from_str(value.as_str()).ok()),
            logs: (!self.output_suppressed).then(|| report.logs.iter().cloned().map(LogLineResponse::from).collect()),
            warnings: report.warnings.iter().filter(is_shown).cloned().map(WarningResponse::from).collect(),
            usage: UsageResponse::from(&report.usage),
            record: self.record.map(|hash| hash.to_string()),
            unrecorded: self.unrecorded.as_ref().map(ToString::to_string),
            context: self.context.iter().cloned().map(HookContextResponse::from).collect(),
            suppressed: self.output_suppressed,
            revised_by: self.revised_by.as_deref(),
            deprecated: self.deprecated.as_ref().map(DeprecationResponse::from),
        })
    }
}

impl From<LogLine> for LogLineResponse {
    fn from(LogLine { level, text }: LogLine) -> Self {
        Self { level, text }
    }
}

impl From<Warning> for WarningResponse {
    fn from(Warning { place, path, message }: Warning) -> Self {
        let place = match place {
            ValueSide::Params => "params",
            ValueSide::Result => "result",
        };
        Self { place, path, message }
    }
}

impl From<&Usage> for UsageResponse {
    fn from(usage: &Usage) -> Self {
        Self {
            fuel: usage.fuel,
            load_fuel: usage.load_fuel,
            memory_bytes: usage.memory,
            duration_ms: (usage.duration.as_secs_f64() * 1e6).round() / 1e3,
        }
    }
}

impl From<HookContext> for HookContextResponse {
    fn from(HookContext { hook, text }: HookContext) -> Self {
        Self { hook, text }
    }
}

impl From<&Deprecation> for DeprecationResponse {
    fn from(deprecation: &Deprecation) -> Self {
        Self { successor: deprecation.successor.as_ref().map(ToolName::to_string) }
    }
}
