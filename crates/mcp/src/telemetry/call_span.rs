//! The span and the metrics of one call.
//!
//! Invariant: a failed call is reported with its code, even if the protocol reports success: a tool
//! failure is a result.

use std::time::Instant;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use serde_json::Value;
use toolcell_model_tools::{ERROR_META_KEY, RUN_META_KEY};
use tracing::field::Empty;

use super::metrics::{DURATION, FUEL, REQUESTS};
use crate::http::HandedOver;
use crate::request_context::caller_claims;
use crate::trace_context::{self, FIELDS as TRACE_FIELDS};

/// The operation of calls of published tools.
const OTHER: &str = "other";

/// The length of a claim of a client in a span, in bytes.
const MAX_CLAIM_BYTES: usize = 128;

/// A call that is measured.
pub(crate) struct CallSpan {
    pub(crate) span: tracing::Span,
    operation: &'static str,
    started: Instant,
}

/// The outcome of a call.
struct CallOutcome<'a> {
    code: &'a str,
    fuel: Option<u64>,
}

impl CallSpan {
    /// Starts measuring a tool call. `operation` is its name if it is an operation.
    pub(crate) fn start(operation: Option<&'static str>, context: &RequestContext<RoleServer>) -> Self {
        let operation = operation.unwrap_or(OTHER);
        let span = tracing::info_span!(
            "tools/call",
            otel.name = Empty,
            otel.kind = "server",
            mcp.method.name = "tools/call",
            mcp.protocol.version = Empty,
            gen_ai.tool.name = operation,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.call.id = Empty,
            gen_ai.conversation.id = Empty,
            gen_ai.agent.id = Empty,
            toolcell.client.name = Empty,
            error.type = Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("tools/call {operation}"));
            if let Some(version) = context.protocol_version() {
                span.record("mcp.protocol.version", version.as_str());
            }
            // Claims: nothing of them is verified.
            let claims = caller_claims(context);
            for (field, claim) in [
                ("gen_ai.tool.call.id", claims.call),
                ("gen_ai.conversation.id", claims.session),
                ("gen_ai.agent.id", claims.agent),
                ("toolcell.client.name", claims.client),
            ] {
                if let Some(claim) = claim {
                    span.record(field, &claim[..claim.floor_char_boundary(MAX_CLAIM_BYTES)]);
                }
            }
            // A node that hands a call over names its own span; the client's is in the request.
            let head = context.extensions.get::<Parts>();
            let handed = head.filter(|head| head.extensions.get::<HandedOver>().is_some());
            trace_context::join(&span, |field| match handed {
                Some(head) if head.headers.contains_key(TRACE_FIELDS[0]) => head.headers.get(field)?.to_str().ok(),
                _ => context.meta.get(field)?.as_str(),
            });
        }
        Self { span, operation, started: Instant::now() }
    }

    /// Records the outcome.
    pub(crate) fn finish(self, response: &Result<CallToolResponse, ErrorData>) {
        let CallOutcome { code, fuel } = CallOutcome::from_response(response);
        if code != "ok" {
            self.span.record("error.type", code);
        }
        metrics::counter!(REQUESTS, "operation" => self.operation, "outcome" => code.to_owned()).increment(1);
        metrics::histogram!(DURATION, "operation" => self.operation).record(self.started.elapsed().as_secs_f64());
        if let Some(fuel) = fuel {
            metrics::counter!(FUEL).increment(fuel);
        }
    }
}

impl<'a> CallOutcome<'a> {
    fn from_response(response: &'a Result<CallToolResponse, ErrorData>) -> Self {
        let code_of = |value: &'a Value| value.get("code").and_then(Value::as_str);
        match response {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                let error = result.meta.as_ref().and_then(|meta| meta.0.get(ERROR_META_KEY));
                Self { code: error.and_then(code_of).unwrap_or("error"), fuel: None }
            }
            Ok(CallToolResponse::Complete(result)) => {
                let run = result.meta.as_ref().and_then(|meta| meta.0.get(RUN_META_KEY));
                let fuel = run.and_then(|run| run.get("fuel")).and_then(Value::as_u64);
                Self { code: "ok", fuel }
            }
            Ok(CallToolResponse::InputRequired(_)) => Self { code: "input-required", fuel: None },
            Ok(CallToolResponse::Task(_)) => Self { code: "task", fuel: None },
            Ok(_) => Self { code: "ok", fuel: None },
            Err(error) => Self { code: error.data.as_ref().and_then(code_of).unwrap_or("error"), fuel: None },
        }
    }
}
