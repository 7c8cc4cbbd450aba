//! From candidates to attacks: what comes after the repeated part, and the proof that a match is slow.
//!
//! Invariant: every attack that leaves this file has been run on the engine, as the text it is, and took a number of
//! steps that grows as its risk says. That takes care of everything that the automaton leaves out: what lookarounds and
//! backreferences forbid, and matches that succeed before anything is slow.

use std::collections::{BTreeSet, HashSet};

use super::alphabet::{Alphabet, Letter, Letters};
use super::ambiguity::{Candidate, Kind};
use super::automaton::{Automaton, Direction, State};
use super::engine::Engine;
use super::exploration::Allowance;
use super::parser;
use super::program::Program;
use super::syntax::Pattern;
use super::{Attack, Risk};

/// How many steps a run may take that is to show a doubling.
const DOUBLED: u32 = 200_000;

/// How many steps a run may take that is to show a polynomial.
const REPEATED: u32 = 40_000;

/// How many repetitions a doubling needs at most to take more steps than a run may.
const MAX_DOUBLED: usize = 22;

/// How many repetitions show whether a run is polynomial.
const MAX_REPEATED: usize = 512;

/// How many letters are preferred in a pump, one after the other.
const MAX_PREFERRED: usize = 4;

/// How many letters a suffix has at most.
const MAX_SUFFIX: usize = 6;

/// What proves attacks on a part of a pattern.
#[derive(Debug)]
pub(super) struct Prover<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) alphabet: &'a Alphabet,
    pub(super) program: &'a Program,
    /// Of the part.
    pub(super) automaton: &'a Automaton,
    pub(super) direction: Direction,
    pub(super) allowance: &'a Allowance,
}

impl Prover<'_> {
    /// What a candidate does, if it is slow; with its plain pump, or with the variants of it.
    pub(super) fn prove(&self, candidate: &Candidate, variants: bool) -> Option<Risk> {
        // A match that reaches a lookbehind does not start where the text of the lookbehind does.
        let searches = candidate.kind == Kind::Restarting || self.direction == Direction::Backward;
        let everywhere = searches && !self.pattern.sticky;
        let pumps = pumps(candidate);
        let pumps = if variants { &pumps[1..] } else { &pumps[..1] };
        let attacks: Vec<Attack> = pumps.iter().flat_map(|pump| self.attacks(&candidate.prefix, pump)).collect();
        if candidate.kind == Kind::Doubling {
            if let Some(attack) = attacks.iter().find(|attack| self.doubles(attack, everywhere)) {
                return Some(Risk::Exponential { attack: attack.clone() });
            }
            // Variants take time, and what doubles seldom has others that are slow in another way.
            if variants {
                return None;
            }
        }
        attacks.into_iter().find_map(|attack| {
            let degree = self.degree(&attack, everywhere)?;
            let again = !self.pattern.sticky && !everywhere;
            let by_search = if again { self.degree(&attack, true) } else { None };
            let degree = degree.max(by_search.unwrap_or(0));
            Some(Risk::Polynomial { degree, by_search: candidate.kind == Kind::Restarting, attack })
        })
    }

    /// The pump, with whatever may come after it.
    fn attacks(&self, prefix: &[Letter], pump: &[Letter]) -> Vec<Attack> {
        let suffixes = suffixes(self.automaton, self.alphabet, prefix, pump);
        suffixes.iter().map(|suffix| self.attack([prefix, pump, suffix])).collect()
    }

    fn attack(&self, [prefix, pump, suffix]: [&[Letter]; 3]) -> Attack {
        let text = |word: &[Letter]| {
            let mut units = self.alphabet.spell(word);
            if self.direction == Direction::Backward {
                units.reverse();
            }
            parser::text(&units)
        };
        let (first, last) = (text(prefix), text(suffix));
        let (prefix, suffix) = if self.direction == Direction::Forward { (first, last) } else { (last, first) };
        Attack { prefix, pump: text(pump), suffix }
    }

    /// Whether each repetition doubles the steps, or worse.
    pub(super) fn doubles(&self, attack: &Attack, everywhere: bool) -> bool {
        // A look ahead, as most candidates that do not double fail at once.
        if self.steps(attack, 12, everywhere, DOUBLED) < 1 << 12 {
            return false;
        }
        let mut counts = Vec::new();
        for repeated in 0..=MAX_DOUBLED {
            let steps = self.steps(attack, repeated, everywhere, DOUBLED);
            let grows = |tenths: u32| match *counts {
                [.., a, b, c] => growth(a, b, c).is_some_and(|(before, now)| now * 10 >= before * u64::from(tenths)),
                _ => true,
            };
            if steps >= DOUBLED {
                let explodes = counts.first().is_some_and(|first| first << repeated.max(3) < DOUBLED);
                return if repeated < 6 { explodes } else { grows(16) };
            }
            if repeated > 8 && !grows(13) {
                return false;
            }
            counts.push(steps);
        }
        false
    }

    /// The degree of the polynomial that the steps grow by, if it is more than one.
    pub(super) fn degree(&self, attack: &Attack, everywhere: bool) -> Option<u32> {
        let mut counts = Vec::new();
        let mut degree = None;
        for repeated in (0..).map(|power| 1 << power).take_while(|repeated| *repeated <= MAX_REPEATED) {
            counts.push(self.steps(attack, repeated, everywhere, REPEATED));
            let [.., a, b, c] = *counts else { continue };
            let (before, now) = growth(a, b, c)?;
            let latest = exponent(before, now);
            // What was cut short is a lower bound.
            if c >= REPEATED {
                return degree.max(latest);
            }
            degree = latest;
            // Linear is a factor of 2, and quadratic is 4.
            if repeated >= 32 && now * 10 < before * 22 || repeated >= 128 && degree.is_none() {
                return None;
            }
        }
        degree
    }

    fn steps(&self, attack: &Attack, repeated: usize, everywhere: bool, limit: u32) -> u32 {
        let text = [&*attack.prefix, &*attack.pump.repeat(repeated), &*attack.suffix].concat();
        let units = parser::units(&text, self.pattern.unicode);
        let (_, steps) =
            Engine::new(self.program, self.alphabet, units).run(everywhere, limit.min(self.allowance.left()));
        self.allowance.take(steps);
        steps
    }
}

