//! Prompts on a terminal: wraps lines to its width and shows long text page by page.
//!
//! Invariant: every prompt goes through this module. The user decides only after every row that the
//! question is about was on the screen, and no key that was typed before counts. A row starts like
//! its line, or with [`CONTINUATION`]: the terminal never wraps text to the first column by itself,
//! where it could imitate Toolcell's own output.

use std::io::Write as _;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use inquire::ui::RenderConfig;
use inquire::validator::{ErrorMessage, Validation};
use inquire::{Confirm, InquireError, Select, Text};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use toolcell_i18n::{Lang, tr};
use unicode_width::UnicodeWidthChar as _;

/// Whether prompts are coloured.
static IS_COLORED: AtomicBool = AtomicBool::new(false);

/// Prefix of a row that continues a line. No line of Toolcell starts with it.
const CONTINUATION: &str = "  ↪ ";
/// Columns and rows of a terminal that does not report its size.
const DEFAULT_SIZE: (usize, usize) = (80, 24);
/// Minimum columns and rows: room for [`CONTINUATION`] and a wide character, and for a row above a
/// prompt.
const MIN_SIZE: (usize, usize) = (12, 4);
/// Columns between tab stops.
const TAB: usize = 8;
/// Rows of a yes-or-no prompt: the prompt and an error about the answer.
pub(crate) const CONFIRM_ROWS: usize = 2;
/// Columns of a yes-or-no prompt beside its question: `? `, ` (y/N) ` and the answer.
const CONFIRM_COLUMNS: usize = 16;

/// Rows of a list prompt beside its options: the question, the help and an error.
const LIST_ROWS: usize = 3;
/// Columns of a list prompt beside the text of an option.
const LIST_COLUMNS: usize = 4;

/// The text shown before a prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PromptText<'a> {
    /// The full text, line by line.
    pub(crate) lines: &'a [String],
    /// Lines repeated above the prompt if the full text takes more than one page.
    pub(crate) summary: &'a [String],
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    columns: usize,
    rows: usize,
}

impl Screen {
    /// Returns the current size of a terminal.
    pub(crate) fn from_terminal(terminal: impl AsFd) -> Self {
        let size = tcgetwinsize(terminal).ok();
        let count_or =
            |count: Option<u16>, default: usize| count.filter(|count| *count > 0).map_or(default, usize::from);
        let columns = count_or(size.map(|size| size.ws_col), DEFAULT_SIZE.0).max(MIN_SIZE.0);
        let rows = count_or(size.map(|size| size.ws_row), DEFAULT_SIZE.1).max(MIN_SIZE.1);
        Self { columns, rows }
    }

    /// Returns the width in columns.
    pub(crate) fn columns(self) -> u16 {
        u16::try_from(self.columns).unwrap_or(u16::MAX)
    }

    /// Returns the height in rows.
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// Wraps a line into rows that fit the terminal. After a line break within the text, the row is
    /// a continuation too.
    pub(crate) fn wrap(self, line: &str) -> Vec<String> {
        let mut rows = Vec::new();
        let mut row = RowBuilder::default();
        for char in line.chars() {
            match char {
                '\n' => rows.push(row.start_continuation()),
                '\t' => row.push(' ', 1, (TAB - row.columns % TAB).min(self.columns - row.columns)),
                char => {
                    let columns = char_width(char);
                    if row.columns + columns > self.columns {
                        rows.push(row.start_continuation());
                    }
                    row.push(char, columns, 1);
                }
            }
        }
        rows.push(row.text);
        rows
    }

    /// Wraps a line, and joins its rows with line breaks.
    pub(crate) fn wrap_to_text(self, line: &str) -> String {
        self.wrap(line).join("\n")
    }

    /// Splits the text into pages that leave `prompt_rows` rows free. No page is empty.
    fn paginate(self, about: PromptText<'_>, prompt_rows: usize) -> Vec<Vec<String>> {
        let room = self.rows.saturating_sub(prompt_rows).max(1);
        let rows = |lines: &[String]| lines.iter().flat_map(|line| self.wrap(line)).collect::<Vec<_>>();
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

    /// Truncates text to one row, `less` columns narrower than the terminal, with an ellipsis.
    pub(crate) fn truncate(self, text: &str, less: usize) -> String {
        let room = self.columns.saturating_sub(less).max(2);
        if text_width(text) <= room {
            return text.to_owned();
        }
        let mut taken = 0;
        let fits = |char: &char| {
            taken += char_width(*char);
            taken + char_width('…') <= room
        };
        text.chars().take_while(fits).chain(['…']).collect()
    }
}

/// A row under construction.
#[derive(Default)]
struct RowBuilder {
    text: String,
    columns: usize,
}

impl RowBuilder {
    fn push(&mut self, char: char, columns: usize, count: usize) {
        self.text.extend(std::iter::repeat_n(char, count));
        self.columns += columns * count;
    }

