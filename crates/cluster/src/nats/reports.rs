//! The reports of nodes.
//!
//! The age of a report is the time of the server now, as [`Session::clock`] knows it, without the time at which the leader of the stream
//! stored the report.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream as _;
use toolcell::store::SharedError;
use toolcell_cli::{NodeReports, PublishedReport};
use toolcell_i18n::Message;

use super::Nats;
use super::connection::{Session, pipelined};
use super::failure::{Failure, describe};
use super::streams::StreamKind;
use super::subject;

/// The number of reports that are listed, at most.
const MAX_REPORTS: usize = 10_000;
/// The maximum size of a report, and of the identifier of a node, in bytes. Those that are larger are left out.
const MAX_BYTES: (usize, usize) = (4_096, 64);
/// The number of reports that are asked for at once.
const AT_ONCE: usize = 32;
/// The bytes that a list is expected to take.
const LIST_BYTES: u64 = 192 << 10;

impl NodeReports for Nats {
    fn publish(&self, node: &str, report: &[u8]) -> Result<(), SharedError> {
        let (subject, report) = (subject::report(node), report.to_vec());
        self.run_again(&self.blobs, report.len() as u64, move |session| async move {
            session.store(StreamKind::Node, subject, report, None).await.map(drop)
        })
    }

    fn remove(&self, node: &str) -> Result<(), SharedError> {
        let subject = subject::report(node);
        self.run_again(&self.blobs, 0, move |session| async move { session.purge(StreamKind::Node, subject).await })
    }

    fn list(&self) -> Result<Vec<PublishedReport>, SharedError> {
        self.run_again(&self.blobs, LIST_BYTES, |session| async move {
            let clock = session.clock(StreamKind::Node).await?;
            let nodes = nodes(&session).await?;
            let reports = pipelined(nodes, AT_ONCE, |node| {
                let session = Arc::clone(&session);
                async move {
                    let found = session.last(StreamKind::Node, subject::report(&node)).await?;
                    let found = found.filter(|found| found.payload.len() <= MAX_BYTES.0);
                    Ok(found.map(|found| {
                        let age = clock.now().saturating_sub(found.time.unix_timestamp_nanos()).max(0);
                        let age = Duration::from_nanos(u64::try_from(age).unwrap_or(u64::MAX));
                        PublishedReport { node, age, report: found.payload.to_vec() }
                    }))
                }
            });
            Ok(reports.await?.into_iter().flatten().collect())
        })
    }
}

/// The identifiers of the nodes that have a report, in order.
async fn nodes(session: &Session) -> Result<Vec<String>, Failure> {
    let lost = |error: &dyn std::error::Error| Failure::Lost(Message::verbatim(describe(error)));
    let name = StreamKind::Node.name();
    let stream = session.context().get_stream_no_info(name).await.map_err(|error| lost(&error))?;
    let mut subjects = stream.info_with_subjects(subject::report_wildcard()).await.map_err(|error| lost(&error))?;
    let mut nodes = Vec::new();
    while let Some(found) = poll_fn(|context| Pin::new(&mut subjects).poll_next(context)).await {
        let (subject, _) = found.map_err(|error| lost(&error))?;
        nodes.extend(subject::node(&subject).filter(|node| node.len() <= MAX_BYTES.1));
    }
    nodes.sort_unstable();
    nodes.truncate(MAX_REPORTS);
    Ok(nodes)
}
