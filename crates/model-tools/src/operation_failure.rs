//! The errors of the operations as failed calls.

use toolcell::hook::AwaitedAnswer;
use toolcell::{
    CreateError, DeleteError, ExecError, FindToolError, Lang, ListToolsError, Message, ReflectError, RunError,
    Suggestion, VerifyError,
};
use toolcell_i18n::message;

use crate::call_failure::CallFailure;

/// Conversion of the operations' errors into a failed call.
pub trait ToCallFailure {
    /// Converts an error; its text is in `lang`.
    fn to_call_failure(&self, lang: Lang) -> CallFailure;
}

macro_rules! to_call_failure {
    ($($error:ty $(, $find:pat => $found:ident)?;)*) => {$(
        impl ToCallFailure for $error {
            fn to_call_failure(&self, lang: Lang) -> CallFailure {
                $(
                    if let $find = self
                        && let Some(failure) = deleted_tool_failure($found, lang)
                    {
                        return failure;
                    }
                )?
                CallFailure::new(self.code(), self.to_text(lang), self.hint())
            }
        }
    )*};
}

to_call_failure! {
    CreateError;
    RunError, RunError::Find(error) => error;
    ListToolsError;
    DeleteError, DeleteError::Find(error) => error;
    ReflectError;
    ExecError;
    VerifyError;
}

/// Describes that a tool was deleted, without the command that restores it.
fn deleted_tool_failure(error: &FindToolError, lang: Lang) -> Option<CallFailure> {
    let FindToolError::Unknown { asked, suggestion: Some(Suggestion::Deleted(name)) } = error else { return None };
    let detail = message!(
        "there is no tool `{asked}`; `{name}` was deleted: create it again with `create_tool`, or ask an operator of the server to restore it",
        asked,
        name,
    );
    let title = Message::verbatim(error.code().title(lang).unwrap_or_default().to_owned());
    let colon = Message::verbatim(lang.colon().to_owned());
    Some(CallFailure::for_server(error.code(), &Message::sequence([title, colon, detail]), error.hint(), lang))
}

/// Describes why a run was denied or failed, and how far the world was changed.
#[must_use]
pub fn run_failure(error: &RunError, lang: Lang) -> CallFailure {
    let failure = CallFailure { effects: Some(error.effects()), ..error.to_call_failure(lang) };
    let is_pending =
        matches!(error, RunError::Denied(denial) if matches!(denial.awaits(), Some(AwaitedAnswer::ToolApproval(_))));
    if !is_pending {
        return failure;
    }
    CallFailure {
        hint: message!("only the user can approve the tool: ask them to review it, then run it again"),
        ..failure
    }
}
