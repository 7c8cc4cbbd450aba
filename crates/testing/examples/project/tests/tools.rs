//! The tools of the shop, tested in Rust: `cargo test`, or `cargo nextest run`.

use serde_json::json;
use toolcell_testing::cases;
use toolcell_testing::harness::{at_least, fetch, fuel, memory, tool};

const ORDER: &str = "tools/order_total.ts";

cases! {
    tool(ORDER);
    one_item: { "items": [{ "sku": "tea", "price": 2.5, "count": 2 }] } => returns(json!({ "total": 5, "discount": 0 }));
    many_items_stay_cheap: { "items": [{ "sku": "tea", "price": 1, "count": 1 }, { "sku": "cup", "price": 2, "count": 2 }] }
        => returns(json!({ "total": 5, "discount": 0 })) within(fuel(5_000_000)) within(memory(16 << 20));
    an_empty_order_is_none: { "items": [] } => throws("RangeError", "at least one item");
}

#[test]
fn a_discount_is_asked_for_once() {
    let customer = "https://shop.example/customers/c42";
    let checked = tool(ORDER)
        .given(json!({ "items": [{ "sku": "tea", "price": 10, "count": 1 }], "customer": "c42" }))
        .answering(fetch(customer).with(json!({ "discount": 5 })))
        .returns_where("$.total", at_least(9.5))
        .asks_for([format!("fetch GET {customer}").as_str()])
        .check();
    assert_eq!(checked.value().map(|value| value["discount"].clone()), Some(json!(5)));
}

#[test]
fn a_customer_that_nobody_knows_has_no_discount() {
    tool(ORDER)
        .given(json!({ "items": [{ "sku": "tea", "price": 10, "count": 1 }], "customer": "c0" }))
        .answering(fetch("https://shop.example/customers/c0").status(404))
        .returns(json!({ "total": 10, "discount": 0 }))
        .check();
}
