//! What `run_dynamic_tool` answers where the tool returned.
//!
//! Invariant: the value is the text that the guest made, byte for byte. What a gate suppresses is not in here.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcell_host::{Level, LogLine, Place, Usage, Warning};
use toolcell_tool::{ToolId, ToolName};

use crate::gate::Context;
use crate::run::{Deprecation, Failed, Ran};

/// A run whose tool returned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RanBody<'a> {
    /// The identifier of the tool.
    #[serde(rename = "toolId")]
    #[schemars(with = "String")]
    pub tool_id: ToolId,
    /// Its name.
    #[serde(rename = "toolName")]
    pub tool_name: &'a str,
    /// How it ended.
    #[schemars(extend("const" = "returned"))]
    pub outcome: &'static str,
    /// What it returned; none for `undefined`, and where a gate suppresses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub value: Option<&'a RawValue>,
    /// What it wrote to the console; none where a gate suppresses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Vec<LogBody>>,
    /// Values that could not be kept exactly.
    pub warnings: Vec<WarningBody>,
    /// What it used.
    #[serde(flatten)]
    pub usage: UsageBody,
    /// The hash of its record.
    #[schemars(with = "Option<String>")]
    pub record: Option<String>,
    /// Why it is not recorded, or not completely yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<&'a str>,
    /// What gates add.
    pub context: Vec<ContextBody>,
    /// Whether a gate keeps the output back.
    pub suppressed: bool,
    /// The gate that changed how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised_by: Option<&'a str>,
    /// That it is deprecated, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<DeprecationBody>,
}

/// A line that a tool wrote to the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogBody {
    /// How it wrote it.
    #[schemars(with = "String", extend("enum" = ["debug", "log", "info", "warn", "error"]))]
    pub level: Level,
    /// What it wrote.
    pub text: String,
}

/// A value that could not be kept exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WarningBody {
    /// On the way in or on the way out.
    #[schemars(extend("enum" = ["params", "result"]))]
    pub place: &'static str,
    /// Where: a JSON Pointer (RFC 6901), `""` for all of it.
    pub path: String,
    /// What was there and what it became.
    pub message: String,
}

/// What a run used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct UsageBody {
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Time, in milliseconds.
    pub duration_ms: f64,
}

/// A text that a gate adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextBody {
    /// The gate.
    pub gate: String,
    /// The text.
    pub text: String,
}

/// That a tool works, and something else is to be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeprecationBody {
    /// What, where there is something.
    pub successor: Option<String>,
}

impl Ran {
    /// The answer as programs read it.
    ///
    /// # Errors
    /// As [`Ran::value`]: a tool that did not return has no answer but a failure.
    pub fn body(&self) -> Result<RanBody<'_>, Failed> {
        let (value, report) = (self.value()?, &self.report);
        let is_shown = |warning: &&Warning| !self.suppressed || warning.place == Place::Params;
        Ok(RanBody {
            tool_id: self.tool,
            tool_name: self.name.as_str(),
            outcome: "returned",
            // The sandbox has checked the text; serde_json takes it as it is.
            value: value.filter(|_| !self.suppressed).and_then(|value| serde_json::from_str(value.as_str()).ok()),
            logs: (!self.suppressed).then(|| report.logs.iter().cloned().map(LogBody::from).collect()),
            warnings: report.warnings.iter().filter(is_shown).cloned().map(WarningBody::from).collect(),
            usage: UsageBody::from(&report.usage),
            record: self.record.map(|hash| hash.to_string()),
            unrecorded: self.unrecorded.as_deref(),
            context: self.context.iter().cloned().map(ContextBody::from).collect(),
            suppressed: self.suppressed,
            revised_by: self.revised_by.as_deref(),
            deprecated: self.deprecated.as_ref().map(DeprecationBody::from),
        })
    }
}

impl From<LogLine> for LogBody {
    fn from(LogLine { level, text }: LogLine) -> Self {
        Self { level, text }
    }
}

impl From<Warning> for WarningBody {
    fn from(Warning { place, path, message }: Warning) -> Self {
        let place = match place {
            Place::Params => "params",
            Place::Result => "result",
        };
        Self { place, path, message }
    }
}

impl From<&Usage> for UsageBody {
    fn from(usage: &Usage) -> Self {
        Self {
            fuel: usage.fuel,
            load_fuel: usage.load_fuel,
            memory_bytes: usage.memory,
            duration_ms: (usage.duration.as_secs_f64() * 1e6).round() / 1e3,
        }
    }
}

impl From<Context> for ContextBody {
    fn from(Context { gate, text }: Context) -> Self {
        Self { gate, text }
    }
}

impl From<&Deprecation> for DeprecationBody {
    fn from(deprecation: &Deprecation) -> Self {
        Self { successor: deprecation.successor.as_ref().map(ToolName::to_string) }
    }
}
