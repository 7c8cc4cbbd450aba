//! What the prelude is given: the parts of the web APIs that Rust crates do better than JavaScript, and the way out.
//!
//! Invariant: every function here is pure but for `log`, `partial`, `random` and those of operations, and reaches a tool
//! only through the prelude's closures, never as a global.

use std::cell::RefCell;

use javy::quickjs::function::Opt;
use javy::quickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Result, TypedArray};
use toolcell_protocol::{Level, Operation};
use url::{Url, form_urlencoded, quirks};

use crate::{abi, typebox};

thread_local! {
    static RANDOM: RefCell<Option<fastrand::Rng>> = const { RefCell::new(None) };
    static OPERATIONS: RefCell<Operations> = const { RefCell::new(Operations::new()) };
}

/// The operations that the tool has in flight.
pub(crate) struct Operations {
    last_id: u32,
    in_flight: u32,
    limit: u32,
    exceeded: bool,
    started: Vec<Operation>,
    cancelled: Vec<u32>,
}

impl Operations {
    const fn new() -> Self {
        Self { last_id: 0, in_flight: 0, limit: u32::MAX, exceeded: false, started: Vec::new(), cancelled: Vec::new() }
    }
}

/// Sets how many operations may be in flight at once.
pub(crate) fn limit_operations(limit: u32) {
    OPERATIONS.with_borrow_mut(|operations| operations.limit = limit);
}

/// Whether the tool tried to have more operations in flight than it may.
pub(crate) fn operations_exceeded() -> bool {
    OPERATIONS.with_borrow(|operations| operations.exceeded)
}

/// Takes the operations that were started and cancelled since this was last asked.
pub(crate) fn take_operations() -> (Vec<Operation>, Vec<u32>) {
    OPERATIONS.with_borrow_mut(|operations| {
        (std::mem::take(&mut operations.started), std::mem::take(&mut operations.cancelled))
    })
}

/// Notes that one operation is in flight no more.
pub(crate) fn operation_ended() {
    OPERATIONS.with_borrow_mut(|operations| operations.in_flight = operations.in_flight.saturating_sub(1));
}

/// The object that the prelude reads as `__toolcell_native`.
pub(crate) fn register<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let function =
        |object: &Object<'js>, name: &str, f: Function<'js>| -> Result<()> { object.set(name, f.with_name(name)?) };

    let url = Object::new(ctx.clone())?;
    function(&url, "parse", Function::new(ctx.clone(), url_parse)?)?;
    function(&url, "set", Function::new(ctx.clone(), url_set)?)?;
    native.set("url", url)?;

    let form = Object::new(ctx.clone())?;
    function(&form, "parse", Function::new(ctx.clone(), form_parse)?)?;
    function(&form, "serialize", Function::new(ctx.clone(), form_serialize)?)?;
    native.set("form", form)?;

    let utf8 = Object::new(ctx.clone())?;
    function(&utf8, "encode", Function::new(ctx.clone(), utf8_encode)?)?;
    function(&utf8, "decode", Function::new(ctx.clone(), utf8_decode)?)?;
    native.set("utf8", utf8)?;

    function(&native, "log", Function::new(ctx.clone(), log)?)?;
    function(&native, "partial", Function::new(ctx.clone(), partial)?)?;
    function(&native, "typebox", Function::new(ctx.clone(), typebox)?)?;
    function(&native, "random", Function::new(ctx.clone(), random)?)?;
    function(&native, "start", Function::new(ctx.clone(), start)?)?;
    function(&native, "cancel", Function::new(ctx.clone(), cancel)?)?;
    function(&native, "release", Function::new(ctx.clone(), release)?)?;
    Ok(native)
}

