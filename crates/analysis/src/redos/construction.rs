//! From the tree to the positions of an automaton.
//!
//! Repetitions with bounds are copies, or loops where they would be too many. Invariant: there are never fewer ways to
//! match a word than a backtracking engine has. There may be more, as lookarounds always hold, and a backreference
//! matches whatever its group can.

use super::allowance::Allowance;
use super::alphabet::{Alphabet, Letters};
use super::automaton::{Automaton, Positions, Step};
use super::boundary::{Boundary, Conditions};
use super::syntax::{Assertion, Direction, Node, Reject, Repeat, Shape};

/// How many characters an expanded pattern may have.
const MAX_POSITIONS: usize = 2_000;

/// How many steps the construction may take: as many as it makes links.
const MAX_LINKS: usize = 60_000;

/// How many steps a character takes, beside its links.
const POSITION: usize = 50;

/// How many characters the rounds of one repetition may have that have to be taken.
const MAX_COPIED: u32 = 500;

/// How many lookarounds are handed back: more than are looked at.
const MAX_LOOKAROUNDS: usize = 32;

/// Repetitions with more optional rounds than this are loops.
const MAX_OPTIONAL: u32 = 8;

/// Repetitions with more rounds than this that have to be taken are loops, unless there is one way to take them.
const MAX_ROUNDS: u32 = 20;

/// Bounded repetitions of something of varying length that can be read in more ways than this are loops.
const MAX_READINGS: u32 = 1_000_000;

/// How often a loop without a bound is taken to run, to compare it with loops that have one.
const UNBOUNDED: u32 = 5_000;

/// A pattern, or what is in a lookaround of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) node: &'a Node,
    pub(super) direction: Direction,
}

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

/// What comes after the rounds that have to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Copies(u32),
    Loop,
}

/// Positions that are being made.
#[derive(Debug)]
struct Builder<'a> {
    alphabet: &'a Alphabet,
    direction: Direction,
    bodies: &'a [Option<&'a Node>],
    letters: Vec<Letters>,
    visited: Vec<u32>,
    follow: Vec<Vec<Step>>,
    links_left: usize,
    allowance: &'a Allowance,
    /// How often the part that is being built can be repeated by what is around it.
    visits: u32,
    /// The groups that are being built, and those that a backreference stands for.
    open: Vec<usize>,
    lookarounds: Vec<Part<'a>>,
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

impl Fragment {
    /// Adds an alternative.
    fn or(&mut self, other: Self) {
        self.first.extend(other.first);
        self.last.extend(other.last);
        for way in other.empty {
            add_way(&mut self.empty, way);
        }
    }
}

/// The automaton of a part of a pattern, and the lookarounds in it that read the other way.
pub(super) fn construct<'a>(
    part: Part<'a>,
    bodies: &'a [Option<&'a Node>],
    alphabet: &'a Alphabet,
    allowance: &'a Allowance,
) -> Result<(Automaton, Vec<Part<'a>>), Reject> {
    let mut builder = Builder {
        alphabet,
        direction: part.direction,
        bodies,
        letters: Vec::new(),
        visited: Vec::new(),
        follow: Vec::new(),
        links_left: MAX_LINKS,
        allowance,
        visits: 1,
        open: Vec::new(),
        lookarounds: Vec::new(),
    };
    let whole = builder.part(part.node)?;
    let positions = Positions {
        first: whole.first.iter().filter_map(|link| builder.step(None, *link)).collect(),
        last: whole.last.iter().map(|link| link.position).collect(),
        leading: whole.first.iter().filter_map(|link| builder.leading(*link)).collect(),
        empty: !whole.empty.is_empty(),
        visits: builder.visited,
        follow: builder.follow,
    };
    Ok((Automaton::of(&positions), builder.lookarounds))
}

impl<'a> Builder<'a> {
    fn part(&mut self, node: &'a Node) -> Result<Fragment, Reject> {
        // What is empty costs too, or copies of copies of nothing would cost nothing.
        self.pay(1)?;
        match node {
            Node::Set(set) => self.character(*set),
            Node::Assertion(assertion) => {
                let way = Way { conditions: assertion.bit(), many: false };
                Ok(Fragment { empty: vec![way], ..Fragment::default() })
            }
            Node::Sequence(parts) => self.sequence(parts),
            Node::Choice(parts) => {
                let mut whole = Fragment::default();
                for part in parts {
                    let part = self.part(part)?;
                    self.pay(part.first.len() + part.last.len() + part.empty.len())?;
                    whole.or(part);
                }
                Ok(whole)
            }
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Group { index, body } => self.within(&[*index], body),
            Node::Look { behind, body, .. } => self.look(*behind, body),
            Node::Backreference { groups, .. } => self.backreference(groups),
        }
    }

    fn sequence(&mut self, parts: &'a [Node]) -> Result<Fragment, Reject> {
        let mut whole = nothing();
        for number in 0..parts.len() {
            let part = match self.direction {
                Direction::Forward => &parts[number],
                Direction::Backward => &parts[parts.len() - 1 - number],
            };
            let next = self.part(part)?;
            self.join(&mut whole, next)?;
        }
        Ok(whole)
    }

