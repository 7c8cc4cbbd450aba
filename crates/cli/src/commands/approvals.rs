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
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use crate::args::{ApprovalsArgs, ApprovalsCommand, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt::TerminalApprover;
use crate::render::label::pad;
use crate::streams::Streams;

/// Maximum number of pending approvals, and of decisions, in the list.
const MAX_LISTED: usize = 1000;
/// Maximum length of a stored reason, in characters.
const MAX_REASON_CHARS: usize = 200;
/// Width of the word for a decision, in columns.
const DECISION_COLUMNS: usize = 9;

pub(crate) fn run(args: &ApprovalsArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    match args.command.as_ref().unwrap_or(&ApprovalsCommand::List) {
        ApprovalsCommand::List => list(&toolbox, context),
        ApprovalsCommand::Grant { tool, once, yes, shown } => {
            let at_terminal = TerminalApprover::new(context.lang, &CancelToken::new(), None);
            let approver = (!yes && context.streams.is_interactive()).then_some(at_terminal);
            let request = GrantRequest { tool, is_for_one_run: *once, expected_digest: shown.as_deref(), approver };
            grant(&toolbox, &request, context)
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
    for one in &pending {
        print_pending(toolbox, one, lang, streams)?;
    }
    for (tool, approval) in &decided {
        let rows = streams.wrap_for_output(&decision_line(tool, approval, lang));
        writeln!(streams.output, "{rows}")?;
    }
    if pending.is_empty() && decided.is_empty() {
        writeln!(streams.output, "{}", tr!(lang, "no pending approvals and no decisions"))?;
    }
    if let Some(first) = pending.first() {
        streams.print_hint(&next_step(toolbox, first), lang)?;
    }
    Ok(Exit::Done)
}

/// Returns what to do about a tool that waits for approval: a tool that is granted nothing of what it requests needs
/// grants, and an approval alone would not help it.
fn next_step(toolbox: &Toolbox, PendingTool { tool, .. }: &PendingTool) -> Message {
    let question = toolbox.approval_prompt(&tool.id.to_string()).ok().and_then(|question| question.tool_approval);
    let missing = question.filter(|approving| approving.grants.is_empty()).map(|approving| approving.missing_words());
    match missing.filter(|words| !words.is_empty()) {
        Some(words) => message!(
            "review it with `toolcell show {id}`; `toolcell grant {id} {words}` grants what it lacks, and approves it",
            id = tool.name,
            words
        ),
        None => message!(
            "review with `toolcell show {name}`, then run `toolcell approvals grant {name}` or `refuse`",
            name = tool.name
        ),
    }
}

/// Prints a tool that waits for approval: what the decision is about, and the command that approves
/// exactly this.
fn print_pending(
    toolbox: &Toolbox,
    PendingTool { tool, approval: question }: &PendingTool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let pending = tr!(
        lang,
        "{name} ({id}) with {grants}, requested by {by}, since {at}",
        name = tool.name,
        id = tool.id.short(),
        grants = describe_grants(&question.grants, lang),
        by = single_line_for_display(&question.by),
        at = question.at
    );
    let line = format!("{} {pending}", pad(tr!(lang, "decision" => "pending"), DECISION_COLUMNS));
    let rows = streams.wrap_for_output(&line);
    writeln!(streams.output, "{rows}")?;
    match toolbox.approval_prompt(&tool.id.to_string()) {
        Ok(question) => {
            for line in question.lines(lang) {
                let rows = streams.wrap_for_output(&line);
                writeln!(streams.output, "{rows}")?;
            }
            if let Some(approving) = &question.tool_approval {
                let missing = approving.missing_words();
                if !missing.is_empty() {
                    writeln!(streams.output, "  toolcell grant {} {missing}", tool.id)?;
                }
                // An approval alone would not help a tool that is granted nothing of what it requests.
                if missing.is_empty() || !approving.grants.is_empty() {
                    writeln!(streams.output, "  toolcell approvals grant {} --shown {}", tool.id, approving.digest())?;
                }
                writeln!(streams.output)?;
            }
        }
        // The tool cannot be approved in its current state; the list says why.
        Err(error) => {
            let error = escape_control_chars(&error.localize().to_text(lang));
            let rows = streams.wrap_for_output(&format!("  {error}"));
            writeln!(streams.output, "{rows}\n")?;
        }
    }
    Ok(())
}

/// Describes a past decision in one line.
fn decision_line(tool: &Entry, approval: &Approval, lang: Lang) -> String {
    let (name, id) = (&tool.name, tool.id.short());
    let (by, at) = (escape_control_chars(&approval.by), approval.at);
    let (word, text) = match approval.decision {
        Decision::Approved => {
            let grants = describe_grants(&approval.grants, lang);
            let text = tr!(lang, "{name} ({id}) with {grants}, by {by}, {at}", name, id, grants, by, at);
            (tr!(lang, "decision" => "approved"), text)
        }
        Decision::ApprovedOnce => {
            let grants = describe_grants(&approval.grants, lang);
            let text = tr!(lang, "{name} ({id}) for one run with {grants}, by {by}, {at}", name, id, grants, by, at);
            (tr!(lang, "decision" => "approved"), text)
        }
        Decision::Refused => {
            let text = tr!(lang, "{name} ({id}) with any grants, by {by}, {at}", name, id, by, at);
            (tr!(lang, "decision" => "refused"), text)
        }
    };
    format!("{} {text}", pad(word, DECISION_COLUMNS))
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
        "missing": approving.map(|known| known.missing.iter().map(|one| one.text.as_str()).collect::<Vec<_>>()),
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
        Decision::ApprovedOnce => "approved-once",
        Decision::Refused => "refused",
    }
}

/// Describes the granted capabilities of a stored decision.
fn describe_grants(grants: &Value, lang: Lang) -> String {
    match serde_json::from_value::<Grants>(grants.clone()) {
        Ok(grants) if grants.is_empty() => tr!(lang, "no grants").to_owned(),
        Ok(grants) => escape_control_chars(&grants.localize().to_text(lang)),
        // Written by another version of Toolcell.
        Err(_) => escape_control_chars(&grants.to_string()),
    }
}

/// A request to approve one tool.
struct GrantRequest<'a> {
    tool: &'a str,
    /// Whether the approval is for the next run only.
    is_for_one_run: bool,
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
        let message = message!(
            "`{tool}` or its grants no longer match the digest {digest}",
            tool = single_line_for_display(grant.tool),
            digest = single_line_for_display(shown)
        );
        let hint = message!("review it again with `toolcell approvals`, and use the new digest");
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
            _ if person.is_interrupted() => return Err(CliError::Interrupted),
            _ => {
                let message = message!("`{tool}` is not approved", tool = question.call.tool_name);
                let hint = message!("the next run asks again; to refuse for good: toolcell approvals refuse");
                return Err(CliError::coded(ErrorCode::NotApproved, message, hint));
            }
        },
    };
    if grant.is_for_one_run {
        print(&toolbox.approve_once(&question, by)?, Decision::ApprovedOnce, by, context)
    } else {
        print(&toolbox.approve(&question, by)?, Decision::Approved, by, context)
    }
}

