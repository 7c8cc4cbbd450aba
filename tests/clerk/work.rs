//! How orders are carried out.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use toolcell_store::{
    Access, Approval, Begun, Decision, Durability, Entry, FindError, NameStepError, OpenError, Record, Registration,
    Settings, Settled, Store, ToolRef, UsageEvent, WhenTaken,
};
use toolcell_tool::{Status, ToolName};

use crate::order::{Answer, Order, Verb};
use crate::runs::{self, Noted};
use crate::sample::Sample;
use crate::state::State;

/// What acknowledged changes outlast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// A loss of power.
    Synced,
    /// The end of the process.
    Unsynced,
}

impl Keeping {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Unsynced => "unsynced",
        }
    }
}

/// Somebody who works on a store.
pub struct Clerk {
    path: PathBuf,
    settings: Settings,
    store: Option<Store>,
    begun: Vec<Begun>,
}

impl Clerk {
    /// A clerk for the store in a directory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, keeping: Keeping) -> Self {
        let durability = match keeping {
            Keeping::Synced => Durability::Synced,
            Keeping::Unsynced => Durability::Unsynced,
        };
        let settings = Settings { durability, ..Settings::default() };
        Self { path: path.into(), settings, store: None, begun: Vec::new() }
    }

    /// The store, which is opened once something is to be done with it, and again where that went wrong.
    ///
    /// # Errors
    /// As [`Store::open`]
    pub fn store(&mut self) -> Result<&Store, OpenError> {
        if self.store.is_none() {
            self.store = Some(Store::open(&self.path, &self.settings)?);
        }
        Ok(self.store.as_ref().unwrap())
    }

    /// Does what it is told.
    pub fn perform(&mut self, order: &Order) -> Answer {
        // What it has begun is put back.
        let mut begun = std::mem::take(&mut self.begun);
        let answer = self.store().map_err(Refusal::from).and_then(|store| work(store, &mut begun, order));
        self.begun = begun;
        answer.unwrap_or_else(|Refusal { code, message }| Answer::Refused { code, message })
    }
}

struct Refusal {
    code: String,
    message: String,
}

macro_rules! refusals {
    ($($error:ty),*) => {
        $(impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                Self { code: error.code().to_owned(), message: error.to_string() }
            }
        })*
    };
}

refusals!(
    OpenError,
    FindError,
    NameStepError,
    toolcell_store::Fault,
    toolcell_store::RecordError,
    toolcell_store::StatusError
);

fn work(store: &Store, begun: &mut Vec<Begun>, order: &Order) -> Result<Answer, Refusal> {
    let at = Timestamp::from_millisecond(order.at).unwrap();
    let found = |name: &String| store.find(&reference(name));
    match &order.verb {
        Verb::Put(sample) => put(store, sample, at, WhenTaken::Refuse)?,
        Verb::Replace(sample) => put(store, sample, at, WhenTaken::Replace)?,
        Verb::Delete(name) => drop(store.delete(&reference(name), at)?),
        Verb::Undelete(name) => drop(store.undelete(&reference(name), at)?),
        Verb::RollBack(name, number) => drop(store.roll_back(&ToolName::parse(name).unwrap(), *number, at)?),
        Verb::Use(name, failure) => run(store, &found(name)?, failure.clone(), at)?,
        Verb::Become(name, status) => drop::<Status>(store.set_status(found(name)?.id, *status)?),
        Verb::Approve(name, grants) => decide(store, &found(name)?, grants, Decision::Approved, at)?,
        Verb::Refuse(name, grants) => decide(store, &found(name)?, grants, Decision::Refused, at)?,
        Verb::Revoke(name) => drop::<usize>(store.revoke(found(name)?.id)?),
        Verb::Record(name, body) => {
            let (tool, body) = (found(name)?.id, body.clone().into_bytes());
            store.keep_record(&Record { kind: "run".to_owned(), tool: Some(tool), at, body })?;
        }
        Verb::Begin(name) => begun.push(runs::begin(store, &found(name)?, order.at)?),
        Verb::End(name, failure) => {
            let Some(last) = begun.pop() else {
                return Ok(Answer::Refused { code: "nothing-begun".to_owned(), message: String::new() });
            };
            let noted = Noted { at: order.at, tool: found(name)?.id.to_string() };
            runs::end(store, last, &noted, failure.as_deref().unwrap_or("returned"))?;
        }
        Verb::Close => runs::close(store)?,
        Verb::Look(names) => {
            let state = State::of(store, names).map_err(|(code, message)| Refusal { code, message })?;
            return Ok(Answer::Seen { writable: store.access() == Access::Full, state });
        }
    }
    Ok(Answer::Done)
}

fn reference(name: &str) -> ToolRef {
    ToolRef::parse(name).unwrap()
}

fn put(store: &Store, sample: &Sample, at: Timestamp, when_taken: WhenTaken) -> Result<(), NameStepError> {
    let (spec, notes) = (sample.spec(), sample.notes());
    let step = store.put(&Registration { spec: &spec, notes: &notes, scores: Sample::scores(), at }, when_taken)?;
    assert_eq!((step.id, &step.name), (spec.id(), spec.name()));
    Ok(())
}

fn run(store: &Store, entry: &Entry, failure: Option<String>, at: Timestamp) -> Result<(), Refusal> {
    let duration = Duration::from_millis(20);
    Ok(store.record_usage(UsageEvent { tool: entry.id, at, failure, fuel: 1_000, duration, tokens_saved: None })?)
}

fn decide(store: &Store, entry: &Entry, grants: &str, decision: Decision, at: Timestamp) -> Result<(), Refusal> {
    let grants = serde_json::Value::String(grants.to_owned());
    match store.decide(&Approval { tool: entry.id, grants, decision, by: "clerk".to_owned(), at })? {
        Settled::Kept => Ok(()),
        Settled::Gone => Err(FindError::Unknown(entry.name.to_string()).into()),
    }
}
