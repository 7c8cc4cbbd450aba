//! What is said about a tool and does not change how it behaves.
//!
//! Invariant: [`Notes`] are of a size that an index bears, and their tags are sorted and different.

use serde_json::Value;

use crate::example::Claims;

/// The longest description, in bytes.
pub const DESCRIPTION_LIMIT: usize = 16 * 1024;
/// How many tags a tool has at most.
pub const TAGS_LIMIT: usize = 64;
/// The longest tag, in bytes.
pub const TAG_LIMIT: usize = 128;
/// The largest examples, in bytes of JSON.
pub const EXAMPLES_LIMIT: usize = 256 * 1024;
/// The largest cost, in tokens. Beyond it the canonical form (RFC 8785) rounds integers, and near 2^64 to one that is no `u64`.
pub const MAX_COST: u64 = (1 << 53) - 1;

/// What is said about a tool: changing it leaves the tool what it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Notes {
    description: String,
    tags: Vec<String>,
    generated_from: Option<String>,
    examples: Vec<Value>,
    claims: Claims,
    cost: Option<u64>,
}

impl Notes {
    /// Notes with a description.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`DESCRIPTION_LIMIT`] bytes.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Notes;
    ///
    /// let notes = Notes::new("Averages numbers")?.with_tags(["math", "statistics", "math"])?;
    /// assert_eq!(notes.tags(), ["math", "statistics"]);
    /// # Ok::<(), toolcell_tool::NotesError>(())
    /// ```
    pub fn new(description: impl Into<String>) -> Result<Self, NotesError> {
        let description = description.into();
        bytes("description", description.len(), DESCRIPTION_LIMIT)?;
        Ok(Self { description, ..Self::default() })
    }

    /// With these tags, each once.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`TAGS_LIMIT`], or one that is empty, longer than [`TAG_LIMIT`] bytes, or has control
    /// characters in it.
    pub fn with_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Result<Self, NotesError> {
        let mut count = 0;
        for tag in tags {
            let tag: String = tag.into();
            count += 1;
            if count > TAGS_LIMIT {
                return Err(NotesError::TooManyTags);
            }
            bytes("tag", tag.len(), TAG_LIMIT)?;
            let tag = tag.trim();
            if tag.is_empty() || tag.chars().any(char::is_control) {
                return Err(NotesError::Tag { tag: tag.escape_debug().to_string() });
            }
            self.tags.push(tag.to_owned());
        }
        self.tags.sort();
        self.tags.dedup();
        Ok(self)
    }

    /// With the task that the tool was made for.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`DESCRIPTION_LIMIT`] bytes.
    pub fn with_generated_from(mut self, task: impl Into<String>) -> Result<Self, NotesError> {
        let task = task.into();
        bytes("task it was generated from", task.len(), DESCRIPTION_LIMIT)?;
        self.generated_from = Some(task);
        Ok(self)
    }

    /// With examples: parameters, and the result that is expected.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`EXAMPLES_LIMIT`] bytes of JSON, or nested more than 64 deep.
    pub fn with_examples(mut self, examples: Vec<Value>) -> Result<Self, NotesError> {
        let nested = examples.iter().try_for_each(crate::spec::nested);
        nested.map_err(|reason| NotesError::Examples { reason })?;
        let len = crate::spec::canonical(&examples).map_err(|reason| NotesError::Examples { reason })?.len();
        bytes("examples", len, EXAMPLES_LIMIT)?;
        self.examples = examples;
        Ok(self)
    }

    /// With what it claims of its results.
    ///
    /// # Errors
    /// `notes-invalid`: as examples.
    pub fn with_claims(mut self, claims: Claims) -> Result<Self, NotesError> {
        if let Some(returns) = &claims.returns {
            crate::spec::nested(returns).map_err(|reason| NotesError::Claims { reason })?;
        }
        let len = crate::spec::canonical(&claims).map_err(|reason| NotesError::Claims { reason })?.len();
        bytes("claims", len, crate::spec::DECLARATION_LIMIT)?;
        self.claims = claims;
        Ok(self)
    }

    /// With what making it cost, in tokens.
    ///
    /// # Errors
    /// `notes-invalid`: more than [`MAX_COST`].
    pub fn with_cost(mut self, tokens: Option<u64>) -> Result<Self, NotesError> {
        if let Some(tokens) = tokens.filter(|tokens| *tokens > MAX_COST) {
            return Err(NotesError::Cost { tokens });
        }
        self.cost = tokens;
        Ok(self)
    }

    /// All of it at once, as it was kept or sent, but for claims and cost.
    ///
    /// # Errors
    /// `notes-invalid`: as each part by itself.
    pub fn from_parts(
        description: String,
        tags: Vec<String>,
        generated_from: Option<String>,
        examples: Vec<Value>,
    ) -> Result<Self, NotesError> {
        let notes = Self::new(description)?.with_tags(tags)?.with_examples(examples)?;
        match generated_from {
            Some(task) => notes.with_generated_from(task),
            None => Ok(notes),
        }
    }

