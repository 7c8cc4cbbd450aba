//! The standard streams of a command, and the format of its output.
//!
//! Invariant: on a terminal, text of others is escaped before it is written, and a line is wrapped
//! here, never by the terminal.

use std::io::{Read, Write};

use toolcell::{Lang, escape_control_chars};
use toolcell_i18n::{Message, tr};

use crate::screen::Screen;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorMode {
    /// Output is coloured on a terminal.
    #[default]
    Auto,
    /// Output is always coloured.
    Always,
    /// Output is never coloured.
    Never,
}

impl ColorMode {
    /// Returns the mode that the environment sets: `NO_COLOR` (no-color.org), `CLICOLOR_FORCE` and
    /// `CLICOLOR` (bixense.com/clicolors), in this order, and `TERM=dumb`.
    pub(crate) fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if set("NO_COLOR").is_some() {
            return Self::Never;
        }
        if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
            return Self::Always;
        }
        let is_off =
            set("CLICOLOR").is_some_and(|value| value == "0") || set("TERM").is_some_and(|value| value == "dumb");
        if is_off { Self::Never } else { Self::Auto }
    }

    /// Whether a stream is coloured.
    pub(crate) fn is_on(self, is_terminal: bool) -> bool {
        match self {
            Self::Auto => is_terminal,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// The standard streams of a command.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output: results.
    pub output: &'a mut dyn Write,
    /// Standard error: everything else.
    pub errors: &'a mut dyn Write,
    /// Whether standard output is a terminal, where control characters must be escaped.
    pub output_is_terminal: bool,
    /// Whether standard error is a terminal, where progress may be drawn.
    pub errors_are_terminal: bool,
    /// Whether standard input is a terminal. If standard error is one too, the user can be
    /// prompted.
    pub input_is_terminal: bool,
    /// When output is coloured.
    pub color: ColorMode,
}

impl Streams<'_> {
    /// Whether the user can be prompted.
    pub(crate) fn is_interactive(&self) -> bool {
        self.input_is_terminal && self.errors_are_terminal
    }

    /// Returns text for standard output. On a terminal, control characters are escaped.
    pub(crate) fn escape_for_output(&self, text: &str) -> String {
        if self.output_is_terminal { escape_control_chars(text) } else { text.to_owned() }
    }

    /// Returns a line for standard output. On a terminal, it is wrapped to rows so that the
    /// terminal itself never wraps it.
    pub(crate) fn wrap_for_output(&self, line: &str) -> String {
        if self.output_is_terminal {
            Screen::from_terminal(std::io::stdout()).wrap_to_text(line)
        } else {
            line.to_owned()
        }
    }

    /// Returns a line for standard error, wrapped like [`Streams::wrap_for_output`].
    pub(crate) fn wrap_for_errors(&self, line: &str) -> String {
        if self.errors_are_terminal {
            Screen::from_terminal(std::io::stderr()).wrap_to_text(line)
        } else {
            line.to_owned()
        }
    }

    /// Prints a note to standard error.
    pub(crate) fn print_note(&mut self, message: &Message, lang: Lang) -> std::io::Result<()> {
        self.print_labelled(tr!(lang, "note"), &message.to_text(lang), lang)
    }

    /// Prints a hint to standard error.
    pub(crate) fn print_hint(&mut self, message: &Message, lang: Lang) -> std::io::Result<()> {
        self.print_labelled(tr!(lang, "hint"), &message.to_text(lang), lang)
    }

    /// Prints a warning to standard error.
    pub(crate) fn print_warning(&mut self, message: &Message, lang: Lang) -> std::io::Result<()> {
        self.print_labelled(tr!(lang, "warning"), &message.to_text(lang), lang)
    }

    /// Prints a line with a translated label to standard error, with its control characters escaped.
    pub(crate) fn print_labelled(&mut self, label: &str, text: &str, lang: Lang) -> std::io::Result<()> {
        writeln!(self.errors, "{label}{}{}", lang.colon(), escape_control_chars(text))
    }
}

/// The format of a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for a person.
    Text,
    /// JSON, selected with `--json`.
    Json,
}

impl OutputFormat {
    /// Whether the output is JSON.
    pub(crate) fn is_json(self) -> bool {
        self == Self::Json
    }
}
