//! The operations as tools: names, schemas, descriptions and hints.
//!
//! A model pays for this list with each conversation: descriptions and schemas are short, and the
//! output schemas name only the fields that matter.
//!
//! Invariant: the list is the same for all callers at all times. The hints are computed from what the
//! policy can grant.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use toolcell::policy::Policy;
use toolcell::{Capability, CreateTool, DeleteTool, ListTools, ReflectOnTask, RunCode, RunTool, VerifyTool};

use crate::client_schema;
use crate::definition::{ToolDefinition, ToolHints};

/// An operation that is a tool of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuiltinTool {
    /// Stores a tool.
    Create,
    /// Runs a stored tool.
    Run,
    /// Lists the stored tools.
    List,
    /// Deletes a stored tool.
    Delete,
    /// Recommends whether to create a tool for a task.
    Reflect,
    /// Verifies a stored tool.
    Verify,
    /// Runs code that is not stored.
    RunCode,
}

impl BuiltinTool {
    /// All operations, those of the contract first.
    pub const ALL: [Self; 7] =
        [Self::Create, Self::Run, Self::List, Self::Delete, Self::Reflect, Self::Verify, Self::RunCode];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create_tool",
            Self::Run => "run_dynamic_tool",
            Self::List => "list_dynamic_tools",
            Self::Delete => "delete_dynamic_tool",
            Self::Reflect => "tool_reflection",
            Self::Verify => "verify_dynamic_tool",
            Self::RunCode => "run_code",
        }
    }

    /// Returns the operation with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Create => "Create a tool",
            Self::Run => "Run a tool",
            Self::List => "List the tools",
            Self::Delete => "Delete a tool",
            Self::Reflect => "Decide whether to create a tool",
            Self::Verify => "Verify a tool",
            Self::RunCode => "Run code once",
        }
    }

    /// The description for a model: the purpose, and one example.
    const fn description(self) -> &'static str {
        match self {
            Self::Create => {
                "Stores code as a tool, to run it again with other parameters. The code is analysed, and its \
                 examples are run. It sees standard JavaScript and Web APIs; network, files and timers only if it \
                 requests the capability and the user grants it. Example: {\"name\": \"average\", \
                 \"description\": \"Averages numbers\", \
                 \"code\": \"const execute = ({ xs }) => xs.reduce((a, b) => a + b) / xs.length\", \
                 \"parameters\": {\"xs\": {\"type\": \"array\", \"required\": true}}, \
                 \"examples\": [{\"parameters\": {\"xs\": [1, 2]}, \"result\": 1.5}]}"
            }
            Self::Run => {
                "Runs a stored tool in a fresh sandbox. Example: {\"tool_name\": \"average\", \
                 \"parameters\": {\"xs\": [1, 2, 4.5]}}"
            }
            Self::List => "Lists the stored tools with their signatures. Look here before you create one.",
            Self::Delete => "Deletes a tool, if confirm is true.",
            Self::Reflect => {
                "Says whether a tool is worth creating for a task or exists already, and proposes code or a skeleton. \
                 Call it before you repeat an operation, or after failures."
            }
            Self::Verify => {
                "Verifies a stored tool: it runs the examples, runs them again, and searches for inputs that break it."
            }
            Self::RunCode => {
                "Runs code once in a fresh sandbox and stores nothing. Network, files and timers are there only if \
                 the user grants them to such code. Example: \
                 {\"code\": \"const execute = ({ n }) => 2 * n\", \"parameters\": {\"n\": 21}}"
            }
        }
    }

    /// The description under a policy: a model that may call MCP servers is told how.
    fn description_under(self, policy: &Policy) -> Cow<'static, str> {
        let may_call = match self {
            Self::RunCode => !policy.draft_grants().servers.is_empty(),
            Self::Create => policy.upper_bound().contains(&Capability::Servers),
            Self::Run | Self::List | Self::Delete | Self::Reflect | Self::Verify => false,
        };
        let servers: Vec<&str> = policy.servers().iter().map(|server| server.name.as_str()).collect();
        match servers.as_slice() {
            [first, ..] if may_call => format!(
                "{} The tools of MCP servers are functions ({}): `await servers.{first}.TOOL({{ … }})`, where \
                 `await servers.$search(TEXT)` finds tools, and `await servers.$describe(NAME)` declares one.",
                self.description(),
                servers.join(", ")
            )
            .into(),
            _ => self.description().into(),
        }
    }

    /// The fields of the structured content that matter, with their JSON types. The `value` of a run
    /// may be anything, so it has none.
    fn output_fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Create => &[("id", "string"), ("name", "string"), ("verificationStatus", "string")],
            Self::Run | Self::RunCode => &[("logs", "array"), ("warnings", "array")],
            Self::List => &[("tools", "array"), ("cursor", "string")],
            Self::Delete => &[("name", "string")],
            Self::Reflect => &[("decision", "string"), ("proposal", "object")],
            Self::Verify => &[("verdict", "string"), ("checks", "array"), ("counterexample", "object")],
        }
    }

    /// Returns the definition of the operation as a tool, under this policy.
    #[must_use]
    pub fn definition(self, policy: &Policy) -> ToolDefinition {
        let (input_schema, output_schema) = &SCHEMAS[self as usize];
        ToolDefinition {
            name: self.name().into(),
            title: Some(self.title().into()),
            description: self.description_under(policy),
            input_schema: Arc::clone(input_schema),
            output_schema: Arc::clone(output_schema),
            hints: self.hints(policy),
            stored_tool: None,
        }
    }

    fn hints(self, policy: &Policy) -> ToolHints {
        let closed = |read_only: bool, destructive: bool, idempotent: bool| ToolHints {
            read_only,
            destructive,
            idempotent,
            open_world: false,
        };
        match self {
            // An earlier version stays in the history of the name.
            Self::Create => closed(false, false, false),
            Self::Run => ToolHints::for_run(&policy.upper_bound()),
            Self::RunCode => ToolHints::for_run(&policy.draft_grants().capabilities()),
            Self::List | Self::Reflect => closed(true, false, true),
            // It changes the status of the tool alone.
            Self::Verify => closed(false, false, true),
            // A deleted name cannot be deleted again.
            Self::Delete => closed(false, true, true),
        }
    }
}

