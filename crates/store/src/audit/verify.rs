//! Reads the whole log and says what is wrong with it.
//!
//! Invariant: no more than about one line is in memory, and at most [`PROBLEMS_LIMIT`] problems.

use std::fmt;

use super::chain::Chain;
use super::files::{Files, Part, fault};
use super::head::Head;
use super::pieces::{Forwards, Piece};
use crate::error::Fault;

/// How many problems are listed; the others are counted.
pub(super) const PROBLEMS_LIMIT: usize = 100;

/// What the log is worth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Verdict {
    /// How many lines there are.
    pub lines: u64,
    /// How many of them are before the chain, written by programs that knew none: nothing is known of those.
    pub unchained: u64,
    /// How many files there are.
    pub files: usize,
    /// Where the chain ends; to be kept elsewhere, and given to the next verification.
    pub head: Option<Head>,
    /// What is wrong, in the order of the log: at most 100.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub more: u64,
}

impl Verdict {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Something that is wrong with the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// The line in it, from 1; for what is missing, the line that is in its place.
    pub line: u64,
    /// The number of the line in the log, where that is known.
    pub seq: Option<u64>,
    /// What is wrong.
    pub what: What,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some(seq) = self.seq {
            write!(f, "entry {seq} ")?;
        }
        write!(f, "{}", self.what)
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The line is not the one that was written.
    Changed,
    /// The line is not the one that was written, and the only one that says what the line before it was: that one may
    /// have been changed as well.
    Unlinked,
    /// Lines are missing.
    Dropped {
        /// The first that is missing.
        from: u64,
        /// The last.
        to: u64,
    },
    /// A file is missing, and these lines with it.
    FileMissing {
        /// The file.
        file: String,
        /// The first line that is missing.
        from: u64,
        /// The last.
        to: u64,
    },
    /// The log ends before lines that are known to have been there.
    LostEnd {
        /// The first that is missing.
        from: u64,
        /// The last that is known of.
        to: u64,
    },
    /// The line comes after one that was written later.
    Reordered {
        /// The line that it comes after.
        after: u64,
    },
    /// The line is there already.
    Repeated,
    /// It is no line of the log.
    Broken,
    /// A line has no end: it was being written when its process or the disk failed, and nobody was told of it. The next
    /// line that is appended takes its place.
    Torn {
        /// How many bytes there are of it.
        bytes: u64,
    },
    /// It was written without the chain, amid lines that have it.
    Unchained,
    /// It is not the line that the given head is of: the log was written anew.
    Rewritten,
    /// It is not the line that the index of the store knows: the log was written anew.
    NotAsIndexed,
    /// The head file is missing or empty, so that the loss of the last lines could not be seen.
    HeadMissing,
    /// The head file does not fit the log.
    HeadWrong,
}

impl What {
    /// The stable code of this problem.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Changed | Self::Unlinked => "changed",
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

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("was changed"),
            Self::Unlinked => f.write_str("was changed, and does not tell whether the one before it was"),
            Self::Dropped { from, to } => write!(f, "entries {from} to {to} are missing"),
            Self::FileMissing { file, from, to } => write!(f, "{file} is missing, with the entries {from} to {to}"),
            Self::LostEnd { from, to } => write!(f, "the log ends here, and the entries {from} to {to} are missing"),
            Self::Reordered { after } => write!(f, "comes after entry {after}"),
            Self::Repeated => f.write_str("is there twice"),
            Self::Broken => f.write_str("cannot be read"),
            Self::Torn { bytes } => write!(f, "ends after {bytes} bytes, and was never acknowledged"),
            Self::Unchained => f.write_str("is not in the chain"),
            Self::Rewritten => f.write_str("is not the one that the given head is of"),
            Self::NotAsIndexed => f.write_str("is not the one that the index of the store knows"),
            Self::HeadMissing => f.write_str("the head file is missing"),
            Self::HeadWrong => f.write_str("the head file does not fit the log"),
        }
    }
}

/// Reads the whole log.
pub(super) fn verify(files: &Files, earlier: Option<&Head>, indexed: Option<Head>) -> Result<Verdict, Fault> {
    let snapshot = files.snapshot()?;
    let mut chain = Chain::new(snapshot.head, earlier.copied(), indexed);
    for number in snapshot.numbers {
        // Others may take files away while one reads; the lines that are missed are found to be missing.
        if let Some((file, len)) = files.read(Part::Numbered(number))? {
            read(&mut chain, Part::Numbered(number), Forwards::new(file, len))?;
        }
    }
    if let Some((file, len)) = snapshot.current {
        read(&mut chain, Part::Current, Forwards::new(file, len))?;
    }
    Ok(chain.end())
}

fn read(chain: &mut Chain, part: Part, mut pieces: Forwards) -> Result<(), Fault> {
    chain.begin(part);
    while let Some(piece) = pieces.next().map_err(fault(&part.name()))? {
        match piece {
            Piece::Line(line) => chain.line(line),
            Piece::Long => chain.long(),
            Piece::Tail(bytes) => chain.tail(bytes),
        }
    }
    Ok(())
}
