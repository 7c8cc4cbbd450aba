//! The URL class of the WHATWG standard, on top of the `url` crate and with what the crate does not do yet.
//!
//! Invariant: a text that comes out of here means the same wherever it is parsed again: a path never turns into a host.
//! The host parses what it connects to by itself, and with the crate alone: a URL that only this module accepts (a label
//! that begins with `xn--` and is not Punycode) is refused there, and `absolute` refuses it before anything is sent.

use javy::quickjs::convert::List;
use javy::quickjs::function::Opt;
use url::{ParseError, Position, Url, quirks};

/// What stands for the two hyphens of an ACE prefix (`xn--`) while the crate, which validates such labels, is at work.
/// The standard takes a domain in ASCII as it is. Letters and digits are treated as the hyphens are wherever they stand.
const HYPHENS: &str = "q0toolcell0ace0q";

/// The parts of a URL in the order that the prelude's class knows them.
type Parts = Vec<String>;

/// Parses a URL as the WHATWG URL standard says, against a base if there is one.
pub(crate) fn parse(href: String, base: Opt<Option<String>>) -> Option<Parts> {
    let base = base.0.flatten();
    match parsed(&href, base.as_deref()) {
        Ok(url) => Some(parts(&url)),
        Err(ParseError::IdnaError) => {
            let base = base.as_deref().map_or(Some(None), |base| masked(base).map(Some))?;
            let url = parsed(&masked(&href)?, base.as_deref()).ok()?;
            Some(unmasked(parts(&url)))
        }
        Err(_) => None,
    }
}

/// An absolute URL as the standard writes it, and whether it has a user name or a password.
pub(crate) fn absolute(href: String) -> Option<List<(String, bool)>> {
    let url = parsed(&href, None).ok()?;
    let has_credentials = !url.username().is_empty() || url.password().is_some_and(|password| !password.is_empty());
    Some(List((String::from(url), has_credentials)))
}

/// One of the setters of the WHATWG URL class. A value that the standard ignores changes nothing.
pub(crate) fn set(href: String, part: String, value: String) -> Option<Parts> {
    if part == "href" {
        return parse(value, Opt(None));
    }
    let Ok(url) = Url::parse(&href) else {
        let url = Url::parse(&masked(&href)?).ok()?;
        if has_mask(&value) {
            return Some(unmasked(parts(&url)));
        }
        // Of a host that cannot be masked the crate validates the labels, as the standard does.
        let value = masked(&value).unwrap_or(value);
        return Some(unmasked(parts(&changed(url, &part, &value))));
    };
    let names_host = part == "host" || part == "hostname";
    if names_host && has_ace_prefix(&value) && !is_valid_host(&value) {
        let masked = masked(&href).and_then(|href| Url::parse(&href).ok()).zip(masked_host(&value));
        if let Some((url, value)) = masked {
            return Some(unmasked(parts(&changed(url, &part, &value))));
        }
    }
    Some(parts(&changed(url, &part, &value)))
}

