//! Formats of keys and tokens, as their issuers publish them for secret scanners.
//!
//! Invariant: example keys of documentation are not reported, and neither is a prefix alone.

use toolcell_i18n::msgid;

use super::{has_variety, is_placeholder};

/// Returns the kind of secret that a text contains, if its format is known.
pub(super) fn known_format(text: &str) -> Option<&'static str> {
    // The minimum length of all formats.
    if text.len() < 12 {
        return None;
    }
    // Searching for a character is much faster than for a word, and most texts have none of these.
    let has = |letter: char| text.contains(letter);
    if has('-') && has_private_key(text) {
        return Some(msgid!("a private key"));
    }
    let mut words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_-.".contains(letter)));
    if let Some(what) = words.find_map(word_format) {
        return Some(what);
    }
    if has('/') && has_password_in_url(text) {
        return Some(msgid!("a password in a URL"));
    }
    if has('/') && has_webhook(text) {
        return Some(msgid!("a webhook URL"));
    }
    if has_connection_secret(text) {
        return Some(msgid!("a connection string with a key"));
    }
    let mut words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_-:".contains(letter)));
    if has(':') && words.any(is_bot_token) {
        return Some(msgid!("a bot token"));
    }
    let after = |scheme: &str| {
        let at = text.find(scheme)?;
        text.get(at + scheme.len()..)?.split([' ', '"', '\'', '\n']).next().filter(|_| at == 0 || text.contains(": "))
    };
    if !has(' ') {
        return None;
    }
    if let Some(credentials) = after("Basic ")
        && credentials.len() >= 12
        && credentials.chars().all(|letter| letter.is_ascii_alphanumeric() || "+/=".contains(letter))
        && credentials.chars().any(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        && has_variety(credentials)
    {
        return Some(msgid!("HTTP basic authentication credentials"));
    }
    if let Some(token) = after("Bearer ")
        && token.len() >= 20
        && super::is_random(token)
    {
        return Some(msgid!("a bearer token"));
    }
    None
}

/// The prefix of a token, and the minimum number of characters after it.
const TOKENS: [(&str, usize); 56] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("gldt-", 18),
    ("glrt-", 18),
    ("glsa_", 30),
    ("xoxb-", 18),
    ("xoxp-", 18),
    ("xoxa-", 18),
    ("xoxs-", 18),
    ("xoxr-", 18),
    ("xoxe-", 18),
    ("xapp-", 18),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("whsec_", 24),
    ("sk-", 20),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("SG.", 20),
    ("hf_", 30),
    ("gsk_", 30),
    ("r8_", 30),
    ("pplx-", 30),
    ("xai-", 30),
    ("dop_v1_", 30),
    ("doo_v1_", 30),
    ("dor_v1_", 30),
    ("shpat_", 30),
    ("shpss_", 30),
    ("shpca_", 30),
    ("shppa_", 30),
    ("sq0atp-", 20),
    ("sq0csp-", 30),
    ("dckr_pat_", 20),
    ("rubygems_", 30),
    ("hvs.", 20),
    ("dapi", 32),
    ("lin_api_", 30),
    ("ntn_", 30),
    ("figd_", 30),
    ("sbp_", 30),
    ("NRAK-", 20),
    ("PMAK-", 24),
    ("ATATT3", 30),
    ("sntrys_", 30),
    ("key-", 32),
];

