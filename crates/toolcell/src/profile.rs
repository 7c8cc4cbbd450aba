//! Where the fuel of a run goes: by function, by line, and by what called what.
//!
//! A run that is profiled is a run like any other: it is admitted, does what it is granted to do, and leaves its record. It comes
//! out the same and burns the same fuel; only its time differs.
//!
//! Invariant: the fuel of the functions and what is charged to none of them add up to the fuel of the run, to the unit, and so
//! does the fuel of the lines with what is outside of them. A profile that does not add up is not read.

mod compare;
mod sum;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcell_host::{Budget, ENGINE_VERSION, GUEST_DIGEST, Outcome, Params, ProfileSlot, Report, Run};
use toolcell_tool::Draft;

use crate::exec::{ExecError, Precheck};
use crate::request::RunTool;
use crate::run::{Ran, RunError, RunOptions};
use crate::toolbox::Toolbox;

pub use compare::{Change, ProfileDifference};

/// What the form of a profile is called, in its JSON.
const FORMAT: &str = "toolcell-profile-1";

/// Where the fuel of a run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Which form this is.
    format: String,
    /// The name of the tool.
    pub tool: String,
    /// What counted the fuel. Fuel of two models cannot be compared.
    pub model: FuelModel,
    /// How the run ended: `returned`, `threw`, or the code of what stopped it.
    pub outcome: String,
    /// Fuel of the run.
    pub fuel: u64,
    /// Fuel that evaluating the script took before; it is not a part of the profile.
    pub load_fuel: u64,
    /// How many samples were taken. Fuel between two samples is charged to what is running at the second one.
    pub samples: u64,
    /// What is charged to no function.
    pub outside: Outside,
    /// The functions, the most expensive first.
    pub functions: Vec<FunctionFuel>,
    /// The lines of the tool that fuel is charged to, in order.
    pub lines: Vec<LineFuel>,
    /// What was on the stack, in order.
    pub stacks: Vec<StackFuel>,
}

/// What counts fuel: the same run of the same tool burns the same of it under the same model alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuelModel {
    /// blake3 of the guest, in hexadecimal.
    pub guest: String,
    /// The version of Wasmtime.
    pub engine: String,
}

impl FuelModel {
    /// The one of this version of Toolcell.
    #[must_use]
    pub fn current() -> Self {
        Self { guest: GUEST_DIGEST.to_owned(), engine: ENGINE_VERSION.to_owned() }
    }
}

/// Fuel that is charged to no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outside {
    /// While no function was running: parameters are read, jobs are taken up, the result is written.
    pub engine: u64,
    /// Of other tools that this one called.
    pub other_tools: u64,
    /// After the last sample: nothing says what was running.
    pub unattributed: u64,
}

impl Outside {
    fn sum(self) -> u64 {
        [self.engine, self.other_tools, self.unattributed].into_iter().fold(0, u64::saturating_add)
    }
}

/// Fuel of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionFuel {
    /// Its name, or `(anonymous)`.
    pub name: String,
    /// Whose it is: of the `tool`, of the `library` that Toolcell gives tools, or of the `engine`.
    pub home: String,
    /// The line where it begins, of one of the tool.
    pub line: Option<u32>,
    /// While it was running itself.
    pub own: u64,
    /// While it was running, or waited for what it called.
    pub total: u64,
}

/// Fuel of a line of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineFuel {
    /// Its number in the author's text, from 1.
    pub line: u32,
    /// While it was running itself, with the functions of the engine and of the library that it called.
    pub own: u64,
    /// The same with the functions of the tool that it called.
    pub total: u64,
    /// The line, or its beginning.
    pub text: String,
}

/// Fuel of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackFuel {
    /// Which functions, the outermost first: a position in [`Profile::functions`], and a line of the tool or 0.
    pub frames: Vec<(usize, u32)>,
    /// Fuel.
    pub fuel: u64,
}

/// A profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is no profile.
    #[error("this is no profile: {0}")]
    Malformed(String),
    /// Two profiles whose fuel was counted differently.
    #[error(
        "the profiles count fuel differently: the guest {} under Wasmtime {}, and the guest {} under Wasmtime {}",
        short(&before.guest), before.engine, short(&after.guest), after.engine
    )]
    Models {
        /// What counted the first one's.
        before: Box<FuelModel>,
        /// What counted the second one's.
        after: Box<FuelModel>,
    },
}

impl ProfileError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "profile-invalid",
            Self::Models { .. } => "profile-model-mismatch",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "name a file that `toolcell profile --json` wrote",
            Self::Models { .. } => "take both profiles with the same version of toolcell",
        }
    }
}

/// The beginning of a digest.
fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

