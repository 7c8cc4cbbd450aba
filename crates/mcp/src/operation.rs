//! The five operations as tools of the protocol: what they are called, what they take and give, and what they may do.
//!
//! Invariant: the list is the same for everybody and at all times. What is said of a tool's effects is computed from what the
//! host would do for it, not claimed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;
use toolcell::policy::Policy;
use toolcell::{
    Capability, CreateTool, CreatedBody, DeleteTool, DeletedBody, ListTools, ListedBody, RanBody, ReflectOnTask,
    ReflectedBody, RunTool,
};

use crate::schema;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Create,
    Run,
    List,
    Delete,
    Reflect,
}

impl Operation {
    /// All of them, in the order of the contract.
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

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Create => "Create a tool",
            Self::Run => "Run a tool",
            Self::List => "List the tools",
            Self::Delete => "Delete a tool",
            Self::Reflect => "Reflect: is a tool worth making?",
        }
    }

    /// What a model reads: what it is for, and one example.
    const fn description(self) -> &'static str {
        match self {
            Self::Create => {
                "Makes a tool of TypeScript or JavaScript and keeps it, so that it can be run again with other parameters. The \
                 code is analysed first and refused where it is dangerous; it runs in a sealed cell without network, files, \
                 timers or other modules. Example: {\"name\": \"average\", \"description\": \"Averages numbers\", \"code\": \
                 \"function execute({ xs }) { return xs.reduce((a, b) => a + b, 0) / xs.length }\", \"parameters\": {\"xs\": \
                 {\"type\": \"array\", \"description\": \"the numbers\", \"required\": true}}}"
            }
            Self::Run => {
                "Runs a tool that was made with create_tool, each time in a fresh cell with a limit of time, memory and work. \
                 Example: {\"tool_name\": \"average\", \"parameters\": {\"xs\": [1, 2, 4.5]}}"
            }
            Self::List => {
                "Lists the tools that were made: look here before you make one. Example: {\"name\": \"csv\", \"limit\": 5}"
            }
            Self::Delete => {
                "Takes the name of a tool away; nothing happens without confirm. Example: {\"tool_name\": \"average\", \
                 \"confirm\": true}"
            }
            Self::Reflect => {
                "Says whether a tool is worth making for a task, whether there is one already, and proposes one that can be \
                 created as it is. Ask when you are about to do the same thing again, or when you failed. Example: \
                 {\"task_description\": \"Convert these 40 CSV files to JSON\", \"last_tool_result\": \"a.csv: 3 rows\", \
                 \"failed_attempts\": 0}"
            }
        }
    }

    /// The operation as a tool of the protocol.
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
            // An earlier version stays in the history of its name.
            Self::Create => hints(false, false, false),
            Self::Run => effects(&policy.most_granted()),
            Self::List | Self::Reflect => hints(true, false, true),
            // A name that is gone cannot be taken away again.
            Self::Delete => hints(false, true, true),
        }
    }
}

/// What a run may do to the world with what is granted of these, and no more than that.
pub(crate) fn effects(granted: &BTreeSet<Capability>) -> ToolAnnotations {
    let has = |capability| granted.contains(&capability);
    let reaches_out = has(Capability::Net) || has(Capability::Tools);
    let changes = reaches_out || has(Capability::Kv) || has(Capability::Files);
    // What is given and nothing else decides what comes out, unless the tool sees the real clock, or real chance.
    let repeats = !changes && !has(Capability::Clock) && !has(Capability::Random);
    ToolAnnotations::new().read_only(!changes).destructive(changes).idempotent(repeats).open_world(reaches_out)
}

type Schemas = (Arc<JsonObject>, Arc<JsonObject>);

/// What the operations take and give, in the order of [`Operation::ALL`].
static SCHEMAS: LazyLock<[Schemas; 5]> = LazyLock::new(|| {
    [
        (input::<CreateTool>(&["name", "description", "code"]), output::<CreatedBody<'static>>()),
        (input::<RunTool>(&[]), output::<RanBody<'static>>()),
        (input::<ListTools>(&[]), output::<ListedBody<'static>>()),
        (input::<DeleteTool>(&["confirm"]), output::<DeletedBody<'static>>()),
        (input::<ReflectOnTask>(&["task_description", "last_tool_result"]), output::<ReflectedBody<'static>>()),
    ]
});

impl Operation {
    /// What it gives.
    pub(crate) fn gives(self) -> &'static Arc<JsonObject> {
        &SCHEMAS[self as usize].1
    }
}

/// The schema of a request. The types have a default for each field, so that what is missing is named by the operation;
/// whoever writes a request is told here already what it cannot do without.
fn input<T: JsonSchema>(required: &[&str]) -> Arc<JsonObject> {
    let mut schema = schema::of_input::<T>();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.iter().map(|name| Value::from(*name)).collect());
    }
    Arc::new(schema)
}

fn output<T: JsonSchema>() -> Arc<JsonObject> {
    Arc::new(schema::of_output::<T>())
}

/// What a name that is none may have meant.
pub(crate) fn unknown(name: &str) -> Cow<'static, str> {
    let names: Vec<&str> = Operation::ALL.into_iter().map(Operation::name).collect();
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    format!("there is no tool `{name}`; there are {}", names.join(", ")).into()
}
