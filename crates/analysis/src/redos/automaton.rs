//! From the tree to a nondeterministic automaton that has a path for each way in which a pattern can match a word.
//!
//! The states are the characters of the pattern, as in Glushkov's construction, so that no edge is empty; an edge knows
//! whether more than one empty way led along it. States from which the same edges leave are one state.
//! Invariant: there are never fewer ways than a backtracking engine has. There may be more: lookarounds always hold, and
//! a backreference matches whatever its group can.

use std::collections::HashMap;

use super::alphabet::{Alphabet, Letters};
use super::syntax::{Assertion, Node, Pattern, Reject, Repeat, Shape};

/// How many characters an expanded pattern may have.
const MAX_POSITIONS: usize = 2_000;

/// How many steps the construction may take.
const MAX_LINKS: usize = 300_000;

/// How many characters the rounds of one repetition may have that have to be taken.
const MAX_COPIED: u32 = 500;

/// Repetitions with more optional rounds than this are loops.
const MAX_ROUNDS: u32 = 20;

/// Bounded repetitions of something of varying length that can be read in more ways than this are loops.
const MAX_READINGS: u32 = 1_000_000;

/// How often a loop without a bound is taken to run, to compare it with loops that have one.
const UNBOUNDED: u32 = 5_000;

/// The number of a state.
pub(super) type State = usize;

/// The automaton of a pattern, or of what is in a lookaround.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) states: Vec<Vec<Edge>>,
    /// How often each state can be visited.
    pub(super) visits: Vec<u32>,
    pub(super) start: State,
    /// Where a loop begins the pattern, so that a search which failed can fail again from the next character on.
    pub(super) leading: Vec<Edge>,
}

/// A step on any of some letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    pub(super) letters: Letters,
    pub(super) to: State,
    /// There is more than one way to take it.
    pub(super) many: bool,
}

/// Which way a part of a pattern reads: lookbehinds read backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// The conditions on the place where an empty way leads through, as bits.
type Conditions = u8;

/// What the construction knows of a part of a pattern: the characters that it can begin and end with, and the empty
/// ways through it.
#[derive(Debug, Clone, Default)]
struct Fragment {
    first: Vec<Link>,
    last: Vec<Link>,
    empty: Vec<Way>,
}

/// One or many ways to a character.
#[derive(Debug, Clone, Copy)]
struct Link {
    position: usize,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    conditions: Conditions,
    many: bool,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    letters: Letters,
    visits: u32,
}

/// A way from one character to the next, by those of its letters that the conditions leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Step {
    position: usize,
    letters: Letters,
    many: bool,
}

/// An automaton that is being built.
struct Builder<'a> {
    alphabet: &'a Alphabet,
    direction: Direction,
    groups: &'a [Option<&'a Node>],
    positions: Vec<Position>,
    follow: Vec<Vec<Step>>,
    links_left: usize,
    /// How often the part that is being built can be repeated by what is around it.
    visits: u32,
    /// The groups that are being built, and those that a backreference stands for.
    open: Vec<usize>,
    lookarounds: Vec<(&'a Node, Direction)>,
}

const PLAIN: Way = Way { conditions: 0, many: false };

impl Way {
    fn then(self, next: Self) -> Self {
        Self { conditions: self.conditions | next.conditions, many: self.many || next.many }
    }
}

impl Link {
    fn after(self, way: Way) -> Self {
        Self { position: self.position, way: way.then(self.way) }
    }
}

/// An automaton, and the parts of the pattern that have one of their own.
type Parts<'a> = (Automaton, Vec<(&'a Node, Direction)>);

/// The automaton of a part of a pattern, and the lookarounds in it that read the other way.
pub(super) fn automaton<'a>(
    (root, direction): (&'a Node, Direction),
    groups: &'a [Option<&'a Node>],
    alphabet: &'a Alphabet,
) -> Result<Parts<'a>, Reject> {
    let mut builder = Builder {
        alphabet,
        direction,
        groups,
        positions: Vec::new(),
        follow: Vec::new(),
        links_left: MAX_LINKS,
        visits: 1,
        open: Vec::new(),
        lookarounds: Vec::new(),
    };
    let whole = builder.part(root)?;
    Ok((builder.finish(&whole), builder.lookarounds))
}

