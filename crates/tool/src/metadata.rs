//! Tool metadata: data that describes a tool without changing its behaviour.
//!
//! Invariant: every field of [`ToolMetadata`] is within its size limit, and the tags are sorted and
//! distinct.

use serde::Serialize;
use serde_json::Value;
use toolcell_i18n::{Message, message};

use crate::example::Postconditions;

/// The maximum size of a description, in bytes.
pub const DESCRIPTION_LIMIT: usize = 16 * 1024;
/// The maximum number of tags of a tool.
pub const TAGS_LIMIT: usize = 64;
/// The maximum size of a tag, in bytes.
pub const TAG_LIMIT: usize = 128;
/// The maximum size of all examples, in bytes of JSON.
pub const EXAMPLES_LIMIT: usize = 256 * 1024;
/// The maximum cost, in tokens. The canonical form (RFC 8785) rounds larger integers; near 2^64 the
/// rounded value no longer fits a `u64`.
pub const MAX_COST: u64 = (1 << 53) - 1;

/// The metadata of a tool, which is not part of its identity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolMetadata {
    description: String,
    tags: Vec<String>,
    generated_from: Option<String>,
    examples: Vec<Value>,
    postconditions: Postconditions,
    cost: Option<u64>,
}

impl ToolMetadata {
    /// Creates metadata with a description.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`DESCRIPTION_LIMIT`] bytes.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::ToolMetadata;
    ///
    /// let notes = ToolMetadata::new("Averages numbers")?.with_tags(["math", "statistics", "math"])?;
    /// assert_eq!(notes.tags(), ["math", "statistics"]);
    /// # Ok::<(), toolcell_tool::MetadataError>(())
    /// ```
    pub fn new(description: impl Into<String>) -> Result<Self, MetadataError> {
        let description = description.into();
        check_length(message!("description"), description.len(), DESCRIPTION_LIMIT)?;
        Ok(Self { description, ..Self::default() })
    }

    /// Adds tags. Duplicates are removed.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`TAGS_LIMIT`] tags, or a tag that is empty, longer than
    /// [`TAG_LIMIT`] bytes, or contains control characters.
    pub fn with_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Result<Self, MetadataError> {
        let mut count = 0;
        for tag in tags {
            let tag: String = tag.into();
            count += 1;
            if count > TAGS_LIMIT {
                return Err(MetadataError::TooManyTags);
            }
            check_length(message!("tag"), tag.len(), TAG_LIMIT)?;
            let tag = tag.trim();
            if tag.is_empty() || tag.chars().any(char::is_control) {
                return Err(MetadataError::Tag { tag: tag.escape_debug().to_string() });
            }
            self.tags.push(tag.to_owned());
        }
        self.tags.sort();
        self.tags.dedup();
        Ok(self)
    }

    /// Sets the task that the tool was created for.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`DESCRIPTION_LIMIT`] bytes.
    pub fn with_generated_from(mut self, task: impl Into<String>) -> Result<Self, MetadataError> {
        let task = task.into();
        check_length(message!("task that the tool was generated from"), task.len(), DESCRIPTION_LIMIT)?;
        self.generated_from = Some(task);
        Ok(self)
    }

    /// Sets the examples: parameters with expected results.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`EXAMPLES_LIMIT`] bytes of JSON, or nested more than 64 levels
    /// deep.
    pub fn with_examples(mut self, examples: Vec<Value>) -> Result<Self, MetadataError> {
        let nested = examples.iter().try_for_each(crate::spec::check_nesting);
        nested.map_err(|reason| MetadataError::Examples { reason })?;
        let len = json_length(&examples).map_err(|reason| MetadataError::Examples { reason })?;
        check_length(message!("examples"), len, EXAMPLES_LIMIT)?;
        self.examples = examples;
        Ok(self)
    }

    /// Sets the declared postconditions.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`DECLARATION_LIMIT`](crate::DECLARATION_LIMIT) bytes of JSON, or
    /// nested more than 64 levels deep.
    pub fn with_postconditions(mut self, claims: Postconditions) -> Result<Self, MetadataError> {
        if let Some(returns) = &claims.returns {
            crate::spec::check_nesting(returns).map_err(|reason| MetadataError::Postconditions { reason })?;
        }
        let len = json_length(&claims).map_err(|reason| MetadataError::Postconditions { reason })?;
        check_length(message!("claims"), len, crate::spec::DECLARATION_LIMIT)?;
        self.postconditions = claims;
        Ok(self)
    }

    /// Sets the cost of creating the tool, in tokens.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`MAX_COST`].
    pub fn with_cost(mut self, tokens: Option<u64>) -> Result<Self, MetadataError> {
        if let Some(tokens) = tokens.filter(|tokens| *tokens > MAX_COST) {
            return Err(MetadataError::Cost { tokens });
        }
        self.cost = tokens;
        Ok(self)
    }

    /// Creates metadata from stored or transmitted parts, except postconditions and cost.
    ///
    /// # Errors
    /// `notes-invalid`: as for the individual parts.
    pub fn from_parts(
        description: String,
        tags: Vec<String>,
        generated_from: Option<String>,
        examples: Vec<Value>,
    ) -> Result<Self, MetadataError> {
        let notes = Self::new(description)?.with_tags(tags)?.with_examples(examples)?;
        match generated_from {
            Some(task) => notes.with_generated_from(task),
            None => Ok(notes),
        }
    }

    /// Returns the description, which people and models read.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the tags, sorted.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Returns the task that the tool was created for.
    #[must_use]
    pub fn generated_from(&self) -> Option<&str> {
        self.generated_from.as_deref()
    }

