//! Makes sense of inputs: what has a start ends after it, what refers to something refers to what is there, once.
//!
//! Invariant: what makes sense is left as it is. Of what makes none, two tools that do the same need not say the same, so that it
//! would tell nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Names of what comes first, and of what comes after it.
const PAIRS: [(&str, &str); 12] = [
    ("start", "end"),
    ("Start", "End"),
    ("from", "to"),
    ("from", "until"),
    ("From", "To"),
    ("begin", "end"),
    ("min", "max"),
    ("low", "high"),
    ("lower", "upper"),
    ("open", "close"),
    ("since", "until"),
    ("in", "out"),
];
/// Names of what tells records apart.
const OWN: [&str; 7] = ["id", "key", "code", "name", "task", "node", "number"];
/// Names of what refers to other records.
const REFERENCES: [&str; 16] = [
    "manager",
    "parent",
    "boss",
    "lead",
    "supervisor",
    "depends",
    "requires",
    "needs",
    "after",
    "prerequisites",
    "predecessor",
    "deps",
    "dependencies",
    "blocked",
    "reply",
    "ref",
];

/// The input as it makes sense.
pub(super) fn sensible(mut value: Value) -> Value {
    settle(&mut value);
    value
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("");
            fields.values_mut().for_each(settle);
            order(fields);
        }
        Value::Array(items) => {
            items.iter_mut().for_each(settle);
            refer(items);
        }
        _ => {}
    }
}

/// Most starts come before their ends. Some do not: a shift ends after midnight.
fn order(fields: &mut Map<String, Value>) {
    for (first, then) in PAIRS {
        let named = |name: &&String| name.contains(first) && fields.contains_key(&name.replacen(first, then, 1));
        let Some(name) = fields.keys().find(named).cloned() else { continue };
        let other = name.replacen(first, then, 1);
        let (one, two) = (fields[&name].clone(), fields[&other].clone());
        let is_reversed = match (&one, &two) {
            (Value::Number(one), Value::Number(two)) => one.as_f64() > two.as_f64(),
            (Value::String(one), Value::String(two)) => one > two,
            _ => false,
        };
        if is_reversed && !rank(&one).is_multiple_of(8) {
            fields.insert(name, two);
            fields.insert(other, one);
        }
    }
}

/// Where records refer to one another, each has a name of its own, and none refers to itself in the end.
fn refer(items: &mut [Value]) {
    let is_reference = |name: &str, own: &str| {
        name != own
            && (name.ends_with("_id")
                || name.ends_with("Id")
                || parts(name).iter().any(|it| REFERENCES.contains(&it.as_str())))
    };
    let records: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    let has = |own: &&&str| records.iter().all(|record| record.get(**own).is_some_and(is_name));
    let Some(own) = OWN.iter().find(has).filter(|_| records.len() == items.len()).copied() else { return };
    if !records.iter().any(|record| record.keys().any(|name| is_reference(name, own))) {
        return;
    }
    let mut known = BTreeSet::new();
    for record in items.iter_mut().filter_map(Value::as_object_mut) {
        while let Some(name) = record.get_mut(own).filter(|name| !known.insert(name.to_string())) {
            *name = next(name);
        }
    }
    let names: Vec<Value> = items.iter().map(|item| item[own].clone()).collect();
    for record in items.iter_mut().filter_map(Value::as_object_mut) {
        let below = record.get(own).map_or(0, rank);
        let before: Vec<&Value> = names.iter().filter(|name| rank(name) < below).collect();
        record.retain(|name, value| !is_reference(name, own) || refers(value, &before));
    }
}

/// Whether what refers can; it refers to one of these then.
fn refers(value: &mut Value, to: &[&Value]) -> bool {
    if let Value::Array(items) = value {
        items.retain_mut(|item| refers(item, to));
        items.dedup();
        return true;
    }
    if value.is_null() {
        return true;
    }
    if !to.contains(&&*value) {
        let turn = usize::try_from(rank(value)).unwrap_or(0);
        let Some(other) = to.get(turn % to.len().max(1)) else { return false };
        *value = (*other).clone();
    }
    true
}

fn is_name(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// Another name, near this one.
fn next(name: &Value) -> Value {
    match name {
        Value::Number(number) => Value::from(number.as_i64().map_or(1, |number| number.wrapping_add(1))),
        other => Value::String(format!("{}b", other.as_str().unwrap_or("a"))),
    }
}

/// A place in an order that has nothing to do with the one of lists (FNV-1a).
fn rank(value: &Value) -> u64 {
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mixed) >> 8
}

