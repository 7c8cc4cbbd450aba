//! The serialised form of the dictionaries. The build script that compresses them shares this file
//! with the crate that decompresses them.

use serde::{Deserialize, Serialize};

/// All dictionaries.
#[derive(Serialize, Deserialize)]
pub(crate) struct PackedDictionaries<'a> {
    /// Chinese and Japanese: a UTF-16 trie.
    #[serde(borrow)]
    pub(crate) chinese_and_japanese: &'a [u8],
    #[serde(borrow)]
    pub(crate) alphabetic: Vec<AlphabeticDictionary<'a>>,
}

/// A dictionary of an alphabetic script.
#[derive(Serialize, Deserialize)]
pub(crate) struct AlphabeticDictionary<'a> {
    /// ICU's name of the dictionary.
    pub(crate) name: &'a str,
    /// The alphabet, as an inversion list of code points.
    pub(crate) alphabet: Vec<u32>,
    /// A trie of positions in the alphabet.
    #[serde(borrow)]
    pub(crate) trie: &'a [u8],
}
