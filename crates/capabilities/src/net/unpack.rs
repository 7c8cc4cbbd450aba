//! Unpacks what hosts answer to which some tool may send a secret.
//!
//! The library unpacks by the first of several headers and drops the others, so that what is packed twice would reach the search still
//! packed.
//!
//! Invariant: what comes out was packed in no way that was said, or it is refused. No more is unpacked at once than a small multiple
//! of what came in.

use std::io::{Error, Write as _};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap, TRANSFER_ENCODING};

/// The codings that are asked for.
pub(super) const ACCEPTED: &str = "gzip, deflate";
/// How much is unpacked at once, in bytes of what is packed: at most about 1 MiB comes out of it.
const STEP: usize = 1 << 10;

/// Unpacks a body that comes in pieces.
pub(super) enum Unpacking {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Unpacking {
    /// What a head says of how its body is packed, if it can be unpacked; else how it is packed.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, String> {
        let mut codings = Vec::new();
        for name in [TRANSFER_ENCODING, CONTENT_ENCODING] {
            for value in headers.get_all(&name) {
                let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
                let said = text.split(',').map(|coding| coding.trim().to_owned());
                codings.extend(said.filter(|coding| !matches!(coding.as_str(), "" | "identity")));
            }
            if name == TRANSFER_ENCODING {
                // What frames the body was read by the library.
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

    /// Whether the body arrives packed.
    pub(super) const fn is_packed(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    /// Unpacks a piece. `take` gets what comes of it, in parts, and says whether it wants more.
    pub(super) fn push(&mut self, piece: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> Result<(), Error> {
        for step in piece.chunks(STEP) {
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

    /// What is left at the end. An error where the end is missing.
    pub(super) fn end(&mut self) -> Result<Vec<u8>, Error> {
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
