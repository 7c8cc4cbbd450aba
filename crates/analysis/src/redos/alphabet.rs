//! The letters that a pattern can tell apart: its sets of characters, partitioned.
//!
//! Invariant: two characters are the same letter exactly if they are in the same sets of the pattern, and agree on
//! being word characters and newlines. Letters are numbered so that those in fewer sets come first: an attack that
//! prefers small numbers is less likely to let the rest of a pattern match.

use std::ops::{BitAnd, BitOr};

use rustc_hash::FxHashMap;

use super::charset::{CharSet, NEWLINES, WORD};
use super::syntax::Reject;

/// A letter of the partition.
pub(super) type Letter = u8;

/// A set of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Letters([u64; 4]);

/// The letters of a pattern.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// Where runs of one letter start, and which letter it is.
    runs: Vec<(u32, Letter)>,
    /// For each letter, the character that attacks use.
    shown: Vec<u32>,
    /// For each set of the pattern, its letters.
    sets: Vec<Letters>,
    pub(super) word: Letters,
    pub(super) newline: Letters,
}

/// A letter before it has a number.
#[derive(Debug)]
struct Draft {
    members: Vec<usize>,
    rank: usize,
    shown: u32,
}

/// The characters that attacks prefer, best first; surrogates come last, as a text cannot have them alone.
const PREFERRED: &[(u32, u32)] = &[
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
    pub(super) fn insert(&mut self, letter: Letter) {
        self.0[usize::from(letter / 64)] |= 1 << (letter % 64);
    }

    pub(super) fn contains(self, letter: Letter) -> bool {
        self.0[usize::from(letter / 64)] >> (letter % 64) & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// The letter that attacks prefer.
    pub(super) fn first(self) -> Option<Letter> {
        let (word, bits) = (0..).step_by(64).zip(self.0).find(|(_, bits)| *bits != 0)?;
        Letter::try_from(word + bits.trailing_zeros()).ok()
    }

    pub(super) fn one(letter: Letter) -> Self {
        let mut letters = Self::default();
        letters.insert(letter);
        letters
    }

    pub(super) fn without(self, other: Self) -> Self {
        self & Self(other.0.map(|bits| !bits))
    }

    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = Letter> {
        (0..=Letter::MAX).filter(move |letter| self.contains(*letter))
    }

    pub(super) fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    pub(super) fn is_within(self, other: Self) -> bool {
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
    /// The letters of sets of characters up to `last`; [`Reject::TooLarge`] where a [`Letter`] cannot count them.
    pub(super) fn of(sets: &[CharSet], last: u32) -> Result<Self, Reject> {
        let word = CharSet::of(WORD);
        let newline = CharSet::of(NEWLINES);
        let all: Vec<&CharSet> = sets.iter().chain([&word, &newline]).collect();
        let (drafts, runs) = partition(&all, last)?;

        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|draft| (drafts[*draft].members.len(), drafts[*draft].rank, drafts[*draft].shown));
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
            shown: order.iter().map(|draft| drafts[*draft].shown).collect(),
            sets: of_sets,
            word,
            newline,
        })
    }

    pub(super) fn set(&self, set: usize) -> Letters {
        self.sets[set]
    }

    pub(super) fn letter(&self, unit: u32) -> Letter {
        let after = self.runs.partition_point(|(start, _)| *start <= unit);
        self.runs[after.saturating_sub(1)].1
    }

    pub(super) fn letters(&self) -> impl DoubleEndedIterator<Item = Letter> + ExactSizeIterator {
        (0..=Letter::MAX).take(self.shown.len())
    }

    /// The characters of a word of letters.
    pub(super) fn spell(&self, word: &[Letter]) -> Vec<u32> {
        word.iter().map(|letter| self.shown[usize::from(*letter)]).collect()
    }
}

/// The letters without numbers, and where runs of them start.
#[expect(clippy::type_complexity, reason = "a name for the pair would say no more")]
fn partition(sets: &[&CharSet], last: u32) -> Result<(Vec<Draft>, Vec<(u32, usize)>), Reject> {
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
    // Each border switches one set on or off, and so the sum that stands for all sets that are on.
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
                drafts.push(Draft { members, rank: usize::MAX, shown: start });
            }
            drafts[draft].offer(start, end - 1);
            runs.push((start, draft));
        }
        if drafts.len() > usize::from(Letter::MAX) + 1 {
            return Err(Reject::TooLarge);
        }
        if at == borders.len() {
            return Ok((drafts, runs));
        }
        start = end;
    }
}

impl Draft {
    /// Takes a character of a run, if it is better than what there is.
    fn offer(&mut self, low: u32, high: u32) {
        let mut preferred = PREFERRED.iter().enumerate();
        let best = preferred.find(|(_, (from, to))| low.max(*from) <= high.min(*to));
        if let Some((rank, (from, _))) = best.filter(|(rank, _)| *rank < self.rank) {
            self.rank = rank;
            self.shown = low.max(*from);
        }
    }
}

/// A number whose sums tell sets of sets apart.
fn fingerprint(set: usize) -> u128 {
    let mut state = (set as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    for _ in 0..3 {
        state ^= state >> 59;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9_94D0_49BB_1331_11EB);
    }
    state ^ (state >> 61)
}
