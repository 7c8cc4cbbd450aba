//! Scripts of orders.
//!
//! Invariant: each script can be carried out completely, and its orders are one second apart.

use store_worker::{SampleTool, StoreAction, StoreOrder};
use toolcell_tool::Status;

/// A script with every action.
pub(crate) fn full_script() -> Vec<StoreOrder> {
    let name = |name: &str| name.to_owned();
    orders([
        StoreAction::Put(SampleTool::new("sum", 1)),
        StoreAction::Use(name("sum"), None),
        StoreAction::Put(SampleTool::long("mean", 1)),
        StoreAction::Replace(SampleTool::new("sum", 2)),
        StoreAction::Record(name("sum"), name("a receipt")),
        StoreAction::Delete(name("mean")),
        StoreAction::Approve(name("sum"), name("net")),
        StoreAction::Use(name("sum"), Some(name("timeout"))),
        StoreAction::RollBack(name("sum"), 1),
        StoreAction::Undelete(name("mean")),
        StoreAction::Become(name("mean"), Status::Pending),
        StoreAction::Refuse(name("mean"), name("net")),
        StoreAction::Revoke(name("mean")),
        StoreAction::Put(SampleTool::new("max", 1)),
    ])
}

/// A short script for tests with a fault at every point.
pub(crate) fn short_script() -> Vec<StoreOrder> {
    let name = |name: &str| name.to_owned();
    orders([
        StoreAction::Put(SampleTool::new("sum", 1)),
        StoreAction::Use(name("sum"), None),
        StoreAction::Replace(SampleTool::long("sum", 2)),
        StoreAction::Delete(name("sum")),
        StoreAction::Put(SampleTool::new("mean", 1)),
    ])
}

/// Further tools for a store with many.
pub(crate) fn late_script() -> Vec<StoreOrder> {
    let verbs = (1..=4).map(|number| StoreAction::Put(SampleTool::new(format!("new-{number}"), 1)));
    let mut more = orders(verbs);
    // Later than all earlier insertions.
    for order in &mut more {
        order.at += 1_000_000;
    }
    more
}

/// Creates orders that are one second apart.
pub(crate) fn orders(verbs: impl IntoIterator<Item = StoreAction>) -> Vec<StoreOrder> {
    (1_i64..).zip(verbs).map(|(second, verb)| StoreOrder { at: second * 1_000, verb }).collect()
}

/// Creates orders that insert tools with these names.
pub(crate) fn puts(names: impl IntoIterator<Item = String>) -> Vec<StoreOrder> {
    orders(names.into_iter().map(|name| StoreAction::Put(SampleTool::new(name, 1))))
}

/// Returns the names in the orders, each once.
pub(crate) fn names(orders: &[StoreOrder]) -> Vec<String> {
    let mut names: Vec<String> = orders.iter().flat_map(|order| order.verb.names()).collect();
    names.sort();
    names.dedup();
    names
}
