//! Runs asynchronous hooks.
//!
//! Invariant: a hook's future is polled on a thread of its own, by a runtime that makes progress
//! while the caller's thread waits. Therefore a hook works from any caller, even from the only
//! thread of a runtime.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;

use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::error::{FailureCause, excerpt_message};
use super::event::HookEvent;
use super::worker::{self, InvocationContext};

/// A hook's own runtime, for callers without a suitable one. It is started on first use and lives
/// as long as the hook, so resources that the hook keeps between calls, such as connections, stay
/// usable.
#[derive(Clone, Default)]
pub(super) struct HookRuntime(Arc<Mutex<Option<RuntimeThread>>>);

struct RuntimeThread {
    handle: Handle,
    /// Dropping this ends the thread that drives the runtime.
    _alive: oneshot::Sender<()>,
}

impl HookRuntime {
    fn handle(&self) -> std::io::Result<Handle> {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*own {
            return Ok(made.handle.clone());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (alive, gone) = oneshot::channel::<()>();
        let drive = move || drop(runtime.block_on(gone));
        thread::Builder::new().name("toolcell-hooks".to_owned()).spawn(drive)?;
        *own = Some(RuntimeThread { handle: handle.clone(), _alive: alive });
        Ok(handle)
    }
}

/// Runs asynchronous code: in the caller's runtime if that has other workers than the caller's
/// thread, otherwise in the hook's own. An abandoned future is dropped.
pub(super) fn run_async<T, F>(
    own: &HookRuntime,
    terms: &InvocationContext<'_>,
    call: &HookEvent,
    work: impl FnOnce(HookEvent) -> F + Send + 'static,
) -> Result<T, FailureCause>
where
    T: Send + 'static,
    F: Future<Output = Result<T, String>>,
{
    let runtime = match Handle::try_current().ok().filter(has_spare_worker) {
        Some(runtime) => runtime,
        None => own.handle().map_err(|error| FailureCause::NotStarted(excerpt_message(&error.to_string())))?,
    };
    let (held, given_up) = oneshot::channel();
    let work = |call| async { work(call).await };
    let said =
        worker::run_on_thread(terms, call, move |call| runtime.block_on(run_until_abandoned(work(call), given_up)));
    drop(held);
    said
}

/// Whether the runtime has another worker than the caller's thread, which blocks.
fn has_spare_worker(runtime: &Handle) -> bool {
    runtime.runtime_flavor() != RuntimeFlavor::CurrentThread && runtime.metrics().num_workers() > 1
}

async fn run_until_abandoned<T>(
    work: impl Future<Output = Result<T, String>>,
    given_up: oneshot::Receiver<()>,
) -> Result<T, String> {
    let (mut work, mut given_up) = (pin!(work), pin!(given_up));
    std::future::poll_fn(|context| match given_up.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(Err("it was cancelled after its timeout".to_owned())),
        Poll::Pending => work.as_mut().poll(context),
    })
    .await
}
