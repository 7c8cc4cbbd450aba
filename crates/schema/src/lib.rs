//! The parameter schema of a tool, and the check of a call's parameters against it.
//!
//! Invariant: [`Args`] passed the schema that created them. A declaration is checked when the tool
//! is created: a [`Schema`] contains no contradiction, has no external references, matches its
//! patterns in linear time, and takes time and stack to check that grow with the parameters, not
//! with the number of paths through the schema. The work of a check is counted before it is done,
//! and parameters that would take too much are refused.
//!
//! The order is defaults, coercion, validation: a default is validated like any other value, and
//! applying defaults and coercion twice changes nothing.

mod coerce;
mod coercion_plan;
mod compile;
mod complexity;
mod cost;
mod defaults;
mod display;
mod error;
mod form;
mod messages;
mod multiple;
mod parse;
mod pattern;
mod satisfiability;
mod shorthand;
mod signature;
mod subschemas;
#[cfg(test)]
mod tests;
mod types;
mod unique;

use serde_json::{Value, json};
use toolcell_i18n::{message, msgid};
use toolcell_json::Params;

use compile::CompiledSchema;
pub use cost::MAX_CHECK_STEPS;
use defaults::{Coercion, DefaultFiller, MAX_FILLED_BYTES};
pub use error::{ParamProblem, ParamsError, SchemaError};
pub use form::{FieldKind, FormContent, FormError, FormField, FormOption, QuestionForm};
pub use signature::signature;

/// The maximum number of values in the parameters for which every fault is listed.
const MAX_LISTED_VALUES: usize = 100_000;

/// The compiled parameter schema of a tool.
///
/// Compile it once for each tool, and check every call with it. It is immutable and can be shared
/// between threads.
#[derive(Debug)]
pub struct Schema {
    declared: Option<Declaration>,
}

/// The schema of a tool that declares parameters.
#[derive(Debug)]
struct Declaration {
    schema: Value,
    compiled: CompiledSchema,
}

/// The description of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type or types, such as `number` or `string | null`; `any` if none is declared.
    pub kind: String,
    /// The description, empty by default.
    pub description: String,
    /// Whether the parameter is required.
    pub required: bool,
    /// The default value.
    pub default: Option<Value>,
    /// The allowed values; empty if they are not listed.
    pub allowed: Vec<Value>,
}

/// Parameters that passed the tool's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Args {
    params: Params,
    value: Option<Value>,
}

impl Args {
    /// Returns the parameters that the tool gets: the checked text, unless a default or a coercion
    /// changed it.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the parameters as a value; `None` if the tool declares no schema, so that nothing
    /// was parsed.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }
}

impl Schema {
    /// Creates a schema that accepts anything.
    #[must_use]
    pub const fn any() -> Self {
        Self { declared: None }
    }

