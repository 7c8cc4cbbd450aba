//! A parsed regular expression.
//!
//! Invariant: what flags mean is settled while parsing (letters have both cases in their sets, `^` knows what it
//! matches), so that nobody after the parser looks at flags. The tree is never deeper than `MAX_DEPTH` allows, which
//! is what makes it safe to walk it with functions that call themselves.

use std::ops::Range;

use super::charset::CharSet;
use super::unicode;

/// How deep groups, lookarounds and classes may be nested.
pub(super) const MAX_DEPTH: usize = 100;

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reject {
    /// It is not a regular expression.
    Invalid,
    /// It is beyond what is looked at.
    TooLarge,
}

/// A whole pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) root: Node,
    /// The distinct sets of characters in it.
    pub(super) sets: Vec<CharSet>,
    /// How many groups capture.
    pub(super) groups: usize,
    /// Whether characters are code points, and not UTF-16 code units.
    pub(super) unicode: bool,
    /// Whether a match may start at one place only.
    pub(super) sticky: bool,
}

/// A part of a pattern.
#[derive(Debug)]
pub(super) enum Node {
    /// One character, of the set with this number.
    Set(usize),
    Assertion(Assertion),
    /// All of them, one after the other; none of them is the empty pattern.
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Repeat>),
    Group {
        index: usize,
        body: Box<Node>,
    },
    Look {
        behind: bool,
        negative: bool,
        body: Box<Node>,
    },
    /// What the first of these groups that took part has matched; groups of one name are alternatives.
    Backreference {
        groups: Vec<usize>,
        ignore_case: bool,
    },
}

/// Which way a part of a pattern reads: lookbehinds read backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// What matches without consuming a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    TextStart,
    LineStart,
    TextEnd,
    LineEnd,
    WordBoundary,
    NoWordBoundary,
}

/// A quantifier and what it is about.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: Node,
    pub(super) min: u32,
    /// `u32::MAX` stands for no limit.
    pub(super) max: u32,
    pub(super) greedy: bool,
    /// The groups in the body: each round forgets what they matched.
    pub(super) groups: Range<usize>,
    pub(super) shape: Shape,
}

/// How many characters a part of a pattern takes, and whether it has a choice in how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) shortest: u32,
    /// `u32::MAX` stands for no limit.
    pub(super) longest: u32,
    /// There is one way through it at most.
    pub(super) plain: bool,
}

impl Pattern {
    /// What is in each group that captures; there is none with the number 0.
    pub(super) fn bodies(&self) -> Vec<Option<&Node>> {
        let mut bodies = vec![None; self.groups + 1];
        self.root.collect_bodies(&mut bodies);
        bodies
    }

    pub(super) fn last_character(&self) -> u32 {
        if self.unicode { unicode::LAST } else { 0xFFFF }
    }
}

impl Shape {
    const EMPTY: Self = Self { shortest: 0, longest: 0, plain: true };

    fn then(self, next: Self) -> Self {
        Self {
            shortest: self.shortest.saturating_add(next.shortest),
            longest: self.longest.saturating_add(next.longest),
            plain: self.plain && next.plain,
        }
    }

    fn or(self, other: Self) -> Self {
        Self { shortest: self.shortest.min(other.shortest), longest: self.longest.max(other.longest), plain: false }
    }
}

impl Node {
    pub(super) const fn empty() -> Self {
        Self::Sequence(Vec::new())
    }

    /// Looks no deeper than to the next quantifiers, so that a quantifier around each of them costs no more in all.
    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Set(_) => Shape { shortest: 1, longest: 1, plain: true },
            Self::Assertion(_) | Self::Look { .. } => Shape::EMPTY,
            Self::Sequence(parts) => parts.iter().map(Self::shape).fold(Shape::EMPTY, Shape::then),
            Self::Choice(parts) => parts.iter().map(Self::shape).reduce(Shape::or).unwrap_or(Shape::EMPTY),
            Self::Group { body, .. } => body.shape(),
            Self::Backreference { .. } => Shape { shortest: 0, longest: u32::MAX, plain: false },
            Self::Repeat(repeat) => Shape {
                shortest: repeat.shape.shortest.saturating_mul(repeat.min),
                longest: repeat.shape.longest.saturating_mul(repeat.max),
                plain: repeat.shape.plain && repeat.min == repeat.max,
            },
        }
    }

    fn collect_bodies<'a>(&'a self, bodies: &mut [Option<&'a Node>]) {
        match self {
            Self::Set(_) | Self::Assertion(_) | Self::Backreference { .. } => {}
            Self::Sequence(parts) | Self::Choice(parts) => {
                for part in parts {
                    part.collect_bodies(bodies);
                }
            }
            Self::Repeat(repeat) => repeat.body.collect_bodies(bodies),
            Self::Look { body, .. } => body.collect_bodies(bodies),
            Self::Group { index, body } => {
                bodies[*index] = Some(body);
                body.collect_bodies(bodies);
            }
        }
    }

    /// Whether there is a choice in it that is taken again and again.
    pub(super) fn repeats(&self) -> bool {
        match self {
            Self::Set(_) | Self::Assertion(_) | Self::Backreference { .. } => false,
            Self::Sequence(parts) | Self::Choice(parts) => parts.iter().any(Self::repeats),
            Self::Group { body, .. } | Self::Look { body, .. } => body.repeats(),
            Self::Repeat(repeat) => {
                let copied = repeat.shape.plain && repeat.min == repeat.max;
                (repeat.max > 1 && !copied) || repeat.body.repeats()
            }
        }
    }
}
