//! `show`: everything that is known of a tool.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::policy::Verdict;
use toolcell::store::{Decision, Percentiles, Usage};
use toolcell::{
    Analysis, Finding, FindingBody, Lang, Language, ParameterBody, Proof, Shown, Standing, analyze, capabilities, line,
    unmasked, visible,
};

use crate::args::{SandboxArgs, ShowArgs};
use crate::check::{Checked, Said, problem_shown, renderer, shown as finding_shown};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::table::{Column, Fit, Table, TooLong, width};
use crate::{Streams, list, open};

pub(crate) fn run(
    args: &ShowArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
    let shown = toolbox.show(&args.tool, args.version)?;
    if args.source {
        // A person may decide by it, so what cannot be seen is visible on a terminal; elsewhere it is the source as it is.
        let source = shown.spec.source();
        let source = if streams.output_is_terminal { unmasked(source) } else { source.to_owned() };
        write!(streams.output, "{source}{}", if source.ends_with('\n') { "" } else { "\n" })?;
        return Ok(Exit::Done);
    }
    let declared = (!shown.spec.capabilities().is_null()).then_some(&shown.asked);
    let said = analyze(shown.spec.source(), Language::Unsaid, declared).map_err(Said::Rejected);
    let path = shown.entry.name.to_string();
    let checked = Checked { path, source: shown.spec.source().to_owned(), said };
    if json {
        writeln!(streams.output, "{}", in_json(&shown, &checked))?;
        return Ok(Exit::Done);
    }
    for section in [heading, said_about, parameters, permissions, proof, usage, history] {
        section(&shown, &checked, streams)?;
    }
    findings(&checked, streams)?;
    source(&shown, streams)?;
    Ok(Exit::Done)
}

fn heading(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let entry = &shown.entry;
    let gone = if entry.current { "" } else { "  (its name leads elsewhere, or was deleted)" };
    writeln!(streams.output, "{}  {}{gone}", entry.name, entry.id)?;
    for text in shown.notes.description().lines() {
        writeln!(streams.output, "{}", visible(text))?;
    }
    writeln!(streams.output)
}

/// What is there of it, a line each.
fn said_about(shown: &Shown, checked: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let entry = &shown.entry;
    let mut facts = vec![
        ("status", list::status(entry, shown.successor.as_ref().map(|successor| &successor.name))),
        (
            "scores",
            format!(
                "safety {:.2}, quality {:.2}, confidence {:.2}",
                entry.scores.safety, entry.scores.quality, entry.confidence
            ),
        ),
        ("created", entry.created_at.to_string()),
    ];
    if entry.updated_at != entry.created_at {
        facts.push(("updated", entry.updated_at.to_string()));
    }
    if !shown.notes.tags().is_empty() {
        facts.push(("tags", line(&shown.notes.tags().join(", "))));
    }
    if let Some(task) = shown.notes.generated_from() {
        facts.push(("made for", line(task)));
    }
    if !shown.notes.examples().is_empty() {
        facts.push(("examples", shown.notes.examples().len().to_string()));
    }
    facts.push(("asks for", capabilities(&shown.asked)));
    if let Ok(analysis) = &checked.said {
        facts.push(("uses", capabilities(&analysis.capabilities)));
    }
    facts.push(("approval", standing(shown)));
    for (name, value) in facts {
        writeln!(streams.output, "{name:<9} {value}")?;
    }
    Ok(())
}

/// What came of the last trial.
fn proof(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Some(proof) = &shown.proof else { return Ok(()) };
    writeln!(streams.output, "{}", visible(&proof.to_text(Lang::En)))?;
    writeln!(streams.output)
}

fn standing(shown: &Shown) -> String {
    let id = shown.entry.id.short();
    match &shown.standing {
        Standing::Approved => format!("approved, with {} granted", shown.grants),
        Standing::Refused => format!("refused; `toolcell approvals grant {id}` takes it back"),
        Standing::Free => "not needed".to_owned(),
        Standing::Unapproved { why } => format!("missing: {}; `toolcell approvals grant {id}` gives it", line(why)),
        Standing::Unsafe(refusal) => format!("of no use: the analysis refuses it: {}", line(&refusal.to_string())),
        _ => shown.standing.name().to_owned(),
    }
}