/// What is in each group; there is none with the number 0.
pub(super) fn groups(pattern: &Pattern) -> Vec<Option<&Node>> {
    let mut groups = vec![None; pattern.groups + 1];
    collect_groups(&pattern.root, &mut groups);
    groups
}

fn collect_groups<'a>(node: &'a Node, groups: &mut [Option<&'a Node>]) {
    match node {
        Node::Set(_) | Node::Assertion(_) | Node::Backreference { .. } => {}
        Node::Sequence(parts) | Node::Choice(parts) => parts.iter().for_each(|part| collect_groups(part, groups)),
        Node::Repeat(repeat) => collect_groups(&repeat.body, groups),
        Node::Look { body, .. } => collect_groups(body, groups),
        Node::Group { index, body } => {
            groups[*index] = Some(body);
            collect_groups(body, groups);
        }
    }
}

impl<'a> Builder<'a> {
    fn part(&mut self, node: &'a Node) -> Result<Fragment, Reject> {
        match node {
            Node::Set(set) => self.character(*set),
            Node::Assertion(assertion) => {
                let way = Way { conditions: bit(*assertion), many: false };
                Ok(Fragment { empty: vec![way], ..Fragment::default() })
            }
            Node::Sequence(parts) => {
                let mut whole = nothing();
                let direction = self.direction;
                let mut add = |part| -> Result<(), Reject> {
                    let next = self.part(part)?;
                    self.join(&mut whole, next)
                };
                match direction {
                    Direction::Forward => parts.iter().try_for_each(&mut add)?,
                    Direction::Backward => parts.iter().rev().try_for_each(&mut add)?,
                }
                Ok(whole)
            }
            Node::Choice(parts) => {
                let mut whole = Fragment::default();
                for part in parts {
                    let part = self.part(part)?;
                    self.pay(part.first.len() + part.last.len())?;
                    whole.first.extend(part.first);
                    whole.last.extend(part.last);
                    part.empty.into_iter().for_each(|way| add_way(&mut whole.empty, way));
                }
                Ok(whole)
            }
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Group { index, body } => self.within(&[*index], body),
            Node::Look { behind, body, .. } => self.look(*behind, body),
            Node::Backreference { groups, .. } => self.backreference(groups),
        }
    }

    fn character(&mut self, set: usize) -> Result<Fragment, Reject> {
        let position = self.positions.len();
        if position == MAX_POSITIONS {
            return Err(Reject::TooLarge);
        }
        self.positions.push(Position { letters: self.alphabet.set(set), visits: self.visits });
        self.follow.push(Vec::new());
        let link = Link { position, way: PLAIN };
        Ok(Fragment { first: vec![link], last: vec![link], empty: Vec::new() })
    }

    fn within(&mut self, groups: &[usize], body: &'a Node) -> Result<Fragment, Reject> {
        self.open.extend(groups);
        let part = self.part(body);
        self.open.truncate(self.open.len() - groups.len());
        part
    }

    /// A dead end next to the way on: what is in a lookaround is read together with what comes after it.
    fn look(&mut self, behind: bool, body: &'a Node) -> Result<Fragment, Reject> {
        let direction = if behind { Direction::Backward } else { Direction::Forward };
        if direction != self.direction {
            self.lookarounds.push((body, direction));
            return Ok(nothing());
        }
        let first = self.part(body)?.first;
        Ok(Fragment { first, last: Vec::new(), empty: vec![PLAIN] })
    }

    /// A copy of the groups. In a group of its own, or in a copy, a backreference matches nothing.
    fn backreference(&mut self, groups: &[usize]) -> Result<Fragment, Reject> {
        let copied = !self.open.is_empty() && self.open.contains(&0);
        let mut whole = Fragment::default();
        for group in groups {
            let body = self.groups.get(*group).copied().flatten();
            let Some(body) = body.filter(|_| !copied && !self.open.contains(group)) else { continue };
            // Group 0, which nothing can refer to, marks what is inside of a copy.
            let part = self.within(&[0, *group], body)?;
            whole.first.extend(part.first);
            whole.last.extend(part.last);
            part.empty.into_iter().for_each(|way| add_way(&mut whole.empty, way));
        }
        Ok(if whole.first.is_empty() { nothing() } else { whole })
    }

