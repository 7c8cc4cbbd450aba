//! Regular expressions that some text makes slow: a check for `ReDoS`.
//!
//! In three stages: the pattern becomes an automaton with a path for each way to match (`parser`, `construction`); where
//! the number of paths grows without bound, a word shows it (`ambiguity`); and that word is made into an attack, and
//! tried on a backtracking engine that counts its steps (`attack`, `slowness`, `engine`).
//! Invariant: nothing is called risky that has not been slow, and every stage has a limit. A pattern beyond one of them
//! is unknown, and never taken to be safe.

mod allowance;
mod alphabet;
mod ambiguity;
mod attack;
mod automaton;
mod boundary;
mod charset;
mod classes;
mod construction;
mod context;
mod engine;
mod exploration;
mod flags;
mod parser;
mod program;
mod slowness;
mod suffix;
mod syntax;
mod unicode;

#[cfg(test)]
mod tests;

pub(crate) use allowance::Allowance;

use alphabet::Alphabet;
use ambiguity::{Ambiguity, Kind, MAX_CANDIDATES};
use attack::{Prover, Pumps};
use construction::Part;
use engine::Search;
use flags::Flags;
use program::Program;
use slowness::Trials;
use syntax::{Direction, Reject};

/// What the check says of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No text was found that makes it slow.
    Safe,
    /// A text makes it slow.
    Risky(Risk),
    /// It is too large, or nested too deep, to say.
    Unknown,
    /// It is not a regular expression.
    Invalid,
}

/// What a backtracking engine can be made to do with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Risk {
    /// One more repetition doubles the time, or worse.
    Exponential {
        /// A text that shows it.
        attack: Attack,
    },
    /// The time grows with the length of the text to this power.
    Polynomial {
        /// What was measured: a lower bound where it is high.
        degree: u32,
        /// Each single attempt at a match is fast; it is that the search tries again from each place of the text. This
        /// is looked for only where a loop begins the pattern.
        by_search: bool,
        /// A text that shows it.
        attack: Attack,
    },
}

/// A text that makes a pattern slow: the prefix, then the pump again and again, then the suffix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attack {
    pub(crate) prefix: String,
    pub(crate) pump: String,
    pub(crate) suffix: String,
}

/// The longest pattern that is looked at, in bytes.
const MAX_LENGTH: usize = 64 << 10;

/// How many parts of a pattern are looked at for themselves: the whole, and lookarounds that read the other way.
const MAX_PARTS: usize = 16;

/// How long a text can be made of a candidate: this many characters, if it is repeated as often as is needed.
const MAX_TEXT: usize = 10_000;

/// How many steps a range of characters takes, to be read and told from others.
const RANGE: usize = 20;

/// How many steps the search for candidates takes.
const MAX_EXPLORED: u32 = 100_000;

/// How many steps the engine takes.
const MAX_RUN: u32 = 1_000_000;

/// Whether some text makes a pattern slow. All patterns of a source share an allowance, and have no more than a part of
/// it each.
pub(crate) fn check(pattern: &str, flags: &str, allowance: &Allowance) -> Verdict {
    let Some(flags) = Flags::of(flags) else { return Verdict::Invalid };
    if pattern.len() > MAX_LENGTH || allowance.left() == 0 {
        return Verdict::Unknown;
    }
    match examine(pattern, flags, allowance) {
        Ok(verdict) => verdict,
        Err(Reject::Invalid) => Verdict::Invalid,
        Err(Reject::TooLarge) => Verdict::Unknown,
    }
}

