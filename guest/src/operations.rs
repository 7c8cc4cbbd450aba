//! The operations that the tool has in flight, and what waits for each of them.
//!
//! Invariant: an operation's number comes from here, counted in the order of the calls, and each ends once. Nothing of a
//! tool runs while operations are settled: promises are settled and jobs queued, so that all that ended together are
//! told to the tool before any of it goes on.

use std::cell::RefCell;

use javy::quickjs::{Ctx, Error, Exception, Function, Object, Persistent, Promise, Result, TypedArray, Value};
use toolcell_protocol::{CompletionRef, HostCall, OperationErrorRef, OperationOutputRef};

use crate::abi;
use crate::engine::Hooks;

thread_local! {
    static OPERATIONS: RefCell<Operations> = const { RefCell::new(Operations::new()) };
}

struct Operations {
    last_id: u32,
    limit: u32,
    exceeded: bool,
    /// In the order of their numbers.
    waiting: Vec<(u32, Waiting)>,
    started: Vec<HostCall>,
    cancelled: Vec<u32>,
}

/// What an operation's end is told to.
enum Waiting {
    /// The prelude's own record, for its hook `settle`.
    Record(Persistent<Object<'static>>),
    /// A promise of what `read` makes of the answer.
    Promise(Box<Promised>),
}

struct Promised {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
    /// `(answer, bytes, context, id, place) => value`; `undefined` refuses the answer, `NOTHING` stands for it. Where
    /// there is none, the answer is the value.
    read: Option<Persistent<Function<'static>>>,
    context: Persistent<Value<'static>>,
    place: Persistent<Value<'static>>,
    kind: String,
}

impl Operations {
    const fn new() -> Self {
        Self {
            last_id: 0,
            limit: u32::MAX,
            exceeded: false,
            waiting: Vec::new(),
            started: Vec::new(),
            cancelled: Vec::new(),
        }
    }

    fn take(&mut self, id: u32) -> Option<Waiting> {
        let at = self.waiting.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.waiting.remove(at).1)
    }
}

/// Sets how many operations may be in flight at once.
pub(crate) fn limit(limit: u32) {
    OPERATIONS.with_borrow_mut(|operations| operations.limit = limit);
}

/// Whether the tool tried to have more operations in flight than it may.
pub(crate) fn exceeded() -> bool {
    OPERATIONS.with_borrow(|operations| operations.exceeded)
}

/// Takes the operations that were started and cancelled since this was last asked.
pub(crate) fn take() -> (Vec<HostCall>, Vec<u32>) {
    OPERATIONS.with_borrow_mut(|operations| {
        (std::mem::take(&mut operations.started), std::mem::take(&mut operations.cancelled))
    })
}

/// Starts an operation; its bytes are copied.
fn begin<'js>(
    ctx: &Ctx<'js>,
    kind: String,
    payload: String,
    bytes: Option<&TypedArray<'js, u8>>,
    waiting: Waiting,
) -> Result<u32> {
    let id = OPERATIONS.with_borrow_mut(|operations| {
        if operations.waiting.len() >= operations.limit as usize {
            operations.exceeded = true;
            return None;
        }
        operations.last_id += 1;
        let id = operations.last_id;
        let bytes = bytes.map(abi::bytes_of);
        operations.started.push(HostCall { id, kind, payload, bytes });
        operations.waiting.push((id, waiting));
        Some(id)
    });
    id.ok_or_else(|| Exception::throw_range(ctx, "too many operations are pending"))
}

/// Starts an operation and gives its number; the hook `settle` gets `record` with its end.
pub(crate) fn start<'js>(
    ctx: Ctx<'js>,
    kind: String,
    payload: String,
    bytes: Option<TypedArray<'js, u8>>,
    record: Object<'js>,
) -> Result<u32> {
    let waiting = Waiting::Record(Persistent::save(&ctx, record));
    begin(&ctx, kind, payload, bytes.as_ref(), waiting)
}

/// Starts an operation and gives the promise of what `read` makes of its answer.
pub(crate) fn request<'js>(
    ctx: Ctx<'js>,
    kind: String,
    payload: String,
    bytes: Option<TypedArray<'js, u8>>,
    read: Option<Function<'js>>,
    context: Value<'js>,
    place: Value<'js>,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    let promised = Promised {
        resolve: Persistent::save(&ctx, resolve),
        reject: Persistent::save(&ctx, reject),
        read: read.map(|read| Persistent::save(&ctx, read)),
        context: Persistent::save(&ctx, context),
        place: Persistent::save(&ctx, place),
        kind: kind.clone(),
    };
    begin(&ctx, kind, payload, bytes.as_ref(), Waiting::Promise(Box::new(promised)))?;
    Ok(promise)
}

