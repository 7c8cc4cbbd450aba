//! `man`: prints the manual pages, generated from the arguments.

use std::fs;

use clap_mangen::Man;
use toolcell::escape_control_chars;
use toolcell_i18n::tr;

use crate::args::{self, ManArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::write_error;

pub(crate) fn run(args: &ManArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Some(folder) = &args.folder else {
        Man::new(args::command(context.lang)).render(&mut *context.streams.output)?;
        return Ok(Exit::Done);
    };
    let shown = folder.display().to_string();
    let failed = write_error(folder);
    fs::create_dir_all(folder).map_err(&failed)?;
    clap_mangen::generate_to(args::command_without_help(context.lang), folder).map_err(failed)?;
    let folder = escape_control_chars(&shown);
    writeln!(context.streams.output, "{}", tr!(context.lang, "wrote the manual pages to {folder}", folder))?;
    Ok(Exit::Done)
}
