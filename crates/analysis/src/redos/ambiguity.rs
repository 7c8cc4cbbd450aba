//! Where an automaton is ambiguous without bound: the words that a backtracking engine can read in more and more ways.
//!
//! The criteria are those of Weber and Seidl, "On the degree of ambiguity of finite automata" (1991), as applied to
//! backtracking by Weideman, van der Merwe, Berglund and Watson, "Analyzing matching time behavior of backtracking
//! regular expression matchers by using ambiguity of NFAs" (2016), and by Wüstholz, Olivo, Heule and Dillig, "Static
//! detection of `DoS` vulnerabilities in programs that use regular expressions" (2017).
//! Invariant: a candidate is a word that has the paths it says. Whether it makes a match slow is for others to prove.

use super::allowance::Allowance;
use super::alphabet::{Letter, Letters};
use super::automaton::{Automaton, Edge, State};
use super::exploration::{Components, Exploration};

/// A word that leads to a state, and one that leads from there to more and more paths.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    pub(super) prefix: Vec<Letter>,
    /// Any of the letters will do at each place.
    pub(super) pump: Vec<Letters>,
    /// Words back to the same state that can be added to the pump. What comes after a loop may match the pump, and yet
    /// not the pump with another letter in it.
    pub(super) detours: Vec<Vec<Letters>>,
}

/// What becomes of the paths when the word is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// They double: a state has two ways back to itself (exponential degree of ambiguity, EDA).
    Doubling,
    /// They grow in number: there is a way back at one state, a way on to another, and a way back there (infinite degree
    /// of ambiguity, IDA).
    Splitting,
    /// They do not, but a search starts over in each of the repetitions.
    Restarting,
}

/// How many candidates of a kind there are at most.
pub(super) const MAX_CANDIDATES: usize = 16;

/// How many pairs of loops that split are looked for.
const MAX_SPLITS: usize = 64;

/// How many ways to double are looked for in one component.
const MAX_DOUBLINGS: usize = 6;

/// How many rare letters detours are made for, and how many common ones.
const MAX_DETOURS: usize = 3;

/// How large the product of two components may be.
const MAX_PRODUCT: usize = 10_000;

/// Loops one after the other that read a word in fewer ways than this are harmless: their bounds are low.
const HARMLESS: u32 = 5_000_000;

/// The search for candidates.
#[derive(Debug)]
pub(super) struct Ambiguity<'a> {
    automaton: &'a Automaton,
    components: Components,
    /// Where each state is among those of its component.
    places: Vec<usize>,
    /// All letters of the loops of each component.
    letters: Vec<Letters>,
    allowance: &'a Allowance,
}

/// Two components that read a word in a number of ways that grows.
#[derive(Debug)]
struct Split {
    first: usize,
    second: usize,
    origin: State,
    pump: Vec<Letters>,
}

impl<'a> Ambiguity<'a> {
    pub(super) fn new(automaton: &'a Automaton, allowance: &'a Allowance) -> Self {
        let targets: Vec<Vec<State>> =
            automaton.states.iter().map(|edges| edges.iter().map(|edge| edge.to).collect()).collect();
        let mut components = Components::of(&targets);
        let reachable = reachable(automaton.start, &targets);
        // Of a component, either all states are reachable or none is.
        components.cyclic.iter_mut().for_each(|members| members.retain(|member| reachable[*member]));
        let mut places = vec![0; automaton.states.len()];
        for members in &components.cyclic {
            for (place, state) in members.iter().enumerate() {
                places[*state] = place;
            }
        }
        let mut letters = vec![Letters::default(); components.cyclic.len()];
        for (state, edges) in automaton.states.iter().enumerate() {
            let component = components.of[state];
            for edge in edges.iter().filter(|edge| components.of[edge.to] == component) {
                letters[component] = letters[component] | edge.letters;
            }
        }
        Self { automaton, components, places, letters, allowance }
    }

    /// Exponential candidates: two paths from a state back to itself on one word.
    pub(super) fn doublings(&self) -> Vec<Candidate> {
        let components = 0..self.components.cyclic.len();
        components.flat_map(|component| self.doublings_in(component)).take(MAX_CANDIDATES).collect()
    }

