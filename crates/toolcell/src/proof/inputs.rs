//! Makes parameters of what a tool declares: at the borders of it, near its examples, and anywhere in between.
//!
//! Invariant: what is made shrinks: towards less, and towards what an example has. Whether it passes what is declared is for
//! the schema to say, and what does not is not handed to the tool.
//!
//! The method is property testing (`QuickCheck`, Claessen and Hughes 2000), with values at borders (boundary value analysis),
//! and with a dictionary and mutated examples as fuzzers have them.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use super::dictionary::Dictionary;
use super::numbers::numbers;
use super::{samples, strings};

/// How deep values are nested at most.
const DEPTH: usize = 5;
/// How many items a list has at most, by how deep it is.
const LONGEST_LISTS: [usize; 5] = [60, 60, 8, 3, 2];
/// How many items the lists inside of each other have together, and how long the texts in them are.
const ALL_ITEMS: usize = 4_000;
const ALL_TEXTS: usize = 100_000;
/// A text may be as long as this wherever it stands.
const SHORT_TEXT: usize = 100;
/// How many values a schema is taken to have.
const ROOM: usize = 400;
/// How many items a list has where nothing is said.
const ITEMS: usize = 6;
/// How often something is made, and what.
pub(super) type Choice<T> = (u32, BoxedStrategy<T>);

/// Whether inputs are to break a tool, or to show what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// At the borders of what is declared, as well as within.
    Hostile,
    /// As people have them.
    Ordinary,
}

/// What a value is called, and what is said about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hint<'h> {
    pub(super) name: &'h str,
    pub(super) about: &'h str,
    /// What is said about all of it.
    pub(super) topic: &'h str,
    /// By what it is decided which kind of thing a field holds that is not declared; 0 where each may hold any.
    pub(super) turn: u32,
}

/// What parameters are made of.
pub(crate) struct Inputs<'a> {
    schema: &'a Value,
    examples: &'a [Value],
    dictionary: &'a Dictionary,
    manner: Manner,
    /// How many more values are looked at.
    room: Cell<usize>,
    /// How often the value that is looked at stands in one input: the lengths of the lists around it, multiplied.
    times: Cell<usize>,
}

/// One of several; there is at least one.
pub(super) fn any_of<T: std::fmt::Debug + 'static>(choices: Vec<Choice<T>>) -> BoxedStrategy<T> {
    Union::new_weighted(choices).boxed()
}

impl<'a> Inputs<'a> {
    /// Of a schema (`null` where nothing is declared), of parameters that are known to be good, and of what a source says.
    pub(crate) const fn new(
        schema: &'a Value,
        examples: &'a [Value],
        dictionary: &'a Dictionary,
        manner: Manner,
    ) -> Self {
        Self { schema, examples, dictionary, manner, room: Cell::new(ROOM), times: Cell::new(1) }
    }

    /// Parameters: made anew, or an example with some of its fields made anew.
    pub(crate) fn strategy(&self) -> BoxedStrategy<Value> {
        let seen: Vec<&Value> = self.examples.iter().collect();
        let topic = self.schema["description"].as_str().unwrap_or_default();
        let new = self.value(self.schema, &seen, Hint { topic, ..Hint::default() }, 0);
        if self.examples.is_empty() {
            return new;
        }
        let mixed = (select(self.examples.to_vec()), new.clone(), any::<u64>()).prop_map(mixed);
        any_of(vec![(3, mixed.boxed()), (2, new)])
    }

