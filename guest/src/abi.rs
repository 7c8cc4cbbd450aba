//! The Wasm border: exports that take a frame and return one, and the imports that are ours.
//!
//! Invariant: this is the only file of the guest with `unsafe`, and each use says why it is sound. The instance is
//! single-threaded and runs one export at a time: the host drops it after a trap and never calls it again.
#![expect(unsafe_code, reason = "the Wasm border and the one engine call that has no safe form")]

use std::cell::RefCell;
use std::ffi::CString;

use javy::quickjs::{ArrayBuffer, Ctx, Error, Module, Object, Result, TypedArray, Value, WriteOptions, qjs};
use toolcell_protocol::{ABI_VERSION, Level, Reply, decode, encode};

use crate::engine::{self, Engine};
use crate::packages::{self, Package};
use crate::tool;

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "toolcell")]
unsafe extern "C" {
    /// One console line.
    #[link_name = "log"]
    fn import_log(level: u32, text: *const u8, len: usize);
    /// One partial result, as JSON text.
    #[link_name = "partial"]
    fn import_partial(json: *const u8, len: usize);
    /// The seed of this run's random numbers.
    #[link_name = "seed"]
    fn import_seed() -> u64;
}

unsafe extern "C" {
    fn __wasm_call_ctors();
    /// Of `c/arenas.patch`.
    fn js_arena_seal(runtime: *mut qjs::JSRuntime);
}

/// Hands one console line to the host, which may end the instance here.
pub(crate) fn log(level: Level, text: &str) {
    // SAFETY: the host reads `len` bytes at `text` during the call and keeps nothing.
    unsafe { import_log(level as u32, text.as_ptr(), text.len()) }
}

/// Hands one partial result to the host.
pub(crate) fn partial(json: &str) {
    // SAFETY: as in `log`.
    unsafe { import_partial(json.as_ptr(), json.len()) }
}

/// The seed of this run. Asking for it tells the host that the state from here on must not be frozen.
pub(crate) fn seed() -> u64 {
    // SAFETY: takes nothing, returns a number.
    unsafe { import_seed() }
}

/// Compiles `source` as a script, without running a byte of it.
///
/// # Errors
/// The pending exception of the context: a `SyntaxError`.
pub(crate) fn compile_script<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> Result<Value<'js>> {
    let name = CString::new(name)?;
    let text = CString::new(source)?;
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    // SAFETY: the context is alive while `ctx` is; both strings are NUL-terminated and outlive the call, which copies
    // what it keeps; the value returned is owned by us and freed by `Value`.
    unsafe {
        let compiled = qjs::JS_Eval(
            ctx.as_raw().as_ptr(),
            text.as_ptr(),
            source.len().try_into().map_err(|_| Error::Allocation)?,
            name.as_ptr(),
            flags.cast_signed(),
        );
        if qjs::JS_IsException(compiled) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), compiled))
    }
}

