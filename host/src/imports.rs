//! The host functions that the guest imports. A test holds the complete list of imports
//! (`tests/it/guest.rs`).
//!
//! Toolcell defines `log`, `partial` and `seed`. Rust's standard library and QuickJS import ten
//! functions of WASI: the clock is virtual ([`clock`]); the others, most of which a healthy guest
//! does not call, are in [`wasi`].
//!
//! Invariant: no time, randomness or names of the real world enter here. The one exception is a
//! wall clock that the caller passes in, whose readings are all recorded. Every copy of guest bytes
//! is bounded before it is made.

mod clock;
mod console;
mod wasi;

use wasmtime::{InstancePre, Linker, Module, Result};

use crate::instance::HostState;

/// Links a guest module with all of its imports.
pub(crate) fn link(module: &Module) -> Result<InstancePre<HostState>> {
    let mut linker = Linker::new(module.engine());
    wasi::add_to(&mut linker)?;
    clock::add_to(&mut linker)?;
    console::add_to(&mut linker)?;
    linker.instantiate_pre(module)
}
