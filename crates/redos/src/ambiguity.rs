//! Unbounded ambiguity of automata: words that a backtracking engine can read in a growing number
//! of ways.
//!
//! The criteria are those of Weber and Seidl, "On the degree of ambiguity of finite automata"
//! (1991), as applied to backtracking by Weideman, van der Merwe, Berglund and Watson, "Analyzing
//! matching time behavior of backtracking regular expression matchers by using ambiguity of NFAs"
//! (2016), and by Wüstholz, Olivo, Heule and Dillig, "Static detection of `DoS` vulnerabilities in
//! programs that use regular expressions" (2017). Invariant: a candidate is a word that has the
//! claimed paths. Whether it makes a match slow is proven elsewhere.

use crate::alphabet::{Letter, Letters};
use crate::automaton::{Automaton, Edge, State};
use crate::budget::StepBudget;
use crate::exploration::{Components, Exploration};

/// A word that leads to a state, and one that multiplies the paths from there.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) kind: CandidateKind,
    pub(crate) prefix: Vec<Letter>,
    /// The pump: at each place, any letter of the set.
    pub(crate) pump: Vec<Letters>,
    /// Words back to the same state that can be appended to the pump. What follows a loop may match
    /// the pump, but not the pump with another letter in it.
    pub(crate) detours: Vec<Vec<Letters>>,
}

/// The growth of the number of paths when the pump is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CandidateKind {
    /// It doubles: a state has two ways back to itself (exponential degree of ambiguity, EDA).
    Doubling,
    /// It grows: there is a loop at one state, a way on to another, and a loop there (infinite
    /// degree of ambiguity, IDA).
    Splitting,
    /// It stays, but a search starts again in each repetition.
    Restarting,
}

/// The maximum number of candidates of a kind.
pub(crate) const MAX_CANDIDATES: usize = 16;

/// The maximum number of pairs of loops that are inspected.
const MAX_SPLITS: usize = 64;

/// The maximum number of EDA candidates of one component.
const MAX_DOUBLINGS: usize = 6;

/// The maximum number of rare letters, and of common ones, for which detours are built.
const MAX_DETOURS: usize = 3;

/// The maximum number of states in the product of two components.
const MAX_PRODUCT: usize = 10_000;

/// The minimum number of readings of a harmful chain of loops: with fewer, the bounds of the loops
/// are low.
const MIN_HARMFUL_READINGS: u32 = 5_000_000;

/// The search for candidates.
#[derive(Debug)]
pub(crate) struct Ambiguity<'a> {
    automaton: &'a Automaton,
    components: Components,
    /// The index of each state among those of its component.
    member_indices: Vec<usize>,
    /// The letters of the loops of each component.
    letters: Vec<Letters>,
    budget: &'a StepBudget,
}

/// Two components that read a word in a growing number of ways.
#[derive(Debug)]
struct Split {
    first: usize,
    second: usize,
    origin: State,
    pump: Vec<Letters>,
}

impl<'a> Ambiguity<'a> {
    pub(crate) fn new(automaton: &'a Automaton, allowance: &'a StepBudget) -> Self {
        let targets: Vec<Vec<State>> =
            automaton.states.iter().map(|edges| edges.iter().map(|edge| edge.to).collect()).collect();
        let mut components = Components::find(&targets);
        let reachable = reachable(automaton.start, &targets);
        // Either all states of a component are reachable or none is.
        components.cyclic.iter_mut().for_each(|members| members.retain(|member| reachable[*member]));
        let mut places = vec![0; automaton.states.len()];
        for members in &components.cyclic {
            for (place, state) in members.iter().enumerate() {
                places[*state] = place;
            }
        }
        let mut letters = vec![Letters::default(); components.cyclic.len()];
        for (state, edges) in automaton.states.iter().enumerate() {
            let component = components.component_of[state];
            for edge in edges.iter().filter(|edge| components.component_of[edge.to] == component) {
                letters[component] = letters[component] | edge.letters;
            }
        }
        Self { automaton, components, member_indices: places, letters, budget: allowance }
    }

    /// Returns exponential candidates: two paths from a state back to itself on one word.
    pub(crate) fn doublings(&self) -> Vec<Candidate> {
        let components = 0..self.components.cyclic.len();
        components.flat_map(|component| self.doublings_in(component)).take(MAX_CANDIDATES).collect()
    }