    /// What it does, for people and models.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its tags, sorted.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// The task that it was made for.
    #[must_use]
    pub fn generated_from(&self) -> Option<&str> {
        self.generated_from.as_deref()
    }

    /// Parameters with the expected result.
    #[must_use]
    pub fn examples(&self) -> &[Value] {
        &self.examples
    }

    /// What it claims of its results.
    #[must_use]
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// What making it cost, in tokens, where somebody said so.
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        self.cost
    }
}

fn bytes(what: &'static str, len: usize, limit: usize) -> Result<(), NotesError> {
    if len > limit { Err(NotesError::TooLong { what, len, limit }) } else { Ok(()) }
}

/// Why something cannot be noted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotesError {
    /// A text is too long.
    #[error("the {what} is {len} bytes, the limit is {limit}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// There are too many tags.
    #[error("there are more than {TAGS_LIMIT} tags")]
    TooManyTags,
    /// A tag is none.
    #[error("`{tag}` is no tag: it is empty, or has control characters in it")]
    Tag {
        /// The text, escaped.
        tag: String,
    },
    /// Claims have no canonical form, or are none.
    #[error("the claims cannot be kept: {reason}")]
    Claims {
        /// Why.
        reason: String,
    },
    /// A cost is too large to be kept exactly.
    #[error("the cost is {tokens} tokens, the limit is {MAX_COST}")]
    Cost {
        /// The cost, in tokens.
        tokens: u64,
    },
    /// An example is none.
    #[error("example {number} {reason}")]
    Example {
        /// Which one, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Examples have no canonical form.
    #[error("the examples cannot be kept: {reason}")]
    Examples {
        /// Why.
        reason: String,
    },
}

impl NotesError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "notes-invalid"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_too_much_is_refused_with_its_limit() {
        let error = Notes::new("x".repeat(1 << 20)).unwrap_err();
        assert_eq!(error.to_string(), "the description is 1048576 bytes, the limit is 16384");
        let many = (0..100_000).map(|number| number.to_string());
        assert_eq!(Notes::new("").unwrap().with_tags(many).unwrap_err(), NotesError::TooManyTags);
        let long = Notes::new("").unwrap().with_tags(["x".repeat(129)]).unwrap_err();
        assert_eq!(long.to_string(), "the tag is 129 bytes, the limit is 128");
        let control = Notes::new("").unwrap().with_tags(["a\u{1b}[31m"]).unwrap_err();
        assert_eq!(control.to_string(), "`a\\u{1b}[31m` is no tag: it is empty, or has control characters in it");
    }

    #[test]
    fn a_task_and_claims_beyond_their_limits_are_refused() {
        let notes = || Notes::new("").unwrap();
        notes().with_generated_from("x".repeat(DESCRIPTION_LIMIT)).unwrap();
        let error = notes().with_generated_from("x".repeat(DESCRIPTION_LIMIT + 1)).unwrap_err();
        assert_eq!(error.to_string(), "the task it was generated from is 16385 bytes, the limit is 16384");

        // `{"idempotent":"…"}` has 17 bytes beside the name in it.
        let claims = |name: usize, returns: Option<Value>| Claims { returns, idempotent: Some("x".repeat(name)) };
        notes().with_claims(claims(65_519, None)).unwrap();
        let error = notes().with_claims(claims(65_520, None)).unwrap_err();
        assert_eq!(error.to_string(), "the claims is 65537 bytes, the limit is 65536");
        let returns = json!({ "description": "x".repeat(40_000) });
        notes().with_claims(claims(1, Some(returns.clone()))).unwrap();
        let error = notes().with_claims(claims(40_000, Some(returns))).unwrap_err();
        assert!(matches!(error, NotesError::TooLong { what: "claims", .. }), "{error}");
    }

    #[test]
    fn a_cost_that_could_not_be_kept_exactly_is_refused() {
        let notes = Notes::new("").unwrap().with_cost(Some(MAX_COST)).unwrap();
        assert_eq!(notes.cost(), Some(MAX_COST));
        assert_eq!(crate::spec::canonical(&MAX_COST).unwrap(), b"9007199254740991");
        for tokens in [MAX_COST + 1, u64::MAX] {
            let error = Notes::new("").unwrap().with_cost(Some(tokens)).unwrap_err();
            assert_eq!(error.to_string(), format!("the cost is {tokens} tokens, the limit is 9007199254740991"));
            assert_eq!(error.code(), "notes-invalid");
        }
    }

    #[test]
    fn tags_of_any_script_are_tags() {
        let notes = Notes::new("").unwrap().with_tags(["統計", " math ", "สถิติ", "math"]).unwrap();
        assert_eq!(notes.tags(), ["math", "สถิติ", "統計"]);
    }
}
