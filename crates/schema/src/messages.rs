//! The messages for the validator's errors.
//!
//! Invariant: each message contains the actual and the expected value, both truncated.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

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
    let inside = |name: &str, message: String| ParamProblem {
        path: truncate_path(&format!("{path}/{}", escape_pointer_step(name))),
        message,
    };
    match error.kind() {
        _ if room == 0 => Vec::new(),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![inside(name, "is missing".to_owned())]
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

fn undeclared_message(name: &str, declared: &[&str]) -> String {
    match display::nearest(name, declared.iter().copied()) {
        Some(near) => format!("is not declared; did you mean {}?", display::name(near)),
        None if declared.is_empty() => "is not declared".to_owned(),
        None => format!("is not declared, expected one of {}", display::names(declared.iter().copied())),
    }
}

/// Describes a validation error: a clause without its subject.
pub(super) fn describe(error: &ValidationError<'_>) -> String {
    let value: &Value = error.instance();
    let is = || format!("is {}", display::value(value));
    let length = || match value {
        Value::String(text) => format!("has a length of {}", text.chars().count()),
        Value::Array(items) if items.len() == 1 => "has 1 item".to_owned(),
        Value::Array(items) => format!("has {} items", items.len()),
        Value::Object(fields) if fields.len() == 1 => "has 1 property".to_owned(),
        Value::Object(fields) => format!("has {} properties", fields.len()),
        _ => is(),
    };
    match error.kind() {
        Kind::Type { kind } => type_mismatch(value, &expected_types(kind)),
        Kind::Enum { options } => {
            format!("{}, expected {}", is(), one_of(options.as_array().map_or(&[], Vec::as_slice)))
        }
        Kind::Constant { expected_value } => format!("{}, expected {}", is(), display::value(expected_value)),
        Kind::Minimum { limit } => format!("{}, the minimum is {limit}", is()),
        Kind::Maximum { limit } => format!("{}, the maximum is {limit}", is()),
        Kind::ExclusiveMinimum { limit } => format!("{}, it must be more than {limit}", is()),
        Kind::ExclusiveMaximum { limit } => format!("{}, it must be less than {limit}", is()),
        Kind::MultipleOf { multiple_of } => format!("{}, expected a multiple of {multiple_of}", is()),
        Kind::MinLength { limit } | Kind::MinItems { limit } | Kind::MinProperties { limit } => {
            format!("{}, the minimum is {limit}", length())
        }
        Kind::MaxLength { limit } | Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
            format!("{}, the maximum is {limit}", length())
        }
        Kind::AdditionalItems { limit } => format!("{}, the maximum is {limit}", length()),
        Kind::UnevaluatedItems { .. } => format!("{}, and some are not declared", length()),
        Kind::UniqueItems => format!("{}, and two are the same", length()),
        Kind::Contains => format!("{}, and too few or too many match `contains`", length()),
        Kind::Pattern { pattern } => format!("{}, which does not match the pattern {}", is(), display::name(pattern)),
        Kind::Format { format } => format!("{}, which does not have the format {}", is(), display::name(format)),
        Kind::ContentEncoding { content_encoding } => format!("{}, which is not {content_encoding}", is()),
        Kind::ContentMediaType { content_media_type } => format!("{}, which is not {content_media_type}", is()),
        Kind::FromUtf8 { .. } => format!("{}, which does not decode to UTF-8", is()),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            format!("{}, for which its pattern takes too long", is())
        }
        Kind::PropertyNames { error } => format!("has a property whose name {}", describe(error)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => describe_alternatives(value, context),
        Kind::OneOfMultipleValid { .. } => format!("{}, which matches more than one alternative", is()),
        Kind::Not { .. } => format!("{}, which `not` excludes", is()),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Required { property } => format!("lacks {}", display::name(property.as_str().unwrap_or_default())),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("has the undeclared {}", display::names(unexpected.iter().map(String::as_str)))
        }
        Kind::Referencing(_) => "is declared by a reference that cannot be resolved".to_owned(),
        Kind::Custom { keyword, .. } if keyword == unique::KEYWORD => {
            format!("{}, and two are the same", length())
        }
        Kind::Custom { keyword, message } if keyword == multiple::KEYWORD => format!("{}, {message}", is()),
        Kind::Custom { message, .. } => message.clone(),
    }
}

/// Describes a type mismatch.
fn type_mismatch(value: &Value, expected: &str) -> String {
    let shown = display::value(value);
    match value {
        Value::Null | Value::Bool(_) => format!("is {shown}, expected {expected}"),
        Value::Number(_) => format!("is {shown} (number), expected {expected}"),
        Value::String(_) => format!("is {shown} (string), expected {expected}"),
        Value::Array(_) => format!("is {shown} (array), expected {expected}"),
        Value::Object(_) => format!("is {shown} (object), expected {expected}"),
    }
}

fn expected_types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.as_str().to_owned(),
        TypeKind::Multiple(several) => {
            let named = several.iter().filter_map(|one| Types::from_name(one.as_str()));
            named.fold(Types::NONE, |all, one| all | one).to_string().replace(" | ", " or ")
        }
    }
}

fn one_of(options: &[Value]) -> String {
    if let [only] = options {
        return display::value(only);
    }
    let mut listed: Vec<String> = options.iter().take(10).map(display::value).collect();
    if options.len() > listed.len() {
        listed.push(format!("{} more", options.len() - listed.len()));
    }
    format!("one of {}", listed.join(", "))
}

/// Describes the failures of all branches, merged if they are alike.
fn describe_alternatives(value: &Value, branches: &[Vec<ValidationError<'static>>]) -> String {
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
        return format!("is {}, expected {}", display::value(value), one_of(&constants));
    }
    if only(|kind| matches!(kind, Kind::Type { kind: TypeKind::Single(_) })) && types != Types::NONE {
        return type_mismatch(value, &types.to_string().replace(" | ", " or "));
    }
    let said = branches.iter().filter_map(|branch| branch.first()).take(MAX_DESCRIBED_BRANCHES).map(|error| {
        let path = error.instance_path().as_str().strip_prefix(root.as_str()).unwrap_or_default();
        if path.is_empty() { describe(error) } else { format!("{path} {}", describe(error)) }
    });
    let said: Vec<String> = said.collect();
    format!("matches none of {} alternatives (it {})", branches.len(), said.join("; or it "))
}