    /// Explores pairs of states that one word leads to from one state. If the two paths meet again,
    /// the word doubles them.
    fn doublings_in(&self, component: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        let members = &self.components.cyclic[component];
        let mut pairs = Exploration::new(members.iter().map(|state| (*state, *state)));
        while let Some((node, (left, right))) = pairs.next() {
            // The states in which the two paths meet, with letters by which no earlier one was
            // reached.
            let (mut meetings, mut known) = (Vec::new(), Letters::default());
            for (place, first) in self.inner_edges(left).enumerate() {
                // On the diagonal, an edge pairs with itself only if it can be taken in more than
                // one way.
                let skipped = if left == right { place + usize::from(!first.is_ambiguous) } else { 0 };
                for second in self.inner_edges(right).skip(skipped) {
                    if !self.budget.spend() {
                        return found;
                    }
                    let letters = first.letters & second.letters;
                    if letters.is_empty() {
                        continue;
                    }
                    if first.to != second.to {
                        pairs.reach((first.to.min(second.to), first.to.max(second.to)), node, letters);
                    } else if !letters.is_subset_of(known) {
                        meetings.push((letters.difference(known), first.to));
                        known = known | letters;
                    }
                }
            }
            for (letters, end) in meetings {
                let ((origin, _), word) = pairs.trace(node, Some(letters));
                found.extend(self.doubling(origin, word, end));
            }
            if found.len() >= MAX_DOUBLINGS {
                break;
            }
        }
        found
    }

    fn doubling(&self, origin: State, word: Vec<Letters>, end: State) -> Option<Candidate> {
        let pump = [word, self.shortest_word(end, origin)?].concat();
        self.candidate(CandidateKind::Doubling, origin, pump)
    }

    fn candidate(&self, kind: CandidateKind, origin: State, pump: Vec<Letters>) -> Option<Candidate> {
        let prefix = self.shortest_word(self.automaton.start, origin)?.into_iter().filter_map(Letters::first).collect();
        let used = pump.iter().fold(Letters::default(), |used, letters| used | *letters);
        let others: Vec<Letter> = self.letters[self.components.component_of[origin]].iter().collect();
        let rare = others.iter().take(MAX_DETOURS);
        let common = others.iter().skip(MAX_DETOURS).rev().take(MAX_DETOURS);
        let single = |letter: &&Letter| used != Letters::from_letter(**letter);
        let detours = rare.chain(common).filter(single).filter_map(|letter| self.detour(origin, *letter)).collect();
        Some(Candidate { kind, prefix, pump, detours })
    }

    /// Returns a shortest word with a letter from a state back to itself.
    fn detour(&self, origin: State, letter: Letter) -> Option<Vec<Letters>> {
        let mut around = Exploration::new([origin]);
        while let Some((node, state)) = around.next() {
            for edge in self.inner_edges(state).take_while(|_| self.budget.spend()) {
                if edge.letters.contains(letter) {
                    let (_, there) = around.trace(node, Some(Letters::from_letter(letter)));
                    return Some([there, self.shortest_word(edge.to, origin)?].concat());
                }
                around.reach(edge.to, node, edge.letters);
            }
        }
        None
    }

    /// Returns polynomial candidates, if their loops together run often enough.
    pub(crate) fn splittings(&self) -> Vec<Candidate> {
        let loops: Vec<usize> =
            (0..self.components.cyclic.len()).rev().filter(|it| !self.components.cyclic[*it].is_empty()).collect();
        let pairs = loops.iter().enumerate().flat_map(|(place, first)| {
            let later = loops[place + 1..].iter();
            later.take_while(|_| self.budget.spend()).map(|second| (*first, *second))
        });
        let meeting = pairs.filter(|(first, second)| self.letters[*first].intersects(self.letters[*second]));
        let mut splits: Vec<Split> =
            meeting.flat_map(|(first, second)| self.split(first, second)).take(MAX_SPLITS).collect();
        self.drop_harmless(&mut splits);
        splits.sort_by_key(|split| split.pump.len());
        splits.truncate(MAX_CANDIDATES);
        let candidate = |split: Split| self.candidate(CandidateKind::Splitting, split.origin, split.pump);
        splits.into_iter().filter_map(candidate).collect()
    }

    /// Removes chains of loops with low bounds.
    fn drop_harmless(&self, splits: &mut Vec<Split>) {
        let visits = |component: usize| {
            let members = self.components.cyclic[component].iter();
            members.map(|state| self.automaton.max_visits[*state]).max().unwrap_or(1)
        };
        // The number of ways in which a chain of loops reads a word, up to each component and from
        // it on. Edges lead to smaller numbers, and so do splits.
        let mut up_to: Vec<u32> = (0..self.letters.len()).map(visits).collect();
        let mut from = up_to.clone();
        splits.sort_by_key(|split| std::cmp::Reverse((split.first, split.second)));
        for Split { first, second, .. } in &*splits {
            up_to[*second] = up_to[*second].max(up_to[*first].saturating_mul(visits(*second)));
        }
        splits.sort_by_key(|split| (split.second, split.first));
        for Split { first, second, .. } in &*splits {
            from[*first] = from[*first].max(from[*second].saturating_mul(visits(*first)));
        }
        splits.retain(|split| up_to[split.first].saturating_mul(from[split.second]) >= MIN_HARMFUL_READINGS);
    }

