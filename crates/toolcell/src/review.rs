//! What gates make of the end of a run, before its caller sees it.
//!
//! Invariant: where a gate after a run fails, nobody sees the result. What was refused stays refused, whatever a gate says.

use std::time::Duration;

use serde_json::Value;
use toolcell_host::{Outcome, Place, Report, Thrown, Warning};
use toolcell_tool::ToolId;

use crate::gate::{Context, Ending, GateEnd, RESULT_WITHHELD};
use crate::permit::{Denial, Permit, to_be_shown};
use crate::toolbox::Toolbox;

/// A run as its caller sees it.
pub(crate) struct Seen {
    pub(crate) report: Report,
    pub(crate) context: Vec<Context>,
    pub(crate) suppressed: bool,
    pub(crate) revised_by: Option<String>,
}

impl Seen {
    /// All of it in a report: what gates add is a warning, and what they suppress is not there.
    pub(crate) fn into_report(self) -> Report {
        let Self { mut report, context, suppressed, revised_by: _ } = self;
        let mut warn = |message| report.warnings.push(Warning { place: Place::Result, path: String::new(), message });
        for Context { gate, text } in context {
            warn(format!("the gate `{gate}` says: {text}"));
        }
        if suppressed && matches!(report.outcome, Outcome::Returned(Some(_))) {
            warn("a gate keeps the output back".to_owned());
            report.outcome = Outcome::Returned(None);
        }
        report
    }
}

impl Toolbox {
    /// Shows the gates how a run ended, and gives what they make of it.
    pub(crate) fn review(
        &self,
        name: &str,
        id: Option<ToolId>,
        permit: Permit,
        mut report: Report,
    ) -> Result<Seen, Denial> {
        let mut suppressed = permit.is_suppressed();
        if self.gates.reviews_none() {
            return Ok(Seen { report, context: permit.into_context(), suppressed, revised_by: None });
        }
        let call = self.gate_call(name, id, to_be_shown(permit.args(), "gates")?);
        let reviewed = self.gates.review(&call, end(&report));
        suppressed |= reviewed.suppress_output;
        let mut context = permit.into_context();
        context.extend(reviewed.context);
        let Some(gate) = reviewed.decided_by else {
            return Ok(Seen { report, context, suppressed, revised_by: None });
        };
        let said = reviewed.end.error.unwrap_or_default();
        report.outcome = match reviewed.end.ending {
            Ending::Returned => Outcome::Returned(reviewed.end.result),
            Ending::Threw | Ending::Stopped => Outcome::Threw(Thrown {
                name: "Error".to_owned(),
                message: said,
                line: None,
                column: None,
                stack: String::new(),
            }),
            Ending::Refused => {
                let hint = format!("the tool ran, and the gate `{gate}` decides who sees what came of it");
                return Err(Denial::new(format!("gate {gate}"), said, hint));
            }
        };
        Ok(Seen { report, context, suppressed, revised_by: Some(gate) })
    }

    /// Tells the gates of a run that was refused.
    pub(crate) fn tell_refused(&self, name: &str, id: Option<ToolId>, args: Value, code: &str, why: String) {
        if !self.gates.reviews_none() && code != RESULT_WITHHELD {
            let end = GateEnd::failed(Ending::Refused, code, why, Duration::ZERO);
            // It is told and not asked: what they make of it does not count.
            let _ = self.gates.review(&self.gate_call(name, id, args), end);
        }
    }
}

/// The end of a run as gates see it.
fn end(report: &Report) -> GateEnd {
    let took = report.usage.duration;
    match &report.outcome {
        Outcome::Returned(value) => GateEnd::returned(value.clone(), took),
        Outcome::Threw(thrown) => {
            GateEnd::failed(Ending::Threw, "tool-failed", format!("{}: {}", thrown.name, thrown.message), took)
        }
        Outcome::Stopped(stop) => GateEnd::failed(Ending::Stopped, stop.code(), stop.to_string(), took),
    }
}
