//! Renders a run as text for a person.
//!
//! Invariant: the result goes to standard output, everything else to standard error.

use toolcell::{Lang, Outcome, Report, escape_control_chars};

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
        let word = match lang {
            Lang::En => "warning",
            Lang::Ja | Lang::Zh => "警告",
        };
        let path = if warning.path.is_empty() { "/" } else { &warning.path };
        let colon = lang.colon();
        writeln!(
            streams.errors,
            "{word}{colon}{}{colon}{}",
            escape_control_chars(path),
            escape_control_chars(&warning.message)
        )?;
    }
    Ok(())
}

/// Returns the lines that tell a person why a tool did not return.
pub(crate) fn error_lines(outcome: &Outcome, lang: Lang) -> Vec<String> {
    let (error, see) = match lang {
        Lang::En => ("error", "hint"),
        Lang::Ja => ("エラー", "ヒント"),
        Lang::Zh => ("错误", "提示"),
    };
    let colon = lang.colon();
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
            let mut lines = vec![format!("{error}{colon}{headline}{colon}{stop}")];
            lines.extend(stop_hint(stop).map(|hint| format!("{see}{colon}{hint}")));
            lines
        }
    }
}
