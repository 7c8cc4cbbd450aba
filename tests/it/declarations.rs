//! Declarations of the tools of real servers: `fixtures/servers/definitions`.

use std::fs;

use serde_json::Value;
use toolcell_dts::{Detail, FunctionSchema, server_interface};

use crate::fixtures::sandbox::{files, root};

/// Set to 1 to write the declarations instead of comparing them.
const UPDATE: &str = "TOOLCELL_UPDATE_DTS";

/// The number of recorded tools.
const TOOLS: usize = 236;

/// Returns the recorded definitions of each server.
fn servers() -> Vec<(String, Vec<Value>)> {
    let recorded = files("fixtures/servers/definitions", "json");
    let read = |path: std::path::PathBuf| {
        let recorded: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, recorded["tools"].as_array().unwrap().clone())
    };
    recorded.into_iter().map(read).collect()
}

fn function(tool: &Value) -> FunctionSchema<'_> {
    FunctionSchema {
        name: tool["name"].as_str().unwrap(),
        description: tool["description"].as_str().unwrap_or_default(),
        input: &tool["inputSchema"],
        output: tool.get("outputSchema"),
    }
}

fn declared(name: &str, tools: &[Value], detail: Detail) -> String {
    let functions: Vec<FunctionSchema<'_>> = tools.iter().map(function).collect();
    server_interface(name, &functions, detail).unwrap()
}

#[test]
fn the_declarations_of_real_servers_are_as_reviewed() {
    let mut count = 0;
    for (name, tools) in servers() {
        count += tools.len();
        for (detail, ending) in [(Detail::Full, "d.ts"), (Detail::Brief, "brief.d.ts")] {
            let declared = declared(&name, &tools, detail);
            let path = root().join(format!("fixtures/servers/definitions/{name}.{ending}"));
            if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
                fs::write(&path, &declared).unwrap();
            }
            let reviewed = fs::read_to_string(&path).unwrap_or_default();
            assert!(declared == reviewed, "{} is out of date: {UPDATE}=1 writes it", path.display());
        }
    }
    assert_eq!(count, TOOLS);
}

#[test]
fn a_hundred_tools_fit_into_a_context() {
    let bytes = |detail| -> usize {
        servers().iter().map(|(name, tools)| declared(name, tools, detail).len()).sum::<usize>() * 100 / TOOLS
    };
    // `tests/interop/declarations.mjs` counts the tokens: 13,000 and 7,000 at most.
    assert!(bytes(Detail::Full) <= 56_000, "{}", bytes(Detail::Full));
    assert!(bytes(Detail::Brief) <= 29_000, "{}", bytes(Detail::Brief));
}
