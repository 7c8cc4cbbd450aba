//! Decompression of responses from hosts to which some tool may send a secret.
//!
//! The HTTP library decodes only the first of several `Content-Encoding` headers, so a body that is
//! compressed twice would reach the search for secrets still compressed.
//!
//! Invariant: the output is free of every declared coding, or the response is rejected. The output
//! of one step is at most a small multiple of its input.

use std::io::{Error, Write as _};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap, TRANSFER_ENCODING};

/// The value of the `Accept-Encoding` header.
pub(super) const ACCEPT_ENCODING_VALUE: &str = "gzip, deflate";
/// The number of compressed bytes that are decoded at once: at most about 1 MiB of output.
const STEP_BYTES: usize = 1 << 10;

/// A streaming decompressor of a response body.
pub(super) enum Decompressor {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Decompressor {
    /// Returns the decompressor for the declared codings, or the codings if they are not supported.
    pub(super) fn from_headers(headers: &HeaderMap) -> Result<Self, String> {
        let mut codings = Vec::new();
        for name in [TRANSFER_ENCODING, CONTENT_ENCODING] {
            for value in headers.get_all(&name) {
                let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
                let said = text.split(',').map(|coding| coding.trim().to_owned());
                codings.extend(said.filter(|coding| !matches!(coding.as_str(), "" | "identity")));
            }
            if name == TRANSFER_ENCODING {
                // The transfer coding was already decoded by the library.
                codings.retain(|coding| coding != "chunked");
            }
        }
        match codings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(Self::Plain),
            ["gzip" | "x-gzip"] => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            ["deflate"] => Ok(Self::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
            _ => Err(codings.join(", ")),
        }
    }

    /// Returns whether the body is compressed.
    pub(super) const fn is_compressed(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    /// Decodes a chunk. `take` receives the output in parts and returns whether it accepts more.
    pub(super) fn push(&mut self, piece: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> Result<(), Error> {
        for step in piece.chunks(STEP_BYTES) {
            let out = match self {
                Self::Plain => {
                    if take(step) {
                        continue;
                    }
                    return Ok(());
                }
                Self::Gzip(decoder) => {
                    decoder.write_all(step)?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Deflate(decoder) => {
                    decoder.write_all(step)?;
                    std::mem::take(decoder.get_mut())
                }
            };
            if !take(&out) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the rest of the output. Fails if the body is truncated.
    pub(super) fn finish(&mut self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Plain => Ok(Vec::new()),
            Self::Gzip(decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Deflate(decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }
}
