//! Where something is sent: to a place that the source names, or to one that the caller gives.

use crate::rules::flow::{At, Call, Flow, Key, Kind};
use crate::rules::network_access::{GLOBALS, is_network};
use crate::value::{Root, Thing};

/// How far an address is followed through names and calls.
const STEPS: u32 = 10;

/// Whether a thing reaches the network.
pub(super) fn is_way_out(thing: &Thing) -> bool {
    match &thing.root {
        Root::Global => thing.is_global_below_any(&GLOBALS),
        Root::Module(_) => thing.module().is_some_and(is_network),
        _ => false,
    }
}

/// Whether an expression begins with an address that the source names.
pub(super) fn is_named(flow: &Flow<'_>, at: At) -> bool {
    flow.ask();
    is_address(&prefix(flow, at, STEPS).0)
}

fn is_address(text: &str) -> bool {
    let rest = text.split_once("://").map(|(_, rest)| rest).or_else(|| text.strip_prefix("//"));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_alphanumeric() || first == '['))
}

/// Whether a call of a module or of a global says itself where it goes.
pub(super) fn names_place(flow: &Flow<'_>, call: &Call, module: bool) -> bool {
    match call.args.first() {
        Some(first) if is_named(flow, *first) => true,
        _ if module => call.args.iter().any(|arg| names_host(flow, *arg, STEPS)),
        _ => false,
    }
}

/// Whether an argument has the name of a host in it: `"evil.example"`, `{ hostname: "evil.example" }`.
pub(super) fn names_host(flow: &Flow<'_>, at: At, steps: u32) -> bool {
    if steps == 0 || !flow.looks() {
        return false;
    }
    let node = &flow.nodes[at];
    if let Some(text) = node.value.as_text() {
        return is_host(text);
    }
    match &node.kind {
        Kind::Object(props) => props.iter().any(|(key, value)| {
            matches!(key, Key::Named(name) if matches!(&**name,
                "host" | "hostname" | "url" | "uri" | "baseURL" | "prefixUrl" | "origin" | "to" | "address"))
                && names_host(flow, *value, steps - 1)
        }),
        Kind::Joined(parts) => parts.iter().any(|part| flow.nodes[*part].value.as_text().is_some_and(is_host)),
        Kind::Name(slot) => flow.origins(*slot).take(8).any(|from| names_host(flow, from, steps - 1)),
        Kind::Call(call) => call.returns.iter().chain(call.args.first()).any(|from| names_host(flow, *from, steps - 1)),
        Kind::Either(parts) => parts.iter().any(|part| names_host(flow, *part, steps - 1)),
        _ => false,
    }
}

/// `name.tld`, somewhere in a text.
fn is_host(text: &str) -> bool {
    text.split('.').skip(1).any(|after| after.starts_with(|first: char| first.is_ascii_alphanumeric()))
        && !text.contains(' ')
}

/// The text that an expression certainly begins with, and whether that is all of it.
fn prefix(flow: &Flow<'_>, at: At, steps: u32) -> (String, bool) {
    let nothing = (String::new(), false);
    if steps == 0 || !flow.looks() {
        return nothing;
    }
    let node = &flow.nodes[at];
    if let Some(text) = node.value.as_text() {
        return (text.to_owned(), true);
    }
    let best = |places: &mut dyn Iterator<Item = At>| {
        let mut prefixes = places.take(8).map(|place| prefix(flow, place, steps - 1));
        prefixes.find(|(text, _)| is_address(text))
    };
    match &node.kind {
        Kind::Joined(parts) | Kind::List(parts) => {
            let mut text = String::new();
            for part in parts {
                let (more, whole) = prefix(flow, *part, steps - 1);
                text.push_str(&more);
                if !whole || text.len() > 200 {
                    return (text, false);
                }
            }
            (text, true)
        }
        Kind::Name(slot) => match best(&mut flow.origins(*slot)) {
            Some((text, _)) => (text, false),
            // A part of an address, such as its scheme.
            None => flow.origins(*slot).next().map_or(nothing, |from| prefix(flow, from, steps - 1)),
        },
        Kind::Either(parts) => best(&mut parts.iter().copied()).unwrap_or(nothing),
        Kind::Param(_, inputs) => best(&mut inputs.iter().copied()).unwrap_or(nothing),
        Kind::Element(list) => match &flow.nodes[*list].kind {
            Kind::List(parts) => best(&mut parts.iter().copied()).unwrap_or(nothing),
            _ => nothing,
        },
        Kind::Member(object, Key::Named(name)) => {
            let own = flow.field(name).and_then(|slot| best(&mut flow.origins(slot)));
            own.unwrap_or_else(|| match &**name {
                "href" | "searchParams" | "0" => (prefix(flow, *object, steps - 1).0, false),
                _ => nothing,
            })
        }
        Kind::Object(props) => {
            let mut url = props.iter().filter_map(|(key, value)| match key {
                Key::Named(name) if matches!(&**name, "url" | "href" | "baseURL" | "uri") => Some(*value),
                _ => None,
            });
            best(&mut url).unwrap_or(nothing)
        }
        Kind::Call(call) => {
            let mut from =
                call.returns.iter().chain(&call.callbacks).chain(call.receiver.iter()).chain(call.args.iter().take(2));
            best(&mut from.by_ref().copied()).map_or(nothing, |(text, _)| (text, false))
        }
        _ => nothing,
    }
}
