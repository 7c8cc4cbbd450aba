//! Construction of the automaton's positions from the syntax tree.
//!
//! Bounded repetitions are unrolled, or become loops if there would be too many copies. Invariant:
//! there are never fewer ways to match a word than a backtracking engine has. There may be more,
//! because lookarounds always hold, and a backreference matches whatever its group can match.

use crate::alphabet::{Alphabet, Letters};
use crate::automaton::{Automaton, Positions, Step};
use crate::boundary::{Boundary, Conditions};
use crate::budget::StepBudget;
use crate::syntax::{Assertion, Direction, MatchWidth, Node, PatternError, Repeat};

/// The maximum number of characters of an expanded pattern.
const MAX_POSITIONS: usize = 2_000;

/// The maximum number of steps of the construction, one for each link.
const MAX_LINKS: usize = 60_000;

/// The cost of a character, in steps, without its links.
const STEPS_PER_POSITION: usize = 50;

/// The maximum number of characters in the mandatory rounds of one repetition.
const MAX_COPIED_CHARS: u32 = 500;

/// The maximum number of lookarounds that are returned; fewer are analysed.
const MAX_LOOKAROUNDS: usize = 32;

/// The maximum number of optional rounds that are unrolled.
const MAX_OPTIONAL: u32 = 8;

/// The maximum number of mandatory rounds that are unrolled, unless there is only one way through
/// them.
const MAX_ROUNDS: u32 = 20;

/// The maximum number of readings of an unrolled repetition of something of varying length.
const MAX_READINGS: u32 = 1_000_000;

/// The assumed number of rounds of an unbounded loop, for comparison with bounded ones.
const UNBOUNDED_VISITS: u32 = 5_000;

/// A pattern, or the body of one of its lookarounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) node: &'a Node,
    pub(crate) direction: Direction,
}

/// A constructed part of a pattern: the characters that it can start and end with, and its empty
/// paths.
#[derive(Debug, Clone, Default)]
struct Fragment {
    first: Vec<Link>,
    last: Vec<Link>,
    empty: Vec<EmptyPath>,
}

/// One or many ways to a character.
#[derive(Debug, Clone, Copy)]
struct Link {
    position: usize,
    path: EmptyPath,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EmptyPath {
    conditions: Conditions,
    is_ambiguous: bool,
}

/// The rounds after the mandatory ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Copies(u32),
    Loop,
}

/// The state of the construction.
#[derive(Debug)]
struct Builder<'a> {
    alphabet: &'a Alphabet,
    direction: Direction,
    bodies: &'a [Option<&'a Node>],
    letters: Vec<Letters>,
    max_visits: Vec<u32>,
    follow: Vec<Vec<Step>>,
    links_left: usize,
    budget: &'a StepBudget,
    /// The maximum number of times that enclosing loops repeat the current part.
    visits: u32,
    /// The groups under construction, and those that a backreference stands for.
    open: Vec<usize>,
    lookarounds: Vec<Part<'a>>,
}

const UNCONDITIONAL: EmptyPath = EmptyPath { conditions: 0, is_ambiguous: false };

impl EmptyPath {
    fn then(self, next: Self) -> Self {
        Self { conditions: self.conditions | next.conditions, is_ambiguous: self.is_ambiguous || next.is_ambiguous }
    }
}

impl Link {
    fn after(self, way: EmptyPath) -> Self {
        Self { position: self.position, path: way.then(self.path) }
    }
}

impl Fragment {
    /// Adds an alternative.
    fn or(&mut self, other: Self) {
        self.first.extend(other.first);
        self.last.extend(other.last);
        for way in other.empty {
            add_empty_path(&mut self.empty, way);
        }
    }
}

/// Constructs the automaton of a part, and returns the lookarounds in it that read in the other
/// direction.
pub(crate) fn construct<'a>(
    part: Part<'a>,
    bodies: &'a [Option<&'a Node>],
    alphabet: &'a Alphabet,
    allowance: &'a StepBudget,
) -> Result<(Automaton, Vec<Part<'a>>), PatternError> {
    let mut builder = Builder {
        alphabet,
        direction: part.direction,
        bodies,
        letters: Vec::new(),
        max_visits: Vec::new(),
        follow: Vec::new(),
        links_left: MAX_LINKS,
        budget: allowance,
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
        max_visits: builder.max_visits,
        follow: builder.follow,
    };
    Ok((Automaton::from_positions(&positions), builder.lookarounds))
}

