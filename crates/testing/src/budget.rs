//! Fuel budgets, the model they are measured under, and the threshold for a regression.
//!
//! Invariant: two figures are compared only if they were measured under the same model.

use std::str::FromStr;

use toolcell::{ENGINE_VERSION, GUEST_DIGEST};
use toolcell_i18n::message;

use crate::expect::CaseFailure;
use crate::problem::FilePosition;

/// The number of hexadecimal digits of the guest's digest in a model.
const DIGEST_CHARS: usize = 16;
/// The margin of a new budget over the measured fuel, in percent.
const MARGIN_PERCENT: u64 = 10;

/// Returns the fuel model of this build: the guest and the engine that count the fuel. Figures are
/// comparable only within one model.
///
/// # Examples
/// ```
/// assert!(toolcell_testing::model().contains(" wasmtime-"));
/// ```
#[must_use]
pub fn model() -> String {
    format!("{} wasmtime-{ENGINE_VERSION}", &GUEST_DIGEST[..DIGEST_CHARS])
}

/// A fuel budget for a call, or for loading a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuelBudget {
    /// The limit in units of fuel.
    pub limit: u64,
    /// The fuel that was measured when the budget was written.
    pub measured: Option<u64>,
    /// The position of the budget in its file.
    pub place: FilePosition,
}

impl FuelBudget {
    /// Creates a budget from measured fuel, with a margin of a tenth.
    #[must_use]
    pub const fn new(measured: u64) -> Self {
        let limit = measured.saturating_add(measured.saturating_mul(MARGIN_PERCENT).div_ceil(100));
        Self { limit, measured: Some(measured), place: FilePosition::START }
    }

    /// Returns this budget for newly measured fuel, with the margin in proportion. The result is at
    /// least `measured`.
    #[must_use]
    pub fn rebased(self, measured: u64) -> Self {
        let Some(before) = self.measured.filter(|before| *before > 0) else {
            let limit = if self.limit >= measured { self.limit } else { Self::new(measured).limit };
            return Self { limit, measured: Some(measured), ..self };
        };
        let limit = (u128::from(self.limit) * u128::from(measured)).div_ceil(u128::from(before));
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(measured);
        Self { limit, measured: Some(measured), ..self }
    }

    /// Returns the failure of a call that exceeds the budget, if it does.
    pub(crate) fn check(&self, what: FuelPhase, fuel: u64, budgets: BudgetPolicy) -> Option<CaseFailure> {
        if budgets == BudgetPolicy::Ignored {
            return None;
        }
        if let (BudgetPolicy::Regression(most), Some(measured)) = (budgets, self.measured) {
            let more = growth_percent(measured, fuel);
            return (more > most.0).then(|| regression(what, fuel, measured, most));
        }
        (fuel > self.limit).then(|| excess(what, fuel, self.limit))
    }
}

/// The failure of a call that took more fuel than was measured.
fn regression(phase: FuelPhase, fuel: u64, measured: u64, most: Percent) -> CaseFailure {
    let (more, limit) = (format!("{:.1}", growth_percent(measured, fuel)), most.0);
    match phase {
        FuelPhase::Call => CaseFailure::new(
            "fuel-regressed",
            message!(
                "it took {fuel} units of fuel, {more} % more than the measured {measured}, the limit is {limit} %",
                fuel,
                more,
                measured,
                limit,
            ),
        ),
        FuelPhase::Load => CaseFailure::new(
            "load-fuel-regressed",
            message!(
                "loading the tool took {fuel} units of fuel, {more} % more than the measured {measured}, the limit is {limit} %",
                fuel,
                more,
                measured,
                limit,
            ),
        ),
    }
}

/// The failure of a call that took more fuel than its budget.
fn excess(phase: FuelPhase, fuel: u64, limit: u64) -> CaseFailure {
    let more = format!("{:.1}", growth_percent(limit, fuel));
    match phase {
        FuelPhase::Call => CaseFailure::new(
            "fuel-over-budget",
            message!("it took {fuel} units of fuel, the budget is {limit}: {more} % over it", fuel, limit, more),
        ),
        FuelPhase::Load => CaseFailure::new(
            "load-fuel-over-budget",
            message!(
                "loading the tool took {fuel} units of fuel, the budget is {limit}: {more} % over it",
                fuel,
                limit,
                more,
            ),
        ),
    }
}

