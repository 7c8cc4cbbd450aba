//! Renders a run as text for a person.
//!
//! Invariant: the result goes to standard output, everything else to standard error.

use toolcell::{Lang, Outcome, Report, escape_control_chars};
use toolcell_i18n::{message, tr};

use crate::response::{stop_hint, thrown_code};
use crate::streams::Streams;

/// Prints the result to standard output, and everything else to standard error.
pub(crate) fn print_text(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    print_logs_and_warnings(report, lang, streams)?;
    if let Outcome::Returned(Some(value)) = &report.outcome {
        let text = streams.escape_for_output(&value.to_text());
        writeln!(streams.output, "{text}")?;
    }
    for line in error_lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", escape_control_chars(&line))?;
    }
    Ok(())
}

/// Prints the tool's console output, and warnings on values that JSON cannot represent.
pub(crate) fn print_logs_and_warnings(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for log in &report.logs {
        writeln!(streams.errors, "{}", escape_control_chars(&log.text))?;
    }
    for warning in &report.warnings {
        let path = if warning.path.is_empty() { "/" } else { &warning.path };
        streams.print_warning(&message!("{path}: {reason}", path, reason = warning.message), lang)?;
    }
    Ok(())
}

/// Returns the lines that tell a person why a tool did not return.
pub(crate) fn error_lines(outcome: &Outcome, lang: Lang) -> Vec<String> {
    let (error, hint, colon) = (tr!(lang, "error"), tr!(lang, "hint"), lang.colon());
    match outcome {
        Outcome::Returned(_) => Vec::new(),
        Outcome::Threw(thrown) => {
            let headline = thrown_code(thrown).title(lang).unwrap_or_default();
            let mut lines = vec![format!("{error}{colon}{headline}{colon}{}: {}", thrown.name, thrown.message)];
            lines.extend(thrown.stack.lines().map(str::to_owned));
            lines
        }
        Outcome::Stopped(stop) => {
            let headline = stop.code().title(lang).unwrap_or_default();
            let text = tr!(lang, "{title}: {reason}", title = headline, reason = stop);
            let mut lines = vec![format!("{error}{colon}{text}")];
            lines.extend(stop_hint(stop).map(|text| format!("{hint}{colon}{}", lang.translate(text))));
            lines
        }
    }
}
