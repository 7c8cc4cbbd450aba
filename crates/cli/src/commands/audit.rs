//! `audit`: queries the audit log, shows the record of a run, and verifies the log's hash chain.

mod record;

use serde_json::{Value, json};
use toolcell::escape_control_chars;
use toolcell::store::audit::{AuditLine, AuditReport, Head};
use toolcell::store::{CutLog, Settings, Store};
use toolcell_i18n::{Lang, Message, message, tr};

use crate::args::{AuditArgs, AuditCommand};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::progress::with_progress;

pub(crate) fn run(args: &AuditArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let store = Store::open_existing(context.store_dir()?, &Settings::default())?;
    match &args.command {
        Some(AuditCommand::Record { run }) => record::show(&store, run.as_deref(), context),
        Some(AuditCommand::Verify { head }) => verify(&store, head.as_ref(), context),
        None => show(&store, args, context),
    }
}

fn show(store: &Store, args: &AuditArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut lines = store.audit().query(args.filter(), args.order())?;
    for line in lines.by_ref() {
        let line = line?;
        if format.is_json() {
            writeln!(streams.output, "{}", line.to_value())?;
        } else {
            writeln!(streams.output, "{}", line_to_text(&line, lang))?;
        }
    }
    if lines.skipped() > 0 {
        let text = message!("{count} invalid lines; `toolcell audit verify` lists them", count = lines.skipped());
        streams.print_warning(&text, lang)?;
    }
    Ok(Exit::Done)
}

/// `2026-11-21T12:00:00Z  import  average dt_0123456789ab  failed: name-taken  {"count":3}`
fn line_to_text(line: &AuditLine, lang: Lang) -> String {
    let tool = [line.name.clone(), line.tool.map(|id| id.short())].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let went = match (&line.error, line.success) {
        (_, true) => tr!(lang, "done").to_owned(),
        (Some(code), false) => tr!(lang, "failed: {code}", code),
        (None, false) => tr!(lang, "failed").to_owned(),
    };
    let details = if line.details.is_empty() { String::new() } else { Value::Object(line.details.clone()).to_string() };
    let columns = [line.at.to_string(), line.action.clone(), tool, went, details];
    escape_control_chars(&columns.into_iter().filter(|column| !column.is_empty()).collect::<Vec<_>>().join("  "))
}

fn verify(store: &Store, kept: Option<&Head>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let now = toolcell::now();
    let verdict = with_progress(tr!(lang, "verifying"), streams, || store.verify_audit(kept, now))?;
    let cut = store.published_heads(now)?.cut;
    let clean = verdict.is_clean();
    if format.is_json() {
        writeln!(streams.output, "{}", report_to_json(&verdict, &cut))?;
    } else {
        for log in cut {
            let CutLog { node, host, head, noticed_at } = log;
            let text = message!(
                "the audit log of node {node} on {host} was cut off or rewritten before {at}, or its directory was restored or copied: it does not have its entry {seq} any more (head {head})",
                node,
                host,
                at = noticed_at,
                seq = head.seq(),
                head
            );
            streams.print_warning(&text, lang)?;
        }
        for problem in &verdict.problems {
            let text = tr!(lang, "problem: {problem}", problem);
            writeln!(streams.output, "{}", escape_control_chars(&text))?;
        }
        if verdict.omitted > 0 {
            writeln!(streams.output, "{}", tr!(lang, "problem: {count} more", count = verdict.omitted))?;
        }
        writeln!(streams.output, "{}", summary(&verdict).to_text(lang))?;
    }
    Ok(if clean { Exit::Done } else { Exit::Integrity })
}

/// Counts the lines, files and problems, and returns the end of the log.
fn summary(verdict: &AuditReport) -> Message {
    let result = match verdict.problems.len() as u64 + verdict.omitted {
        _ if verdict.is_clean() => message!("intact"),
        1 => message!("1 problem"),
        count => message!("{count} problems", count),
    };
    let end = match verdict.head {
        Some(head) => message!("head {head}", head),
        None => message!("the log is empty"),
    };
    message!(
        "{lines} lines in {files} files, {result}; {end}",
        lines = verdict.lines,
        files = verdict.files,
        result,
        end
    )
}

fn report_to_json(verdict: &AuditReport, cut: &[CutLog]) -> Value {
    let problem = |problem: &toolcell::store::audit::ChainProblem| {
        json!({"file": problem.file, "line": problem.line, "seq": problem.seq, "code": problem.kind.code(),
            "message": problem.kind.to_string()})
    };
    json!({
        "clean": verdict.is_clean(), "lines": verdict.lines, "files": verdict.files,
        "head": verdict.head.map(|head| head.to_string()),
        "problems": verdict.problems.iter().map(problem).collect::<Vec<_>>(), "more": verdict.omitted,
        "cutLogs": cut.iter().map(cut_to_json).collect::<Vec<_>>(),
    })
}

fn cut_to_json(log: &CutLog) -> Value {
    json!({"node": log.node, "host": log.host, "head": log.head.to_string(), "noticedAt": log.noticed_at.to_string()})
}
