//! What exists before any tool does: the runtime, the prelude's globals, and the hooks that the prelude hands back.
//!
//! Invariant: an [`Engine`] is built once, before the snapshot. The functions it holds were captured before any tool
//! code ran, so a tool that poisons a prototype cannot change what they do.

use javy::quickjs::{Context, Ctx, Function, Object, Persistent};
use javy::{Config, Runtime};

use crate::{abi, natives};

/// Bytes of shadow stack that JavaScript may use before recursion becomes a `RangeError`.
///
/// The linker gives the guest 2.25 MiB (`build.sh`); the rest is for native code that runs above the last check.
const STACK_BYTES: usize = 1536 * 1024;

/// Bytes on the heap, beyond those of the snapshot, that start the collection of cycles.
const GC_THRESHOLD_BYTES: usize = 4 * 1024 * 1024;

/// What the stack traces call the prelude; frames with this name are never shown.
pub(crate) const PRELUDE_NAME: &str = "toolcell:prelude";

/// The JavaScript engine and what the prelude handed back.
pub(crate) struct Engine {
    context: Context,
    hooks: Hooks,
}

/// Functions of the prelude that the guest calls.
pub(crate) struct Hooks {
    /// `(grants: string[], secrets: string[], servers: string[]) => void`: makes the granted capabilities exist.
    pub(crate) grant: Persistent<Function<'static>>,
    /// `() => string | Promise<string>`: finds the tool that a script left, and gives its shape.
    pub(crate) adopt_script: Persistent<Function<'static>>,
    /// `(namespace) => string | Promise<string>`: finds the tools that a module exports, and gives their shape.
    pub(crate) adopt_module: Persistent<Function<'static>>,
    /// `(tool: string | undefined, callId: string, params) => unknown`: calls a tool.
    pub(crate) invoke: Persistent<Function<'static>>,
    /// `() => object`: the manifest of the tools, which inherits nothing that a tool can change.
    pub(crate) describe: Persistent<Function<'static>>,
    /// `(thenable) => Promise`
    pub(crate) assimilate: Persistent<Function<'static>>,
    /// `(record, ok: boolean, value, bytes: Uint8Array | undefined) => void`: ends an operation.
    pub(crate) settle: Persistent<Function<'static>>,
    /// `(name, message, code, effects, place) => Error`: the error of an operation that failed.
    pub(crate) failure: Persistent<Function<'static>>,
    /// `(kind, place) => Error`: the error of an answer that is none.
    pub(crate) malformed: Persistent<Function<'static>>,
    /// `(error, place) => Error`: what was thrown while an answer was read.
    pub(crate) misread: Persistent<Function<'static>>,
    /// What stands for `undefined` where an answer was read.
    pub(crate) nothing: Persistent<Object<'static>>,
    /// `(value, key: string) => [kind, value, message]`: what a result holds that is no plain data.
    pub(crate) classify: Persistent<Function<'static>>,
    /// `(string) => string`: the JSON text of a string that is not well-formed Unicode.
    pub(crate) quote: Persistent<Function<'static>>,
    /// `(thrown) => [name, message, stack]`: what can be read of it without fail.
    pub(crate) inspect: Persistent<Function<'static>>,
    /// `Object.prototype`, whose direct children are plain data.
    pub(crate) object_prototype: Persistent<Object<'static>>,
}

impl Engine {
    /// The engine as every tool finds it: `prelude` is the byte code of `js/dist/prelude.js`.
    ///
    /// # Panics
    /// Where the prelude does not evaluate: that ends the build of the guest, never a call.
    pub(crate) fn new(prelude: &[u8]) -> Self {
        let runtime = runtime();
        let context = runtime.context().clone();
        let hooks = context.with(|ctx| evaluate_prelude(&ctx, prelude));
        while runtime.has_pending_jobs() {
            runtime.resolve_pending_jobs().expect("the prelude's jobs run");
        }
        // `javy` never drops the engine behind a runtime; the context keeps all of it alive.
        let engine = Self { context, hooks };
        engine.context.with(|ctx| ctx.run_gc());
        engine.context.runtime().set_gc_threshold(
            engine.context.runtime().memory_usage().malloc_size.unsigned_abs() as usize + GC_THRESHOLD_BYTES,
        );
        engine
    }

    /// Runs `work` in the engine's context.
    pub(crate) fn with<T>(&self, work: impl for<'js> FnOnce(Ctx<'js>, &Hooks) -> T) -> T {
        self.context.with(|ctx| work(ctx, &self.hooks))
    }
}

/// A bare engine, with nothing but the language in it.
pub(crate) fn runtime() -> Runtime {
    let mut config = Config::default();
    config
        .max_stack_size(STACK_BYTES)
        .gc_threshold(usize::MAX)
        .memory_limit(usize::MAX)
        .text_encoding(false)
        .javy_stream_io(false)
        .performance(false)
        .weak_ref(true)
        .promise(true);
    Runtime::new(config).expect("the engine starts")
}

/// Evaluates the prelude with its natives and takes its hooks.
fn evaluate_prelude(ctx: &Ctx<'_>, prelude: &[u8]) -> Hooks {
    abi::add_intrinsics(ctx);
    let global = ctx.globals();
    let native = natives::register(ctx).expect("natives are registered");
    global.set("__toolcell_native", native.clone()).expect("the global object takes a property");
    let evaluated = abi::run_module(ctx, prelude);
    if evaluated.is_err() {
        let thrown = ctx.catch();
        panic!(
            "the prelude threw: {:?} {:?}",
            thrown.as_exception().and_then(|e| e.message()),
            thrown.as_exception().and_then(|e| e.stack())
        );
    }
    let hooks: Object<'_> = native.get("hooks").expect("the prelude hands back its hooks");
    let hook = |name: &str| -> Persistent<Function<'static>> {
        let function: Function<'_> = hooks.get(name).unwrap_or_else(|_| panic!("the prelude has a hook `{name}`"));
        Persistent::save(ctx, function)
    };
    let nothing: Object<'_> = hooks.get("nothing").expect("the prelude hands back what stands for nothing");
    let object_prototype: Object<'_> = hooks.get("objectPrototype").expect("the prelude hands back Object.prototype");
    Hooks {
        grant: hook("grant"),
        adopt_script: hook("adoptScript"),
        adopt_module: hook("adoptModule"),
        invoke: hook("invoke"),
        describe: hook("describe"),
        assimilate: hook("assimilate"),
        settle: hook("settle"),
        failure: hook("failure"),
        malformed: hook("malformed"),
        misread: hook("misread"),
        nothing: Persistent::save(ctx, nothing),
        classify: hook("classify"),
        quote: hook("quote"),
        inspect: hook("inspect"),
        object_prototype: Persistent::save(ctx, object_prototype),
    }
}
