//! The person's browser.

use std::process::{Command, Stdio};

/// Opens a URL in the person's browser; whether there is a program for that.
pub(crate) fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
