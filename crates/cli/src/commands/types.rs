//! `types`: prints TypeScript declarations of what the code of a tool sees.

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(context: &mut Context<'_>) -> Result<Exit, CliError> {
    write!(context.streams.output, "{}", toolcell::TYPE_DECLARATIONS)?;
    Ok(Exit::Done)
}
