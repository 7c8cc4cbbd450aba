//! What a validator finds, in our words.
//!
//! Invariant: each message says what the value is and what is asked for, and no value is shown at length.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::error::{ParamProblem, ParamsError};
use super::multiple;
use super::shown;
use super::survey::escaped;
use super::types::Types;
use super::unique;

/// How many faults are told.
const SHOWN_LIMIT: usize = 20;
/// How many names of missing parameters are kept.
const MISSING_LIMIT: usize = 1_000;
/// The longest path that is kept, in characters.
const PATH_LIMIT: usize = 1_000;
/// How many branches of an alternative are told.
const BRANCH_LIMIT: usize = 4;

/// All faults, as one error.
pub(super) fn error<'e>(errors: impl Iterator<Item = ValidationError<'e>>, schema: &Value) -> ParamsError {
    let (mut problems, mut missing, mut more) = (Vec::new(), Vec::new(), 0_usize);
    let mut seen = HashSet::new();
    let mut only_missing = true;
    for error in errors {
        match error.kind() {
            Kind::Required { property } => {
                let name = kept(&name(&error, property));
                if missing.len() < MISSING_LIMIT && seen.insert(name.clone()) {
                    missing.push(name);
                }
            }
            _ => only_missing = false,
        }
        let found = problems_of(&error, schema, SHOWN_LIMIT - problems.len());
        more += count(&error) - found.len();
        for problem in found {
            // Two schemas for one value may ask for the same.
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

/// What is missing: a parameter by its name, and what is missing deeper inside by its path.
fn name(error: &ValidationError<'_>, property: &Value) -> String {
    let name = property.as_str().unwrap_or_default();
    match error.instance_path().as_str() {
        "" => name.to_owned(),
        path => format!("{path}/{}", escaped(name)),
    }
}

/// How many faults one finding stands for.
fn count(error: &ValidationError<'_>) -> usize {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected.len(),
        _ => 1,
    }
}

/// The faults that one finding stands for, as many as there is room for: to look for what was meant takes time.
fn problems_of(error: &ValidationError<'_>, schema: &Value, room: usize) -> Vec<ParamProblem> {
    let path = error.instance_path().as_str();
    let inside =
        |name: &str, message: String| ParamProblem { path: kept(&format!("{path}/{}", escaped(name))), message };
    match error.kind() {
        _ if room == 0 => Vec::new(),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![inside(name, "is missing".to_owned())]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let declared = declared_beside(error, schema);
            let message = |name: &str| undeclared(name, &declared);
            unexpected.iter().take(room).map(|name| inside(name, message(name))).collect()
        }
        _ => vec![ParamProblem { path: kept(path), message: sentence(error) }],
    }
}

/// A path, cut where it is longer than any that leads somewhere.
fn kept(path: &str) -> String {
    match path.char_indices().nth(PATH_LIMIT) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

/// The names that are declared where others are not allowed.
fn declared_beside<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let keyword = error.schema_path().as_str();
    let around = keyword.rfind('/').and_then(|end| schema.pointer(&keyword[..end]));
    let properties = around.and_then(|around| around.get("properties")?.as_object());
    properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn undeclared(name: &str, declared: &[&str]) -> String {
    match shown::nearest(name, declared.iter().copied()) {
        Some(near) => format!("is not declared; did you mean {}?", shown::name(near)),
        None if declared.is_empty() => "is not declared".to_owned(),
        None => format!("is not declared; what is declared: {}", shown::names(declared.iter().copied())),
    }
}

/// What a finding says of the value: a clause without its subject.
pub(super) fn sentence(error: &ValidationError<'_>) -> String {
    let value: &Value = error.instance();
    let is = || format!("is {}", shown::value(value));
    let length = || match value {
        Value::String(text) => format!("has a length of {}", text.chars().count()),
        Value::Array(items) if items.len() == 1 => "has 1 item".to_owned(),
        Value::Array(items) => format!("has {} items", items.len()),
        Value::Object(fields) if fields.len() == 1 => "has 1 property".to_owned(),
        Value::Object(fields) => format!("has {} properties", fields.len()),
        _ => is(),
    };
    match error.kind() {
        Kind::Type { kind } => of_other_type(value, &expected(kind)),
        Kind::Enum { options } => {
            format!("{}, expected {}", is(), one_of(options.as_array().map_or(&[], Vec::as_slice)))
        }
        Kind::Constant { expected_value } => format!("{}, expected {}", is(), shown::value(expected_value)),
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
        Kind::Contains => format!("{}, and too few or too many are as asked for", length()),
        Kind::Pattern { pattern } => format!("{}, which does not match the pattern {}", is(), shown::name(pattern)),
        Kind::Format { format } => format!("{}, which has not the format {}", is(), shown::name(format)),
        Kind::ContentEncoding { content_encoding } => format!("{}, which is not {content_encoding}", is()),
        Kind::ContentMediaType { content_media_type } => format!("{}, which is not {content_media_type}", is()),
        Kind::FromUtf8 { .. } => format!("{}, which encodes no text", is()),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            format!("{}, for which its pattern takes too long", is())
        }
        Kind::PropertyNames { error } => format!("has a property whose name {}", sentence(error)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(value, context),
        Kind::OneOfMultipleValid { .. } => format!("{}, which is more than one of the alternatives at once", is()),
        Kind::Not { .. } => format!("{}, which is ruled out", is()),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Required { property } => format!("lacks {}", shown::name(property.as_str().unwrap_or_default())),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("has {}, not declared", shown::names(unexpected.iter().map(String::as_str)))
        }
        Kind::Referencing(_) => "is declared by a reference that leads nowhere".to_owned(),
        Kind::Custom { keyword, .. } if keyword == unique::KEYWORD => {
            format!("{}, and two are the same", length())
        }
        Kind::Custom { keyword, message } if keyword == multiple::KEYWORD => format!("{}, {message}", is()),
        Kind::Custom { message, .. } => message.clone(),
    }
}

/// A value with its type, and what was expected of it.
fn of_other_type(value: &Value, expected: &str) -> String {
    let shown = shown::value(value);
    match value {
        Value::Null | Value::Bool(_) => format!("is {shown}, expected {expected}"),
        Value::Number(_) => format!("is {shown} (number), expected {expected}"),
        Value::String(_) => format!("is {shown} (string), expected {expected}"),
        Value::Array(_) => format!("is {shown} (array), expected {expected}"),
        Value::Object(_) => format!("is {shown} (object), expected {expected}"),
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.as_str().to_owned(),
        TypeKind::Multiple(several) => {
            let named = several.iter().filter_map(|one| Types::named(one.as_str()));
            named.fold(Types::NONE, |all, one| all | one).to_string().replace(" | ", " or ")
        }
    }
}

fn one_of(options: &[Value]) -> String {
    if let [only] = options {
        return shown::value(only);
    }
    let mut listed: Vec<String> = options.iter().take(10).map(shown::value).collect();
    if options.len() > listed.len() {
        listed.push(format!("{} more", options.len() - listed.len()));
    }
    format!("one of {}", listed.join(", "))
}

/// What each branch says, or what they say together.
fn alternatives(value: &Value, branches: &[Vec<ValidationError<'static>>]) -> String {
    let here = |error: &ValidationError<'_>, root: &str| error.instance_path().as_str() == root;
    let root = branches.iter().flatten().map(|error| error.instance_path().as_str()).min_by_key(|path| path.len());
    let root = root.unwrap_or_default().to_owned();
    let (mut types, mut constants) = (Types::NONE, Vec::new());
    for branch in branches {
        for error in branch.iter().filter(|error| here(error, &root)) {
            match error.kind() {
                Kind::Type { kind: TypeKind::Single(one) } => {
                    types = types | Types::named(one.as_str()).unwrap_or(Types::NONE);
                }
                Kind::Constant { expected_value } => constants.push(Value::clone(expected_value)),
                _ => {}
            }
        }
    }
    let only =
        |matches: fn(&Kind) -> bool| branches.iter().all(|branch| branch.iter().any(|error| matches(error.kind())));
    if only(|kind| matches!(kind, Kind::Constant { .. })) && !constants.is_empty() {
        return format!("is {}, expected {}", shown::value(value), one_of(&constants));
    }
    if only(|kind| matches!(kind, Kind::Type { kind: TypeKind::Single(_) })) && types != Types::NONE {
        return of_other_type(value, &types.to_string().replace(" | ", " or "));
    }
    let said = branches.iter().filter_map(|branch| branch.first()).take(BRANCH_LIMIT).map(|error| {
        let path = error.instance_path().as_str().strip_prefix(root.as_str()).unwrap_or_default();
        if path.is_empty() { sentence(error) } else { format!("{path} {}", sentence(error)) }
    });
    let said: Vec<String> = said.collect();
    format!("is none of {} alternatives (it {})", branches.len(), said.join("; or it "))
}
