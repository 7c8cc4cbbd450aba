//! The language of help, usage errors and notices, which is needed where no arguments are parsed.
//!
//! Invariant: an error while it is determined yields another source of the language, and never a
//! message.

use std::ffi::OsString;

use toolcell::Lang;

use crate::args::LanguageArgs;
use crate::policy_files::PolicyFiles;

/// Returns the language that the words of a command select: `--lang`, else `TOOLCELL_LANG`, else the
/// policy's, else the locale's, else English.
pub(crate) fn of_words(words: &[OsString]) -> Lang {
    LanguageArgs::find(words).lang(|places| PolicyFiles::find(places).ok()?.language())
}
