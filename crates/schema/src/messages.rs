//! The messages for the validator's errors.
//!
//! Invariant: each message contains the actual and the expected value, both truncated.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;
use toolcell_i18n::{Message, message, msgid};

use super::display;
use super::error::{ParamProblem, ParamsError};
use super::multiple;
use super::subschemas::escape_pointer_step;
use super::types::Types;
use super::unique;

/// The maximum number of reported faults.
const MAX_PROBLEMS: usize = 20;
/// The maximum number of collected missing names.
const MAX_MISSING_NAMES: usize = 1_000;
/// The maximum length of a path in characters.
const MAX_PATH_CHARS: usize = 1_000;
/// The maximum number of described branches of an alternative.
const MAX_DESCRIBED_BRANCHES: usize = 4;

/// The error of a schema that cannot be compiled now, as a clause whose subject is the schema.
pub(super) const NO_THREAD: &str = msgid!("no thread is available to compile it");

/// Combines all faults into one error.
pub(super) fn to_params_error<'e>(errors: impl Iterator<Item = ValidationError<'e>>, schema: &Value) -> ParamsError {
    let (mut problems, mut missing, mut more) = (Vec::new(), Vec::new(), 0_usize);
    let mut seen = HashSet::new();
    let mut only_missing = true;
    for error in errors {
        match error.kind() {
            Kind::Required { property } => {
                let name = truncate_path(&missing_name(&error, property));
                if missing.len() < MAX_MISSING_NAMES && seen.insert(name.clone()) {
                    missing.push(name);
                }
            }
            _ => only_missing = false,
        }
        let found = problems_of(&error, schema, MAX_PROBLEMS - problems.len());
        more += count_faults(&error) - found.len();
        for problem in found {
            // Two schemas for one value may report the same fault.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    if only_missing && !missing.is_empty() {
        return ParamsError::Missing { names: missing };
    }
    ParamsError::Invalid { problems, more }
}

/// Returns the name of a missing parameter, or the path of a nested one.
fn missing_name(error: &ValidationError<'_>, property: &Value) -> String {
    let name = property.as_str().unwrap_or_default();
    match error.instance_path().as_str() {
        "" => name.to_owned(),
        path => format!("{path}/{}", escape_pointer_step(name)),
    }
}

/// Returns the number of faults in one validation error.
fn count_faults(error: &ValidationError<'_>) -> usize {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected.len(),
        _ => 1,
    }
}

/// Returns the faults in one validation error, at most `room`: the search for similar names takes
/// time.
fn problems_of(error: &ValidationError<'_>, schema: &Value, room: usize) -> Vec<ParamProblem> {
    let path = error.instance_path().as_str();
    let inside = |name: &str, message: Message| ParamProblem {
        path: truncate_path(&format!("{path}/{}", escape_pointer_step(name))),
        message,
    };
    match error.kind() {
        _ if room == 0 => Vec::new(),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![inside(name, msgid!("is missing").into())]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let declared = declared_siblings(error, schema);
            let message = |name: &str| undeclared_message(name, &declared);
            unexpected.iter().take(room).map(|name| inside(name, message(name))).collect()
        }
        _ => vec![ParamProblem { path: truncate_path(path), message: describe(error) }],
    }
}

