//! The syntax tree of a regular expression.
//!
//! Invariant: flags are resolved while parsing (letters have both cases in their sets, `^` knows
//! what it matches), so no later stage needs them. The tree is no deeper than `MAX_DEPTH`, so
//! recursive functions are safe.

use std::ops::Range;

use crate::charset::CharSet;
use crate::unicode;

/// The maximum nesting depth of groups, lookarounds and classes.
pub(crate) const MAX_DEPTH: usize = 100;

/// The reason why a pattern is not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// The pattern is not a regular expression.
    Invalid,
    /// The pattern exceeds a limit of the analysis.
    TooLarge,
}

/// A whole pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: Node,
    /// The distinct sets of characters in it.
    pub(crate) sets: Vec<CharSet>,
    /// The number of capturing groups.
    pub(crate) groups: usize,
    /// Whether characters are code points, not UTF-16 code units.
    pub(crate) unicode: bool,
    /// Whether a match may start only at `lastIndex`.
    pub(crate) sticky: bool,
}

/// A part of a pattern.
#[derive(Debug)]
pub(crate) enum Node {
    /// One character of the set with this number.
    Set(usize),
    Assertion(Assertion),
    /// A sequence of parts; without parts, the empty pattern.
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
    /// The text that the first participating group of these has matched; groups of one name are
    /// alternatives.
    Backreference {
        groups: Vec<usize>,
        ignore_case: bool,
    },
}

/// The reading direction of a part: lookbehinds read backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// An assertion, which consumes no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assertion {
    TextStart,
    LineStart,
    TextEnd,
    LineEnd,
    WordBoundary,
    NoWordBoundary,
}

/// A quantifier and its operand.
#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) body: Node,
    pub(crate) min: u32,
    /// The maximum number of rounds; `u32::MAX` stands for no limit.
    pub(crate) max: u32,
    pub(crate) greedy: bool,
    /// The groups in the body: each round clears them.
    pub(crate) groups: Range<usize>,
    pub(crate) width: MatchWidth,
}

/// The number of characters that a part matches, and whether there is a choice in how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatchWidth {
    pub(crate) shortest: u32,
    /// The maximum; `u32::MAX` stands for no limit.
    pub(crate) longest: u32,
    /// Whether there is at most one way through it.
    pub(crate) is_deterministic: bool,
}

impl Pattern {
    /// Returns the body of each capturing group. Groups are numbered from 1.
    pub(crate) fn bodies(&self) -> Vec<Option<&Node>> {
        let mut bodies = vec![None; self.groups + 1];
        self.root.collect_bodies(&mut bodies);
        bodies
    }

    pub(crate) fn last_character(&self) -> u32 {
        if self.unicode { unicode::LAST } else { 0xFFFF }
    }
}

impl MatchWidth {
    const EMPTY: Self = Self { shortest: 0, longest: 0, is_deterministic: true };

    fn then(self, next: Self) -> Self {
        Self {
            shortest: self.shortest.saturating_add(next.shortest),
            longest: self.longest.saturating_add(next.longest),
            is_deterministic: self.is_deterministic && next.is_deterministic,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
            is_deterministic: false,
        }
    }
}

impl Node {
    pub(crate) const fn empty() -> Self {
        Self::Sequence(Vec::new())
    }

    /// Returns the width. It looks no deeper than the next quantifiers, so nested quantifiers cost
    /// no more in total.
    pub(crate) fn width(&self) -> MatchWidth {
        match self {
            Self::Set(_) => MatchWidth { shortest: 1, longest: 1, is_deterministic: true },
            Self::Assertion(_) | Self::Look { .. } => MatchWidth::EMPTY,
            Self::Sequence(parts) => parts.iter().map(Self::width).fold(MatchWidth::EMPTY, MatchWidth::then),
            Self::Choice(parts) => parts.iter().map(Self::width).reduce(MatchWidth::or).unwrap_or(MatchWidth::EMPTY),
            Self::Group { body, .. } => body.width(),
            Self::Backreference { .. } => MatchWidth { shortest: 0, longest: u32::MAX, is_deterministic: false },
            Self::Repeat(repeat) => MatchWidth {
                shortest: repeat.width.shortest.saturating_mul(repeat.min),
                longest: repeat.width.longest.saturating_mul(repeat.max),
                is_deterministic: repeat.width.is_deterministic && repeat.min == repeat.max,
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

    /// Returns whether a choice in it is repeated.
    pub(crate) fn has_repeated_choice(&self) -> bool {
        match self {
            Self::Set(_) | Self::Assertion(_) | Self::Backreference { .. } => false,
            Self::Sequence(parts) | Self::Choice(parts) => parts.iter().any(Self::has_repeated_choice),
            Self::Group { body, .. } | Self::Look { body, .. } => body.has_repeated_choice(),
            Self::Repeat(repeat) => {
                let copied = repeat.width.is_deterministic && repeat.min == repeat.max;
                (repeat.max > 1 && !copied) || repeat.body.has_repeated_choice()
            }
        }
    }
}
