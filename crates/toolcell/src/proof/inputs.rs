//! Makes parameters of what a tool declares: at the borders of it, near its examples, and anywhere in between.
//!
//! Invariant: what is made shrinks: towards less, and towards what an example has. Whether it passes what is declared is for
//! the schema to say, and what does not is not handed to the tool.
//!
//! The method is property testing (`QuickCheck`, Claessen and Hughes 2000), with values at borders (boundary value analysis),
//! and with a dictionary and mutated examples as fuzzers have them.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Number, Value, json};

use super::dictionary::Dictionary;
use super::{samples, strings};

/// How deep values are nested at most.
const DEPTH: usize = 5;
/// How many items a list has where nothing is said.
const ITEMS: usize = 6;
/// Numbers at the borders of how computers count.
const NUMBERS: [f64; 22] = [
    0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    10.0,
    -7.0,
    100.0,
    0.5,
    -0.5,
    0.1,
    1.005,
    1e-7,
    255.0,
    256.0,
    1e6,
    2_147_483_647.0,
    -2_147_483_649.0,
    4_294_967_296.0,
    9_007_199_254_740_991.0,
    -9_007_199_254_740_991.0,
    1e21,
];

/// Numbers as people have them.
const ORDINARY: [f64; 16] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 12.0, 30.0, 100.0, 1000.0, 0.5, 2.5, 19.99, -1.0];

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
}

/// What parameters are made of.
pub(crate) struct Inputs<'a> {
    schema: &'a Value,
    examples: &'a [Value],
    dictionary: &'a Dictionary,
    manner: Manner,
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
        Self { schema, examples, dictionary, manner }
    }

    /// Parameters: made anew, or an example with some of its fields made anew.
    pub(crate) fn strategy(&self) -> BoxedStrategy<Value> {
        let seen: Vec<&Value> = self.examples.iter().collect();
        let new = self.value(self.schema, &seen, Hint::default(), 0);
        if self.examples.is_empty() {
            return new;
        }
        let mixed = (select(self.examples.to_vec()), new.clone(), any::<u64>()).prop_map(mixed);
        any_of(vec![(3, mixed.boxed()), (2, new)])
    }

    fn value(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let schema = self.followed(schema);
        let hint = Hint { about: schema["description"].as_str().unwrap_or(hint.about), ..hint };
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
            "integer" | "number" => numbers(schema, seen, kind == "integer", self.manner),
            "string" => strings::texts(schema, seen, &self.dictionary.texts, hint, self.manner),
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
        let numbers = numbers(&json!({ "minimum": -1000, "maximum": 1000 }), &[], false, ordinary);
        // A field whose name says so holds a number.
        if samples::is_number(hint.name) {
            return numbers;
        }
        let texts = strings::texts(&Value::Null, &[], &self.dictionary.texts, hint, ordinary);
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
            choices.push((1, proptest::collection::vec(few, 0..4).prop_map(Value::Array).boxed()));
        }
        any_of(choices)
    }

    fn list(&self, schema: &Value, seen: &[&Value], hint: Hint<'_>, depth: usize) -> BoxedStrategy<Value> {
        let inside: Vec<&Value> = seen.iter().filter_map(|value| value.as_array()).flatten().collect();
        let least = size(schema, "minItems").unwrap_or(0);
        let most = size(schema, "maxItems").unwrap_or(least.max(ITEMS)).max(least);
        if depth >= DEPTH {
            return Just(json!([])).boxed();
        }
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        let item = self.value(&schema["items"], &inside, hint, depth + 1);
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
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = declared
            .iter()
            .map(|(name, schema)| {
                let inside: Vec<&Value> = seen.iter().filter_map(|object| object.get(name)).collect();
                self.field(name, schema, &inside, required.contains(&name.as_str()), depth)
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
            let value = self.value(values, &inside, hint, depth + 1);
            let pairs = proptest::collection::vec((strings::names(&words, hint, self.manner), value), 0..4);
            let map = pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect())).boxed();
            // What the source reads by name may be here.
            if self.dictionary.fields.is_empty() || !seen.is_empty() || depth > 1 {
                return map;
            }
            let read: Vec<BoxedStrategy<Option<(String, Value)>>> = self
                .dictionary
                .fields
                .iter()
                .map(|name| self.field(name, &Value::Null, &[], true, depth + 1))
                .collect();
            return any_of(vec![(2, map), (2, read.prop_map(gathered).boxed())]);
        }
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = names
            .iter()
            .map(|name| {
                let inside: Vec<&Value> = seen.iter().filter_map(|object| object.get(*name)).collect();
                self.field(name, values, &inside, shared(name), depth)
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
        depth: usize,
    ) -> BoxedStrategy<Option<(String, Value)>> {
        let hint = Hint { name, about: "" };
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
    for (at, name) in names.into_iter().enumerate().filter(|(at, _)| bits >> (at % 64) & 1 == 1) {
        let _ = at;
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

/// Numbers within what is declared.
fn numbers(schema: &Value, seen: &[&Value], is_integer: bool, manner: Manner) -> BoxedStrategy<Value> {
    let bound = |key: &str| schema[key].as_f64();
    let step = if is_integer { 1.0 } else { 0.001 };
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + step));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - step));
    let fits = move |number: &f64| {
        least.is_none_or(|least| *number >= least)
            && most.is_none_or(|most| *number <= most)
            && (!is_integer || number.fract() == 0.0)
    };
    let middle = least.zip(most).map(|(least, most)| f64::midpoint(least, most).round());
    let near = [least, least.map(|it| it + 1.0), most, most.map(|it| it - 1.0), middle, least.map(|it| it + 0.5)];
    let known = if manner == Manner::Hostile { NUMBERS.as_slice() } else { ORDINARY.as_slice() };
    let all = near.into_iter().flatten().chain(known.iter().copied());
    let mut borders: Vec<f64> = all.filter(|number| fits(number)).collect();
    borders.extend(seen.iter().filter_map(|value| value.as_f64()).filter(|number| fits(number)));
    let (low, high) = (least.unwrap_or(-1000.0).max(-1e15), most.unwrap_or(1000.0).min(1e15));
    let (low, high) = (low.min(high), high.max(low));
    let factor = schema["multipleOf"].as_f64();
    let rounded = move |number: f64| match factor {
        Some(factor) if factor > 0.0 => (number / factor).round() * factor,
        _ if is_integer => number.round(),
        _ => (number * 1000.0).round() / 1000.0,
    };
    let between = (0.0..=1.0_f64).prop_map(move |share| number(rounded(low + share * (high - low))));
    let whole = (0.0..=1.0_f64).prop_map(move |share| number((low + share * (high - low)).round()));
    let mut choices = vec![(2, whole.boxed()), (1, between.boxed())];
    if manner == Manner::Ordinary {
        // Few numbers, so that things are equal, touch and follow one another.
        let few: Vec<f64> = (0..=10).map(f64::from).filter(|few| fits(few)).collect();
        choices.extend((!few.is_empty()).then(|| (6, select(few).prop_map(number).boxed())));
    }
    if !borders.is_empty() && factor.is_none() {
        choices.insert(0, (3, select(borders).prop_map(number).boxed()));
    }
    any_of(choices)
}

/// A number as JSON writes it: whole ones without a point.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and below 2^53")]
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_991.0 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
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
