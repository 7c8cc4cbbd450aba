//! What anchors and word boundaries allow between two characters.
//!
//! Invariant: a letter that is ruled out cannot occur there. One that is not may still be ruled out by the very
//! character before it, where the letters that can be there disagree.

use super::alphabet::{Alphabet, Letters};
use super::syntax::{Assertion, Direction};

/// The assertions that have to hold in one place, as bits.
pub(super) type Conditions = u8;

/// The place between two characters, as a part of a pattern reads.
#[derive(Debug)]
pub(super) struct Boundary<'a> {
    pub(super) alphabet: &'a Alphabet,
    pub(super) direction: Direction,
}

const ASSERTIONS: [Assertion; 6] = [
    Assertion::TextStart,
    Assertion::LineStart,
    Assertion::TextEnd,
    Assertion::LineEnd,
    Assertion::WordBoundary,
    Assertion::NoWordBoundary,
];

impl Assertion {
    pub(super) fn bit(self) -> Conditions {
        1 << self as u8
    }
}

impl Boundary<'_> {
    /// The letters that some conditions allow after others, or at the beginning.
    pub(super) fn allowed(&self, conditions: Conditions, before: Option<Letters>, letters: Letters) -> Letters {
        let allowed = |assertion| match (self.direction, before) {
            (Direction::Forward, _) => self.after(assertion, before, letters),
            // What a lookbehind meets first may stand in the middle of a text.
            (Direction::Backward, None) => letters,
            (Direction::Backward, Some(next)) => {
                let possible = !self.after(assertion, Some(letters), next).is_empty();
                if possible { letters } else { Letters::default() }
            }
        };
        let asserted = ASSERTIONS.iter().filter(|assertion| conditions & assertion.bit() != 0);
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
}