    fn repeat(&mut self, repeat: &'a Repeat) -> Result<Fragment, Reject> {
        let Repeat { body, min, max, shape, .. } = repeat;
        if *max == 0 {
            return Ok(nothing());
        }
        if readings(*shape, *max) > MAX_READINGS || (!shape.plain && *min > MAX_ROUNDS) {
            return self.fused(repeat);
        }
        let tail = if *max == u32::MAX || max - min > MAX_ROUNDS { Tail::Loop } else { Tail::Copies(max - min) };
        // A loop that is taken at least once is itself the last of the rounds that have to be.
        let rounds = if tail == Tail::Loop { min.saturating_sub(1) } else { *min };
        let rounds = if shape.plain { rounds.min(MAX_COPIED / shape.longest.max(1)) } else { rounds };
        let mut whole = nothing();
        for _ in 0..rounds {
            let round = self.part(body)?;
            self.join(&mut whole, round)?;
        }
        let rest = match tail {
            Tail::Copies(count) => self.optional_rounds(body, count)?,
            Tail::Loop => {
                let mut round = self.looped(body, *max)?;
                self.connect(&round.last.clone(), &round.first.clone(), false)?;
                if *min == 0 {
                    round.empty = vec![PLAIN];
                }
                round
            }
        };
        self.join(&mut whole, rest)?;
        Ok(whole)
    }

    /// A loop in place of rounds that there are too many of. Where rounds that have to be taken may be empty, there is
    /// a choice of which are, and so more than one way around.
    fn fused(&mut self, repeat: &'a Repeat) -> Result<Fragment, Reject> {
        let mut round = self.looped(&repeat.body, repeat.max)?;
        let choice = repeat.shape.shortest == 0 && repeat.min > 1;
        self.connect(&round.last.clone(), &round.first.clone(), choice)?;
        if repeat.min == 0 {
            round.empty = vec![PLAIN];
        }
        Ok(round)
    }

    fn looped(&mut self, body: &'a Node, max: u32) -> Result<Fragment, Reject> {
        let around = self.visits;
        self.visits = around.saturating_mul(max.min(UNBOUNDED));
        let round = self.part(body);
        self.visits = around;
        round
    }

    /// Rounds inside of each other, `(x(x)?)?`; none of them may be empty.
    fn optional_rounds(&mut self, body: &'a Node, count: u32) -> Result<Fragment, Reject> {
        let mut whole = nothing();
        for _ in 0..count {
            let mut round = self.part(body)?;
            round.empty.clear();
            self.join(&mut round, whole)?;
            round.empty = vec![PLAIN];
            whole = round;
        }
        Ok(whole)
    }

    /// Puts a part behind what there is.
    fn join(&mut self, whole: &mut Fragment, next: Fragment) -> Result<(), Reject> {
        self.connect(&whole.last, &next.first, false)?;
        let added = whole.empty.len() * next.first.len() + whole.last.len() * next.empty.len();
        self.pay(added)?;
        whole.first.extend(whole.empty.iter().flat_map(|way| next.first.iter().map(|link| link.after(*way))));
        let kept = next.empty.iter().flat_map(|way| whole.last.iter().map(|link| link.after(*way)));
        whole.last = next.last.into_iter().chain(kept).collect();
        let mut empty = Vec::new();
        for before in &whole.empty {
            next.empty.iter().for_each(|after| add_way(&mut empty, before.then(*after)));
        }
        whole.empty = empty;
        Ok(())
    }

    fn connect(&mut self, from: &[Link], to: &[Link], many: bool) -> Result<(), Reject> {
        self.pay(from.len() * to.len())?;
        for source in from {
            let before = self.positions[source.position].letters;
            for target in to {
                let way = source.way.then(target.way);
                let letters = self.allowed(way.conditions, Some(before), target.position);
                if !letters.is_empty() {
                    let step = Step { position: target.position, letters, many: way.many || many };
                    self.follow[source.position].push(step);
                }
            }
        }
        Ok(())
    }

    fn pay(&mut self, links: usize) -> Result<(), Reject> {
        self.links_left = self.links_left.checked_sub(links).ok_or(Reject::TooLarge)?;
        Ok(())
    }

