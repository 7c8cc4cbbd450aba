//! A fuzz target for the bytes that a compromised worker may write into the channel.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use crate::channel::{Channel, WaitMode};
use crate::messages::{HostMessage, WorkerMessage};

/// The maximum size of a frame in this target, in bytes.
const LIMIT: usize = 1 << 16;

toolcell_fuzz::target!(pipe, |bytes| {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let sender = std::thread::spawn({
        let bytes = bytes.to_vec();
        // This fails after the reader has given up.
        move || drop(theirs.write_all(&bytes))
    });
    let mut pipe = Channel::new(ours);
    while pipe.recv::<WorkerMessage>(LIMIT, |_| WaitMode::GiveUp).is_ok() {}
    drop(pipe);
    sender.join().unwrap();
    let _ = toolcell_protocol::decode::<HostMessage<'_>>(bytes);
});
