//! The content of a custom tool's result: what a model reads.
//!
//! Invariant: content of any other form than the documented one is no content; the value is then
//! shown like that of every tool, so nothing is lost.

use data_encoding::BASE64;
use serde_json::Value;
use toolcell_host::{Outcome, Report};

/// The content of the result of a tool that a factory created: the `content` of its value, in the
/// form of pi and oh-my-pi (`{ content: (text | image)[], details? }`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolContent {
    items: Vec<ContentItem>,
}

/// An item of a tool's content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentItem {
    /// A text.
    Text(String),
    /// An image.
    Image {
        /// The media type, such as `image/png` (RFC 6838).
        mime_type: String,
        /// The bytes of the image file.
        data: Vec<u8>,
    },
}

impl ToolContent {
    /// Reads the content of a value that a factory's tool returned.
    pub(super) fn of_report(report: &Report) -> Option<Self> {
        let Outcome::Returned(Some(value)) = &report.outcome else { return None };
        let value: Value = serde_json::from_str(value.as_str()).ok()?;
        let items = value.get("content")?.as_array()?.iter().map(ContentItem::from_value).collect::<Option<_>>()?;
        Some(Self { items })
    }

    /// Returns the items.
    #[must_use]
    pub fn items(&self) -> &[ContentItem] {
        &self.items
    }

    /// Returns the content as text: each item on a line of its own, with a description for an image.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines: Vec<_> = self.items.iter().map(ContentItem::to_text).collect();
        lines.join("\n")
    }

    /// Returns a copy of the tool's value without the data of images: each image has its size in
    /// `bytes` instead.
    #[must_use]
    pub fn without_image_data(&self, value: &str) -> Value {
        let mut value: Value = serde_json::from_str(value).unwrap_or_default();
        for (item, known) in value["content"].as_array_mut().into_iter().flatten().zip(&self.items) {
            if let (ContentItem::Image { data, .. }, Value::Object(fields)) = (known, item) {
                fields.remove("data");
                fields.insert("bytes".to_owned(), data.len().into());
            }
        }
        value
    }
}

impl ContentItem {
    fn from_value(item: &Value) -> Option<Self> {
        match item.get("type")?.as_str()? {
            "text" => Some(Self::Text(item.get("text")?.as_str()?.to_owned())),
            "image" => {
                let mime_type = item.get("mimeType")?.as_str()?;
                let is_token = |part: &str| {
                    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
                };
                let data = BASE64.decode(item.get("data")?.as_str()?.as_bytes()).ok()?;
                let is_image = mime_type.strip_prefix("image/").is_some_and(is_token);
                is_image.then(|| Self::Image { mime_type: mime_type.to_owned(), data })
            }
            _ => None,
        }
    }

    /// Returns the item as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Image { mime_type, data } => format!("[{mime_type}, {} bytes]", data.len()),
        }
    }
}
