//! The way into the sandbox, which is the only one.
//!
//! Invariant: no script is evaluated and no tool is called but here, and only for who has a [`Permit`]. A test lists the
//! roads that lead here.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolcell_host::{
    Asleep, CallError, Called, FuelCovers, Home, Outcome, Profile, Report, Run, Script, Thrown, WakeError,
};

use crate::cells::{Loaded, Prepared};
use crate::permit::Permit;
use crate::toolbox::Toolbox;

/// A script that was evaluated once, and the way back to the author's text.
pub(crate) struct Kept {
    prepared: Prepared,
    script: toolcell_analysis::Script,
    /// Which tool is meant, where a factory made several.
    tool: Option<String>,
}

/// What is called.
pub(crate) enum Code<'a> {
    /// A script that was evaluated before.
    Evaluated(Arc<Kept>),
    /// One that was not.
    Script(&'a toolcell_analysis::Script),
}

impl Kept {
    /// How many bytes keeping it takes.
    pub(crate) fn size(&self) -> usize {
        self.prepared.size() + self.script.code().len()
    }

    /// What the script says of its tools.
    pub(crate) fn manifest(&self) -> &toolcell_host::Json {
        self.prepared.manifest()
    }
}

impl Toolbox {
    /// Evaluates a script; the report is of one that did not load.
    pub(crate) fn evaluate(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        permit: &Permit,
        run: &Run<'_>,
    ) -> Result<Result<Kept, Report>, CallError> {
        let evaluated = Script { name, source: script.code() };
        Ok(match self.sandbox.prepare(&evaluated, permit.budget(), run)? {
            Loaded::Ready(prepared) => {
                let tools = tools(&prepared);
                let tool = tools.iter().find(|tool| tools.len() > 1 && *tool == name).cloned();
                Ok(Kept { prepared, script: script.clone(), tool })
            }
            Loaded::Ended(mut report) => {
                lead_back(&mut report, name, script);
                Err(report)
            }
        })
    }

    /// Calls a tool, which is evaluated before where it was not yet.
    pub(crate) fn enter(
        &self,
        key: blake3::Hash,
        name: &str,
        code: Code<'_>,
        permit: &Permit,
        run: &Run<'_>,
    ) -> Result<Report, CallError> {
        let started = Instant::now();
        let kept = match self.evaluated(key, name, code, permit, run)? {
            Ok(kept) => kept,
            Err(report) => return Ok(report),
        };
        self.call_kept(&kept, name, permit, &with_what_is_left(run, permit, started))
    }

    /// Calls a tool that is evaluated for this call alone, as one was before.
    pub(crate) fn enter_again(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        evaluating: (&Permit, &Run<'_>),
        calling: (&Permit, &Run<'_>),
    ) -> Result<Report, CallError> {
        let started = Instant::now();
        match self.evaluate(name, script, evaluating.0, evaluating.1)? {
            Ok(kept) => self.call_kept(&kept, name, calling.0, &with_what_is_left(calling.1, calling.0, started)),
            Err(report) => Ok(report),
        }
    }

    fn call_kept(&self, kept: &Kept, name: &str, permit: &Permit, run: &Run<'_>) -> Result<Report, CallError> {
        let run = Run { tool: run.tool.or(kept.tool.as_deref()), ..*run };
        let mut report = self.sandbox.call(&kept.prepared, permit.args().params(), permit.budget(), &run)?;
        lead_back(&mut report, name, &kept.script);
        if let Some(slot) = run.profile {
            slot.revise(|profile| lead_profile_back(profile, &kept.script));
        }
        Ok(report)
    }

    /// Calls a tool likewise, and puts the call to sleep where what it waits for says so.
    pub(crate) fn enter_or_sleep(
        &self,
        key: blake3::Hash,
        name: &str,
        code: Code<'_>,
        permit: &Permit,
        run: &Run<'_>,
    ) -> Result<Called, CallError> {
        let started = Instant::now();
        let kept = match self.evaluated(key, name, code, permit, run)? {
            Ok(kept) => kept,
            Err(report) => return Ok(Called::Ended(report)),
        };
        let run = with_what_is_left(run, permit, started);
        let run = Run { tool: run.tool.or(kept.tool.as_deref()), ..run };
        let params = permit.args().params();
        let mut called = self.sandbox.call_or_sleep(&kept.prepared, params, permit.budget(), &run)?;
        if let Called::Ended(report) = &mut called {
            lead_back(report, name, &kept.script);
        }
        Ok(called)
    }

    /// Goes on with a call that was put to sleep, for who has a permit for it.
    pub(crate) fn wake(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        _: &Permit,
        asleep: &Asleep,
        run: &Run<'_>,
    ) -> Result<Called, WakeError> {
        let mut called = self.sandbox.wake(asleep, &Script { name, source: script.code() }, run)?;
        if let Called::Ended(report) = &mut called {
            lead_back(report, name, script);
        }
        Ok(called)
    }

    /// A script that was evaluated; the report is of one that did not load.
    fn evaluated(
        &self,
        key: blake3::Hash,
        name: &str,
        code: Code<'_>,
        permit: &Permit,
        run: &Run<'_>,
    ) -> Result<Result<Arc<Kept>, Report>, CallError> {
        match code {
            Code::Evaluated(kept) => Ok(Ok(kept)),
            Code::Script(script) => Ok(self.evaluate(name, script, permit, run)?.map(|kept| self.keep(key, kept))),
        }
    }
}

impl Toolbox {
    /// Calls a tool on the interpreter, whatever the image of this toolbox is: it is made when it is needed first. Nothing is
    /// kept for the next call.
    pub(crate) fn enter_interpreter(
        &self,
        name: &str,
        script: &toolcell_analysis::Script,
        permit: &Permit,
        run: &Run<'_>,
    ) -> Result<Report, CallError> {
        let sandbox = self.interpreter().map_err(|error| CallError::NoInstance(error.to_owned()))?;
        let started = Instant::now();
        let evaluated = Script { name, source: script.code() };
        let mut report = match sandbox.prepare(&evaluated, permit.budget(), run)? {
            Loaded::Ready(prepared) => {
                let tools = tools(&prepared);
                let tool = tools.iter().find(|tool| tools.len() > 1 && *tool == name);
                let run = Run { tool: tool.map(String::as_str), ..with_what_is_left(run, permit, started) };
                sandbox.call(&prepared, permit.args().params(), permit.budget(), &run)?
            }
            Loaded::Ended(report) => report,
        };
        lead_back(&mut report, name, script);
        Ok(report)
    }
}

/// The run of a call whose script was loaded since then, if it had to be: both have one deadline, and one limit of fuel.
fn with_what_is_left<'a>(run: &Run<'a>, permit: &Permit, started: Instant) -> Run<'a> {
    let limit = permit.budget().deadline;
    let time = run.time.unwrap_or(limit).min(limit).saturating_sub(started.elapsed());
    Run { time: Some(time), fuel_covers: FuelCovers::LoadingAndCall, ..*run }
}

