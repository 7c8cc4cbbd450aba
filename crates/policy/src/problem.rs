//! The problems of policy files and their positions.
//!
//! Invariant: every problem has its line and column, and all problems that can be found together
//! are reported together.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcell_i18n::{Localize, Message, message};
use toolcell_tool::Access;

use crate::command::HookDefinition;
use crate::provenance::{Layer, Origin};

/// The maximum number of reported problems of a file.
const MAX_REPORTED_PROBLEMS: usize = 100;
/// The maximum length of a quoted text in characters.
const MAX_SHOWN_CHARS: usize = 64;

/// The error of an invalid policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("{}", join_problems(problems, *more))]
#[code(PolicyInvalid)]
#[hint("correct the file at this position; no tool runs under an invalid policy")]
pub struct PolicyError {
    problems: Vec<PolicyProblem>,
    more: usize,
}

/// A problem of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyProblem {
    /// The path of the file.
    pub path: Arc<Path>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The description of the problem.
    pub message: Message,
}

impl PolicyError {
    /// Returns the problems in the order of the file; at most 100.
    #[must_use]
    pub fn problems(&self) -> &[PolicyProblem] {
        &self.problems
    }
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)
    }
}

impl Localize for PolicyProblem {
    fn localize(&self) -> Message {
        let place = format!("{}:{}:{}: ", self.path.display(), self.line, self.column);
        Message::sequence([&Message::verbatim(place), &self.message])
    }
}

fn join_problems(problems: &[PolicyProblem], more: usize) -> Message {
    let lines = problems.iter().map(Localize::localize);
    let rest = (more > 0).then(|| message!("and {more} more", more));
    let lines = lines.chain(rest).enumerate();
    Message::sequence(
        lines.flat_map(|(at, line)| [Message::verbatim(if at == 0 { "" } else { "\n" }.to_owned()), line]),
    )
}

/// Escapes and truncates a text of a file for a message, so that it cannot control the terminal.
pub(super) fn escape_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Checks that no new hook has the name of an existing one.
pub(super) fn check_hook_names_differ(there: &[HookDefinition], more: &[HookDefinition]) -> Result<(), PolicyError> {
    let mut problems = Vec::new();
    for hook in more {
        let taken = there.iter().find(|other| other.name == hook.name);
        let (Some(taken), Origin::File { path, line, .. }) = (taken, &hook.origin) else { continue };
        let name = escape_for_display(&hook.name);
        let message = message!("the hook of {origin} is already named `{name}`", origin = taken.origin, name);
        problems.push(PolicyProblem { path: Arc::clone(path), line: *line, column: 1, message });
    }
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// A granted folder and the position of its grant.
#[derive(Debug, Clone)]
pub(super) struct GrantedFolder {
    folder: PathBuf,
    access: Access,
    path: Arc<Path>,
    line: u32,
    column: u32,
}

/// Checks that each folder's path is absolute, and that no folder contains the store or is inside
/// of it: a tool could read and change other tools there.
pub(super) fn check_folders_exclude_store(
    folders: &[GrantedFolder],
    store: &Path,
    real: impl Fn(&Path) -> PathBuf,
) -> Result<(), PolicyError> {
    let store = real(store);
    let wrong = folders.iter().filter_map(|at| {
        let folder = real(&at.folder);
        let message = if at.folder.is_relative() {
            let path = at.path.display();
            message!("the folder depends on the current directory: give `{path}` as an absolute path", path)
        } else if folder.starts_with(&store) || store.starts_with(&folder) {
            let store = store.display();
            message!("the folder contains the store or is inside it ({store}): grant a folder outside it", store)
        } else {
            return None;
        };
        Some(PolicyProblem { path: Arc::clone(&at.path), line: at.line, column: at.column, message })
    });
    let problems: Vec<PolicyProblem> = wrong.collect();
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// Checks that `refusal` gives no reason against any folder.
pub(super) fn check_folders(
    folders: &[GrantedFolder],
    refusal: impl Fn(&Path, Access) -> std::io::Result<Option<Message>>,
) -> Result<(), PolicyError> {
    let wrong = folders.iter().filter_map(|at| {
        let message = match refusal(&at.folder, at.access) {
            Ok(None) => return None,
            Ok(Some(why)) if at.access == Access::Write => {
                message!("a tool could change its own permissions: {why}; grant another folder, or `read`", why)
            }
            Ok(Some(why)) => message!("{why}: grant another folder", why),
            Err(error) => message!("the paths around the folder cannot be checked: {error}", error),
        };
        Some(PolicyProblem { path: Arc::clone(&at.path), line: at.line, column: at.column, message })
    });
    let problems: Vec<PolicyProblem> = wrong.collect();
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// Converts an index to a number counted from 1.
fn one_based(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}

/// The state of parsing a policy file, with the problems found so far.
pub(super) struct PolicyParser<'a> {
    pub(super) layer: Layer,
    pub(super) path: Arc<Path>,
    pub(super) text: &'a str,
    /// The byte offsets of the line ends.
    line_ends: Vec<usize>,
    problems: Vec<(usize, Message)>,
    /// The granted folders and the offsets of their grants.
    pub(super) folders: Vec<(PathBuf, Access, usize)>,
}

impl<'a> PolicyParser<'a> {
    pub(super) fn new(layer: Layer, text: &'a str, path: &Path) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(end, _)| end).collect();
        Self { layer, path: Arc::from(path), text, line_ends: ends, problems: Vec::new(), folders: Vec::new() }
    }

    /// Records a problem at a span.
    pub(super) fn report(&mut self, span: &Range<usize>, message: impl Into<Message>) {
        self.problems.push((span.start, message.into()));
    }

    /// Returns the line and column of a byte offset, counted from 1. The column is counted from the
    /// start of the line, so use this only for reported positions.
    fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.lines_before(offset);
        let start = line.checked_sub(1).and_then(|last| self.line_ends.get(last)).map_or(0, |end| end + 1);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        (one_based(line), one_based(column))
    }

    /// Returns the line of a byte offset, counted from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        one_based(self.lines_before(offset))
    }

    fn lines_before(&self, offset: usize) -> usize {
        self.line_ends.partition_point(|end| *end < offset)
    }

    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::File { layer: self.layer, path: Arc::clone(&self.path), line: self.line(span.start) }
    }

    /// Takes the granted folders.
    pub(super) fn take_folders(&mut self) -> Vec<GrantedFolder> {
        let folders = std::mem::take(&mut self.folders).into_iter();
        let at = folders.map(|(folder, access, offset)| {
            let (line, column) = self.position(offset);
            GrantedFolder { folder, access, path: Arc::clone(&self.path), line, column }
        });
        at.collect()
    }

    /// Returns all recorded problems as an error, if there are any.
    pub(super) fn finish(&mut self) -> Result<(), PolicyError> {
        let mut problems = std::mem::take(&mut self.problems);
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_cached_key(|(offset, message)| (*offset, message.to_string()));
        let more = problems.len().saturating_sub(MAX_REPORTED_PROBLEMS);
        let told = problems.into_iter().take(MAX_REPORTED_PROBLEMS).map(|(offset, message)| {
            let (line, column) = self.position(offset);
            PolicyProblem { path: Arc::clone(&self.path), line, column, message }
        });
        Err(PolicyError { problems: told.collect(), more })
    }
}
