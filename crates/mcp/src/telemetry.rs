//! Telemetry: a log on standard error, metrics for Prometheus, and traces for OpenTelemetry.
//!
//! Names and attributes follow the OpenTelemetry semantic conventions for MCP. Parameters and
//! results are never included; they are in the run records.
//!
//! Invariant: nothing is written to standard output, and no call waits for telemetry.

mod call_span;
mod log;
mod metrics;
mod shared_library;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use toolcell_i18n::{Message, message};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

pub(crate) use call_span::CallSpan;
pub(crate) use metrics::Metrics;
pub use shared_library::{measure_blobs, measure_histories};

/// The default log filter. `rmcp` is off because it logs a disconnected client as an error.
pub const DEFAULT_LOG_FILTER: &str = "warn,rmcp=off,toolcell=info,toolcell_mcp=info";
/// What keeps the library of the protocol from logging.
const RMCP_OFF: &str = "rmcp=off";
/// The filter of traces: calls only, without the libraries.
const TRACE_FILTER: &str = "off,toolcell_mcp=info";

/// The destination of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Export {
    /// Traces are not exported.
    #[default]
    Disabled,
    /// OTLP over HTTP, configured by the variables of its specification:
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`,
    /// `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, and the others.
    Otlp,
}

/// Maximum number of characters of a refused filter, and of the parser's message, in an error.
const MAX_ECHO_CHARS: usize = 80;

/// Flushes pending traces on drop.
#[must_use = "dropping it sends the remaining traces"]
pub struct TelemetryGuard(Option<SdkTracerProvider>);

/// An error of installing telemetry.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The log filter is invalid.
    #[error("`{filter}` is not a valid log filter: {why}")]
    #[code(LogFilterInvalid)]
    #[hint("use, for example, `debug` or `warn,toolcell=debug`")]
    Filter {
        /// The rejected filter.
        filter: String,
        /// The parser's message.
        why: String,
    },
    /// The exporter cannot be set up.
    #[error("cannot export traces: {0}")]
    #[code(TelemetryInvalid)]
    #[hint(
        "set OTEL_EXPORTER_OTLP_ENDPOINT to the address of a collector that accepts OTLP over HTTP, such as \
                 http://localhost:4318"
    )]
    Export(Message),
    /// A subscriber is already installed in this process.
    #[error("a log subscriber is already installed")]
    #[code(TelemetryTwice)]
    #[hint("install telemetry once per process")]
    AlreadyInstalled,
}

/// Installs the log of this process, and the export of traces if it is enabled.
///
/// # Errors
/// `log-filter-invalid`, `telemetry-invalid`, `telemetry-twice`
pub fn install(filter: &str, export: Export) -> Result<TelemetryGuard, TelemetryError> {
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| TelemetryError::Filter { filter: echo(filter), why: echo(&error.to_string()) })?;
    // The protocol's library logs messages before secrets are taken out of them.
    let filter = match RMCP_OFF.parse() {
        Ok(off) if !filter.to_string().contains("rmcp") => filter.add_directive(off),
        _ => filter,
    };
    let log = tracing_subscriber::fmt::layer()
        .with_writer(|| log::EscapingWriter(std::io::stderr()))
        .with_target(false)
        .with_filter(filter);
    let provider = match export {
        Export::Disabled => None,
        Export::Otlp => Some(provider()?),
    };
    let traces = provider.as_ref().map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("toolcell"));
        layer
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(EnvFilter::new(TRACE_FILTER))
    });
    tracing_subscriber::registry().with(log).with(traces).try_init().map_err(|_| TelemetryError::AlreadyInstalled)?;
    Ok(TelemetryGuard(provider))
}

/// Returns text of others for an error: escaped, and truncated to [`MAX_ECHO_CHARS`].
fn echo(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_ECHO_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_ECHO_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn provider() -> Result<SdkTracerProvider, TelemetryError> {
    // The exporter panics if it cannot spawn its thread.
    std::thread::Builder::new()
        .spawn(|| ())
        .map_err(|error| TelemetryError::Export(message!("cannot start a thread: {error}", error)))?;
    // A provider that the host has installed is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let exporter = SpanExporter::builder()
        .with_http()
        .build()
        .map_err(|error| TelemetryError::Export(Message::verbatim(error.to_string())))?;
    // Resource attributes from the environment take precedence.
    let resource =
        Resource::builder().with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(provider) = self.0.take()
            && let Err(error) = provider.shutdown_with_timeout(std::time::Duration::from_secs(2))
        {
            tracing::warn!(%error, "not all traces were sent");
        }
    }
}
