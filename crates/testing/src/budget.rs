//! What a call may cost, under which model that was counted, and how much more is a regression.
//!
//! Invariant: two figures are compared only where they were counted under the same model.

use std::str::FromStr;

use toolcell::{ENGINE_VERSION, GUEST_DIGEST};

use crate::expect::Failure;
use crate::problem::Place;

/// How many characters of the guest's digest are in a model.
const DIGITS: usize = 16;
/// What a new budget has on top of what was measured, in percent.
const MARGIN: u64 = 10;

/// The fuel model of this build: which guest counts, and which engine. Fuel means something only together with it.
///
/// # Examples
/// ```
/// assert!(toolcell_testing::model().contains(" wasmtime-"));
/// ```
#[must_use]
pub fn model() -> String {
    format!("{} wasmtime-{ENGINE_VERSION}", &GUEST_DIGEST[..DIGITS])
}

/// A budget of fuel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuelBudget {
    /// The most that it may take.
    pub limit: u64,
    /// What it took when the budget was written.
    pub measured: Option<u64>,
    /// Where it stands.
    pub place: Place,
}

impl FuelBudget {
    /// The budget of something that took so much, where none was said: a tenth on top.
    #[must_use]
    pub const fn new(measured: u64) -> Self {
        let limit = measured.saturating_add(measured.saturating_mul(MARGIN).div_ceil(100));
        Self { limit, measured: Some(measured), place: Place::BEGINNING }
    }

    /// The same budget for something that takes so much now: what it had on top stays in proportion.
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

    /// What is wrong with what a call took.
    pub(crate) fn judge(&self, what: Burned, fuel: u64, budgets: Budgets) -> Option<Failure> {
        let (code_over, code_more, said) = match what {
            Burned::Calling => ("fuel-over-budget", "fuel-regressed", "it took"),
            Burned::Loading => ("load-fuel-over-budget", "load-fuel-regressed", "loading the tool took"),
        };
        if budgets == Budgets::Ignored {
            return None;
        }
        if let (Budgets::Regression(most), Some(measured)) = (budgets, self.measured) {
            let more = growth(measured, fuel);
            return (more > most.0).then(|| {
                let message = format!("{said} {fuel} units of fuel, {more:.1} % more than the {measured} it was measured at, at most {} % are allowed", most.0);
                Failure::new(code_more, message)
            });
        }
        (fuel > self.limit).then(|| {
            let more = growth(self.limit, fuel);
            let message = format!("{said} {fuel} units of fuel, the budget is {}: {more:.1} % over it", self.limit);
            Failure::new(code_over, message)
        })
    }
}

/// What fuel was burned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Burned {
    Calling,
    Loading,
}

/// How many percent one is more than the other.
#[expect(clippy::cast_precision_loss, reason = "a share, which is shown with one digit")]
fn growth(before: u64, now: u64) -> f64 {
    if before == 0 {
        return if now == 0 { 0.0 } else { f64::INFINITY };
    }
    (now as f64 - before as f64) / before as f64 * 100.0
}

/// What is done about budgets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Budgets {
    /// What is over one fails.
    #[default]
    Held,
    /// What takes so much more than when its budget was written fails, and what is over its budget by less does not.
    Regression(Percent),
    /// They count for nothing.
    Ignored,
}

/// A share: `5%` or `5`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        match number.parse::<f64>() {
            Ok(share) if (0.0..=1000.0).contains(&share) => Ok(Self(share)),
            _ => Err(format!("`{text}` is no share, such as 5%")),
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
            // One that was broken already holds again.
            (9_000, Some(10_000), 5_000, 5_000),
        ] {
            let budget = FuelBudget { limit, measured, place: Place::BEGINNING };
            let rebased = budget.rebased(now);
            assert_eq!((rebased.limit, rebased.measured), (expect, Some(now)), "{budget:?} at {now}");
        }
    }

    #[test]
    fn a_rebased_budget_is_within_a_hundredth_of_its_proportion() {
        for (limit, measured) in [(1_100, 1_000), (1_234_567, 1_000_000), (u64::from(u32::MAX) * 3, 4_000_000_000)] {
            for now in [101, 999, 1_000_000, 123_456_789] {
                let budget = FuelBudget { limit, measured: Some(measured), place: Place::BEGINNING }.rebased(now);
                let (before, after) = (growth(measured, limit), growth(now, budget.limit));
                assert!((before - after).abs() < 1.0, "{before} {after}");
            }
        }
    }

    #[test]
    fn what_is_more_than_allowed_fails_and_what_is_within_does_not() {
        let budget = FuelBudget { limit: 11_000, measured: Some(10_000), place: Place::BEGINNING };
        let code = |fuel, most: Option<&str>| {
            let budgets = most.map_or(Budgets::Held, |most| Budgets::Regression(most.parse().unwrap()));
            budget.judge(Burned::Calling, fuel, budgets).map(|failure| failure.code)
        };
        assert_eq!(code(11_000, None), None);
        assert_eq!(code(11_001, None), Some("fuel-over-budget"));
        assert_eq!(code(10_500, Some("5%")), None);
        assert_eq!(code(10_501, Some("5%")), Some("fuel-regressed"));
        assert_eq!(code(11_500, Some("20")), None);
        assert_eq!(code(5_000, Some("0%")), None);
        assert_eq!(budget.judge(Burned::Calling, 99_000, Budgets::Ignored), None);
    }

    #[test]
    fn a_share_is_a_number() {
        for wrong in ["", "%", "five", "-1%", "1e9%", "nan"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
        assert_eq!("2.5 %".parse::<Percent>(), Ok(Percent(2.5)));
    }
}
