//! `show`

use std::path::Path;
use toolcell::Lang;
use crate::Streams;
use crate::args::ShowArgs;
use crate::exit::Exit;
use crate::failure::Failure;
pub(crate) fn run(_: &ShowArgs, _: &Path, _: bool, _: Lang, _: &mut Streams<'_>) -> Result<Exit, Failure> { Ok(Exit::Done) }
