//! Prompts the user on the terminal.
//!
//! Invariant: no answer counts as no.

use std::sync::Arc;

use inquire::InquireError;
use toolcell::{ApprovalAnswer, ApprovalPrompt, Approver, CancelToken, Lang};
use toolcell_i18n::message;

use crate::error::CliError;
use crate::render::progress::Progress;
use crate::screen::{self, PromptText};

/// An approver that prompts on the terminal.
pub(crate) struct TerminalApprover {
    lang: Lang,
    /// Cancelled by Ctrl-C at the prompt, where the terminal does not send a signal.
    cancel: CancelToken,
    /// The progress display to hide during the prompt.
    progress: Option<Arc<Progress>>,
}

impl TerminalApprover {
    /// Creates an approver, which hides the progress display during a prompt.
    pub(crate) fn new(lang: Lang, cancel: &CancelToken, progress: Option<&Arc<Progress>>) -> Self {
        Self { lang, cancel: cancel.clone(), progress: progress.cloned() }
    }

    /// Whether the user has interrupted a prompt.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

impl Approver for TerminalApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        let asked = || {
            let (lines, summary) = (question.lines(self.lang), question.summary(self.lang));
            screen::confirm(PromptText { lines: &lines, summary: &summary }, &question.question(self.lang), self.lang)
        };
        let answer = match &self.progress {
            Some(progress) => progress.hide_while(asked),
            None => asked(),
        };
        match answer {
            Ok(true) => ApprovalAnswer::Approve,
            Ok(false) | Err(InquireError::OperationCanceled) => ApprovalAnswer::Refuse { feedback: None },
            Err(InquireError::OperationInterrupted) => {
                self.cancel.cancel();
                ApprovalAnswer::Refuse { feedback: Some(message!("interrupted")) }
            }
            Err(error) => {
                ApprovalAnswer::Refuse { feedback: Some(message!("the terminal prompt failed: {error}", error)) }
            }
        }
    }
}

/// Shows the lines, asks a yes-or-no question, and returns the answer.
pub(crate) fn confirm(lines: &[String], question: &str, lang: Lang) -> Result<bool, CliError> {
    match screen::confirm(PromptText { lines, summary: &[] }, question, lang) {
        Ok(answer) => Ok(answer),
        Err(InquireError::OperationCanceled) => Ok(false),
        Err(InquireError::OperationInterrupted) => Err(CliError::Interrupted),
        Err(InquireError::IO(error)) => Err(CliError::Stream(error)),
        Err(error) => Err(CliError::Stream(std::io::Error::other(error))),
    }
}
