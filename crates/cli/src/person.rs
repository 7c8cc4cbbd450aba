//! The person at the terminal, and what they say.
//!
//! Invariant: whoever says nothing says no.

use std::sync::Arc;

use inquire::InquireError;
use toolcell::{Answer, CancelToken, Lang, Person, Question};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::screen::{self, About};

/// Whoever sits at the terminal.
pub(crate) struct AtTerminal {
    pub(crate) lang: Lang,
    /// Cancelled where the person breaks off with Ctrl-C, which is no signal while they are asked.
    pub(crate) cancel: CancelToken,
    /// What must be quiet meanwhile.
    pub(crate) progress: Option<Arc<Progress>>,
}

impl Person for AtTerminal {
    fn ask(&self, question: &Question) -> Answer {
        let asked = || {
            let (lines, summary) = (question.told(self.lang), question.summary(self.lang));
            screen::confirm(About { lines: &lines, summary: &summary }, &question.asks(self.lang), self.lang)
        };
        let said = match &self.progress {
            Some(progress) => progress.quiet_while(asked),
            None => asked(),
        };
        match said {
            Ok(true) => Answer::Yes,
            Ok(false) | Err(InquireError::OperationCanceled) => Answer::No { feedback: None },
            Err(InquireError::OperationInterrupted) => {
                self.cancel.cancel();
                Answer::No { feedback: Some("interrupted".to_owned()) }
            }
            Err(error) => Answer::No { feedback: Some(format!("the terminal cannot be asked: {error}")) },
        }
    }
}

/// Whether the person says yes to a question of ours, after they were shown these lines.
pub(crate) fn confirms(lines: &[String], question: &str, lang: Lang) -> Result<bool, Failure> {
    match screen::confirm(About { lines, summary: &[] }, question, lang) {
        Ok(said) => Ok(said),
        Err(InquireError::OperationCanceled) => Ok(false),
        Err(InquireError::OperationInterrupted) => Err(Failure::Interrupted),
        Err(InquireError::IO(error)) => Err(Failure::Stream(error)),
        Err(error) => Err(Failure::Stream(std::io::Error::other(error))),
    }
}
