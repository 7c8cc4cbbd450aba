//! From candidates to attacks: what comes after the repeated part, and the proof that a match is slow.
//!
//! Invariant: every attack that leaves this file has been run on the engine, as the text it is, and took a number of
//! steps that grows as its risk says. That takes care of everything that the automaton leaves out: what lookarounds and
//! backreferences forbid, and matches that succeed before anything is slow.

use rustc_hash::FxHashSet;

use super::alphabet::{Letter, Letters};
use super::ambiguity::{Candidate, Kind};
use super::automaton::Automaton;
use super::charset;
use super::engine::Search;
use super::slowness::Trials;
use super::suffix::Simulation;
use super::syntax::Direction;
use super::{Attack, Risk};

/// How many letters are preferred in a pump, one after the other.
const MAX_PREFERRED: usize = 4;

/// How long a pump with all detours is at most: what is longer is no such loop.
const MAX_LONGEST: usize = 16;

/// What proves attacks on a part of a pattern.
#[derive(Debug)]
pub(super) struct Prover<'a> {
    pub(super) trials: Trials<'a>,
    /// What may have to stand before a match.
    pub(super) contexts: &'a [String],
    /// Of the part.
    pub(super) automaton: &'a Automaton,
    pub(super) direction: Direction,
}

/// Which pumps of a candidate are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pumps {
    /// That of the rarest letters.
    Plain,
    /// Those with other letters, or with a detour.
    Variants,
}

impl Prover<'_> {
    /// What a candidate does, if it is slow.
    pub(super) fn prove(&self, candidate: &Candidate, tried: Pumps) -> Option<Risk> {
        let by_search = candidate.kind == Kind::Restarting;
        let sticky = self.trials.pattern.sticky;
        if by_search && sticky {
            return None;
        }
        let pumps = pumps(candidate);
        let pumps = if tried == Pumps::Plain { &pumps[..1] } else { &pumps[1..] };
        let attacks: Vec<Attack> = pumps.iter().flat_map(|pump| self.attacks(&candidate.prefix, pump)).collect();
        let attacks: Vec<(Attack, Search)> = attacks.into_iter().flat_map(|attack| self.in_contexts(attack)).collect();
        if candidate.kind == Kind::Doubling {
            let explosive = attacks.iter().find(|(attack, search)| {
                // A match that reaches a lookbehind may have begun anywhere. Searching adds nothing that doubles.
                let anywhere = self.direction == Direction::Backward && !sticky;
                self.trials.doubles(attack, if anywhere { Search::Everywhere } else { *search })
            });
            if let Some((attack, _)) = explosive {
                return Some(Risk::Exponential { attack: attack.clone() });
            }
            // Variants take time, and what doubles seldom has others that are slow in another way.
            if tried == Pumps::Variants {
                return None;
            }
        }
        attacks.into_iter().find_map(|(attack, search)| {
            let degree =
                if by_search { self.trials.degree_of_search(&attack) } else { self.trials.degree(&attack, search) };
            Some(Risk::Polynomial { degree: degree?, by_search, attack })
        })
    }

    /// The attack, and the same behind what lookbehinds need; and where the match begins that is slow.
    fn in_contexts(&self, attack: Attack) -> Vec<(Attack, Search)> {
        if self.direction == Direction::Backward {
            return vec![(attack, Search::AtEnd)];
        }
        let behind = self.contexts.iter().map(|context| {
            let start = charset::units(context, self.trials.pattern.unicode).len();
            (Attack { prefix: format!("{context}{}", attack.prefix), ..attack.clone() }, Search::At(start))
        });
        let behind: Vec<(Attack, Search)> = behind.collect();
        [vec![(attack, Search::At(0))], behind].concat()
    }

    /// The pump, with whatever may come after it.
    fn attacks(&self, prefix: &[Letter], pump: &[Letter]) -> Vec<Attack> {
        let Self { automaton, trials: Trials { alphabet, allowance, .. }, .. } = *self;
        let suffixes = Simulation { automaton, alphabet, allowance }.suffixes(prefix, pump);
        suffixes.iter().map(|suffix| self.attack([prefix, pump, suffix])).collect()
    }

    fn attack(&self, [prefix, pump, suffix]: [&[Letter]; 3]) -> Attack {
        let text = |word: &[Letter]| {
            let mut units = self.trials.alphabet.spell(word);
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

/// What may be repeated: the pump of rare letters, or of one letter wherever it can be, or with one or all detours.
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
    // Several lookaheads may ask for a letter each.
    pumps.extend((longest.len() <= MAX_LONGEST).then_some(longest));
    let mut known = FxHashSet::default();
    pumps.retain(|pump| known.insert(pump.clone()));
    pumps
}
