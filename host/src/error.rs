//! Errors of the caller, of the machine, and of Toolcell itself, about one call.
//!
//! Invariant: nothing that a tool does is reported here.

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
