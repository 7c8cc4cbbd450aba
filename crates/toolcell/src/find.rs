//! Which tool is meant.
//!
//! Invariant: an identifier and a name that are both given mean the same tool, or nothing is done.

use toolcell_store::{Entry, Fault, Filter, FindError, PAGE_LIMIT, Store, ToolRef};
use toolcell_tool::{IdPrefix, ToolId, ToolName};

use crate::request::RequestError;
use crate::toolbox::Toolbox;

/// How alike a name has to be that is proposed (Jaro-Winkler, 0.0 to 1.0).
const ALIKE: f64 = 0.8;

/// Why no tool is found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindToolError {
    /// Nothing is said of which one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// There is none.
    #[error("there is no tool `{asked}`{}", .instead.as_ref().map(|it| format!("; {it}")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        asked: String,
        /// What may be meant.
        instead: Option<Instead>,
    },
    /// The identifier is of one tool, and the name of another.
    #[error("`{name}` leads to {named}, and not to {id}")]
    Mismatch {
        /// The name.
        name: ToolName,
        /// The tool that it leads to.
        named: ToolId,
        /// The tool of the identifier.
        id: ToolId,
    },
    /// As the store says.
    #[error(transparent)]
    Store(FindError),
}

/// What may be meant by something that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Instead {
    /// A name that is much like it.
    #[error("did you mean `{0}`?")]
    Name(ToolName),
    /// A name was given where an identifier belongs.
    #[error("`tool_id` takes an identifier, and a name goes into `tool_name`: did you mean `tool_name: {0}`?")]
    NameForId(ToolName),
    /// The name leads to another tool by now.
    #[error("`{name}` leads to {id} by now")]
    Superseded {
        /// The name.
        name: ToolName,
        /// The tool.
        id: ToolId,
    },
    /// It was deleted, and not collected yet.
    #[error("`{0}` was deleted, and comes back with `toolcell undelete {0}`")]
    Deleted(ToolName),
}

impl FindToolError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Request(error) => error.code(),
            Self::Unknown { .. } => "tool-not-found",
            Self::Mismatch { .. } => "tool-mismatch",
            Self::Store(error) => error.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Request(error) => error.hint(),
            Self::Unknown { .. } => "`toolcell list` shows all tools that there are",
            Self::Mismatch { .. } => "say one of them, or both of the same tool",
            Self::Store(error) => error.hint(),
        }
    }
}

impl Toolbox {
    /// The tool that is called so: by its name, by its identifier, or by the first 8 digits or more of that.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, and those of the disk.
    pub fn find(&self, called: &str) -> Result<Entry, FindToolError> {
        let is_id = IdPrefix::parse(called).is_ok();
        let (id, name) = if is_id { (Some(called), None) } else { (None, Some(called)) };
        self.find_tool(id, name)
    }

    /// The tool that an identifier, a name, or both lead to.
    pub(crate) fn find_tool(&self, id: Option<&str>, name: Option<&str>) -> Result<Entry, FindToolError> {
        let store = self.shelf().map_err(|fault| FindToolError::Store(fault.into()))?;
        let said = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        match (said(id), said(name)) {
            (None, None) => Err(RequestError("say `tool_id` or `tool_name`".to_owned()).into()),
            (Some(id), None) => by_id(store, &id),
            (None, Some(name)) => by_name(store, &name),
            (Some(id), Some(name)) => {
                let (named, meant) = (by_name(store, &name)?, by_id(store, &id)?);
                if named.id == meant.id {
                    Ok(named)
                } else {
                    Err(FindToolError::Mismatch { name: named.name, named: named.id, id: meant.id })
                }
            }
        }
    }
}

fn by_id(store: &Store, text: &str) -> Result<Entry, FindToolError> {
    let Ok(prefix) = IdPrefix::parse(text) else {
        return Err(unknown(text, nearest(store, text)?.map(Instead::NameForId)));
    };
    match store.find_to_run(&ToolRef::Id(prefix.clone())) {
        Err(FindError::Unknown(_)) => {
            let instead = gone(store, &prefix)?;
            // A name may look like an identifier.
            let name = ToolName::parse(text).ok().filter(|name| store.find(&ToolRef::Name(name.clone())).is_ok());
            Err(unknown(text, instead.or(name.map(Instead::NameForId))))
        }
        other => other.map_err(FindToolError::Store),
    }
}

fn by_name(store: &Store, text: &str) -> Result<Entry, FindToolError> {
    let Ok(name) = ToolName::parse(text) else {
        return Err(unknown(text, nearest(store, text)?.map(Instead::Name)));
    };
    match store.find_to_run(&ToolRef::Name(name.clone())) {
        Err(FindError::Unknown(_)) => {
            let history = store.history(&name).map_err(|fault| FindToolError::Store(fault.into()))?;
            let deleted = (!history.is_empty()).then_some(Instead::Deleted(name));
            let instead = if deleted.is_some() { deleted } else { nearest(store, text)?.map(Instead::Name) };
            Err(unknown(text, instead))
        }
        other => other.map_err(FindToolError::Store),
    }
}

fn unknown(asked: &str, instead: Option<Instead>) -> FindToolError {
    let shown: String = asked.chars().take(80).flat_map(char::escape_debug).collect();
    FindToolError::Unknown { asked: shown, instead }
}

/// What became of a tool that was there.
fn gone(store: &Store, prefix: &IdPrefix) -> Result<Option<Instead>, FindToolError> {
    let Ok(old) = store.find_any(prefix) else { return Ok(None) };
    Ok(match store.find(&ToolRef::Name(old.name.clone())) {
        Ok(new) => Some(Instead::Superseded { name: new.name, id: new.id }),
        Err(FindError::Unknown(_)) => Some(Instead::Deleted(old.name)),
        Err(error) => return Err(FindToolError::Store(error)),
    })
}

/// The name that is most like it, if one is.
fn nearest(store: &Store, text: &str) -> Result<Option<ToolName>, FindToolError> {
    let text: String = text.chars().take(64).collect::<String>().to_lowercase();
    let filter = Filter { limit: PAGE_LIMIT, ..Filter::default() };
    let page = store.list(&filter).map_err(|error| match error {
        toolcell_store::ListError::Fault(fault) => FindToolError::Store(fault.into()),
        other => FindToolError::Store(Fault::Index { source: other.into() }.into()),
    })?;
    let alike = |entry: &Entry| strsim::jaro_winkler(&text, &entry.name.as_str().to_lowercase());
    let scored = page.entries.iter().map(|entry| (alike(entry), entry)).filter(|(score, _)| *score >= ALIKE);
    Ok(scored.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, entry)| entry.name.clone()))
}
