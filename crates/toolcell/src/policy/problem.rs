//! What is wrong with a policy file, and where.
//!
//! Invariant: every problem has its line and column, and all that can be found at once are told at once.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcell_tool::Access;

use crate::policy::command::GateCommand;
use crate::policy::origin::{Layer, Origin};

/// How many problems of a file are told.
const TOLD: usize = 100;
/// How much of a text is shown, in characters.
const SHOWN: usize = 64;

/// A policy file is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", told(problems, *more))]
pub struct PolicyError {
    problems: Vec<PolicyProblem>,
    more: usize,
}

/// Something that is wrong with a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyProblem {
    /// The file.
    pub path: Arc<Path>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl PolicyError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "policy-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "correct the file at this place; nothing runs under a policy that is not understood"
    }

    /// What is wrong, in the order of the file; the first 100.
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

fn told(problems: &[PolicyProblem], more: usize) -> String {
    let lines = problems.iter().map(ToString::to_string);
    let rest = (more > 0).then(|| format!("and {more} more"));
    lines.chain(rest).collect::<Vec<_>>().join("\n")
}

/// Text of a file as a message shows it: short, and nothing in it that a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Nothing, if no gate has the name of one that is there already.
pub(super) fn gates_differ(there: &[GateCommand], more: &[GateCommand]) -> Result<(), PolicyError> {
    let mut problems = Vec::new();
    for gate in more {
        let taken = there.iter().find(|other| other.name == gate.name);
        let (Some(taken), Origin::File { path, line, .. }) = (taken, &gate.origin) else { continue };
        let message = format!("the gate of {} has the name `{}` already", taken.origin, shown(&gate.name));
        problems.push(PolicyProblem { path: Arc::clone(path), line: *line, column: 1, message });
    }
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// A folder that is granted, and where.
#[derive(Debug, Clone)]
pub(super) struct FolderAt {
    folder: PathBuf,
    access: Access,
    path: Arc<Path>,
    line: u32,
    column: u32,
}

/// Nothing, if each folder is the same one whatever the current directory is, and none is in a store, or has it in it: there
/// tools would reach what is kept of other tools.
pub(super) fn folders_apart(
    folders: &[FolderAt],
    store: &Path,
    real: impl Fn(&Path) -> PathBuf,
) -> Result<(), PolicyError> {
    let store = real(store);
    let wrong = folders.iter().filter_map(|at| {
        let folder = real(&at.folder);
        let message = if at.folder.is_relative() {
            let path = at.path.display();
            format!("where that folder is depends on the current directory: hand in `{path}` by its whole path")
        } else if folder.starts_with(&store) || store.starts_with(&folder) {
            let store = store.display();
            format!("the store is in that folder, or around it ({store}): grant a folder apart from it")
        } else {
            return None;
        };
        Some(PolicyProblem { path: Arc::clone(&at.path), line: at.line, column: at.column, message })
    });
    let problems: Vec<PolicyProblem> = wrong.collect();
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// Nothing, if no folder is refused, which is told by why.
pub(super) fn folders_unprotected(
    folders: &[FolderAt],
    refused: impl Fn(&Path, Access) -> std::io::Result<Option<String>>,
) -> Result<(), PolicyError> {
    let wrong = folders.iter().filter_map(|at| {
        let message = match refused(&at.folder, at.access) {
            Ok(None) => return None,
            Ok(Some(why)) if at.access == Access::Write => {
                format!(
                    "a tool could change what decides what tools may do: {why}; grant a folder apart from it, or `read`"
                )
            }
            Ok(Some(why)) => format!("{why}: grant a folder apart from it"),
            Err(error) => format!("what is around that folder cannot be looked at: {error}"),
        };
        Some(PolicyProblem { path: Arc::clone(&at.path), line: at.line, column: at.column, message })
    });
    let problems: Vec<PolicyProblem> = wrong.collect();
    if problems.is_empty() { Ok(()) } else { Err(PolicyError { problems, more: 0 }) }
}

/// A number that people count from 1.
fn from_1(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}

/// A file that is being read, and what was found to be wrong with it.
pub(super) struct Reading<'a> {
    pub(super) layer: Layer,
    pub(super) path: Arc<Path>,
    pub(super) text: &'a str,
    /// Where lines end.
    ends: Vec<usize>,
    problems: Vec<(usize, String)>,
    /// The folders that are granted, and where the file says so.
    pub(super) folders: Vec<(PathBuf, Access, usize)>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(layer: Layer, text: &'a str, path: &Path) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(end, _)| end).collect();
        Self { layer, path: Arc::from(path), text, ends, problems: Vec::new(), folders: Vec::new() }
    }

    /// Notes a problem with what stands there.
    pub(super) fn wrong(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.problems.push((span.start, message.into()));
    }

    /// Line and column of a byte, from 1. A column is counted from the start of its line, so this is for the few places
    /// that a person reads.
    fn place(&self, offset: usize) -> (u32, u32) {
        let line = self.lines_before(offset);
        let start = line.checked_sub(1).and_then(|last| self.ends.get(last)).map_or(0, |end| end + 1);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        (from_1(line), from_1(column))
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        from_1(self.lines_before(offset))
    }

    fn lines_before(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset)
    }

    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::File { layer: self.layer, path: Arc::clone(&self.path), line: self.line(span.start) }
    }

    /// The folders that are granted.
    pub(super) fn folders(&mut self) -> Vec<FolderAt> {
        let folders = std::mem::take(&mut self.folders).into_iter();
        let at = folders.map(|(folder, access, offset)| {
            let (line, column) = self.place(offset);
            FolderAt { folder, access, path: Arc::clone(&self.path), line, column }
        });
        at.collect()
    }

    /// Nothing, or all that was wrong.
    pub(super) fn verdict(&mut self) -> Result<(), PolicyError> {
        let mut problems = std::mem::take(&mut self.problems);
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort();
        let more = problems.len().saturating_sub(TOLD);
        let told = problems.into_iter().take(TOLD).map(|(offset, message)| {
            let (line, column) = self.place(offset);
            PolicyProblem { path: Arc::clone(&self.path), line, column, message }
        });
        Err(PolicyError { problems: told.collect(), more })
    }
}
