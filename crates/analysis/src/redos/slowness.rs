//! How the steps of a match grow with an attack.
//!
//! Invariant: what is said of an attack was measured, on the text that it is: an engine has taken as many steps. No run
//! is longer than what is needed to see that.

use super::Attack;
use super::allowance::Allowance;
use super::alphabet::Alphabet;
use super::charset;
use super::engine::{Engine, Search};
use super::program::Program;
use super::syntax::Pattern;

/// Runs of a pattern on attacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trials<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) alphabet: &'a Alphabet,
    pub(super) program: &'a Program,
    pub(super) allowance: &'a Allowance,
}

/// How many steps a run may take that is to show a doubling.
const DOUBLED: u32 = 200_000;

/// How many steps a run may take that is to show a polynomial.
const REPEATED: u32 = 40_000;

/// The same where it is only by search, which matters less.
const SEARCHED: u32 = 12_000;

/// How many repetitions a doubling needs at most to take more steps than a run may.
const MAX_DOUBLED: usize = 22;

/// How many repetitions show whether a run is polynomial.
const MAX_REPEATED: usize = 512;

impl Trials<'_> {
    /// Whether each repetition doubles the steps, or worse.
    pub(super) fn doubles(&self, attack: &Attack, search: Search) -> bool {
        // A look ahead, as most candidates that do not double fail at once.
        if self.steps(attack, 12, search, DOUBLED) < 1 << 12 {
            return false;
        }
        let mut counts = Vec::new();
        for repeated in 0..=MAX_DOUBLED {
            let steps = self.steps(attack, repeated, search, DOUBLED);
            let grows = |tenths: u32| match *counts {
                [.., a, b, c] => growth(a, b, c).is_some_and(|(before, now)| now * 10 >= before * u64::from(tenths)),
                _ => true,
            };
            if steps >= DOUBLED {
                // After few repetitions, the steps must have doubled each time, but for once.
                let doublings = repeated.saturating_sub(1).max(2);
                let explodes = counts.first().is_some_and(|first| u64::from(*first) << doublings < u64::from(DOUBLED));
                return grows(16) && (repeated > 5 || explodes);
            }
            if repeated > 8 && !grows(13) {
                return false;
            }
            counts.push(steps);
        }
        false
    }

    /// The degree of the polynomial that the steps grow by, if it is more than one.
    pub(super) fn degree(&self, attack: &Attack, search: Search) -> Option<u32> {
        self.degree_within(REPEATED, attack, search)
    }

    /// The same where it is only by search; it is measured less well.
    pub(super) fn degree_of_search(&self, attack: &Attack) -> Option<u32> {
        self.degree_within(SEARCHED, attack, Search::Everywhere)
    }

    fn degree_within(&self, limit: u32, attack: &Attack, search: Search) -> Option<u32> {
        let mut counts = Vec::new();
        let mut degree = None;
        for repeated in (0..).map(|power| 1 << power).take_while(|repeated| *repeated <= MAX_REPEATED) {
            counts.push(self.steps(attack, repeated, search, limit));
            let [.., a, b, c] = *counts else { continue };
            let (before, now) = growth(a, b, c)?;
            let latest = exponent(before, now);
            // What was cut short is a lower bound.
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

    fn steps(&self, attack: &Attack, repeated: usize, search: Search, limit: u32) -> u32 {
        if self.allowance.left() == 0 {
            return 0;
        }
        let text = [&*attack.prefix, &*attack.pump.repeat(repeated), &*attack.suffix].concat();
        let units = charset::units(&text, self.pattern.unicode);
        // To make the text and the registers takes time, too.
        self.allowance.take(units.len() + self.program.registers);
        let limit = limit.min(self.allowance.left());
        let (_, steps) = Engine::new(self.program, self.alphabet, units).run(search, limit);
        self.allowance.take(usize::try_from(steps).unwrap_or(usize::MAX));
        steps
    }
}

/// How much three counts have grown, first and then.
fn growth(a: u32, b: u32, c: u32) -> Option<(u64, u64)> {
    let before = b.checked_sub(a).filter(|before| *before > 0)?;
    Some((before.into(), c.checked_sub(b)?.into()))
}

/// The exponent by which something grows that goes from `before` to `now` when its size doubles, if it is more than one.
fn exponent(before: u64, now: u64) -> Option<u32> {
    (2..=16).rev().find(|exponent| u128::from(now).pow(2) * 2 >= u128::from(before).pow(2) << (2 * exponent))
}
