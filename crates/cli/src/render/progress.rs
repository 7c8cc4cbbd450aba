//! A progress display for slow commands: a spinner, the elapsed time, and the tool's last partial
//! result.
//!
//! Invariant: nothing is drawn in the first second, and the display is erased at the end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use toolcell::{PartialResultSink, single_line};

use crate::streams::Streams;

/// Time before the display appears.
const SHOW_DELAY: Duration = Duration::from_secs(1);
/// Interval between frames of the spinner.
const TICK_INTERVAL: Duration = Duration::from_millis(120);
/// Maximum length of a partial result, in characters.
const MAX_PARTIAL_CHARS: usize = 400;

/// A progress display on standard error, which must be a terminal.
pub(crate) struct Progress {
    label: String,
    state: Mutex<ProgressState>,
    changed: Condvar,
}

struct ProgressState {
    phase: Phase,
    since: Instant,
    last: Option<String>,
    bar: Option<ProgressBar>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Prompting,
    Finished,
}

/// Runs `work`, with a progress display if standard error is a terminal.
pub(crate) fn with_progress<T>(what: &str, streams: &Streams<'_>, work: impl FnOnce() -> T) -> T {
    let progress = streams.errors_are_terminal.then(|| Progress::start(what));
    let done = work();
    if let Some(progress) = progress {
        progress.finish();
    }
    done
}

/// Finishes a progress display, if there is one.
pub(crate) fn finish_progress(progress: Option<&Arc<Progress>>) {
    if let Some(progress) = progress {
        progress.finish();
    }
}

/// Returns a sink that shows partial results of a run in the progress display.
pub(crate) fn partial_sink(progress: &Arc<Progress>) -> PartialResultSink {
    let progress = Arc::clone(progress);
    Arc::new(move |json: &str| progress.set_message(json))
}

impl Progress {
    /// Starts a display, which appears after [`SHOW_DELAY`].
    pub(crate) fn start(what: &str) -> Arc<Self> {
        let state = ProgressState { phase: Phase::Running, since: Instant::now(), last: None, bar: None };
        let progress = Arc::new(Self { label: single_line(what), state: Mutex::new(state), changed: Condvar::new() });
        let showing = Arc::clone(&progress);
        // If no thread can be started, nothing is shown.
        let _ = thread::Builder::new().name("toolcell-progress".to_owned()).spawn(move || showing.run());
        progress
    }

    fn lock_state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock_state();
        loop {
            let left = SHOW_DELAY.saturating_sub(state.since.elapsed());
            state = match state.phase {
                Phase::Finished => return,
                Phase::Running if state.bar.is_none() && left.is_zero() => {
                    state.bar = Some(self.create_bar(&state));
                    state
                }
                Phase::Running if state.bar.is_none() => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                Phase::Running | Phase::Prompting => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn create_bar(&self, state: &ProgressState) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(state.since.elapsed());
        // If the template were invalid, the default style would do.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(self.label.clone());
        bar.set_message(state.last.clone().unwrap_or_default());
        bar.enable_steady_tick(TICK_INTERVAL);
        bar
    }

    /// Sets the message to a partial result.
    pub(crate) fn set_message(&self, partial: &str) {
        let text: String = partial.chars().take(MAX_PARTIAL_CHARS).collect();
        let text = single_line(&text);
        let mut state = self.lock_state();
        if let Some(bar) = &state.bar {
            bar.set_message(text.clone());
        }
        state.last = Some(text);
    }

    /// Hides the display while something else uses the terminal.
    pub(crate) fn hide_while<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set_phase(Phase::Prompting);
        let done = work();
        self.set_phase(Phase::Running);
        done
    }

    /// Erases the display and stops it.
    pub(crate) fn finish(&self) {
        self.set_phase(Phase::Finished);
    }

    fn set_phase(&self, phase: Phase) {
        let mut state = self.lock_state();
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        (state.phase, state.since) = (phase, Instant::now());
        self.changed.notify_all();
    }
}
