//! Where a source that does not compile goes wrong.
//!
//! The engine's own place of a syntax error is that of some token before or after. The true one is found by
//! compiling beginnings of the source: the shortest one that fails with the same message ends with the token that
//! is wrong. Only sources that do not compile pay for it.

use javy::quickjs::{Ctx, Error, Module, Value};
use toolcell_protocol::Load;

use crate::abi;
use crate::tool::Abort;

/// How a source is compiled.
#[derive(Clone, Copy)]
enum Goal {
    Script,
    Module,
}

/// Leaves the better of two errors pending: of a source that compiles neither as a script nor as a module, the one
/// that the parser met later.
pub(crate) fn error<'js>(ctx: &Ctx<'js>, request: &Load<'_>, as_script: Value<'js>, as_module: Value<'js>) -> Abort {
    let script = offset(ctx, request, Goal::Script, &as_script);
    let Some(module) = offset(ctx, request, Goal::Module, &as_module) else {
        // It compiles, and fails for another reason: an import that cannot be served.
        ctx.throw(as_module);
        return Abort::Thrown;
    };
    let script = script.unwrap_or(0);
    if module > script {
        ctx.throw(as_module);
        Abort::Syntax(module)
    } else {
        ctx.throw(as_script);
        Abort::Syntax(script)
    }
}

/// The byte at which the token begins that makes the source wrong; `None` where the error is no syntax error.
fn offset(ctx: &Ctx<'_>, request: &Load<'_>, goal: Goal, error: &Value<'_>) -> Option<usize> {
    let message = message_of(error)?;
    // The fault is in `..high` and not in `..low`.
    let (mut low, mut high) = (0, request.source.len());
    while high - low > 1 {
        let Some(middle) = between(request.source, low, high) else { break };
        if failure(ctx, request.name, &request.source[..middle], goal).as_ref() == Some(&message) {
            high = middle;
        } else {
            low = middle;
        }
    }
    // A message that quotes the token tells its length; other tokens are one character.
    let quoted = message.rsplit_once('\'').and_then(|(rest, _)| rest.rsplit_once('\'')).map_or("", |(_, token)| token);
    let token = if request.source[..high].ends_with(quoted) && !quoted.is_empty() { quoted.len() } else { high - low };
    Some(high - token)
}

/// A place near the middle of `low..high` where the text can be cut; `None` where that is one character.
fn between(text: &str, low: usize, high: usize) -> Option<usize> {
    let middle = low + (high - low) / 2;
    let can_be_cut = |at: &usize| text.is_char_boundary(*at);
    (middle..high).find(can_be_cut).or_else(|| (low + 1..middle).rev().find(can_be_cut))
}

/// The message with which a source does not compile.
fn failure(ctx: &Ctx<'_>, name: &str, source: &str, goal: Goal) -> Option<String> {
    let failed = match goal {
        Goal::Script => abi::compile_script(ctx, name, source).is_err_and(|error| matches!(error, Error::Exception)),
        Goal::Module => {
            Module::declare(ctx.clone(), name, source).is_err_and(|error| matches!(error, Error::Exception))
        }
    };
    if failed { message_of(&ctx.catch()) } else { None }
}

/// The message of a syntax error.
fn message_of(error: &Value<'_>) -> Option<String> {
    let name: String = error.as_object()?.get("name").ok()?;
    (name == "SyntaxError").then(|| error.as_exception()?.message()).flatten()
}
