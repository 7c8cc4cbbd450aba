//! MCP servers in a build without the feature `servers`: no run may call one.

#![expect(clippy::unused_self, reason = "the signatures are those with the feature")]

use std::convert::Infallible;
use std::sync::Arc;

use tokio::runtime::Handle;
use toolcell_host::{ServerCallRequest, ServerDescribeRequest, ServerSearchRequest};
use toolcell_tool::ServersGrant;

use super::completions::CompletionQueue;
use super::questions::QuestionRoute;
use super::resources::{ResourceContext, Resources};

/// What a run may call. It has no values.
#[derive(Clone)]
pub(super) struct ServerAccess(Infallible);

/// A call that runs in the background. It has no values.
pub(super) struct RunningServerCall(Infallible);

/// Whether a call may be one of a tool that does more than read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MayWrite {
    Yes,
    No,
}

/// A host call on servers.
#[expect(dead_code, reason = "no server performs them")]
pub(super) enum ServerOperation {
    Call(ServerCallRequest, MayWrite),
    Search(ServerSearchRequest),
    Describe(ServerDescribeRequest),
}

impl ServerAccess {
    pub(super) fn must_be_held(&self, _request: &ServerCallRequest) -> bool {
        match self.0 {}
    }

    pub(super) fn start(
        &self,
        _background: &Handle,
        _id: u32,
        _operation: ServerOperation,
        _queue: Arc<CompletionQueue>,
    ) -> RunningServerCall {
        match self.0 {}
    }
}

impl Resources {
    /// Opens nothing: a run that is granted servers does not start.
    pub(super) fn open_servers(
        &self,
        _context: ResourceContext<'_>,
        _grants: &ServersGrant,
        _run: (&str, &Arc<QuestionRoute>),
    ) -> Option<ServerAccess> {
        None
    }
}
