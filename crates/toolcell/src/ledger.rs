//! What stored tools cost and gave: how often they ran, how long that took, and what it saved against what it cost to
//! make them.
//!
//! Invariant: what nobody said is not guessed. A tool of which no host said what it saves has no balance, unless
//! somebody said what it cost.

use std::time::Duration;

use toolcell_store::{Account, Entry, Fault};

use crate::toolbox::Toolbox;

/// A tool, and what it cost and gave.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerLine {
    /// The tool: its status, how often it ran and when it did last.
    pub tool: Entry,
    /// What came of it.
    pub sums: Sums,
}

/// What came of a tool, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// How many runs there were.
    pub runs: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How long they took together.
    pub time: Duration,
    /// How many tokens they saved; none where no host said anything.
    pub tokens_saved: Option<u64>,
    /// What making the tool cost, in tokens; none where nobody said it.
    pub cost: Option<u64>,
}

impl Sums {
    /// What was saved less what it cost, in tokens; none where neither was said.
    ///
    /// # Examples
    /// ```
    /// use toolcell::Sums;
    ///
    /// let sums = Sums { tokens_saved: Some(900), cost: Some(2_500), ..Sums::default() };
    /// assert_eq!(sums.balance(), Some(-1_600));
    /// assert_eq!(Sums::default().balance(), None);
    /// ```
    #[must_use]
    pub fn balance(&self) -> Option<i64> {
        if self.tokens_saved.is_none() && self.cost.is_none() {
            return None;
        }
        let [saved, cost] = [self.tokens_saved, self.cost].map(|tokens| i128::from(tokens.unwrap_or(0)));
        let most = if saved < cost { i64::MIN } else { i64::MAX };
        Some(i64::try_from(saved - cost).unwrap_or(most))
    }

    /// All of them together.
    #[must_use]
    pub fn of(lines: &[LedgerLine]) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        lines.iter().fold(Self::default(), |all, LedgerLine { sums, .. }| Self {
            runs: all.runs.saturating_add(sums.runs),
            failures: all.failures.saturating_add(sums.failures),
            time: all.time.saturating_add(sums.time),
            tokens_saved: both(all.tokens_saved, sums.tokens_saved),
            cost: both(all.cost, sums.cost),
        })
    }
}

impl Toolbox {
    /// What each tool that a name leads to cost and gave, the oldest first. What a tool cost is read from what is said
    /// about it; of one that is damaged it is not known.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn ledger(&self) -> Result<Vec<LedgerLine>, Fault> {
        let store = self.shelf()?;
        let line = |Account { entry, time, tokens_saved }| {
            let cost = match store.notes(&entry) {
                Ok(notes) => notes.cost(),
                Err(Fault::Object { .. }) => None,
                Err(fault) => return Err(fault),
            };
            let failures = entry.runs.saturating_sub(entry.successes);
            Ok(LedgerLine { sums: Sums { runs: entry.runs, failures, time, tokens_saved, cost }, tool: entry })
        };
        store.accounts()?.into_iter().map(line).collect()
    }
}
