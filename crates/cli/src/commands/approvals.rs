//! `approvals`: lists pending approvals and past decisions, and makes decisions.
//!
//! Invariant: the tool and the grants that are approved are exactly those that were shown: on a
//! terminal before the prompt, elsewhere before the decision is stored.

use serde_json::{Value, json};
use toolcell::policy::Grants;
use toolcell::store::{Approval, Decision, Entry};
use toolcell::{
    ApprovalAnswer, ApprovalResult, Approver as _, CancelToken, PendingTool, Toolbox, escape_control_chars,
    single_line_for_display,
};
use toolcell_error::ErrorCode;

use crate::args::{ApprovalsArgs, ApprovalsCommand, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt::TerminalApprover;

/// Maximum number of pending approvals, and of decisions, in the list.
const MAX_LISTED: usize = 1000;
/// Maximum length of a stored reason, in characters.
const MAX_REASON_CHARS: usize = 200;

pub(crate) fn run(args: &ApprovalsArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    match args.command.as_ref().unwrap_or(&ApprovalsCommand::List) {
        ApprovalsCommand::List => list(&toolbox, context),
        ApprovalsCommand::Grant { tool, yes, shown } => {
            let at_terminal = TerminalApprover::new(context.lang, &CancelToken::new(), None);
            let approver = (!yes && context.streams.is_interactive()).then_some(at_terminal);
            grant(&toolbox, &GrantRequest { tool, expected_digest: shown.as_deref(), approver }, context)
        }
        ApprovalsCommand::Refuse { tool, reason } => {
            let reason = reason.iter().map(|reason| reason.chars().take(MAX_REASON_CHARS).collect::<String>());
            let by = ["command-line".to_owned()].into_iter().chain(reason).collect::<Vec<_>>().join(": ");
            print(&toolbox.refuse(tool, &by)?, Decision::Refused, &by, context)
        }
        ApprovalsCommand::Revoke { tool } => revoke(&toolbox, tool, context),
    }
}

fn list(toolbox: &Toolbox, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let (pending, decided) = (toolbox.pending_approvals(MAX_LISTED)?, toolbox.decisions(MAX_LISTED)?);
    if format.is_json() {
        let pending: Vec<Value> = pending.iter().map(|one| pending_to_json(toolbox, one)).collect();
        let decided: Vec<Value> = decided.iter().map(|(tool, approval)| decision_to_json(tool, approval)).collect();
        writeln!(streams.output, "{}", json!({ "pending": pending, "decided": decided }))?;
        return Ok(Exit::Done);
    }
    for PendingTool { tool, approval: question } in &pending {
        let (name, id, grants, by) =
            (&tool.name, tool.id.short(), describe_grants(&question.grants), single_line_for_display(&question.by));
        let line = format!("pending   {name} ({id}) with {grants}, requested by {by}, since {}", question.at);
        let rows = streams.wrap_for_output(&line);
        writeln!(streams.output, "{rows}")?;
        match toolbox.approval_prompt(&tool.id.to_string()) {
            Ok(question) => {
                for line in question.lines(lang) {
                    let rows = streams.wrap_for_output(&line);
                    writeln!(streams.output, "{rows}")?;
                }
                if let Some(approving) = &question.tool_approval {
                    writeln!(
                        streams.output,
                        "  toolcell approvals grant {} --shown {}\n",
                        tool.id,
                        approving.digest()
                    )?;
                }
            }
            // The tool cannot be approved in its current state; the list says why.
            Err(error) => {
                let rows = streams.wrap_for_output(&format!("  {}", escape_control_chars(&error.to_string())));
                writeln!(streams.output, "{rows}\n")?;
            }
        }
    }
    for (tool, approval) in &decided {
        let (name, id, grants) = (&tool.name, tool.id.short(), describe_grants(&approval.grants));
        let (word, by) = (decision_name(approval.decision), escape_control_chars(&approval.by));
        let with = match approval.decision {
            Decision::Approved => format!("with {grants}"),
            Decision::Refused => "with any grants".to_owned(),
        };
        let rows = streams.wrap_for_output(&format!("{word:<9} {name} ({id}) {with}, by {by}, {}", approval.at));
        writeln!(streams.output, "{rows}")?;
    }
    if pending.is_empty() && decided.is_empty() {
        writeln!(streams.output, "no pending approvals and no decisions")?;
    }
    if let Some(first) = pending.first() {
        let name = &first.tool.name;
        writeln!(
            streams.errors,
            "hint: review with `toolcell show {name}`, then run `toolcell approvals grant {name}` or `refuse`"
        )?;
    }
    Ok(Exit::Done)
}

fn pending_to_json(toolbox: &Toolbox, PendingTool { tool, approval: question }: &PendingTool) -> Value {
    let known = toolbox.approval_prompt(&tool.id.to_string());
    let approving = known.as_ref().ok().and_then(|known| known.tool_approval.as_deref());
    let finding = |finding: &toolcell::Finding| {
        json!({"rule": finding.rule.name(), "severity": finding.severity.name(), "message": finding.message,
            "line": finding.location.line, "column": finding.location.column})
    };
    json!({
        "asks": approving.map(|known| known.requested.iter().map(|(asked, _)| asked.name()).collect::<Vec<_>>()),
        "findings": approving.map(|known| known.findings.iter().map(finding).collect::<Vec<_>>()),
        "source": approving.map(|known| known.source.as_str()),
        "granted": approving.map(|known| known.grants.to_value()),
        "shown": approving.map(toolcell::hook::ToolApproval::digest),
        "error": known.as_ref().err().map(ToString::to_string),
        "tool": tool.id.to_string(),
        "name": tool.name.as_str(),
        "grants": question.grants,
        "by": question.by,
        "at": question.at.to_string(),
    })
}

fn decision_to_json(tool: &Entry, approval: &Approval) -> Value {
    json!({
        "tool": tool.id.to_string(),
        "name": tool.name.as_str(),
        "decision": decision_name(approval.decision),
        "grants": approval.grants,
        "by": approval.by,
        "at": approval.at.to_string(),
    })
}

fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::Approved => "approved",
        Decision::Refused => "refused",
    }
}

