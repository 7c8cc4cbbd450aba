//! `gc`: deletes old tools, unreferenced objects and expired data.

use jiff::Timestamp;
use serde::Serialize;
use toolcell::store::{GcMode, GcReport, Settings, Store};
use toolcell::{collect, now};
use toolcell_i18n::{Lang, tr};

use crate::args::GcArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::library;
use crate::render::progress::with_progress;
use crate::render::store::format_bytes;

/// The JSON output of `gc`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GcOutput {
    dry_run: bool,
    names: Vec<CollectedName>,
    objects: u64,
    bytes: u64,
    unfinished: u64,
    records: u64,
    expired: u64,
    suspended: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

#[derive(Serialize)]
struct CollectedName {
    name: String,
    id: String,
}

pub(crate) fn run(args: &GcArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let dir = context.store_dir()?;
    let store = Store::open_existing(dir, &Settings { replication: library::attach(dir)?, ..Settings::default() })?;
    store.follow()?;
    let Context { ref mut streams, format, lang, .. } = *context;
    let now = now();
    // If the age reaches before the calendar's start, nothing is collected.
    let before = now.checked_sub(args.older_than).unwrap_or(Timestamp::MIN);
    let mode = if args.dry_run { GcMode::DryRun } else { GcMode::Execute };
    let collected = with_progress(tr!(lang, "collecting"), streams, || match mode {
        GcMode::DryRun => store.maintenance().collect(before, now, mode),
        GcMode::Execute => collect(&store, before, now),
    })?;
    if format.is_json() {
        let name = |(name, id): &(toolcell::ToolName, toolcell::ToolId)| CollectedName {
            name: name.to_string(),
            id: id.to_string(),
        };
        let names = collected.names.iter().map(name).collect();
        let GcReport { objects, bytes, unfinished, records, expired, suspended, error: ref trouble, .. } = collected;
        let (dry_run, trouble) = (args.dry_run, trouble.as_ref().map(ToString::to_string));
        let output = GcOutput { dry_run, names, objects, bytes, unfinished, records, expired, suspended, trouble };
        writeln!(streams.output, "{}", serde_json::to_string(&output).map_err(std::io::Error::from)?)?;
    } else {
        for line in report_lines(&collected, mode, lang) {
            writeln!(streams.output, "{line}")?;
        }
    }
    match &collected.error {
        None => Ok(Exit::Done),
        Some(trouble) => {
            let text = tr!(lang, "some files stay until the next `gc`: {trouble}", trouble);
            streams.print_labelled(tr!(lang, "error"), &text, lang)?;
            Ok(Exit::Usage)
        }
    }
}

/// Formats a report: a line per tool, and the counts.
fn report_lines(report: &GcReport, mode: GcMode, lang: Lang) -> Vec<String> {
    let tool = |(name, id): &(toolcell::ToolName, toolcell::ToolId)| match mode {
        GcMode::DryRun => tr!(lang, "would collect {name} ({id})", name, id = id.short()),
        GcMode::Execute => tr!(lang, "collected {name} ({id})", name, id = id.short()),
    };
    let &GcReport { objects, unfinished, records, expired, suspended, .. } = report;
    let bytes = format_bytes(report.bytes);
    let counts = match mode {
        GcMode::DryRun => tr!(
            lang,
            "{objects} objects, {bytes}, {records} run records, {expired} expired values, {suspended} suspended runs, \
             and {unfinished} unfinished files would be collected",
            objects,
            bytes,
            records,
            expired,
            suspended,
            unfinished
        ),
        GcMode::Execute => tr!(
            lang,
            "{objects} objects, {bytes}, {records} run records, {expired} expired values, {suspended} suspended runs, \
             and {unfinished} unfinished files were collected",
            objects,
            bytes,
            records,
            expired,
            suspended,
            unfinished
        ),
    };
    report.names.iter().map(tool).chain([counts]).collect()
}
