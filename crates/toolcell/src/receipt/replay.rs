//! Does a run again, from its receipt alone.
//!
//! Invariant: nothing outside of the cell is reached and nothing is recorded. What the tool asks for is compared with what it
//! asked for then, and where it is the same it gets what it got then.

mod clock;
mod operations;

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use toolcell_analysis::Script;
use toolcell_host::{
    Budget, CancelToken, ENGINE_VERSION, FuelCovers, GUEST_DIGEST, Outcome, Params, Report, Run, Stop, WhenFull,
};

use super::Receipt;
use super::error::{ReceiptError, ReplayError};
use super::form::{Came, Contents, Ended, Journal, Read, Wait};
use crate::permit::Permit;
use crate::toolbox::Toolbox;

use clock::clock;
use operations::Replay;

/// How long a replay may take: the interpreter may do again what a native image did.
const PATIENCE: Duration = Duration::from_mins(10);
/// The most memory that a call may have.
const MEMORY_MOST: usize = 1 << 30;
/// How much of an outcome a difference shows, in characters.
const SHOWN: usize = 200;

/// How a run is done again.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// What to do where the run was in another guest or engine.
    pub other_version: OtherVersion,
    /// Ends it from another thread.
    pub cancel: Option<CancelToken>,
}

/// What to do with a run in another guest or engine, whose fuel is counted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OtherVersion {
    /// Refuse it by name.
    #[default]
    Refuse,
    /// Do it all the same, and say so.
    Note,
}

/// What came of doing a run again.
#[derive(Debug, Clone)]
#[must_use = "a run that came out otherwise is in here as well"]
pub struct Replayed {
    /// How it ended.
    pub outcome: Outcome,
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// What is not as it was.
    pub differences: Vec<Difference>,
    /// What was another guest or engine, where that was not to be refused.
    pub notes: Vec<String>,
}

impl Replayed {
    /// Whether everything is as it was.
    #[must_use]
    pub fn is_reproduced(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// In a word: `journal`, `clock`, `outcome`, `logs`, `warnings`, `fuel`, `load-fuel`.
    pub about: &'static str,
    /// In a sentence.
    pub says: String,
}

impl Toolbox {
    /// Does a run again, and says what is not as it was. It needs no store and no policy: nothing outside of the cell is
    /// reached, and no gate is asked. What the tool may use is what it might then, with up to 10 minutes for it.
    ///
    /// # Errors
    /// `receipt-guest`, `receipt-engine` (unless that is only to be noted), `receipt-not-repeatable` (time or somebody ended it),
    /// `receipt-too-large` (it has no journal), `receipt-changed` (its source is that of another tool), `syntax-error`,
    /// `limit-invalid`, `busy`, `no-instance`.
    pub fn replay(&self, receipt: &Receipt, options: &ReplayOptions) -> Result<Replayed, ReplayError> {
        let run = &receipt.form.run;
        let notes = versions(run, options.other_version)?;
        let waits = waits(run)?;
        let script = run.tool.script()?;
        let limits = run.policy.limits.budget(PATIENCE);
        // A tool that was evaluated before may have been so within larger limits than those of this call.
        let loading = Budget { fuel: limits.fuel.max(run.result.load_fuel), ..limits };
        let mut again = self.again(run, &script, waits, loading, options)?;
        if again.has_no_memory() && again.report.usage.load_fuel != run.result.load_fuel {
            again = self.again(run, &script, waits, Budget { memory: MEMORY_MOST, ..loading }, options)?;
        }
        let Again { report: Report { outcome, usage, .. }, differences } = again;
        Ok(Replayed { outcome, fuel: usage.fuel, load_fuel: usage.load_fuel, differences, notes })
    }

