//! The extension `toolcell/host`: methods for the program that started the server, or that holds a
//! host token, which no model sees.
//!
//! ```text
//! toolcell/decide    a call of a tool of the host    → the decision
//! toolcell/explain   a call of a stored tool         → the steps of its decision, and whether it needs an approval
//! toolcell/approval  a stored tool                   → the facts for a person, and their digest
//! toolcell/approve   a stored tool and that digest   → the approval
//! toolcell/functions functions that tools may call   → their names
//! ```
//!
//! Invariant: the methods exist only for a client that declares the extension, on standard input and
//! output, or over HTTP with a host token. What a client with another token may approve is what its
//! user is asked (elicitation). Functions are lent on standard input and output only.

use rmcp::RoleServer;
use rmcp::model::{CustomRequest, CustomResult, ErrorData};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolcell::hook::{decision_json, parse_call};
use toolcell::policy::HookProtocol;
use toolcell::{DecideOptions, ErrorCode, Finding, Lang, Localize, Params, RunOptions, RunTool, Toolbox};
use toolcell_i18n::message;

use crate::request_context::{is_from_host, is_remote, request_principal};
use crate::server::Server;

/// The name of the extension in the capabilities of client and server.
pub(crate) const EXTENSION: &str = "toolcell/host";
/// The caller in the audit log of a host that does not name itself.
const UNNAMED: &str = "host";
/// The maximum length of a host's name in the audit log, in characters.
const MAX_HOST_NAME_CHARS: usize = 64;

/// A method of the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostMethod {
    Decide,
    Explain,
    Approval,
    Approve,
    Functions,
}

impl HostMethod {
    /// All methods.
    const ALL: [Self; 5] = [Self::Decide, Self::Explain, Self::Approval, Self::Approve, Self::Functions];

