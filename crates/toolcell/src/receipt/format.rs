//! The format of a receipt.
//!
//! Invariant: each field has exactly one serialization, so that the same run has the same text.

use std::time::Duration;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_analysis::{Script, transpile};
use toolcell_host::{Budget, ClockReading, Effects, Grant, Level, Outcome, Report, ValueSide};
use toolcell_tool::{Draft, Language, ToolId, ToolName, ToolSpec};

use super::error::{ReceiptError, ReplayError};

/// Everything that a run depended on, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReceiptContents {
    pub(super) tool: ReceiptTool,
    /// The digest of the guest.
    pub(super) guest: String,
    /// The version of the engine.
    pub(super) engine: String,
    /// The kind of image that ran. All kinds give the same result.
    pub(super) image: String,
    pub(super) policy: ReceiptPolicy,
    /// The parameters that the tool got.
    pub(super) parameters: String,
    #[serde(with = "hex")]
    pub(super) seed: u64,
    /// The start of the virtual clock, in nanoseconds since 1970.
    pub(super) started_at: u64,
    pub(super) call_id: String,
    /// The readings of the wall clock, if the tool was granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) readings: Option<Vec<RecordedReading>>,
    pub(super) journal: HostCallTrace,
    pub(super) result: RecordedResult,
}

/// The tool, so that it can be reconstructed without a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptTool {
    pub(super) id: ToolId,
    pub(super) name: String,
    pub(super) source: String,
    /// The declared parameters as JSON text, which keeps numbers as they are written.
    pub(super) parameters: String,
    /// The declared capabilities as JSON text.
    pub(super) capabilities: String,
}

/// The policy of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptPolicy {
    /// The grants.
    pub(super) grants: Value,
    /// The APIs that the grants made visible to the tool.
    pub(super) visible: Vec<Grant>,
    pub(super) limits: ReceiptLimits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReceiptLimits {
    fuel: u64,
    timeout_ms: u64,
    memory_bytes: usize,
    output_bytes: usize,
    console_bytes: usize,
    operations: u32,
}

/// A reading of the wall clock, and how often it was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedReading {
    /// Milliseconds since 1970.
    pub(super) ms: u64,
    pub(super) times: u64,
}

/// The host calls and their answers, wait by wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum HostCallTrace {
    Waits(Vec<TracedWait>),
    /// The trace is missing: the code of the reason.
    Missing(String),
}

/// One wait of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TracedWait {
    /// The host calls started since the last wait, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) started: Vec<TracedCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cancelled: Vec<u32>,
    /// The completions, in the order in which the tool saw them.
    pub(super) ended: Vec<TracedCompletion>,
    /// The duration in nanoseconds.
    pub(super) took: u64,
    /// Fuel of tools that this one called.
    pub(super) fuel: u64,
}

