//! Ordinary tools, as models write them, run unchanged.

use serde_json::Value;
use toolcell_host::Outcome;

use crate::fixtures::sandbox::{SandboxFixture, files, read, stem};

#[test]
fn every_good_tool_does_what_its_author_expects() {
    let mut misses = Vec::new();
    for path in files("fixtures/tools", "js") {
        let name = stem(&path);
        let case: Value = serde_json::from_str(&read(path.with_extension("expected.json"))).unwrap();
        let report = SandboxFixture::new().file(&path).run(&case["params"]);
        let expect = &case["expect"];
        let right = match &report.outcome {
            Outcome::Returned(None) => expect["returned"].is_null(),
            Outcome::Returned(Some(value)) => {
                expect.get("returned") == Some(&serde_json::from_str::<Value>(value.as_str()).unwrap())
            }
            Outcome::Threw(thrown) => {
                expect["threw"]["name"] == thrown.name.as_str()
                    && thrown.message.contains(expect["threw"]["message"].as_str().unwrap())
            }
            Outcome::Stopped(_) => false,
        };
        let logs: Vec<Value> = report.logs.iter().map(|log| log.text.clone().into()).collect();
        let logged = case.get("logs").is_none_or(|expected| *expected == Value::from(logs));
        let warned = case.get("warnings").is_none_or(|expected| *expected == report.warnings.len());
        if !right || !logged || !warned {
            misses.push(format!("{name}: {:?} {:?} {:?}", report.outcome, report.logs, report.warnings));
        }
    }
    assert!(misses.is_empty(), "{} tools:\n{}", misses.len(), misses.join("\n"));
}

#[test]
fn the_documents_own_tools_run_as_they_stand() {
    for name in ["string_reverse", "calculate_average", "fetch_json"] {
        assert!(!read(format!("fixtures/tools/{name}.js")).is_empty());
    }
}
