//! Where operations come in when they have ended, from whatever thread.

use std::sync::{Mutex, PoisonError};

use toolcell_host::{Bell, Ended};

/// What has ended and was not handed to the tool yet.
#[derive(Default)]
pub(super) struct Inbox {
    ended: Mutex<Vec<Ended>>,
    bell: Bell,
}

impl Inbox {
    pub(super) fn put(&self, ended: Ended) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
        self.bell.ring();
    }

    pub(super) fn take(&self) -> Vec<Ended> {
        std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rings when something comes in.
    pub(super) fn bell(&self) -> &Bell {
        &self.bell
    }
}
