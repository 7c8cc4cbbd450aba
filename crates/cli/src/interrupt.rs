//! Ctrl-C and termination signals.
//!
//! Invariant: the first signal cancels the running call, and the process ends within a grace
//! period, unless the command shuts down by itself.

use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use toolcell::{CancelToken, Lang};
use toolcell_i18n::tr;

use crate::exit::Exit;

/// How long a cancelled call may take to finish and report before the process exits.
const CANCEL_GRACE: Duration = Duration::from_millis(500);
/// Number of interrupts so far if the running command handles them itself; 0 if it does not.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
/// Initial value of [`INTERRUPTS`] when the running command handles interrupts itself.
const HANDLES_INTERRUPTS: u32 = 1;
/// The language of the message about an interrupt. English until it is known.
static LANG: OnceLock<Lang> = OnceLock::new();

/// Installs the signal handler of the process, which cancels `cancel`.
pub(crate) fn install_handler(cancel: &CancelToken) {
    let cancel = cancel.clone();
    // Without a handler, Ctrl-C terminates the process at once, which is acceptable too.
    let _ = ctrlc::set_handler(move || interrupt(&cancel));
}

/// Declares that the running command handles signals and shuts down by itself. A second interrupt
/// still ends the process.
pub(crate) fn set_handles_interrupts() {
    INTERRUPTS.store(HANDLES_INTERRUPTS, Ordering::Relaxed);
}

/// Sets the language of the message about an interrupt. The first call counts: a process runs one
/// command.
pub(crate) fn set_lang(lang: Lang) {
    LANG.get_or_init(|| lang);
}

/// Cancels the running call. If the process is still there after the grace period, for example
/// waiting for input or working on a store, exits; acknowledged writes are kept.
fn interrupt(cancel: &CancelToken) {
    cancel.cancel();
    let heard = INTERRUPTS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |often| (often > 0).then(|| often + 1));
    if heard == Ok(HANDLES_INTERRUPTS) {
        return;
    }
    std::thread::sleep(CANCEL_GRACE);
    // A prompt that is open has changed it.
    if crossterm::terminal::disable_raw_mode().is_ok() && std::io::stderr().is_terminal() {
        let _ = crossterm::execute!(std::io::stderr(), crossterm::cursor::Show);
    }
    let lang = LANG.get().copied().unwrap_or_default();
    let (error, text) = (tr!(lang, "error"), tr!(lang, "interrupted; acknowledged writes are kept"));
    // If this write fails, the exit status still reports the interrupt.
    let _ = writeln!(std::io::stderr(), "{error}{}{text}", lang.colon());
    // What this process has is not dropped.
    toolcell::end_server_programs();
    std::process::exit(Exit::Interrupted.status().into());
}
