//! What clerks are told.
//!
//! Invariant: each script can be carried out from its first order to its last, and time goes on by a second from one to
//! the next.

use clerk::{Order, Sample, Verb};
use toolcell_tool::Status;

/// Everything that can be asked of a store, in one life.
pub(crate) fn life() -> Vec<Order> {
    let name = |name: &str| name.to_owned();
    orders([
        Verb::Put(Sample::new("sum", 1)),
        Verb::Use(name("sum"), None),
        Verb::Put(Sample::long("mean", 1)),
        Verb::Replace(Sample::new("sum", 2)),
        Verb::Record(name("sum"), name("a receipt")),
        Verb::Delete(name("mean")),
        Verb::Approve(name("sum"), name("net")),
        Verb::Use(name("sum"), Some(name("timeout"))),
        Verb::RollBack(name("sum"), 1),
        Verb::Undelete(name("mean")),
        Verb::Become(name("mean"), Status::Pending),
        Verb::Refuse(name("mean"), name("net")),
        Verb::Revoke(name("mean")),
        Verb::Put(Sample::new("max", 1)),
    ])
}

/// What is told a clerk again and again while everything fails.
pub(crate) fn short_life() -> Vec<Order> {
    let name = |name: &str| name.to_owned();
    orders([
        Verb::Put(Sample::new("sum", 1)),
        Verb::Use(name("sum"), None),
        Verb::Replace(Sample::long("sum", 2)),
        Verb::Delete(name("sum")),
        Verb::Put(Sample::new("mean", 1)),
    ])
}

/// A few more tools, in a store that has many.
pub(crate) fn more() -> Vec<Order> {
    let verbs = (1..=4).map(|number| Verb::Put(Sample::new(format!("new-{number}"), 1)));
    let mut more = orders(verbs);
    // It is later than all that was put before.
    for order in &mut more {
        order.at += 1_000_000;
    }
    more
}

/// Orders, a second apart.
pub(crate) fn orders(verbs: impl IntoIterator<Item = Verb>) -> Vec<Order> {
    (1_i64..).zip(verbs).map(|(second, verb)| Order { at: second * 1_000, verb }).collect()
}

/// Puts with these names.
pub(crate) fn puts(names: impl IntoIterator<Item = String>) -> Vec<Order> {
    orders(names.into_iter().map(|name| Verb::Put(Sample::new(name, 1))))
}

/// The names that some orders are about, each once.
pub(crate) fn names(orders: &[Order]) -> Vec<String> {
    let mut names: Vec<String> = orders.iter().flat_map(|order| order.verb.names()).collect();
    names.sort();
    names.dedup();
    names
}
