//! `deprecate`: marks a tool as deprecated, with or without a successor.

use serde_json::{Value, json};
use toolcell::deprecated_text;
use toolcell::store::Entry;

use crate::args::{DeprecateArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &DeprecateArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::config_from_environment()?)?;
    let done = toolbox.deprecate(&args.tool, args.successor.as_deref())?;
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let fields = json!({
            "id": done.tool.to_string(),
            "name": done.name.as_str(),
            "before": done.previous_status.name(),
            "successor": done.successor.as_ref().map(entry_reference),
        });
        writeln!(streams.output, "{fields}")?;
    } else {
        writeln!(streams.output, "{}", deprecated_text(&done, lang))?;
    }
    Ok(Exit::Done)
}

/// Converts a reference to a tool to JSON.
pub(super) fn entry_reference(entry: &Entry) -> Value {
    json!({ "id": entry.id.to_string(), "name": entry.name.as_str() })
}