impl Profile {
    /// Reads a profile from its JSON.
    ///
    /// # Errors
    /// `profile-invalid`: it is none, or it does not add up.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = serde_json::from_str(text).map_err(|error| ProfileError::Malformed(error.to_string()))?;
        if profile.format != FORMAT {
            let format = profile.format.chars().take(40).collect::<String>();
            return Err(ProfileError::Malformed(format!("its format is `{format}`, not `{FORMAT}`")));
        }
        let mut frames = profile.stacks.iter().flat_map(|stack| &stack.frames);
        if frames.any(|(function, _)| *function >= profile.functions.len()) {
            return Err(ProfileError::Malformed("a stack names a function that is not there".to_owned()));
        }
        let sum = |parts: &mut dyn Iterator<Item = u64>| parts.fold(profile.outside.sum(), u64::saturating_add);
        let functions = sum(&mut profile.functions.iter().map(|function| function.own));
        let stacks = sum(&mut profile.stacks.iter().map(|stack| stack.fuel));
        for (parts, sum) in [("functions", functions), ("stacks", stacks)] {
            if sum != profile.fuel {
                let fuel = profile.fuel;
                return Err(ProfileError::Malformed(format!(
                    "its {parts} add up to {sum} fuel, the run burned {fuel}"
                )));
            }
        }
        Ok(profile)
    }

    /// Its JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Text and numbers: there is nothing in it that cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Fuel that is charged to no line of the tool.
    #[must_use]
    pub fn outside_of_lines(&self) -> u64 {
        self.lines.iter().fold(self.fuel, |left, line| left.saturating_sub(line.own))
    }

    /// The stacks in the folded form that programs draw flame graphs from (Gregg, `stackcollapse`): the names of functions, the
    /// outermost first, and the fuel; each stack once, in order.
    #[must_use]
    pub fn folded(&self) -> Vec<String> {
        sum::folded(self)
    }

    fn of(name: &str, source: &str, report: &Report, slot: &ProfileSlot) -> Self {
        let usage = &report.usage;
        let outcome = match &report.outcome {
            Outcome::Returned(_) => "returned",
            Outcome::Threw(_) => "threw",
            Outcome::Stopped(stop) => stop.code(),
        };
        let empty = Self {
            format: FORMAT.to_owned(),
            tool: name.to_owned(),
            model: FuelModel::current(),
            outcome: outcome.to_owned(),
            fuel: usage.fuel,
            load_fuel: usage.load_fuel,
            samples: 0,
            outside: Outside { unattributed: usage.fuel, ..Outside::default() },
            functions: Vec::new(),
            lines: Vec::new(),
            stacks: Vec::new(),
        };
        // A script that does not load is not called.
        slot.take().map_or_else(|| empty.clone(), |sampled| sum::of(&sampled, source, empty.clone()))
    }
}

impl Toolbox {
    /// Runs a stored tool, as [`Toolbox::run`] does, and says where its fuel went.
    ///
    /// # Errors
    /// As [`Toolbox::run`].
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "sum".to_owned(),
    ///     description: "Adds numbers up".to_owned(),
    ///     code: "function execute({ n }) {\n  let s = 0;\n  for (let i = 0; i < n; i++) s += i;\n  return s;\n}".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::of("sum", Params::parse(r#"{"n": 10000}"#)?);
    /// let (ran, profile) = toolbox.profile(&request, &RunOptions::default())?;
    /// assert_eq!(profile.fuel, ran.report.usage.fuel);
    /// assert_eq!(profile.functions[0].name, "execute");
    /// let hottest = profile.lines.iter().max_by_key(|line| line.own).unwrap();
    /// assert_eq!(hottest.line, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(&self, request: &RunTool, options: &RunOptions) -> Result<(Ran, Profile), RunError> {
        let slot = Arc::new(ProfileSlot::default());
        let options = RunOptions { profile: Some(Arc::clone(&slot)), ..options.clone() };
        let ran = self.run(request, &options)?;
        let entry = self.find_tool(Some(&ran.tool.to_string()), None).ok();
        let ready = entry.and_then(|entry| self.ready(&entry).ok());
        let tool = ready.as_ref().and_then(|ready| ready.vetted.as_ref().ok());
        let source = tool.map_or("", |tool| tool.spec().source());
        let profile = Profile::of(ran.name.as_str(), source, &ran.report, &slot);
        Ok((ran, profile))
    }

    /// Runs a draft, as [`Toolbox::exec`] does, and says where its fuel went.
    ///
    /// # Errors
    /// As [`Toolbox::exec`].
    pub fn profile_draft(
        &self,
        draft: &Draft,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
        precheck: Precheck,
    ) -> Result<(Report, Profile), ExecError> {
        let slot = ProfileSlot::default();
        let report = self.exec(draft, params, budget, &Run { profile: Some(&slot), ..*run }, precheck)?;
        let profile = Profile::of(draft.name(), draft.source(), &report, &slot);
        Ok((report, profile))
    }
}
