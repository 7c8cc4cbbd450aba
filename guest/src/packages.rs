//! The packages that tools can import: bundles of real packages, made by `js/build.mjs`.
//!
//! Invariant: a package is evaluated only for tools that use it, and once for each.

use std::cell::RefCell;

use javy::quickjs::{Ctx, Exception, Object, Persistent, Result};

use crate::abi;

/// A module of a package.
pub(crate) struct Package {
    /// The name that tools import it by; other packages import a shared module by its file name.
    pub(crate) name: String,
    /// Byte code.
    pub(crate) code: Vec<u8>,
}

/// The names that tools can import.
const IMPORTABLE: [&str; 4] = ["@sinclair/typebox", "zod", "typebox", "arktype"];

/// The module that all packages import but `@sinclair/typebox`, which imports nothing.
const SHARED: &str = "omptype.js";

thread_local! {
    static PACKAGES: RefCell<Vec<Package>> = const { RefCell::new(Vec::new()) };
    static EVALUATED: RefCell<Vec<(String, Persistent<Object<'static>>)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the packages for later calls.
pub(crate) fn keep(packages: Vec<Package>) {
    PACKAGES.set(packages);
}

/// Evaluates the packages that a source may import, so that the engine finds their modules.
///
/// # Errors
/// As [`namespace`].
pub(crate) fn load_imports_of(ctx: &Ctx<'_>, source: &str) -> Result<()> {
    // Most modules import nothing, and each search costs fuel.
    if !source.contains("import") {
        return Ok(());
    }
    for name in IMPORTABLE {
        let quoted = |quote: char| source.contains(&format!("{quote}{name}{quote}"));
        if quoted('"') || quoted('\'') {
            namespace(ctx, name)?;
        }
    }
    Ok(())
}

/// Returns what a package exports.
///
/// # Errors
/// What its evaluation threw, as the pending exception of the context: a tool may have broken what it builds on.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let known = |(evaluated, namespace): &(String, Persistent<Object<'static>>)| {
        (evaluated == name).then(|| namespace.clone())
    };
    if let Some(namespace) = EVALUATED.with_borrow(|evaluated| evaluated.iter().find_map(known)) {
        return namespace.restore(ctx);
    }
    if name != SHARED && name != IMPORTABLE[0] {
        namespace(ctx, SHARED)?;
    }
    let evaluate = |package: &Package| abi::run_module(ctx, &package.code);
    let found = PACKAGES.with_borrow(|packages| packages.iter().find(|package| package.name == name).map(evaluate));
    let namespace = found.unwrap_or_else(|| Err(Exception::throw_type(ctx, &format!("there is no package {name}"))))?;
    EVALUATED.with_borrow_mut(|evaluated| evaluated.push((name.to_owned(), Persistent::save(ctx, namespace.clone()))));
    Ok(namespace)
}
