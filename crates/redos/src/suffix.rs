//! Suffixes that make a match fail after the repeated part of an attack.
//!
//! Invariant: these are guesses, the likeliest first, and each costs steps. A match can fail for
//! reasons that the automaton does not know, such as an anchor at the end, so the first guess is
//! the empty suffix.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::alphabet::{Alphabet, Letter, Letters};
use crate::automaton::{Automaton, Edge, State};
use crate::budget::StepBudget;

/// The maximum number of visited sets of states.
const MAX_STATE_SETS: usize = 8;

/// The maximum number of letters that are tried in each set, from either end of the alphabet.
const MAX_TRIED_LETTERS: usize = 6;

/// The maximum number of suffixes of a single letter.
const MAX_SINGLES: usize = 3;

/// A simulation of the automaton on sets of states.
#[derive(Debug)]
pub(crate) struct Simulation<'a> {
    pub(crate) automaton: &'a Automaton,
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) budget: &'a StepBudget,
}

impl<'a> Simulation<'a> {
    /// Returns suffixes for a prefix and a repeated pump.
    pub(crate) fn suffixes(&self, prefix: &[Letter], pump: &[Letter]) -> Vec<Vec<Letter>> {
        let mut round = self.read(vec![self.automaton.start], prefix);
        let mut states = round.clone();
        for _ in 0..4 {
            round = self.read(round, pump);
            states.extend(&round);
        }
        states.sort_unstable();
        states.dedup();

        let mut suffixes = vec![Vec::new()];
        suffixes.extend(self.dead_end(states.clone()));
        let mut singles: Vec<(bool, usize, Letter)> = Vec::new();
        for letter in self.candidate_letters() {
            let after = self.after(&states, letter);
            singles.push((after.iter().any(|state| self.automaton.accepting[*state]), after.len(), letter));
        }
        singles.sort_unstable();
        singles.dedup();
        suffixes.extend(singles.into_iter().take(MAX_SINGLES).map(|(_, _, letter)| vec![letter]));
        let mut known = FxHashSet::default();
        suffixes.retain(|suffix| known.insert(suffix.clone()));
        suffixes
    }

    /// Returns a short word after which no state is left.
    fn dead_end(&self, states: Vec<State>) -> Option<Vec<Letter>> {
        let mut seen = FxHashSet::from_iter([states.clone()]);
        let mut queue = VecDeque::from([(states, Vec::new())]);
        for _ in 0..MAX_STATE_SETS {
            let (states, word) = queue.pop_front()?;
            let known = self.edges(&states).fold(Letters::default(), |known, edge| known | edge.letters);
            if let Some(letter) = self.alphabet.letters().find(|letter| !known.contains(*letter)) {
                return Some([word, vec![letter]].concat());
            }
            for letter in self.candidate_letters() {
                let after = self.after(&states, letter);
                if seen.insert(after.clone()) {
                    queue.push_back((after, [&*word, &[letter]].concat()));
                }
            }
        }
        None
    }

    /// Returns rare and common letters, and a newline, which even `.` does not match.
    fn candidate_letters(&self) -> Vec<Letter> {
        let newlines = self.alphabet.newline.iter().take(1);
        let (rare, common) = (self.alphabet.letters(), self.alphabet.letters().rev());
        rare.take(MAX_TRIED_LETTERS).chain(newlines).chain(common.take(MAX_TRIED_LETTERS)).collect()
    }

    fn read(&self, states: Vec<State>, word: &[Letter]) -> Vec<State> {
        word.iter().fold(states, |states, letter| self.after(&states, *letter))
    }

    fn after(&self, states: &[State], letter: Letter) -> Vec<State> {
        let edges = self.edges(states).filter(|edge| edge.letters.contains(letter));
        let mut after: Vec<State> = edges.map(|edge| edge.to).collect();
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Returns the edges from some states, until the steps run out.
    fn edges(&self, states: &[State]) -> impl Iterator<Item = &'a Edge> {
        let automaton = self.automaton;
        states.iter().flat_map(|state| &automaton.states[*state]).take_while(|_| self.budget.spend())
    }
}
