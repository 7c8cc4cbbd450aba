//! Errors of the operations on stored tools, and their exit statuses.
//!
//! Invariant: the exit status is a function of the error code, except after an interrupt.

use toolcell::{
    CreateError, DeleteError, Effects, Lang, ListToolsError, ReflectError, RetireError, RunError, ServerError,
    ShowError, VerifyError,
};
use toolcell_error::{ErrorCode, ExitClass};
use toolcell_i18n::{Localize as _, Message, message, tr};

use super::CliError;
use crate::exit::Exit;

/// An error of an operation on stored tools.
#[derive(Debug, toolcell_error::Coded)]
#[coded(no_hint)]
pub(crate) enum CommandError {
    /// `create_tool`
    #[coded(transparent)]
    Create(CreateError),
    /// `create_tool`, without a description
    #[coded(transparent)]
    CreateUndescribed(CreateError),
    /// `run_dynamic_tool`
    #[coded(transparent)]
    Run(RunError),
    /// `run_dynamic_tool`, interrupted at a prompt
    #[coded(transparent)]
    RunInterrupted(RunError),
    /// `list_dynamic_tools`
    #[coded(transparent)]
    List(ListToolsError),
    /// `delete_dynamic_tool`, `undelete` and `rollback`
    #[coded(transparent)]
    Delete(DeleteError),
    /// `show`, and other look-ups of a tool
    #[coded(transparent)]
    Show(ShowError),
    /// `tool_reflection`
    #[coded(transparent)]
    Reflect(ReflectError),
    /// `verify`
    #[coded(transparent)]
    Verify(VerifyError),
    /// `retire`
    #[coded(transparent)]
    Retire(RetireError),
    /// `servers`
    #[coded(transparent)]
    Server(ServerError),
}

impl CommandError {
    pub(crate) fn exit(&self) -> Exit {
        if let Self::RunInterrupted(_) = self { Exit::Interrupted } else { exit_for_code(self.code()) }
    }

    /// Returns a hint on what to do next, in the words of the command line: the hint of an operation
    /// may name its fields.
    pub(crate) fn hint(&self) -> Message {
        match self {
            Self::CreateUndescribed(_) => {
                message!(
                    "describe the tool with --description, or with `description` in the .json file beside the source"
                )
            }
            Self::Create(CreateError::Duplicate(alike)) => message!(
                "run the tool with `toolcell run {name}`, or create a new version of it with `--name {name} --replace`",
                name = alike.entry.name
            ),
            Self::Create(error) if error.taken_name().is_some() => {
                message!(
                    "choose another name, or replace the tool with --replace: its old version stays in its history"
                )
            }
            Self::Create(CreateError::Request(_)) => {
                message!("a request is a JSON object with fields such as `name`, `description` and `code`")
            }
            Self::Delete(DeleteError::Unconfirmed { .. }) => {
                message!("pass --confirm; the deletion can be undone until garbage collection")
            }
            Self::Retire(RetireError::Unconfirmed { .. }) => {
                message!("review them with --dry-run, then pass --confirm")
            }
            Self::Reflect(ReflectError::Request(_)) => message!(
                "--failed-attempts takes an integer, and --history a list of {\"name\", \"arguments\", \"outcome\"} or of \
                 strings"
            ),
            Self::List(ListToolsError::Filter { .. }) => message!("omit the option, or use a value in the range"),
            _ if self.code() == ErrorCode::RequestInvalid => {
                message!("give the name or the identifier of a tool; `toolcell list` shows all tools")
            }
            Self::Create(error) => error.hint(),
            Self::Run(error) | Self::RunInterrupted(error) => error.hint(),
            Self::List(error) => error.hint().into(),
            Self::Delete(error) => error.hint().into(),
            Self::Show(error) => error.hint().into(),
            Self::Verify(error) => error.hint(),
            Self::Reflect(error) => error.hint().into(),
            Self::Retire(error) => error.hint().into(),
            Self::Server(error) => error.hint().into(),
        }
    }

    /// Returns the line and column of the source that the error is about.
    pub(crate) fn position(&self) -> Option<(u32, u32)> {
        match self {
            Self::Create(error) => error.position(),
            Self::Run(RunError::Unsafe(refusal)) | Self::Verify(VerifyError::Run(RunError::Unsafe(refusal))) => {
                refusal.position()
            }
            _ => None,
        }
    }

    /// Returns how far a failed run has changed the outside world.
    pub(crate) fn effects(&self) -> Option<Effects> {
        match self {
            Self::Run(error) | Self::RunInterrupted(error) => Some(error.effects()),
            _ => None,
        }
    }

    /// Returns the error message, without its headline.
    pub(crate) fn message(&self) -> Message {
        match self {
            Self::Create(error) | Self::CreateUndescribed(error) => error.localize(),
            Self::Run(error) | Self::RunInterrupted(error) => error.localize(),
            Self::List(error) => error.localize(),
            Self::Delete(error) => error.localize(),
            Self::Show(error) => error.localize(),
            Self::Verify(error) => error.localize(),
            Self::Reflect(error) => error.localize(),
            Self::Retire(error) => error.localize(),
            Self::Server(error) => error.localize(),
        }
    }

    /// Returns the text of the error, with its label, if it is not title and message: the contract's
    /// text.
    pub(crate) fn text(&self, lang: Lang) -> Option<String> {
        Some(match self {
            // The text of the operation names a field of its request.
            Self::Retire(RetireError::Unconfirmed { .. }) => {
                format!("{}{}{}", tr!(lang, "error"), lang.colon(), self.message().to_text(lang))
            }
            Self::Create(error) | Self::CreateUndescribed(error) => error.to_text(lang),
            Self::Run(error) | Self::RunInterrupted(error) | Self::Verify(VerifyError::Run(error)) => {
                error.to_text(lang)
            }
            Self::List(error) => error.to_text(lang),
            Self::Delete(error) => error.to_text(lang),
            Self::Retire(error) => error.to_text(lang),
            Self::Reflect(error) => error.to_text(lang),
            Self::Show(_) | Self::Verify(_) | Self::Server(_) => return None,
        })
    }
}

/// Returns the exit status of an error code.
pub(crate) const fn exit_for_code(code: ErrorCode) -> Exit {
    match code.exit_class() {
        ExitClass::ToolFailed => Exit::ToolFailed,
        ExitClass::Usage => Exit::Usage,
        ExitClass::Refused => Exit::Refused,
        ExitClass::NotFound => Exit::NotFound,
        ExitClass::Limit => Exit::Limit,
        ExitClass::Integrity => Exit::Integrity,
        ExitClass::Bug => Exit::Bug,
        ExitClass::Interrupted => Exit::Interrupted,
    }
}

macro_rules! from_operation {
    ($($error:ty => $variant:ident;)*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Command(CommandError::$variant(error))
            }
        }
    )*};
}

from_operation! {
    CreateError => Create;
    RunError => Run;
    ListToolsError => List;
    DeleteError => Delete;
    ShowError => Show;
    VerifyError => Verify;
    ReflectError => Reflect;
    RetireError => Retire;
    ServerError => Server;
}
