//! What has to stand before a match: texts for the lookbehinds of a pattern.
//!
//! Invariant: these are guesses. The automaton takes every lookaround to hold, and with nothing before it a match would
//! fail at a lookbehind before anything is slow.

use super::alphabet::{Alphabet, Letter};
use super::charset;
use super::syntax::{Node, Pattern};

/// How many lookbehinds are looked at.
const MAX_CONTEXTS: usize = 2;

/// The longest text for one, in characters.
const MAX_LENGTH: usize = 64;

/// A short text for each of the lookbehinds that have to match.
pub(super) fn contexts(pattern: &Pattern, alphabet: &Alphabet) -> Vec<String> {
    let mut bodies = Vec::new();
    collect(&pattern.root, &mut bodies);
    let words = bodies.into_iter().filter_map(|body| shortest(body, alphabet));
    words.filter(|word| !word.is_empty()).map(|word| charset::text(&alphabet.spell(&word))).collect()
}

fn collect<'a>(node: &'a Node, bodies: &mut Vec<&'a Node>) {
    match node {
        Node::Look { behind: true, negative: false, body } if bodies.len() < MAX_CONTEXTS => bodies.push(body),
        Node::Look { .. } | Node::Set(_) | Node::Assertion(_) | Node::Backreference { .. } => {}
        Node::Sequence(parts) | Node::Choice(parts) => parts.iter().for_each(|part| collect(part, bodies)),
        Node::Repeat(repeat) => collect(&repeat.body, bodies),
        Node::Group { body, .. } => collect(body, bodies),
    }
}

/// A shortest word that a part of a pattern matches, as far as lookarounds and backreferences allow it.
fn shortest(node: &Node, alphabet: &Alphabet) -> Option<Vec<Letter>> {
    let word = match node {
        Node::Set(set) => vec![alphabet.set(*set).first()?],
        Node::Assertion(_) | Node::Look { .. } | Node::Backreference { .. } => Vec::new(),
        Node::Sequence(parts) => {
            let mut word = Vec::new();
            for part in parts {
                word.extend(shortest(part, alphabet)?);
                if word.len() > MAX_LENGTH {
                    return None;
                }
            }
            word
        }
        Node::Choice(parts) => parts.iter().filter_map(|part| shortest(part, alphabet)).min_by_key(Vec::len)?,
        Node::Repeat(repeat) => {
            let round = if repeat.min == 0 { Vec::new() } else { shortest(&repeat.body, alphabet)? };
            let rounds = usize::try_from(repeat.min).ok()?;
            if round.len().saturating_mul(rounds) > MAX_LENGTH {
                return None;
            }
            if round.is_empty() { round } else { round.repeat(rounds) }
        }
        Node::Group { body, .. } => shortest(body, alphabet)?,
    };
    (word.len() <= MAX_LENGTH).then_some(word)
}
