//! The sources: the environment, cookies, files, and parameters whose names denote secrets.

use smallvec::SmallVec;

use crate::semantics::value::{AccessPath, Root};

/// Globals whose members are all sensitive.
const SENSITIVE_GLOBALS: [&[&str]; 9] = [
    &["process", "env"],
    &["Deno", "env"],
    &["Bun", "env"],
    &["document", "cookie"],
    &["cookieStore"],
    &["localStorage"],
    &["sessionStorage"],
    &["navigator", "clipboard"],
    &["navigator", "credentials"],
];

/// Returns whether an access path is sensitive.
pub(super) fn is_sensitive(thing: &AccessPath) -> bool {
    if thing.last_name().is_some_and(is_harmless_member) {
        return false;
    }
    let environment =
        thing.module_name() == Some("process") && thing.keys.first().and_then(|key| key.name()) == Some("env");
    if environment || thing.is_global_below_any(&SENSITIVE_GLOBALS) {
        return thing.last_name() != Some("NODE_ENV");
    }
    thing.root == Root::Params
        && thing.keys.iter().rev().enumerate().any(|(up, key)| {
            key.name().is_some_and(|name| if up == 0 { is_secret_name(name) } else { is_secret_group(name) })
        })
}

/// Returns whether a call returns the content of a file.
pub(super) fn reads_file(thing: &AccessPath) -> bool {
    let reading = || {
        thing.last_name().is_some_and(|last| {
            let last = last.to_ascii_lowercase();
            (last.starts_with("read") || last == "createreadstream") && !last.starts_with("readdir")
        })
    };
    if thing.module_name().is_some_and(|module| module == "fs" || module.starts_with("fs/") || module == "fs-extra") {
        return reading();
    }
    thing.is_global_below_any(&[&["Deno"], &["Bun"]]) && (reading() || thing.last_name() == Some("file"))
}

/// Returns whether a member reveals little about its object.
pub(super) fn is_harmless_member(name: &str) -> bool {
    matches!(name, "length" | "size" | "byteLength" | "type" | "kind" | "constructor")
}

/// Returns whether the members of a parameter with this name are secrets.
fn is_secret_group(name: &str) -> bool {
    matches!(
        name,
        "credentials" | "credential" | "secrets" | "creditCard" | "credit_card" | "passwords" | "login_credentials"
    )
}

/// Returns whether the name of a parameter denotes a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let words = split_words(name);
    let words: SmallVec<[&str; 8]> = words.split_whitespace().collect();
    let Some((last, before)) = words.split_last() else { return false };
    let previous = before.last().copied().unwrap_or_default();
    // A flag, a check or a count is not the secret itself.
    if matches!(words[0], "has" | "is" | "show" | "hide" | "max" | "min" | "num" | "count" | "needs" | "requires") {
        return false;
    }
    match *last {
        "password" | "passwords" | "passwd" | "pwd" | "passphrase" | "passcode" | "secret" | "secrets"
        | "credential" | "credentials" | "apikey" | "apikeys" | "mnemonic" | "ssn" | "pin" | "cvv" | "cvc" | "otp"
        | "jwt" | "creditcard" | "cardnumber" | "accesstoken" | "authtoken" | "sessiontoken" | "privatekey"
        | "secretkey" | "seedphrase" | "passwort" | "kennwort" => true,
        "token" | "tokens" => {
            !matches!(
                previous,
                "page"
                    | "next"
                    | "continuation"
                    | "cursor"
                    | "stop"
                    | "start"
                    | "end"
                    | "sync"
                    | "delta"
                    | "pad"
                    | "eos"
                    | "bos"
                    | "unknown"
                    | "input"
                    | "output"
                    | "prompt"
                    | "completion"
                    | "syntax"
                    | "resume"
                    | "design"
            ) && (*last == "token" || !previous.is_empty())
        }
        "key" | "keys" => matches!(
            previous,
            "api"
                | "private"
                | "secret"
                | "access"
                | "auth"
                | "signing"
                | "encryption"
                | "master"
                | "ssh"
                | "service"
                | "wallet"
                | "recovery"
        ),
        "number" => matches!(previous, "card" | "ssn" | "security" | "passport"),
        "card" => matches!(previous, "credit" | "debit"),
        "phrase" => matches!(previous, "seed" | "pass" | "recovery" | "mnemonic"),
        "code" => matches!(previous, "security" | "otp" | "pin" | "cvv"),
        "cookie" | "cookies" => matches!(previous, "session" | "auth" | "login"),
        "id" => previous == "session",
        _ => false,
    }
}

/// Returns the words of a name, separated by spaces: `cardToken`, `card_token` and `CARD_TOKEN`
/// have two.
fn split_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && lower) {
            words.push(' ');
        }
        if letter.is_alphabetic() {
            words.extend(letter.to_lowercase());
        }
        lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words
}
