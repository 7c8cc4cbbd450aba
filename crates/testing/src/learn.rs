//! Proposes limits from runs that were recorded.
//!
//! A limit admits, with 95 % confidence, at least 999 of the next 1,000 runs of the same distribution. From 3,471 runs on it is the
//! largest of them, whatever the distribution: how many of the next ones exceed it follows from the ranks alone (E. J. Gumbel and
//! H. von Schelling, "The distribution of the number of exceedances", Annals of Mathematical Statistics 21, 1950). With fewer,
//! the logarithms are taken to be normal, and it is the upper tolerance bound of 99.99 %, with the factor of M. G. Natrella,
//! "Experimental Statistics", NBS Handbook 91, 1963, section 2-5.3. A safety margin comes on top of either.
//!
//! Invariant: no limit is below the largest run that was seen.

use serde::Serialize;

/// The fewest runs that say something.
pub const RUNS_LEAST: usize = 30;
/// From how many runs on the largest of them is the bound. That two or more of the next 1,000 exceed the largest of `n` has the
/// probability 1,000 * 999 / ((n + 1,000) * (n + 999)).
const RUNS_FOR_ANY: usize = 3_471;
/// The quantile of the normal distribution at 99.99 %.
const COVERED: f64 = 3.719_016_485_455_709;
/// The one at 95 %.
const CONFIDENT: f64 = 1.644_853_626_951_472;
/// What a limit of fuel or memory has on top of the bound.
const MARGIN: f64 = 1.1;
/// What a limit of time has: another machine may be slower.
const TIME_MARGIN: f64 = 10.0;
/// The least memory of a call.
const MEMORY_LEAST: u64 = 8 << 20;
/// The pages of memory.
const PAGE: u64 = 64 << 10;

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCost {
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Microseconds.
    pub micros: u64,
}

/// There are too few runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are {have} runs that count, and a limit needs at least {RUNS_LEAST}")]
pub struct TooFew {
    /// How many there are.
    pub have: usize,
}

/// Limits that are proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Learned {
    /// How many runs it is learned from.
    pub runs: usize,
    /// Units of fuel.
    pub fuel: Limit,
    /// Bytes of memory.
    pub memory_bytes: Limit,
    /// Milliseconds.
    pub timeout_ms: Limit,
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// What is proposed.
    pub limit: u64,
    /// The run in the middle.
    pub median: u64,
    /// The largest run.
    pub largest: u64,
    /// By what.
    pub method: Method,
    /// Whether a run of twice the median is stopped.
    pub stops_doubling: bool,
}

/// What a bound is made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The largest of enough runs, whatever their distribution.
    DistributionFree,
    /// The logarithms are normal.
    LogNormal,
}

/// Proposes limits.
///
/// # Errors
/// There are fewer than [`RUNS_LEAST`] runs.
pub fn learn(runs: &[RunCost]) -> Result<Learned, TooFew> {
    if runs.len() < RUNS_LEAST {
        return Err(TooFew { have: runs.len() });
    }
    let limit = |of: fn(&RunCost) -> u64, margin: f64| Limit::of(runs.iter().map(of).collect(), margin);
    let mut memory = limit(|run| run.memory, MARGIN);
    memory.limit = memory.limit.next_multiple_of(PAGE).max(MEMORY_LEAST);
    memory.stops_doubling = memory.limit < memory.median.saturating_mul(2);
    let fuel = limit(|run| run.fuel, MARGIN);
    Ok(Learned {
        runs: runs.len(),
        fuel,
        memory_bytes: memory,
        timeout_ms: limit(|run| run.micros.div_ceil(1000), TIME_MARGIN),
    })
}

impl Limit {
    fn of(mut values: Vec<u64>, margin: f64) -> Self {
        values.sort_unstable();
        let (median, largest) = (values[values.len() / 2], values.last().copied().unwrap_or_default());
        let (bound, method) = if values.len() >= RUNS_FOR_ANY {
            (float(largest), Method::DistributionFree)
        } else {
            (log_normal(&values).max(float(largest)), Method::LogNormal)
        };
        let limit = whole(bound * margin).max(1);
        Self { limit, median, largest, method, stops_doubling: limit < median.saturating_mul(2) }
    }
}

