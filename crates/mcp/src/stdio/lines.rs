//! Lines of bounded length: one that is too long is replaced by a request that is answered with why.
//!
//! The library drops what is too long without a word, and a client would wait for ever. So a line is handed on when it is
//! whole; of one that is too long nothing is kept but its beginning and its end, where the identifier of the request stands.
//!
//! Invariant: no more than the limit is in memory, and the lines after it are as they were.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

/// The method of the request that stands for a line that is too long.
pub(crate) const TOO_LONG: &str = "toolcell/too-long";
/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// How much of the beginning and of the end of a line that is too long is kept.
const ENDS: usize = 4 << 10;

/// Reads lines that are not too long.
pub(super) struct Lines<R> {
    input: R,
    limit: usize,
    /// What was read, and how much of it was looked at.
    chunk: Box<[u8]>,
    read: (usize, usize),
    /// The line that is not whole yet; of one that is too long, its ends.
    line: Vec<u8>,
    dropped: u64,
    /// What is whole, and how much of it was handed on.
    whole: (Vec<u8>, usize),
}

impl<R> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let limit = limit.max(2 * ENDS);
        Self { input, limit, chunk, read: (0, 0), line: Vec::new(), dropped: 0, whole: (Vec::new(), 0) }
    }

    /// Takes in what was read, up to the end of a line.
    fn take(&mut self) {
        let (begin, end) = self.read;
        let rest = &self.chunk[begin..end];
        let (piece, ended) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&rest[..=at], true),
            None => (rest, false),
        };
        self.read.0 += piece.len();
        self.line.extend_from_slice(piece);
        if self.line.len() > self.limit || self.dropped > 0 {
            let more = self.line.len().saturating_sub(2 * ENDS);
            self.line.drain(ENDS..ENDS + more);
            self.dropped += more as u64;
        }
        if ended {
            let line = std::mem::take(&mut self.line);
            let dropped = std::mem::take(&mut self.dropped);
            self.whole = (if dropped > 0 { in_place_of(&line, dropped, self.limit) } else { line }, 0);
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let (whole, handed) = &mut this.whole;
            if *handed < whole.len() {
                let piece = &whole[*handed..(*handed + buffer.remaining()).min(whole.len())];
                buffer.put_slice(piece);
                *handed += piece.len();
                return Poll::Ready(Ok(()));
            }
            if this.read.0 == this.read.1 {
                let mut chunk = ReadBuf::new(&mut this.chunk);
                ready!(Pin::new(&mut this.input).poll_read(context, &mut chunk))?;
                let len = chunk.filled().len();
                this.read = (0, len);
                if len == 0 {
                    // The end. What is not whole by now is no message.
                    return Poll::Ready(Ok(()));
                }
            }
            this.take();
        }
    }
}

/// The request that stands for a line that is too long. A notification, or what has no identifier that can be seen, is
/// answered by nobody, and stands there as one.
fn in_place_of(ends: &[u8], dropped: u64, limit: usize) -> Vec<u8> {
    let bytes = ends.len() as u64 + dropped;
    // Where there is no session, each request says of which version it is.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "unknown", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut request = json!({
        "jsonrpc": "2.0", "method": TOO_LONG, "params": {"_meta": meta, "bytes": bytes, "limit": limit},
    });
    let (begin, end) = ends.split_at(ENDS.min(ends.len()));
    if let Some(id) = id_at_begin(begin).or_else(|| id_at_end(end)) {
        request["id"] = id;
    }
    let mut line = request.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// The identifier, where it stands before everything that is long: `{"jsonrpc":"2.0","id":7,`.
fn id_at_begin(begin: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(begin);
    let mut rest = text.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = scalar(rest.trim_start())?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = scalar(after)?;
        if key == "id" {
            return Some(value).filter(is_id);
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// The identifier, where it stands behind it: `"jsonrpc":"2.0","id":7}`.
fn id_at_end(end: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(end);
    let at = text.rfind("\"id\"")?;
    let (value, after) = scalar(text[at + 4..].trim_start().strip_prefix(':')?.trim_start())?;
    let mut after = after.trim();
    // What else may stand behind it at the same depth.
    while let Some(rest) = after.strip_prefix(',') {
        let (_, rest) = scalar(rest.trim_start())?;
        let (_, rest) = scalar(rest.trim_start().strip_prefix(':')?.trim_start())?;
        after = rest.trim_start();
    }
    (after == "}" && is_id(&value)).then_some(value)
}

/// A text or a number at the beginning of some JSON, and what comes after it.
fn scalar(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if !text.starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        return None;
    }
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    const LIMIT: usize = 10_000;

    async fn through(input: &[u8]) -> String {
        let mut text = String::new();
        Lines::new(input, LIMIT).read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn lines_that_are_not_too_long_are_handed_on_as_they_are() {
        let long = "x".repeat(LIMIT - 1);
        let input = format!("{{\"a\":1}}\r\n\n{long}\nlast\n");
        assert_eq!(through(input.as_bytes()).await, input);
    }

    #[tokio::test]
    async fn what_has_no_end_is_no_message() {
        assert_eq!(through(b"one\ntwo").await, "one\n");
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
            let after = through(format!("before\n{line}\nafter\n").as_bytes()).await;
            let between = after.strip_prefix("before\n").and_then(|after| after.strip_suffix("after\n")).unwrap();
            let request: Value = serde_json::from_str(between).unwrap();
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
            let after = through(format!("{line}\n").as_bytes()).await;
            assert!(
                after.starts_with("{\"jsonrpc\":\"2.0\",\"method\":\"toolcell/too-long\"") && !after.contains("\"id\""),
                "{after}"
            );
        }
    }
}
