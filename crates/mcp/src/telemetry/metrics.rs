//! Metrics, as Prometheus reads them.
//!
//! Invariant: there are as many series as there are operations and codes, however many tools and principals there are.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::calls::Calls;

/// The bounds of what takes time, in seconds.
const SECONDS: [f64; 12] = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];
/// How often what was measured is put into its bounds where nobody reads it.
const UPKEEP: Duration = Duration::from_secs(5);

pub(super) const REQUESTS: &str = "toolcell_requests_total";
pub(super) const LASTED: &str = "toolcell_request_seconds";
pub(super) const FUEL: &str = "toolcell_run_fuel_total";
const UNDER_WAY: &str = "toolcell_requests_under_way";

/// The metrics of this process.
#[derive(Clone)]
pub(crate) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Begins to measure; the same in the whole process.
    pub(crate) fn of_process() -> Option<Self> {
        static INSTALLED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| {
            let matcher = Matcher::Full(LASTED.to_owned());
            let recorder = PrometheusBuilder::new().set_buckets_for_metric(matcher, &SECONDS).ok()?.build_recorder();
            let handle = recorder.handle();
            metrics::set_global_recorder(recorder).ok()?;
            metrics::describe_counter!(
                REQUESTS,
                "Calls of operations, by operation and outcome: ok, or the code of the failure"
            );
            metrics::describe_histogram!(LASTED, metrics::Unit::Seconds, "How long calls took");
            metrics::describe_counter!(FUEL, "Fuel that runs used");
            metrics::describe_gauge!(UNDER_WAY, "Calls that are under way");
            Some(handle)
        });
        installed.clone().map(Self)
    }

    /// All of them, in the text format of Prometheus.
    pub(crate) fn render(&self, calls: &Calls) -> String {
        #[expect(clippy::cast_precision_loss, reason = "there are less than 2^52 of them")]
        metrics::gauge!(UNDER_WAY).set(calls.count() as f64);
        self.0.render()
    }

    /// Puts what was measured into its bounds, for ever.
    pub(crate) async fn keep_up(self) {
        let mut often = tokio::time::interval(UPKEEP);
        loop {
            often.tick().await;
            self.0.run_upkeep();
        }
    }
}
