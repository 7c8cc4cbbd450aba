//! The languages of messages, and their catalogues.
//!
//! A message is written in English where it is used: with [`tr!`] if it is shown at once, with
//! [`message!`] if it travels in a value, with `#[error("…")]` in an error that derives
//! [`Localize`], with [`msgid!`] or `#[hint("…")]` if it is a constant. The English text is its key in the catalogues `po/ja.po` and `po/zh.po`
//! ([GNU gettext's format](https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html)).
//!
//! Invariant: a message that a catalogue does not contain is shown in English. A test lists them.

mod catalog;
mod lang;
mod localize;
mod message;
mod template;

pub use lang::Lang;
pub use localize::Localize;
pub use message::Message;
/// Implements [`Localize`](trait@Localize) for an error type from the same `#[error("…")]`
/// attributes that `thiserror::Error` reads.
///
/// A field that implements [`Localize`](trait@Localize) is translated, too; each other one is shown
/// as its `Display` shows it.
///
/// # Examples
/// ```
/// use toolcell_i18n::{Lang, Localize as _};
///
/// #[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
/// enum ShowError {
///     #[error("there is no version {version} of {tool:?}")]
///     NoVersion { tool: String, version: u32 },
/// }
///
/// let error = ShowError::NoVersion { tool: "average".to_owned(), version: 2 };
/// assert_eq!(error.localize().to_text(Lang::En), error.to_string());
/// ```
pub use toolcell_error_derive::Localize;

/// What the macros of this crate expand to.
#[doc(hidden)]
pub mod expansion {
    pub use crate::localize::expansion::{Value, ViaDisplay, ViaLocalize};
    pub use crate::template::has_placeholders;
}

/// Marks a constant text for the catalogues, and expands to it. It is translated where it is shown, by
/// [`Lang::translate`] or as a [`Message`].
///
/// # Examples
/// ```
/// use toolcell_i18n::{Lang, msgid};
///
/// const LABEL: &str = msgid!("error");
/// assert_eq!(Lang::Zh.translate(LABEL), "错误");
/// ```
#[macro_export]
macro_rules! msgid {
    ($text:literal) => {
        $text
    };
}

/// Creates a [`Message`]: a text that is translated when it is shown.
///
/// A text with arguments contains its arguments as `{name}`; `{{` and `}}` are braces. An argument is a variable
/// of this name, or `name = value`. Text and arguments that do not match do not compile. In a text
/// without arguments, braces are braces.
///
/// # Examples
/// ```
/// use toolcell_i18n::{Lang, message};
///
/// let limit = 16;
/// let message = message!("{actual} tags are given, the limit is {limit}", actual = 20, limit);
/// assert_eq!(message.to_string(), "20 tags are given, the limit is 16");
/// ```
///
/// ```compile_fail
/// let message = toolcell_i18n::message!("{actual} tags are given, the limit is {limit}", actual = 20);
/// ```
#[macro_export]
macro_rules! message {
    ($text:literal $(,)?) => {
        $crate::Message::from($crate::msgid!($text))
    };
    ($text:literal, $($name:ident $(= $value:expr)?),+ $(,)?) => {{
        const { assert!($crate::expansion::has_placeholders($text, &[$(stringify!($name)),+])) }
        $crate::Message::new($text, ::std::vec![$((stringify!($name), $crate::argument!($name $(= $value)?))),+])
    }};
}

/// Returns a text in a language: `tr!(lang, "…")` a `&'static str`, and `tr!(lang, "… {name}", name)`
/// a `String`. See [`message!`] for text and arguments.
///
/// `tr!(lang, "context" => "…")` selects between translations of the same English text.
///
/// # Examples
/// ```
/// use toolcell_i18n::{Lang, tr};
///
/// let name = "average";
/// assert_eq!(tr!(Lang::En, "Ran the tool `{name}`.", name), "Ran the tool `average`.");
/// assert_eq!(tr!(Lang::Ja, "error"), "エラー");
/// ```
#[macro_export]
macro_rules! tr {
    ($lang:expr, $text:literal $(,)?) => {
        $lang.translate($crate::msgid!($text))
    };
    ($lang:expr, $context:literal => $text:literal $(,)?) => {
        $lang.translate_in($context, $text)
    };
    ($lang:expr, $text:literal, $($arguments:tt)+) => {
        $crate::message!($text, $($arguments)+).to_text($lang)
    };
}

/// Converts an argument of [`message!`].
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    ($name:ident = $value:expr) => {{
        #[allow(unused_imports, reason = "one of the two applies")]
        use $crate::expansion::{ViaDisplay as _, ViaLocalize as _};
        (&$crate::expansion::Value(&$value)).to_argument()
    }};
    ($name:ident) => {
        $crate::argument!($name = $name)
    };
}
