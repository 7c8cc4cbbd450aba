//! Why an operation on stored tools did not take place, and what that means for the process.
//!
//! Invariant: the exit status follows from the code alone, so a program may look at either.

use std::borrow::Cow;

use toolcell::{
    CreateError, DeleteError, Effects, Lang, ListToolsError, ReflectError, RetireError, RunError, ShowError,
    VerifyError,
};

use crate::exit::Exit;
use crate::failure::Failure;

/// What an operation says of what it did not do.
#[derive(Debug)]
pub(crate) enum Operation {
    /// `create_tool`
    Create(CreateError),
    /// `create_tool`, and nobody said what the tool does.
    Undescribed(CreateError),
    /// `run_dynamic_tool`
    Run(RunError),
    /// `run_dynamic_tool`, and the person at the terminal broke it off.
    Interrupted(RunError),
    /// `list_dynamic_tools`
    List(ListToolsError),
    /// `delete_dynamic_tool`, and the ways back from it.
    Delete(DeleteError),
    /// A tool was only to be looked at.
    Show(ShowError),
    /// `tool_reflection`
    Reflect(ReflectError),
    /// A tool was to be proven.
    Verify(VerifyError),
    /// Tools were to be retired.
    Retire(RetireError),
}

impl Operation {
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Create(error) | Self::Undescribed(error) => error.code(),
            Self::Run(error) | Self::Interrupted(error) => error.code(),
            Self::List(error) => error.code(),
            Self::Delete(error) => error.code(),
            Self::Show(error) => error.code(),
            Self::Verify(error) => error.code(),
            Self::Reflect(error) => error.code(),
            Self::Retire(error) => error.code(),
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        if let Self::Interrupted(_) = self { Exit::Interrupted } else { exit_of(self.code()) }
    }

    pub(crate) fn hint(&self) -> Cow<'_, str> {
        match self {
            Self::Undescribed(_) => {
                "say what it does with --description, or with `description` in the .json file beside it".into()
            }
            Self::Create(error) => error.hint(),
            Self::Run(error) | Self::Interrupted(error) => error.hint(),
            Self::List(error) => error.hint().into(),
            Self::Delete(error) => error.hint().into(),
            Self::Show(error) => error.hint().into(),
            Self::Verify(error) => error.hint(),
            Self::Reflect(error) => error.hint().into(),
            Self::Retire(error) => error.hint().into(),
        }
    }

    /// Line and column, where a source is at fault.
    pub(crate) fn place(&self) -> Option<(u32, u32)> {
        match self {
            Self::Create(error) => error.place(),
            Self::Run(RunError::Unsafe(refusal)) | Self::Verify(VerifyError::Run(RunError::Unsafe(refusal))) => {
                refusal.place()
            }
            _ => None,
        }
    }

    /// How far a tool that was to run changed the world all the same.
    pub(crate) fn effects(&self) -> Option<Effects> {
        match self {
            Self::Run(error) | Self::Interrupted(error) => Some(error.effects()),
            _ => None,
        }
    }

    /// What is known of it, without what it is called.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Create(error) | Self::Undescribed(error) => error.to_string(),
            Self::Run(error) | Self::Interrupted(error) => error.to_string(),
            Self::List(error) => error.to_string(),
            Self::Delete(error) => error.to_string(),
            Self::Show(error) => error.to_string(),
            Self::Verify(error) => error.to_string(),
            Self::Reflect(error) => error.to_string(),
            Self::Retire(error) => error.to_string(),
        }
    }

    /// What the contract says of it, where it says anything.
    pub(crate) fn text(&self, lang: Lang) -> Option<String> {
        Some(match self {
            Self::Create(error) | Self::Undescribed(error) => error.to_text(lang),
            Self::Run(error) | Self::Interrupted(error) | Self::Verify(VerifyError::Run(error)) => error.to_text(lang),
            Self::List(error) => error.to_text(lang),
            Self::Delete(error) => error.to_text(lang),
            Self::Retire(error) => error.to_text(lang),
            Self::Reflect(error) => error.to_text(lang),
            Self::Show(_) | Self::Verify(_) => return None,
        })
    }
}

/// What a code means for the process.
pub(crate) fn exit_of(code: &str) -> Exit {
    match code {
        "integrity" | "bundle-invalid" | "receipt-changed" => Exit::Integrity,
        "store-invalid"
        | "tool-not-found"
        | "step-not-found"
        | "tool-mismatch"
        | "id-ambiguous"
        | "name-taken"
        | "not-deleted"
        | "version-not-found"
        | "successor-invalid"
        | "status-illegal"
        | "file-not-found"
        | "test-not-found"
        | "run-not-asleep"
        | "record-not-found"
        | "file-exists"
        | "approval-changed"
        | "plan-unknown"
        | "not-trusted"
        | "client-entry-taken"
        | "client-file-changed" => Exit::NotFound,
        "critical-risk"
        | "safety-check-failed"
        | "permission-denied"
        | "result-withheld"
        | "syntax-error"
        | "syntax-unsupported"
        | "tool-missing"
        | "not-approved"
        | "asleep-principal"
        | "asleep-grants-changed"
        | "asleep-guest"
        | "asleep-tool"
        | "trust-unsafe"
        | "files-protected"
        | "signature-untrusted"
        | "receipt-guest"
        | "receipt-engine"
        | "receipt-not-repeatable"
        | "receipt-too-large"
        | "store-owner" => Exit::Refused,
        "tool-limit-reached" | "disk-full" | "store-busy" | "busy" | "no-instance" | "no-threads"
        | "too-large-to-sleep" => Exit::Limit,
        "tool-failed" => Exit::ToolFailed,
        "cancelled" => Exit::Interrupted,
        _ => Exit::Usage,
    }
}

macro_rules! from_operation {
    ($($error:ty => $variant:ident;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Operation(Operation::$variant(error))
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
}
