//! The evidence for or against a tool: what was tried, and what came of it.
//!
//! ```text
//! examples → determinism → headroom → parameters → challenger
//! ```
//!
//! Invariant: nothing is evidence that did not run in the cell. What is kept can be run again: parameters, seed and time, and
//! what came of them.

mod challenge;
mod dictionary;
mod enforced;
mod examples;
mod inputs;
mod kinds;
mod numbers;
mod predicate;
mod samples;
mod strings;
mod text;
mod trial;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use challenge::challenge;
pub(crate) use dictionary::Dictionary;
pub(crate) use enforced::enforced;
pub(crate) use examples::{determinism, examples, headroom};
pub(crate) use inputs::{Inputs, Manner};
pub(crate) use trial::Trial;

/// The kind of the record of a proof.
pub const PROOF: &str = "proof";
/// The longest text of parameters or a result that a receipt has whole, in bytes.
const WHOLE_LIMIT: usize = 2 * 1024;
/// How many receipts a proof has at most, of the challenger's inputs the first ones.
const RECEIPTS_LIMIT: usize = 400;

/// What became of a tool that was tried. Its JSON is a record in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// The run that it is.
    pub run: String,
    /// The tool.
    pub tool: String,
    /// Its name.
    pub name: String,
    /// When it was tried; the time at which the clock of every run starts.
    pub at: Timestamp,
    /// What comes of it.
    pub verdict: Verdict,
    /// What was tried, in order.
    pub checks: Vec<Check>,
    /// The first input that shows that something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
    /// The seed of the inputs that were made.
    pub seed: u64,
    /// The image of the guest that ran it.
    pub image: String,
    /// The digest of the guest.
    pub guest: String,
    /// The version of the engine.
    pub engine: String,
    /// What ran, and what came of it.
    pub receipts: Vec<Receipt>,
}

/// What comes of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It does what is expected, and nothing was found that speaks against it.
    Passed,
    /// It does not.
    Failed,
    /// Nothing speaks against it, and nothing says what it should do: it has no example.
    Unproven,
}

impl Verdict {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unproven => "unproven",
        }
    }
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trying {
    /// That it does what its examples say.
    Examples,
    /// That the same call gives the same result for the same fuel, also on the interpreter.
    Determinism,
    /// That what its examples use is at most half of what it may.
    Headroom,
    /// That what it declares of its parameters is enforced.
    Parameters,
    /// That it bears what it declares that it takes, and returns what it claims.
    Challenger,
}

impl Trying {
    /// Its name in JSON.
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

/// How one kind of trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Nothing is wrong.
    Passed,
    /// Something is.
    Failed,
    /// There was nothing to try.
    Skipped,
}

impl Ended {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One kind of trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was tried.
    pub check: Trying,
    /// How it ended.
    pub verdict: Ended,
    /// How many runs it took.
    pub runs: u64,
    /// The most fuel that one of them burned.
    pub fuel: u64,
    /// What there is to say.
    pub says: String,
}

/// An input that shows that something is wrong, as small as it could be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counterexample {
    /// What was tried.
    pub check: Trying,
    /// What is wrong, in a word: `threw`, `result-mismatch`, or the code of a limit.
    pub kind: String,
    /// What is wrong.
    pub message: String,
    /// What the tool was given.
    pub parameters: Value,
    /// What it was given when this was found, where that was made smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_with: Option<Value>,
    /// Line and column of the source, where the tool threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(u32, u32)>,
}

/// One run of a proof: what it takes to run it again, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// What was tried.
    pub check: Trying,
    /// What the tool was given.
    pub parameters: Kept,
    /// How it ended: `returned`, `threw`, `stopped`.
    pub outcome: String,
    /// What it returned, or what it threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Kept>,
    /// The fuel of the call.
    pub fuel: u64,
}

/// A text that is kept whole where it is short, and else by what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Kept {
    /// All of it.
    Whole(String),
    /// Its hash and its size.
    Size(crate::record::Size),
}

impl Kept {
    pub(crate) fn of(text: &str) -> Self {
        if text.len() <= WHOLE_LIMIT { Self::Whole(text.to_owned()) } else { Self::Size(crate::record::Size::of(text)) }
    }
}

impl Check {
    pub(crate) fn passed(check: Trying, runs: u64, fuel: u64, says: impl Into<String>) -> Self {
        Self { check, verdict: Ended::Passed, runs, fuel, says: says.into() }
    }

    pub(crate) fn skipped(check: Trying, says: impl Into<String>) -> Self {
        Self { check, verdict: Ended::Skipped, runs: 0, fuel: 0, says: says.into() }
    }

    pub(crate) fn failed(check: Trying, runs: u64, fuel: u64, says: impl Into<String>) -> Self {
        Self { check, verdict: Ended::Failed, runs, fuel, says: says.into() }
    }
}
