//! Annotations for GitHub Actions, one line each (see "Workflow commands for GitHub Actions").
//!
//! Invariant: an annotation is always one line and one command, whatever the messages contain.

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
    fn an_annotation_is_one_line_whatever_is_in_it() {
        let place = FilePosition { line: 3, column: 1 };
        let line = annotation(Path::new("a,b:c.toml"), place, "50%: x", "one\r\ntwo ::error:: 100%");
        assert_eq!(line, "::error file=a%2Cb%3Ac.toml,line=3,col=1,title=50%25%3A x::one%0D%0Atwo ::error:: 100%25\n");
    }
}
