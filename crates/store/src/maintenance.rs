//! Maintenance: garbage collection, checks and repairs.
//!
//! Reading order: [`gc`] removes what nothing references; [`fsck`](mod@fsck) checks a store, with
//! [`index_check`] for the index, and repairs it, with [`rebuild`] for an index that is lost.
//!
//! Invariant: maintenance deletes only what was deleted or recorded long ago. Damage is moved to the
//! quarantine.

mod fsck;
pub(crate) mod gc;
mod index_check;
mod rebuild;
mod refusals;
mod report;

pub use fsck::{RepairMode, fsck, repair_adopting};
pub use gc::{GcMode, GcReport};
pub use report::{FsckProblem, FsckReport, UnknownStep};

use crate::db::Db;

/// Garbage collection of an open store.
pub struct Maintenance<'a> {
    db: &'a Db,
}

impl<'a> Maintenance<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }
}
