//! Identifiers of key-value spaces, folders and secrets in grants.
//!
//! Invariant: an identifier is an ASCII letter followed by letters, digits, `_` and `-`, at most 64
//! characters in total. So it is safe as a path component, in a placeholder and in a terminal.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolcell_i18n::{Message, message, msgid};

use crate::grants::error::GrantError;
use crate::name::NAME_LIMIT;

const SPACE_NAME: &str = msgid!("space name");
const FOLDER_NAME: &str = msgid!("folder name");
const SECRET_NAME: &str = msgid!("secret name");

fn parse(what: &'static str, text: &str) -> Result<String, GrantError> {
    let wrong = |why| Err(GrantError::new(Message::from(what), text, why));
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return wrong(message!("it must start with an ASCII letter"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return wrong(message!("only ASCII letters, digits, `_` and `-` are allowed"));
    }
    if text.len() > NAME_LIMIT {
        return wrong(message!(
            "it has {count} characters, the limit is {limit}",
            count = text.len(),
            limit = NAME_LIMIT
        ));
    }
    Ok(text.to_owned())
}

macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $what:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses an identifier as a user writes it.
            ///
            /// # Errors
            /// `grant-invalid`
            pub fn parse(text: &str) -> Result<Self, GrantError> {
                parse($what, text).map(Self)
            }

            /// Returns the identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = GrantError;

            fn try_from(text: String) -> Result<Self, GrantError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

word! {
    /// The name of a key-value space.
    SpaceName, SPACE_NAME
}

word! {
    /// The name that a tool uses for a granted folder: the first component of its paths.
    FolderName, FOLDER_NAME
}

word! {
    /// The name of a secret.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::SecretName;
    ///
    /// assert_eq!(SecretName::parse("API_TOKEN")?.as_str(), "API_TOKEN");
    /// let error = SecretName::parse("API TOKEN").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`API TOKEN` is not a valid secret name: only ASCII letters, digits, `_` and `-` are allowed",
    /// );
    /// # Ok::<(), toolcell_tool::GrantError>(())
    /// ```
    SecretName, SECRET_NAME
}
