//! Runs tests again whenever a file changes.
//!
//! Invariant: reading a file is no change, and however many changes come at once, they are one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{Event, RecursiveMode, Watcher as _};
use toolcell::{CancelToken, Lang};

use crate::Streams;
use crate::exit::Exit;
use crate::failure::Failure;

/// How long nothing may change before what changed is taken as one.
const QUIET: Duration = Duration::from_millis(50);
/// How often it is looked whether somebody broke it off.
const LOOK: Duration = Duration::from_millis(100);

/// What comes of watching.
type Change = notify::Result<Event>;

/// Runs something now, and whenever something below these paths changes, until it is cancelled.
pub(super) fn run(
    paths: &[PathBuf],
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
    lang: Lang,
    mut tests: impl FnMut(&mut Streams<'_>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let (sender, changes) = channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| failed(&error))?;
    for path in paths {
        // An editor may put a new file in the place of an old one, so files are watched by their folder.
        let folder = if path.is_dir() {
            path
        } else {
            path.parent().filter(|it| it.as_os_str() != "").unwrap_or(Path::new("."))
        };
        watcher.watch(folder, RecursiveMode::Recursive).map_err(|error| failed(&error))?;
    }
    loop {
        // What is wrong with a file is said, and waits for its next change.
        if let Err(failure) = tests(streams) {
            if matches!(failure, Failure::Stream(_) | Failure::Interrupted) {
                return Err(failure);
            }
            failure.print(false, lang, streams);
        }
        streams.output.flush()?;
        if !changed(&changes, cancel)? {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Waits for changes, and says whether there are any: there are none where it is cancelled.
fn changed(changes: &Receiver<Change>, cancel: &CancelToken) -> Result<bool, Failure> {
    let mut seen = false;
    loop {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        match changes.recv_timeout(if seen { QUIET } else { LOOK }) {
            Ok(change) => seen |= matters(&change.map_err(|error| failed(&error))?),
            Err(RecvTimeoutError::Timeout) if seen => return Ok(true),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
    }
}

/// Whether something changed that a test may depend on.
fn matters(event: &Event) -> bool {
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !event.kind.is_access() && !event.paths.iter().all(is_hidden)
}

fn failed(error: &notify::Error) -> Failure {
    let message = format!("the folder cannot be watched: {error}");
    Failure::Typed { message, hint: "run it without --watch, or allow more watches (fs.inotify.max_user_watches)" }
}
