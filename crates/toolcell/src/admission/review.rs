//! The post-run hooks, which revise the outcome of a run before its caller sees it.
//!
//! Invariant: if a post-run hook fails, the result is withheld. A refused run stays refused,
//! whatever a hook returns.

use std::time::Duration;

use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_host::{Outcome, Report, Thrown, ValueSide, Warning};
use toolcell_i18n::{Localize, Message, message};
use toolcell_tool::ToolId;

use super::AdmissionControl;
use super::denial::Denial;
use super::hook::{EndKind, HookContext, HookTools, PostRunEvent};
use super::permit::{HookCaller, Permit, args_to_show};

/// A run as its caller sees it.
pub(crate) struct ReviewedRun {
    pub(crate) report: Report,
    pub(crate) context: Vec<HookContext>,
    pub(crate) output_suppressed: bool,
    pub(crate) revised_by: Option<String>,
}

impl ReviewedRun {
    /// Converts the reviewed run into a report: hook texts become warnings, and a suppressed output
    /// is removed.
    pub(crate) fn into_report(self) -> Report {
        let Self { mut report, context, output_suppressed: suppressed, revised_by: _ } = self;
        let mut warn =
            |message| report.warnings.push(Warning { place: ValueSide::Result, path: String::new(), message });
        for HookContext { hook, text } in context {
            warn(format!("the hook `{hook}` says: {text}"));
        }
        if suppressed && matches!(report.outcome, Outcome::Returned(Some(_))) {
            warn("a hook hid the output".to_owned());
            report.outcome = Outcome::Returned(None);
        }
        report
    }
}

impl AdmissionControl {
    /// Runs the post-run hooks on a report, and returns the revised run.
    pub(crate) fn run_post_hooks(
        &self,
        name: &str,
        id: Option<ToolId>,
        permit: Permit,
        mut report: Report,
        hook_tools: &dyn HookTools,
    ) -> Result<ReviewedRun, Denial> {
        let mut suppressed = permit.is_output_suppressed();
        if self.hooks.has_no_post_hooks() {
            return Ok(ReviewedRun {
                report,
                context: permit.into_context(),
                output_suppressed: suppressed,
                revised_by: None,
            });
        }
        let call = self.hook_event(name, id, args_to_show(permit.args(), "hooks")?);
        let call = permit.caller().map_or(call.clone(), |caller| caller.sign(call));
        let reviewed = self.hooks.review_with(&call, post_run_event(&report), hook_tools);
        suppressed |= reviewed.suppress_output;
        let mut context = permit.into_context();
        context.extend(reviewed.context);
        let Some(hook) = reviewed.decided_by else {
            return Ok(ReviewedRun { report, context, output_suppressed: suppressed, revised_by: None });
        };
        let failure = reviewed.steps.iter().find_map(|step| step.failure.as_ref());
        let said = reviewed.end.error.unwrap_or_default();
        report.outcome = match reviewed.end.kind {
            EndKind::Returned => Outcome::Returned(reviewed.end.result),
            EndKind::Threw | EndKind::Stopped => Outcome::Threw(Thrown {
                name: "Error".to_owned(),
                message: said,
                line: None,
                column: None,
                stack: String::new(),
            }),
            EndKind::Refused => {
                let reason = failure.map_or_else(|| Message::verbatim(said), Localize::localize);
                let hint = message!("the tool ran, and the hook `{hook}` withheld its result", hook);
                return Err(Denial::new(format!("hook {hook}"), reason, hint));
            }
        };
        Ok(ReviewedRun { report, context, output_suppressed: suppressed, revised_by: Some(hook) })
    }

    /// Notifies the post-run hooks of a refused run.
    pub(crate) fn notify_refused(
        &self,
        (name, id): (&str, Option<ToolId>),
        args: Value,
        caller: &HookCaller,
        (code, why): (ErrorCode, String),
        hook_tools: &dyn HookTools,
    ) {
        if !self.hooks.has_no_post_hooks() && code != ErrorCode::ResultWithheld {
            let end = PostRunEvent::failed(EndKind::Refused, code, why, Duration::ZERO);
            // This is a notification: the hooks' verdicts have no effect.
            let _ = self.hooks.review_with(&caller.sign(self.hook_event(name, id, args)), end, hook_tools);
        }
    }
}

/// Creates the event that post-run hooks receive.
fn post_run_event(report: &Report) -> PostRunEvent {
    let took = report.usage.duration;
    match &report.outcome {
        Outcome::Returned(value) => PostRunEvent::returned(value.clone(), took),
        Outcome::Threw(thrown) => PostRunEvent::failed(
            EndKind::Threw,
            ErrorCode::ToolFailed,
            format!("{}: {}", thrown.name, thrown.message),
            took,
        ),
        Outcome::Stopped(stop) => PostRunEvent::failed(EndKind::Stopped, stop.code(), stop.to_string(), took),
    }
}