/// Prints a decision.
fn print(decided: &ApprovalResult, decision: Decision, by: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let (name, grants) = (&decided.name, decided.grants.to_value());
    if format.is_json() {
        let (tool, name, word) = (decided.tool.to_string(), name.as_str(), decision_name(decision));
        let response = json!({ "tool": tool, "name": name, "decision": word, "grants": grants, "by": by });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    let id = decided.tool.short();
    let text = match decision {
        Decision::Approved => {
            let grants = describe_grants(&grants, lang);
            tr!(lang, "approved {name} ({id}) with {grants}", name, id, grants)
        }
        Decision::ApprovedOnce => {
            let grants = describe_grants(&grants, lang);
            tr!(lang, "approved the next run of {name} ({id}) with {grants}, within 24 hours", name, id, grants)
        }
        Decision::Refused => tr!(lang, "refused {name} ({id}) with any grants", name, id),
    };
    writeln!(streams.output, "{text}")?;
    Ok(Exit::Done)
}

fn revoke(toolbox: &Toolbox, tool: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let (tool, count) = toolbox.revoke(tool, "command-line")?;
    if format.is_json() {
        let response = json!({ "tool": tool.id.to_string(), "name": tool.name.as_str(), "revoked": count });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    let (name, id) = (&tool.name, tool.id.short());
    let text = if count == 0 {
        tr!(lang, "no approval or refusal of {name} ({id}) to revoke", name, id)
    } else {
        tr!(lang, "revoked the approvals and refusals of {name} ({id})", name, id)
    };
    writeln!(streams.output, "{text}")?;
    Ok(Exit::Done)
}
