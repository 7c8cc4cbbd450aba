//! Splits input into lines of bounded length. A line that is too long or has too many values is
//! replaced by a request whose answer explains why.
//!
//! A line is returned when it is complete. Of a line that is too long only the beginning and the
//! end are kept, because the request's identifier is there.
//!
//! It is written by hand because `LinesCodec` of tokio-util discards a line that is too long, and
//! with it the identifier under which the client waits for an answer.
//!
//! Invariant: memory never exceeds the limit, and the lines after a replaced one are unchanged.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use crate::bounds::{MessageTooLarge, ValueCount};
use crate::malformed::{SCAN_BYTES, request_id};

/// The method of the request that replaces a line that is too large.
pub(crate) const TOO_LARGE_METHOD: &str = "toolcell/too-long";
/// The size of one read, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads lines of bounded length.
pub(super) struct FrameReader<R> {
    input: R,
    limit: usize,
    /// The last chunk, and the range of it that has not been processed.
    chunk: Box<[u8]>,
    read: (usize, usize),
    /// The incomplete line; of a line that is too long, its beginning and end.
    line: Vec<u8>,
    dropped_bytes: u64,
    /// A complete line that has not been returned.
    ready: Option<InputFrame>,
}

/// A line of the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputFrame {
    /// The line itself, or the request that replaces one that is too large.
    Complete(Vec<u8>),
    /// The line is too large and has no visible identifier.
    TooLarge(MessageTooLarge),
}

impl<R> FrameReader<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
        let limit = limit.max(2 * SCAN_BYTES);
        Self { input, limit, chunk, read: (0, 0), line: Vec::new(), dropped_bytes: 0, ready: None }
    }

    /// Processes the chunk up to the end of a line.
    fn consume_chunk(&mut self) {
        let (begin, end) = self.read;
        let rest = &self.chunk[begin..end];
        let (piece, ended) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&rest[..=at], true),
            None => (rest, false),
        };
        self.read.0 += piece.len();
        self.line.extend_from_slice(piece);
        if self.line.len() > self.limit || self.dropped_bytes > 0 {
            let more = self.line.len().saturating_sub(2 * SCAN_BYTES);
            self.line.drain(SCAN_BYTES..SCAN_BYTES + more);
            self.dropped_bytes += more as u64;
        }
        if ended {
            let line = std::mem::take(&mut self.line);
            let dropped = std::mem::take(&mut self.dropped_bytes);
            let excess = match dropped {
                0 => ValueCount::count(&line).exceeded_limit(),
                _ => Some(MessageTooLarge::Bytes { bytes: line.len() as u64 + dropped, limit: self.limit }),
            };
            self.ready = Some(match excess {
                Some(excess) => replacement_request(&line, excess),
                None => InputFrame::Complete(line),
            });
        }
    }
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Returns the next complete line; `None` at the end of the input. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<InputFrame> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<InputFrame>> {
        loop {
            if let Some(line) = self.ready.take() {
                return Poll::Ready(Some(line));
            }
            if self.read.0 == self.read.1 {
                let mut chunk = ReadBuf::new(&mut self.chunk);
                if let Err(error) = ready!(Pin::new(&mut self.input).poll_read(context, &mut chunk)) {
                    tracing::debug!(%error, "cannot read from the client");
                    return Poll::Ready(None);
                }
                let len = chunk.filled().len();
                self.read = (0, len);
                if len == 0 {
                    // End of input. An incomplete line is not a message.
                    return Poll::Ready(None);
                }
            }
            self.consume_chunk();
        }
    }
}

