//! The network in a build without the feature `net`: no run has a session, so no request is made.

#![expect(clippy::needless_pass_by_value, clippy::unused_self, reason = "the signatures are those with the feature")]

use std::convert::Infallible;
use std::sync::Arc;

use tokio::runtime::Handle;
use toolcell_host::FetchRequest;

use super::completions::CompletionQueue;
use super::flows::AnswerSource;
use super::open::GrantOpenError;
use super::resources::Resources;
use super::{RunEnvironment, SessionRequest};

/// The network session of a run. It has no values.
pub(super) struct NetSession(Infallible);

/// Follows a request. It has no values.
pub(super) struct FlowObserver(Infallible);

impl RunEnvironment<'_> {
    pub(super) fn flow_observer(&self, _answer: Option<&AnswerSource>) -> Option<FlowObserver> {
        None
    }
}

/// A running request. It has no values.
pub(super) struct BodyReader(Infallible);

impl BodyReader {
    pub(super) fn request_chunk(&self, _operation: u32) -> bool {
        match self.0 {}
    }
}

/// Makes no request: there is no session for one.
pub(super) fn start_request(
    _background: &Handle,
    (net, _observer): (Arc<NetSession>, Option<FlowObserver>),
    _request: (u32, FetchRequest, Option<Vec<u8>>),
    _inbox: Arc<CompletionQueue>,
) -> BodyReader {
    match net.0 {}
}

impl Resources {
    /// Refuses a run that is granted requests, or secrets to send with them.
    pub(super) fn open_net(&self, request: SessionRequest<'_>) -> Result<Option<Arc<NetSession>>, GrantOpenError> {
        let SessionRequest { grants, .. } = request;
        if grants.net.is_empty() && grants.secrets.is_empty() { Ok(None) } else { Err(GrantOpenError::NoNetwork) }
    }
}
