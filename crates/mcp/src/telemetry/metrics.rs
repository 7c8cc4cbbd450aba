//! Prometheus metrics.
//!
//! Invariant: the number of series depends on operations and codes only, not on tools or
//! principals.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::http::{HAND_OVER_DURATION, HAND_OVERS};
use crate::in_flight::CallTracker;

/// The buckets of durations, in seconds.
const DURATION_BUCKETS_S: [f64; 12] = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];
/// How often pending samples are put into their buckets while the metrics are not scraped.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

pub(super) const REQUESTS: &str = "toolcell_requests_total";
pub(super) const DURATION: &str = "toolcell_request_seconds";
pub(super) const FUEL: &str = "toolcell_run_fuel_total";
pub(super) const SHARED_REQUESTS: &str = "toolcell_shared_requests_total";
pub(super) const SHARED_DURATION: &str = "toolcell_shared_request_seconds";
const IN_FLIGHT: &str = "toolcell_requests_under_way";

/// The metrics of this process.
#[derive(Clone)]
pub(crate) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the recorder once per process; `None` if that failed.
    pub(crate) fn install() -> Option<Self> {
        static INSTALLED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| {
            let matcher = Matcher::Suffix("_seconds".to_owned());
            let recorder =
                PrometheusBuilder::new().set_buckets_for_metric(matcher, &DURATION_BUCKETS_S).ok()?.build_recorder();
            let handle = recorder.handle();
            metrics::set_global_recorder(recorder).ok()?;
            metrics::describe_counter!(
                REQUESTS,
                "Calls of operations, by operation and outcome: ok, or the code of the failure"
            );
            metrics::describe_histogram!(DURATION, metrics::Unit::Seconds, "Duration of calls");
            metrics::describe_counter!(FUEL, "Fuel used by runs");
            metrics::describe_counter!(
                SHARED_REQUESTS,
                "Requests to the engines of the shared library, by operation and outcome: ok, taken (another node was faster), missing, or the code of the failure"
            );
            metrics::describe_histogram!(
                SHARED_DURATION,
                metrics::Unit::Seconds,
                "Duration of requests to the engines of the shared library"
            );
            metrics::describe_counter!(
                HAND_OVERS,
                "Calls that were handed over to another node, by outcome: answered, not-taken, or lost"
            );
            metrics::describe_histogram!(
                HAND_OVER_DURATION,
                metrics::Unit::Seconds,
                "Time until another node answered a call"
            );
            metrics::describe_gauge!(IN_FLIGHT, "Calls in progress");
            Some(handle)
        });
        installed.clone().map(Self)
    }

    /// Renders all metrics in the Prometheus text format.
    pub(crate) fn render(&self, calls: &CallTracker) -> String {
        #[expect(clippy::cast_precision_loss, reason = "there are less than 2^52 of them")]
        metrics::gauge!(IN_FLIGHT).set(calls.count() as f64);
        self.0.render()
    }

    /// Puts pending samples into their buckets, forever.
    pub(crate) async fn run_upkeep(self) {
        let mut often = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            often.tick().await;
            self.0.run_upkeep();
        }
    }
}