fn word_format(word: &str) -> Option<&'static str> {
    if word.len() < 18 {
        return None;
    }
    let hex = |text: &str| text.len() == 32 && text.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f'));
    let capitals = |text: &str| {
        text.len() >= 16 && text.chars().take(16).all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    let ids = ["AKIA", "ASIA", "AGPA", "AIDA", "AROA"];
    if ids.iter().any(|prefix| word.strip_prefix(prefix).is_some_and(capitals)) && has_variety(word) {
        return Some(msgid!("an access key id"));
    }
    let token = TOKENS.iter().any(|(prefix, least)| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            let run =
                rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'));
            // Words joined by lines are a name, not a token.
            run.count() >= *least
                && has_variety(rest)
                && (rest.chars().any(|letter| letter.is_ascii_digit()) || super::entropy(rest) > 3.9)
        })
    });
    if token {
        return Some(msgid!("an access token"));
    }
    if ["SK", "AC"].iter().any(|prefix| word.strip_prefix(prefix).is_some_and(hex)) && has_variety(word) {
        return Some(msgid!("an account key"));
    }
    let parts: Vec<&str> = word.split('.').collect();
    match parts.as_slice() {
        [head, body, signature] if head.starts_with("eyJ") && body.starts_with("eyJ") && signature.len() >= 16 => {
            // The example of jwt.io occurs in half of all texts about signed tokens.
            (!signature.starts_with("SflKxwRJSMeKKF2QT4fw") && has_variety(signature))
                .then_some(msgid!("a signed token (JWT)"))
        }
        [id, time, signature]
            if (23..=28).contains(&id.len()) && (6..=7).contains(&time.len()) && signature.len() >= 27 =>
        {
            (has_variety(id) && has_variety(signature) && super::is_random(signature)).then_some(msgid!("a bot token"))
        }
        _ => None,
    }
}

/// Returns whether a text has a label and a key as in RFC 7468.
fn has_private_key(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("-----BEGIN ") else { return false };
    let Some((label, body)) = rest.split_once("-----") else { return false };
    let letters = || body.chars().filter(|letter| !letter.is_whitespace());
    let key: String =
        letters().take_while(|letter| letter.is_ascii_alphanumeric() || "+/=\\".contains(*letter)).collect();
    label.contains("PRIVATE KEY") && key.len() >= 24 && has_variety(&key)
}

/// Returns whether a text has `scheme://user:password@host`, with a password that is not a
/// placeholder.
fn has_password_in_url(text: &str) -> bool {
    text.match_indices("://").take(8).any(|(at, _)| {
        let rest = text.get(at + 3..).unwrap_or_default();
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'', '\n']).next().unwrap_or_default();
        let Some((user, host)) = authority.rsplit_once('@') else { return false };
        let Some((_, password)) = user.split_once(':') else { return false };
        let plain = ["password", "passwd", "passwort", "secret", "pass", "pwd", "hunter2"]
            .contains(&password.to_lowercase().as_str());
        password.len() >= 6
            && !plain
            && !host.is_empty()
            && !is_placeholder(password)
            && !password.contains(['{', '$', '<', '['])
    })
}

fn has_webhook(text: &str) -> bool {
    let after = |place: &str, least: usize| {
        text.split_once(place).is_some_and(|(_, rest)| {
            let path: String =
                rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "/_-".contains(*letter)).collect();
            path.len() >= least && has_variety(&path) && path.chars().any(|letter| letter.is_ascii_digit())
        })
    };
    after("hooks.slack.com/services/T", 30)
        || after("discord.com/api/webhooks/", 50)
        || after("discordapp.com/api/webhooks/", 50)
        || after("outlook.office.com/webhook/", 40)
}

/// Returns whether a text has `AccountKey=…;`, `Password=…;` and the like, next to other fields.
fn has_connection_secret(text: &str) -> bool {
    if !text.contains(';') {
        return false;
    }
    text.split(';').filter_map(|field| field.split_once('=')).any(|(name, value)| {
        let name: String = name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
        match name.as_str() {
            "accountkey" | "sharedaccesskey" | "sharedaccesssignature" => value.len() >= 20 && has_variety(value),
            "password" | "pwd" => {
                value.len() >= 6
                    && !is_placeholder(value)
                    && !value.contains(['{', '$', '<', '*', ' '])
                    && super::char_class_count(value) >= 2
            }
            _ => false,
        }
    })
}

/// Returns whether a word is 8 to 10 digits, a colon, and 34 to 36 other characters.
fn is_bot_token(word: &str) -> bool {
    word.split_once(':').is_some_and(|(id, key)| {
        (8..=10).contains(&id.len())
            && id.chars().all(|letter| letter.is_ascii_digit())
            && (34..=36).contains(&key.len())
            && !key.contains(':')
            && has_variety(key)
    })
}
