//! The screen of a person who is asked: breaks lines at the terminal's width, and shows what does not fit page by page.
//!
//! Invariant: every question to a person at a terminal goes through here. A person decides only after each row that the question is
//! about was on the screen. A row begins as its line does, or with [`CONTINUED`]: no text wraps to the first column by itself,
//! where it could imitate a line of ours.

use std::io::Write as _;
use std::os::fd::AsFd;

use inquire::ui::RenderConfig;
use inquire::{Confirm, InquireError};
use rustix::termios::tcgetwinsize;
use toolcell::Lang;
use unicode_width::UnicodeWidthChar as _;

/// What a row begins with that continues a line. No line of ours begins so.
const CONTINUED: &str = "  ↪ ";
/// The size of a terminal that does not say it, in columns and rows.
const DEFAULT_SIZE: (usize, usize) = (80, 24);
/// The least size that is worked with: room for [`CONTINUED`] and a wide character, and for a row above a prompt.
const MIN_SIZE: (usize, usize) = (12, 4);
/// The columns from one tab stop to the next.
const TAB: usize = 8;
/// The rows that a prompt takes which is answered with yes or no: itself, and what it says of a wrong answer.
pub(crate) const CONFIRM_ROWS: usize = 2;
/// The columns of such a prompt besides its question: `? `, ` (y/N) ` and the answer.
const CONFIRM_COLUMNS: usize = 16;

/// What a person is shown before they decide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    /// All of it, line by line.
    pub(crate) lines: &'a [String],
    /// The lines that are repeated above the prompt where the others take more than one page.
    pub(crate) summary: &'a [String],
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    columns: usize,
    rows: usize,
}

impl Screen {
    /// The size of a terminal, as it is now.
    pub(crate) fn from_terminal(terminal: impl AsFd) -> Self {
        let size = tcgetwinsize(terminal).ok();
        let said = |count: Option<u16>, default: usize| count.filter(|count| *count > 0).map_or(default, usize::from);
        let columns = said(size.map(|size| size.ws_col), DEFAULT_SIZE.0).max(MIN_SIZE.0);
        let rows = said(size.map(|size| size.ws_row), DEFAULT_SIZE.1).max(MIN_SIZE.1);
        Self { columns, rows }
    }

    /// How wide it is.
    pub(crate) fn columns(self) -> u16 {
        u16::try_from(self.columns).unwrap_or(u16::MAX)
    }

    /// How many rows there are.
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// A line as rows that the terminal does not break. What comes after a line break within it is a row that continues it.
    pub(crate) fn broken(self, line: &str) -> Vec<String> {
        let mut rows = Vec::new();
        let mut row = Row::default();
        for char in line.chars() {
            match char {
                '\n' => rows.push(row.next()),
                '\t' => row.push(' ', 1, (TAB - row.columns % TAB).min(self.columns - row.columns)),
                char => {
                    let columns = columns_of(char);
                    if row.columns + columns > self.columns {
                        rows.push(row.next());
                    }
                    row.push(char, columns, 1);
                }
            }
        }
        rows.push(row.text);
        rows
    }

    /// The same as one text.
    pub(crate) fn rows_of(self, line: &str) -> String {
        self.broken(line).join("\n")
    }

    /// The rows of a question, in pages that leave room for a prompt of so many rows. The last one is not empty.
    fn pages(self, about: About<'_>, prompt_rows: usize) -> Vec<Vec<String>> {
        let room = self.rows.saturating_sub(prompt_rows).max(1);
        let rows = |lines: &[String]| lines.iter().flat_map(|line| self.broken(line)).collect::<Vec<_>>();
        let mut pages: Vec<Vec<String>> = rows(about.lines).chunks(room).map(<[String]>::to_vec).collect();
        let summary = rows(about.summary);
        if pages.len() > 1 && !summary.is_empty() && summary.len() <= self.rows / 2 && summary.len() < room {
            match pages.last_mut() {
                Some(last) if last.len() + 1 + summary.len() <= room => {
                    last.push(String::new());
                    last.extend(summary);
                }
                _ => pages.push(summary),
            }
        }
        pages
    }

    /// A text in one row of so many columns less than the screen has, and a mark where it is cut.
    pub(crate) fn cut(self, text: &str, less: usize) -> String {
        let room = self.columns.saturating_sub(less).max(2);
        if columns(text) <= room {
            return text.to_owned();
        }
        let mut taken = 0;
        let fits = |char: &char| {
            taken += columns_of(*char);
            taken + columns_of('…') <= room
        };
        text.chars().take_while(fits).chain(['…']).collect()
    }
}

/// A row that is being filled.
#[derive(Default)]
struct Row {
    text: String,
    columns: usize,
}

impl Row {
    fn push(&mut self, char: char, columns: usize, count: usize) {
        self.text.extend(std::iter::repeat_n(char, count));
        self.columns += columns * count;
    }

    /// Begins a row that continues the line, and gives the one before.
    fn next(&mut self) -> String {
        self.columns = columns(CONTINUED);
        std::mem::replace(&mut self.text, CONTINUED.to_owned())
    }
}

