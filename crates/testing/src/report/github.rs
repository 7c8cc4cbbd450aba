//! Annotations for GitHub Actions, one line each (see "Workflow commands for GitHub Actions").
//!
//! Invariant: an annotation is always one line and one command, whatever the messages contain, and no other text of a report is a
//! command.

use std::path::Path;

use crate::outcome::TestReport;
use crate::problem::FilePosition;

/// Formats problems and failures as annotations.
#[must_use]
pub fn github(tested: &TestReport) -> String {
    let problems = tested.problems.iter().map(|problem| {
        let message = format!("{}\n{}", problem.message, problem.hint);
        annotation(&problem.path, problem.place, problem.code, &message)
    });
    let failures = tested.results.iter().flat_map(|done| {
        done.failures.iter().map(|failure| {
            let title = format!("{}: {}", done.tool, done.name);
            let message = match &failure.diff {
                Some(diff) => format!("{}\n{diff}", failure.message),
                None => failure.message.to_string(),
            };
            annotation(&done.path, done.place, &title, &message)
        })
    });
    problems.chain(failures).collect()
}

/// Puts a text between the commands that make the runner take it for text only. The runner resumes at the token that it was given, which
/// the author of a tool cannot know.
///
/// # Errors
///
/// The system has no random numbers.
pub fn without_commands(text: &str) -> std::io::Result<String> {
    let random = || getrandom::u64().map_err(std::io::Error::other);
    let token = format!("{:016x}{:016x}", random()?, random()?);
    Ok(format!("::stop-commands::{token}\n{text}::{token}::\n"))
}

fn annotation(path: &Path, place: FilePosition, title: &str, message: &str) -> String {
    let FilePosition { line, column } = place;
    let (path, title) = (escape_property(&path.display().to_string()), escape_property(title));
    format!("::error file={path},line={line},col={column},title={title}::{}\n", escape_data(message))
}

/// Escapes percent signs and line breaks in a message.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property value, in which colons and commas are special too.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_that_resumes_commands_is_another_each_time() {
        let token = || {
            let quoted = without_commands("::error::x\n").unwrap();
            let (first, rest) = quoted.split_once('\n').unwrap();
            let token = first.strip_prefix("::stop-commands::").unwrap();
            assert_eq!(rest, format!("::error::x\n::{token}::\n"));
            assert!(token.len() == 32 && token.bytes().all(|digit| digit.is_ascii_hexdigit()), "{token}");
            token.to_owned()
        };
        assert_ne!(token(), token());
    }

    #[test]
    fn an_annotation_is_one_line_whatever_is_in_it() {
        let place = FilePosition { line: 3, column: 1 };
        let line = annotation(Path::new("a,b:c.toml"), place, "50%: x", "one\r\ntwo ::error:: 100%");
        assert_eq!(line, "::error file=a%2Cb%3Ac.toml,line=3,col=1,title=50%25%3A x::one%0D%0Atwo ::error:: 100%25\n");
    }
}
