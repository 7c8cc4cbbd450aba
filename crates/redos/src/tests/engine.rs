//! Tests that the engine follows the standard: its proofs hold for a JavaScript engine.

use super::run;
use crate::engine::MatchOutcome;

/// The answers of the standard, as Node gives them.
#[test]
fn the_engine_is_one_of_javascript() {
    for (pattern, flags, text, matches) in [
        ("^(?:a*)*$", "", "aab", false),
        ("^(?:a|ab)(?:c|bcd)$", "", "abcd", true),
        ("^(a*?)(a*)$", "", "aaa", true),
        ("^(?:(a)|b)*\\1$", "", "ab", true),
        ("^(?:(a)|b)*\\1$", "", "aba", false),
        ("^(a)\\1$", "i", "aA", true),
        ("^\\1(a)$", "", "a", true),
        ("^(?:(?=(a+))a*b\\1|x)$", "", "aba", true),
        ("^(?=(a+))\\1$", "", "aaa", true),
        ("(?<=(\\d+)(\\d+))$", "", "1053", true),
        ("(?<=\\1(.))x", "", "aax", true),
        ("(?<!^.{2})c", "", "abc", false),
        ("(?!a)b", "", "ab", true),
        ("^.$", "", "😀", false),
        ("^.$", "u", "😀", true),
        ("^.$", "", "\n", false),
        ("^.$", "s", "\n", true),
        ("^b$", "m", "a\nb\nc", true),
        ("^b$", "", "a\nb\nc", false),
        ("\\bé", "", "é", false),
        ("\\Bé", "", "é", true),
        ("^[^]$", "", "\n", true),
        ("[]", "", "a", false),
        ("^\\p{Lu}$", "u", "a", false),
        ("^\\p{Lu}$", "iu", "a", true),
        ("^\\P{Lu}$", "iu", "A", true),
        ("^[^a]$", "i", "A", false),
        ("^É$", "i", "é", true),
        ("^a{2,3}?$", "", "aaaa", false),
        ("^(?:){3}a$", "", "a", true),
        ("^(?:a?){3}$", "", "aaa", true),
        ("^(?:a?){3}$", "", "aaaa", false),
        ("^\\cA\\x41\\u0042\\103\\0$", "", "\u{1}ABC\0", true),
        ("^\\ud83d\\ude00$", "", "😀", true),
        ("^\\ud83d\\ude00$", "u", "😀", true),
        ("^[\\b]$", "", "\u{8}", true),
        ("^[\\w-z]$", "", "-", true),
        ("^(?<a>x)\\k<a>$", "", "xx", true),
        ("\\k<a>", "", "k<a>", true),
        ("^[\\q{ab|c}d]$", "v", "ab", true),
        ("^[[a-z]--[aeiou]]$", "v", "e", false),
        ("^(?i:a)b$", "", "Ab", true),
        ("^(?i:a)b$", "", "AB", false),
        ("a", "y", "ba", false),
    ] {
        let end = if matches { MatchOutcome::Match } else { MatchOutcome::NoMatch };
        assert_eq!(run(pattern, flags, text, 10_000).0, end, "/{pattern}/{flags} on {text:?}");
    }
}
