//! Constant folding of string methods.

use std::rc::Rc;

use swc_atoms::Atom;

use super::regexp;
use crate::semantics::value::{Value, as_index};

/// Folds `text.name(args)`; `None` if the result is not certain.
pub(super) fn method(text: &Atom, name: &str, args: &[Value]) -> Option<Value> {
    let argument = |index: usize| args.get(index);
    Some(match name {
        "toString" | "valueOf" | "normalize" => Value::Text(text.clone()),
        "toLowerCase" => Value::text(&text.to_lowercase()),
        "toUpperCase" => Value::text(&text.to_uppercase()),
        "trim" => Value::text(text.trim()),
        "concat" => args.iter().fold(Value::Text(text.clone()), |value, more| value.plus(more)),
        "charAt" | "at" => Value::Text(text.clone()).member(argument(0)?),
        "charCodeAt" | "codePointAt" => {
            let index = as_index(argument(0).map_or(Some(0.0), Value::to_number)?)?;
            let letter = text.chars().nth(index)?;
            Value::Number(f64::from(u32::from(letter)))
        }
        "slice" | "substring" | "substr" => slice(text, name, args)?,
        "split" => {
            let parts: Vec<Value> = match argument(0) {
                Some(Value::Text(between)) if between.is_empty() => return Some(Value::List(char_list(text))),
                Some(Value::Text(between)) => text.split(&**between).map(Value::text).collect(),
                None => vec![Value::Text(text.clone())],
                Some(Value::Pattern(pattern, flags)) => regexp::split(text, pattern, flags)?,
                _ => return None,
            };
            Value::List(parts.into())
        }
        "repeat" => {
            let times = as_index(argument(0)?.to_number()?)?;
            if times.saturating_mul(text.len()) > 4096 {
                return None;
            }
            Value::text(&text.repeat(times))
        }
        "replace" | "replaceAll" => match args {
            [Value::Text(from), Value::Text(to)] if name == "replace" => Value::text(&text.replacen(&**from, to, 1)),
            [Value::Text(from), Value::Text(to)] => Value::text(&text.replace(&**from, to)),
            [Value::Pattern(pattern, flags), Value::Text(to)] if !to.contains('$') => {
                Value::text(&regexp::replace_with(text, pattern, flags, &mut |_| Some(to.to_string()))?)
            }
            _ => return None,
        },
        "match" => match args {
            [Value::Pattern(pattern, flags)] => regexp::match_text(text, pattern, flags)?,
            _ => return None,
        },
        "trimStart" => Value::text(text.trim_start()),
        "trimEnd" => Value::text(text.trim_end()),
        "padStart" | "padEnd" => {
            let length = as_index(argument(0)?.to_number()?).filter(|length| *length <= 4096)?;
            let with = argument(1).map_or(Some(" ".to_owned()), Value::to_js_string)?;
            let missing = length.saturating_sub(text.chars().count());
            let padding: String = with.chars().cycle().take(if with.is_empty() { 0 } else { missing }).collect();
            Value::text(&if name == "padStart" { padding + text } else { text.to_string() + &padding })
        }
        "indexOf" | "lastIndexOf" => {
            let needle = argument(0)?.to_js_string()?;
            let at = if name == "indexOf" { text.find(&needle) } else { text.rfind(&needle) };
            Value::Number(at.map_or(-1.0, |at| super::len_to_number(text[..at].chars().count())))
        }
        "includes" => Value::Bool(text.contains(&argument(0)?.to_js_string()?)),
        "startsWith" => Value::Bool(text.starts_with(&argument(0)?.to_js_string()?)),
        "endsWith" => Value::Bool(text.ends_with(&argument(0)?.to_js_string()?)),
        _ => return None,
    })
}

/// Returns the characters of a text as a list.
pub(super) fn char_list(text: &str) -> Rc<[Value]> {
    text.chars().map(|letter| Value::text(letter.encode_utf8(&mut [0; 4]))).collect()
}

fn slice(text: &str, name: &str, args: &[Value]) -> Option<Value> {
    let letters: Vec<char> = text.chars().collect();
    let len = i64::try_from(letters.len()).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a cut beyond the text is the text's end")]
    let number = |index: usize, default: i64| match args.get(index) {
        None | Some(Value::Undefined) => Some(default),
        Some(value) => value.to_number().map(|number| number as i64),
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
