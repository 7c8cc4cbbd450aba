//! Makes inputs of others: something in them is gone, is there twice, is a little different, or is what stands elsewhere.
//!
//! Invariant: the same dice make the same inputs. What is made need not pass what is declared; the schema says that.
//!
//! The method is that of fuzzers that learn from what they see (AFL, Zalewski 2014): inputs with new answers are changed again.

use serde_json::Value;

use super::dice::Dice;
use super::stamps::{is_stamp, shifted};

/// A value inside an input: where it is (a JSON pointer), and what it is called: the nearest name of a field.
struct Node<'v> {
    at: String,
    name: &'v str,
    value: &'v Value,
}

/// All values inside a value, and not itself.
fn nodes(value: &Value) -> Vec<Node<'_>> {
    fn gather<'v>(value: &'v Value, at: &str, name: &'v str, found: &mut Vec<Node<'v>>) {
        let mut add = |step: &str, name: &'v str, value: &'v Value| {
            let at = format!("{at}/{step}");
            gather(value, &at, name, found);
            found.push(Node { at, name, value });
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

/// The input with one to three changes.
pub(super) fn changed(input: &Value, others: &[Value], dice: &mut Dice) -> Value {
    let mut made = input.clone();
    for _ in 0..=dice.below(3) {
        made = step(&made, others, dice);
    }
    made
}

/// The input with some of its values taken from elsewhere in it: what compares, merges or looks things up shows what it
/// does where its parameters have to do with each other.
pub(super) fn related(input: &Value, dice: &mut Dice) -> Value {
    let mut made = input.clone();
    for _ in 0..=dice.below(4) {
        let mut all = nodes(&made);
        if dice.below(2) == 0 {
            // Parameters themselves, rather than what is in them.
            all.retain(|node| node.at.rfind('/') == Some(0));
        }
        let Some(node) = dice.pick(&all) else { break };
        let Some(new) = met(node, &all, dice) else { continue };
        made = replaced(&made, &node.at, new);
    }
    made
}

fn step(input: &Value, others: &[Value], dice: &mut Dice) -> Value {
    let all = nodes(input);
    let Some(node) = dice.pick(&all) else { return input.clone() };
    let new = match dice.below(9) {
        0..=2 => met(node, &all, dice),
        3 | 4 => dice.pick(others).and_then(|other| spliced(node, other, dice)),
        5 => return removed(input, &node.at),
        _ => None,
    };
    let new = new.unwrap_or_else(|| nearly(node.value, dice));
    replaced(input, &node.at, new)
}

fn replaced(input: &Value, at: &str, new: Value) -> Value {
    let mut made = input.clone();
    if let Some(old) = made.pointer_mut(at) {
        *old = new;
    }
    made
}

fn removed(input: &Value, at: &str) -> Value {
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

/// What stands in place of a value so that it has to do with another one in the input; nothing where none is of its kind.
fn met(node: &Node<'_>, all: &[Node<'_>], dice: &mut Dice) -> Option<Value> {
    let elsewhere: Vec<&Value> =
        all.iter().filter(|other| !node.at.starts_with(&other.at)).map(|other| other.value).collect();
    let of_kind: Vec<&Value> = elsewhere.iter().copied().filter(|it| alike(it, node.value)).collect();
    match node.value {
        Value::String(text) => met_text(text, &of_kind, &elsewhere, dice),
        Value::Number(_) => {
            let other = *dice.pick(&of_kind)?;
            Some(if dice.below(3) == 0 { nearly(other, dice) } else { other.clone() })
        }
        Value::Array(items) if dice.below(2) == 0 && (is_words(node.value) || items.is_empty()) => {
            let texts: Vec<&str> = elsewhere.iter().filter_map(|other| other.as_str()).collect();
            let text = *dice.pick(&texts)?;
            Some((0..2 + dice.below(4)).map(|_| piece(text, dice)).collect())
        }
        Value::Object(fields) if dice.below(2) == 0 => {
            // Maps have names that stand elsewhere.
            let texts: Vec<&str> = elsewhere.iter().filter_map(|other| other.as_str()).collect();
            let (name, new) = (fields.keys().nth(dice.below(fields.len()))?, piece_or_all(dice.pick(&texts)?, dice));
            let called = |known: &String| if known == name { new.clone() } else { known.clone() };
            Some(Value::Object(fields.iter().map(|(name, value)| (called(name), value.clone())).collect()))
        }
        Value::Object(fields) if dice.below(3) == 0 => {
            // Records have fields that others have, with what those have or nearly that.
            let (name, value) = entry(dice.pick(&of_kind)?, dice)?;
            let mut fields = fields.clone();
            fields.insert(name, if dice.below(2) == 0 { nearly(&value, dice) } else { value });
            Some(Value::Object(fields))
        }
        Value::Array(_) | Value::Object(_) => {
            let other = *dice.pick(&of_kind)?;
            Some(if dice.below(3) == 0 { other.clone() } else { nearly(other, dice) })
        }
        _ => None,
    }
}

/// What stands in place of a text: another one or nearly that, a part of one, the name of a field, what is made of a list.
fn met_text(text: &str, texts: &[&Value], elsewhere: &[&Value], dice: &mut Dice) -> Option<Value> {
    if is_stamp(text) {
        let stamps: Vec<&Value> = texts.iter().copied().filter(|it| it.as_str().is_some_and(is_stamp)).collect();
        let other = *dice.pick(&stamps)?;
        return Some(if dice.below(2) == 0 { other.clone() } else { nearly(other, dice) });
    }
    let lists: Vec<&Value> = elsewhere.iter().copied().filter(|it| is_words(it)).collect();
    if dice.below(4) == 0 && !lists.is_empty() {
        return Some(Value::String(sentence(dice.pick(&lists)?, dice)));
    }
    let keys = elsewhere.iter().filter_map(|other| other.as_object()).flat_map(|fields| fields.keys());
    let texts: Vec<&str> = texts.iter().filter_map(|it| it.as_str()).chain(keys.map(String::as_str)).collect();
    let other = *dice.pick(&texts)?;
    Some(match dice.below(6) {
        0 | 1 => Value::String(other.to_owned()),
        2 => Value::String(piece(other, dice)),
        3 => Value::String(inserted(text, other, dice)),
        _ => nearly(&Value::String(other.to_owned()), dice),
    })
}

/// What another input has by the same name, or, of texts and lists, partly that.
fn spliced(node: &Node<'_>, other: &Value, dice: &mut Dice) -> Option<Value> {
    let all = nodes(other);
    let named: Vec<&Value> = all
        .iter()
        .filter(|other| other.name == node.name && alike(other.value, node.value))
        .map(|other| other.value)
        .collect();
    let other = *dice.pick(&named)?;
    match (node.value, other) {
        (Value::String(text), Value::String(other)) if !is_stamp(text) && dice.below(2) == 0 => {
            let between = between(text);
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

/// A field of a record, and what it holds.
fn entry(record: &Value, dice: &mut Dice) -> Option<(String, Value)> {
    let fields = record.as_object()?;
    fields.iter().nth(dice.below(fields.len())).map(|(name, value)| (name.clone(), value.clone()))
}

/// Whether this is a list of texts.
fn is_words(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string))
}

/// A text of what is in a list, or of parts of that: with blanks between them where there are any, as that script has them.
fn sentence(words: &Value, dice: &mut Dice) -> String {
    let words: Vec<&str> = words.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let between = if dice.below(2) == 0 { "" } else { " " };
    let some = (0..=dice.below(6)).filter_map(|_| Some(piece_or_all(dice.pick(&words)?, dice)));
    some.collect::<Vec<_>>().join(between)
}

/// Whether values are of one kind.
fn alike(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// What the parts of a text stand between.
fn between(text: &str) -> &'static str {
    ["\n", " ", ","].into_iter().find(|between| text.contains(between)).unwrap_or_default()
}

/// One to three signs, or a word, of a text.
fn piece(text: &str, dice: &mut Dice) -> String {
    let between = between(text);
    if !between.is_empty() && dice.below(2) == 0 {
        let parts: Vec<&str> = text.split(between).collect();
        return dice.pick(&parts).copied().unwrap_or_default().to_owned();
    }
    let signs: Vec<char> = text.chars().collect();
    let (start, len) = (dice.below(signs.len()), 1 + dice.below(3));
    signs.into_iter().skip(start).take(len).collect()
}

fn piece_or_all(text: &str, dice: &mut Dice) -> String {
    if dice.below(3) == 0 { piece(text, dice) } else { text.to_owned() }
}

/// A text with another one between two of its parts.
fn inserted(text: &str, other: &str, dice: &mut Dice) -> String {
    let between = between(text);
    let mut parts: Vec<&str> = text.split(between).collect();
    parts.insert(dice.below(parts.len() + 1), other);
    parts.join(between)
}

/// A value with one part of it gone, twice there, or changed with its neighbour.
fn nearly(value: &Value, dice: &mut Dice) -> Value {
    match value {
        Value::String(text) if is_stamp(text) => Value::String(shifted(text, dice)),
        Value::String(text) => Value::String(match dice.below(6) {
            0 => text.to_uppercase(),
            1 => text.to_lowercase(),
            turn => {
                let between = if turn % 2 == 0 { between(text) } else { "" };
                if between.is_empty() {
                    let mut signs: Vec<char> = text.chars().collect();
                    shuffled(&mut signs, dice);
                    return Value::String(signs.into_iter().collect());
                }
                let mut parts: Vec<String> = text.split(between).map(str::to_owned).collect();
                shuffled(&mut parts, dice);
                parts.join(between)
            }
        }),
        Value::Array(items) => {
            let mut items = items.clone();
            shuffled(&mut items, dice);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let at = dice.below(fields.len());
            let mut changed = fields.clone();
            if let Some(value) = changed.values_mut().nth(at) {
                *value = nearly(value, dice);
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
            None => number.as_f64().map_or(Value::Null, |number| super::sense::whole(number.trunc())),
        },
        Value::Bool(value) => Value::Bool(!value),
        Value::Null => Value::Null,
    }
}

fn shuffled<T: Clone>(parts: &mut Vec<T>, dice: &mut Dice) {
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
            // Elsewhere, or several times in a row.
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
        let mut dice = Dice(7);
        (0..300).map(|_| changed(input, others, &mut dice)).collect()
    }

    #[test]
    fn the_same_dice_make_the_same_inputs() {
        let input = json!({"rows": [{"id": 1, "name": "a b"}], "key": "id"});
        assert_eq!(made(&input, &[]), made(&input, &[]));
    }

    #[test]
    fn what_stands_in_one_place_comes_to_stand_in_another() {
        let meets = |input: Value, expect: Value| {
            let mut dice = Dice(7);
            assert!((0..300).any(|_| related(&input, &mut dice) == expect), "{expect}");
        };
        // A text that is the name of a field; a map that has what a list has; a word of a sentence in a list of words.
        meets(json!({"rows": {"qty": 1}, "by": "x"}), json!({"rows": {"qty": 1}, "by": "qty"}));
        meets(json!({"sums": ["EUR"], "rates": {"a": 2}}), json!({"sums": ["EUR"], "rates": {"EUR": 2}}));
        meets(json!({"text": "abc", "words": ["x"]}), json!({"text": "abc", "words": ["bc"]}));
        meets(json!({"a": [1, 2], "b": []}), json!({"a": [1, 2], "b": [1, 2, 2]}));
        meets(json!({"a": {"x": 1}, "b": {"y": 2}}), json!({"a": {"x": 1, "y": 2}, "b": {"y": 2}}));
    }

    #[test]
    fn dates_and_times_stay_what_they_are() {
        for input in [json!({"d": "2024-02-28", "e": "1999-12-31T10:00:00Z"}), json!({"t": "9:30", "u": "23:59"})] {
            let mut dice = Dice(7);
            for _ in 0..300 {
                let made = related(&input, &mut dice);
                assert!(made.as_object().unwrap().values().all(|text| is_stamp(text.as_str().unwrap())), "{made}");
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
