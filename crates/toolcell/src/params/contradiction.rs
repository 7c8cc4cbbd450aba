//! Definitions that no value could meet, or that say nothing where their author meant something.
//!
//! Invariant: whether a schema contradicts itself is decided when it is declared. (Whether a default passes is decided
//! by the validator itself, see [`declared`](super::declared).)

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::short::unknown_type;
use super::shown;
use super::survey::Survey;
use super::types::Types;

/// Pairs of a lower and an upper bound, both of which may be reached.
const PAIRS: [(&str, &str); 5] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

/// Keywords that have a meaning for one type only.
const NUMERIC: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// Refuses the first schema that contradicts itself.
pub(super) fn refuse(survey: &Survey<'_>) -> Result<(), SchemaError> {
    for (id, node) in survey.nodes.iter().enumerate() {
        let Some(keywords) = node.schema.as_object() else { continue };
        let malformed = kind(keywords.get("type")).or_else(|| malformed(keywords));
        if let Some(what) = malformed {
            return Err(SchemaError::Definition { at: survey.place(id), what });
        }
        let types = Types::declared(node.schema);
        let found = values(keywords, types).or_else(|| bounds(keywords, types)).or_else(|| required(keywords));
        if let Some(what) = found {
            return Err(SchemaError::Contradiction { at: survey.place(id), what });
        }
    }
    Ok(())
}

fn kind(kind: Option<&Value>) -> Option<String> {
    let known: Vec<&str> = Types::names().collect();
    let named = |kind: &Value| kind.as_str().and_then(Types::named).is_some();
    match kind? {
        Value::Array(kinds) if kinds.is_empty() => Some("has no type in its list of types".to_owned()),
        Value::Array(kinds) => kinds.iter().find(|kind| !named(kind)).map(|kind| unknown_type(kind, &known)),
        kind if named(kind) => None,
        kind => Some(unknown_type(kind, &known)),
    }
}

fn malformed(keywords: &Map<String, Value>) -> Option<String> {
    if let Some(description) = keywords.get("description").filter(|it| !it.is_string()) {
        return Some(format!("has the description {}, expected a text", shown::value(description)));
    }
    let wrong = NUMERIC.iter().find_map(|key| Some((key, keywords.get(*key)?)).filter(|(_, it)| !it.is_number()))?;
    // Draft 4 has booleans there.
    let draft_4 = wrong.0.starts_with("exclusive") && wrong.1.is_boolean();
    (!draft_4).then(|| format!("has the {} {}, expected a number", shown::name(wrong.0), shown::value(wrong.1)))
}

fn values(keywords: &Map<String, Value>, types: Types) -> Option<String> {
    let values = match (keywords.get("enum"), keywords.get("const")) {
        (Some(Value::Array(values)), _) if values.is_empty() => return Some("its `enum` is empty".to_owned()),
        (Some(Value::Array(values)), _) => values.as_slice(),
        (Some(other), _) => return Some(format!("its `enum` is {}, expected a list of values", shown::value(other))),
        (None, Some(value)) => std::slice::from_ref(value),
        (None, None) => return None,
    };
    let other = values.iter().find(|value| !Types::of(value).meets(types))?;
    Some(format!("its type is {types}, and {} in its `enum` is another", shown::value(other)))
}

fn bounds(keywords: &Map<String, Value>, types: Types) -> Option<String> {
    let number = |key: &str| keywords.get(key).and_then(Value::as_f64);
    if let Some(key) = NUMERIC.iter().find(|key| keywords.contains_key(**key))
        && !types.meets(Types::NUMBER)
    {
        return Some(format!("it has a `{key}`, and its type {types} has none"));
    }
    let upside_down = PAIRS.iter().find(|(low, high)| number(low) > number(high) && number(high).is_some());
    if let Some((low, high)) = upside_down {
        let (low_is, high_is) = (shown::value(&keywords[*low]), shown::value(&keywords[*high]));
        return Some(format!("its `{low}` {low_is} is above its `{high}` {high_is}"));
    }
    let low = number("exclusiveMinimum").or(number("minimum"))?;
    let high = number("exclusiveMaximum").or(number("maximum"))?;
    let open = keywords.get("exclusiveMinimum").or(keywords.get("exclusiveMaximum")).is_some_and(Value::is_number);
    (open && low >= high).then(|| format!("no number is between {low} and {high}"))
}

fn required(keywords: &Map<String, Value>) -> Option<String> {
    let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if !closed || keywords.contains_key("patternProperties") {
        return None;
    }
    let properties = keywords.get("properties").and_then(Value::as_object);
    let mut names = keywords.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    let name = names.find(|name| !properties.is_some_and(|properties| properties.contains_key(*name)))?;
    Some(format!("it requires {}, which it does not declare and so does not allow", shown::name(name)))
}
