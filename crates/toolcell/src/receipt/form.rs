//! What is in a receipt.
//!
//! Invariant: each field is written in one way only, so that the same run has the same text.

use std::time::Duration;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_analysis::{Script, translate};
use toolcell_host::{Budget, Effects, Grant, Level, Outcome, Place, Reading, Report};
use toolcell_tool::{Draft, Language, ToolId, ToolName, ToolSpec};

use super::error::{ReceiptError, ReplayError};

/// All that a run depended on, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Contents {
    pub(super) tool: Tool,
    /// The digest of the guest.
    pub(super) guest: String,
    /// The version of the engine.
    pub(super) engine: String,
    /// The kind of image that ran. All of them give the same.
    pub(super) image: String,
    pub(super) policy: Rules,
    /// The parameters as the tool got them.
    pub(super) parameters: String,
    #[serde(with = "hex")]
    pub(super) seed: u64,
    /// Where the virtual clock started, in nanoseconds since 1970.
    pub(super) started_at: u64,
    pub(super) call_id: String,
    /// What the real clock said, where the tool saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) readings: Option<Vec<Read>>,
    pub(super) journal: Journal,
    pub(super) result: Came,
}

/// The tool, so that it can be made anew without a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) id: ToolId,
    pub(super) name: String,
    pub(super) source: String,
    /// What it declares that it takes, as JSON text. A number is kept there as it is written.
    pub(super) parameters: String,
    /// What it declares that it asks for, as JSON text.
    pub(super) capabilities: String,
}

/// Under which rules it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// What the policy granted.
    pub(super) grants: Value,
    /// What existed for the tool because of it.
    pub(super) visible: Vec<Grant>,
    pub(super) limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Limits {
    fuel: u64,
    timeout_ms: u64,
    memory_bytes: usize,
    output_bytes: usize,
    console_bytes: usize,
    operations: u32,
}

/// What the real clock said, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// In milliseconds since 1970.
    pub(super) ms: u64,
    pub(super) times: u64,
}

/// What the host was asked and what it answered, wait by wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Journal {
    Waits(Vec<Wait>),
    /// Why there is none: the code.
    Missing(String),
}

/// One wait of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// What was asked for since the last one, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) started: Vec<Begun>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cancelled: Vec<u32>,
    /// What ended, in the order in which the tool saw it.
    pub(super) ended: Vec<Settled>,
    /// In nanoseconds.
    pub(super) took: u64,
    /// Fuel of tools that ran for this one.
    pub(super) fuel: u64,
}

/// What a tool asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begun {
    pub(super) id: u32,
    pub(super) kind: String,
    /// The blake3 of the details, and of what came along.
    pub(super) payload: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settled {
    pub(super) id: u32,
    pub(super) result: Answer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Answer {
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

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Came {
    pub(super) outcome: Ended,
    pub(super) logs: Vec<Log>,
    pub(super) warnings: Vec<Warned>,
    pub(super) fuel: u64,
    pub(super) load_fuel: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Ended {
    /// JSON text; nothing for `undefined`.
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
pub(super) struct Log {
    level: Level,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Warned {
    /// `params` or `result`.
    place: String,
    path: String,
    message: String,
}

impl Tool {
    pub(super) fn of(name: &ToolName, spec: &ToolSpec) -> Self {
        // It was hashed in this form, so it has one.
        let text = |value: &Value| serde_json::to_string(value).unwrap_or_default();
        Self {
            id: spec.id(),
            name: name.to_string(),
            source: spec.source().to_owned(),
            parameters: text(spec.parameters()),
            capabilities: text(spec.capabilities()),
        }
    }

    /// What it runs as, if all of it is what its identifier says.
    pub(super) fn script(&self) -> Result<Script, ReplayError> {
        let spec = self.spec().filter(|spec| spec.id() == self.id);
        let spec = spec.ok_or(ReceiptError::OtherTool { tool: self.id })?;
        Ok(translate(spec.source(), Language::Unsaid)?)
    }

    fn spec(&self) -> Option<ToolSpec> {
        let name = ToolName::parse(&self.name).ok()?;
        let draft = Draft::from_bytes(&self.name, self.source.as_bytes()).ok()?;
        let parameters = serde_json::from_str(&self.parameters).ok()?;
        let capabilities = serde_json::from_str(&self.capabilities).ok()?;
        ToolSpec::new(name, &draft, parameters, capabilities).ok()
    }
}

impl Limits {
    pub(super) fn of(budget: &Budget) -> Self {
        Self {
            fuel: budget.fuel,
            timeout_ms: u64::try_from(budget.deadline.as_millis()).unwrap_or(u64::MAX),
            memory_bytes: budget.memory,
            output_bytes: budget.output,
            console_bytes: budget.console,
            operations: budget.operations,
        }
    }

    /// The budget of a run with these limits and this deadline.
    pub(super) fn budget(self, deadline: Duration) -> Budget {
        let Self { fuel, timeout_ms: _, memory_bytes, output_bytes, console_bytes, operations } = self;
        Budget { fuel, deadline, memory: memory_bytes, output: output_bytes, console: console_bytes, operations }
    }
}

impl From<&Reading> for Read {
    fn from(reading: &Reading) -> Self {
        Self { ms: u64::try_from(reading.at.as_millis()).unwrap_or(u64::MAX), times: reading.times }
    }
}

impl Came {
    pub(super) fn of(report: &Report) -> Self {
        let logs = report.logs.iter().map(|line| Log { level: line.level, text: line.text.clone() });
        let warnings = report.warnings.iter().map(|warning| Warned {
            place: match warning.place {
                Place::Params => "params".to_owned(),
                Place::Result => "result".to_owned(),
            },
            path: warning.path.clone(),
            message: warning.message.clone(),
        });
        let (fuel, load_fuel) = (report.usage.fuel, report.usage.load_fuel);
        let outcome = Ended::of(&report.outcome);
        Self { outcome, logs: logs.collect(), warnings: warnings.collect(), fuel, load_fuel }
    }
}

impl Ended {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned(value) => Self::Returned(value.as_ref().map(ToString::to_string)),
            Outcome::Threw(thrown) => Self::Threw {
                name: thrown.name.clone(),
                message: thrown.message.clone(),
                line: thrown.line,
                column: thrown.column,
                stack: thrown.stack.clone(),
            },
            Outcome::Stopped(stop) => Self::Stopped { code: stop.code().to_owned(), message: stop.to_string() },
        }
    }
}

/// A number in all its hexadecimal digits: programs that read JSON do not hold each number of 64 bits.
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

/// Bytes as text (RFC 4648).
mod base64 {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| super::BASE64.encode(bytes)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let bytes = text.map(|text| super::BASE64.decode(text.as_bytes())).transpose();
        bytes.map_err(|error| D::Error::custom(format!("no base64: {error}")))
    }
}
