//! The `rmcp` transport over lines, which answers malformed messages.
//!
//! `rmcp` drops a line that is not JSON, answers an invalid message without the request's
//! identifier, and closes a connection whose first message is not a request; the client would wait
//! forever. Lines are therefore parsed here, and each that cannot be forwarded is answered
//! (JSON-RPC 2.0, section 5.1) with a parse error or an invalid request, under the request's
//! identifier if it can be read.
//!
//! Invariant: every request is answered, however malformed. Notifications and responses are not,
//! unless they cannot be told from requests.

use std::borrow::Cow;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, Empty};
use tokio_util::sync::CancellationToken;

use super::framing::{FrameReader, InputFrame};
use crate::malformed::{Malformed, reply_to_malformed};

type Sending = Pin<Box<dyn Future<Output = Result<(), std::io::Error>> + Send>>;

/// A transport over lines.
pub(super) struct LineTransport<R, W: AsyncWrite> {
    lines: FrameReader<R>,
    /// `rmcp`'s writer.
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// Whether a request was received.
    saw_request: bool,
    /// A reply to a malformed message that is being written. The future of `receive` may be dropped
    /// meanwhile.
    sending: Option<Sending>,
    /// Cancelled at the end of the input.
    input_closed: CancellationToken,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(lines: FrameReader<R>, output: W) -> Self {
        let output = AsyncRwTransport::new_server(tokio::io::empty(), output);
        Self { lines, output, saw_request: false, sending: None, input_closed: CancellationToken::new() }
    }

    /// Cancelled at the end of the input.
    pub(super) const fn input_closed(&self) -> &CancellationToken {
        &self.input_closed
    }

    /// Reads the next valid message, and answers malformed ones.
    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                // A client that reads nothing needs no further messages.
                sent.ok()?;
            }
            let line = match self.lines.next().await? {
                InputFrame::Complete(line) => line,
                InputFrame::TooLarge(excess) => {
                    self.answer(None, excess.to_error());
                    continue;
                }
            };
            let line = trim_line(&line);
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(message) => return Some(message),
                Err(error) => {
                    let Some(Malformed { id, error }) = reply_to_malformed(line, &error) else { continue };
                    tracing::debug!(%error, "a message is malformed");
                    self.answer(id, error);
                }
            }
        }
    }

    fn answer(&mut self, id: Option<RequestId>, error: ErrorData) {
        self.sending = Some(Box::pin(self.output.send(TxJsonRpcMessage::<RoleServer>::error(error, id))));
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn name() -> Cow<'static, str> {
        "lines".into()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.output.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.next_message().await else {
                self.input_closed.cancel();
                return None;
            };
            self.saw_request |= matches!(message, JsonRpcMessage::Request(_));
            if self.saw_request {
                return Some(message);
            }
            tracing::debug!("a message before the first request is ignored");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.close().await
    }
}

/// Removes a byte order mark and surrounding white space.
fn trim_line(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};

    use super::*;

    /// The reply to a line, before the next request is forwarded.
    async fn answer(line: &[u8]) -> Option<Value> {
        let (mut client, input) = duplex(1 << 20);
        let (output, answers) = duplex(1 << 20);
        let mut messages = LineTransport::new(FrameReader::new(input, 1 << 20), output);
        client.write_all(line).await.unwrap();
        client.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"ping\"}\n").await.unwrap();
        drop(client);
        let next = messages.receive().await.unwrap();
        assert!(matches!(next, JsonRpcMessage::Request(request) if request.id == RequestId::Number(99)));
        drop(messages);
        let answer = BufReader::new(answers).lines().next_line().await.unwrap()?;
        Some(serde_json::from_str(&answer).unwrap())
    }

    #[tokio::test]
    async fn a_message_that_is_no_json_is_answered_with_a_parse_error() {
        for (line, id) in [
            (&b"nul"[..], Value::Null),
            (b"{", Value::Null),
            (b"\xff\xfe{}", Value::Null),
            (br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud83d"}}"#, json!(7)),
            (
                br#"{"method":"tools/call","params":{"arguments":{"a":"x\udc00y"}},"jsonrpc":"2.0","id":"x"}"#,
                json!("x"),
            ),
            (b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"\xc3\x28\"}", json!(8)),
            (br#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{}"#, json!(9)),
            // The identifier of a response is not that of a request.
            (br#"{"jsonrpc":"2.0","id":10,"result":{"a":"\ud83d"}}"#, Value::Null),
        ] {
            let answer = answer(line).await.unwrap();
            let shown = String::from_utf8_lossy(line);
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32_700), &id), "{shown}: {answer}");
            assert_eq!(answer["error"]["data"]["code"], "message-not-json", "{shown}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_that_is_no_message_is_answered_under_its_identifier() {
        for (line, id) in [
            (&br#"{"jsonrpc":"1.0","id":4,"method":"tools/list"}"#[..], json!(4)),
            (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, json!(5)),
            (b"[]", Value::Null),
            (b"7", Value::Null),
        ] {
            let answer = answer(line).await.unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32_600), &id), "{answer}");
        }
    }

    #[tokio::test]
    async fn what_asks_for_nothing_is_answered_by_nothing() {
        for line in [
            &b""[..],
            b" \t\r",
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
            br#"{"jsonrpc":"2.0","method":"$/other"}"#,
        ] {
            assert_eq!(answer(line).await, None, "{}", String::from_utf8_lossy(line));
        }
    }
}
