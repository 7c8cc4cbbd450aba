//! The sinks: network operations whose address is a constant of the source, not a value of the
//! caller.

use crate::semantics::dataflow::{Call, DataFlow, MemberKey, NodeId, NodeKind};
use crate::semantics::network::{NETWORK_GLOBALS, is_network};
use crate::semantics::value::{AccessPath, Root};

/// The maximum number of names and calls through which an address is followed.
const MAX_STEPS: u32 = 10;

/// Returns whether an access path reaches the network.
pub(super) fn is_network_sink(thing: &AccessPath) -> bool {
    match &thing.root {
        Root::Global => thing.is_global_below_any(&NETWORK_GLOBALS),
        Root::Module(_) => thing.module_name().is_some_and(is_network),
        _ => false,
    }
}

/// Returns whether an expression starts with an address in the source.
pub(super) fn is_literal_address(flow: &DataFlow<'_>, at: NodeId) -> bool {
    flow.begin_query();
    is_address(&literal_prefix(flow, at, MAX_STEPS).0)
}

fn is_address(text: &str) -> bool {
    let rest = text.split_once("://").map(|(_, rest)| rest).or_else(|| text.strip_prefix("//"));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_alphanumeric() || first == '['))
}

/// Returns whether the arguments of a call name its destination. Of calls of modules, any argument
/// may name the host.
pub(super) fn names_destination(flow: &DataFlow<'_>, call: &Call, module: bool) -> bool {
    match call.args.first() {
        Some(first) if is_literal_address(flow, *first) => true,
        _ if module => call.args.iter().any(|arg| names_host(flow, *arg, MAX_STEPS)),
        _ => false,
    }
}

/// Returns whether an argument contains a host name: `"evil.example"`,
/// `{ hostname: "evil.example" }`.
pub(super) fn names_host(flow: &DataFlow<'_>, at: NodeId, steps: u32) -> bool {
    if steps == 0 || !flow.take_query_step() {
        return false;
    }
    let node = &flow.nodes[at];
    if let Some(text) = node.value.as_text() {
        return is_host(text);
    }
    match &node.kind {
        NodeKind::Object(props) => props.iter().any(|(key, value)| {
            matches!(key, MemberKey::Named(name) if matches!(&**name,
                "host" | "hostname" | "url" | "uri" | "baseURL" | "prefixUrl" | "origin" | "to" | "address"))
                && names_host(flow, *value, steps - 1)
        }),
        NodeKind::Concat(parts) => parts.iter().any(|part| flow.nodes[*part].value.as_text().is_some_and(is_host)),
        NodeKind::Name(slot) => flow.assigned_values(*slot).take(8).any(|from| names_host(flow, from, steps - 1)),
        NodeKind::Call(call) => {
            call.returns.iter().chain(call.args.first()).any(|from| names_host(flow, *from, steps - 1))
        }
        NodeKind::OneOf(parts) => parts.iter().any(|part| names_host(flow, *part, steps - 1)),
        _ => false,
    }
}

/// Returns whether a text contains `name.tld`.
fn is_host(text: &str) -> bool {
    text.split('.').skip(1).any(|after| after.starts_with(|first: char| first.is_ascii_alphanumeric()))
        && !text.contains(' ')
}

/// Returns the known prefix of an expression, and whether it is the whole text.
fn literal_prefix(flow: &DataFlow<'_>, at: NodeId, steps: u32) -> (String, bool) {
    let nothing = (String::new(), false);
    if steps == 0 || !flow.take_query_step() {
        return nothing;
    }
    let node = &flow.nodes[at];
    if let Some(text) = node.value.as_text() {
        return (text.to_owned(), true);
    }
    let best = |places: &mut dyn Iterator<Item = NodeId>| {
        let mut prefixes = places.take(8).map(|place| literal_prefix(flow, place, steps - 1));
        prefixes.find(|(text, _)| is_address(text))
    };
    match &node.kind {
        NodeKind::Concat(parts) | NodeKind::List(parts) => {
            let mut text = String::new();
            for part in parts {
                let (more, whole) = literal_prefix(flow, *part, steps - 1);
                text.push_str(&more);
                if !whole || text.len() > 200 {
                    return (text, false);
                }
            }
            (text, true)
        }
        NodeKind::Name(slot) => match best(&mut flow.assigned_values(*slot)) {
            Some((text, _)) => (text, false),
            // A part of an address, such as its scheme.
            None => flow.assigned_values(*slot).next().map_or(nothing, |from| literal_prefix(flow, from, steps - 1)),
        },
        NodeKind::OneOf(parts) => best(&mut parts.iter().copied()).unwrap_or(nothing),
        NodeKind::Param(_, inputs) => best(&mut inputs.iter().copied()).unwrap_or(nothing),
        NodeKind::Element(list) => match &flow.nodes[*list].kind {
            NodeKind::List(parts) => best(&mut parts.iter().copied()).unwrap_or(nothing),
            _ => nothing,
        },
        NodeKind::Member(object, MemberKey::Named(name)) => {
            let own = flow.field_var(name).and_then(|slot| best(&mut flow.assigned_values(slot)));
            own.unwrap_or_else(|| match &**name {
                "href" | "searchParams" | "0" => (literal_prefix(flow, *object, steps - 1).0, false),
                _ => nothing,
            })
        }
        NodeKind::Object(props) => {
            let mut url = props.iter().filter_map(|(key, value)| match key {
                MemberKey::Named(name) if matches!(&**name, "url" | "href" | "baseURL" | "uri") => Some(*value),
                _ => None,
            });
            best(&mut url).unwrap_or(nothing)
        }
        NodeKind::Call(call) => {
            let mut from =
                call.returns.iter().chain(&call.callbacks).chain(call.receiver.iter()).chain(call.args.iter().take(2));
            best(&mut from.by_ref().copied()).map_or(nothing, |(text, _)| (text, false))
        }
        _ => nothing,
    }
}