    /// Starts a continuation row, and returns the finished one.
    fn start_continuation(&mut self) -> String {
        self.columns = text_width(CONTINUATION);
        std::mem::replace(&mut self.text, CONTINUATION.to_owned())
    }
}

/// Returns the maximum width of text, in columns.
pub(crate) fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns the maximum width of a character, in columns. Terminals disagree on characters of
/// ambiguous width (Unicode TR 11), combining marks and new characters; a row that is too short
/// does no harm.
fn char_width(char: char) -> usize {
    match char {
        ' '..='~' => 1,
        '\u{10000}'.. => char.width_cjk().unwrap_or_default().max(2),
        _ => char.width_cjk().unwrap_or(2).max(1),
    }
}

/// Shows text page by page, then runs a prompt of `prompt_rows` rows. The user confirms each
/// further page; refusing cancels the prompt.
pub(crate) fn ask_after_pages<T>(
    about: PromptText<'_>,
    prompt_rows: usize,
    lang: Lang,
    prompt: impl FnOnce() -> Result<T, InquireError>,
) -> Result<T, InquireError> {
    let pages = Screen::from_terminal(std::io::stderr()).paginate(about, prompt_rows);
    for (at, page) in pages.iter().enumerate() {
        // If the text cannot be shown, the prompt must not appear.
        writeln!(std::io::stderr(), "{}", page.join("\n"))?;
        let (shown, all) = (at + 1, pages.len());
        if shown < all {
            discard_typed_ahead()?;
            let question = tr!(lang, "Page {shown} of {all}. Continue?", shown, all);
            if !prompt_confirm(&question, Answer::Yes, lang)? {
                return Err(InquireError::OperationCanceled);
            }
        }
    }
    discard_typed_ahead()?;
    prompt()
}

/// Discards the keys that were typed before the text was on the screen: they answer nothing that was shown.
fn discard_typed_ahead() -> Result<(), InquireError> {
    // The prompts read from the first one, if it is a terminal.
    let flushed = tcflush(std::io::stdin(), QueueSelector::IFlush);
    flushed.or_else(|_| tcflush(std::io::stderr(), QueueSelector::IFlush)).map_err(std::io::Error::from)?;
    // What the prompt before this one has read.
    while crossterm::event::poll(Duration::ZERO)? {
        let is_interrupt = |key: KeyEvent| key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
        if let Event::Key(key) = crossterm::event::read()?
            && is_interrupt(key)
        {
            return Err(InquireError::OperationInterrupted);
        }
    }
    Ok(())
}

/// Shows text, asks a yes-or-no question, and returns the answer. The default is no.
pub(crate) fn confirm(about: PromptText<'_>, question: &str, lang: Lang) -> Result<bool, InquireError> {
    let screen = Screen::from_terminal(std::io::stderr());
    if text_width(question) + CONFIRM_COLUMNS <= screen.columns {
        return ask_after_pages(about, CONFIRM_ROWS, lang, || prompt_confirm(question, Answer::No, lang));
    }
    // A question too wide for one row is shown as text, with a short prompt below it.
    let with = |lines: &[String]| lines.iter().cloned().chain([question.to_owned()]).collect::<Vec<_>>();
    ask_after_pages(PromptText { lines: &with(about.lines), summary: &with(about.summary) }, CONFIRM_ROWS, lang, || {
        prompt_confirm(tr!(lang, "Yes or no?"), Answer::No, lang)
    })
}

/// Shows text, asks to choose one of several options, and returns its index. The first option is the
/// default, so it has to be a refusal.
pub(crate) fn choose(
    about: PromptText<'_>,
    question: &str,
    options: &[String],
    lang: Lang,
) -> Result<usize, InquireError> {
    let screen = Screen::from_terminal(std::io::stderr());
    // An option is one row; one that does not fit is shown in full above.
    let numbered = |(at, option): (usize, &String)| format!("{}. {option}", at + 1);
    let rows: Vec<String> =
        options.iter().enumerate().map(|option| screen.truncate(&numbered(option), LIST_COLUMNS)).collect();
    let mut lines = about.lines.to_vec();
    if rows.iter().zip(options.iter().enumerate().map(numbered)).any(|(row, whole)| *row != whole) {
        lines.extend(options.iter().enumerate().map(numbered));
    }
    let shown = rows.len().min(screen.rows().saturating_sub(LIST_ROWS).max(1));
    ask_after_pages(PromptText { lines: &lines, ..about }, shown + LIST_ROWS, lang, || {
        let list = Select::new(question, rows).with_page_size(shown);
        let list = list.with_help_message(tr!(lang, "↑↓ to move, enter to choose, type to filter"));
        list.with_render_config(render_config()).raw_prompt().map(|chosen| chosen.index)
    })
}

/// Asks for one line of text, which `check` must accept.
pub(crate) fn ask_line(
    question: &str,
    check: impl Fn(&str) -> Result<(), String> + Clone + 'static,
) -> Result<String, InquireError> {
    let check = move |text: &str| {
        Ok(match check(text.trim()) {
            Ok(()) => Validation::Valid,
            Err(reason) => Validation::Invalid(ErrorMessage::Custom(reason)),
        })
    };
    discard_typed_ahead()?;
    let text = Text::new(question).with_validator(check).with_render_config(render_config()).prompt()?;
    Ok(text.trim().to_owned())
}

/// The answer to a yes-or-no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
}

