//! The words by which tasks ask for templates, and the concepts that they stand for.
//!
//! Invariant: a form that is listed under several concepts stands for all of them.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::lexicon::base_forms;
use crate::words::normalize;

/// The most words of a phrase.
const MAX_PHRASE_WORDS: usize = 4;

/// A concept that a form stands for, with its value if the concept has values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meaning {
    pub(super) concept: String,
    pub(super) value: Option<String>,
}

/// A file of `templates/concepts/`.
type ConceptFile = BTreeMap<String, Concept>;

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Concept {
    Valued { values: BTreeMap<String, Forms> },
    Plain(Forms),
}

/// The forms of a word in each language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Forms {
    en: Vec<String>,
    ja: Vec<String>,
    zh: Vec<String>,
}

/// All known forms.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// Forms of scripts with spaces, their words separated by one space.
    phrases: HashMap<String, Vec<Meaning>>,
    /// Forms of scripts without spaces.
    unspaced: HashMap<String, Vec<Meaning>>,
    /// The longest form without spaces, in characters.
    longest: usize,
}

impl Vocabulary {
    /// Reads the files of concepts.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn parse(files: &[&str]) -> Result<Self, serde_json::Error> {
        let mut vocabulary = Self::default();
        for file in files {
            for (concept, entry) in serde_json::from_str::<ConceptFile>(file)? {
                match entry {
                    Concept::Plain(forms) => vocabulary.add(&forms, &Meaning { concept, value: None }),
                    Concept::Valued { values } => {
                        for (value, forms) in values {
                            vocabulary.add(&forms, &Meaning { concept: concept.clone(), value: Some(value) });
                        }
                    }
                }
            }
        }
        for meanings in vocabulary.phrases.values_mut().chain(vocabulary.unspaced.values_mut()) {
            meanings.sort();
            meanings.dedup();
        }
        Ok(vocabulary)
    }

    fn add(&mut self, forms: &Forms, meaning: &Meaning) {
        for form in forms.en.iter().chain(&forms.ja).chain(&forms.zh) {
            let form = normalize(form).text().trim().to_owned();
            let table = if form.chars().any(is_unspaced) {
                self.longest = self.longest.max(form.chars().count());
                self.unspaced.entry(form)
            } else {
                self.phrases.entry(form.replace(['-', '_'], " "))
            };
            table.or_default().push(meaning.clone());
        }
    }

    #[cfg(test)]
    pub(super) fn has_concept(&self, concept: &str) -> bool {
        let all = self.phrases.values().chain(self.unspaced.values()).flatten();
        all.into_iter().any(|meaning| meaning.concept == concept)
    }

    /// Returns the meanings of the longest phrase that these words begin with, and the number of its words.
    pub(super) fn find_phrase(&self, words: &[&str]) -> Option<(usize, Vec<Meaning>)> {
        (1..=words.len().min(MAX_PHRASE_WORDS)).rev().find_map(|count| {
            let meanings = self.phrase(&words[..count]);
            (!meanings.is_empty()).then_some((count, meanings))
        })
    }

    /// Returns the meanings of a phrase, whose first and last words may be inflected.
    fn phrase(&self, words: &[&str]) -> Vec<Meaning> {
        let [first, middle @ .., last] = words else {
            return words.first().map_or_else(Vec::new, |word| self.word(word));
        };
        let mut found = Vec::new();
        for (first, _) in base_forms(first) {
            for (last, _) in base_forms(last) {
                let phrase: Vec<&str> =
                    std::iter::once(&*first).chain(middle.iter().copied()).chain(std::iter::once(&*last)).collect();
                found.extend(self.phrases.get(&phrase.join(" ")).into_iter().flatten().cloned());
            }
        }
        found
    }

    fn word(&self, word: &str) -> Vec<Meaning> {
        // A word that is listed as it stands is not an inflection of another one: "less" is not "les".
        if let Some(meanings) = self.phrases.get(word) {
            return meanings.clone();
        }
        base_forms(word).filter_map(|(base, _)| self.phrases.get(&*base)).flatten().cloned().collect()
    }

    /// Returns the meanings of the longest form without spaces that a text begins with, and its length in bytes.
    pub(super) fn find_unspaced(&self, text: &str) -> Option<(usize, &[Meaning])> {
        let ends = text.char_indices().map(|(at, char)| at + char.len_utf8()).take(self.longest);
        let ends: Vec<usize> = ends.collect();
        ends.into_iter().rev().find_map(|end| Some((end, self.unspaced.get(&text[..end])?.as_slice())))
    }
}

/// Whether a character is of a script without spaces: Han, kana.
pub(super) const fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
