//! Prompts the user on the terminal.
//!
//! Invariant: no answer counts as no.

use std::path::PathBuf;
use std::sync::Arc;

use inquire::InquireError;
use toolcell::hook::ToolApproval;
use toolcell::policy::{Grants, SuggestedArgument};
use toolcell::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, CancelToken, FlowAnswer, FlowQuestion, Lang, Policy,
    QuestionAnswer, ServerQuestion, ToolName,
};
use toolcell_i18n::{Localize as _, Message, message, tr};

use crate::args::PolicyArgs;
use crate::error::CliError;
use crate::policy_edit::GrantEdit;
use crate::question;
use crate::render::progress::Progress;
use crate::screen::{self, PromptText};

/// An approver that prompts on the terminal.
pub(crate) struct TerminalApprover {
    lang: Lang,
    /// Cancelled by Ctrl-C at the prompt, where the terminal does not send a signal.
    cancel: CancelToken,
    /// The progress display to hide during the prompt.
    progress: Option<Arc<Progress>>,
    /// What is needed to grant what a tool lacks.
    granting: Option<GrantingContext>,
}

/// What is needed to change the policy during a run.
struct GrantingContext {
    policy_args: PolicyArgs,
    store_dir: PathBuf,
}

/// An answer about a tool that lacks grants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GrantAnswer {
    Refuse,
    ApproveAsIs,
    Grant(ApprovalDuration),
}

impl TerminalApprover {
    /// Creates an approver, which hides the progress display during a prompt.
    pub(crate) fn new(lang: Lang, cancel: &CancelToken, progress: Option<&Arc<Progress>>) -> Self {
        Self { lang, cancel: cancel.clone(), progress: progress.cloned(), granting: None }
    }

    /// Returns the approver, which can also grant what a tool lacks.
    pub(crate) fn with_granting(self, policy_args: PolicyArgs, store_dir: PathBuf) -> Self {
        Self { granting: Some(GrantingContext { policy_args, store_dir }), ..self }
    }

    /// Whether the user has interrupted a prompt.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

impl TerminalApprover {
    /// Hides the progress display during a prompt.
    fn without_progress<T>(&self, prompt: impl FnOnce() -> T) -> T {
        match &self.progress {
            Some(progress) => progress.hide_while(prompt),
            None => prompt(),
        }
    }

    /// Asks about a tool that has everything it requests, or about one call.
    fn confirm(&self, question: &ApprovalPrompt) -> Result<ApprovalAnswer, InquireError> {
        let (lines, summary) = (question.lines(self.lang), question.summary(self.lang));
        let text = PromptText { lines: &lines, summary: &summary };
        let is_yes = screen::confirm(text, &question.question(self.lang), self.lang)?;
        Ok(if is_yes { ApprovalAnswer::Approve } else { ApprovalAnswer::Refuse { feedback: None } })
    }

    /// Asks about a tool that lacks grants, and grants them.
    fn ask_for_grants(
        &self,
        question: &ApprovalPrompt,
        approving: &ToolApproval,
        granting: &GrantingContext,
    ) -> Result<ApprovalAnswer, InquireError> {
        let lang = self.lang;
        let words = approving.missing_words();
        let mut options = vec![
            (GrantAnswer::Refuse, tr!(lang, "No").to_owned()),
            (GrantAnswer::Grant(ApprovalDuration::ThisCall), tr!(lang, "Grant {grants} for this call", grants = words)),
            (
                GrantAnswer::Grant(ApprovalDuration::Always),
                tr!(lang, "Grant {grants} from now on, in the policy file", grants = words),
            ),
        ];
        if !approving.grants.is_empty() {
            options.push((GrantAnswer::ApproveAsIs, tr!(lang, "Yes, without these grants, from now on").to_owned()));
        }
        let (lines, summary) = (question.lines(lang), question.summary(lang));
        let texts: Vec<String> = options.iter().map(|(_, text)| text.clone()).collect();
        let asked = question.short_question(lang);
        let chosen = screen::choose(PromptText { lines: &lines, summary: &summary }, &asked, &texts, lang)?;
        match options.get(chosen).map(|(answer, _)| *answer) {
            None | Some(GrantAnswer::Refuse) => Ok(ApprovalAnswer::Refuse { feedback: None }),
            Some(GrantAnswer::ApproveAsIs) => Ok(ApprovalAnswer::Approve),
            Some(GrantAnswer::Grant(duration)) => {
                let Some(added) = self.ask_for_resources(approving)? else {
                    return Ok(ApprovalAnswer::Refuse { feedback: Some(message!("no grant was named")) });
                };
                let name = ToolName::parse(&question.call.tool_name);
                let edited = name.map_err(|error| error.localize()).and_then(|name| {
                    granting.grant(&name, approving, &added, duration).map_err(|error| error.message())
                });
                Ok(match edited {
                    Ok(policy) => ApprovalAnswer::ApproveUnder { policy: Arc::new(policy), duration },
                    Err(reason) => ApprovalAnswer::Refuse { feedback: Some(reason) },
                })
            }
        }
    }