fn parameters(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table = Table::new(columns([
        ("parameter", Fit::Text(8)),
        ("type", Fit::Text(8)),
        ("default", Fit::Text(8)),
        ("description", Fit::Text(20)),
    ]));
    for parameter in &shown.parameters {
        let default = match &parameter.default {
            Some(default) => default.to_string(),
            None if parameter.required => "(required)".to_owned(),
            None => String::new(),
        };
        let allowed: Vec<String> = parameter.allowed.iter().map(Value::to_string).collect();
        let among = if allowed.is_empty() { String::new() } else { format!("one of {} ", allowed.join(", ")) };
        table.row([
            parameter.name.clone(),
            parameter.kind.clone(),
            default,
            format!("{among}{}", parameter.description),
        ]);
    }
    print(&table, shown.parameters.len(), streams)
}

/// What the policy says to what it asks for, and what people said.
fn permissions(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table = Table::new(columns([("capability", Fit::Whole), ("verdict", Fit::Whole), ("why", Fit::Text(20))]));
    for ruling in &shown.rulings {
        let verdict = if ruling.verdict == Verdict::Granted { "granted" } else { "withheld" };
        table.row([ruling.capability.name().to_owned(), verdict.to_owned(), ruling.to_string()]);
    }
    print(&table, shown.rulings.len(), streams)?;
    let mut table = Table::new(columns([
        ("approval", Fit::Whole),
        ("grants", Fit::Text(8)),
        ("by", Fit::Text(6)),
        ("at", Fit::Whole),
    ]));
    for approval in &shown.approvals {
        let said = if approval.decision == Decision::Approved { "approved" } else { "refused" };
        let grants = approval.grants.as_object().map(|grants| grants.keys().cloned().collect::<Vec<_>>().join(", "));
        let grants = grants.filter(|grants| !grants.is_empty()).unwrap_or_else(|| "nothing".to_owned());
        table.row([said.to_owned(), grants, approval.by.clone(), approval.at.to_string()]);
    }
    print(&table, shown.approvals.len(), streams)
}

fn usage(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Usage { runs, successes, failures, last_used_at, fuel, micros } = &shown.usage;
    let Some(last) = last_used_at else {
        return writeln!(streams.output, "\nit never ran");
    };
    let failed: Vec<String> = failures.iter().map(|(code, count)| format!("{} {count}", line(code))).collect();
    let failed = if failed.is_empty() { String::new() } else { format!(" ({})", failed.join(", ")) };
    writeln!(streams.output, "\n{runs} runs, {successes} went well{failed}; the last one {last}")?;
    let mut table = Table::new(columns([
        ("of 100 runs", Fit::Whole),
        ("50", Fit::Number),
        ("90", Fit::Number),
        ("99", Fit::Number),
    ]));
    let Percentiles { p50, p90, p99 } = *fuel;
    table.row(["fuel, at most".to_owned(), p50.to_string(), p90.to_string(), p99.to_string()]);
    let milliseconds = |micros: u64| format!("{}.{:03}", micros / 1_000, micros % 1_000);
    let Percentiles { p50, p90, p99 } = *micros;
    table.row(["ms, at most".to_owned(), milliseconds(p50), milliseconds(p90), milliseconds(p99)]);
    print(&table, 2, streams)
}

fn history(shown: &Shown, _: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut table =
        Table::new(columns([("version", Fit::Number), ("event", Fit::Whole), ("id", Fit::Whole), ("at", Fit::Whole)]));
    for past in &shown.history {
        table.row([past.number.to_string(), past.event.name().to_owned(), past.id.short(), past.at.to_string()]);
    }
    print(&table, shown.history.len(), streams)
}

