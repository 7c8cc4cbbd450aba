//! Constant folding of operators, and of the pure functions of the language.
//!
//! Invariant: only results that ECMA-262 makes certain are folded, and never to more than a few
//! KiB.

mod array;
mod decode;
mod regexp;
mod string;

use swc_atoms::Atom;
use swc_ecma_ast::{BinaryOp, UnaryOp};

use crate::semantics::value::{Allocation, Literal, Root, Value, as_index, len_to_number};
pub(crate) use decode::utf8_to_text;
pub(crate) use regexp::replace_with;

/// Folds `left op right`.
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Value {
    if op == BinaryOp::Add {
        return left.plus(right);
    }
    // The analysis does not know the identity of lists, so two lists never compare equal.
    let same = |value: &Value| !matches!(value, Value::Unknown | Value::List(_) | Value::Path(_));
    let equal = || (same(left) && left == right).then_some(true);
    match op {
        BinaryOp::EqEqEq => return equal().or_else(|| known_unequal(left, right)).map_or(Value::Unknown, Value::Bool),
        BinaryOp::NotEqEq => {
            return equal().or_else(|| known_unequal(left, right)).map_or(Value::Unknown, |same| Value::Bool(!same));
        }
        _ => {}
    }
    let (Some(a), Some(b)) = (left.to_number(), right.to_number()) else { return Value::Unknown };
    match op {
        BinaryOp::Sub => Value::Number(a - b),
        BinaryOp::Mul => Value::Number(a * b),
        BinaryOp::Div => Value::Number(a / b),
        BinaryOp::Mod => Value::Number(a % b),
        BinaryOp::Exp => Value::Number(a.powf(b)),
        BinaryOp::Lt => Value::Bool(a < b),
        BinaryOp::LtEq => Value::Bool(a <= b),
        BinaryOp::Gt => Value::Bool(a > b),
        BinaryOp::BitXor => Value::Number(f64::from(to_int32(a) ^ to_int32(b))),
        BinaryOp::BitAnd => Value::Number(f64::from(to_int32(a) & to_int32(b))),
        BinaryOp::BitOr => Value::Number(f64::from(to_int32(a) | to_int32(b))),
        BinaryOp::LShift => Value::Number(f64::from(to_int32(a).wrapping_shl(to_int32(b).cast_unsigned() & 31))),
        BinaryOp::RShift => Value::Number(f64::from(to_int32(a).wrapping_shr(to_int32(b).cast_unsigned() & 31))),
        BinaryOp::ZeroFillRShift => {
            Value::Number(f64::from(to_int32(a).cast_unsigned().wrapping_shr(to_int32(b).cast_unsigned() & 31)))
        }
        BinaryOp::GtEq => Value::Bool(a >= b),
        _ => Value::Unknown,
    }
}

/// Returns `Some(false)` if two constants are certainly not equal.
fn known_unequal(left: &Value, right: &Value) -> Option<bool> {
    let constant = |value: &Value| matches!(value, Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Null);
    (constant(left) && constant(right) && left != right).then_some(false)
}

/// Folds `op value`.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> Value {
    match op {
        UnaryOp::Bang => value.to_boolean().map_or(Value::Unknown, |truth| Value::Bool(!truth)),
        UnaryOp::Plus => value.to_number().map_or(Value::Unknown, Value::Number),
        UnaryOp::Minus => value.to_number().map_or(Value::Unknown, |number| Value::Number(-number)),
        UnaryOp::Tilde => {
            value.to_number().map_or(Value::Unknown, |number| Value::Number(f64::from(!to_int32(number))))
        }
        _ => Value::Unknown,
    }
}

/// ECMA-262 `ToInt32`.
fn to_int32(number: f64) -> i32 {
    if !number.is_finite() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the remainder fits into 32 bits")]
    let low = number.trunc().rem_euclid(4_294_967_296.0) as u32;
    low.cast_signed()
}

/// Folds `object.name(args)`; `None` if the result is not certain.
pub(crate) fn method(object: &Value, name: &str, args: &[Value]) -> Option<Value> {
    match object {
        Value::Text(text) => string::method(text, name, args),
        Value::List(list) => array::method(list, name, args),
        // A bound function is treated as the function. `call.bind(f)` is `f.call`.
        Value::Path(thing) if name == "bind" && !matches!(thing.root, Root::Unknown | Root::Params) => {
            match (thing.last_name(), args.first()) {
                (Some(method @ ("call" | "apply" | "bind")), Some(function)) if thing.root == Root::Global => {
                    Some(function.member(&Value::text(method)))
                }
                _ => Some(object.clone()),
            }
        }
        Value::Number(number) if name == "toString" => match args {
            [Value::Number(radix)] => Some(Value::text(&to_radix_string(*number, *radix)?)),
            [] => object.to_js_string().map(|text| Value::text(&text)),
            _ => None,
        },
        _ => None,
    }
}

