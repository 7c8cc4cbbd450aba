//! `fsck`: checks the store, and repairs it.

use serde::Serialize;
use toolcell::store::{FsckReport, RepairMode, Settings, fsck};
use toolcell::{now, repair_adopting};
use toolcell_i18n::{message, tr};

use crate::args::FsckArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::progress::with_progress;
use crate::render::store::{print_problems, summary};

/// The JSON output of `fsck`.
#[derive(Serialize)]
struct FsckOutput<'a> {
    good: bool,
    #[serde(flatten)]
    health: &'a FsckReport,
}

pub(crate) fn run(args: &FsckArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let dir = context.store_dir()?.to_owned();
    let Context { ref mut streams, format, lang, .. } = *context;
    let health = if args.repair {
        with_progress(tr!(lang, "repairing"), streams, || {
            repair_adopting(&dir, &Settings::default(), &args.adopt, now())
        })?
    } else {
        with_progress(tr!(lang, "checking"), streams, || fsck(&dir, RepairMode::Check))?
    };
    let good = health.is_healthy() && health.unknown_steps == 0;
    if format.is_json() {
        let text = serde_json::to_string(&FsckOutput { good, health: &health }).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_problems(&health, lang, streams)?;
        writeln!(streams.output, "{}", summary(&health).to_text(lang))?;
        if health.unknown_steps > 0 {
            let next = message!(
                "these steps are missing from the index: a process died before committing them, or the index is an \
                 older copy; `toolcell fsck --repair` quarantines them, except those adopted with --adopt"
            );
            streams.print_hint(&next, lang)?;
        } else if !good && !args.repair {
            let next = message!("repair the store with `toolcell fsck --repair`");
            streams.print_hint(&next, lang)?;
        }
    }
    Ok(if good { Exit::Done } else { Exit::Integrity })
}
