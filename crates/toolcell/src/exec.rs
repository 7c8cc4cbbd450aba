//! Runs a draft once and stores nothing.
//!
//! Invariant: what runs is what was translated here, and it runs by the same road as a stored tool.

use std::borrow::Cow;

use toolcell_analysis::{Capabilities, Finding, Rejection, Script, quick_check, translate};
use toolcell_host::{Budget, CallError, Grant, Params, Report, Run};
use toolcell_store::audit::Action;
use toolcell_store::{Fault, RecordError};
use toolcell_tool::Draft;

use crate::cell::Code;
use crate::gate::RESULT_WITHHELD;
use crate::params::ParamsError;
use crate::permit::{Denial, NotAdmitted, Purpose, Subject};
use crate::policy::LimitError;
use crate::record::{Attempted, Ended};
use crate::toolbox::Toolbox;
use crate::vet::said;

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
    /// The limits that were asked for cannot be had.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A gate does not let it run.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// A gate made something of the parameters that they cannot be.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The sandbox did not take the call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It ran, and a gate that failed keeps back what came of it.
    #[error(transparent)]
    Withheld(Denial),
    /// It cannot be recorded, and does not run.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// It ran, and that could not be recorded.
    #[error("the tool ran, and that cannot be recorded: {0}")]
    Unrecorded(#[from] RecordError),
}

impl From<NotAdmitted> for ExecError {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Denied(denial) => Self::Denied(denial),
            NotAdmitted::Params(error) => Self::Params(error),
            NotAdmitted::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl ExecError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Source(error) => error.code(),
            Self::Refused(_) => "safety-check-failed",
            Self::Limit(error) => error.code(),
            Self::Denied(_) => "permission-denied",
            Self::Withheld(_) => RESULT_WITHHELD,
            Self::Unrecorded(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::Call(error) => error.code(),
            Self::Fault(error) => error.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Source(error) => error.hint().into(),
            Self::Refused(findings) => findings.first().map_or("", |finding| finding.suggestion).into(),
            Self::Limit(error) => error.hint().into(),
            Self::Denied(denial) | Self::Withheld(denial) => denial.hint.as_str().into(),
            Self::Unrecorded(error) => error.hint().into(),
            Self::Params(error) => error.hint().into(),
            Self::Call(error) => error.hint().into(),
            Self::Fault(error) => error.hint().into(),
        }
    }

    /// Line and column, where the draft itself is at fault.
    #[must_use]
    pub fn place(&self) -> Option<(u32, u32)> {
        let location = match self {
            Self::Source(error) => error.problems().first()?.location,
            Self::Refused(findings) => findings.first()?.location,
            _ => return None,
        };
        Some((location.line, location.column))
    }
}

impl Toolbox {
    /// Runs the tool in a draft. What it does is in the report; a draft that was run before is not evaluated again.
    ///
    /// Whoever hands in the draft has approved it: gates are asked, and a person is not. It is granted what `run` does for
    /// it, and gets what the policy allows at most.
    ///
    /// # Errors
    /// `syntax-error`, `syntax-unsupported`, `safety-check-failed` (a critical finding), `permission-denied`,
    /// `parameters-invalid` (a gate changed them), `limit-invalid`, `busy`, `no-instance`, and those of the disk.
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
        let mut attempted = Attempted::begin(self, Action::Exec, "host", draft.name(), params)?;
        let done = self.exec_attempted(draft, params, budget, run, precheck, &mut attempted);
        let ended = match &done {
            Ok(_) => Ended::AsItRan,
            Err(error) => Ended::Refused { code: error.code(), message: error.to_string() },
        };
        attempted.end(ended)?;
        done
    }

    /// The run itself.
    fn exec_attempted(
        &self,
        draft: &Draft,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
        precheck: Precheck,
        attempted: &mut Attempted<'_>,
    ) -> Result<Report, ExecError> {
        self.policy.admits(budget)?;
        let key = key(draft.name(), draft.source(), &run.operations.grants(), precheck);
        let kept = self.kept(&key);
        let script = if kept.is_none() { Some(checked(draft, precheck)?) } else { None };
        let args = self.anything.check(params.clone())?;
        let asked = Capabilities::default();
        let subject = Subject { name: draft.name(), schema: &self.anything, asked: &asked, tool: None };
        let permit =
            self.admit(&subject, args, *budget, Purpose::Run { person: None, caller: "host" }, &mut Vec::new())?;
        attempted.is_permitted(&permit);
        let code = match (kept, &script) {
            (Some(kept), _) => Code::Evaluated(kept),
            (None, Some(script)) => Code::Script(script),
            (None, None) => return Err(CallError::NoInstance("there is nothing to evaluate".to_owned()).into()),
        };
        let report = self.enter(key, draft.name(), code, &permit, run)?;
        attempted.has_run(&report);
        let seen = self.review(draft.name(), None, permit, report).map_err(ExecError::Withheld)?;
        Ok(seen.into_report())
    }
}

/// What a draft runs as, if nothing speaks against it.
fn checked(draft: &Draft, precheck: Precheck) -> Result<Script, ExecError> {
    match precheck {
        Precheck::Off => Ok(translate(draft.source(), draft.language())?),
        Precheck::Critical => {
            let (script, findings) = quick_check(draft.source(), draft.language())?;
            if findings.is_empty() { Ok(script) } else { Err(ExecError::Refused(findings)) }
        }
    }
}

/// The key of a draft with a name and grants.
fn key(name: &str, source: &str, grants: &[Grant], precheck: Precheck) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared script");
    hasher.update(&[u8::from(precheck == Precheck::Off)]);
    for part in [name, source] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    for grant in grants {
        hasher.update(grant.name().as_bytes()).update(b"\0");
        if let Grant::Secrets { names } = grant {
            // A name has no `:`, which is in no name of a grant either.
            hasher.update(names.join(":").as_bytes()).update(b"\0");
        }
    }
    hasher.finalize()
}
