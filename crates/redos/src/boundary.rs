//! The letters that anchors and word boundaries allow between two characters.
//!
//! Invariant: a letter that is ruled out cannot occur there. A letter that is allowed may still be
//! ruled out by the actual previous character, if the possible ones disagree.

use crate::alphabet::{Alphabet, Letters};
use crate::syntax::{Assertion, Direction};

/// The assertions that have to hold at one offset, as bits.
pub(crate) type Conditions = u8;

/// The boundary between two characters, in the reading direction of a part.
#[derive(Debug)]
pub(crate) struct Boundary<'a> {
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) direction: Direction,
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
    pub(crate) fn bit(self) -> Conditions {
        1 << self as u8
    }
}

impl Boundary<'_> {
    /// Returns the letters that some conditions allow after other letters, or at the start.
    pub(crate) fn allowed_letters(&self, conditions: Conditions, before: Option<Letters>, letters: Letters) -> Letters {
        let allowed = |assertion| match (self.direction, before) {
            (Direction::Forward, _) => self.letters_after(assertion, before, letters),
            // A lookbehind may start reading in the middle of a text.
            (Direction::Backward, None) => letters,
            (Direction::Backward, Some(next)) => {
                let possible = !self.letters_after(assertion, Some(letters), next).is_empty();
                if possible { letters } else { Letters::default() }
            }
        };
        let asserted = ASSERTIONS.iter().filter(|assertion| conditions & assertion.bit() != 0);
        asserted.fold(letters, |left, assertion| left & allowed(*assertion))
    }

    /// Returns the letters that an assertion allows next.
    fn letters_after(&self, assertion: Assertion, before: Option<Letters>, letters: Letters) -> Letters {
        let Alphabet { word, newline, .. } = self.alphabet;
        let nothing = Letters::default();
        let is_newline = before.is_none_or(|before| before.intersects(*newline));
        let word_before = before.is_some_and(|before| before.intersects(*word));
        let other_before = before.is_none_or(|before| !before.is_subset_of(*word));
        let (words, others) = (letters & *word, letters.difference(*word));
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
