//! Messages that are translated when they are shown.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};

use crate::template::{Part, parts};
use crate::{Lang, Localize};

/// A message with its arguments: English until it is shown in another language.
///
/// Created by [`message!`](crate::message!), or from a text of [`msgid!`](crate::msgid!). Its
/// `Display`, and its serialized form, is the English text. It is boxed, so that errors stay small.
///
/// Messages are compared, ordered and hashed by their English text: a record keeps that text alone.
#[derive(Debug, Clone)]
pub struct Message(Box<Kind>);

#[derive(Debug, Clone)]
enum Kind {
    /// A text of the catalogues without arguments. Its braces are braces.
    Text(&'static str),
    /// A text of the catalogues with arguments.
    Template { text: &'static str, arguments: Vec<(&'static str, Message)> },
    /// A text that is the same in each language.
    Verbatim(String),
    /// The items of a list.
    List(Vec<Message>),
    /// Texts without a separator.
    Sequence(Vec<Message>),
}

impl Message {
    /// Creates a message from a text of the catalogues. [`message!`](crate::message!) checks that
    /// text and arguments match.
    #[doc(hidden)]
    #[must_use]
    pub fn new(text: &'static str, arguments: Vec<(&'static str, Self)>) -> Self {
        Self(Box::new(Kind::Template { text, arguments }))
    }

    /// Creates a message that is the same in each language: a name, a number, a quotation, or a
    /// text of a library or the operating system.
    #[must_use]
    pub fn verbatim(text: String) -> Self {
        Self(Box::new(Kind::Verbatim(text)))
    }

    /// Creates a list, whose separator is that of the language.
    ///
    /// # Examples
    /// ```
    /// use toolcell_i18n::{Lang, Message, message};
    ///
    /// let list = Message::list([message!("error"), Message::verbatim("x".to_owned())]);
    /// assert_eq!(list.to_string(), "error, x");
    /// assert_eq!(list.to_text(Lang::Ja), "エラー、x");
    /// ```
    #[must_use]
    pub fn list<T: Localize>(items: impl IntoIterator<Item = T>) -> Self {
        Self(Box::new(Kind::List(items.into_iter().map(|item| item.localize()).collect())))
    }

    /// Creates a message from texts that follow each other without a separator.
    #[must_use]
    pub fn sequence<T: Localize>(items: impl IntoIterator<Item = T>) -> Self {
        Self(Box::new(Kind::Sequence(items.into_iter().map(|item| item.localize()).collect())))
    }

    /// Returns the text in a language.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(lang, &mut text);
        text
    }

    fn write(&self, lang: Lang, out: &mut dyn fmt::Write) -> fmt::Result {
        match &*self.0 {
            Kind::Verbatim(text) => out.write_str(text),
            Kind::Text(text) => out.write_str(lang.translate(text)),
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    out.write_str(if index == 0 { "" } else { lang.list_separator() })?;
                    item.write(lang, out)?;
                }
                Ok(())
            }
            Kind::Sequence(items) => items.iter().try_for_each(|item| item.write(lang, out)),
            Kind::Template { text, arguments } => parts(lang.translate(text)).try_for_each(|part| match part {
                Part::Text(text) => out.write_str(text),
                Part::Placeholder(name) => match arguments.iter().find(|(known, _)| *known == name) {
                    Some((_, argument)) => argument.write(lang, out),
                    None => Ok(()),
                },
            }),
        }
    }
}

/// Converts a text of [`msgid!`](crate::msgid!).
///
/// # Examples
/// ```
/// use toolcell_i18n::{Lang, Message, msgid};
///
/// const LABEL: &str = msgid!("error");
/// assert_eq!(Message::from(LABEL).to_text(Lang::Ja), "エラー");
/// ```
impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Self(Box::new(Kind::Text(text)))
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self == other.to_string().as_str()
    }
}

impl Eq for Message {}

impl PartialOrd for Message {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Message {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl Hash for Message {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

/// Compares the English text.
impl PartialEq<str> for Message {
    fn eq(&self, other: &str) -> bool {
        self.to_text(Lang::En) == other
    }
}

/// Compares the English text.
impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

/// Serializes the English text: programs read the same text in each language.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(Lang::En, f)
    }
}
