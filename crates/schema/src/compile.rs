//! The compilation of a JSON Schema: everything that is decided before the first call.
//!
//! Invariant: a compiled schema has no external references, every default in it is valid, and some
//! object is valid as far as that can be decided.

use std::collections::HashSet;
use std::fmt::Write as _;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};
use toolcell_i18n::message;

use super::coercion_plan::{PlanState, Planner};
use super::complexity::Complexity;
use super::cost::CostModel;
use super::defaults::{Coercion, DefaultFiller, MAX_FILLED_BYTES};
use super::error::SchemaError;
use super::messages::{NO_THREAD, describe};
use super::parse;
use super::satisfiability;
use super::subschemas::{Subschemas, pointer_label};
use super::types::Types;
use super::{Parameter, display, multiple, pattern, unique};

/// The maximum size of a declaration in bytes of JSON.
const MAX_SCHEMA_BYTES: usize = 96 << 10;
/// The stack size for compiling deep schemas, in bytes.
const COMPILE_STACK_BYTES: usize = 64 << 20;

/// A compiled JSON Schema.
#[derive(Debug)]
pub(super) struct CompiledSchema {
    pub(super) validator: Validator,
    pub(super) states: Vec<PlanState>,
    pub(super) bounds: Complexity,
    pub(super) costs: CostModel,
    pub(super) parameters: Vec<Parameter>,
}

/// Compiles a normalised schema.
pub(super) fn compile(schema: &Value) -> Result<CompiledSchema, SchemaError> {
    if parse::is_longer_than(schema, MAX_SCHEMA_BYTES) {
        return Err(SchemaError::TooLarge { what: message!("has more than {limit} bytes", limit = MAX_SCHEMA_BYTES) });
    }
    let survey = Subschemas::new(schema)?;
    let bounds = Complexity::from_subschemas(&survey)?;
    let costs = CostModel::from_subschemas(&survey)?;
    satisfiability::check(&survey)?;
    let mut planner = Planner::new(&survey);
    if !planner.accepts(0).intersects(Types::OBJECT) {
        let what = message!("parameters are an object, which it does not accept");
        return Err(SchemaError::Contradiction { at: survey.label(0), what });
    }
    planner.state(0)?;
    let validator = build_validator(schema, bounds).map_err(|error| to_schema_error(&survey, &error))?;
    let states = resolve_defaults(&survey, &mut planner, schema, (bounds, &costs))?;
    let parameters = list_parameters(&survey, &mut planner, &states);
    Ok(CompiledSchema { validator, states, bounds, costs, parameters })
}

/// Adds `additionalProperties: false` to a declaration that declares properties and does not
/// mention others.
pub(super) fn close_properties(declared: &Map<String, Value>) -> Value {
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

fn build_validator(schema: &Value, bounds: Complexity) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::regex().size_limit(pattern::MAX_NFA_BYTES * 2);
    let compile = || {
        jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .with_keyword(unique::KEYWORD, unique::keyword)
            .with_keyword(multiple::KEYWORD, multiple::keyword)
            .build(schema)
    };
    if !bounds.needs_large_stack() {
        return compile();
    }
    std::thread::scope(|scope| {
        let built = std::thread::Builder::new().stack_size(COMPILE_STACK_BYTES).spawn_scoped(scope, compile);
        match built.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(built)) => built,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Err(ValidationError::custom(NO_THREAD)),
        }
    })
}

/// Converts the library's error about a malformed schema.
fn to_schema_error(survey: &Subschemas<'_>, error: &ValidationError<'_>) -> SchemaError {
    let pointer = error.instance_path().as_str();
    let (id, keyword) = survey.enclosing(pointer);
    if let ValidationErrorKind::Referencing(_) = error.kind() {
        // All other references were resolved before: this one is the dialect, which the library
        // does not support.
        let dialect = survey.nodes[0].schema.get("$schema").and_then(Value::as_str);
        return SchemaError::Reference {
            at: pointer_label(pointer),
            reference: display::name(dialect.unwrap_or("$ref")),
        };
    }
    if keyword == "properties" {
        return SchemaError::Definition { at: pointer_label(pointer), what: describe(error) };
    }
    let what = match keyword {
        "" => describe(error),
        keyword => {
            message!("has a {keyword} that {fault}", keyword = display::name(keyword), fault = describe(error))
        }
    };
    SchemaError::Definition { at: survey.label(id), what }
}

