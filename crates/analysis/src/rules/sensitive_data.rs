//! `sensitive-data`: a secret in the source, visible to everyone who sees the tool.
//!
//! A secret is recognised by its format (`formats`), or by the name that it is assigned to
//! (`named_secrets`) if it looks random or like a real password.
//!
//! Invariant: a finding never repeats the secret, because findings are printed, stored and sent.

mod formats;
mod named_secrets;

use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("sensitive-data"), max_severity: Severity::High, docs: include_str!("sensitive_data.md"), check };

const SUGGESTION: &str = msgid!("take it as a parameter, or ask for the capability `secrets`, and revoke this one");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let mut add = |span, kind: &'static str| {
        let message = message!("contains a secret: {kind}", kind = Message::from(kind));
        findings.add(Severity::High, span, message, SUGGESTION);
    };
    for text in &source.facts.texts {
        let named = || named_secrets::describe_secret(text.name.as_deref()?, &text.value);
        if let Some(what) = formats::known_format(&text.value).or_else(named) {
            add(text.span, what);
        }
    }
    for (span, what) in named_secrets::find_adjacent(source) {
        add(span, what);
    }
}

/// Returns whether a text is a placeholder for a secret.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "your",
        "example",
        "xxx",
        "placeholder",
        "changeme",
        "change-me",
        "change_me",
        "<",
        "${",
        "...",
        "***",
        "dummy",
        "sample",
        "todo",
        "redacted",
        "insert",
        "replace",
        "goes-here",
        "goes_here",
        "not-a-real",
        "notreal",
        "not_real",
        "1234567890",
        "abcdefgh",
        "…",
        "••",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Returns whether a text has at least seven different characters, and is not a placeholder.
fn has_variety(text: &str) -> bool {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() >= 7 && !is_placeholder(text)
}

fn is_random(text: &str) -> bool {
    entropy(text) > 3.2 && has_variety(text) && text.chars().any(|letter| letter.is_ascii_digit())
}

/// Returns the number of character classes in a text: lower case, upper case, digits, punctuation.
fn char_class_count(text: &str) -> usize {
    let has = |of: fn(&char) -> bool| usize::from(text.chars().any(|letter| of(&letter)));
    has(char::is_ascii_lowercase)
        + has(char::is_ascii_uppercase)
        + has(char::is_ascii_digit)
        + has(char::is_ascii_punctuation)
}

/// Returns the entropy in bits per character (Shannon 1948).
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for letter in text.chars() {
        *counts.entry(letter).or_insert(0_u32) += 1;
    }
    let total = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}
