//! Input mutation: removes, duplicates, perturbs or copies parts of inputs.
//!
//! Invariant: the same generator state gives the same inputs. A mutated input may be invalid; the
//! schema decides.
//!
//! The method is coverage-guided fuzzing (AFL, Zalewski 2014), with new outcomes as the guide:
//! inputs with new outcomes are mutated again.

use serde_json::Value;

use super::dates::{is_date_or_time, shift};
use super::rng::SplitMix64;

/// A value inside an input, with its JSON Pointer and the nearest field name.
struct InputNode<'v> {
    pointer: String,
    name: &'v str,
    value: &'v Value,
}

/// Returns all values inside a value, without itself.
fn nodes(value: &Value) -> Vec<InputNode<'_>> {
    fn gather<'v>(value: &'v Value, at: &str, name: &'v str, found: &mut Vec<InputNode<'v>>) {
        let mut add = |step: &str, name: &'v str, value: &'v Value| {
            let at = format!("{at}/{step}");
            gather(value, &at, name, found);
            found.push(InputNode { pointer: at, name, value });
        };
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    add(&name.replace('~', "~0").replace('/', "~1"), name, value);
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    add(&at.to_string(), name, value);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    gather(value, "", "", &mut found);
    found
}

/// Returns the input with one to three mutations.
pub(super) fn mutate(input: &Value, others: &[Value], dice: &mut SplitMix64) -> Value {
    let mut made = input.clone();
    for _ in 0..=dice.below(3) {
        made = mutate_once(&made, others, dice);
    }
    made
}

/// Returns the input with some values copied from elsewhere in it: tools that compare, merge or
/// look things up behave differently when their parameters are related.
pub(super) fn relate_values(input: &Value, dice: &mut SplitMix64) -> Value {
    let mut made = input.clone();
    for _ in 0..=dice.below(4) {
        let mut all = nodes(&made);
        if dice.below(2) == 0 {
            // Whole parameters instead of their parts.
            all.retain(|node| node.pointer.rfind('/') == Some(0));
        }
        let Some(node) = dice.pick(&all) else { break };
        let Some(new) = related_value(node, &all, dice) else { continue };
        made = replace_at(&made, &node.pointer, new);
    }
    made
}

fn mutate_once(input: &Value, others: &[Value], dice: &mut SplitMix64) -> Value {
    let all = nodes(input);
    let Some(node) = dice.pick(&all) else { return input.clone() };
    let new = match dice.below(9) {
        0..=2 => related_value(node, &all, dice),
        3 | 4 => dice.pick(others).and_then(|other| splice(node, other, dice)),
        5 => return remove_at(input, &node.pointer),
        _ => None,
    };
    let new = new.unwrap_or_else(|| perturb(node.value, dice));
    replace_at(input, &node.pointer, new)
}

fn replace_at(input: &Value, at: &str, new: Value) -> Value {
    let mut made = input.clone();
    if let Some(old) = made.pointer_mut(at) {
        *old = new;
    }
    made
}

fn remove_at(input: &Value, at: &str) -> Value {
    let mut made = input.clone();
    let (whole, step) = at.rsplit_once('/').unwrap_or_default();
    match made.pointer_mut(whole) {
        Some(Value::Object(fields)) => {
            fields.shift_remove(&step.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Some(at) = step.parse().ok().filter(|at| *at < items.len()) {
                items.remove(at);
            }
        }
        _ => {}
    }
    made
}

/// Returns a replacement that relates a value to another one in the input, or `None` if
/// the input has no other value of its type.
fn related_value(node: &InputNode<'_>, all: &[InputNode<'_>], dice: &mut SplitMix64) -> Option<Value> {
    let elsewhere: Vec<&Value> =
        all.iter().filter(|other| !node.pointer.starts_with(&other.pointer)).map(|other| other.value).collect();
    let of_kind: Vec<&Value> = elsewhere.iter().copied().filter(|it| is_same_type(it, node.value)).collect();
    match node.value {
        Value::String(text) => related_text(text, &of_kind, &elsewhere, dice),
        Value::Number(_) => {
            let other = *dice.pick(&of_kind)?;
            Some(if dice.below(3) == 0 { perturb(other, dice) } else { other.clone() })
        }
        Value::Array(items) if dice.below(2) == 0 && (is_string_list(node.value) || items.is_empty()) => {
            let texts: Vec<&str> = elsewhere.iter().filter_map(|other| other.as_str()).collect();
            let text = *dice.pick(&texts)?;
            Some((0..2 + dice.below(4)).map(|_| pick_piece(text, dice)).collect())
        }
        Value::Object(fields) if dice.below(2) == 0 => {
            // A map gets a key that occurs elsewhere.
            let texts: Vec<&str> = elsewhere.iter().filter_map(|other| other.as_str()).collect();
            let (name, new) =
                (fields.keys().nth(dice.below(fields.len()))?, pick_piece_or_all(dice.pick(&texts)?, dice));
            let called = |known: &String| if known == name { new.clone() } else { known.clone() };
            Some(Value::Object(fields.iter().map(|(name, value)| (called(name), value.clone())).collect()))
        }
        Value::Object(fields) if dice.below(3) == 0 => {
            // A record gets a field of another record, with the same or a similar value.
            let (name, value) = pick_field(dice.pick(&of_kind)?, dice)?;
            let mut fields = fields.clone();
            fields.insert(name, if dice.below(2) == 0 { perturb(&value, dice) } else { value });
            Some(Value::Object(fields))
        }
        Value::Array(_) | Value::Object(_) => {
            let other = *dice.pick(&of_kind)?;
            Some(if dice.below(3) == 0 { other.clone() } else { perturb(other, dice) })
        }
        _ => None,
    }
}

