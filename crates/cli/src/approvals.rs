//! `approvals`: what waits for somebody's yes, and what was said.
//!
//! Invariant: what is approved is what was shown before, the same tool with the same grants: on a terminal before the person is asked,
//! elsewhere before the decision is kept.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::policy::Grants;
use toolcell::store::{Approval, Decision, Entry};
use toolcell::{Answer, CancelToken, Decided, Lang, Pending, Person as _, Toolbox, fact, visible};

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
        ApprovalsCommand::Grant { tool, yes, shown } => {
            let cancel = CancelToken::new();
            let at_terminal = AtTerminal { lang, cancel, progress: None };
            let person = (!yes && streams.somebody_is_there()).then_some(at_terminal);
            grant(&toolbox, &Grant { tool, shown: shown.as_deref(), person, lang }, json, streams)
        }
        ApprovalsCommand::Refuse { tool, reason } => {
            let reason = reason.iter().map(|reason| reason.chars().take(REASON).collect::<String>());
            let by = ["command-line".to_owned()].into_iter().chain(reason).collect::<Vec<_>>().join(": ");
            print(&toolbox.refuse(tool, &by)?, Decision::Refused, &by, json, streams)
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
        let (name, id, grants, by) = (&tool.name, tool.id.short(), granted(&question.grants), fact(&question.by));
        let line = format!("pending   {name} ({id}) with {grants}, asked by {by}, since {}", question.at);
        let rows = streams.output_rows(&line);
        writeln!(streams.output, "{rows}")?;
        match toolbox.question(&tool.id.to_string()) {
            Ok(question) => {
                for line in question.told(lang) {
                    let rows = streams.output_rows(&line);
                    writeln!(streams.output, "{rows}")?;
                }
                if let Some(approving) = &question.approving {
                    writeln!(
                        streams.output,
                        "  toolcell approvals grant {} --shown {}\n",
                        tool.id,
                        approving.digest()
                    )?;
                }
            }
            // It cannot be approved as it is, and that is what somebody should know.
            Err(error) => {
                let rows = streams.output_rows(&format!("  {}", visible(&error.to_string())));
                writeln!(streams.output, "{rows}\n")?;
            }
        }
    }
    for (tool, said) in &decided {
        let (name, id, grants) = (&tool.name, tool.id.short(), granted(&said.grants));
        let (word, by) = (word(said.decision), visible(&said.by));
        let with = match said.decision {
            Decision::Approved => format!("with {grants}"),
            Decision::Refused => "whatever it is granted".to_owned(),
        };
        let rows = streams.output_rows(&format!("{word:<9} {name} ({id}) {with}, by {by}, {}", said.at));
        writeln!(streams.output, "{rows}")?;
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
        "granted": approving.map(|known| known.grants.to_value()),
        "shown": approving.map(toolcell::gate::Approving::digest),
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

/// What is to be approved, and how.
struct Grant<'a> {
    tool: &'a str,
    /// The digest of what was shown, where that is typed.
    shown: Option<&'a str>,
    /// Who is asked.
    person: Option<AtTerminal>,
    lang: Lang,
}

/// Approves a tool, after asking whoever is there, and with what was shown.
fn grant(toolbox: &Toolbox, grant: &Grant<'_>, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let question = toolbox.question(grant.tool)?;
    let digest = question.approving.as_ref().map(|approving| approving.digest());
    if let Some(shown) = grant.shown
        && digest.as_deref() != Some(shown)
    {
        let message = format!("`{}` is not, or is not granted, what was shown as {}", fact(grant.tool), fact(shown));
        let hint = "look at it again with `toolcell approvals`, and decide about what is shown there";
        return Err(Failure::said("approval-changed", message, hint));
    }
    let by = match &grant.person {
        None => {
            // Nobody is asked; what is approved is said all the same, before it is.
            for line in question.facts(grant.lang) {
                let rows = streams.error_rows(&line);
                writeln!(streams.errors, "{rows}")?;
            }
            "command-line"
        }
        Some(person) => match person.ask(&question) {
            Answer::Yes => "person",
            Answer::No { .. } | Answer::Later | Answer::NotShown { .. } if person.cancel.is_cancelled() => {
                return Err(Failure::Interrupted);
            }
            Answer::No { .. } | Answer::Later | Answer::NotShown { .. } => {
                let message = format!("`{}` is not approved", question.call.tool_name);
                let hint = "it is asked about again; to end that: toolcell approvals refuse";
                return Err(Failure::said("not-approved", message, hint));
            }
        },
    };
    print(&toolbox.approve(&question, by)?, Decision::Approved, by, json, streams)
}

/// Says what was decided.
fn print(
    decided: &Decided,
    decision: Decision,
    by: &str,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let (word, name, grants) = (word(decision), &decided.name, decided.grants.to_value());
    if json {
        let (tool, name) = (decided.tool.to_string(), name.as_str());
        let said = json!({ "tool": tool, "name": name, "decision": word, "grants": grants, "by": by });
        writeln!(streams.output, "{said}")?;
        return Ok(Exit::Done);
    }
    let id = decided.tool.short();
    match decision {
        Decision::Approved => writeln!(streams.output, "{word} {name} ({id}) with {}", granted(&grants))?,
        Decision::Refused => writeln!(streams.output, "{word} {name} ({id}), whatever it is granted")?,
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
