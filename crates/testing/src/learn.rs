//! Proposes limits from recorded runs.
//!
//! With 95 % confidence, a limit admits at least 999 of the next 1,000 runs of the same
//! distribution. From 3,471 runs on, the bound is the largest run, whatever the distribution: the
//! number of later runs that exceed it follows from ranks alone (E. J. Gumbel and H. von Schelling,
//! "The distribution of the number of exceedances", Annals of Mathematical Statistics 21, 1950).
//! With fewer runs, logarithms are assumed to be normal, and the bound is the upper tolerance bound
//! for 99.99 % of the distribution, with the factor of M. G. Natrella, "Experimental Statistics",
//! NBS Handbook 91, 1963, section 2-5.3. A safety margin is added to either bound.
//!
//! Invariant: no limit is below the largest recorded run.

use serde::Serialize;

/// The minimum number of runs for a proposal.
pub const MIN_RUNS: usize = 30;
/// The number of runs from which on the largest is the bound. The probability that two or more of
/// the next 1,000 runs exceed the largest of `n` is 1,000 * 999 / ((n + 1,000) * (n + 999)).
const MIN_RUNS_DISTRIBUTION_FREE: usize = 3_471;
/// The quantile of the normal distribution for a coverage of 99.99 %.
const COVERAGE_QUANTILE: f64 = 3.719_016_485_455_709;
/// The quantile of the normal distribution for a confidence of 95 %.
const CONFIDENCE_QUANTILE: f64 = 1.644_853_626_951_472;
/// The factor of the margin on limits of fuel and memory.
const MARGIN: f64 = 1.1;
/// The factor of the margin on limits of time: another machine may be slower.
const TIME_MARGIN: f64 = 10.0;
/// The minimum memory limit of a call, in bytes.
const MIN_MEMORY_BYTES: u64 = 8 << 20;
/// The size of a Wasm page, in bytes.
const PAGE_BYTES: u64 = 64 << 10;

/// The cost of a recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCost {
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Wall-clock time in microseconds.
    pub micros: u64,
}

/// An error for too few recorded runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("there are {have} usable runs, a limit needs at least {MIN_RUNS}")]
pub struct TooFewRuns {
    /// The number of recorded runs.
    pub have: usize,
}

/// The proposed limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LearnedLimits {
    /// The number of runs that the limits are based on.
    pub runs: usize,
    /// The fuel limit, in units of fuel.
    pub fuel: LearnedLimit,
    /// The memory limit, in bytes.
    pub memory_bytes: LearnedLimit,
    /// The time limit, in milliseconds.
    pub timeout_ms: LearnedLimit,
}

/// A proposed limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LearnedLimit {
    /// The proposed value.
    pub limit: u64,
    /// The median of the runs.
    pub median: u64,
    /// The largest of the runs.
    pub largest: u64,
    /// The method that the bound was computed with.
    pub method: LimitMethod,
    /// Whether the limit stops a run of twice the median.
    pub stops_doubling: bool,
}

/// The method that a bound is computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitMethod {
    /// The largest of at least 3,471 runs, for any distribution.
    DistributionFree,
    /// The tolerance bound of a log-normal distribution.
    LogNormal,
}

/// Proposes limits for fuel, memory and time.
///
/// # Errors
/// [`TooFewRuns`] for fewer than [`MIN_RUNS`] runs.
pub fn learn_limits(runs: &[RunCost]) -> Result<LearnedLimits, TooFewRuns> {
    if runs.len() < MIN_RUNS {
        return Err(TooFewRuns { have: runs.len() });
    }
    let limit = |of: fn(&RunCost) -> u64, margin: f64| LearnedLimit::from_values(runs.iter().map(of).collect(), margin);
    let mut memory = limit(|run| run.memory, MARGIN);
    memory.limit = memory.limit.next_multiple_of(PAGE_BYTES).max(MIN_MEMORY_BYTES);
    memory.stops_doubling = memory.limit < memory.median.saturating_mul(2);
    let fuel = limit(|run| run.fuel, MARGIN);
    Ok(LearnedLimits {
        runs: runs.len(),
        fuel,
        memory_bytes: memory,
        timeout_ms: limit(|run| run.micros.div_ceil(1000), TIME_MARGIN),
    })
}

impl LearnedLimit {
    fn from_values(mut values: Vec<u64>, margin: f64) -> Self {
        values.sort_unstable();
        let (median, largest) = (values[values.len() / 2], values.last().copied().unwrap_or_default());
        let (bound, method) = if values.len() >= MIN_RUNS_DISTRIBUTION_FREE {
            (to_f64(largest), LimitMethod::DistributionFree)
        } else {
            (log_normal_bound(&values).max(to_f64(largest)), LimitMethod::LogNormal)
        };
        let limit = ceil_to_u64(bound * margin).max(1);
        Self { limit, median, largest, method, stops_doubling: limit < median.saturating_mul(2) }
    }
}

