//! Messages between nodes.
//!
//! Invariant: nothing that nodes agree on depends on a message. One that is lost costs time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A future of a [`Wire`].
pub type WireFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// Answers a message.
pub type AnswerMessage = Arc<dyn Fn(Vec<u8>) -> WireFuture<'static, Vec<u8>> + Send + Sync>;

/// Why a message was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFailure {
    /// It was not delivered: the node is not there, or the server of messages cannot be reached.
    NotDelivered,
    /// It may have been delivered.
    Lost,
}

/// Carries messages between nodes.
pub trait Wire: Send + Sync {
    /// Sends a message to a node and waits for its answer, for as long as the future is not dropped.
    fn request(&self, node: &str, message: Vec<u8>) -> WireFuture<'_, Result<Vec<u8>, WireFailure>>;

    /// Answers the messages to a node from now on, also after the connection was lost.
    fn serve(&self, node: &str, answer: AnswerMessage);

    /// Whether there is a connection to the server of messages.
    fn is_connected(&self) -> bool;

    /// The largest message, in bytes.
    fn message_limit(&self) -> usize;
}