/// Truncates a path.
fn truncate_path(path: &str) -> String {
    match path.char_indices().nth(MAX_PATH_CHARS) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

/// Returns the declared names at the place where additional ones are not allowed.
fn declared_siblings<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let keyword = error.schema_path().as_str();
    let around = keyword.rfind('/').and_then(|end| schema.pointer(&keyword[..end]));
    let properties = around.and_then(|around| around.get("properties")?.as_object());
    properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn undeclared_message(name: &str, declared: &[&str]) -> Message {
    match display::nearest(name, declared.iter().copied()) {
        Some(near) => message!("is not declared; did you mean {near}?", near = display::name(near)),
        None if declared.is_empty() => message!("is not declared"),
        None => {
            let known = display::names(declared.iter().copied());
            message!("is not declared, expected one of {known}", known)
        }
    }
}

/// Describes a validation error: a clause without its subject.
pub(super) fn describe(error: &ValidationError<'_>) -> Message {
    let value: &Value = error.instance();
    match error.kind() {
        Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MultipleOf { .. } => describe_number(value, error.kind()),
        Kind::MinLength { limit } | Kind::MinItems { limit } | Kind::MinProperties { limit } => {
            message!("{is}, the minimum is {limit}", is = has_length(value), limit)
        }
        Kind::MaxLength { limit } | Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
            message!("{is}, the maximum is {limit}", is = has_length(value), limit)
        }
        Kind::AdditionalItems { limit } => message!("{is}, the maximum is {limit}", is = has_length(value), limit),
        Kind::UnevaluatedItems { .. } => message!("{is}, and some are not declared", is = has_length(value)),
        Kind::UniqueItems => are_duplicates(value),
        Kind::Contains => {
            message!("{is}, and too few or too many match `contains`", is = has_length(value))
        }
        Kind::Type { kind } => type_mismatch(value, &expected_types(kind)),
        Kind::Enum { options } => expected(value, &one_of(options.as_array().map_or(&[], Vec::as_slice))),
        Kind::Constant { expected_value } => expected(value, &Message::verbatim(display::value(expected_value))),
        Kind::PropertyNames { error } => message!("has a property whose name {fault}", fault = describe(error)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => describe_alternatives(value, context),
        Kind::OneOfMultipleValid { .. } => message!("{is}, which matches more than one alternative", is = is(value)),
        Kind::Not { .. } => message!("{is}, which `not` excludes", is = is(value)),
        Kind::FalseSchema => message!("is not allowed"),
        Kind::Required { property } => {
            message!("lacks {name}", name = display::name(property.as_str().unwrap_or_default()))
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names = display::names(unexpected.iter().map(String::as_str));
            message!("has the undeclared {names}", names)
        }
        Kind::Referencing(_) => message!("is declared by a reference that cannot be resolved"),
        Kind::Custom { keyword, .. } if keyword == unique::KEYWORD => are_duplicates(value),
        Kind::Custom { keyword, message } if keyword == multiple::KEYWORD && message != multiple::INVALID_DIVISOR => {
            message!("{is}, expected a multiple of {divisor}", is = is(value), divisor = message)
        }
        Kind::Custom { message, .. } => our_fault(message),
        kind => describe_text(value, kind),
    }
}

/// Describes the error of a number that is out of range or no multiple.
fn describe_number(value: &Value, kind: &Kind) -> Message {
    let is = is(value);
    match kind {
        Kind::Minimum { limit } => message!("{is}, the minimum is {limit}", is, limit),
        Kind::Maximum { limit } => message!("{is}, the maximum is {limit}", is, limit),
        Kind::ExclusiveMinimum { limit } => message!("{is}, it must be more than {limit}", is, limit),
        Kind::ExclusiveMaximum { limit } => message!("{is}, it must be less than {limit}", is, limit),
        Kind::MultipleOf { multiple_of } => {
            message!("{is}, expected a multiple of {divisor}", is, divisor = multiple_of)
        }
        _ => is,
    }
}

/// Describes the error of a string whose content is wrong.
fn describe_text(value: &Value, kind: &Kind) -> Message {
    let is = is(value);
    match kind {
        Kind::Pattern { pattern } => {
            let pattern = display::name(pattern);
            message!("{is}, which does not match the pattern {pattern}", is, pattern)
        }
        Kind::Format { format } => {
            message!("{is}, which does not have the format {format}", is, format = display::name(format))
        }
        Kind::ContentEncoding { content_encoding } => {
            message!("{is}, which is not {format}", is, format = content_encoding)
        }
        Kind::ContentMediaType { content_media_type } => {
            message!("{is}, which is not {format}", is, format = content_media_type)
        }
        Kind::FromUtf8 { .. } => message!("{is}, which does not decode to UTF-8", is),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            message!("{is}, for which its pattern takes too long", is)
        }
        _ => is,
    }
}

fn is(value: &Value) -> Message {
    message!("is {value}", value = display::value(value))
}

fn has_length(value: &Value) -> Message {
    match value {
        Value::String(text) => message!("has a length of {count}", count = text.chars().count()),
        Value::Array(items) if items.len() == 1 => message!("has 1 item"),
        Value::Array(items) => message!("has {count} items", count = items.len()),
        Value::Object(fields) if fields.len() == 1 => message!("has 1 property"),
        Value::Object(fields) => message!("has {count} properties", count = fields.len()),
        _ => is(value),
    }
}

