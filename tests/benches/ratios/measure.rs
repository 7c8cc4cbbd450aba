//! Timing: each call is timed alone, and comparisons alternate, so that noise affects both sides.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::table::Figure;

/// The times of calls of one kind.
#[derive(Default)]
pub(crate) struct Series(Vec<Duration>);

impl Series {
    /// Makes calls and times each of them.
    pub(crate) fn time<T>(&mut self, calls: usize, mut call: impl FnMut() -> T) {
        self.0.reserve(calls);
        for _ in 0..calls {
            let started = Instant::now();
            let result = black_box(call());
            drop(result);
            self.0.push(started.elapsed());
        }
    }

    /// Adds times measured elsewhere.
    pub(crate) fn extend(&mut self, durations: impl IntoIterator<Item = Duration>) {
        self.0.extend(durations);
    }

    pub(crate) fn median(&self) -> Figure {
        self.quantile(50)
    }

    /// Returns the 99th percentile.
    pub(crate) fn p99(&self) -> Figure {
        self.quantile(99)
    }

    fn quantile(&self, percent: usize) -> Figure {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        Figure::time(sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)])
    }
}
