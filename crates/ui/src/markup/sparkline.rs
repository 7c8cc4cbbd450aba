//! A small line of the runs on each day.

use jiff::ToSpan as _;
use jiff::civil::Date;
use maud::{Markup, html};
use toolcell::store::DailyUsage;
use toolcell_i18n::{Lang, tr};

use super::grouped;

/// The size of the picture, in its own units.
const WIDTH: usize = 120;
const HEIGHT: usize = 24;

/// Draws the runs of each of the days from `from` to `to`, both inclusive. Days that are not listed have none.
pub(crate) fn sparkline(days: &[DailyUsage], from: Date, to: Date, lang: Lang) -> Markup {
    let runs = |day: Date| days.iter().find(|usage| usage.day == day).map_or(0, |usage| usage.totals.runs);
    let counts: Vec<u64> = from.series(1.day()).take_while(|day| *day <= to).map(runs).collect();
    let all: u64 = counts.iter().fold(0, |all, count| all.saturating_add(*count));
    let points = points(&counts);
    let label = tr!(lang, "runs in {days} days: {runs}", days = counts.len(), runs = grouped(all));
    html! {
        svg.sparkline viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            title { (label) }
            polyline points=(points) {}
        }
    }
}

/// Returns the points of the line: the busiest day is at the top.
fn points(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let last = counts.len().saturating_sub(1).max(1);
    let point = |(at, count): (usize, &u64)| {
        // Within a border of two units, which the line is drawn into.
        let x = 2 + at * (WIDTH - 4) / last;
        let height = u128::from(*count) * (HEIGHT as u128 - 4) / u128::from(most);
        format!("{x},{}", HEIGHT as u128 - 2 - height)
    };
    counts.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_day_is_at_the_top() {
        assert_eq!(points(&[0, 5, 10]), "2,22 60,12 118,2");
        assert_eq!(points(&[u64::MAX, 0]), "2,2 118,22");
        assert_eq!(points(&[0]), "2,22");
        assert_eq!(points(&[]), "");
    }
}
