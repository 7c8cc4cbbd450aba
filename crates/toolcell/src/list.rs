//! `list_dynamic_tools`: the tools that names lead to.

use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Cursor, CursorError, Entry, Fault, Filter, ListError, Order, PAGE_LIMIT, Page};
use toolcell_tool::Status;

use crate::request::ListTools;
use crate::toolbox::Toolbox;

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
        if let Some(store) = self.store.as_ref().filter(|store| store.access() == toolcell_store::Access::Full) {
            store.audit().record(&attempt)?;
        }
        done
    }

    fn listed(&self, request: &ListTools) -> Result<Listed, ListToolsError> {
        let filter = filter(request)?;
        let Page { entries, total, more, next } = self.shelf()?.list(&filter)?;
        Ok(Listed { tools: entries, total, more, next })
    }
}

fn filter(request: &ListTools) -> Result<Filter, ListToolsError> {
    let limit = request.limit.unwrap_or(20);
    if limit == 0 || limit > PAGE_LIMIT as u64 {
        let range = format!("1 to {PAGE_LIMIT}");
        return Err(ListToolsError::Filter { what: "limit", actual: limit.to_string(), range });
    }
    if let Some(score) = request.min_safety_score.filter(|score| !(0.0..=1.0).contains(score)) {
        let range = "0.0 to 1.0".to_owned();
        return Err(ListToolsError::Filter { what: "min_safety_score", actual: score.to_string(), range });
    }
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
        order: order.transpose()?.unwrap_or_default(),
        limit: usize::try_from(limit).unwrap_or(PAGE_LIMIT),
        after: request.cursor.as_deref().map(Cursor::parse).transpose()?,
        ..Filter::default()
    })
}
