//! A nondeterministic automaton that has a path for each way in which a pattern can match a word.
//!
//! The states are the characters of the pattern, as in Glushkov's construction, so that no edge is empty. Characters
//! from which the same steps lead on are one state, which changes no number of paths and makes loops small.
//! Invariant: an edge knows whether there is more than one way to take it, and no edge lacks letters.

use rustc_hash::{FxHashMap, FxHashSet};

use super::alphabet::Letters;

/// The number of a state.
pub(super) type State = usize;

/// The automaton of a pattern, or of what is in a lookaround.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) states: Vec<Vec<Edge>>,
    /// How often each state can be visited.
    pub(super) visits: Vec<u32>,
    /// Whether a match can end in each state, if only at the end of a text.
    pub(super) accepting: Vec<bool>,
    pub(super) start: State,
    /// Where a loop begins the pattern, so that a search which failed can fail again from the next character on.
    pub(super) leading: Vec<Edge>,
}

/// A step on any of some letters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) letters: Letters,
    pub(super) to: State,
    /// There is more than one way to take it.
    pub(super) many: bool,
}

/// A pattern whose characters have numbers, and which of them can follow which.
#[derive(Debug)]
pub(super) struct Positions {
    /// How often each of them can be visited.
    pub(super) visits: Vec<u32>,
    pub(super) follow: Vec<Vec<Step>>,
    pub(super) first: Vec<Step>,
    pub(super) last: FxHashSet<usize>,
    pub(super) leading: Vec<Step>,
    /// Whether a match can be empty.
    pub(super) empty: bool,
}

/// A way to a character, by those of its letters that are possible there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Step {
    pub(super) position: usize,
    pub(super) letters: Letters,
    pub(super) many: bool,
}

impl Automaton {
    pub(super) fn of(positions: &Positions) -> Self {
        let mut numbers: FxHashMap<(Vec<Step>, bool), State> = FxHashMap::default();
        let mut lists: Vec<Vec<Step>> = Vec::new();
        let (mut visits, mut accepting) = (Vec::new(), Vec::new());
        let mut state_of = Vec::with_capacity(positions.visits.len());
        for (position, (steps, visited)) in positions.follow.iter().zip(&positions.visits).enumerate() {
            let key = (merged(steps), positions.last.contains(&position));
            let state = *numbers.entry(key).or_insert_with_key(|(list, is_last)| {
                lists.push(list.clone());
                visits.push(1);
                accepting.push(*is_last);
                lists.len() - 1
            });
            visits[state] = visits[state].max(*visited);
            state_of.push(state);
        }
        lists.push(merged(&positions.first));
        visits.push(1);
        accepting.push(positions.empty);
        let states: Vec<Vec<Edge>> = lists.iter().map(|list| edges(list, &state_of)).collect();
        let leading = edges(&positions.leading, &state_of);
        Self { start: states.len() - 1, leading, states, accepting, visits }
    }
}

/// Each step once, with whether there is more than one way to take it.
fn merged(steps: &[Step]) -> Vec<Step> {
    let mut sorted = steps.to_vec();
    sorted.sort_unstable();
    sorted.dedup_by(|next, known| {
        let same = (next.position, next.letters) == (known.position, known.letters);
        known.many |= same;
        same
    });
    sorted
}

/// The edges for some steps; those that lead to one state and share no letter are one edge.
fn edges(steps: &[Step], state_of: &[State]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::with_capacity(steps.len());
    let mut latest: FxHashMap<State, usize> = FxHashMap::default();
    for step in steps {
        let to = state_of[step.position];
        match latest.get(&to).map(|at| &mut edges[*at]) {
            Some(edge) if !edge.letters.meets(step.letters) && !edge.many && !step.many => {
                edge.letters = edge.letters | step.letters;
            }
            _ => {
                latest.insert(to, edges.len());
                edges.push(Edge { letters: step.letters, to, many: step.many });
            }
        }
    }
    edges
}
