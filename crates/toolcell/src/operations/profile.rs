//! Fuel profiles of runs: by function, by line, and by call stack.
//!
//! A profiled run is a normal run: it is admitted, performs its host calls, and leaves its record.
//! It has the same result and burns the same fuel; only its time differs.
//!
//! Invariant: the fuel of the functions and the unattributed fuel add up exactly to the fuel of the
//! run, and so do the fuel of the lines and the fuel outside of them. A profile that does not add
//! up is refused.

mod aggregate;
mod compare;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcell_host::{Budget, CallContext, ENGINE_VERSION, GUEST_DIGEST, Outcome, Params, ProfileSlot, Report};
use toolcell_i18n::{Message, message};
use toolcell_tool::Draft;

use super::exec::{CODE_NAME, CodeResult, ExecError, Precheck, exec, run_code};
use super::lookup::find_tool;
use super::run::{RunError, RunResult, run};
use crate::execution::RunOptions;
use crate::parts::Parts;
use crate::receipt::{Receipt, ReplayError, ReplayOptions, ReplayResult, replay_profiled};
use crate::request::{RunCode, RunTool};

pub use compare::{ProfileDelta, ProfileDifference};

/// The format name in the JSON of a profile.
const FORMAT: &str = "toolcell-profile-1";

/// The maximum length of the name of a function in characters, and the maximum number of frames of a stack: more than
/// the profiler takes.
const MAX_NAME_CHARS: usize = 512;
const MAX_STACK_FRAMES: usize = 512;

/// The fuel profile of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Profile {
    /// The format name.
    format: String,
    /// The name of the tool.
    pub tool: String,
    /// The versions that metered the fuel. Fuel of different models cannot be compared.
    pub model: FuelModel,
    /// The outcome: `returned`, `threw`, or the code of the stop.
    pub outcome: String,
    /// Fuel of the run.
    pub fuel: u64,
    /// Fuel of loading the script, which is not part of the profile.
    #[serde(alias = "load_fuel")]
    pub load_fuel: u64,
    /// The number of samples. Fuel between two samples is charged to the code that runs at the
    /// second one.
    pub samples: u64,
    /// Fuel that is charged to no function.
    pub outside: Unattributed,
    /// The functions, the most expensive first.
    pub functions: Vec<FunctionFuel>,
    /// The lines of the tool that fuel is charged to, in order.
    pub lines: Vec<LineFuel>,
    /// The call stacks, in order.
    pub stacks: Vec<StackFuel>,
}

/// The versions that determine fuel: only under the same model does the same run of the same tool
/// burn the same fuel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuelModel {
    /// The blake3 hash of the guest in hexadecimal.
    pub guest: String,
    /// The version of Wasmtime.
    pub engine: String,
}

impl FuelModel {
    /// Returns the model of this version of Toolcell.
    #[must_use]
    pub fn current() -> Self {
        Self { guest: GUEST_DIGEST.to_owned(), engine: ENGINE_VERSION.to_owned() }
    }
}

/// Fuel that is charged to no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Unattributed {
    /// Fuel of the engine while no function runs: parsing parameters, running jobs, serializing the
    /// result.
    pub engine: u64,
    /// Fuel of other tools that this one called.
    #[serde(alias = "other_tools")]
    pub other_tools: u64,
    /// Fuel after the last sample, when the running code is unknown.
    pub unattributed: u64,
}

impl Unattributed {
    fn sum(self) -> u64 {
        [self.engine, self.other_tools, self.unattributed].into_iter().fold(0, u64::saturating_add)
    }
}

/// Fuel of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionFuel {
    /// The name, or `(anonymous)`.
    pub name: String,
    /// The origin: the `tool`, the `library` that Toolcell provides, or the `engine`.
    pub home: String,
    /// The line where the function starts, for functions of the tool.
    pub line: Option<u32>,
    /// Fuel of the function itself.
    pub own: u64,
    /// Fuel of the function and of the functions that it called.
    pub total: u64,
}

