//! Parses the parameters of a tool or a draft: JSON, `KEY=VALUE` and `KEY:=JSON`.
//!
//! Invariant: no word is dropped. A word that is none of these is an error.

use serde_json::{Map, Value};
use toolcell::{Params, Schema, Toolbox, single_line};
use toolcell_i18n::{Message, message, msgid};

use crate::error::CliError;
use crate::input;
use crate::streams::Streams;

/// The parameters as typed.
pub(crate) struct ParamWords {
    params: Params,
    /// Parameters given as `KEY=VALUE`, in order.
    key_values: Vec<KeyValue>,
}

struct KeyValue {
    key: String,
    text: String,
    syntax: ValueSyntax,
}

/// How the value of a `KEY=VALUE` is parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueSyntax {
    /// `KEY=VALUE`: text if the tool declares a string or the value is not JSON, else JSON.
    Declared,
    /// `KEY:=JSON`: always JSON.
    Json,
}

pub(crate) fn parse_param_words(words: &[String], streams: &mut Streams<'_>) -> Result<ParamWords, CliError> {
    let wrong = |message: Message| {
        CliError::usage(message, msgid!("pass one JSON object, @FILE or -, followed by any number of KEY=VALUE"))
    };
    let (mut params, mut added) = (None, Vec::<KeyValue>::new());
    for word in words {
        let is_whole = word == "-" || word.trim_start().starts_with(['{', '[', '@']);
        match word.split_once('=').filter(|_| !is_whole) {
            None if params.is_some() => {
                return Err(wrong(message!(
                    "`{word}` is neither KEY=VALUE nor the first word",
                    word = single_line(word)
                )));
            }
            None if !is_whole => {
                let word = single_line(word);
                return Err(wrong(message!("`{word}` is neither KEY=VALUE nor a JSON object", word)));
            }
            None => params = Some(input::read_params(word, streams)?),
            Some((key, text)) => {
                let (key, form) =
                    key.strip_suffix(':').map_or((key, ValueSyntax::Declared), |key| (key, ValueSyntax::Json));
                if key.is_empty() || added.iter().any(|known| known.key == key) {
                    return Err(wrong(message!("`{word}` has an empty or duplicate key", word = single_line(word))));
                }
                added.push(KeyValue { key: key.to_owned(), text: text.to_owned(), syntax: form });
            }
        }
    }
    Ok(ParamWords { params: params.unwrap_or_default(), key_values: added })
}

impl ParamWords {
    /// Merges the parameters of a stored tool; `KEY=VALUE` overrides the JSON object.
    pub(crate) fn resolve(self, tool: &str, toolbox: &Toolbox) -> Result<Params, CliError> {
        let texts = if self.key_values.iter().any(|added| added.syntax == ValueSyntax::Declared) {
            string_parameters(tool, toolbox)
        } else {
            Vec::new()
        };
        self.merge(&texts)
    }

    /// Merges the parameters of a draft, which declares none: a value is JSON if it can be, else text.
    pub(crate) fn resolve_for_draft(self) -> Result<Params, CliError> {
        self.merge(&[])
    }

    fn merge(self, texts: &[String]) -> Result<Params, CliError> {
        if self.key_values.is_empty() {
            return Ok(self.params);
        }
        let mut all: Map<String, Value> = serde_json::from_str(self.params.as_str()).map_err(std::io::Error::from)?;
        for KeyValue { key, text, syntax: form } in self.key_values {
            let value = match (form, serde_json::from_str(&text)) {
                (ValueSyntax::Json, Err(error)) => {
                    let message =
                        message!("the value of `{key}` is not valid JSON: {error}", key = single_line(&key), error);
                    return Err(CliError::usage(message, msgid!("use KEY=VALUE to pass text")));
                }
                (ValueSyntax::Declared, Ok(_)) if texts.contains(&key) => Value::String(text),
                (_, Ok(value)) => value,
                (ValueSyntax::Declared, Err(_)) => Value::String(text),
            };
            all.insert(key, value);
        }
        Ok(Params::parse(Value::Object(all).to_string())?)
    }
}

/// Returns the parameters that the tool declares as strings. An unknown tool is reported later, by
/// the run itself.
fn string_parameters(tool: &str, toolbox: &Toolbox) -> Vec<String> {
    let schema = || {
        let entry = toolbox.find(tool).ok()?;
        let spec = toolbox.store()?.catalog().spec(&entry).ok()?;
        Schema::compile(spec.parameters()).ok()
    };
    let Some(schema) = schema() else { return Vec::new() };
    let is_text = |kind: &str| kind.split(" | ").all(|one| matches!(one, "string" | "null"));
    let texts = schema.parameters().iter().filter(|parameter| is_text(&parameter.kind));
    texts.map(|parameter| parameter.name.clone()).collect()
}
