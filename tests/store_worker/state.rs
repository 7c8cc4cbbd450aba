//! The complete state of a store for some names, as one value.
//!
//! Invariant: two stores with equal states are indistinguishable through these names. Whatever can
//! be read in several ways was read in all of them, with the same result.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolcell_store::{Decision, Entry, Filter, PAGE_LIMIT, Store, ToolRef};
use toolcell_tool::{IdPrefix, Status, ToolId, ToolName};

/// The state of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoreState {
    /// The identifiers of the current tools, newest first.
    pub listed: Vec<String>,
    /// Every tool that one of the names ever resolved to, by identifier.
    pub tools: BTreeMap<String, ToolState>,
    /// The history of each name that has one, by case-folded name.
    pub names: BTreeMap<String, Vec<HistoryStep>>,
}

/// A step in the history of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryStep {
    /// The event.
    pub event: String,
    /// The identifier of its tool.
    pub tool: String,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
}

/// The state of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolState {
    /// The tool's name.
    pub name: String,
    /// Whether the name resolves to this tool.
    pub current: bool,
    /// The source.
    pub source: String,
    /// The description.
    pub description: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The verification status.
    pub status: Status,
    /// The confidence, in ten-thousandths.
    pub confidence: i64,
    /// When the tool was first stored, in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// When its metadata last changed, in milliseconds since the Unix epoch.
    pub updated_at: i64,
    /// Number of runs.
    pub runs: u64,
    /// Number of successful runs.
    pub successes: u64,
    /// Number of failed runs, by code.
    pub failures: BTreeMap<String, u64>,
    /// Time of the last run, in milliseconds since the Unix epoch.
    pub last_used_at: Option<i64>,
    /// The decisions on the tool, by the grants they are about.
    pub approvals: BTreeMap<String, RecordedDecision>,
    /// The bodies of its records, newest first.
    pub records: Vec<String>,
}

/// A decision on a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// Whether it is an approval.
    pub approved: bool,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
}

/// The code and the message of a failed read.
type ReadFailure = (String, String);

macro_rules! asked {
    ($answer:expr) => {
        $answer.map_err(|error| (error.code().to_string(), error.to_string()))?
    };
}

impl StoreState {
    /// Reads the state of these names.
    ///
    /// # Errors
    /// The code and the message of the first failed read.
    pub fn read(store: &Store, names: &[String]) -> Result<Self, ReadFailure> {
        let listed = listed(store)?;
        let mut state = Self { listed: listed.iter().map(|entry| entry.id.to_string()).collect(), ..Self::default() };
        let mut ids: BTreeSet<ToolId> = listed.iter().map(|entry| entry.id).collect();
        for name in names {
            let name = ToolName::parse(name).unwrap();
            let history = asked!(store.catalog().history(&name));
            for (index, past) in history.iter().enumerate() {
                assert_eq!(past.number, index as u64 + 1, "the history of {name} has a gap");
                ids.insert(past.id);
            }
            let past = history.iter().map(|past| HistoryStep {
                event: past.event.name().to_owned(),
                tool: past.id.to_string(),
                at: past.at.as_millisecond(),
            });
            if !history.is_empty() {
                state.names.insert(name.case_folded(), past.collect());
            }
        }
        for id in ids {
            let entry = asked!(store.catalog().find_any(&IdPrefix::parse(&id.to_string()).unwrap()));
            if entry.current {
                assert_eq!(
                    asked!(store.catalog().find(&ToolRef::Name(entry.name.clone()))),
                    entry,
                    "by name and by identifier"
                );
                assert!(listed.contains(&entry), "{entry:?} is found and not listed");
            }
            state.tools.insert(id.to_string(), tool(store, &entry)?);
        }
        Ok(state)
    }
}

impl StoreState {
    /// Describes the differences of two states.
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

/// Returns all current tools, read page by page.
fn listed(store: &Store) -> Result<Vec<Entry>, ReadFailure> {
    let mut filter = Filter { limit: PAGE_LIMIT, ..Filter::default() };
    let mut listed = Vec::new();
    loop {
        let page = asked!(store.catalog().list(&filter));
        listed.extend(page.entries);
        if page.next.is_none() {
            assert_eq!(page.total, listed.len() as u64, "as many are listed as are counted");
            return Ok(listed);
        }
        filter.after = page.next;
    }
}

fn tool(store: &Store, entry: &Entry) -> Result<ToolState, ReadFailure> {
    let spec = asked!(store.catalog().spec(entry));
    let notes = asked!(store.catalog().metadata(entry));
    let usage = asked!(store.runs().usage(entry));
    assert_eq!((spec.id(), spec.name()), (entry.id, &entry.name), "what is read is what was asked for");
    assert_eq!(notes.description(), entry.description, "the object and the index say the same");
    assert_eq!(notes.tags(), entry.tags, "the object and the index say the same");
    let mut records = Vec::new();
    for hash in asked!(store.runs().records(entry.id, usize::MAX)) {
        let record = asked!(store.runs().record(hash)).unwrap();
        assert_eq!(record.tool, Some(entry.id));
        records.push(String::from_utf8(record.body).unwrap());
    }
    let approvals = asked!(store.approvals().for_tool(entry.id)).into_iter().map(|approval| {
        let said =
            RecordedDecision { approved: approval.decision == Decision::Approved, at: approval.at.as_millisecond() };
        (approval.grants.to_string(), said)
    });
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 10,000")]
    let confidence = (entry.confidence * 1e4).round() as i64;
    Ok(ToolState {
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
