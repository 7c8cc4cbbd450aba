//! The report of a verification.
//!
//! Invariant: a report lists at most [`PROBLEMS_LIMIT`] problems and counts the others.

use std::fmt;

use super::head::Head;

/// The maximum number of problems that are listed; further ones are only counted.
pub(super) const PROBLEMS_LIMIT: usize = 100;

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AuditReport {
    /// The number of lines.
    pub lines: u64,
    /// The number of lines before the start of the chain, written by earlier programs. They cannot
    /// be verified.
    pub unchained: u64,
    /// The number of files.
    pub files: usize,
    /// The end of the chain, to be saved elsewhere and passed to the next verification.
    pub head: Option<Head>,
    /// The problems in the order of the log, at most 100.
    pub problems: Vec<ChainProblem>,
    /// The number of further problems.
    pub omitted: u64,
}

impl AuditReport {
    /// Whether there are no problems.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A problem of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainProblem {
    /// The name of the file.
    pub file: String,
    /// The line in the file, from 1; for missing lines, the line in their place.
    pub line: u64,
    /// The sequence number of the line, if known.
    pub seq: Option<u64>,
    /// The kind of problem.
    pub kind: ProblemKind,
}

impl fmt::Display for ChainProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some(seq) = self.seq {
            write!(f, "entry {seq} ")?;
        }
        write!(f, "{}", self.kind)
    }
}

/// The kind of a problem of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The line was modified.
    Modified,
    /// The line was modified, and it was the only witness of the line before it, which may have
    /// been modified as well.
    Unlinked,
    /// Lines are missing.
    Dropped {
        /// The first missing line.
        from: u64,
        /// The last missing line.
        to: u64,
    },
    /// A file is missing, with these lines.
    FileMissing {
        /// The name of the file.
        file: String,
        /// The first missing line.
        from: u64,
        /// The last missing line.
        to: u64,
    },
    /// The log ends before lines that are known to have existed.
    LostEnd {
        /// The first missing line.
        from: u64,
        /// The last line that is known to have existed.
        to: u64,
    },
    /// The line comes after a later one.
    Reordered {
        /// The line that it comes after.
        after: u64,
    },
    /// The line is a duplicate.
    Repeated,
    /// The text is not a line of the log.
    Broken,
    /// The last line is incomplete: its process or the disk failed during the write, and it was
    /// never acknowledged. The next line to be appended replaces it.
    Torn {
        /// The size of the incomplete line, in bytes.
        bytes: u64,
    },
    /// A line without the chain among lines with it.
    Unchained,
    /// The line does not match the given head: the log was rewritten.
    Rewritten,
    /// The line does not match the index of the store: the log was rewritten.
    NotAsIndexed,
    /// The head file is missing or empty, so a loss of the last lines would not be noticed.
    HeadMissing,
    /// The head file does not match the log.
    HeadWrong,
}

impl ProblemKind {
    /// The stable code of this problem.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Modified | Self::Unlinked => "changed",
            Self::Dropped { .. } => "dropped",
            Self::FileMissing { .. } => "file-missing",
            Self::LostEnd { .. } => "lost-end",
            Self::Reordered { .. } => "reordered",
            Self::Repeated => "repeated",
            Self::Broken => "broken",
            Self::Torn { .. } => "torn",
            Self::Unchained => "unchained",
            Self::Rewritten | Self::NotAsIndexed => "rewritten",
            Self::HeadMissing => "head-missing",
            Self::HeadWrong => "head-wrong",
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modified => f.write_str("was changed"),
            Self::Unlinked => f.write_str("was changed, so the entry before it cannot be verified"),
            Self::Dropped { from, to } => write!(f, "entries {from} to {to} are missing"),
            Self::FileMissing { file, from, to } => write!(f, "{file} is missing, with entries {from} to {to}"),
            Self::LostEnd { from, to } => write!(f, "the log ends here; entries {from} to {to} are missing"),
            Self::Reordered { after } => write!(f, "comes after entry {after}"),
            Self::Repeated => f.write_str("is duplicated"),
            Self::Broken => f.write_str("cannot be read"),
            Self::Torn { bytes } => write!(f, "is truncated after {bytes} bytes and was never acknowledged"),
            Self::Unchained => f.write_str("is not part of the hash chain"),
            Self::Rewritten => f.write_str("does not match the given head"),
            Self::NotAsIndexed => f.write_str("does not match the head in the index of the store"),
            Self::HeadMissing => f.write_str("the head file is missing"),
            Self::HeadWrong => f.write_str("the head file does not match the log"),
        }
    }
}
