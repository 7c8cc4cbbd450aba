//! From an answer to the next request (Fetch, "HTTP-redirect fetch").
//!
//! Invariant: at another origin nothing arrives that was meant for the first one alone. A chain in which a request carried a secret
//! ends at its origin: whoever was sent a value could have written it into the address in a way that nobody recognises.

use std::collections::BTreeSet;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, LOCATION};
use toolcell_tool::Method;
use url::Url;

use crate::failure::{Effects, Failure};
use crate::net::fault::{shown, type_error};
use crate::net::grants::origin;
use crate::net::hop::{Author, Hop};
use crate::net::request::{Redirect, check_url};
use crate::net::secret::Secrets;

/// How many redirects are followed (Fetch, "HTTP-redirect fetch", step 7).
pub(super) const MOST: usize = 20;

/// What is said of a body that is not sent again (Fetch, "request-body-header name").
const OF_A_BODY: [&str; 4] = ["content-encoding", "content-language", "content-location", "content-type"];

/// What becomes of an answer.
pub(super) enum Next {
    /// The tool gets it.
    Answer,
    /// The tool gets it without the address to which it leads.
    Withheld,
    /// Another request is made.
    Hop(Hop),
}

/// What becomes of an answer: the request to which it leads, if that is to be made. `mentioned` tells which secrets are in some
/// bytes.
pub(super) fn next(
    hop: &Hop,
    answer: &reqwest::Response,
    redirect: Redirect,
    secrets: &Secrets,
    mentioned: impl FnOnce(&[u8]) -> BTreeSet<usize>,
) -> Result<Next, Failure> {
    let status = answer.status().as_u16();
    let Some(location) = answer.headers().get(LOCATION) else { return Ok(Next::Answer) };
    let to = hop.url.join(&String::from_utf8_lossy(location.as_bytes()));
    let stays = to.as_ref().is_ok_and(|url| url.origin() == hop.url.origin());
    let withholds = hop.carries_secret() && !stays;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(if withholds { Next::Withheld } else { Next::Answer });
    }
    let from = origin(&hop.url);
    let refused = |why: &str| {
        let message = format!("{from} redirects with status {status}, {why}");
        Err(type_error("net-redirect", message).with(Effects::Committed))
    };
    match redirect {
        Redirect::Error => return refused("and the request says `redirect: \"error\"`; say `manual` to look at it"),
        Redirect::Manual | Redirect::Follow if withholds => return Ok(Next::Withheld),
        Redirect::Manual => return Ok(Next::Answer),
        Redirect::Follow => {}
    }
    let url = match to {
        Ok(url) => url,
        Err(error) => return refused(&format!("to what is no URL: {}", shown(&error.to_string()))),
    };
    if let Err(why) = check_url(&url) {
        return refused(&format!("to a URL that cannot be asked for: {why}"));
    }
    let next = lead(hop, url, status);
    // The request carried none, but an earlier one of the run may have.
    secrets.follow(&mentioned(next.url.as_str().as_bytes()), next.destination())?;
    Ok(Next::Hop(next))
}

/// The next request: what of this one goes along.
fn lead(hop: &Hop, url: Url, status: u16) -> Hop {
    let (here, there) = (hop.url.origin(), url.origin());
    let laid_open = hop.laid_open || (hop.url.scheme() == "https" && url.scheme() == "http");
    let to_get = match status {
        301 | 302 => hop.method == Method::Post,
        303 => !matches!(hop.method, Method::Get | Method::Head),
        _ => false,
    };
    let mut next = Hop {
        url,
        author: Author::Server,
        method: if to_get { Method::Get } else { hop.method },
        fields: hop.fields.clone(),
        body: if to_get { None } else { hop.body.clone() },
        laid_open,
        carried: hop.carries_secret(),
    };
    if to_get {
        next.fields.retain(|field| !OF_A_BODY.contains(&field.name.as_str()) && field.name != "idempotency-key");
    }
    if here != there {
        next.fields.retain(|field| !is_credential(&field.name));
    }
    next
}

fn is_credential(name: &HeaderName) -> bool {
    *name == AUTHORIZATION || *name == COOKIE
}
