//! How the guest is compiled and run: shared, word for word, by the build script that compiles the images and by the
//! process that loads them, because an image only loads into an engine with the settings it was compiled for.
//!
//! Invariant: nothing here changes what a tool computes or how much fuel it burns; the kinds differ only in what
//! they ask of the machine.

use wasmtime::{Config, OperatorCost, Result};

/// Bytes of machine stack that the guest may use.
///
/// The guest allows its JavaScript 2 MiB of shadow stack; plain frames use about five times as much of this one. The
/// interpreter keeps two of them for each instance, beside the one it runs on itself: all three have to fit into 256 MiB of
/// address space, together with the program and the memory of a call.
const fn wasm_stack_bytes(kind: Kind) -> usize {
    match kind {
        Kind::Roomy | Kind::Bounded => 64 << 20,
        Kind::Interpreted => 32 << 20,
    }
}

/// Bytes of the stack that a call runs on: the guest's, and room for host functions above it.
const fn fiber_stack_bytes(kind: Kind) -> usize {
    wasm_stack_bytes(kind) + (1 << 20)
}

/// What an image asks of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Native code without bounds checks: 4 GiB of address space for each instance, and executable pages.
    Roomy,
    /// Native code with bounds checks: executable pages, and as much address space as memory.
    Bounded,
    /// Byte code for Wasmtime's interpreter: no executable pages, about 30 times slower.
    Interpreted,
}

impl Kind {
    /// All of them, the fastest first.
    pub const ALL: [Self; 3] = [Self::Roomy, Self::Bounded, Self::Interpreted];

    /// Its name in messages, options and file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Roomy => "roomy",
            Self::Bounded => "bounded",
            Self::Interpreted => "interpreted",
        }
    }

    /// Whether its guest says where it is, for profiles: not where tools are to be as fast as they can be.
    pub(crate) const fn is_marked(self) -> bool {
        matches!(self, Self::Bounded | Self::Interpreted)
    }
}

/// The settings of an image of this kind.
pub(crate) fn config(kind: Kind) -> Result<Config> {
    let mut config = Config::new();
    config
        // Fuel is the budget, and counts operators alone; an epoch is when a call looks at its deadline (`src/ticker.rs`).
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(wasm_stack_bytes(kind))
        .async_stack_size(fiber_stack_bytes(kind))
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(16 << 20)
        // What only a debugger or a backtrace would read would have to be loaded at each start of the process.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false)
        // Features that the guest does not use are attack surface.
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false);
    match kind {
        Kind::Roomy => {
            config.memory_reservation(4 << 30).memory_guard_size(32 << 20);
        }
        Kind::Bounded => small(&mut config),
        Kind::Interpreted => {
            small(&mut config);
            config.target("pulley64")?.signals_based_traps(false);
        }
    }
    if kind.is_marked() {
        marked(&mut config);
    }
    Ok(config)
}

/// The globals that a guest with marks has besides.
pub(crate) const MARKED_CONTEXT: &str = "marked_context";
pub(crate) const MARKED_PLACE: &str = "marked_place";

/// A guest that profiles can be taken with.
///
/// The host looks at the guest between two slices of fuel: it ends an epoch there, and that is when Wasmtime lends it the
/// store. What marks the guest's place costs nothing, and a `nop` what it stands for (`marks.rs`).
fn marked(config: &mut Config) {
    let cost = OperatorCost { Nop: 1, GlobalGet: 0, GlobalSet: 0, ..OperatorCost::new() };
    config.operator_cost(cost);
}

/// Memories that take little more address space than they have bytes, and may move when they grow.
fn small(config: &mut Config) {
    config
        .memory_reservation(0)
        // Moving copies everything: not for each page that is added.
        .memory_reservation_for_growth(4 << 20)
        .memory_guard_size(0)
        .guard_before_linear_memory(false)
        .memory_may_move(true);
}