    /// Explores pairs of states that one word leads to from one state. Two paths that meet again are a way to double.
    fn doublings_in(&self, component: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        let members = &self.components.cyclic[component];
        let mut pairs = Exploration::new(members.iter().map(|state| (*state, *state)));
        while let Some((node, (left, right))) = pairs.next() {
            // Where the two paths meet, and by which letters that did not let them meet elsewhere.
            let (mut meetings, mut known) = (Vec::new(), Letters::default());
            for (place, first) in self.inner(left).enumerate() {
                // On the diagonal, an edge pairs with itself only if there is more than one way to take it.
                let skipped = if left == right { place + usize::from(!first.many) } else { 0 };
                for second in self.inner(right).skip(skipped) {
                    if !self.allowance.spend() {
                        return found;
                    }
                    let letters = first.letters & second.letters;
                    if letters.is_empty() {
                        continue;
                    }
                    if first.to != second.to {
                        pairs.reach((first.to.min(second.to), first.to.max(second.to)), node, letters);
                    } else if !letters.is_within(known) {
                        meetings.push((letters.without(known), first.to));
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
        let pump = [word, self.word(end, origin)?].concat();
        self.candidate(Kind::Doubling, origin, pump)
    }

    fn candidate(&self, kind: Kind, origin: State, pump: Vec<Letters>) -> Option<Candidate> {
        let prefix = self.word(self.automaton.start, origin)?.into_iter().filter_map(Letters::first).collect();
        let used = pump.iter().fold(Letters::default(), |used, letters| used | *letters);
        let others: Vec<Letter> = self.letters[self.components.of[origin]].iter().collect();
        let rare = others.iter().take(MAX_DETOURS);
        let common = others.iter().skip(MAX_DETOURS).rev().take(MAX_DETOURS);
        let single = |letter: &&Letter| used != Letters::one(**letter);
        let detours = rare.chain(common).filter(single).filter_map(|letter| self.detour(origin, *letter)).collect();
        Some(Candidate { kind, prefix, pump, detours })
    }

    /// A shortest word from a state back to itself that has a letter.
    fn detour(&self, origin: State, letter: Letter) -> Option<Vec<Letters>> {
        let mut around = Exploration::new([origin]);
        while let Some((node, state)) = around.next() {
            for edge in self.inner(state).take_while(|_| self.allowance.spend()) {
                if edge.letters.contains(letter) {
                    let (_, there) = around.trace(node, Some(Letters::one(letter)));
                    return Some([there, self.word(edge.to, origin)?].concat());
                }
                around.reach(edge.to, node, edge.letters);
            }
        }
        None
    }

    /// Polynomial candidates, where the loops together run often enough.
    pub(super) fn splittings(&self) -> Vec<Candidate> {
        let loops: Vec<usize> =
            (0..self.components.cyclic.len()).rev().filter(|it| !self.components.cyclic[*it].is_empty()).collect();
        let pairs = loops.iter().enumerate().flat_map(|(place, first)| {
            let later = loops[place + 1..].iter();
            later.take_while(|_| self.allowance.spend()).map(|second| (*first, *second))
        });
        let meeting = pairs.filter(|(first, second)| self.letters[*first].meets(self.letters[*second]));
        let mut splits: Vec<Split> =
            meeting.flat_map(|(first, second)| self.split(first, second)).take(MAX_SPLITS).collect();
        self.retain_harmful(&mut splits);
        splits.sort_by_key(|split| split.pump.len());
        splits.truncate(MAX_CANDIDATES);
        let candidate = |split: Split| self.candidate(Kind::Splitting, split.origin, split.pump);
        splits.into_iter().filter_map(candidate).collect()
    }

    /// Leaves out chains of loops whose bounds are low.
    fn retain_harmful(&self, splits: &mut Vec<Split>) {
        let visits = |component: usize| {
            let members = self.components.cyclic[component].iter();
            members.map(|state| self.automaton.visits[*state]).max().unwrap_or(1)
        };
        // In how many ways a chain of loops reads a word, up to each component and from it on. Edges lead to smaller
        // numbers, and so do splits.
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
        splits.retain(|split| up_to[split.first].saturating_mul(from[split.second]) >= HARMLESS);
    }

    /// Explores the product of two components. One state of each component of the product is enough: what holds for
    /// it holds for all others there.
    fn split(&self, first: usize, second: usize) -> Vec<Split> {
        let (left, right) = (&self.components.cyclic[first], &self.components.cyclic[second]);
        if left.len() * right.len() > MAX_PRODUCT {
            self.allowance.take(usize::MAX);
            return Vec::new();
        }
        let pairs: Vec<(State, State)> = left.iter().flat_map(|p| right.iter().map(|q| (*p, *q))).collect();
        let mut edges = Vec::with_capacity(pairs.len());
        for (p, q) in &pairs {
            let mut targets = Vec::new();
            for one in self.inner(*p) {
                for other in self.inner(*q) {
                    if !self.allowance.spend() {
                        return Vec::new();
                    }
                    if one.letters.meets(other.letters) {
                        targets.push(self.places[one.to] * right.len() + self.places[other.to]);
                    }
                }
            }
            edges.push(targets);
        }
        let product = Components::of(&edges);
        let entries: Vec<(State, State)> =
            product.cyclic.iter().filter_map(|members| members.first().map(|member| pairs[*member])).collect();
        let split = |(p, q)| Some(Split { first, second, origin: p, pump: self.splitting(p, q)? });
        entries.into_iter().filter_map(split).collect()
    }

    /// A word with the paths from `p` to `p`, from `p` to `q` and from `q` to `q`.
    fn splitting(&self, p: State, q: State) -> Option<Vec<Letters>> {
        let second = self.components.of[q];
        let mut triples = Exploration::new([(p, p, q)]);
        while let Some((node, (x, y, z))) = triples.next() {
            for one in self.inner(x) {
                for other in self.inner(z) {
                    if !self.allowance.spend() {
                        return None;
                    }
                    let common = one.letters & other.letters;
                    if common.is_empty() {
                        continue;
                    }
                    for way in self.automaton.states[y].iter().take_while(|_| self.allowance.spend()) {
                        let letters = common & way.letters;
                        if letters.is_empty() || self.components.of[way.to] < second {
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

    /// Candidates for a search that begins with a loop: from each place in it, the loop can be entered again.
    pub(super) fn restarts(&self) -> Vec<Candidate> {
        self.automaton.leading.iter().filter_map(|entry| self.restart(*entry)).take(MAX_CANDIDATES).collect()
    }

    /// The shortest way around that ends with a letter by which the loop can be entered.
    fn restart(&self, entry: Edge) -> Option<Candidate> {
        let mut around = Exploration::new([entry.to]);
        while let Some((node, state)) = around.next() {
            for edge in self.inner(state).take_while(|_| self.allowance.spend()) {
                let last = edge.letters & entry.letters;
                if edge.to == entry.to && !last.is_empty() {
                    let (_, pump) = around.trace(node, Some(last));
                    return Some(Candidate { kind: Kind::Restarting, prefix: Vec::new(), pump, detours: Vec::new() });
                }
                around.reach(edge.to, node, edge.letters);
            }
        }
        None
    }

    /// The edges that stay in the component of a state.
    fn inner(&self, state: State) -> impl Iterator<Item = &'a Edge> {
        let component = self.components.of[state];
        self.automaton.states[state].iter().filter(move |edge| self.components.of[edge.to] == component)
    }

    /// A shortest word from one state to another.
    fn word(&self, from: State, to: State) -> Option<Vec<Letters>> {
        let mut states = Exploration::new([from]);
        while let Some((node, state)) = states.next() {
            if state == to {
                return Some(states.trace(node, None).1);
            }
            for edge in self.automaton.states[state].iter().take_while(|_| self.allowance.spend()) {
                states.reach(edge.to, node, edge.letters);
            }
        }
        None
    }
}

/// Which states some word leads to.
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
