//! The report of a verification.
//!
//! Invariant: a report lists at most [`PROBLEMS_LIMIT`] problems and counts the others.

use std::fmt;

use toolcell_i18n::{Localize, Message, message};

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

impl Localize for ChainProblem {
    fn localize(&self) -> Message {
        let Self { file, line, seq, kind } = self;
        match seq {
            Some(seq) => message!("{file}:{line}: entry {seq} {kind}", file, line, seq, kind),
            None => message!("{file}:{line}: {kind}", file, line, kind),
        }
    }
}

impl fmt::Display for ChainProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
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
    /// The line does not match the head that this node published to the other nodes: the log was rewritten.
    NotAsPublished,
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
            Self::Rewritten | Self::NotAsIndexed | Self::NotAsPublished => "rewritten",
            Self::HeadMissing => "head-missing",
            Self::HeadWrong => "head-wrong",
        }
    }
}

impl Localize for ProblemKind {
    fn localize(&self) -> Message {
        match self {
            Self::Modified => message!("was changed"),
            Self::Unlinked => message!("was changed, so the entry before it cannot be verified"),
            Self::Dropped { from, to } => message!("entries {from} to {to} are missing", from, to),
            Self::FileMissing { file, from, to } => {
                message!("{file} is missing, with entries {from} to {to}", file, from, to)
            }
            Self::LostEnd { from, to } => {
                message!("the log ends here; entries {from} to {to} are missing", from, to)
            }
            Self::Reordered { after } => message!("comes after entry {after}", after),
            Self::Repeated => message!("is duplicated"),
            Self::Broken => message!("cannot be read"),
            Self::Torn { bytes } => message!("is truncated after {bytes} bytes and was never acknowledged", bytes),
            Self::Unchained => message!("is not part of the hash chain"),
            Self::Rewritten => message!("does not match the given head"),
            Self::NotAsIndexed => message!("does not match the head in the index of the store"),
            Self::NotAsPublished => message!("does not match the head that this node told the other nodes"),
            Self::HeadMissing => message!("the head file is missing"),
            Self::HeadWrong => message!("the head file does not match the log"),
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

#[cfg(test)]
mod tests {
    use toolcell_i18n::Lang;

    use super::*;

    #[test]
    fn a_problem_is_one_line_in_each_language() {
        let kind = ProblemKind::Reordered { after: 9 };
        let problem = ChainProblem { file: "audit.jsonl".to_owned(), line: 3, seq: Some(7), kind };
        assert_eq!(
            Lang::ALL.map(|lang| problem.localize().to_text(lang)),
            [
                "audit.jsonl:3: entry 7 comes after entry 9",
                "audit.jsonl:3: エントリー 7: エントリー 9 の後にあります",
                "audit.jsonl:3：条目 7：位于条目 9 之后",
            ]
        );
        let problem = ChainProblem { seq: None, kind: ProblemKind::HeadMissing, ..problem };
        assert_eq!(problem.to_string(), "audit.jsonl:3: the head file is missing");
        assert_eq!(problem.localize().to_text(Lang::Ja), "audit.jsonl:3: ヘッドのファイルがありません");
    }
}