/// Prompts with a yes-or-no question. The keys are `y` and `n` in each language.
fn prompt_confirm(question: &str, default: Answer, lang: Lang) -> Result<bool, InquireError> {
    let answer = |is_yes: bool| if is_yes { tr!(lang, "Yes") } else { tr!(lang, "No") }.to_owned();
    Confirm::new(question)
        .with_default(default == Answer::Yes)
        .with_formatter(&answer)
        .with_error_message(tr!(lang, "Invalid answer, try typing 'y' for yes or 'n' for no"))
        .with_render_config(render_config())
        .prompt()
}

/// Sets whether the prompts of this process are coloured.
pub(crate) fn set_color(is_on: bool) {
    IS_COLORED.store(is_on, Ordering::Relaxed);
}

/// Returns the colors of prompts.
pub(crate) fn render_config() -> RenderConfig<'static> {
    if IS_COLORED.load(Ordering::Relaxed) { RenderConfig::default_colored() } else { RenderConfig::empty() }
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
            let rows = SCREEN.wrap(&text);
            assert!(rows.len() > 1, "{rows:?}");
            assert!(rows.iter().all(|row| text_width(row) <= 20 && !row.contains(['\n', '\t'])), "{rows:?}");
            assert!(rows[1..].iter().all(|row| row.starts_with(CONTINUATION)), "{rows:?}");
            let all: String = rows.iter().map(|row| row.trim_start_matches(CONTINUATION)).collect();
            let bare = |text: &str| text.replace(char::is_whitespace, "");
            assert_eq!(bare(&all), bare(&text));
        }
        assert_eq!(SCREEN.wrap("12345678901234567890"), ["12345678901234567890"]);
        assert_eq!(SCREEN.wrap(""), [""]);
    }

    #[test]
    fn every_row_is_on_a_page_with_room_for_the_prompt_and_the_summary_is_on_the_last() {
        let summary = vec!["what is decided".to_owned()];
        for count in 0..40 {
            let lines = lines(count);
            let pages = SCREEN.paginate(PromptText { lines: &lines, summary: &summary }, CONFIRM_ROWS);
            assert!(pages.iter().all(|page| !page.is_empty() && page.len() <= 6), "{pages:?}");
            let mut all = pages.concat();
            if pages.len() > 1 {
                assert_eq!(all.pop().as_ref(), summary.first());
                all.retain(|row| !row.is_empty());
            }
            assert_eq!(all, lines);
        }
        // A summary that is too long is not repeated, and there is always room for one row.
        let long = lines(5);
        assert_eq!(SCREEN.paginate(PromptText { lines: &lines(7), summary: &long }, CONFIRM_ROWS).concat(), lines(7));
        assert_eq!(SCREEN.paginate(PromptText { lines: &lines(3), summary: &long }, 100).len(), 3);
    }

    #[test]
    fn a_text_for_one_row_is_cut_with_a_mark() {
        assert_eq!(SCREEN.truncate("short", 10), "short");
        let cut = SCREEN.truncate(&"実行".repeat(20), 4);
        assert!(cut.ends_with('…') && text_width(&cut) <= 16, "{cut}");
    }
}
