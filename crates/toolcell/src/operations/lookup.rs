//! Lookup of tools by identifier and name.
//!
//! Invariant: if both an identifier and a name are given, they must refer to the same tool.

use toolcell_i18n::{Message, message};
use toolcell_store::{Entry, Fault, Filter, FindError, PAGE_LIMIT, Store, ToolRef};
use toolcell_tool::{IdPrefix, ToolId, ToolName};

use crate::parts::Parts;
use crate::request::RequestError;

/// The minimum similarity of a suggested name (Jaro-Winkler, 0.0 to 1.0).
const MIN_SIMILARITY: f64 = 0.8;

/// The error of looking up a tool.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum FindToolError {
    /// Neither an identifier nor a name is given.
    #[error(transparent)]
    #[coded(transparent)]
    Request(#[from] RequestError),
    /// There is no such tool.
    #[error("there is no tool `{asked}`{}", suffix(.suggestion.as_ref()))]
    #[code(ToolNotFound)]
    #[hint("`toolcell list` shows all tools")]
    Unknown {
        /// The identifier or name that was looked up.
        asked: String,
        /// A suggestion of what may be meant.
        suggestion: Option<Suggestion>,
    },
    /// The identifier and the name refer to different tools.
    #[error("`{name}` is {named}, not {id}")]
    #[code(ToolMismatch)]
    #[hint("give only one of the two, or the name and the identifier of the same tool")]
    Mismatch {
        /// The name.
        name: ToolName,
        /// The tool that the name refers to.
        named: ToolId,
        /// The tool with the identifier.
        id: ToolId,
    },
    /// The error is reported by the store.
    #[error(transparent)]
    #[coded(transparent)]
    Store(FindError),
}

/// A suggestion for a tool that was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum Suggestion {
    /// A similar name.
    #[error("did you mean `{0}`?")]
    Name(ToolName),
    /// The name now refers to another tool.
    #[error("`{name}` is now {id}")]
    Superseded {
        /// The name.
        name: ToolName,
        /// The identifier of the other tool.
        id: ToolId,
    },
    /// The tool was deleted, and can be undeleted.
    #[error("`{0}` was deleted: restore it with `toolcell undelete {0}`")]
    Deleted(ToolName),
}

/// Returns the end of a message about an unknown tool.
fn suffix(suggestion: Option<&Suggestion>) -> Message {
    suggestion.map_or_else(|| Message::verbatim(String::new()), |suggestion| message!("; {suggestion}", suggestion))
}

/// Finds a tool by its name, its identifier, or a prefix of the identifier with at least 8
/// digits.
pub(crate) fn find(parts: &Parts, called: &str) -> Result<Entry, FindToolError> {
    let is_id = IdPrefix::parse(called).is_ok();
    let (id, name) = if is_id { (Some(called), None) } else { (None, Some(called)) };
    find_tool(parts, id, name)
}

/// Finds the tool that an identifier, a name, or both refer to.
pub(crate) fn find_tool(parts: &Parts, id: Option<&str>, name: Option<&str>) -> Result<Entry, FindToolError> {
    let store = parts.require_store().map_err(|fault| FindToolError::Store(fault.into()))?;
    let said = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    match (said(id), said(name)) {
        (None, None) => Err(RequestError(message!("`tool_id` or `tool_name` is required")).into()),
        (Some(id), None) => find_by_id(store, &id),
        (None, Some(name)) => find_by_name(store, &name),
        (Some(id), Some(name)) => {
            let (named, meant) = (find_by_name(store, &name)?, find_by_id(store, &id)?);
            if named.id == meant.id {
                Ok(named)
            } else {
                Err(FindToolError::Mismatch { name: named.name, named: named.id, id: meant.id })
            }
        }
    }
}

/// Finds the tool with an identifier, if a name refers to it.
pub(super) fn find_exact(store: &Store, id: ToolId) -> Result<Option<Entry>, Fault> {
    let Ok(whole) = IdPrefix::parse(&id.to_string()) else { return Ok(None) };
    match store.catalog().find(&ToolRef::Id(whole)) {
        Ok(entry) => Ok(Some(entry)),
        Err(FindError::Fault(fault)) => Err(fault),
        Err(_) => Ok(None),
    }
}

/// Finds a tool by its identifier. A name is accepted, too: a model has read both.
fn find_by_id(store: &Store, text: &str) -> Result<Entry, FindToolError> {
    let Ok(prefix) = IdPrefix::parse(text) else { return find_by_name(store, text) };
    match store.catalog().find_for_run(&ToolRef::Id(prefix.clone())) {
        Err(FindError::Unknown(_)) => {
            let instead = suggest_for_missing(store, &prefix)?;
            // A name may look like an identifier.
            match ToolName::parse(text) {
                Ok(name) if store.catalog().find(&ToolRef::Name(name.clone())).is_ok() => find_by_name(store, text),
                _ => Err(unknown_tool(text, instead)),
            }
        }
        other => other.map_err(FindToolError::Store),
    }
}

fn find_by_name(store: &Store, text: &str) -> Result<Entry, FindToolError> {
    let Ok(name) = ToolName::parse(text) else {
        return Err(unknown_tool(text, nearest_name(store, text)?.map(Suggestion::Name)));
    };
    match store.catalog().find_for_run(&ToolRef::Name(name.clone())) {
        Err(FindError::Unknown(_)) => {
            let history = store.catalog().history(&name).map_err(|fault| FindToolError::Store(fault.into()))?;
            let deleted = (!history.is_empty()).then_some(Suggestion::Deleted(name));
            let instead = if deleted.is_some() { deleted } else { nearest_name(store, text)?.map(Suggestion::Name) };
            Err(unknown_tool(text, instead))
        }
        other => other.map_err(FindToolError::Store),
    }
}

fn unknown_tool(asked: &str, instead: Option<Suggestion>) -> FindToolError {
    let shown: String = asked.chars().take(80).flat_map(char::escape_debug).collect();
    FindToolError::Unknown { asked: shown, suggestion: instead }
}

/// Returns a suggestion for a tool that existed: the tool that now has its name, or its undeletion.
fn suggest_for_missing(store: &Store, prefix: &IdPrefix) -> Result<Option<Suggestion>, FindToolError> {
    let Ok(old) = store.catalog().find_any(prefix) else { return Ok(None) };
    Ok(match store.catalog().find(&ToolRef::Name(old.name.clone())) {
        Ok(new) => Some(Suggestion::Superseded { name: new.name, id: new.id }),
        Err(FindError::Unknown(_)) => Some(Suggestion::Deleted(old.name)),
        Err(error) => return Err(FindToolError::Store(error)),
    })
}

/// Returns the most similar name, if one is similar enough.
fn nearest_name(store: &Store, text: &str) -> Result<Option<ToolName>, FindToolError> {
    let text: String = text.chars().take(64).collect::<String>().to_lowercase();
    let filter = Filter { limit: PAGE_LIMIT, ..Filter::default() };
    let page = store.catalog().list(&filter).map_err(|error| match error {
        toolcell_store::ListError::Fault(fault) => FindToolError::Store(fault.into()),
        other => FindToolError::Store(Fault::Index { source: other.into() }.into()),
    })?;
    let alike = |entry: &Entry| strsim::jaro_winkler(&text, &entry.name.as_str().to_lowercase());
    let scored = page.entries.iter().map(|entry| (alike(entry), entry)).filter(|(score, _)| *score >= MIN_SIMILARITY);
    Ok(scored.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, entry)| entry.name.clone()))
}
