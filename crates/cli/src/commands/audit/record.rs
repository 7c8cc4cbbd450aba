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

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

/// Prints the record of a run, given by its identifier or the record's hash.
pub(super) fn show(store: &Store, which: Option<&str>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, .. } = *context;
    let found = match which {
        Some(which) => find_record(store, which)?,
        None => last_record(store)?,
    };
    let Some(record) = found else {
        let message = which
            .map_or_else(|| "no run is recorded".to_owned(), |which| format!("no record of `{}`", single_line(which)));
        return Err(CliError::coded(ErrorCode::RecordNotFound, message, "list the runs with `toolcell audit`"));
    };
    let whole: Value = serde_json::from_slice(&record.body).unwrap_or_default();
    if format.is_json() {
        writeln!(streams.output, "{whole}")?;
        return Ok(Exit::Done);
    }
    match serde_json::from_slice::<RunRecord>(&record.body) {
        Ok(run) if record.kind == RUN_KIND => {
            for text in record_lines(&run) {
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

/// Formats a record for a person, one fact per line.
fn record_lines(run: &RunRecord) -> Vec<String> {
    let code = run.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let mut facts = vec![
        ("run", run.run.clone()),
        ("action", run.action.clone()),
        ("tool", [Some(run.name.clone()), run.tool.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ("caller", run.caller.clone()),
        ("at", run.at.to_string()),
        ("outcome", format!("{}{code}", run.outcome)),
    ];
    facts.extend(run.resumes.clone().map(|run| ("resumes", run)));
    facts.extend(run.decided_by.clone().map(|by| ("decided", by)));
    facts.extend(run.grants.as_ref().map(|grants| ("grants", grants.to_string())));
    facts.extend(run.used.as_ref().map(|used| ("used", format!("{} fuel, {} µs", used.fuel, used.micros))));
    let mut lines: Vec<String> =
        facts.into_iter().map(|(name, value)| format!("{name:<8} {}", single_line(&value))).collect();
    if let Some(done) = &run.done {
        lines.extend(effect_lines(done));
    }
    lines
}

/// Formats the effects of a run, such as `done     fetch  GET https://a.example/v1  committed
/// whole: 1200 bytes in 2 pieces`, and the counts of those not listed.
fn effect_lines(EffectLog { effects, more, rest }: &EffectLog) -> Vec<String> {
    let mut lines: Vec<String> = effects.iter().map(|effect| format!("effect   {}", effect_line(effect))).collect();
    if *more > 0 {
        let kinds: Vec<String> = rest.iter().map(|(kind, phases)| describe_counts(kind, phases)).collect();
        lines.push(format!("{more} more effects: {}", single_line(&kinds.join(", "))));
    }
    lines
}

fn effect_line(effect: &Effect) -> String {
    let Effect { kind, about, effects, code, received, .. } = effect;
    let mut columns = vec![single_line(kind), single_line(about), effects.name().to_owned()];
    columns.extend(code.as_deref().map(single_line));
    columns.extend(received.as_ref().map(received_line));
    columns.retain(|column| !column.is_empty());
    columns.join("  ")
}

fn received_line(ReceivedBody { pieces, bytes, end, code }: &ReceivedBody) -> String {
    let why = code.as_ref().map(|code| format!(" ({})", single_line(code))).unwrap_or_default();
    let many = if *pieces == 1 { "" } else { "s" };
    format!("{}: {bytes} bytes in {pieces} piece{many}{why}", end.name())
}

/// Formats counts by phase: `kv.get 300 committed, 1 none`.
fn describe_counts(kind: &str, phases: &BTreeMap<Effects, u64>) -> String {
    let phases: Vec<String> = phases.iter().map(|(effects, count)| format!("{count} {}", effects.name())).collect();
    format!("{kind} {}", phases.join(" "))
}
