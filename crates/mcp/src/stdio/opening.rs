//! A client that begins with something else than a request is not sent away for it.
//!
//! The library ends a connection whose first message is no request, without a word. Later it ignores such a message, and so
//! it is done here from the beginning.
//!
//! Invariant: from the first request on, messages are handed on as they come.

use std::borrow::Cow;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that waits for the first request.
pub(super) struct Opening<T> {
    transport: T,
    opened: bool,
}

impl<T> Opening<T> {
    pub(super) const fn new(transport: T) -> Self {
        Self { transport, opened: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.transport.receive().await?;
            self.opened |= matches!(message, JsonRpcMessage::Request(_));
            if self.opened {
                return Some(message);
            }
            tracing::debug!("a message before the first request is ignored");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
