//! `approvals`: what waits for somebody's yes, and what was said.
//!
//! Invariant: on a terminal nothing is approved that was not shown before.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::policy::Grants;
use toolcell::store::{Approval, Decision, Entry};
use toolcell::{Answer, CancelToken, Lang, Pending, Person as _, Toolbox, visible};

use crate::Streams;
use crate::args::{ApprovalsArgs, ApprovalsCommand, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::open;
use crate::person::AtTerminal;
use crate::rules::Rules;

/// How many are listed of each kind.
const LISTED: usize = 1000;
/// How much of a reason is kept, in characters.
const REASON: usize = 200;

pub(crate) fn run(
    args: &ApprovalsArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
    match args.command.as_ref().unwrap_or(&ApprovalsCommand::List) {
        ApprovalsCommand::List => list(&toolbox, json, lang, streams),
        ApprovalsCommand::Grant { tool, yes } => {
            let cancel = CancelToken::new();
            let at_terminal = AtTerminal { lang, cancel, progress: None };
            let person = (!yes && streams.somebody_is_there()).then_some(&at_terminal);
            grant(&toolbox, tool, person, json, streams)
        }
        ApprovalsCommand::Refuse { tool, reason } => {
            let reason = reason.iter().map(|reason| reason.chars().take(REASON).collect::<String>());
            let by = ["command-line".to_owned()].into_iter().chain(reason).collect::<Vec<_>>().join(": ");
            decide(&toolbox, tool, Decision::Refused, &by, json, streams)
        }
        ApprovalsCommand::Revoke { tool } => revoke(&toolbox, tool, json, streams),
    }
}

fn list(toolbox: &Toolbox, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let (pending, decided) = (toolbox.pending(LISTED)?, toolbox.decisions(LISTED)?);
    if json {
        let pending: Vec<Value> = pending.iter().map(|one| pending_in_json(toolbox, one)).collect();
        let decided: Vec<Value> = decided.iter().map(|(tool, said)| decided_in_json(tool, said)).collect();
        writeln!(streams.output, "{}", json!({ "pending": pending, "decided": decided }))?;
        return Ok(Exit::Done);
    }
    for Pending { tool, question } in &pending {
        let (name, id, grants) = (&tool.name, tool.id.short(), granted(&question.grants));
        writeln!(streams.output, "pending   {name} ({id}) with {grants}, since {}", question.at)?;
        match toolbox.question(&tool.id.to_string()) {
            Ok(question) => {
                for line in question.approving.iter().flat_map(|approving| approving.told(lang)) {
                    writeln!(streams.output, "{line}")?;
                }
            }
            // It cannot be approved as it is, and that is what somebody should know.
            Err(error) => writeln!(streams.output, "  {}\n", visible(&error.to_string()))?,
        }
    }
    for (tool, said) in &decided {
        let (name, id, grants) = (&tool.name, tool.id.short(), granted(&said.grants));
        let (word, by) = (word(said.decision), visible(&said.by));
        writeln!(streams.output, "{word:<9} {name} ({id}) with {grants}, by {by}, {}", said.at)?;
    }
    if pending.is_empty() && decided.is_empty() {
        writeln!(streams.output, "nothing waits for an approval, and nothing was decided")?;
    }
    if let Some(first) = pending.first() {
        let name = &first.tool.name;
        writeln!(streams.errors, "hint: `toolcell show {name}`, then `toolcell approvals grant {name}` or `refuse`")?;
    }
    Ok(Exit::Done)
}

fn pending_in_json(toolbox: &Toolbox, Pending { tool, question }: &Pending) -> Value {
    let known = toolbox.question(&tool.id.to_string());
    let approving = known.as_ref().ok().and_then(|known| known.approving.as_deref());
    let finding = |finding: &toolcell::Finding| {
        json!({"rule": finding.rule.name(), "severity": finding.severity.name(), "message": finding.message,
            "line": finding.location.line, "column": finding.location.column})
    };
    json!({
        "asks": approving.map(|known| known.asked.iter().map(|(asked, _)| asked.name()).collect::<Vec<_>>()),
        "findings": approving.map(|known| known.findings.iter().map(finding).collect::<Vec<_>>()),
        "source": approving.map(|known| known.source.as_str()),
        "error": known.as_ref().err().map(ToString::to_string),
        "tool": tool.id.to_string(),
        "name": tool.name.as_str(),
        "grants": question.grants,
        "by": question.by,
        "at": question.at.to_string(),
    })
}

fn decided_in_json(tool: &Entry, said: &Approval) -> Value {
    json!({
        "tool": tool.id.to_string(),
        "name": tool.name.as_str(),
        "decision": word(said.decision),
        "grants": said.grants,
        "by": said.by,
        "at": said.at.to_string(),
    })
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Approved => "approved",
        Decision::Refused => "refused",
    }
}

/// What is granted.
fn granted(grants: &Value) -> String {
    match serde_json::from_value::<Grants>(grants.clone()) {
        Ok(grants) if grants.is_empty() => "no grants".to_owned(),
        Ok(grants) => visible(&grants.to_string()),
        // Another version wrote it.
        Err(_) => visible(&grants.to_string()),
    }
}

/// Approves a tool, after asking whoever is there.
fn grant(
    toolbox: &Toolbox,
    tool: &str,
    person: Option<&AtTerminal>,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let question = toolbox.question(tool)?;
    // What was shown is what is approved, whatever the name leads to by then.
    let id = question.call.tool.map_or_else(|| tool.to_owned(), |id| id.to_string());
    match person.map(|person| (person.ask(&question), person.cancel.is_cancelled())) {
        None => decide(toolbox, &id, Decision::Approved, "command-line", json, streams),
        Some((Answer::Yes, _)) => decide(toolbox, &id, Decision::Approved, "person", json, streams),
        Some((Answer::No { .. } | Answer::Later, true)) => Err(Failure::Interrupted),
        Some((Answer::No { .. } | Answer::Later, false)) => {
            let message = format!("`{}` is not approved", question.call.tool_name);
            let hint = "it is asked about again; to end that: toolcell approvals refuse";
            Err(Failure::said("not-approved", message, hint))
        }
    }
}

fn decide(
    toolbox: &Toolbox,
    tool: &str,
    decision: Decision,
    by: &str,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let decided = toolbox.decide(tool, decision, by)?;
    let (word, name, grants) = (word(decision), &decided.name, decided.grants.to_value());
    if json {
        let (tool, name) = (decided.tool.to_string(), name.as_str());
        let said = json!({ "tool": tool, "name": name, "decision": word, "grants": grants, "by": by });
        writeln!(streams.output, "{said}")?;
    } else {
        writeln!(streams.output, "{word} {name} ({}) with {}", decided.tool.short(), granted(&grants))?;
    }
    Ok(Exit::Done)
}

fn revoke(toolbox: &Toolbox, tool: &str, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let (tool, count) = toolbox.revoke(tool, "command-line")?;
    if json {
        let said = json!({ "tool": tool.id.to_string(), "name": tool.name.as_str(), "revoked": count });
        writeln!(streams.output, "{said}")?;
    } else if count == 0 {
        writeln!(streams.output, "nothing was said to {} ({})", tool.name, tool.id.short())?;
    } else {
        writeln!(streams.output, "took back what was said to {} ({})", tool.name, tool.id.short())?;
    }
    Ok(Exit::Done)
}