/// Runs what [`compile_script`] compiled.
///
/// # Errors
/// What the script's top level threw, as the pending exception of the context.
pub(crate) fn run_script<'js>(ctx: &Ctx<'js>, compiled: &Value<'js>) -> Result<Value<'js>> {
    // SAFETY: `JS_EvalFunction` consumes one reference, which `JS_DupValue` makes; the context is alive.
    unsafe {
        let function = qjs::JS_DupValue(ctx.as_raw().as_ptr(), compiled.as_raw());
        let value = qjs::JS_EvalFunction(ctx.as_raw().as_ptr(), function);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

/// The length of a string in UTF-16 units, without copying it.
pub(crate) fn string_length(value: &Value<'_>) -> usize {
    let mut length = 0;
    // SAFETY: reads a property of a live value; of a string it is an own one, so no tool code runs.
    let status = unsafe { qjs::JS_GetLength(value.ctx().as_raw().as_ptr(), value.as_raw(), &raw mut length) };
    if status == 0 { usize::try_from(length).unwrap_or(0) } else { 0 }
}

/// What `read` makes of the bytes of a buffer; of a detached one there are none. `read` cannot run JavaScript, as it is given
/// no context.
pub(crate) fn read_buffer<T>(buffer: &ArrayBuffer<'_>, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: only JavaScript could move or free the bytes, and none runs before `read` has returned.
    read(unsafe { buffer.as_bytes() }.unwrap_or_default())
}

/// A copy of the bytes of an array; of a detached one there are none.
pub(crate) fn bytes_of(array: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: no JavaScript runs before the bytes are copied.
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}

/// The byte code of a module whose functions do not remember their source text.
///
/// # Errors
/// The pending exception of the context: a `SyntaxError`.
fn compile_module(ctx: &Ctx<'_>, name: &str, source: &[u8]) -> Result<Vec<u8>> {
    let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
    Module::declare(ctx.clone(), name, source)?.write(options)
}

/// Evaluates what [`compile_module`] compiled, and gives what it exports.
///
/// # Errors
/// What the module threw, as the pending exception of the context.
pub(crate) fn run_module<'js>(ctx: &Ctx<'js>, code: &[u8]) -> Result<Object<'js>> {
    // SAFETY: the bytes are those that the same engine wrote while the guest was built.
    let module = unsafe { Module::load(ctx.clone(), code)? };
    let (module, promise) = module.eval()?;
    promise.finish::<()>()?;
    module.namespace()
}

/// Adds the intrinsics that QuickJS has and `javy` does not offer: `atob`, `btoa` and `DOMException`.
pub(crate) fn add_intrinsics(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive; called once, before any script ran.
    unsafe {
        qjs::JS_AddIntrinsicAToB(ctx.as_raw().as_ptr());
        qjs::JS_AddIntrinsicDOMException(ctx.as_raw().as_ptr());
    }
}

/// Bytes of fresh memory that the snapshot ends with, so that small tools need not ask for more.
const HEADROOM_BYTES: usize = 128 << 10;

/// Fills the holes that the prelude left in the heap, and makes room behind it.
///
/// A prepared script is kept as the pages that it changed. Allocated into holes all over the heap, a tool would change
/// a page for each of its objects; with the holes filled for good, its objects lie together in fresh pages.
fn make_allocations_adjacent(engine: &Engine) {
    let end = core::arch::wasm32::memory_size(0) << 16;
    let mut size = 64 << 10;
    while size >= 8 {
        loop {
            let block = vec![0_u8; size];
            if block.as_ptr().addr() + size > end {
                break;
            }
            std::mem::forget(block);
        }
        size = if size > 64 { size / 2 } else { size - 8 };
    }
    // SAFETY: the runtime is alive, and nothing of it runs meanwhile.
    engine.with(|ctx, _| unsafe { js_arena_seal(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) });
    // The allocator keeps what is freed at the end of memory.
    drop(Vec::<u8>::with_capacity(HEADROOM_BYTES));
}

/// The steps of [`initialize`].
const COMPILE: u32 = 0;
const BUILD: u32 = 1;

/// Builds the engine, before the snapshot is taken, which removes this export.
///
/// Each step takes an instance of its own, so that nothing of the compiler's work stays behind in the snapshot. `COMPILE`
/// is given the names and the sources of modules and gives the byte code of the last, which may import the others; `BUILD`
/// is given the names and the byte codes of all modules, the prelude first, and starts the engine with them. Each text and
/// each code follows its length in four bytes, little-endian.
#[unsafe(no_mangle)]
extern "C" fn initialize(step: u32, len: usize) -> u64 {
    // SAFETY: called once in an instance; calling it here keeps the linker from wrapping every export in it.
    unsafe { __wasm_call_ctors() };
    let frame = FRAME.take();
    let mut rest = &frame[..len];
    let mut modules = Vec::new();
    while !rest.is_empty() {
        let name = String::from_utf8(take_part(&mut rest).to_vec()).expect("a name is UTF-8");
        modules.push(Package { name, code: take_part(&mut rest).to_vec() });
    }
    drop(frame);
    match step {
        COMPILE => hand_back(compiled(&modules)),
        BUILD => {
            let prelude = modules.remove(0);
            let engine = Engine::new(&prelude.code);
            drop(prelude);
            packages::keep(modules);
            make_allocations_adjacent(&engine);
            ENGINE.set(Some(engine));
            0
        }
        other => panic!("there is no step {other}"),
    }
}

