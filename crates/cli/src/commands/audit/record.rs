//! `audit record`: shows the record of a run, by default of the last one.
//!
//! Invariant: the output is the record stored under that run or hash, with control characters
//! escaped.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcell::store::audit::{AuditFilter, AuditOrder};
use toolcell::store::{RUN_KIND, Record, Store};
use toolcell::{Effect, EffectLog, Effects, ReceivedBody, RunRecord, escape_control_chars, single_line};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, message, tr};

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::label::pad;

/// Width of the label of a fact, in columns.
const LABEL_COLUMNS: usize = 8;

/// Prints the record of a run, given by its identifier or the record's hash.
pub(super) fn show(store: &Store, which: Option<&str>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let found = match which {
        Some(which) => find_record(store, which)?,
        None => last_record(store)?,
    };
    let Some(record) = found else {
        let message = match which {
            Some(which) => message!("no record of `{run}`", run = single_line(which)),
            None => message!("no run is recorded"),
        };
        return Err(CliError::coded(
            ErrorCode::RecordNotFound,
            message,
            message!("list the runs with `toolcell audit`"),
        ));
    };
    let whole: Value = serde_json::from_slice(&record.body).unwrap_or_default();
    if format.is_json() {
        writeln!(streams.output, "{whole}")?;
        return Ok(Exit::Done);
    }
    match serde_json::from_slice::<RunRecord>(&record.body) {
        Ok(run) if record.kind == RUN_KIND => {
            for text in record_lines(&run, lang) {
                writeln!(streams.output, "{}", escape_control_chars(&text))?;
            }
        }
        _ => writeln!(
            streams.output,
            "{}  {}",
            escape_control_chars(&record.kind),
            escape_control_chars(&whole.to_string())
        )?,
    }
    Ok(Exit::Done)
}

fn find_record(store: &Store, which: &str) -> Result<Option<Record>, CliError> {
    if let Ok(run) = which.parse() {
        return Ok(store.runs().record_of_run(run)?);
    }
    match blake3::Hash::from_hex(which) {
        Ok(hash) => Ok(store.runs().record(hash)?),
        Err(_) => Ok(None),
    }
}

/// Returns the record of the newest run in the log.
fn last_record(store: &Store) -> Result<Option<Record>, CliError> {
    for line in store.audit().query(AuditFilter::default(), AuditOrder::NewestFirst)? {
        if let Some(run) = line?.details.get("run").and_then(Value::as_str) {
            return find_record(store, run);
        }
    }
    Ok(None)
}

/// Formats a record for a person, one fact per line. Its codes are those of the record.
fn record_lines(run: &RunRecord, lang: Lang) -> Vec<String> {
    let code = run.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let mut facts = vec![
        (tr!(lang, "run"), run.run.clone()),
        (tr!(lang, "action"), run.action.clone()),
        (
            tr!(lang, "tool"),
            [Some(run.name.clone()), run.tool.clone()].into_iter().flatten().collect::<Vec<_>>().join(" "),
        ),
        (tr!(lang, "record" => "caller"), run.caller.clone()),
        (tr!(lang, "record" => "at"), run.at.to_string()),
        (tr!(lang, "outcome"), format!("{}{code}", run.outcome)),
    ];
    facts.extend(run.resumes.clone().map(|run| (tr!(lang, "record" => "resumes"), run)));
    facts.extend(run.decided_by.clone().map(|by| (tr!(lang, "record" => "decided"), by)));
    facts.extend(run.grants.as_ref().map(|grants| (tr!(lang, "grants"), grants.to_string())));
    if let Some(used) = &run.used {
        let used = tr!(lang, "{fuel} fuel, {micros} µs", fuel = used.fuel, micros = used.micros);
        facts.push((tr!(lang, "record" => "used"), used));
    }
    let mut lines: Vec<String> = facts
        .into_iter()
        .map(|(name, value)| format!("{} {}", pad(name, LABEL_COLUMNS), single_line(&value)))
        .collect();
    if let Some(done) = &run.done {
        lines.extend(effect_lines(done, lang));
    }
    lines
}

/// Formats the effects of a run, such as `effect   fetch  GET https://a.example/v1  committed
/// whole: 1200 bytes in 2 pieces`, and the counts of those not listed.
fn effect_lines(EffectLog { effects, sources, asked, more, rest }: &EffectLog, lang: Lang) -> Vec<String> {
    let label = pad(tr!(lang, "effect"), LABEL_COLUMNS);
    let mut lines = Vec::new();
    if let Some(outcome) = asked {
        let asked = tr!(lang, "asked the user: {outcomes}", outcomes = outcome.name());
        lines.push(format!("{} {asked}", pad(tr!(lang, "run"), LABEL_COLUMNS)));
    }
    lines.extend(effects.iter().map(|effect| format!("{label} {}", effect_line(effect, lang))));
    if !sources.is_empty() {
        lines.push(format!("{} {}", pad(tr!(lang, "record" => "data from"), LABEL_COLUMNS), sources.join(", ")));
    }
    if *more > 0 {
        let kinds: Vec<String> = rest.iter().map(|(kind, phases)| describe_counts(kind, phases)).collect();
        let kinds = single_line(&kinds.join(", "));
        lines.push(tr!(lang, "{count} more effects: {kinds}", count = more, kinds));
    }
    lines
}

fn effect_line(effect: &Effect, lang: Lang) -> String {
    let Effect { kind, about, effects, code, asked, received, .. } = effect;
    let mut columns = vec![single_line(kind), single_line(about), effects.name().to_owned()];
    columns.extend(code.as_deref().map(single_line));
    if !asked.is_empty() {
        let outcomes: Vec<&str> = asked.iter().map(|outcome| outcome.name()).collect();
        columns.push(tr!(lang, "asked the user: {outcomes}", outcomes = outcomes.join(lang.list_separator())));
    }
    columns.extend(received.as_ref().map(|received| received_line(received, lang)));
    columns.retain(|column| !column.is_empty());
    columns.join("  ")
}

fn received_line(ReceivedBody { pieces, bytes, end, code }: &ReceivedBody, lang: Lang) -> String {
    let why = code.as_ref().map(|code| format!(" ({})", single_line(code))).unwrap_or_default();
    let end = end.name();
    let text = match pieces {
        1 => tr!(lang, "{end}: {bytes} bytes in 1 piece", end, bytes),
        _ => tr!(lang, "{end}: {bytes} bytes in {pieces} pieces", end, bytes, pieces),
    };
    text + &why
}

/// Formats counts by phase: `kv.get 300 committed, 1 none`.
fn describe_counts(kind: &str, phases: &BTreeMap<Effects, u64>) -> String {
    let phases: Vec<String> = phases.iter().map(|(effects, count)| format!("{count} {}", effects.name())).collect();
    format!("{kind} {}", phases.join(" "))
}
