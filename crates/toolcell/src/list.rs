//! `list_dynamic_tools`: the tools that names lead to.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Cursor, CursorError, Entry, Fault, Filter, ListError, Order, PAGE_LIMIT, Page};
use toolcell_tool::{Status, ToolId, ToolName};

use crate::request::ListTools;
use crate::toolbox::Toolbox;

/// The most days that can be asked for: a hundred years.
const DAYS_LIMIT: f64 = 36_525.0;
/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// A page of tools.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The tools.
    pub tools: Vec<Entry>,
    /// How many fit the filter in all.
    pub total: u64,
    /// How many come after these.
    pub more: u64,
    /// Where to go on; none where this is the end.
    pub next: Option<Cursor>,
    /// What is to be used in place of those among them that are deprecated.
    pub successors: BTreeMap<ToolId, ToolName>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListToolsError {
    /// What is asked for cannot be had.
    #[error("{what} is {actual}, and has to be {range}")]
    Filter {
        /// Which field.
        what: &'static str,
        /// What was asked for.
        actual: String,
        /// What it may be.
        range: String,
    },
    /// As the store says.
    #[error(transparent)]
    List(#[from] ListError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ListToolsError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Filter { .. } => "filter-invalid",
            Self::List(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Filter { .. } => "leave the field out, or say what it may be",
            Self::List(ListError::Fault(fault)) | Self::Fault(fault) => fault.hint(),
            Self::List(_) => "a cursor belongs to the list that it came with, in the same order",
        }
    }
}

impl From<CursorError> for ListToolsError {
    fn from(error: CursorError) -> Self {
        Self::List(error.into())
    }
}

impl Toolbox {
    /// The tools that fit a filter, a page at a time. That there is none is an answer.
    ///
    /// # Errors
    /// `filter-invalid`, `cursor-invalid`, and those of the disk.
    pub fn list(&self, request: &ListTools) -> Result<Listed, ListToolsError> {
        let done = self.listed(request);
        let mut attempt = Attempt::new(Action::ListDynamicTools, self.now());
        match &done {
            Ok(listed) => attempt.details.count = Some(listed.tools.len() as u64),
            Err(error) => attempt.result = Err(Failure { code: error.code(), message: Some(error.to_string()) }),
        }
        // Reading a store that cannot be written leaves no line.
        self.note(&attempt);
        done
    }

    fn listed(&self, request: &ListTools) -> Result<Listed, ListToolsError> {
        let filter = filter(request, self.now())?;
        let Page { entries, total, more, next } = self.shelf()?.list(&filter)?;
        let mut successors = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.successor.is_some()) {
            successors.extend(self.in_place_of(entry)?.map(|successor| (entry.id, successor.name)));
        }
        Ok(Listed { tools: entries, total, more, next, successors })
    }
}

/// The time that was so many days ago.
pub(crate) fn before(days: f64, now: Timestamp) -> Result<Timestamp, ListToolsError> {
    if !(0.0..=DAYS_LIMIT).contains(&days) {
        let range = format!("0 to {DAYS_LIMIT}");
        return Err(ListToolsError::Filter { what: "unused_days", actual: days.to_string(), range });
    }
    // Before the calendar begins nothing was made or used.
    Ok(now.checked_sub(Duration::from_secs_f64(days * DAY)).unwrap_or(Timestamp::MIN))
}

fn filter(request: &ListTools, now: Timestamp) -> Result<Filter, ListToolsError> {
    let limit = request.limit.unwrap_or(20);
    if limit == 0 || limit > PAGE_LIMIT as u64 {
        let range = format!("1 to {PAGE_LIMIT}");
        return Err(ListToolsError::Filter { what: "limit", actual: limit.to_string(), range });
    }
    if let Some(score) = request.min_safety_score.filter(|score| !(0.0..=1.0).contains(score)) {
        let range = "0.0 to 1.0".to_owned();
        return Err(ListToolsError::Filter { what: "min_safety_score", actual: score.to_string(), range });
    }
    let unused_since = request.unused_days.map(|days| before(days, now)).transpose()?;
    let unknown = |what, actual: &str, known: Vec<&str>| ListToolsError::Filter {
        what,
        actual: format!("`{}`", actual.chars().take(40).flat_map(char::escape_debug).collect::<String>()),
        range: known.join(", "),
    };
    let status = request.status.as_deref().map(|name| {
        Status::named(name)
            .ok_or_else(|| unknown("status", name, Status::ALL.iter().map(|status| status.name()).collect()))
    });
    let order = request.sort.as_deref().map(|name| {
        let found = Order::ALL.into_iter().find(|order| order.name() == name);
        found.ok_or_else(|| unknown("sort", name, Order::ALL.iter().map(|order| order.name()).collect()))
    });
    Ok(Filter {
        name: request.name.clone().filter(|part| !part.is_empty()),
        any_tag: request.tags.clone(),
        min_safety: request.min_safety_score,
        status: status.transpose()?,
        unused_since,
        order: order.transpose()?.unwrap_or_default(),
        limit: usize::try_from(limit).unwrap_or(PAGE_LIMIT),
        after: request.cursor.as_deref().map(Cursor::parse).transpose()?,
        ..Filter::default()
    })
}