/// Returns the states with completed defaults, each of which is valid under its schema.
fn resolve_defaults(
    survey: &Subschemas<'_>,
    planner: &mut Planner<'_, '_>,
    schema: &Value,
    (bounds, costs): (Complexity, &CostModel),
) -> Result<Vec<PlanState>, SchemaError> {
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
    let endless = || SchemaError::TooComplex {
        what: message!("its nested defaults are infinite or more than {limit} bytes", limit = MAX_FILLED_BYTES),
    };
    let mut complete = Vec::with_capacity(states.len());
    let mut room = MAX_FILLED_BYTES;
    for (id, state) in states.iter().enumerate() {
        let mut default = state.default.clone();
        let mut size = 0;
        if let Some(default) = &mut default {
            DefaultFiller::new(&states, Coercion::None).fill_value(default, id).map_err(|_| endless())?;
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
    costs.count_steps_of_all(&each).map_err(|_| SchemaError::TooComplex {
        what: message!("its defaults take more steps to check than the parameters of a call may"),
    })?;
    check_defaults(survey, schema, bounds, &each)?;
    Ok(states)
}

/// Refuses the first default that is invalid under its schema.
///
/// All defaults are checked at once, by a schema that refers to theirs: compiled one by one, each
/// would compile its references again.
fn check_defaults(
    survey: &Subschemas<'_>,
    schema: &Value,
    bounds: Complexity,
    defaults: &[(usize, &Value)],
) -> Result<(), SchemaError> {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    let old = |draft: &str| dialect.is_some_and(|dialect| dialect.contains(draft));
    let definitions = if old("draft-04") || old("draft-06") || old("draft-07") { "definitions" } else { "$defs" };
    let mut inner = schema.clone();
    if let Some(inner) = inner.as_object_mut() {
        let id = if old("draft-04") { "id" } else { "$id" };
        inner.insert(id.to_owned(), json!("toolcell:declared"));
    }
    let at = |at: usize| at.to_string();
    let reference =
        |id: usize| json!({"$ref": format!("toolcell:declared#{}", uri_fragment(&survey.nodes[id].pointer))});
    let properties: Map<String, Value> =
        defaults.iter().enumerate().map(|(n, (id, _))| (at(n), reference(*id))).collect();
    let mut outer = json!({ definitions: { "declared": inner }, "properties": properties });
    if let (Some(dialect), Some(outer)) = (dialect, outer.as_object_mut()) {
        outer.insert("$schema".to_owned(), json!(dialect));
    }
    let validator = build_validator(&outer, bounds).map_err(|error| to_schema_error(survey, &error))?;
    let values: Map<String, Value> =
        defaults.iter().enumerate().map(|(n, (_, value))| (at(n), Value::clone(value))).collect();
    let values = Value::Object(values);
    let Err(error) = validator.validate(&values) else { return Ok(()) };
    let path = error.instance_path().as_str().get(1..).unwrap_or_default();
    let (number, inside) = path.split_once('/').map_or((path, None), |(n, rest)| (n, Some(format!("/{rest}"))));
    let id = number.parse().ok().and_then(|number: usize| defaults.get(number)).map_or(0, |(id, _)| *id);
    let fault = describe(&error);
    let what = match inside {
        Some(path) => message!("its default at {path} {fault}", path, fault),
        None => message!("its default {fault}", fault),
    };
    Err(SchemaError::Contradiction { at: survey.label(id), what })
}

/// Formats a JSON Pointer as a URI fragment (RFC 6901, section 6).
fn uri_fragment(pointer: &str) -> String {
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

/// Returns the descriptions of the parameters.
fn list_parameters(survey: &Subschemas<'_>, planner: &mut Planner<'_, '_>, states: &[PlanState]) -> Vec<Parameter> {
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
            let behind = planner.schemas_of(*state);
            let schemas: Vec<&Value> = behind.iter().map(|id| survey.nodes[*id].schema).collect();
            let description = schemas.iter().find_map(|schema| schema.get("description")?.as_str());
            Parameter {
                name: name.clone(),
                kind: states[*state].accepts.unwrap_or(Types::ALL).to_string(),
                description: description.unwrap_or_default().to_owned(),
                required: required.contains(name.as_str()),
                default: states[*state].default.clone(),
                allowed: schemas.iter().find_map(|schema| enum_values(schema)).unwrap_or_default(),
            }
        })
        .collect()
}

/// Returns the values that a schema lists: by `enum`, by `const`, or as alternatives of `const`.
fn enum_values(schema: &Value) -> Option<Vec<Value>> {
    if let Some(values) = schema.get("enum") {
        return values.as_array().cloned();
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    branches.iter().map(|branch| branch.get("const").cloned()).collect()
}
