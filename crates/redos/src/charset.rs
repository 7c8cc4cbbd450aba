//! Sets of characters as ranges.
//!
//! Invariant: the ranges of a set are sorted, and neither overlap nor touch, so equal sets compare
//! equal. The meaning of a character depends on the flags of the pattern: a code point with `u` or
//! `v`, else a UTF-16 code unit.

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct CharSet {
    ranges: Vec<(u32, u32)>,
}

/// The characters of `\d`.
pub(crate) const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];

/// The characters of `\w`.
pub(crate) const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// The characters of `\s`.
pub(crate) const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// The line terminators: `.` does not match them, and `^` and `$` respect them with the flag `m`.
pub(crate) const NEWLINES: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// The maximum size of an alphabet beyond ASCII. A larger set is a script without cases, or several
/// scripts.
const MAX_ALPHABET_CHARS: u32 = 1024;

/// The last character of Latin-1.
const LAST_LATIN1: u32 = 0xFF;

impl CharSet {
    /// Creates a set from ranges in any order.
    pub(crate) fn from_ranges(ranges: &[(u32, u32)]) -> Self {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self { ranges: merged }
    }

    pub(crate) fn from_char(character: u32) -> Self {
        Self { ranges: vec![(character, character)] }
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::from_ranges(&[&*self.ranges, &*other.ranges].concat())
    }

    /// Returns every character up to `limit` that is not in the set.
    pub(crate) fn complement(&self, limit: u32) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.ranges {
            if low > next {
                ranges.push((next, low - 1));
            }
            next = high.saturating_add(1);
        }
        if next <= limit {
            ranges.push((next, limit));
        }
        Self { ranges }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(&&(a, b)), Some(&&(c, d))) = (left.peek(), right.peek()) {
            if a.max(c) <= b.min(d) {
                ranges.push((a.max(c), b.min(d)));
            }
            if b < d {
                left.next();
            } else {
                right.next();
            }
        }
        Self { ranges }
    }

    /// Returns the set with the other cases of its letters, for the flag `i`. Beyond ASCII, at most
    /// `left` letters are looked up, and only those of Latin-1 if the set is larger than any
    /// alphabet.
    pub(crate) fn with_both_cases(&self, left: &mut u32) -> Self {
        let mut ranges = self.ranges.clone();
        let beyond_ascii = self.ranges.iter().filter(|(_, high)| *high >= 0x80);
        let is_alphabet = beyond_ascii.map(|(low, high)| high - low.max(&0x80) + 1).sum::<u32>() <= MAX_ALPHABET_CHARS;
        for &(low, high) in &self.ranges {
            for (from, to, other) in [(0x41, 0x5A, 0x61), (0x61, 0x7A, 0x41)] {
                if low.max(from) <= high.min(to) {
                    ranges.push((low.max(from) - from + other, high.min(to) - from + other));
                }
            }
            let high = if is_alphabet { high } else { high.min(LAST_LATIN1) };
            for unit in low.max(0x80)..high.saturating_add(1).min(low.max(0x80).saturating_add(*left)) {
                *left -= 1;
                ranges.extend(other_cases(unit).map(|other| (other, other)));
            }
        }
        Self::from_ranges(&ranges)
    }
}

/// Returns the characters of a text, as a pattern sees them.
pub(crate) fn units(text: &str, unicode: bool) -> Vec<u32> {
    if unicode { text.chars().map(u32::from).collect() } else { text.encode_utf16().map(u32::from).collect() }
}

/// Returns the text of characters. Lone surrogates are lost.
pub(crate) fn text(units: &[u32]) -> String {
    let halves = units.iter().flat_map(|unit| match char::from_u32(*unit) {
        Some(c) => c.encode_utf16(&mut [0; 2]).to_vec(),
        None => u16::try_from(*unit).into_iter().collect(),
    });
    String::from_utf16_lossy(&halves.collect::<Vec<_>>())
}

/// Returns the lower and the upper case of a character beyond ASCII, if each is one character
/// beyond ASCII.
pub(crate) fn other_cases(unit: u32) -> impl Iterator<Item = u32> {
    let character = char::from_u32(unit);
    let lower = character.and_then(|c| single_char(c.to_lowercase()));
    let upper = character.and_then(|c| single_char(c.to_uppercase()));
    [lower, upper].into_iter().flatten().map(u32::from).filter(|other| *other >= 0x80)
}

fn single_char(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}
