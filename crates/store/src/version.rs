//! What was known of a tool at one moment: an object for each step in the history of a name.
//!
//! Invariant: each version is complete, and names the one before it. So the index, but for what runs and people add to
//! it, follows from the objects alone, deletions included.

use blake3::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_tool::{Claims, Draft, Notes, ToolId, ToolName, ToolSpec, canonical};

/// What this object is, and how it is written.
const KIND: &str = "toolcell.version.v1";

/// What happened to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// It was taken, for the first time or after it was given back.
    Created,
    /// It leads to another tool, or something else is said about the tool.
    Replaced,
    /// It leads to an earlier tool again.
    RolledBack,
    /// It was taken away.
    Deleted,
    /// It was given back.
    Undeleted,
}

impl Event {
    /// Its name in JSON and in the index.
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

    /// The event of that name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Created, Self::Replaced, Self::RolledBack, Self::Deleted, Self::Undeleted]
            .into_iter()
            .find(|event| event.name() == name)
    }
}

/// A version, as its object holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Version {
    /// [`KIND`]
    #[serde(rename = "type")]
    kind: String,
    pub(crate) event: Event,
    pub(crate) at: Timestamp,
    /// The version of this name before.
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
    #[serde(default, skip_serializing_if = "Claims::is_empty")]
    pub(crate) claims: Claims,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<u64>,
    pub(crate) safety: f64,
    pub(crate) quality: f64,
}

/// How well a tool did in the analysis, each 0.0 to 1.0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// How safe it is.
    pub safety: f64,
    /// How well it is written.
    pub quality: f64,
}

impl Version {
    pub(crate) fn new(
        event: Event,
        at: Timestamp,
        previous: Option<Hash>,
        spec: &ToolSpec,
        notes: &Notes,
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
            claims: notes.claims().clone(),
            cost: notes.cost(),
            safety: scores.safety,
            quality: scores.quality,
        }
    }

    /// The same tool with what happened next.
    pub(crate) fn then(&self, event: Event, at: Timestamp, previous: Hash) -> Self {
        Self { event, at, previous: Some(previous.to_hex().to_string()), ..self.clone() }
    }

    /// The bytes of its object.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        canonical(self)
    }

    /// Reads the bytes of an object that was verified.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let version: Self = serde_json::from_slice(bytes).map_err(|error| format!("is no version: {error}"))?;
        if version.kind == KIND { Ok(version) } else { Err(format!("is no version but `{}`", version.kind)) }
    }

    /// The hash of its source.
    pub(crate) fn code_hash(&self) -> Result<Hash, String> {
        Hash::from_hex(&self.code).map_err(|_| "has a source whose hash is none".to_owned())
    }

    /// The hash of the version before.
    pub(crate) fn previous_hash(&self) -> Result<Option<Hash>, String> {
        let parsed = self.previous.as_ref().map(Hash::from_hex).transpose();
        parsed.map_err(|_| "has a version before it whose hash is none".to_owned())
    }

    /// What decides how the tool behaves, with the source that belongs to it. Everything is checked again, down to the
    /// identifier.
    pub(crate) fn spec(&self, source: &[u8]) -> Result<ToolSpec, String> {
        let name = ToolName::parse(&self.name).map_err(|error| format!("has a name that is none: {error}"))?;
        let draft = Draft::from_bytes(name.as_str(), source).map_err(|error| format!("has a bad source: {error}"))?;
        let spec = ToolSpec::new(name, &draft, self.parameters.clone(), self.capabilities.clone());
        let spec = spec.map_err(|error| error.to_string())?;
        if spec.id() == self.tool { Ok(spec) } else { Err(format!("says {} and is {}", self.tool, spec.id())) }
    }

    /// What is said about the tool.
    pub(crate) fn notes(&self) -> Result<Notes, String> {
        let notes = Notes::from_parts(
            self.description.clone(),
            self.tags.clone(),
            self.generated_from.clone(),
            self.examples.clone(),
        );
        let notes = notes.and_then(|notes| notes.with_claims(self.claims.clone()));
        notes.and_then(|notes| notes.with_cost(self.cost)).map_err(|error| error.to_string())
    }
}
