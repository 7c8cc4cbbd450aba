//! Measurement of how the steps of a match grow with an attack.
//!
//! Invariant: every claim about an attack was measured on the engine, with the very text. No run is
//! longer than needed.

use crate::Attack;
use crate::alphabet::Alphabet;
use crate::budget::StepBudget;
use crate::charset;
use crate::engine::{Engine, Search};
use crate::program::Program;
use crate::syntax::Pattern;

/// Runs attacks on a pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttackRunner<'a> {
    pub(crate) pattern: &'a Pattern,
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) program: &'a Program,
    pub(crate) budget: &'a StepBudget,
}

/// The maximum number of steps of a run that shows exponential growth.
const MAX_EXPONENTIAL_STEPS: u32 = 200_000;

/// The maximum number of steps of a run that shows polynomial growth.
const MAX_POLYNOMIAL_STEPS: u32 = 40_000;

/// The maximum number of steps of a run that is slow only by search, which matters less.
const MAX_RESTART_STEPS: u32 = 12_000;

/// The maximum number of pumps: with exponential growth, more would exceed the steps of a run.
const MAX_EXPONENTIAL_PUMPS: usize = 22;

/// The maximum number of pumps that show polynomial growth.
const MAX_POLYNOMIAL_PUMPS: usize = 512;

impl AttackRunner<'_> {
    /// Returns whether each repetition doubles the steps, or worse.
    pub(crate) fn is_exponential(&self, attack: &Attack, search: Search) -> bool {
        // A shortcut: most candidates that do not double fail at once.
        if self.count_steps(attack, 12, search, MAX_EXPONENTIAL_STEPS) < 1 << 12 {
            return false;
        }
        let mut counts = Vec::new();
        for repeated in 0..=MAX_EXPONENTIAL_PUMPS {
            let steps = self.count_steps(attack, repeated, search, MAX_EXPONENTIAL_STEPS);
            let grows = |tenths: u32| match *counts {
                [.., a, b, c] => growth(a, b, c).is_some_and(|(before, now)| now * 10 >= before * u64::from(tenths)),
                _ => true,
            };
            if steps >= MAX_EXPONENTIAL_STEPS {
                // After few repetitions, the steps must have doubled each time, but for one
                // exception.
                let doublings = repeated.saturating_sub(1).max(2);
                let explodes = counts
                    .first()
                    .is_some_and(|first| u64::from(*first) << doublings < u64::from(MAX_EXPONENTIAL_STEPS));
                return grows(16) && (repeated > 5 || explodes);
            }
            if repeated > 8 && !grows(13) {
                return false;
            }
            counts.push(steps);
        }
        false
    }

    /// Returns the degree of the polynomial growth, if it is more than one.
    pub(crate) fn degree(&self, attack: &Attack, search: Search) -> Option<u32> {
        self.measure_degree(MAX_POLYNOMIAL_STEPS, attack, search)
    }

    /// Returns the degree of a slow search, which is measured less precisely.
    pub(crate) fn degree_of_search(&self, attack: &Attack) -> Option<u32> {
        self.measure_degree(MAX_RESTART_STEPS, attack, Search::Everywhere)
    }

    fn measure_degree(&self, limit: u32, attack: &Attack, search: Search) -> Option<u32> {
        let mut counts = Vec::new();
        let mut degree = None;
        for repeated in (0..).map(|power| 1 << power).take_while(|repeated| *repeated <= MAX_POLYNOMIAL_PUMPS) {
            counts.push(self.count_steps(attack, repeated, search, limit));
            let [.., a, b, c] = *counts else { continue };
            let (before, now) = growth(a, b, c)?;
            let latest = exponent(before, now);
            // A run that was cut short gives a lower bound.
            if c >= limit {
                return degree.max(latest);
            }
            degree = latest;
            // Linear is a factor of 2, and quadratic is 4.
            if repeated >= 32 && now * 10 < before * 22 || repeated >= 128 && degree.is_none() {
                return None;
            }
        }
        degree
    }

    fn count_steps(&self, attack: &Attack, repeated: usize, search: Search, limit: u32) -> u32 {
        if self.budget.remaining() == 0 {
            return 0;
        }
        let text = [&*attack.prefix, &*attack.pump.repeat(repeated), &*attack.suffix].concat();
        let units = charset::units(&text, self.pattern.unicode);
        // Building the text and the registers takes time, too.
        self.budget.take(units.len() + self.program.registers);
        let limit = limit.min(self.budget.remaining());
        let (_, steps) = Engine::new(self.program, self.alphabet, units).run(search, limit);
        self.budget.take(usize::try_from(steps).unwrap_or(usize::MAX));
        steps
    }
}

/// Returns the first and the second difference of three counts.
fn growth(a: u32, b: u32, c: u32) -> Option<(u64, u64)> {
    let before = b.checked_sub(a).filter(|before| *before > 0)?;
    Some((before.into(), c.checked_sub(b)?.into()))
}

/// Returns the exponent of a growth from `before` to `now` when the size doubles, if it is more
/// than one.
fn exponent(before: u64, now: u64) -> Option<u32> {
    (2..=16).rev().find(|exponent| u128::from(now).pow(2) * 2 >= u128::from(before).pow(2) << (2 * exponent))
}