/// Fuel of a line of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineFuel {
    /// The line number in the source, counted from 1.
    pub line: u32,
    /// Fuel of the line itself, including engine and library functions that it called.
    pub own: u64,
    /// The same, including the tool's functions that it called.
    pub total: u64,
    /// The text of the line, truncated.
    pub text: String,
}

/// Fuel of a call stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackFuel {
    /// The frames, the outermost first: an index into [`Profile::functions`], and a line of the
    /// tool or 0.
    pub frames: Vec<(usize, u32)>,
    /// The fuel.
    pub fuel: u64,
}

/// The error of reading or comparing profiles.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ProfileError {
    /// The text is not a valid profile.
    #[error("not a profile: {0}")]
    #[code(ProfileInvalid)]
    #[hint("pass a file written by `toolcell profile --json`")]
    Malformed(Message),
    /// There is nothing to draw: the tool does not load.
    #[error("{tool} used no fuel, so there is nothing to draw")]
    #[code(ProfileEmpty)]
    #[hint("check why the tool does not load")]
    Empty {
        /// The name of the tool.
        tool: String,
    },
    /// The profiles were metered by different models.
    #[error(
        "the profiles use different fuel models: guest {} under Wasmtime {}, and guest {} under Wasmtime {}",
        short_digest(&before.guest), before.engine, short_digest(&after.guest), after.engine
    )]
    #[code(ProfileModelMismatch)]
    #[hint("record both profiles with the same version of toolcell")]
    ModelMismatch {
        /// The model of the first profile.
        before: Box<FuelModel>,
        /// The model of the second profile.
        after: Box<FuelModel>,
    },
}

/// Returns the first digits of a digest.
fn short_digest(digest: &str) -> String {
    digest.chars().take(12).collect()
}

impl Profile {
    /// Parses a profile from its JSON.
    ///
    /// # Errors
    /// `profile-invalid`: the text is not a profile, or its fuel does not add up.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = serde_json::from_str(text)
            .map_err(|error| ProfileError::Malformed(Message::verbatim(error.to_string())))?;
        if profile.format != FORMAT {
            let format = profile.format.chars().take(40).collect::<String>();
            return Err(ProfileError::Malformed(message!(
                "its format is `{format}`, not `{expected}`",
                format,
                expected = FORMAT
            )));
        }
        let longest = profile.functions.iter().map(|function| function.name.chars().count()).max();
        if let Some(count) = longest.filter(|count| *count > MAX_NAME_CHARS) {
            let limit = MAX_NAME_CHARS;
            return Err(ProfileError::Malformed(message!(
                "a function has a name of {count} characters, the limit is {limit}",
                count,
                limit
            )));
        }
        let deepest = profile.stacks.iter().map(|stack| stack.frames.len()).max();
        if let Some(count) = deepest.filter(|count| *count > MAX_STACK_FRAMES) {
            let limit = MAX_STACK_FRAMES;
            return Err(ProfileError::Malformed(message!(
                "a stack has {count} frames, the limit is {limit}",
                count,
                limit
            )));
        }
        let mut frames = profile.stacks.iter().flat_map(|stack| &stack.frames);
        if frames.any(|(function, _)| *function >= profile.functions.len()) {
            return Err(ProfileError::Malformed(message!("a stack refers to an unknown function")));
        }
        let sum = |parts: &mut dyn Iterator<Item = u64>| parts.fold(profile.outside.sum(), u64::saturating_add);
        let functions = sum(&mut profile.functions.iter().map(|function| function.own));
        let stacks = sum(&mut profile.stacks.iter().map(|stack| stack.fuel));
        let fuel = profile.fuel;
        let error = |why| Err(ProfileError::Malformed(why));
        if functions != fuel {
            return error(message!("its functions add up to {sum} fuel, the run burned {fuel}", sum = functions, fuel));
        }
        if stacks != fuel {
            return error(message!("its stacks add up to {sum} fuel, the run burned {fuel}", sum = stacks, fuel));
        }
        Ok(profile)
    }

    /// Returns the JSON of the profile on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Text and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the fuel that is charged to no line of the tool.
    #[must_use]
    pub fn fuel_outside_lines(&self) -> u64 {
        self.lines.iter().fold(self.fuel, |left, line| left.saturating_sub(line.own))
    }

    /// Returns the stacks in the folded format of flame graph tools (Gregg, `stackcollapse`):
    /// function names, the outermost first, and the fuel; each stack once, in order.
    #[must_use]
    pub fn folded_stacks(&self) -> Vec<String> {
        aggregate::folded_stacks(self)
    }

    fn from_report(name: &str, source: &str, report: &Report, slot: &ProfileSlot) -> Self {
        let usage = &report.usage;
        let outcome = match &report.outcome {
            Outcome::Returned(_) => "returned",
            Outcome::Threw(_) => "threw",
            Outcome::Stopped(stop) => stop.code().as_str(),
        };
        let empty = Self {
            format: FORMAT.to_owned(),
            tool: name.to_owned(),
            model: FuelModel::current(),
            outcome: outcome.to_owned(),
            fuel: usage.fuel,
            load_fuel: usage.load_fuel,
            samples: 0,
            outside: Unattributed { unattributed: usage.fuel, ..Unattributed::default() },
            functions: Vec::new(),
            lines: Vec::new(),
            stacks: Vec::new(),
        };
        // A script that fails to load is not called.
        slot.take().map_or_else(|| empty.clone(), |sampled| aggregate::aggregate(&sampled, source, empty.clone()))
    }
}