/// The parts of a URL in the order that the prelude's class knows them.
fn parts(url: &Url) -> Parts {
    [
        quirks::href(url),
        &origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The origin of a URL. Of the URLs within a `blob:` URL only those of the web have one.
fn origin(url: &Url) -> String {
    if url.scheme() == "blob" {
        let inner = Url::parse(url.path()).ok().filter(|inner| matches!(inner.scheme(), "http" | "https"));
        return inner.map_or_else(|| "null".to_owned(), |inner| quirks::origin(&inner));
    }
    quirks::origin(url)
}

fn parsed(href: &str, base: Option<&str>) -> Result<Url, ParseError> {
    let base = base.map(|base| Url::parse(base).map(conforming)).transpose()?;
    if let Some(text) = base.as_ref().and_then(|base| without_base(href, base)) {
        return Url::parse(&text).map(conforming);
    }
    Url::options().base_url(base.as_ref()).parse(href).map(conforming)
}

/// The absolute form of a reference that begins with two slashes, against a base of the web. However many slashes follow,
/// what comes after them is the host; the crate takes more than two for an empty one.
fn without_base(href: &str, base: &Url) -> Option<String> {
    let text = trimmed(href);
    let mut first = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    let is_slash = |c: Option<char>| matches!(c, Some('/' | '\\'));
    let has_authority = is_slash(first.next()) && is_slash(first.next());
    (has_authority && is_special(base) && base.scheme() != "file").then(|| format!("{}:{text}", base.scheme()))
}

/// A text without the spaces and control characters that no URL begins or ends with.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

fn is_special(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp" | "file")
}

fn changed(mut url: Url, part: &str, value: &str) -> Url {
    match part {
        "protocol" => drop(quirks::set_protocol(&mut url, value)),
        "username" => drop(quirks::set_username(&mut url, value)),
        "password" => drop(quirks::set_password(&mut url, value)),
        "host" => drop(quirks::set_host(&mut url, value)),
        "hostname" => drop(quirks::set_hostname(&mut url, value)),
        "port" => drop(quirks::set_port(&mut url, value)),
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        "hash" => quirks::set_hash(&mut url, value),
        _ => {}
    }
    conforming(url)
}

/// The URL as the standard writes it, where the crate differs.
fn conforming(mut url: Url) -> Url {
    if url.cannot_be_a_base() {
        // The last space before a query or a fragment would be lost with them.
        let path = url.path();
        if path.ends_with(' ') && (url.query().is_some() || url.fragment().is_some()) {
            let rest = &url[Position::AfterPath..];
            return reparsed(format!("{}:{}%20{rest}", url.scheme(), &path[..path.len() - 1]), url);
        }
        return url;
    }
    if url.path().contains('^') {
        let path = url.path().replace('^', "%5E");
        url.set_path(&path);
    }
    if is_special(&url) {
        return url;
    }
    // Without a host a path that begins with two slashes is written after `/.`, or it would be read as a host.
    let before = &url[..Position::BeforeHost];
    let has_authority = before.len() > url.scheme().len() + 1;
    let dot = if !has_authority && url.path().starts_with("//") { "/." } else { "" };
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let text = format!("{before}{host}{dot}{}{}", url.path(), &url[Position::AfterPath..]);
    if text == url.as_str() { url } else { reparsed(text, url) }
}

fn reparsed(text: String, url: Url) -> Url {
    Url::parse(&text).unwrap_or(url)
}

// --- Labels that begin with the ACE prefix ---

fn has_ace_prefix(text: &str) -> bool {
    text.as_bytes().windows(4).any(|four| four.eq_ignore_ascii_case(b"xn--"))
}

/// Whether the crate takes this value of the setters `host` and `hostname`.
fn is_valid_host(value: &str) -> bool {
    Url::parse(&format!("http://{value}/")).is_ok()
}

/// The text with its ACE prefixes masked, if it has any and its host is certain to be in ASCII: of another host each label
/// is validated.
fn masked(text: &str) -> Option<String> {
    let mut rest = trimmed(text);
    let scheme = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
    if let Some(end) = scheme.filter(|end| rest[*end..].starts_with(':')) {
        rest = &rest[end + 1..];
    } else if !rest.starts_with(['/', '\\']) {
        // A path, which names no host.
        return mask(text);
    }
    let authority = rest.trim_start_matches(['/', '\\']);
    let end = authority.find(['/', '\\', '?', '#']).unwrap_or(authority.len());
    is_plain(&authority[..end]).then(|| mask(text)).flatten()
}

/// The same of a value of the setters `host` and `hostname`.
fn masked_host(value: &str) -> Option<String> {
    is_plain(value).then(|| mask(value)).flatten()
}

/// Whether no character of an authority stands for one beyond ASCII.
fn is_plain(authority: &str) -> bool {
    authority.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%')
}

fn has_mask(text: &str) -> bool {
    text.to_ascii_lowercase().contains(HYPHENS)
}

fn mask(text: &str) -> Option<String> {
    if has_mask(text) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + HYPHENS.len());
    let mut copied = 0;
    for (at, four) in text.as_bytes().windows(4).enumerate() {
        if four.eq_ignore_ascii_case(b"xn--") && at >= copied {
            out.push_str(&text[copied..at + 2]);
            out.push_str(HYPHENS);
            copied = at + 4;
        }
    }
    out.push_str(&text[copied..]);
    Some(out)
}

fn unmasked(parts: Parts) -> Parts {
    parts.into_iter().map(|part| part.replace(HYPHENS, "--")).collect()
}