    fn value(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        // A schema that refers to itself in several places has more ways than there is time for.
        let Some(room) = self.room.get().checked_sub(1) else { return Just(Value::Null).boxed() };
        self.room.set(room);
        let schema = self.followed(schema);
        let about = schema["description"].as_str().filter(|_| depth > 0).unwrap_or(hint.about);
        let hint = Hint { about, ..hint };
        if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return select(values.clone()).boxed();
        }
        if let Some(value) = schema.get("const") {
            return Just(value.clone()).boxed();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[key].as_array().filter(|branches| !branches.is_empty() && depth < DEPTH) {
                return any_of(branches.iter().map(|branch| (1, self.value(branch, seen, hint, depth + 1))).collect());
            }
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind.as_str()],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema["properties"].is_object() => vec!["object"],
            _ => return self.undeclared(seen, hint, depth),
        };
        let each = kinds.iter().map(|kind| (1, self.of_kind(kind, schema, seen, hint, depth))).collect::<Vec<_>>();
        if each.is_empty() { Just(Value::Null).boxed() } else { any_of(each) }
    }

    fn of_kind(
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
                let is_counted = self.manner == Manner::Ordinary && samples::is_counted(hint.name);
                numbers(schema, seen, kind == "integer" || is_counted, self.manner)
            }
            "string" => strings::texts(schema, seen, &self.dictionary.texts, (hint, self.manner), self.longest_text()),
            "array" => self.list(schema, seen, hint, depth),
            "object" => self.object(schema, seen, hint, depth),
            _ => Just(Value::Null).boxed(),
        }
    }

    /// What nothing is said about: as in the examples, else scalars, or objects with the fields that the source reads.
    fn undeclared(&self, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        if !seen.is_empty() {
            let mut kinds: Vec<&str> = seen.iter().map(|value| kind(value)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let modest = json!({ "minimum": -1_000_000_000, "maximum": 1_000_000_000 });
            let of = |kind: &&str| {
                let of_kind: Vec<&Value> = seen.iter().copied().filter(|value| self::kind(value) == *kind).collect();
                (1, self.of_kind(kind, &modest, &of_kind, hint, depth))
            };
            return any_of(kinds.iter().map(of).collect());
        }
        let ordinary = Manner::Ordinary;
        let numbers =
            numbers(&json!({ "minimum": -1000, "maximum": 1000 }), &[], samples::is_counted(hint.name), ordinary);
        // A field whose name says so holds a number. Where fields are read, other names are those of lists of records.
        let is_field = self.dictionary.fields.iter().any(|field| field == hint.name);
        if samples::is_number(hint.name) && (is_field || self.dictionary.fields.is_empty()) {
            return numbers;
        }
        let texts = strings::texts(&Value::Null, &[], &self.dictionary.texts, (hint, ordinary), self.longest_text());
        if is_field && samples::is_text(hint.name) {
            return texts;
        }
        // The same field holds the same kind of thing in all records of a list.
        let hash = hint.name.bytes().fold(7, |hash, byte| hash * 31 % 1009 + u32::from(byte));
        match if hint.turn == 0 || !is_field { 0 } else { (hash >> hint.turn) % 5 } {
            1 | 2 => return numbers,
            3 | 4 => return texts,
            _ => {}
        }
        let mut choices = vec![(2, numbers), (2, texts)];
        if !self.dictionary.fields.is_empty() && depth <= 2 {
            let fields = self.dictionary.fields.iter();
            let schema: Map<String, Value> = fields.map(|name| (name.clone(), json!({}))).collect();
            let schema = json!({ "properties": schema, "required": self.dictionary.fields });
            choices.push((12, self.object(&schema, &[], hint, DEPTH - 1)));
        }
        // Records whose fields are named by other parameters have names that other parameters draw as well; and what is in
        // them may be a list, or a record again.
        if depth < DEPTH {
            choices.push((2, self.open(&json!({}), &[], hint, depth.max(2) + 1)));
        }
        if (1..DEPTH).contains(&depth) {
            let few = self.undeclared(&[], hint, DEPTH);
            let often = if self.manner == Manner::Ordinary { 3 } else { 1 };
            choices.push((often, proptest::collection::vec(few, 0..4).prop_map(Value::Array).boxed()));
        }
        any_of(choices)
    }

    /// How long a text may be where it stands.
    fn longest_text(&self) -> usize {
        (ALL_TEXTS / self.times.get()).max(SHORT_TEXT)
    }

    fn list(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let inside: Vec<&Value> = seen.iter().filter_map(|value| value.as_array()).flatten().collect();
        // Lists in lists are short: what is declared beyond that is made too short, and refused by its schema.
        let times = self.times.get();
        let longest = LONGEST_LISTS[depth.min(LONGEST_LISTS.len() - 1)].min((ALL_ITEMS / times).max(1));
        let least = size(schema, "minItems").unwrap_or(0).min(longest);
        let most = size(schema, "maxItems").unwrap_or(least.max(ITEMS)).clamp(least, longest.max(least));
        if depth >= DEPTH {
            return Just(json!([])).boxed();
        }
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        if self.manner == Manner::Ordinary && hint.turn == 0 && inside.is_empty() {
            let turns = (1..=4).map(|turn| (2, self.list(schema, seen, Hint { turn, ..hint }, depth)));
            let kinds = [json!({ "type": "number" }), json!({ "type": "string" })];
            let is_open = schema["items"].as_object().is_none_or(Map::is_empty);
            let same = kinds.into_iter().filter(|_| is_open).map(|kind| {
                let mut schema = schema.clone();
                schema["items"] = kind;
                (1, self.list(&schema, seen, Hint { turn: 5, ..hint }, depth))
            });
            return any_of(turns.chain(same).collect());
        }
        self.times.set(times.saturating_mul(most.min(least + 40).max(1)));
        let item = self.value(&schema["items"], &inside, hint, depth + 1);
        self.times.set(times);
        let few = proptest::collection::vec(item.clone(), least..=most.min(least + ITEMS));
        // The same again and again, and many of them, are borders of lists.
        let same = (item.clone(), least.max(2)..=most.max(2)).prop_map(|(item, count)| vec![item; count.min(40)]);
        let many = proptest::collection::vec(item, least..=most.min(least + 40));
        let lists = any_of(vec![(6, few.boxed()), (1, same.boxed()), (1, many.boxed())]);
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
        let Some(declared) = declared else { return self.open(schema, &seen, hint, depth) };
        // Records are told of lists and maps in them; what refers to itself ends somewhere.
        if depth >= 2 * DEPTH {
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
        fields.prop_map(gathered).boxed()
    }

    /// An object of which nothing is declared: with the fields that examples have, else with any.
    fn open(&self, schema: &Value, seen: &[&Map<String, Value>], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let mut names: Vec<&String> = seen.iter().flat_map(|object| object.keys()).collect();
        names.sort();
        names.dedup();
        let values = &schema["additionalProperties"];
        let shared = |name: &&String| seen.iter().all(|object| object.contains_key(*name));
        // Objects that have no field in common are maps.
        if seen.is_empty() || !names.iter().any(shared) {
            let inside: Vec<&Value> = seen.iter().flat_map(|object| object.values()).collect();
            if depth >= DEPTH {
                return Just(json!({})).boxed();
            }
            let words: Vec<String> =
                if names.is_empty() { self.dictionary.fields.clone() } else { names.into_iter().cloned().collect() };
            let mut each = vec![(4, self.value(values, &inside, hint, depth + 1))];
            if self.manner == Manner::Ordinary && values.is_null() && inside.is_empty() {
                // Most maps are from names to numbers, or to texts.
                let known = json!({ "minimum": 0, "maximum": 1000 });
                each.push((3, numbers(&known, &[], false, self.manner)));
                let (words, longest) = (&self.dictionary.texts, self.longest_text());
                each.push((2, strings::texts(&Value::Null, &[], words, (hint, self.manner), longest)));
            }
            let map = |(often, value)| {
                let pairs = proptest::collection::vec((strings::names(&words, hint, self.manner), value), 0..4);
                (often, pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect())).boxed())
            };
            let map = any_of(each.into_iter().map(map).collect());
            // What the source reads by name may be here.
            if self.dictionary.fields.is_empty() || !seen.is_empty() || depth > 1 {
                return map;
            }
            let read: Vec<BoxedStrategy<Option<(String, Value)>>> = self
                .dictionary
                .fields
                .iter()
                .map(|name| self.field(name, &Value::Null, &[], true, (hint, depth + 1)))
                .collect();
            return any_of(vec![(2, map), (2, read.prop_map(gathered).boxed())]);
        }
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = names
            .iter()
            .map(|name| {
                let inside: Vec<&Value> = seen.iter().filter_map(|object| object.get(*name)).collect();
                self.field(name, values, &inside, shared(name), (hint, depth))
            })
            .collect();
        fields.prop_map(gathered).boxed()
    }

    /// A field that is there, or may be.
    fn field(
        &self,
        name: &str,
        schema: &Value,
        seen: &[&Value],
        is_required: bool,
        (hint, depth): (Hint<'_>, usize),
    ) -> BoxedStrategy<Option<(String, Value)>> {
        let hint = Hint { name, about: "", ..hint };
        let owned = name.to_owned();
        let value = self.value(schema, seen, hint, depth + 1).prop_map(move |value| Some((owned.clone(), value)));
        if is_required { value.boxed() } else { any_of(vec![(1, Just(None).boxed()), (3, value.boxed())]) }
    }

    /// The schema that a reference leads to.
    fn followed<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..DEPTH {
            let Some(reference) = schema["$ref"].as_str() else { break };
            let Some(found) = reference.strip_prefix('#').and_then(|pointer| self.schema.pointer(pointer)) else {
                break;
            };
            schema = found;
        }
        schema
    }
}

/// An example, with those fields taken from another object whose bits are set.
fn mixed((example, new, bits): (Value, Value, u64)) -> Value {
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

fn gathered(fields: Vec<Option<(String, Value)>>) -> Value {
    Value::Object(fields.into_iter().flatten().collect())
}

fn size(schema: &Value, key: &str) -> Option<usize> {
    schema[key].as_u64().and_then(|size| usize::try_from(size).ok())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
