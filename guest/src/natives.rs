//! What the prelude is given: the parts of the web APIs that Rust crates do better than JavaScript, and the way out.
//!
//! Invariant: every function here is pure but for `log`, `partial`, `abort`, `random` and those of operations, and reaches a tool
//! only through the prelude's closures, never as a global.

use std::cell::RefCell;

use javy::quickjs::{ArrayBuffer, Ctx, Function, Object, Result, TypedArray};
use toolcell_protocol::Level;
use url::form_urlencoded;

use crate::{abi, operations, packages, plain, result, tool, urls};

thread_local! {
    static RANDOM: RefCell<Option<fastrand::Rng>> = const { RefCell::new(None) };
}

/// The object that the prelude reads as `__toolcell_native`.
pub(crate) fn register<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let function =
        |object: &Object<'js>, name: &str, f: Function<'js>| -> Result<()> { object.set(name, f.with_name(name)?) };

    let url = Object::new(ctx.clone())?;
    function(&url, "parse", Function::new(ctx.clone(), urls::parse)?)?;
    function(&url, "set", Function::new(ctx.clone(), urls::set)?)?;
    function(&url, "absolute", Function::new(ctx.clone(), urls::absolute)?)?;
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
    function(&native, "package", Function::new(ctx.clone(), package)?)?;
    function(&native, "abort", Function::new(ctx.clone(), tool::abort)?)?;
    function(&native, "random", Function::new(ctx.clone(), random)?)?;
    function(&native, "json", Function::new(ctx.clone(), plain::json)?)?;
    function(&native, "quote", Function::new(ctx.clone(), quote)?)?;
    function(&native, "start", Function::new(ctx.clone(), operations::start)?)?;
    function(&native, "request", Function::new(ctx.clone(), operations::request)?)?;
    function(&native, "cancel", Function::new(ctx.clone(), operations::cancel)?)?;
    function(&native, "release", Function::new(ctx.clone(), operations::release)?)?;
    Ok(native)
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
    abi::read_buffer(&buffer, |bytes| {
        let bytes = bytes.get(offset..).unwrap_or_default();
        let bytes = bytes.get(..length).unwrap_or(bytes);
        if fatal {
            return std::str::from_utf8(bytes).ok().map(str::to_owned);
        }
        Some(String::from_utf8_lossy(bytes).into_owned())
    })
}

/// The JSON text of a well-formed string.
fn quote(text: String) -> String {
    let mut quoted = String::new();
    result::quote(&mut quoted, &text);
    quoted
}

fn log(level: u32, text: String) {
    abi::log(Level::from_number(level).unwrap_or(Level::Log), &text);
}

fn package(ctx: Ctx<'_>, name: String) -> Result<Object<'_>> {
    packages::namespace(&ctx, &name)
}

fn partial(json: String) {
    abi::partial(&json);
}

/// A number in `[0, 1)` from the run's seed, which the host is asked for at the first use.
fn random() -> f64 {
    RANDOM.with_borrow_mut(|random| random.get_or_insert_with(|| fastrand::Rng::with_seed(abi::seed())).f64())
}