/// How much three counts have grown, first and then.
fn growth(a: u32, b: u32, c: u32) -> Option<(u64, u64)> {
    let before = b.checked_sub(a).filter(|before| *before > 0)?;
    Some((before.into(), c.checked_sub(b)?.into()))
}

/// The exponent by which something grows that goes from `before` to `now` when its size doubles, if it is more than one.
fn exponent(before: u64, now: u64) -> Option<u32> {
    (2..=16).rev().find(|exponent| u128::from(now).pow(2) * 2 >= u128::from(before).pow(2) << (2 * exponent))
}

/// What may be repeated: the pump of rare letters, or of one letter wherever it can be, or with a detour.
fn pumps(candidate: &Candidate) -> Vec<Vec<Letter>> {
    let word = |letters: &[Letters], preferred: Option<Letter>| -> Vec<Letter> {
        let choice = |letters: &Letters| preferred.filter(|letter| letters.contains(*letter)).or(letters.first());
        letters.iter().filter_map(choice).collect()
    };
    let rare = word(&candidate.pump, None);
    let all = candidate.pump.iter().fold(Letters::default(), |all, letters| all | *letters);
    let preferred = all.iter().rev().take(MAX_PREFERRED).map(|letter| word(&candidate.pump, Some(letter)));
    let longer = candidate.detours.iter().map(|detour| [&*rare, &*word(detour, None)].concat());
    let mut pumps = vec![rare.clone()];
    pumps.extend(preferred.chain(longer));
    distinct(pumps)
}

fn distinct(mut words: Vec<Vec<Letter>>) -> Vec<Vec<Letter>> {
    let mut known = HashSet::new();
    words.retain(|word| known.insert(word.clone()));
    words
}

/// What may come after the repeated part, so that the match fails there: nothing, or letters after which few states
/// are left.
fn suffixes(automaton: &Automaton, alphabet: &Alphabet, prefix: &[Letter], pump: &[Letter]) -> Vec<Vec<Letter>> {
    let after = |states: &BTreeSet<State>, letter: Letter| -> BTreeSet<State> {
        let edges = states.iter().flat_map(|state| &automaton.states[*state]);
        edges.filter(|edge| edge.letters.contains(letter)).map(|edge| edge.to).collect()
    };
    let read = |states, word: &[Letter]| word.iter().fold(states, |states, letter| after(&states, *letter));
    let mut round = read(BTreeSet::from([automaton.start]), prefix);
    let mut states = round.clone();
    for _ in 0..4 {
        round = read(round, pump);
        states.extend(&round);
    }
    let mut ranked: Vec<(usize, Letter)> =
        alphabet.letters().map(|letter| (after(&states, letter).len(), letter)).collect();
    ranked.sort_unstable();
    let singles = ranked.iter().take(3).map(|(_, letter)| vec![*letter]);

    let mut longer = Vec::new();
    while longer.len() < MAX_SUFFIX && !states.is_empty() {
        let Some(letter) = alphabet.letters().min_by_key(|letter| after(&states, *letter).len()) else { break };
        states = after(&states, letter);
        longer.push(letter);
    }
    let mut all = vec![Vec::new()];
    all.extend(singles.chain([longer]));
    distinct(all)
}
