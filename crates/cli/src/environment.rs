//! The environment variables of the command line whose values are checked: a value that is not
//! understood is an error, because ignoring it could run tools with less isolation than intended.
//!
//! Invariant: an error repeats at most [`MAX_ECHO_CHARS`] characters of a value.

use std::ffi::OsStr;

use toolcell::Lang;
use toolcell_i18n::message;

use crate::error::CliError;

/// Whether tools run in confined worker processes.
pub(crate) const JAIL: &str = "TOOLCELL_JAIL";
/// The language of messages.
const LANGUAGE: &str = "TOOLCELL_LANG";
/// Maximum number of characters of a refused value in an error.
const MAX_ECHO_CHARS: usize = 80;

/// Returns the value of a switch: off if it is not set or empty.
///
/// # Errors
/// `usage` if the value is neither on nor off.
pub(crate) fn switch(name: &'static str) -> Result<bool, CliError> {
    let Some(value) = std::env::var_os(name) else { return Ok(false) };
    let parsed = value.to_str().and_then(parse_switch);
    parsed.ok_or_else(|| {
        CliError::usage(
            message!("{name} is `{value}`, which is neither on nor off", name, value = echo(&value)),
            message!("set it to 1, true, yes or on, or to 0, false, no or off"),
        )
    })
}

/// Returns the text of a variable: none if it is not set.
///
/// # Errors
/// `usage` if it is not UTF-8.
pub(crate) fn text(name: &'static str) -> Result<Option<String>, CliError> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    value
        .into_string()
        .map(Some)
        .map_err(|_| CliError::usage(message!("{name} is not UTF-8", name), message!("set it to text, or unset it")))
}

/// Returns a token: none if the variable is not set.
///
/// # Errors
/// `usage` if it is empty or not UTF-8: a server must not listen without the token that was meant.
pub(crate) fn token(name: &'static str) -> Result<Option<String>, CliError> {
    match text(name)? {
        Some(token) if token.is_empty() => Err(CliError::usage(
            message!("{name} is empty", name),
            message!("set it to the token, or unset it to listen without one"),
        )),
        token => Ok(token),
    }
}

/// Parses a switch. Case does not matter.
fn parse_switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" | "" => Some(false),
        _ => None,
    }
}

/// Returns the language that is set: `en`, `ja`, `zh`, or a locale such as `ja_JP.UTF-8`.
///
/// # Errors
/// `usage` if the value names another language.
pub(crate) fn language() -> Result<Option<Lang>, CliError> {
    let Some(value) = std::env::var_os(LANGUAGE).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.to_str().and_then(parse_language) {
        Some(lang) => Ok(Some(lang)),
        None => Err(CliError::usage(
            message!("{name} is `{value}`, which is not a supported language", name = LANGUAGE, value = echo(&value)),
            message!("set it to en, ja or zh"),
        )),
    }
}

/// Returns the language of the locale, if one is set.
pub(crate) fn locale() -> Option<Lang> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    set.map(|name| Lang::from_locale(&name))
}

/// Returns a refused value for an error: escaped, and truncated to [`MAX_ECHO_CHARS`].
fn echo(value: &OsStr) -> String {
    let text = value.to_string_lossy();
    let mut shown: String = text.chars().take(MAX_ECHO_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_ECHO_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Parses a language tag or a POSIX locale (`language[_territory][.codeset][@modifier]`).
fn parse_language(value: &str) -> Option<Lang> {
    let language = value.split(['_', '-', '.', '@']).next().unwrap_or_default().to_ascii_lowercase();
    match language.as_str() {
        // `C` and `POSIX` are the locales without a language.
        "c" | "posix" => Some(Lang::En),
        name => Lang::ALL.into_iter().find(|lang| lang.name() == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_on_or_off_or_an_error() {
        for (values, expect) in [
            (["1", "true", "TRUE", "yes", "On"].as_slice(), Some(true)),
            (&["0", "false", "No", "off", ""], Some(false)),
            (&["2", "maybe", " 1", "enabled", "tru"], None),
        ] {
            for value in values {
                assert_eq!(parse_switch(value), expect, "{value:?}");
            }
        }
    }

    #[test]
    fn a_refused_value_is_echoed_escaped_and_at_most_80_characters_of_it() {
        let check = |value: &str, expect: &str| assert_eq!(echo(OsStr::new(value)), expect);
        check("maybe", "maybe");
        check(" 1\n\u{1b}[2J\u{202e}", " 1\\n\\u{1b}[2J\\u{202e}");
        check(&"x".repeat(80), &"x".repeat(80));
        check(&"実".repeat(120_000), &format!("{}…", "実".repeat(80)));
    }

    #[test]
    fn a_language_is_a_tag_or_a_locale() {
        let check = |value, expect| assert_eq!(parse_language(value), expect, "{value:?}");
        check("ja", Some(Lang::Ja));
        check("ja_JP.UTF-8", Some(Lang::Ja));
        check("zh-Hans", Some(Lang::Zh));
        check("EN", Some(Lang::En));
        check("C.UTF-8", Some(Lang::En));
        check("jade", None);
        check("fr", None);
    }
}