/// The parts of a URL in the order that the prelude's class knows them.
fn parts(url: &Url) -> Vec<String> {
    [
        quirks::href(url),
        &quirks::origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Parses a URL as the WHATWG URL standard says, against a base if there is one.
fn url_parse(href: String, base: Opt<Option<String>>) -> Option<Vec<String>> {
    let base = match base.0.flatten() {
        Some(base) => Some(Url::parse(&base).ok()?),
        None => None,
    };
    Url::options().base_url(base.as_ref()).parse(&href).ok().as_ref().map(parts)
}

/// One of the setters of the WHATWG URL class. A value that the standard ignores changes nothing.
fn url_set(href: String, part: String, value: String) -> Option<Vec<String>> {
    let mut url = Url::parse(&href).ok()?;
    match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).ok()?,
        "protocol" => drop(quirks::set_protocol(&mut url, &value)),
        "username" => drop(quirks::set_username(&mut url, &value)),
        "password" => drop(quirks::set_password(&mut url, &value)),
        "host" => drop(quirks::set_host(&mut url, &value)),
        "hostname" => drop(quirks::set_hostname(&mut url, &value)),
        "port" => drop(quirks::set_port(&mut url, &value)),
        "pathname" => quirks::set_pathname(&mut url, &value),
        "search" => quirks::set_search(&mut url, &value),
        "hash" => quirks::set_hash(&mut url, &value),
        _ => {}
    }
    Some(parts(&url))
}

/// The names and values of an `application/x-www-form-urlencoded` text, flat.
fn form_parse(text: String) -> Vec<String> {
    form_urlencoded::parse(text.as_bytes()).flat_map(|(name, value)| [name.into_owned(), value.into_owned()]).collect()
}

/// The `application/x-www-form-urlencoded` text of flat names and values.
fn form_serialize(flat: Vec<String>) -> String {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    for pair in flat.chunks_exact(2) {
        serializer.append_pair(&pair[0], &pair[1]);
    }
    serializer.finish()
}

fn utf8_encode(ctx: Ctx<'_>, text: String) -> Result<TypedArray<'_, u8>> {
    TypedArray::new_copy(ctx, text.as_bytes())
}

/// The text of some bytes of a buffer; `None` where `fatal` and the bytes are not UTF-8.
fn utf8_decode(buffer: ArrayBuffer<'_>, offset: usize, length: usize, fatal: bool) -> Option<String> {
    let bytes = buffer.as_bytes().unwrap_or_default();
    let bytes = bytes.get(offset..).unwrap_or_default();
    let bytes = bytes.get(..length).unwrap_or(bytes);
    if fatal {
        return std::str::from_utf8(bytes).ok().map(str::to_owned);
    }
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn log(level: u32, text: String) {
    abi::log(Level::from_number(level).unwrap_or(Level::Log), &text);
}

fn typebox(ctx: Ctx<'_>) -> Result<Object<'_>> {
    typebox::namespace(&ctx)
}

fn partial(json: String) {
    abi::partial(&json);
}

/// A number in `[0, 1)` from the run's seed, which the host is asked for at the first use.
fn random() -> f64 {
    RANDOM.with_borrow_mut(|random| random.get_or_insert_with(|| fastrand::Rng::with_seed(abi::seed())).f64())
}

/// Starts an operation and gives its number; the bytes are copied.
fn start<'js>(ctx: Ctx<'js>, kind: String, payload: String, bytes: Opt<Option<TypedArray<'js, u8>>>) -> Result<u32> {
    let id = OPERATIONS.with_borrow_mut(|operations| {
        if operations.in_flight >= operations.limit {
            operations.exceeded = true;
            return None;
        }
        operations.in_flight += 1;
        operations.last_id += 1;
        let bytes = bytes.0.flatten().map(|bytes| bytes.as_bytes().unwrap_or_default().to_vec());
        operations.started.push(Operation { id: operations.last_id, kind, payload, bytes });
        Some(operations.last_id)
    });
    id.ok_or_else(|| Exception::throw_range(&ctx, "too many operations are pending"))
}

/// This operation has ended, and nobody reads the rest of what it gave.
fn release(id: u32) {
    OPERATIONS.with_borrow_mut(|operations| operations.cancelled.push(id));
}

/// Nobody waits for this operation any more.
fn cancel(id: u32) {
    OPERATIONS.with_borrow_mut(|operations| {
        operations.in_flight = operations.in_flight.saturating_sub(1);
        match operations.started.iter().position(|operation| operation.id == id) {
            Some(unseen) => drop(operations.started.remove(unseen)),
            None => operations.cancelled.push(id),
        }
    });
}