/// What the analysis finds, under the line that it is in.
fn findings(checked: &Checked, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let renderer = renderer(streams);
    if let Ok(analysis) = &checked.said {
        // What it asks for is said already.
        let allowed = |finding: &&Finding| analysis.safety.allowed_operations.contains(&finding.message);
        for finding in analysis.findings.iter().filter(|finding| !allowed(finding)) {
            writeln!(streams.output, "\n{}", finding_shown(&renderer, checked, finding))?;
        }
    }
    if let Some(rejection) = checked.rejection() {
        for problem in rejection.problems() {
            writeln!(streams.output, "\n{}", problem_shown(&renderer, checked, problem, rejection.code()))?;
        }
    }
    Ok(())
}

fn source(shown: &Shown, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let source = shown.spec.source();
    let digits = source.lines().count().to_string().len();
    writeln!(streams.output)?;
    for (at, text) in source.lines().enumerate() {
        writeln!(streams.output, "{:>digits$} | {}", at + 1, unmasked(text))?;
    }
    Ok(())
}

fn columns<const N: usize>(columns: [(&'static str, Fit); N]) -> Vec<Column> {
    columns.into_iter().map(|(title, fit)| Column { title, fit, spare: 0 }).collect()
}

/// A table with something in it, below a blank line.
fn print(table: &Table, rows: usize, streams: &mut Streams<'_>) -> std::io::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let room = if streams.output_is_terminal { width() } else { u16::MAX };
    writeln!(streams.output)?;
    for line in table.fitted(room, TooLong::Wrap).lines {
        writeln!(streams.output, "{}", line.trim_end())?;
    }
    Ok(())
}

fn in_json(shown: &Shown, checked: &Checked) -> Value {
    let successor = shown.successor.as_ref().map(|successor| &successor.name);
    let mut fields = list::entry(&shown.entry, successor);
    let percentiles = |of: Percentiles| json!({"p50": of.p50, "p90": of.p90, "p99": of.p99});
    let ruling = |ruling: &toolcell::policy::Ruling| {
        json!({"capability": ruling.capability.name(), "granted": ruling.verdict == Verdict::Granted,
            "rule": ruling.rule, "why": ruling.to_string()})
    };
    let approval = |approval: &toolcell::store::Approval| {
        json!({"approved": approval.decision == Decision::Approved, "grants": approval.grants, "by": approval.by,
            "at": approval.at.to_string()})
    };
    let past = |past: &toolcell::store::Past| {
        json!({"version": past.number, "event": past.event.name(), "id": past.id.to_string(),
            "at": past.at.to_string()})
    };
    let analysis: Option<&Analysis> = checked.said.as_ref().ok();
    let why = match &shown.standing {
        Standing::Unapproved { why } => Some(why.clone()),
        Standing::Unsafe(refusal) => Some(refusal.to_string()),
        _ => None,
    };
    let more = json!({
        "current": shown.entry.current,
        "generatedFrom": shown.notes.generated_from(),
        "examples": shown.notes.examples(),
        "returns": shown.notes.claims().returns,
        "idempotent": shown.notes.claims().idempotent,
        "cost": shown.notes.cost(),
        "proof": shown.proof.as_ref().map(told),
        "parameters": shown.parameters.iter().map(ParameterBody::from).collect::<Vec<_>>(),
        "capabilities": {
            "asked": shown.asked, "inferred": analysis.map(|analysis| &analysis.capabilities),
            "rulings": shown.rulings.iter().map(ruling).collect::<Vec<_>>(),
        },
        "approval": {
            "state": shown.standing.name(), "why": why,
            "said": shown.approvals.iter().map(approval).collect::<Vec<_>>(),
        },
        "usage": {
            "runs": shown.usage.runs, "successes": shown.usage.successes, "failures": shown.usage.failures,
            "fuel": percentiles(shown.usage.fuel), "micros": percentiles(shown.usage.micros),
        },
        "history": shown.history.iter().map(past).collect::<Vec<_>>(),
        "findings": analysis.map(|analysis| analysis.findings.iter().map(FindingBody::from).collect::<Vec<_>>()),
        "source": shown.spec.source(),
    });
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}

/// A proof without what ran in it.
fn told(proof: &Proof) -> Value {
    let mut told = serde_json::to_value(proof).unwrap_or_default();
    if let Some(fields) = told.as_object_mut() {
        fields.shift_remove("receipts");
    }
    told
}
