//! The operations of one call, while it waits for them.
//!
//! Invariant: what is cancelled, or left when the call ends, is not heard of again. A request is broken off; what a disk was told to
//! do is waited for, so that nothing happens after the run that asked for it. A function of the host is the host's: it goes on, and
//! nobody waits for it.

mod launch;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use toolcell_host::{Effects, Ended, Json, Left, Operation, OperationsOfCall, Rest as Rested, Waited};

use super::fetch::Rest;
use super::inbox::{Came, Inbox};
use super::pending::{Pending, Ticketed, moment_of, time_of, timer_until};
use super::plan::Place;
use super::tools::{self, Call};
use super::{Given, Ledger};
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
    /// What nobody has decided about, and its place in the plan if it has one already.
    held: Vec<(Option<Place>, Operation)>,
    /// What somebody decides about later: the run falls asleep.
    later: Vec<(Place, Operation)>,
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
        let Pending { held, places, tickets, timers, answered } = std::mem::take(&mut *self.given.pending());
        let mut known: Vec<(Operation, Option<Flight>)> =
            held.iter().map(|operation| (operation.clone(), None)).collect();
        let begun = tickets.iter().chain(answered.iter().map(|(ticketed, _)| ticketed));
        known.extend(begun.map(|ticketed| (ticketed.operation(), Some(Flight::Elsewhere))));
        let now = self.given.toolbox.now();
        for (id, due) in timers {
            let due = moment_of(due, now);
            known.push((timer_until(id, due), Some(Flight::Timer(due))));
        }
        known.sort_unstable_by_key(|(operation, _)| operation.id);
        for (operation, begun) in known {
            self.given.ledger.asked(&operation);
            if begun.is_some() {
                self.given.ledger.begun(operation.id);
            }
            self.flying.insert(operation.id, begun.unwrap_or(Flight::Elsewhere));
        }
        let mut places = places.into_iter();
        self.held = held.into_iter().map(|operation| (places.next(), operation)).collect();
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
        held.sort_unstable_by_key(|(_, operation)| operation.id);
        tickets.sort_unstable_by_key(|ticketed| ticketed.id);
        let (places, held) = held.into_iter().unzip();
        *self.given.pending() = Pending { held, places, tickets, timers, answered: Vec::new() };
    }

    /// What has come in, of what somebody still waits for.
    fn arrived(&mut self) -> Vec<Ended> {
        let mut all = Vec::new();
        for came in self.inbox.take() {
            let ended = match came {
                Came::Later(ticketed) => {
                    all.extend(self.later(ticketed));
                    continue;
                }
                Came::Ended(ended) | Came::Piece(ended, _) | Came::Reached { ended, .. }
                    if self.flying.remove(&ended.id).is_none() =>
                {
                    continue;
                }
                Came::Ended(ended) => self.noted(ended, Ledger::succeeded),
                Came::Piece(ended, piece) => {
                    if let Err(failure) = &ended.result {
                        self.given.ledger.broke_off(piece.fetch, failure);
                    } else {
                        self.given.ledger.received(&piece);
                    }
                    self.noted(ended, Ledger::succeeded)
                }
                Came::Reached { ended, effects, changed } => {
                    self.noted(ended, |ledger, id| ledger.came_to(id, effects, changed))
                }
            };
            all.push(ended);
        }
        all
    }

    /// Notes how an operation ended.
    fn noted(&mut self, ended: Ended, well: impl FnOnce(&Ledger, u32)) -> Ended {
        let Ended { id, result } = &ended;
        match result {
            Ok(_) => well(&self.given.ledger, *id),
            Err(failure) => {
                self.rests.remove(id);
                self.given.ledger.failed(*id, failure);
            }
        }
        ended
    }

    /// A function of the host was begun: the run waits for it if it may sleep, and cannot otherwise.
    fn later(&mut self, ticketed: Ticketed) -> Option<Ended> {
        if !self.flying.contains_key(&ticketed.id) {
            return None;
        }
        if self.nap == Nap::Allowed {
            self.tickets.push(ticketed);
            return None;
        }
        self.flying.remove(&ticketed.id);
        let ended = Ended { id: ticketed.id, result: Err(tools::too_late(&ticketed.function)) };
        Some(self.noted(ended, Ledger::succeeded))
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
            // What is read of an answer is noted with its request.
            if operation.kind != "fetch.read" {
                self.given.ledger.asked(&operation);
            }
            self.begin_one(operation);
        }
        for id in cancelled {
            self.rests.remove(id);
            self.calls.retain(|(call, _)| call != id);
            self.held.retain(|(_, operation)| operation.id != *id);
            self.later.retain(|(_, operation)| operation.id != *id);
            self.tickets.retain(|ticketed| ticketed.id != *id);
            self.flying.remove(id);
            self.given.ledger.given_up(*id);
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
                self.given.ledger.succeeded(id);
                let ended = vec![Ended { id, result: Ok(Json::NULL.into()) }];
                return Rested::Waited(Waited { ended, took, fuel: 0 });
            }
            if self.flying.is_empty() || until.is_over() {
                return Rested::Waited(Waited::in_vain());
            }
            if let Some((id, call)) = self.calls.pop_front() {
                self.given.ledger.begun(id);
                let Called { result, fuel, waited, changed } = self.given.call(call, left);
                let ended = Ended { id, result };
                self.inbox.lay(Came::Reached { ended, effects: Effects::Committed, changed });
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
