//! What the handlers share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::{HeaderMap, header};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolcell::store::StoreAccess;
use toolcell::{CancelToken, ErrorCode};
use toolcell_i18n::{Lang, message};

use crate::access::Access;
use crate::feed::ChangeFeed;
use crate::flame_graphs::FlameGraphs;
use crate::source::{CurrentToolbox, PageError, ToolboxSource};

/// The maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The state of the server.
pub(crate) struct App {
    pub(crate) source: Arc<dyn ToolboxSource>,
    /// Whether the store was read-only when it was last read.
    pub(crate) is_read_only: Arc<AtomicBool>,
    pub(crate) access: Access,
    /// Held while a person decides: of two decisions, one is second.
    pub(crate) decisions: Arc<Mutex<()>>,
    /// Cancels the runs that a person continued, when the server ends.
    pub(crate) cancel: CancelToken,
    pub(crate) feed: ChangeFeed,
    /// The flame graphs of the last runs in the playground.
    pub(crate) flame_graphs: FlameGraphs,
    /// The runs and replays that may still begin. Each keeps a thread busy, and pages and decisions need threads, too.
    pub(crate) runs: Semaphore,
    /// Held while code is checked, of which the last one matters alone.
    pub(crate) checks: Semaphore,
    /// The event streams that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Cancelled when all event streams have to end.
    pub(crate) closing: CancellationToken,
    /// The person at the page, as decisions name them.
    pub(crate) person: String,
    /// The caller whose suspended runs the person may continue.
    pub(crate) caller: String,
    /// The language for browsers that ask for none that there is.
    pub(crate) lang: Lang,
}

/// What a page needs to know about the request that it answers.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) lang: Lang,
    /// The path below which all pages are.
    pub(crate) base: String,
    /// The token for the forms of the page.
    pub(crate) form_token: String,
    pub(crate) person: String,
    pub(crate) was_link_reused: bool,
    is_read_only: Arc<AtomicBool>,
}

impl Visit {
    /// Whether decisions cannot be saved.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }
}

impl App {
    /// Runs `work` with the toolbox under the policy as it is now, on a blocking thread.
    ///
    /// # Errors
    /// Those of `work`, and of opening the toolbox.
    pub(crate) async fn with_toolbox<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CurrentToolbox) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let (source, is_read_only) = (Arc::clone(&self.source), Arc::clone(&self.is_read_only));
        let done = tokio::task::spawn_blocking(move || {
            let toolbox = source.current()?;
            let has_access = toolbox.store().is_some_and(|store| store.access() == StoreAccess::Full);
            is_read_only.store(!has_access, Ordering::Relaxed);
            work(&toolbox)
        });
        done.await.unwrap_or_else(|error| {
            let hint = message!("report this with what you did");
            Err(PageError { code: ErrorCode::Bug, message: message!("a bug of Toolcell: {error}", error), hint })
        })
    }

    /// Describes a request with a session.
    pub(crate) fn visit(&self, headers: &HeaderMap) -> Visit {
        Visit {
            lang: self.lang_of(headers),
            base: self.access.base().to_owned(),
            form_token: self.access.form_token(),
            person: self.person.clone(),
            was_link_reused: self.access.was_link_reused(),
            is_read_only: Arc::clone(&self.is_read_only),
        }
    }

    /// Returns the language of an answer: the first of the browser's languages that there is (RFC 9110, section 12.5.4; their
    /// order counts, not their weights, which browsers write in that order).
    pub(crate) fn lang_of(&self, headers: &HeaderMap) -> Lang {
        let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let tags = wanted.split(',').map(|range| range.split([';', '-']).next().unwrap_or_default().trim());
        let known = tags.filter_map(|tag| Lang::ALL.into_iter().find(|lang| lang.name().eq_ignore_ascii_case(tag)));
        known.into_iter().next().unwrap_or(self.lang)
    }
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
