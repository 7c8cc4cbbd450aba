//! The cost report of stored tools: how often and how long they ran, and what they saved compared
//! with the cost of creating them.
//!
//! Invariant: missing values are reported as unknown. A tool has a balance only if a host reported
//! its savings or its creator reported its cost.

use std::time::Duration;

use toolcell_store::{Entry, Fault, Store, ToolCosts};

use crate::parts::Parts;

/// A tool with its costs and savings.
#[derive(Debug, Clone, PartialEq)]
pub struct CostReportLine {
    /// The tool with its status, its number of runs and the time of the last one.
    pub tool: Entry,
    /// The totals of the tool.
    pub totals: CostTotals,
}

/// The totals of one or several tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostTotals {
    /// The number of runs.
    pub runs: u64,
    /// The number of failed runs.
    pub failures: u64,
    /// The total duration of the runs.
    pub time: Duration,
    /// The tokens saved. `None` if no host reported any.
    pub tokens_saved: Option<u64>,
    /// The cost of creating the tool, in tokens. `None` if unknown.
    pub cost: Option<u64>,
}

impl CostTotals {
    /// Returns the savings less the cost, in tokens, or `None` if both are unknown.
    ///
    /// # Examples
    /// ```
    /// use toolcell::CostTotals;
    ///
    /// let sums = CostTotals { tokens_saved: Some(900), cost: Some(2_500), ..CostTotals::default() };
    /// assert_eq!(sums.balance(), Some(-1_600));
    /// assert_eq!(CostTotals::default().balance(), None);
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

    /// Adds up the totals of several tools.
    #[must_use]
    pub fn from_lines(lines: &[CostReportLine]) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        lines.iter().fold(Self::default(), |all, CostReportLine { totals: sums, .. }| Self {
            runs: all.runs.saturating_add(sums.runs),
            failures: all.failures.saturating_add(sums.failures),
            time: all.time.saturating_add(sums.time),
            tokens_saved: both(all.tokens_saved, sums.tokens_saved),
            cost: both(all.cost, sums.cost),
        })
    }
}

/// Returns the costs and savings of each tool that a name refers to, oldest first. The cost of
/// a tool is part of its metadata, and unknown if that is damaged.
pub(crate) fn cost_report(parts: &Parts) -> Result<Vec<CostReportLine>, Fault> {
    let store = parts.require_store()?;
    store.runs().tool_costs()?.into_iter().map(|costs| line(store, costs)).collect()
}

/// Returns the costs and savings of one tool.
pub(crate) fn cost_report_of(parts: &Parts, tool: &Entry) -> Result<CostReportLine, Fault> {
    let store = parts.require_store()?;
    line(store, store.runs().costs_of(tool)?)
}

fn line(store: &Store, ToolCosts { entry, time, tokens_saved }: ToolCosts) -> Result<CostReportLine, Fault> {
    let cost = match store.catalog().metadata(&entry) {
        Ok(notes) => notes.cost(),
        Err(Fault::Object { .. }) => None,
        Err(fault) => return Err(fault),
    };
    let failures = entry.runs.saturating_sub(entry.successes);
    Ok(CostReportLine { totals: CostTotals { runs: entry.runs, failures, time, tokens_saved, cost }, tool: entry })
}
