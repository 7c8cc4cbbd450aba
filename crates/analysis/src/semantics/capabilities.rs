//! The capabilities that a source needs from its host: an upper bound of what it uses.
//!
//! Invariant: a name that is only known at run time makes the need `unknown`; it is never left out.

use std::collections::BTreeSet;

use toolcell_tool::{Capabilities, Capability};

use crate::semantics::facts::{Facts, UseKind};
use crate::semantics::network::NETWORK_GLOBALS;
use crate::semantics::value::{AccessPath, Key, Root, Value};
use crate::syntax::position::{LineIndex, byte_range};

/// Collects the capabilities that a source can use.
pub(crate) fn capabilities_of(facts: &Facts) -> Capabilities {
    let mut found = Capabilities::default();
    for call in &facts.calls {
        let Some(thing) = call.callee.as_path() else { continue };
        let first = call.args.first().unwrap_or(&Value::Undefined);
        match capability_of_global(thing) {
            Some(Capability::Net) => {
                let host = call.prefixes.first().and_then(|prefix| host_of_url_prefix(prefix));
                add_need(&mut found, Capability::Net, host);
            }
            // Calls of these capabilities have no names.
            None | Some(Capability::Clock | Capability::Random | Capability::Timers) => {}
            Some(capability) => add_need(&mut found, capability, first.as_text().map(str::to_owned)),
        }
    }
    // `new Date(2024, 0, 1)` reads no clock.
    let reads_clock = facts.calls.iter().any(|call| {
        call.callee.as_path().is_some_and(is_date) && (!call.is_new || call.args.is_empty() && call.prefixes.is_empty())
    });
    for used_here in facts.uses.iter().filter(|used| used.kind != UseKind::TypeTested) {
        match capability_of_global(&used_here.path) {
            Some(Capability::Clock) if is_date(&used_here.path) => {
                if used_here.kind == UseKind::Plain || reads_clock {
                    found.insert(Capability::Clock);
                }
            }
            Some(capability @ (Capability::Clock | Capability::Random | Capability::Timers)) => {
                found.insert(capability);
            }
            // Used as a value: the names that it is called with later are not known.
            Some(capability) if used_here.kind == UseKind::Plain => found.insert_unknown(capability),
            Some(_) | None => {}
        }
    }
    found
}

/// Returns the lines on which a source uses a capability, counted from 1.
pub(crate) fn lines_using_capabilities(facts: &Facts, lines: &LineIndex<'_>) -> BTreeSet<u32> {
    let used = facts.uses.iter().filter(|used| used.kind != UseKind::TypeTested);
    let used = used.filter(|used| capability_of_global(&used.path).is_some());
    used.map(|used| lines.line_of_byte(byte_range(used.span).0)).collect()
}

/// Adds a need for a capability; without a name, the names are only known at run time.
fn add_need(found: &mut Capabilities, capability: Capability, name: Option<String>) {
    match name {
        Some(name) => found.insert_name(capability, name),
        None => found.insert_unknown(capability),
    }
}

/// Returns the capability that a global belongs to.
fn capability_of_global(thing: &AccessPath) -> Option<Capability> {
    if thing.root != Root::Global {
        return None;
    }
    if thing.is_global_below_any(&NETWORK_GLOBALS) {
        return Some(Capability::Net);
    }
    match (thing.keys.first()?.name()?, thing.keys.get(1).and_then(Key::name)) {
        ("setTimeout" | "setInterval" | "sleep", _) | ("AbortSignal", Some("timeout")) => Some(Capability::Timers),
        ("Date", Some("now")) => Some(Capability::Clock),
        ("Date", _) if is_date(thing) => Some(Capability::Clock),
        ("Math", Some("random")) => Some(Capability::Random),
        ("kv", _) => Some(Capability::Kv),
        ("files", _) => Some(Capability::Files),
        ("secret", _) => Some(Capability::Secrets),
        ("tools", _) => Some(Capability::Tools),
        _ => None,
    }
}

fn is_date(thing: &AccessPath) -> bool {
    thing.is_global_below(&["Date"]) && thing.keys.len() == 1
}

/// Returns the host of a URL's known prefix, if the prefix contains all of the host.
fn host_of_url_prefix(prefix: &str) -> Option<String> {
    let (scheme, rest) = prefix.split_once("://")?;
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
        return None;
    }
    let end = rest.find(['/', '?', '#'])?;
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    (!authority.is_empty()).then(|| authority.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_only_known_where_it_ends() {
        assert_eq!(host_of_url_prefix("https://api.example.com/v1/"), Some("api.example.com".to_owned()));
        assert_eq!(host_of_url_prefix("https://api.example.co"), None);
        assert_eq!(host_of_url_prefix("https://user:x@API.example.com:8443/"), Some("api.example.com:8443".to_owned()));
        assert_eq!(host_of_url_prefix("/v1"), None);
    }
}
