//! Detection of regular expression denial of service (`ReDoS`): patterns of JavaScript that some text makes slow.
//!
//! The check has three stages. The pattern becomes an automaton with a path for each way to match
//! (`parser`, `construction`). Where the number of paths grows without bound, a word demonstrates
//! it (`ambiguity`). That word becomes an attack, which is run on a backtracking engine that counts
//! its steps (`attack`, `measure`, `engine`).
//!
//! Invariant: a pattern is called risky only after it was measured to be slow, and every stage has
//! a limit. A pattern beyond a limit is unknown, never safe. The verdict depends on the pattern,
//! its flags and the budget alone: no function here uses a clock, a file, a thread or a random
//! number.

mod alphabet;
mod ambiguity;
mod attack;
mod automaton;
mod boundary;
mod budget;
mod charset;
mod classes;
mod construction;
mod context;
mod engine;
mod exploration;
mod flags;
mod measure;
mod parser;
mod program;
mod suffix;
mod syntax;
mod unicode;

#[cfg(test)]
mod tests;

pub use budget::StepBudget;

use alphabet::Alphabet;
use ambiguity::{Ambiguity, CandidateKind, MAX_CANDIDATES};
use attack::{Prover, Pumps};
use construction::Part;
use engine::Search;
use flags::Flags;
use measure::AttackRunner;
use program::Program;
use syntax::{Direction, PatternError};

/// The verdict on a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No text was found that makes it slow.
    Safe,
    /// A text makes it slow.
    Risky(Risk),
    /// It is too large, or nested too deeply, to be decided.
    Unknown,
    /// It is not a regular expression.
    Invalid,
}

/// The growth of a backtracking engine's time on a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Risk {
    /// Each repetition doubles the time, or worse.
    Exponential {
        /// A text that demonstrates it.
        attack: Attack,
    },
    /// The time grows with a power of the text length.
    Polynomial {
        /// The measured degree; a lower bound if it is high.
        degree: u32,
        /// Whether each attempt at a match is fast, and only the search, which starts again at each
        /// offset of the text, is slow. This is checked only for patterns that start with a loop.
        by_search: bool,
        /// A text that demonstrates it.
        attack: Attack,
    },
}

/// A text that makes a pattern slow: the prefix, then the repeated pump, then the suffix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attack {
    /// The text before the repeated part.
    pub prefix: String,
    /// The repeated part; more repetitions take more time.
    pub pump: String,
    /// The text after the repeated part, which makes the match fail.
    pub suffix: String,
}

/// The maximum length of a pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 64 << 10;

/// The maximum number of separately analysed parts of a pattern: the whole, and lookarounds that
/// read in the other direction.
const MAX_PARTS: usize = 16;

/// The maximum length of the text of a candidate, in characters, with its pump repeated as often as
/// needed.
const MAX_TEXT_CHARS: usize = 10_000;

/// The cost of a character range, in steps: reading it, and telling it apart from others.
const STEPS_PER_RANGE: usize = 20;

/// The maximum number of steps of the search for candidates.
const MAX_SEARCH_STEPS: u32 = 100_000;

/// The maximum number of steps of the engine.
const MAX_ENGINE_STEPS: u32 = 1_000_000;

/// Checks whether some text makes a pattern slow. All patterns of a source share a budget, and each
/// gets at most a part of it.
///
/// # Examples
/// ```
/// use toolcell_redos::{Risk, StepBudget, Verdict, check};
///
/// let budget = StepBudget::for_source();
/// assert!(matches!(check("^(?:a+)+$", "", &budget), Verdict::Risky(Risk::Exponential { .. })));
/// assert_eq!(check("^a+$", "", &budget), Verdict::Safe);
/// assert_eq!(check("(", "", &budget), Verdict::Invalid);
/// ```
#[must_use]
pub fn check(pattern: &str, flags: &str, allowance: &StepBudget) -> Verdict {
    let Some(flags) = Flags::parse(flags) else { return Verdict::Invalid };
    if pattern.len() > MAX_PATTERN_BYTES || allowance.remaining() == 0 {
        return Verdict::Unknown;
    }
    match examine(pattern, flags, allowance) {
        Ok(verdict) => verdict,
        Err(PatternError::Invalid) => Verdict::Invalid,
        Err(PatternError::TooLarge) => Verdict::Unknown,
    }
}

