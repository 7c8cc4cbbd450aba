//! The specification of a tool: everything that determines its behaviour, and therefore its
//! identity.
//!
//! Invariant: two specifications with the same [`ToolId`] behave the same. The identifier is a hash
//! over the canonical form (RFC 8785) of the name, the hash of the source, the parameters and the
//! requested capabilities. The hash has its own versioned domain; key order and number formatting
//! do not affect it.

use serde::Serialize;
use serde_json::Value;
use toolcell_i18n::{Message, message};

use crate::draft::Draft;
use crate::id::ToolId;
use crate::name::ToolName;

/// The context string of blake3's key derivation, which separates the domain of tool identifiers. A
/// different identifier scheme needs a different context.
const DOMAIN: &str = "toolcell 2026-11 tool id v1";

/// The maximum size of a parameter or capability declaration, in bytes of canonical JSON.
pub const DECLARATION_LIMIT: usize = 64 * 1024;
/// The maximum nesting depth of a declaration or an example. JSON parsers give up at 128 levels,
/// and the documents that contain a tool add levels of their own.
pub(crate) const NESTING_LIMIT: usize = 64;

/// The specification of a tool: name, source, parameters and capabilities.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_tool::{Draft, ToolName, ToolSpec};
///
/// let name = ToolName::parse("twice")?;
/// let draft = Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
/// let one = ToolSpec::new(name.clone(), &draft, json!({"n": {"type": "number", "minimum": 0}}), json!([]))?;
/// let other = ToolSpec::new(name, &draft, json!({"n": {"minimum": 0.0, "type": "number"}}), json!([]))?;
/// assert_eq!(one.id(), other.id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: ToolName,
    source: String,
    parameters: Value,
    capabilities: Value,
    id: ToolId,
}

/// The hashed content of a specification.
#[derive(Serialize)]
struct CanonicalSpec<'a> {
    capabilities: &'a Value,
    code: &'a str,
    name: &'a str,
    parameters: &'a Value,
}

impl ToolSpec {
    /// Creates a specification. `parameters` and `capabilities` are the declarations, or null if
    /// there are none.
    ///
    /// # Errors
    /// `parameters-invalid`, `capabilities-invalid`: more than [`DECLARATION_LIMIT`] bytes, nested
    /// more than 64 levels deep, or without a canonical form.
    pub fn new(name: ToolName, draft: &Draft, parameters: Value, capabilities: Value) -> Result<Self, SpecError> {
        check_size(&parameters).map_err(|reason| SpecError::Parameters { reason })?;
        check_size(&capabilities).map_err(|reason| SpecError::Capabilities { reason })?;
        let source = draft.source().to_owned();
        let code = blake3::hash(source.as_bytes()).to_hex();
        let content =
            CanonicalSpec { capabilities: &capabilities, code: &code, name: name.as_str(), parameters: &parameters };
        let form =
            canonical_json(&content).map_err(|reason| SpecError::Parameters { reason: Message::verbatim(reason) })?;
        let id = ToolId::from_bytes(blake3::derive_key(DOMAIN, &form));
        Ok(Self { name, source, parameters, capabilities, id })
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Returns the source, as the author wrote it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the declared parameters, or null.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// Returns the requested capabilities, or null.
    #[must_use]
    pub fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    /// Returns the identifier, a hash over all other fields.
    #[must_use]
    pub fn id(&self) -> ToolId {
        self.id
    }
}

/// Serializes a value as canonical JSON (RFC 8785).
///
/// # Errors
/// The cause, if the value has no canonical form.
///
/// # Examples
/// ```
/// let value: serde_json::Value = serde_json::from_str(r#"{"b": 1.50, "a": "\u0041"}"#)?;
/// assert_eq!(toolcell_tool::canonical_json(&value).unwrap(), br#"{"a":"A","b":1.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn canonical_json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_jcs::to_vec(value).map_err(|error| error.to_string())
}

