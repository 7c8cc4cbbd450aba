//! Tools that are told from one another by their names and numbers.

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcell_store::Scores;
use toolcell_tool::{Draft, Notes, ToolName, ToolSpec};

/// The scores of every sample, in ten-thousandths: what the confidence in it begins with.
pub const SCORE: i64 = 8_000;

/// A tool that follows from these three.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Its name.
    pub name: String,
    /// Which of the tools with that name.
    pub number: u32,
    /// How much longer its source is than it would have to be.
    pub padding: usize,
}

impl Sample {
    /// A short one.
    #[must_use]
    pub fn new(name: impl Into<String>, number: u32) -> Self {
        Self { name: name.into(), number, padding: 0 }
    }

    /// One with a long source.
    #[must_use]
    pub fn long(name: impl Into<String>, number: u32) -> Self {
        Self { padding: 20_000, ..Self::new(name, number) }
    }

    /// What decides how it behaves.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        let Self { name, number, padding } = self;
        let source = format!("const execute = () => \"{name} {number}\" //{}", "-".repeat(*padding));
        let draft = Draft::from_bytes(name, source.as_bytes()).unwrap();
        let parameters = json!({ "number": { "type": "number", "default": number } });
        ToolSpec::new(ToolName::parse(name).unwrap(), &draft, parameters, json!(["net"])).unwrap()
    }

    /// What is said about it.
    #[must_use]
    pub fn notes(&self) -> Notes {
        let notes = Notes::new(format!("says {} {}", self.name, self.number)).unwrap();
        notes.with_tags(["sample".to_owned(), format!("number {}", self.number)]).unwrap()
    }

    /// What the analysis says of it.
    #[must_use]
    pub fn scores() -> Scores {
        Scores { safety: 0.9, quality: 0.8 }
    }
}
