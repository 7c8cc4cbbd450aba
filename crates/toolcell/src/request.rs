//! What the operations are asked for, with the field names of the contract.
//!
//! Invariant: a request is what somebody said, and nothing of it is believed yet. What is unknown in it is refused.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_host::Params;

/// Asks for a tool to be made: `create_tool`.
///
/// # Examples
/// ```
/// use toolcell::{CreateTool, read_request};
///
/// let text = r#"{"name": "twice", "description": "Doubles", "code": "const execute = ({ n }) => 2 * n"}"#;
/// let request: CreateTool = read_request(text)?;
/// assert_eq!(request.name, "twice");
/// assert_eq!(read_request::<CreateTool>(r#"{"nam": "x"}"#).unwrap_err().code(), "request-invalid");
/// # Ok::<(), toolcell::RequestError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateTool {
    /// A letter, then letters, digits, `_` and `-`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// TypeScript or JavaScript with an `execute(params)` in it.
    pub code: String,
    /// What it takes: `{ [name]: { type, description, default?, enum?, minimum?, maximum?, required? } }`, or a JSON Schema.
    #[schemars(with = "Map<String, Value>")]
    pub parameters: Value,
    /// What it is found by.
    pub tags: Vec<String>,
    /// The task that it was made for.
    pub generated_from: Option<String>,
    /// What it asks the host to grant: names of capabilities, or an object whose keys they are, each with
    /// `true` or a list of what it needs of it: `{"net": ["api.example.com"], "timers": true}`.
    #[schemars(with = "Asked")]
    pub capabilities: Value,
    /// What it is expected to do: `{ parameters, result }`, with `throws` (part of an error) or `holds` (an expression of
    /// `result` and `parameters`) in place of `result`.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub examples: Vec<Value>,
    /// A JSON Schema that every result passes; a proof tries to find one that does not.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub returns: Option<Value>,
    /// The parameter that a result can be given back as, where that changes nothing.
    pub idempotent: Option<String>,
    /// What making it cost, in tokens.
    pub cost: Option<u64>,
    /// Whether it may be a new version under a name that is taken.
    pub replace: bool,
    /// How it runs: `function`.
    pub mode: Option<String>,
}

/// What a tool asks for, as schemas tell it.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read as any value, and then with care")]
enum Asked {
    Names(Vec<String>),
    Objects(Map<String, Value>),
}

/// Asks for a run of a stored tool: `run_dynamic_tool`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTool {
    /// Which tool, by identifier or a prefix of it of 8 digits or more.
    pub tool_id: Option<String>,
    /// Which tool, by name.
    pub tool_name: Option<String>,
    /// What it is given. The text reaches the tool as it is, unless the tool declares what it takes.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "Map<String, Value>")]
    pub parameters: Params,
    /// How long it may take, in milliseconds: 1 to 600000.
    pub timeout_ms: Option<u64>,
}

/// Asks for the list of tools: `list_dynamic_tools`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTools {
    /// Part of the name, in any case.
    pub name: Option<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// The least safety score: 0.0 to 1.0.
    pub min_safety_score: Option<f64>,
    /// How many at most: 1 to 1000, 20 where nothing is said.
    pub limit: Option<u64>,
    /// Where an earlier answer ended.
    pub cursor: Option<String>,
    /// Tools of this status.
    pub status: Option<String>,
    /// Tools that nobody has used for so many days, nor made: 0.5 is twelve hours.
    pub unused_days: Option<f64>,
    /// What comes first: `created`, `updated`, `name`, `usage`, `last-used` or `confidence`.
    pub sort: Option<String>,
}

/// Asks for tools to be retired: those that are of no use, or of less than others.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetireTools {
    /// For how many days nobody has used them, nor made them: 30 where nothing is said.
    pub unused_days: Option<f64>,
    /// Whether it is meant.
    pub confirm: bool,
}

/// Asks for a name to be taken away: `delete_dynamic_tool`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeleteTool {
    /// Which tool, by identifier or a prefix of it of 8 digits or more.
    pub tool_id: Option<String>,
    /// Which tool, by name.
    pub tool_name: Option<String>,
    /// Whether it is meant.
    pub confirm: bool,
}

impl RunTool {
    /// A run of the tool of this name or identifier.
    #[must_use]
    pub fn of(reference: &str, parameters: Params) -> Self {
        let is_id = toolcell_tool::IdPrefix::parse(reference).is_ok();
        let reference = Some(reference.to_owned());
        let (tool_id, tool_name) = if is_id { (reference, None) } else { (None, reference) };
        Self { tool_id, tool_name, parameters, timeout_ms: None }
    }
}

/// An object, as it is written.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Params::parse(String::from(Box::<str>::from(text))).map_err(D::Error::custom)
}

/// Reads a request from JSON text.
///
/// # Errors
/// `request-invalid`: it is no JSON, or has an unknown or a wrong field, which is named.
pub fn read_request<T: DeserializeOwned>(text: &str) -> Result<T, RequestError> {
    serde_json::from_str(text).map_err(|error| RequestError(error.to_string()))
}

/// Some text is no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request is not understood: {0}")]
pub struct RequestError(pub(crate) String);

impl RequestError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "request-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "the fields of a request are those of the contract, such as `tool_name` and `parameters`"
    }
}
