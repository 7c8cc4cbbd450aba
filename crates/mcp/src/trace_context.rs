//! The context of a trace, as the two fields `traceparent` and `tracestate` (W3C Trace Context).

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The names of the fields.
pub(crate) const FIELDS: [&str; 2] = ["traceparent", "tracestate"];

/// The maximum length of a field that is passed on, in bytes.
const MAX_FIELD_BYTES: usize = 512;

/// Makes a span a part of the trace that the fields name, if they name one.
pub(crate) fn join<'a>(span: &tracing::Span, field: impl Fn(&str) -> Option<&'a str>) {
    if span.is_disabled() {
        return;
    }
    let carried: HashMap<String, String> =
        FIELDS.into_iter().filter_map(|name| Some((name.to_owned(), field(name)?.to_owned()))).collect();
    if carried.contains_key(FIELDS[0]) {
        // If tracing is off, there is no parent to set.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&carried));
    }
}

/// The fields that make other spans a part of this one; none if it is not traced.
pub(crate) fn fields_of(span: &tracing::Span) -> HashMap<String, String> {
    let mut fields = HashMap::new();
    if !span.is_disabled() {
        TraceContextPropagator::new().inject_context(&span.context(), &mut fields);
        // A client chooses the content of the second one, which becomes a header.
        let is_allowed = |value: &String| {
            (1..=MAX_FIELD_BYTES).contains(&value.len())
                && value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        };
        fields.retain(|_, value| is_allowed(value));
    }
    fields
}
