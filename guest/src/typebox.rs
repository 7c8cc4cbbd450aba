//! The builder of schemas that tools know as `@sinclair/typebox`: the real package, bundled by `js/build.mjs`.
//!
//! Invariant: it is evaluated for those tools alone that ask for it, and once for each.

use std::cell::RefCell;

use javy::quickjs::{Ctx, Object, Persistent, Result};

use crate::abi;

/// The name that tools import it by.
pub(crate) const NAME: &str = "@sinclair/typebox";

thread_local! {
    static CODE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static NAMESPACE: RefCell<Option<Persistent<Object<'static>>>> = const { RefCell::new(None) };
}

/// Keeps its byte code for later calls.
pub(crate) fn keep(code: &[u8]) {
    CODE.set(code.to_vec());
}

/// What it exports.
///
/// # Errors
/// What its evaluation threw, as the pending exception of the context: a tool may have broken what it builds on.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    if let Some(known) = NAMESPACE.with_borrow(Clone::clone) {
        return known.restore(ctx);
    }
    let namespace = CODE.with_borrow(|code| abi::run_module(ctx, code))?;
    NAMESPACE.set(Some(Persistent::save(ctx, namespace.clone())));
    Ok(namespace)
}
