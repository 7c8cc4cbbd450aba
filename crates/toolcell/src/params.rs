//! The parameters that a tool declares, and the check of a call's parameters against them.
//!
//! Invariant: [`Args`] passed the schema that made them. What a tool declares is decided when it is declared: a
//! [`Schema`] contradicts itself nowhere, refers to nothing outside of itself, has patterns that are matched in linear
//! time, and takes time and stack to check that grow with the parameters, not with the ways through the schema. The work
//! of a check is counted before it is done, and parameters that would take too much are refused.
//!
//! The order is defaults, coercion, validation. So a default is validated like anything else, and what is filled in and
//! coerced once is left alone the next time.

mod bounds;
mod contradiction;
mod cost;
mod declared;
mod error;
mod fill;
mod multiple;
mod pattern;
mod plan;
mod problem;
mod read;
mod scalar;
mod short;
mod shown;
mod survey;
#[cfg(test)]
mod tests;
mod types;
mod unique;

use serde_json::{Value, json};
use toolcell_host::Params;

pub(crate) use cost::STEP_LIMIT;
use declared::Compiled;
pub use error::{ParamProblem, ParamsError, SchemaError};
use fill::{Coercion, FILL_LIMIT, Fill};

/// How many values the parameters may have for each fault of them to be listed.
const LIST_LIMIT: usize = 100_000;

/// What a tool declares of its parameters, compiled.
///
/// Make it once for each tool, and check every call with it. It is immutable and may be shared by threads.
#[derive(Debug)]
pub struct Schema {
    declared: Option<Declared>,
}

/// What is there where anything is declared.
#[derive(Debug)]
struct Declared {
    schema: Value,
    compiled: Compiled,
}

/// One parameter, for those who call the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What it is called.
    pub name: String,
    /// Its type or types, such as `number` or `string | null`; `any` where none is declared.
    pub kind: String,
    /// What it is for; empty where nothing is said.
    pub description: String,
    /// Whether a call has to have it.
    pub required: bool,
    /// What stands for it where a call does not have it.
    pub default: Option<Value>,
    /// The only values that it may have; empty where they are not listed.
    pub allowed: Vec<Value>,
}

/// Parameters that passed what the tool declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Args {
    params: Params,
    value: Option<Value>,
}

impl Args {
    /// The parameters as the tool gets them: the text that was checked, unless something was filled in or coerced.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The same as a value; none where the tool declares nothing, and nothing was looked at.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }
}

impl Schema {
    /// What declares nothing: anything passes.
    #[must_use]
    pub const fn anything() -> Self {
        Self { declared: None }
    }