    const fn name(self) -> &'static str {
        match self {
            Self::Decide => "toolcell/decide",
            Self::Explain => "toolcell/explain",
            Self::Approval => "toolcell/approval",
            Self::Approve => "toolcell/approve",
            Self::Functions => "toolcell/functions",
        }
    }

    /// Returns the method of a request, if it is one and its client may call it.
    pub(crate) fn from_request(request: &CustomRequest, context: &RequestContext<RoleServer>) -> Option<Self> {
        let declared = |capabilities: rmcp::model::ClientCapabilities| {
            capabilities.extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION))
        };
        let is_host = is_from_host(&context.extensions) && context.client_capabilities().is_some_and(declared);
        Self::ALL.into_iter().find(|method| is_host && method.name() == request.method)
    }
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
struct ApprovalParams {
    tool: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApproveParams {
    tool: String,
    digest: String,
}

impl Server {
    /// Performs a method of the host.
    pub(crate) async fn call_host_method(
        &self,
        method: HostMethod,
        request: CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let (tenant, lang) = (self.tenant_of(context).await?, self.settings().lang);
        let is_remote = is_remote(&context.extensions);
        let name = context.client_info().map_or_else(|| UNNAMED.to_owned(), |client| client.name);
        // What a client calls itself is a claim; which token it holds is known.
        let name = if is_remote { format!("{} {name}", request_principal(&context.extensions)) } else { name };
        let caller: String = name.chars().take(MAX_HOST_NAME_CHARS).collect();
        let params = request.params.unwrap_or_default();
        if method == HostMethod::Functions {
            if is_remote {
                let message = message!("functions are lent over standard input and output only");
                return Err(invalid(&message.to_text(lang), ErrorCode::RequestInvalid));
            }
            let names = self
                .lent_functions()
                .replace(parse(params)?, context.protocol_version())
                .map_err(|error| invalid(&error.localize().to_text(lang), error.code()))?;
            return Ok(CustomResult(json!({ "functions": names })));
        }
        let answer = self.run_with_permit(&tenant, context, move |toolbox| match method {
            HostMethod::Decide => decide(toolbox, &params, &caller, lang),
            HostMethod::Explain => parse(params).and_then(|params| explain(toolbox, params, caller, lang)),
            HostMethod::Approval => parse(params).and_then(|params| approval(toolbox, &params, lang)),
            HostMethod::Approve => parse(params).and_then(|params| approve(toolbox, &params, &caller, lang)),
            HostMethod::Functions => Ok(Value::Null),
        });
        let answer = answer.await?;
        if method == HostMethod::Approve {
            tenant.change_notifier.check_now();
        }
        if !is_remote {
            return answer.map(CustomResult);
        }
        let mut answer = answer.map_err(|error| self.path_redactor().redact_error(error, lang))?;
        self.path_redactor().redact_host_answer(&mut answer, lang);
        Ok(CustomResult(answer))
    }
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T, ErrorData> {
    serde_json::from_value(params).map_err(|error| invalid(&error.to_string(), ErrorCode::RequestInvalid))
}

fn invalid(message: &str, code: ErrorCode) -> ErrorData {
    ErrorData::invalid_params(message.to_owned(), Some(json!({ "code": code })))
}

/// Decides about a call of a tool of the host. Whatever cannot be decided is denied.
fn decide(toolbox: &Toolbox, params: &Value, caller: &str, lang: Lang) -> Result<Value, ErrorData> {
    let call = parse_call(HookProtocol::Toolcell, &params.to_string()).map_err(|error| {
        // The host gets the error either way.
        let _ = toolbox.record_rejected(Some("decide"), None, error.code(), error.to_string());
        invalid(&error.localize().to_text(lang), error.code())
    })?;
    let decision = toolbox.decide(&call, &DecideOptions { caller, ..DecideOptions::default() });
    let mut answer = decision_json(HookProtocol::Toolcell, &decision, lang);
    answer["decidedBy"] = decision.decided_by.as_str().into();
    Ok(answer)
}

/// Explains how a call of a stored tool would be decided. Nothing runs, and no person is asked.
fn explain(toolbox: &Toolbox, params: ExplainParams, caller: String, lang: Lang) -> Result<Value, ErrorData> {
    let given = params.parameters.unwrap_or_else(|| json!({}));
    let parameters =
        Params::parse(given.to_string()).map_err(|error| invalid(&error.localize().to_text(lang), error.code()))?;
    let request = RunTool::new(&params.tool, parameters);
    let explanation = toolbox.explain(&request, &RunOptions { caller, ..RunOptions::default() });
    let asks = explanation.admitted.is_ok() && explanation.steps.iter().any(|step| step.verdict == "ask");
    let error = explanation.admitted.err().map(|error| {
        json!({
            "code": error.code(),
            "message": error.localize().to_text(lang),
            "hint": error.hint().to_text(lang),
        })
    });
    Ok(json!({ "steps": explanation.steps, "admitted": error.is_none(), "asks": asks, "error": error }))
}

/// Returns the facts that a person needs to approve a tool, and the digest that binds an approval
/// to them.
fn approval(toolbox: &Toolbox, params: &ApprovalParams, lang: Lang) -> Result<Value, ErrorData> {
    let prompt = toolbox
        .approval_prompt(&params.tool)
        .map_err(|error| invalid(&error.localize().to_text(lang), error.code()))?;
    let finding = |finding: &Finding| {
        json!({
            "rule": finding.rule.name(), "severity": finding.severity.name(), "message": finding.message,
            "line": finding.location.line, "column": finding.location.column,
        })
    };
    let tool = prompt.tool_approval.as_deref();
    Ok(json!({
        "tool": tool.map(|tool| tool.tool.to_string()),
        "name": prompt.call.tool_name,
        "facts": prompt.facts(lang),
        "findings": tool.map(|tool| tool.findings.iter().map(finding).collect::<Vec<_>>()),
        "grants": tool.map(|tool| tool.grants.to_value()),
        "missing": tool.map(|tool| tool.missing.iter().map(|one| one.text.as_str()).collect::<Vec<_>>()),
        "source": tool.map(|tool| tool.source.as_str()),
        "digest": tool.map(toolcell::hook::ToolApproval::digest),
    }))
}

/// Approves a tool as it was shown.
fn approve(toolbox: &Toolbox, params: &ApproveParams, caller: &str, lang: Lang) -> Result<Value, ErrorData> {
    let prompt = toolbox
        .approval_prompt(&params.tool)
        .map_err(|error| invalid(&error.localize().to_text(lang), error.code()))?;
    let is_shown = prompt.tool_approval.as_ref().is_some_and(|tool| tool.digest() == params.digest);
    if !is_shown {
        let message = message!("the tool or its grants are no longer what was shown: nothing was approved");
        return Err(invalid(&message.to_text(lang), ErrorCode::ApprovalChanged));
    }
    let approved = toolbox
        .approve(&prompt, &format!("host {caller}"))
        .map_err(|error| invalid(&error.localize().to_text(lang), error.code()))?;
    Ok(json!({
        "tool": approved.tool.to_string(),
        "name": approved.name.as_str(),
        "grants": approved.grants.to_value(),
    }))
}