fn parts(name: &str) -> Vec<String> {
    name.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase).collect()
}

/// A number without a fraction, as JSON writes it.
#[expect(clippy::cast_possible_truncation, reason = "what is too large saturates")]
pub(super) fn whole(number: f64) -> Value {
    Value::from(number as i64)
}

/// Whether nobody would wonder about an input: nothing in it is empty, blank, below zero or of many decimals, no list has
/// several kinds of things, and it makes sense.
pub(super) fn is_plain(input: &Value) -> bool {
    fn plain(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(_) => true,
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(-1.0);
                let cents = number * 100.0;
                (0.0..1e9).contains(&number) && (cents - cents.round()).abs() < 1e-6
            }
            Value::String(text) => !text.is_empty() && text.trim() == text,
            Value::Array(items) => {
                let kind = items.first().map(std::mem::discriminant);
                kind.is_some() && items.iter().all(|item| Some(std::mem::discriminant(item)) == kind && plain(item))
            }
            Value::Object(fields) => {
                !fields.is_empty() && fields.iter().all(|(name, value)| !name.is_empty() && plain(value))
            }
        }
    }
    plain(input) && !is_reversed(input)
}

/// Whether every list and every map that a tool is given has something in it: else the tool may have had nothing to do.
pub(super) fn is_full(input: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    input.as_object().is_none_or(|fields| !fields.values().any(is_empty))
}

/// Whether anything in it ends before it starts.
fn is_reversed(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_reversed),
        Value::Object(fields) => {
            let pairs = PAIRS.iter().any(|(first, then)| {
                fields.iter().filter(|(name, _)| name.contains(first)).any(|(name, one)| {
                    let two = fields.get(&name.replacen(first, then, 1));
                    match (one, two) {
                        (Value::Number(one), Some(Value::Number(two))) => one.as_f64() > two.as_f64(),
                        (Value::String(one), Some(Value::String(two))) => one > two,
                        _ => false,
                    }
                })
            });
            pairs || fields.values().any(is_reversed)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_makes_sense_is_left_as_it_is() {
        for value in [
            json!({"start": "08:00", "end": "09:00"}),
            json!([{"id": 1}, {"id": 1}]),
            json!({"minutes": 3, "rows": [{"id": "a"}, {"name": ""}]}),
        ] {
            assert_eq!(sensible(value.clone()), value);
        }
        let once = sensible(json!([{"id": 1, "parent": 9}, {"id": 1, "parent": 1}, {"id": 2}, {"id": 3, "parent": 3}]));
        assert_eq!(sensible(once.clone()), once);
    }

    #[test]
    fn records_refer_to_others_that_are_there_once() {
        let made = sensible(json!([{"id": 1, "parent": 9}, {"id": 1, "parent": 1}, {"id": 2, "needs": [7, 8]}]));
        let ids: Vec<&Value> = made.as_array().unwrap().iter().map(|record| &record["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!(2), &json!(3)]);
        for record in made.as_array().unwrap() {
            for one in [&record["parent"], &record["needs"][0]] {
                assert!(one.is_null() || (ids.contains(&one) && *one != record["id"]), "{made}");
            }
        }
    }

    #[test]
    fn most_starts_come_before_their_ends() {
        assert_eq!(
            sensible(json!({"start_date": "2024-02-01", "end_date": "2024-01-01"})),
            json!({"start_date": "2024-01-01", "end_date": "2024-02-01"})
        );
        let nights = (0..1000).filter(|number| {
            let made = sensible(json!({"from": number + 1, "to": number}));
            made["from"].as_i64() > made["to"].as_i64()
        });
        let nights = nights.count();
        assert!((60..200).contains(&nights), "{nights}");
    }

    #[test]
    fn what_is_plain_has_nothing_to_wonder_about() {
        for (input, expect) in [
            (json!({"text": "a b", "n": 2, "price": 19.99, "rows": [{"id": 1}]}), true),
            (json!({"text": ""}), false),
            (json!({"text": " a"}), false),
            (json!({"n": -1}), false),
            (json!({"n": 0.333}), false),
            (json!({"rows": [1, "a"]}), false),
            (json!({"rows": []}), false),
            (json!({"start": 2, "end": 1}), false),
        ] {
            assert_eq!(is_plain(&input), expect, "{input}");
        }
    }
}
