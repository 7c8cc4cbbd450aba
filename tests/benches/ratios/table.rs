//! The printed table: measured figures, with the figures they are compared with and their targets.
//!
//! Invariant: whether a target is met depends only on the figures of its row.

use std::fmt;
use std::time::Duration;

/// A measured value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// Seconds; lower is better.
    Time(f64),
    /// Calls per second; higher is better.
    Rate(f64),
    /// KiB; lower is better.
    Kib(f64),
    /// A count; lower is better.
    Count(f64),
}

impl Figure {
    pub(crate) fn time(duration: Duration) -> Self {
        Self::Time(duration.as_secs_f64())
    }

    /// Returns a time in seconds, and any other figure in its unit.
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Time(value) | Self::Rate(value) | Self::Kib(value) | Self::Count(value) => value,
        }
    }

    /// Subtracts a time from another.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self::Time((self.value() - other.value()).max(0.0))
    }

    /// Returns how many times better this figure is than the other one.
    fn times_better_than(self, other: Self) -> f64 {
        match self {
            Self::Rate(_) => self.value() / other.value(),
            _ => other.value() / self.value(),
        }
    }

    /// Returns the words for better and for worse.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Time(_) | Self::Rate(_) => ("faster", "slower"),
            Self::Kib(_) | Self::Count(_) => ("less", "more"),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(seconds) if seconds < 1e-3 => write!(f, "{:.1} µs", seconds * 1e6),
            Self::Time(seconds) => write!(f, "{:.1} ms", seconds * 1e3),
            Self::Rate(rate) => write!(f, "{rate:.0} /s"),
            Self::Kib(kib) => write!(f, "{kib:.0} KiB"),
            Self::Count(count) => write!(f, "{count:.0}"),
        }
    }
}

/// The target of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// The figure is at most this.
    AtMost(Figure),
    /// The figure is at least this.
    AtLeast(Figure),
    /// At least this many times better than the compared figure.
    TimesBetter(f64),
    /// At most this many times worse than the compared figure.
    TimesWorse(f64),
}

/// A row of the table.
pub(crate) struct Row {
    name: String,
    ours: Figure,
    theirs: Option<Figure>,
    target: Option<Target>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, ours: Figure) -> Self {
        Self { name: name.into(), ours, theirs: None, target: None }
    }

    /// Adds the figure to compare with.
    pub(crate) fn beside(mut self, theirs: Figure) -> Self {
        self.theirs = Some(theirs);
        self
    }

    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    fn times_better(&self) -> Option<f64> {
        self.theirs.map(|theirs| self.ours.times_better_than(theirs))
    }

    /// Whether the target is met; `None` without a target.
    fn met(&self) -> Option<bool> {
        Some(match self.target? {
            Target::AtMost(most) => self.ours.value() <= most.value(),
            Target::AtLeast(least) => self.ours.value() >= least.value(),
            Target::TimesBetter(least) => self.times_better()? >= least,
            Target::TimesWorse(most) => self.times_better()? >= 1.0 / most,
        })
    }

    fn ratio_text(&self) -> String {
        let (better, worse) = self.ours.words();
        match self.times_better() {
            None => String::new(),
            Some(times) if times >= 1.0 => format!("{times:.2}x {better}"),
            Some(times) => format!("{:.2}x {worse}", 1.0 / times),
        }
    }

    fn target_text(&self) -> String {
        let (better, worse) = self.ours.words();
        match self.target {
            None => String::new(),
            Some(Target::AtMost(most)) => format!("at most {most}"),
            Some(Target::AtLeast(least)) => format!("at least {least}"),
            Some(Target::TimesBetter(least)) => format!("at least {least:.1}x {better}"),
            Some(Target::TimesWorse(most)) => format!("at most {most:.1}x {worse}"),
        }
    }

    fn cells(&self) -> Cells {
        let theirs = self.theirs.map_or_else(String::new, |theirs| theirs.to_string());
        let verdict = self.met().map_or("", |met| if met { "ok" } else { "missed" });
        [self.name.clone(), self.ours.to_string(), theirs, self.ratio_text(), self.target_text(), verdict.to_owned()]
    }
}

type Cells = [String; 6];

enum Line {
    Section(&'static str),
    Row(Row),
    Note(String),
}

/// All lines, in the order of measurement.
#[derive(Default)]
pub(crate) struct Table(Vec<Line>);

impl Table {
    pub(crate) fn section(&mut self, title: &'static str) {
        self.0.push(Line::Section(title));
    }

    pub(crate) fn row(&mut self, row: Row) {
        self.0.push(Line::Row(row));
    }

    /// Adds a note on a figure that could not be measured.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.0.push(Line::Note(text.into()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["", "Toolcell", "the other", "ratio", "target", ""].map(str::to_owned);
        let rows = || self.0.iter().filter_map(|line| if let Line::Row(row) = line { Some(row) } else { None });
        let mut widths = header.each_ref().map(|cell| cell.chars().count());
        for row in rows() {
            for (width, cell) in widths.iter_mut().zip(row.cells()) {
                *width = cell.chars().count().max(*width);
            }
        }
        write_cells(f, &header, &widths)?;
        for line in &self.0 {
            match line {
                Line::Section(title) => writeln!(f, "\n{title}")?,
                Line::Row(row) => write_cells(f, &row.cells(), &widths)?,
                Line::Note(text) => writeln!(f, "{text}")?,
            }
        }
        let verdicts: Vec<bool> = rows().filter_map(Row::met).collect();
        let met = verdicts.iter().filter(|met| **met).count();
        writeln!(f, "\n{met} of {} targets met", verdicts.len())
    }
}

/// Writes a row: names, targets and verdicts aligned left, figures aligned right.
fn write_cells(f: &mut fmt::Formatter<'_>, cells: &Cells, widths: &[usize; 6]) -> fmt::Result {
    let [name, ours, theirs, ratio, target, verdict] = cells;
    let [names, ourses, theirses, ratios, targets, _] = widths;
    let line =
        format!("{name:names$}  {ours:>ourses$}  {theirs:>theirses$}  {ratio:>ratios$}  {target:targets$}  {verdict}");
    writeln!(f, "{}", line.trim_end())
}
