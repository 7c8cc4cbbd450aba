//! Versions: one object for each change in the history of a name.
//!
//! Invariant: a version is complete and names its predecessor. So everything in the index, apart
//! from what runs and people add, derives from the objects, deletions included.

use blake3::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_i18n::{Localize, Message, message};
use toolcell_tool::{Draft, Postconditions, ToolId, ToolMetadata, ToolName, ToolSpec, canonical_json};

use crate::db::Db;
use crate::error::Fault;

/// The object type and its format version.
const KIND: &str = "toolcell.version.v1";

/// The kind of a change to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VersionEvent {
    /// The name was taken, for the first time or again after a deletion.
    Created,
    /// The name resolves to another tool, or the metadata of its tool changed.
    Replaced,
    /// The name resolves to an earlier tool again.
    RolledBack,
    /// The name was deleted.
    Deleted,
    /// The name was restored.
    Undeleted,
}

impl VersionEvent {
    /// The name in JSON and in the index.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::RolledBack => "rolled-back",
            Self::Deleted => "deleted",
            Self::Undeleted => "undeleted",
        }
    }

    /// Looks an event up by name.
    #[must_use]
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Created, Self::Replaced, Self::RolledBack, Self::Deleted, Self::Undeleted]
            .into_iter()
            .find(|event| event.name() == name)
    }
}

impl Localize for VersionEvent {
    fn localize(&self) -> Message {
        match self {
            Self::Created => message!("created"),
            Self::Replaced => message!("replaced"),
            Self::RolledBack => message!("rolled-back"),
            Self::Deleted => message!("deleted"),
            Self::Undeleted => message!("undeleted"),
        }
    }
}

impl std::fmt::Display for VersionEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A version as stored in its object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Version {
    /// The object type, [`KIND`].
    #[serde(rename = "type")]
    kind: String,
    pub(crate) event: VersionEvent,
    pub(crate) at: Timestamp,
    /// The hash of the previous version of the name.
    pub(crate) previous: Option<String>,
    pub(crate) tool: ToolId,
    pub(crate) name: String,
    /// The hash of the source.
    pub(crate) code: String,
    pub(crate) parameters: Value,
    pub(crate) capabilities: Value,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) generated_from: Option<String>,
    pub(crate) examples: Vec<Value>,
    #[serde(default, skip_serializing_if = "Postconditions::is_empty")]
    pub(crate) claims: Postconditions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<u64>,
    pub(crate) safety: f64,
    pub(crate) quality: f64,
}

/// The scores of a tool from the analysis, each 0.0 to 1.0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// The safety score.
    pub safety: f64,
    /// The quality score.
    pub quality: f64,
}

impl Version {
    pub(crate) fn new(
        event: VersionEvent,
        at: Timestamp,
        previous: Option<Hash>,
        spec: &ToolSpec,
        notes: &ToolMetadata,
        scores: Scores,
    ) -> Self {
        Self {
            kind: KIND.to_owned(),
            event,
            at,
            previous: previous.map(|hash| hash.to_hex().to_string()),
            tool: spec.id(),
            name: spec.name().as_str().to_owned(),
            code: blake3::hash(spec.source().as_bytes()).to_hex().to_string(),
            parameters: spec.parameters().clone(),
            capabilities: spec.capabilities().clone(),
            description: notes.description().to_owned(),
            tags: notes.tags().to_vec(),
            generated_from: notes.generated_from().map(str::to_owned),
            examples: notes.examples().to_vec(),
            claims: notes.postconditions().clone(),
            cost: notes.cost(),
            safety: scores.safety,
            quality: scores.quality,
        }
    }

    /// A version of the same tool that follows this one.
    pub(crate) fn followed_by(&self, event: VersionEvent, at: Timestamp, previous: Hash) -> Self {
        Self { event, at, previous: Some(previous.to_hex().to_string()), ..self.clone() }
    }

    /// Encodes the version for its object.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        canonical_json(self)
    }

    /// Decodes a version from the bytes of a verified object.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Message> {
        let version: Self =
            serde_json::from_slice(bytes).map_err(|error| message!("is not a version: {error}", error))?;
        if version.kind == KIND {
            Ok(version)
        } else {
            Err(message!("is not a version but `{kind}`", kind = version.kind))
        }
    }

    /// The hash of the source.
    pub(crate) fn code_hash(&self) -> Result<Hash, Message> {
        Hash::from_hex(&self.code).map_err(|_| message!("has an invalid source hash"))
    }

    /// The hash of the previous version.
    pub(crate) fn previous_hash(&self) -> Result<Option<Hash>, Message> {
        let parsed = self.previous.as_ref().map(Hash::from_hex).transpose();
        parsed.map_err(|_| message!("has an invalid hash of its previous version"))
    }

    /// Builds the specification of the tool from its source. Everything is validated again,
    /// including the identifier.
    pub(crate) fn spec(&self, source: &[u8]) -> Result<ToolSpec, Message> {
        let name = ToolName::parse(&self.name).map_err(|error| message!("has an invalid name: {error}", error))?;
        let draft =
            Draft::from_bytes(name.as_str(), source).map_err(|error| message!("has a bad source: {error}", error))?;
        let spec = ToolSpec::new(name, &draft, self.parameters.clone(), self.capabilities.clone());
        let spec = spec.map_err(|error| error.localize())?;
        if spec.id() == self.tool {
            Ok(spec)
        } else {
            Err(message!("claims to be {claimed}, but is {actual}", claimed = self.tool, actual = spec.id()))
        }
    }

    /// The metadata of the tool.
    pub(crate) fn metadata(&self) -> Result<ToolMetadata, Message> {
        let notes = ToolMetadata::from_parts(
            self.description.clone(),
            self.tags.clone(),
            self.generated_from.clone(),
            self.examples.clone(),
        );
        let notes = notes.and_then(|notes| notes.with_postconditions(self.claims.clone()));
        notes.and_then(|notes| notes.with_cost(self.cost)).map_err(|error| error.localize())
    }
}

/// Reads a version from its object.
pub(crate) fn read_version(db: &Db, hash: Hash) -> Result<Version, Fault> {
    Version::from_bytes(&db.read_object(hash)?).map_err(|reason| Fault::object(hash, reason))
}
