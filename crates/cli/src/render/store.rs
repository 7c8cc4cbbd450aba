//! Renders the state of a store: its size, its problems, and the steps missing from its index.

use toolcell::escape_control_chars;
use toolcell::store::{FsckReport, UnknownStep};

use crate::streams::Streams;

/// Prints each problem on a line.
pub(crate) fn print_problems(health: &FsckReport, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for problem in &health.problems {
        let (what, wrong) = (problem.what.to_string(), problem.wrong.to_string());
        let (what, wrong) = (escape_control_chars(&what), escape_control_chars(&wrong));
        match &problem.mended {
            None => writeln!(streams.output, "problem: {what}: {wrong}")?,
            Some(mended) => {
                writeln!(streams.output, "repaired: {what}: {wrong}; {}", escape_control_chars(&mended.to_string()))?
            }
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
