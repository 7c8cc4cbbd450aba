//! `adopt`: stores the tools of a file that was written for another host, such as pi or oh-my-pi.
//!
//! Each tool is created under the name, the description and the parameters that the file declares.
//!
//! Invariant: a tool that cannot be stored does not keep the others of its file from being stored.

use serde_json::Value;
use toolcell_i18n::{Message, message};
use toolcell_store::ToolRef;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_tool::{Draft, DraftError, ToolId, ToolName, ToolSpec};

use super::create::{CreateError, CreateResult, create_declared};
use super::factory::{DeclaredTool, declared_tools};
use crate::parts::Parts;
use crate::request::CreateTool;
use crate::vet::{Refusal, vet};

/// The name under which a file is analysed before its tools are known.
const FILE_NAME: &str = "adopted_file";

/// The maximum number of tools in a file: each is analyzed and stored by itself.
const MAX_TOOLS: usize = 256;

/// A tool of an adopted file.
#[derive(Debug)]
pub struct AdoptedTool {
    /// The name that the file declares.
    pub name: String,
    /// How it was stored, or why it was not.
    pub result: Result<Adoption, CreateError>,
}

/// How an adopted tool was stored.
#[derive(Debug, Clone)]
pub enum Adoption {
    /// It was created.
    Created(Box<CreateResult>),
    /// The same tool was stored before.
    Unchanged(ToolId),
}

/// The error of adopting a file, none of whose tools is stored.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum AdoptError {
    /// The file is not a source.
    #[error(transparent)]
    #[coded(transparent)]
    Draft(#[from] DraftError),
    /// The analysis rejects the source.
    #[error(transparent)]
    #[coded(transparent)]
    Refused(#[from] Refusal),
    /// The source cannot be evaluated.
    #[error("loading the file failed: {0}")]
    #[code(ToolFailed)]
    Load(Message),
    /// The source declares too many tools.
    #[error("the file declares {count} tools, the limit is {limit}")]
    #[code(ToolLimitReached)]
    TooMany {
        /// The number of tools.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The source declares a tool without a name.
    #[error("the file declares no name for its tool")]
    #[code(ToolMissing)]
    Unnamed,
}

impl AdoptError {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Draft(error) => error.hint().into(),
            Self::Refused(refusal) => refusal.hint().into(),
            Self::Load(_) => message!("a file is loaded in a cell without grants, within limits of time and memory"),
            Self::TooMany { .. } => message!("split the file"),
            Self::Unnamed => message!("store it with `toolcell create`, which gives it a name and a description"),
        }
    }
}

/// Stores the tools of a file; `replace` creates new versions of tools whose names are taken.
pub(crate) fn adopt(parts: &Parts, draft: &Draft, replace: bool) -> Result<Vec<AdoptedTool>, AdoptError> {
    let declared = read_tools(parts, draft).inspect_err(|error| {
        let event = AuditEvent::new(Action::CreateTool, parts.now());
        let result = Err(EventFailure { code: error.code(), message: Some(error.to_string()) });
        parts.recorder.log_attempt(&AuditEvent { name: Some(draft.name().to_owned()), result, ..event });
    })?;
    let mut adopted: Vec<AdoptedTool> = Vec::with_capacity(declared.len());
    for (name, tool) in declared {
        let is_second = adopted.iter().any(|known| known.name == name);
        let result = store_tool(parts, draft, &name, tool, replace && !is_second);
        adopted.push(AdoptedTool { name, result });
    }
    Ok(adopted)
}

/// Loads the file in a cell and returns the tools that it declares, with their names.
fn read_tools(parts: &Parts, draft: &Draft) -> Result<Vec<(String, DeclaredTool)>, AdoptError> {
    let load = |error: &dyn std::fmt::Display| AdoptError::Load(Message::verbatim(error.to_string()));
    let name = ToolName::parse(FILE_NAME).map_err(|error| load(&error))?;
    let spec = ToolSpec::new(name, draft, Value::Null, Value::Null).map_err(|error| load(&error))?;
    let tool = vet(spec)?;
    let declared = declared_tools(parts, draft.name(), &tool).map_err(AdoptError::Load)?;
    if declared.len() > MAX_TOOLS {
        return Err(AdoptError::TooMany { count: declared.len(), limit: MAX_TOOLS });
    }
    let named = declared.into_iter().map(|mut tool| Ok((tool.name.take().ok_or(AdoptError::Unnamed)?, tool)));
    named.collect()
}

fn store_tool(
    parts: &Parts,
    draft: &Draft,
    name: &str,
    tool: DeclaredTool,
    replace: bool,
) -> Result<Adoption, CreateError> {
    let request = CreateTool {
        name: name.to_owned(),
        description: tool.description.unwrap_or_default(),
        code: draft.source().to_owned(),
        parameters: tool.parameters,
        replace,
        ..CreateTool::default()
    };
    if let Some(id) = stored_before(parts, &request) {
        return Ok(Adoption::Unchanged(id));
    }
    create_declared(parts, &request).map(|created| Adoption::Created(Box::new(created)))
}

/// Returns the identifier of the tool if its name refers to exactly this tool already.
fn stored_before(parts: &Parts, request: &CreateTool) -> Option<ToolId> {
    let name = ToolName::parse(&request.name).ok()?;
    let draft = Draft::from_bytes(name.as_str(), request.code.as_bytes()).ok()?;
    let id = ToolSpec::new(name.clone(), &draft, request.parameters.clone(), Value::Null).ok()?.id();
    let stored = parts.store.as_deref()?.catalog().find(&ToolRef::Name(name)).ok()?;
    (stored.id == id).then_some(id)
}
