//! The flags of a regular expression.
//!
//! Invariant: flags that no engine accepts are rejected here, so all later stages may rely on them.

use crate::syntax::PatternError;

/// The flags of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    pub(crate) modes: Modes,
    /// `u` or `v`.
    pub(crate) unicode: bool,
    /// `v`.
    pub(crate) set_notation: bool,
    pub(crate) sticky: bool,
}

/// The flags that a group such as `(?i:..)` can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Modes {
    pub(crate) ignore_case: bool,
    pub(crate) multiline: bool,
    pub(crate) dot_all: bool,
}

impl Flags {
    /// Parses flags; `None` if they are not the flags of a regular expression.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut flags = Self::default();
        for (at, flag) in text.char_indices() {
            if text[..at].contains(flag) {
                return None;
            }
            match flag {
                'd' | 'g' => {}
                'i' => flags.modes.ignore_case = true,
                'm' => flags.modes.multiline = true,
                's' => flags.modes.dot_all = true,
                'u' => flags.unicode = true,
                'v' => flags.set_notation = true,
                'y' => flags.sticky = true,
                _ => return None,
            }
        }
        let both = flags.unicode && flags.set_notation;
        flags.unicode |= flags.set_notation;
        (!both).then_some(flags)
    }
}

impl Modes {
    pub(crate) fn set(&mut self, flag: char, on: bool) -> Result<(), PatternError> {
        let mode = match flag {
            'i' => &mut self.ignore_case,
            'm' => &mut self.multiline,
            's' => &mut self.dot_all,
            _ => return Err(PatternError::Invalid),
        };
        *mode = on;
        Ok(())
    }
}
