//! Bounds the size and the time of each request.
//!
//! A form is read before anything else is done, so that no handler waits for a browser.
//!
//! Invariant: a request without a session is read up to [`MAX_UNAUTHENTICATED_FORM_BYTES`], and none waits forever.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;
use toolcell_i18n::message;

use crate::app::lang_of;
use crate::pages::refusal;
use crate::site::Site;

/// The time to receive a form.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a form, in bytes: a source of 64 KiB takes up to 600 KiB as it is sent, and examples come with it.
const MAX_FORM_BYTES: usize = 2 << 20;
/// The maximum size of a form without access, which is refused or holds a token.
const MAX_UNAUTHENTICATED_FORM_BYTES: usize = 64 << 10;
/// The time to answer a request: a suspended run that a person continues may take as long as any run.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(12);

/// Why a request has no page.
enum Unanswered {
    TooLarge { limit: usize },
    Broken,
    Unsent,
    TooSlow,
}

/// Reads the form of a request, and answers in time.
pub(crate) async fn bound(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let lang = lang_of(&head.headers, site.lang);
    let has_session = site.access.session(&head.headers).is_some();
    let limit = if has_session { MAX_FORM_BYTES } else { MAX_UNAUTHENTICATED_FORM_BYTES };
    let unanswered = match timeout(FORM_TIMEOUT, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => {
            let request = Request::from_parts(head, Body::from(body.to_bytes()));
            match timeout(ANSWER_TIMEOUT, next.run(request)).await {
                Ok(answer) => return answer,
                Err(_) => Unanswered::TooSlow,
            }
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => Unanswered::TooLarge { limit },
        Ok(Err(_)) => Unanswered::Broken,
        Err(_) => Unanswered::Unsent,
    };
    let (status, message, hint) = match unanswered {
        Unanswered::TooLarge { limit } => (
            StatusCode::PAYLOAD_TOO_LARGE,
            message!("the form is larger than {limit} bytes: nothing was done", limit),
            message!("go back, and send less"),
        ),
        Unanswered::Broken => (
            StatusCode::BAD_REQUEST,
            message!("the form did not arrive whole: nothing was done"),
            message!("go back, and send it again"),
        ),
        Unanswered::Unsent => (
            StatusCode::REQUEST_TIMEOUT,
            message!("the form was not sent in time: nothing was done"),
            message!("go back, and send it again"),
        ),
        Unanswered::TooSlow => (
            StatusCode::GATEWAY_TIMEOUT,
            message!("the answer takes too long"),
            message!("look at the runs: what was begun may still finish"),
        ),
    };
    refusal(&site.mount, lang, status, &message, &hint)
}
