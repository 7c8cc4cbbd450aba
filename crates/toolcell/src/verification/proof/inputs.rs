//! Generates parameters from a tool's declaration: at the boundaries, near its examples, and at
//! random.
//!
//! Invariant: generated values shrink, towards smaller ones and towards the examples. The schema
//! decides whether they are valid; invalid ones are not passed to the tool.
//!
//! The method is property testing (`QuickCheck`, Claessen and Hughes 2000) with boundary values,
//! and with a dictionary and mutated examples as in fuzzers.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::dictionary::Dictionary;
use super::numbers::number_strategy;
use super::strategies::{Hint, InputStyle, weighted_union};
use super::{text_edge_cases, text_samples};

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 5;
/// The maximum number of items of a list, by its depth.
const MAX_LIST_ITEMS: [usize; 5] = [60, 60, 8, 3, 2];
/// The maximum number of items in nested lists together, and of characters in their texts.
const MAX_TOTAL_ITEMS: usize = 4_000;
const MAX_TOTAL_TEXT_CHARS: usize = 100_000;
/// The text length in characters that is allowed at any depth.
const SHORT_TEXT_CHARS: usize = 100;
/// The maximum number of schema values that are visited.
const MAX_SCHEMA_VALUES: usize = 400;
/// The default maximum number of items of a list.
const DEFAULT_LIST_ITEMS: usize = 6;

/// The generator of parameters.
pub(crate) struct InputGenerator<'a> {
    schema: &'a Value,
    examples: &'a [Value],
    dictionary: &'a Dictionary,
    style: InputStyle,
    /// The number of schema values that may still be visited.
    values_left: Cell<usize>,
    /// How often the visited value occurs in one input: the product of the lengths of the lists
    /// around it.
    multiplicity: Cell<usize>,
}

impl<'a> InputGenerator<'a> {
    /// Creates a generator from a schema (`null` if nothing is declared), valid parameters, and a
    /// dictionary.
    pub(crate) const fn new(
        schema: &'a Value,
        examples: &'a [Value],
        dictionary: &'a Dictionary,
        manner: InputStyle,
    ) -> Self {
        Self {
            schema,
            examples,
            dictionary,
            style: manner,
            values_left: Cell::new(MAX_SCHEMA_VALUES),
            multiplicity: Cell::new(1),
        }
    }

    /// Returns the strategy for parameters: new ones, or an example with some fields replaced.
    pub(crate) fn strategy(&self) -> BoxedStrategy<Value> {
        let seen: Vec<&Value> = self.examples.iter().collect();
        let topic = self.schema["description"].as_str().unwrap_or_default();
        let new = self.value(self.schema, &seen, Hint { topic, ..Hint::default() }, 0);
        if self.examples.is_empty() {
            return new;
        }
        let mixed = (select(self.examples.to_vec()), new.clone(), any::<u64>()).prop_map(mix_fields);
        weighted_union(vec![(3, mixed.boxed()), (2, new)])
    }

