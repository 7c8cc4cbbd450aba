//! `undelete`: restores a deleted tool under its name.

use toolcell::store::ToolRef;
use toolcell_i18n::tr;

use super::delete::print_commit;
use crate::args::{SandboxArgs, UndeleteArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &UndeleteArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let reference = ToolRef::parse(&args.tool)?;
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let step = toolbox.undelete(&reference)?;
    let (name, id) = (&step.name, step.id.short());
    let text = tr!(context.lang, "Restored the tool `{name}` ({id}).", name, id);
    print_commit(&step, &text, context)
}
