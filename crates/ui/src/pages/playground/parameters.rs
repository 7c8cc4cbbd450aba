//! The parameters of a run as a form made of their schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::{Markup, html};
use serde::de::IgnoredAny;
use serde_json::Value;
use toolcell::{Parameter, Params};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, message, tr};

use crate::markup::text;
use crate::source::PageError;

/// What the person typed for each parameter.
#[derive(Debug, Default)]
pub(super) struct Inputs(pub(super) BTreeMap<String, String>);

/// How a parameter is typed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    /// One of the values that the schema lists.
    Choice,
    /// `true` or `false`.
    Switch,
    /// A text as it is.
    Text,
    /// A number.
    Number,
    /// A value as JSON.
    Json,
}

impl Control {
    fn for_parameter(parameter: &Parameter) -> Self {
        match &*parameter.kind {
            _ if !parameter.allowed.is_empty() => Self::Choice,
            "boolean" => Self::Switch,
            "string" => Self::Text,
            "number" | "integer" => Self::Number,
            _ => Self::Json,
        }
    }
}

impl Inputs {
    /// Returns the parameters as JSON. What is empty and not required is left out.
    pub(super) fn to_params(&self, parameters: &[Parameter]) -> Result<Params, PageError> {
        let mut json = String::from("{");
        for parameter in parameters {
            let typed = self.0.get(&parameter.name).map(String::as_str).unwrap_or_default();
            let control = Control::for_parameter(parameter);
            let is_empty = if control == Control::Text { typed.is_empty() } else { typed.trim().is_empty() };
            if is_empty && !(parameter.required && control == Control::Text) {
                continue;
            }
            let value = if control == Control::Text {
                Value::from(typed).to_string()
            } else {
                let is_json = serde_json::from_str::<IgnoredAny>(typed).is_ok();
                if !is_json {
                    return Err(not_json(&parameter.name));
                }
                typed.trim().to_owned()
            };
            let comma = if json.len() > 1 { "," } else { "" };
            // Writing to a text does not fail.
            let _ = write!(json, "{comma}{}:{value}", Value::from(&*parameter.name));
        }
        json.push('}');
        Ok(Params::parse(json)?)
    }
}

fn not_json(name: &str) -> PageError {
    PageError {
        code: ErrorCode::ParametersInvalid,
        message: message!("the parameter `{name}` is not JSON", name),
        hint: message!("write a number, `true`, a text in double quotes, a list, or an object"),
    }
}

/// Shows a field for each parameter; without any, one field for all of them. While the schema is invalid (`None`), what was typed is
/// kept out of sight.
pub(super) fn inputs_markup(parameters: Option<&[Parameter]>, inputs: &Inputs, whole: &str, lang: Lang) -> Markup {
    let Some(parameters) = parameters else {
        return html! {
            fieldset #parameters {
                legend { (tr!(lang, "Parameters")) }
                p.quiet { (tr!(lang, "The fields are made of the schema, which has an error.")) }
                @for (name, typed) in &inputs.0 { input type="hidden" name={ "p." (name) } value=(typed); }
                input type="hidden" name="parameters" value=(whole);
            }
        };
    };
    html! {
        fieldset #parameters {
            legend { (tr!(lang, "Parameters")) }
            @if parameters.is_empty() {
                div.field {
                    label for="p-all" { (tr!(lang, "as a JSON object")) }
                    textarea #p-all name="parameters" rows="3" spellcheck="false" autocapitalize="off" placeholder="{}" { "\n" (whole) }
                }
            }
            @for (at, parameter) in parameters.iter().enumerate() {
                (field(&format!("p-{at}"), parameter, inputs.0.get(&parameter.name).map(String::as_str).unwrap_or_default(), lang))
            }
        }
    }
}

fn field(id: &str, parameter: &Parameter, typed: &str, lang: Lang) -> Markup {
    let name = format!("p.{}", parameter.name);
    let help = format!("{id}-help");
    let default = parameter.default.as_ref().map(Value::to_string);
    let described = (!parameter.description.is_empty()).then_some(&*help);
    html! {
        div.field {
            label for=(id) {
                code { (text(&parameter.name)) } " "
                span.quiet { (text(&parameter.kind)) @if parameter.required { " " (tr!(lang, "(required)")) } }
            }
            @match Control::for_parameter(parameter) {
                Control::Choice => select id=(id) name=(name) aria-describedby=[described] {
                    option value="" { (default.as_deref().unwrap_or_default()) }
                    @for value in &parameter.allowed {
                        @let value = value.to_string();
                        option value=(value) selected[value == typed] { (text(&value)) }
                    }
                },
                Control::Switch => select id=(id) name=(name) aria-describedby=[described] {
                    option value="" { (default.as_deref().unwrap_or_default()) }
                    @for value in ["true", "false"] { option value=(value) selected[value == typed] { (value) } }
                },
                Control::Number => input id=(id) name=(name) value=(typed) inputmode="decimal" autocomplete="off" placeholder=[default] aria-describedby=[described];,
                Control::Text => textarea id=(id) name=(name) rows="1" autocomplete="off" placeholder=[default] aria-describedby=[described] { "\n" (typed) },
                Control::Json => textarea id=(id) name=(name) rows="3" spellcheck="false" autocapitalize="off" placeholder=(default.as_deref().unwrap_or("JSON")) aria-describedby=[described] { "\n" (typed) },
            }
            @if described.is_some() { p.quiet id=(help) { (text(&parameter.description)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcell::Schema;

    use super::*;

    fn params(declared: &Value, typed: &[(&str, &str)]) -> Result<String, ErrorCode> {
        let schema = Schema::compile(declared).unwrap();
        let inputs = typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let params = Inputs(inputs).to_params(schema.parameters());
        params.map(|params| params.as_str().to_owned()).map_err(|error| error.code)
    }

    #[test]
    fn fields_become_parameters() {
        let declared = json!({
            "text": { "type": "string", "required": true },
            "note": { "type": "string" },
            "n": { "type": "number" },
            "on": { "type": "boolean" },
            "kind": { "type": "string", "enum": ["a", "b"] },
            "list": { "type": "array" },
        });
        let given = [
            ("text", "a\n\"b\""),
            ("n", " 1e3 "),
            ("on", "true"),
            ("kind", "\"b\""),
            ("list", "[1, \"x\"]"),
            ("unknown", "1"),
        ];
        let expected = json!({ "text": "a\n\"b\"", "n": 1e3, "on": true, "kind": "b", "list": [1, "x"] });
        assert_eq!(serde_json::from_str::<Value>(&params(&declared, &given).unwrap()).unwrap(), expected);
        // An empty text is one where a text is required.
        assert_eq!(params(&declared, &[]).unwrap(), "{\"text\":\"\"}");
    }

    #[test]
    fn what_is_not_json_is_named() {
        let declared = json!({ "n": { "type": "number" } });
        for wrong in ["one", "1 2", "{\"a\":1}}", "NaN"] {
            assert_eq!(params(&declared, &[("n", wrong)]), Err(ErrorCode::ParametersInvalid), "{wrong}");
        }
    }
}
