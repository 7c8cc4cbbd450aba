//! Compiles a JSON Schema: everything that is decided before the first call.
//!
//! Invariant: what comes out has no reference to anything outside of itself, every default in it passes, and some
//! object passes as far as can be told.

use std::collections::HashSet;
use std::fmt::Write as _;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::bounds::Bounds;
use super::contradiction;
use super::cost::Costs;
use super::error::SchemaError;
use super::fill::{Coercion, FILL_LIMIT, Fill};
use super::plan::{Planner, State};
use super::problem::sentence;
use super::read;
use super::survey::{Survey, place};
use super::types::Types;
use super::{Parameter, multiple, pattern, shown, unique};

/// The longest declaration, in bytes of JSON.
const BYTES_LIMIT: usize = 96 << 10;
/// The stack on which deep schemas are compiled.
const STACK: usize = 64 << 20;

/// A JSON Schema, ready to check with.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) validator: Validator,
    pub(super) states: Vec<State>,
    pub(super) bounds: Bounds,
    pub(super) costs: Costs,
    pub(super) parameters: Vec<Parameter>,
}

/// Compiles a normalised schema.
pub(super) fn compile(schema: &Value) -> Result<Compiled, SchemaError> {
    if read::is_longer_than(schema, BYTES_LIMIT) {
        return Err(SchemaError::TooLarge { what: format!("has more than {BYTES_LIMIT} bytes") });
    }
    let survey = Survey::new(schema)?;
    let bounds = Bounds::of(&survey)?;
    let costs = Costs::of(&survey)?;
    contradiction::refuse(&survey)?;
    let mut planner = Planner::new(&survey);
    if !planner.accepts(0).meets(Types::OBJECT) {
        let what = "parameters are an object, and it does not accept one".to_owned();
        return Err(SchemaError::Contradiction { at: survey.place(0), what });
    }
    planner.state(0)?;
    let validator = build(schema, bounds).map_err(|error| malformed(&survey, &error))?;
    let states = defaults(&survey, &mut planner, schema, (bounds, &costs))?;
    let parameters = parameters(&survey, &mut planner, &states);
    Ok(Compiled { validator, states, bounds, costs, parameters })
}

/// The declaration, closed where the author left it open without saying so: where parameters are declared, others are
/// refused.
pub(super) fn closed(declared: &Map<String, Value>) -> Value {
    let mut schema = declared.clone();
    let opens =
        ["additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "$ref", "$dynamicRef"];
    let adds = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies"];
    let named = schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
    if named && !opens.iter().chain(&adds).any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(schema)
}

fn build(schema: &Value, bounds: Bounds) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::regex().size_limit(pattern::SIZE_LIMIT * 2);
    let compile = || {
        jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .with_keyword(unique::KEYWORD, unique::keyword)
            .with_keyword(multiple::KEYWORD, multiple::keyword)
            .build(schema)
    };
    if !bounds.is_deep() {
        return compile();
    }
    std::thread::scope(|scope| {
        let built = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compile);
        match built.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(built)) => built,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Err(ValidationError::custom("there is no thread to compile it on")),
        }
    })
}

/// What the library says of a schema that is none.
fn malformed(survey: &Survey<'_>, error: &ValidationError<'_>) -> SchemaError {
    let pointer = error.instance_path().as_str();
    let (id, keyword) = survey.around(pointer);
    if let ValidationErrorKind::Referencing(_) = error.kind() {
        // All others were followed before: this is the dialect, which the library does not have.
        let dialect = survey.nodes[0].schema.get("$schema").and_then(Value::as_str);
        return SchemaError::Reference { at: place(pointer), reference: shown::name(dialect.unwrap_or("$ref")) };
    }
    if keyword == "properties" {
        return SchemaError::Definition { at: place(pointer), what: sentence(error) };
    }
    let what = match keyword {
        "" => sentence(error),
        keyword => format!("has a {} that {}", shown::name(keyword), sentence(error)),
    };
    SchemaError::Definition { at: survey.place(id), what }
}

