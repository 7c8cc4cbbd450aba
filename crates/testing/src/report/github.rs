//! Annotations for GitHub: a line each that its runner reads (the documentation of "Workflow commands for GitHub Actions").
//!
//! Invariant: whatever a test or a tool says, an annotation is one line, and no other command.

use std::path::Path;

use crate::outcome::Tested;
use crate::problem::Place;

/// The annotations of what failed.
#[must_use]
pub fn github(tested: &Tested) -> String {
    let problems = tested.problems.iter().map(|problem| {
        let message = format!("{}\n{}", problem.message, problem.hint);
        annotation(&problem.path, problem.place, problem.code, &message)
    });
    let failures = tested.done.iter().flat_map(|done| {
        done.failures.iter().map(|failure| {
            let title = format!("{}: {}", done.tool, done.name);
            let message = match &failure.diff {
                Some(diff) => format!("{}\n{diff}", failure.message),
                None => failure.message.clone(),
            };
            annotation(&done.path, done.place, &title, &message)
        })
    });
    problems.chain(failures).collect()
}

fn annotation(path: &Path, place: Place, title: &str, message: &str) -> String {
    let Place { line, column } = place;
    let (path, title) = (property(&path.display().to_string()), property(title));
    format!("::error file={path},line={line},col={column},title={title}::{}\n", data(message))
}

/// What ends a line or stands for something else is written as its number.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What ends a property as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_one_line_whatever_is_in_it() {
        let place = Place { line: 3, column: 1 };
        let said = annotation(Path::new("a,b:c.toml"), place, "50%: x", "one\r\ntwo ::error:: 100%");
        assert_eq!(said, "::error file=a%2Cb%3Ac.toml,line=3,col=1,title=50%25%3A x::one%0D%0Atwo ::error:: 100%25\n");
    }
}
