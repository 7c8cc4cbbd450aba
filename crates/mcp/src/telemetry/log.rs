//! The log on standard error.
//!
//! Invariant: an event is one line without control sequences, even if it contains text of clients
//! or tools.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Escapes control characters. Each write is one event, which ends with a newline.
pub(super) struct EscapingWriter<W>(pub(super) W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (event, end) = match bytes.strip_suffix(b"\n") {
            Some(event) => (event, "\n"),
            None => (bytes, ""),
        };
        let event = String::from_utf8_lossy(event);
        if event.contains(is_terminal_control) {
            let mut line = String::with_capacity(event.len() + 64);
            for character in event.chars() {
                if is_terminal_control(character) {
                    // Writing to a `String` does not fail.
                    let _ = write!(line, "{}", character.escape_unicode());
                } else {
                    line.push(character);
                }
            }
            line.push_str(end);
            self.0.write_all(line.as_bytes())?;
        } else {
            self.0.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a terminal or a line reader would interpret a character: control characters, line
/// separators, and bidirectional controls.
fn is_terminal_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_client_is_no_line_of_the_log_and_no_command_for_a_terminal() {
        let mut written = Vec::new();
        let event = "WARN \u{1b}[2Ja\nERROR forged\u{202e}\r\u{85} 建物\n";
        assert_eq!(EscapingWriter(&mut written).write(event.as_bytes()).unwrap(), event.len());
        let line = String::from_utf8(written).unwrap();
        assert_eq!(line, "WARN \\u{1b}[2Ja\\u{a}ERROR forged\\u{202e}\\u{d}\\u{85} 建物\n");
    }
}