/// Folds a call of a pure global function.
pub(crate) fn global_call(names: &[&str], args: &[Value]) -> Option<Value> {
    match names {
        ["String"] => {
            args.first().map_or(Some(Value::text("")), |value| value.to_js_string().map(|text| Value::text(&text)))
        }
        ["Number"] => args.first()?.to_number().map(Value::Number),
        ["parseInt"] => {
            let radix = args.get(1).and_then(Value::as_number).and_then(as_index).unwrap_or(10);
            let number = i32::from_str_radix(args.first()?.as_text()?.trim(), u32::try_from(radix).ok()?.clamp(2, 36));
            Some(Value::Number(f64::from(number.ok()?)))
        }
        ["String", "fromCharCode" | "fromCodePoint"] => from_char_codes(args),
        ["atob"] => Some(decode::bytes_to_text(decode::base64(args.first()?.as_text()?)?)),
        ["Buffer", "from"] | ["Uint8Array", "fromBase64" | "fromHex"] => match args {
            [Value::Text(text)] if names[1] == "fromBase64" => decode::bytes_to_list(decode::base64(text)?),
            [Value::Text(text)] if names[1] == "fromHex" => decode::bytes_to_list(decode::hex(text)?),
            [Value::Text(text), Value::Text(encoding)] if matches!(&**encoding, "base64" | "base64url") => {
                Some(decode::bytes_to_text(decode::base64(text)?))
            }
            [Value::Text(text), Value::Text(encoding)] if &**encoding == "hex" => {
                Some(decode::bytes_to_text(decode::hex(text)?))
            }
            [Value::List(_)] => args.first().cloned(),
            [Value::Text(text)] => Some(Value::Text(text.clone())),
            _ => None,
        },
        ["decodeURIComponent" | "decodeURI" | "unescape"] => decode::percent(args.first()?.as_text()?),
        ["Object" | "Reflect", "getPrototypeOf"] => Some(args.first()?.member(&Value::text("__proto__"))),
        ["Object", "freeze" | "seal" | "assign"]
        | ["structuredClone" | "escape"]
        | ["Promise", "resolve" | "all" | "allSettled" | "race" | "any"] => args.first().cloned(),
        ["Object", "fromEntries"] => pairs_to_props(args.first()?).map(Value::from_props),
        ["Array" | "Uint8Array" | "Uint16Array", "from"] => match args {
            [list @ Value::List(_)] => Some(list.clone()),
            [Value::Text(text)] => Some(Value::List(string::char_list(text))),
            _ => None,
        },
        ["JSON", "parse"] => decode::json(args.first()?.as_text()?),
        ["Math", name] => math(name, args),
        ["Array" | "Uint8Array" | "Uint16Array", "of"] => Some(Value::List(args.into())),
        ["Reflect", "construct"] => Some(Value::root(Root::Unknown)),
        _ => None,
    }
}

/// Returns the text of some character codes.
pub(super) fn from_char_codes(codes: &[Value]) -> Option<Value> {
    let letters: Option<String> = codes
        .iter()
        .map(|code| {
            let code = u32::try_from(as_index(code.as_number()?)?).ok()?;
            char::from_u32(code)
        })
        .collect();
    letters.map(|text| Value::text(&text))
}

/// Folds `new` of a built-in class.
pub(crate) fn construct(class: &str, args: &[Value]) -> Value {
    match (class, args) {
        ("Map" | "WeakMap" | "URLSearchParams", [list]) => {
            pairs_to_props(list).map_or_else(|| Value::root(Root::Unknown), Value::from_props)
        }
        ("String" | "Object" | "Set" | "Uint8Array" | "Uint16Array", [value @ (Value::Text(_) | Value::List(_))]) => {
            value.clone()
        }
        ("TextDecoder" | "TextEncoder", _) => Value::allocated(Literal::Object, Allocation::Builtin(class.into())),
        ("Array", [Value::Number(length)]) => match as_index(*length).filter(|length| *length <= 1000) {
            Some(length) => Value::List(vec![Value::Undefined; length].into()),
            None => Value::root(Root::Unknown),
        },
        ("Array", args) => Value::List(args.into()),
        _ => Value::root(Root::Unknown),
    }
}

/// Converts a list of pairs to properties.
fn pairs_to_props(list: &Value) -> Option<Vec<(Atom, Value)>> {
    let Value::List(list) = list else { return None };
    list.iter()
        .map(|pair| match pair {
            Value::List(pair) => Some((pair.first()?.to_js_string()?.into(), pair.get(1)?.clone())),
            _ => None,
        })
        .collect()
}

fn math(name: &str, args: &[Value]) -> Option<Value> {
    let first = args.first()?.to_number()?;
    let all = || args.iter().map(Value::to_number).collect::<Option<Vec<f64>>>();
    Some(Value::Number(match name {
        "floor" => first.floor(),
        "ceil" => first.ceil(),
        "round" => (first + 0.5).floor(),
        "trunc" => first.trunc(),
        "abs" => first.abs(),
        "sqrt" => first.sqrt(),
        "pow" => first.powf(args.get(1)?.to_number()?),
        "min" => all()?.into_iter().fold(f64::INFINITY, f64::min),
        "max" => all()?.into_iter().fold(f64::NEG_INFINITY, f64::max),
        _ => return None,
    }))
}

fn to_radix_string(number: f64, radix: f64) -> Option<String> {
    let (mut number, radix) = (as_index(number)?, as_index(radix).filter(|radix| (2..=36).contains(radix))?);
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(u32::try_from(number % radix).ok()?, u32::try_from(radix).ok()?)?);
        number /= radix;
        if number == 0 {
            return Some(digits.into_iter().rev().collect());
        }
    }
}
