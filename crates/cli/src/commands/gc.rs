//! `gc`: deletes old tools, unreferenced objects and expired data.

use jiff::Timestamp;
use serde::Serialize;
use toolcell::store::{GcMode, GcReport, Settings, Store};
use toolcell::{collect, escape_control_chars, now};

use crate::args::GcArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::progress::with_progress;
use crate::render::store::format_bytes;

/// The JSON output of `gc`.
#[derive(Serialize)]
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
    let store = Store::open_existing(context.store_dir()?, &Settings::default())?;
    let Context { ref mut streams, format, .. } = *context;
    let now = now();
    // If the age reaches before the calendar's start, nothing is collected.
    let before = now.checked_sub(args.older_than).unwrap_or(Timestamp::MIN);
    let collected = with_progress("collecting", streams, || {
        if args.dry_run {
            store.maintenance().collect(before, now, GcMode::DryRun)
        } else {
            collect(&store, before, now)
        }
    })?;
    if format.is_json() {
        let name = |(name, id): &(toolcell::ToolName, toolcell::ToolId)| CollectedName {
            name: name.to_string(),
            id: id.to_string(),
        };
        let names = collected.names.iter().map(name).collect();
        let GcReport { objects, bytes, unfinished, records, expired, suspended, error: ref trouble, .. } = collected;
        let (dry_run, trouble) = (args.dry_run, trouble.clone());
        let output = GcOutput { dry_run, names, objects, bytes, unfinished, records, expired, suspended, trouble };
        writeln!(streams.output, "{}", serde_json::to_string(&output).map_err(std::io::Error::from)?)?;
    } else {
        let (would, have) = if args.dry_run { ("would collect", "would be") } else { ("collected", "were") };
        for (name, id) in &collected.names {
            writeln!(streams.output, "{would} {name} ({})", id.short())?;
        }
        let (objects, bytes) = (collected.objects, format_bytes(collected.bytes));
        writeln!(
            streams.output,
            "{objects} objects, {bytes}, {} run records, {} expired values, {} suspended runs, and {} unfinished files {have} collected",
            collected.records, collected.expired, collected.suspended, collected.unfinished
        )?;
    }
    match &collected.error {
        None => Ok(Exit::Done),
        Some(trouble) => {
            writeln!(streams.errors, "error: some files stay until the next `gc`: {}", escape_control_chars(trouble))?;
            Ok(Exit::Usage)
        }
    }
}
