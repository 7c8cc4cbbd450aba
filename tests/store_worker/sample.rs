//! Sample tools, which differ by name and number.

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcell_store::Scores;
use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};

/// The confidence in a new sample, which follows from its scores, in ten-thousandths.
pub const INITIAL_CONFIDENCE: i64 = 8_000;

/// A tool that is generated from these fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleTool {
    /// The tool's name.
    pub name: String,
    /// Distinguishes tools with the same name.
    pub number: u32,
    /// Number of padding bytes in the source.
    pub padding: usize,
}

impl SampleTool {
    /// Creates a sample with a short source.
    #[must_use]
    pub fn new(name: impl Into<String>, number: u32) -> Self {
        Self { name: name.into(), number, padding: 0 }
    }

    /// Creates a sample with a source of about 20,000 bytes.
    #[must_use]
    pub fn long(name: impl Into<String>, number: u32) -> Self {
        Self { padding: 20_000, ..Self::new(name, number) }
    }

    /// Returns the specification: what decides the behavior.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        let Self { name, number, padding } = self;
        let source = format!("const execute = () => \"{name} {number}\" //{}", "-".repeat(*padding));
        let draft = Draft::from_bytes(name, source.as_bytes()).unwrap();
        let parameters = json!({ "number": { "type": "number", "default": number } });
        ToolSpec::new(ToolName::parse(name).unwrap(), &draft, parameters, json!(["net"])).unwrap()
    }

    /// Returns the metadata.
    #[must_use]
    pub fn notes(&self) -> ToolMetadata {
        let notes = ToolMetadata::new(format!("says {} {}", self.name, self.number)).unwrap();
        notes.with_tags(["sample".to_owned(), format!("number {}", self.number)]).unwrap()
    }

    /// Returns the scores, as if from the analysis.
    #[must_use]
    pub fn scores() -> Scores {
        Scores { safety: 0.9, quality: 0.8 }
    }
}
