//! The list of tools: filters, order, pages.
//!
//! Invariant: a page costs memory for the page, however many tools there are. Going on with a cursor never shows a tool
//! twice and leaves out none that was there all the time: it names the last tool that was shown and not a count.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use toolcell_tool::{Status, TAGS_LIMIT};

use crate::error::Fault;
use crate::store::{COLUMNS, Entry, Store, TABLES, joined, stored};

/// How many tools a page has at most.
pub const PAGE_LIMIT: usize = 1_000;

/// Which tools are listed, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Part of the name, in any case.
    pub name: Option<String>,
    /// Any of these tags, up to [`TAGS_LIMIT`]; all tools where there is none.
    pub any_tag: Vec<String>,
    /// All of these tags, up to [`TAGS_LIMIT`].
    pub all_tags: Vec<String>,
    /// The least safety score, 0.0 to 1.0.
    pub min_safety: Option<f64>,
    /// Tools of this status.
    pub status: Option<Status>,
    /// Tools that nobody has used since then, nor made.
    pub unused_since: Option<Timestamp>,
    /// What comes first.
    pub order: Order,
    /// How many at most, up to [`PAGE_LIMIT`].
    pub limit: usize,
    /// Where an earlier page ended.
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

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The newest tool.
    #[default]
    Created,
    /// The one about which something was said last.
    Updated,
    /// The first of the alphabet.
    Name,
    /// The one that ran most often.
    Usage,
    /// The one that ran last.
    LastUsed,
    /// The one that runs speak most for.
    Confidence,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Created, Self::Updated, Self::Name, Self::Usage, Self::LastUsed, Self::Confidence];

    /// Its name on the command line and in cursors.
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
            // The order of arrival, whatever the clock did.
            Self::Created => "num",
            Self::Updated => "updated_at",
            Self::Name => "folded",
            Self::Usage => "runs",
            Self::LastUsed => "last_used_at",
            Self::Confidence => "confidence",
        }
    }

    /// Which way, and how what comes after compares with what came before.
    const fn direction(self) -> (&'static str, &'static str) {
        match self {
            Self::Name => ("ASC", ">"),
            _ => ("DESC", "<"),
        }
    }
}

/// Where a page ended. Its text is for handing back, not for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    order: Order,
    key: String,
    num: i64,
}

impl Cursor {
    /// Takes the text of a cursor back.
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

/// Some text is no cursor, or one of a list in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is none of a list in this order")]
pub struct CursorError;

impl CursorError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(self) -> &'static str {
        "cursor-invalid"
    }
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The cursor is of another list.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The filter has more tags than a tool.
    #[error("the filter has {len} tags {what}, the limit is {TAGS_LIMIT}")]
    Tags {
        /// Which ones.
        what: &'static str,
        /// How many.
        len: usize,
    },
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ListError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Cursor(error) => error.code(),
            Self::Tags { .. } => "filter-invalid",
            Self::Fault(fault) => fault.code(),
        }
    }
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The tools.
    pub entries: Vec<Entry>,
    /// How many the filter fits in all.
    pub total: u64,
    /// How many of them come after this page.
    pub more: u64,
    /// Where to go on; none where this is the end.
    pub next: Option<Cursor>,
}

/// Conditions in SQL, and what they are about.
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    fn of(filter: &Filter) -> Self {
        let mut conditions = Self { sql: "current = 1".to_owned(), values: Vec::new() };
        if let Some(part) = &filter.name {
            // A pattern of SQL would end at a NUL and find everything. Names are ASCII.
            conditions.and("instr(lower(name), ?)", [Value::Text(part.to_ascii_lowercase())]);
        }
        if let Some(least) = filter.min_safety {
            conditions.and("safety >= ?", [Value::Integer(stored(least))]);
        }
        if let Some(status) = filter.status {
            conditions.and("status = ?", [Value::Text(status.name().to_owned())]);
        }
        if let Some(since) = filter.unused_since {
            let sql = "CASE WHEN last_used_at > 0 THEN last_used_at ELSE created_at END < ?";
            conditions.and(sql, [Value::Integer(since.as_millisecond())]);
        }
        // Two tags in one, with the line feed that is between them in the column, are none.
        let tagged = |tag: &String| {
            if tag.contains('\n') { Value::Null } else { Value::Text(joined(std::slice::from_ref(tag))) }
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

impl Store {
    /// A page of the tools that names lead to.
    ///
    /// # Errors
    /// `cursor-invalid`, `filter-invalid`, and those of the disk.
    pub fn list(&self, filter: &Filter) -> Result<Page, ListError> {
        if filter.after.as_ref().is_some_and(|cursor| cursor.order != filter.order) {
            return Err(CursorError.into());
        }
        self.settle_first();
        for (what, len) in [("of which any fits", filter.any_tag.len()), ("of which all fit", filter.all_tags.len())] {
            if len > TAGS_LIMIT {
                return Err(ListError::Tags { what, len });
            }
        }
        let mut page = self.index.read(|transaction| page(transaction, filter).map_err(Fault::from))?;
        self.show_damage(&mut page.entries)?;
        Ok(page)
    }
}

fn page(transaction: &Connection, filter: &Filter) -> rusqlite::Result<Page> {
    let mut conditions = Conditions::of(filter);
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
    // From the cursor on.
    let rest = if filter.after.is_some() { count(&conditions)? } else { total };
    let limit = filter.limit.clamp(1, PAGE_LIMIT);
    // The wide columns are read for the tools of the page alone. One more than asked for says whether there is more.
    let sql = format!(
        "SELECT {COLUMNS}, {column} FROM {TABLES} WHERE num IN \
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
        Ok((Entry::of_row(row)?, key))
    })?;
    let mut found: Vec<(Entry, String)> = rows.collect::<Result<_, _>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|(entry, key)| Cursor { order: filter.order, key: key.clone(), num: entry.num });
    let more = rest.saturating_sub(found.len() as u64);
    Ok(Page { entries: found.into_iter().map(|(entry, _)| entry).collect(), total, more, next })
}
