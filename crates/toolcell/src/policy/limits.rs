//! What a call gets, and what its caller may ask for.
//!
//! Invariant: a [`Budget`] that is made here is within its ceilings and passes [`Budget::check`]; nothing is cut down to
//! a ceiling unsaid.

use std::time::Duration;

use toolcell_host::Budget;

use crate::policy::origin::{Held, Origin, Stated};

/// How many tools may have a name where nothing is said.
pub(super) const TOOLS: u64 = 100;
/// The most tools that a policy may let have a name.
pub(super) const TOOLS_MOST: u64 = 1_000_000;

/// A limit of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Wasm instructions, about.
    Fuel,
    /// Milliseconds.
    TimeoutMs,
    /// Memory in MiB.
    MemoryMb,
    /// Bytes of the result.
    OutputBytes,
    /// Bytes of console text.
    ConsoleBytes,
    /// Operations of the host at once.
    Operations,
}

impl Limit {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::Fuel, Self::TimeoutMs, Self::MemoryMb, Self::OutputBytes, Self::ConsoleBytes, Self::Operations];

    /// Its key in a file.
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

    /// The least that the sandbox takes.
    #[must_use]
    pub const fn least(self) -> u64 {
        match self {
            Self::MemoryMb => 8,
            _ => 1,
        }
    }

    /// The most that the sandbox takes.
    #[must_use]
    pub const fn most(self) -> u64 {
        match self {
            Self::Fuel => 1_000_000_000_000_000,
            Self::TimeoutMs => 600_000,
            Self::MemoryMb => 1 << 10,
            Self::OutputBytes => 64 << 20,
            Self::ConsoleBytes => 16 << 20,
            Self::Operations => 10_000,
        }
    }

    pub(super) fn of(self, budget: &Budget) -> u64 {
        match self {
            Self::Fuel => budget.fuel,
            Self::TimeoutMs => u64::try_from(budget.deadline.as_millis()).unwrap_or(u64::MAX),
            Self::MemoryMb => (budget.memory >> 20) as u64,
            Self::OutputBytes => budget.output as u64,
            Self::ConsoleBytes => budget.console as u64,
            Self::Operations => u64::from(budget.operations),
        }
    }

    /// The same, where a part of a unit counts as one.
    pub(super) fn rounded_up(self, budget: &Budget) -> u64 {
        if self == Self::MemoryMb { (budget.memory as u64).div_ceil(1 << 20) } else { self.of(budget) }
    }
}

/// A value for each limit.
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

/// What the caller of a tool asks for; where it asks for nothing, the policy says what it gets.
///
/// # Examples
/// ```
/// use toolcell::policy::{Policy, Wanted};
///
/// let budget = Policy::default().budget(&Wanted { timeout_ms: Some(5_000), ..Wanted::default() })?;
/// assert_eq!(budget.deadline.as_secs(), 5);
/// # Ok::<(), toolcell::policy::LimitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Wasm instructions, about.
    pub fuel: Option<u64>,
    /// Milliseconds.
    pub timeout_ms: Option<u64>,
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// Bytes of the result.
    pub output_bytes: Option<u64>,
    /// Bytes of console text.
    pub console_bytes: Option<u64>,
    /// Operations of the host at once.
    pub operations: Option<u64>,
}

impl Wanted {
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

/// A caller asks for what it cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is {actual}, it must be {least} to {most}{}", limit.name(), whose(ceiling))]
pub struct LimitError {
    /// The limit.
    pub limit: Limit,
    /// What was asked for.
    pub actual: u64,
    /// The least it can have.
    pub least: u64,
    /// The most it can have.
    pub most: u64,
    /// Who set the most.
    pub ceiling: Origin,
}

impl LimitError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "limit-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.ceiling {
            Origin::BuiltIn => "choose a limit in that range",
            _ => "choose a limit in that range, or raise the ceiling in the policy file",
        }
    }
}

fn whose(ceiling: &Origin) -> String {
    match ceiling {
        Origin::BuiltIn => String::new(),
        origin => format!(" (ceiling of {origin})"),
    }
}

/// Limits and their ceilings, as they count.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    limits: PerLimit<Held<u64>>,
    ceilings: PerLimit<Held<u64>>,
}

impl Default for Limits {
    fn default() -> Self {
        let budget = Budget::default();
        Self {
            limits: PerLimit::from_fn(|limit| Held::built_in(limit.of(&budget))),
            ceilings: PerLimit::from_fn(|limit| Held::built_in(limit.most())),
        }
    }
}

impl Limits {
    pub(super) fn settle(&mut self, limits: &PerLimit<Option<Stated<u64>>>, ceilings: &PerLimit<Option<Stated<u64>>>) {
        for limit in Limit::ALL {
            self.limits.get_mut(limit).settle(limits.get(limit).as_ref(), |value| value);
            self.ceilings.get_mut(limit).settle(ceilings.get(limit).as_ref(), |value| value);
        }
    }

    pub(super) const fn ceiling(&self, limit: Limit) -> &Held<u64> {
        self.ceilings.get(limit)
    }

    /// What a call gets whose caller asks for nothing: never more than the ceiling.
    pub(super) fn limit(&self, limit: Limit) -> Held<u64> {
        let mut held = self.limits.get(limit).clone();
        let ceiling = self.ceiling(limit);
        if held.value > ceiling.value {
            (held.value, held.origin) = (ceiling.value, ceiling.origin.clone());
        }
        held
    }

    pub(super) fn budget(&self, wanted: &Wanted) -> Result<Budget, LimitError> {
        let granted = |limit: Limit| {
            let ceiling = self.ceiling(limit);
            let (least, most) = (limit.least(), ceiling.value);
            match wanted.get(limit) {
                None => Ok(self.limits.get(limit).value.min(most)),
                Some(actual) if (least..=most).contains(&actual) => Ok(actual),
                Some(actual) => Err(LimitError { limit, actual, least, most, ceiling: ceiling.origin.clone() }),
            }
        };
        // All are below their ceilings, so that they fit.
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
            assert!(passes(limit.least()) && passes(limit.most()), "{limit:?}");
            assert!(!passes(limit.least() - 1) && !passes(limit.most() + 1), "{limit:?}");
            assert_eq!(limit.of(&budget(limit, limit.most())), limit.most());
        }
    }
}
