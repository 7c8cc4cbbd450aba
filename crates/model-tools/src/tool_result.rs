//! The result of a call, as a language model gets it.

use std::sync::Arc;

use serde_json::{Map, Value};

/// The result of a call: the `CallToolResult` of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What a model reads.
    pub content: Vec<Content>,
    /// The same for programs and for some models: an object. A failed call has none.
    pub structured: Option<Value>,
    /// What only programs need, by key.
    pub meta: Map<String, Value>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A part of what a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// An image.
    Image {
        /// Its media type.
        mime_type: String,
        /// Its bytes in Base64.
        data: String,
    },
    /// The whole of a value that was cut in the text.
    Link {
        /// The URI that the host keeps it under.
        uri: Arc<str>,
        /// The length of its JSON in bytes.
        bytes: usize,
    },
}

impl ToolResult {
    /// Returns all texts, separated by line breaks.
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