/// Rejects values that could be serialized but not parsed again, because they are nested too deep.
pub(crate) fn check_nesting(value: &Value) -> Result<(), Message> {
    fn deeper_than(value: &Value, limit: usize) -> bool {
        match value {
            Value::Array(_) | Value::Object(_) if limit == 0 => true,
            Value::Array(items) => items.iter().any(|item| deeper_than(item, limit - 1)),
            Value::Object(fields) => fields.values().any(|field| deeper_than(field, limit - 1)),
            _ => false,
        }
    }
    if deeper_than(value, NESTING_LIMIT) {
        Err(message!("they are nested more than {limit} levels deep", limit = NESTING_LIMIT))
    } else {
        Ok(())
    }
}

fn check_size(value: &Value) -> Result<(), Message> {
    check_nesting(value)?;
    match canonical_json(value).map_err(Message::verbatim)?.len() {
        0..=DECLARATION_LIMIT => Ok(()),
        len => Err(message!("they are {len} bytes, the limit is {limit}", len, limit = DECLARATION_LIMIT)),
    }
}

/// The error of an invalid declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum SpecError {
    /// The parameters cannot be stored.
    #[error("the parameters cannot be stored: {reason}")]
    #[code(ParametersInvalid)]
    Parameters {
        /// The cause.
        reason: Message,
    },
    /// The capabilities cannot be stored.
    #[error("the capabilities cannot be stored: {reason}")]
    #[code(CapabilitiesInvalid)]
    Capabilities {
        /// The cause.
        reason: Message,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn id(name: &str, source: &str, parameters: &str, capabilities: Value) -> ToolId {
        let draft = Draft::from_bytes("t.ts", source.as_bytes()).unwrap();
        let parameters = serde_json::from_str(parameters).unwrap();
        ToolSpec::new(ToolName::parse(name).unwrap(), &draft, parameters, capabilities).unwrap().id()
    }

    #[test]
    fn the_identifier_follows_what_decides_behaviour_and_nothing_else() {
        let one = id("a", "x", r#"{"p": {"type": "number", "default": 1}}"#, json!(["net"]));
        assert_eq!(one, id("a", "x", r#"{"p": {"default": 1.0, "type": "number"}}"#, json!(["net"])));
        assert_ne!(one, id("b", "x", r#"{"p": {"type": "number", "default": 1}}"#, json!(["net"])));
        assert_ne!(one, id("a", "y", r#"{"p": {"type": "number", "default": 1}}"#, json!(["net"])));
        assert_ne!(one, id("a", "x", r#"{"p": {"type": "number", "default": 2}}"#, json!(["net"])));
        assert_ne!(one, id("a", "x", r#"{"p": {"type": "string", "default": 1}}"#, json!(["net"])));
        assert_ne!(one, id("a", "x", r#"{"p": {"type": "number", "default": 1}}"#, json!([])));
        assert_ne!(id("a", "x", "null", json!(null)), id("a", "x", "{}", json!(null)));
    }

    /// A change of the identifier scheme must also change [`DOMAIN`], because existing stores
    /// contain identifiers.
    #[test]
    fn identifiers_do_not_change_from_version_to_version() {
        let id = id("twice", "const execute = ({ n }) => 2 * n", r#"{"n": {"type": "number"}}"#, json!(["net"]));
        assert_eq!(id.to_string(), "dt_deefb42e29ca1289a2f80694a769c18fd9aebbcc54c3c04adf4c8fd9703b2589");
    }

    /// The examples of RFC 8785, sections 3.2.2 and 3.2.3.
    #[test]
    fn the_canonical_form_is_that_of_the_rfc() {
        let check = |text: &str, expect: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(String::from_utf8(canonical_json(&value).unwrap()).unwrap(), expect);
        };
        check(
            r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#,
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
        );
        check(
            "{\"\\u20ac\": \"Euro Sign\", \"\\r\": \"Carriage Return\", \"\\ufb33\": \"Hebrew Letter Dalet With Dagesh\", \
             \"1\": \"One\", \"\\ud83d\\ude00\": \"Emoji: Grinning Face\", \"\\u0080\": \"Control\", \
             \"\\u00f6\": \"Latin Small Letter O With Diaeresis\"}",
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\
             \"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        );
        check("[9007199254740993, -0.0, 0]", "[9007199254740992,0,0]");
    }
}
