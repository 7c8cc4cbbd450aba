//! What a client writes to standard input, fuzzed.

use tokio::io::AsyncReadExt as _;

use super::lines::Lines;

/// The limit of a line here, in bytes.
const LIMIT: usize = 10_000;

toolcell_fuzz::target!(framing, |bytes| {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut output = Vec::new();
    runtime.block_on(Lines::new(bytes, LIMIT).read_to_end(&mut output)).unwrap();
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&output), lines(bytes), "each line is handed on, or replaced by one");
    assert!(output.split(|byte| *byte == b'\n').all(|line| line.len() <= LIMIT));
});
