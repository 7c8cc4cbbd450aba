//! Reruns tests when a file changes.
//!
//! Invariant: reading a file is not a change, and changes in quick succession count as one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{Event, RecursiveMode, Watcher as _};
use toolcell::CancelToken;
use toolcell_i18n::{message, msgid};

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::streams::OutputFormat;

/// Quiet time after the last change before the tests run.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An event of the file watcher.
type WatchEvent = notify::Result<Event>;

/// Runs `tests` now, and after each change below the paths, until cancelled.
pub(super) fn run(
    paths: &[PathBuf],
    context: &mut Context<'_>,
    mut tests: impl FnMut(&mut Context<'_>) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let (sender, changes) = channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| watch_error(&error))?;
    for path in paths {
        // Editors may replace a file by renaming, so the folder is watched.
        let folder = if path.is_dir() {
            path
        } else {
            path.parent().filter(|it| it.as_os_str() != "").unwrap_or(Path::new("."))
        };
        watcher.watch(folder, RecursiveMode::Recursive).map_err(|error| watch_error(&error))?;
    }
    loop {
        // An invalid test file is reported, and checked again after the next change.
        if let Err(failure) = tests(context) {
            if matches!(failure, CliError::Stream(_) | CliError::Interrupted) {
                return Err(failure);
            }
            failure.print(OutputFormat::Text, context.lang, &mut context.streams);
        }
        context.streams.output.flush()?;
        if !wait_for_change(&changes, &context.cancel)? {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Waits for a change; returns false if cancelled.
fn wait_for_change(changes: &Receiver<WatchEvent>, cancel: &CancelToken) -> Result<bool, CliError> {
    let mut seen = false;
    loop {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        match changes.recv_timeout(if seen { DEBOUNCE } else { POLL_INTERVAL }) {
            Ok(change) => seen |= is_relevant(&change.map_err(|error| watch_error(&error))?),
            Err(RecvTimeoutError::Timeout) if seen => return Ok(true),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
    }
}

/// Whether an event may affect a test.
fn is_relevant(event: &Event) -> bool {
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !event.kind.is_access() && !event.paths.iter().all(is_hidden)
}

fn watch_error(error: &notify::Error) -> CliError {
    let message = message!("the folder cannot be watched: {reason}", reason = error);
    CliError::usage(message, msgid!("run without --watch, or raise fs.inotify.max_user_watches"))
}
