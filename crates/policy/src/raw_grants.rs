//! The serde input structs of a policy rule: the grants of each capability.
//!
//! Invariant: a table that matches the generated schema deserializes into these structs, as with
//! [`RawPolicy`](super::raw::RawPolicy).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Value, json};
use toml::Spanned;
use toolcell_tool::{Access, MAX_BYTES, Method, Scheme, SecretLocation};

/// The grants of each capability. A capability that this rule does not name is decided by another
/// rule, or not granted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawRule {
    /// Timers: `setTimeout`, `setInterval`.
    #[schemars(with = "bool")]
    pub(super) timers: Option<Spanned<bool>>,
    /// The wall clock. Without it, a virtual clock starts at the run's start time and advances with
    /// fuel.
    #[schemars(with = "bool")]
    pub(super) clock: Option<Spanned<bool>>,
    /// Random numbers from the system. Without this, they are derived from the run's seed.
    #[schemars(with = "bool")]
    pub(super) random: Option<Spanned<bool>>,
    /// Network requests, one table for each kind; `false` for none.
    #[schemars(with = "OrFalse<Vec<RawNetRule>>")]
    pub(super) net: Option<Spanned<OrFalse<Vec<RawNetRule>>>>,
    /// A key-value space; `false` for none.
    #[schemars(with = "OrFalse<RawKvRule>")]
    pub(super) kv: Option<Spanned<OrFalse<RawKvRule>>>,
    /// Folders, one table for each; `false` for none.
    #[schemars(with = "OrFalse<Vec<RawFilesRule>>")]
    pub(super) files: Option<Spanned<OrFalse<Vec<RawFilesRule>>>>,
    /// Secrets that are inserted into requests, one table for each; `false` for none.
    #[schemars(with = "OrFalse<Vec<RawSecretRule>>")]
    pub(super) secrets: Option<Spanned<OrFalse<Vec<RawSecretRule>>>>,
    /// The other tools that may be called: a list of names, or `"any"`; `false` for none.
    #[schemars(with = "OrFalse<RawToolsRule>")]
    pub(super) tools: Option<Spanned<OrFalse<RawToolsRule>>>,
    /// The tools of MCP servers that may be called, by server: a list of names, `"any"`, or
    /// `"reading"` for those that the server marks as reading, if `servers.NAME.hints` is
    /// `"believe"`; `false` for none.
    #[schemars(with = "OrFalse<BTreeMap<String, RawServerRule>>")]
    pub(super) servers: Option<Spanned<OrFalse<RawServerRules>>>,
    /// The full identifier that the tool must have; another tool with the same name gets nothing
    /// from this rule. Only valid in `grants.tools.NAME`.
    #[schemars(with = "String")]
    pub(super) id: Option<Spanned<String>>,
}

/// Network requests to one host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNetRule {
    /// A host name, `*.` followed by a name for all its subdomains, an IP address, or `any`.
    #[schemars(with = "String")]
    pub(super) host: Spanned<String>,
    /// The URL scheme.
    #[serde(default)]
    #[schemars(schema_with = "schemes")]
    pub(super) scheme: Scheme,
    /// The ports. By default the scheme's port: 443, or 80 for `http`.
    #[serde(default)]
    #[schemars(with = "Vec<u16>", length(min = 1), inner(range(min = 1_u64, max = 65_535_u64)))]
    pub(super) ports: Option<Vec<u16>>,
    /// The HTTP methods.
    #[serde(default)]
    #[schemars(schema_with = "methods", extend("default" = ["GET", "HEAD"]))]
    pub(super) methods: Option<Vec<Method>>,
    /// A path prefix, matched by whole segments.
    #[serde(default)]
    #[schemars(with = "String", extend("default" = "/"))]
    pub(super) path: Option<Spanned<String>>,
    /// Private address ranges that the host may resolve to, such as `10.1.0.0/16`. By default none.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) addresses: Option<Vec<Spanned<String>>>,
    /// The maximum size of a request body in bytes.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 1_048_576))]
    pub(super) request_bytes: Option<u64>,
    /// The maximum size of a decompressed response body in bytes.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 10_485_760))]
    pub(super) response_bytes: Option<u64>,
    /// The maximum number of requests in a run, including those of other grants, of redirects and
    /// of tools that it calls.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1_u64, max = 1_000_000_u64), extend("default" = 100))]
    pub(super) calls: Option<u32>,
    /// The maximum number of requests of a tool per minute, including those of tools that it calls.
    /// By default there is no limit.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1_u64, max = 1_000_000_u64))]
    pub(super) per_minute: Option<u32>,
}

/// A key-value space. Tools whose grants name the same space share it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKvRule {
    /// The name of the space.
    #[schemars(with = "String")]
    pub(super) space: Spanned<String>,
    /// Whether the space may be written.
    #[serde(default)]
    #[schemars(schema_with = "access", extend("default" = "write"))]
    pub(super) access: Option<Access>,
    /// The maximum size of all keys and values together in bytes.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 1_048_576))]
    pub(super) bytes: Option<u64>,
    /// The maximum number of keys.
    #[serde(default)]
    #[schemars(with = "u32", range(max = 1_000_000_u64), extend("default" = 1_000))]
    pub(super) keys: Option<u32>,
    /// The maximum size of a value in bytes of JSON text.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 65_536))]
    pub(super) value_bytes: Option<u64>,
}

