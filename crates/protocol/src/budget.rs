//! The resource limits of one call.
//!
//! Invariant: every limit has a safe default and a ceiling, and both are defined in this file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The resource limits of one call. Exceeding a limit ends the call with its own
/// reason.
///
/// # Examples
/// ```
/// use toolcell_protocol::Budget;
///
/// let small = Budget { fuel: 50_000, ..Budget::default() };
/// assert!(small.check().is_ok());
/// assert_eq!(Budget { fuel: 0, ..small }.check().unwrap_err().code(), "limit-invalid");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Units of fuel, roughly Wasm instructions. This is the deterministic limit. A native image
    /// burns about 10 billion units a second. Loading a script has a separate limit of the same
    /// size, unless [`FuelScope`] combines the two. 250 billion by default, at most 10^15.
    pub fuel: u64,
    /// Wall-clock time, including the time spent in host calls. 30 s by default, at most 600 s.
    pub deadline: Duration,
    /// Bytes of the instance's linear memory, including the engine's own (about 6 MiB). 64 MiB by
    /// default, 8 MiB to 1 GiB.
    pub memory: usize,
    /// Bytes of the result's JSON text. 1 MiB by default, at most 64 MiB.
    pub output: usize,
    /// Bytes of console text. 64 KiB by default, at most 16 MiB. As JSON, with escapes and a level
    /// for each line, the console may take four times as many bytes.
    pub console: usize,
    /// Host calls that may be pending at once. 64 by default, at most 10,000.
    pub operations: u32,
}

/// The work that the fuel limit covers. Fuel of the call and fuel of loading its script are
/// reported separately in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FuelScope {
    /// The limit covers the call. Loading the script has a separate limit of the same size.
    #[default]
    Call,
    /// The limit covers loading the script and the call together, even when the script was loaded
    /// earlier.
    LoadingAndCall,
}

impl Budget {
    /// Returns the fuel that remains for a call after loading its script burned `load_fuel`.
    #[must_use]
    pub fn fuel_for_call(&self, covers: FuelScope, load_fuel: u64) -> u64 {
        match covers {
            FuelScope::Call => self.fuel,
            FuelScope::LoadingAndCall => self.fuel.saturating_sub(load_fuel),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            fuel: 250_000_000_000,
            deadline: Duration::from_secs(30),
            memory: 64 << 20,
            output: 1 << 20,
            console: 64 << 10,
            operations: 120,
        }
    }
}

impl Budget {
    /// Returns the budget itself if every limit is in its range.
    ///
    /// # Errors
    /// `limit-invalid`, naming the first limit that is out of its range.
    pub fn check(&self) -> Result<&Self, BudgetError> {
        let milliseconds = u64::try_from(self.deadline.as_millis()).unwrap_or(u64::MAX);
        let limits = [
            ("fuel", self.fuel, 1, 1_000_000_000_000_000),
            ("timeout_ms", milliseconds, 1, 600_000),
            ("memory_bytes", self.memory as u64, 8 << 20, 1 << 30),
            ("output_bytes", self.output as u64, 1, 64 << 20),
            ("console_bytes", self.console as u64, 1, 16 << 20),
            ("operations", u64::from(self.operations), 1, 10_000),
        ];
        for (limit, actual, least, most) in limits {
            if actual < least || actual > most {
                return Err(BudgetError { limit, actual, least, most });
            }
        }
        Ok(self)
    }
}

/// The error for a limit of a budget that is zero, or outside of the range that the sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetError {
    /// The name of the limit, as in the options.
    pub limit: &'static str,
    /// The value that was passed in.
    pub actual: u64,
    /// The smallest value allowed.
    pub least: u64,
    /// The largest value allowed.
    pub most: u64,
}

impl BudgetError {
    /// Returns the stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "limit-invalid"
    }
}

impl std::fmt::Display for BudgetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { limit, actual, least, most } = self;
        write!(f, "{limit} is {actual}, it must be {least} to {most}")
    }
}

impl std::error::Error for BudgetError {}
