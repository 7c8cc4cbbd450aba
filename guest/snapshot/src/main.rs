//! Runs the guest's initialiser and writes the module that starts after it:
//! `toolcell-snapshot IN.wasm OUT.wasm NAME=MODULE.js…`, the prelude first.
//!
//! Invariant: the output depends on the input alone. The initialiser sees a clock that stands still and random bytes
//! that are zero, so a second build gives the same bytes.

mod bulk;

use anyhow::{Context as _, Result, bail};
use wasmtime::{Caller, Config, Engine, Extern, Linker, Module, Store};
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::p1::{WasiP1Ctx, add_to_linker_async};
use wasmtime_wizer::{InstanceState, SnapshotVal, Wizer};

/// The function that the guest wants to have run before the snapshot.
const INITIALIZER: &str = "initialize";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, modules @ ..] = arguments.as_slice() else { bail!(USAGE) };
    let read = |path: &str| std::fs::read(path).with_context(|| format!("cannot read {path}"));
    let sources = modules.iter().map(|module| {
        let (name, path) = module.split_once('=').context(USAGE)?;
        Ok((name, read(path)?))
    });
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let snapshot = runtime.block_on(snapshot(&bulk::in_chunks(&read(input)?)?, &sources))?;
    std::fs::write(output, &snapshot).with_context(|| format!("cannot write {output}"))
}

const USAGE: &str = "usage: toolcell-snapshot IN.wasm OUT.wasm NAME=MODULE.js...";

/// The steps of the guest's initialiser.
const COMPILE: u32 = 0;
const BUILD: u32 = 1;

/// The module that starts where the initialiser of `wasm` ended; `modules` are names and sources.
async fn snapshot(wasm: &[u8], modules: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func(INITIALIZER);
    let (context, instrumented) = wizer.instrument(wasm)?;

    let mut config = Config::new();
    config.max_wasm_stack(8 << 20).async_stack_size(12 << 20);
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, &instrumented)?;
    let mut linker: Linker<WasiP1Ctx> = Linker::new(&engine);
    linker.allow_shadowing(true);
    add_to_linker_async(&mut linker, |wasi| wasi)?;
    stand_still(&mut linker)?;
    linker.define_unknown_imports_as_traps(&module)?;

    // Other instances compile than the one that runs it, so that none of the compiler's work is in the snapshot. A module
    // may import those before it, but not the prelude, which is the first.
    let mut codes = Vec::new();
    let mut importable = Vec::new();
    for (index, (name, source)) in modules.iter().enumerate() {
        let mut input = importable.clone();
        add_part(&mut input, name.as_bytes())?;
        add_part(&mut input, source)?;
        let code = State::new(&linker, &module).await?.initialize(COMPILE, &input).await?;
        add_part(&mut codes, name.as_bytes())?;
        add_part(&mut codes, &code)?;
        if index > 0 {
            importable = input;
        }
    }
    let mut built = State::new(&linker, &module).await?;
    built.initialize(BUILD, &codes).await?;
    wizer.snapshot(&context, &mut built).await.map_err(Into::into)
}

/// Adds bytes after their length.
fn add_part(parts: &mut Vec<u8>, part: &[u8]) -> Result<()> {
    parts.extend(u32::try_from(part.len())?.to_le_bytes());
    parts.extend(part);
    Ok(())
}

/// Replaces the clock and the random source, the only imports whose answers vary.
fn stand_still(linker: &mut Linker<WasiP1Ctx>) -> Result<()> {
    const WASI: &str = "wasi_snapshot_preview1";
    linker.func_wrap(WASI, "clock_time_get", |mut caller: Caller<'_, WasiP1Ctx>, _: i32, _: i64, at: i32| {
        fill(&mut caller, at, 8)
    })?;
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, WasiP1Ctx>, at: i32, len: i32| {
        fill(&mut caller, at, len)
    })?;
    Ok(())
}

/// Writes `len` zero bytes at `at`; 0 is WASI's success.
fn fill(caller: &mut Caller<'_, WasiP1Ctx>, at: i32, len: i32) -> wasmtime::Result<i32> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        wasmtime::bail!("the guest exports no memory");
    };
    memory.write(caller, usize::try_from(at)?, &vec![0; usize::try_from(len)?])?;
    Ok(0)
}

/// An instance of the guest; the snapshot is taken of one.
struct State {
    store: Store<WasiP1Ctx>,
    instance: wasmtime::Instance,
}

impl State {
    async fn new(linker: &Linker<WasiP1Ctx>, module: &Module) -> Result<Self> {
        let wasi = WasiCtxBuilder::new().inherit_stderr().build_p1();
        let mut store = Store::new(module.engine(), wasi);
        let instance = linker.instantiate_async(&mut store, module).await?;
        Ok(Self { store, instance })
    }

    /// Runs a step of the initialiser on `input` and gives what it answers.
    async fn initialize(&mut self, step: u32, input: &[u8]) -> Result<Vec<u8>> {
        let len = u32::try_from(input.len())?;
        let memory = self.instance.get_memory(&mut self.store, "memory").context("the guest exports no memory")?;
        let buffer = self.instance.get_typed_func::<u32, u32>(&mut self.store, "buffer")?;
        let at = buffer.call_async(&mut self.store, len).await?;
        memory.write(&mut self.store, at as usize, input)?;
        let initialize = self.instance.get_typed_func::<(u32, u32), u64>(&mut self.store, INITIALIZER)?;
        let packed = initialize.call_async(&mut self.store, (step, len)).await?;
        let (at, len) = ((packed >> 32) as usize, (packed & 0xffff_ffff) as usize);
        let answer =
            memory.data(&self.store).get(at..at + len).context("the guest's answer lies outside of its memory")?;
        Ok(answer.to_vec())
    }
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: wasmtime_wizer::ValType) -> SnapshotVal {
        match self.instance.get_global(&mut self.store, name).map(|global| global.get(&mut self.store)) {
            Some(wasmtime::Val::I32(value)) => SnapshotVal::I32(value),
            Some(wasmtime::Val::I64(value)) => SnapshotVal::I64(value),
            Some(wasmtime::Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(wasmtime::Val::F64(bits)) => SnapshotVal::F64(bits),
            other => panic!("the global {name} cannot be part of a snapshot: {other:?}"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        let memory = self.instance.get_memory(&mut self.store, name).expect("wizer names memories that exist");
        contents(memory.data(&self.store));
    }
}
