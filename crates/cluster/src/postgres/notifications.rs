//! Notifications of the server that a history has another entry.
//!
//! Invariant: nothing depends on a notification. One that is lost costs time, because nodes also look by themselves.

use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::{CONNECT_LIMIT, describe};

/// The pause before a lost connection is made again.
const PAUSE: Duration = Duration::from_millis(500);

/// Notifications that were not looked at yet.
#[derive(Default)]
pub(crate) struct Notifications {
    has_news: Mutex<bool>,
    told: Condvar,
}

impl Notifications {
    /// Waits for a notification.
    pub(crate) fn wait(&self, patience: Duration) {
        let has_news = self.has_news.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(has_news, patience, |has_news| !*has_news);
        let (mut has_news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *has_news = false;
    }

    fn tell(&self) {
        *self.has_news.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }
}

/// Listens until the process ends.
pub(crate) async fn listen(
    config: Config,
    tls: MakeRustlsConnect,
    answer_limit: Duration,
    notifications: Arc<Notifications>,
) {
    loop {
        if let Err(error) = listen_once(&config, &tls, answer_limit, &notifications).await {
            tracing::debug!(error = describe(&error), "the database cannot tell of changes");
        }
        sleep(PAUSE).await;
    }
}

async fn listen_once(
    config: &Config,
    tls: &MakeRustlsConnect,
    answer_limit: Duration,
    notifications: &Arc<Notifications>,
) -> Result<(), Error> {
    let Ok(connected) = timeout(CONNECT_LIMIT, config.connect(tls.clone())).await else { return Ok(()) };
    let (client, mut connection) = connected?;
    let told = Arc::clone(notifications);
    let heard = tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                Ok(AsyncMessage::Notification(_)) => told.tell(),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    });
    let Ok(listening) = timeout(answer_limit, client.batch_execute("LISTEN toolcell")).await else {
        heard.abort();
        return Ok(());
    };
    listening?;
    // The server does not tell of what happened before.
    notifications.tell();
    match heard.await {
        Ok(ended) => ended,
        Err(_) => Ok(()),
    }
}
