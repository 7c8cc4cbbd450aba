//! Errors that prevent a sandbox from starting.

use toolcell_i18n::Message;

use super::config::ImageKind;

/// An error that prevents a sandbox from starting.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum StartError {
    /// An image in this binary differs from the one it was built with.
    #[error("the {} image of the guest is corrupted: its BLAKE3 is {actual}, expected {expected}", kind.name())]
    #[code(Integrity)]
    #[hint("install toolcell again")]
    CorruptedImage {
        /// The kind of the corrupted image.
        kind: ImageKind,
        /// The blake3 digest that was recorded at build time.
        expected: &'static str,
        /// The blake3 digest of the bytes in this binary.
        actual: String,
    },
    /// None of the images works on this machine.
    #[error("no image of the guest works on this machine: {}", reasons(tried))]
    #[code(NoImage)]
    #[hint("raise the limit on address space (`ulimit -v`) to 256 MiB or more")]
    NoImage {
        /// The images in the order in which they were tried, each with the reason for its failure.
        tried: Vec<(ImageKind, String)>,
    },
    /// The guest implements a different version of the protocol.
    #[error("the guest speaks version {guest} of the protocol, this host speaks version {host}")]
    #[code(Integrity)]
    #[hint("install toolcell again")]
    Version {
        /// The guest's version.
        guest: u32,
        /// The host's version.
        host: u32,
    },
    /// Calls were configured to run in worker processes, and no worker started.
    #[error("no worker could be started: {reason}")]
    #[code(NoWorker)]
    #[hint(hint)]
    NoWorker {
        /// The reason for the failure, in words.
        reason: Message,
        /// The next step for the user.
        hint: &'static str,
    },
    /// The sandbox was configured with zero slots.
    #[error("a sandbox needs at least one slot")]
    #[code(LimitInvalid)]
    #[hint("configure at least one slot")]
    NoSlots,
}

fn reasons(tried: &[(ImageKind, String)]) -> String {
    tried.iter().map(|(kind, reason)| format!("{}: {reason}", kind.name())).collect::<Vec<_>>().join("; ")
}