/// The names of the tools that a factory made; one without a name is none.
fn tools(prepared: &Prepared) -> Vec<String> {
    let manifest: Value = serde_json::from_str(prepared.manifest().as_str()).unwrap_or_default();
    let named = |tool: &Value| tool["name"].as_str().map(str::to_owned);
    manifest["tools"].as_array().into_iter().flatten().filter_map(named).collect()
}

/// Makes the positions in a report those of the author's text.
fn lead_back(report: &mut Report, name: &str, script: &toolcell_analysis::Script) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    if !script.is_compiled() {
        return;
    }
    let first = lead_stack_back(thrown, name, script);
    if let (Some(line), Some(column)) = (thrown.line, thrown.column) {
        // What a compiled decorator throws is told where the author used it.
        let place = script.original(line, column).or(first);
        (thrown.line, thrown.column) = (place.map(|place| place.0), place.map(|place| place.1));
    }
}

/// Makes the positions in a profile those of the author's text.
fn lead_profile_back(profile: &mut Profile, script: &toolcell_analysis::Script) {
    if !script.is_compiled() {
        return;
    }
    // What the author did not write is in no line.
    let lead =
        |line: &mut u32, column: &mut u32| (*line, *column) = script.original(*line, *column).unwrap_or_default();
    for function in profile.functions.iter_mut().filter(|function| function.home == Home::Tool) {
        lead(&mut function.line, &mut function.column);
    }
    let frames = profile.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
    for frame in frames.filter(|frame| frame.line > 0) {
        if profile.functions[frame.function].home == Home::Tool {
            lead(&mut frame.line, &mut frame.column);
        }
    }
}

/// `at execute (tool.ts:3:7)` with the author's line and column; frames that the author did not write are left out. Gives
/// the first place.
fn lead_stack_back(thrown: &mut Thrown, name: &str, script: &toolcell_analysis::Script) -> Option<(u32, u32)> {
    let marker = format!("{name}:");
    let mut first = None;
    let lines = thrown.stack.lines().filter_map(|line| {
        let whole = || Some(line.to_owned());
        let Some((before, place)) = line.rsplit_once(&marker) else { return whole() };
        let digits = place.trim_end_matches(')');
        let Some((row, column)) = digits.split_once(':') else { return whole() };
        let (Ok(row), Ok(column)) = (row.parse(), column.parse()) else { return whole() };
        let (row, column) = script.original(row, column)?;
        first.get_or_insert((row, column));
        Some(format!("{before}{marker}{row}:{column}{}", &place[digits.len()..]))
    });
    thrown.stack = lines.collect::<Vec<_>>().join("\n");
    first
}
