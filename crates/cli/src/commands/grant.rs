//! `grant`: adds grants to the user's policy file, and approves the tool with them.
//!
//! Invariant: nothing is written before the resulting grants and the change of the file were shown,
//! and the approval covers exactly those grants. The file is saved before the approval is stored,
//! so an approval never covers grants that are in no file.

use serde_json::json;
use toolcell::{ApprovalAnswer, Approver as _, CancelToken, ToolName, escape_control_chars};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message, msgid, tr};

use super::exec::parse_grant_words;
use crate::args::{GrantArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_edit::GrantEdit;
use crate::prompt::TerminalApprover;

pub(crate) fn run(args: &GrantArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let added = parse_grant_words(&args.grants)?;
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let before = toolbox.approval_prompt(&args.tool)?;
    let (Ok(name), Some(approving)) = (ToolName::parse(&before.call.tool_name), &before.tool_approval) else {
        return Err(CliError::coded(
            ErrorCode::ToolNotFound,
            message!("`{tool}` is not a stored tool", tool = args.tool),
            msgid!("list the tools with `toolcell list`"),
        ));
    };
    let edit = GrantEdit::prepare(&context.policy_args, context.store_dir()?, &name, approving, &added)?;
    let question = edit.question();
    let Some(after) = &question.tool_approval else { return Err(CliError::Interrupted) };
    let (grants, diff) = (after.grants.clone(), edit.diff());
    let is_asked = !args.yes && !args.dry_run && context.streams.is_interactive();
    let by = if is_asked {
        print_diff(&diff, context)?;
        ask(&TerminalApprover::new(context.lang, &CancelToken::new(), None), question)?;
        "person"
    } else {
        if !context.format.is_json() {
            print_diff(&diff, context)?;
            let Context { ref mut streams, lang, .. } = *context;
            for line in question.facts(lang) {
                let rows = streams.wrap_for_errors(&line);
                writeln!(streams.errors, "{rows}")?;
            }
        }
        "command-line"
    };
    if !args.dry_run {
        edit.save()?;
        edit.approve(by)?;
    }
    if edit.is_by_name() {
        let note =
            message!("the rule `grants.tools.{name}` has no `id`: later tools of this name get its grants, too", name);
        context.streams.print_note(&note, context.lang)?;
    }
    let path = edit.path().display().to_string();
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let response = json!({
            "tool": approving.tool.to_string(), "name": name.as_str(), "grants": grants.to_value(),
            "policy": path, "diff": diff, "dryRun": args.dry_run,
        });
        writeln!(streams.output, "{response}")?;
        return Ok(Exit::Done);
    }
    let (id, path) = (approving.tool.short(), escape_control_chars(&path));
    let grants = escape_control_chars(&grants.localize().to_text(lang));
    let text = if args.dry_run {
        tr!(lang, "would approve {name} ({id}) with {grants}; nothing was changed", name, id, grants)
    } else {
        tr!(lang, "approved {name} ({id}) with {grants}; the grants are in {path}", name, id, grants, path)
    };
    writeln!(streams.output, "{text}")?;
    Ok(Exit::Done)
}

/// Prints the change of the policy file.
fn print_diff(diff: &str, context: &mut Context<'_>) -> std::io::Result<()> {
    for line in diff.lines() {
        let rows = context.streams.wrap_for_errors(&escape_control_chars(line));
        writeln!(context.streams.errors, "{rows}")?;
    }
    Ok(())
}

/// Asks the question on the terminal.
fn ask(person: &TerminalApprover, question: &toolcell::ApprovalPrompt) -> Result<(), CliError> {
    match person.ask(question) {
        ApprovalAnswer::Approve => Ok(()),
        _ if person.is_interrupted() => Err(CliError::Interrupted),
        _ => {
            let message = message!("`{tool}` is not approved", tool = question.call.tool_name);
            Err(CliError::coded(ErrorCode::NotApproved, message, msgid!("nothing was granted")))
        }
    }
}
