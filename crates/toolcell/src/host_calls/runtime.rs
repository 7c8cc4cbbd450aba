//! The runtime that performs host calls while the tool's own thread waits.
//!
//! Invariant: the runtime starts on first use, has a bounded number of threads, and ends with the
//! toolboxes that share it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::runtime::{Builder, Handle, Runtime};

/// The maximum number of file and key-value operations at once; further ones queue.
const MAX_BLOCKING_THREADS: usize = 16;

/// A Tokio runtime with one worker thread for requests and a pool for blocking work.
#[derive(Clone, Default)]
pub(super) struct BackgroundRuntime(Arc<RuntimeSlot>);

#[derive(Default)]
struct RuntimeSlot(Mutex<Option<Runtime>>);

impl BackgroundRuntime {
    pub(super) fn downgrade(&self) -> WeakRuntime {
        WeakRuntime(Arc::downgrade(&self.0))
    }

    /// Returns a handle to the runtime, which is started on first use.
    pub(super) fn handle(&self) -> io::Result<Handle> {
        let mut own = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*own {
            return Ok(runtime.handle().clone());
        }
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(1)
            .max_blocking_threads(MAX_BLOCKING_THREADS)
            .thread_name("toolcell-operations")
            .enable_all();
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        *own = Some(runtime);
        Ok(handle)
    }
}

/// A runtime that this does not keep: it ends with the toolboxes that share it.
#[derive(Clone)]
pub(super) struct WeakRuntime(Weak<RuntimeSlot>);

impl WeakRuntime {
    /// Returns a handle to the runtime, unless it has ended.
    pub(super) fn handle(&self) -> Option<Handle> {
        BackgroundRuntime(self.0.upgrade()?).handle().ok()
    }
}

impl Drop for RuntimeSlot {
    fn drop(&mut self) {
        let own = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Dropping a runtime blocks until its threads end, which Tokio forbids on a thread of
        // another runtime.
        if let Some(runtime) = own.take() {
            runtime.shutdown_background();
        }
    }
}
