//! Many tools: each is listed once and found.

use store_worker::{StoreReply, StoreWorker, SyncMode};
use toolcell_store::{Cursor, Filter, Order, Store, ToolRef};

use super::{scratch, scripts, torture};

/// Returns the names on all pages, in order.
fn listed(store: &Store, order: Order, limit: usize, total: usize) -> Vec<String> {
    let mut filter = Filter { order, limit, ..Filter::default() };
    let mut names = Vec::new();
    loop {
        let page = store.catalog().list(&filter).unwrap();
        assert!(page.entries.len() <= limit);
        assert_eq!(page.total, total as u64);
        names.extend(page.entries.iter().map(|entry| entry.name.to_string()));
        let Some(next) = page.next else { return names };
        // Clients receive cursors as text.
        filter.after = Some(Cursor::parse(&next.to_string()).unwrap());
    }
}

#[test]
fn thousands_of_tools_are_each_found_and_listed_once() {
    let total = if torture() { 50_000 } else { 5_000 };
    let folder = scratch();
    let mut worker = StoreWorker::new(folder.path(), SyncMode::Unsynced);
    let mut names: Vec<String> = (0..total).map(|number| format!("tool-{number:05}")).collect();
    for order in scripts::puts(names.clone()) {
        assert_eq!(worker.perform(&order), StoreReply::Done);
    }
    let store = worker.store().unwrap();
    for name in &names {
        let entry = store.catalog().find(&ToolRef::parse(name).unwrap()).unwrap();
        assert_eq!((entry.name.as_str(), store.catalog().spec(&entry).unwrap().id()), (name.as_str(), entry.id));
    }
    for order in Order::ALL {
        let mut listed = listed(store, order, 999, total);
        listed.sort();
        assert_eq!(listed, names, "{}", order.name());
    }
    assert_eq!(listed(store, Order::Name, 1_000, total), names);
    names.reverse();
    assert_eq!(listed(store, Order::Created, 100, total), names, "the newest comes first");
}
