//! Errors of the caller, of the machine, and of Toolcell itself.
//!
//! Invariant: nothing that a tool does is reported here.

use crate::engine_config::ImageKind;

/// An error that prevents a sandbox from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An image in this binary differs from the one it was built with.
    #[error("the {} image of the guest is corrupted: its BLAKE3 is {actual}, expected {expected}", kind.name())]
    CorruptedImage {
        /// The kind of the corrupted image.
        kind: ImageKind,
        /// The blake3 digest that was recorded at build time.
        expected: &'static str,
        /// The blake3 digest of the bytes in this binary.
        actual: String,
    },
    /// None of the images works on this machine.
    #[error("no image of the guest works on this machine: {}", reasons(tried))]
    NoImage {
        /// The images in the order in which they were tried, each with the reason for its failure.
        tried: Vec<(ImageKind, String)>,
    },
    /// The guest implements a different version of the protocol.
    #[error("the guest speaks version {guest} of the protocol, this host speaks version {host}")]
    Version {
        /// The guest's version.
        guest: u32,
        /// The host's version.
        host: u32,
    },
    /// Calls were configured to run in worker processes, and no worker started.
    #[error("no worker could be started: {reason}")]
    NoWorker {
        /// The reason for the failure, in words.
        reason: String,
        /// The next step for the user.
        hint: &'static str,
    },
    /// The sandbox was configured with zero slots.
    #[error("a sandbox needs at least one slot")]
    NoSlots,
}

impl StartError {
    /// Returns the stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::CorruptedImage { .. } | Self::Version { .. } => "integrity",
            Self::NoImage { .. } => "no-image",
            Self::NoWorker { .. } => "no-worker",
            Self::NoSlots => "limit-invalid",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::CorruptedImage { .. } | Self::Version { .. } => "install toolcell again",
            Self::NoImage { .. } => "raise the limit on address space (`ulimit -v`) to 256 MiB or more",
            Self::NoWorker { hint, .. } => hint,
            Self::NoSlots => "configure at least one slot",
        }
    }
}

fn reasons(tried: &[(ImageKind, String)]) -> String {
    tried.iter().map(|(kind, reason)| format!("{}: {reason}", kind.name())).collect::<Vec<_>>().join("; ")
}

/// An error that prevents a call from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A limit is zero, or outside the range that the sandbox allows.
    #[error("{limit} is {actual}, it must be {least} to {most}")]
    LimitInvalid {
        /// The name of the limit, as in the options.
        limit: &'static str,
        /// The value that was passed in.
        actual: u64,
        /// The smallest value allowed.
        least: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// All slots are in use, and the caller did not wait or waited until the deadline.
    #[error("all {slots} slots of the sandbox are in use")]
    Busy {
        /// The number of slots.
        slots: usize,
    },
    /// The machine could not provide the memory or the address space for an instance.
    #[error("no instance could be created: {0}")]
    NoInstance(String),
    /// A profile was requested for a call in a worker process, whose memory the host cannot read.
    #[error("a call in the jail cannot be profiled")]
    ProfileInJail,
}

impl CallError {
    /// Returns the stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::LimitInvalid { .. } => "limit-invalid",
            Self::Busy { .. } => "busy",
            Self::NoInstance(_) => "no-instance",
            Self::ProfileInJail => "profile-in-jail",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::LimitInvalid { .. } => "choose a limit in that range",
            Self::Busy { .. } => "wait for a free slot, or configure more slots",
            Self::NoInstance(_) => "give the process more memory or address space, or the sandbox fewer slots",
            Self::ProfileInJail => "profile it without --jail (TOOLCELL_JAIL); it uses the same fuel there",
        }
    }
}
