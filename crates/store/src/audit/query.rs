//! Queries: finds lines, newest or oldest first.
//!
//! Invariant: about one line is in memory at a time, and a broken line does not hide others.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use jiff::Timestamp;
use toolcell_tool::{IdPrefix, ToolId};

use super::event::Action;
use super::files::{LogFile, LogFiles, fault};
use super::line::AuditLine;
use super::reader::{Chunk, LineReader, ReverseLineReader};
use crate::error::Fault;

/// A filter for lines: a line matches if it meets every condition that is set.
///
/// # Examples
/// ```
/// use toolcell_store::audit::{Action, AuditFilter};
///
/// let failed_runs =
///     AuditFilter { action: Some(Action::RunDynamicTool), success: Some(false), ..AuditFilter::default() };
/// assert_eq!(failed_runs.limit, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Tools whose identifiers start with this prefix.
    pub tool: Option<IdPrefix>,
    /// Exactly this name.
    pub name: Option<String>,
    /// This action.
    pub action: Option<Action>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Successful events, or unsuccessful ones.
    pub success: Option<bool>,
    /// At most this many lines.
    pub limit: Option<u64>,
}

/// The order of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AuditOrder {
    /// Newest line first.
    #[default]
    NewestFirst,
    /// Oldest line first.
    OldestFirst,
}

/// An iterator over the lines that match, from a snapshot of the log.
///
/// It ends after the first error.
pub struct AuditLines<'a> {
    files: &'a LogFiles,
    filter: AuditFilter,
    /// The smallest and the greatest matching identifier.
    tools: Option<(ToolId, ToolId)>,
    order: AuditOrder,
    /// The files that are not read yet, oldest first.
    parts: VecDeque<(LogFile, Option<(File, u64)>)>,
    reading: Option<(LogFile, Reader)>,
    remaining: u64,
    skipped: u64,
}

enum Reader {
    Forwards(LineReader),
    Backwards(ReverseLineReader),
}

impl Reader {
    fn next(&mut self) -> io::Result<Option<Chunk<'_>>> {
        match self {
            Self::Forwards(pieces) => pieces.next(),
            Self::Backwards(pieces) => pieces.next(),
        }
    }
}

impl<'a> AuditLines<'a> {
    pub(super) fn new(files: &'a LogFiles, filter: AuditFilter, order: AuditOrder) -> Result<Self, Fault> {
        let snapshot = files.snapshot()?;
        let mut parts: VecDeque<_> =
            snapshot.numbers.into_iter().map(|number| (LogFile::Numbered(number), None)).collect();
        parts.extend(snapshot.current.map(|current| (LogFile::Current, Some(current))));
        let (tools, left) = (filter.tool.as_ref().map(IdPrefix::range), filter.limit.unwrap_or(u64::MAX));
        Ok(Self { files, filter, tools, order, parts, reading: None, remaining: left, skipped: 0 })
    }

    /// The number of broken lines skipped so far.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn find_next(&mut self) -> Result<Option<AuditLine>, Fault> {
        loop {
            let Some((part, reader)) = &mut self.reading else {
                if self.open_next()? {
                    continue;
                }
                return Ok(None);
            };
            let line = match reader.next().map_err(fault(&part.name()))? {
                None => {
                    self.reading = None;
                    continue;
                }
                Some(Chunk::Line(line)) => AuditLine::parse(line),
                Some(Chunk::Oversized | Chunk::Tail(_)) => None,
            };
            match line {
                None => self.skipped += 1,
                Some(line) if self.matches(&line) => return Ok(Some(line)),
                Some(_) => {}
            }
        }
    }

    /// Opens the next file. Returns false after the last file.
    fn open_next(&mut self) -> Result<bool, Fault> {
        let next = match self.order {
            AuditOrder::NewestFirst => self.parts.pop_back(),
            AuditOrder::OldestFirst => self.parts.pop_front(),
        };
        let Some((part, open)) = next else { return Ok(false) };
        let opened = if open.is_some() { open } else { self.files.read(part)? };
        self.reading = opened.map(|(file, len)| {
            let reader = match self.order {
                AuditOrder::NewestFirst => Reader::Backwards(ReverseLineReader::new(file, len)),
                AuditOrder::OldestFirst => Reader::Forwards(LineReader::new(file, len)),
            };
            (part, reader)
        });
        Ok(true)
    }

    fn matches(&self, line: &AuditLine) -> bool {
        let filter = &self.filter;
        self.tools.is_none_or(|(least, greatest)| line.tool.is_some_and(|tool| (least..=greatest).contains(&tool)))
            && filter.name.as_ref().is_none_or(|name| line.name.as_ref() == Some(name))
            && filter.action.is_none_or(|action| line.action == action.name())
            && filter.since.is_none_or(|since| line.at >= since)
            && filter.until.is_none_or(|until| line.at < until)
            && filter.success.is_none_or(|success| line.success == success)
    }
}

impl Iterator for AuditLines<'_> {
    type Item = Result<AuditLine, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let found = self.find_next();
        if found.is_err() {
            self.remaining = 0;
        }
        found.transpose()
    }
}
