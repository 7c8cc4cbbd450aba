//! What a tool in a worker has of the world: it asks the host, through the pipe.
//!
//! Invariant: nothing is done here. Whatever the host answers is handed on as it is.

use std::sync::Arc;
use std::time::Duration;

use toolcell_host::{
    CancelToken, Grant, Left, Operation, Operations, OperationsOfCall, PartialSink, RealClock, Rest, Run, Waited,
    WhenFull,
};

use crate::pipe::Patient;
use crate::serve::{Link, leave};
use crate::wire::{Asked, Begun, Rested, Said, Terms};

/// What one call is granted.
pub(crate) struct Granted {
    asking: Asking,
    cancel: CancelToken,
    clock: Option<RealClock>,
    partial: Option<PartialSink>,
}

/// The operations of a call, which the host does.
struct Asking {
    link: Arc<Link>,
    grants: Vec<Grant>,
}

impl Granted {
    pub(crate) fn new(link: &Arc<Link>, terms: &Terms<'_>) -> Self {
        let clock = || {
            let link = Arc::clone(link);
            Arc::new(move || now(&link)) as RealClock
        };
        let partial = || {
            let link = Arc::clone(link);
            Arc::new(move |json: &str| link.say(&Said::Partial(json.to_owned()))) as PartialSink
        };
        if terms.cancelled {
            link.end_call();
        }
        let looking = Arc::clone(link);
        Self {
            asking: Asking { link: Arc::clone(link), grants: terms.grants.clone() },
            cancel: CancelToken::looking(move || looking.is_over()),
            clock: terms.real_clock.then(clock),
            partial: terms.partial.then(partial),
        }
    }
}

/// The run of a call on these terms.
pub(crate) fn run<'a>(granted: &'a Granted, terms: &'a Terms<'_>) -> Run<'a> {
    Run {
        tool: terms.tool,
        call_id: terms.call_id,
        seed: terms.seed,
        started_at: terms.started_at,
        clock: granted.clock.as_ref(),
        operations: &granted.asking,
        cancel: Some(&granted.cancel),
        partial: granted.partial.as_ref(),
        when_full: WhenFull::Refuse,
        time: Some(terms.time),
        profile: None,
        fuel_covers: terms.fuel_covers,
    }
}

/// What time it is, as the host says.
fn now(link: &Link) -> Duration {
    link.say(&Said::Looks);
    loop {
        match link.pipe().hear::<Asked<'_>>(usize::MAX, |_| Patient::Yes) {
            Ok(Asked::Now(now)) => return now,
            Ok(Asked::Cancel) => link.end_call(),
            _ => leave(),
        }
    }
}

impl Operations for Asking {
    fn grants(&self) -> Vec<Grant> {
        self.grants.clone()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(UnderWay { link: &self.link, begun: None })
    }
}

struct UnderWay<'a> {
    link: &'a Link,
    /// What the host was not told of yet.
    begun: Option<Begun>,
}

impl OperationsOfCall for UnderWay<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        let begun = self.begun.get_or_insert_default();
        begun.started.extend(started);
        begun.cancelled.extend_from_slice(cancelled);
    }

    fn wait(&mut self, left: &Left<'_>) -> Waited {
        match self.rest(left) {
            Rest::Waited(waited) => waited,
            Rest::Sleep { .. } => Waited::in_vain(),
        }
    }

    fn wait_or_sleep(&mut self, left: &Left<'_>) -> Rest {
        self.rest(left)
    }
}

impl UnderWay<'_> {
    fn rest(&mut self, left: &Left<'_>) -> Rest {
        let begun = self.begun.take();
        self.link.say(&Said::Waits { begun, fuel: left.fuel, memory: left.memory });
        loop {
            match self.link.pipe().hear::<Asked<'_>>(usize::MAX, |_| Patient::Yes) {
                Ok(Asked::Rested(Rested { rest, left: time, cancelled })) => {
                    left.until.ends_in(time);
                    if cancelled {
                        self.link.end_call();
                    }
                    return rest;
                }
                Ok(Asked::Cancel) => self.link.end_call(),
                _ => leave(),
            }
        }
    }
}