    fn character(&mut self, set: usize) -> Result<Fragment, Reject> {
        let position = self.letters.len();
        if position == MAX_POSITIONS {
            return Err(Reject::TooLarge);
        }
        self.allowance.take(POSITION);
        self.letters.push(self.alphabet.set(set));
        self.visited.push(self.visits);
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
            // The copies of a lookaround are looked at once.
            if self.lookarounds.len() < MAX_LOOKAROUNDS
                && !self.lookarounds.iter().any(|known| std::ptr::eq(known.node, body))
            {
                self.lookarounds.push(Part { node: body, direction });
            }
            return Ok(nothing());
        }
        let first = self.part(body)?.first;
        Ok(Fragment { first, last: Vec::new(), empty: vec![PLAIN] })
    }

    /// A copy of the groups. In a group of its own, or in a copy, a backreference matches nothing.
    fn backreference(&mut self, groups: &[usize]) -> Result<Fragment, Reject> {
        let copied = self.open.contains(&0);
        let mut whole = Fragment::default();
        for group in groups {
            let body = self.bodies.get(*group).copied().flatten();
            let Some(body) = body.filter(|_| !copied && !self.open.contains(group)) else { continue };
            // Group 0, which nothing can refer to, marks what is inside of a copy.
            let part = self.within(&[0, *group], body)?;
            whole.or(part);
        }
        Ok(if whole.first.is_empty() { nothing() } else { whole })
    }

    fn repeat(&mut self, repeat: &'a Repeat) -> Result<Fragment, Reject> {
        let Repeat { body, min, max, shape, .. } = repeat;
        if *max == 0 {
            return Ok(nothing());
        }
        if readings(*shape, *max) > MAX_READINGS || (!shape.plain && *min > MAX_ROUNDS) {
            // Where rounds that have to be taken may be empty, there is a choice of which are.
            return self.looped(repeat, shape.shortest == 0 && *min > 1);
        }
        let tail = if *max == u32::MAX || max - min > MAX_OPTIONAL { Tail::Loop } else { Tail::Copies(max - min) };
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
            Tail::Loop => self.looped(repeat, false)?,
        };
        self.join(&mut whole, rest)?;
        Ok(whole)
    }

    /// A part that leads back to itself; where `many`, in more than one way.
    fn looped(&mut self, repeat: &'a Repeat, many: bool) -> Result<Fragment, Reject> {
        let around = self.visits;
        self.visits = around.saturating_mul(repeat.max.min(UNBOUNDED));
        let round = self.part(&repeat.body);
        self.visits = around;
        let mut round = round?;
        self.connect(&round.last, &round.first, many)?;
        if repeat.min == 0 {
            round.empty = vec![PLAIN];
        }
        Ok(round)
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
        let added = whole.empty.len() * (next.first.len() + next.empty.len()) + whole.last.len() * next.empty.len();
        self.pay(added)?;
        whole.first.extend(whole.empty.iter().flat_map(|way| next.first.iter().map(|link| link.after(*way))));
        let kept = next.empty.iter().flat_map(|way| whole.last.iter().map(|link| link.after(*way)));
        whole.last = next.last.into_iter().chain(kept).collect();
        let mut empty = Vec::new();
        for before in &whole.empty {
            for after in &next.empty {
                add_way(&mut empty, before.then(*after));
            }
        }
        whole.empty = empty;
        Ok(())
    }

    fn connect(&mut self, from: &[Link], to: &[Link], many: bool) -> Result<(), Reject> {
        self.pay(from.len() * to.len())?;
        for source in from {
            for target in to {
                if let Some(step) = self.step(Some(source.position), target.after(source.way)) {
                    self.follow[source.position].push(Step { many: step.many || many, ..step });
                }
            }
        }
        Ok(())
    }

    /// A step by the letters that its conditions allow, if they allow any.
    fn step(&self, from: Option<usize>, link: Link) -> Option<Step> {
        let before = from.map(|position| self.letters[position]);
        let boundary = Boundary { alphabet: self.alphabet, direction: self.direction };
        let letters = boundary.allowed(link.way.conditions, before, self.letters[link.position]);
        (!letters.is_empty()).then_some(Step { position: link.position, letters, many: link.way.many })
    }

    /// The step into a loop that a match may begin with, wherever it begins.
    fn leading(&self, link: Link) -> Option<Step> {
        let letters = match link.way.conditions {
            0 => self.letters[link.position],
            conditions if conditions == Assertion::LineStart.bit() => {
                self.letters[link.position] & self.alphabet.newline
            }
            _ => return None,
        };
        let in_loop = self.visited[link.position] >= UNBOUNDED;
        (in_loop && !letters.is_empty()).then_some(Step { position: link.position, letters, many: false })
    }

    fn pay(&mut self, links: usize) -> Result<(), Reject> {
        self.links_left = self.links_left.checked_sub(links).ok_or(Reject::TooLarge)?;
        if self.allowance.take(links) { Ok(()) } else { Err(Reject::TooLarge) }
    }
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
