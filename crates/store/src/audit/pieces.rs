//! The lines of a file, forwards and backwards.
//!
//! Invariant: no more than about one line is in memory, whatever is in the file.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Take};
use std::os::unix::fs::FileExt as _;

/// The longest line, in bytes, without its newline.
pub(super) const LINE_LIMIT: usize = 64 << 10;
/// How much is read at once on the way back.
const CHUNK: usize = 8 << 10;

/// A piece of a file between newlines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A line, without its newline.
    Line(&'a [u8]),
    /// A line longer than the limit.
    Long,
    /// What is after the last newline, and how many bytes it has.
    Tail(u64),
}

/// The pieces from the first to the last.
pub(super) struct Forwards {
    reader: BufReader<Take<File>>,
    line: Vec<u8>,
}

impl Forwards {
    /// The pieces of the first `len` bytes of a file.
    pub(super) fn new(file: File, len: u64) -> Self {
        Self { reader: BufReader::with_capacity(LINE_LIMIT, file.take(len)), line: Vec::new() }
    }

    /// The next piece.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.line.clear();
        let limit = LINE_LIMIT as u64 + 1;
        let mut bytes = (&mut self.reader).take(limit).read_until(b'\n', &mut self.line)? as u64;
        if self.line.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Some(Piece::Line(&self.line)));
        }
        loop {
            let ahead = self.reader.fill_buf()?;
            if ahead.is_empty() {
                return Ok((bytes > 0).then_some(Piece::Tail(bytes)));
            }
            let newline = ahead.iter().position(|byte| *byte == b'\n');
            let used = newline.map_or(ahead.len(), |at| at + 1);
            self.reader.consume(used);
            bytes += used as u64;
            if newline.is_some() {
                return Ok(Some(Piece::Long));
            }
        }
    }
}

/// The pieces from the last to the first.
pub(super) struct Backwards {
    file: File,
    /// Everything before this is unread.
    start: u64,
    /// What was read from there on and is in no piece yet.
    rest: Vec<u8>,
    line: Vec<u8>,
    /// What is at the end comes first.
    at_tail: bool,
    ended: bool,
}

impl Backwards {
    /// The pieces of the first `len` bytes of a file.
    pub(super) fn new(file: File, len: u64) -> Self {
        Self { file, start: len, rest: Vec::new(), line: Vec::new(), at_tail: true, ended: false }
    }

    /// The piece before.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        let tail = std::mem::take(&mut self.at_tail);
        let bytes = if self.ended { return Ok(None) } else { self.step()? };
        if tail {
            return if bytes == 0 { self.next() } else { Ok(Some(Piece::Tail(bytes))) };
        }
        Ok(Some(if bytes > LINE_LIMIT as u64 { Piece::Long } else { Piece::Line(&self.line) }))
    }

    /// Takes what is after the last newline, and says how long it is.
    fn step(&mut self) -> io::Result<u64> {
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
                self.ended = true;
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
        let size = usize::try_from(self.start).map_or(CHUNK, |start| start.min(CHUNK));
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

    fn shown(piece: &Piece<'_>) -> String {
        match piece {
            Piece::Line(line) if line.len() < 20 => String::from_utf8_lossy(line).into_owned(),
            Piece::Line(line) => line.len().to_string(),
            Piece::Long => "long".to_owned(),
            Piece::Tail(bytes) => format!("tail {bytes}"),
        }
    }

    fn check(text: &str, expect: &[&str]) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let len = text.len() as u64;
        let mut back = Backwards::new(file.try_clone().unwrap(), len);
        let mut pieces = Vec::new();
        while let Some(piece) = back.next().unwrap() {
            pieces.insert(0, shown(&piece));
        }
        assert_eq!(pieces, expect, "backwards");
        io::Seek::rewind(&mut file).unwrap();
        let mut ahead = Forwards::new(file, len);
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
        check(&format!("a\n{}\nb\n", "x".repeat(CHUNK)), &["a", "8192", "b"]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_not_kept() {
        check(&format!("a\n{}\nb\n", "x".repeat(LINE_LIMIT)), &["a", "65536", "b"]);
        check(&format!("a\n{}\nb\n", "x".repeat(LINE_LIMIT + 1)), &["a", "long", "b"]);
        check(&format!("{}\nb\n", "x".repeat(1 << 20)), &["long", "b"]);
        check(&format!("a\n{}", "x".repeat(1 << 20)), &["a", "tail 1048576"]);
    }
}