/// A granted folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFilesRule {
    /// The name that tools use for the folder: the first segment of their paths.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The path of the folder, relative to the policy file's folder.
    #[schemars(with = "String")]
    pub(super) path: Spanned<String>,
    /// Whether files in the folder may be written.
    #[serde(default)]
    #[schemars(schema_with = "access", extend("default" = "read"))]
    pub(super) access: Option<Access>,
    /// The maximum number of bytes that a run writes, including those of tools that it calls.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 10_485_760))]
    pub(super) bytes: Option<u64>,
    /// The maximum number of bytes that a run reads, including those of tools that it calls.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 104_857_600))]
    pub(super) read_bytes: Option<u64>,
}

/// A secret that is inserted into requests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSecretRule {
    /// The name of the secret.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The hosts that the secret may be sent to.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) hosts: Vec<Spanned<String>>,
    /// The parts of a request that may contain the secret. A server may store a body and show it to
    /// others, so grant `body` only where it is needed.
    #[serde(default)]
    #[schemars(schema_with = "places", extend("default" = ["header"]))]
    pub(super) into: Option<Vec<SecretLocation>>,
}

/// The tools that may be called.
#[derive(Debug)]
pub(super) enum RawToolsRule {
    Any,
    Named(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for RawToolsRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ToolsRuleVisitor;

        impl<'de> Visitor<'de> for ToolsRuleVisitor {
            type Value = RawToolsRule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names, or `\"any\"`")
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<RawToolsRule, E> {
                // The schema admits no other word.
                Ok(RawToolsRule::Any)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<RawToolsRule, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(names)).map(RawToolsRule::Named)
            }
        }

        deserializer.deserialize_any(ToolsRuleVisitor)
    }
}

impl JsonSchema for RawToolsRule {
    fn schema_name() -> Cow<'static, str> {
        "CalleesForm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "enum": ["any"] },
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
        ] })
    }
}

/// The tools that may be called, by server.
pub(super) type RawServerRules = BTreeMap<Spanned<String>, RawServerRule>;

/// The tools of a server that may be called.
#[derive(Debug)]
pub(super) enum RawServerRule {
    Word(String),
    Named(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for RawServerRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ServerRuleVisitor;

        impl<'de> Visitor<'de> for ServerRuleVisitor {
            type Value = RawServerRule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names, `\"any\"` or `\"reading\"`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<RawServerRule, E> {
                Ok(RawServerRule::Word(word.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<RawServerRule, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(names)).map(RawServerRule::Named)
            }
        }

        deserializer.deserialize_any(ServerRuleVisitor)
    }
}

impl JsonSchema for RawServerRule {
    fn schema_name() -> Cow<'static, str> {
        "ServerToolsForm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "enum": ["any", "reading"] },
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
        ] })
    }
}

/// A grant, or `false` for none.
#[derive(Debug)]
pub(super) enum OrFalse<T> {
    Nothing,
    Granted(T),
}

// An untagged enum would lose the spans.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrFalse<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrFalseVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OrFalseVisitor<T> {
            type Value = OrFalse<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("grants, or `false`")
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<OrFalse<T>, E> {
                // The schema does not admit `true`.
                Ok(OrFalse::Nothing)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<OrFalse<T>, E> {
                T::deserialize(word.into_deserializer()).map(OrFalse::Granted)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OrFalse<T>, A::Error> {
                T::deserialize(SeqAccessDeserializer::new(list)).map(OrFalse::Granted)
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<OrFalse<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(OrFalse::Granted)
            }
        }

        deserializer.deserialize_any(OrFalseVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OrFalse<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrFalse", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut granted = generator.subschema_for::<T>();
        if granted.get("type").is_some_and(|kind| kind == "array") {
            granted.insert("minItems".to_owned(), json!(1));
        }
        let granted = match granted.get("anyOf").and_then(Value::as_array) {
            Some(ways) => ways.clone(),
            None => vec![granted.to_value()],
        };
        let nothing = json!({ "type": "boolean", "enum": [false] });
        let ways: Vec<Value> = granted.into_iter().chain([nothing]).collect();
        json_schema!({ "anyOf": ways })
    }
}

fn schemes(_: &mut SchemaGenerator) -> Schema {
    let names = [Scheme::Https, Scheme::Http].map(Scheme::name);
    json_schema!({ "type": "string", "enum": names })
}

fn methods(_: &mut SchemaGenerator) -> Schema {
    let names = Method::ALL.map(Method::name);
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names } })
}

fn places(_: &mut SchemaGenerator) -> Schema {
    let names = [SecretLocation::Header, SecretLocation::Query, SecretLocation::Body].map(SecretLocation::name);
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names } })
}

fn access(_: &mut SchemaGenerator) -> Schema {
    let names = [Access::Read, Access::Write].map(Access::name);
    json_schema!({ "type": "string", "enum": names })
}
