//! Runs a draft once and stores nothing.
//!
//! Invariant: what runs is what was translated here, and where it throws is told in the author's own text.

use toolcell_analysis::{Finding, Rejection, quick_check, translate};
use toolcell_host::{Budget, CallError, Loaded, Outcome, Params, Report, Run, Script, Thrown};
use toolcell_tool::Draft;

use crate::toolbox::{self, Kept, Toolbox};

/// Whether a draft is looked at before it runs. Isolation does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precheck {
    /// What has a critical finding does not run.
    #[default]
    Critical,
    /// Everything runs that can be translated.
    Off,
}

/// A draft was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The draft is no source that runs here.
    #[error(transparent)]
    Source(#[from] Rejection),
    /// The analysis refuses it.
    #[error("{}", said(.0))]
    Refused(Vec<Finding>),
    /// The sandbox did not take the call.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl ExecError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Source(error) => error.code(),
            Self::Refused(_) => "safety-check-failed",
            Self::Call(error) => error.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Source(error) => error.hint(),
            Self::Refused(findings) => findings.first().map_or("", |finding| finding.suggestion),
            Self::Call(error) => error.hint(),
        }
    }

    /// Line and column, where the draft itself is at fault.
    #[must_use]
    pub fn place(&self) -> Option<(u32, u32)> {
        let location = match self {
            Self::Source(error) => error.problems().first()?.location,
            Self::Refused(findings) => findings.first()?.location,
            Self::Call(_) => return None,
        };
        Some((location.line, location.column))
    }
}

fn said(findings: &[Finding]) -> String {
    let shown = findings.iter().map(|finding| {
        let place = finding.location;
        format!("{} ({}) at {}:{}", finding.message, finding.rule.name(), place.line, place.column)
    });
    shown.collect::<Vec<_>>().join("; ")
}

impl Toolbox {
    /// Runs the tool in a draft. What it does is in the report; a draft that was run before is not evaluated again.
    ///
    /// # Errors
    /// `syntax-error`, `syntax-unsupported`, `safety-check-failed` (a critical finding), `limit-invalid`, `busy`,
    /// `no-instance`.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{Budget, Draft, Outcome, Params, Precheck, Run, SandboxConfig, Toolbox};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let draft = Draft::from_bytes(
    ///     "average.ts",
    ///     b"const execute = ({ xs }: { xs: number[] }) => xs.reduce((a, b) => a + b) / xs.length",
    /// )?;
    /// let params = Params::parse(r#"{"xs": [1, 2, 4.5]}"#)?;
    /// let report = toolbox.exec(&draft, &params, &Budget::default(), &Run::default(), Precheck::Critical)?;
    /// assert!(matches!(report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "2.5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exec(
        &self,
        draft: &Draft,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
        precheck: Precheck,
    ) -> Result<Report, ExecError> {
        let key = toolbox::key(draft.name(), draft.source(), &run.operations.grants(), precheck);
        let kept = match self.kept(&key) {
            Some(kept) => kept,
            None => match self.prepare(draft, budget, run, precheck)? {
                Ok(kept) => self.keep(key, kept),
                Err(report) => return Ok(report),
            },
        };
        let mut report = self.sandbox.call(&kept.prepared, params, budget, run)?;
        lead_back(&mut report, draft.name(), &kept.script);
        Ok(report)
    }

    /// Translates and evaluates a draft; the report is of one that did not load.
    fn prepare(
        &self,
        draft: &Draft,
        budget: &Budget,
        run: &Run<'_>,
        precheck: Precheck,
    ) -> Result<Result<Kept, Report>, ExecError> {
        let script = match precheck {
            Precheck::Off => translate(draft.source(), draft.language())?,
            Precheck::Critical => {
                let (script, findings) = quick_check(draft.source(), draft.language())?;
                if !findings.is_empty() {
                    return Err(ExecError::Refused(findings));
                }
                script
            }
        };
        let evaluated = Script { name: draft.name(), source: script.code() };
        Ok(match self.sandbox.prepare(&evaluated, budget, run)? {
            Loaded::Ready(prepared) => Ok(Kept { prepared, script }),
            Loaded::Ended(mut report) => {
                lead_back(&mut report, draft.name(), &script);
                Err(report)
            }
        })
    }
}

/// Makes the positions in a report those of the author's text.
fn lead_back(report: &mut Report, name: &str, script: &toolcell_analysis::Script) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    if !script.is_compiled() {
        return;
    }
    if let (Some(line), Some(column)) = (thrown.line, thrown.column) {
        let (line, column) = script.original(line, column);
        (thrown.line, thrown.column) = (Some(line), Some(column));
    }
    lead_stack_back(thrown, name, script);
}

/// `at execute (tool.ts:3:7)` with the author's line and column.
fn lead_stack_back(thrown: &mut Thrown, name: &str, script: &toolcell_analysis::Script) {
    let marker = format!("{name}:");
    let lines = thrown.stack.lines().map(|line| {
        let Some((before, place)) = line.rsplit_once(&marker) else { return line.to_owned() };
        let digits = place.trim_end_matches(')');
        let Some((row, column)) = digits.split_once(':') else { return line.to_owned() };
        let (Ok(row), Ok(column)) = (row.parse(), column.parse()) else { return line.to_owned() };
        let (row, column) = script.original(row, column);
        format!("{before}{marker}{row}:{column}{}", &place[digits.len()..])
    });
    thrown.stack = lines.collect::<Vec<_>>().join("\n");
}
