//! Measures the decision on the labelled set, `fixtures/reflection`.
//!
//! The engine was tuned on the tuning half; the checking half, other task families by other authors, is what counts.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "labelled/cases.rs"]
mod cases;

use cases::{Case, Half, Judged, halves};
use toolcell_reflection::Trigger;

/// A ratio, 1 where there is nothing to count.
fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap());
    if whole == 0 { 1.0 } else { number(part) / number(whole) }
}

/// How well a set of cases was judged.
#[derive(Debug)]
struct Marks {
    precision: f64,
    recall: f64,
    trigger: f64,
}

impl Marks {
    fn from_judged(judged: &[&Judged]) -> Self {
        let count = |rule: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| rule(one)).count();
        let hits = count(&|one| one.recommends && one.case.recommend);
        Self {
            precision: ratio(hits, count(&|one| one.recommends)),
            recall: ratio(hits, count(&|one| one.case.recommend)),
            trigger: ratio(count(&|one| one.recommends && one.case.recommend && one.is_trigger_right()), hits),
        }
    }

    fn f1(&self) -> f64 {
        2.0 * self.precision * self.recall / (self.precision + self.recall).max(f64::MIN_POSITIVE)
    }
}

/// The mean squared distance of score and truth.
fn brier(judged: &[Judged]) -> f64 {
    let sum: f64 = judged.iter().map(|one| (one.score - one.truth()).powi(2)).sum();
    sum / f64::from(u32::try_from(judged.len()).unwrap())
}

/// The expected calibration error over ten bins.
fn calibration_error(judged: &[Judged]) -> f64 {
    let bin = |bin: u32| {
        let (from, to) = (f64::from(bin) / 10.0, f64::from(bin + 1) / 10.0);
        let inside = judged.iter().filter(|one| one.score >= from && (one.score < to || bin == 9));
        inside.map(|one| one.score - one.truth()).sum::<f64>().abs()
    };
    (0..10).map(bin).sum::<f64>() / f64::from(u32::try_from(judged.len()).unwrap())
}

/// The precision of the highest scores that hold half of the positives.
fn precision_at_half(judged: &[Judged]) -> f64 {
    let mut ranked: Vec<&Judged> = judged.iter().collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    let positives = judged.iter().filter(|one| one.case.recommend).count();
    let mut found = 0;
    for (at, one) in ranked.iter().enumerate() {
        found += usize::from(one.case.recommend);
        if found * 2 >= positives {
            return ratio(found, at + 1);
        }
    }
    1.0
}

#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn print(half: &Half, judged: &[Judged]) {
    println!("{}: {} cases", half.name, judged.len());
    let tell = |title: &str, some: &[&Judged]| {
        let marks = Marks::from_judged(some);
        println!(
            "  {title:<5} precision {:.3}  recall {:.3}  F1 {:.3}  trigger {:.3}",
            marks.precision,
            marks.recall,
            marks.f1(),
            marks.trigger
        );
    };
    tell("all", &judged.iter().collect::<Vec<_>>());
    for lang in ["ja", "en", "zh"] {
        tell(lang, &judged.iter().filter(|one| one.case.lang == lang).collect::<Vec<_>>());
    }
    let (brier, error, half_precision) = (brier(judged), calibration_error(judged), precision_at_half(judged));
    println!("  Brier {brier:.3}  ECE {error:.3}  precision at recall 0.5 {half_precision:.3}");
    if half.name == "tuning" {
        for one in judged.iter().filter(|one| one.recommends != one.case.recommend) {
            println!("  missed {} (score {:.2})", one.case.id, one.score);
        }
    }
}

#[test]
fn the_decision_is_right_on_cases_that_it_was_not_tuned_on() {
    for half in halves() {
        let judged: Vec<Judged> = half.cases.iter().map(Judged::from_case).collect();
        print(&half, &judged);
        let marks = Marks::from_judged(&judged.iter().collect::<Vec<_>>());
        if half.name == "checking" {
            assert!(marks.precision >= 0.95 && marks.recall >= 0.85 && marks.trigger >= 0.9, "{marks:?}");
        }
    }
}

#[test]
fn the_set_is_what_it_should_be() {
    let mut ids = std::collections::HashSet::new();
    for half in halves() {
        let positive = half.cases.iter().filter(|case| case.recommend).count();
        let negatives = ratio(half.cases.len() - positive, half.cases.len());
        assert!((0.45..=0.65).contains(&negatives), "{negatives:.2} of {} are negatives", half.name);
        for Case { id, recommend, trigger, .. } in &half.cases {
            assert!(ids.insert(id.clone()), "{id} is there twice");
            assert_eq!(*recommend, !trigger.is_empty(), "{id}");
            assert!(trigger.iter().all(|one| Trigger::ALL.iter().any(|known| known.name() == one)), "{id}");
        }
    }
}
