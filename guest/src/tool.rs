//! How a tool is found in a script, called, and resumed.
//!
//! Invariant: a reply is made only when the tool's promise is settled, or when no job is left that could settle it.
//! Jobs that are left after that are dropped with the instance.

use std::cell::{Cell, RefCell};

use javy::quickjs::promise::PromiseState;
use javy::quickjs::{Ctx, Error, Function, Module, Persistent, Promise, Result, Value};
use toolcell_protocol::{Call, Grant, LimitExceeded, Load, Reply, Resume, Thrown};

use crate::engine::{Engine, Hooks};
use crate::{abi, operations, packages, result, syntax, thrown};

thread_local! {
    static ACTIVE: RefCell<ActiveCall> = const { RefCell::new(ActiveCall::Nothing) };
    static SCRIPT_NAME: RefCell<String> = const { RefCell::new(String::new()) };
    static ABORTED: Cell<bool> = const { Cell::new(false) };
}

/// What a promise that is not settled yet belongs to.
enum ActiveCall {
    Nothing,
    /// A call of the tool.
    Calling {
        promise: Persistent<Promise<'static>>,
        result_bytes: usize,
    },
}

/// What ended a request early.
pub(crate) enum Abort {
    /// The context has a pending exception.
    Thrown,
    /// The context has a pending exception: the source does not compile, and this is the byte where that shows.
    Syntax(usize),
    /// The request is answered already.
    Reply(Reply),
}

impl From<Error> for Abort {
    fn from(error: Error) -> Self {
        match error {
            Error::Exception => Self::Thrown,
            other => Self::Reply(refused("TypeError", &other.to_string())),
        }
    }
}

/// Ends the run: whatever the tool does from here on, its call fails with an `AbortError`.
pub(crate) fn abort() {
    ABORTED.set(true);
}

/// Evaluates a script and finds its tool; the value of the reply is the tool's shape.
pub(crate) fn load(engine: &Engine, request: &Load<'_>) -> Reply {
    SCRIPT_NAME.set(request.name.to_owned());
    engine.with(|ctx, hooks| {
        answer(&ctx, hooks, || {
            grant(&ctx, hooks, &request.grants)?;
            let adopted = match evaluate(&ctx, hooks, request) {
                Err(Abort::Syntax(offset)) => {
                    let error = ctx.catch();
                    return Ok(Reply::Threw(thrown::syntax_report(&ctx, hooks, error, request, offset)));
                }
                evaluated => evaluated?,
            };
            let shape = match adopted.clone().into_promise() {
                Some(promise) => match settled(&ctx, &promise)? {
                    Some(shape) => shape,
                    None => return Ok(waiting()),
                },
                None => adopted,
            };
            let mut value = String::new();
            result::quote(&mut value, &shape.get::<String>()?);
            Ok(Reply::Done { value: Some(value), warnings: Vec::new() })
        })
    })
}

/// The manifest of the tools that were loaded.
pub(crate) fn describe(engine: &Engine) -> Reply {
    engine.with(|ctx, hooks| {
        answer(&ctx, hooks, || {
            let manifest: Value<'_> = call_hook(&ctx, &hooks.describe, ())?;
            Ok(result::reply(&ctx, hooks, manifest, usize::MAX)?)
        })
    })
}

/// Calls the tool that was loaded.
pub(crate) fn call(engine: &Engine, request: &Call<'_>) -> Reply {
    operations::limit(request.operations);
    engine.with(|ctx, hooks| {
        answer(&ctx, hooks, || {
            let params = ctx.json_parse(request.params)?;
            let value: Value<'_> = call_hook(&ctx, &hooks.invoke, (request.tool, request.call_id, params))?;
            let result_bytes = request.result_bytes as usize;
            match promised(&ctx, hooks, value)? {
                Ok(promise) => finish(&ctx, hooks, promise, result_bytes),
                Err(value) => Ok(result::reply(&ctx, hooks, value, result_bytes)?),
            }
        })
    })
}

/// Settles the promises of the operations that ended, and goes on.
pub(crate) fn resume(engine: &Engine, request: &Resume<'_>) -> Reply {
    engine.with(|ctx, hooks| {
        answer(&ctx, hooks, || {
            let ActiveCall::Calling { promise, result_bytes } = ACTIVE.replace(ActiveCall::Nothing) else {
                return Ok(refused("ProtocolError", "no call is waiting"));
            };
            let promise = promise.restore(&ctx)?;
            for settled in &request.settled {
                operations::settle(&ctx, hooks, settled)?;
            }
            finish(&ctx, hooks, promise, result_bytes)
        })
    })
}

/// Makes the granted capabilities exist.
fn grant(ctx: &Ctx<'_>, hooks: &Hooks, grants: &[Grant]) -> Result<()> {
    if grants.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = grants.iter().map(Grant::name).collect();
    let (mut secrets, mut servers) = (Vec::new(), Vec::new());
    for grant in grants {
        match grant {
            Grant::Secrets { names } => secrets.extend(names.iter().map(String::as_str)),
            Grant::Servers { names } => servers.extend(names.iter().map(String::as_str)),
            // The others have no names.
            _ => {}
        }
    }
    call_hook(ctx, &hooks.grant, (names, secrets, servers))
}

