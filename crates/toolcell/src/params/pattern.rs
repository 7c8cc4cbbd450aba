//! Regular expressions of a schema: which ones are accepted, and what matching one costs.
//!
//! Invariant: an accepted pattern is matched by a finite automaton, in time linear in the text. Look-around and
//! back-references need a backtracking engine, whose time a pattern's author controls, so they are refused by name.
//!
//! The syntax is that of ECMA-262 as far as the engine has it. A pattern is translated as `jsonschema` translates it, so
//! that what is measured here is what runs.

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};

/// The longest pattern, in bytes.
const LENGTH_LIMIT: usize = 1_000;
/// The most control escapes (`\cA`) in a pattern: each one takes another pass over the pattern.
const CONTROL_LIMIT: usize = 16;
/// The largest automaton of one pattern, in bytes.
pub(super) const SIZE_LIMIT: usize = 256 << 10;
/// The largest deterministic automaton that is tried for one pattern, in bytes.
const DFA_LIMIT: usize = 128 << 10;

/// What a pattern is made of that no finite automaton has, and what to write in its place.
const BACKTRACKING: [(&str, &str, &str); 6] = [
    ("(?=", "looks ahead", "write several patterns under `allOf`"),
    ("(?!", "looks ahead", "write `not: { pattern }` beside it"),
    ("(?<=", "looks behind", "match the whole text between `^` and `$`"),
    ("(?<!", "looks behind", "write `not: { pattern }` beside it"),
    ("\\1", "refers back to a group", "list what is allowed with `enum` or `anyOf`, or check it in `execute`"),
    ("\\k<", "refers back to a group", "list what is allowed with `enum` or `anyOf`, or check it in `execute`"),
];

/// Room for the automata of all patterns of a schema.
#[derive(Debug)]
pub(super) struct Room {
    /// Bytes of non-deterministic automata, which decide what is accepted.
    nfa: usize,
    /// Bytes of deterministic automata, which decide what a pattern is counted for.
    dfa: usize,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self { nfa: 1 << 20, dfa: 1 << 20 }
    }
}

/// What matching a pattern costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The states of its automaton.
    states: u64,
    /// Whether that automaton is deterministic.
    deterministic: bool,
}

impl Pattern {
    /// Measures a pattern.
    ///
    /// # Errors
    /// What is wrong with it and what to write instead: a clause whose subject is the pattern.
    pub(super) fn parse(pattern: &str, room: &mut Room) -> Result<Self, String> {
        if pattern.len() > LENGTH_LIMIT {
            return Err(format!("has {} bytes, the limit is {LENGTH_LIMIT}", pattern.len()));
        }
        if let Some((syntax, does, instead)) = backtracking(pattern) {
            return Err(format!("{does} (`{syntax}`), which takes no bounded time: {instead}"));
        }
        if pattern.matches("\\c").count() > CONTROL_LIMIT {
            return Err(format!("has more than {CONTROL_LIMIT} escapes like `\\cA`: write `\\x01`"));
        }
        // What is no regular expression is refused by the library, when it is compiled.
        let none = Self { states: 1, deterministic: true };
        let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else { return Ok(none) };
        #[expect(clippy::result_large_err, reason = "the library's error, which is looked at here and dropped")]
        let compile = |reverse: bool| {
            let config = thompson::Config::new()
                .nfa_size_limit(Some(SIZE_LIMIT))
                .which_captures(WhichCaptures::None)
                .reverse(reverse);
            thompson::Compiler::new().configure(config).build(&translated)
        };
        let nfa = match compile(false) {
            Ok(nfa) => nfa,
            Err(error) => match error.size_limit() {
                Some(limit) => return Err(format!("takes more than {limit} bytes when compiled: repeat less")),
                None => return Ok(none),
            },
        };
        room.nfa = room
            .nfa
            .checked_sub(nfa.memory_usage())
            .ok_or_else(|| "takes too much memory, together with the others: declare fewer patterns".to_owned())?;
        // Matching may go through the text from either end.
        let forwards = deterministic(&nfa, StartKind::Both, room);
        let backwards = compile(true).ok().and_then(|nfa| deterministic(&nfa, StartKind::Anchored, room));
        Ok(match (forwards, backwards) {
            (Some(forwards), Some(backwards)) => Self { states: forwards.max(backwards), deterministic: true },
            _ => Self { states: nfa.states().len() as u64, deterministic: false },
        })
    }

