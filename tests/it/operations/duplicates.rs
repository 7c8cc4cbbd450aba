//! Detection of equivalent tools: 52 renamed and rewritten copies, and 52 look-alikes with similar
//! wording and different behavior. The last twelve of each were written before any tuning, and are
//! only counted.

use std::path::PathBuf;

use serde_json::Value;

use super::{AUTO, ToolboxFixture};

/// Number of cases that were used for tuning.
const TUNED: usize = 40;

/// Returns the `original`, `copy` and `lookalike` of each fixture.
fn cases() -> Vec<(String, Value)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/duplicates");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        (
            path.file_stem().unwrap().to_string_lossy().into_owned(),
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(),
        )
    };
    paths.iter().map(read).collect()
}

/// Returns whether a new tool is reported as equivalent to the case's original, and which other
/// tools it is reported as equivalent to.
fn alike(host: &ToolboxFixture, tool: &Value, original: &Value) -> (bool, Vec<String>) {
    let created = host.create(tool).unwrap();
    host.toolbox().delete(&super::request(&serde_json::json!({"tool_id": created.id, "confirm": true}))).unwrap();
    let (own, others): (Vec<String>, Vec<String>) = created
        .equivalent
        .iter()
        .map(|alike| alike.entry.name.to_string())
        .partition(|name| original["name"] == name.as_str());
    (!own.is_empty(), others)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn copies_are_recognised_and_look_alikes_are_not() {
    let host = ToolboxFixture::with_policy(&format!("{AUTO}\n[store]\ntools = 1000"));
    let cases = cases();
    assert_eq!(cases.len(), 52);
    for (_, case) in &cases {
        host.create(&case["original"]).unwrap();
    }
    // Missed copies, and false alarms on tools of other cases: of the first 40 cases and of the
    // rest.
    let mut counts = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for (at, (name, case)) in cases.iter().enumerate() {
        let (missed, alarms) = &mut counts[usize::from(at >= TUNED)];
        let (is_found, more) = alike(&host, &case["copy"], &case["original"]);
        missed.extend((!is_found).then_some(name));
        alarms.extend(more.into_iter().map(|other| format!("{name}: {other}")));
        let (is_found, more) = alike(&host, &case["lookalike"], &case["original"]);
        alarms.extend(is_found.then(|| name.clone()));
        alarms.extend(more.into_iter().map(|other| format!("{name}: {other}")));
    }
    for (half, cases, (missed, alarms)) in
        [("tuning", TUNED, &counts[0]), ("checking", cases.len() - TUNED, &counts[1])]
    {
        println!(
            "{half}: of {cases} copies missed {missed:?}, of {cases} look-alikes and other tools alarms {alarms:?}"
        );
    }
    for ((missed, alarms), most) in counts.iter().zip([2, 1]) {
        assert!(missed.len() <= most, "recall of less than 0.95: {missed:?}");
        assert!(alarms.len() <= most, "more false alarms than 0.05: {alarms:?}");
    }
}
