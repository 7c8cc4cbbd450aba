//! Folding: what operators and the pure functions of the language make of known values.
//!
//! Invariant: only what ECMA-262 makes certain is folded, and never to more than a few KiB.

use std::rc::Rc;

use swc_ecma_ast::{BinaryOp, UnaryOp};

use crate::value::{Key, Root, Value, joined, whole};

/// `left op right`.
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Value {
    if op == BinaryOp::Add {
        return left.plus(right);
    }
    let equal = || (left == right && *left != Value::Unknown && left.as_thing().is_none()).then_some(true);
    match op {
        BinaryOp::EqEqEq => return equal().or_else(|| differ(left, right)).map_or(Value::Unknown, Value::Bool),
        BinaryOp::NotEqEq => {
            return equal().or_else(|| differ(left, right)).map_or(Value::Unknown, |same| Value::Bool(!same));
        }
        _ => {}
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return Value::Unknown };
    match op {
        BinaryOp::Sub => Value::Number(a - b),
        BinaryOp::Mul => Value::Number(a * b),
        BinaryOp::Div => Value::Number(a / b),
        BinaryOp::Mod => Value::Number(a % b),
        BinaryOp::Exp => Value::Number(a.powf(b)),
        BinaryOp::Lt => Value::Bool(a < b),
        BinaryOp::LtEq => Value::Bool(a <= b),
        BinaryOp::Gt => Value::Bool(a > b),
        BinaryOp::GtEq => Value::Bool(a >= b),
        BinaryOp::BitXor => Value::Number(f64::from(int32(a) ^ int32(b))),
        BinaryOp::BitAnd => Value::Number(f64::from(int32(a) & int32(b))),
        BinaryOp::BitOr => Value::Number(f64::from(int32(a) | int32(b))),
        BinaryOp::LShift => Value::Number(f64::from(int32(a).wrapping_shl(int32(b).cast_unsigned() & 31))),
        BinaryOp::RShift => Value::Number(f64::from(int32(a).wrapping_shr(int32(b).cast_unsigned() & 31))),
        _ => Value::Unknown,
    }
}

/// `false` where two constants are certainly not the same.
fn differ(left: &Value, right: &Value) -> Option<bool> {
    let constant = |value: &Value| matches!(value, Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Null);
    (constant(left) && constant(right) && left != right).then_some(false)
}

/// `op value`.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> Value {
    match op {
        UnaryOp::Bang => value.truth().map_or(Value::Unknown, |truth| Value::Bool(!truth)),
        UnaryOp::Plus => value.number().map_or(Value::Unknown, Value::Number),
        UnaryOp::Minus => value.number().map_or(Value::Unknown, |number| Value::Number(-number)),
        UnaryOp::Tilde => value.number().map_or(Value::Unknown, |number| Value::Number(f64::from(!int32(number)))),
        _ => Value::Unknown,
    }
}

/// ECMA-262 `ToInt32`.
fn int32(number: f64) -> i32 {
    if !number.is_finite() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the remainder fits into 32 bits")]
    let low = number.trunc().rem_euclid(4_294_967_296.0) as u32;
    low.cast_signed()
}

/// `object.name(args)`; `None` where it is not certain.
pub(crate) fn method(object: &Value, name: &str, args: &[Value]) -> Option<Value> {
    match object {
        Value::Text(text) => text_method(text, name, args),
        Value::List(list) => list_method(list, name, args),
        // A bound function is the function.
        Value::Thing(thing) if name == "bind" && !matches!(thing.root, Root::Somewhere | Root::Params) => {
            Some(object.clone())
        }
        Value::Number(number) if name == "toString" => match args {
            [Value::Number(radix)] => Some(Value::text(&in_radix(*number, *radix)?)),
            [] => object.string().map(|text| Value::text(&text)),
            _ => None,
        },
        _ => None,
    }
}

