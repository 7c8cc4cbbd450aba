//! Redirects (Fetch, "HTTP-redirect fetch").
//!
//! Invariant: headers and bodies that are meant for one origin only are not sent to another. Once a
//! request of a chain carried a secret, the chain does not leave its origin: the server that
//! received the value could have put it into the location in an unrecognizable encoding.

use std::collections::BTreeSet;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, LOCATION};
use toolcell_protocol::{Effects, OperationError, Redirect};
use toolcell_tool::Method;
use url::Url;

use crate::net::authorize::origin;
use crate::net::error::{escape_for_display, type_error};
use crate::net::hop::{Author, Hop};
use crate::net::request::check_url;
use crate::net::secret::Secrets;

/// The maximum number of redirects (Fetch, "HTTP-redirect fetch", step 7).
pub(super) const MAX_REDIRECTS: usize = 20;

/// Headers that describe a body, which are dropped with it (Fetch, "request-body-header name").
const REQUEST_BODY_HEADERS: [&str; 4] = ["content-encoding", "content-language", "content-location", "content-type"];

/// The disposition of a response.
pub(super) enum RedirectAction {
    /// The tool receives it.
    Deliver,
    /// The tool receives it without its `Location` header.
    DeliverWithoutLocation,
    /// The redirect is followed with this request.
    Follow(Hop),
}

/// Decides the disposition of a response. `mentioned` returns the secrets that occur in some bytes.
pub(super) fn decide(
    hop: &Hop,
    answer: &reqwest::Response,
    redirect: Redirect,
    secrets: &Secrets,
    mentioned: impl FnOnce(&[u8]) -> BTreeSet<usize>,
) -> Result<RedirectAction, OperationError> {
    let status = answer.status().as_u16();
    let Some(location) = answer.headers().get(LOCATION) else { return Ok(RedirectAction::Deliver) };
    let to = hop.url.join(&String::from_utf8_lossy(location.as_bytes()));
    let stays = to.as_ref().is_ok_and(|url| url.origin() == hop.url.origin());
    let withholds = hop.carries_secret() && !stays;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(if withholds { RedirectAction::DeliverWithoutLocation } else { RedirectAction::Deliver });
    }
    let from = origin(&hop.url);
    let refused = |why: &str| {
        let message = format!("{from} redirects with status {status}, {why}");
        Err(type_error("net-redirect", message).with_effects(Effects::Committed))
    };
    match redirect {
        Redirect::Error => return refused("but the request has `redirect: \"error\"`; use `manual` to inspect it"),
        Redirect::Manual | Redirect::Follow if withholds => return Ok(RedirectAction::DeliverWithoutLocation),
        Redirect::Manual => return Ok(RedirectAction::Deliver),
        Redirect::Follow => {}
    }
    let url = match to {
        Ok(url) => url,
        Err(error) => return refused(&format!("to an invalid URL: {}", escape_for_display(&error.to_string()))),
    };
    if let Err(why) = check_url(&url) {
        return refused(&format!("to a URL that cannot be requested: {why}"));
    }
    let next = next_hop(hop, url, status);
    // This chain carried no secret, but an earlier request of the run may have.
    secrets.check_redirect(&mentioned(next.url.as_str().as_bytes()), next.destination())?;
    Ok(RedirectAction::Follow(next))
}

/// Creates the request that follows a redirect, with the headers and the body that carry over.
fn next_hop(hop: &Hop, url: Url, status: u16) -> Hop {
    let (here, there) = (hop.url.origin(), url.origin());
    let laid_open = hop.is_downgraded || (hop.url.scheme() == "https" && url.scheme() == "http");
    let to_get = match status {
        301 | 302 => hop.method == Method::Post,
        303 => !matches!(hop.method, Method::Get | Method::Head),
        _ => false,
    };
    let mut next = Hop {
        url,
        author: Author::Server,
        method: if to_get { Method::Get } else { hop.method },
        headers: hop.headers.clone(),
        body: if to_get { None } else { hop.body.clone() },
        is_downgraded: laid_open,
        has_carried_secret: hop.carries_secret(),
    };
    if to_get {
        next.headers
            .retain(|field| !REQUEST_BODY_HEADERS.contains(&field.name.as_str()) && field.name != "idempotency-key");
    }
    if here != there {
        next.headers.retain(|field| !is_credential(&field.name));
    }
    next
}

fn is_credential(name: &HeaderName) -> bool {
    *name == AUTHORIZATION || *name == COOKIE
}
