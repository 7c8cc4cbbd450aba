//! A nondeterministic automaton with a path for each way in which a pattern can match a word.
//!
//! The states are the characters of the pattern, as in Glushkov's construction, so there are no
//! empty edges. Characters with the same successors share a state, which keeps the number of paths
//! and makes loops small. Invariant: an edge knows whether there is more than one way to take it,
//! and no edge lacks letters.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::alphabet::Letters;

/// The number of a state.
pub(crate) type State = usize;

/// The automaton of a pattern, or of the body of a lookaround.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(crate) states: Vec<Vec<Edge>>,
    /// The maximum number of visits of each state.
    pub(crate) max_visits: Vec<u32>,
    /// Whether a match can end in each state, even if only at the end of a text.
    pub(crate) accepting: Vec<bool>,
    pub(crate) start: State,
    /// The edges into a loop that starts the pattern, so that a failed search can fail again from
    /// the next character.
    pub(crate) leading: Vec<Edge>,
}

/// A transition on any of some letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) letters: Letters,
    pub(crate) to: State,
    /// Whether there is more than one way to take it.
    pub(crate) is_ambiguous: bool,
}

/// The numbered characters of a pattern, and their successors.
#[derive(Debug)]
pub(crate) struct Positions {
    /// The maximum number of visits of each position.
    pub(crate) max_visits: Vec<u32>,
    pub(crate) follow: Vec<Vec<Step>>,
    pub(crate) first: Vec<Step>,
    pub(crate) last: FxHashSet<usize>,
    pub(crate) leading: Vec<Step>,
    /// Whether a match can be empty.
    pub(crate) empty: bool,
}

/// A transition to a position, by those of its letters that are possible there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Step {
    pub(crate) position: usize,
    pub(crate) letters: Letters,
    pub(crate) is_ambiguous: bool,
}

impl Automaton {
    pub(crate) fn from_positions(positions: &Positions) -> Self {
        let mut numbers: FxHashMap<(Vec<Step>, bool), State> = FxHashMap::default();
        let mut lists: Vec<Vec<Step>> = Vec::new();
        let (mut visits, mut accepting) = (Vec::new(), Vec::new());
        let mut state_of = Vec::with_capacity(positions.max_visits.len());
        for (position, (steps, visited)) in positions.follow.iter().zip(&positions.max_visits).enumerate() {
            let key = (merge_steps(steps), positions.last.contains(&position));
            let state = *numbers.entry(key).or_insert_with_key(|(list, is_last)| {
                lists.push(list.clone());
                visits.push(1);
                accepting.push(*is_last);
                lists.len() - 1
            });
            visits[state] = visits[state].max(*visited);
            state_of.push(state);
        }
        lists.push(merge_steps(&positions.first));
        visits.push(1);
        accepting.push(positions.empty);
        let states: Vec<Vec<Edge>> = lists.iter().map(|list| edges(list, &state_of)).collect();
        let leading = edges(&positions.leading, &state_of);
        Self { start: states.len() - 1, leading, states, accepting, max_visits: visits }
    }
}

/// Merges equal steps, and marks them as ambiguous.
fn merge_steps(steps: &[Step]) -> Vec<Step> {
    let mut sorted = steps.to_vec();
    sorted.sort_unstable();
    sorted.dedup_by(|next, known| {
        let same = (next.position, next.letters) == (known.position, known.letters);
        known.is_ambiguous |= same;
        same
    });
    sorted
}

/// Converts steps to edges; steps to one state that share no letter become one edge.
fn edges(steps: &[Step], state_of: &[State]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::with_capacity(steps.len());
    let mut latest: FxHashMap<State, usize> = FxHashMap::default();
    for step in steps {
        let to = state_of[step.position];
        match latest.get(&to).map(|at| &mut edges[*at]) {
            Some(edge) if !edge.letters.intersects(step.letters) && !edge.is_ambiguous && !step.is_ambiguous => {
                edge.letters = edge.letters | step.letters;
            }
            _ => {
                latest.insert(to, edges.len());
                edges.push(Edge { letters: step.letters, to, is_ambiguous: step.is_ambiguous });
            }
        }
    }
    edges
}