/// Takes the bytes that follow their length.
fn take_part<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let (length, after) = rest.split_first_chunk().expect("a part has a length");
    let (part, after) = after.split_at(u32::from_le_bytes(*length) as usize);
    *rest = after;
    part
}

/// The byte code of the last module.
fn compiled(modules: &[Package]) -> Vec<u8> {
    let runtime = engine::runtime();
    runtime.context().with(|ctx| {
        let compiled = modules.iter().map(|module| {
            compile_module(&ctx, &module.name, &module.code).unwrap_or_else(|_| panic!("{} does not compile", module.name))
        });
        compiled.last().expect("there is a module")
    })
}

/// The version of the frames that this guest speaks.
#[unsafe(no_mangle)]
extern "C" fn abi_version() -> u32 {
    ABI_VERSION
}

/// Room for a frame of `len` bytes: the host writes it there before it calls a verb.
#[unsafe(no_mangle)]
extern "C" fn buffer(len: usize) -> *mut u8 {
    FRAME.with_borrow_mut(|frame| {
        frame.clear();
        frame.resize(len, 0);
        frame.as_mut_ptr()
    })
}

/// Evaluates a script: takes a `Load` frame.
#[unsafe(no_mangle)]
extern "C" fn load(len: usize) -> u64 {
    verb(len, |engine, frame| match decode(frame) {
        Ok(request) => tool::load(engine, &request),
        Err(error) => malformed(&error),
    })
}

/// Says what tools there are: takes an empty frame.
#[unsafe(no_mangle)]
extern "C" fn describe(len: usize) -> u64 {
    verb(len, |engine, _| tool::describe(engine))
}

/// Calls the tool: takes a `Call` frame.
#[unsafe(no_mangle)]
extern "C" fn call(len: usize) -> u64 {
    verb(len, |engine, frame| match decode(frame) {
        Ok(request) => tool::call(engine, &request),
        Err(error) => malformed(&error),
    })
}

/// Goes on after `Pending`: takes a `Resume` frame.
#[unsafe(no_mangle)]
extern "C" fn resume(len: usize) -> u64 {
    verb(len, |engine, frame| match decode(frame) {
        Ok(request) => tool::resume(engine, &request),
        Err(error) => malformed(&error),
    })
}

/// Answers one request: the frame is taken out of the buffer, the reply put into it.
fn verb(len: usize, answer: impl FnOnce(&Engine, &[u8]) -> Reply) -> u64 {
    let frame = FRAME.take();
    let reply = ENGINE.with_borrow(|engine| {
        let engine = engine.as_ref().expect("`initialize` runs before the snapshot is taken");
        answer(engine, frame.get(..len).unwrap_or(&frame))
    });
    drop(frame);
    hand_back(encode(&reply).expect("a reply holds only text and numbers"))
}

/// Keeps bytes where the host reads them, and says where.
fn hand_back(bytes: Vec<u8>) -> u64 {
    let packed = (bytes.as_ptr() as u64) << 32 | bytes.len() as u64;
    FRAME.set(bytes);
    packed
}

/// The host broke the protocol; it is told in the form that it can read.
fn malformed(error: &toolcell_protocol::FrameError) -> Reply {
    Reply::Threw(toolcell_protocol::Thrown {
        name: "ProtocolError".into(),
        message: error.to_string(),
        line: None,
        column: None,
        stack: String::new(),
    })
}
