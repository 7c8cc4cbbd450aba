//! The pages of one toolbox, and the requests for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use toolcell::store::StoreAccess;
use toolcell::{CancelToken, ErrorCode};
use toolcell_i18n::{Lang, message};

use crate::access::{Session, is_own_origin};
use crate::feed::ChangeFeed;
use crate::flame_graphs::FlameGraphs;
use crate::site::Site;
use crate::source::{CurrentToolbox, PageError, ToolboxSource};

/// The maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The pages of one toolbox.
pub(crate) struct App {
    pub(crate) site: Arc<Site>,
    pub(crate) source: Arc<dyn ToolboxSource>,
    /// The path below which all pages are, with a slash at both ends.
    pub(crate) base: String,
    /// The principal whose toolbox it is; `None` on a server that has no principals.
    pub(crate) principal: Option<String>,
    /// Whether the store was read-only when it was last read.
    pub(crate) is_read_only: Arc<AtomicBool>,
    /// Held while a person decides: of two decisions, one is second.
    pub(crate) decisions: Arc<Mutex<()>>,
    pub(crate) feed: ChangeFeed,
    /// The flame graphs of the last runs in the playground.
    pub(crate) flame_graphs: FlameGraphs,
}

/// A request of a person with access.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) lang: Lang,
    /// The path before all others of the server.
    pub(crate) mount: String,
    /// The path below which all pages are.
    pub(crate) base: String,
    pub(crate) session: Session,
    /// The principal whose pages they are.
    pub(crate) principal: Option<String>,
    /// Whether the request comes from a page of this server.
    pub(crate) is_own_origin: bool,
    /// Whether the person can add grants to the policy.
    pub(crate) can_grant: bool,
    /// The command that adds grants.
    pub(crate) grant_command: String,
    pub(crate) was_link_reused: bool,
    is_read_only: Arc<AtomicBool>,
}

impl Visit {
    /// Whether decisions cannot be saved.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }
}

impl FromRequestParts<Arc<App>> for Visit {
    /// A request without a session reaches no page.
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, StatusCode> {
        let session = parts.extensions.get::<Session>().cloned().ok_or(StatusCode::UNAUTHORIZED)?;
        let site = &app.site;
        Ok(Self {
            lang: lang_of(&parts.headers, site.lang),
            mount: site.mount.clone(),
            base: app.base.clone(),
            session,
            principal: app.principal.clone(),
            is_own_origin: is_own_origin(&parts.headers, site.schemes()),
            can_grant: app.source.can_grant(),
            grant_command: app.source.grant_command(),
            was_link_reused: site.access.was_link_reused(),
            is_read_only: Arc::clone(&app.is_read_only),
        })
    }
}

impl App {
    /// Creates the pages of a toolbox.
    pub(crate) fn new(
        site: Arc<Site>,
        source: Arc<dyn ToolboxSource>,
        base: String,
        principal: Option<String>,
    ) -> Arc<Self> {
        let feed = ChangeFeed::new(Arc::clone(&source));
        Arc::new(Self {
            site,
            source,
            base,
            principal,
            is_read_only: Arc::default(),
            decisions: Arc::default(),
            feed,
            flame_graphs: FlameGraphs::default(),
        })
    }

    /// Whether the pages are for a person.
    pub(crate) fn admits(&self, session: &Session) -> bool {
        self.principal.as_ref().is_none_or(|principal| session.principals.contains(principal))
    }

    /// Runs `work` with the toolbox under the policy as it is now, on a blocking thread.
    ///
    /// # Errors
    /// Those of `work`, and of opening the toolbox.
    pub(crate) async fn with_toolbox<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CurrentToolbox) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let (source, is_read_only) = (Arc::clone(&self.source), Arc::clone(&self.is_read_only));
        // The semaphore is never closed.
        let permit = Arc::clone(&self.site.blocking).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let toolbox = source.current()?;
            let Some(store) = toolbox.store() else { return work(&toolbox) };
            // A disk that failed may be written again.
            let was_read_only = is_read_only.load(Ordering::Relaxed);
            let can_write = store.access() == StoreAccess::Full && (!was_read_only || store.check_writable().is_ok());
            is_read_only.store(!can_write, Ordering::Relaxed);
            work(&toolbox).map_err(|error| {
                if error.code != ErrorCode::DiskFailed {
                    return error;
                }
                // The error of the system says more than that of the index.
                store.check_writable().err().map_or(error, |fault| {
                    is_read_only.store(true, Ordering::Relaxed);
                    fault.into()
                })
            })
        });
        done.await.unwrap_or_else(|error| {
            let hint = message!("report this with what you did");
            Err(PageError { code: ErrorCode::Bug, message: message!("a bug of Toolcell: {error}", error), hint })
        })
    }
}

/// Returns the language of an answer: the first of the browser's languages that there is (RFC 9110, section 12.5.4; their
/// order counts, not their weights, which browsers write in that order).
pub(crate) fn lang_of(headers: &HeaderMap, otherwise: Lang) -> Lang {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let tags = wanted.split(',').map(|range| range.split([';', '-']).next().unwrap_or_default().trim());
    let known = tags.filter_map(|tag| Lang::ALL.into_iter().find(|lang| lang.name().eq_ignore_ascii_case(tag)));
    known.into_iter().next().unwrap_or(otherwise)
}

/// Tells that as many runs as there may be are under way.
pub(crate) fn too_many_runs() -> PageError {
    PageError {
        code: ErrorCode::Busy,
        message: message!("other runs of this page are under way"),
        hint: message!("wait for them, or cancel one, and try again"),
    }
}

/// Cancels a run when the request that asked for it is gone: its result would reach no one.
pub(crate) struct CancelOnDrop(pub(crate) CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Names the person as the audit log and the approval do, with the reason.
pub(crate) fn describe_person(person: &str, reason: &str) -> String {
    let reason: String = reason.trim().chars().take(MAX_REASON_CHARS).collect();
    if reason.is_empty() { format!("page ({person})") } else { format!("page ({person}): {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_is_named_with_the_reason() {
        assert_eq!(describe_person("alice", " \n"), "page (alice)");
        assert_eq!(describe_person("alice", "too much"), "page (alice): too much");
        assert_eq!(describe_person("a", &"x".repeat(900)).len(), "page (a): ".len() + MAX_REASON_CHARS);
    }
}
