//! `delete`: deletes a tool, so that its name no longer resolves to it.

use toolcell::store::{Entry, VersionCommit};
use toolcell::{DeleteResponse, DeleteTool, IdPrefix, deleted_text};
use toolcell_i18n::{Lang, message, tr};

use crate::args::{DeleteArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt;

pub(crate) fn run(args: &DeleteArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let lang = context.lang;
    let mut request = build_request(args);
    if !request.confirm && context.streams.is_interactive() {
        // If there is no such tool, `delete` below reports it.
        if let Ok(entry) = toolbox.find(&args.tool) {
            request.confirm = prompt::confirm(&[], &confirm_question(&entry, lang), lang)?;
        }
    }
    let step = toolbox.delete(&request)?;
    print_commit(&step, &deleted_text(&step, lang), context)?;
    if !context.format.is_json() {
        let next =
            message!("`toolcell undelete {name}` restores it, until `toolcell gc` collects it", name = step.name);
        context.streams.print_hint(&next, lang)?;
    }
    Ok(Exit::Done)
}

fn confirm_question(entry: &Entry, lang: Lang) -> String {
    let (name, id) = (&entry.name, entry.id.short());
    tr!(lang, "Delete `{name}` ({id})?", name, id)
}

fn build_request(args: &DeleteArgs) -> DeleteTool {
    let is_id = IdPrefix::parse(&args.tool).is_ok();
    let reference = Some(args.tool.clone());
    let (tool_id, tool_name) = if is_id { (reference, None) } else { (None, reference) };
    DeleteTool { tool_id, tool_name, confirm: args.confirm }
}

/// Prints a change of what a name resolves to: `text`, or JSON.
pub(super) fn print_commit(step: &VersionCommit, text: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, .. } = *context;
    if format.is_json() {
        let text = serde_json::to_string(&DeleteResponse::from(step)).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}
