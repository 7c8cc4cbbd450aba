//! The call that a call makes by a detour.

use super::Call;
use crate::value::Value;

/// A call through `call`, `apply`, `bind` or `Reflect` as the call that it makes.
pub(super) fn direct(mut call: Call) -> Call {
    let callee = call.callee.clone();
    let Some(thing) = callee.as_thing() else { return call };
    let without_last =
        || Value::thing(thing.root.clone(), thing.path[..thing.path.len() - 1].iter().cloned().collect());
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
                call.new = true;
            }
            _ => {}
        }
        return call;
    }
    if thing.path.is_empty() {
        return call;
    }
    match thing.last() {
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
            call.prefixes = call.args.iter().map(|value| value.string().unwrap_or_default()).collect();
        }
        _ => {}
    }
    call
}