    /// The letters at a position that some conditions allow after others, or at the beginning.
    fn allowed(&self, conditions: Conditions, before: Option<Letters>, position: usize) -> Letters {
        let letters = self.positions[position].letters;
        let allowed = |assertion| match (self.direction, before) {
            (Direction::Forward, _) => self.after(assertion, before, letters),
            // What a lookbehind meets first may stand in the middle of a text.
            (Direction::Backward, None) => letters,
            (Direction::Backward, Some(next)) => {
                let possible = !self.after(assertion, Some(letters), next).is_empty();
                if possible { letters } else { Letters::default() }
            }
        };
        let asserted = ASSERTIONS.iter().filter(|assertion| conditions & bit(**assertion) != 0);
        asserted.fold(letters, |left, assertion| left & allowed(*assertion))
    }

    /// The letters that an assertion allows next.
    fn after(&self, assertion: Assertion, before: Option<Letters>, letters: Letters) -> Letters {
        let Alphabet { word, newline, .. } = self.alphabet;
        let nothing = Letters::default();
        let is_newline = before.is_none_or(|before| before.meets(*newline));
        let word_before = before.is_some_and(|before| before.meets(*word));
        let other_before = before.is_none_or(|before| !before.is_within(*word));
        let (words, others) = (letters & *word, letters.without(*word));
        let (after_word, after_other) = match assertion {
            Assertion::TextStart => return if before.is_none() { letters } else { nothing },
            Assertion::LineStart => return if is_newline { letters } else { nothing },
            Assertion::TextEnd => return nothing,
            Assertion::LineEnd => return letters & *newline,
            Assertion::WordBoundary => (others, words),
            Assertion::NoWordBoundary => (words, others),
        };
        (if word_before { after_word } else { nothing }) | (if other_before { after_other } else { nothing })
    }

    /// States from positions.
    fn finish(&mut self, whole: &Fragment) -> Automaton {
        let mut numbers: HashMap<Vec<Step>, State> = HashMap::new();
        let mut lists: Vec<Vec<Step>> = Vec::new();
        let mut state_of = Vec::with_capacity(self.positions.len());
        let mut visits = Vec::new();
        for (steps, position) in self.follow.iter().zip(&self.positions) {
            let state = *numbers.entry(merged(steps)).or_insert_with_key(|list| {
                lists.push(list.clone());
                visits.push(1);
                lists.len() - 1
            });
            visits[state] = visits[state].max(position.visits);
            state_of.push(state);
        }
        let first = whole.first.iter().map(|link| Step {
            position: link.position,
            letters: self.allowed(link.way.conditions, None, link.position),
            many: link.way.many,
        });
        lists.push(merged(&first.filter(|step| !step.letters.is_empty()).collect::<Vec<_>>()));
        visits.push(1);
        let states: Vec<Vec<Edge>> = lists.iter().map(|list| edges(list, &state_of)).collect();
        let leading = whole.first.iter().filter_map(|link| self.leading(link, &state_of)).collect();
        Automaton { start: states.len() - 1, leading, states, visits }
    }

    /// The edge into a loop that a match may begin with, wherever it begins.
    fn leading(&self, link: &Link, state_of: &[State]) -> Option<Edge> {
        let Position { letters, visits } = self.positions[link.position];
        let letters = match link.way.conditions {
            0 => letters,
            conditions if conditions == bit(Assertion::LineStart) => letters & self.alphabet.newline,
            _ => return None,
        };
        let edge = Edge { letters, to: state_of[link.position], many: false };
        (visits > 1 && !letters.is_empty()).then_some(edge)
    }
}

/// What comes after the rounds that have to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Copies(u32),
    Loop,
}

const ASSERTIONS: [Assertion; 6] = [
    Assertion::TextStart,
    Assertion::LineStart,
    Assertion::TextEnd,
    Assertion::LineEnd,
    Assertion::WordBoundary,
    Assertion::NoWordBoundary,
];

fn bit(assertion: Assertion) -> Conditions {
    1 << assertion as u8
}

/// One way that is empty.
fn nothing() -> Fragment {
    Fragment { empty: vec![PLAIN], ..Fragment::default() }
}

fn add_way(ways: &mut Vec<Way>, way: Way) {
    match ways.iter_mut().find(|known| known.conditions == way.conditions) {
        Some(known) => known.many = true,
        None => ways.push(way),
    }
}

/// How many ways there are, at most, to share out a text among the rounds of a bounded repetition.
fn readings(shape: Shape, rounds: u32) -> u32 {
    if shape.longest == u32::MAX || rounds == u32::MAX {
        return 0;
    }
    (shape.longest - shape.shortest + 1).saturating_pow(rounds)
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
    let mut latest: HashMap<State, usize> = HashMap::new();
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
