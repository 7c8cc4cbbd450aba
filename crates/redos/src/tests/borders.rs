//! Invalid patterns, patterns that are too large, and unusual ones.

use super::Is::{Exponential, Invalid, Safe, Unknown};
use super::{check, expect, is_exponential};
use crate::{Risk, Verdict};

#[test]
fn what_is_no_pattern_is_invalid() {
    expect(
        Invalid,
        "",
        &[
            "(",
            ")",
            "a**",
            "*",
            "a{2,1}",
            "[z-a]",
            "[",
            "\\",
            "(?<a",
            "(?<1>a)",
            "(?'a'b)",
            "(?<=a)*",
            "^*",
            "\\k<a>(?<b>)",
        ],
    );
    expect(Invalid, "u", &["{", "]", "\\-", "a{", "\\1", "(?=a)*", "\\p{", "\\u{110000}", "[\\d-z]", "\\c1"]);
    expect(Invalid, "v", &["[(]", "[a--]", "[^\\q{ab}]", "[a&&b--c]x["]);
    for flags in ["gg", "x", "uv", "G"] {
        expect(Invalid, flags, &["a"]);
    }
    // Annex B.
    expect(Safe, "", &["a{", "]", "}", "{a}", "\\-", "\\1", "(?=a)*", "\\c1", "[\\d-z]", "\\k<a>", "\\8", "\\u{1}"]);
}

#[test]
fn what_is_too_large_is_unknown() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")*".repeat(depth));
    let words: Vec<String> = (0..4000).map(|number| format!("w{number}")).collect();
    for pattern in [
        nested(101),
        nested(16_000),
        "(?=".repeat(32_000),
        format!("^(?:{})*$", words.join("|")),
        "(?:a|b)*".repeat(8_000),
        "a?".repeat(20_000) + "b*",
        "(?:".repeat(60) + "a?" + &"){9}".repeat(60),
        (0..300).fold(String::new(), |all, at| all + &format!("[^\\u{:04x}]*", 0x4E00 + at)),
        "(?<=a*)b".repeat(50),
        "x*".repeat(32_769),
    ] {
        expect(Unknown, "", &[&pattern]);
    }
    // Without a loop, there is nothing to analyse.
    expect(Safe, "", &[&"a".repeat(64 << 10), &words.join("|")]);
    expect(Exponential, "", &[&format!("^{}$", nested(30))]);
}

/// Random patterns: the check ends with some verdict.
#[test]
fn no_pattern_is_too_strange() {
    let parts = [
        "a", "b", "(", "(?:", ")", ")*", ")+", "|", "*", "+", "?", "[ab]", "[^a]", ".", "\\w", "\\b", "^", "$",
        "{0,30}", "{3}", "\\1", "(?=", "(?!", "(?<=", "(?<n>", "\\k<n>", "[", "]", "\\", "é", "😀", "{", "-", "\\p{L}",
        "&&", "--",
    ];
    let mut seed = 1_u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(seed >> 8).unwrap() % below
    };
    for _ in 0..400 {
        let length = 1 + next(14);
        let pattern: String = (0..length).map(|_| parts[next(parts.len())]).collect();
        let flags = ["", "i", "m", "u", "v", "s", "y"][next(7)];
        if let Verdict::Risky(Risk::Exponential { attack }) = check(&pattern, flags) {
            assert!(is_exponential(&pattern, flags, &attack), "/{pattern}/{flags}: {attack:?}");
        }
    }
}
