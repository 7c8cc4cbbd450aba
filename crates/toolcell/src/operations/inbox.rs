//! Where operations come in when they have ended, from whatever thread.

use std::sync::{Mutex, PoisonError};

use toolcell_host::{Bell, Effects, Ended};

use super::done::Piece;
use super::pending::Ticketed;

/// What has come in and was not looked at yet.
#[derive(Default)]
pub(super) struct Inbox {
    came: Mutex<Vec<Came>>,
    bell: Bell,
}

/// What comes in.
pub(super) enum Came {
    /// It ended.
    Ended(Ended),
    /// It ended, and with it the body of an answer got so much longer.
    Piece(Ended, Piece),
    /// It ended, and if well, it got so far, and changed the world so far.
    Reached { ended: Ended, effects: Effects, changed: Effects },
    /// A function of the host was begun, and answers later.
    Later(Ticketed),
}

impl Inbox {
    pub(super) fn put(&self, ended: Ended) {
        self.lay(Came::Ended(ended));
    }

    pub(super) fn lay(&self, came: Came) {
        self.came.lock().unwrap_or_else(PoisonError::into_inner).push(came);
        self.bell.ring();
    }

    pub(super) fn take(&self) -> Vec<Came> {
        std::mem::take(&mut *self.came.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rings when something comes in.
    pub(super) fn bell(&self) -> &Bell {
        &self.bell
    }
}