/// The upper tolerance bound of values whose logarithms are normal.
fn log_normal(values: &[u64]) -> f64 {
    let count = float(values.len() as u64);
    let logarithms: Vec<f64> = values.iter().map(|value| float((*value).max(1)).ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let a = 1.0 - CONFIDENT.powi(2) / (2.0 * (count - 1.0));
    let b = COVERED.powi(2) - CONFIDENT.powi(2) / count;
    let factor = (COVERED + (COVERED.powi(2) - a * b).sqrt()) / a;
    (mean + factor * deviation).exp()
}

#[expect(clippy::cast_precision_loss, reason = "a bound that is estimated is not exact")]
const fn float(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive, and a cast saturates")]
fn whole(number: f64) -> u64 {
    number.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are as good as random, and the same each time (G. Marsaglia, "Xorshift RNGs", 2003).
    struct Chance(u64);

    impl Chance {
        fn seeded(seed: u64) -> Self {
            let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            // The first numbers have few bits of a small seed in them.
            for _ in 0..32 {
                chance.uniform();
            }
            chance
        }

        /// From 0 to 1.
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            float(self.0 >> 11) / float(1 << 53)
        }

        /// Normal (G. E. P. Box and M. E. Muller, 1958).
        fn normal(&mut self) -> f64 {
            let (one, other) = (self.uniform().max(1e-12), self.uniform());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        }

        fn draw(&mut self, kind: &str) -> u64 {
            whole(
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

    /// How many of the next 1,000 runs a limit admits, and how many of 1,000 that take twice as much it stops.
    fn tried(kind: &str, count: usize, seed: u64) -> (Limit, usize, usize) {
        let mut chance = Chance::seeded(seed);
        let limit = learn(&chance.runs(kind, count)).unwrap().fuel;
        let admitted = (0..1_000).filter(|_| chance.draw(kind) <= limit.limit).count();
        let stopped = (0..1_000).filter(|_| 2 * chance.draw(kind) > limit.limit).count();
        (limit, admitted, stopped)
    }

    /// How often it is tried.
    const TIMES: u64 = 60;

    /// Kinds of runs that differ by less than a doubling, with how many are learned from.
    const ALIKE: [(&str, usize); 10] = [
        ("constant", 30),
        ("narrow", 30),
        ("narrow", 200),
        ("log-normal", 200),
        ("uniform", 200),
        ("normal", 400),
        ("constant", RUNS_FOR_ANY),
        ("log-normal", RUNS_FOR_ANY),
        ("uniform", RUNS_FOR_ANY),
        ("normal", RUNS_FOR_ANY),
    ];

    /// And those that differ by more.
    const APART: [(&str, usize); 3] =
        [("two kinds", RUNS_FOR_ANY), ("wide", RUNS_FOR_ANY), ("exponential", RUNS_FOR_ANY)];

    #[test]
    fn the_next_runs_are_admitted_whatever_their_distribution() {
        for (kind, count) in ALIKE.into_iter().chain(APART) {
            let missed = (1..=TIMES).filter(|seed| tried(kind, count, *seed).1 < 999).count();
            // 95 % confidence is 3 of 60; those that are log-normal are far within it.
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
        // Each of those that take long is stopped when it takes twice as long.
        assert!(tried("two kinds", RUNS_FOR_ANY, 1).2 > 400);
    }

    #[test]
    fn the_runs_that_are_enough_for_any_distribution_are_counted_exactly() {
        let exceeded = |runs: usize| 1_000.0 * 999.0 / (float(runs as u64 + 1_000) * float(runs as u64 + 999));
        assert!(exceeded(RUNS_FOR_ANY) <= 0.05 && exceeded(RUNS_FOR_ANY - 1) > 0.05);
    }

    #[test]
    fn too_few_runs_say_how_many_are_needed() {
        let error = learn(&Chance::seeded(1).runs("narrow", 29)).unwrap_err();
        assert_eq!(error.to_string(), "there are 29 runs that count, and a limit needs at least 30");
    }

    #[test]
    fn memory_is_whole_pages_and_no_less_than_a_call_may_have() {
        let learned = learn(&Chance::seeded(1).runs("constant", 30)).unwrap();
        assert_eq!(learned.memory_bytes.limit, 8 << 20);
        assert_eq!((learned.fuel.limit, learned.timeout_ms.limit), (1_100_000, 10));
    }
}
