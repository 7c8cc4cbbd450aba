//! What a caller of the sandbox can get wrong, and what can be wrong with the machine or with us.
//!
//! Invariant: nothing that a tool does is in here.

use crate::tunables::Kind;

/// No sandbox could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An image in this binary is not the one it was built with.
    #[error("the {} image of the guest is corrupted: its blake3 is {actual}, {expected} was built in", kind.name())]
    CorruptedImage {
        /// Which image.
        kind: Kind,
        /// The digest that was built in.
        expected: &'static str,
        /// The digest of the bytes that are there.
        actual: String,
    },
    /// The machine gives none of the images what it needs.
    #[error("no image of the guest works on this machine: {}", reasons(tried))]
    NoImage {
        /// What was tried, in order, and why it failed.
        tried: Vec<(Kind, String)>,
    },
    /// The guest speaks another version of the protocol.
    #[error("the guest speaks version {guest} of the protocol, this host speaks version {host}")]
    Version {
        /// The guest's version.
        guest: u32,
        /// The host's version.
        host: u32,
    },
    /// Calls were to run in worker processes, and none came up.
    #[error("calls cannot be jailed: {reason}")]
    NoWorker {
        /// What went wrong.
        reason: String,
        /// What to do next.
        hint: &'static str,
    },
    /// A sandbox without slots could not run anything.
    #[error("a sandbox needs at least one slot")]
    NoSlots,
}

impl StartError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::CorruptedImage { .. } | Self::Version { .. } => "integrity",
            Self::NoImage { .. } => "no-image",
            Self::NoWorker { .. } => "no-worker",
            Self::NoSlots => "limit-invalid",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::CorruptedImage { .. } | Self::Version { .. } => "install toolcell again",
            Self::NoImage { .. } => "raise the limit on address space (`ulimit -v`) to 256 MiB or more",
            Self::NoWorker { hint, .. } => hint,
            Self::NoSlots => "give it one slot or more",
        }
    }
}

fn reasons(tried: &[(Kind, String)]) -> String {
    tried.iter().map(|(kind, reason)| format!("{}: {reason}", kind.name())).collect::<Vec<_>>().join("; ")
}

/// A call did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A limit is zero, or beyond what the sandbox allows.
    #[error("{limit} is {actual}, it must be {least} to {most}")]
    LimitInvalid {
        /// Which limit, as options name it.
        limit: &'static str,
        /// The value that was given.
        actual: u64,
        /// The smallest value allowed.
        least: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// All slots are taken, and the caller did not want to wait.
    #[error("all {slots} slots of the sandbox are in use")]
    Busy {
        /// How many there are.
        slots: usize,
    },
    /// The machine did not give the instance what it needs.
    #[error("no instance could be made: {0}")]
    NoInstance(String),
    /// A profile was asked for where calls cannot lend their memory: in a worker process.
    #[error("a call in the jail cannot be profiled")]
    Unprofiled,
}

impl CallError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::LimitInvalid { .. } => "limit-invalid",
            Self::Busy { .. } => "busy",
            Self::NoInstance(_) => "no-instance",
            Self::Unprofiled => "profile-in-jail",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::LimitInvalid { .. } => "choose a limit in that range",
            Self::Busy { .. } => "wait for a slot, or make the sandbox with more",
            Self::NoInstance(_) => "give the process more memory or address space, or the sandbox fewer slots",
            Self::Unprofiled => "profile it without --jail (TOOLCELL_JAIL): it burns the same fuel there",
        }
    }
}