/// The states with every default complete, each of which passes the schema that it stands in.
fn defaults(
    survey: &Survey<'_>,
    planner: &mut Planner<'_, '_>,
    schema: &Value,
    (bounds, costs): (Bounds, &Costs),
) -> Result<Vec<State>, SchemaError> {
    let mut found = Vec::new();
    for (id, node) in survey.nodes.iter().enumerate() {
        if node.schema.get("default").is_some() {
            found.push((id, planner.state(id)?));
        }
    }
    let mut states = planner.take_states();
    for at in 0..states.len() {
        let fields = &states[at].fields;
        let defaulted = fields.iter().enumerate().filter(|(_, (_, field))| states[*field].default.is_some());
        states[at].defaulted = defaulted.map(|(field, _)| field).collect();
    }
    if found.is_empty() {
        return Ok(states);
    }
    for state in &mut states {
        state.default_size = state.default.as_ref().map_or(0, |default| default.to_string().len());
    }
    let endless = || SchemaError::Entangled {
        what: format!("its defaults, filled into each other, are endless or more than {FILL_LIMIT} bytes"),
    };
    let mut complete = Vec::with_capacity(states.len());
    let mut room = FILL_LIMIT;
    for (id, state) in states.iter().enumerate() {
        let mut default = state.default.clone();
        let mut size = 0;
        if let Some(default) = &mut default {
            Fill::new(&states, Coercion::None).value(default, id).map_err(|_| endless())?;
            size = default.to_string().len();
            room = room.checked_sub(size).ok_or_else(endless)?;
        }
        complete.push((default, size));
    }
    for (state, (default, size)) in states.iter_mut().zip(complete) {
        (state.default, state.default_size) = (default, size);
    }
    let each: Vec<(usize, &Value)> =
        found.iter().filter_map(|(id, state)| Some((*id, states[*state].default.as_ref()?))).collect();
    costs.can_check_each(&each).map_err(|_| SchemaError::Entangled {
        what: "its defaults take more work to check than the parameters of a call may".to_owned(),
    })?;
    pass(survey, schema, bounds, &each)?;
    Ok(states)
}

/// Refuses the first default that does not pass the schema that it stands in.
///
/// All are checked at once, by a schema that refers to those places: built one by one, each would take what it refers to
/// with it.
fn pass(survey: &Survey<'_>, schema: &Value, bounds: Bounds, defaults: &[(usize, &Value)]) -> Result<(), SchemaError> {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    let old = |draft: &str| dialect.is_some_and(|dialect| dialect.contains(draft));
    let definitions = if old("draft-04") || old("draft-06") || old("draft-07") { "definitions" } else { "$defs" };
    let mut inner = schema.clone();
    if let Some(inner) = inner.as_object_mut() {
        let id = if old("draft-04") { "id" } else { "$id" };
        inner.insert(id.to_owned(), json!("toolcell:declared"));
    }
    let at = |at: usize| at.to_string();
    let reference = |id: usize| json!({"$ref": format!("toolcell:declared#{}", fragment(&survey.nodes[id].pointer))});
    let properties: Map<String, Value> =
        defaults.iter().enumerate().map(|(n, (id, _))| (at(n), reference(*id))).collect();
    let mut outer = json!({ definitions: { "declared": inner }, "properties": properties });
    if let (Some(dialect), Some(outer)) = (dialect, outer.as_object_mut()) {
        outer.insert("$schema".to_owned(), json!(dialect));
    }
    let validator = build(&outer, bounds).map_err(|error| malformed(survey, &error))?;
    let values: Map<String, Value> =
        defaults.iter().enumerate().map(|(n, (_, value))| (at(n), Value::clone(value))).collect();
    let values = Value::Object(values);
    let Err(error) = validator.validate(&values) else { return Ok(()) };
    let path = error.instance_path().as_str().get(1..).unwrap_or_default();
    let (number, inside) = path.split_once('/').map_or((path, String::new()), |(n, rest)| (n, format!(" at /{rest}")));
    let id = number.parse().ok().and_then(|number: usize| defaults.get(number)).map_or(0, |(id, _)| *id);
    let what = format!("its default{inside} {}", sentence(&error));
    Err(SchemaError::Contradiction { at: survey.place(id), what })
}

/// A JSON Pointer as the fragment of a URI (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    let mut fragment = String::new();
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"/~-_.$".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            let _ = write!(fragment, "%{byte:02X}");
        }
    }
    fragment
}

/// What the parameters are, for those who call the tool.
fn parameters(survey: &Survey<'_>, planner: &mut Planner<'_, '_>, states: &[State]) -> Vec<Parameter> {
    let top = planner.closure(&[0], Types::OBJECT);
    let required: HashSet<&str> = top
        .iter()
        .filter_map(|id| survey.nodes[*id].schema.get("required")?.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = states.first().map(|state| state.fields.as_slice()).unwrap_or_default();
    fields
        .iter()
        .map(|(name, state)| {
            let behind = planner.behind(*state);
            let schemas: Vec<&Value> = behind.iter().map(|id| survey.nodes[*id].schema).collect();
            let description = schemas.iter().find_map(|schema| schema.get("description")?.as_str());
            Parameter {
                name: name.clone(),
                kind: states[*state].accepts.unwrap_or(Types::ALL).to_string(),
                description: description.unwrap_or_default().to_owned(),
                required: required.contains(name.as_str()),
                default: states[*state].default.clone(),
                allowed: schemas.iter().find_map(|schema| listed(schema)).unwrap_or_default(),
            }
        })
        .collect()
}

/// The values that a schema lists: by `enum`, by `const`, or as alternatives of `const`.
fn listed(schema: &Value) -> Option<Vec<Value>> {
    if let Some(values) = schema.get("enum") {
        return values.as_array().cloned();
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    branches.iter().map(|branch| branch.get("const").cloned()).collect()
}
