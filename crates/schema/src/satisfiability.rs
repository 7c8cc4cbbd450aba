//! The check for definitions that no value satisfies, or that have no effect.
//!
//! Invariant: contradictions are found when a schema is declared. (The validator itself checks the
//! defaults, see [`compile`](super::compile).)

use serde_json::{Map, Value};
use toolcell_i18n::{Message, message};

use super::display;
use super::error::SchemaError;
use super::shorthand::unknown_type;
use super::subschemas::Subschemas;
use super::types::Types;

/// Pairs of inclusive lower and upper bounds.
const BOUND_PAIRS: [(&str, &str); 5] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

/// Keywords that apply only to numbers.
const NUMERIC_KEYWORDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// Refuses the first contradictory schema.
pub(super) fn check(survey: &Subschemas<'_>) -> Result<(), SchemaError> {
    for (id, node) in survey.nodes.iter().enumerate() {
        let Some(keywords) = node.schema.as_object() else { continue };
        let malformed = check_type(keywords.get("type")).or_else(|| check_keyword_types(keywords));
        if let Some(what) = malformed {
            return Err(SchemaError::Definition { at: survey.label(id), what });
        }
        let types = Types::from_schema(node.schema);
        let found =
            check_enum(keywords, types).or_else(|| check_bounds(keywords, types)).or_else(|| check_required(keywords));
        if let Some(what) = found {
            return Err(SchemaError::Contradiction { at: survey.label(id), what });
        }
    }
    Ok(())
}

fn check_type(kind: Option<&Value>) -> Option<Message> {
    let known: Vec<&str> = Types::names().collect();
    let named = |kind: &Value| kind.as_str().and_then(Types::from_name).is_some();
    match kind? {
        Value::Array(kinds) if kinds.is_empty() => Some(message!("has an empty list of types")),
        Value::Array(kinds) => kinds.iter().find(|kind| !named(kind)).map(|kind| unknown_type(kind, &known)),
        kind if named(kind) => None,
        kind => Some(unknown_type(kind, &known)),
    }
}

fn check_keyword_types(keywords: &Map<String, Value>) -> Option<Message> {
    if let Some(description) = keywords.get("description").filter(|it| !it.is_string()) {
        let value = display::value(description);
        return Some(message!("has the description {value}, expected a string", value));
    }
    let wrong =
        NUMERIC_KEYWORDS.iter().find_map(|key| Some((key, keywords.get(*key)?)).filter(|(_, it)| !it.is_number()))?;
    // Draft 4 has booleans here.
    let draft_4 = wrong.0.starts_with("exclusive") && wrong.1.is_boolean();
    let (keyword, value) = (display::name(wrong.0), display::value(wrong.1));
    (!draft_4).then(|| message!("has the {keyword} {value}, expected a number", keyword, value))
}

fn check_enum(keywords: &Map<String, Value>, types: Types) -> Option<Message> {
    let values = match (keywords.get("enum"), keywords.get("const")) {
        (Some(Value::Array(values)), _) if values.is_empty() => return Some(message!("its `enum` is empty")),
        (Some(Value::Array(values)), _) => values.as_slice(),
        (Some(other), _) => {
            return Some(message!("its `enum` is {value}, expected a list of values", value = display::value(other)));
        }
        (None, Some(value)) => std::slice::from_ref(value),
        (None, None) => return None,
    };
    let other = values.iter().find(|value| !Types::from_value(value).intersects(types))?;
    let value = display::value(other);
    Some(message!("its type is {types}, but {value} in its `enum` has another type", types, value))
}

fn check_bounds(keywords: &Map<String, Value>, types: Types) -> Option<Message> {
    let number = |key: &str| keywords.get(key).and_then(Value::as_f64);
    if let Some(key) = NUMERIC_KEYWORDS.iter().find(|key| keywords.contains_key(**key))
        && !types.intersects(Types::NUMBER)
    {
        return Some(message!("it has a `{key}`, which its type {types} does not support", key, types));
    }
    let upside_down = BOUND_PAIRS.iter().find(|(low, high)| number(low) > number(high) && number(high).is_some());
    if let Some((low, high)) = upside_down {
        return Some(message!(
            "its `{low}` {low_value} is above its `{high}` {high_value}",
            low,
            low_value = display::value(&keywords[*low]),
            high,
            high_value = display::value(&keywords[*high]),
        ));
    }
    let low = number("exclusiveMinimum").or(number("minimum"))?;
    let high = number("exclusiveMaximum").or(number("maximum"))?;
    let open = keywords.get("exclusiveMinimum").or(keywords.get("exclusiveMaximum")).is_some_and(Value::is_number);
    (open && low >= high).then(|| message!("no number is between {low} and {high}", low, high))
}

fn check_required(keywords: &Map<String, Value>) -> Option<Message> {
    let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if !closed || keywords.contains_key("patternProperties") {
        return None;
    }
    let properties = keywords.get("properties").and_then(Value::as_object);
    let mut names = keywords.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    let name = names.find(|name| !properties.is_some_and(|properties| properties.contains_key(*name)))?;
    let name = display::name(name);
    Some(message!("it requires {name}, which it does not declare and so does not allow", name))
}
