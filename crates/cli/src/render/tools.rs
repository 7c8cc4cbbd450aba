//! Renders index entries of tools, for the commands that list them.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use toolcell::store::Entry;
use toolcell::{Lang, ToolName, ToolResponse};
use toolcell_i18n::{message, tr};

use crate::streams::Streams;

/// Prints a note that no tools were found, or that there is no store yet.
pub(crate) fn print_no_tools(dir: &Path, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let message = if dir.exists() {
        message!("no tools found")
    } else {
        message!("no store in {path} yet; `toolcell create` creates one", path = dir.display())
    };
    streams.print_note(&message, lang)
}

/// Returns the status of a tool, with its successor if it has one.
pub(crate) fn status_text(entry: &Entry, successor: Option<&ToolName>, lang: Lang) -> String {
    let status = entry.status;
    successor.map_or_else(|| status.to_string(), |name| tr!(lang, "{status}: use {name}", status, name))
}

/// Returns the time of a tool's last use: its age on a terminal, else a timestamp.
pub(crate) fn last_used_text(entry: &Entry, now: Timestamp, streams: &Streams<'_>) -> String {
    match entry.last_used_at {
        None => "-".to_owned(),
        Some(at) if streams.output_is_terminal => format_age(at, now),
        Some(at) => at.to_string(),
    }
}

/// Formats the age of a timestamp, such as `3m`.
fn format_age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Converts an index entry to JSON.
pub(crate) fn entry_to_json(entry: &Entry, successor: Option<&ToolName>) -> Value {
    // Serialization cannot fail: the fields are text, numbers and timestamps.
    serde_json::to_value(ToolResponse::from_entry(entry, successor)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let at = Timestamp::UNIX_EPOCH;
        let check = |seconds: i64, expect: &str| {
            assert_eq!(format_age(at, Timestamp::from_second(seconds).unwrap()), expect);
        };
        check(-5, "0s");
        check(59, "59s");
        check(61, "1m");
        check(7_300, "2h");
        check(86_400 * 40, "40d");
    }
}
