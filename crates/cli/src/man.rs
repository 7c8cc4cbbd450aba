//! `man`: the pages of the manual, made of what can be typed.

use std::fs;

use clap::CommandFactory as _;
use clap_mangen::Man;
use toolcell::visible;

use crate::Streams;
use crate::args::{Args, ManArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::unwritable;

pub(crate) fn run(args: &ManArgs, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let Some(folder) = &args.folder else {
        Man::new(Args::command()).render(&mut *streams.output)?;
        return Ok(Exit::Done);
    };
    let shown = folder.display().to_string();
    let failed = unwritable(folder);
    fs::create_dir_all(folder).map_err(&failed)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    writeln!(streams.output, "wrote the pages to {}", visible(&shown))?;
    Ok(Exit::Done)
}
