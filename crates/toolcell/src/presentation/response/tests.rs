use serde_json::{Value, json};
use toolcell_host::{Json, Outcome};
use toolcell_policy::Layer;

use super::*;
use crate::{
    CreateTool, Deprecation, HookContext, ListTools, Params, Policy, PolicyFile, ReflectOnTask, ReflectResponse,
    RunOptions, RunResult, RunTool, Toolbox, ToolboxConfig, read_request,
};

/// Creates a toolbox with the tool `echo`, in which every tool runs.
fn toolbox() -> (tempfile::TempDir, Toolbox) {
    let folder = tempfile::tempdir().unwrap();
    let text = "[approval]\nmode = \"auto\"";
    let file = PolicyFile::parse(Layer::User, text, std::path::Path::new("policy.toml")).unwrap();
    let config = ToolboxConfig { policy: Policy::from_layers([file]).unwrap(), ..ToolboxConfig::default() };
    let toolbox = Toolbox::open(folder.path(), config).unwrap();
    toolbox.create(&echo()).unwrap();
    (folder, toolbox)
}

fn echo() -> CreateTool {
    let code = "const execute = ({ n }) => { console.warn('seen', n); return n === 'nothing' ? undefined : n }";
    CreateTool {
        name: "echo".to_owned(),
        description: "Gives back what it gets".to_owned(),
        code: code.to_owned(),
        parameters: json!({"type": "object", "properties": {"n": {"enum": [1.5, "nothing"], "default": 1.5}}}),
        tags: vec!["echo".to_owned()],
        ..CreateTool::default()
    }
}

fn run(toolbox: &Toolbox, params: &str) -> RunResult {
    toolbox.run(&RunTool::new("echo", Params::parse(params).unwrap()), &RunOptions::default()).unwrap()
}

/// Returns the JSON of a response, after validating it against its schema without additional
/// properties.
fn validated_json<T: schemars::JsonSchema>(body: &impl serde::Serialize) -> Value {
    let body: Value = serde_json::from_str(&serde_json::to_string(body).unwrap()).unwrap();
    let mut schema = schemars::schema_for!(T).to_value();
    forbid_additional_properties(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&body).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty() && schema["type"] == "object", "{wrong:?}\n{body:#}\n{schema:#}");
    body
}

/// Makes a schema reject what it does not describe.
fn forbid_additional_properties(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(forbid_additional_properties);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(forbid_additional_properties),
        _ => {}
    }
}

#[test]
fn what_was_created_is_as_its_schema_says() {
    let (_folder, toolbox) = toolbox();
    let code = "const execute = ({ s }) => { for (;;) { if (s.match(/(a+)+$/)) return s } }".to_owned();
    let request = CreateTool { name: "loop".to_owned(), code, parameters: Value::Null, ..echo() };
    let body = validated_json::<CreateResponse>(&toolbox.create(&request).unwrap().response());
    assert_eq!((&body["name"], &body["verificationStatus"]), (&json!("loop"), &json!("unverified")));
    assert!(body["findings"][0]["endLine"].is_u64(), "{body:#}");
    let again = CreateTool { name: "echo_2".to_owned(), ..echo() };
    let body = validated_json::<CreateResponse>(&toolbox.create(&again).unwrap().response());
    assert_eq!(body["identicalTo"][0]["name"], "echo");
    assert_eq!(body["parameters"][0]["enum"], json!([1.5, "nothing"]));
}

#[test]
fn a_result_is_the_text_that_the_guest_made() {
    let (_folder, toolbox) = toolbox();
    let mut ran = run(&toolbox, "{}");
    assert_eq!(validated_json::<RunResponse>(&ran.response().unwrap())["value"], 1.5);
    let text = "{\"b\":1e400, \"a\":0.10}";
    ran.report.outcome = Outcome::Returned(Some(Json::parse(text).unwrap()));
    let body = serde_json::to_string(&ran.response().unwrap()).unwrap();
    assert!(body.contains(&format!("\"value\":{text}")), "{body}");
    let body = validated_json::<RunResponse>(&run(&toolbox, r#"{"n": "nothing"}"#).response().unwrap());
    assert_eq!((body.get("value"), &body["logs"][0]["level"]), (None, &json!("warn")));
    assert!(body["record"].is_string() && body["toolId"].as_str().unwrap().starts_with("dt_"), "{body:#}");
}

#[test]
fn what_a_hook_suppresses_is_not_told() {
    let (_folder, toolbox) = toolbox();
    let mut ran = run(&toolbox, "{}");
    let secret = "a secret";
    ran.report.outcome = Outcome::Returned(Some(Json::parse(format!("[\"{secret}\"]")).unwrap()));
    let warning = |place| toolcell_host::Warning { place, path: String::new(), message: secret.to_owned() };
    ran.report.warnings.push(warning(toolcell_host::ValueSide::Result));
    ran.report.logs[0].text = secret.to_owned();
    ran.output_suppressed = true;
    ran.context.push(HookContext { hook: "g".to_owned(), text: "ask for less".to_owned() });
    ran.revised_by = Some("g".to_owned());
    ran.deprecated = Some(Deprecation { successor: None });
    let body = validated_json::<RunResponse>(&ran.response().unwrap());
    assert!(!body.to_string().contains(secret) && body["suppressed"] == true, "{body:#}");
    assert_eq!(
        (&body["context"][0]["text"], &body["deprecated"]),
        (&json!("ask for less"), &json!({"successor": null}))
    );
}

#[test]
fn what_failed_has_no_body() {
    let (_folder, toolbox) = toolbox();
    let mut ran = run(&toolbox, "{}");
    ran.report.outcome = Outcome::Stopped(toolcell_host::Stop::Stalled);
    assert_eq!(ran.response().unwrap_err().code(), "stalled");
}

#[test]
fn what_is_listed_and_deleted_is_as_its_schema_says() {
    let (_folder, toolbox) = toolbox();
    let name = "echo_2".to_owned();
    toolbox.create(&CreateTool { name, ..echo() }).unwrap();
    let _ = run(&toolbox, "{}");
    toolbox.deprecate("echo", Some("echo_2")).unwrap();
    let list = |limit| toolbox.list(&ListTools { limit: Some(limit), ..ListTools::default() }).unwrap();
    let body = validated_json::<ListResponse>(&list(9).response());
    assert_eq!((&body["count"], &body["total"], &body["cursor"]), (&json!(2), &json!(2), &Value::Null));
    let tools = body["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!((&echo["usageCount"], &echo["successor"]), (&json!(1), &json!("echo_2")));
    let body = validated_json::<ListResponse>(&list(1).response());
    assert!(body["more"] == 1 && body["cursor"].is_string(), "{body:#}");

    let request = read_request(r#"{"tool_name": "echo", "confirm": true}"#).unwrap();
    let step = toolbox.delete(&request).unwrap();
    let body = validated_json::<DeleteResponse>(&DeleteResponse::from(&step));
    assert_eq!((&body["name"], &body["version"]), (&json!("echo"), &json!(2)));
}

#[test]
fn what_is_reflected_is_as_its_schema_says() {
    let (_folder, toolbox) = toolbox();
    for (task, decision) in [("Convert these CSV files to JSON", "create"), ("What is your name?", "none")] {
        let request = json!({"task_description": task, "last_tool_result": "a.csv read"});
        let reflected = toolbox.reflect(&read_request::<ReflectOnTask>(&request.to_string()).unwrap()).unwrap();
        assert_eq!(validated_json::<ReflectResponse>(&reflected.body())["decision"], decision);
    }
}
