//! Looks lines up, newest or oldest first.
//!
//! Invariant: no more than about one line is in memory, and lines that are broken hide no others.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use jiff::Timestamp;
use toolcell_tool::{IdPrefix, ToolId};

use super::attempt::Action;
use super::files::{Files, Part, fault};
use super::line::Line;
use super::pieces::{Backwards, Forwards, Piece};
use crate::error::Fault;

/// Which lines are looked for: those that everything fits which is given here.
///
/// # Examples
/// ```
/// use toolcell_store::audit::{Action, Filter};
///
/// let failed_runs = Filter { action: Some(Action::RunDynamicTool), success: Some(false), ..Filter::default() };
/// assert_eq!(failed_runs.limit, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of tools whose identifiers begin so.
    pub tool: Option<IdPrefix>,
    /// Of tools that were called exactly so.
    pub name: Option<String>,
    /// Of this action.
    pub action: Option<Action>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Of attempts that succeeded, or of those that did not.
    pub success: Option<bool>,
    /// No more than this many.
    pub limit: Option<u64>,
}

/// Which lines come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// The one that was appended last.
    #[default]
    NewestFirst,
    /// The one that was appended first.
    OldestFirst,
}

/// The lines that a query finds, as the log was when it was asked.
///
/// An error ends it.
pub struct Lines<'a> {
    files: &'a Files,
    filter: Filter,
    /// The least and the greatest identifier that is looked for.
    tools: Option<(ToolId, ToolId)>,
    order: Order,
    /// The files that are not read yet, in the order in which they were written.
    parts: VecDeque<(Part, Option<(File, u64)>)>,
    reading: Option<(Part, Reader)>,
    left: u64,
    skipped: u64,
}

enum Reader {
    Forwards(Forwards),
    Backwards(Backwards),
}

impl Reader {
    fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        match self {
            Self::Forwards(pieces) => pieces.next(),
            Self::Backwards(pieces) => pieces.next(),
        }
    }
}

impl<'a> Lines<'a> {
    pub(super) fn find(files: &'a Files, filter: Filter, order: Order) -> Result<Self, Fault> {
        let snapshot = files.snapshot()?;
        let mut parts: VecDeque<_> =
            snapshot.numbers.into_iter().map(|number| (Part::Numbered(number), None)).collect();
        parts.extend(snapshot.current.map(|current| (Part::Current, Some(current))));
        let (tools, left) = (filter.tool.as_ref().map(IdPrefix::range), filter.limit.unwrap_or(u64::MAX));
        Ok(Self { files, filter, tools, order, parts, reading: None, left, skipped: 0 })
    }

    /// How many lines were passed over so far because they are broken.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn find_next(&mut self) -> Result<Option<Line>, Fault> {
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
                Some(Piece::Line(line)) => Line::parse(line),
                Some(Piece::Long | Piece::Tail(_)) => None,
            };
            match line {
                None => self.skipped += 1,
                Some(line) if self.fits(&line) => return Ok(Some(line)),
                Some(_) => {}
            }
        }
    }

    /// Opens the next file; false where there is none.
    fn open_next(&mut self) -> Result<bool, Fault> {
        let next = match self.order {
            Order::NewestFirst => self.parts.pop_back(),
            Order::OldestFirst => self.parts.pop_front(),
        };
        let Some((part, open)) = next else { return Ok(false) };
        let opened = if open.is_some() { open } else { self.files.read(part)? };
        self.reading = opened.map(|(file, len)| {
            let reader = match self.order {
                Order::NewestFirst => Reader::Backwards(Backwards::new(file, len)),
                Order::OldestFirst => Reader::Forwards(Forwards::new(file, len)),
            };
            (part, reader)
        });
        Ok(true)
    }

    fn fits(&self, line: &Line) -> bool {
        let filter = &self.filter;
        self.tools.is_none_or(|(least, greatest)| line.tool.is_some_and(|tool| (least..=greatest).contains(&tool)))
            && filter.name.as_ref().is_none_or(|name| line.name.as_ref() == Some(name))
            && filter.action.is_none_or(|action| line.action == action.name())
            && filter.since.is_none_or(|since| line.at >= since)
            && filter.until.is_none_or(|until| line.at < until)
            && filter.success.is_none_or(|success| line.success == success)
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Line, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let found = self.find_next();
        if found.is_err() {
            self.left = 0;
        }
        found.transpose()
    }
}
