//! Our hook among those of Claude Code's settings: `hooks.PreToolUse` in `settings.json`.
//!
//! Invariant: an edit changes our entry alone. Comments, the order of keys and the format of the rest are kept.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use toolcell_i18n::{Message, message};

use super::{AdapterError, HOOK_TIMEOUT_SECONDS};
use crate::client_config::ClientError;

/// The event of our hook.
const EVENT: &str = "PreToolUse";
/// What the command of our hook contains.
const DECIDE: &str = " decide --dialect claude";

/// Returns a file that contains only our hook.
pub(super) fn snippet(command: &str) -> String {
    upsert("", command).unwrap_or_default()
}

/// Returns the text of the settings with our hook.
pub(super) fn upsert(text: &str, command: &str) -> Result<String, AdapterError> {
    let root = parse(text)?;
    let settings = root.object_value_or_create().ok_or_else(|| shape(&message!("the settings")))?;
    let hooks =
        settings.object_value_or_create("hooks").ok_or_else(|| shape(&Message::verbatim("`hooks`".to_owned())))?;
    let event =
        hooks.array_value_or_create(EVENT).ok_or_else(|| shape(&Message::verbatim(format!("`hooks.{EVENT}`"))))?;
    match our_entry(&event) {
        Some(entry) if entry_is_current(&entry, command) => return Ok(text.to_owned()),
        Some(entry) => {
            entry.replace_with(entry_value(command));
        }
        None => {
            event.append(entry_value(command));
        }
    }
    let edited = root.to_string();
    Ok(if edited.ends_with('\n') { edited } else { edited + "\n" })
}

/// Returns the text of the settings without our hook, and without what was created for it.
pub(super) fn remove(text: &str) -> Result<String, AdapterError> {
    let root = parse(text)?;
    let found = || {
        let settings = root.object_value()?;
        let hooks = settings.object_value("hooks")?;
        let event = hooks.array_value(EVENT)?;
        Some((settings, hooks, our_entry(&event)?, event))
    };
    let Some((settings, hooks, entry, event)) = found() else { return Ok(text.to_owned()) };
    entry.remove();
    if event.elements().is_empty() {
        remove_property(&hooks, EVENT);
    }
    if hooks.properties().is_empty() {
        remove_property(&settings, "hooks");
    }
    let is_empty = settings.properties().is_empty() && root.to_string().trim() == "{}";
    Ok(if is_empty { String::new() } else { root.to_string() })
}

fn remove_property(object: &CstObject, name: &str) {
    if let Some(property) = object.get(name) {
        property.remove();
    }
}

/// Returns the entry with our command.
fn our_entry(event: &CstArray) -> Option<CstObject> {
    let commands = |entry: &CstObject| entry.array_value("hooks").map(|hooks| hooks.elements()).unwrap_or_default();
    let is_ours = |hook: &CstNode| command_of(hook).is_some_and(|command| command.contains(DECIDE));
    event.elements().iter().filter_map(CstNode::as_object).find(|entry| commands(entry).iter().any(is_ours))
}

fn command_of(hook: &CstNode) -> Option<String> {
    hook.as_object()?.get("command")?.value()?.as_string_lit()?.decoded_value().ok()
}

fn entry_is_current(entry: &CstObject, command: &str) -> bool {
    let hooks = entry.array_value("hooks").map(|hooks| hooks.elements()).unwrap_or_default();
    hooks.iter().any(|hook| command_of(hook).as_deref() == Some(command))
}

fn entry_value(command: &str) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let hook = CstInputValue::Object(vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(command)),
        ("timeout".to_owned(), CstInputValue::Number(HOOK_TIMEOUT_SECONDS.to_string())),
    ]);
    CstInputValue::Object(vec![
        ("matcher".to_owned(), text("*")),
        ("hooks".to_owned(), CstInputValue::Array(vec![hook])),
    ])
}

fn parse(text: &str) -> Result<CstRootNode, AdapterError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| {
        let what = Message::verbatim(error.kind().to_string());
        ClientError::Invalid { line: error.line_display(), column: error.column_display(), what }.into()
    })
}

fn shape(place: &Message) -> AdapterError {
    let what = message!("{place} has another type", place);
    ClientError::Shape { line: 1, what }.into()
}
