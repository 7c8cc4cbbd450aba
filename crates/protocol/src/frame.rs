//! Encoding of frames as bytes.
//!
//! Invariant: decoding never panics and never allocates more than the frame's own length, because the host reads
//! frames that a hostile guest may have written.

use serde::{Deserialize, Serialize};

/// An error for bytes that are not a frame of the requested type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameError(postcard::Error);

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "malformed frame: {}", self.0)
    }
}

impl core::error::Error for FrameError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Encodes a frame.
///
/// # Errors
/// [`FrameError`] if a value cannot be encoded; the frames of this crate always can.
///
/// # Examples
/// ```
/// use toolcell_protocol::{Call, decode, encode};
///
/// let call = Call { tool: None, call_id: "1", params: r#"{"a":1}"#, result_bytes: 1024, operations: 8 };
/// let bytes = encode(&call)?;
/// assert_eq!(decode::<Call<'_>>(&bytes)?, call);
/// # Ok::<(), toolcell_protocol::FrameError>(())
/// ```
pub fn encode<T: Serialize>(frame: &T) -> Result<Vec<u8>, FrameError> {
    postcard::to_allocvec(frame).map_err(FrameError)
}

/// Decodes the frame in `bytes`; trailing bytes make it malformed.
///
/// # Errors
/// [`FrameError`] if the bytes are not exactly one frame of type `T`.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, FrameError> {
    match postcard::take_from_bytes(bytes).map_err(FrameError)? {
        (frame, []) => Ok(frame),
        (_, _) => Err(FrameError(postcard::Error::DeserializeBadEncoding)),
    }
}
