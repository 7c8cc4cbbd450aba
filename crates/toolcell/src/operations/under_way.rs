//! The operations of one call, while it waits for them.
//!
//! Invariant: what is cancelled, or left when the call ends, is not heard of again. A request is broken off; what a disk was told to
//! do is waited for, so that nothing happens after the run that asked for it. A function of the host is the host's: it goes on, and
//! nobody waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::runtime::Handle;
use toolcell_host::{Ended, Json, Left, Operation, OperationFailure, OperationsOfCall, Rest as Rested, Until, Waited};

use super::Given;
use super::failure::{Result, nothing_done, payload};
use super::fetch::{self, Rest};
use super::inbox::{Came, Inbox};
use super::pending::{Pending, Ticketed, moment_of, time_of};
use super::plan::{self, Choice, Held};
use super::tools::{self, Call};
use super::{files, pairs};
use crate::run::Called;

pub(super) struct UnderWay<'a> {
    given: &'a Given<'a>,
    inbox: Arc<Inbox>,
    /// What has not ended yet.
    flying: BTreeMap<u32, Flight>,
    /// Requests, and the answers whose bodies are not read to their end.
    rests: BTreeMap<u32, Rest>,
    /// Tools that are to be called, in order.
    calls: VecDeque<(u32, Call)>,
    /// What nobody has decided about.
    held: Vec<(Held, Operation)>,
    /// What somebody decides about later: the run falls asleep.
    later: Vec<Operation>,
    /// Functions of the host that answer later.
    tickets: Vec<Ticketed>,
    /// Whether the run may fall asleep while it waits now.
    nap: Nap,
    /// Ends when the last of what is done aside has ended.
    aside: (Sender<()>, Receiver<()>),
}

/// Whether a run may fall asleep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nap {
    Allowed,
    No,
}

enum Flight {
    /// It is due then.
    Timer(Instant),
    /// It is done elsewhere, and comes in when it has ended.
    Elsewhere,
}

impl<'a> UnderWay<'a> {
    pub(super) fn new(given: &'a Given<'a>) -> Self {
        let (flying, rests) = (BTreeMap::new(), BTreeMap::new());
        let (calls, held, later, tickets) = (VecDeque::new(), Vec::new(), Vec::new(), Vec::new());
        let (inbox, nap) = (Arc::default(), Nap::No);
        let mut new = Self { given, inbox, flying, rests, calls, held, later, tickets, nap, aside: channel() };
        new.wake();
        new
    }

    /// Goes on to wait for what the run waited for when it fell asleep.
    fn wake(&mut self) {
        let Pending { held, tickets, timers, answered } = std::mem::take(&mut *self.given.pending());
        let mut known: Vec<(Operation, bool)> = held.iter().map(|operation| (operation.clone(), false)).collect();
        let begun = tickets.iter().chain(answered.iter().map(|(ticketed, _)| ticketed));
        known.extend(begun.map(|ticketed| (ticketed.operation(), true)));
        known.sort_unstable_by_key(|(operation, _)| operation.id);
        for (operation, is_begun) in known {
            self.flying.insert(operation.id, Flight::Elsewhere);
            self.given.ledger.asked(&operation);
            if is_begun {
                self.given.ledger.begun(operation.id);
            }
        }
        let now = self.given.toolbox.now();
        let timers = timers.into_iter().map(|(id, due)| (id, Flight::Timer(moment_of(due, now))));
        self.flying.extend(timers);
        self.held = held.into_iter().map(|operation| (Held::of(&self.given.name, &operation), operation)).collect();
        self.tickets = tickets;
        for (_, ended) in answered {
            self.inbox.put(ended);
        }
    }

    /// Lays down what the run waits for while it sleeps.
    fn lay_down(&mut self) {
        let now = self.given.toolbox.now();
        let timers = self.flying.iter().filter_map(|(id, flight)| match flight {
            Flight::Timer(due) => Some((*id, time_of(*due, now))),
            Flight::Elsewhere => None,
        });
        let timers = timers.collect();
        let (mut held, mut tickets) = (std::mem::take(&mut self.later), std::mem::take(&mut self.tickets));
        held.sort_unstable_by_key(|operation| operation.id);
        tickets.sort_unstable_by_key(|ticketed| ticketed.id);
        *self.given.pending() = Pending { held, tickets, timers, answered: Vec::new() };
    }

