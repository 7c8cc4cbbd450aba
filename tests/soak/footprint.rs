//! The resources of a process, sampled every second, and whether they grow.
//!
//! Invariant: memory is flat if a line fitted to the second half, extrapolated to the whole, rises
//! by less than 5 % or 8 MiB; threads and files are flat if the last quarter has no more of them
//! than the second quarter.

use std::fmt;
use std::path::Path;

/// The allowed rise of memory in KiB, whatever its level.
const RISE_KIB: f64 = 8.0 * 1024.0;
/// The allowed rise of memory relative to its level, if that is more.
const RISE: f64 = 0.05;
/// Number of threads that vary with load.
const THREADS: f64 = 4.0;
/// Number of connections that vary with load.
const FILES: f64 = 32.0;

/// The resources of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    kib: f64,
    threads: f64,
    files: f64,
}

impl Footprint {
    pub(crate) fn measure(pid: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let threads = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        let files = f64::from(u32::try_from(files).unwrap());
        Self { kib: crate::client::rss_kib(pid), threads: threads.trim().parse().unwrap(), files }
    }
}

/// The samples of a process.
pub(crate) struct FootprintTrack {
    pub(crate) pid: u32,
    name: &'static str,
    pub(crate) samples: Vec<Footprint>,
}

impl FootprintTrack {
    pub(crate) fn new(pid: u32, name: &'static str) -> Self {
        Self { pid, name, samples: Vec::new() }
    }

    pub(crate) fn is_flat(&self) -> bool {
        let quarter = |number| self.part(number, number + 1);
        let more = |of: fn(&Footprint) -> f64| median(quarter(3), of) - median(quarter(1), of);
        self.rise_kib() < RISE_KIB.max(RISE * median(&self.samples, |at| at.kib))
            && more(|at| at.threads) <= THREADS
            && more(|at| at.files) <= FILES
    }

    /// Returns the rise of a line fitted to the second half, extrapolated to the whole, in KiB.
    fn rise_kib(&self) -> f64 {
        let half = self.part(2, 4);
        #[expect(clippy::cast_precision_loss, reason = "these are seconds")]
        let points: Vec<(f64, f64)> = half.iter().enumerate().map(|(second, at)| (second as f64, at.kib)).collect();
        #[expect(clippy::cast_precision_loss, reason = "these are seconds")]
        let (count, whole) = (points.len() as f64, self.samples.len() as f64);
        let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), point| {
            (over + (point.0 - x) * (point.1 - y), under + (point.0 - x).powi(2))
        });
        whole * over / under
    }

    /// Returns a range of quarters of the samples.
    fn part(&self, from: usize, to: usize) -> &[Footprint] {
        let length = self.samples.len();
        &self.samples[from * length / 4..to * length / 4]
    }
}

impl fmt::Display for FootprintTrack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |index: usize| self.samples[index.min(self.samples.len() - 1)];
        let times = [at(0), at(self.samples.len() / 2), at(usize::MAX)];
        let [begin, middle, end] = times.map(|at| at.kib / 1024.0);
        let rise = self.rise_kib() / 1024.0;
        write!(f, "{:17}  {begin:.1}, {middle:.1}, {end:.1} MiB at the beginning, middle and end: ", self.name)?;
        let verdict = if self.is_flat() { "flat" } else { "NOT FLAT" };
        write!(f, "{verdict} ({rise:+.1} MiB by the second half); ")?;
        let [first, last] = [times[0], times[2]];
        write!(f, "threads {} to {}, files {} to {}", first.threads, last.threads, first.files, last.files)
    }
}

fn median(samples: &[Footprint], of: fn(&Footprint) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the disk space of a store, in MiB.
pub(crate) fn store_mib(folder: &Path) -> f64 {
    fn bytes(folder: &Path) -> u64 {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.metadata() {
                Ok(about) if about.is_dir() => bytes(&entry.path()),
                // A file that has been removed meanwhile counts as empty.
                about => about.map_or(0, |about| about.len()),
            })
            .sum()
    }
    #[expect(clippy::cast_precision_loss, reason = "nobody looks at single bytes")]
    let mib = bytes(folder) as f64 / 1024.0 / 1024.0;
    mib
}
