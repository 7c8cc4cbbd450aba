//! All that a store says about some names, as one value.
//!
//! Invariant: two stores with the same state cannot be told apart through the tools of these names. Whatever can be
//! asked in several ways was asked in all of them, and got the same answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolcell_store::{Decision, Entry, Filter, PAGE_LIMIT, Store, ToolRef};
use toolcell_tool::{IdPrefix, Status, ToolId, ToolName};

/// What is in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// The identifiers of the tools that names lead to, the newest first.
    pub listed: Vec<String>,
    /// Every tool that one of the names ever led to, by its identifier.
    pub tools: BTreeMap<String, Tool>,
    /// The history of each name that has one, by the name without its case.
    pub names: BTreeMap<String, Vec<Past>>,
}

/// A step in the history of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// What happened.
    pub event: String,
    /// The identifier of the tool that it happened with.
    pub tool: String,
    /// When.
    pub at: i64,
}

/// What is known of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Whether the name leads to it.
    pub current: bool,
    /// Its source.
    pub source: String,
    /// What is said about it.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// How far it is trusted.
    pub status: Status,
    /// In ten-thousandths.
    pub confidence: i64,
    /// When it was first stored.
    pub created_at: i64,
    /// When something was last said about it.
    pub updated_at: i64,
    /// How often it ran.
    pub runs: u64,
    /// How often that went well.
    pub successes: u64,
    /// How often it did not, by code.
    pub failures: BTreeMap<String, u64>,
    /// When it last ran.
    pub last_used_at: Option<i64>,
    /// What was said to it, by the grants it was about.
    pub approvals: BTreeMap<String, Said>,
    /// The bodies of its records, the newest first.
    pub records: Vec<String>,
}

/// What somebody said to a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Whether it was yes.
    pub approved: bool,
    /// When.
    pub at: i64,
}

/// What could not be read, and its code.
type Unreadable = (String, String);

macro_rules! asked {
    ($answer:expr) => {
        $answer.map_err(|error| (error.code().to_owned(), error.to_string()))?
    };
}

impl State {
    /// Reads everything that these names ever led to.
    ///
    /// # Errors
    /// The code and the message of what could not be read.
    pub fn of(store: &Store, names: &[String]) -> Result<Self, Unreadable> {
        let listed = listed(store)?;
        let mut state = Self { listed: listed.iter().map(|entry| entry.id.to_string()).collect(), ..Self::default() };
        let mut ids: BTreeSet<ToolId> = listed.iter().map(|entry| entry.id).collect();
        for name in names {
            let name = ToolName::parse(name).unwrap();
            let history = asked!(store.history(&name));
            for (index, past) in history.iter().enumerate() {
                assert_eq!(past.number, index as u64 + 1, "the history of {name} has a gap");
                ids.insert(past.id);
            }
            let past = history.iter().map(|past| Past {
                event: past.event.name().to_owned(),
                tool: past.id.to_string(),
                at: past.at.as_millisecond(),
            });
            if !history.is_empty() {
                state.names.insert(name.folded(), past.collect());
            }
        }
        for id in ids {
            let entry = asked!(store.find_any(&IdPrefix::parse(&id.to_string()).unwrap()));
            if entry.current {
                assert_eq!(asked!(store.find(&ToolRef::Name(entry.name.clone()))), entry, "by name and by identifier");
                assert!(listed.contains(&entry), "{entry:?} is found and not listed");
            }
            state.tools.insert(id.to_string(), tool(store, &entry)?);
        }
        Ok(state)
    }
}

impl State {
    /// What is in one of two states and not in the other, for people.
    #[must_use]
    pub fn differences(&self, other: &Self) -> String {
        let mut differences = Vec::new();
        if self.listed != other.listed {
            differences.push(format!("{} tools are listed, and not these {}", self.listed.len(), other.listed.len()));
        }
        differ(&self.tools, &other.tools, &mut differences);
        differ(&self.names, &other.names, &mut differences);
        differences.join("\n")
    }
}

fn differ<T: PartialEq + std::fmt::Debug>(
    one: &BTreeMap<String, T>,
    other: &BTreeMap<String, T>,
    differences: &mut Vec<String>,
) {
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differing = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    differences.extend(differing.map(|key| format!("{key} is {:?} and not {:?}", one.get(key), other.get(key))));
}

/// All tools that names lead to, read page by page.
fn listed(store: &Store) -> Result<Vec<Entry>, Unreadable> {
    let mut filter = Filter { limit: PAGE_LIMIT, ..Filter::default() };
    let mut listed = Vec::new();
    loop {
        let page = asked!(store.list(&filter));
        listed.extend(page.entries);
        if page.next.is_none() {
            assert_eq!(page.total, listed.len() as u64, "as many are listed as are counted");
            return Ok(listed);
        }
        filter.after = page.next;
    }
}

fn tool(store: &Store, entry: &Entry) -> Result<Tool, Unreadable> {
    let spec = asked!(store.spec(entry));
    let notes = asked!(store.notes(entry));
    let usage = asked!(store.usage(entry));
    assert_eq!((spec.id(), spec.name()), (entry.id, &entry.name), "what is read is what was asked for");
    assert_eq!(notes.description(), entry.description, "the object and the index say the same");
    assert_eq!(notes.tags(), entry.tags, "the object and the index say the same");
    let mut records = Vec::new();
    for hash in asked!(store.records(entry.id, usize::MAX)) {
        let record = asked!(store.record(hash)).unwrap();
        assert_eq!(record.tool, Some(entry.id));
        records.push(String::from_utf8(record.body).unwrap());
    }
    let approvals = asked!(store.approvals(entry.id)).into_iter().map(|approval| {
        let said = Said { approved: approval.decision == Decision::Approved, at: approval.at.as_millisecond() };
        (approval.grants.to_string(), said)
    });
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 10,000")]
    let confidence = (entry.confidence * 1e4).round() as i64;
    Ok(Tool {
        name: entry.name.to_string(),
        current: entry.current,
        source: spec.source().to_owned(),
        description: notes.description().to_owned(),
        tags: notes.tags().to_vec(),
        status: entry.status,
        confidence,
        created_at: entry.created_at.as_millisecond(),
        updated_at: entry.updated_at.as_millisecond(),
        runs: usage.runs,
        successes: usage.successes,
        failures: usage.failures,
        last_used_at: usage.last_used_at.map(jiff::Timestamp::as_millisecond),
        approvals: approvals.collect(),
        records,
    })
}
