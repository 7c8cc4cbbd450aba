//! The cost of comparing tools: calls of the tools and parameter checks are charged to the fuel of
//! the comparison.

use serde_json::json;

use crate::operations::{AUTO, ToolboxFixture};

/// Returns the tools that are reported as equivalent to a copy of the tool `one`. Both accept only
/// texts that do not match the pattern.
fn found_where_texts_do_not_match(pattern: &str) -> Vec<String> {
    let host = ToolboxFixture::with_policy(AUTO);
    let make = |name: &str| {
        let text = json!({ "type": "string", "minLength": 4_000, "not": { "pattern": pattern } });
        let parameters = json!({ "type": "object", "properties": { "text": text }, "required": ["text"] });
        let code = format!("const execute = ({{ text }}) => text.indexOf('a') // {name}");
        let fields = json!({ "name": name, "description": "Finds a letter", "code": code, "parameters": parameters });
        host.create(&fields).unwrap()
    };
    make("one");
    make("other").equivalent.iter().map(|alike| alike.entry.name.to_string()).collect()
}

#[test]
fn the_fuel_of_a_comparison_pays_for_the_checks_of_parameters() {
    assert_eq!(found_where_texts_do_not_match("^#$"), ["one"]);
    // A check costs at least 1,200,000 steps, or 60,000,000 units of fuel. Of the 20,000,000,000
    // units of a comparison nothing is left after some 330 of nearly 1,000 inputs of the first
    // tool. No text contains a `#`, so the match itself is fast.
    let none: Vec<String> = Vec::new();
    assert_eq!(found_where_texts_do_not_match("(a|b)*a(a|b){600}#"), none);
}
