//! The style, the script and the icon of the pages, which are part of the program.
//!
//! Invariant: an asset is named by its content, so that a browser never combines a page with the assets of another version.

use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// A file that pages refer to.
pub(crate) struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

/// The style.
pub(crate) const STYLE: Asset =
    Asset { name: "ui.css", kind: "text/css; charset=utf-8", content: include_str!("../assets/ui.css") };
/// The script, built of `js/` by `make ui`.
pub(crate) const SCRIPT: Asset =
    Asset { name: "ui.js", kind: "text/javascript; charset=utf-8", content: include_str!("../assets/ui.js") };
/// The icon.
pub(crate) const ICON: Asset =
    Asset { name: "icon.svg", kind: "image/svg+xml", content: include_str!("../assets/icon.svg") };

impl Asset {
    /// Returns the path with the hash of the content.
    pub(crate) fn path(&self) -> String {
        let hash = blake3::hash(self.content.as_bytes()).to_hex();
        format!("/assets/{}/{}", &hash[..16], self.name)
    }
}

/// Serves an asset. It is the same for each reader, so it needs no session.
pub(crate) async fn serve(Path((hash, name)): Path<(String, String)>) -> Response {
    let path = format!("/assets/{hash}/{name}");
    let Some(asset) = [STYLE, SCRIPT, ICON].into_iter().find(|asset| asset.path() == path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, "private, max-age=31536000, immutable")];
    (headers, Body::from(asset.content)).into_response()
}
