//! `audit record`: what is kept of one run, of the last one where nothing else is said.
//!
//! Invariant: what is printed is what the store has under that run or that hash, with nothing in it that a terminal would obey.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcell::store::audit::{Filter, Order};
use toolcell::store::{RUN, Record, Store};
use toolcell::{Done, Effect, Effects, Received, RunRecord, line, visible};

use crate::Streams;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the record of a run, or the one with a hash.
pub(super) fn show(store: &Store, which: Option<&str>, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let found = match which {
        Some(which) => found(store, which)?,
        None => last(store)?,
    };
    let Some(record) = found else {
        let message = which.map_or_else(
            || "there is no record of any run".to_owned(),
            |which| format!("there is no record of `{}`", line(which)),
        );
        return Err(Failure::said("record-not-found", message, "`toolcell audit` says which runs there were"));
    };
    let whole: Value = serde_json::from_slice(&record.body).unwrap_or_default();
    if json {
        writeln!(streams.output, "{whole}")?;
        return Ok(Exit::Done);
    }
    match serde_json::from_slice::<RunRecord>(&record.body) {
        Ok(run) if record.kind == RUN => {
            for text in lines(&run) {
                writeln!(streams.output, "{}", visible(&text))?;
            }
        }
        _ => writeln!(streams.output, "{}  {}", visible(&record.kind), visible(&whole.to_string()))?,
    }
    Ok(Exit::Done)
}

fn found(store: &Store, which: &str) -> Result<Option<Record>, Failure> {
    if let Ok(run) = which.parse() {
        return Ok(store.record_of(run)?);
    }
    match blake3::Hash::from_hex(which) {
        Ok(hash) => Ok(store.record(hash)?),
        Err(_) => Ok(None),
    }
}

/// The record of the run that the log tells of last.
fn last(store: &Store) -> Result<Option<Record>, Failure> {
    for told in store.audit().query(Filter::default(), Order::NewestFirst)? {
        if let Some(run) = told?.details.get("run").and_then(Value::as_str) {
            return found(store, run);
        }
    }
    Ok(None)
}

/// A record as people read it, a line for each thing that is known.
fn lines(run: &RunRecord) -> Vec<String> {
    let code = run.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let mut facts = vec![
        ("run", run.run.clone()),
        ("action", run.action.clone()),
        ("tool", [Some(run.name.clone()), run.tool.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ("caller", run.caller.clone()),
        ("at", run.at.to_string()),
        ("outcome", format!("{}{code}", run.outcome)),
    ];
    facts.extend(run.resumes.clone().map(|slept| ("resumes", slept)));
    facts.extend(run.decided_by.clone().map(|by| ("decided", by)));
    facts.extend(run.grants.as_ref().map(|grants| ("grants", grants.to_string())));
    facts.extend(run.used.as_ref().map(|used| ("used", format!("{} fuel, {} µs", used.fuel, used.micros))));
    let mut lines: Vec<String> = facts.into_iter().map(|(name, value)| format!("{name:<8} {}", line(&value))).collect();
    if let Some(done) = &run.done {
        lines.extend(done_lines(done));
    }
    lines
}

/// `done     fetch  GET https://a.example/v1  committed  whole: 1200 bytes in 2 pieces`, and what is only counted.
fn done_lines(Done { effects, more, rest }: &Done) -> Vec<String> {
    let mut lines: Vec<String> = effects.iter().map(|effect| format!("done     {}", effect_line(effect))).collect();
    if *more > 0 {
        let kinds: Vec<String> = rest.iter().map(|(kind, phases)| counted(kind, phases)).collect();
        lines.push(format!("and more {more}: {}", line(&kinds.join(", "))));
    }
    lines
}

fn effect_line(effect: &Effect) -> String {
    let Effect { kind, about, effects, code, received, .. } = effect;
    let mut columns = vec![line(kind), line(about), effects.name().to_owned()];
    columns.extend(code.as_deref().map(line));
    columns.extend(received.as_ref().map(received_line));
    columns.retain(|column| !column.is_empty());
    columns.join("  ")
}

fn received_line(Received { pieces, bytes, end, code }: &Received) -> String {
    let why = code.as_ref().map(|code| format!(" ({})", line(code))).unwrap_or_default();
    let many = if *pieces == 1 { "" } else { "s" };
    format!("{}: {bytes} bytes in {pieces} piece{many}{why}", end.name())
}

/// `kv.get 300 committed, 1 none`.
fn counted(kind: &str, phases: &BTreeMap<Effects, u64>) -> String {
    let phases: Vec<String> = phases.iter().map(|(effects, count)| format!("{count} {}", effects.name())).collect();
    format!("{kind} {}", phases.join(" "))
}
