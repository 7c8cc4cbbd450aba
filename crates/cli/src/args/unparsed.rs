//! Arguments among words that are not parsed: before a command is completed, and after a usage
//! error.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use toolcell::Lang;

use super::PolicyArgs;
use crate::environment;

/// The arguments that determine the language.
#[derive(Debug)]
pub(crate) struct LanguageArgs {
    lang: Option<Lang>,
    policy: PolicyArgs,
}

impl LanguageArgs {
    /// Finds the arguments among words. An unknown language is English.
    pub(crate) fn find(words: &[OsString]) -> Self {
        let name = find_option(words, "--lang");
        let lang = name.map(|name| Lang::ALL.into_iter().find(|lang| name == lang.name()).unwrap_or_default());
        let policy = PolicyArgs {
            config: find_option(words, "--config").map(PathBuf::from),
            project: find_option(words, "--project").map(PathBuf::from),
            no_project: options(words).any(|word| word == "--no-project"),
            ..PolicyArgs::default()
        };
        Self { lang, policy }
    }

    /// Returns the language in the order of [`super::Args::lang`]. An unknown language is English.
    pub(crate) fn lang(&self, of_policy: impl FnOnce(&PolicyArgs) -> Option<Lang>) -> Lang {
        if let Some(lang) = self.lang {
            return lang;
        }
        match environment::language() {
            Ok(lang) => lang.or_else(|| of_policy(&self.policy)).or_else(environment::locale).unwrap_or_default(),
            Err(_) => Lang::En,
        }
    }
}

/// Returns the value of a long option. One after the command overrides one before it.
pub(crate) fn find_option(words: &[OsString], name: &str) -> Option<OsString> {
    let mut words = options(words);
    let mut found = None;
    while let Some(word) = words.next() {
        let value = match word.as_bytes().strip_prefix(name.as_bytes()) {
            Some([]) => words.next(),
            Some([b'=', value @ ..]) => Some(OsStr::from_bytes(value)),
            _ => continue,
        };
        found = value.map(OsStr::to_owned).or(found);
    }
    found
}

/// Returns the words that can be options: those before `--`.
fn options(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    words.iter().map(OsString::as_os_str).take_while(|word| *word != "--")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_last_option_before_a_double_dash_counts() {
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(find_option(&words(line), "--lang"), expect.map(OsString::from), "{line}");
        };
        check("toolcell --lang ja list", Some("ja"));
        check("toolcell --lang=ja list --lang zh", Some("zh"));
        check("toolcell list --language ja --lang", None);
        check("toolcell --lang ja exec - -- --lang zh", Some("ja"));
        check("toolcell exec -- --lang zh", None);
    }

    #[test]
    fn an_unknown_language_is_english() {
        let lang = |line: &str| LanguageArgs::find(&words(line)).lang(|_| Some(Lang::Ja));
        assert_eq!(lang("toolcell --lang fr"), Lang::En);
        assert_eq!(lang("toolcell --lang zh"), Lang::Zh);
    }
}