/// Returns a replacement for a text: another text or a similar one, a part of one, the name of a
/// field, or joined items of a list.
fn related_text(text: &str, texts: &[&Value], elsewhere: &[&Value], dice: &mut SplitMix64) -> Option<Value> {
    if is_date_or_time(text) {
        let stamps: Vec<&Value> = texts.iter().copied().filter(|it| it.as_str().is_some_and(is_date_or_time)).collect();
        let other = *dice.pick(&stamps)?;
        return Some(if dice.below(2) == 0 { other.clone() } else { perturb(other, dice) });
    }
    let lists: Vec<&Value> = elsewhere.iter().copied().filter(|it| is_string_list(it)).collect();
    if dice.below(4) == 0 && !lists.is_empty() {
        return Some(Value::String(join_pieces(dice.pick(&lists)?, dice)));
    }
    let keys = elsewhere.iter().filter_map(|other| other.as_object()).flat_map(|fields| fields.keys());
    let texts: Vec<&str> = texts.iter().filter_map(|it| it.as_str()).chain(keys.map(String::as_str)).collect();
    let other = *dice.pick(&texts)?;
    Some(match dice.below(6) {
        0 | 1 => Value::String(other.to_owned()),
        2 => Value::String(pick_piece(other, dice)),
        3 => Value::String(insert_piece(text, other, dice)),
        _ => perturb(&Value::String(other.to_owned()), dice),
    })
}

/// Returns the value of the same field of another input, or a splice of both.
fn splice(node: &InputNode<'_>, other: &Value, dice: &mut SplitMix64) -> Option<Value> {
    let all = nodes(other);
    let named: Vec<&Value> = all
        .iter()
        .filter(|other| other.name == node.name && is_same_type(other.value, node.value))
        .map(|other| other.value)
        .collect();
    let other = *dice.pick(&named)?;
    match (node.value, other) {
        (Value::String(text), Value::String(other)) if !is_date_or_time(text) && dice.below(2) == 0 => {
            let between = separator_of(text);
            let (ones, others): (Vec<&str>, Vec<&str>) =
                (text.split(between).collect(), other.split(between).collect());
            let (end, start) = (dice.below(ones.len() + 1), dice.below(others.len() + 1));
            Some(Value::String([&ones[..end], &others[start..]].concat().join(between)))
        }
        (Value::Array(items), Value::Array(others)) if dice.below(2) == 0 => {
            let (end, start) = (dice.below(items.len() + 1), dice.below(others.len() + 1));
            Some(Value::Array([&items[..end], &others[start..]].concat()))
        }
        (_, other) => Some(other.clone()),
    }
}

/// Returns a random field of a record.
fn pick_field(record: &Value, dice: &mut SplitMix64) -> Option<(String, Value)> {
    let fields = record.as_object()?;
    fields.iter().nth(dice.below(fields.len())).map(|(name, value)| (name.clone(), value.clone()))
}

/// Returns whether the value is a list of texts.
fn is_string_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string))
}

/// Joins random items of a list, or parts of them, to a text: with spaces, or without as in scripts
/// without them.
fn join_pieces(words: &Value, dice: &mut SplitMix64) -> String {
    let words: Vec<&str> = words.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let between = if dice.below(2) == 0 { "" } else { " " };
    let some = (0..=dice.below(6)).filter_map(|_| Some(pick_piece_or_all(dice.pick(&words)?, dice)));
    some.collect::<Vec<_>>().join(between)
}

/// Returns whether the values have the same type.
fn is_same_type(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Returns the separator of a text's parts.
fn separator_of(text: &str) -> &'static str {
    ["\n", " ", ","].into_iter().find(|between| text.contains(between)).unwrap_or_default()
}

/// Returns one to three characters, or a word, of a text.
fn pick_piece(text: &str, dice: &mut SplitMix64) -> String {
    let between = separator_of(text);
    if !between.is_empty() && dice.below(2) == 0 {
        let parts: Vec<&str> = text.split(between).collect();
        return dice.pick(&parts).copied().unwrap_or_default().to_owned();
    }
    let signs: Vec<char> = text.chars().collect();
    let (start, len) = (dice.below(signs.len()), 1 + dice.below(3));
    signs.into_iter().skip(start).take(len).collect()
}

fn pick_piece_or_all(text: &str, dice: &mut SplitMix64) -> String {
    if dice.below(3) == 0 { pick_piece(text, dice) } else { text.to_owned() }
}

