//! The person at the terminal, and what they say.
//!
//! Invariant: whoever says nothing says no.

use std::io::Write as _;
use std::sync::Arc;

use inquire::ui::RenderConfig;
use inquire::{Confirm, InquireError};
use toolcell::{Answer, CancelToken, Lang, Person, Question};

use crate::failure::Failure;
use crate::progress::Progress;

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
            // Where it cannot be shown, it cannot be approved.
            let shown = writeln!(std::io::stderr(), "{}", question.told(self.lang).join("\n"));
            shown.map_err(InquireError::from).and_then(|()| confirm(&question.asks(self.lang)))
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

/// Whether the person says yes to a question of ours.
pub(crate) fn confirms(question: &str) -> Result<bool, Failure> {
    match confirm(question) {
        Ok(said) => Ok(said),
        Err(InquireError::OperationCanceled) => Ok(false),
        Err(InquireError::OperationInterrupted) => Err(Failure::Interrupted),
        Err(InquireError::IO(error)) => Err(Failure::Stream(error)),
        Err(error) => Err(Failure::Stream(std::io::Error::other(error))),
    }
}

fn confirm(question: &str) -> Result<bool, InquireError> {
    Confirm::new(question).with_default(false).with_render_config(look()).prompt()
}

/// How questions look.
pub(crate) fn look() -> RenderConfig<'static> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain { RenderConfig::empty() } else { RenderConfig::default_colored() }
}
