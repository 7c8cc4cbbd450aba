//! Fuzz target for the framing of standard input.

use super::framing::{FrameReader, InputFrame};

/// The longest line in this target, in bytes.
const LIMIT: usize = 10_000;

toolcell_fuzz::target!(framing, |bytes| {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut lines = FrameReader::new(bytes, LIMIT);
    let mut count = 0;
    while let Some(line) = runtime.block_on(lines.next()) {
        count += 1;
        if let InputFrame::Complete(line) = line {
            assert!(line.len() <= LIMIT);
        }
    }
    let expected = bytes.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(count, expected, "each line is handed on, or replaced by one");
});
