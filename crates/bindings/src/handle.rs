//! The session as a native module holds it: open, in use by some threads, closed.
//!
//! Invariant: after [`SessionHandle::close`] no call is in flight, and nothing of the toolbox is
//! left. A process that was forked neither uses nor ends what belongs to its parent.

use std::cell::Cell;
use std::collections::HashMap;
use std::mem::forget;
use std::process::id;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use toolcell::CancelToken;
use toolcell_error::ErrorCode;

use crate::failure::Failure;
use crate::host::Host;
use crate::session::Session;

thread_local! {
    /// The number of calls that this thread is in: a function of the host may call the toolbox.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A session that may be shared by threads, and closed.
pub struct SessionHandle {
    state: Mutex<State>,
    ended: Condvar,
    /// The process that opened the session.
    owner: u32,
}

struct State {
    session: Option<Arc<Session>>,
    /// The tokens of the calls in flight, by number.
    calls: HashMap<u64, CancelToken>,
    next: u64,
}

impl SessionHandle {
    /// Opens a session: see [`Session::open`].
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open(options: &str, host: &Arc<dyn Host>) -> Result<Self, Failure> {
        let session = Some(Arc::new(Session::open(options, host)?));
        let state = Mutex::new(State { session, calls: HashMap::new(), next: 0 });
        Ok(Self { state, ended: Condvar::new(), owner: id() })
    }

    /// Calls the session. `cancel` ends the call when the session is closed.
    ///
    /// # Errors
    /// `toolbox-closed`: the session is closed, or belongs to another process; and those of the call.
    pub fn with<T>(
        &self,
        cancel: &CancelToken,
        work: impl FnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (number, session) = self.enter(cancel)?;
        let _leave = Leave { handle: self, number };
        work(&session)
    }

    /// Cancels all calls, waits until they have ended, and closes the session. Closing again does
    /// nothing.
    pub fn close(&self) {
        if self.owner != id() {
            return;
        }
        let mut state = self.lock();
        let session = state.session.take();
        for cancel in state.calls.values() {
            cancel.cancel();
        }
        // A function of the host that closes the session is part of a call itself.
        if DEPTH.get() == 0 {
            while !state.calls.is_empty() {
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        drop(state);
        drop(session);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, cancel: &CancelToken) -> Result<(u64, Arc<Session>), Failure> {
        if self.owner != id() {
            return Err(Failure::refused(
                ErrorCode::ToolboxClosed,
                format!("the toolbox was opened by process {}, from which this one was forked", self.owner),
                "open a toolbox in each process, after the fork",
            ));
        }
        let mut state = self.lock();
        let Some(session) = state.session.clone() else { return Err(Failure::closed()) };
        let number = state.next;
        state.next += 1;
        state.calls.insert(number, cancel.clone());
        DEPTH.set(DEPTH.get() + 1);
        Ok((number, session))
    }
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        if self.owner == id() {
            return;
        }
        // The workers and the files are the parent's; one of its threads may have held the lock at the fork.
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = state.session.take() {
            forget(session);
        }
    }
}

/// Ends a call, on every path.
struct Leave<'a> {
    handle: &'a SessionHandle,
    number: u64,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
        let mut state = self.handle.lock();
        state.calls.remove(&self.number);
        if state.calls.is_empty() {
            self.handle.ended.notify_all();
        }
    }
}