fn text_method(text: &Rc<str>, name: &str, args: &[Value]) -> Option<Value> {
    let argument = |index: usize| args.get(index);
    Some(match name {
        "toString" | "valueOf" | "normalize" => Value::Text(Rc::clone(text)),
        "toLowerCase" => Value::text(&text.to_lowercase()),
        "toUpperCase" => Value::text(&text.to_uppercase()),
        "trim" => Value::text(text.trim()),
        "concat" => args.iter().fold(Value::Text(Rc::clone(text)), |value, more| value.plus(more)),
        "charAt" | "at" => Value::Text(Rc::clone(text)).member(argument(0)?),
        "charCodeAt" | "codePointAt" => {
            let index = whole(argument(0).map_or(Some(0.0), Value::number)?)?;
            let letter = text.chars().nth(index)?;
            Value::Number(f64::from(u32::from(letter)))
        }
        "slice" | "substring" | "substr" => slice(text, name, args)?,
        "split" => {
            let parts: Vec<Value> = match argument(0) {
                Some(Value::Text(between)) if between.is_empty() => {
                    text.chars().map(|letter| Value::text(&letter.to_string())).collect()
                }
                Some(Value::Text(between)) => text.split(&**between).map(Value::text).collect(),
                None => vec![Value::Text(Rc::clone(text))],
                _ => return None,
            };
            Value::List(parts.into())
        }
        "repeat" => {
            let times = whole(argument(0)?.number()?)?;
            if times.saturating_mul(text.len()) > 4096 {
                return None;
            }
            Value::text(&text.repeat(times))
        }
        "replace" | "replaceAll" => match args {
            [Value::Text(from), Value::Text(to)] if name == "replace" => Value::text(&text.replacen(&**from, to, 1)),
            [Value::Text(from), Value::Text(to)] => Value::text(&text.replace(&**from, to)),
            [Value::Pattern(pattern, flags), Value::Text(to)] => Value::text(&replaced(text, pattern, flags, to)?),
            _ => return None,
        },
        _ => return None,
    })
}

/// Replacing by a pattern that is plain text, or a set of plain letters.
fn replaced(text: &str, pattern: &str, flags: &str, to: &str) -> Option<String> {
    let all = flags.contains('g');
    let plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "_-, #@!~%&=:; ".contains(letter));
    if to.contains('$') {
        return None;
    }
    if plain(pattern) && !pattern.is_empty() {
        return Some(if all { text.replace(pattern, to) } else { text.replacen(pattern, to, 1) });
    }
    let letters = pattern.strip_prefix('[')?.strip_suffix(']')?;
    if !plain(letters) || letters.contains('-') || !all {
        return None;
    }
    Some(text.replace(|letter| letters.contains(letter), to))
}

fn slice(text: &str, name: &str, args: &[Value]) -> Option<Value> {
    let letters: Vec<char> = text.chars().collect();
    let len = i64::try_from(letters.len()).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a cut beyond the text is the text's end")]
    let number = |index: usize, default: i64| match args.get(index) {
        None | Some(Value::Undefined) => Some(default),
        Some(value) => value.number().map(|number| number as i64),
    };
    let from_end = |at: i64| if at < 0 { (len + at).max(0) } else { at.min(len) };
    let (start, end) = match name {
        "slice" => (from_end(number(0, 0)?), from_end(number(1, len)?)),
        "substring" => {
            let (a, b) = (number(0, 0)?.clamp(0, len), number(1, len)?.clamp(0, len));
            (a.min(b), a.max(b))
        }
        _ => {
            let start = from_end(number(0, 0)?);
            (start, (start + number(1, len)?.max(0)).min(len))
        }
    };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end.max(start)).ok()?);
    Some(Value::text(&letters.get(start..end)?.iter().collect::<String>()))
}

