//! What one call may use.
//!
//! Invariant: every limit has a safe default and a ceiling, and both stand here.

use std::time::Duration;

use crate::error::CallError;

/// The limits of one call. Each ends in a [`Stop`](crate::Stop) of its own.
///
/// # Examples
/// ```
/// use toolcell_host::Budget;
///
/// let small = Budget { fuel: 50_000, ..Budget::default() };
/// assert!(small.check().is_ok());
/// assert_eq!(Budget { fuel: 0, ..small }.check().unwrap_err().code(), "limit-invalid");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    /// Wasm instructions, about; the deterministic limit. A native image burns some 10 billion a second.
    /// Loading a script has as much again, unless [`FuelCovers`] says that it is one limit. 250 billion by default, at most 10^15.
    pub fuel: u64,
    /// Wall-clock time, operations of the host included. 30 s by default, at most 600 s.
    pub deadline: Duration,
    /// Bytes of the instance's linear memory, the engine's own included (about 6 MiB).
    /// 64 MiB by default, 8 MiB to 1 GiB.
    pub memory: usize,
    /// Bytes of the result's JSON text. 1 MiB by default, at most 64 MiB.
    pub output: usize,
    /// Bytes of console text. 64 KiB by default, at most 16 MiB. As JSON, with its escapes and the level of each line, it
    /// may be four times as long.
    pub console: usize,
    /// Operations of the host that are pending at once. 64 by default, at most 10,000.
    pub operations: u32,
}

/// What the limit of fuel is a limit of. What a call burned is told apart from what loading its script burned in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum FuelCovers {
    /// The call. Loading the script has a limit of its own, which is as large.
    #[default]
    Call,
    /// Loading the script and the call, whether it was loaded for this call or before.
    LoadingAndCall,
}

impl Budget {
    /// Fuel that a call has where loading its script took so much.
    pub(crate) fn fuel_for_call(&self, covers: FuelCovers, load_fuel: u64) -> u64 {
        match covers {
            FuelCovers::Call => self.fuel,
            FuelCovers::LoadingAndCall => self.fuel.saturating_sub(load_fuel),
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
            operations: 64,
        }
    }
}

impl Budget {
    /// The budget itself, if every limit is in its range.
    ///
    /// # Errors
    /// `limit-invalid`, naming the first limit that is out of its range.
    pub fn check(&self) -> Result<&Self, CallError> {
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
                return Err(CallError::LimitInvalid { limit, actual, least, most });
            }
        }
        Ok(self)
    }
}
