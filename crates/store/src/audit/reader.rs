//! Reading a file line by line, forwards and backwards.
//!
//! Invariant: about one line is in memory at a time, whatever the file contains.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Take};
use std::os::unix::fs::FileExt as _;

/// The maximum length of a line, in bytes, without its newline.
pub(super) const LINE_LIMIT: usize = 64 << 10;
/// The number of bytes per read when reading backwards.
const READ_BYTES: usize = 8 << 10;

/// A chunk of a file between newlines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk<'a> {
    /// A line, without its newline.
    Line(&'a [u8]),
    /// A line longer than the limit.
    Oversized,
    /// The bytes after the last newline, by number.
    Tail(u64),
}

/// Reads chunks from first to last.
pub(super) struct LineReader {
    reader: BufReader<Take<File>>,
    line: Vec<u8>,
}

impl LineReader {
    /// Reads the first `len` bytes of a file.
    pub(super) fn new(file: File, len: u64) -> Self {
        Self { reader: BufReader::with_capacity(LINE_LIMIT, file.take(len)), line: Vec::new() }
    }

    /// The next chunk.
    pub(super) fn next(&mut self) -> io::Result<Option<Chunk<'_>>> {
        self.line.clear();
        let limit = LINE_LIMIT as u64 + 1;
        let mut bytes = (&mut self.reader).take(limit).read_until(b'\n', &mut self.line)? as u64;
        if self.line.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Some(Chunk::Line(&self.line)));
        }
        loop {
            let ahead = self.reader.fill_buf()?;
            if ahead.is_empty() {
                return Ok((bytes > 0).then_some(Chunk::Tail(bytes)));
            }
            let newline = ahead.iter().position(|byte| *byte == b'\n');
            let used = newline.map_or(ahead.len(), |at| at + 1);
            self.reader.consume(used);
            bytes += used as u64;
            if newline.is_some() {
                return Ok(Some(Chunk::Oversized));
            }
        }
    }
}

/// Reads chunks from last to first.
pub(super) struct ReverseLineReader {
    file: File,
    /// The offset before which nothing was read yet.
    start: u64,
    /// Bytes from this offset on that belong to no returned chunk yet.
    rest: Vec<u8>,
    line: Vec<u8>,
    /// Whether the next chunk is the tail.
    is_at_tail: bool,
    is_finished: bool,
}

impl ReverseLineReader {
    /// Reads the first `len` bytes of a file.
    pub(super) fn new(file: File, len: u64) -> Self {
        Self { file, start: len, rest: Vec::new(), line: Vec::new(), is_at_tail: true, is_finished: false }
    }

    /// The previous chunk.
    pub(super) fn next(&mut self) -> io::Result<Option<Chunk<'_>>> {
        let tail = std::mem::take(&mut self.is_at_tail);
        let bytes = if self.is_finished { return Ok(None) } else { self.read_last_line()? };
        if tail {
            return if bytes == 0 { self.next() } else { Ok(Some(Chunk::Tail(bytes))) };
        }
        Ok(Some(if bytes > LINE_LIMIT as u64 { Chunk::Oversized } else { Chunk::Line(&self.line) }))
    }

    /// Moves the text after the last newline into `line` and returns its length in bytes.
    fn read_last_line(&mut self) -> io::Result<u64> {
        let mut left_out = 0;
        loop {
            if let Some(newline) = self.rest.iter().rposition(|byte| *byte == b'\n') {
                self.line.clear();
                self.line.extend_from_slice(&self.rest[newline + 1..]);
                self.rest.truncate(newline);
                break;
            }
            if self.start == 0 {
                self.line = std::mem::take(&mut self.rest);
                self.is_finished = true;
                break;
            }
            if self.rest.len() > LINE_LIMIT {
                left_out += self.rest.len() as u64;
                self.rest.clear();
            }
            self.read_before()?;
        }
        Ok(left_out + self.line.len() as u64)
    }

    fn read_before(&mut self) -> io::Result<()> {
        let size = usize::try_from(self.start).map_or(READ_BYTES, |start| start.min(READ_BYTES));
        self.start -= size as u64;
        let mut bytes = vec![0; size];
        self.file.read_exact_at(&mut bytes, self.start)?;
        bytes.append(&mut self.rest);
        self.rest = bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn shown(piece: &Chunk<'_>) -> String {
        match piece {
            Chunk::Line(line) if line.len() < 20 => String::from_utf8_lossy(line).into_owned(),
            Chunk::Line(line) => line.len().to_string(),
            Chunk::Oversized => "long".to_owned(),
            Chunk::Tail(bytes) => format!("tail {bytes}"),
        }
    }

    fn check(text: &str, expect: &[&str]) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let len = text.len() as u64;
        let mut back = ReverseLineReader::new(file.try_clone().unwrap(), len);
        let mut pieces = Vec::new();
        while let Some(piece) = back.next().unwrap() {
            pieces.insert(0, shown(&piece));
        }
        assert_eq!(pieces, expect, "backwards");
        io::Seek::rewind(&mut file).unwrap();
        let mut ahead = LineReader::new(file, len);
        let mut pieces = Vec::new();
        while let Some(piece) = ahead.next().unwrap() {
            pieces.push(shown(&piece));
        }
        assert_eq!(pieces, expect, "forwards");
    }

    #[test]
    fn both_ways_give_the_same_pieces() {
        check("", &[]);
        check("\n", &[""]);
        check("a", &["tail 1"]);
        check("a\n", &["a"]);
        check("a\n\nb\n", &["a", "", "b"]);
        check("a\nb", &["a", "tail 1"]);
        check(&format!("a\n{}\nb\n", "x".repeat(READ_BYTES)), &["a", "8192", "b"]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_not_kept() {
        check(&format!("a\n{}\nb\n", "x".repeat(LINE_LIMIT)), &["a", "65536", "b"]);
        check(&format!("a\n{}\nb\n", "x".repeat(LINE_LIMIT + 1)), &["a", "long", "b"]);
        check(&format!("{}\nb\n", "x".repeat(1 << 20)), &["long", "b"]);
        check(&format!("a\n{}", "x".repeat(1 << 20)), &["a", "tail 1048576"]);
    }
}
