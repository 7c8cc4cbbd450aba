//! Parsing of test cases in a test file.
//!
//! Invariant: a case has at most one expected outcome, and limits that a call can have.

use std::ops::Range;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use toml::Spanned;
use toml::de::DeValue;
use toolcell::{Budget, Grant, Localize as _, Params, Receipt};
use toolcell_i18n::{Message, message};

use super::reader::{Fields, Reader};
use super::{MAX_FILE_BYTES, expected, mocks, read_text};
use crate::case::{Case, CaseLimits};
use crate::expect::ExpectedOutcome;
use crate::mocks::required_grant;

/// The keys of a case.
pub(super) const KEYS: &[&str] = &[
    "name",
    "call",
    "params",
    "params_json",
    "params_file",
    "receipt",
    "returns",
    "returns_json",
    "where",
    "throws",
    "stops",
    "refused",
    "logs",
    "effects",
    "fuel",
    "measured",
    "memory",
    "time",
    "seed",
    "now",
    "grants",
    "secrets",
    "answers",
];
/// The keys that a receipt makes redundant.
const RECORDED_KEYS: [&str; 9] =
    ["call", "params", "params_json", "params_file", "seed", "now", "grants", "secrets", "answers"];
/// The units of sizes, the smallest first.
const SIZE_UNITS: [(&str, usize); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Parses a case.
pub(super) fn parse_case<'t>(reader: &mut Reader<'t>, mut fields: Fields<'t>) -> Case {
    let span = fields.span.clone();
    let is_named = fields.key_span("name").is_some();
    let name = fields.take("name").and_then(|value| reader.text(value, "name"));
    if name.as_ref().map_or(!is_named, |name| name.get_ref().trim().is_empty()) {
        reader.invalid(&span, message!("a test has no name"), message!("add a name: name = \"an average\""));
    }
    let mut case = Case::new(name.map(Spanned::into_inner).unwrap_or_default());
    case.place = reader.position(&span);
    let recorded = fields.key_span("receipt").is_some();
    case.receipt = parse_receipt(reader, &mut fields);
    case.tool = fields.take("call").and_then(|value| reader.text(value, "call")).map(Spanned::into_inner);
    case.params = parse_params(reader, &mut fields).unwrap_or_default();
    case.seed = fields.take("seed").and_then(|value| reader.unsigned(&value, "seed")).unwrap_or_default();
    case.started_at = fields.take("now").and_then(|value| parse_start_time(reader, &value)).unwrap_or_default();
    case.grants = parse_grants(reader, &mut fields);
    let answering = fields.key_span("answers");
    case.mocks = fields.take("answers").map(|value| mocks::parse_mocks(reader, value)).unwrap_or_default();
    for answer in &case.mocks {
        // A mock of an unknown kind was reported already.
        let Some(grant) = required_grant(&answer.kind) else { continue };
        let granted = case.grants.iter().any(|one| one.name() == grant);
        if let (false, Some(span)) = (granted, &answering) {
            let message = message!("`{kind}` needs the grant `{grant}`", kind = answer.kind, grant);
            reader.impossible(span, message, message!("grant it: grants = [\"{grant}\"]", grant));
        }
    }
    let texts = |values: Vec<Spanned<String>>| values.into_iter().map(Spanned::into_inner).collect();
    case.logs = fields.take("logs").and_then(|value| reader.texts(value, "logs")).map(texts);
    case.effects = fields.take("effects").and_then(|value| reader.texts(value, "effects")).map(texts);
    let (fuel, time) = (fields.key_span("fuel"), fields.key_span("time"));
    case.fuel = reader.budget(&mut fields, "fuel", "measured");
    case.limits = parse_limits(reader, &mut fields);
    case.expectation = expected::parse_expectation(reader, &mut fields, &span, recorded);
    if let Some(ExpectedOutcome::Stops(code)) = &case.expectation {
        for (needs, key, is_limited) in [("out-of-fuel", "fuel", fuel.is_some()), ("timeout", "time", time.is_some())] {
            if code == needs && !is_limited {
                let message = message!("it is expected to stop with `{code}`, but has no `{key}`", code, key);
                reader.impossible(&span, message, message!("set its limit: {key}", key));
            }
        }
    }
    reader.reject_unknown(fields);
    case
}

/// Reads the receipt that a case replays.
fn parse_receipt<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Option<Receipt> {
    let file = fields.take("receipt").and_then(|value| reader.text(value, "receipt"))?;
    for key in RECORDED_KEYS {
        if let Some(span) = fields.key_span(key) {
            let message = message!("a recorded run has its own `{key}`", key);
            reader.impossible(&span, message, message!("remove it, or the receipt"));
        }
    }
    let read = read_text(&reader.sibling_path(file.get_ref()), MAX_FILE_BYTES * 16)
        .map_err(|reason| (reason, message!("name an existing receipt")));
    let parsed =
        read.and_then(|text| Receipt::parse(&text).map_err(|error| (error.localize(), Message::from(error.hint()))));
    parsed
        .map_err(|(reason, hint)| {
            let message = message!("the receipt {file}: {reason}", file = file.get_ref(), reason);
            reader.invalid(&file.span(), message, hint);
        })
        .ok()
}

