//! The terminal recording in README.md shows what the commands print.

use std::process::{Command, Stdio};

use crate::fixtures::sandbox::{read, root};
use crate::mcp::server::binary;

/// Replaces durations, which differ between runs.
fn without_durations(text: &str) -> String {
    let mut parts = text.split("ms");
    let mut out = parts.next().unwrap_or_default().trim_end_matches(|char: char| char.is_ascii_digit()).to_owned();
    for part in parts {
        out.push_str("…ms");
        out.push_str(part.trim_end_matches(|char: char| char.is_ascii_digit()));
    }
    out
}

#[test]
fn the_recording_is_what_the_commands_print() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["record.py", "session.txt"] {
        std::fs::copy(root().join("docs/recording").join(name), folder.path().join(name)).unwrap();
    }
    let mut record = Command::new("python3");
    record.arg(folder.path().join("record.py")).arg(binary().parent().unwrap()).stdin(Stdio::null());
    let output = record.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let recorded = std::fs::read_to_string(folder.path().join("session.cast")).unwrap();
    let (found, expected) = (without_durations(&recorded), without_durations(&read("docs/recording/session.cast")));
    assert!(found == expected, "`make recording` records the session again:\n{found}");
}

#[test]
fn the_picture_is_made_of_the_recording() {
    let picture =
        read("docs/recording/session.svg").replace("&quot;", "\"").replace("&#160;", " ").replace('\u{a0}', " ");
    for command in read("docs/recording/session.txt").lines() {
        let word = command.split(' ').nth(1).unwrap();
        assert!(picture.contains(word), "`make recording` draws the session again: {word}");
    }
    assert!(!picture.contains("<script"), "a picture in a page runs no script");
}
