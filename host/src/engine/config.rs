//! The engine configuration of the guest. The build script that compiles the images and the process
//! that loads them share this file, because an image only loads into an engine with the settings it
//! was compiled for.
//!
//! Invariant: no setting changes the result of a tool or the fuel it burns; the kinds of images
//! differ only in what they require of the machine.

use wasmtime::{Config, OperatorCost, Result};

/// Returns the size of the native stack that the guest may use, in bytes.
///
/// The guest allows its JavaScript 2 MiB of shadow stack; plain frames use about five times as much
/// native stack. The interpreter keeps two native stacks for each instance, besides the one it runs
/// on itself: all three must fit into 256 MiB of address space, together with the program and the
/// memory of a call.
const fn wasm_stack_bytes(kind: ImageKind) -> usize {
    match kind {
        ImageKind::Roomy | ImageKind::Embedded | ImageKind::Bounded => 64 << 20,
        ImageKind::Interpreted => 32 << 20,
    }
}

/// Returns the size of the stack that a call runs on, in bytes: the guest's, and room for host
/// functions above it.
const fn fiber_stack_bytes(kind: ImageKind) -> usize {
    wasm_stack_bytes(kind) + (1 << 20)
}

/// The kind of a compiled guest image, by its requirements on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImageKind {
    /// Native code without bounds checks. Needs 4 GiB of address space for each instance, and
    /// executable pages.
    Roomy,
    /// Native code with bounds checks. Needs 1 GiB of address space for each instance, and executable
    /// pages. Traps are explicit: the process needs no signal handlers, which matters where another
    /// program (an interpreter, a crash reporter) owns them.
    Embedded,
    /// Native code with bounds checks. Needs executable pages, and as much address space as memory.
    /// Traps are explicit, too; a call takes longer to begin.
    Bounded,
    /// Byte code for Wasmtime's interpreter. Needs no executable pages, and is about 30 times
    /// slower.
    Interpreted,
}

impl ImageKind {
    /// All kinds, the fastest first.
    pub const ALL: [Self; 4] = [Self::Roomy, Self::Embedded, Self::Bounded, Self::Interpreted];

    /// The kinds whose guest is instrumented for profiles, in order of preference. The fastest ones are not.
    pub const INSTRUMENTED: [Self; 2] = [Self::Bounded, Self::Interpreted];

    /// Returns the name used in messages, options and file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Roomy => "roomy",
            Self::Embedded => "embedded",
            Self::Bounded => "bounded",
            Self::Interpreted => "interpreted",
        }
    }

    /// Returns whether the guest is instrumented for profiles.
    pub(crate) fn is_instrumented(self) -> bool {
        Self::INSTRUMENTED.contains(&self)
    }
}

/// Returns the engine configuration for images of this kind.
pub(crate) fn config(kind: ImageKind) -> Result<Config> {
    let mut config = Config::new();
    config
        // Fuel is the budget and counts Wasm operators only. At the end of an epoch a call checks
        // its deadline (`src/engine/ticker.rs`).
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(wasm_stack_bytes(kind))
        .async_stack_size(fiber_stack_bytes(kind))
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(16 << 20)
        // Data for debuggers and backtraces would have to be loaded at each start of the process.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false)
        // Features that the guest does not use are attack surface.
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false);
    match kind {
        ImageKind::Roomy => {
            config.memory_reservation(4 << 30).memory_guard_size(32 << 20);
        }
        ImageKind::Embedded => {
            // The slots of the pool are as large as a memory may be (`image.rs`).
            config.memory_reservation(1 << 30).memory_guard_size(0).guard_before_linear_memory(false);
            config.memory_may_move(false).signals_based_traps(false);
        }
        ImageKind::Bounded => {
            use_small_memories(&mut config);
            config.signals_based_traps(false);
        }
        ImageKind::Interpreted => {
            use_small_memories(&mut config);
            config.target("pulley64")?.signals_based_traps(false);
        }
    }
    if kind.is_instrumented() {
        enable_instrumentation(&mut config);
    }
    Ok(config)
}

/// The names of the globals that instrumentation adds to the guest.
pub(crate) const CONTEXT_GLOBAL: &str = "marked_context";
pub(crate) const PC_GLOBAL: &str = "marked_place";

/// Configures fuel costs for an instrumented guest.
///
/// The host inspects the guest between two slices of fuel: it ends an epoch there, and Wasmtime
/// then hands over the store. Reads and writes of globals, which the instrumentation adds, cost no
/// fuel; a `nop` replaces the cost of each original one (`marks.rs`).
fn enable_instrumentation(config: &mut Config) {
    let cost = OperatorCost { Nop: 1, GlobalGet: 0, GlobalSet: 0, ..OperatorCost::new() };
    config.operator_cost(cost);
}

/// Configures memories that reserve little more address space than they have bytes, and may move
/// when they grow.
fn use_small_memories(config: &mut Config) {
    config
        .memory_reservation(0)
        // Moving copies the whole memory, so a reserve avoids a move for each new page.
        .memory_reservation_for_growth(4 << 20)
        .memory_guard_size(0)
        .guard_before_linear_memory(false)
        .memory_may_move(true);
}
