//! The operations besides runs, by name: a JSON request, and a JSON answer.
//!
//! Each answer has the keys of the command line's JSON, and `text` is what a model reads.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcell::hook::{decision_json, parse_call};
use toolcell::policy::HookProtocol;
use toolcell::{
    Adoption, CancelToken, CreateTool, DecideOptions, DeleteResponse, DeleteTool, Draft, Lang, Language, ListTools,
    ReflectOnTask, RunOptions, RunTool, ToolDetails, ToolResponse, VerifyOptions, analyze, deleted_text, read_request,
};
use toolcell_error::ErrorCode;

use crate::failure::Failure;
use crate::host::{Host, finding_json, prompt_json};
use crate::session::Session;

/// An error with the code and the hint of an operation.
macro_rules! failure {
    ($lang:expr) => {
        |error| Failure::from_error(&error, error.code(), error.hint(), $lang)
    };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolParams {
    tool: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApproveParams {
    tool: String,
    by: String,
    #[serde(default)]
    digest: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowParams {
    tool: String,
    #[serde(default)]
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchParams {
    query: String,
    #[serde(default = "default_hits")]
    limit: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyParams {
    tool: String,
    #[serde(default)]
    cases: Option<u32>,
    #[serde(default)]
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdoptParams {
    name: String,
    source: String,
    #[serde(default)]
    replace: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainParams {
    tool: String,
    #[serde(default)]
    parameters: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyzeParams {
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct DecideParams {
    call: Value,
    /// Whether the approver is asked where the answer is `ask`.
    #[serde(default)]
    ask: bool,
}

const fn default_hits() -> usize {
    10
}

impl Session {
    /// Performs an operation: `create`, `adopt`, `list`, `show`, `delete`, `search`, `reflect`, `verify`, `decide`,
    /// `explain`, `approval`, `approve`, `refuse`, `pending`, `analyze`, `suspended`, `replay`, `generation`,
    /// `definitions`, `questions`, `find_tests` or `run_test`. `host` has the approver, and `cancel` ends a
    /// verification, a replay and a test.
    ///
    /// # Errors
    /// `request-invalid`, and the codes of the operation.
    pub fn call(
        &self,
        operation: &str,
        request: &str,
        host: &Arc<dyn Host>,
        cancel: &CancelToken,
    ) -> Result<String, Failure> {
        let answer = match operation {
            "create" => self.create(request),
            "adopt" => self.adopt(&parse(request)?),
            "list" => self.list(request),
            "show" => self.show(&parse(request)?),
            "delete" => self.delete(&parse(request)?),
            "search" => self.search(&parse(request)?),
            "reflect" => self.reflect(request),
            "verify" => self.verify(&parse(request)?, host, cancel),
            "decide" => self.decide(&parse(request)?, host),
            "explain" => self.explain(parse(request)?),
            "approval" => self.approval(&parse(request)?),
            "approve" => self.approve(&parse(request)?),
            "refuse" => self.refuse(&parse(request)?),
            "pending" => self.pending(),
            "analyze" => self.analyze(&parse(request)?),
            "suspended" => self.suspended(),
            "replay" => self.replay(&parse(request)?, cancel),
            "generation" => self.generation(),
            "definitions" => self.definitions(parse(request)?),
            "find_tests" => Self::find_tests(&parse(request)?),
            "run_test" => self.run_test(&parse(request)?, cancel),
            "questions" => Ok(self.questions(&parse(request)?)),
            other => Err(Failure::request(format!("there is no operation `{}`", other.escape_debug()))),
        };
        answer.map(|answer| answer.to_string())
    }

    fn create(&self, request: &str) -> Result<Value, Failure> {
        let request: CreateTool = read_request(request).map_err(failure!(self.lang))?;
        let created = self.toolbox.create(&request).map_err(failure!(self.lang))?;
        Ok(with_text(created.response(), created.to_text(self.lang)))
    }

    fn adopt(&self, AdoptParams { name, source, replace }: &AdoptParams) -> Result<Value, Failure> {
        let draft = Draft::from_bytes(name, source.as_bytes()).map_err(failure!(self.lang))?;
        let adopted = self.toolbox.adopt(&draft, *replace).map_err(failure!(self.lang))?;
        let tools = adopted.iter().map(|tool| match &tool.result {
            Ok(Adoption::Created(created)) => {
                json!({"name": tool.name, "id": created.id.to_string(), "created": true})
            }
            Ok(Adoption::Unchanged(id)) => json!({"name": tool.name, "id": id.to_string(), "created": false}),
            Err(error) => {
                let failure = Failure::from_error(error, error.code(), error.hint(), self.lang);
                json!({"name": tool.name, "error": failure})
            }
        });
        Ok(json!({ "tools": tools.collect::<Vec<_>>() }))
    }

    fn list(&self, request: &str) -> Result<Value, Failure> {
        let request: ListTools = read_request(request).map_err(failure!(self.lang))?;
        let listed = self.toolbox.list(&request).map_err(failure!(self.lang))?;
        Ok(with_text(listed.response(), listed.to_text(self.lang)))
    }

    fn show(&self, ShowParams { tool, version }: &ShowParams) -> Result<Value, Failure> {
        let shown = self.toolbox.show(tool, *version).map_err(failure!(self.lang))?;
        Ok(details_json(&shown))
    }

    fn delete(&self, ToolParams { tool }: &ToolParams) -> Result<Value, Failure> {
        let is_id = toolcell::IdPrefix::parse(tool).is_ok();
        let (tool_id, tool_name) = if is_id { (Some(tool.clone()), None) } else { (None, Some(tool.clone())) };
        let request = DeleteTool { tool_id, tool_name, confirm: true };
        let deleted = self.toolbox.delete(&request).map_err(failure!(self.lang))?;
        Ok(with_text(DeleteResponse::from(&deleted), deleted_text(&deleted, self.lang)))
    }

    fn search(&self, SearchParams { query, limit }: &SearchParams) -> Result<Value, Failure> {
        let hits = self.toolbox.search(query, *limit).map_err(failure!(self.lang))?;
        let tools = hits.iter().map(|hit| {
            let mut tool = json!(ToolResponse::from_entry(&hit.entry, None));
            tool["coverage"] = hit.coverage.into();
            tool
        });
        Ok(json!({ "tools": tools.collect::<Vec<_>>() }))
    }

    fn reflect(&self, request: &str) -> Result<Value, Failure> {
        let request: ReflectOnTask = read_request(request).map_err(failure!(self.lang))?;
        let reflected = self.toolbox.reflect(&request).map_err(failure!(self.lang))?;
        Ok(with_text(reflected.body(), reflected.to_text(self.lang)))
    }

    fn verify(
        &self,
        VerifyParams { tool, cases, seed }: &VerifyParams,
        host: &Arc<dyn Host>,
        cancel: &CancelToken,
    ) -> Result<Value, Failure> {
        let options = VerifyOptions {
            caller: self.caller.clone(),
            cases: cases.unwrap_or(VerifyOptions::default().cases),
            seed: *seed,
            approver: self.approver(host),
            cancel: Some(cancel.clone()),
        };
        let proof = self.toolbox.verify(tool, &options).map_err(failure!(self.lang))?;
        let mut answer = json!(proof);
        if let Some(fields) = answer.as_object_mut() {
            fields.remove("receipts");
        }
        answer["text"] = proof.to_text(self.lang).into();
        Ok(answer)
    }

    fn decide(&self, DecideParams { call, ask }: &DecideParams, host: &Arc<dyn Host>) -> Result<Value, Failure> {
        let call = parse_call(HookProtocol::Toolcell, &call.to_string()).map_err(failure!(self.lang))?;
        let approver = self.approver(host).filter(|_| *ask);
        let options = DecideOptions { caller: &self.caller, approver: approver.as_deref(), ..DecideOptions::default() };
        let decision = self.toolbox.decide(&call, &options);
        let mut answer = decision_json(HookProtocol::Toolcell, &decision, self.lang);
        answer["decidedBy"] = decision.decided_by.as_str().into();
        Ok(answer)
    }

    fn explain(&self, ExplainParams { tool, parameters }: ExplainParams) -> Result<Value, Failure> {
        let parameters = self.parse_params(&parameters.unwrap_or_else(|| json!({})).to_string())?;
        let request = RunTool::new(&tool, parameters);
        let options = RunOptions { caller: self.caller.clone(), ..RunOptions::default() };
        let explanation = self.toolbox.explain(&request, &options);
        let asks = explanation.admitted.is_ok() && explanation.steps.iter().any(|step| step.verdict == "ask");
        let error = explanation.admitted.err().map(|error| Failure::from_run(&error, self.lang));
        Ok(json!({ "steps": explanation.steps, "admitted": error.is_none(), "asks": asks, "error": error }))
    }

    fn approval(&self, ToolParams { tool }: &ToolParams) -> Result<Value, Failure> {
        let prompt = self.toolbox.approval_prompt(tool).map_err(failure!(self.lang))?;
        Ok(prompt_json(&prompt, self.lang))
    }

    /// Approves a tool as it was shown: a digest of [`Session::approval`] binds the approval.
    fn approve(&self, ApproveParams { tool, by, digest }: &ApproveParams) -> Result<Value, Failure> {
        let prompt = self.toolbox.approval_prompt(tool).map_err(failure!(self.lang))?;
        let shown = prompt.tool_approval.as_ref().map(|tool| tool.digest());
        if digest.is_some() && shown != *digest {
            return Err(Failure::refused(
                ErrorCode::ApprovalChanged,
                "the tool or its grants are no longer what was shown: nothing was approved",
                "show the tool again, then approve what was shown",
            ));
        }
        let approved = self.toolbox.approve(&prompt, by).map_err(failure!(self.lang))?;
        Ok(json!({
            "id": approved.tool.to_string(), "name": approved.name.as_str(), "grants": approved.grants.to_value(),
        }))
    }

    fn refuse(&self, ApproveParams { tool, by, .. }: &ApproveParams) -> Result<Value, Failure> {
        let refused = self.toolbox.refuse(tool, by).map_err(failure!(self.lang))?;
        Ok(json!({ "id": refused.tool.to_string(), "name": refused.name.as_str() }))
    }

    fn pending(&self) -> Result<Value, Failure> {
        let pending = self.toolbox.pending_approvals(1000).map_err(failure!(self.lang))?;
        let tools = pending.iter().map(|pending| json!(ToolResponse::from_entry(&pending.tool, None)));
        Ok(json!({ "tools": tools.collect::<Vec<_>>() }))
    }

    /// Returns a text that changes when the tools or their approvals do.
    fn generation(&self) -> Result<Value, Failure> {
        let Some(store) = self.toolbox.store() else { return Ok(json!({ "generation": "" })) };
        let generation = store.catalog().generation().map_err(failure!(self.lang))?;
        Ok(json!({ "generation": generation.to_string() }))
    }

    fn analyze(&self, AnalyzeParams { source }: &AnalyzeParams) -> Result<Value, Failure> {
        let analysis = analyze(source, Language::Unknown, None).map_err(failure!(self.lang))?;
        Ok(json!({
            "safetyScore": analysis.safety.score,
            "qualityScore": analysis.quality.score,
            "findings": analysis.findings.iter().map(finding_json).collect::<Vec<_>>(),
        }))
    }
}

/// Adds the text of an answer to its fields.
fn with_text(answer: impl Serialize, text: String) -> Value {
    let mut answer = json!(answer);
    answer["text"] = text.into();
    answer
}

fn details_json(shown: &ToolDetails) -> Value {
    let successor = shown.successor.as_ref().map(|successor| &successor.name);
    let mut answer = json!(ToolResponse::from_entry(&shown.entry, successor));
    let parameters: Vec<_> = shown.parameters.iter().map(toolcell::ParameterResponse::from).collect();
    answer["parameters"] = json!(parameters);
    answer["source"] = shown.spec.source().into();
    answer["examples"] = json!(shown.notes.examples());
    answer["grants"] = shown.grants.to_value();
    answer["approval"] = shown.approval_state.name().into();
    answer
}

fn parse<T: DeserializeOwned>(request: &str) -> Result<T, Failure> {
    read_request(request).map_err(failure!(Lang::En))
}
