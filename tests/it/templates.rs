//! The templates of reflection: each does what it says, and none is proposed for a task that it does not do.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolcell::proof::CheckStatus;
use toolcell::reflection::ProposalKind;
use toolcell::{Budget, CallContext, Draft, Outcome, Params, Precheck, VerifyOptions};

use crate::operations::{AUTO, ToolboxFixture, request, returned_value};

/// The folder of the templates.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/reflection/templates")
}

/// A template's name, its code, and what its file says.
fn templates() -> Vec<(String, String, Value)> {
    let mut templates: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let about = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let code = fs::read_to_string(path.with_extension("ts")).unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), code, about)
        })
        .collect();
    templates.sort_by(|one, other| one.0.cmp(&other.0));
    templates
}

/// Returns the request that creates the tool of a template.
fn create_request(name: &str, code: &str, about: &Value) -> Value {
    let mut parameters = about["parameters"].clone();
    for (_, definition) in parameters.as_object_mut().unwrap() {
        definition["description"] = definition["description"]["en"].take();
    }
    json!({
        "name": name, "description": about["description"]["en"], "code": code, "parameters": parameters,
        "examples": about["examples"], "returns": about["returns"],
    })
}

#[test]
fn each_template_is_accepted_and_does_what_its_examples_say() {
    let host = ToolboxFixture::with_policy(&format!("{AUTO}\n[store]\ntools = 1000"));
    let mut wrong = Vec::new();
    for (name, code, about) in templates() {
        let created = match host.create(&create_request(&name, &code, &about)) {
            Ok(created) => created,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        if !created.findings.is_empty() {
            wrong.push(format!("{name}: {:?}", created.findings));
        }
        let options = VerifyOptions { cases: 64, ..VerifyOptions::default() };
        let proof = host.toolbox().verify(&name, &options).unwrap();
        let failed = proof.checks.iter().filter(|check| check.verdict == CheckStatus::Failed);
        wrong.extend(failed.map(|check| format!("{name}: {check:?} {:?}", proof.counterexample)));
        if about["examples"].as_array().unwrap().len() < 2 || about["properties"].as_array().unwrap().is_empty() {
            wrong.push(format!("{name}: has less than two examples, or no property"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_properties_of_each_template_hold() {
    let host = ToolboxFixture::with_policy(AUTO);
    let mut wrong = Vec::new();
    for (name, code, about) in templates() {
        let defaults: Map<String, Value> = about["parameters"]
            .as_object()
            .unwrap()
            .iter()
            .filter_map(|(name, definition)| Some((name.clone(), definition.get("default")?.clone())))
            .collect();
        let examples: Vec<Value> = about["examples"]
            .as_array()
            .unwrap()
            .iter()
            .map(|example| {
                let mut parameters = defaults.clone();
                parameters.extend(example["parameters"].as_object().unwrap().clone());
                Value::Object(parameters)
            })
            .collect();
        let properties: Vec<String> = about["properties"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| {
                let text = text.as_str().unwrap();
                format!("[{}, (result: any, parameters: any) => ({text})]", json!(text))
            })
            .collect();
        let source = format!(
            "const template: any = (() => {{\n{code}\nreturn execute;\n}})();\nconst examples: any[] = {};\nconst properties: \
             [string, (result: any, parameters: any) => unknown][] = [{}];\n{}",
            json!(examples),
            properties.join(", "),
            include_str!("templates/properties.ts"),
        );
        let draft = match Draft::from_bytes("properties.ts", source.as_bytes()) {
            Ok(draft) => draft,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let settings: Vec<&String> = defaults.iter().filter(|(_, it)| it.is_string()).map(|(name, _)| name).collect();
        let parameters = Params::parse(json!({ "settings": settings }).to_string()).unwrap();
        let report =
            host.toolbox().exec(&draft, &parameters, &Budget::default(), &CallContext::default(), Precheck::Off);
        match report.map(|report| report.outcome) {
            Ok(Outcome::Returned(Some(value))) => {
                let value: Value = serde_json::from_str(value.as_str()).unwrap();
                let faults = value["faults"].as_array().unwrap();
                wrong.extend(faults.iter().map(|fault| format!("{name}: {fault}")));
                if value["returned"].as_u64().unwrap() < 10 {
                    wrong.push(format!("{name}: only {} of 300 inputs gave a result", value["returned"]));
                }
            }
            other => wrong.push(format!("{name}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A labelled task (`fixtures/reflection/tasks/README.md`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    id: String,
    #[expect(dead_code, reason = "for readers of the file")]
    lang: String,
    #[serde(rename = "task")]
    text: String,
    /// Whether one small function does the task.
    doable: bool,
    /// Why not.
    #[expect(dead_code, reason = "for readers of the file")]
    why: Option<String>,
    #[serde(default)]
    examples: Vec<TaskExample>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskExample {
    /// The values that the task takes, in its order.
    inputs: Vec<Value>,
    /// All answers that are right.
    expected: Vec<Value>,
}

/// How often ready code was proposed, and for what.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    tasks: usize,
    doable: usize,
    passed: usize,
    wrong: Vec<String>,
}

fn measure(half: &str) -> Tally {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/reflection/tasks").join(half);
    let host = ToolboxFixture::with_policy(&format!("{AUTO}\n[store]\ntools = 1000"));
    let mut tally = Tally::default();
    for line in fs::read_to_string(path).unwrap().lines() {
        let task: Task = serde_json::from_str(line).unwrap();
        let fields = json!({ "task_description": task.text, "last_tool_result": "" });
        let reflected = host.toolbox().reflect(&request(&fields)).unwrap();
        tally.tasks += 1;
        tally.doable += usize::from(task.doable);
        let ready = reflected.proposal.filter(|proposal| proposal.kind == ProposalKind::Ready);
        let Some(proposal) = ready else { continue };
        let mut fields = serde_json::to_value(&proposal).unwrap();
        fields["name"] = json!(format!("t_{}", task.id.replace('-', "_")));
        host.create(&fields).unwrap();
        let does = task.doable
            && assignments(&proposal.parameters, &task).into_iter().any(|names| {
                task.examples.iter().all(|example| {
                    let parameters: Map<String, Value> =
                        names.iter().cloned().zip(example.inputs.iter().cloned()).collect();
                    let ran = host.run(fields["name"].as_str().unwrap(), &Value::Object(parameters));
                    ran.is_ok_and(|ran| {
                        matches!(ran.report.outcome, Outcome::Returned(_))
                            && is_accepted(&returned_value(&ran), &example.expected)
                    })
                })
            });
        if does {
            tally.passed += 1;
        } else {
            tally.wrong.push(format!("{} {}: {}", task.id, proposal.name, task.text));
        }
    }
    tally
}

/// All ways to hand the inputs of a task to parameters of the proposed tool.
fn assignments(parameters: &Value, task: &Task) -> Vec<Vec<String>> {
    let names: Vec<&String> = parameters.as_object().unwrap().keys().collect();
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for _ in 0..task.examples[0].inputs.len() {
        all = all
            .iter()
            .flat_map(|used| {
                names
                    .iter()
                    .filter(|name| !used.contains(name))
                    .map(|name| [used.as_slice(), &[(*name).clone()]].concat())
            })
            .collect();
    }
    all
}

/// Whether a result is one of the right answers, or an object with it as its only property.
fn is_accepted(result: &Value, expected: &[Value]) -> bool {
    let only = result.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
    expected.iter().any(|answer| is_close(result, answer) || only.is_some_and(|value| is_close(value, answer)))
}

/// Compares values; numbers to nine digits.
fn is_close(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_close(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|it| is_close(value, it)))
        }
        _ => one == other,
    }
}

/// How many tasks of each set get ready code. The library was tuned on the first two; the others have other authors.
const SERVED: [(&str, usize); 4] =
    [("tuning.jsonl", 21), ("everyday.jsonl", 20), ("checking.jsonl", 5), ("unread.jsonl", 13)];

#[test]
fn no_wrong_tool_is_offered_as_ready() {
    for (half, served) in SERVED {
        let tally = measure(half);
        assert!(tally.wrong.is_empty(), "{half}: {tally:#?}");
        assert!(tally.passed >= served, "{half}: {tally:#?}");
    }
}