/// A started host call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TracedCall {
    pub(super) id: u32,
    pub(super) kind: String,
    /// The blake3 hash of the payload; that of attached bytes is in `bytes`.
    pub(super) payload: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TracedCompletion {
    pub(super) id: u32,
    pub(super) result: TracedResult,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum TracedResult {
    Value {
        json: String,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "base64")]
        bytes: Option<Vec<u8>>,
    },
    Failure {
        name: String,
        message: String,
        code: String,
        effects: Effects,
    },
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RecordedResult {
    pub(super) outcome: RecordedOutcome,
    pub(super) logs: Vec<RecordedLog>,
    pub(super) warnings: Vec<RecordedWarning>,
    pub(super) fuel: u64,
    pub(super) load_fuel: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum RecordedOutcome {
    /// The JSON text; `None` for `undefined`.
    Returned(Option<String>),
    Threw {
        name: String,
        message: String,
        line: Option<u32>,
        column: Option<u32>,
        stack: String,
    },
    Stopped {
        code: String,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedLog {
    level: Level,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedWarning {
    /// `params` or `result`.
    place: String,
    path: String,
    message: String,
}

impl ReceiptTool {
    #[expect(clippy::expect_used, reason = "these texts are signed, so there is no safe fallback")]
    pub(super) fn new(name: &ToolName, spec: &ToolSpec) -> Self {
        // It was serialized for its hash, so it serializes.
        let text = |value: &Value| serde_json::to_string(value).expect("a JSON value has a JSON form");
        Self {
            id: spec.id(),
            name: name.to_string(),
            source: spec.source().to_owned(),
            parameters: text(spec.parameters()),
            capabilities: text(spec.capabilities()),
        }
    }

    /// Returns the script, if the content matches the tool's identifier.
    pub(super) fn script(&self) -> Result<Script, ReplayError> {
        let spec = self.spec().filter(|spec| spec.id() == self.id);
        let spec = spec.ok_or(ReceiptError::OtherTool { tool: self.id })?;
        Ok(transpile(spec.source(), Language::Unknown)?)
    }

    fn spec(&self) -> Option<ToolSpec> {
        let name = ToolName::parse(&self.name).ok()?;
        let draft = Draft::from_bytes(&self.name, self.source.as_bytes()).ok()?;
        let parameters = serde_json::from_str(&self.parameters).ok()?;
        let capabilities = serde_json::from_str(&self.capabilities).ok()?;
        ToolSpec::new(name, &draft, parameters, capabilities).ok()
    }
}

impl ReceiptLimits {
    pub(super) fn from_budget(budget: &Budget) -> Self {
        Self {
            fuel: budget.fuel,
            timeout_ms: u64::try_from(budget.deadline.as_millis()).unwrap_or(u64::MAX),
            memory_bytes: budget.memory,
            output_bytes: budget.output,
            console_bytes: budget.console,
            operations: budget.operations,
        }
    }

    /// Returns the budget with these limits and another deadline.
    pub(super) fn to_budget(self, deadline: Duration) -> Budget {
        let Self { fuel, timeout_ms: _, memory_bytes, output_bytes, console_bytes, operations } = self;
        Budget { fuel, deadline, memory: memory_bytes, output: output_bytes, console: console_bytes, operations }
    }
}

impl From<&ClockReading> for RecordedReading {
    fn from(reading: &ClockReading) -> Self {
        Self { ms: u64::try_from(reading.at.as_millis()).unwrap_or(u64::MAX), times: reading.times }
    }
}

impl RecordedResult {
    pub(super) fn from_report(report: &Report) -> Self {
        let logs = report.logs.iter().map(|line| RecordedLog { level: line.level, text: line.text.clone() });
        let warnings = report.warnings.iter().map(|warning| RecordedWarning {
            place: match warning.place {
                ValueSide::Params => "params".to_owned(),
                ValueSide::Result => "result".to_owned(),
            },
            path: warning.path.clone(),
            message: warning.message.clone(),
        });
        let (fuel, load_fuel) = (report.usage.fuel, report.usage.load_fuel);
        let outcome = RecordedOutcome::from_outcome(&report.outcome);
        Self { outcome, logs: logs.collect(), warnings: warnings.collect(), fuel, load_fuel }
    }
}

impl RecordedOutcome {
    fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned(value) => Self::Returned(value.as_ref().map(ToString::to_string)),
            Outcome::Threw(thrown) => Self::Threw {
                name: thrown.name.clone(),
                message: thrown.message.clone(),
                line: thrown.line,
                column: thrown.column,
                stack: thrown.stack.clone(),
            },
            Outcome::Stopped(stop) => Self::Stopped { code: stop.code().to_string(), message: stop.to_string() },
        }
    }
}

/// A number as 16 hexadecimal digits: JSON parsers do not represent every 64-bit number.
mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(|_| D::Error::custom("a seed is 16 hexadecimal digits"))
    }
}

/// Bytes as base64 text (RFC 4648).
mod base64 {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| super::BASE64.encode(bytes)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let bytes = text.map(|text| super::BASE64.decode(text.as_bytes())).transpose();
        bytes.map_err(|error| D::Error::custom(format!("not base64: {error}")))
    }
}
