//! Files that belong to Toolcell as a whole.
//!
//! Invariant: a script says in its first line that it is ours, with the hash of what follows, so an edited one is told
//! from one that was written by another version.

use serde_json::Value;

/// The start of the first line of a script of ours.
const MARK: &str = "// Written by `toolcell adapter`, which replaces and removes this file only if it is unedited: ";
/// What each command of our hook contains.
const DECIDE: &str = " decide --dialect copilot";

/// Returns a script with its first line.
pub(super) fn script(body: &str) -> String {
    format!("{MARK}{}\n{body}", hash(body))
}

/// Whether a text is a script of ours that was not edited.
pub(super) fn is_our_script(text: &str) -> bool {
    let parts = text.strip_prefix(MARK).and_then(|rest| rest.split_once('\n'));
    parts.is_some_and(|(said, body)| said == hash(body))
}

/// Whether a text is the file of our Copilot hook, and has nothing else in it.
pub(super) fn is_our_hook(text: &str) -> bool {
    let Ok(file) = serde_json::from_str::<Value>(text) else { return false };
    let hooks = file["hooks"].as_object();
    let only = hooks.filter(|hooks| hooks.len() == 1).and_then(|hooks| hooks.get("preToolUse")?.as_array());
    matches!(only.map(Vec::as_slice), Some([hook]) if hook["bash"].as_str().is_some_and(|words| words.contains(DECIDE)))
}

fn hash(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex()[..16].to_owned()
}
