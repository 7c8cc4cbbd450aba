//! Parameters: every declared constraint is enforced, and values are otherwise unchanged.

use serde_json::json;
use toolcell::{Outcome, Params, RunError, RunOptions, RunTool, Stop, read_request};

use super::{ToolboxFixture, refusal, returned_value};

/// Creates a toolbox with a tool that uses every shorthand declaration.
fn host() -> ToolboxFixture {
    let host = ToolboxFixture::new();
    host.create_echo(&json!({
        "text": { "type": "string", "description": "what to write", "required": true },
        "unit": { "type": "string", "description": "which unit", "enum": ["mm", "cm"] },
        "count": { "type": "number", "description": "how many", "default": 3, "minimum": 1, "maximum": 9 },
        "loud": { "type": "boolean", "description": "whether to shout" },
        "more": { "type": "object", "description": "anything" },
        "list": { "type": "array", "description": "anything" },
    }));
    host
}

// Rows 25 and 98 of the feature table.
#[test]
fn defaults_are_filled_in_and_scalars_read_where_nothing_is_lost() {
    let host = host();
    for (given, got) in [
        (json!({ "text": "a" }), json!({ "text": "a", "count": 3 })),
        (json!({ "text": "a", "count": "5" }), json!({ "text": "a", "count": 5 })),
        (json!({ "text": "a", "loud": "true" }), json!({ "text": "a", "loud": true, "count": 3 })),
        (json!({ "text": "a", "count": 9, "unit": "mm" }), json!({ "text": "a", "count": 9, "unit": "mm" })),
    ] {
        assert_eq!(returned_value(&host.run("echo", &given).unwrap()), got, "{given}");
    }
}

// Rows 25 and 99 of the feature table.
#[test]
fn all_that_is_wrong_is_told_at_once_with_its_place() {
    let host = host();
    let error = host.run("echo", &json!({ "text": "a", "unit": "km", "count": 0, "list": {} })).unwrap_err();
    let RunError::Params(toolcell::ParamsError::Invalid { problems, more: 0 }) = &error else { panic!("{error:?}") };
    let mut places: Vec<&str> = problems.iter().map(|problem| &*problem.path).collect();
    places.sort_unstable();
    assert_eq!(places, ["/count", "/list", "/unit"]);
    for (given, code, message) in [
        (json!({}), "parameters-missing", "`text`"),
        (json!({ "text": "a", "count": 10 }), "parameters-invalid", "/count is 10, the maximum is 9"),
        (json!({ "text": "a", "count": "many" }), "parameters-invalid", "/count is \"many\" (string), expected number"),
        (json!({ "text": "a", "cuont": 1 }), "parameters-invalid", "`count`"),
    ] {
        let (actual, explanation) = refusal(host.run("echo", &given));
        assert_eq!(actual, code);
        assert!(explanation.contains(message), "{explanation}");
    }
}

// Row 26 of the feature table.
#[test]
fn what_every_object_inherits_counts_for_nothing() {
    let host = ToolboxFixture::new();
    let required = json!({ "type": "string", "description": "a name that every object has", "required": true });
    host.create_echo(&json!({ "toString": required, "constructor": required, "__proto__": required }));
    let (code, explanation) = refusal(host.run("echo", &json!({})));
    assert_eq!(code, "parameters-missing");
    assert!(["toString", "constructor", "__proto__"].iter().all(|name| explanation.contains(name)), "{explanation}");
    let own = json!({ "toString": "a", "constructor": "b", "__proto__": "c" });
    assert_eq!(returned_value(&host.run("echo", &own).unwrap()), own);
}

// Row 27 of the feature table.
#[test]
fn a_parameter_called_proto_is_a_parameter() {
    let host = ToolboxFixture::new();
    host.tool(
        "look",
        "const execute = (params) => [Object.keys(params), ({}).x === undefined, params.x === undefined, \
         Object.getPrototypeOf(params) === Object.prototype]",
    );
    let ran = host.run("look", &json!({ "__proto__": { "x": 1 } })).unwrap();
    assert_eq!(returned_value(&ran), json!([["__proto__"], true, true, true]));
}

#[test]
fn what_a_tool_does_not_declare_it_gets_as_it_is_written() {
    let host = ToolboxFixture::new();
    host.tool("echo", "const execute = (params) => params");
    let request = RunTool::new("echo", Params::parse(r#"{"b": 1.50, "a": 12345678901234567890}"#).unwrap());
    let ran = host.toolbox().run(&request, &RunOptions::default()).unwrap();
    assert_eq!(ran.report.warnings.len(), 1, "a number that JavaScript cannot hold is told");
    assert_eq!(returned_value(&ran)["b"], 1.5);
}

// Row 125 of the feature table.
#[test]
fn a_request_with_an_unknown_field_is_refused() {
    for text in [
        r#"{"tool_name": "echo", "parameters": {}, "timeout": 5}"#,
        r#"{"tool_name": "echo", "parameters": [1]}"#,
        r#"{"tool_name": "echo", "parameters": {}, "timeout_ms": -1}"#,
        "{",
    ] {
        assert_eq!(read_request::<RunTool>(text).unwrap_err().code(), "request-invalid", "{text}");
    }
}

#[test]
fn seventy_megabytes_of_parameters_are_answered_and_the_host_goes_on() {
    let host = ToolboxFixture::new();
    host.tool("length", "const execute = ({ text }) => text.length");
    host.create_echo(&json!({ "text": { "type": "string", "description": "what to write" } }));
    let text = format!("{{\"text\": \"{}\"}}", "x".repeat(70 << 20));
    let long = Params::parse(text).unwrap();
    for tool in ["length", "echo"] {
        let ran = host.toolbox().run(&RunTool::new(tool, long.clone()), &RunOptions::default());
        match ran {
            Ok(ran) => assert!(matches!(ran.report.outcome, Outcome::Stopped(Stop::OutOfMemory { .. })), "{tool}"),
            Err(error) => assert_eq!(error.code(), "parameters-invalid", "{error}"),
        }
        let line = host.audit_lines().pop().unwrap();
        let recorded = host.record(&line).unwrap();
        assert_eq!(recorded.parameters.bytes, (70 << 20) + 12);
        assert!(serde_json::to_string(&line.details).unwrap().len() < 2000, "the line has no parameters in it");
    }
    assert_eq!(returned_value(&host.run("length", &json!({ "text": "abc" })).unwrap()), 3);
}