/// Inserts a text between two parts of another.
fn insert_piece(text: &str, other: &str, dice: &mut SplitMix64) -> String {
    let between = separator_of(text);
    let mut parts: Vec<&str> = text.split(between).collect();
    parts.insert(dice.below(parts.len() + 1), other);
    parts.join(between)
}

/// Returns the value with one part removed, duplicated, or swapped with its neighbour.
fn perturb(value: &Value, dice: &mut SplitMix64) -> Value {
    match value {
        Value::String(text) if is_date_or_time(text) => Value::String(shift(text, dice)),
        Value::String(text) => Value::String(match dice.below(6) {
            0 => text.to_uppercase(),
            1 => text.to_lowercase(),
            turn => {
                let between = if turn % 2 == 0 { separator_of(text) } else { "" };
                if between.is_empty() {
                    let mut signs: Vec<char> = text.chars().collect();
                    perturb_parts(&mut signs, dice);
                    return Value::String(signs.into_iter().collect());
                }
                let mut parts: Vec<String> = text.split(between).map(str::to_owned).collect();
                perturb_parts(&mut parts, dice);
                parts.join(between)
            }
        }),
        Value::Array(items) => {
            let mut items = items.clone();
            perturb_parts(&mut items, dice);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let at = dice.below(fields.len());
            let mut changed = fields.clone();
            if let Some(value) = changed.values_mut().nth(at) {
                *value = perturb(value, dice);
            }
            Value::Object(changed)
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => Value::from(match dice.below(4) {
                0 => number.saturating_sub(1),
                1 => number / 2,
                2 => number.saturating_mul(2),
                _ => number.saturating_add(1),
            }),
            None => number.as_f64().map_or(Value::Null, |number| super::plausible::to_integer(number.trunc())),
        },
        Value::Bool(value) => Value::Bool(!value),
        Value::Null => Value::Null,
    }
}

fn perturb_parts<T: Clone>(parts: &mut Vec<T>, dice: &mut SplitMix64) {
    let at = dice.below(parts.len());
    match dice.below(4) {
        0 if at + 1 < parts.len() => parts.swap(at, at + 1),
        1 if at < parts.len() => {
            parts.remove(at);
        }
        2 if at < parts.len() => {
            let to = dice.below(parts.len());
            parts.swap(at, to);
        }
        _ => {
            // Moved elsewhere, or repeated in place.
            if let Some(part) = parts.get(at).cloned() {
                let (at, count) = if dice.below(2) == 0 { (dice.below(parts.len() + 1), 1) } else { (at, 2) };
                parts.splice(at..at, std::iter::repeat_n(part, count));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(input: &Value, others: &[Value]) -> Vec<Value> {
        let mut dice = SplitMix64(7);
        (0..300).map(|_| mutate(input, others, &mut dice)).collect()
    }

    #[test]
    fn the_same_dice_make_the_same_inputs() {
        let input = json!({"rows": [{"id": 1, "name": "a b"}], "key": "id"});
        assert_eq!(made(&input, &[]), made(&input, &[]));
    }

    #[test]
    fn what_stands_in_one_place_comes_to_stand_in_another() {
        let meets = |input: Value, expect: Value| {
            let mut dice = SplitMix64(7);
            assert!((0..300).any(|_| relate_values(&input, &mut dice) == expect), "{expect}");
        };
        // A text that becomes the name of a field; a map with a key from a list; a part of a text
        // in a list of words.
        meets(json!({"rows": {"qty": 1}, "by": "x"}), json!({"rows": {"qty": 1}, "by": "qty"}));
        meets(json!({"sums": ["EUR"], "rates": {"a": 2}}), json!({"sums": ["EUR"], "rates": {"EUR": 2}}));
        meets(json!({"text": "abc", "words": ["x"]}), json!({"text": "abc", "words": ["bc"]}));
        meets(json!({"a": [1, 2], "b": []}), json!({"a": [1, 2], "b": [1, 2, 2]}));
        meets(json!({"a": {"x": 1}, "b": {"y": 2}}), json!({"a": {"x": 1, "y": 2}, "b": {"y": 2}}));
    }

    #[test]
    fn dates_and_times_stay_what_they_are() {
        for input in [json!({"d": "2024-02-28", "e": "1999-12-31T10:00:00Z"}), json!({"t": "9:30", "u": "23:59"})] {
            let mut dice = SplitMix64(7);
            for _ in 0..300 {
                let made = relate_values(&input, &mut dice);
                assert!(
                    made.as_object().unwrap().values().all(|text| is_date_or_time(text.as_str().unwrap())),
                    "{made}"
                );
            }
        }
    }

    #[test]
    fn parts_come_from_other_inputs_by_their_name() {
        let made = made(&json!({"a": 1, "b": "x"}), &[json!({"a": 50, "b": "y z"})]);
        assert!(made.iter().any(|made| *made == json!({"a": 50, "b": "x"})));
        assert!(made.iter().any(|made| made["b"] == json!("y z")));
    }
}
