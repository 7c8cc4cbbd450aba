//! What a server says of itself: a log on standard error, metrics for Prometheus, and traces for OpenTelemetry.
//!
//! Names and attributes are those of the semantic conventions of OpenTelemetry for MCP. Parameters and results are in none of
//! it: they are the record's.
//!
//! Invariant: nothing here goes to standard output, and nothing of it holds up a call.

mod calls;
mod log;
mod metrics;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

pub(crate) use calls::Watched;
pub(crate) use metrics::Metrics;

/// What is logged where nobody says anything. The library of the protocol calls it an error where a client is gone.
pub const FILTER: &str = "warn,rmcp=off,toolcell=info,toolcell_mcp=info";
/// What is traced: calls, and nothing of the libraries.
const TRACED: &str = "off,toolcell_mcp=info";

/// Whether traces are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Export {
    /// They are not.
    #[default]
    Nowhere,
    /// With OTLP over HTTP, to where the variables of its specification say: `OTEL_EXPORTER_OTLP_ENDPOINT`,
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, and the others.
    Otlp,
}

/// Sends what is left when it is dropped.
#[must_use = "what is left is sent when it is dropped"]
pub struct Telemetry(Option<SdkTracerProvider>);

/// Why nothing is said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// What is to be logged cannot be meant so.
    #[error("`{filter}` is no filter of a log: {why}")]
    Filter {
        /// What was said.
        filter: String,
        /// Why not.
        why: String,
    },
    /// Traces cannot be sent as it is asked for.
    #[error("traces cannot be sent: {0}")]
    Export(String),
    /// Somebody else has installed a log already.
    #[error("there is a log already")]
    Twice,
}

impl TelemetryError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Filter { .. } => "log-filter-invalid",
            Self::Export(_) => "telemetry-invalid",
            Self::Twice => "telemetry-twice",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Filter { .. } => "write `debug`, or `warn,toolcell=debug`",
            Self::Export(_) => {
                "OTEL_EXPORTER_OTLP_ENDPOINT is the address of a collector that takes OTLP over HTTP, such as \
                 http://localhost:4318"
            }
            Self::Twice => "install it once in a process",
        }
    }
}

/// Installs the log of this process, and sends traces where they are to be sent.
///
/// # Errors
/// `log-filter-invalid`, `telemetry-invalid`, `telemetry-twice`
pub fn install(filter: &str, export: Export) -> Result<Telemetry, TelemetryError> {
    let filter = EnvFilter::try_new(filter).map_err(|error| TelemetryError::Filter {
        filter: filter.chars().take(200).collect(),
        why: error.to_string(),
    })?;
    let log = tracing_subscriber::fmt::layer()
        .with_writer(|| log::Escaped(std::io::stderr()))
        .with_target(false)
        .with_filter(filter);
    let provider = match export {
        Export::Nowhere => None,
        Export::Otlp => Some(provider()?),
    };
    let traces = provider.as_ref().map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("toolcell"));
        layer
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(EnvFilter::new(TRACED))
    });
    tracing_subscriber::registry().with(log).with(traces).try_init().map_err(|_| TelemetryError::Twice)?;
    Ok(Telemetry(provider))
}

fn provider() -> Result<SdkTracerProvider, TelemetryError> {
    // The library panics where there is no thread to send them on.
    std::thread::Builder::new()
        .spawn(|| ())
        .map_err(|error| TelemetryError::Export(format!("no thread can be started: {error}")))?;
    // Where a host has chosen another one, that one is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let exporter =
        SpanExporter::builder().with_http().build().map_err(|error| TelemetryError::Export(error.to_string()))?;
    // What the environment says of the resource counts more.
    let resource =
        Resource::builder().with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(provider) = self.0.take()
            && let Err(error) = provider.shutdown_with_timeout(std::time::Duration::from_secs(2))
        {
            tracing::warn!(%error, "not all traces were sent");
        }
    }
}