    /// Asks for each resource that the tool does not name. Returns `None` if nothing is left to
    /// grant.
    fn ask_for_resources(&self, approving: &ToolApproval) -> Result<Option<Grants>, InquireError> {
        let mut added = Grants::default();
        for argument in &approving.missing {
            if let Some(grants) = &argument.grants {
                added.extend(grants.clone());
                continue;
            }
            let asked = tr!(self.lang, "Grant for {grant}, empty for none:", grant = argument.text);
            let folder = std::env::current_dir()?;
            let name = argument.capability.name();
            let parse = move |word: &str| {
                let is_whole = word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
                let word = if is_whole { word.to_owned() } else { format!("{name}={word}") };
                Grants::parse_argument(&word, &folder)
            };
            let (lang, check) = (self.lang, parse.clone());
            let word = screen::ask_line(&asked, move |word: &str| {
                if word.is_empty() {
                    Ok(())
                } else {
                    check(word).map(drop).map_err(|error| error.localize().to_text(lang))
                }
            })?;
            if !word.is_empty()
                && let Ok(grants) = parse(&word)
            {
                added.extend(grants);
            }
        }
        Ok((!added.is_empty()).then_some(added))
    }
}

impl GrantingContext {
    /// Grants more to a tool, and returns the policy with the grants. The policy file is saved if
    /// they are to last.
    fn grant(
        &self,
        name: &ToolName,
        approving: &ToolApproval,
        added: &Grants,
        duration: ApprovalDuration,
    ) -> Result<Policy, CliError> {
        let edit = GrantEdit::prepare(&self.policy_args, &self.store_dir, name, approving, added)?;
        if duration == ApprovalDuration::Always {
            edit.save()?;
        }
        Ok(edit.policy().clone())
    }
}

impl Approver for TerminalApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        let asked = || match (&question.tool_approval, &self.granting) {
            (Some(approving), Some(granting)) if !approving.missing.is_empty() => {
                self.ask_for_grants(question, approving, granting)
            }
            _ => self.confirm(question),
        };
        match self.without_progress(asked) {
            Ok(answer) => answer,
            Err(InquireError::OperationCanceled) => ApprovalAnswer::Refuse { feedback: None },
            Err(InquireError::OperationInterrupted) => {
                self.cancel.cancel();
                ApprovalAnswer::Refuse { feedback: Some(message!("interrupted")) }
            }
            Err(error) => {
                ApprovalAnswer::Refuse { feedback: Some(message!("the terminal prompt failed: {error}", error)) }
            }
        }
    }

    fn can_grant(&self, _: &[SuggestedArgument]) -> bool {
        self.granting.is_some()
    }

    fn answer(&self, question: &ServerQuestion) -> QuestionAnswer {
        match self.put(|| question::ask(question, self.lang)) {
            PutQuestion::Answered(answer) => answer,
            PutQuestion::Dismissed => QuestionAnswer::Cancel,
            PutQuestion::Failed(reason) => QuestionAnswer::NotAsked { reason },
        }
    }

    fn decide_flow(&self, question: &FlowQuestion) -> FlowAnswer {
        let (lines, summary) = (question.lines(self.lang), question.summary(self.lang));
        let text = PromptText { lines: &lines, summary: &summary };
        match self.put(|| screen::confirm(text, &question.question(self.lang), self.lang)) {
            PutQuestion::Answered(true) => FlowAnswer::Approve,
            PutQuestion::Answered(false) => FlowAnswer::Refuse { feedback: None },
            PutQuestion::Dismissed => FlowAnswer::Unanswered { reason: message!("the user dismissed the question") },
            PutQuestion::Failed(reason) => FlowAnswer::NotAsked { reason },
        }
    }
}

impl TerminalApprover {
    /// Puts a question during a run, and cancels the run if the user interrupts it.
    fn put<T>(&self, prompt: impl FnOnce() -> Result<T, InquireError>) -> PutQuestion<T> {
        match self.without_progress(prompt) {
            Ok(answer) => PutQuestion::Answered(answer),
            Err(InquireError::OperationCanceled) => PutQuestion::Dismissed,
            Err(InquireError::OperationInterrupted) => {
                self.cancel.cancel();
                PutQuestion::Dismissed
            }
            Err(error) => PutQuestion::Failed(message!("the terminal prompt failed: {error}", error)),
        }
    }
}

/// What came of a question on the terminal.
enum PutQuestion<T> {
    Answered(T),
    Dismissed,
    /// The question was not shown.
    Failed(Message),
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