fn examine(pattern: &str, flags: Flags, allowance: &Allowance) -> Result<Verdict, Reject> {
    let pattern = parser::parse(pattern, flags)?;
    if !pattern.root.repeats() {
        return Ok(Verdict::Safe);
    }
    let alphabet = Alphabet::of(&pattern.sets, pattern.last_character())?;
    let bodies = pattern.bodies();
    let program = Program::of(&pattern);
    let ranges: usize = pattern.sets.iter().map(|set| set.ranges().len()).sum();
    allowance.take(RANGE * ranges);
    let (explored, run) = (allowance.part(MAX_EXPLORED), allowance.part(MAX_RUN));
    let trials = Trials { pattern: &pattern, alphabet: &alphabet, program: &program, allowance: &run };
    let contexts = if pattern.sticky { Vec::new() } else { context::contexts(&pattern, &alphabet) };
    let mut worst = Worst::default();
    let mut parts = vec![Part { node: &pattern.root, direction: Direction::Forward }];
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.pop() else { break };
        let Ok((automaton, inner)) = construction::construct(part, &bodies, &alphabet, allowance) else {
            worst.left_out = true;
            break;
        };
        parts.extend(inner);
        let prover = Prover { trials, contexts: &contexts, automaton: &automaton, direction: part.direction };
        worst.look_at(&prover, &Ambiguity::new(&automaton, &explored));
        if worst.is_exponential() {
            break;
        }
    }
    worst.left_out |= !parts.is_empty() || explored.left() == 0 || run.left() == 0;
    worst.search(trials);
    allowance.give_back(explored);
    allowance.give_back(run);
    Ok(worst.verdict())
}

/// The worst risk so far.
#[derive(Debug, Default)]
struct Worst {
    risk: Option<Risk>,
    /// There was more to look at.
    left_out: bool,
}

impl Worst {
    fn look_at(&mut self, prover: &Prover<'_>, ambiguity: &Ambiguity<'_>) {
        for find in [Ambiguity::doublings, Ambiguity::splittings, Ambiguity::restarts] {
            if self.is_exponential() {
                return;
            }
            let mut candidates = find(ambiguity);
            let all = candidates.len();
            candidates.retain(|candidate| candidate.prefix.len() + 20 * candidate.pump.len() <= MAX_TEXT);
            // If there are as many as there may be, there are likely more.
            self.left_out |= all == MAX_CANDIDATES || candidates.len() < all;
            for tried in [Pumps::Plain, Pumps::Variants] {
                for candidate in &candidates {
                    if self.could_be_worse(candidate.kind, tried) {
                        self.add(prover.prove(candidate, tried));
                    }
                }
            }
        }
    }

    fn add(&mut self, risk: Option<Risk>) {
        if self.rank() < risk.as_ref().map(Risk::rank) {
            self.risk = risk;
        }
    }

    fn rank(&self) -> Option<(bool, u32)> {
        self.risk.as_ref().map(Risk::rank)
    }

    fn is_exponential(&self) -> bool {
        matches!(self.risk, Some(Risk::Exponential { .. }))
    }

    /// Whether to try a candidate, after what was found. If attempts are slow, so are searches, and the variants of a
    /// pump are as slow as the pump.
    fn could_be_worse(&self, kind: Kind, tried: Pumps) -> bool {
        let attempts_are_slow = self.rank().is_some_and(|(in_attempt, _)| in_attempt);
        match kind {
            Kind::Doubling => !self.is_exponential(),
            Kind::Splitting => !self.is_exponential() && (tried == Pumps::Plain || !attempts_are_slow),
            Kind::Restarting => !attempts_are_slow,
        }
    }

    /// A search tries again from each place, which may add to the degree.
    fn search(&mut self, trials: Trials<'_>) {
        if let Some(Risk::Polynomial { degree, by_search: false, attack }) = &mut self.risk
            && !trials.pattern.sticky
        {
            *degree = trials.degree(attack, Search::Everywhere).unwrap_or(0).max(*degree);
        }
    }

    /// What is only slow by search says nothing of what was left out.
    fn verdict(self) -> Verdict {
        match self.risk {
            Some(risk) if !self.left_out || risk.rank().0 => Verdict::Risky(risk),
            _ if self.left_out => Verdict::Unknown,
            _ => Verdict::Safe,
        }
    }
}

impl Risk {
    /// Larger for what is worse: whether it is in a single attempt, and how much.
    fn rank(&self) -> (bool, u32) {
        match self {
            Self::Exponential { .. } => (true, u32::MAX),
            Self::Polynomial { degree, by_search, .. } => (!by_search, *degree),
        }
    }
}
