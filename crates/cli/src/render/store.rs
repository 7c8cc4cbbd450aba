//! Renders the state of a store: its size, its problems, and the steps missing from its index.

use toolcell::store::{FsckReport, UnknownStep};
use toolcell::{Lang, escape_control_chars};
use toolcell_i18n::{Message, message};

use crate::streams::Streams;

/// Prints each problem on a line.
pub(crate) fn print_problems(health: &FsckReport, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let problems = health.problems.iter().map(|problem| {
        let (what, wrong) = (&problem.what, &problem.wrong);
        match &problem.mended {
            None => message!("problem: {what}: {wrong}", what, wrong),
            Some(repair) => message!("repaired: {what}: {wrong}; {repair}", what, wrong, repair),
        }
    });
    let untold = (health.untold > 0).then(|| message!("problem: {count} more", count = health.untold));
    let steps = health.unknown.iter().map(|step| {
        let UnknownStep { name, event, at, tool, .. } = step;
        let (id, hash) = (tool.short(), &step.step[..16]);
        message!("unknown: {name} ({id}): {event} at {at}, step {hash}", name, id, event, at, hash)
    });
    let more = health.unknown_steps.saturating_sub(health.unknown.len() as u64);
    let more = (more > 0).then(|| message!("unknown: {count} more", count = more));
    for line in problems.chain(untold).chain(steps).chain(more) {
        writeln!(streams.output, "{}", escape_control_chars(&line.to_text(lang)))?;
    }
    Ok(())
}

/// Returns a one-line summary of the store's content and problems.
pub(crate) fn summary(health: &FsckReport) -> Message {
    let mut parts = vec![
        match health.tools {
            1 => message!("1 tool"),
            count => message!("{count} tools", count),
        },
        match health.objects {
            1 => message!("1 object"),
            count => message!("{count} objects", count),
        },
        format_bytes(health.bytes),
    ];
    let counted = [
        (health.unreferenced, message!("{count} unreferenced", count = health.unreferenced)),
        (
            health.unknown_steps,
            message!("{count} of them history steps missing from the index", count = health.unknown_steps),
        ),
        (health.quarantined, message!("{count} in quarantine", count = health.quarantined)),
    ];
    parts.extend(counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part));
    let content = Message::list(parts);
    let wrong = health.problems.iter().filter(|problem| problem.mended.is_none()).count() as u64 + health.untold;
    let mended = health.problems.len() as u64 + health.untold - wrong;
    match (wrong, mended) {
        (0, 0) if health.unknown_steps > 0 => {
            message!("{content}: no damage, but unknown steps need a decision", content)
        }
        (0, 0) => message!("{content}: no problems", content),
        (0, count) => message!("{content}: {count} repaired", content, count),
        (1, _) => message!("{content}: 1 problem", content),
        (count, _) => message!("{content}: {count} problems", content, count),
    }
}

/// Formats a size in bytes, KiB or MiB.
pub(crate) fn format_bytes(bytes: u64) -> Message {
    match bytes {
        0..1024 => message!("{count} bytes", count = bytes),
        1024..0x10_0000 => Message::verbatim(format!("{} KiB", bytes >> 10)),
        _ => Message::verbatim(format!("{} MiB", bytes >> 20)),
    }
}
