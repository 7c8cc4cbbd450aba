//! Makes inputs plausible: intervals end after they start, and references point to existing
//! records.
//!
//! Invariant: a plausible input is unchanged. Equivalent tools may differ on implausible inputs;
//! such inputs are repaired first, because a difference on them proves nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Names of lower and upper values.
const ORDERED_PAIRS: [(&str, &str); 12] = [
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
/// Names of identifying fields.
const ID_FIELDS: [&str; 7] = ["id", "key", "code", "name", "task", "node", "number"];
/// Names of fields that refer to other records.
const REFERENCE_FIELDS: [&str; 16] = [
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

/// Returns a plausible version of the input.
pub(super) fn make_plausible(mut value: Value) -> Value {
    repair(&mut value);
    value
}

fn repair(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("");
            fields.values_mut().for_each(repair);
            order_pairs(fields);
        }
        Value::Array(items) => {
            items.iter_mut().for_each(repair);
            repair_references(items);
        }
        _ => {}
    }
}

/// Orders most intervals. Some stay reversed, as a shift that ends after midnight.
fn order_pairs(fields: &mut Map<String, Value>) {
    for (first, then) in ORDERED_PAIRS {
        let named = |name: &&String| name.contains(first) && fields.contains_key(&name.replacen(first, then, 1));
        let Some(name) = fields.keys().find(named).cloned() else { continue };
        let other = name.replacen(first, then, 1);
        let (one, two) = (fields[&name].clone(), fields[&other].clone());
        let is_reversed = match (&one, &two) {
            (Value::Number(one), Value::Number(two)) => one.as_f64() > two.as_f64(),
            (Value::String(one), Value::String(two)) => one > two,
            _ => false,
        };
        if is_reversed && !hash_rank(&one).is_multiple_of(8) {
            fields.insert(name, two);
            fields.insert(other, one);
        }
    }
}

/// Repairs references between records: identifiers become unique, and references acyclic.
fn repair_references(items: &mut [Value]) {
    let is_reference = |name: &str, own: &str| {
        name != own
            && (name.ends_with("_id")
                || name.ends_with("Id")
                || split_words(name).iter().any(|it| REFERENCE_FIELDS.contains(&it.as_str())))
    };
    let records: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    let has = |own: &&&str| records.iter().all(|record| record.get(**own).is_some_and(is_identifier));
    let Some(own) = ID_FIELDS.iter().find(has).filter(|_| records.len() == items.len()).copied() else { return };
    if !records.iter().any(|record| record.keys().any(|name| is_reference(name, own))) {
        return;
    }
    let mut known = BTreeSet::new();
    for record in items.iter_mut().filter_map(Value::as_object_mut) {
        while let Some(name) = record.get_mut(own).filter(|name| !known.insert(name.to_string())) {
            *name = next_identifier(name);
        }
    }
    let names: Vec<Value> = items.iter().map(|item| item[own].clone()).collect();
    for record in items.iter_mut().filter_map(Value::as_object_mut) {
        let below = record.get(own).map_or(0, hash_rank);
        let before: Vec<&Value> = names.iter().filter(|name| hash_rank(name) < below).collect();
        record.retain(|name, value| !is_reference(name, own) || repair_reference(value, &before));
    }
}

/// Makes a reference point to one of the targets; returns false if that is impossible.
fn repair_reference(value: &mut Value, to: &[&Value]) -> bool {
    if let Value::Array(items) = value {
        items.retain_mut(|item| repair_reference(item, to));
        items.dedup();
        return true;
    }
    if value.is_null() {
        return true;
    }
    if !to.contains(&&*value) {
        let turn = usize::try_from(hash_rank(value)).unwrap_or(0);
        let Some(other) = to.get(turn % to.len().max(1)) else { return false };
        *value = (*other).clone();
    }
    true
}

fn is_identifier(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// Returns another identifier that is similar to this one.
fn next_identifier(name: &Value) -> Value {
    match name {
        Value::Number(number) => Value::from(number.as_i64().map_or(1, |number| number.wrapping_add(1))),
        other => Value::String(format!("{}b", other.as_str().unwrap_or("a"))),
    }
}

/// Returns a rank that is independent of the list order (FNV-1a).
fn hash_rank(value: &Value) -> u64 {
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mixed) >> 8
}

fn split_words(name: &str) -> Vec<String> {
    name.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase).collect()
}

/// Converts a float without a fraction to a JSON integer.
#[expect(clippy::cast_possible_truncation, reason = "a value out of range saturates")]
pub(super) fn to_integer(number: f64) -> Value {
    Value::from(number as i64)
}

/// Returns whether an input is unremarkable: nothing in it is empty, blank, negative or of many
/// decimals, no list has mixed types, and no interval is reversed.
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

/// Returns whether every list and map among the parameters has content: otherwise the tool may have
/// nothing to do.
pub(super) fn has_content(input: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    input.as_object().is_none_or(|fields| !fields.values().any(is_empty))
}

/// Returns whether any interval in the value is reversed.
fn is_reversed(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_reversed),
        Value::Object(fields) => {
            let pairs = ORDERED_PAIRS.iter().any(|(first, then)| {
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
            assert_eq!(make_plausible(value.clone()), value);
        }
        let once =
            make_plausible(json!([{"id": 1, "parent": 9}, {"id": 1, "parent": 1}, {"id": 2}, {"id": 3, "parent": 3}]));
        assert_eq!(make_plausible(once.clone()), once);
    }

    #[test]
    fn records_refer_to_others_that_are_there_once() {
        let made = make_plausible(json!([{"id": 1, "parent": 9}, {"id": 1, "parent": 1}, {"id": 2, "needs": [7, 8]}]));
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
            make_plausible(json!({"start_date": "2024-02-01", "end_date": "2024-01-01"})),
            json!({"start_date": "2024-01-01", "end_date": "2024-02-01"})
        );
        let nights = (0..1000).filter(|number| {
            let made = make_plausible(json!({"from": number + 1, "to": number}));
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
