//! Reasons to retire tools, and errors of doing so, as text.

use toolcell_i18n::{Lang, Localize, Message, message, tr};

use super::messages::{error_text, failure_message};
use crate::operations::retire::{RetireError, RetireReason};

impl Localize for RetireReason {
    fn localize(&self) -> Message {
        match self {
            Self::Failed => message!("its verification failed"),
            Self::Failing { runs, failures } => message!("{failures} of {runs} runs failed", failures, runs),
            Self::Duplicate { of } => message!("it duplicates `{of}`", of),
            Self::Superseded { by } => message!("`{by}` superseded it", by),
            Self::Unused { since } => message!("unused since {date}", date = since.strftime("%F")),
        }
    }
}

impl RetireReason {
    /// Returns the reason as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        self.localize().to_text(lang)
    }
}

impl RetireError {
    /// Returns the answer of a failed retirement.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let said = match self {
            // The contract's wording is for deletion.
            Self::Unconfirmed { count } => tr!(lang, "set confirm: true to retire {count} tools", count),
            _ => failure_message(self.code(), &self.localize().to_text(lang), lang),
        };
        error_text(&said, lang)
    }
}