fn examine(pattern: &str, flags: Flags, allowance: &StepBudget) -> Result<Verdict, PatternError> {
    let pattern = parser::parse(pattern, flags)?;
    if !pattern.root.has_repeated_choice() {
        return Ok(Verdict::Safe);
    }
    let alphabet = Alphabet::new(&pattern.sets, pattern.last_character())?;
    let bodies = pattern.bodies();
    let program = Program::compile(&pattern);
    let ranges: usize = pattern.sets.iter().map(|set| set.ranges().len()).sum();
    allowance.take(STEPS_PER_RANGE * ranges);
    let (explored, run) = (allowance.split_off(MAX_SEARCH_STEPS), allowance.split_off(MAX_ENGINE_STEPS));
    let trials = AttackRunner { pattern: &pattern, alphabet: &alphabet, program: &program, budget: &run };
    let contexts = if pattern.sticky { Vec::new() } else { context::contexts(&pattern, &alphabet) };
    let mut worst = WorstRisk::default();
    let mut parts = vec![Part { node: &pattern.root, direction: Direction::Forward }];
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.pop() else { break };
        let Ok((automaton, inner)) = construction::construct(part, &bodies, &alphabet, allowance) else {
            worst.is_incomplete = true;
            break;
        };
        parts.extend(inner);
        let prover = Prover { runner: trials, contexts: &contexts, automaton: &automaton, direction: part.direction };
        worst.assess(&prover, &Ambiguity::new(&automaton, &explored));
        if worst.is_exponential() {
            break;
        }
    }
    worst.is_incomplete |= !parts.is_empty() || explored.remaining() == 0 || run.remaining() == 0;
    worst.measure_search(trials);
    allowance.give_back(explored);
    allowance.give_back(run);
    Ok(worst.verdict())
}

/// The worst risk found so far.
#[derive(Debug, Default)]
struct WorstRisk {
    risk: Option<Risk>,
    /// Whether the search was incomplete.
    is_incomplete: bool,
}

impl WorstRisk {
    fn assess(&mut self, prover: &Prover<'_>, ambiguity: &Ambiguity<'_>) {
        for find in [Ambiguity::doublings, Ambiguity::splittings, Ambiguity::restarts] {
            if self.is_exponential() {
                return;
            }
            let mut candidates = find(ambiguity);
            let all = candidates.len();
            candidates.retain(|candidate| candidate.prefix.len() + 20 * candidate.pump.len() <= MAX_TEXT_CHARS);
            // If the number of candidates reaches its limit, there are likely more.
            self.is_incomplete |= all == MAX_CANDIDATES || candidates.len() < all;
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

    /// Returns whether a candidate can be worse than what was found. If attempts are slow, so are
    /// searches, and the variants of a pump are as slow as the pump.
    fn could_be_worse(&self, kind: CandidateKind, tried: Pumps) -> bool {
        let attempts_are_slow = self.rank().is_some_and(|(in_attempt, _)| in_attempt);
        match kind {
            CandidateKind::Doubling => !self.is_exponential(),
            CandidateKind::Splitting => !self.is_exponential() && (tried == Pumps::Plain || !attempts_are_slow),
            CandidateKind::Restarting => !attempts_are_slow,
        }
    }

    /// Measures the search as well: it starts again at each offset, which may add to the degree.
    fn measure_search(&mut self, trials: AttackRunner<'_>) {
        if let Some(Risk::Polynomial { degree, by_search: false, attack }) = &mut self.risk
            && !trials.pattern.sticky
        {
            *degree = trials.degree(attack, Search::Everywhere).unwrap_or(0).max(*degree);
        }
    }

    /// Returns the verdict. A pattern that is slow only by search remains unknown if the search for
    /// candidates was incomplete.
    fn verdict(self) -> Verdict {
        match self.risk {
            Some(risk) if !self.is_incomplete || risk.rank().0 => Verdict::Risky(risk),
            _ if self.is_incomplete => Verdict::Unknown,
            _ => Verdict::Safe,
        }
    }
}

impl Risk {
    /// Returns a rank, larger for a worse risk: whether a single attempt is slow, and the degree.
    fn rank(&self) -> (bool, u32) {
        match self {
            Self::Exponential { .. } => (true, u32::MAX),
            Self::Polynomial { degree, by_search, .. } => (!by_search, *degree),
        }
    }
}
