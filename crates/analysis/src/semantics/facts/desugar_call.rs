//! Desugaring of indirect calls.

use super::Call;
use crate::semantics::value::Value;

/// Rewrites a call through `call`, `apply`, `bind` or `Reflect` as the direct call.
pub(super) fn desugar_call(mut call: Call) -> Call {
    let callee = call.callee.clone();
    let Some(thing) = callee.as_path() else { return call };
    let without_last = || Value::path(thing.root.clone(), thing.keys[..thing.keys.len() - 1].iter().cloned().collect());
    if thing.is_global_below(&["Reflect"]) {
        let list = |value: Option<&Value>| match value {
            Some(Value::List(list)) => list.to_vec(),
            _ => Vec::new(),
        };
        match thing.names().as_deref() {
            Some(["Reflect", "apply"]) if !call.args.is_empty() => {
                let args = list(call.args.get(2));
                call.callee = call.args.swap_remove(0);
                call.args = args;
                call.prefixes.clear();
            }
            Some(["Reflect", "construct"]) if !call.args.is_empty() => {
                let args = list(call.args.get(1));
                call.callee = call.args.swap_remove(0);
                call.args = args;
                call.prefixes.clear();
                call.is_new = true;
            }
            _ => {}
        }
        return call;
    }
    if thing.keys.is_empty() {
        return call;
    }
    match thing.last_name() {
        Some("call" | "bind") => {
            call.callee = without_last();
            if !call.args.is_empty() {
                call.args.remove(0);
            }
            if !call.prefixes.is_empty() {
                call.prefixes.remove(0);
            }
        }
        Some("apply") => {
            call.callee = without_last();
            call.args = match call.args.get(1) {
                Some(Value::List(list)) => list.to_vec(),
                _ => Vec::new(),
            };
            call.prefixes = call.args.iter().map(|value| value.to_js_string().unwrap_or_default()).collect();
        }
        _ => {}
    }
    call
}