    /// Evaluates the script within these limits, and calls it within its own.
    fn again(
        &self,
        contents: &Contents,
        script: &Script,
        waits: &[Wait],
        loading: Budget,
        options: &ReplayOptions,
    ) -> Result<Again, ReplayError> {
        let permit = |budget| {
            let invalid = |error: &dyn Display| ReceiptError::Invalid(format!("the parameters: {error}"));
            let params = Params::parse(contents.parameters.as_str()).map_err(|error| invalid(&error))?;
            let args = self.anything.check(params).map_err(|error| invalid(&error))?;
            Ok::<_, ReceiptError>(Permit::to_replay(args, budget))
        };
        let permits = (permit(loading)?, permit(contents.policy.limits.budget(PATIENCE))?);
        let operations = Replay::new(&contents.policy.visible, waits);
        // Evaluating a script and calling it each read the clock from where the run began.
        let clocks = [clock(contents.readings.as_deref()), clock(contents.readings.as_deref())];
        let [evaluating, calling] = clocks.each_ref().map(|clock| Run {
            tool: None,
            call_id: &contents.call_id,
            seed: contents.seed,
            started_at: Duration::from_nanos(contents.started_at),
            clock: clock.as_ref(),
            operations: &operations,
            cancel: options.cancel.as_ref(),
            partial: None,
            when_full: WhenFull::Wait,
            profile: None,
            time: None,
            fuel_covers: FuelCovers::LoadingAndCall,
        });
        let (evaluating, calling) = ((&permits.0, &evaluating), (&permits.1, &calling));
        let report = self.enter_again(&contents.tool.name, script, evaluating, calling)?;
        let differences = differences(contents, &report, operations.difference());
        Ok(Again { report, differences })
    }
}

/// A run that was done again.
struct Again {
    report: Report,
    differences: Vec<Difference>,
}

impl Again {
    fn has_no_memory(&self) -> bool {
        matches!(self.report.outcome, Outcome::Stopped(Stop::OutOfMemory { .. }))
    }
}

/// Refuses what ran in another version, or notes it.
fn versions(run: &Contents, other: OtherVersion) -> Result<Vec<String>, ReplayError> {
    let mut notes = Vec::new();
    let mut differs = |error: ReplayError| match other {
        OtherVersion::Refuse => Err(error),
        OtherVersion::Note => {
            notes.push(error.to_string());
            Ok(())
        }
    };
    if run.guest != GUEST_DIGEST {
        differs(ReplayError::OtherGuest { receipt: run.guest.clone(), here: GUEST_DIGEST.to_owned() })?;
    }
    if run.engine != ENGINE_VERSION {
        differs(ReplayError::OtherEngine { receipt: run.engine.clone(), here: ENGINE_VERSION.to_owned() })?;
    }
    Ok(notes)
}

/// What the host answered, if the run can be done again.
fn waits(run: &Contents) -> Result<&[Wait], ReplayError> {
    if let Ended::Stopped { code, .. } = &run.result.outcome
        && is_by_time(code)
    {
        return Err(ReplayError::NotRepeatable { stop: code.clone() });
    }
    match &run.journal {
        Journal::Waits(waits) => Ok(waits),
        Journal::Missing(_) => Err(ReplayError::TooLarge),
    }
}

/// Whether a stop comes at another moment each time.
fn is_by_time(code: &str) -> bool {
    code == Stop::Deadline { limit: PATIENCE }.code() || code == Stop::Cancelled.code()
}

/// What is not as it was. The first thing that went otherwise comes first.
fn differences(run: &Contents, report: &Report, of_journal: Option<String>) -> Vec<Difference> {
    let (then, now) = (&run.result, Came::of(report));
    let mut all: Vec<Difference> = of_journal.map(|says| Difference { about: "journal", says }).into_iter().collect();
    let mut differs = |about, says: String| all.push(Difference { about, says });
    let read: Vec<Read> = report.readings.iter().map(Read::from).collect();
    let before = run.readings.as_deref().unwrap_or_default();
    if read != before {
        let first = read.iter().zip(before).take_while(|(one, other)| one == other).count() + 1;
        differs("clock", format!("the tool looks at the clock otherwise, from reading {first} on"));
    }
    if now.outcome != then.outcome {
        differs("outcome", format!("it {}, in the receipt it {}", now.outcome.shown(), then.outcome.shown()));
    }
    for (about, same, first) in [
        ("logs", now.logs == then.logs, first(&now.logs, &then.logs)),
        ("warnings", now.warnings == then.warnings, first(&now.warnings, &then.warnings)),
    ] {
        if !same {
            differs(about, format!("the {about} are others, from line {first} on"));
        }
    }
    for (about, name, now, then) in [
        ("fuel", "the fuel of the call", now.fuel, then.fuel),
        ("load-fuel", "the fuel of loading the script", now.load_fuel, then.load_fuel),
    ] {
        if now != then {
            differs(about, format!("{name} is {now} units, in the receipt it is {then}"));
        }
    }
    all
}

/// The number of the first line that differs.
fn first<T: PartialEq>(now: &[T], then: &[T]) -> usize {
    now.iter().zip(then).take_while(|(one, other)| one == other).count() + 1
}

impl Ended {
    /// In some words.
    fn shown(&self) -> String {
        let text = match self {
            Self::Returned(None) => "returns nothing".to_owned(),
            Self::Returned(Some(value)) => format!("returns {value}"),
            Self::Threw { name, message, .. } => format!("throws {name}: {message}"),
            Self::Stopped { message, .. } => format!("is stopped: {message}"),
        };
        if text.chars().count() <= SHOWN {
            text
        } else {
            format!("{}…", text.chars().take(SHOWN).collect::<String>())
        }
    }
}
