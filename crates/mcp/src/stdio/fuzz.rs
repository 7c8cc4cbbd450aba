//! What a client writes to standard input, fuzzed.

use super::lines::{Line, Lines};

/// The limit of a line here, in bytes.
const LIMIT: usize = 10_000;

toolcell_fuzz::target!(framing, |bytes| {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut lines = Lines::new(bytes, LIMIT);
    let mut count = 0;
    while let Some(line) = runtime.block_on(lines.next()) {
        count += 1;
        if let Line::Whole(line) = line {
            assert!(line.len() <= LIMIT);
        }
    }
    let expected = bytes.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(count, expected, "each line is handed on, or replaced by one");
});