/// Parses the parameters, in one of three forms.
fn parse_params<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Option<Params> {
    let forms = ["params", "params_json", "params_file"];
    let given: Vec<Range<usize>> = forms.iter().filter_map(|key| fields.key_span(key)).collect();
    if let [_, second, ..] = given.as_slice() {
        reader.invalid(
            second,
            message!("the parameters are given twice"),
            message!("use one of `params`, `params_json` and `params_file`"),
        );
    }
    let (table, text, file) = (fields.take("params"), fields.take("params_json"), fields.take("params_file"));
    let (text, span) = if let Some(value) = table {
        let span = value.span();
        (reader.json(&value, "params")?.to_string(), span)
    } else if let Some(value) = text {
        let text = reader.text(value, "params_json")?;
        let span = text.span();
        (text.into_inner(), span)
    } else {
        let name = file.and_then(|value| reader.text(value, "params_file"))?;
        let span = name.span();
        match read_text(&reader.sibling_path(name.get_ref()), MAX_FILE_BYTES) {
            Ok(text) => (text, span),
            Err(reason) => {
                let message = message!("the parameters {file}: {reason}", file = name.get_ref(), reason);
                reader.invalid(&span, message, message!("name an existing JSON file"));
                return None;
            }
        }
    };
    Params::parse(text)
        .map_err(|error| {
            reader.invalid(&span, message!("invalid parameters: {error}", error), message!("write a JSON object"));
        })
        .ok()
}

/// Parses the start of the tool's clock.
fn parse_start_time<'t>(reader: &mut Reader<'t>, value: &Spanned<DeValue<'t>>) -> Option<Duration> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.clone().into_owned(),
        DeValue::Datetime(moment) => moment.to_string(),
        other => other.type_str().to_owned(),
    };
    let moment: Option<Timestamp> = text.parse().ok();
    let since = moment.and_then(|moment| Duration::try_from(moment.as_duration()).ok());
    if since.is_none() {
        let message = message!("`now` must be a time since 1970, `{text}` is not", text);
        reader.invalid(&value.span(), message, message!("write it as RFC 3339: 2026-01-31T12:00:00Z"));
    }
    since
}

/// Parses the grants. A test sets the clock and the seed with keys of their own.
fn parse_grants<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Vec<Grant> {
    let named = fields.take("grants").and_then(|value| reader.texts(value, "grants")).unwrap_or_default();
    let secrets_key = fields.key_span("secrets");
    let secrets = fields.take("secrets").and_then(|value| reader.texts(value, "secrets")).unwrap_or_default();
    let mut grants = Vec::new();
    for name in named {
        grants.push(match name.get_ref().as_str() {
            "timers" => Grant::Timers,
            "net" => Grant::Net,
            "kv" => Grant::Kv,
            "files" => Grant::Files,
            "tools" => Grant::Tools,
            other => {
                let message = message!("there is no grant `{other}` in a test", other);
                let hint = message!(
                    "the grants are timers, net, kv, files and tools; `secrets`, `now` and `seed` are keys of the test"
                );
                reader.invalid(&name.span(), message, hint);
                continue;
            }
        });
    }
    if secrets_key.is_some() {
        grants.push(Grant::Secrets { names: secrets.into_iter().map(Spanned::into_inner).collect() });
    }
    grants
}

/// Parses the limits of memory and time.
pub(super) fn parse_limits<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> CaseLimits {
    let (memory, time) = (fields.take("memory"), fields.take("time"));
    let mut limits = CaseLimits::default();
    if let Some(text) = memory.and_then(|value| reader.text(value, "memory")) {
        limits.memory = parse_size(text.get_ref());
        let budget = limits.memory.map(|memory| Budget { memory, ..Budget::default() });
        match budget.as_ref().map(Budget::check) {
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                reader.impossible(
                    &text.span(),
                    message!("{error}", error),
                    message!("the engine itself needs some of it"),
                );
            }
            None => {
                let message = message!("`{text}` is not a size", text = text.get_ref());
                reader.invalid(&text.span(), message, message!("write a number and a unit: \"16 MiB\""));
            }
        }
    }
    if let Some(text) = time.and_then(|value| reader.text(value, "time")) {
        let span: Option<SignedDuration> = text.get_ref().parse().ok();
        limits.time = span.and_then(|span| Duration::try_from(span).ok());
        let budget = limits.time.map(|deadline| Budget { deadline, ..Budget::default() });
        match budget.as_ref().map(Budget::check) {
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                reader.impossible(&text.span(), message!("{error}", error), message!("set how long the call may take"));
            }
            None => {
                let message = message!("`{text}` is not a duration", text = text.get_ref());
                reader.invalid(&text.span(), message, message!("write a number and a unit: \"250 ms\", \"2 s\""));
            }
        }
    }
    limits
}

/// Parses a size such as `16 MiB`.
fn parse_size(text: &str) -> Option<usize> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, size) = SIZE_UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<usize>().ok()?.checked_mul(*size)
}
