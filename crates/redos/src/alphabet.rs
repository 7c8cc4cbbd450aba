//! The alphabet of a pattern: its sets of characters, partitioned into letters.
//!
//! Invariant: two characters are the same letter exactly if they are in the same sets of the
//! pattern, and agree on being word characters and newlines. Letters in fewer sets have smaller
//! numbers: an attack that prefers small numbers is less likely to let the rest of a pattern match.

use std::ops::{BitAnd, BitOr};

use rustc_hash::FxHashMap;

use crate::charset::{CharSet, NEWLINES, WORD};
use crate::syntax::PatternError;

/// A letter of the partition.
pub(crate) type Letter = u8;

/// A set of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Letters([u64; 4]);

/// The alphabet of a pattern.
#[derive(Debug)]
pub(crate) struct Alphabet {
    /// The first character of each run of one letter, and the letter.
    runs: Vec<(u32, Letter)>,
    /// The character that attacks use, by letter.
    samples: Vec<u32>,
    /// The letters of each set of the pattern.
    sets: Vec<Letters>,
    pub(crate) word: Letters,
    pub(crate) newline: Letters,
}

/// A letter that has no number yet.
#[derive(Debug)]
struct Draft {
    members: Vec<usize>,
    rank: usize,
    sample: u32,
}

/// The ranges of characters that attacks prefer, best first; surrogates come last, because a text
/// cannot contain them alone.
const PREFERRED_RANGES: &[(u32, u32)] = &[
    (0x61, 0x7A),
    (0x30, 0x39),
    (0x41, 0x5A),
    (0x21, 0x7E),
    (0x20, 0x20),
    (0x09, 0x0D),
    (0xA1, 0xD7FF),
    (0xE000, 0xFFFD),
    (0x00, 0xA0),
    (0x1_0000, 0x10_FFFF),
];

impl Letters {
    pub(crate) fn insert(&mut self, letter: Letter) {
        self.0[usize::from(letter / 64)] |= 1 << (letter % 64);
    }

    pub(crate) fn contains(self, letter: Letter) -> bool {
        self.0[usize::from(letter / 64)] >> (letter % 64) & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Returns the letter that attacks prefer.
    pub(crate) fn first(self) -> Option<Letter> {
        let (word, bits) = (0..).step_by(64).zip(self.0).find(|(_, bits)| *bits != 0)?;
        Letter::try_from(word + bits.trailing_zeros()).ok()
    }

    pub(crate) fn from_letter(letter: Letter) -> Self {
        let mut letters = Self::default();
        letters.insert(letter);
        letters
    }

    pub(crate) fn difference(self, other: Self) -> Self {
        self & Self(other.0.map(|bits| !bits))
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = Letter> {
        (0..=Letter::MAX).filter(move |letter| self.contains(*letter))
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    pub(crate) fn is_subset_of(self, other: Self) -> bool {
        self & other == self
    }
}

impl BitAnd for Letters {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}

impl BitOr for Letters {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

impl Alphabet {
    /// Creates the alphabet for sets of characters up to `last`; [`PatternError::TooLarge`] if the
    /// letters do not fit into [`Letter`].
    pub(crate) fn new(sets: &[CharSet], last: u32) -> Result<Self, PatternError> {
        let word = CharSet::from_ranges(WORD);
        let newline = CharSet::from_ranges(NEWLINES);
        let all: Vec<&CharSet> = sets.iter().chain([&word, &newline]).collect();
        let (drafts, runs) = partition(&all, last)?;

        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|draft| (drafts[*draft].members.len(), drafts[*draft].rank, drafts[*draft].sample));
        let mut letters = vec![0; drafts.len()];
        let mut of_sets = vec![Letters::default(); all.len()];
        for (letter, draft) in (0..=Letter::MAX).zip(&order) {
            letters[*draft] = letter;
            for set in &drafts[*draft].members {
                of_sets[*set].insert(letter);
            }
        }
        let newline = of_sets.pop().unwrap_or_default();
        let word = of_sets.pop().unwrap_or_default();
        Ok(Self {
            runs: runs.into_iter().map(|(start, draft)| (start, letters[draft])).collect(),
            samples: order.iter().map(|draft| drafts[*draft].sample).collect(),
            sets: of_sets,
            word,
            newline,
        })
    }

    pub(crate) fn set(&self, set: usize) -> Letters {
        self.sets[set]
    }

    pub(crate) fn letter(&self, unit: u32) -> Letter {
        let after = self.runs.partition_point(|(start, _)| *start <= unit);
        self.runs[after.saturating_sub(1)].1
    }

    pub(crate) fn letters(&self) -> impl DoubleEndedIterator<Item = Letter> + ExactSizeIterator {
        (0..=Letter::MAX).take(self.samples.len())
    }

    /// Returns the characters of a word.
    pub(crate) fn spell(&self, word: &[Letter]) -> Vec<u32> {
        word.iter().map(|letter| self.samples[usize::from(*letter)]).collect()
    }
}

/// Returns the unnumbered letters, and the start of each run of a letter.
#[expect(clippy::type_complexity, reason = "a name for the pair would say no more")]
fn partition(sets: &[&CharSet], last: u32) -> Result<(Vec<Draft>, Vec<(u32, usize)>), PatternError> {
    let mut borders: Vec<(u32, usize)> = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        for &(low, high) in set.ranges() {
            borders.push((low, number));
            borders.push((high + 1, number));
        }
    }
    borders.sort_unstable();

    let mut drafts: Vec<Draft> = Vec::new();
    let mut known: FxHashMap<u128, usize> = FxHashMap::default();
    let mut runs = Vec::new();
    // Each border toggles one set, and with it the fingerprint of the active sets.
    let mut on = vec![false; sets.len()];
    let mut sum = 0_u128;
    let (mut start, mut at) = (0_u32, 0);
    loop {
        while let Some((_, set)) = borders.get(at).filter(|(border, _)| *border == start) {
            on[*set] = !on[*set];
            sum ^= fingerprint(*set);
            at += 1;
        }
        let end = borders.get(at).map_or(last + 1, |(border, _)| *border);
        if start < end {
            let draft = *known.entry(sum).or_insert(drafts.len());
            if draft == drafts.len() {
                let members = (0..on.len()).filter(|set| on[*set]).collect();
                drafts.push(Draft { members, rank: usize::MAX, sample: start });
            }
            drafts[draft].offer(start, end - 1);
            runs.push((start, draft));
        }
        if drafts.len() > usize::from(Letter::MAX) + 1 {
            return Err(PatternError::TooLarge);
        }
        if at == borders.len() {
            return Ok((drafts, runs));
        }
        start = end;
    }
}

impl Draft {
    /// Uses a character of a range as the sample, if it is preferred to the current one.
    fn offer(&mut self, low: u32, high: u32) {
        let mut preferred = PREFERRED_RANGES.iter().enumerate();
        let best = preferred.find(|(_, (from, to))| low.max(*from) <= high.min(*to));
        if let Some((rank, (from, _))) = best.filter(|(rank, _)| *rank < self.rank) {
            self.rank = rank;
            self.sample = low.max(*from);
        }
    }
}

/// Returns a number for a set; the XOR of such numbers identifies a combination of sets.
fn fingerprint(set: usize) -> u128 {
    let mut state = (set as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    for _ in 0..3 {
        state ^= state >> 59;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9_94D0_49BB_1331_11EB);
    }
    state ^ (state >> 61)
}
