//! Where asynchronous gates run.
//!
//! Invariant: a gate's future is polled on a thread of its own, by a runtime that gets on while the caller's thread waits.
//! So a gate works wherever it is asked from, be that the only thread of a runtime.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;

use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::apart::{self, Terms};
use super::call::GateCall;
use super::failure::{Cause, shown};

/// The runtime of a gate that is asked from where there is none that would do. It is made when it is needed, and stays
/// until the gate goes: what a gate keeps from call to call, such as a connection, lives on it.
#[derive(Clone, Default)]
pub(super) struct Own(Arc<Mutex<Option<Made>>>);

struct Made {
    handle: Handle,
    /// The thread that drives the runtime ends when this is dropped.
    _alive: oneshot::Sender<()>,
}

impl Own {
    fn handle(&self) -> std::io::Result<Handle> {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*own {
            return Ok(made.handle.clone());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (alive, gone) = oneshot::channel::<()>();
        let drive = move || drop(runtime.block_on(gone));
        thread::Builder::new().name("toolcell-gates".to_owned()).spawn(drive)?;
        *own = Some(Made { handle: handle.clone(), _alive: alive });
        Ok(handle)
    }
}

/// Runs what is asynchronous: in the runtime of the caller, where that one has other workers than the caller's thread,
/// else in the gate's own. A future that is given up is dropped.
pub(super) fn run<T, F>(
    own: &Own,
    terms: &Terms<'_>,
    call: &GateCall,
    work: impl FnOnce(GateCall) -> F + Send + 'static,
) -> Result<T, Cause>
where
    T: Send + 'static,
    F: Future<Output = Result<T, String>>,
{
    let runtime = match Handle::try_current().ok().filter(gets_on_alone) {
        Some(runtime) => runtime,
        None => own.handle().map_err(|error| Cause::NotStarted(shown(&error.to_string())))?,
    };
    let (held, given_up) = oneshot::channel();
    let work = |call| async { work(call).await };
    let said = apart::run(terms, call, move |call| runtime.block_on(until_given_up(work(call), given_up)));
    drop(held);
    said
}

/// Whether a runtime has a thread left while the caller's waits.
fn gets_on_alone(runtime: &Handle) -> bool {
    runtime.runtime_flavor() != RuntimeFlavor::CurrentThread && runtime.metrics().num_workers() > 1
}

async fn until_given_up<T>(
    work: impl Future<Output = Result<T, String>>,
    given_up: oneshot::Receiver<()>,
) -> Result<T, String> {
    let (mut work, mut given_up) = (pin!(work), pin!(given_up));
    std::future::poll_fn(|context| match given_up.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(Err("it was given up".to_owned())),
        Poll::Pending => work.as_mut().poll(context),
    })
    .await
}
