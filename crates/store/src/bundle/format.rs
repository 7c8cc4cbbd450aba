//! The lines of a bundle.
//!
//! Invariant: a tool in a bundle is built again from its parts and checked against its identifier.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_tool::{Draft, Postconditions, ToolId, ToolMetadata, ToolName, ToolSpec};

/// The format identifier in the header.
pub(super) const KIND: &str = "toolcell.bundle.v1";
/// The maximum size of a bundle, in bytes.
pub const BUNDLE_LIMIT: u64 = 512 << 20;

/// The header, in the first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) tools: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// A tool, in one line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BundleLine {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) tool: BundledTool,
    /// Earlier tools of the name, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<EarlierTool>,
}

/// An earlier tool of the name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EarlierTool {
    /// The spelling of the name at that time.
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) tool: BundledTool,
}

/// The exported data of a tool.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BundledTool {
    pub(super) id: ToolId,
    code: String,
    parameters: Value,
    capabilities: Value,
    description: String,
    tags: Vec<String>,
    generated_from: Option<String>,
    examples: Vec<Value>,
    #[serde(default, skip_serializing_if = "Postconditions::is_empty")]
    claims: Postconditions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
}

impl BundledTool {
    pub(super) fn new(spec: &ToolSpec, notes: &ToolMetadata) -> Self {
        Self {
            id: spec.id(),
            code: spec.source().to_owned(),
            parameters: spec.parameters().clone(),
            capabilities: spec.capabilities().clone(),
            description: notes.description().to_owned(),
            tags: notes.tags().to_vec(),
            generated_from: notes.generated_from().map(str::to_owned),
            examples: notes.examples().to_vec(),
            claims: notes.postconditions().clone(),
            cost: notes.cost(),
        }
    }

    /// Builds the tool and checks it against the identifier in the bundle.
    pub(super) fn verify(self, name: &ToolName) -> Result<(ToolSpec, ToolMetadata), Message> {
        let draft = Draft::from_bytes(name.as_str(), self.code.as_bytes()).map_err(|error| error.localize())?;
        let spec = ToolSpec::new(name.clone(), &draft, self.parameters, self.capabilities);
        let spec = spec.map_err(|error| error.localize())?;
        if spec.id() != self.id {
            let (claimed, actual) = (self.id, spec.id());
            return Err(message!("`{name}` claims to be {claimed}, but is {actual}", name, claimed, actual));
        }
        let notes = ToolMetadata::from_parts(self.description, self.tags, self.generated_from, self.examples);
        let notes =
            notes.and_then(|notes| notes.with_postconditions(self.claims)).and_then(|notes| notes.with_cost(self.cost));
        Ok((spec, notes.map_err(|error| error.localize())?))
    }
}
