//! From an answer to the next request (Fetch, "HTTP-redirect fetch").
//!
//! Invariant: at another origin nothing arrives that was meant for the first one alone: credentials, and secrets that are not
//! granted to the new host. From https to http no secret goes along.

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, LOCATION};
use toolcell_tool::{Into as Place, Method};
use url::Url;

use crate::failure::{Effects, Failure};
use crate::net::fault::{shown, type_error};
use crate::net::grants::origin;
use crate::net::hop::{Author, Hop};
use crate::net::redact::Redactor;
use crate::net::request::{Redirect, check_url};
use crate::net::secret::Secrets;

/// How many redirects are followed (Fetch, "HTTP-redirect fetch", step 7).
pub(super) const MOST: usize = 20;

/// What is said of a body that is not sent again (Fetch, "request-body-header name").
const OF_A_BODY: [&str; 4] = ["content-encoding", "content-language", "content-location", "content-type"];

/// The request to which an answer leads, if it is to be made.
pub(super) fn next(
    hop: &Hop,
    answer: &reqwest::Response,
    redirect: Redirect,
    secrets: &Secrets,
    redactor: &Redactor,
) -> Result<Option<Hop>, Failure> {
    let status = answer.status().as_u16();
    let Some(location) = answer.headers().get(LOCATION).filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))
    else {
        return Ok(None);
    };
    let from = origin(&hop.url);
    let refused = |why: &str| {
        let message = format!("{from} redirects with status {status}, {why}");
        Err(type_error("net-redirect", message).with(Effects::Committed))
    };
    match redirect {
        Redirect::Manual => return Ok(None),
        Redirect::Error => return refused("and the request says `redirect: \"error\"`; say `manual` to look at it"),
        Redirect::Follow => {}
    }
    let url = match hop.url.join(&String::from_utf8_lossy(location.as_bytes())) {
        Ok(url) => url,
        Err(error) => return refused(&format!("to what is no URL: {}", shown(&error.to_string()))),
    };
    if let Err(why) = check_url(&url) {
        return refused(&format!("to a URL that cannot be asked for: {why}"));
    }
    let next = lead(hop, url, status, secrets);
    secrets.follow(&redactor.mentioned(next.url.as_str().as_bytes()), next.destination())?;
    Ok(Some(next))
}

/// The next request: what of this one goes along.
fn lead(hop: &Hop, url: Url, status: u16, secrets: &Secrets) -> Hop {
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
    };
    if to_get {
        next.fields.retain(|field| !OF_A_BODY.contains(&field.name.as_str()) && field.name != "idempotency-key");
    }
    if here != there {
        next.fields.retain(|field| !is_credential(&field.name));
        let (host, laid_open) = (next.url.host_str().unwrap_or_default().to_owned(), next.laid_open);
        let to = crate::net::secret::Destination { host: &host, laid_open };
        next.fields.retain(|field| field.secrets().iter().all(|name| secrets.value(name, Place::Header, to).is_ok()));
    }
    next
}

fn is_credential(name: &HeaderName) -> bool {
    *name == AUTHORIZATION || *name == COOKIE
}