fn list_method(list: &Rc<[Value]>, name: &str, args: &[Value]) -> Option<Value> {
    Some(match name {
        "join" => {
            let between = match args.first() {
                None | Some(Value::Undefined) => ",".to_owned(),
                Some(value) => value.string()?,
            };
            Value::text(&joined(list, &between)?)
        }
        "reverse" | "toReversed" => Value::List(list.iter().rev().cloned().collect()),
        "concat" => {
            let mut all = list.to_vec();
            for more in args {
                match more {
                    Value::List(more) => all.extend(more.iter().cloned()),
                    Value::Unknown => return None,
                    value => all.push(value.clone()),
                }
            }
            Value::List(all.into())
        }
        "at" => Value::List(Rc::clone(list)).member(args.first()?),
        "flat" => Value::List(Rc::clone(list)),
        "pop" => list.last().cloned().unwrap_or(Value::Undefined),
        "shift" => list.first().cloned().unwrap_or(Value::Undefined),
        "slice" if args.is_empty() => Value::List(Rc::clone(list)),
        _ => return None,
    })
}

/// A call of a global function that is pure.
pub(crate) fn global_call(names: &[&str], args: &[Value]) -> Option<Value> {
    match names {
        ["String"] => args.first().map_or(Some(Value::text("")), |value| value.string().map(|text| Value::text(&text))),
        ["Number"] => args.first()?.number().map(Value::Number),
        ["parseInt"] => {
            let radix = args.get(1).and_then(Value::as_number).and_then(whole).unwrap_or(10);
            let number = i32::from_str_radix(args.first()?.as_text()?.trim(), u32::try_from(radix).ok()?.clamp(2, 36));
            Some(Value::Number(f64::from(number.ok()?)))
        }
        ["String", "fromCharCode" | "fromCodePoint"] => letters(args),
        ["atob"] => Some(Value::text(&String::from_utf8(base64(args.first()?.as_text()?)?).ok()?)),
        ["Buffer", "from"] => match args {
            [Value::Text(text), Value::Text(encoding)] if matches!(&**encoding, "base64" | "base64url") => {
                Some(Value::text(&String::from_utf8(base64(text)?).ok()?))
            }
            [Value::Text(text), Value::Text(encoding)] if &**encoding == "hex" => {
                Some(Value::text(&String::from_utf8(hex(text)?).ok()?))
            }
            [Value::List(list)] => letters(list),
            [Value::Text(text)] => Some(Value::Text(Rc::clone(text))),
            _ => None,
        },
        ["decodeURIComponent" | "decodeURI" | "unescape"] => percent(args.first()?.as_text()?),
        ["Object" | "Reflect", "getPrototypeOf"] => Some(args.first()?.member(&Value::text("__proto__"))),
        ["Object", "freeze" | "seal" | "assign"] => args.first().cloned(),
        ["Reflect", "get"] => Some(args.first()?.member(args.get(1)?)),
        ["Array", "of"] => Some(Value::List(args.into())),
        ["Reflect", "construct"] => Some(Value::thing(Root::Somewhere, Vec::<Key>::new())),
        _ => None,
    }
}

/// Text of character codes.
fn letters(codes: &[Value]) -> Option<Value> {
    let letters: Option<String> = codes
        .iter()
        .map(|code| {
            let code = u32::try_from(whole(code.as_number()?)?).ok()?;
            char::from_u32(code)
        })
        .collect();
    letters.map(|text| Value::text(&text))
}

/// RFC 4648, both alphabets; blanks and missing padding are forgiven.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in text.bytes().filter(|letter| !letter.is_ascii_whitespace() && *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            #[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    digits?.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}

/// RFC 3986 percent-decoding.
fn percent(text: &str) -> Option<Value> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let code = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Some(Value::text(&String::from_utf8(bytes).ok()?))
}

fn in_radix(number: f64, radix: f64) -> Option<String> {
    let (mut number, radix) = (whole(number)?, whole(radix).filter(|radix| (2..=36).contains(radix))?);
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(u32::try_from(number % radix).ok()?, u32::try_from(radix).ok()?)?);
        number /= radix;
        if number == 0 {
            return Some(digits.into_iter().rev().collect());
        }
    }
}
