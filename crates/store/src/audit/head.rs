//! The head of the chain: sequence number and hash of one line, which authenticate all lines before
//! it.
//!
//! Invariant: the head file is one line of fixed length, so one write replaces it.

use std::fmt;

/// The maximum sequence number: the greatest integer that every JSON reader can represent.
pub(super) const SEQ_LIMIT: u64 = (1 << 53) - 1;
/// `seq hash\n`
const FILE_LENGTH: usize = 20 + 1 + blake3::OUT_LEN * 2 + 1;

/// A line of the log, identified by sequence number and hash; written as `seq:hash`.
///
/// Saved out of reach of those who can write the log, it proves later that nothing up to this line
/// was changed.
///
/// # Examples
/// ```
/// use toolcell_store::audit::Head;
///
/// let text = format!("12:{}", "0a".repeat(32));
/// let head: Head = text.parse()?;
/// assert_eq!((head.seq(), head.to_string()), (12, text));
/// # Ok::<(), toolcell_store::audit::HeadError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    seq: u64,
    hash: blake3::Hash,
}

impl Head {
    /// The head of an empty log, which the first line follows.
    pub(super) const START: Self = Self { seq: 0, hash: blake3::Hash::from_bytes([0; blake3::OUT_LEN]) };

    pub(crate) const fn new(seq: u64, hash: blake3::Hash) -> Self {
        Self { seq, hash }
    }

    /// The sequence number of the line.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The blake3 hash of the line's bytes, without its newline.
    #[must_use]
    pub const fn hash(&self) -> blake3::Hash {
        self.hash
    }

    /// The sequence number of the next line. It saturates at its limit, which only a forged line
    /// can reach, so that events are still recorded.
    pub(super) fn next(&self) -> u64 {
        (self.seq + 1).min(SEQ_LIMIT)
    }

    /// The content of the head file.
    pub(super) fn to_file(self) -> String {
        format!("{:020} {}\n", self.seq, self.hash.to_hex())
    }

    /// Parses the content of a head file; only the exact output of [`Head::to_file`] is accepted.
    pub(super) fn from_file(text: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(text).ok().filter(|text| text.len() == FILE_LENGTH)?;
        let (seq, hash) = line.trim_end().split_once(' ')?;
        let head = Self::checked(seq, hash)?;
        (head.to_file() == line).then_some(head)
    }

    fn checked(seq: &str, hash: &str) -> Option<Self> {
        let seq = seq.parse().ok().filter(|seq| (1..=SEQ_LIMIT).contains(seq))?;
        Some(Self { seq, hash: blake3::Hash::from_hex(hash).ok()? })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash.to_hex())
    }
}

impl std::str::FromStr for Head {
    type Err = HeadError;

    fn from_str(text: &str) -> Result<Self, HeadError> {
        let (seq, hash) = text.split_once(':').ok_or(HeadError)?;
        Self::checked(seq, hash).ok_or(HeadError)
    }
}

/// The text is not the head of an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[coded(no_hint)]
#[code(HeadInvalid)]
#[error("the head of an audit log is a number from 1 to {SEQ_LIMIT}, `:` and 64 hexadecimal digits")]
pub struct HeadError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_text_of_a_head_file_is_one() {
        let head = Head::new(12, blake3::hash(b"x"));
        let text = head.to_file();
        assert_eq!(text.len(), FILE_LENGTH);
        assert_eq!(Head::from_file(text.as_bytes()), Some(head));
        for wrong in [String::new(), text.to_uppercase(), text.replace(' ', ":"), format!("{text}\n"), text[1..].into()]
        {
            assert_eq!(Head::from_file(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn nothing_else_is_a_head() {
        let hash = "0".repeat(64);
        for text in
            ["", ":", "1", "1:", &format!("0:{hash}"), &format!("-1:{hash}"), &format!("9007199254740992:{hash}")]
        {
            assert_eq!(text.parse::<Head>(), Err(HeadError), "{text}");
        }
    }
}
