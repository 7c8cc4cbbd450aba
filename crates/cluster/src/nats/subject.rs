//! Subjects: what a text is called in a stream.
//!
//! ```text
//! toolcell.history.KEY.N     entry N of the history KEY
//! toolcell.blob.HASH.N       part N of an object; part 0 is written last, and begins with the size of the object
//! toolcell.node.NODE         the last report of a node
//! toolcell.count.KEY         a count
//! toolcell.changed           a history has another entry; the message has its key
//! ```
//!
//! A text is one token: bytes other than `a` to `z`, `A` to `Z`, `0` to `9`, `-`, `_` and `/` are written as `=` and two hexadecimal
//! digits, and the empty text is `=`. So `library/alice.b` is `library/alice=2Eb`.
//!
//! Invariant: different texts are different tokens, and a token has no `.`, `*`, `>`, `$` or white space.

use std::fmt::Write as _;

use blake3::Hash;
use toolcell::store::HistoryKey;

/// The subject that tells of changes.
pub(crate) const CHANGED: &str = "toolcell.changed";

/// The subject of an entry.
pub(crate) fn entry(key: &HistoryKey, number: u64) -> String {
    format!("toolcell.history.{}.{number}", encode(key.as_str()))
}

/// The subjects of all entries of a history.
pub(crate) fn entries(key: &HistoryKey) -> String {
    format!("toolcell.history.{}.*", encode(key.as_str()))
}

/// The number of the entry with this subject.
pub(crate) fn entry_number(subject: &str) -> Option<u64> {
    subject.rsplit_once('.').and_then(|(_, number)| number.parse().ok()).filter(|number| *number > 0)
}

/// The subject of a part of an object.
pub(crate) fn part(hash: Hash, number: u64) -> String {
    format!("toolcell.blob.{}.{number}", hash.to_hex())
}

/// The subject of the report of a node.
pub(crate) fn report(node: &str) -> String {
    format!("toolcell.node.{}", encode(node))
}

/// The subjects of all reports.
pub(crate) fn report_wildcard() -> &'static str {
    "toolcell.node.*"
}

/// The node whose report has this subject.
pub(crate) fn node(subject: &str) -> Option<String> {
    subject.strip_prefix("toolcell.node.").and_then(decode)
}

/// The subject of a count.
pub(crate) fn count(key: &str) -> String {
    format!("toolcell.count.{}", encode(key))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_/".contains(&byte)
}

fn encode(text: &str) -> String {
    if text.is_empty() {
        return "=".to_owned();
    }
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            token.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(token, "={byte:02X}");
        }
    }
    token
}

/// Decodes a token; `None` if it is not what [`encode`] makes.
fn decode(token: &str) -> Option<String> {
    if token == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        if *first == b'=' {
            let (digits, others) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = others;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| encode(text) == token)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// All texts of up to four characters that are special somewhere.
    fn texts() -> Vec<String> {
        let characters = ['a', 'A', '2', 'E', '.', '=', '/', '*', '>', '$', ' ', '\u{e9}'];
        let mut all = vec![String::new()];
        let mut begin = 0;
        for _ in 0..4 {
            let end = all.len();
            for index in begin..end {
                all.extend(characters.map(|character| format!("{}{character}", all[index])));
            }
            begin = end;
        }
        all
    }

    #[test]
    fn different_texts_are_different_tokens_without_special_characters() {
        let mut known = HashMap::new();
        for text in texts() {
            let token = encode(&text);
            assert!(!token.is_empty() && token.bytes().all(|byte| is_plain(byte) || byte == b'='), "{token}");
            assert_eq!(decode(&token).as_ref(), Some(&text));
            let other = known.insert(token, text.clone());
            assert_eq!(other, None, "{text}");
        }
        assert!(known.len() > 20_000);
    }

    #[test]
    fn what_no_text_is_written_as_is_not_decoded() {
        for token in ["=2", "=zz", "=61", "=2e", "a.b", "=FF", "", "a=", "=+1"] {
            let decoded = decode(token);
            assert!(decoded.is_none() || token.is_empty(), "{token}: {decoded:?}");
        }
    }

    #[test]
    fn the_entries_of_a_history_are_those_of_no_other() {
        let key = |text| HistoryKey::parse(text).unwrap();
        assert_eq!(entry(&key("library/alice.b"), 7), "toolcell.history.library/alice=2Eb.7");
        assert_eq!(entry(&key("a"), 1), "toolcell.history.a.1");
        // With a plain `.`, this would be an entry of `a`.
        assert_eq!(entries(&key("a.1")), "toolcell.history.a=2E1.*");
        assert_eq!(entry_number("toolcell.history.a.12"), Some(12));
        assert_eq!(entry_number("toolcell.history.a.0"), None);
        assert_eq!(node("toolcell.node.a=2Eb").as_deref(), Some("a.b"));
    }
}
