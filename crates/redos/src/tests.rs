//! Tests of the verdicts, and of the attacks that support them.
//!
//! Invariant: a pattern counts as risky here only if the attack of the check was run, and was slow
//! as claimed. The attacks were also timed once on the engine of Node, where they are slow in the
//! same way.

mod borders;
mod engine;
mod known;
mod verdicts;

use super::alphabet::Alphabet;
use super::budget::StepBudget;
use super::engine::{Engine, MatchOutcome, Search};
use super::flags::Flags;
use super::program::Program;
use super::{Attack, Risk, Verdict, charset, parser};

/// The expected verdict on a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Safe,
    Exponential,
    /// Slow by a power of the length, of at least this degree, in a single attempt at a match.
    Polynomial(u32),
    /// Slow only because a search starts again at each offset.
    SlowToFind,
    Unknown,
    Invalid,
}

/// More steps than the check itself measures when it calls a pattern exponential.
const THRESHOLD: u32 = 400_000;

/// Enough repetitions to reach the threshold.
const MAX_REPEATED: usize = 24;

/// Checks that each pattern has the expected verdict.
fn expect(is: Is, flags: &str, patterns: &[&str]) {
    let wrong: Vec<String> = patterns
        .iter()
        .filter_map(|pattern| {
            let short: String = pattern.chars().take(80).collect();
            let verdict = check(pattern, flags);
            let right = proven(pattern, flags, &verdict).is_some_and(|proven| match (is, proven) {
                (Is::Polynomial(least), Is::Polynomial(degree)) => degree >= least,
                _ => is == proven,
            });
            (!right).then(|| format!("/{short}/{flags} is {verdict:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "not {is:?}, or not as slow as that: {wrong:#?}");
}

/// Returns the verdict on a pattern, if its attack proves it.
fn proven(pattern: &str, flags: &str, verdict: &Verdict) -> Option<Is> {
    match verdict {
        Verdict::Safe => Some(Is::Safe),
        Verdict::Unknown => Some(Is::Unknown),
        Verdict::Invalid => Some(Is::Invalid),
        Verdict::Risky(Risk::Exponential { attack }) => {
            is_exponential(pattern, flags, attack).then_some(Is::Exponential)
        }
        Verdict::Risky(Risk::Polynomial { degree, by_search, attack }) => {
            let is = if *by_search { Is::SlowToFind } else { Is::Polynomial(*degree) };
            is_polynomial(pattern, flags, attack).then_some(is)
        }
    }
}

/// Returns whether each repetition takes nearly twice the steps of the one before, until the
/// threshold is exceeded.
fn is_exponential(pattern: &str, flags: &str, attack: &Attack) -> bool {
    let counts = (0..=MAX_REPEATED).map(|repeated| run(pattern, flags, &text(attack, repeated), THRESHOLD).1);
    let below: Vec<u32> = counts.take_while(|steps| *steps < THRESHOLD).collect();
    let grows = below.windows(2).all(|pair| pair[1] < 2_000 || pair[1] * 10 >= pair[0] * 16);
    below.len() <= MAX_REPEATED && !below.is_empty() && grows
}

/// Returns whether twice as many repetitions take much more than twice as many steps, and do so
/// again.
fn is_polynomial(pattern: &str, flags: &str, attack: &Attack) -> bool {
    let most = 3_000_000;
    let [few, more, many] = [30, 60, 120].map(|repeated| run(pattern, flags, &text(attack, repeated), most).1);
    let grows = |from: u32, to: u32| to == most || to * 10 >= from * 25;
    grows(few, more) && grows(more, many)
}

fn text(attack: &Attack, repeated: usize) -> String {
    [&*attack.prefix, &*attack.pump.repeat(repeated), &*attack.suffix].concat()
}

fn check(pattern: &str, flags: &str) -> Verdict {
    super::check(pattern, flags, &StepBudget::for_source())
}

/// Searches for a match as JavaScript does.
fn run(pattern: &str, flags: &str, text: &str, steps: u32) -> (MatchOutcome, u32) {
    let pattern = parser::parse(pattern, Flags::parse(flags).unwrap()).unwrap();
    let alphabet = Alphabet::new(&pattern.sets, pattern.last_character()).unwrap();
    let program = Program::compile(&pattern);
    let search = if pattern.sticky { Search::At(0) } else { Search::Everywhere };
    Engine::new(&program, &alphabet, charset::units(text, pattern.unicode)).run(search, steps)
}

#[test]
fn an_attack_is_harmless_until_it_is_repeated() {
    let verdict = check(r"^(\w+\s?)*$", "");
    let Verdict::Risky(Risk::Exponential { attack }) = verdict else { panic!("{verdict:?}") };
    let steps = |repeated| run(r"^(\w+\s?)*$", "", &text(&attack, repeated), THRESHOLD);
    assert_eq!(steps(0).0, MatchOutcome::NoMatch);
    assert!(steps(0).1 < 100 && steps(4).1 < 1_000);
    assert_eq!(steps(MAX_REPEATED).0, MatchOutcome::Exhausted);
}

#[test]
fn patterns_of_a_source_share_an_allowance() {
    let allowance = StepBudget::new(2_000_000);
    let verdicts: Vec<Verdict> = (0..20).map(|at| super::check(&format!("(a+)+{at}"), "", &allowance)).collect();
    assert!(matches!(verdicts[0], Verdict::Risky(Risk::Exponential { .. })), "{:?}", verdicts[0]);
    assert_eq!(verdicts[19], Verdict::Unknown);
    // One costly pattern leaves enough for others.
    let allowance = StepBudget::for_source();
    let _ = super::check(&"x*".repeat(32_768), "", &allowance);
    assert!(matches!(super::check("(a+)+$", "", &allowance), Verdict::Risky(_)));
}