    /// What matching it against a text of this many bytes costs at most, in steps.
    pub(super) fn steps(self, bytes: usize) -> u64 {
        let bytes = bytes as u64 + 1;
        if self.deterministic {
            // The states are worked out when they are first seen.
            1 + bytes / 4 + bytes.min(self.states).saturating_mul(16)
        } else {
            1 + bytes.saturating_mul(self.states) / 2
        }
    }
}

/// The states of the deterministic automaton, where it is small enough to be made.
fn deterministic(nfa: &thompson::NFA, start: StartKind, room: &mut Room) -> Option<u64> {
    let limit = DFA_LIMIT.min(room.dfa);
    let config = dense::Config::new()
        .dfa_size_limit(Some(limit))
        .determinize_size_limit(Some(limit * 2))
        .accelerate(false)
        .start_kind(start);
    match dense::Builder::new().configure(config).build_from_nfa(nfa) {
        Ok(dfa) => {
            room.dfa -= dfa.memory_usage().min(limit);
            Some(((dfa.memory_usage() / 4) >> dfa.stride2()) as u64 + 1)
        }
        Err(_) => {
            room.dfa -= limit;
            None
        }
    }
}

/// The first thing in a pattern that only a backtracking engine has.
fn backtracking(pattern: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let known = match first {
            '\\' if !in_class => {
                let digit = rest[1..].starts_with(|next: char| matches!(next, '1'..='9'));
                BACKTRACKING.iter().find(|(syntax, ..)| rest.starts_with(syntax) || digit && *syntax == "\\1")
            }
            '(' if !in_class => BACKTRACKING.iter().find(|(syntax, ..)| rest.starts_with(syntax)),
            _ => None,
        };
        if known.is_some() {
            return known.copied();
        }
        in_class = match first {
            '[' => true,
            ']' => false,
            _ => in_class,
        };
        rest = &rest[first.len_utf8()..];
        if first == '\\' {
            rest = rest.chars().next().map_or("", |escaped| &rest[escaped.len_utf8()..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pattern: &str) -> Result<Pattern, String> {
        Pattern::parse(pattern, &mut Room::new())
    }

    #[test]
    fn what_needs_backtracking_is_refused_with_what_to_write_instead() {
        for (pattern, expect) in [
            ("(?=.*b)x", "looks ahead (`(?=`), which takes no bounded time: write several patterns under `allOf`"),
            ("^(?!eo:)", "looks ahead (`(?!`), which takes no bounded time: write `not: { pattern }` beside it"),
            ("(?<=a)b", "looks behind (`(?<=`), which takes no bounded time: match the whole text between `^` and `$`"),
            (
                r"^(a+)+\2b$",
                "refers back to a group (`\\1`), which takes no bounded time: list what is allowed with `enum` or \
                 `anyOf`, or check it in `execute`",
            ),
            ("(((a{100}){100}){100}){100}", "takes more than 262144 bytes when compiled: repeat less"),
        ] {
            assert_eq!(parse(pattern).unwrap_err(), expect, "{pattern}");
        }
        assert!(parse(&"a".repeat(1_001)).unwrap_err().starts_with("has 1001 bytes"));
        for pattern in [r"[(?=]\\1", r"\(?=", "(?:a)", "(?<year>[0-9]{4})", r"^\p{L}+$", r"[\1]"] {
            assert!(backtracking(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn usual_patterns_cost_a_fraction_of_a_step_for_each_byte() {
        for pattern in [
            "^[a-z]+$",
            r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
            r"^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$",
            r"^\d{4}-\d{2}-\d{2}$",
            "^[a-z]{1,64}$",
        ] {
            let steps = parse(pattern).unwrap().steps(1 << 20);
            assert!(steps < 400_000, "{pattern}: {steps}");
        }
        assert!(parse("(a|b)*a(a|b){20}c").unwrap().steps(1 << 20) > 10_000_000);
    }
}
