//! `rollback`: makes a name resolve to an earlier version again.

use toolcell::ToolName;
use toolcell_i18n::tr;

use super::delete::print_commit;
use crate::args::{RollBackArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &RollBackArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let name = ToolName::parse(&args.name)?;
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let step = toolbox.roll_back(&name, args.version)?;
    let (name, id, version) = (&step.name, step.id.short(), args.version);
    let text = tr!(context.lang, "Rolled the tool `{name}` back to version {version} ({id}).", name, version, id);
    print_commit(&step, &text, context)
}
