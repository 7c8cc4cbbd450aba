//! Applies orders to a store.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use toolcell_store::{
    ActiveRun, Approval, Decision, DecisionOutcome, Durability, Entry, FindError, HistoryError, NewTool, OnConflict,
    OpenError, Record, Settings, Store, StoreAccess, ToolRef, UsageEvent,
};
use toolcell_tool::{Status, ToolName};

use crate::order::{StoreAction, StoreOrder, StoreReply};
use crate::runs::{self, StartedRun};
use crate::sample::SampleTool;
use crate::state::StoreState;

/// What acknowledged writes survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// A power failure.
    Synced,
    /// The end of the process.
    Unsynced,
}

impl SyncMode {
    /// Returns its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Unsynced => "unsynced",
        }
    }
}

/// Applies orders to a store.
pub struct StoreWorker {
    path: PathBuf,
    settings: Settings,
    store: Option<Store>,
    begun: Vec<ActiveRun>,
}

impl StoreWorker {
    /// Creates a worker for the store in a directory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, keeping: SyncMode) -> Self {
        let durability = match keeping {
            SyncMode::Synced => Durability::Synced,
            SyncMode::Unsynced => Durability::Unsynced,
        };
        let settings = Settings { durability, ..Settings::default() };
        Self { path: path.into(), settings, store: None, begun: Vec::new() }
    }

    /// Returns the store, which is opened on first use, and again after a failure.
    ///
    /// # Errors
    /// As [`Store::open`]
    pub fn store(&mut self) -> Result<&Store, OpenError> {
        if self.store.is_none() {
            self.store = Some(Store::open(&self.path, &self.settings)?);
        }
        Ok(self.store.as_ref().unwrap())
    }

    /// Carries out an order.
    pub fn perform(&mut self, order: &StoreOrder) -> StoreReply {
        // The started runs are put back below.
        let mut begun = std::mem::take(&mut self.begun);
        let answer = self.store().map_err(WorkError::from).and_then(|store| work(store, &mut begun, order));
        self.begun = begun;
        answer.unwrap_or_else(|WorkError { code, message }| StoreReply::Refused { code, message })
    }
}

struct WorkError {
    code: String,
    message: String,
}

macro_rules! work_errors {
    ($($error:ty),*) => {
        $(impl From<$error> for WorkError {
            fn from(error: $error) -> Self {
                Self { code: error.code().to_string(), message: error.to_string() }
            }
        })*
    };
}

work_errors!(
    OpenError,
    FindError,
    HistoryError,
    toolcell_store::Fault,
    toolcell_store::RecordError,
    toolcell_store::StatusError
);

fn work(store: &Store, begun: &mut Vec<ActiveRun>, order: &StoreOrder) -> Result<StoreReply, WorkError> {
    let at = Timestamp::from_millisecond(order.at).unwrap();
    let found = |name: &String| store.catalog().find(&reference(name));
    match &order.verb {
        StoreAction::Put(sample) => put(store, sample, at, OnConflict::Refuse)?,
        StoreAction::Replace(sample) => put(store, sample, at, OnConflict::Replace)?,
        StoreAction::Delete(name) => drop(store.catalog().delete(&reference(name), at)?),
        StoreAction::Undelete(name) => drop(store.catalog().undelete(&reference(name), at)?),
        StoreAction::RollBack(name, number) => {
            drop(store.catalog().roll_back(&ToolName::parse(name).unwrap(), *number, at)?);
        }
        StoreAction::Use(name, failure) => run(store, &found(name)?, failure.clone(), at)?,
        StoreAction::Become(name, status) => drop::<Status>(store.catalog().set_status(found(name)?.id, *status)?),
        StoreAction::Approve(name, grants) => decide(store, &found(name)?, grants, Decision::Approved, at)?,
        StoreAction::Refuse(name, grants) => decide(store, &found(name)?, grants, Decision::Refused, at)?,
        StoreAction::Revoke(name) => drop::<usize>(store.approvals().revoke(found(name)?.id)?),
        StoreAction::Record(name, body) => {
            let (tool, body) = (found(name)?.id, body.clone().into_bytes());
            store.runs().insert_record(&Record { kind: "run".to_owned(), tool: Some(tool), at, body })?;
        }
        StoreAction::Begin(name) => begun.push(runs::start(store, &found(name)?, order.at)?),
        StoreAction::End(name, failure) => {
            let Some(last) = begun.pop() else {
                return Ok(StoreReply::Refused { code: "nothing-begun".to_owned(), message: String::new() });
            };
            let noted = StartedRun { at: order.at, tool: found(name)?.id.to_string() };
            runs::finish(store, last, &noted, failure.as_deref().unwrap_or("returned"))?;
        }
        StoreAction::Close => runs::close_interrupted(store)?,
        StoreAction::Look(names) => {
            let state = StoreState::read(store, names).map_err(|(code, message)| WorkError { code, message })?;
            return Ok(StoreReply::Seen { writable: store.access() == StoreAccess::Full, state });
        }
    }
    Ok(StoreReply::Done)
}

fn reference(name: &str) -> ToolRef {
    ToolRef::parse(name).unwrap()
}

fn put(store: &Store, sample: &SampleTool, at: Timestamp, when_taken: OnConflict) -> Result<(), HistoryError> {
    let (spec, notes) = (sample.spec(), sample.notes());
    let step = store
        .catalog()
        .insert(&NewTool { spec: &spec, metadata: &notes, scores: SampleTool::scores(), at }, when_taken)?;
    assert_eq!((step.id, &step.name), (spec.id(), spec.name()));
    Ok(())
}

fn run(store: &Store, entry: &Entry, failure: Option<String>, at: Timestamp) -> Result<(), WorkError> {
    let duration = Duration::from_millis(20);
    Ok(store.runs().record_usage(UsageEvent {
        tool: entry.id,
        at,
        failure,
        fuel: 1_000,
        duration,
        tokens_saved: None,
        time_saved: None,
    })?)
}

fn decide(store: &Store, entry: &Entry, grants: &str, decision: Decision, at: Timestamp) -> Result<(), WorkError> {
    let grants = serde_json::Value::String(grants.to_owned());
    match store.approvals().set_decision(&Approval { tool: entry.id, grants, decision, by: "clerk".to_owned(), at })? {
        DecisionOutcome::Stored => Ok(()),
        DecisionOutcome::ToolGone => Err(FindError::Unknown(entry.name.to_string()).into()),
    }
}
