//! The failures that an acknowledged change survives.
//!
//! Invariant: whatever the durability, an acknowledged change survives a crash of the process.

/// Whether acknowledged changes survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// They survive a power failure: one disk sync per transaction.
    #[default]
    Synced,
    /// They survive any crash of the process, but not of the machine.
    Unsynced,
}
