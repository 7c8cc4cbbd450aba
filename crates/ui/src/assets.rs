//! The style, the scripts and the icon of the pages, which are part of the program.
//!
//! Invariant: an asset is named by its content, so that a browser never combines a page with the assets of another version.

use std::io::Read as _;

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;

/// A file that pages refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// The path, with the hash of the content.
    pub(crate) path: &'static str,
    kind: &'static str,
    /// The content in the format of gzip (RFC 1952).
    compressed: &'static [u8],
}

// The scripts are built of `js/` by `make ui`; `build.rs` compresses them.
include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Serves an asset. It is the same for each reader, so it needs no session.
pub(crate) async fn serve(path: Uri, headers: HeaderMap) -> Response {
    let Some(asset) = ALL.into_iter().find(|asset| asset.path == path.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let about = [
        (CONTENT_TYPE, asset.kind),
        (CACHE_CONTROL, "private, max-age=31536000, immutable"),
        (VARY, ACCEPT_ENCODING.as_str()),
    ];
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts_gzip(accepted) {
        let mut response = (about, Body::from(asset.compressed)).into_response();
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return response;
    }
    let mut content = Vec::new();
    match GzDecoder::new(asset.compressed).read_to_end(&mut content) {
        Ok(_) => (about, content).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Whether an `Accept-Encoding` allows gzip by its name (RFC 9110, section 12.5.3).
fn accepts_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse::<f32>().unwrap_or(1.0) > 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        for accepted in ["gzip", "deflate, GZIP;q=0.5, br", "gzip; q=1"] {
            assert!(accepts_gzip(accepted), "{accepted}");
        }
        for accepted in ["", "br", "gzip;q=0", "gzip; q=0.0, identity", "x-gzip"] {
            assert!(!accepts_gzip(accepted), "{accepted}");
        }
    }
}