    /// Returns the examples: parameters with expected results.
    #[must_use]
    pub fn examples(&self) -> &[Value] {
        &self.examples
    }

    /// Returns the declared postconditions.
    #[must_use]
    pub fn postconditions(&self) -> &Postconditions {
        &self.postconditions
    }

    /// Returns the cost of creating the tool, in tokens, if it was reported.
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        self.cost
    }
}

/// Returns the size of the canonical form, in bytes.
fn json_length(value: &impl Serialize) -> Result<usize, Message> {
    crate::spec::canonical_json(value).map(|bytes| bytes.len()).map_err(Message::verbatim)
}

fn check_length(what: Message, len: usize, limit: usize) -> Result<(), MetadataError> {
    if len > limit { Err(MetadataError::TooLong { what, len, limit }) } else { Ok(()) }
}

/// The error of invalid metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
#[code(NotesInvalid)]
pub enum MetadataError {
    /// A text is too long.
    #[error("the {what} is {len} bytes, the limit is {limit}")]
    TooLong {
        /// The name of the text, such as `description`.
        what: Message,
        /// The size of the text, in bytes.
        len: usize,
        /// The maximum size, in bytes.
        limit: usize,
    },
    /// There are more than [`TAGS_LIMIT`] tags.
    #[error("there are more than {TAGS_LIMIT} tags")]
    TooManyTags,
    /// A tag is empty or contains control characters.
    #[error("`{tag}` is not a valid tag: it is empty or contains control characters")]
    Tag {
        /// The tag, escaped.
        tag: String,
    },
    /// The postconditions are invalid or have no canonical form.
    #[error("the postconditions cannot be stored: {reason}")]
    Postconditions {
        /// The cause.
        reason: Message,
    },
    /// The cost is too large to be stored exactly.
    #[error("the cost is {tokens} tokens, the limit is {MAX_COST}")]
    Cost {
        /// The cost, in tokens.
        tokens: u64,
    },
    /// An example is invalid.
    #[error("example {number} {reason}")]
    Example {
        /// The position of the example, counted from 1.
        number: usize,
        /// The cause, as a clause that follows the number.
        reason: Message,
    },
    /// The examples have no canonical form.
    #[error("the examples cannot be stored: {reason}")]
    Examples {
        /// The cause.
        reason: Message,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_too_much_is_refused_with_its_limit() {
        let error = ToolMetadata::new("x".repeat(1 << 20)).unwrap_err();
        assert_eq!(error.to_string(), "the description is 1048576 bytes, the limit is 16384");
        let many = (0..100_000).map(|number| number.to_string());
        assert_eq!(ToolMetadata::new("").unwrap().with_tags(many).unwrap_err(), MetadataError::TooManyTags);
        let long = ToolMetadata::new("").unwrap().with_tags(["x".repeat(129)]).unwrap_err();
        assert_eq!(long.to_string(), "the tag is 129 bytes, the limit is 128");
        let control = ToolMetadata::new("").unwrap().with_tags(["a\u{1b}[31m"]).unwrap_err();
        assert_eq!(
            control.to_string(),
            "`a\\u{1b}[31m` is not a valid tag: it is empty or contains control \
                                         characters"
        );
    }

    #[test]
    fn a_task_and_claims_beyond_their_limits_are_refused() {
        let notes = || ToolMetadata::new("").unwrap();
        notes().with_generated_from("x".repeat(DESCRIPTION_LIMIT)).unwrap();
        let error = notes().with_generated_from("x".repeat(DESCRIPTION_LIMIT + 1)).unwrap_err();
        assert_eq!(error.to_string(), "the task that the tool was generated from is 16385 bytes, the limit is 16384");

        // `{"idempotent":"…"}` has 17 bytes in addition to the name.
        let claims =
            |name: usize, returns: Option<Value>| Postconditions { returns, idempotent: Some("x".repeat(name)) };
        notes().with_postconditions(claims(65_519, None)).unwrap();
        let error = notes().with_postconditions(claims(65_520, None)).unwrap_err();
        assert_eq!(error.to_string(), "the claims is 65537 bytes, the limit is 65536");
        let returns = json!({ "description": "x".repeat(40_000) });
        notes().with_postconditions(claims(1, Some(returns.clone()))).unwrap();
        let error = notes().with_postconditions(claims(40_000, Some(returns))).unwrap_err();
        assert!(matches!(&error, MetadataError::TooLong { what, .. } if *what == "claims"), "{error}");
    }

    #[test]
    fn a_cost_that_could_not_be_kept_exactly_is_refused() {
        let notes = ToolMetadata::new("").unwrap().with_cost(Some(MAX_COST)).unwrap();
        assert_eq!(notes.cost(), Some(MAX_COST));
        assert_eq!(crate::spec::canonical_json(&MAX_COST).unwrap(), b"9007199254740991");
        for tokens in [MAX_COST + 1, u64::MAX] {
            let error = ToolMetadata::new("").unwrap().with_cost(Some(tokens)).unwrap_err();
            assert_eq!(error.to_string(), format!("the cost is {tokens} tokens, the limit is 9007199254740991"));
            assert_eq!(error.code(), "notes-invalid");
        }
    }

    #[test]
    fn tags_of_any_script_are_tags() {
        let notes = ToolMetadata::new("").unwrap().with_tags(["統計", " math ", "สถิติ", "math"]).unwrap();
        assert_eq!(notes.tags(), ["math", "สถิติ", "統計"]);
    }
}
