//! The list of tools: filters, order, pages.
//!
//! Invariant: memory use is bounded by the page, not by the number of tools. Paging with a cursor
//! neither repeats a tool nor skips one that existed all along, because a cursor names the last
//! tool of its page and is no offset.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use toolcell_i18n::{Message, message};
use toolcell_tool::{Status, TAGS_LIMIT};

use crate::entry::{ENTRY_COLUMNS, ENTRY_TABLES, Entry, join_tags, score_to_stored};
use crate::error::{Fault, impl_maybe_fault};

use super::Catalog;

/// The maximum number of tools in a page.
pub const PAGE_LIMIT: usize = 1_000;

/// Filters, order and position of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// A substring of the name, case-insensitive.
    pub name: Option<String>,
    /// Tools with any of these tags, at most [`TAGS_LIMIT`]; no filter if empty.
    pub any_tag: Vec<String>,
    /// Tools with all of these tags, at most [`TAGS_LIMIT`].
    pub all_tags: Vec<String>,
    /// The minimum safety score, 0.0 to 1.0.
    pub min_safety: Option<f64>,
    /// Tools with this status.
    pub status: Option<Status>,
    /// Tools last used before this time, or created before it if they were never used.
    pub unused_since: Option<Timestamp>,
    /// The sort order.
    pub order: Order,
    /// The maximum number of tools, at most [`PAGE_LIMIT`].
    pub limit: usize,
    /// The position after which the page starts.
    pub after: Option<Cursor>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            name: None,
            any_tag: Vec::new(),
            all_tags: Vec::new(),
            min_safety: None,
            status: None,
            unused_since: None,
            order: Order::default(),
            limit: 20,
            after: None,
        }
    }
}

/// The sort order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    #[default]
    Created,
    /// Most recently changed first.
    Updated,
    /// Alphabetical.
    Name,
    /// Most runs first.
    Usage,
    /// Most recently used first.
    LastUsed,
    /// Highest confidence first.
    Confidence,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 6] =
        [Self::Created, Self::Updated, Self::Name, Self::Usage, Self::LastUsed, Self::Confidence];

    /// The name on the command line and in cursors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Name => "name",
            Self::Usage => "usage",
            Self::LastUsed => "last-used",
            Self::Confidence => "confidence",
        }
    }

    const fn column(self) -> &'static str {
        match self {
            // Insertion order, independent of the clock.
            Self::Created => "num",
            Self::Updated => "updated_at",
            Self::Name => "folded",
            Self::Usage => "runs",
            Self::LastUsed => "last_used_at",
            Self::Confidence => "confidence",
        }
    }

    /// The SQL sort direction, and the operator that selects what comes after a cursor.
    const fn direction(self) -> (&'static str, &'static str) {
        match self {
            Self::Name => ("ASC", ">"),
            _ => ("DESC", "<"),
        }
    }
}

/// The position at which a page ended. Its text is opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    order: Order,
    key: String,
    num: i64,
}

impl Cursor {
    /// Parses the text of a cursor.
    ///
    /// # Errors
    /// `cursor-invalid`
    pub fn parse(text: &str) -> Result<Self, CursorError> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next().ok_or(CursorError);
        let (order, num, key) = (part()?, part()?, part()?.to_owned());
        let order = Order::ALL.into_iter().find(|known| known.name() == order).ok_or(CursorError)?;
        if order != Order::Name && key.parse::<i64>().is_err() {
            return Err(CursorError);
        }
        Ok(Self { order, key, num: num.parse().map_err(|_| CursorError)? })
    }

    fn key(&self) -> Value {
        match (self.order, self.key.parse()) {
            (Order::Name, _) | (_, Err(_)) => Value::Text(self.key.clone()),
            (_, Ok(number)) => Value::Integer(number),
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.order.name(), self.num, self.key)
    }
}

/// The text is not a cursor, or the cursor belongs to another sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[coded(no_hint)]
#[code(CursorInvalid)]
#[error("the cursor does not belong to a list in this order")]
pub struct CursorError;

/// A list request that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ListError {
    /// The cursor is invalid for this list.
    #[error(transparent)]
    #[coded(transparent)]
    Cursor(#[from] CursorError),
    /// The filter has more tags than a tool can have.
    #[error("the filter has {len} tags {what}, the limit is {TAGS_LIMIT}")]
    #[code(FilterInvalid)]
    Tags {
        /// Which tag filter.
        what: Message,
        /// The number of tags in it.
        len: usize,
    },
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl_maybe_fault!(ListError);

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The tools.
    pub entries: Vec<Entry>,
    /// The number of tools that match the filter.
    pub total: u64,
    /// The number of matching tools after this page.
    pub remaining: u64,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<Cursor>,
}