    /// Compiles what a tool declares: null, the short form, or a JSON Schema.
    ///
    /// - Null and `{}` declare nothing, and anything passes.
    /// - The short form is `{ [name]: { type, description, default?, enum?, minimum?, maximum?, required? } }`, where
    ///   `type` is `string`, `number`, `boolean`, `object` or `array`. A parameter is optional unless `required` is true.
    ///   What is in a list or an object can be said as JSON Schema does it: by `items` and `properties`.
    /// - It is a JSON Schema where `$schema` or `type` is a text, or where `properties` is an object with no text under
    ///   `type`. In the short form everything is an object with a text under `type`, so the two are never mistaken,
    ///   whatever the parameters are called. The draft is 2020-12 unless `$schema` names another; formats are checked, international names
    ///   (`idn-hostname`, `idn-email`) by IDNA (UTS #46, RFC 5890 to 5893).
    ///
    /// Where parameters are declared, others are refused. A JSON Schema allows them by `additionalProperties`, or by
    /// saying what they are (`patternProperties`, `$ref`, `allOf` and the like).
    ///
    /// # Errors
    /// `parameters-invalid`: a definition that is none or contradicts itself, a reference that leads out of the schema,
    /// a pattern with look-around or a back-reference, and a schema that is too large or could be checked in too many ways.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::{Params, Schema};
    ///
    /// let schema = Schema::compile(&json!({
    ///     "numbers": { "type": "array", "description": "what to take the mean of", "required": true },
    ///     "precision": { "type": "number", "description": "digits", "default": 2, "minimum": 0, "maximum": 10 }
    /// }))?;
    /// let args = schema.check(Params::parse(r#"{"numbers": [1, 2], "precision": "3"}"#)?)?;
    /// assert_eq!(args.value(), Some(&json!({ "numbers": [1, 2], "precision": 3 })));
    ///
    /// let error = Schema::compile(&json!({ "n": { "type": "number", "minimum": 2, "maximum": 1 } })).unwrap_err();
    /// assert_eq!(error.to_string(), "`n` contradicts itself: its `minimum` 2 is above its `maximum` 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(declared: &Value) -> Result<Self, SchemaError> {
        let declared = match declared {
            Value::Null => return Ok(Self { declared: None }),
            Value::Object(declared) if declared.is_empty() => return Ok(Self { declared: None }),
            Value::Object(declared) => declared,
            other => return Err(SchemaError::NotAnObject { is: shown::value(other) }),
        };
        let schema =
            if short::is_json_schema(declared) { declared::closed(declared) } else { short::to_json_schema(declared)? };
        let compiled = declared::compile(&schema)?;
        Ok(Self { declared: Some(Declared { schema, compiled }) })
    }

    /// Compiles the JSON Schema of a single value: what it declares is the only field of an object, `field`.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub(crate) fn of_value(field: &str, declared: &Value) -> Result<Self, SchemaError> {
        if !declared.is_object() && !declared.is_boolean() {
            return Err(SchemaError::NotAnObject { is: shown::value(declared) });
        }
        let mut declared = declared.clone();
        let mut schema = json!({ "type": "object", "required": [field], "additionalProperties": false });
        // What it refers to stays where its references lead.
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(value) = declared.as_object_mut().and_then(|declared| declared.shift_remove(key)) {
                schema[key] = value;
            }
        }
        schema["properties"] = json!({ field: declared });
        let compiled = declared::compile(&schema)?;
        Ok(Self { declared: Some(Declared { schema, compiled }) })
    }

    /// Checks a value as it is: nothing is filled in, and nothing coerced.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn passes(&self, value: &Value) -> Result<(), ParamsError> {
        match &self.declared {
            Some(declared) if !declared.is_valid(value)? => Err(declared.faults(value)),
            _ => Ok(()),
        }
    }

    /// The parameters, in the order declared.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        self.declared.as_ref().map(|declared| declared.compiled.parameters.as_slice()).unwrap_or_default()
    }

    /// What is declared, as a JSON Schema; none where nothing is.
    #[must_use]
    pub fn json_schema(&self) -> Option<&Value> {
        self.declared.as_ref().map(|declared| &declared.schema)
    }

    /// Checks the parameters of a call. Where nothing is declared, or nothing is filled in or coerced, the text is kept
    /// byte for byte.
    ///
    /// # Errors
    /// `parameters-missing` where required ones are missing and nothing else is wrong; `parameters-invalid` with
    /// everything that is wrong.
    pub fn check(&self, params: Params) -> Result<Args, ParamsError> {
        match &self.declared {
            None => Ok(Args { params, value: None }),
            Some(declared) => {
                let value = read::value(params.as_str())?;
                declared.check(value, Some(params))
            }
        }
    }

    /// The steps that checking parameters takes, if that many may be taken.
    pub(crate) fn steps(&self, params: &Value) -> Option<u64> {
        match &self.declared {
            None => Some(0),
            Some(declared) => declared.compiled.costs.can_check(params).ok(),
        }
    }

    /// Checks parameters that are values already, such as those that a gate changed.
    ///
    /// # Errors
    /// As [`check`](Self::check), and `parameters-invalid` for what is no object.
    pub fn check_value(&self, params: Value) -> Result<Args, ParamsError> {
        if !params.is_object() {
            return Err(ParamsError::one("", format!("is {}, expected an object", shown::value(&params))));
        }
        read::bounded(&params)?;
        match &self.declared {
            None => Ok(Args { params: read::params(&params)?, value: None }),
            Some(declared) => declared.check(params, None),
        }
    }
}

impl Declared {
    /// `text` is what the value was read from.
    fn check(&self, mut value: Value, text: Option<Params>) -> Result<Args, ParamsError> {
        let states = &self.compiled.states;
        let mut fill = Fill::new(states, Coercion::Lossless);
        fill.value(&mut value, 0).map_err(|_| {
            ParamsError::one("", format!("has so much left out that more than {FILL_LIMIT} bytes were filled in"))
        })?;
        if !self.is_valid(&value)? {
            return Err(self.faults(&value));
        }
        let params = match text {
            Some(text) if !fill.changed() => text,
            _ => read::params(&value)?,
        };
        Ok(Args { params, value: Some(value) })
    }

    /// Whether a value passes, where that can be told with the work that a call is given.
    fn is_valid(&self, value: &Value) -> Result<bool, ParamsError> {
        let Compiled { validator, costs, .. } = &self.compiled;
        costs.can_check(value).map_err(|_| ParamsError::TooMuchWork { limit: STEP_LIMIT })?;
        Ok(validator.is_valid(value))
    }

    /// What is wrong with a value that does not pass.
    fn faults(&self, value: &Value) -> ParamsError {
        let Compiled { validator, bounds, costs, .. } = &self.compiled;
        if !bounds.can_list(value) {
            return ParamsError::one(
                "",
                "does not match the schema, which refers to itself in too many ways to say where",
            );
        }
        if read::has_more_values_than(value, LIST_LIMIT) || !costs.can_list(value) {
            if !costs.can_tell_first() {
                return ParamsError::one("", "does not match the schema, in more places than can be told");
            }
            return problem::error(validator.validate(value).err().into_iter(), &self.schema);
        }
        problem::error(validator.iter_errors(value), &self.schema)
    }
}