/// The phase in which fuel was burned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FuelPhase {
    Call,
    Load,
}

/// Returns the growth from one figure to the other in percent.
#[expect(clippy::cast_precision_loss, reason = "a share, which is shown with one digit")]
fn growth_percent(before: u64, now: u64) -> f64 {
    if before == 0 {
        return if now == 0 { 0.0 } else { f64::INFINITY };
    }
    (now as f64 - before as f64) / before as f64 * 100.0
}

/// The way in which budgets are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum BudgetPolicy {
    /// Exceeding a budget fails.
    #[default]
    Enforced,
    /// Growth by more than this share over the measured fuel fails. Budgets without a measured
    /// figure are enforced.
    Regression(Percent),
    /// Budgets are ignored.
    Ignored,
}

/// A percentage, written as `5%` or `5`, from 0 to 1,000.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        match number.parse::<f64>() {
            Ok(share) if (0.0..=1000.0).contains(&share) => Ok(Self(share)),
            _ => Err(format!("`{text}` is not a percentage such as 5%")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebased_budget_keeps_its_proportion() {
        for (limit, measured, now, expect) in [
            (12_000, Some(10_000), 10_000, 12_000),
            (12_000, Some(10_000), 5_000, 6_000),
            (12_000, Some(10_000), 30_001, 36_002),
            (u64::MAX, Some(1), u64::MAX, u64::MAX),
            (12_000, None, 11_000, 12_000),
            (12_000, None, 20_000, 22_000),
            // A budget that was exceeded already holds again.
            (9_000, Some(10_000), 5_000, 5_000),
        ] {
            let budget = FuelBudget { limit, measured, place: FilePosition::START };
            let rebased = budget.rebased(now);
            assert_eq!((rebased.limit, rebased.measured), (expect, Some(now)), "{budget:?} at {now}");
        }
    }

    #[test]
    fn a_rebased_budget_is_within_a_hundredth_of_its_proportion() {
        for (limit, measured) in [(1_100, 1_000), (1_234_567, 1_000_000), (u64::from(u32::MAX) * 3, 4_000_000_000)] {
            for now in [101, 999, 1_000_000, 123_456_789] {
                let budget = FuelBudget { limit, measured: Some(measured), place: FilePosition::START }.rebased(now);
                let (before, after) = (growth_percent(measured, limit), growth_percent(now, budget.limit));
                assert!((before - after).abs() < 1.0, "{before} {after}");
            }
        }
    }

    #[test]
    fn what_is_more_than_allowed_fails_and_what_is_within_does_not() {
        let budget = FuelBudget { limit: 11_000, measured: Some(10_000), place: FilePosition::START };
        let code = |fuel, most: Option<&str>| {
            let budgets = most.map_or(BudgetPolicy::Enforced, |most| BudgetPolicy::Regression(most.parse().unwrap()));
            budget.check(FuelPhase::Call, fuel, budgets).map(|failure| failure.code)
        };
        assert_eq!(code(11_000, None), None);
        assert_eq!(code(11_001, None), Some("fuel-over-budget"));
        assert_eq!(code(10_500, Some("5%")), None);
        assert_eq!(code(10_501, Some("5%")), Some("fuel-regressed"));
        assert_eq!(code(11_500, Some("20")), None);
        assert_eq!(code(5_000, Some("0%")), None);
        assert_eq!(budget.check(FuelPhase::Call, 99_000, BudgetPolicy::Ignored), None);
    }

    #[test]
    fn a_share_is_a_number() {
        for wrong in ["", "%", "five", "-1%", "1e9%", "nan"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
        assert_eq!("2.5 %".parse::<Percent>(), Ok(Percent(2.5)));
    }
}
