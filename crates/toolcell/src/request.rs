//! The request types of the operations, with the field names of the contract.
//!
//! Invariant: a request is untrusted input, and unknown fields are rejected.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_host::Params;
use toolcell_i18n::{Localize as _, Message};
use toolcell_store::Order;
use toolcell_tool::{Capability, Status};

use crate::host_calls::FlowContext;

/// A request to create a tool: `create_tool`.
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
    /// The name.
    #[schemars(extend("pattern" = "^[A-Za-z][A-Za-z0-9_-]{0,63}$"))]
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// TypeScript or JavaScript that defines `execute(params)`.
    pub code: String,
    /// `{ [name]: { type, description, default?, enum?, minimum?, maximum?, required? } }`, or a
    /// JSON Schema.
    #[schemars(with = "Map<String, Value>")]
    pub parameters: Value,
    /// Tags for search and for policy rules.
    pub tags: Vec<String>,
    /// The task that the tool was created for.
    #[schemars(skip)]
    #[serde(alias = "generatedFrom")]
    pub generated_from: Option<String>,
    /// Names, or an object with resources: `{"net": ["api.example.com"], "timers": true}`.
    #[schemars(with = "CapabilitiesSchema")]
    pub capabilities: Value,
    /// `{ parameters, result }`; instead of `result`, `throws` (a part of the error message) or
    /// `holds` (an expression of `result` and `parameters`).
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub examples: Vec<Value>,
    /// A JSON Schema of the result.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub returns: Option<Value>,
    /// The parameter that a result can be passed back as without changing the result.
    #[schemars(skip)]
    pub idempotent: Option<String>,
    /// The cost of creating the tool, in tokens.
    #[schemars(skip)]
    pub cost: Option<u64>,
    /// Whether to store a new version if the name is taken.
    pub replace: bool,
    /// The execution mode: `function`.
    #[schemars(skip)]
    pub mode: Option<String>,
    /// Who creates the tool, for rules about flows; not part of a request. If it is empty, that may be any caller.
    #[schemars(skip)]
    #[serde(skip)]
    pub caller: String,
    /// What that caller knows, and so may have written into the code; not part of a request.
    #[schemars(skip)]
    #[serde(skip)]
    pub context: FlowContext,
}

/// The requested capabilities as generated schemas describe them.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read as any value, and then with care")]
enum CapabilitiesSchema {
    Names(Vec<CapabilityName>),
    Objects(Map<String, Value>),
}

/// The name of a capability as generated schemas describe it.
#[derive(JsonSchema)]
#[schemars(extend("enum" = Capability::ALL.map(Capability::name)))]
#[expect(dead_code, reason = "it is read as any value, and then with care")]
struct CapabilityName(String);

/// A request to run a stored tool: `run_dynamic_tool`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTool {
    /// The identifier or the name.
    #[serde(alias = "toolId")]
    pub tool_id: Option<String>,
    /// The name.
    #[serde(alias = "toolName")]
    pub tool_name: Option<String>,
    /// The parameters of the tool.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "Map<String, Value>")]
    pub parameters: Params,
    /// The time limit in milliseconds: 1 to 600000.
    #[serde(alias = "timeoutMs")]
    pub timeout_ms: Option<u64>,
}

/// A request to run code once, without storing it: `run_code`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunCode {
    /// TypeScript or JavaScript that defines `execute(params)`.
    pub code: String,
    /// The argument of `execute`.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "Map<String, Value>")]
    pub parameters: Params,
    /// The time limit in milliseconds: 1 to 600000.
    #[serde(alias = "timeoutMs")]
    pub timeout_ms: Option<u64>,
}

/// A request to verify a tool: `verify_dynamic_tool`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyTool {
    /// The identifier or the name.
    #[serde(alias = "toolId")]
    pub tool_id: Option<String>,
    /// The name.
    #[serde(alias = "toolName")]
    pub tool_name: Option<String>,
}

