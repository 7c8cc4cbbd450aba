//! Errors of the caller, of the machine, and of Toolcell itself, about one call.
//!
//! Invariant: nothing that a tool does is reported here. A bug of Toolcell is a variant of its own,
//! whose hint blames neither the caller nor the machine.

use toolcell_i18n::Message;
use toolcell_protocol::BudgetError;

/// An error that prevents a call from starting.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum CallError {
    /// A limit is zero, or outside the range that the sandbox allows.
    #[error("{limit} is {actual}, it must be {least} to {most}")]
    #[code(LimitInvalid)]
    #[hint("choose a limit in that range")]
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
    #[code(Busy)]
    #[hint("wait for a free slot, or configure more slots")]
    Busy {
        /// The number of slots.
        slots: usize,
    },
    /// The machine could not provide the memory or the address space for an instance.
    #[error("no instance could be created: {0}")]
    #[code(NoInstance)]
    #[hint("give the process more memory or address space, or the sandbox fewer slots")]
    NoInstance(Message),
    /// The system provides no random numbers for the seed of a call.
    #[error("the system provides no random numbers: {0}")]
    #[code(NoRandom)]
    #[hint("let the process read the system's random numbers (getrandom(2))")]
    NoRandom(String),
    /// The async runtime of the caller shut down before the call started.
    #[error("the async runtime shut down before the run started")]
    #[code(Cancelled)]
    #[hint("run the tool again in a runtime that lives until the run ends")]
    RuntimeShutDown,
    /// A part of Toolcell broke a rule that another part relies on.
    #[error("a bug in Toolcell: {detail}")]
    #[code(Bug)]
    #[hint("this is a bug in Toolcell; report it with this message")]
    Bug {
        /// The broken rule, or the error that cannot happen.
        detail: String,
    },
}

impl From<BudgetError> for CallError {
    fn from(BudgetError { limit, actual, least, most }: BudgetError) -> Self {
        Self::LimitInvalid { limit, actual, least, most }
    }
}

impl CallError {
    /// Returns the error for a broken rule of Toolcell itself.
    pub fn bug(detail: impl std::fmt::Display) -> Self {
        let detail = format!("{detail:#}");
        tracing::error!(detail, "a bug in Toolcell");
        Self::Bug { detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lack_of_memory_is_answered_with_more_memory() {
        let bug = CallError::bug("a frame is missing");
        assert_eq!((bug.code().as_str(), &*bug.to_string()), ("bug", "a bug in Toolcell: a frame is missing"));
        for error in [bug, CallError::NoRandom(String::new()), CallError::RuntimeShutDown] {
            assert!(!error.hint().contains("memory"), "{error}");
        }
        assert!(CallError::NoInstance(Message::verbatim(String::new())).hint().contains("memory"));
    }

    #[test]
    fn a_limit_outside_of_its_range_is_named_with_its_range() {
        let budget = toolcell_protocol::Budget { fuel: 0, ..toolcell_protocol::Budget::default() };
        let error = CallError::from(budget.check().unwrap_err());
        assert_eq!(
            (error.code().as_str(), &*error.to_string()),
            ("limit-invalid", "fuel is 0, it must be 1 to 1000000000000000")
        );
    }
}
