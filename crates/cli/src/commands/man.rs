//! `man`: prints the manual pages, generated from the arguments.

use std::fs;

use clap::CommandFactory as _;
use clap_mangen::Man;
use toolcell::escape_control_chars;

use crate::args::{Args, ManArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::write_error;

pub(crate) fn run(args: &ManArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Some(folder) = &args.folder else {
        Man::new(Args::command()).render(&mut *context.streams.output)?;
        return Ok(Exit::Done);
    };
    let shown = folder.display().to_string();
    let failed = write_error(folder);
    fs::create_dir_all(folder).map_err(&failed)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    writeln!(context.streams.output, "wrote the manual pages to {}", escape_control_chars(&shown))?;
    Ok(Exit::Done)
}
