//! The regular expressions of a schema: which are accepted, and the cost of matching them.
//!
//! Invariant: an accepted pattern is matched by a finite automaton, in time linear in the text.
//! Look-around and back-references need a backtracking engine, whose time the pattern's author
//! controls, so they are refused by name.
//!
//! The syntax is ECMA-262 as far as the engine supports it. A pattern is translated in the same way
//! as `jsonschema` does, so the measured automaton is the one that runs.

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use toolcell_i18n::{Message, message, msgid};

/// The maximum length of a pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1_000;
/// The maximum number of control escapes (`\cA`) in a pattern: each one takes another pass over the
/// pattern.
const MAX_CONTROL_ESCAPES: usize = 16;
/// The maximum size of a pattern's NFA in bytes.
pub(super) const MAX_NFA_BYTES: usize = 256 << 10;
/// The maximum size of a pattern's DFA in bytes; a larger DFA is not built.
const MAX_DFA_BYTES: usize = 128 << 10;

const LIST_THE_ALLOWED: &str = msgid!("list what is allowed with `enum` or `anyOf`, or check it in `execute`");

/// The syntax that needs backtracking: prefix, description, and what to write instead.
const BACKTRACKING: [(&str, &str, &str); 6] = [
    ("(?=", msgid!("uses look-ahead"), msgid!("write several patterns under `allOf`")),
    ("(?!", msgid!("uses look-ahead"), msgid!("write `not: { pattern }` beside it")),
    ("(?<=", msgid!("uses look-behind"), msgid!("match the whole text between `^` and `$`")),
    ("(?<!", msgid!("uses look-behind"), msgid!("write `not: { pattern }` beside it")),
    ("\\1", msgid!("uses a back-reference"), LIST_THE_ALLOWED),
    ("\\k<", msgid!("uses a back-reference"), LIST_THE_ALLOWED),
];

/// The memory budget for the automata of all patterns of a schema.
#[derive(Debug)]
pub(super) struct AutomatonBudget {
    /// Bytes left for NFAs, which decide whether a pattern is accepted.
    nfa: usize,
    /// Bytes left for DFAs, which decide the cost of a pattern.
    dfa: usize,
}

impl AutomatonBudget {
    pub(super) const fn new() -> Self {
        Self { nfa: 1 << 20, dfa: 1 << 20 }
    }
}

/// The cost of matching a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternCost {
    /// The number of states of its automaton.
    states: u64,
    /// Whether the automaton is deterministic.
    is_deterministic: bool,
}

impl PatternCost {
    /// Checks a pattern and measures its automaton.
    ///
    /// # Errors
    /// The fault and what to write instead: a clause whose subject is the pattern.
    pub(super) fn parse(pattern: &str, room: &mut AutomatonBudget) -> Result<Self, Message> {
        if pattern.len() > MAX_PATTERN_BYTES {
            let bytes = pattern.len();
            return Err(message!("has {bytes} bytes, the limit is {limit}", bytes, limit = MAX_PATTERN_BYTES));
        }
        if let Some((syntax, does, instead)) = find_backtracking_syntax(pattern) {
            return Err(message!(
                "{does} (`{syntax}`), which cannot be matched in bounded time: {instead}",
                does = Message::from(does),
                syntax,
                instead = Message::from(instead),
            ));
        }
        if pattern.matches("\\c").count() > MAX_CONTROL_ESCAPES {
            let limit = MAX_CONTROL_ESCAPES;
            return Err(message!("has more than {limit} escapes like `\\cA`: write `\\x01`", limit));
        }
        // An invalid regular expression is refused by the library when it compiles the schema.
        let none = Self { states: 1, is_deterministic: true };
        let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else { return Ok(none) };
        #[expect(clippy::result_large_err, reason = "the library's error, which is looked at here and dropped")]
        let compile = |reverse: bool| {
            let config = thompson::Config::new()
                .nfa_size_limit(Some(MAX_NFA_BYTES))
                .which_captures(WhichCaptures::None)
                .reverse(reverse);
            thompson::Compiler::new().configure(config).build(&translated)
        };
        let nfa = match compile(false) {
            Ok(nfa) => nfa,
            Err(error) => match error.size_limit() {
                Some(limit) => {
                    return Err(message!("takes more than {limit} bytes when compiled: repeat less", limit));
                }
                None => return Ok(none),
            },
        };
        room.nfa = room
            .nfa
            .checked_sub(nfa.memory_usage())
            .ok_or_else(|| message!("takes too much memory, together with the others: declare fewer patterns"))?;
        // The matcher may scan the text in both directions.
        let forwards = dfa_states(&nfa, StartKind::Both, room);
        let backwards = compile(true).ok().and_then(|nfa| dfa_states(&nfa, StartKind::Anchored, room));
        Ok(match (forwards, backwards) {
            (Some(forwards), Some(backwards)) => Self { states: forwards.max(backwards), is_deterministic: true },
            _ => Self { states: nfa.states().len() as u64, is_deterministic: false },
        })
    }

    /// Returns the maximum steps of matching the pattern against a text of this many bytes.
    pub(super) fn steps(self, bytes: usize) -> u64 {
        let bytes = bytes as u64 + 1;
        if self.is_deterministic {
            // States are built lazily.
            1 + bytes / 4 + bytes.min(self.states).saturating_mul(16)
        } else {
            1 + bytes.saturating_mul(self.states) / 2
        }
    }
}

/// Returns the number of DFA states, if the DFA fits into the limit.
fn dfa_states(nfa: &thompson::NFA, start: StartKind, room: &mut AutomatonBudget) -> Option<u64> {
    let limit = MAX_DFA_BYTES.min(room.dfa);
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

/// Returns the first syntax in a pattern that needs backtracking.
fn find_backtracking_syntax(pattern: &str) -> Option<(&'static str, &'static str, &'static str)> {
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

    fn parse(pattern: &str) -> Result<PatternCost, String> {
        PatternCost::parse(pattern, &mut AutomatonBudget::new()).map_err(|what| what.to_string())
    }

    #[test]
    fn what_needs_backtracking_is_refused_with_what_to_write_instead() {
        for (pattern, expect) in [
            (
                "(?=.*b)x",
                "uses look-ahead (`(?=`), which cannot be matched in bounded time: write several patterns under `allOf`",
            ),
            (
                "^(?!eo:)",
                "uses look-ahead (`(?!`), which cannot be matched in bounded time: write `not: { pattern }` beside it",
            ),
            (
                "(?<=a)b",
                "uses look-behind (`(?<=`), which cannot be matched in bounded time: match the whole text between `^` \
                 and `$`",
            ),
            (
                r"^(a+)+\2b$",
                "uses a back-reference (`\\1`), which cannot be matched in bounded time: list what is allowed with `enum` \
                 or `anyOf`, or check it in `execute`",
            ),
            ("(((a{100}){100}){100}){100}", "takes more than 262144 bytes when compiled: repeat less"),
        ] {
            assert_eq!(parse(pattern).unwrap_err(), expect, "{pattern}");
        }
        assert!(parse(&"a".repeat(1_001)).unwrap_err().starts_with("has 1001 bytes"));
        for pattern in [r"[(?=]\\1", r"\(?=", "(?:a)", "(?<year>[0-9]{4})", r"^\p{L}+$", r"[\1]"] {
            assert!(find_backtracking_syntax(pattern).is_none(), "{pattern}");
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