/// Runs jobs until the promise is settled, and makes the reply.
fn finish<'js>(
    ctx: &Ctx<'js>,
    hooks: &Hooks,
    promise: Promise<'js>,
    result_bytes: usize,
) -> std::result::Result<Reply, Abort> {
    match settled(ctx, &promise)? {
        Some(value) => Ok(result::reply(ctx, hooks, value, result_bytes)?),
        None => {
            ACTIVE.set(ActiveCall::Calling { promise: Persistent::save(ctx, promise), result_bytes });
            Ok(waiting())
        }
    }
}

/// Runs jobs until the promise is settled: its value, or `None` when no job is left.
fn settled<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> std::result::Result<Option<Value<'js>>, Abort> {
    loop {
        if operations::exceeded() {
            return Err(Abort::Reply(Reply::Exceeded(LimitExceeded::Operations)));
        }
        if ABORTED.get() {
            return Err(Abort::Reply(aborted()));
        }
        if promise.state() != PromiseState::Pending {
            return promise.result::<Value<'_>>().transpose().map_err(Abort::from);
        }
        if !ctx.execute_pending_job() {
            return Ok(None);
        }
    }
}

/// The promise that a tool's return value is or stands for, or the value itself.
fn promised<'js>(
    ctx: &Ctx<'js>,
    hooks: &Hooks,
    value: Value<'js>,
) -> Result<std::result::Result<Promise<'js>, Value<'js>>> {
    if value.is_promise() {
        return Promise::from_value(value).map(Ok);
    }
    let Some(object) = value.as_object() else { return Ok(Err(value)) };
    let then: Value<'_> = object.get("then")?;
    if then.is_function() {
        return call_hook(ctx, &hooks.assimilate, (value,)).map(Ok);
    }
    Ok(Err(value))
}

/// Runs the source as what it is: a script, or a module where only a module can be written so. Gives the shape of the
/// tools that it left, or a promise of it.
fn evaluate<'js>(ctx: &Ctx<'js>, hooks: &Hooks, request: &Load<'_>) -> std::result::Result<Value<'js>, Abort> {
    let as_script = match abi::compile_script(ctx, request.name, request.source) {
        Ok(script) => {
            abi::run_script(ctx, &script)?;
            return Ok(call_hook(ctx, &hooks.adopt_script, ())?);
        }
        Err(Error::Exception) => ctx.catch(),
        Err(error) => return Err(error.into()),
    };
    packages::load_imports_of(ctx, request.source)?;
    match Module::declare(ctx.clone(), request.name, request.source) {
        Ok(module) => {
            let namespace = evaluate_module(ctx, module)?;
            Ok(call_hook(ctx, &hooks.adopt_module, (namespace,))?)
        }
        Err(Error::Exception) => {
            let as_module = ctx.catch();
            Err(syntax::error(ctx, request, as_script, as_module))
        }
        Err(error) => Err(error.into()),
    }
}

fn evaluate_module<'js>(
    ctx: &Ctx<'js>,
    module: Module<'js, javy::quickjs::module::Declared>,
) -> std::result::Result<Value<'js>, Abort> {
    let (module, promise) = module.eval()?;
    loop {
        match promise.state() {
            PromiseState::Pending if ctx.execute_pending_job() => {}
            PromiseState::Pending => return Err(Abort::Reply(waiting())),
            PromiseState::Resolved | PromiseState::Rejected => break,
        }
    }
    promise.result::<Value<'_>>().transpose()?;
    Ok(module.namespace()?.into_value())
}

/// Calls a hook of the prelude.
fn call_hook<'js, R: javy::quickjs::FromJs<'js>>(
    ctx: &Ctx<'js>,
    hook: &Persistent<Function<'static>>,
    args: impl javy::quickjs::function::IntoArgs<'js>,
) -> Result<R> {
    hook.clone().restore(ctx)?.call(args)
}

/// Makes a reply of whatever ended the request.
fn answer<'js>(ctx: &Ctx<'js>, hooks: &Hooks, work: impl FnOnce() -> std::result::Result<Reply, Abort>) -> Reply {
    let reply = match work() {
        Ok(reply) | Err(Abort::Reply(reply)) => reply,
        Err(Abort::Thrown) => {
            let value = ctx.catch();
            SCRIPT_NAME.with_borrow(|name| Reply::Threw(thrown::report(ctx, hooks, value, name)))
        }
        Err(Abort::Syntax(_)) => refused("SyntaxError", "the source does not compile"),
    };
    if operations::exceeded() {
        Reply::Exceeded(LimitExceeded::Operations)
    } else if ABORTED.get() {
        aborted()
    } else {
        reply
    }
}

fn waiting() -> Reply {
    let (started, cancelled) = operations::take();
    Reply::Pending { started, cancelled }
}

fn aborted() -> Reply {
    refused("AbortError", "the tool ended its run with ctx.abort()")
}

fn refused(name: &str, message: &str) -> Reply {
    Reply::Threw(Thrown {
        name: name.to_owned(),
        message: message.to_owned(),
        line: None,
        column: None,
        stack: String::new(),
    })
}
