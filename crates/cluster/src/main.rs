//! The `toolcell-cluster` binary: the commands of `toolcell`, with the engines of shared libraries.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use toolcell_cli::{LibraryEngine, LibraryError};
use toolcell_cluster::{ANSWER_LIMIT, Postgres};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message, msgid};

/// The environment variable that says how long an answer of the database is waited for, in milliseconds.
const LIMIT_VARIABLE: &str = "TOOLCELL_SHARED_TIMEOUT_MS";
/// What it may say.
const LIMITS: std::ops::RangeInclusive<u64> = 50..=60_000;

fn main() -> ExitCode {
    toolcell_cli::main_with_engines(connect)
}

/// Connects to the engine that a URL names. The password of the database may be in the variable `PGPASSWORD`.
fn connect(url: &str) -> Result<LibraryEngine, LibraryError> {
    let password = std::env::var_os("PGPASSWORD");
    let password = password.as_ref().map(|password| password.as_encoded_bytes());
    let engine = Postgres::connect(url, password, answer_limit()?).map_err(|error| LibraryError {
        code: error.code(),
        message: error.localize(),
        hint: error.hint(),
    })?;
    let engine = Arc::new(engine);
    let changes = Arc::clone(&engine);
    Ok(LibraryEngine {
        histories: Arc::<Postgres>::clone(&engine),
        blobs: Arc::<Postgres>::clone(&engine),
        reports: Arc::<Postgres>::clone(&engine),
        counts: engine,
        wait: Box::new(move |patience| changes.wait_for_change(patience)),
    })
}

/// Returns how long an answer of the database is waited for.
fn answer_limit() -> Result<Duration, LibraryError> {
    let Some(text) = std::env::var_os(LIMIT_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(ANSWER_LIMIT) };
    let limit = text.to_str().and_then(|text| text.parse().ok()).filter(|limit| LIMITS.contains(limit));
    limit.map(Duration::from_millis).ok_or_else(|| LibraryError {
        code: ErrorCode::RequestInvalid,
        message: message!(
            "{variable} is not a number of milliseconds from {least} to {most}",
            variable = LIMIT_VARIABLE,
            least = *LIMITS.start(),
            most = *LIMITS.end()
        ),
        hint: msgid!("give it the time that an answer of the database may take, such as 2000, or unset it"),
    })
}
