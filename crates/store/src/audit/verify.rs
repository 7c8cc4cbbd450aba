//! Verification of the whole log.
//!
//! Invariant: about one line is in memory at a time, and a bounded number of problems.

use super::chain::Chain;
use super::files::{LogFile, LogFiles, fault};
use super::head::Head;
use super::line::{self, Link};
use super::reader::{Chunk, LineReader, ReverseLineReader};
use super::report::{AuditReport, ProblemKind};
use crate::error::Fault;

/// Verifies the whole log. Each head has to be in the chain, and is with the problem to report otherwise.
pub(super) fn verify(files: &LogFiles, heads: impl Iterator<Item = (Head, ProblemKind)>) -> Result<AuditReport, Fault> {
    let snapshot = files.snapshot()?;
    let mut chain = Chain::new(snapshot.head, heads);
    for number in snapshot.numbers {
        // If another program removes a file meanwhile, its lines are reported as missing.
        if let Some((file, len)) = files.read(LogFile::Numbered(number))? {
            read(&mut chain, LogFile::Numbered(number), LineReader::new(file, len))?;
        }
    }
    if let Some((file, len)) = snapshot.current {
        read(&mut chain, LogFile::Current, LineReader::new(file, len))?;
    }
    Ok(chain.finish())
}

/// Whether the log has the line of a head. Only the lines after it are read.
pub(super) fn has_line(files: &LogFiles, head: Head) -> Result<bool, Fault> {
    let snapshot = files.snapshot()?;
    let numbered = snapshot.numbers.into_iter().rev().map(LogFile::Numbered);
    let mut current = snapshot.current;
    for part in std::iter::once(LogFile::Current).chain(numbered) {
        let opened = if part == LogFile::Current { current.take() } else { files.read(part)? };
        let Some((file, len)) = opened else { continue };
        let mut lines = ReverseLineReader::new(file, len);
        while let Some(chunk) = lines.next().map_err(fault(&part.name()))? {
            let Chunk::Line(bytes) = chunk else { continue };
            let Link::Chained(seq, _) = line::parse_link(bytes) else { continue };
            if seq <= head.seq() {
                return Ok(Head::new(seq, blake3::hash(bytes)) == head);
            }
        }
    }
    Ok(false)
}

fn read(chain: &mut Chain, part: LogFile, mut pieces: LineReader) -> Result<(), Fault> {
    chain.start_file(part);
    while let Some(piece) = pieces.next().map_err(fault(&part.name()))? {
        match piece {
            Chunk::Line(line) => chain.push_line(line),
            Chunk::Oversized => chain.push_oversized(),
            Chunk::Tail(bytes) => chain.push_tail(bytes),
        }
    }
    Ok(())
}
