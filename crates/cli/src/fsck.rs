//! `fsck` and `gc`: checks and repairs the store, and collects garbage.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use toolcell::store::{FsckReport, GcMode, GcReport, RepairMode, Settings, Store, UnknownStep, fsck};
use toolcell::{collect, escape_control_chars, now, repair_adopting};

use crate::Streams;
use crate::args::{FsckArgs, GcArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::progress::with_progress;

/// The JSON output of `fsck`.
#[derive(Serialize)]
struct FsckOutput<'a> {
    good: bool,
    #[serde(flatten)]
    health: &'a FsckReport,
}

pub(crate) fn run(args: &FsckArgs, dir: &Path, json: bool, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let health = if args.repair {
        with_progress("mending", streams, || repair_adopting(dir, &Settings::default(), &args.adopt, now()))?
    } else {
        with_progress("looking", streams, || fsck(dir, RepairMode::Check))?
    };
    let good = health.is_healthy() && health.unknown_steps == 0;
    if json {
        let text = serde_json::to_string(&FsckOutput { good, health: &health }).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_problems(&health, streams)?;
        writeln!(streams.output, "{}", summary(&health))?;
        if health.unknown_steps > 0 {
            let hint = "these steps are missing from the index: a process died before committing them, or the index is \
                        an older copy; `toolcell fsck --repair` quarantines them, except those adopted with --adopt";
            writeln!(streams.errors, "hint: {hint}")?;
        } else if !good && !args.repair {
            writeln!(streams.errors, "hint: repair the store with `toolcell fsck --repair`")?;
        }
    }
    Ok(if good { Exit::Done } else { Exit::Integrity })
}

/// Prints each problem on a line.
pub(crate) fn print_problems(health: &FsckReport, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for problem in &health.problems {
        let (what, wrong) = (escape_control_chars(&problem.what), escape_control_chars(&problem.wrong));
        match &problem.mended {
            None => writeln!(streams.output, "problem: {what}: {wrong}")?,
            Some(mended) => writeln!(streams.output, "repaired: {what}: {wrong}; {}", escape_control_chars(mended))?,
        }
    }
    if health.untold > 0 {
        writeln!(streams.output, "problem: {} more", health.untold)?;
    }
    for step in &health.unknown {
        let UnknownStep { name, event, at, tool, .. } = step;
        let (name, hash) = (escape_control_chars(name), &step.step[..16]);
        writeln!(streams.output, "unknown: {name} ({}): {event} at {at}, step {hash}", tool.short())?;
    }
    match health.unknown_steps.saturating_sub(health.unknown.len() as u64) {
        0 => Ok(()),
        more => writeln!(streams.output, "unknown: {more} more"),
    }
}

/// Returns a one-line summary of the store's content and problems.
pub(crate) fn summary(health: &FsckReport) -> String {
    let mut parts =
        vec![format!("{} tools", health.tools), format!("{} objects", health.objects), format_bytes(health.bytes)];
    let counted = [
        (health.unreferenced, "unreferenced"),
        (health.unknown_steps, "of them history steps missing from the index"),
        (health.quarantined, "in quarantine"),
    ];
    parts.extend(counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let line = parts.join(", ");
    let wrong = health.problems.iter().filter(|problem| problem.mended.is_none()).count() as u64 + health.untold;
    let mended = health.problems.len() as u64 + health.untold - wrong;
    match (wrong, mended) {
        (0, 0) if health.unknown_steps > 0 => line + ": no damage, but unknown steps need a decision",
        (0, 0) => line + ": no problems",
        (0, mended) => line + &format!(": {mended} repaired"),
        (wrong, _) => line + &format!(": {wrong} problems"),
    }
}

/// Formats a size in bytes, KiB or MiB.
pub(crate) fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

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

pub(crate) fn gc(args: &GcArgs, dir: &Path, json: bool, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let store = Store::open_existing(dir, &Settings::default())?;
    let now = now();
    // If the age reaches before the calendar's start, nothing is collected.
    let before = now.checked_sub(args.older_than).unwrap_or(Timestamp::MIN);
    let collected = with_progress("collecting", streams, || {
        if args.dry_run { store.collect(before, now, GcMode::DryRun) } else { collect(&store, before, now) }
    })?;
    if json {
        let name = |(name, id): &(toolcell::ToolName, toolcell::ToolId)| CollectedName {
            name: name.to_string(),
            id: id.to_string(),
        };
        let names = collected.names.iter().map(name).collect();
        let GcReport { objects, bytes, unfinished, records, expired, suspended, error: ref trouble, .. } = collected;
        let (dry_run, trouble) = (args.dry_run, trouble.clone());
        let gone = GcOutput { dry_run, names, objects, bytes, unfinished, records, expired, suspended, trouble };
        writeln!(streams.output, "{}", serde_json::to_string(&gone).map_err(std::io::Error::from)?)?;
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
