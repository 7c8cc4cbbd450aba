//! What a worker that was taken over may write into the pipe, fuzzed.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use crate::pipe::{Patient, Pipe};
use crate::wire::{Asked, Said};

/// The limit of a frame here, in bytes.
const LIMIT: usize = 1 << 16;

toolcell_fuzz::target!(pipe, |bytes| {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let sender = std::thread::spawn({
        let bytes = bytes.to_vec();
        // Fails where the reader has given up.
        move || drop(theirs.write_all(&bytes))
    });
    let mut pipe = Pipe::new(ours);
    while pipe.hear::<Said>(LIMIT, |_| Patient::No).is_ok() {}
    drop(pipe);
    sender.join().unwrap();
    let _ = toolcell_protocol::decode::<Asked<'_>>(bytes);
});
