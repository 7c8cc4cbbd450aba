//! The limits of a call, and their ceilings.
//!
//! Invariant: a [`Budget`] created here is within its ceilings and passes [`Budget::check`]; a
//! requested limit is never clamped silently.

use std::time::Duration;

use toolcell_i18n::{Message, message, msgid};
use toolcell_protocol::Budget;

use crate::provenance::{Effective, Origin, Sourced};

/// The default maximum number of named tools.
pub(super) const DEFAULT_MAX_TOOLS: u64 = 10_000;
/// The largest number of named tools that a policy can allow.
pub(super) const MAX_TOOLS_LIMIT: u64 = 1_000_000;

/// A limit of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Fuel, about one unit per Wasm instruction.
    Fuel,
    /// Wall-clock time in milliseconds.
    TimeoutMs,
    /// Memory in MiB.
    MemoryMb,
    /// Size of the result in bytes.
    OutputBytes,
    /// Size of the console text in bytes.
    ConsoleBytes,
    /// Number of host calls that may be pending at once.
    Operations,
}

impl Limit {
    /// All limits, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Fuel, Self::TimeoutMs, Self::MemoryMb, Self::OutputBytes, Self::ConsoleBytes, Self::Operations];

    /// Returns the key in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fuel => "fuel",
            Self::TimeoutMs => "timeout_ms",
            Self::MemoryMb => "memory_mb",
            Self::OutputBytes => "output_bytes",
            Self::ConsoleBytes => "console_bytes",
            Self::Operations => "operations",
        }
    }

    /// Returns the smallest value that the sandbox accepts.
    #[must_use]
    pub const fn min_value(self) -> u64 {
        match self {
            Self::MemoryMb => 8,
            _ => 1,
        }
    }

    /// Returns the largest value that the sandbox accepts.
    #[must_use]
    pub const fn max_value(self) -> u64 {
        match self {
            Self::Fuel => 1_000_000_000_000_000,
            Self::TimeoutMs => 600_000,
            Self::MemoryMb => 1 << 10,
            Self::OutputBytes => 64 << 20,
            Self::ConsoleBytes => 16 << 20,
            Self::Operations => 10_000,
        }
    }

    pub(super) fn value_in(self, budget: &Budget) -> u64 {
        match self {
            Self::Fuel => budget.fuel,
            Self::TimeoutMs => u64::try_from(budget.deadline.as_millis()).unwrap_or(u64::MAX),
            Self::MemoryMb => (budget.memory >> 20) as u64,
            Self::OutputBytes => budget.output as u64,
            Self::ConsoleBytes => budget.console as u64,
            Self::Operations => u64::from(budget.operations),
        }
    }

    /// Returns the value in a budget, rounded up to whole units.
    pub(super) fn value_rounded_up(self, budget: &Budget) -> u64 {
        if self == Self::MemoryMb { (budget.memory as u64).div_ceil(1 << 20) } else { self.value_in(budget) }
    }
}

/// A map from limits to values.
#[derive(Debug, Clone, Default)]
pub(super) struct PerLimit<T>([T; 6]);

impl<T> PerLimit<T> {
    pub(super) fn from_fn(value: impl Fn(Limit) -> T) -> Self {
        Self(Limit::ALL.map(value))
    }

    pub(super) const fn get(&self, limit: Limit) -> &T {
        &self.0[limit as usize]
    }

    pub(super) const fn get_mut(&mut self, limit: Limit) -> &mut T {
        &mut self.0[limit as usize]
    }
}

/// The limits that a caller requests; the policy's limit applies where a field is `None`.
///
/// # Examples
/// ```
/// use toolcell_policy::{Policy, LimitOverrides};
///
/// let budget = Policy::default().budget(&LimitOverrides { timeout_ms: Some(5_000), ..LimitOverrides::default() })?;
/// assert_eq!(budget.deadline.as_secs(), 5);
/// # Ok::<(), toolcell_policy::LimitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitOverrides {
    /// Fuel, about one unit per Wasm instruction.
    pub fuel: Option<u64>,
    /// Wall-clock time in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// Size of the result in bytes.
    pub output_bytes: Option<u64>,
    /// Size of the console text in bytes.
    pub console_bytes: Option<u64>,
    /// Number of host calls that may be pending at once.
    pub operations: Option<u64>,
}

impl LimitOverrides {
    pub(super) const fn get(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Fuel => self.fuel,
            Limit::TimeoutMs => self.timeout_ms,
            Limit::MemoryMb => self.memory_mb,
            Limit::OutputBytes => self.output_bytes,
            Limit::ConsoleBytes => self.console_bytes,
            Limit::Operations => self.operations,
        }
    }
}