    /// Compiles a declaration: null, the short form, or a JSON Schema.
    ///
    /// - Null and `{}` declare nothing, and any parameters pass.
    /// - The short form is `{ [name]: { type, description, default?, enum?, minimum?, maximum?,
    ///   required? } }`, where `type` is `string`, `number`, `boolean`, `object` or `array`. A
    ///   parameter is optional unless `required` is true. The items of a list and the properties of
    ///   an object are declared by `items` and `properties`, as in JSON Schema.
    /// - A declaration is a JSON Schema if `$schema` or `type` is a string, or if `properties` is
    ///   an object without a string under `type`. In the short form every entry is an object with a
    ///   string under `type`, so the two cannot be confused, whatever the names of the parameters.
    ///   The draft is 2020-12 unless `$schema` names another; formats are checked, international
    ///   names (`idn-hostname`, `idn-email`) by IDNA (UTS #46, RFC 5890 to 5893).
    ///
    /// Undeclared parameters are refused if any are declared. A JSON Schema allows them by
    /// `additionalProperties`, or by describing them (`patternProperties`, `$ref`, `allOf` and the
    /// like).
    ///
    /// # Errors
    /// `parameters-invalid`: a malformed or contradictory definition, a reference that leads out of
    /// the schema, a pattern with look-around or a back-reference, and a schema that is too large
    /// or has too many paths.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell_json::Params;
    /// use toolcell_schema::Schema;
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
            other => return Err(SchemaError::NotAnObject { is: display::value(other) }),
        };
        let schema = if shorthand::is_json_schema(declared) {
            compile::close_properties(declared)
        } else {
            shorthand::to_json_schema(declared)?
        };
        let compiled = compile::compile(&schema)?;
        Ok(Self { declared: Some(Declaration { schema, compiled }) })
    }

    /// Compiles the JSON Schema of a single value, as the only field `field` of an object.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn for_value(field: &str, declared: &Value) -> Result<Self, SchemaError> {
        if !declared.is_object() && !declared.is_boolean() {
            return Err(SchemaError::NotAnObject { is: display::value(declared) });
        }
        let mut declared = declared.clone();
        let mut schema = json!({ "type": "object", "required": [field], "additionalProperties": false });
        // The definitions stay at the root, where the references point to.
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(value) = declared.as_object_mut().and_then(|declared| declared.shift_remove(key)) {
                schema[key] = value;
            }
        }
        schema["properties"] = json!({ field: declared });
        let compiled = compile::compile(&schema)?;
        Ok(Self { declared: Some(Declaration { schema, compiled }) })
    }

    /// Validates a value without defaults and coercion.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn validate(&self, value: &Value) -> Result<(), ParamsError> {
        match &self.declared {
            Some(declared) if !declared.is_valid(value)? => Err(declared.to_error(value)),
            _ => Ok(()),
        }
    }

    /// Returns the parameters, in the order declared.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        self.declared.as_ref().map(|declared| declared.compiled.parameters.as_slice()).unwrap_or_default()
    }

    /// Returns the declaration as a JSON Schema; `None` if nothing is declared.
    #[must_use]
    pub fn json_schema(&self) -> Option<&Value> {
        self.declared.as_ref().map(|declared| &declared.schema)
    }

    /// Checks the parameters of a call. If nothing is declared, filled in or coerced, the text is
    /// kept byte for byte.
    ///
    /// # Errors
    /// `parameters-missing` if required parameters are missing and nothing else is wrong;
    /// `parameters-invalid` with all faults otherwise.
    pub fn check(&self, params: Params) -> Result<Args, ParamsError> {
        match &self.declared {
            None => Ok(Args { params, value: None }),
            Some(declared) => {
                let value = parse::parse_value(params.as_str())?;
                declared.check(value, Some(params))
            }
        }
    }

    /// Returns the number of steps of checking the parameters; `None` if it exceeds the limit.
    #[must_use]
    pub fn check_steps(&self, params: &Value) -> Option<u64> {
        match &self.declared {
            None => Some(0),
            Some(declared) => declared.compiled.costs.count_steps(params).ok(),
        }
    }

    /// Checks parameters that are already parsed, such as those that a hook changed.
    ///
    /// # Errors
    /// As [`check`](Self::check), and `parameters-invalid` for a value that is not an object.
    pub fn check_value(&self, params: Value) -> Result<Args, ParamsError> {
        if !params.is_object() {
            let value = display::value(&params);
            return Err(ParamsError::single("", message!("is {value}, expected an object", value)));
        }
        parse::check_depth(&params)?;
        match &self.declared {
            None => Ok(Args { params: parse::to_params(&params)?, value: None }),
            Some(declared) => declared.check(params, None),
        }
    }
}

impl Declaration {
    /// Fills in defaults, coerces and validates. `text` is the source of the value.
    fn check(&self, mut value: Value, text: Option<Params>) -> Result<Args, ParamsError> {
        let states = &self.compiled.states;
        let mut fill = DefaultFiller::new(states, Coercion::Lossless);
        fill.fill_value(&mut value, 0).map_err(|_| {
            ParamsError::single("", message!("needs more than {limit} bytes of defaults", limit = MAX_FILLED_BYTES))
        })?;
        if !self.is_valid(&value)? {
            return Err(self.to_error(&value));
        }
        let params = match text {
            Some(text) if !fill.has_changed() => text,
            _ => parse::to_params(&value)?,
        };
        Ok(Args { params, value: Some(value) })
    }

    /// Returns whether a value is valid, or an error if that takes too many steps.
    fn is_valid(&self, value: &Value) -> Result<bool, ParamsError> {
        let CompiledSchema { validator, costs, .. } = &self.compiled;
        costs.count_steps(value).map_err(|_| ParamsError::TooMuchWork { limit: MAX_CHECK_STEPS })?;
        Ok(validator.is_valid(value))
    }

    /// Returns the faults of an invalid value.
    fn to_error(&self, value: &Value) -> ParamsError {
        let CompiledSchema { validator, bounds, costs, .. } = &self.compiled;
        if !bounds.can_list(value) {
            let message = msgid!("does not match the schema, which is too recursive to report where");
            return ParamsError::single("", message);
        }
        if parse::has_more_values_than(value, MAX_LISTED_VALUES) || !costs.can_list(value) {
            if !costs.can_report_first() {
                return ParamsError::single("", msgid!("does not match the schema, in too many places to list"));
            }
            return messages::to_params_error(validator.validate(value).err().into_iter(), &self.schema);
        }
        messages::to_params_error(validator.iter_errors(value), &self.schema)
    }
}