/// This operation has ended, and the rest of its output is not read.
pub(crate) fn release(id: u32) {
    OPERATIONS.with_borrow_mut(|operations| operations.cancelled.push(id));
}

/// No promise waits for this operation any more.
pub(crate) fn cancel(id: u32) {
    // What waited is freed after the operations are no longer borrowed.
    let _waited = OPERATIONS.with_borrow_mut(|operations| {
        let waiting = operations.take(id)?;
        match operations.started.iter().position(|operation| operation.id == id) {
            Some(unseen) => drop(operations.started.remove(unseen)),
            None => operations.cancelled.push(id),
        }
        Some(waiting)
    });
}

/// Ends one operation. One that was cancelled has ended already.
pub(crate) fn settle(ctx: &Ctx<'_>, hooks: &Hooks, settled: &CompletionRef<'_>) -> Result<()> {
    match OPERATIONS.with_borrow_mut(|operations| operations.take(settled.id)) {
        None => Ok(()),
        Some(Waiting::Promise(promised)) => promised.settle(ctx, hooks, settled),
        Some(Waiting::Record(record)) => {
            let settle = hooks.settle.clone().restore(ctx)?;
            match &settled.result {
                Ok(answer) => settle.call((record, true, value(ctx, answer)?, bytes(ctx, answer)?)),
                Err(failure) => {
                    let OperationErrorRef { name, message, code, effects } = *failure;
                    let error = Object::new(ctx.clone())?;
                    error.set("name", name)?;
                    error.set("message", message)?;
                    error.set("code", code)?;
                    error.set("effects", effects.name())?;
                    settle.call((record, false, error))
                }
            }
        }
    }
}

impl Promised {
    fn settle<'js>(self: Box<Self>, ctx: &Ctx<'js>, hooks: &Hooks, settled: &CompletionRef<'_>) -> Result<()> {
        let Self { resolve, reject, read, context, place, kind } = *self;
        let error: Value<'js> = match &settled.result {
            Ok(answer) => {
                let answered = value(ctx, answer)?;
                let read = match read {
                    None => Ok(answered),
                    Some(read) => {
                        read.restore(ctx)?.call((answered, bytes(ctx, answer)?, context, settled.id, place.clone()))
                    }
                };
                match read {
                    Ok(value) if value.is_undefined() => hooks.malformed.clone().restore(ctx)?.call((kind, place))?,
                    Ok(value) => {
                        let nothing = hooks.nothing.clone().restore(ctx)?;
                        let is_nothing = value.as_object().is_some_and(|object| *object == nothing);
                        let resolve = resolve.restore(ctx)?;
                        return if is_nothing { resolve.call(()) } else { resolve.call((value,)) };
                    }
                    Err(Error::Exception) => hooks.misread.clone().restore(ctx)?.call((ctx.catch(), place))?,
                    Err(error) => return Err(error),
                }
            }
            Err(failure) => {
                let OperationErrorRef { name, message, code, effects } = *failure;
                hooks.failure.clone().restore(ctx)?.call((name, message, code, effects.name(), place))?
            }
        };
        reject.restore(ctx)?.call((error,))
    }
}

/// The value of an answer. One that is no JSON is malformed: it becomes `undefined`, which no kind answers.
fn value<'js>(ctx: &Ctx<'js>, answer: &OperationOutputRef<'_>) -> Result<Value<'js>> {
    if answer.json == "null" {
        return Ok(Value::new_null(ctx.clone()));
    }
    ctx.json_parse(answer.json).or_else(|error| {
        if matches!(error, Error::Exception) {
            ctx.catch();
            return Ok(Value::new_undefined(ctx.clone()));
        }
        Err(error)
    })
}

fn bytes<'js>(ctx: &Ctx<'js>, answer: &OperationOutputRef<'_>) -> Result<Option<TypedArray<'js, u8>>> {
    answer.bytes.map(|bytes| TypedArray::new_copy(ctx.clone(), bytes)).transpose()
}
