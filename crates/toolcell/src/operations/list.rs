//! `list_dynamic_tools`: lists the stored tools.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use toolcell_i18n::{Message, message, msgid};
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{Cursor, CursorError, Entry, Fault, Filter, ListError, Order, PAGE_LIMIT, Page};
use toolcell_tool::{Status, ToolId, ToolName};

use super::deprecate::replacement_for;
use crate::parts::Parts;
use crate::request::ListTools;

/// The maximum number of days in a filter: a hundred years.
const MAX_DAYS: f64 = 36_525.0;
/// The number of seconds in a day.
const SECONDS_PER_DAY: f64 = 86_400.0;

/// A page of tools.
#[derive(Debug, Clone)]
pub struct ToolList {
    /// The tools on this page.
    pub tools: Vec<Entry>,
    /// The number of tools that match the filter.
    pub total: u64,
    /// The number of tools after this page.
    pub remaining: u64,
    /// The cursor of the next page. `None` on the last one.
    pub next_cursor: Option<Cursor>,
    /// The successors of the deprecated tools among them.
    pub successors: BTreeMap<ToolId, ToolName>,
}

/// The error of listing tools.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ListToolsError {
    /// A field of the filter is invalid.
    #[error("{what} is {actual}, it must be {range}")]
    #[code(FilterInvalid)]
    Filter {
        /// The name of the field.
        what: &'static str,
        /// The given value.
        actual: String,
        /// The allowed values.
        range: Message,
    },
    /// The store refuses the list.
    #[error(transparent)]
    #[coded(transparent)]
    List(#[from] ListError),
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl ListToolsError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Filter { .. } => msgid!("omit the field, or use a value in the range"),
            Self::List(ListError::Fault(fault)) | Self::Fault(fault) => fault.hint(),
            Self::List(_) => msgid!("use a cursor only with the sort order of the list that returned it"),
        }
    }
}

impl From<CursorError> for ListToolsError {
    fn from(error: CursorError) -> Self {
        Self::List(error.into())
    }
}

/// Returns a page of the tools that match a filter. An empty page is not an error.
pub(crate) fn list(parts: &Parts, request: &ListTools) -> Result<ToolList, ListToolsError> {
    let done = list_inner(parts, request);
    let mut attempt = AuditEvent::new(Action::ListDynamicTools, parts.now());
    match &done {
        Ok(listed) => attempt.details.count = Some(listed.tools.len() as u64),
        Err(error) => attempt.result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) }),
    }
    // A read-only store gets no audit event.
    parts.recorder.log_attempt(&attempt);
    done
}

fn list_inner(parts: &Parts, request: &ListTools) -> Result<ToolList, ListToolsError> {
    let filter = build_filter(request, parts.now())?;
    let Page { entries, total, remaining: more, next } = parts.require_store()?.catalog().list(&filter)?;
    let mut successors = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.successor.is_some()) {
        successors.extend(replacement_for(parts, entry)?.map(|successor| (entry.id, successor.name)));
    }
    Ok(ToolList { tools: entries, total, remaining: more, next_cursor: next, successors })
}

/// Returns the time this many days ago.
pub(crate) fn days_ago(days: f64, now: Timestamp) -> Result<Timestamp, ListToolsError> {
    if !(0.0..=MAX_DAYS).contains(&days) {
        let range = message!("{min} to {max}", min = 0, max = MAX_DAYS);
        return Err(ListToolsError::Filter { what: "unused_days", actual: days.to_string(), range });
    }
    // Before the calendar begins nothing was created or used.
    Ok(now.checked_sub(Duration::from_secs_f64(days * SECONDS_PER_DAY)).unwrap_or(Timestamp::MIN))
}

fn build_filter(request: &ListTools, now: Timestamp) -> Result<Filter, ListToolsError> {
    let limit = request.limit.unwrap_or(20);
    if limit == 0 || limit > PAGE_LIMIT as u64 {
        let range = message!("{min} to {max}", min = 1, max = PAGE_LIMIT);
        return Err(ListToolsError::Filter { what: "limit", actual: limit.to_string(), range });
    }
    if let Some(score) = request.min_safety_score.filter(|score| !(0.0..=1.0).contains(score)) {
        let range = message!("{min} to {max}", min = "0.0", max = "1.0");
        return Err(ListToolsError::Filter { what: "min_safety_score", actual: score.to_string(), range });
    }
    let unused_since = request.unused_days.map(|days| days_ago(days, now)).transpose()?;
    let unknown = |what, actual: &str, known: Vec<&str>| ListToolsError::Filter {
        what,
        actual: format!("`{}`", actual.chars().take(40).flat_map(char::escape_debug).collect::<String>()),
        range: Message::list(known.into_iter().map(|name| Message::verbatim(name.to_owned()))),
    };
    let status = request.status.as_deref().map(|name| {
        Status::from_name(name)
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
