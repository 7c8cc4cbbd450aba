//! The recording of a run for its receipt.

use std::sync::OnceLock;

use toolcell_host::{CallContext, ENGINE_VERSION, GUEST_DIGEST, HostCalls, ImageKind, Report};
use toolcell_store::{Fault, Store};
use toolcell_tool::ToolName;

use super::Receipt;
use super::format::{ReceiptContents, ReceiptLimits, ReceiptPolicy, ReceiptTool, RecordedResult};
use super::signature::{ReceiptKey, ReceiptSigner};
use super::trace::{MAX_TRACE_BYTES, TraceRecorder};
use crate::admission::Permit;
use crate::vet::VettedTool;

/// The purpose for which the store derives the signing key.
const KEY_PURPOSE: &str = "receipts";

/// The recording of a run.
pub(crate) struct ReceiptRecording<'a> {
    recorder: TraceRecorder<'a>,
    signer: ReceiptSigner,
    receipt: OnceLock<Receipt>,
}

/// Returns the signer of the receipts of a toolbox; `None` if it has no store.
///
/// # Errors
/// `store-read-only` if there is no key yet and none can be stored, and the store's I/O errors.
pub(crate) fn signer_of(store: Option<&Store>) -> Result<Option<ReceiptSigner>, Fault> {
    store.map(signer).transpose()
}

fn signer(store: &Store) -> Result<ReceiptSigner, Fault> {
    Ok(ReceiptSigner::from_seed(&store.derive_key(KEY_PURPOSE)?))
}

impl ReceiptKey {
    /// Returns the public key of the receipts of a store.
    ///
    /// # Errors
    /// `store-read-only` if there is no key yet and none can be stored, and the store's I/O errors.
    pub fn from_store(store: &Store) -> Result<Self, Fault> {
        Ok(signer(store)?.public_key())
    }
}

impl<'a> ReceiptRecording<'a> {
    /// Starts recording these host calls.
    pub(crate) fn new(operations: &'a dyn HostCalls, signer: ReceiptSigner) -> Self {
        Self::with_limit(MAX_TRACE_BYTES, operations, signer)
    }

    /// Starts recording with a size limit for the trace in bytes.
    pub(super) fn with_limit(room: usize, operations: &'a dyn HostCalls, signer: ReceiptSigner) -> Self {
        Self { recorder: TraceRecorder::new(operations, room), signer, receipt: OnceLock::new() }
    }

    /// Returns the recorded host calls.
    pub(crate) fn operations(&self) -> &dyn HostCalls {
        &self.recorder
    }

    /// Finishes the recording with the report before the post-run hooks.
    pub(crate) fn finish(
        &self,
        image: ImageKind,
        name: &ToolName,
        tool: &VettedTool,
        permit: &Permit,
        ran: (&CallContext<'_>, &Report),
    ) {
        let (run, report) = ran;
        let contents = ReceiptContents {
            tool: ReceiptTool::new(name, tool.spec()),
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            image: image.name().to_owned(),
            policy: ReceiptPolicy {
                grants: permit.grants().to_value(),
                visible: run.host_calls.grants(),
                limits: ReceiptLimits::from_budget(permit.budget()),
            },
            parameters: permit.args().params().as_str().to_owned(),
            seed: run.seed,
            started_at: u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX),
            call_id: run.call_id.to_owned(),
            readings: run.wall_clock.map(|_| report.readings.iter().map(Into::into).collect()),
            journal: self.recorder.take_trace(),
            result: RecordedResult::from_report(report),
        };
        self.receipt.get_or_init(|| Receipt::sign(contents, &self.signer));
    }

    /// Returns the receipt of a finished run.
    pub(crate) fn into_receipt(self) -> Option<Box<Receipt>> {
        self.receipt.into_inner().map(Box::new)
    }
}
