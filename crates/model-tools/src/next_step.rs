//! The hints of failed calls, as a model gets them.
//!
//! Hints are written for the command line. A model over MCP has no shell: it is told operations, and
//! what only an operator can do is said to be for an operator.
//!
//! Invariant: no hint tells a model to run a command.

use toolcell::Message;
use toolcell_error::ErrorCode;
use toolcell_i18n::message;

/// The beginning of a command in a hint.
const COMMAND: &str = "toolcell ";

/// Returns the hint for a model that called an operation, which failed with this code.
pub(crate) fn hint_for_model(code: ErrorCode, hint: Message) -> Message {
    match code {
        ErrorCode::ToolNotFound => message!("`list_dynamic_tools` lists the stored tools"),
        ErrorCode::NameTaken => message!(
            "choose another name, or call `create_tool` with `replace: true`: the old version stays in the history of the name"
        ),
        ErrorCode::ToolLimitReached => message!(
            "delete unused tools with `delete_dynamic_tool`, or ask an operator of the server to raise the limit"
        ),
        ErrorCode::ConfirmRequired => message!(
            "call `delete_dynamic_tool` with `confirm: true`; an operator of the server can restore the tool until garbage collection"
        ),
        ErrorCode::LimitInvalid => {
            message!("choose a limit in that range, or ask an operator of the server to raise the ceiling")
        }
        // A model that reads the command that approves a tool may run it.
        ErrorCode::PermissionDenied if hint.to_string().contains(COMMAND) => {
            message!("only the user can approve a tool: ask them to review it")
        }
        code if is_for_operator(code, &hint) => message!("for an operator of the server: {hint}", hint),
        _ => hint,
    }
}

/// Whether only an operator can do what the hint says.
fn is_for_operator(code: ErrorCode, hint: &Message) -> bool {
    let hint = hint.to_string();
    let concerns_host = matches!(
        code,
        ErrorCode::DiskFailed
            | ErrorCode::DiskFull
            | ErrorCode::FilesDenied
            | ErrorCode::FilesMissing
            | ErrorCode::FilesProtected
            | ErrorCode::Integrity
            | ErrorCode::KvNoStore
            | ErrorCode::NoWorker
            | ErrorCode::RootsInvalid
            | ErrorCode::RootsUnreadable
            | ErrorCode::SecretInvalid
            | ErrorCode::SecretMissing
            | ErrorCode::SharedCopy
            | ErrorCode::SharedInvalid
            | ErrorCode::SharedUnknown
            | ErrorCode::SharedUnreachable
            | ErrorCode::StoreBusy
            | ErrorCode::StoreInvalid
            | ErrorCode::StoreNewer
            | ErrorCode::StoreOlder
            | ErrorCode::StoreOwner
            | ErrorCode::StoreReadOnly
    );
    !hint.is_empty() && (concerns_host || hint.contains(COMMAND))
}

#[cfg(test)]
mod tests {
    use toolcell::store::FindError;
    use toolcell::{DeleteError, FindToolError, Lang};

    use super::*;

    /// Hints that name commands, as errors have them.
    fn hints_with_commands() -> Vec<Message> {
        let unknown = FindToolError::Unknown { asked: "mean".to_owned(), suggestion: None };
        let id = "dt_0123456789ab";
        vec![
            unknown.hint().into(),
            DeleteError::Find(unknown).hint().into(),
            FindToolError::Store(FindError::Unknown("mean".to_owned())).hint().into(),
            message!("review it with `toolcell show {id}`, and approve it with `toolcell approvals grant {id}`", id),
            message!("`toolcell fsck --repair` rebuilds it from the objects"),
            message!("review what has changed, then trust the file again: toolcell config trust FILE"),
        ]
    }

    #[test]
    fn no_hint_tells_a_model_to_run_a_command() {
        let hints = hints_with_commands();
        assert!(hints.iter().all(|hint| hint.to_string().contains(COMMAND)), "{hints:?}");
        for code in ErrorCode::ALL {
            for hint in &hints {
                for lang in Lang::ALL {
                    let shown = hint_for_model(*code, hint.clone()).to_text(lang);
                    let operator = match lang {
                        Lang::En => "for an operator of the server: ",
                        Lang::Ja => "サーバーの運用者向け: ",
                        Lang::Zh => "请服务器的运维人员处理：",
                    };
                    assert!(!shown.contains(COMMAND) || shown.starts_with(operator), "{code}: {shown}");
                }
            }
        }
    }

    #[test]
    fn the_next_step_of_a_model_is_an_operation() {
        let check = |code: ErrorCode, operation: &str| {
            let shown = hint_for_model(code, message!("`toolcell list` shows all tools")).to_string();
            assert!(shown.contains(operation), "{code}: {shown}");
        };
        check(ErrorCode::ToolNotFound, "`list_dynamic_tools`");
        check(ErrorCode::NameTaken, "`create_tool` with `replace: true`");
        check(ErrorCode::ToolLimitReached, "`delete_dynamic_tool`");
        check(ErrorCode::ConfirmRequired, "`delete_dynamic_tool` with `confirm: true`");
    }

    #[test]
    fn a_hint_that_a_model_can_follow_stays_as_it_is() {
        let hint = message!("pass a JSON object");
        assert_eq!(hint_for_model(ErrorCode::ParametersInvalid, hint.clone()), hint);
        assert_eq!(hint_for_model(ErrorCode::Integrity, Message::from("")), "");
    }
}
