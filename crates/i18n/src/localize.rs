//! Values that can be shown in each language.

use crate::Message;

/// A value that is a message: an error, a finding, a reason.
pub trait Localize {
    /// Returns the message, which [`Message::to_text`] shows in a language.
    fn localize(&self) -> Message;
}

impl Localize for Message {
    fn localize(&self) -> Message {
        self.clone()
    }
}

impl<T: Localize + ?Sized> Localize for &T {
    fn localize(&self) -> Message {
        (**self).localize()
    }
}

impl<T: Localize + ?Sized> Localize for Box<T> {
    fn localize(&self) -> Message {
        (**self).localize()
    }
}

impl<T: Localize + ?Sized> Localize for std::sync::Arc<T> {
    fn localize(&self) -> Message {
        (**self).localize()
    }
}

pub(crate) mod expansion {
    use std::fmt::Display;

    use super::Localize;
    use crate::Message;

    /// A value in the arguments of a macro. A value that is a message is translated, another one is
    /// shown; the compiler selects the method with fewer references.
    pub struct Value<'a, T: ?Sized>(pub &'a T);

    /// Translates a value that is a message.
    pub trait ViaLocalize {
        /// Returns the message of the value.
        fn to_argument(&self) -> Message;
    }

    impl<T: Localize + ?Sized> ViaLocalize for Value<'_, T> {
        fn to_argument(&self) -> Message {
            self.0.localize()
        }
    }

    /// Shows another value.
    pub trait ViaDisplay {
        /// Returns what its `Display` shows.
        fn to_argument(&self) -> Message;
    }

    impl<T: Display + ?Sized> ViaDisplay for &Value<'_, T> {
        fn to_argument(&self) -> Message {
            Message::verbatim(self.0.to_string())
        }
    }
}