/// Runs a stored tool as [`run`] does, and returns its fuel profile.
pub(crate) fn profile(
    parts: &Parts,
    request: &RunTool,
    options: &RunOptions,
) -> Result<(RunResult, Profile), RunError> {
    let slot = Arc::new(ProfileSlot::default());
    let options = RunOptions { profile: Some(Arc::clone(&slot)), ..options.clone() };
    let ran = run(parts, request, &options)?;
    let entry = find_tool(parts, Some(&ran.tool.to_string()), None).ok();
    let ready = entry.and_then(|entry| parts.load_tool(&entry).ok());
    let tool = ready.as_ref().and_then(|ready| ready.vetted.as_ref().ok());
    let source = tool.map_or("", |tool| tool.spec().source());
    let profile = Profile::from_report(ran.name.as_str(), source, &ran.report, &slot);
    Ok((ran, profile))
}

/// Replays a run as [`replay`](crate::receipt::replay) does, and returns its fuel profile.
pub(crate) fn profile_replay(
    parts: &Parts,
    receipt: &Receipt,
    options: &ReplayOptions,
) -> Result<(ReplayResult, Profile), ReplayError> {
    let slot = ProfileSlot::default();
    let (replayed, report) = replay_profiled(&parts.runtime, receipt, options, Some(&slot))?;
    Ok((replayed, Profile::from_report(receipt.name(), receipt.source(), &report, &slot)))
}

/// Runs code as [`run_code`] does, and returns its fuel profile.
pub(crate) fn profile_code(
    parts: &Parts,
    request: &RunCode,
    options: &RunOptions,
) -> Result<(CodeResult, Profile), ExecError> {
    let slot = Arc::new(ProfileSlot::default());
    let options = RunOptions { profile: Some(Arc::clone(&slot)), ..options.clone() };
    let ran = run_code(parts, request, &options)?;
    let profile = Profile::from_report(CODE_NAME, &request.code, &ran.report, &slot);
    Ok((ran, profile))
}

/// Runs a draft as [`exec`] does, and returns its fuel profile.
pub(crate) fn profile_draft(
    parts: &Parts,
    draft: &Draft,
    params: &Params,
    budget: &Budget,
    run: &CallContext<'_>,
    precheck: Precheck,
) -> Result<(Report, Profile), ExecError> {
    let slot = ProfileSlot::default();
    let report = exec(parts, draft, params, budget, &CallContext { profile: Some(&slot), ..*run }, &precheck.into())?;
    let profile = Profile::from_report(draft.name(), draft.source(), &report, &slot);
    Ok((report, profile))
}
