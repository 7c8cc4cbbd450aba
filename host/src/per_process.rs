//! State that belongs to a process, and not to one that is forked from it: threads, and files of
//! `/proc/self`.
//!
//! Invariant: a forked process never waits for a thread of its parent, which it does not have.

use std::process::id;
use std::sync::OnceLock;

/// A value for this process, and another one for each process that is forked from it.
pub(crate) struct PerProcess<T>(OnceLock<Generation<T>>);

struct Generation<T> {
    owner: u32,
    value: T,
    /// The value of the process that was forked from the owner, in the memory of that process.
    child: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the value of this process, which is created if there is none.
    pub(crate) fn get_or_init(&self, init: impl Fn() -> T) -> &T {
        let process = id();
        let create = || Generation { owner: process, value: init(), child: OnceLock::new() };
        let mut generation = self.0.get_or_init(create);
        while generation.owner != process {
            generation = generation.child.get_or_init(|| Box::new(create()));
        }
        &generation.value
    }
}