type ToolSchemas = (Arc<Map<String, Value>>, Arc<Map<String, Value>>);

/// The input and output schemas, in the order of [`BuiltinTool::ALL`].
static SCHEMAS: LazyLock<[ToolSchemas; 7]> = LazyLock::new(|| {
    BuiltinTool::ALL.map(|operation| {
        let input = match operation {
            BuiltinTool::Create => input_schema::<CreateTool>(&["name", "description", "code"]),
            BuiltinTool::Run => input_schema::<RunTool>(&[]),
            BuiltinTool::List => input_schema::<ListTools>(&[]),
            BuiltinTool::Delete => input_schema::<DeleteTool>(&["confirm"]),
            BuiltinTool::Reflect => input_schema::<ReflectOnTask>(&["task_description", "last_tool_result"]),
            BuiltinTool::Verify => input_schema::<VerifyTool>(&[]),
            BuiltinTool::RunCode => input_schema::<RunCode>(&["code"]),
        };
        (input, output_schema(operation.output_fields()))
    })
});

impl BuiltinTool {
    /// The output schema.
    pub(crate) fn output_schema(self) -> &'static Arc<Map<String, Value>> {
        &SCHEMAS[self as usize].1
    }
}

/// Builds an output schema. Further fields are allowed.
fn output_schema(fields: &[(&str, &str)]) -> Arc<Map<String, Value>> {
    let properties = fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})));
    Arc::new(Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties.collect())),
    ]))
}

/// Generates an input schema. The Rust types have a default for every field, so that the operation
/// can report what is missing; the schema names the required fields.
fn input_schema<T: JsonSchema>(required: &[&str]) -> Arc<Map<String, Value>> {
    let mut schema = client_schema::for_input::<T>();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.iter().map(|name| Value::from(*name)).collect());
    }
    Arc::new(schema)
}

/// Returns the error message for an unknown tool name.
pub fn unknown_tool_message(name: &str, known: impl Iterator<Item = BuiltinTool>) -> String {
    let names: Vec<&str> = known.map(BuiltinTool::name).collect();
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    format!("there is no tool `{name}`; the tools are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toolcell::policy::{Layer, PolicyFile};

    use super::*;

    #[test]
    fn a_model_that_may_call_servers_is_told_how_and_no_other() {
        let policy = |grants: &str| {
            let text = format!("[servers.mail]\ncommand = [\"mail\"]\n{grants}");
            Policy::from_layers([PolicyFile::parse(Layer::User, &text, Path::new("toolcell.toml")).unwrap()]).unwrap()
        };
        let says = |tool: BuiltinTool, grants: &str| {
            let definition = tool.definition(&policy(grants));
            (definition.description.contains("`await servers.mail.TOOL({ … })`"), definition.hints.open_world)
        };
        let (drafts, stored) =
            ("[grants.drafts]\nservers = { mail = \"any\" }", "[grants.default]\nservers = { mail = \"any\" }");
        assert_eq!(says(BuiltinTool::RunCode, drafts), (true, true));
        assert_eq!(says(BuiltinTool::RunCode, stored), (false, false));
        assert_eq!(says(BuiltinTool::Create, stored), (true, false));
        assert_eq!(says(BuiltinTool::Create, ""), (false, false));
        assert_eq!(says(BuiltinTool::Run, stored), (false, true));
    }
}