/// The replacement of a line that is too large, given at least its beginning and end.
fn replacement_request(line: &[u8], excess: MessageTooLarge) -> InputFrame {
    let Some(id) = request_id(line) else { return InputFrame::TooLarge(excess) };
    // Without a session, each request carries the protocol version.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "unknown", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut params = json!(excess);
    if let Value::Object(params) = &mut params {
        params.insert("_meta".to_owned(), meta);
    }
    let request = json!({"jsonrpc": "2.0", "id": id, "method": TOO_LARGE_METHOD, "params": params});
    InputFrame::Complete(request.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_VALUES;

    const LIMIT: usize = 10_000;

    async fn read_all(input: &[u8]) -> Vec<InputFrame> {
        let mut lines = FrameReader::new(input, LIMIT);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> InputFrame {
        InputFrame::Complete(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_that_are_not_too_long_are_handed_on_as_they_are() {
        let long = "x".repeat(LIMIT - 1);
        let input = format!("{{\"a\":1}}\r\n\n{long}\nlast\n");
        let expected = ["{\"a\":1}\r\n", "\n", &format!("{long}\n"), "last\n"].map(whole);
        assert_eq!(read_all(input.as_bytes()).await, expected);
    }

    #[tokio::test]
    async fn what_has_no_end_is_no_message() {
        assert_eq!(read_all(b"one\ntwo").await, [whole("one\n")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_becomes_a_request_with_its_identifier() {
        let text = "\\\"id\\\": 9 ".repeat(300_000);
        let bytes = |line: &str| line.len() + 1;
        for (line, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"a":"{text}"}}}}"#), "7"),
            (format!(r#"{{"method":"tools/call","params":{{"a":"{text}"}},"jsonrpc":"2.0","id":7}}"#), "7"),
            (format!(r#"{{ "id" : "x" , "params" : {{"a":"{text}"}} }}"#), "\"x\""),
            (format!(r#"{{"params":{{"a":"{text}"}},"id":"x","jsonrpc":"2.0"}}"#), "\"x\""),
        ] {
            let after = read_all(format!("before\n{line}\nafter\n").as_bytes()).await;
            let [before, InputFrame::Complete(between), after] = &after[..] else { panic!("{after:?}") };
            assert_eq!((before, after), (&whole("before\n"), &whole("after\n")));
            let request: Value = serde_json::from_slice(between).unwrap();
            let told = (&request["params"]["bytes"], &request["params"]["limit"]);
            assert_eq!((told, request["id"].to_string().as_str()), ((&json!(bytes(&line)), &json!(LIMIT)), id));
        }
    }

    #[tokio::test]
    async fn an_identifier_that_is_not_that_of_the_request_is_not_taken_for_it() {
        let text = "x".repeat(3 * LIMIT);
        for line in [
            format!(r#"{{"method":"notifications/x","params":{{"a":"{text}","id":5}}}}"#),
            format!(r#"{{"params":{{"id":5,"a":"{text}"}}}}"#),
            format!(r#"[{{"id":5,"a":"{text}"}}]"#),
            text.clone(),
        ] {
            let after = read_all(format!("{line}\n").as_bytes()).await;
            assert_eq!(
                after,
                [InputFrame::TooLarge(MessageTooLarge::Bytes { bytes: line.len() as u64 + 1, limit: LIMIT })]
            );
        }
    }

    #[tokio::test]
    async fn a_line_with_too_many_values_becomes_a_request_with_its_identifier() {
        let line = |id: &str, values: usize| {
            format!(r#"{{"jsonrpc":"2.0",{id}"method":"x","params":[{}]}}"#, vec!["0"; values].join(","))
        };
        let through = async |line: &str| {
            let input = format!("{line}\nafter\n");
            let mut lines = FrameReader::new(input.as_bytes(), 4 << 20);
            let first = lines.next().await.unwrap();
            assert_eq!(lines.next().await, Some(whole("after\n")));
            first
        };
        let InputFrame::Complete(request) = through(&line(r#""id":7,"#, MAX_VALUES)).await else { panic!() };
        let request: Value = serde_json::from_slice(&request).unwrap();
        assert_eq!((&request["id"], &request["method"]), (&json!(7), &json!(TOO_LARGE_METHOD)));
        assert_eq!(request["params"]["values"], json!(MAX_VALUES + 8));
        let excess = MessageTooLarge::Values { values: MAX_VALUES + 6, limit: MAX_VALUES };
        assert_eq!(through(&line("", MAX_VALUES)).await, InputFrame::TooLarge(excess));
        let most = line(r#""id":7,"#, MAX_VALUES - 8);
        assert_eq!(through(&most).await, whole(&format!("{most}\n")));
    }
}
