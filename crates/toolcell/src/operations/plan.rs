//! Plans: what would change the world is held, and happens if somebody says so.
//!
//! Invariant: of what is held, exactly that happens which was chosen; the tool is told of the rest that nothing happened.

use toolcell_host::Operation;

use super::done::about;
use super::failure::nothing_done;
use super::fetch;

/// Something that a tool wants to do, and that nobody has decided about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Held {
    /// The name of the tool.
    pub tool: String,
    /// What it is, such as `fetch`.
    pub kind: String,
    /// What it is about: `POST https://api.example.com/v1/items`, the key of a pair, a path.
    pub about: String,
    /// The details, as JSON text.
    pub details: String,
    /// How many bytes go along.
    pub bytes: u64,
    /// What it is told from others by: a hash over all of it, 16 hexadecimal digits. The same thing has the same one in another run.
    pub digest: String,
}

/// What becomes of something that a tool wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It happens.
    Do,
    /// It does not.
    Refuse,
    /// Somebody decides later. A run that may sleep ([`Toolbox::run_or_sleep`](crate::Toolbox::run_or_sleep)) sleeps until then; for
    /// others it does not happen.
    Later,
}

/// Decides what of the things that a tool wants to do happens.
pub trait Planner: Send + Sync {
    /// What becomes of each of these, in the same order. What nothing is said of does not happen.
    fn choose(&self, held: &[Held]) -> Vec<Choice>;
}

/// Decides nothing.
pub(crate) struct Nobody;

impl Planner for Nobody {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        vec![Choice::Later; held.len()]
    }
}

impl Held {
    pub(crate) fn of(tool: &str, operation: &Operation) -> Self {
        let bytes = operation.bytes.as_deref().unwrap_or_default();
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 held operation");
        for part in [tool.as_bytes(), operation.kind.as_bytes(), operation.payload.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Self {
            tool: tool.to_owned(),
            kind: operation.kind.clone(),
            about: about(operation),
            details: operation.payload.clone(),
            bytes: bytes.len() as u64,
            digest: hasher.finalize().to_hex()[..16].to_owned(),
        }
    }
}

/// Whether an operation changes the world. Tools that are called are asked by themselves.
pub(super) fn changes(operation: &Operation) -> bool {
    match operation.kind.as_str() {
        "fetch" => !fetch::only_reads(operation),
        "kv.commit" | "files.write" | "files.remove" | "files.mkdir" => true,
        _ => false,
    }
}

/// What the tool is told of something that was not chosen.
pub(super) fn not_chosen(held: &Held) -> toolcell_host::OperationFailure {
    let message = format!("{} {} was held by the plan of this run, and not approved", held.kind, held.about);
    nothing_done("NotAllowedError", "effect-not-approved", message)
}
