//! The contract of a tool: `execute` against the declared parameters and the declared result.
//!
//! Invariant: literals that TypeScript infers as wider types are no errors: a result in which `"a"` is a `string` is as
//! good as one in which it is `"a"`.

use serde_json::{Value, json};
use toolcell_analysis::EntryPoint;
use toolcell_dts::{Detail, FunctionSchema, server_interface};

use super::TypeCheckRequest;

/// How a script declares its tool.
const SCRIPT: [&str; 5] = ["function execute", "async function execute", "const execute", "let execute", "var execute"];

/// What is checked of a tool.
pub(super) struct Contract {
    /// The source, which exports `execute` if it is a script.
    pub(super) source: String,
    /// The assignment of `execute` to its type; `None` if nothing is declared.
    pub(super) text: Option<String>,
    /// The line of `execute`.
    pub(super) line: u32,
}

/// Writes the contract of a source.
pub(super) fn write(request: &TypeCheckRequest<'_>) -> Contract {
    let line_of = |is: &dyn Fn(&str) -> bool| {
        let at = request.source.lines().position(|line| is(line.trim_start()));
        at.and_then(|at| u32::try_from(at + 1).ok())
    };
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let script = line_of(&|line| starts(line, &SCRIPT));
    let exported = line_of(&|line| line.strip_prefix("export ").is_some_and(|line| starts(line, &SCRIPT)));
    let method = line_of(&|line| starts(line, &["execute(", "async execute(", "execute:"]));
    let default = line_of(&|line| line.starts_with("export default"));
    let unchanged = || request.source.to_owned();
    let (source, import, line) = match request.entry_point {
        Some(EntryPoint::Script) => {
            (format!("{}\nexport {{ execute }};\n", request.source), "import { execute } from \"./tool.ts\";\n", script)
        }
        Some(EntryPoint::Export) => (unchanged(), "import { execute } from \"./tool.ts\";\n", exported),
        Some(EntryPoint::Default) => (unchanged(), "import execute from \"./tool.ts\";\n", default),
        Some(EntryPoint::Object) => {
            (unchanged(), "import tool from \"./tool.ts\";\nconst execute = tool.execute;\n", method)
        }
        // A factory declares the types of its tools itself.
        Some(EntryPoint::Factory) | None => (unchanged(), "", None),
    };
    let text = if import.is_empty() { None } else { write_type(request).map(|text| format!("{import}{text}")) };
    Contract { source, text, line: line.or(default).unwrap_or(1) }
}

/// What a result is when it is written as JSON, as far as its type goes.
const JSON_TYPE: &str = "type Json<T> = T extends { toJSON(...args: any[]): infer U } ? Json<U> : T extends readonly (infer U)[] ? Json<U>[]\
    \n  : T extends object ? { [K in keyof T]: Json<T[K]> } : T;\n";

/// Writes the type of `execute`, and assignments from and to it.
fn write_type(request: &TypeCheckRequest<'_>) -> Option<String> {
    if request.parameters.is_none() && request.returns.is_none() {
        return None;
    }
    let any = json!({});
    let (input, output) = (request.parameters.map(as_given), request.returns.map(widen));
    let input = input.filter(|input| *input != any);
    let empty = json!({ "type": "object", "additionalProperties": true });
    let schema = input.as_ref().unwrap_or(&empty);
    let execute = FunctionSchema { name: "execute", description: "", input: schema, output: output.as_ref() };
    let mut text = server_interface("contract", &[execute], Detail::Brief).ok()?;
    // What a schema does not say may be anything.
    text = text.replace("Record<string, unknown>", "any").replace("unknown", "any");
    text.push_str(JSON_TYPE);
    text.push_str("type Execute = Servers[\"contract\"][\"execute\"];\n");
    if input.is_some() {
        text.push_str("type Input = NonNullable<Parameters<Execute>[0]>;\n");
        text.push_str("export const checked: (input: Input, ...rest: any[]) => any = execute;\n");
    }
    text.push_str("declare const returned: Json<Awaited<ReturnType<typeof execute>>>;\n");
    text.push_str("export const result: Awaited<ReturnType<Execute>> = returned;\n");
    Some(text)
}

/// Returns the schema of parameters as a tool gets them: a default is filled in, and a tool that takes a parameter for given
/// is not wrong. Values of enumerations may have any type, such as an `enum`.
fn as_given(schema: &Value) -> Value {
    let mut schema = loosen(schema, &|_| json!({}));
    require_all(&mut schema);
    schema
}

/// Has all properties be required.
fn require_all(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(names) = members.get("properties").and_then(Value::as_object) {
                let names: Vec<Value> = names.keys().map(|name| Value::from(name.as_str())).collect();
                members.insert("required".to_owned(), Value::from(names));
            }
            for member in members.values_mut() {
                require_all(member);
            }
        }
        Value::Array(items) => {
            for item in items {
                require_all(item);
            }
        }
        _ => {}
    }
}

/// Replaces each enumeration and constant by the type of its values.
fn widen(schema: &Value) -> Value {
    loosen(schema, &|values| {
        let kind = |value: &Value| match value {
            Value::String(_) => Some("string"),
            Value::Number(_) => Some("number"),
            Value::Bool(_) => Some("boolean"),
            Value::Null => Some("null"),
            Value::Array(_) | Value::Object(_) => None,
        };
        let mut kinds: Vec<Option<&str>> = values.iter().map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match kinds.into_iter().collect::<Option<Vec<&str>>>() {
            Some(kinds) => json!({ "type": kinds }),
            None => json!({}),
        }
    })
}

/// Replaces enumerations and constants by another schema, and objects and arrays of which little is said by any.
fn loosen(schema: &Value, replace: &dyn Fn(&[Value]) -> Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    if let Some(Value::Array(values)) = members.get("enum") {
        return replace(values);
    }
    if let Some(value) = members.get("const") {
        return replace(std::slice::from_ref(value));
    }
    let is = |name: &str| members.get("type").and_then(Value::as_str) == Some(name);
    if is("object") && !members.contains_key("properties") || is("array") && members.contains_key("prefixItems") {
        return json!({});
    }
    let loosened = members.iter().map(|(key, value)| {
        let value = match (key.as_str(), value) {
            // The names in here are those of properties and definitions.
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.iter().map(|(name, schema)| (name.clone(), loosen(schema, replace))).collect()
            }
            (_, Value::Array(items)) => items.iter().map(|item| loosen(item, replace)).collect(),
            (_, value) => loosen(value, replace),
        };
        (key.clone(), value)
    });
    loosened.filter(|(key, _)| key != "additionalProperties").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_loosened_where_a_right_tool_may_differ() {
        let schema = json!({
            "type": "object",
            "properties": {
                "enum": { "enum": ["a", null] },
                "n": { "const": 1, "default": 1 },
                "rows": { "type": "array", "items": { "type": "object" } },
            },
            "additionalProperties": false,
        });
        assert_eq!(
            widen(&schema),
            json!({ "type": "object", "properties": {
                "enum": { "type": ["null", "string"] }, "n": { "type": ["number"] }, "rows": { "type": "array", "items": {} },
            } })
        );
        let given = as_given(&schema);
        assert_eq!(given["required"], json!(["enum", "n", "rows"]));
        assert_eq!(given["properties"]["enum"], json!({}));
        // A schema that allows any value restricts nothing.
        assert_eq!(as_given(&json!({ "type": "object", "additionalProperties": true })), json!({}));
    }
}