/// An SQL condition and its parameter values.
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    fn from_filter(filter: &Filter) -> Self {
        let mut conditions = Self { sql: "current = 1".to_owned(), values: Vec::new() };
        if let Some(part) = &filter.name {
            // `instr`, because a `LIKE` pattern ends at a NUL and would then match everything.
            // Names are ASCII.
            conditions.and("instr(lower(name), ?)", [Value::Text(part.to_ascii_lowercase())]);
        }
        if let Some(least) = filter.min_safety {
            conditions.and("safety >= ?", [Value::Integer(score_to_stored(least))]);
        }
        if let Some(status) = filter.status {
            conditions.and("status = ?", [Value::Text(status.name().to_owned())]);
        }
        if let Some(since) = filter.unused_since {
            let sql = "CASE WHEN last_used_at > 0 THEN last_used_at ELSE created_at END < ?";
            conditions.and(sql, [Value::Integer(since.as_millisecond())]);
        }
        // A "tag" with a line feed must not match two adjacent tags of the column.
        let tagged = |tag: &String| {
            if tag.contains('\n') { Value::Null } else { Value::Text(join_tags(std::slice::from_ref(tag))) }
        };
        if !filter.any_tag.is_empty() {
            let any = vec!["instr(tags, ?)"; filter.any_tag.len()].join(" OR ");
            conditions.and(&format!("({any})"), filter.any_tag.iter().map(tagged));
        }
        for tag in &filter.all_tags {
            conditions.and("instr(tags, ?)", [tagged(tag)]);
        }
        conditions
    }

    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

impl Catalog<'_> {
    /// A page of the tools that names resolve to.
    ///
    /// # Errors
    /// `cursor-invalid`, `filter-invalid`, or another [`Fault`].
    pub fn list(&self, filter: &Filter) -> Result<Page, ListError> {
        if filter.after.as_ref().is_some_and(|cursor| cursor.order != filter.order) {
            return Err(CursorError.into());
        }
        self.runs.flush_before_read();
        for (what, len) in
            [(message!("to match any of"), filter.any_tag.len()), (message!("to match all of"), filter.all_tags.len())]
        {
            if len > TAGS_LIMIT {
                return Err(ListError::Tags { what, len });
            }
        }
        let mut page = self.db.index.read(|transaction| page(transaction, filter).map_err(Fault::from))?;
        self.flag_damaged(&mut page.entries)?;
        Ok(page)
    }
}

fn page(transaction: &Connection, filter: &Filter) -> rusqlite::Result<Page> {
    let mut conditions = Conditions::from_filter(filter);
    let count = |conditions: &Conditions| {
        let sql = format!("SELECT count(*) FROM tool WHERE {}", conditions.sql);
        let mut statement = transaction.prepare_cached(&sql)?;
        statement.query_row(params_from_iter(&conditions.values), |row| row.get::<_, u64>(0))
    };
    let total = count(&conditions)?;
    let (column, (direction, beyond)) = (filter.order.column(), filter.order.direction());
    if let Some(cursor) = &filter.after {
        let sql = format!("({column}, num) {beyond} (?, ?)");
        conditions.and(&sql, [cursor.key(), Value::Integer(cursor.num)]);
    }
    // Counted from the cursor on.
    let rest = if filter.after.is_some() { count(&conditions)? } else { total };
    let limit = filter.limit.clamp(1, PAGE_LIMIT);
    // The wide columns are read for the tools of the page only. One tool more than requested is
    // read, to learn whether there is a next page.
    let sql = format!(
        "SELECT {ENTRY_COLUMNS}, {column} FROM {ENTRY_TABLES} WHERE num IN \
         (SELECT num FROM tool WHERE {} ORDER BY {column} {direction}, num {direction} LIMIT {}) \
         ORDER BY {column} {direction}, num {direction}",
        conditions.sql,
        limit + 1
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&conditions.values), |row| {
        let key = match row.get(19)? {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
            _ => String::new(),
        };
        Ok((Entry::from_row(row)?, key))
    })?;
    let mut found: Vec<(Entry, String)> = rows.collect::<Result<_, _>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|(entry, key)| Cursor { order: filter.order, key: key.clone(), num: entry.num });
    let more = rest.saturating_sub(found.len() as u64);
    Ok(Page { entries: found.into_iter().map(|(entry, _)| entry).collect(), total, remaining: more, next })
}
