//! Where operations are done while the tool's own thread waits.
//!
//! Invariant: it is made when it is needed first, its threads are few whatever is under way, and it ends with the toolboxes that
//! share it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// How many operations on files and spaces are done at once; more wait their turn.
const ASIDE: usize = 16;

/// A runtime with one thread for requests, and some for what blocks.
#[derive(Clone, Default)]
pub(crate) struct Background(Arc<Own>);

#[derive(Default)]
struct Own(Mutex<Option<Runtime>>);

impl Background {
    /// The runtime.
    pub(super) fn handle(&self) -> io::Result<Handle> {
        let mut own = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*own {
            return Ok(runtime.handle().clone());
        }
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).max_blocking_threads(ASIDE).thread_name("toolcell-operations").enable_all();
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        *own = Some(runtime);
        Ok(handle)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let own = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A runtime that waits for its threads must not be dropped on a thread of another one.
        if let Some(runtime) = own.take() {
            runtime.shutdown_background();
        }
    }
}
