//! Texts that precede a match, for the lookbehinds of a pattern.
//!
//! Invariant: these are guesses. The automaton assumes that every lookaround holds, but without a
//! preceding text, a match would fail at a lookbehind before anything is slow.

use crate::alphabet::{Alphabet, Letter};
use crate::charset;
use crate::syntax::{Node, Pattern};

/// The maximum number of lookbehinds that are used.
const MAX_CONTEXTS: usize = 2;

/// The maximum length of such a text, in characters.
const MAX_LENGTH: usize = 64;

/// Returns a short text for each lookbehind that has to match.
pub(crate) fn contexts(pattern: &Pattern, alphabet: &Alphabet) -> Vec<String> {
    let mut bodies = Vec::new();
    collect(&pattern.root, &mut bodies);
    let words = bodies.into_iter().filter_map(|body| shortest_word(body, alphabet));
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

/// Returns a shortest word that a part of a pattern matches, ignoring lookarounds and
/// backreferences.
fn shortest_word(node: &Node, alphabet: &Alphabet) -> Option<Vec<Letter>> {
    let word = match node {
        Node::Set(set) => vec![alphabet.set(*set).first()?],
        Node::Assertion(_) | Node::Look { .. } | Node::Backreference { .. } => Vec::new(),
        Node::Sequence(parts) => {
            let mut word = Vec::new();
            for part in parts {
                word.extend(shortest_word(part, alphabet)?);
                if word.len() > MAX_LENGTH {
                    return None;
                }
            }
            word
        }
        Node::Choice(parts) => parts.iter().filter_map(|part| shortest_word(part, alphabet)).min_by_key(Vec::len)?,
        Node::Repeat(repeat) => {
            let round = if repeat.min == 0 { Vec::new() } else { shortest_word(&repeat.body, alphabet)? };
            let rounds = usize::try_from(repeat.min).ok()?;
            if round.len().saturating_mul(rounds) > MAX_LENGTH {
                return None;
            }
            if round.is_empty() { round } else { round.repeat(rounds) }
        }
        Node::Group { body, .. } => shortest_word(body, alphabet)?,
    };
    (word.len() <= MAX_LENGTH).then_some(word)
}
