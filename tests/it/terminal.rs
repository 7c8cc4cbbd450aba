//! A terminal emulator of 80 columns and 24 rows.
//!
//! Invariant: the screen is what a user would see: text is placed, wrapped and scrolled as by a
//! VT100.
#![expect(clippy::disallowed_types, reason = "a terminal is a file")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex};

use nix::pty::{Winsize, openpty};
use unicode_width::UnicodeWidthChar as _;

use crate::mcp::server::{BinaryFixture, poll};

const COLUMNS: usize = 80;
const ROWS: usize = 24;

/// A command on a terminal, with its keyboard and screen.
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Screen>>,
    child: Child,
}

impl Terminal {
    pub(crate) fn start(home: &BinaryFixture, words: &[&str]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let ends = openpty(&size, None).unwrap();
        let child = home.spawn_at_terminal(words, &ends.slave);
        drop(ends.slave);
        let keyboard = File::from(ends.master.try_clone().unwrap());
        let screen = Arc::new(Mutex::new(Screen::default()));
        let drawn = Arc::clone(&screen);
        std::thread::spawn(move || draw(ends.master, &drawn));
        Self { keyboard, screen, child }
    }

    /// Waits for a prompt that starts with one of these questions, and returns the rows of the
    /// screen.
    #[track_caller]
    pub(crate) fn wait_for_prompt(&self, questions: &[&str]) -> Vec<String> {
        self.wait_for_prompt_below("", questions)
    }

    /// Waits for a prompt that starts with one of these questions, somewhere below this row, and returns the rows of the
    /// screen. An empty row stands for any.
    #[track_caller]
    pub(crate) fn wait_for_prompt_below(&self, above: &str, questions: &[&str]) -> Vec<String> {
        let found = poll(|| {
            let screen = self.screen.lock().unwrap();
            let rows = screen.rows_text();
            let prompt = rows.get(screen.row).filter(|_| !screen.is_hidden)?.strip_prefix("? ")?;
            let is_below = above.is_empty() || rows[..screen.row].iter().any(|row| row == above);
            (is_below && questions.iter().any(|question| prompt.starts_with(question))).then_some(rows)
        });
        found.unwrap_or_else(|| panic!("it does not ask {questions:?}: {:#?}", self.screen.lock().unwrap().rows_text()))
    }

    /// Returns how many rows the terminal itself has wrapped so far.
    pub(crate) fn wrapped(&self) -> usize {
        self.screen.lock().unwrap().wrapped
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the command to exit, and returns its exit status and standard output.
    #[track_caller]
    pub(crate) fn wait_for_exit(mut self) -> (Option<i32>, String) {
        let status = poll(|| self.child.try_wait().unwrap());
        let status = status.unwrap_or_else(|| panic!("it goes on: {:#?}", self.screen.lock().unwrap().rows_text()));
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (status.code(), out)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The command may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Draws the command's output until it closes the terminal.
fn draw(master: OwnedFd, screen: &Mutex<Screen>) {
    let mut master = File::from(master);
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        let whole = match str::from_utf8(&bytes) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: String = String::from_utf8(bytes.drain(..whole).collect()).unwrap();
        let mut screen = screen.lock().unwrap();
        text.chars().for_each(|char| screen.take(char));
    }
}

/// The content of the screen.
#[derive(Debug, Default)]
struct Screen {
    /// The rows from the top. A wide character is followed by an empty cell.
    rows: Vec<Vec<String>>,
    row: usize,
    column: usize,
    /// An incomplete escape sequence.
    escape: Option<String>,
    /// Whether the cursor is hidden, as it is while a prompt is drawn.
    is_hidden: bool,
    /// How many rows the terminal has started because a character did not fit into the row before.
    wrapped: usize,
}

impl Screen {
    fn rows_text(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.concat().trim_end().to_owned()).collect()
    }

    fn take(&mut self, char: char) {
        if let Some(mut escape) = self.escape.take() {
            escape.push(char);
            let is_sequence = escape.starts_with('[');
            if !is_sequence || escape.len() > 1 && ('@'..='~').contains(&char) {
                self.apply_sequence(&escape);
            } else {
                self.escape = Some(escape);
            }
            return;
        }
        match char {
            '\u{1b}' => self.escape = Some(String::new()),
            '\r' => self.column = 0,
            '\n' => self.line_feed(),
            '\u{8}' => self.column = self.column.saturating_sub(1),
            '\t' => self.column = ((self.column / 8 + 1) * 8).min(COLUMNS - 1),
            char if char.is_control() => {}
            char => self.put(char),
        }
    }

    fn line_feed(&mut self) {
        if self.row + 1 == ROWS {
            self.row_at(self.row);
            self.rows.remove(0);
        } else {
            self.row += 1;
        }
        self.row_at(self.row);
    }

    fn row_at(&mut self, row: usize) -> &mut Vec<String> {
        while self.rows.len() <= row {
            self.rows.push(Vec::new());
        }
        &mut self.rows[row]
    }

    fn put(&mut self, char: char) {
        let width = char.width().unwrap_or(0);
        if self.column + width > COLUMNS {
            self.wrapped += 1;
            self.column = 0;
            self.line_feed();
        }
        let (row, column) = (self.row, self.column);
        let cells = self.row_at(row);
        while cells.len() < column + width {
            cells.push(" ".to_owned());
        }
        match width {
            0 => {
                if let Some(cell) = column.checked_sub(1).and_then(|before| cells.get_mut(before)) {
                    cell.push(char);
                }
            }
            _ => {
                cells[column] = char.to_string();
                cells[column + 1..column + width].iter_mut().for_each(String::clear);
            }
        }
        self.column += width;
    }

    /// Applies the control sequences that prompts use (ECMA-48).
    fn apply_sequence(&mut self, escape: &str) {
        let Some(sequence) = escape.strip_prefix('[') else { return };
        let (numbers, action) = sequence.split_at(sequence.len() - 1);
        let mut numbers = numbers.trim_start_matches('?').split(';').map(|number| number.parse::<usize>().ok());
        let first = numbers.next().flatten();
        let count = first.unwrap_or(1).max(1);
        let (row, column) = (self.row, self.column);
        match action {
            "A" => self.row = row.saturating_sub(count),
            "B" => self.row = (row + count).min(ROWS - 1),
            "C" => self.column = (column + count).min(COLUMNS - 1),
            "D" => self.column = column.saturating_sub(count),
            "E" => (self.row, self.column) = ((row + count).min(ROWS - 1), 0),
            "F" => (self.row, self.column) = (row.saturating_sub(count), 0),
            "G" => self.column = count - 1,
            "H" => (self.row, self.column) = (count - 1, numbers.next().flatten().unwrap_or(1).max(1) - 1),
            "J" => {
                self.row_at(row).truncate(column);
                self.rows.truncate(row + 1);
            }
            "K" => match first.unwrap_or(0) {
                0 => self.row_at(row).truncate(column),
                _ => self.row_at(row).clear(),
            },
            "h" | "l" if first == Some(25) => self.is_hidden = action == "l",
            "m" | "h" | "l" => {}
            other => panic!("a terminal is told `{other}`, which this one does not know"),
        }
    }
}
