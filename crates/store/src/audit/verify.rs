//! Verification of the whole log.
//!
//! Invariant: about one line is in memory at a time, and a bounded number of problems.

use super::chain::Chain;
use super::files::{LogFile, LogFiles, fault};
use super::head::Head;
use super::reader::{Chunk, LineReader};
use super::report::AuditReport;
use crate::error::Fault;

/// Verifies the whole log.
pub(super) fn verify(files: &LogFiles, earlier: Option<&Head>, indexed: Option<Head>) -> Result<AuditReport, Fault> {
    let snapshot = files.snapshot()?;
    let mut chain = Chain::new(snapshot.head, earlier.copied(), indexed);
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
