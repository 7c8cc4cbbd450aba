//! How operations are begun, once somebody lets them.
//!
//! Invariant: an operation is launched once, and what cannot be launched fails as if it had been.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::runtime::Handle;
use toolcell_host::{Ended, Operation, OperationFailure, Until};

use super::{Flight, Nap, UnderWay};
use crate::operations::failure::{Result, nothing_done, payload};
use crate::operations::inbox::Came;
use crate::operations::plan::{self, Choice, Held, Place};
use crate::operations::{fetch, files, pairs, tools};

impl UnderWay<'_> {
    /// Begins an operation, or holds it.
    pub(super) fn begin_one(&mut self, operation: Operation) {
        let id = operation.id;
        if self.given.plan.is_some() && self.is_held(&operation) {
            self.flying.insert(id, Flight::Elsewhere);
            self.held.push((None, operation));
            return;
        }
        self.do_one(operation);
    }

    /// Whether it waits until somebody has decided.
    fn is_held(&self, operation: &Operation) -> bool {
        let of_function = || {
            let call = tools::read(operation).ok()?;
            self.given.toolbox.functions.get(&call.name).map(|function| !function.only_reads())
        };
        plan::changes(operation) || operation.kind == "tools.call" && of_function().unwrap_or(false)
    }

    fn do_one(&mut self, operation: Operation) {
        let id = operation.id;
        if operation.kind != "tools.call" {
            self.given.ledger.begun(id);
        }
        match self.launch(operation) {
            Ok(flight) => drop(self.flying.insert(id, flight)),
            Err(failure) => self.fail(id, failure),
        }
    }

    fn fail(&mut self, id: u32, failure: OperationFailure) {
        self.flying.insert(id, Flight::Elsewhere);
        self.inbox.put(Ended { id, result: Err(failure) });
    }

    /// Has somebody decide about what is held. The time that they take is not the tool's.
    pub(super) fn decide(&mut self, until: &Until) {
        let (Some(planner), Some(chain)) = (&self.given.options.plan, &self.given.plan) else { return };
        let mut placed = std::mem::take(&mut self.held);
        let new: Vec<&Operation> =
            placed.iter().filter(|(place, _)| place.is_none()).map(|(_, operation)| operation).collect();
        let mut new = chain.extend(self.given.id, &new).into_iter();
        for (place, _) in placed.iter_mut().filter(|(place, _)| place.is_none()) {
            *place = new.next();
        }
        // Each of them has a place now.
        let placed: Vec<(Place, Operation)> =
            placed.into_iter().filter_map(|(place, operation)| Some((place?, operation))).collect();
        let tool = (self.given.id, &*self.given.name);
        let held: Vec<Held> = placed.iter().map(|(place, operation)| Held::at(*place, tool, operation)).collect();
        let asked = Instant::now();
        let chosen = planner.choose(&held);
        until.extend(asked.elapsed());
        for (at, (held, (place, operation))) in held.iter().zip(placed).enumerate() {
            match chosen.get(at).copied().unwrap_or(Choice::Refuse) {
                Choice::Do => self.do_one(operation),
                Choice::Later if self.nap == Nap::Allowed => self.later.push((place, operation)),
                Choice::Later | Choice::Refuse => self.fail(operation.id, plan::not_chosen(held)),
            }
        }
    }

    /// Launches an operation.
    fn launch(&mut self, operation: Operation) -> Result<Flight> {
        let id = operation.id;
        match operation.kind.as_str() {
            "timer" if self.given.may_wait() => timer(&operation).map(Flight::Timer),
            "fetch" => {
                let net = self.given.net.clone().ok_or_else(|| ungranted(&operation))?;
                let request = fetch::request(operation)?;
                let rest = fetch::start(&self.background()?, net, id, request, Arc::clone(&self.inbox));
                self.rests.insert(id, rest);
                Ok(Flight::Elsewhere)
            }
            "fetch.read" => {
                let of: fetch::Read = payload(&operation)?;
                let rest = self.rests.get(&of.fetch).filter(|rest| rest.wants(id));
                rest.map(|_| Flight::Elsewhere).ok_or_else(|| {
                    nothing_done(
                        "TypeError",
                        "operation-invalid",
                        "there is no such answer, it was read to its end, or the run slept since",
                    )
                })
            }
            "tools.call" => {
                let call = tools::read(&operation)?;
                self.given.may_call(&call)?;
                let Some(function) = self.given.toolbox.functions.get(&call.name).cloned() else {
                    self.calls.push_back((id, call));
                    return Ok(Flight::Elsewhere);
                };
                self.given.ledger.begun(id);
                if function.is_quick() {
                    self.inbox.lay(tools::called(id, &function, call));
                    return Ok(Flight::Elsewhere);
                }
                let inbox = Arc::clone(&self.inbox);
                self.background()?.spawn_blocking(move || inbox.lay(tools::called(id, &function, call)));
                Ok(Flight::Elsewhere)
            }
            kind if kind.starts_with("kv.") => {
                let space = self.given.space.clone().ok_or_else(|| ungranted(&operation))?;
                let work = pairs::read(&operation)?;
                self.come_aside(move || work.came(id, &space))
            }
            kind if kind.starts_with("files.") => {
                let folders = self.given.files.clone().ok_or_else(|| ungranted(&operation))?;
                let work = files::read(operation)?;
                self.come_aside(move || Came::Ended(Ended { id, result: work.done(&folders) }))
            }
            _ => Err(ungranted(&operation)),
        }
    }

    fn background(&self) -> Result<Handle> {
        self.given.background.handle().map_err(|error| {
            nothing_done("Error", "operation-failed", format!("nothing can be done in the background: {error}"))
        })
    }

    /// Does what a disk is told to do, on a thread of its own.
    fn come_aside(&self, work: impl FnOnce() -> Came + Send + 'static) -> Result<Flight> {
        let (inbox, here) = (Arc::clone(&self.inbox), self.aside.0.clone());
        self.background()?.spawn_blocking(move || {
            inbox.lay(work());
            drop(here);
        });
        Ok(Flight::Elsewhere)
    }
}

/// When a timer is due.
fn timer(operation: &Operation) -> Result<Instant> {
    #[derive(Deserialize)]
    struct Timer {
        ms: f64,
    }
    let Timer { ms } = payload(operation)?;
    let wait = Duration::try_from_secs_f64(ms / 1000.0).ok().and_then(|wait| Instant::now().checked_add(wait));
    wait.ok_or_else(|| {
        nothing_done("RangeError", "operation-invalid", format!("{ms} ms is no time that can be waited"))
    })
}

fn ungranted(operation: &Operation) -> OperationFailure {
    let message = format!("`{}` is not granted to this call", operation.kind);
    nothing_done("NotAllowedError", "operation-not-granted", message)
}
