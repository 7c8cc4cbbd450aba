//! `sensitive-data`: a secret in the source, where everybody who sees the tool sees it.

use super::{Findings, Rule, Source};
use crate::facts::Text;
use crate::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("sensitive-data"), worst: Severity::High, page: include_str!("sensitive_data.md"), check };

const SUGGESTION: &str = "take it as a parameter, or ask for the capability `secrets`, and make this one invalid";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for text in &source.facts.texts {
        let what = known_format(&text.value).or_else(|| named_secret(text));
        if let Some(what) = what {
            // The secret itself is not repeated: findings are printed, stored and sent.
            let message = format!("has a secret in it: {what}");
            findings.add(Severity::High, text.span, message, SUGGESTION);
        }
    }
}

/// Formats by which their issuers' keys are known.
fn known_format(text: &str) -> Option<&'static str> {
    let words = || text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_-.".contains(letter)));
    let run = |prefix: &str, least: usize, allowed: fn(char) -> bool| {
        words().any(|word| {
            word.strip_prefix(prefix)
                .is_some_and(|rest| rest.chars().take_while(|letter| allowed(*letter)).count() >= least)
                && varied(word)
        })
    };
    let capitals = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
    let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    if ["AKIA", "ASIA", "AGPA", "AIDA", "AROA"].iter().any(|prefix| run(prefix, 16, capitals)) {
        return Some("an access key id");
    }
    let tokens: [(&str, usize); 22] = [
        ("ghp_", 30),
        ("gho_", 30),
        ("ghu_", 30),
        ("ghs_", 30),
        ("ghr_", 30),
        ("github_pat_", 30),
        ("glpat-", 18),
        ("xoxb-", 18),
        ("xoxp-", 18),
        ("xoxa-", 18),
        ("xapp-", 18),
        ("sk_live_", 16),
        ("sk_test_", 16),
        ("rk_live_", 16),
        ("sk-", 20),
        ("AIza", 30),
        ("ya29.", 20),
        ("npm_", 30),
        ("pypi-", 30),
        ("SG.", 20),
        ("hf_", 30),
        ("dop_v1_", 30),
    ];
    if tokens.iter().any(|(prefix, least)| run(prefix, *least, letters)) {
        return Some("an access token");
    }
    if words().any(is_jwt) {
        return Some("a signed token (JWT)");
    }
    if has_password_in_url(text) {
        return Some("a password in a URL");
    }
    if let Some(credentials) = text.strip_prefix("Basic ")
        && credentials.len() >= 12
        && credentials.chars().all(|letter| letter.is_ascii_alphanumeric() || "+/=".contains(letter))
        && varied(credentials)
    {
        return Some("credentials of HTTP basic authentication");
    }
    if let Some(token) = text.strip_prefix("Bearer ")
        && token.len() >= 20
        && is_random(token)
    {
        return Some("a bearer token");
    }
    None
}

/// RFC 7519: three parts, of which the first says so.
fn is_jwt(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.len() == 3 && parts[0].starts_with("eyJ") && parts[1].starts_with("eyJ") && parts[2].len() >= 16
}

/// `scheme://user:password@host`, with a password that is no placeholder.
fn has_password_in_url(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    let Some((_, password)) = user.split_once(':') else { return false };
    password.len() >= 6 && !is_placeholder(password) && !password.contains(['{', '$', '<'])
}

/// Something that looks random, given to a name that says it is secret.
fn named_secret(text: &Text) -> Option<&'static str> {
    let name: String =
        text.name.as_deref()?.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let secret = [
        "apikey",
        "secret",
        "password",
        "passwd",
        "pwd",
        "token",
        "privatekey",
        "accesskey",
        "credential",
        "authkey",
        "signingkey",
        "encryptionkey",
        "passphrase",
        "hmackey",
        "masterkey",
    ];
    let is_secret = secret.iter().any(|word| name.ends_with(word) || (name.contains(word) && !name.contains("type")));
    let value = text.value.trim();
    if !is_secret || value.len() < 10 || is_placeholder(value) || value.contains(char::is_whitespace) {
        return None;
    }
    let kinds = [
        value.chars().any(|letter| letter.is_ascii_lowercase()),
        value.chars().any(|letter| letter.is_ascii_uppercase()),
        value.chars().any(|letter| letter.is_ascii_digit()),
        value.chars().any(|letter| letter.is_ascii_punctuation()),
    ];
    let mixed = kinds.iter().filter(|kind| **kind).count() >= 3;
    let hex = value.len() >= 24 && value.chars().all(|letter| letter.is_ascii_hexdigit());
    ((mixed && entropy(value) > 2.9 && kinds[2]) || (hex && varied(value))).then_some("a value that looks random")
}

/// Words that stand for a secret, and are none.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "your",
        "example",
        "xxx",
        "placeholder",
        "changeme",
        "change-me",
        "<",
        "${",
        "...",
        "***",
        "dummy",
        "sample",
        "todo",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Not the same few letters again and again.
fn varied(text: &str) -> bool {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() >= 7 && !is_placeholder(text)
}

fn is_random(text: &str) -> bool {
    entropy(text) > 3.2 && varied(text) && text.chars().any(|letter| letter.is_ascii_digit())
}

/// Bits of information in each letter (Shannon 1948).
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for letter in text.chars() {
        *counts.entry(letter).or_insert(0_u32) += 1;
    }
    let total = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}