/// A requested limit is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("{}", self.to_message())]
#[coded(no_hint)]
#[code(LimitInvalid)]
pub struct LimitError {
    /// The limit.
    pub limit: Limit,
    /// The requested value.
    pub actual: u64,
    /// The minimum.
    pub least: u64,
    /// The maximum.
    pub most: u64,
    /// The source of the maximum.
    pub ceiling: Origin,
}

impl LimitError {
    fn to_message(&self) -> Message {
        let Self { limit, actual, least, most, ceiling } = self;
        let limit = limit.name();
        match ceiling {
            Origin::BuiltIn => {
                message!("{limit} is {actual}, it must be {least} to {most}", limit, actual, least, most)
            }
            origin => message!(
                "{limit} is {actual}, it must be {least} to {most} (ceiling of {origin})",
                limit,
                actual,
                least,
                most,
                origin,
            ),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.ceiling {
            Origin::BuiltIn => msgid!("choose a limit in that range"),
            _ => msgid!("choose a limit in that range, or raise the ceiling in the policy file"),
        }
    }
}

/// The effective limits and their ceilings.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    limits: PerLimit<Effective<u64>>,
    ceilings: PerLimit<Effective<u64>>,
}

impl Default for Limits {
    fn default() -> Self {
        let budget = Budget::default();
        Self {
            limits: PerLimit::from_fn(|limit| Effective::built_in(limit.value_in(&budget))),
            ceilings: PerLimit::from_fn(|limit| Effective::built_in(limit.max_value())),
        }
    }
}

impl Limits {
    pub(super) fn apply(&mut self, limits: &PerLimit<Option<Sourced<u64>>>, ceilings: &PerLimit<Option<Sourced<u64>>>) {
        for limit in Limit::ALL {
            self.limits.get_mut(limit).apply(limits.get(limit).as_ref(), |value| value);
            self.ceilings.get_mut(limit).apply(ceilings.get(limit).as_ref(), |value| value);
        }
    }

    pub(super) const fn ceiling(&self, limit: Limit) -> &Effective<u64> {
        self.ceilings.get(limit)
    }

    /// Returns the limit of a call whose caller requests none: at most the ceiling.
    pub(super) fn limit(&self, limit: Limit) -> Effective<u64> {
        let mut held = self.limits.get(limit).clone();
        let ceiling = self.ceiling(limit);
        if held.value > ceiling.value {
            (held.value, held.origin) = (ceiling.value, ceiling.origin.clone());
        }
        held
    }

    pub(super) fn budget(&self, wanted: &LimitOverrides) -> Result<Budget, LimitError> {
        let granted = |limit: Limit| {
            let ceiling = self.ceiling(limit);
            let (least, most) = (limit.min_value(), ceiling.value);
            match wanted.get(limit) {
                None => Ok(self.limits.get(limit).value.min(most)),
                Some(actual) if (least..=most).contains(&actual) => Ok(actual),
                Some(actual) => Err(LimitError { limit, actual, least, most, ceiling: ceiling.origin.clone() }),
            }
        };
        // All values are below their ceilings, so they fit.
        let size = |limit| granted(limit).map(|value| usize::try_from(value).unwrap_or(usize::MAX));
        Ok(Budget {
            fuel: granted(Limit::Fuel)?,
            deadline: Duration::from_millis(granted(Limit::TimeoutMs)?),
            memory: size(Limit::MemoryMb)? << 20,
            output: size(Limit::OutputBytes)?,
            console: size(Limit::ConsoleBytes)?,
            operations: u32::try_from(granted(Limit::Operations)?).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget with one value changed.
    fn budget(limit: Limit, value: u64) -> Budget {
        let mut budget = Budget::default();
        match limit {
            Limit::Fuel => budget.fuel = value,
            Limit::TimeoutMs => budget.deadline = Duration::from_millis(value),
            Limit::MemoryMb => budget.memory = usize::try_from(value).unwrap() << 20,
            Limit::OutputBytes => budget.output = usize::try_from(value).unwrap(),
            Limit::ConsoleBytes => budget.console = usize::try_from(value).unwrap(),
            Limit::Operations => budget.operations = u32::try_from(value).unwrap(),
        }
        budget
    }

    #[test]
    fn the_ranges_are_those_of_the_sandbox() {
        for limit in Limit::ALL {
            let passes = |value| budget(limit, value).check().is_ok();
            assert!(passes(limit.min_value()) && passes(limit.max_value()), "{limit:?}");
            assert!(!passes(limit.min_value() - 1) && !passes(limit.max_value() + 1), "{limit:?}");
            assert_eq!(limit.value_in(&budget(limit, limit.max_value())), limit.max_value());
        }
    }
}
