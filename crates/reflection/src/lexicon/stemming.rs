//! Reduces inflected English words to their base forms.
//!
//! Invariant: a word may have several candidate bases; the caller keeps those that it knows.

use std::borrow::Cow;

/// The inflection of a word, judged by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inflection {
    /// No inflection.
    Base,
    /// `-s`
    Third,
    /// `-ed`
    Past,
    /// `-ing`
    Ing,
}

/// The candidate base forms of a word, the word itself first.
pub(crate) fn base_forms(word: &str) -> impl Iterator<Item = (Cow<'_, str>, Inflection)> {
    let mut found = vec![(Cow::Borrowed(word), Inflection::Base)];
    if word.is_ascii() && word.len() > 3 {
        if let Some(owner) = word.strip_suffix("'s") {
            found.push((Cow::Borrowed(owner), Inflection::Base));
        }
        stems(word, &mut found);
    }
    found.into_iter()
}

fn stems<'a>(word: &'a str, found: &mut Vec<(Cow<'a, str>, Inflection)>) {
    if let Some(stem) = word.strip_suffix("ies") {
        found.push((Cow::Owned(format!("{stem}y")), Inflection::Third));
    }
    if let Some(stem) = word.strip_suffix("es").filter(|stem| stem.ends_with(['s', 'x', 'z', 'h', 'o'])) {
        found.push((Cow::Borrowed(stem), Inflection::Third));
    }
    if let Some(stem) = word.strip_suffix('s').filter(|stem| !stem.ends_with('s')) {
        found.push((Cow::Borrowed(stem), Inflection::Third));
    }
    if let Some(stem) = word.strip_suffix("ied") {
        found.push((Cow::Owned(format!("{stem}y")), Inflection::Past));
    }
    for (ending, inflection) in [("ed", Inflection::Past), ("ing", Inflection::Ing)] {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) else { continue };
        found.push((Cow::Borrowed(stem), inflection));
        found.push((Cow::Owned(format!("{stem}e")), inflection));
        let bytes = stem.as_bytes();
        if stem.len() > 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
            found.push((Cow::Borrowed(&stem[..stem.len() - 1]), inflection));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expect: &str) {
        assert!(base_forms(word).any(|(base, _)| base == expect), "{word} is no form of {expect}");
    }

    #[test]
    fn inflections_have_bases() {
        for (word, base) in [
            ("entries", "entry"),
            ("parses", "parse"),
            ("summed", "sum"),
            ("verified", "verify"),
            ("validating", "validate"),
            ("grouped", "group"),
            ("today's", "today"),
            ("matches", "match"),
        ] {
            check(word, base);
        }
    }

    #[test]
    fn words_that_only_end_alike_have_none() {
        assert!(!base_forms("something").any(|(base, _)| base == "some"));
        assert_eq!(base_forms("address").count(), 1);
    }
}
