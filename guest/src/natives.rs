//! What the prelude is given: the parts of the web APIs that Rust crates do better than JavaScript, and the way out.
//!
//! Invariant: every function here is pure but for `log`, `partial`, `random` and those of operations, and reaches a tool
//! only through the prelude's closures, never as a global.

use std::cell::RefCell;

use javy::quickjs::convert::List;
use javy::quickjs::function::Opt;
use javy::quickjs::{ArrayBuffer, Ctx, Function, Object, Result, TypedArray};
use toolcell_protocol::Level;
use url::{Url, form_urlencoded, quirks};

use crate::{abi, operations, plain, result, typebox};

thread_local! {
    static RANDOM: RefCell<Option<fastrand::Rng>> = const { RefCell::new(None) };
}

/// The object that the prelude reads as `__toolcell_native`.
pub(crate) fn register<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let function =
        |object: &Object<'js>, name: &str, f: Function<'js>| -> Result<()> { object.set(name, f.with_name(name)?) };

    let url = Object::new(ctx.clone())?;
    function(&url, "parse", Function::new(ctx.clone(), url_parse)?)?;
    function(&url, "set", Function::new(ctx.clone(), url_set)?)?;
    function(&url, "absolute", Function::new(ctx.clone(), url_absolute)?)?;
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
    function(&native, "json", Function::new(ctx.clone(), plain::json)?)?;
    function(&native, "quote", Function::new(ctx.clone(), quote)?)?;
    function(&native, "start", Function::new(ctx.clone(), operations::start)?)?;
    function(&native, "request", Function::new(ctx.clone(), operations::request)?)?;
    function(&native, "cancel", Function::new(ctx.clone(), operations::cancel)?)?;
    function(&native, "release", Function::new(ctx.clone(), operations::release)?)?;
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

/// An absolute URL as the standard writes it, and whether it has a user name or a password.
fn url_absolute(href: String) -> Option<List<(String, bool)>> {
    let url = Url::parse(&href).ok()?;
    let has_credentials = !url.username().is_empty() || url.password().is_some_and(|password| !password.is_empty());
    Some(List((String::from(url), has_credentials)))
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
