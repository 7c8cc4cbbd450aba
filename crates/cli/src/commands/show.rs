//! `show`: prints everything known about a tool.

use serde_json::{Map, Value, json};
use toolcell::policy::GrantVerdict;
use toolcell::store::{Decision, Percentiles, ToolUsage};
use toolcell::{
    Analysis, ApprovalState, Finding, FindingResponse, Lang, Language, ParameterResponse, Proof, ToolDetails, analyze,
    describe_capabilities, escape_control_chars, escape_for_display, single_line,
};
use toolcell_i18n::{Localize as _, Message, message, tr};

use crate::args::{SandboxArgs, ShowArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::findings::{CheckFailure, CheckedFile, render_finding, render_problem, renderer};
use crate::render::table::{Column, Fit, Overflow, Table, terminal_width};
use crate::render::tools::{entry_to_json, status_text};
use crate::screen::text_width;
use crate::streams::Streams;

/// The minimum width of the labels of facts, in columns.
const MIN_LABEL_WIDTH: usize = 9;

pub(crate) fn run(args: &ShowArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let shown = toolbox.show(&args.tool, args.version)?;
    let Context { ref mut streams, format, lang, .. } = *context;
    if args.source {
        // The user may decide by this output, so invisible characters are escaped on a terminal.
        // Elsewhere the source is printed unchanged.
        let source = shown.spec.source();
        let source = if streams.output_is_terminal { escape_for_display(source) } else { source.to_owned() };
        write!(streams.output, "{source}{}", if source.ends_with('\n') { "" } else { "\n" })?;
        return Ok(Exit::Done);
    }
    let declared = (!shown.spec.capabilities().is_null()).then_some(&shown.requested);
    let analysis = analyze(shown.spec.source(), Language::Unknown, declared).map_err(CheckFailure::Rejected);
    let path = shown.entry.name.to_string();
    let checked = CheckedFile {
        path,
        source: shown.spec.source().to_owned(),
        analysis,
        type_errors: Vec::new(),
        unchecked_types: None,
    };
    if format.is_json() {
        writeln!(streams.output, "{}", details_to_json(&shown, &checked))?;
        return Ok(Exit::Done);
    }
    for section in [heading, summary, parameters, permissions, proof, usage, history] {
        section(&shown, &checked, lang, streams)?;
    }
    findings(&checked, lang, streams)?;
    source(&shown, streams)?;
    Ok(Exit::Done)
}

fn heading(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let entry = &shown.entry;
    write!(streams.output, "{}  {}", entry.name, entry.id)?;
    if !entry.current {
        write!(streams.output, "  {}", tr!(lang, "(deleted, or not the current version of its name)"))?;
    }
    writeln!(streams.output)?;
    for text in shown.notes.description().lines() {
        writeln!(streams.output, "{}", escape_control_chars(text))?;
    }
    writeln!(streams.output)
}

/// Prints the metadata, one fact per line.
fn summary(shown: &ToolDetails, checked: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let entry = &shown.entry;
    let scores = tr!(
        lang,
        "safety {safety}, quality {quality}, confidence {confidence}",
        safety = format!("{:.2}", entry.scores.safety),
        quality = format!("{:.2}", entry.scores.quality),
        confidence = format!("{:.2}", entry.confidence)
    );
    let successor = shown.successor.as_ref().map(|successor| &successor.name);
    let mut facts = vec![
        (tr!(lang, "fact" => "status"), status_text(entry, successor, lang)),
        (tr!(lang, "fact" => "scores"), scores),
        (tr!(lang, "fact" => "created"), entry.created_at.to_string()),
    ];
    if entry.updated_at != entry.created_at {
        facts.push((tr!(lang, "fact" => "updated"), entry.updated_at.to_string()));
    }
    if !shown.notes.tags().is_empty() {
        facts.push((tr!(lang, "fact" => "tags"), single_line(&shown.notes.tags().join(lang.list_separator()))));
    }
    if let Some(task) = shown.notes.generated_from() {
        facts.push((tr!(lang, "fact" => "task"), single_line(task)));
    }
    if !shown.notes.examples().is_empty() {
        facts.push((tr!(lang, "fact" => "examples"), shown.notes.examples().len().to_string()));
    }
    facts.push((tr!(lang, "fact" => "requests"), describe_capabilities(&shown.requested).to_text(lang)));
    if let Ok(analysis) = &checked.analysis {
        facts.push((tr!(lang, "fact" => "uses"), describe_capabilities(&analysis.capabilities).to_text(lang)));
    }
    facts.push((tr!(lang, "fact" => "approval"), single_line(&approval_text(shown).to_text(lang))));
    let width = facts.iter().map(|(label, _)| text_width(label)).fold(MIN_LABEL_WIDTH, usize::max);
    for (label, value) in facts {
        let padding = " ".repeat(width - text_width(label));
        writeln!(streams.output, "{label}{padding} {value}")?;
    }
    Ok(())
}

/// Prints the result of the last verification.
fn proof(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Some(proof) = &shown.proof else { return Ok(()) };
    writeln!(streams.output, "{}", escape_control_chars(&proof.to_text(lang)))?;
    writeln!(streams.output)
}

fn approval_text(shown: &ToolDetails) -> Message {
    let id = shown.entry.id.short();
    match &shown.approval_state {
        ApprovalState::Approved => message!("approved, with {grants} granted", grants = shown.grants),
        ApprovalState::ApprovedOnce => {
            message!("approved for its next run, with {grants} granted", grants = shown.grants)
        }
        ApprovalState::Refused => message!("refused; approve with `toolcell approvals grant {id}`", id),
        ApprovalState::NotRequired => message!("not needed"),
        ApprovalState::Unapproved { why } => {
            message!("missing: {reason}; approve with `toolcell approvals grant {id}`", reason = why, id)
        }
        ApprovalState::Unsafe(refusal) => {
            message!("not possible: refused by the analysis: {reason}", reason = refusal)
        }
        _ => Message::verbatim(shown.approval_state.name().to_owned()),
    }
}

fn parameters(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table = Table::new(columns([
        (tr!(lang, "column" => "parameter"), Fit::Text(8)),
        (tr!(lang, "column" => "type"), Fit::Text(8)),
        (tr!(lang, "column" => "default"), Fit::Text(8)),
        (tr!(lang, "column" => "description"), Fit::Text(20)),
    ]));
    for parameter in &shown.parameters {
        let default = match &parameter.default {
            Some(default) => default.to_string(),
            None if parameter.required => tr!(lang, "(required)").to_owned(),
            None => String::new(),
        };
        let allowed: Vec<String> = parameter.allowed.iter().map(Value::to_string).collect();
        let description = &parameter.description;
        let description = if allowed.is_empty() {
            description.clone()
        } else {
            let values = allowed.join(lang.list_separator());
            tr!(lang, "one of {values} {description}", values, description)
        };
        table.add_row([parameter.name.clone(), parameter.kind.clone(), default, description]);
    }
    print_table(&table, shown.parameters.len(), streams)
}

/// Prints the policy's decisions on the requested capabilities, and past approvals.
fn permissions(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table = Table::new(columns([
        (tr!(lang, "column" => "capability"), Fit::Whole),
        (tr!(lang, "column" => "verdict"), Fit::Whole),
        (tr!(lang, "column" => "why"), Fit::Text(20)),
    ]));
    for ruling in &shown.grant_decisions {
        let verdict = match ruling.verdict {
            GrantVerdict::Granted => tr!(lang, "verdict" => "granted"),
            GrantVerdict::Refused => tr!(lang, "verdict" => "withheld"),
        };
        table.add_row([ruling.capability.name().to_owned(), verdict.to_owned(), ruling.localize().to_text(lang)]);
    }
    print_table(&table, shown.grant_decisions.len(), streams)?;
    let mut table = Table::new(columns([
        (tr!(lang, "column" => "approval"), Fit::Whole),
        (tr!(lang, "column" => "grants"), Fit::Text(8)),
        (tr!(lang, "column" => "by"), Fit::Text(6)),
        (tr!(lang, "column" => "at"), Fit::Whole),
    ]));
    for approval in &shown.approvals {
        let decision = match approval.decision {
            Decision::Approved => tr!(lang, "verdict" => "approved"),
            Decision::ApprovedOnce => tr!(lang, "verdict" => "approved for one run"),
            Decision::Refused => tr!(lang, "verdict" => "refused"),
        };
        let names = approval.grants.as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
        let grants = if names.is_empty() {
            tr!(lang, "grants" => "nothing").to_owned()
        } else {
            names.join(lang.list_separator())
        };
        table.add_row([decision.to_owned(), grants, approval.by.clone(), approval.at.to_string()]);
    }
    print_table(&table, shown.approvals.len(), streams)
}

fn usage(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let ToolUsage { runs, successes, failures, last_used_at, fuel, micros } = &shown.usage;
    let Some(last) = last_used_at else {
        return writeln!(streams.output, "\n{}", tr!(lang, "no runs yet"));
    };
    let failed: Vec<String> = failures.iter().map(|(code, count)| format!("{} {count}", single_line(code))).collect();
    let text = if failed.is_empty() {
        tr!(lang, "{runs} runs, {successes} succeeded; last run {last}", runs, successes, last)
    } else {
        let failures = failed.join(lang.list_separator());
        tr!(lang, "{runs} runs, {successes} succeeded ({failures}); last run {last}", runs, successes, failures, last)
    };
    writeln!(streams.output, "\n{text}")?;
    let mut table = Table::new(columns([
        (tr!(lang, "column" => "percentile"), Fit::Whole),
        ("50", Fit::Number),
        ("90", Fit::Number),
        ("99", Fit::Number),
    ]));
    let Percentiles { p50, p90, p99 } = *fuel;
    table.add_row([tr!(lang, "column" => "fuel").to_owned(), p50.to_string(), p90.to_string(), p99.to_string()]);
    let milliseconds = |micros: u64| format!("{}.{:03}", micros / 1_000, micros % 1_000);
    let Percentiles { p50, p90, p99 } = *micros;
    table.add_row(["ms".to_owned(), milliseconds(p50), milliseconds(p90), milliseconds(p99)]);
    print_table(&table, 2, streams)
}

fn history(shown: &ToolDetails, _: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table = Table::new(columns([
        (tr!(lang, "column" => "version"), Fit::Number),
        (tr!(lang, "column" => "event"), Fit::Whole),
        (tr!(lang, "column" => "id"), Fit::Whole),
        (tr!(lang, "column" => "at"), Fit::Whole),
    ]));
    for past in &shown.history {
        table.add_row([past.number.to_string(), past.event.name().to_owned(), past.id.short(), past.at.to_string()]);
    }
    print_table(&table, shown.history.len(), streams)
}

/// Prints the findings with their source lines.
fn findings(checked: &CheckedFile, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let renderer = renderer(streams);
    if let Ok(analysis) = &checked.analysis {
        // Uses of requested capabilities are listed above.
        let allowed = |finding: &&Finding| analysis.safety.allowed_operations.contains(&finding.message);
        for finding in analysis.findings.iter().filter(|finding| !allowed(finding)) {
            writeln!(streams.output, "\n{}", render_finding(&renderer, checked, finding, lang))?;
        }
    }
    if let Some(rejection) = checked.rejection() {
        for problem in rejection.diagnostics() {
            let shown = render_problem(&renderer, checked, problem, rejection.code().as_str(), lang);
            writeln!(streams.output, "\n{shown}")?;
        }
    }
    Ok(())
}

fn source(shown: &ToolDetails, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let source = shown.spec.source();
    let digits = source.lines().count().to_string().len();
    writeln!(streams.output)?;
    for (at, text) in source.lines().enumerate() {
        writeln!(streams.output, "{:>digits$} | {}", at + 1, escape_for_display(text))?;
    }
    Ok(())
}

fn columns<const N: usize>(columns: [(&'static str, Fit); N]) -> Vec<Column> {
    columns.into_iter().map(|(title, fit)| Column { title, fit, drop_order: 0 }).collect()
}

/// Prints a table below a blank line, unless it has no rows.
fn print_table(table: &Table, rows: usize, streams: &mut Streams<'_>) -> std::io::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let room = if streams.output_is_terminal { terminal_width() } else { u16::MAX };
    writeln!(streams.output)?;
    for line in table.fit(room, Overflow::Wrap).lines {
        writeln!(streams.output, "{}", line.trim_end())?;
    }
    Ok(())
}

fn details_to_json(shown: &ToolDetails, checked: &CheckedFile) -> Value {
    let successor = shown.successor.as_ref().map(|successor| &successor.name);
    let mut fields = entry_to_json(&shown.entry, successor);
    let percentiles = |of: Percentiles| json!({"p50": of.p50, "p90": of.p90, "p99": of.p99});
    let ruling = |ruling: &toolcell::policy::GrantDecision| {
        json!({"capability": ruling.capability.name(), "granted": ruling.verdict == GrantVerdict::Granted,
            "rule": ruling.rule, "why": ruling.to_string()})
    };
    let approval = |approval: &toolcell::store::Approval| {
        json!({"approved": approval.decision != Decision::Refused, "once": approval.decision == Decision::ApprovedOnce, "grants": approval.grants, "by": approval.by,
            "at": approval.at.to_string()})
    };
    let past = |past: &toolcell::store::HistoryEntry| {
        json!({"version": past.number, "event": past.event.name(), "id": past.id.to_string(),
            "at": past.at.to_string()})
    };
    let analysis: Option<&Analysis> = checked.analysis.as_ref().ok();
    let why = match &shown.approval_state {
        ApprovalState::Unapproved { why } => Some(why.to_string()),
        ApprovalState::Unsafe(refusal) => Some(refusal.to_string()),
        _ => None,
    };
    let more = json!({
        "current": shown.entry.current,
        "generatedFrom": shown.notes.generated_from(),
        "examples": shown.notes.examples(),
        "returns": shown.notes.postconditions().returns,
        "idempotent": shown.notes.postconditions().idempotent,
        "cost": shown.notes.cost(),
        "proof": shown.proof.as_ref().map(proof_to_json),
        "parameters": shown.parameters.iter().map(ParameterResponse::from).collect::<Vec<_>>(),
        "capabilities": {
            "asked": shown.requested, "inferred": analysis.map(|analysis| &analysis.capabilities),
            "rulings": shown.grant_decisions.iter().map(ruling).collect::<Vec<_>>(),
        },
        "approval": {
            "state": shown.approval_state.name(), "why": why,
            "said": shown.approvals.iter().map(approval).collect::<Vec<_>>(),
        },
        "usage": {
            "runs": shown.usage.runs, "successes": shown.usage.successes, "failures": shown.usage.failures,
            "fuel": percentiles(shown.usage.fuel), "micros": percentiles(shown.usage.micros),
        },
        "history": shown.history.iter().map(past).collect::<Vec<_>>(),
        "findings": analysis.map(|analysis| analysis.findings.iter().map(FindingResponse::from).collect::<Vec<_>>()),
        "source": shown.spec.source(),
    });
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}

/// Converts a proof to JSON, without its receipts.
fn proof_to_json(proof: &Proof) -> Value {
    let mut proof = serde_json::to_value(proof).unwrap_or_default();
    if let Some(fields) = proof.as_object_mut() {
        fields.shift_remove("receipts");
    }
    proof
}