/// The most columns that a terminal may take for a text.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The most columns that a terminal may take for a character. Terminals differ for characters of ambiguous width (Unicode TR 11),
/// for marks that combine, and for what is newer than they are; a row that is too short does no harm.
fn columns_of(char: char) -> usize {
    match char {
        ' '..='~' => 1,
        '\u{10000}'.. => char.width_cjk().unwrap_or_default().max(2),
        _ => char.width_cjk().unwrap_or(2).max(1),
    }
}

/// Shows what a question is about, and asks it with a prompt of so many rows. Before each further page the person is asked to go on;
/// where they do not, the question counts as cancelled.
pub(crate) fn ask<T>(
    about: About<'_>,
    prompt_rows: usize,
    lang: Lang,
    prompt: impl FnOnce() -> Result<T, InquireError>,
) -> Result<T, InquireError> {
    let pages = Screen::from_terminal(std::io::stderr()).pages(about, prompt_rows);
    for (at, page) in pages.iter().enumerate() {
        // What cannot be shown cannot be approved.
        writeln!(std::io::stderr(), "{}", page.join("\n"))?;
        let (shown, all) = (at + 1, pages.len());
        if shown < all {
            let question = match lang {
                Lang::En => format!("Page {shown} of {all} is shown. Go on?"),
                Lang::Ja => format!("{all}ページ中{shown}ページを表示。続けますか？"),
                Lang::Zh => format!("第 {shown} 页，共 {all} 页。继续吗？"),
            };
            if !Confirm::new(&question).with_default(true).with_render_config(look()).prompt()? {
                return Err(InquireError::OperationCanceled);
            }
        }
    }
    prompt()
}

/// Whether a person says yes to a question, after they were shown what it is about. Enter is no.
pub(crate) fn confirm(about: About<'_>, question: &str, lang: Lang) -> Result<bool, InquireError> {
    let screen = Screen::from_terminal(std::io::stderr());
    let prompt = |question: &str| Confirm::new(question).with_default(false).with_render_config(look()).prompt();
    if columns(question) + CONFIRM_COLUMNS <= screen.columns {
        return ask(about, CONFIRM_ROWS, lang, || prompt(question));
    }
    // A prompt that does not fit into a row wraps: the question is part of what is shown.
    let with = |lines: &[String]| lines.iter().cloned().chain([question.to_owned()]).collect::<Vec<_>>();
    let short = match lang {
        Lang::En => "Yes or no?",
        Lang::Ja => "よろしいですか？",
        Lang::Zh => "是否？",
    };
    ask(About { lines: &with(about.lines), summary: &with(about.summary) }, CONFIRM_ROWS, lang, || prompt(short))
}

/// The colours of prompts.
pub(crate) fn look() -> RenderConfig<'static> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain { RenderConfig::empty() } else { RenderConfig::default_colored() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { columns: 20, rows: 8 };

    fn lines(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("line {at}")).collect()
    }

    #[test]
    fn no_row_is_wider_than_the_screen_and_each_that_continues_a_line_has_the_mark() {
        let texts = [
            format!("  1 | {} is granted: nothing", " ".repeat(14)),
            format!("  1 | {}\tis granted: nothing", "x".repeat(60)),
            "実行".repeat(30),
            "e\u{301}\u{301}\u{301}".repeat(30),
            "😀\u{2800}→".repeat(30),
            "\t\t\t\tdeep\nis granted: nothing".to_owned(),
        ];
        for text in texts {
            let rows = SCREEN.broken(&text);
            assert!(rows.len() > 1, "{rows:?}");
            assert!(rows.iter().all(|row| columns(row) <= 20 && !row.contains(['\n', '\t'])), "{rows:?}");
            assert!(rows[1..].iter().all(|row| row.starts_with(CONTINUED)), "{rows:?}");
            let all: String = rows.iter().map(|row| row.trim_start_matches(CONTINUED)).collect();
            let bare = |text: &str| text.replace(char::is_whitespace, "");
            assert_eq!(bare(&all), bare(&text));
        }
        assert_eq!(SCREEN.broken("12345678901234567890"), ["12345678901234567890"]);
        assert_eq!(SCREEN.broken(""), [""]);
    }

    #[test]
    fn every_row_is_on_a_page_with_room_for_the_prompt_and_the_summary_is_on_the_last() {
        let summary = vec!["what is decided".to_owned()];
        for count in 0..40 {
            let lines = lines(count);
            let pages = SCREEN.pages(About { lines: &lines, summary: &summary }, CONFIRM_ROWS);
            assert!(pages.iter().all(|page| !page.is_empty() && page.len() <= 6), "{pages:?}");
            let mut all = pages.concat();
            if pages.len() > 1 {
                assert_eq!(all.pop().as_ref(), summary.first());
                all.retain(|row| !row.is_empty());
            }
            assert_eq!(all, lines);
        }
        // One that is too long is not repeated, and there is always room for a row.
        let long = lines(5);
        assert_eq!(SCREEN.pages(About { lines: &lines(7), summary: &long }, CONFIRM_ROWS).concat(), lines(7));
        assert_eq!(SCREEN.pages(About { lines: &lines(3), summary: &long }, 100).len(), 3);
    }

    #[test]
    fn a_text_for_one_row_is_cut_with_a_mark() {
        assert_eq!(SCREEN.cut("short", 10), "short");
        let cut = SCREEN.cut(&"実行".repeat(20), 4);
        assert!(cut.ends_with('…') && columns(&cut) <= 16, "{cut}");
    }
}
