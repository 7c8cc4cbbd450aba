//! The verification of a tool: the checks and their evidence.
//!
//! ```text
//! examples → determinism → headroom → parameters → challenger (property testing)
//! ```
//!
//! Invariant: only runs in the cell are evidence. What is stored can be run again: parameters, seed
//! and time, and the results.

#[cfg(feature = "proof")]
mod dictionary;
#[cfg(feature = "proof")]
mod enforcement;
#[cfg(feature = "proof")]
mod example_checks;
mod examples;
#[cfg(feature = "proof")]
mod fuzz;
#[cfg(feature = "proof")]
mod inputs;
#[cfg(feature = "proof")]
mod numbers;
mod predicate;
#[cfg(feature = "proof")]
mod strategies;
#[cfg(feature = "proof")]
mod text_edge_cases;
#[cfg(feature = "proof")]
mod text_kinds;
#[cfg(feature = "proof")]
mod text_samples;
mod trial;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolcell_analysis::Finding;
use toolcell_i18n::{Lang, Message};

pub use examples::ExampleComparison;
pub(crate) use examples::compare_examples;
pub(crate) use trial::Trial;

#[cfg(feature = "proof")]
pub(crate) use {
    dictionary::Dictionary,
    enforcement::check_enforcement,
    example_checks::{check_determinism, check_examples, check_headroom},
    fuzz::fuzz,
    inputs::InputGenerator,
    strategies::InputStyle,
};

/// The record kind of a proof.
pub const PROOF: &str = "proof";
/// The maximum size of parameters or a result that a receipt contains in full, in bytes.
const MAX_WHOLE_BYTES: usize = 2 * 1024;
/// The maximum number of receipts in a proof; of generated inputs, the first ones are kept.
const MAX_RECEIPTS: usize = 400;

/// The result of verifying a tool. Its JSON is a record in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// The run identifier of the verification.
    pub run: String,
    /// The identifier of the tool.
    pub tool: String,
    /// The name of the tool.
    pub name: String,
    /// The time of the verification, at which the clock of every run starts.
    pub at: Timestamp,
    /// The status.
    pub verdict: ProofStatus,
    /// The checks, in order.
    pub checks: Vec<Check>,
    /// The first input that fails a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
    /// What a type checker says about the source, if there is one. It does not decide the status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub type_errors: Vec<TypeErrorNote>,
    /// The seed of the generated inputs.
    pub seed: u64,
    /// The guest image.
    pub image: String,
    /// The digest of the guest.
    pub guest: String,
    /// The version of the engine.
    pub engine: String,
    /// The runs and their results.
    pub receipts: Vec<TrialReceipt>,
}

/// The status of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofStatus {
    /// The examples passed, and no check failed.
    Passed,
    /// A check failed.
    Failed,
    /// No check failed, but there is no example that states the expected result.
    Unproven,
}

impl ProofStatus {
    /// Returns the name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unproven => "unproven",
        }
    }
}

/// A kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// The examples give their expected results.
    Examples,
    /// The same call gives the same result for the same fuel, also on the interpreter.
    Determinism,
    /// The examples use at most half of each limit.
    Headroom,
    /// The declared parameter schema is enforced.
    Parameters,
    /// Property testing: generated inputs of the declared schema cause no fault, and the results
    /// match what the tool claims.
    Challenger,
}

impl CheckKind {
    /// Returns the name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Examples => "examples",
            Self::Determinism => "determinism",
            Self::Headroom => "headroom",
            Self::Parameters => "parameters",
            Self::Challenger => "challenger",
        }
    }
}

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// There was nothing to check.
    Skipped,
}

impl CheckStatus {
    /// Returns the name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The kind of check.
    pub check: CheckKind,
    /// The status.
    pub verdict: CheckStatus,
    /// The number of runs.
    pub runs: u64,
    /// The maximum fuel of a run.
    pub fuel: u64,
    /// The explanation. A stored one is in English.
    #[serde(deserialize_with = "stored_message")]
    pub says: Message,
}

/// An input that fails a check, shrunk as far as possible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counterexample {
    /// The kind of check.
    pub check: CheckKind,
    /// The kind of fault: `threw`, `result-mismatch`, or the code of a limit.
    pub kind: String,
    /// The message. A stored one is in English.
    #[serde(deserialize_with = "stored_message")]
    pub message: Message,
    /// The parameters.
    pub parameters: Value,
    /// The parameters before shrinking, if they were shrunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_with: Option<Value>,
    /// The line and column in the source, if the tool threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(u32, u32)>,
}

/// What a type checker says about a place in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeErrorNote {
    /// The message. A stored one is in English.
    #[serde(deserialize_with = "stored_message")]
    pub message: Message,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What to do about it, in English.
    pub suggestion: String,
}

impl From<&Finding> for TypeErrorNote {
    fn from(finding: &Finding) -> Self {
        let Finding { message, suggestion, location, .. } = finding;
        let (message, suggestion) = (message.clone(), (*suggestion).to_owned());
        Self { message, line: location.line, column: location.column, suggestion }
    }
}

impl TypeErrorNote {
    /// Returns the place and the message as one line.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        format!("{}:{} {}", self.line, self.column, self.message.to_text(lang))
    }
}

/// A run of a verification: its parameters and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialReceipt {
    /// The kind of check.
    pub check: CheckKind,
    /// The parameters.
    pub parameters: Captured,
    /// The outcome: `returned`, `threw`, `stopped`.
    pub outcome: String,
    /// The result, or the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Captured>,
    /// The fuel of the call.
    pub fuel: u64,
}

/// A text that is stored in full if it is short, and otherwise as a digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Captured {
    /// The full text.
    Whole(String),
    /// The hash and the size.
    Size(crate::records::ContentDigest),
}

/// Reads a message, which is stored as its English text.
fn stored_message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
    String::deserialize(deserializer).map(Message::verbatim)
}

impl Captured {
    pub(crate) fn new(text: &str) -> Self {
        if text.len() <= MAX_WHOLE_BYTES {
            Self::Whole(text.to_owned())
        } else {
            Self::Size(crate::records::ContentDigest::new(text))
        }
    }
}

impl Check {
    pub(crate) fn passed(check: CheckKind, runs: u64, fuel: u64, says: impl Into<Message>) -> Self {
        Self { check, verdict: CheckStatus::Passed, runs, fuel, says: says.into() }
    }

    pub(crate) fn skipped(check: CheckKind, says: impl Into<Message>) -> Self {
        Self { check, verdict: CheckStatus::Skipped, runs: 0, fuel: 0, says: says.into() }
    }

    pub(crate) fn failed(check: CheckKind, runs: u64, fuel: u64, says: impl Into<Message>) -> Self {
        Self { check, verdict: CheckStatus::Failed, runs, fuel, says: says.into() }
    }
}

/// Formats a value as JSON, truncated to 120 characters.
pub(crate) fn truncated_json(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
