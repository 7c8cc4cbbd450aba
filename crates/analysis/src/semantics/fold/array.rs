//! Constant folding of array methods.

use std::rc::Rc;

use crate::semantics::value::{Value, join_list};

/// Folds `list.name(args)`; `None` if the result is not certain.
pub(super) fn method(list: &Rc<[Value]>, name: &str, args: &[Value]) -> Option<Value> {
    Some(match name {
        "join" => {
            let between = match args.first() {
                None | Some(Value::Undefined) => ",".to_owned(),
                Some(value) => value.to_js_string()?,
            };
            Value::text(&join_list(list, &between)?)
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
            Value::list(all)
        }
        "at" => Value::List(Rc::clone(list)).member(args.first()?),
        "flat" => {
            let mut flat = Vec::new();
            for value in &**list {
                match value {
                    Value::List(more) => flat.extend(more.iter().cloned()),
                    value => flat.push(value.clone()),
                }
            }
            Value::list(flat)
        }
        "pop" => list.last().cloned().unwrap_or(Value::Undefined),
        "shift" => list.first().cloned().unwrap_or(Value::Undefined),
        "slice" => {
            #[expect(clippy::cast_possible_truncation, reason = "a cut beyond the list is the list's end")]
            let at = |index: usize, default: i64| match args.get(index) {
                None | Some(Value::Undefined) => Some(default),
                Some(value) => value.to_number().map(|number| number as i64),
            };
            let len = i64::try_from(list.len()).ok()?;
            let from_end = |at: i64| if at < 0 { (len + at).max(0) } else { at.min(len) };
            let (start, end) = (from_end(at(0, 0)?), from_end(at(1, len)?));
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end.max(start)).ok()?);
            Value::List(list.get(start..end)?.into())
        }
        "toString" if !list.is_empty() && list.iter().all(|value| value.as_number().is_some()) => {
            // Numbers are decoded as the bytes of a `Buffer`; calling `toString` on a list of plain
            // numbers is rare.
            super::utf8_to_text(list)?
        }
        "toString" => Value::text(&join_list(list, ",")?),
        "indexOf" => {
            let wanted = args.first().filter(|value| matches!(value, Value::Text(_) | Value::Number(_)))?;
            Value::Number(list.iter().position(|value| value == wanted).map_or(-1.0, super::len_to_number))
        }
        "includes" => {
            let wanted = args.first().filter(|value| matches!(value, Value::Text(_) | Value::Number(_)))?;
            let certain = list.iter().all(|value| *value != Value::Unknown);
            Value::Bool(Some(list.contains(wanted)).filter(|found| *found || certain)?)
        }
        "fill" => Value::List(vec![args.first()?.clone(); list.len()].into()),
        "keys" => Value::List((0..list.len()).map(|index| Value::Number(super::len_to_number(index))).collect()),
        "entries" => {
            let pairs = list
                .iter()
                .enumerate()
                .map(|(index, value)| Value::List([Value::Number(super::len_to_number(index)), value.clone()].into()));
            Value::List(pairs.collect())
        }
        "values" => Value::List(Rc::clone(list)),
        "subarray" => return method(list, "slice", args),
        _ => return None,
    })
}
