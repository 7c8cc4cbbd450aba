//! What a person sees while something takes long: that it goes on, for how long, and the last partial result of a tool.
//!
//! Invariant: nothing is shown in the first second, and nothing is left when it ends.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use toolcell::line;

use crate::Streams;

/// How long a run has to take for it to be shown.
const QUIET: Duration = Duration::from_secs(1);
/// How often what is shown moves.
const TICK: Duration = Duration::from_millis(120);
/// The most characters of a partial result.
const SHOWN: usize = 400;

/// What is shown on standard error, which has to be a terminal.
pub(crate) struct Progress {
    what: String,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    phase: Phase,
    since: Instant,
    last: Option<String>,
    bar: Option<ProgressBar>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Asking,
    Ended,
}

/// Works, and shows that it does from a second on, where somebody looks.
pub(crate) fn during<T>(what: &str, streams: &Streams<'_>, work: impl FnOnce() -> T) -> T {
    let progress = streams.errors_are_terminal.then(|| Progress::start(what));
    let done = work();
    if let Some(progress) = progress {
        progress.end();
    }
    done
}

impl Progress {
    /// Shows what runs, from a second on.
    pub(crate) fn start(what: &str) -> Arc<Self> {
        let state = State { phase: Phase::Running, since: Instant::now(), last: None, bar: None };
        let progress = Arc::new(Self { what: line(what), state: Mutex::new(state), changed: Condvar::new() });
        let showing = Arc::clone(&progress);
        // Where there is no thread to be had, nothing is shown.
        let _ = thread::Builder::new().name("toolcell-progress".to_owned()).spawn(move || showing.show());
        progress
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self) {
        let mut state = self.locked();
        loop {
            let left = QUIET.saturating_sub(state.since.elapsed());
            state = match state.phase {
                Phase::Ended => return,
                Phase::Running if state.bar.is_none() && left.is_zero() => {
                    state.bar = Some(self.bar(&state));
                    state
                }
                Phase::Running if state.bar.is_none() => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                Phase::Running | Phase::Asking => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn bar(&self, state: &State) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(state.since.elapsed());
        // The template is ours; where it was none, the one that is built in does as well.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(self.what.clone());
        bar.set_message(state.last.clone().unwrap_or_default());
        bar.enable_steady_tick(TICK);
        bar
    }

    /// Takes a partial result.
    pub(crate) fn say(&self, partial: &str) {
        let text: String = partial.chars().take(SHOWN).collect();
        let text = line(&text);
        let mut state = self.locked();
        if let Some(bar) = &state.bar {
            bar.set_message(text.clone());
        }
        state.last = Some(text);
    }

    /// Shows nothing while something else uses the terminal.
    pub(crate) fn quiet_while<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turn(Phase::Asking);
        let done = work();
        self.turn(Phase::Running);
        done
    }

    /// Takes away what is shown.
    pub(crate) fn end(&self) {
        self.turn(Phase::Ended);
    }

    fn turn(&self, phase: Phase) {
        let mut state = self.locked();
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        (state.phase, state.since) = (phase, Instant::now());
        self.changed.notify_all();
    }
}
