//! What the comparison of tools costs: it has fuel, which pays for calls of the tools and for checks of their parameters.

use serde_json::json;

use crate::operations::{AUTO, Host};

/// The tools that a copy of the tool `one` is said to do the same as. No text that either takes may match this pattern.
fn found_where_texts_do_not_match(pattern: &str) -> Vec<String> {
    let host = Host::under(AUTO);
    let make = |name: &str| {
        let text = json!({ "type": "string", "minLength": 4_000, "not": { "pattern": pattern } });
        let parameters = json!({ "type": "object", "properties": { "text": text }, "required": ["text"] });
        let code = format!("const execute = ({{ text }}) => text.indexOf('a') // {name}");
        let fields = json!({ "name": name, "description": "Finds a letter", "code": code, "parameters": parameters });
        host.create(&fields).unwrap()
    };
    make("one");
    make("other").alike.iter().map(|alike| alike.entry.name.to_string()).collect()
}

#[test]
fn the_fuel_of_a_comparison_pays_for_the_checks_of_parameters() {
    assert_eq!(found_where_texts_do_not_match("^#$"), ["one"]);
    // A check counts for 1,200,000 steps or more, which are 60,000,000 units of fuel: of the 20,000,000,000 units that a comparison
    // has, nothing is left after some 330 of nearly 1,000 inputs of the first tool. As no text has a `#`, the match itself is fast.
    let none: Vec<String> = Vec::new();
    assert_eq!(found_where_texts_do_not_match("(a|b)*a(a|b){600}#"), none);
}
