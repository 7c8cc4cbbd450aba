//! What was done for a tool, for the record of its run.
//!
//! Invariant: each operation that a tool asks for is in it, up to a number, with how far it got; what is kept of one is what it was
//! about, never what it carried.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use toolcell_host::{Effects, Operation, OperationFailure};

/// How many operations of a run are kept, each by itself.
const KEPT: usize = 256;
/// How much of what an operation is about is kept, in characters.
const ABOUT: usize = 160;

/// What was done for a tool in one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// The operations in the order in which they were asked for, as far as they are kept. Timers are left out.
    pub effects: Vec<Effect>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Its number in the run.
    pub id: u32,
    /// What it was, such as `fetch`.
    pub kind: String,
    /// What it was about: `POST https://api.example.com/v1/items`, the key of a pair, a path.
    pub about: String,
    /// How far it got: `none`, `started` (it may have happened), `committed`.
    pub effects: Effects,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Notes what is done while it is done.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Done>);

impl Ledger {
    /// Notes that something was asked for.
    pub(super) fn asked(&self, operation: &Operation) {
        let mut done = self.lock();
        if done.effects.len() >= KEPT {
            done.more += 1;
            return;
        }
        let (id, kind) = (operation.id, operation.kind.clone());
        done.effects.push(Effect { id, kind, about: about(operation), effects: Effects::None, code: None });
    }

    /// Notes that it was begun: it may have happened from here on.
    pub(super) fn begun(&self, id: u32) {
        self.ended(id, Effects::Started, None);
    }

    /// Notes that it ended well.
    pub(super) fn succeeded(&self, id: u32) {
        self.ended(id, Effects::Committed, None);
    }

    /// Notes that it failed.
    pub(super) fn failed(&self, id: u32, failure: &OperationFailure) {
        self.ended(id, failure.effects, Some(failure.code.to_string()));
    }

    fn ended(&self, id: u32, effects: Effects, code: Option<String>) {
        let mut done = self.lock();
        // Numbers grow, so it is found by halves.
        if let Ok(at) = done.effects.binary_search_by_key(&id, |effect| effect.id) {
            let effect = &mut done.effects[at];
            (effect.effects, effect.code) = (effects, code);
        }
    }

    /// How far the operation got that got farthest.
    pub(crate) fn farthest(&self) -> Effects {
        self.lock().effects.iter().map(|effect| effect.effects).max().unwrap_or(Effects::None)
    }

    /// What was done; nothing where the tool asked for nothing.
    pub(crate) fn taken(&self) -> Option<Done> {
        Some(std::mem::take(&mut *self.lock())).filter(|done| !done.effects.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, Done> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an operation is about. The query of a URL is left out: it carries data.
pub(super) fn about(operation: &Operation) -> String {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        method: String,
        url: Option<String>,
        path: Option<String>,
        key: Option<String>,
        name: Option<String>,
        #[serde(default)]
        writes: Vec<Named>,
    }
    let Ok(named) = serde_json::from_str::<Named>(&operation.payload) else { return String::new() };
    let about = if let Some(url) = named.url {
        let place = url.split(['?', '#']).next().unwrap_or_default();
        format!("{} {place}", named.method)
    } else if !named.writes.is_empty() {
        named.writes.into_iter().filter_map(|write| write.key).collect::<Vec<_>>().join(", ")
    } else {
        named.path.or(named.key).or(named.name).unwrap_or_default()
    };
    about.chars().take(ABOUT).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
