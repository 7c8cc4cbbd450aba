//! The dictionaries of scripts without blanks, as they lie in the binary: shared, word for word, by the build script that packs
//! them and by what unpacks them.

use serde::{Deserialize, Serialize};

/// All of them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Packed<'a> {
    /// Of Chinese and Japanese: a trie of UTF-16.
    #[serde(borrow)]
    pub(crate) chinese_and_japanese: &'a [u8],
    #[serde(borrow)]
    pub(crate) alphabetic: Vec<Alphabetic<'a>>,
}

/// One of a script whose letters are few.
#[derive(Serialize, Deserialize)]
pub(crate) struct Alphabetic<'a> {
    /// What ICU calls it.
    pub(crate) name: &'a str,
    /// Its letters: where each range begins and ends.
    pub(crate) alphabet: Vec<u32>,
    /// A trie of their positions.
    #[serde(borrow)]
    pub(crate) trie: &'a [u8],
}
