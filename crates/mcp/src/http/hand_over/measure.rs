//! The span and the metrics of a call that another server runs.

use std::future::Future;
use std::time::Instant;

use tracing::Instrument as _;
use tracing::field::Empty;

use super::HandOverOutcome;
use crate::trace_context;

/// The names of the metrics.
pub(crate) const HAND_OVERS: &str = "toolcell_hand_overs_total";
pub(crate) const HAND_OVER_DURATION: &str = "toolcell_hand_over_seconds";

/// A call that is measured.
pub(super) struct HandOverSpan(tracing::Span);

impl HandOverSpan {
    /// Starts to measure a call. `carried` are the fields of the trace of the client.
    pub(super) fn start<'a>(carried: impl Fn(&str) -> Option<&'a str>) -> Self {
        let span = tracing::info_span!(
            "hand over",
            otel.name = "hand over run_dynamic_tool",
            otel.kind = "client",
            mcp.method.name = "tools/call",
            gen_ai.tool.name = super::OPERATION,
            error.type = Empty,
        );
        trace_context::join(&span, carried);
        Self(span)
    }

    /// The headers that make the span of the other server a part of this one.
    pub(super) fn headers(&self) -> impl Iterator<Item = (String, String)> {
        trace_context::fields_of(&self.0).into_iter()
    }

    /// Waits for the answer of the other server.
    pub(super) async fn measure(self, answer: impl Future<Output = HandOverOutcome>) -> HandOverOutcome {
        let started = Instant::now();
        let outcome = answer.instrument(self.0.clone()).await;
        let named = match &outcome {
            HandOverOutcome::Answered(_) => "answered",
            HandOverOutcome::NotTaken | HandOverOutcome::Closing => "not-taken",
            HandOverOutcome::Lost => "lost",
        };
        if named != "answered" {
            self.0.record("error.type", named);
        }
        metrics::counter!(HAND_OVERS, "outcome" => named).increment(1);
        metrics::histogram!(HAND_OVER_DURATION).record(started.elapsed().as_secs_f64());
        outcome
    }
}