/// Returns the upper tolerance bound of log-normal values.
fn log_normal_bound(values: &[u64]) -> f64 {
    let count = to_f64(values.len() as u64);
    let logarithms: Vec<f64> = values.iter().map(|value| to_f64((*value).max(1)).ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let a = 1.0 - CONFIDENCE_QUANTILE.powi(2) / (2.0 * (count - 1.0));
    let b = COVERAGE_QUANTILE.powi(2) - CONFIDENCE_QUANTILE.powi(2) / count;
    let factor = (COVERAGE_QUANTILE + (COVERAGE_QUANTILE.powi(2) - a * b).sqrt()) / a;
    (mean + factor * deviation).exp()
}

#[expect(clippy::cast_precision_loss, reason = "a bound that is estimated is not exact")]
const fn to_f64(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive, and a cast saturates")]
fn ceil_to_u64(number: f64) -> u64 {
    number.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic pseudorandom generator (G. Marsaglia, "Xorshift RNGs", 2003).
    struct Rng(u64);

    impl Rng {
        fn seeded(seed: u64) -> Self {
            let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            // The first outputs contain few bits of a small seed.
            for _ in 0..32 {
                chance.uniform();
            }
            chance
        }

        /// Returns a uniform number from 0 to 1.
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            to_f64(self.0 >> 11) / to_f64(1 << 53)
        }

        /// Returns a standard normal number (G. E. P. Box and M. E. Muller, 1958).
        fn normal(&mut self) -> f64 {
            let (one, other) = (self.uniform().max(1e-12), self.uniform());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        }

        fn draw(&mut self, kind: &str) -> u64 {
            ceil_to_u64(
                1e6 * match kind {
                    "constant" => 1.0,
                    "narrow" => (0.02 * self.normal()).exp(),
                    "log-normal" => (0.12 * self.normal()).exp(),
                    "uniform" => 0.9 + 0.2 * self.uniform(),
                    "normal" => (1.0 + 0.1 * self.normal()).max(0.1),
                    "wide" => self.normal().exp(),
                    "exponential" => 0.01 - self.uniform().max(1e-12).ln(),
                    "two kinds" => {
                        if self.uniform() < 0.5 {
                            1.0
                        } else {
                            5.0 + 0.1 * self.uniform()
                        }
                    }
                    _ => unreachable!("{kind}"),
                },
            )
        }

        fn runs(&mut self, kind: &str, count: usize) -> Vec<RunCost> {
            (0..count).map(|_| self.draw(kind)).map(|fuel| RunCost { fuel, memory: 6 << 20, micros: 900 }).collect()
        }
    }

    /// Returns a learned limit, the number of the next 1,000 runs that it admits, and the number of
    /// 1,000 runs of double cost that it stops.
    fn tried(kind: &str, count: usize, seed: u64) -> (LearnedLimit, usize, usize) {
        let mut chance = Rng::seeded(seed);
        let limit = learn_limits(&chance.runs(kind, count)).unwrap().fuel;
        let admitted = (0..1_000).filter(|_| chance.draw(kind) <= limit.limit).count();
        let stopped = (0..1_000).filter(|_| 2 * chance.draw(kind) > limit.limit).count();
        (limit, admitted, stopped)
    }

    /// The number of repetitions.
    const TIMES: u64 = 60;

    /// Distributions whose runs differ by less than a factor of two, with the number of runs to
    /// learn from.
    const ALIKE: [(&str, usize); 10] = [
        ("constant", 30),
        ("narrow", 30),
        ("narrow", 200),
        ("log-normal", 200),
        ("uniform", 200),
        ("normal", 400),
        ("constant", MIN_RUNS_DISTRIBUTION_FREE),
        ("log-normal", MIN_RUNS_DISTRIBUTION_FREE),
        ("uniform", MIN_RUNS_DISTRIBUTION_FREE),
        ("normal", MIN_RUNS_DISTRIBUTION_FREE),
    ];

    /// Distributions whose runs differ by more.
    const APART: [(&str, usize); 3] = [
        ("two kinds", MIN_RUNS_DISTRIBUTION_FREE),
        ("wide", MIN_RUNS_DISTRIBUTION_FREE),
        ("exponential", MIN_RUNS_DISTRIBUTION_FREE),
    ];

    #[test]
    fn the_next_runs_are_admitted_whatever_their_distribution() {
        for (kind, count) in ALIKE.into_iter().chain(APART) {
            let missed = (1..=TIMES).filter(|seed| tried(kind, count, *seed).1 < 999).count();
            // 95 % confidence allows 3 misses of 60; log-normal distributions stay far below.
            assert!(missed <= 3, "{kind} {count}: {missed} of {TIMES} times fewer than 999 of 1,000 are admitted");
        }
    }

    #[test]
    fn a_doubling_is_stopped_where_runs_are_alike_and_else_that_is_said() {
        for (kind, count) in ALIKE {
            for seed in 1..=TIMES {
                let (limit, _, stopped) = tried(kind, count, seed);
                assert!(limit.stops_doubling && stopped >= 400, "{kind} {count} seed {seed}: {stopped}, {limit:?}");
            }
        }
        for (kind, count) in &APART[1..] {
            assert!(!tried(kind, *count, 1).0.stops_doubling, "{kind}");
        }
        // The more expensive runs are stopped when they take twice as long.
        assert!(tried("two kinds", MIN_RUNS_DISTRIBUTION_FREE, 1).2 > 400);
    }

    #[test]
    fn the_runs_that_are_enough_for_any_distribution_are_counted_exactly() {
        let exceeded = |runs: usize| 1_000.0 * 999.0 / (to_f64(runs as u64 + 1_000) * to_f64(runs as u64 + 999));
        assert!(exceeded(MIN_RUNS_DISTRIBUTION_FREE) <= 0.05 && exceeded(MIN_RUNS_DISTRIBUTION_FREE - 1) > 0.05);
    }

    #[test]
    fn too_few_runs_say_how_many_are_needed() {
        let error = learn_limits(&Rng::seeded(1).runs("narrow", 29)).unwrap_err();
        assert_eq!(error.to_string(), "there are 29 usable runs, a limit needs at least 30");
    }

    #[test]
    fn memory_is_whole_pages_and_no_less_than_a_call_may_have() {
        let learned = learn_limits(&Rng::seeded(1).runs("constant", 30)).unwrap();
        assert_eq!(learned.memory_bytes.limit, 8 << 20);
        assert_eq!((learned.fuel.limit, learned.timeout_ms.limit), (1_100_000, 10));
    }
}
