//! The step from candidates to attacks: suffixes, and the proof that a match is slow.
//!
//! Invariant: every attack that this module returns has been run on the engine, as the very text,
//! and took a number of steps that grows as its risk says. That covers everything that the
//! automaton ignores: constraints of lookarounds and backreferences, and matches that succeed
//! before anything is slow.

use rustc_hash::FxHashSet;

use crate::alphabet::{Letter, Letters};
use crate::ambiguity::{Candidate, CandidateKind};
use crate::automaton::Automaton;
use crate::charset;
use crate::engine::Search;
use crate::measure::AttackRunner;
use crate::suffix::Simulation;
use crate::syntax::Direction;
use crate::{Attack, Risk};

/// The maximum number of letters that are preferred in a pump, one after the other.
const MAX_PREFERRED: usize = 4;

/// The maximum length of a pump with all detours.
const MAX_COMBINED_PUMP: usize = 16;

/// The prover of attacks on a part of a pattern.
#[derive(Debug)]
pub(crate) struct Prover<'a> {
    pub(crate) runner: AttackRunner<'a>,
    /// Texts that may have to precede a match.
    pub(crate) contexts: &'a [String],
    /// The automaton of the part.
    pub(crate) automaton: &'a Automaton,
    pub(crate) direction: Direction,
}

/// The pumps of a candidate that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pumps {
    /// The pump of the rarest letters.
    Plain,
    /// Pumps with other letters, or with a detour.
    Variants,
}

impl Prover<'_> {
    /// Returns the risk of a candidate, if it is slow.
    pub(crate) fn prove(&self, candidate: &Candidate, tried: Pumps) -> Option<Risk> {
        let by_search = candidate.kind == CandidateKind::Restarting;
        let sticky = self.runner.pattern.sticky;
        if by_search && sticky {
            return None;
        }
        let pumps = pumps(candidate);
        let pumps = if tried == Pumps::Plain { &pumps[..1] } else { &pumps[1..] };
        let attacks: Vec<Attack> = pumps.iter().flat_map(|pump| self.attacks(&candidate.prefix, pump)).collect();
        let attacks: Vec<(Attack, Search)> =
            attacks.into_iter().flat_map(|attack| self.with_contexts(attack)).collect();
        if candidate.kind == CandidateKind::Doubling {
            let explosive = attacks.iter().find(|(attack, search)| {
                // A match that reaches a lookbehind may have started anywhere. The search adds no
                // doubling.
                let anywhere = self.direction == Direction::Backward && !sticky;
                self.runner.is_exponential(attack, if anywhere { Search::Everywhere } else { *search })
            });
            if let Some((attack, _)) = explosive {
                return Some(Risk::Exponential { attack: attack.clone() });
            }
            // Variants take time, and a doubling candidate seldom has variants that are slow in
            // another way.
            if tried == Pumps::Variants {
                return None;
            }
        }
        attacks.into_iter().find_map(|(attack, search)| {
            let degree =
                if by_search { self.runner.degree_of_search(&attack) } else { self.runner.degree(&attack, search) };
            Some(Risk::Polynomial { degree: degree?, by_search, attack })
        })
    }

    /// Returns the attack, and the same attack after the texts that lookbehinds need, each with the
    /// offset of the slow match.
    fn with_contexts(&self, attack: Attack) -> Vec<(Attack, Search)> {
        if self.direction == Direction::Backward {
            return vec![(attack, Search::AtEnd)];
        }
        let behind = self.contexts.iter().map(|context| {
            let start = charset::units(context, self.runner.pattern.unicode).len();
            (Attack { prefix: format!("{context}{}", attack.prefix), ..attack.clone() }, Search::At(start))
        });
        let behind: Vec<(Attack, Search)> = behind.collect();
        [vec![(attack, Search::At(0))], behind].concat()
    }

    /// Returns the attacks of a pump, one for each suffix.
    fn attacks(&self, prefix: &[Letter], pump: &[Letter]) -> Vec<Attack> {
        let Self { automaton, runner: AttackRunner { alphabet, budget: allowance, .. }, .. } = *self;
        let suffixes = Simulation { automaton, alphabet, budget: allowance }.suffixes(prefix, pump);
        suffixes.iter().map(|suffix| self.attack([prefix, pump, suffix])).collect()
    }

    fn attack(&self, [prefix, pump, suffix]: [&[Letter]; 3]) -> Attack {
        let text = |word: &[Letter]| {
            let mut units = self.runner.alphabet.spell(word);
            if self.direction == Direction::Backward {
                units.reverse();
            }
            charset::text(&units)
        };
        let (first, last) = (text(prefix), text(suffix));
        let (prefix, suffix) = if self.direction == Direction::Forward { (first, last) } else { (last, first) };
        Attack { prefix, pump: text(pump), suffix }
    }
}

/// Returns the pumps of a candidate: of rare letters, of one letter wherever possible, and with one
/// or all detours.
fn pumps(candidate: &Candidate) -> Vec<Vec<Letter>> {
    let word = |letters: &[Letters], preferred: Option<Letter>| -> Vec<Letter> {
        let choice = |letters: &Letters| preferred.filter(|letter| letters.contains(*letter)).or(letters.first());
        letters.iter().filter_map(choice).collect()
    };
    let rare = word(&candidate.pump, None);
    let all = candidate.pump.iter().fold(Letters::default(), |all, letters| all | *letters);
    let preferred = all.iter().rev().take(MAX_PREFERRED).map(|letter| word(&candidate.pump, Some(letter)));
    let longer = candidate.detours.iter().map(|detour| [&*rare, &*word(detour, None)].concat());
    let longest = candidate.detours.iter().fold(rare.clone(), |all, detour| [all, word(detour, None)].concat());
    let mut pumps = vec![rare.clone()];
    pumps.extend(preferred.chain(longer));
    // Several lookaheads may each require a letter.
    pumps.extend((longest.len() <= MAX_COMBINED_PUMP).then_some(longest));
    let mut known = FxHashSet::default();
    pumps.retain(|pump| known.insert(pump.clone()));
    pumps
}