fn are_duplicates(value: &Value) -> Message {
    message!("{is}, and two are the same", is = has_length(value))
}

fn expected(value: &Value, expected: &Message) -> Message {
    message!("{is}, expected {expected}", is = is(value), expected)
}

/// Returns the message of an error that this crate gave to the library, which keeps only its text.
fn our_fault(text: &str) -> Message {
    let known = [multiple::INVALID_DIVISOR, NO_THREAD].into_iter().find(|known| *known == text);
    known.map_or_else(|| Message::verbatim(text.to_owned()), Message::from)
}

/// Describes a type mismatch.
fn type_mismatch(value: &Value, expected: &Message) -> Message {
    let kind = match value {
        Value::Null | Value::Bool(_) => return self::expected(value, expected),
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    message!("is {value} ({kind}), expected {expected}", value = display::value(value), kind, expected)
}

fn expected_types(kind: &TypeKind) -> Message {
    match kind {
        TypeKind::Single(one) => Message::verbatim(one.as_str().to_owned()),
        TypeKind::Multiple(several) => {
            let named = several.iter().filter_map(|one| Types::from_name(one.as_str()));
            type_names(named.fold(Types::NONE, |all, one| all | one))
        }
    }
}

/// Lists the types: `string or null`.
fn type_names(types: Types) -> Message {
    let names = types.to_string();
    let names = names.split(" | ").map(|name| Message::verbatim(name.to_owned()));
    names
        .reduce(|first, second| message!("{first} or {second}", first, second))
        .unwrap_or_else(|| Message::verbatim(String::new()))
}

fn one_of(options: &[Value]) -> Message {
    if let [only] = options {
        return Message::verbatim(display::value(only));
    }
    let mut listed: Vec<Message> =
        options.iter().take(10).map(|option| Message::verbatim(display::value(option))).collect();
    if options.len() > listed.len() {
        listed.push(message!("{more} more", more = options.len() - listed.len()));
    }
    message!("one of {values}", values = Message::list(listed))
}

/// Describes the failures of all branches, merged if they are alike.
fn describe_alternatives(value: &Value, branches: &[Vec<ValidationError<'static>>]) -> Message {
    let here = |error: &ValidationError<'_>, root: &str| error.instance_path().as_str() == root;
    let root = branches.iter().flatten().map(|error| error.instance_path().as_str()).min_by_key(|path| path.len());
    let root = root.unwrap_or_default().to_owned();
    let (mut types, mut constants) = (Types::NONE, Vec::new());
    for branch in branches {
        for error in branch.iter().filter(|error| here(error, &root)) {
            match error.kind() {
                Kind::Type { kind: TypeKind::Single(one) } => {
                    types = types | Types::from_name(one.as_str()).unwrap_or(Types::NONE);
                }
                Kind::Constant { expected_value } => constants.push(Value::clone(expected_value)),
                _ => {}
            }
        }
    }
    let only =
        |matches: fn(&Kind) -> bool| branches.iter().all(|branch| branch.iter().any(|error| matches(error.kind())));
    if only(|kind| matches!(kind, Kind::Constant { .. })) && !constants.is_empty() {
        return expected(value, &one_of(&constants));
    }
    if only(|kind| matches!(kind, Kind::Type { kind: TypeKind::Single(_) })) && types != Types::NONE {
        return type_mismatch(value, &type_names(types));
    }
    let said = branches.iter().filter_map(|branch| branch.first()).take(MAX_DESCRIBED_BRANCHES).map(|error| {
        let path = error.instance_path().as_str().strip_prefix(root.as_str()).unwrap_or_default();
        let fault = describe(error);
        if path.is_empty() { fault } else { message!("{place} {fault}", place = path, fault) }
    });
    let said = said.reduce(|first, second| message!("{first}; or it {second}", first, second));
    message!(
        "matches none of {count} alternatives (it {faults})",
        count = branches.len(),
        faults = said.unwrap_or_else(|| Message::verbatim(String::new())),
    )
}