    /// Explores the product of two components. One state of each component of the product is
    /// enough: all of them behave alike.
    fn split(&self, first: usize, second: usize) -> Vec<Split> {
        let (left, right) = (&self.components.cyclic[first], &self.components.cyclic[second]);
        if left.len() * right.len() > MAX_PRODUCT {
            self.budget.take(usize::MAX);
            return Vec::new();
        }
        let pairs: Vec<(State, State)> = left.iter().flat_map(|p| right.iter().map(|q| (*p, *q))).collect();
        let mut edges = Vec::with_capacity(pairs.len());
        for (p, q) in &pairs {
            let mut targets = Vec::new();
            for one in self.inner_edges(*p) {
                for other in self.inner_edges(*q) {
                    if !self.budget.spend() {
                        return Vec::new();
                    }
                    if one.letters.intersects(other.letters) {
                        targets.push(self.member_indices[one.to] * right.len() + self.member_indices[other.to]);
                    }
                }
            }
            edges.push(targets);
        }
        let product = Components::find(&edges);
        let entries: Vec<(State, State)> =
            product.cyclic.iter().filter_map(|members| members.first().map(|member| pairs[*member])).collect();
        let split = |(p, q)| Some(Split { first, second, origin: p, pump: self.splitting(p, q)? });
        entries.into_iter().filter_map(split).collect()
    }

    /// Returns a word with paths from `p` to `p`, from `p` to `q` and from `q` to `q`.
    fn splitting(&self, p: State, q: State) -> Option<Vec<Letters>> {
        let second = self.components.component_of[q];
        let mut triples = Exploration::new([(p, p, q)]);
        while let Some((node, (x, y, z))) = triples.next() {
            for one in self.inner_edges(x) {
                for other in self.inner_edges(z) {
                    if !self.budget.spend() {
                        return None;
                    }
                    let common = one.letters & other.letters;
                    if common.is_empty() {
                        continue;
                    }
                    for way in self.automaton.states[y].iter().take_while(|_| self.budget.spend()) {
                        let letters = common & way.letters;
                        if letters.is_empty() || self.components.component_of[way.to] < second {
                            continue;
                        }
                        let reached = (one.to, way.to, other.to);
                        if reached == (p, q, q) {
                            return Some(triples.trace(node, Some(letters)).1);
                        }
                        triples.reach(reached, node, letters);
                    }
                }
            }
        }
        None
    }

    /// Returns candidates for a search that starts with a loop: the loop can be entered again at
    /// each offset inside of it.
    pub(crate) fn restarts(&self) -> Vec<Candidate> {
        self.automaton.leading.iter().filter_map(|entry| self.restart(*entry)).take(MAX_CANDIDATES).collect()
    }

    /// Returns the shortest cycle whose last letter can enter the loop.
    fn restart(&self, entry: Edge) -> Option<Candidate> {
        let mut around = Exploration::new([entry.to]);
        while let Some((node, state)) = around.next() {
            for edge in self.inner_edges(state).take_while(|_| self.budget.spend()) {
                let last = edge.letters & entry.letters;
                if edge.to == entry.to && !last.is_empty() {
                    let (_, pump) = around.trace(node, Some(last));
                    return Some(Candidate {
                        kind: CandidateKind::Restarting,
                        prefix: Vec::new(),
                        pump,
                        detours: Vec::new(),
                    });
                }
                around.reach(edge.to, node, edge.letters);
            }
        }
        None
    }

    /// Returns the edges that stay in the component of a state.
    fn inner_edges(&self, state: State) -> impl Iterator<Item = &'a Edge> {
        let component = self.components.component_of[state];
        self.automaton.states[state].iter().filter(move |edge| self.components.component_of[edge.to] == component)
    }

    /// Returns a shortest word from one state to another.
    fn shortest_word(&self, from: State, to: State) -> Option<Vec<Letters>> {
        let mut states = Exploration::new([from]);
        while let Some((node, state)) = states.next() {
            if state == to {
                return Some(states.trace(node, None).1);
            }
            for edge in self.automaton.states[state].iter().take_while(|_| self.budget.spend()) {
                states.reach(edge.to, node, edge.letters);
            }
        }
        None
    }
}

/// Returns which states are reachable.
fn reachable(start: State, targets: &[Vec<State>]) -> Vec<bool> {
    let mut reachable = vec![false; targets.len()];
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if !reachable[state] {
            reachable[state] = true;
            open.extend(&targets[state]);
        }
    }
    reachable
}
