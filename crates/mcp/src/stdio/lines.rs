//! Lines of bounded length: one that is too long, or has too many values, is replaced by a request that is answered with why.
//!
//! A line is handed on when it is whole; of one that is too long nothing is kept but its beginning and its end, where the
//! identifier of the request stands.
//!
//! Invariant: no more than the limit is in memory, and the lines after it are as they were.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use crate::bounds::{Excess, Values};
use crate::malformed::{ENDS, request_id};

/// The method of the request that stands for a line that is too large.
pub(crate) const TOO_LONG: &str = "toolcell/too-long";
/// How much is read at once.
const CHUNK: usize = 64 << 10;

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
    /// What is whole, and was not handed on yet.
    whole: Option<Line>,
}

/// A line of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// As it came; or, in the place of one that is too large, a request with its identifier.
    Whole(Vec<u8>),
    /// It is too large, and has no identifier that can be seen.
    TooLarge(Excess),
}

impl<R> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let limit = limit.max(2 * ENDS);
        Self { input, limit, chunk, read: (0, 0), line: Vec::new(), dropped: 0, whole: None }
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
            let excess = match dropped {
                0 => Values::count(&line).excess(),
                _ => Some(Excess::Bytes { bytes: line.len() as u64 + dropped, limit: self.limit }),
            };
            self.whole = Some(match excess {
                Some(excess) => in_place_of(&line, excess),
                None => Line::Whole(line),
            });
        }
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The next line that is whole; none where there are no more. The future may be dropped, and nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Line> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Line>> {
        loop {
            if let Some(line) = self.whole.take() {
                return Poll::Ready(Some(line));
            }
            if self.read.0 == self.read.1 {
                let mut chunk = ReadBuf::new(&mut self.chunk);
                if let Err(error) = ready!(Pin::new(&mut self.input).poll_read(context, &mut chunk)) {
                    tracing::debug!(%error, "nothing more can be read of the client");
                    return Poll::Ready(None);
                }
                let len = chunk.filled().len();
                self.read = (0, len);
                if len == 0 {
                    // The end. What is not whole by now is no message.
                    return Poll::Ready(None);
                }
            }
            self.take();
        }
    }
}

/// What stands for a line that is too large, of which at least the ends are there.
fn in_place_of(line: &[u8], excess: Excess) -> Line {
    let Some(id) = request_id(line) else { return Line::TooLarge(excess) };
    // Where there is no session, each request says of which version it is.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "unknown", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut params = json!(excess);
    if let Value::Object(params) = &mut params {
        params.insert("_meta".to_owned(), meta);
    }
    let request = json!({"jsonrpc": "2.0", "id": id, "method": TOO_LONG, "params": params});
    Line::Whole(request.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_VALUES;

    const LIMIT: usize = 10_000;

    async fn through(input: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(input, LIMIT);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_that_are_not_too_long_are_handed_on_as_they_are() {
        let long = "x".repeat(LIMIT - 1);
        let input = format!("{{\"a\":1}}\r\n\n{long}\nlast\n");
        let expected = ["{\"a\":1}\r\n", "\n", &format!("{long}\n"), "last\n"].map(whole);
        assert_eq!(through(input.as_bytes()).await, expected);
    }

    #[tokio::test]
    async fn what_has_no_end_is_no_message() {
        assert_eq!(through(b"one\ntwo").await, [whole("one\n")]);
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
            let [before, Line::Whole(between), after] = &after[..] else { panic!("{after:?}") };
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
            let after = through(format!("{line}\n").as_bytes()).await;
            assert_eq!(after, [Line::TooLarge(Excess::Bytes { bytes: line.len() as u64 + 1, limit: LIMIT })]);
        }
    }

    #[tokio::test]
    async fn a_line_with_too_many_values_becomes_a_request_with_its_identifier() {
        let line = |id: &str, values: usize| {
            format!(r#"{{"jsonrpc":"2.0",{id}"method":"x","params":[{}]}}"#, vec!["0"; values].join(","))
        };
        let through = async |line: &str| {
            let input = format!("{line}\nafter\n");
            let mut lines = Lines::new(input.as_bytes(), 4 << 20);
            let first = lines.next().await.unwrap();
            assert_eq!(lines.next().await, Some(whole("after\n")));
            first
        };
        let Line::Whole(request) = through(&line(r#""id":7,"#, MAX_VALUES)).await else { panic!() };
        let request: Value = serde_json::from_slice(&request).unwrap();
        assert_eq!((&request["id"], &request["method"]), (&json!(7), &json!(TOO_LONG)));
        assert_eq!(request["params"]["values"], json!(MAX_VALUES + 8));
        let excess = Excess::Values { values: MAX_VALUES + 6, limit: MAX_VALUES };
        assert_eq!(through(&line("", MAX_VALUES)).await, Line::TooLarge(excess));
        let most = line(r#""id":7,"#, MAX_VALUES - 8);
        assert_eq!(through(&most).await, whole(&format!("{most}\n")));
    }
}
