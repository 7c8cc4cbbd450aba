//! Parsing of expected outcomes in a test file.
//!
//! Invariant: there is at most one expected outcome, and it is possible.

use std::ops::Range;

use toml::de::DeValue;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

use super::ReadPurpose;
use super::reader::{Fields, Reader};
use crate::expect::{ExpectedOutcome, STOP_CODES};
use crate::predicate::{Matcher, Predicate};

/// The keys of expected outcomes; `returns_json` is `returns` in another form.
const OUTCOME_KEYS: [&str; 6] = ["returns", "returns_json", "where", "throws", "stops", "refused"];
const HINT: &str = msgid!("a test has one of returns, returns_json, where, throws, stops, refused");

/// Parses the expected outcome of a case.
pub(super) fn parse_expectation<'t>(
    reader: &mut Reader<'t>,
    fields: &mut Fields<'t>,
    span: &Range<usize>,
    recorded: bool,
) -> Option<ExpectedOutcome> {
    let given: Vec<(&str, Range<usize>)> =
        OUTCOME_KEYS.iter().filter_map(|key| Some((*key, fields.key_span(key)?))).collect();
    if let [(first, _), (second, at), ..] = given.as_slice() {
        reader.impossible(at, message!("`{first}` and `{second}` exclude each other", first, second), HINT.into());
    }
    let Some((kind, at)) = given.first().cloned() else {
        if recorded {
            return Some(ExpectedOutcome::Replays);
        }
        if reader.purpose != ReadPurpose::Update {
            let message = message!("it has no expected outcome");
            reader.invalid(span, message, message!("add one, or run: toolcell test --update"));
        }
        return None;
    };
    let taken: Vec<_> = OUTCOME_KEYS.iter().filter_map(|key| Some((*key, fields.take(key)?))).collect();
    let value = taken.into_iter().find(|(key, _)| *key == kind)?.1;
    match kind {
        "returns" => reader.json(&value, "returns").map(|value| ExpectedOutcome::Returns(Some(value))),
        "returns_json" if value.get_ref().as_str() == Some("undefined") => Some(ExpectedOutcome::Returns(None)),
        "returns_json" => reader.json_text(value, "returns_json").map(|value| ExpectedOutcome::Returns(Some(value))),
        "where" => parse_predicates(reader, value.into_inner(), &at),
        "throws" => parse_throws(reader, value),
        "stops" => {
            let code = reader.text(value, "stops")?;
            if !STOP_CODES.iter().any(|known| known.as_str() == code.get_ref()) {
                let message = message!("there is no stop code `{code}`", code = code.get_ref());
                let hint = message!("the codes are {codes}", codes = STOP_CODES.map(ErrorCode::as_str).join(", "));
                reader.impossible(&code.span(), message, hint);
            }
            Some(ExpectedOutcome::Stops(code.into_inner()))
        }
        _ => {
            let word = reader.text(value, "refused")?;
            let known = |word: &str| {
                ["syntax-error", "syntax-unsupported", "safety-check-failed"].contains(&word)
                    || toolcell::rule_names().contains(&word)
            };
            if !known(word.get_ref()) {
                let message = message!("there is no rule or error `{word}`", word = word.get_ref());
                let hint = message!("name a rule of `toolcell check`, syntax-error or syntax-unsupported");
                reader.impossible(&word.span(), message, hint);
            }
            Some(ExpectedOutcome::Refused(word.into_inner()))
        }
    }
}

/// Parses predicates: `{ "$.price" = { at_least = 3 }, "$.unit" = "EUR" }`
fn parse_predicates<'t>(reader: &mut Reader<'t>, value: DeValue<'t>, at: &Range<usize>) -> Option<ExpectedOutcome> {
    let DeValue::Table(table) = value else {
        reader.invalid(
            at,
            message!("`where` must be a table of JSON paths"),
            message!("write it as: where = { \"$.price\" = { at_least = 3 } }"),
        );
        return None;
    };
    let mut predicates = Vec::new();
    if table.is_empty() {
        reader.invalid(at, message!("`where` is empty"), message!("add a path and its condition"));
    }
    for (path, value) in table {
        let span = value.span();
        let tests: Result<Vec<Matcher>, Message> = match reader.json(&value, "returns")? {
            serde_json::Value::Object(members) => {
                members.into_iter().map(|(word, value)| Matcher::from_name(&word, value)).collect()
            }
            value => Ok(vec![Matcher::Is(value)]),
        };
        match tests.and_then(|tests| Predicate::new(path.get_ref(), tests)) {
            Ok(predicate) => predicates.push(predicate),
            Err(reason) => reader.impossible(&span, reason, message!("write conditions that a result can meet")),
        }
    }
    Some(ExpectedOutcome::Satisfies(predicates))
}

/// Parses an expected error: `{ name = "TypeError", message = "not a number" }`, or the name alone.
fn parse_throws<'t>(reader: &mut Reader<'t>, value: toml::Spanned<DeValue<'t>>) -> Option<ExpectedOutcome> {
    if let Some(name) = value.get_ref().as_str() {
        return Some(ExpectedOutcome::Throws { name: Some(name.to_owned()), message: None });
    }
    let mut fields = reader.fields(value, "throws", &["name", "message"])?;
    let name = fields.take("name").and_then(|value| reader.text(value, "throws.name"));
    let message = fields.take("message").and_then(|value| reader.text(value, "throws.message"));
    reader.reject_unknown(fields);
    let [name, message] = [name, message].map(|text| text.map(toml::Spanned::into_inner));
    Some(ExpectedOutcome::Throws { name, message })
}
