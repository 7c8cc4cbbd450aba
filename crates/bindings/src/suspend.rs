//! Runs that may be suspended, and their continuation.
//!
//! Invariant: a run that is suspended is in the store before the host hears of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcell::{CallbackTicket, Effects, FunctionFailure, Lang, ResumeRequest, RunOutcome, RunTool, SuspendedRun};

use crate::effects::HeldResponse;
use crate::failure::Failure;
use crate::run::{CallOptions, CompletedRun, RunControl};
use crate::session::Session;

/// How a run that may be suspended ended.
pub enum EndedRun {
    /// It took place.
    Completed(Box<CompletedRun>),
    /// It was suspended; the text is JSON: `run`, `toolId`, `toolName`, `held`, `tickets`, `bytes`, `record`.
    Suspended(String),
}

/// The answer of a function of the host that answered later.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LaterAnswer {
    Value(Value),
    Error(String),
}

impl Session {
    /// Runs a stored tool, and suspends the run when all that it waits for takes time.
    ///
    /// # Errors
    /// As [`Toolbox::run_suspendable`](toolcell::Toolbox::run_suspendable).
    pub fn run_suspendable(
        &self,
        tool: &str,
        params: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<EndedRun, Failure> {
        let request = RunTool::new(tool, self.parse_params(params)?);
        let (options, cancel) = (self.run_options(options, &control)?, control.cancel);
        let ended = self.toolbox.run_suspendable(&request, &options);
        let ended = ended.map_err(|error| Failure::from_run(&error, self.lang).unless_cancelled(&cancel))?;
        Ok(EndedRun::new(ended, self.lang))
    }

    /// Resumes a suspended run. `answers` is a JSON object: for each ticket `{"value": …}` or `{"error": "message"}`.
    ///
    /// # Errors
    /// As [`Toolbox::resume`](toolcell::Toolbox::resume).
    pub fn resume(
        &self,
        run: &str,
        answers: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<EndedRun, Failure> {
        let answers: BTreeMap<String, LaterAnswer> = serde_json::from_str(answers)
            .map_err(|error| Failure::request(format!("the answers of functions are invalid: {error}")))?;
        let answers = answers.into_iter().map(|(ticket, answer)| (ticket, answer.into_result())).collect();
        let (options, cancel) = (self.run_options(options, &control)?, control.cancel);
        let ended = self.toolbox.resume(&ResumeRequest { run: run.to_owned(), answers }, &options);
        let ended = ended.map_err(|error| Failure::from_run(&error, self.lang).unless_cancelled(&cancel))?;
        Ok(EndedRun::new(ended, self.lang))
    }

    /// Lists the suspended runs.
    pub(crate) fn suspended(&self) -> Result<Value, Failure> {
        let runs = self.toolbox.suspended_runs();
        let runs = runs.map_err(|fault| Failure::from_error(&fault, fault.code(), fault.hint(), self.lang))?;
        let runs = runs.iter().map(|one| {
            json!({
                "run": one.run.to_string(), "toolId": one.tool.to_string(), "toolName": one.name, "caller": one.caller,
                "since": one.since.to_string(), "bytes": one.bytes,
            })
        });
        Ok(json!({ "runs": runs.collect::<Vec<_>>() }))
    }
}

impl LaterAnswer {
    fn into_result(self) -> Result<Value, FunctionFailure> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Error(message) => Err(FunctionFailure { message, effects: Effects::Started }),
        }
    }
}

impl EndedRun {
    fn new(ended: RunOutcome, lang: Lang) -> Self {
        match ended {
            RunOutcome::Finished(ran) => Self::Completed(Box::new(CompletedRun::of_tool(*ran, lang))),
            RunOutcome::Suspended(suspended) => Self::Suspended(suspended_json(&suspended, lang)),
        }
    }
}

/// A run that was suspended, as JSON for the host's language.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SuspendedResponse<'a> {
    run: String,
    tool_id: String,
    tool_name: &'a str,
    held: Vec<HeldResponse<'a>>,
    tickets: &'a [CallbackTicket],
    bytes: u64,
    record: Option<String>,
}

fn suspended_json(suspended: &SuspendedRun, lang: Lang) -> String {
    let response = SuspendedResponse {
        run: suspended.run.to_string(),
        tool_id: suspended.tool.to_string(),
        tool_name: suspended.name.as_str(),
        held: suspended.held.iter().map(|held| HeldResponse::new(held, lang)).collect(),
        tickets: &suspended.tickets,
        bytes: suspended.bytes,
        record: suspended.record.map(|hash| hash.to_string()),
    };
    // Strings and numbers always serialize.
    serde_json::to_string(&response).unwrap_or_default()
}