impl<'a> Builder<'a> {
    fn part(&mut self, node: &'a Node) -> Result<Fragment, PatternError> {
        // Empty parts cost a step too, or copies of copies of nothing would be free.
        self.pay(1)?;
        match node {
            Node::Set(set) => self.character(*set),
            Node::Assertion(assertion) => {
                let way = EmptyPath { conditions: assertion.bit(), is_ambiguous: false };
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

    fn sequence(&mut self, parts: &'a [Node]) -> Result<Fragment, PatternError> {
        let mut whole = empty_fragment();
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

    fn character(&mut self, set: usize) -> Result<Fragment, PatternError> {
        let position = self.letters.len();
        if position == MAX_POSITIONS {
            return Err(PatternError::TooLarge);
        }
        self.budget.take(STEPS_PER_POSITION);
        self.letters.push(self.alphabet.set(set));
        self.max_visits.push(self.visits);
        self.follow.push(Vec::new());
        let link = Link { position, path: UNCONDITIONAL };
        Ok(Fragment { first: vec![link], last: vec![link], empty: Vec::new() })
    }

    fn within(&mut self, groups: &[usize], body: &'a Node) -> Result<Fragment, PatternError> {
        self.open.extend(groups);
        let part = self.part(body);
        self.open.truncate(self.open.len() - groups.len());
        part
    }

    /// Adds a dead end beside the way on: the body of a lookaround is read together with what
    /// follows it.
    fn look(&mut self, behind: bool, body: &'a Node) -> Result<Fragment, PatternError> {
        let direction = if behind { Direction::Backward } else { Direction::Forward };
        if direction != self.direction {
            // Copies of a lookaround are analysed once.
            if self.lookarounds.len() < MAX_LOOKAROUNDS
                && !self.lookarounds.iter().any(|known| std::ptr::eq(known.node, body))
            {
                self.lookarounds.push(Part { node: body, direction });
            }
            return Ok(empty_fragment());
        }
        let first = self.part(body)?.first;
        Ok(Fragment { first, last: Vec::new(), empty: vec![UNCONDITIONAL] })
    }

    /// Copies the groups. Inside of its own group, or of a copy, a backreference matches nothing.
    fn backreference(&mut self, groups: &[usize]) -> Result<Fragment, PatternError> {
        let copied = self.open.contains(&0);
        let mut whole = Fragment::default();
        for group in groups {
            let body = self.bodies.get(*group).copied().flatten();
            let Some(body) = body.filter(|_| !copied && !self.open.contains(group)) else { continue };
            // Group 0, which nothing can refer to, marks the inside of a copy.
            let part = self.within(&[0, *group], body)?;
            whole.or(part);
        }
        Ok(if whole.first.is_empty() { empty_fragment() } else { whole })
    }

    fn repeat(&mut self, repeat: &'a Repeat) -> Result<Fragment, PatternError> {
        let Repeat { body, min, max, width: shape, .. } = repeat;
        if *max == 0 {
            return Ok(empty_fragment());
        }
        if max_readings(*shape, *max) > MAX_READINGS || (!shape.is_deterministic && *min > MAX_ROUNDS) {
            // If mandatory rounds may be empty, there is a choice of which ones are.
            return self.unbounded_loop(repeat, shape.shortest == 0 && *min > 1);
        }
        let tail = if *max == u32::MAX || max - min > MAX_OPTIONAL { Tail::Loop } else { Tail::Copies(max - min) };
        // A loop with at least one round is itself the last mandatory one.
        let rounds = if tail == Tail::Loop { min.saturating_sub(1) } else { *min };
        let rounds = if shape.is_deterministic { rounds.min(MAX_COPIED_CHARS / shape.longest.max(1)) } else { rounds };
        let mut whole = empty_fragment();
        for _ in 0..rounds {
            let round = self.part(body)?;
            self.join(&mut whole, round)?;
        }
        let rest = match tail {
            Tail::Copies(count) => self.optional_rounds(body, count)?,
            Tail::Loop => self.unbounded_loop(repeat, false)?,
        };
        self.join(&mut whole, rest)?;
        Ok(whole)
    }

    /// Links a part back to itself; if `many`, in more than one way.
    fn unbounded_loop(&mut self, repeat: &'a Repeat, many: bool) -> Result<Fragment, PatternError> {
        let around = self.visits;
        self.visits = around.saturating_mul(repeat.max.min(UNBOUNDED_VISITS));
        let round = self.part(&repeat.body);
        self.visits = around;
        let mut round = round?;
        self.connect(&round.last, &round.first, many)?;
        if repeat.min == 0 {
            round.empty = vec![UNCONDITIONAL];
        }
        Ok(round)
    }

    /// Nests optional rounds, `(x(x)?)?`; none of them may be empty.
    fn optional_rounds(&mut self, body: &'a Node, count: u32) -> Result<Fragment, PatternError> {
        let mut whole = empty_fragment();
        for _ in 0..count {
            let mut round = self.part(body)?;
            round.empty.clear();
            self.join(&mut round, whole)?;
            round.empty = vec![UNCONDITIONAL];
            whole = round;
        }
        Ok(whole)
    }

    /// Appends a part.
    fn join(&mut self, whole: &mut Fragment, next: Fragment) -> Result<(), PatternError> {
        self.connect(&whole.last, &next.first, false)?;
        let added = whole.empty.len() * (next.first.len() + next.empty.len()) + whole.last.len() * next.empty.len();
        self.pay(added)?;
        whole.first.extend(whole.empty.iter().flat_map(|way| next.first.iter().map(|link| link.after(*way))));
        let kept = next.empty.iter().flat_map(|way| whole.last.iter().map(|link| link.after(*way)));
        whole.last = next.last.into_iter().chain(kept).collect();
        let mut empty = Vec::new();
        for before in &whole.empty {
            for after in &next.empty {
                add_empty_path(&mut empty, before.then(*after));
            }
        }
        whole.empty = empty;
        Ok(())
    }

    fn connect(&mut self, from: &[Link], to: &[Link], many: bool) -> Result<(), PatternError> {
        self.pay(from.len() * to.len())?;
        for source in from {
            for target in to {
                if let Some(step) = self.step(Some(source.position), target.after(source.path)) {
                    self.follow[source.position].push(Step { is_ambiguous: step.is_ambiguous || many, ..step });
                }
            }
        }
        Ok(())
    }

    /// Returns a step by the letters that its conditions allow, if they allow any.
    fn step(&self, from: Option<usize>, link: Link) -> Option<Step> {
        let before = from.map(|position| self.letters[position]);
        let boundary = Boundary { alphabet: self.alphabet, direction: self.direction };
        let letters = boundary.allowed_letters(link.path.conditions, before, self.letters[link.position]);
        (!letters.is_empty()).then_some(Step { position: link.position, letters, is_ambiguous: link.path.is_ambiguous })
    }

    /// Returns the step into a loop with which a match may start at any offset.
    fn leading(&self, link: Link) -> Option<Step> {
        let letters = match link.path.conditions {
            0 => self.letters[link.position],
            conditions if conditions == Assertion::LineStart.bit() => {
                self.letters[link.position] & self.alphabet.newline
            }
            _ => return None,
        };
        let in_loop = self.max_visits[link.position] >= UNBOUNDED_VISITS;
        (in_loop && !letters.is_empty()).then_some(Step { position: link.position, letters, is_ambiguous: false })
    }

    fn pay(&mut self, links: usize) -> Result<(), PatternError> {
        self.links_left = self.links_left.checked_sub(links).ok_or(PatternError::TooLarge)?;
        if self.budget.take(links) { Ok(()) } else { Err(PatternError::TooLarge) }
    }
}

/// Returns a fragment with one empty path.
fn empty_fragment() -> Fragment {
    Fragment { empty: vec![UNCONDITIONAL], ..Fragment::default() }
}

fn add_empty_path(ways: &mut Vec<EmptyPath>, way: EmptyPath) {
    match ways.iter_mut().find(|known| known.conditions == way.conditions) {
        Some(known) => known.is_ambiguous = true,
        None => ways.push(way),
    }
}

/// Returns the maximum number of ways to distribute a text over the rounds of a bounded repetition.
fn max_readings(shape: MatchWidth, rounds: u32) -> u32 {
    if shape.longest == u32::MAX || rounds == u32::MAX {
        return 0;
    }
    (shape.longest - shape.shortest + 1).saturating_pow(rounds)
}