    fn value(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        // A schema with several recursive references has more paths than can be followed.
        let Some(room) = self.values_left.get().checked_sub(1) else { return Just(Value::Null).boxed() };
        self.values_left.set(room);
        let schema = self.resolve_ref(schema);
        let about = schema["description"].as_str().filter(|_| depth > 0).unwrap_or(hint.description);
        let hint = Hint { description: about, ..hint };
        if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return select(values.clone()).boxed();
        }
        if let Some(value) = schema.get("const") {
            return Just(value.clone()).boxed();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[key].as_array().filter(|branches| !branches.is_empty() && depth < MAX_DEPTH)
            {
                return weighted_union(
                    branches.iter().map(|branch| (1, self.value(branch, seen, hint, depth + 1))).collect(),
                );
            }
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind.as_str()],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema["properties"].is_object() => vec!["object"],
            _ => return self.undeclared(seen, hint, depth),
        };
        let each =
            kinds.iter().map(|kind| (1, self.value_of_type(kind, schema, seen, hint, depth))).collect::<Vec<_>>();
        if each.is_empty() { Just(Value::Null).boxed() } else { weighted_union(each) }
    }

    fn value_of_type(
        &self,
        kind: &str,
        schema: &Value,
        seen: &[&Value],
        hint: Hint<'_>,
        depth: usize,
    ) -> BoxedStrategy<Value> {
        match kind {
            "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
            "integer" | "number" => {
                let is_counted = self.style == InputStyle::Ordinary && text_samples::is_count(hint.name);
                number_strategy(schema, seen, kind == "integer" || is_counted, self.style)
            }
            "string" => text_edge_cases::text_strategy(
                schema,
                seen,
                &self.dictionary.texts,
                (hint, self.style),
                self.longest_text(),
            ),
            "array" => self.list(schema, seen, hint, depth),
            "object" => self.object(schema, seen, hint, depth),
            _ => Just(Value::Null).boxed(),
        }
    }

    /// Returns the strategy for an undeclared value: types as in the examples, otherwise scalars,
    /// or objects with the fields that the source reads.
    fn undeclared(&self, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        if !seen.is_empty() {
            let mut kinds: Vec<&str> = seen.iter().map(|value| type_name(value)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let modest = json!({ "minimum": -1_000_000_000, "maximum": 1_000_000_000 });
            let of = |kind: &&str| {
                let of_kind: Vec<&Value> = seen.iter().copied().filter(|value| type_name(value) == *kind).collect();
                (1, self.value_of_type(kind, &modest, &of_kind, hint, depth))
            };
            return weighted_union(kinds.iter().map(of).collect());
        }
        let ordinary = InputStyle::Ordinary;
        let numbers = number_strategy(
            &json!({ "minimum": -1000, "maximum": 1000 }),
            &[],
            text_samples::is_count(hint.name),
            ordinary,
        );
        // A field with a number-like name holds a number. If the source reads fields, other names
        // are those of lists of records.
        let is_field = self.dictionary.fields.iter().any(|field| field == hint.name);
        if text_samples::is_number(hint.name) && (is_field || self.dictionary.fields.is_empty()) {
            return numbers;
        }
        let texts = text_edge_cases::text_strategy(
            &Value::Null,
            &[],
            &self.dictionary.texts,
            (hint, ordinary),
            self.longest_text(),
        );
        if is_field && text_samples::is_text(hint.name) {
            return texts;
        }
        // A field has the same type in all records of a list.
        let hash = hint.name.bytes().fold(7, |hash, byte| hash * 31 % 1009 + u32::from(byte));
        match if hint.variant == 0 || !is_field { 0 } else { (hash >> hint.variant) % 5 } {
            1 | 2 => return numbers,
            3 | 4 => return texts,
            _ => {}
        }
        let mut choices = vec![(2, numbers), (2, texts)];
        if !self.dictionary.fields.is_empty() && depth <= 2 {
            let fields = self.dictionary.fields.iter();
            let schema: Map<String, Value> = fields.map(|name| (name.clone(), json!({}))).collect();
            let schema = json!({ "properties": schema, "required": self.dictionary.fields });
            choices.push((12, self.object(&schema, &[], hint, MAX_DEPTH - 1)));
        }
        // Fields that other parameters name are drawn from the same names as those parameters;
        // their values may be lists or records.
        if depth < MAX_DEPTH {
            choices.push((2, self.open_object(&json!({}), &[], hint, depth.max(2) + 1)));
        }
        if (1..MAX_DEPTH).contains(&depth) {
            let few = self.undeclared(&[], hint, MAX_DEPTH);
            let often = if self.style == InputStyle::Ordinary { 3 } else { 1 };
            choices.push((often, proptest::collection::vec(few, 0..4).prop_map(Value::Array).boxed()));
        }
        weighted_union(choices)
    }

    /// Returns the maximum length of a text at the current position in characters.
    fn longest_text(&self) -> usize {
        (MAX_TOTAL_TEXT_CHARS / self.multiplicity.get()).max(SHORT_TEXT_CHARS)
    }

    fn list(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let inside: Vec<&Value> = seen.iter().filter_map(|value| value.as_array()).flatten().collect();
        // Nested lists are short: a longer declared minimum is not reached, and the schema refuses
        // the value.
        let times = self.multiplicity.get();
        let longest = MAX_LIST_ITEMS[depth.min(MAX_LIST_ITEMS.len() - 1)].min((MAX_TOTAL_ITEMS / times).max(1));
        let least = size_keyword(schema, "minItems").unwrap_or(0).min(longest);
        let most =
            size_keyword(schema, "maxItems").unwrap_or(least.max(DEFAULT_LIST_ITEMS)).clamp(least, longest.max(least));
        if depth >= MAX_DEPTH {
            return Just(json!([])).boxed();
        }
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        if self.style == InputStyle::Ordinary && hint.variant == 0 && inside.is_empty() {
            let turns = (1..=4).map(|turn| (2, self.list(schema, seen, Hint { variant: turn, ..hint }, depth)));
            let kinds = [json!({ "type": "number" }), json!({ "type": "string" })];
            let is_open = schema["items"].as_object().is_none_or(Map::is_empty);
            let same = kinds.into_iter().filter(|_| is_open).map(|kind| {
                let mut schema = schema.clone();
                schema["items"] = kind;
                (1, self.list(&schema, seen, Hint { variant: 5, ..hint }, depth))
            });
            return weighted_union(turns.chain(same).collect());
        }
        self.multiplicity.set(times.saturating_mul(most.min(least + 40).max(1)));
        let item = self.value(&schema["items"], &inside, hint, depth + 1);
        self.multiplicity.set(times);
        let few = proptest::collection::vec(item.clone(), least..=most.min(least + DEFAULT_LIST_ITEMS));
        // Repeated and many items are boundary cases of lists.
        let same = (item.clone(), least.max(2)..=most.max(2)).prop_map(|(item, count)| vec![item; count.min(40)]);
        let many = proptest::collection::vec(item, least..=most.min(least + 40));
        let lists = weighted_union(vec![(6, few.boxed()), (1, same.boxed()), (1, many.boxed())]);
        if first.is_empty() {
            return lists.prop_map(Value::Array).boxed();
        }
        let first: Vec<BoxedStrategy<Value>> =
            first.iter().map(|item| self.value(item, &[], hint, depth + 1)).collect();
        first.prop_map(Value::Array).boxed()
    }

    fn object(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let seen: Vec<&Map<String, Value>> = seen.iter().filter_map(|value| value.as_object()).collect();
        let declared = schema["properties"].as_object().filter(|declared| !declared.is_empty());
        let Some(declared) = declared else { return self.open_object(schema, &seen, hint, depth) };
        // The depth of records is bounded separately from that of lists and maps; recursion ends
        // here.
        if depth >= 2 * MAX_DEPTH {
            return Just(json!({})).boxed();
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = declared
            .iter()
            .map(|(name, schema)| {
                let inside: Vec<&Value> = seen.iter().filter_map(|object| object.get(name)).collect();
                self.field(name, schema, &inside, required.contains(&name.as_str()), (hint, depth))
            })
            .collect();
        fields.prop_map(to_object).boxed()
    }

    /// Returns the strategy for an undeclared object: with the fields of the examples, otherwise
    /// with any.
    fn open_object(
        &self,
        schema: &Value,
        seen: &[&Map<String, Value>],
        hint: Hint<'_>,
        depth: usize,
    ) -> BoxedStrategy<Value> {
        let mut names: Vec<&String> = seen.iter().flat_map(|object| object.keys()).collect();
        names.sort();
        names.dedup();
        let values = &schema["additionalProperties"];
        let shared = |name: &&String| seen.iter().all(|object| object.contains_key(*name));
        // Objects without a common field are maps.
        if seen.is_empty() || !names.iter().any(shared) {
            let inside: Vec<&Value> = seen.iter().flat_map(|object| object.values()).collect();
            if depth >= MAX_DEPTH {
                return Just(json!({})).boxed();
            }
            let words: Vec<String> =
                if names.is_empty() { self.dictionary.fields.clone() } else { names.into_iter().cloned().collect() };
            let mut each = vec![(4, self.value(values, &inside, hint, depth + 1))];
            if self.style == InputStyle::Ordinary && values.is_null() && inside.is_empty() {
                // Most maps have numbers or texts as values.
                let known = json!({ "minimum": 0, "maximum": 1000 });
                each.push((3, number_strategy(&known, &[], false, self.style)));
                let (words, longest) = (&self.dictionary.texts, self.longest_text());
                each.push((2, text_edge_cases::text_strategy(&Value::Null, &[], words, (hint, self.style), longest)));
            }
            let map = |(often, value)| {
                let pairs = proptest::collection::vec(
                    (text_edge_cases::field_name_strategy(&words, hint, self.style), value),
                    0..4,
                );
                (often, pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect())).boxed())
            };
            let map = weighted_union(each.into_iter().map(map).collect());
            // The fields that the source reads may be here.
            if self.dictionary.fields.is_empty() || !seen.is_empty() || depth > 1 {
                return map;
            }
            let read: Vec<BoxedStrategy<Option<(String, Value)>>> = self
                .dictionary
                .fields
                .iter()
                .map(|name| self.field(name, &Value::Null, &[], true, (hint, depth + 1)))
                .collect();
            return weighted_union(vec![(2, map), (2, read.prop_map(to_object).boxed())]);
        }
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = names
            .iter()
            .map(|name| {
                let inside: Vec<&Value> = seen.iter().filter_map(|object| object.get(*name)).collect();
                self.field(name, values, &inside, shared(name), (hint, depth))
            })
            .collect();
        fields.prop_map(to_object).boxed()
    }

    /// Returns the strategy for a required or optional field.
    fn field(
        &self,
        name: &str,
        schema: &Value,
        seen: &[&Value],
        is_required: bool,
        (hint, depth): (Hint<'_>, usize),
    ) -> BoxedStrategy<Option<(String, Value)>> {
        let hint = Hint { name, description: "", ..hint };
        let owned = name.to_owned();
        let value = self.value(schema, seen, hint, depth + 1).prop_map(move |value| Some((owned.clone(), value)));
        if is_required { value.boxed() } else { weighted_union(vec![(1, Just(None).boxed()), (3, value.boxed())]) }
    }

    /// Resolves a reference.
    fn resolve_ref<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let Some(reference) = schema["$ref"].as_str() else { break };
            let Some(found) = reference.strip_prefix('#').and_then(|pointer| self.schema.pointer(pointer)) else {
                break;
            };
            schema = found;
        }
        schema
    }
}

/// Replaces the fields of an example whose bits are set.
fn mix_fields((example, new, bits): (Value, Value, u64)) -> Value {
    let (Value::Object(example), Value::Object(new)) = (example, new) else { return Value::Null };
    let mut mixed = example.clone();
    let mut names: Vec<&String> = example.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    for (_, name) in names.into_iter().enumerate().filter(|(at, _)| bits >> (at % 64) & 1 == 1) {
        match new.get(name) {
            Some(value) => mixed.insert(name.clone(), value.clone()),
            None => mixed.shift_remove(name),
        };
    }
    Value::Object(mixed)
}

fn to_object(fields: Vec<Option<(String, Value)>>) -> Value {
    Value::Object(fields.into_iter().flatten().collect())
}

fn size_keyword(schema: &Value, key: &str) -> Option<usize> {
    schema[key].as_u64().and_then(|size| usize::try_from(size).ok())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