    /// Begins an operation, or holds it.
    fn begin_one(&mut self, operation: Operation) {
        let id = operation.id;
        if self.given.options.plan.is_some() && self.is_held(&operation) {
            self.flying.insert(id, Flight::Elsewhere);
            self.held.push((Held::of(&self.given.name, &operation), operation));
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
    fn decide(&mut self, until: &Until) {
        let Some(plan) = &self.given.options.plan else { return };
        let (held, operations): (Vec<Held>, Vec<Operation>) = std::mem::take(&mut self.held).into_iter().unzip();
        let asked = Instant::now();
        let chosen = plan.choose(&held);
        until.extend(asked.elapsed());
        for (at, (held, operation)) in held.iter().zip(operations).enumerate() {
            match chosen.get(at).copied().unwrap_or(Choice::Refuse) {
                Choice::Do => self.do_one(operation),
                Choice::Later if self.nap == Nap::Allowed => self.later.push(operation),
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
                self.do_aside(id, move || work.done(&space))
            }
            kind if kind.starts_with("files.") => {
                let folders = self.given.files.clone().ok_or_else(|| ungranted(&operation))?;
                let work = files::read(operation)?;
                self.do_aside(id, move || work.done(&folders))
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
    fn do_aside(&self, id: u32, work: impl FnOnce() -> Result + Send + 'static) -> Result<Flight> {
        self.come_aside(move || Came::Ended(Ended { id, result: work() }))
    }

    fn come_aside(&self, work: impl FnOnce() -> Came + Send + 'static) -> Result<Flight> {
        let (inbox, here) = (Arc::clone(&self.inbox), self.aside.0.clone());
        self.background()?.spawn_blocking(move || {
            inbox.lay(work());
            drop(here);
        });
        Ok(Flight::Elsewhere)
    }

    /// What has come in, of what somebody still waits for.
    fn arrived(&mut self) -> Vec<Ended> {
        let mut ended = Vec::new();
        for came in self.inbox.take() {
            match came {
                Came::Ended(one) if self.flying.remove(&one.id).is_some() => ended.push(one),
                Came::Later(ticketed) if self.flying.contains_key(&ticketed.id) => match self.nap {
                    Nap::Allowed => self.tickets.push(ticketed),
                    Nap::No => {
                        self.flying.remove(&ticketed.id);
                        ended.push(Ended { id: ticketed.id, result: Err(tools::too_late(&ticketed.function)) });
                    }
                },
                Came::Ended(_) | Came::Later(_) => {}
            }
        }
        for Ended { id, result } in &ended {
            match result {
                Ok(_) => self.given.ledger.succeeded(*id),
                Err(failure) => {
                    self.rests.remove(id);
                    self.given.ledger.failed(*id, failure);
                }
            }
        }
        ended
    }

    /// Whether nothing is under way but timers and what somebody has to decide about, or to answer: then the tool gets no farther
    /// without.
    fn rest_waits_for_held(&self) -> bool {
        let timers = self.flying.values().filter(|flight| matches!(flight, Flight::Timer(_))).count();
        self.flying.len() - timers == self.held.len() + self.later.len() + self.tickets.len()
    }

    /// The timer that is due first.
    fn first_timer(&self) -> Option<(Instant, u32)> {
        let timers = self.flying.iter().filter_map(|(id, flight)| match flight {
            Flight::Timer(due) => Some((*due, *id)),
            Flight::Elsewhere => None,
        });
        timers.min()
    }
}

impl OperationsOfCall for UnderWay<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        for operation in started {
            if !matches!(operation.kind.as_str(), "timer" | "fetch.read") {
                self.given.ledger.asked(&operation);
            }
            self.begin_one(operation);
        }
        for id in cancelled {
            self.rests.remove(id);
            self.calls.retain(|(call, _)| call != id);
            self.held.retain(|(_, operation)| operation.id != *id);
            self.later.retain(|operation| operation.id != *id);
            self.tickets.retain(|ticketed| ticketed.id != *id);
            self.flying.remove(id);
        }
    }

    fn wait(&mut self, left: &Left<'_>) -> Waited {
        self.nap = Nap::No;
        match self.rest(left) {
            Rested::Waited(waited) => waited,
            // Nobody who stays awake gets here.
            Rested::Sleep { .. } => Waited::in_vain(),
        }
    }

    fn wait_or_sleep(&mut self, left: &Left<'_>) -> Rested {
        self.nap = Nap::Allowed;
        self.rest(left)
    }
}

impl UnderWay<'_> {
    fn rest(&mut self, left: &Left<'_>) -> Rested {
        let until = left.until;
        let mut took = Duration::ZERO;
        loop {
            let ended = self.arrived();
            if !ended.is_empty() {
                return Rested::Waited(Waited { ended, took, fuel: 0 });
            }
            let timer = self.first_timer();
            if let Some((due, id)) = timer
                && due <= Instant::now()
            {
                // One at a time, so that what a callback does is seen by the next one, as in a browser.
                self.flying.remove(&id);
                let ended = vec![Ended { id, result: Ok(Json::NULL.into()) }];
                return Rested::Waited(Waited { ended, took, fuel: 0 });
            }
            if self.flying.is_empty() || until.is_over() {
                return Rested::Waited(Waited::in_vain());
            }
            if let Some((id, call)) = self.calls.pop_front() {
                self.given.ledger.begun(id);
                let Called { result, fuel, waited } = self.given.call(call, left);
                self.inbox.put(Ended { id, result });
                return Rested::Waited(Waited { ended: self.arrived(), took: took + waited, fuel });
            }
            if self.rest_waits_for_held() && !self.held.is_empty() {
                self.decide(until);
                continue;
            }
            if self.rest_waits_for_held() && !(self.later.is_empty() && self.tickets.is_empty()) {
                self.lay_down();
                return Rested::Sleep { took };
            }
            let before = Instant::now();
            until.wait(self.inbox.bell(), timer.map(|(due, _)| due));
            took += before.elapsed();
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.rests.clear();
        // Whoever is done aside holds an end of this; it is over when all of them let go.
        let (here, all) = std::mem::replace(&mut self.aside, channel());
        drop(here);
        let _ = all.recv();
        self.arrived();
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
