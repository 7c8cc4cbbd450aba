//! What a rule of a policy file can say of each capability.
//!
//! Invariant: what passes the schema that is made of these has the shape of these, as with [`Form`](super::form::Form).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Value, json};
use toml::Spanned;
use toolcell_tool::{Access, Into, MAX_BYTES, Method, Scheme};

/// Capabilities, and what is granted of each. What is not named is said by another rule, or not granted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RuleForm {
    /// Waiting: `setTimeout`, `setInterval`.
    #[schemars(with = "bool")]
    pub(super) timers: Option<Spanned<bool>>,
    /// The real time. Without it a clock runs that starts at the run's time and moves on with fuel.
    #[schemars(with = "bool")]
    pub(super) clock: Option<Spanned<bool>>,
    /// Real random numbers. Without them they come from the run's seed.
    #[schemars(with = "bool")]
    pub(super) random: Option<Spanned<bool>>,
    /// Requests to other machines, one table for each kind of them; `false` for none.
    #[schemars(with = "Said<Vec<NetForm>>")]
    pub(super) net: Option<Spanned<Said<Vec<NetForm>>>>,
    /// A space of keys and values; `false` for none.
    #[schemars(with = "Said<KvForm>")]
    pub(super) kv: Option<Spanned<Said<KvForm>>>,
    /// Folders, a table for each; `false` for none.
    #[schemars(with = "Said<Vec<FilesForm>>")]
    pub(super) files: Option<Spanned<Said<Vec<FilesForm>>>>,
    /// Secrets that are put into requests, a table for each; `false` for none.
    #[schemars(with = "Said<Vec<SecretForm>>")]
    pub(super) secrets: Option<Spanned<Said<Vec<SecretForm>>>>,
    /// Other tools that may be called: their names, or `"any"`; `false` for none.
    #[schemars(with = "Said<CalleesForm>")]
    pub(super) tools: Option<Spanned<Said<CalleesForm>>>,
    /// The identifier that the tool must have, whole; another tool of the name is granted nothing by this rule. Only in
    /// `grants.tools.NAME`.
    #[schemars(with = "String")]
    pub(super) id: Option<Spanned<String>>,
}

/// Requests to other machines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NetForm {
    /// A name, `*.` and a name for all that are below of it, an address, or `any`.
    #[schemars(with = "String")]
    pub(super) host: Spanned<String>,
    /// How the host is talked to.
    #[serde(default)]
    #[schemars(schema_with = "schemes")]
    pub(super) scheme: Scheme,
    /// Its ports. By default the scheme's: 443, or 80 for `http`.
    #[serde(default)]
    #[schemars(with = "Vec<u16>", length(min = 1), inner(range(min = 1_u64, max = 65_535_u64)))]
    pub(super) ports: Option<Vec<u16>>,
    /// What may be done.
    #[serde(default)]
    #[schemars(schema_with = "methods", extend("default" = ["GET", "HEAD"]))]
    pub(super) methods: Option<Vec<Method>>,
    /// The beginning of paths, whole segments of them.
    #[serde(default)]
    #[schemars(with = "String", extend("default" = "/"))]
    pub(super) path: Option<Spanned<String>>,
    /// Private addresses at which the host may be, such as `10.1.0.0/16`. By default none.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) addresses: Option<Vec<Spanned<String>>>,
    /// The longest body of a request, in bytes.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 1_048_576))]
    pub(super) request_bytes: Option<u64>,
    /// The longest body of an answer, in bytes, unpacked.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 10_485_760))]
    pub(super) response_bytes: Option<u64>,
    /// How many requests a run makes at most, those of other grants, of redirects and of tools that it calls included.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1_u64, max = 1_000_000_u64), extend("default" = 100))]
    pub(super) calls: Option<u32>,
    /// How many requests a tool makes in a minute at most, those of tools that it calls included. By default there is no limit.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1_u64, max = 1_000_000_u64))]
    pub(super) per_minute: Option<u32>,
}

/// A space of keys and values. Tools with a space of one name share it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KvForm {
    /// Its name.
    #[schemars(with = "String")]
    pub(super) space: Spanned<String>,
    /// Whether it may be changed.
    #[serde(default)]
    #[schemars(schema_with = "access", extend("default" = "write"))]
    pub(super) access: Option<Access>,
    /// The most bytes of all keys and values.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 1_048_576))]
    pub(super) bytes: Option<u64>,
    /// The most keys.
    #[serde(default)]
    #[schemars(with = "u32", range(max = 1_000_000_u64), extend("default" = 1_000))]
    pub(super) keys: Option<u32>,
    /// The longest value, in bytes of JSON text.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 65_536))]
    pub(super) value_bytes: Option<u64>,
}

/// A folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesForm {
    /// What tools call it: the first part of their paths.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// Where it is, from this file's folder.
    #[schemars(with = "String")]
    pub(super) path: Spanned<String>,
    /// Whether what is in it may be changed.
    #[serde(default)]
    #[schemars(schema_with = "access", extend("default" = "read"))]
    pub(super) access: Option<Access>,
    /// The most bytes that a run writes, those of tools that it calls included.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 10_485_760))]
    pub(super) bytes: Option<u64>,
    /// The most bytes that a run reads, those of tools that it calls included.
    #[serde(default)]
    #[schemars(with = "u64", range(max = MAX_BYTES), extend("default" = 104_857_600))]
    pub(super) read_bytes: Option<u64>,
}

/// A secret that is put into requests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretForm {
    /// Its name.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The hosts to which it may be sent.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) hosts: Vec<Spanned<String>>,
    /// Where in a request it may stand. A body that somebody stores can be read again by others: say it where it is needed.
    #[serde(default)]
    #[schemars(schema_with = "places", extend("default" = ["header"]))]
    pub(super) into: Option<Vec<Into>>,
}

/// Other tools that may be called.
#[derive(Debug)]
pub(super) enum CalleesForm {
    Any,
    Named(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for CalleesForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfCallees;

        impl<'de> Visitor<'de> for OfCallees {
            type Value = CalleesForm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names, or `\"any\"`")
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<CalleesForm, E> {
                // The schema lets no other word pass.
                Ok(CalleesForm::Any)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<CalleesForm, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(names)).map(CalleesForm::Named)
            }
        }

        deserializer.deserialize_any(OfCallees)
    }
}

impl JsonSchema for CalleesForm {
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

/// What is granted, or `false` for nothing.
#[derive(Debug)]
pub(super) enum Said<T> {
    Nothing,
    Granted(T),
}

// An untagged enum would lose where things stand.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Said<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfSaid<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfSaid<T> {
            type Value = Said<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what is granted, or `false`")
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<Said<T>, E> {
                // The schema lets `true` not pass.
                Ok(Said::Nothing)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Said<T>, E> {
                T::deserialize(word.into_deserializer()).map(Said::Granted)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Said<T>, A::Error> {
                T::deserialize(SeqAccessDeserializer::new(list)).map(Said::Granted)
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Said<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(Said::Granted)
            }
        }

        deserializer.deserialize_any(OfSaid(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Said<T> {
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
    let names = [Into::Header, Into::Query, Into::Body].map(Into::name);
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names } })
}

fn access(_: &mut SchemaGenerator) -> Schema {
    let names = [Access::Read, Access::Write].map(Access::name);
    json_schema!({ "type": "string", "enum": names })
}