/// A request to list tools: `list_dynamic_tools`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTools {
    /// A part of the name.
    pub name: Option<String>,
    /// At least one of these tags.
    pub tags: Vec<String>,
    /// The minimum safety score: 0.0 to 1.0.
    #[schemars(range(min = 0, max = 1))]
    #[serde(alias = "minSafetyScore")]
    pub min_safety_score: Option<f64>,
    /// The maximum number of tools, default 20.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u64>,
    /// The cursor of the last answer.
    pub cursor: Option<String>,
    /// The verification status.
    #[schemars(extend("enum" = Status::ALL.map(Status::name)))]
    pub status: Option<String>,
    /// Neither used nor created for this many days: 0.5 is twelve hours.
    #[serde(alias = "unusedDays")]
    pub unused_days: Option<f64>,
    /// The sort order.
    #[schemars(extend("enum" = Order::ALL.map(Order::name)))]
    pub sort: Option<String>,
}

/// A request to retire tools that are failing, duplicated, superseded or unused.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetireTools {
    /// The number of days without use or creation after which a tool counts as unused: default 30.
    #[serde(alias = "unusedDays")]
    pub unused_days: Option<f64>,
    /// Confirms the retirement.
    pub confirm: bool,
}

/// A request to delete a tool: `delete_dynamic_tool`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeleteTool {
    /// The identifier or the name.
    #[serde(alias = "toolId")]
    pub tool_id: Option<String>,
    /// The name.
    #[serde(alias = "toolName")]
    pub tool_name: Option<String>,
    /// Confirms the deletion.
    pub confirm: bool,
}

impl RunTool {
    /// Creates a request to run the tool with this name or identifier.
    #[must_use]
    pub fn new(reference: &str, parameters: Params) -> Self {
        let is_id = toolcell_tool::IdPrefix::parse(reference).is_ok();
        let reference = Some(reference.to_owned());
        let (tool_id, tool_name) = if is_id { (reference, None) } else { (None, reference) };
        Self { tool_id, tool_name, parameters, timeout_ms: None }
    }

    /// Creates a request to run the tool with this name or identifier, with the parameters in a
    /// value: a map, a struct, or a [`Value`] that is an object.
    ///
    /// # Errors
    /// `request-invalid`: see [`to_params`].
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::RunTool;
    ///
    /// let request = RunTool::with_params("average", &json!({ "numbers": [1, 2, 4.5] }))?;
    /// assert_eq!(request.parameters.as_str(), r#"{"numbers":[1,2,4.5]}"#);
    /// assert_eq!(RunTool::with_params("average", &[1, 2]).unwrap_err().code(), "request-invalid");
    /// # Ok::<(), toolcell::RequestError>(())
    /// ```
    pub fn with_params(reference: &str, parameters: &(impl Serialize + ?Sized)) -> Result<Self, RequestError> {
        Ok(Self::new(reference, to_params(parameters)?))
    }
}

/// Converts a value into the parameters of a call.
///
/// # Errors
/// `request-invalid`: the value has no JSON form, such as a map whose keys are not texts, or it is
/// not an object.
pub fn to_params(value: &(impl Serialize + ?Sized)) -> Result<Params, RequestError> {
    let text = serde_json::to_string(value).map_err(|error| RequestError(Message::verbatim(error.to_string())))?;
    Params::parse(text).map_err(|error| RequestError(error.localize()))
}

/// Deserializes a JSON object and keeps its text.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Params::parse(String::from(Box::<str>::from(text))).map_err(D::Error::custom)
}

/// Parses a request from JSON text.
///
/// # Errors
/// `request-invalid`: the text is not JSON, or has an unknown field or a field of the wrong type,
/// which the message names.
pub fn read_request<T: DeserializeOwned>(text: &str) -> Result<T, RequestError> {
    serde_json::from_str(text).map_err(|error| RequestError(Message::verbatim(error.to_string())))
}

/// A text that is not a valid request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("the request is invalid: {0}")]
#[code(RequestInvalid)]
#[hint("use only the fields of the operation's input schema, such as `tool_name` and `parameters`")]
pub struct RequestError(pub(crate) Message);
