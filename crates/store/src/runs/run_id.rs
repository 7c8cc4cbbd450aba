//! Identifiers of runs.
//!
//! Invariant: run identifiers are unique within a store. They consist of a random journal
//! identifier and the number of the run in that journal.

use std::fmt;

/// The prefix of every run identifier.
const PREFIX: &str = "r_";
/// The number of hexadecimal digits of a journal identifier.
const JOURNAL_DIGITS: usize = 16;

/// The identifier of a run: `r_`, the 16 hexadecimal digits of its journal, `-`, and its number in
/// the journal.
///
/// # Examples
/// ```
/// use toolcell_store::RunId;
///
/// let run: RunId = "r_00c0ffee00c0ffee-1f".parse()?;
/// assert_eq!(run.to_string(), "r_00c0ffee00c0ffee-1f");
/// assert!("r_1f".parse::<RunId>().is_err());
/// # Ok::<(), toolcell_store::RunIdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId {
    journal: u64,
    number: u64,
}

impl RunId {
    pub(crate) const fn new(journal: u64, number: u64) -> Self {
        Self { journal, number }
    }

    /// The number of the run in its journal.
    pub(crate) const fn number(self) -> u64 {
        self.number
    }

    /// The binary form in the index. Within a journal, later runs sort after earlier ones.
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        ((u128::from(self.journal) << 64) | u128::from(self.number)).to_be_bytes()
    }

    /// Decodes the binary form in the index.
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        let [j0, j1, j2, j3, j4, j5, j6, j7, number @ ..] = bytes;
        let journal = u64::from_be_bytes([j0, j1, j2, j3, j4, j5, j6, j7]);
        Self { journal, number: u64::from_be_bytes(number) }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:0JOURNAL_DIGITS$x}-{:x}", self.journal, self.number)
    }
}

impl std::str::FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| RunIdError);
        let (journal, run) = text.strip_prefix(PREFIX).and_then(|text| text.split_once('-')).ok_or(RunIdError)?;
        let id = Self { journal: number(journal)?, number: number(run)? };
        // Only the canonical spelling is accepted.
        if id.to_string() == text { Ok(id) } else { Err(RunIdError) }
    }
}

/// The text is not the identifier of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("not a run identifier: expected `r_`, 16 hexadecimal digits, `-` and more digits")]
#[coded(no_hint)]
#[code(RunInvalid)]
pub struct RunIdError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_as_an_identifier_is_one() {
        let run = RunId::new(0xab, 0x12);
        assert_eq!(run.to_string(), "r_00000000000000ab-12");
        assert_eq!("r_00000000000000ab-12".parse(), Ok(run));
        for wrong in
            ["", "r_", "r_-", "r_ab-12", "r_00000000000000AB-12", "r_00000000000000ab-012", "r_+0000000000000ab-12"]
        {
            assert_eq!(wrong.parse::<RunId>(), Err(RunIdError), "{wrong}");
        }
    }

    #[test]
    fn later_runs_of_a_journal_come_after_earlier_ones_in_the_index() {
        assert!(RunId::new(1, 255).to_bytes() < RunId::new(1, 256).to_bytes());
        assert!(RunId::new(1, u64::MAX).to_bytes() < RunId::new(2, 0).to_bytes());
    }
}
