//! The five operations as MCP tools: names, schemas, descriptions and annotations.
//!
//! Invariant: the list is the same for all callers at all times. The annotations are computed from
//! what the policy can grant.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;
use toolcell::policy::Policy;
use toolcell::{
    Capability, CreateResponse, CreateTool, DeleteResponse, DeleteTool, ListResponse, ListTools, ReflectOnTask,
    ReflectResponse, RunResponse, RunTool,
};

use crate::client_schema;

/// One of the five operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BuiltinTool {
    Create,
    Run,
    List,
    Delete,
    Reflect,
}

impl BuiltinTool {
    /// All operations, in the order of the contract.
    pub(crate) const ALL: [Self; 5] = [Self::Create, Self::Run, Self::List, Self::Delete, Self::Reflect];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create_tool",
            Self::Run => "run_dynamic_tool",
            Self::List => "list_dynamic_tools",
            Self::Delete => "delete_dynamic_tool",
            Self::Reflect => "tool_reflection",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Create => "Create a tool",
            Self::Run => "Run a tool",
            Self::List => "List the tools",
            Self::Delete => "Delete a tool",
            Self::Reflect => "Decide whether to create a tool",
        }
    }

    /// The description for a model: the purpose, and one example.
    const fn description(self) -> &'static str {
        match self {
            Self::Create => {
                "Creates a tool from TypeScript or JavaScript code and stores it, so that it can be run again with \
                 other parameters. The code is analysed first and rejected if it is dangerous. It runs in a sandbox \
                 without network, files, timers or other modules. Example: {\"name\": \"average\", \
                 \"description\": \"Averages numbers\", \"code\": \
                 \"function execute({ xs }) { return xs.reduce((a, b) => a + b, 0) / xs.length }\", \
                 \"parameters\": {\"xs\": {\"type\": \"array\", \"description\": \"the numbers\", \"required\": true}}}"
            }
            Self::Run => {
                "Runs a tool created with create_tool, each time in a fresh sandbox with limits on time, memory and \
                 fuel. Example: {\"tool_name\": \"average\", \"parameters\": {\"xs\": [1, 2, 4.5]}}"
            }
            Self::List => {
                "Lists the stored tools. Check this list before you create a tool. \
                 Example: {\"name\": \"csv\", \"limit\": 5}"
            }
            Self::Delete => {
                "Deletes a tool. Without confirm: true, nothing is deleted. Example: {\"tool_name\": \"average\", \
                 \"confirm\": true}"
            }
            Self::Reflect => {
                "Says whether a tool is worth creating for a task, whether one exists already, and proposes one that \
                 can be created unchanged. Call it before you repeat an operation, or after a failure. Example: \
                 {\"task_description\": \"Convert these 40 CSV files to JSON\", \
                 \"last_tool_result\": \"a.csv: 3 rows\", \"failed_attempts\": 0}"
            }
        }
    }

    /// The operation as an MCP tool.
    pub(crate) fn tool(self, policy: &Policy) -> Tool {
        let (input, output) = &SCHEMAS[self as usize];
        let mut tool = Tool::new(self.name(), self.description(), Arc::clone(input));
        tool.title = Some(self.title().to_owned());
        tool.output_schema = Some(Arc::clone(output));
        tool.annotations = Some(self.annotations(policy));
        tool
    }

    fn annotations(self, policy: &Policy) -> ToolAnnotations {
        let hints = |read_only: bool, destructive: bool, idempotent: bool| {
            ToolAnnotations::new()
                .read_only(read_only)
                .destructive(destructive)
                .idempotent(idempotent)
                .open_world(false)
        };
        match self {
            // An earlier version stays in the history of the name.
            Self::Create => hints(false, false, false),
            Self::Run => effect_annotations(&policy.upper_bound()),
            Self::List | Self::Reflect => hints(true, false, true),
            // A deleted name cannot be deleted again.
            Self::Delete => hints(false, true, true),
        }
    }
}

/// The annotations of a run that is granted no more than these capabilities.
pub(crate) fn effect_annotations(granted: &BTreeSet<Capability>) -> ToolAnnotations {
    let has = |capability| granted.contains(&capability);
    let reaches_out = has(Capability::Net) || has(Capability::Tools);
    let changes = reaches_out || has(Capability::Kv) || has(Capability::Files);
    // The result depends on the parameters alone, unless the tool has the real clock or real
    // randomness.
    let repeats = !changes && !has(Capability::Clock) && !has(Capability::Random);
    ToolAnnotations::new().read_only(!changes).destructive(changes).idempotent(repeats).open_world(reaches_out)
}

type ToolSchemas = (Arc<JsonObject>, Arc<JsonObject>);

/// The input and output schemas, in the order of [`BuiltinTool::ALL`].
static SCHEMAS: LazyLock<[ToolSchemas; 5]> = LazyLock::new(|| {
    [
        (
            input_schema::<CreateTool>(&["name", "description", "code"]),
            generate_output_schema::<CreateResponse<'static>>(),
        ),
        (input_schema::<RunTool>(&[]), generate_output_schema::<RunResponse<'static>>()),
        (input_schema::<ListTools>(&[]), generate_output_schema::<ListResponse<'static>>()),
        (input_schema::<DeleteTool>(&["confirm"]), generate_output_schema::<DeleteResponse<'static>>()),
        (
            input_schema::<ReflectOnTask>(&["task_description", "last_tool_result"]),
            generate_output_schema::<ReflectResponse<'static>>(),
        ),
    ]
});

impl BuiltinTool {
    /// The output schema.
    pub(crate) fn output_schema(self) -> &'static Arc<JsonObject> {
        &SCHEMAS[self as usize].1
    }
}

/// Generates an input schema. The Rust types have a default for every field, so that the operation
/// can report what is missing; the schema names the required fields.
fn input_schema<T: JsonSchema>(required: &[&str]) -> Arc<JsonObject> {
    let mut schema = client_schema::for_input::<T>();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.iter().map(|name| Value::from(*name)).collect());
    }
    Arc::new(schema)
}

fn generate_output_schema<T: JsonSchema>() -> Arc<JsonObject> {
    Arc::new(client_schema::for_output::<T>())
}

/// The error message for an unknown tool name.
pub(crate) fn unknown_tool_message(name: &str) -> Cow<'static, str> {
    let names: Vec<&str> = BuiltinTool::ALL.into_iter().map(BuiltinTool::name).collect();
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    format!("there is no tool `{name}`; the tools are {}", names.join(", ")).into()
}