/// Describes the granted capabilities of a stored decision.
fn describe_grants(grants: &Value) -> String {
    match serde_json::from_value::<Grants>(grants.clone()) {
        Ok(grants) if grants.is_empty() => "no grants".to_owned(),
        Ok(grants) => escape_control_chars(&grants.to_string()),
        // Written by another version of Toolcell.
        Err(_) => escape_control_chars(&grants.to_string()),
    }
}

/// A request to approve one tool.
struct GrantRequest<'a> {
    tool: &'a str,
    /// The digest given with `--shown`, which the tool and its grants must match.
    expected_digest: Option<&'a str>,
    /// The prompt to use, if the user is asked.
    approver: Option<TerminalApprover>,
}

/// Approves a tool, after prompting if an approver is set.
fn grant(toolbox: &Toolbox, grant: &GrantRequest<'_>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, lang, .. } = *context;
    let question = toolbox.approval_prompt(grant.tool)?;
    let digest = question.tool_approval.as_ref().map(|approving| approving.digest());
    if let Some(shown) = grant.expected_digest
        && digest.as_deref() != Some(shown)
    {
        let message = format!(
            "`{}` or its grants no longer match the digest {}",
            single_line_for_display(grant.tool),
            single_line_for_display(shown)
        );
        let hint = "review it again with `toolcell approvals`, and use the new digest";
        return Err(CliError::coded(ErrorCode::ApprovalChanged, message, hint));
    }
    let by = match &grant.approver {
        None => {
            // Without a prompt, print what is approved before storing the decision.
            for line in question.facts(lang) {
                let rows = streams.wrap_for_errors(&line);
                writeln!(streams.errors, "{rows}")?;
            }
            "command-line"
        }
        Some(person) => match person.ask(&question) {
            ApprovalAnswer::Approve => "person",
            ApprovalAnswer::Refuse { .. } | ApprovalAnswer::Defer | ApprovalAnswer::NotShown { .. }
                if person.is_interrupted() =>
            {
                return Err(CliError::Interrupted);
            }
            ApprovalAnswer::Refuse { .. } | ApprovalAnswer::Defer | ApprovalAnswer::NotShown { .. } => {
                let message = format!("`{}` is not approved", question.call.tool_name);
                let hint = "the next run asks again; to refuse for good: toolcell approvals refuse";
                return Err(CliError::coded(ErrorCode::NotApproved, message, hint));
            }
        },
    };
    print(&toolbox.approve(&question, by)?, Decision::Approved, by, context)
}

/// Prints a decision.
fn print(decided: &ApprovalResult, decision: Decision, by: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, .. } = *context;
    let (word, name, grants) = (decision_name(decision), &decided.name, decided.grants.to_value());
    if format.is_json() {
        let (tool, name) = (decided.tool.to_string(), name.as_str());
        let response = json!({ "tool": tool, "name": name, "decision": word, "grants": grants, "by": by });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    let id = decided.tool.short();
    match decision {
        Decision::Approved => writeln!(streams.output, "{word} {name} ({id}) with {}", describe_grants(&grants))?,
        Decision::Refused => writeln!(streams.output, "{word} {name} ({id}) with any grants")?,
    }
    Ok(Exit::Done)
}

fn revoke(toolbox: &Toolbox, tool: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, .. } = *context;
    let (tool, count) = toolbox.revoke(tool, "command-line")?;
    if format.is_json() {
        let response = json!({ "tool": tool.id.to_string(), "name": tool.name.as_str(), "revoked": count });
        writeln!(streams.output, "{response}")?;
    } else if count == 0 {
        writeln!(streams.output, "no approval or refusal of {} ({}) to revoke", tool.name, tool.id.short())?;
    } else {
        writeln!(streams.output, "revoked the approvals and refusals of {} ({})", tool.name, tool.id.short())?;
    }
    Ok(Exit::Done)
}
