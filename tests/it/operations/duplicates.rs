//! Tools that do the same, whatever they are called: 52 copies that were renamed and rewritten, and 52 look-alikes that sound
//! the same and are not. The last twelve were written before anything was tuned, and are only counted.

use std::path::PathBuf;

use serde_json::Value;

use super::{AUTO, Host};

/// So many of the cases were looked at in tuning.
const TUNED: usize = 40;

/// `original`, `copy`, `lookalike` of each fixture.
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

/// Whether what is made is said to do the same as the original of the case, and what else it is said to be like.
fn alike(host: &Host, tool: &Value, original: &Value) -> (bool, Vec<String>) {
    let created = host.create(tool).unwrap();
    host.toolbox().delete(&super::request(&serde_json::json!({"tool_id": created.id, "confirm": true}))).unwrap();
    let (own, others): (Vec<String>, Vec<String>) = created
        .alike
        .iter()
        .map(|alike| alike.entry.name.to_string())
        .partition(|name| original["name"] == name.as_str());
    (!own.is_empty(), others)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn copies_are_recognised_and_look_alikes_are_not() {
    let host = Host::under(&format!("{AUTO}\n[store]\ntools = 1000"));
    let cases = cases();
    assert_eq!(cases.len(), 52);
    for (_, case) in &cases {
        host.create(&case["original"]).unwrap();
    }
    // Missed copies, and false alarms with tools of other cases, of the first 40 and the rest.
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
