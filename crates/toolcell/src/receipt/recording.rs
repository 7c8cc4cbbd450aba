//! What is noted of a run, so that it gets a receipt.

use std::sync::OnceLock;

use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Operations, Report, Run};
use toolcell_store::{Fault, Store};
use toolcell_tool::ToolName;

use super::Receipt;
use super::form::{Came, Contents, Limits, Rules, Tool};
use super::journal::{LIMIT, Recorder};
use super::seal::{ReceiptKey, Signer};
use crate::permit::Permit;
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;

/// What the key of a store is derived for.
const PURPOSE: &str = "receipts";

/// A run that gets a receipt.
pub(crate) struct Recording<'a> {
    recorder: Recorder<'a>,
    signer: Signer,
    receipt: OnceLock<Receipt>,
}

impl Toolbox {
    /// The key that receipts of this toolbox are signed with; nothing where it has no store.
    ///
    /// # Errors
    /// `store-read-only` where there is no key yet and none can be kept, and those of the disk.
    pub fn receipt_key(&self) -> Result<Option<ReceiptKey>, Fault> {
        Ok(self.receipt_signer()?.map(|signer| signer.public()))
    }

    /// What signs receipts.
    pub(crate) fn receipt_signer(&self) -> Result<Option<Signer>, Fault> {
        self.store.as_deref().map(signer).transpose()
    }
}

fn signer(store: &Store) -> Result<Signer, Fault> {
    Ok(Signer::from_seed(&store.secret(PURPOSE)?))
}

impl ReceiptKey {
    /// The key that receipts of the runs with this store are signed with.
    ///
    /// # Errors
    /// `store-read-only` where there is no key yet and none can be kept, and those of the disk.
    pub fn of(store: &Store) -> Result<Self, Fault> {
        Ok(signer(store)?.public())
    }
}

impl<'a> Recording<'a> {
    /// Notes what these operations give.
    pub(crate) fn of(operations: &'a dyn Operations, signer: Signer) -> Self {
        Self::within(LIMIT, operations, signer)
    }

    /// The same with so much room for what they give, in bytes.
    pub(super) fn within(room: usize, operations: &'a dyn Operations, signer: Signer) -> Self {
        Self { recorder: Recorder::new(operations, room), signer, receipt: OnceLock::new() }
    }

    /// The operations, which are noted.
    pub(crate) fn operations(&self) -> &dyn Operations {
        &self.recorder
    }

    /// Notes how the run ended, as the tool left it.
    pub(crate) fn ended(
        &self,
        toolbox: &Toolbox,
        name: &ToolName,
        tool: &VettedTool,
        permit: &Permit,
        ran: (&Run<'_>, &Report),
    ) {
        let (run, report) = ran;
        let contents = Contents {
            tool: Tool::of(name, tool.spec()),
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            image: toolbox.image().name().to_owned(),
            policy: Rules {
                grants: permit.grants().to_value(),
                visible: run.operations.grants(),
                limits: Limits::of(permit.budget()),
            },
            parameters: permit.args().params().as_str().to_owned(),
            seed: run.seed,
            started_at: u64::try_from(run.started_at.as_nanos()).unwrap_or(u64::MAX),
            call_id: run.call_id.to_owned(),
            readings: run.clock.map(|_| report.readings.iter().map(Into::into).collect()),
            journal: self.recorder.taken(),
            result: Came::of(report),
        };
        self.receipt.get_or_init(|| Receipt::signed(contents, &self.signer));
    }

    /// The receipt of a run that has ended.
    pub(crate) fn into_receipt(self) -> Option<Box<Receipt>> {
        self.receipt.into_inner().map(Box::new)
    }
}
