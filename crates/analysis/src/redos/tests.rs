//! Patterns whose risk is known.

use super::{Risk, Verdict, check};

/// `safe`, `exponential`, `polynomial`, `by search`, `unknown` or `invalid`.
fn word(pattern: &str) -> &'static str {
    match check(pattern, "") {
        Verdict::Safe => "safe",
        Verdict::Risky(Risk::Exponential { .. }) => "exponential",
        Verdict::Risky(Risk::Polynomial { by_search: false, .. }) => "polynomial",
        Verdict::Risky(Risk::Polynomial { by_search: true, .. }) => "by search",
        Verdict::Unknown => "unknown",
        Verdict::Invalid => "invalid",
    }
}

#[test]
fn patterns_that_some_text_makes_slow_are_told_from_those_that_none_does() {
    let patterns = [
        (r"^\d{4}-\d{2}-\d{2}$", "safe"),
        (r"^[a-z]+(-[a-z]+)*$", "safe"),
        (r"^(\d{1,3}\.){3}\d{1,3}$", "safe"),
        (r"^(\w+)\s*=\s*(\d+)$", "safe"),
        (r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", "safe"),
        (r#"^"(?:[^"\\]|\\.)*"$"#, "safe"),
        (r"^#?([0-9a-f]{3}|[0-9a-f]{6})$", "safe"),
        (r"^[^,]+$", "safe"),
        (r"\b\w+\b", "safe"),
        (r"[^\p{L}\p{N}]+", "safe"),
        (r"(a+)+", "safe"),
        (r"(a+)+$", "exponential"),
        (r"(a|aa)+$", "exponential"),
        (r"(a|a)*b", "exponential"),
        (r"(\w+\s?)*$", "exponential"),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "exponential"),
        (r"(.*)*x", "exponential"),
        (r"([a-zA-Z0-9_.-]+)*@", "exponential"),
        (r"(x+x+)+y", "exponential"),
        (r"^(a*)*$", "exponential"),
        (r"(?=(a+)+b)", "exponential"),
        (r"^\d+\d+$", "polynomial"),
        (r"^.*.*=.*$", "polynomial"),
        (r"\s+$", "by search"),
        (r"[a-z]+@", "by search"),
        (r"(", "invalid"),
        (r"[b-a]", "invalid"),
    ];
    let wrong: Vec<String> = patterns
        .iter()
        .filter(|(pattern, expect)| word(pattern) != *expect)
        .map(|(pattern, expect)| format!("/{pattern}/ is {}, not {expect}", word(pattern)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn large_and_deep_patterns_end_in_an_answer() {
    for pattern in ["(".repeat(30_000), format!("{}a{}", "(".repeat(20_000), ")*".repeat(20_000)), "a*".repeat(20_000)]
    {
        assert!(!word(&pattern).is_empty());
    }
}
