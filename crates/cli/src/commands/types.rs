//! `types`: prints TypeScript declarations of what the code of a tool sees.

use crate::args::{SandboxArgs, TypesArgs};
use crate::commands::list::fetch_all;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &TypesArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    // A store that does not exist yet is empty.
    let declarations = if args.tools && context.store_dir()?.exists() {
        let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
        toolbox.type_declarations(&fetch_all(&toolbox)?)?
    } else {
        toolcell::TYPE_DECLARATIONS.to_owned()
    };
    let declarations = if args.servers {
        context.open_toolbox(SandboxArgs::single_call_config())?.declare_servers(&declarations)?
    } else {
        declarations
    };
    write!(context.streams.output, "{declarations}")?;
    Ok(Exit::Done)
}
