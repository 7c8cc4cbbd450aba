//! Regular expressions that some text makes slow: a check for `ReDoS`.
//!
//! In three stages: the pattern becomes an automaton with a path for each way to match (`parser`, `automaton`); where
//! the number of paths grows without bound, a word shows it (`ambiguity`); and that word is made into an attack, and
//! tried on a backtracking engine that counts its steps (`attack`, `engine`).
//! Invariant: nothing is called risky that has not been slow, and every stage has a limit. A pattern beyond one of them
//! is unknown, and never taken to be safe.

mod alphabet;
mod ambiguity;
mod attack;
mod automaton;
mod charset;
mod classes;
mod engine;
mod exploration;
mod parser;
mod program;
mod syntax;
mod unicode;

#[cfg(test)]
mod tests;

use alphabet::Alphabet;
use ambiguity::Ambiguity;
use attack::Prover;
use automaton::Direction;
use exploration::Allowance;
use parser::Flags;
use program::Program;
use syntax::Reject;

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
        /// Each single attempt at a match is fast; it is that the search tries again from each place of the text.
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

/// How many candidates for each kind of risk are tried in each part.
const MAX_CANDIDATES: usize = 16;

/// How many steps the search for candidates takes.
const MAX_EXPLORED: u32 = 500_000;

/// How many steps the engine takes.
const MAX_RUN: u32 = 1_500_000;

/// Whether some text makes a pattern slow.
pub(crate) fn check(pattern: &str, flags: &str) -> Verdict {
    let Some(flags) = Flags::of(flags) else { return Verdict::Invalid };
    if pattern.len() > MAX_LENGTH {
        return Verdict::Unknown;
    }
    match examine(pattern, flags) {
        Ok(verdict) => verdict,
        Err(Reject::Invalid) => Verdict::Invalid,
        Err(Reject::TooLarge) => Verdict::Unknown,
    }
}

fn examine(pattern: &str, flags: Flags) -> Result<Verdict, Reject> {
    let pattern = parser::parse(pattern, flags)?;
    if !pattern.root.repeats() {
        return Ok(Verdict::Safe);
    }
    let alphabet = Alphabet::of(&pattern.sets, pattern.last_character())?;
    let groups = automaton::groups(&pattern);
    let program = Program::of(&pattern);
    let (explored, run) = (Allowance::of(MAX_EXPLORED), Allowance::of(MAX_RUN));
    let mut worst = Worst::default();
    let mut parts = vec![(&pattern.root, Direction::Forward)];
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.pop() else { break };
        let (automaton, inner) = automaton::automaton(part, &groups, &alphabet)?;
        parts.extend(inner);
        let prover = Prover {
            pattern: &pattern,
            alphabet: &alphabet,
            program: &program,
            automaton: &automaton,
            direction: part.1,
            allowance: &run,
        };
        worst.look_at(&prover, &Ambiguity::new(&automaton, &explored));
        if worst.is_exponential() {
            break;
        }
    }
    worst.left_out |= !parts.is_empty() || explored.left() == 0 || run.left() == 0;
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
            let candidates = find(ambiguity);
            self.left_out |= candidates.len() > MAX_CANDIDATES;
            for variants in [false, true] {
                for candidate in candidates.iter().take(MAX_CANDIDATES) {
                    self.add(prover.prove(candidate, variants));
                    if self.is_exponential() {
                        return;
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
    /// Larger for what is worse: whether it matters for a single attempt, and how much.
    fn rank(&self) -> (bool, u32) {
        match self {
            Self::Exponential { .. } => (true, u32::MAX),
            Self::Polynomial { degree, by_search, .. } => (!by_search, *degree),
        }
    }
}
