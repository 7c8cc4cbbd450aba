//! The form of a question that an MCP server asks the user: an object of primitive fields (MCP 2025-11-25,
//! client/elicitation, requested schema).
//!
//! Invariant: a form is flat and bounded, and a [`FormContent`] passed the form that created it. The names of fields are
//! plain words, so that they look like what they are; all other texts are as the server wrote them.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolcell_i18n::{message, msgid};

use super::error::{ParamProblem, ParamsError, SchemaError};
use super::{Schema, parse};

/// The maximum number of fields of a form.
const MAX_FIELDS: usize = 32;
/// The maximum number of options of a field.
const MAX_OPTIONS: usize = 100;
/// The maximum length of the name of a field, in characters.
const MAX_NAME_CHARS: usize = 64;
/// The maximum length of any other text of a form, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// The maximum size of the content of a form, in bytes of JSON.
const MAX_CONTENT_BYTES: usize = 64 << 10;
/// Keywords that make a schema more than a primitive type. Others that are not known are annotations.
const COMPOSED: [&str; 10] =
    ["$ref", "allOf", "anyOf", "dependentSchemas", "if", "items", "not", "oneOf", "patternProperties", "properties"];
/// Formats of a text.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A form: its fields in the order in which they were declared.
#[derive(Debug, Clone)]
pub struct QuestionForm {
    fields: Vec<FormField>,
    schema: Arc<Schema>,
}

/// A field of a form.
#[derive(Debug, Clone)]
pub struct FormField {
    /// The name.
    pub name: String,
    /// The title, as the server wrote it.
    pub title: Option<String>,
    /// The description, as the server wrote it.
    pub description: Option<String>,
    /// Whether it has to be filled in.
    pub is_required: bool,
    /// The type of its value.
    pub kind: FieldKind,
    /// The value that the server proposes, which is valid.
    pub default: Option<Value>,
    /// The bounds of its value, as JSON Schema writes them.
    bounds: Map<String, Value>,
    schema: Arc<Schema>,
}

/// The type of the value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// True or false.
    Boolean,
    /// One of several texts.
    Choice(Vec<FormOption>),
    /// Some of several texts.
    Choices(Vec<FormOption>),
}

/// One of the texts that a field may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormOption {
    /// The value.
    pub value: String,
    /// What stands for it, as the server wrote it.
    pub title: String,
}

/// The content of a form that was filled in, and is valid.
#[derive(Debug, Clone, PartialEq)]
pub struct FormContent(Map<String, Value>);

impl FormContent {
    /// Returns the values of the fields.
    #[must_use]
    pub const fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the content as a JSON object.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Why a schema is not one of a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The schema is not an object of fields.
    #[error("the requested schema is not a flat object of fields")]
    NotFlat,
    /// There are too many fields.
    #[error("the requested schema has {count} fields, the limit is {limit}")]
    TooManyFields {
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The name of a field is not a word.
    #[error("the requested schema has a field whose name is not a word: {name}")]
    Name {
        /// The name, escaped and truncated.
        name: String,
    },
    /// A field is of no primitive type.
    #[error("the field `{name}` of the requested schema is not a text, a number, a truth value or a choice")]
    NotPrimitive {
        /// The name.
        name: String,
    },
    /// A text of a field is too long, or it has too many options.
    #[error("the field `{name}` of the requested schema has too long a text or too many options")]
    TooLong {
        /// The name.
        name: String,
    },
    /// A field that is required is not declared.
    #[error("the requested schema requires a field that it does not declare")]
    UndeclaredRequired,
    /// The schema contradicts itself.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl QuestionForm {
    /// Parses a requested schema.
    ///
    /// # Errors
    /// A field is an object, a list of something else than options, or composed of several schemas; the form is too large,
    /// or contradicts itself.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell_schema::QuestionForm;
    ///
    /// let form = QuestionForm::parse(&json!({
    ///     "type": "object",
    ///     "properties": { "seats": { "type": "integer", "minimum": 1 } },
    ///     "required": ["seats"],
    /// }))?;
    /// assert_eq!(form.check(json!({ "seats": 2 }))?.fields()["seats"], 2);
    /// assert!(form.check(json!({ "seats": 0 })).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(schema: &Value) -> Result<Self, FormError> {
        let root = schema.as_object().filter(|root| root.get("type") == Some(&json!("object")));
        let root = root.filter(|root| !is_composed(root, &["properties"])).ok_or(FormError::NotFlat)?;
        let declared = root.get("properties").and_then(Value::as_object).ok_or(FormError::NotFlat)?;
        if declared.len() > MAX_FIELDS {
            return Err(FormError::TooManyFields { count: declared.len(), limit: MAX_FIELDS });
        }
        let required: Vec<&str> = match root.get("required") {
            None => Vec::new(),
            Some(Value::Array(names)) => {
                names.iter().map(Value::as_str).collect::<Option<_>>().ok_or(FormError::NotFlat)?
            }
            Some(_) => return Err(FormError::NotFlat),
        };
        if required.iter().any(|name| !declared.contains_key(*name)) {
            return Err(FormError::UndeclaredRequired);
        }
        let fields = declared
            .iter()
            .map(|(name, field)| FormField::parse(name, field, required.contains(&name.as_str())))
            .collect::<Result<Vec<FormField>, FormError>>()?;
        let schema = Arc::new(Schema::compile(&object_schema(&fields, FormField::value_schema))?);
        Ok(Self { fields, schema })
    }

    /// Returns the fields, in the order declared.
    #[must_use]
    pub fn fields(&self) -> &[FormField] {
        &self.fields
    }

    /// Checks what was filled in. An optional field whose value is null was left out.
    ///
    /// # Errors
    /// All faults, as of parameters.
    pub fn check(&self, content: Value) -> Result<FormContent, ParamsError> {
        if parse::is_longer_than(&content, MAX_CONTENT_BYTES) {
            let what = message!("has more than {limit} bytes", limit = MAX_CONTENT_BYTES);
            return Err(ParamsError::single("", what));
        }
        let Value::Object(mut content) = content else {
            let value = super::display::value(&content);
            return Err(ParamsError::single("", message!("is {value}, expected an object", value)));
        };
        let is_optional = |name: &str| self.fields.iter().any(|field| field.name == name && !field.is_required);
        content.retain(|name, value| !(value.is_null() && is_optional(name)));
        let content = Value::Object(content);
        self.schema.validate(&content).map_err(with_each_problem)?;
        match content {
            Value::Object(content) => Ok(FormContent(content)),
            // It was one before.
            _ => Ok(FormContent(Map::new())),
        }
    }

    /// Returns the requested schema as a client shows it. `display` makes each text of the server safe to show; a default
    /// that it changes is left out.
    #[must_use]
    pub fn to_json_schema(&self, display: impl Fn(&str) -> String) -> Value {
        object_schema(&self.fields, |field| field.display_schema(&display))
    }
}

impl FormField {
    fn parse(name: &str, declared: &Value, is_required: bool) -> Result<Self, FormError> {
        if !is_word(name) {
            return Err(FormError::Name { name: escaped(name) });
        }
        let name = name.to_owned();
        let not_primitive = || FormError::NotPrimitive { name: name.clone() };
        let declared = declared.as_object().ok_or_else(not_primitive)?;
        let text = |key: &str| declared.get(key).and_then(Value::as_str).map(str::to_owned);
        let (title, description) = (text("title"), text("description"));
        let options = match text("type").as_deref() {
            Some("string") if declared.contains_key("oneOf") => Some(titled_options(declared.get("oneOf"))),
            Some("string") if declared.contains_key("enum") => {
                Some(plain_options(declared.get("enum"), declared.get("enumNames")))
            }
            Some("array") => {
                let items = declared.get("items").and_then(Value::as_object).ok_or_else(not_primitive)?;
                if is_composed(items, &["anyOf", "oneOf"]) {
                    return Err(not_primitive());
                }
                let titled = items.get("anyOf").or_else(|| items.get("oneOf"));
                Some(
                    titled
                        .map_or_else(|| plain_options(items.get("enum"), None), |titled| titled_options(Some(titled))),
                )
            }
            _ => None,
        };
        let options = options.map(|options| options.filter(|options| !options.is_empty()).ok_or_else(not_primitive));
        let (kind, allowed, known): (FieldKind, &[&str], &[&str]) =
            match (text("type").as_deref(), options.transpose()?) {
                (Some("string"), Some(options)) => (FieldKind::Choice(options), &["oneOf"], &[]),
                (Some("array"), Some(options)) => (FieldKind::Choices(options), &["items"], &["minItems", "maxItems"]),
                (Some("string"), None) => (FieldKind::Text, &[], &["minLength", "maxLength"]),
                (Some("number"), None) => (FieldKind::Number, &[], &["minimum", "maximum"]),
                (Some("integer"), None) => (FieldKind::Integer, &[], &["minimum", "maximum"]),
                (Some("boolean"), None) => (FieldKind::Boolean, &[], &[]),
                _ => return Err(not_primitive()),
            };
        if is_composed(declared, allowed) {
            return Err(not_primitive());
        }
        let mut bounds: Map<String, Value> =
            known.iter().filter_map(|key| Some(((*key).to_owned(), declared.get(*key)?.clone()))).collect();
        if kind == FieldKind::Text
            && let Some(format) = text("format").filter(|format| FORMATS.contains(&format.as_str()))
        {
            bounds.insert("format".to_owned(), format.into());
        }
        if is_too_long(&kind, [&title, &description]) {
            return Err(FormError::TooLong { name });
        }
        let mut field = Self {
            name,
            title,
            description,
            is_required,
            kind,
            default: None,
            bounds,
            schema: Arc::new(Schema::any()),
        };
        field.schema = Arc::new(Schema::for_value(&field.name, &field.value_schema())?);
        field.default = declared.get("default").filter(|value| field.check(value).is_ok()).cloned();
        Ok(field)
    }

    /// Checks a value of this field alone.
    ///
    /// # Errors
    /// All faults, as of parameters.
    pub fn check(&self, value: &Value) -> Result<(), ParamsError> {
        self.schema.validate(&Value::from_iter([(self.name.as_str(), value.clone())]))
    }

    /// Returns the schema of its values, without texts.
    fn value_schema(&self) -> Value {
        let values = |options: &[FormOption]| options.iter().map(|option| option.value.clone()).collect::<Vec<_>>();
        let mut schema = match &self.kind {
            FieldKind::Text => json!({ "type": "string" }),
            FieldKind::Number => json!({ "type": "number" }),
            FieldKind::Integer => json!({ "type": "integer" }),
            FieldKind::Boolean => json!({ "type": "boolean" }),
            FieldKind::Choice(options) => json!({ "type": "string", "enum": values(options) }),
            FieldKind::Choices(options) => {
                json!({ "type": "array", "items": { "type": "string", "enum": values(options) } })
            }
        };
        self.add_bounds(&mut schema);
        schema
    }

    /// Returns the schema as a client shows it.
    fn display_schema(&self, display: &impl Fn(&str) -> String) -> Value {
        let titled = |options: &[FormOption]| {
            let titled = |option: &FormOption| json!({ "const": option.value, "title": display(&option.title) });
            options.iter().map(titled).collect::<Vec<_>>()
        };
        let is_plain = |options: &[FormOption]| {
            options.iter().all(|option| option.title == option.value && display(&option.value) == option.value)
        };
        let mut schema = match &self.kind {
            FieldKind::Choice(options) if !is_plain(options) => json!({ "type": "string", "oneOf": titled(options) }),
            FieldKind::Choices(options) if !is_plain(options) => {
                json!({ "type": "array", "items": { "anyOf": titled(options) } })
            }
            _ => self.value_schema(),
        };
        self.add_bounds(&mut schema);
        for (key, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                schema[key] = display(text).into();
            }
        }
        let is_shown = |value: &Value| match value {
            Value::String(text) => display(text) == *text,
            Value::Array(texts) => texts.iter().all(|text| text.as_str().is_some_and(|text| display(text) == text)),
            _ => true,
        };
        if let Some(default) = self.default.as_ref().filter(|default| is_shown(default)) {
            schema["default"] = default.clone();
        }
        schema
    }

    fn add_bounds(&self, schema: &mut Value) {
        for (key, bound) in &self.bounds {
            schema[key] = bound.clone();
        }
    }
}

fn object_schema(fields: &[FormField], to_schema: impl Fn(&FormField) -> Value) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.clone(), to_schema(field))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.is_required).map(|field| field.name.as_str()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Whether a field has a text that is too long, or too many options.
fn is_too_long(kind: &FieldKind, texts: [&Option<String>; 2]) -> bool {
    let options = match kind {
        FieldKind::Choice(options) | FieldKind::Choices(options) => options.as_slice(),
        _ => &[],
    };
    let texts = texts.into_iter().flatten().chain(options.iter().flat_map(|option| [&option.value, &option.title]));
    options.len() > MAX_OPTIONS || texts.into_iter().any(|text| text.chars().nth(MAX_TEXT_CHARS).is_some())
}

/// Whether a schema is composed of others, by other keywords than those that are allowed here.
fn is_composed(schema: &Map<String, Value>, allowed: &[&str]) -> bool {
    COMPOSED.iter().any(|key| schema.contains_key(*key) && !allowed.contains(key))
}

/// Returns an error that says what is wrong with each field, also if fields are missing only.
fn with_each_problem(error: ParamsError) -> ParamsError {
    match error {
        ParamsError::Missing { names } => {
            let problem = |name| ParamProblem { path: format!("/{name}"), message: msgid!("is missing").into() };
            ParamsError::Invalid { problems: names.into_iter().map(problem).collect(), more: 0 }
        }
        error => error,
    }
}

fn plain_options(values: Option<&Value>, titles: Option<&Value>) -> Option<Vec<FormOption>> {
    let titles = titles.and_then(Value::as_array);
    let option = |(at, value): (usize, &Value)| {
        let value = value.as_str()?.to_owned();
        let title = titles.and_then(|titles| titles.get(at)?.as_str()).unwrap_or(&value).to_owned();
        Some(FormOption { value, title })
    };
    values?.as_array()?.iter().enumerate().map(option).collect()
}

fn titled_options(options: Option<&Value>) -> Option<Vec<FormOption>> {
    let option = |option: &Value| {
        let value = option["const"].as_str()?.to_owned();
        let title = option["title"].as_str().unwrap_or(&value).to_owned();
        Some(FormOption { value, title })
    };
    options?.as_array()?.iter().map(option).collect()
}

/// Whether a name has only letters, digits, ASCII punctuation and single spaces inside. Fillers of Hangul, which are
/// letters, have no glyph.
fn is_word(name: &str) -> bool {
    let is_filler = |char: char| matches!(char, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    let is_plain = |char: char| char.is_ascii_graphic() || char == ' ' || (char.is_alphanumeric() && !is_filler(char));
    !name.is_empty()
        && name.chars().all(is_plain)
        && name.trim() == name
        && !name.contains("  ")
        && name.chars().nth(MAX_NAME_CHARS).is_none()
}

/// Returns the start of a text, in which all but ASCII is escaped.
fn escaped(text: &str) -> String {
    let mut shown = String::from("`");
    for char in text.chars().take(MAX_NAME_CHARS) {
        let _ = write!(shown, "{}", char.escape_default());
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: &Value) -> Result<QuestionForm, FormError> {
        QuestionForm::parse(&json!({ "type": "object", "properties": properties }))
    }

    #[test]
    fn each_primitive_type_is_a_field_and_keeps_its_bounds() {
        let declared = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "title": "Name", "minLength": 2, "maxLength": 5, "default": "Ann" },
                "mail": { "type": "string", "format": "email" },
                "age": { "type": "integer", "minimum": 0, "maximum": 150 },
                "share": { "type": "number", "minimum": 0, "maximum": 1, "default": 7 },
                "agrees": { "type": "boolean", "default": true },
                "color": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
                "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l" }] },
                "days": { "type": "array", "items": { "type": "string", "enum": ["mo", "tu"] }, "maxItems": 1 },
                "部屋": { "type": "array", "items": { "anyOf": [{ "const": "1", "title": "One" }] } },
            },
            "required": ["name"],
        });
        let form = QuestionForm::parse(&declared).unwrap();
        let shown = form.to_json_schema(str::to_owned);
        assert_eq!(shown["properties"]["name"], declared["properties"]["name"]);
        assert_eq!(shown["properties"]["share"], json!({ "type": "number", "minimum": 0, "maximum": 1 }));
        assert_eq!(shown["properties"]["color"]["oneOf"][1], json!({ "const": "g", "title": "Green" }));
        assert_eq!(shown["properties"]["days"], declared["properties"]["days"]);
        assert_eq!(shown["required"], json!(["name"]));
        let good =
            json!({ "name": "Bob", "mail": "a@b.example", "age": 3, "color": "r", "days": ["mo"], "agrees": null });
        let content = form.check(good).unwrap();
        assert_eq!((content.fields().len(), content.fields().get("agrees")), (5, None));
        assert_eq!(form.check(json!({})).unwrap_err().detail().to_string(), "/name is missing");
        for bad in [
            json!({}),
            json!({ "name": null }),
            json!({ "name": "B" }),
            json!({ "name": "Bobby B" }),
            json!({ "name": "Bob", "mail": "nowhere" }),
            json!({ "name": "Bob", "age": 1.5 }),
            json!({ "name": "Bob", "age": 151 }),
            json!({ "name": "Bob", "color": "Red" }),
            json!({ "name": "Bob", "days": ["mo", "tu"] }),
            json!({ "name": "Bob", "days": ["we"] }),
            json!({ "name": "Bob", "more": 1 }),
            json!({ "name": { "first": "Bob" } }),
            json!(["Bob"]),
            json!({ "name": "B".repeat(MAX_CONTENT_BYTES) }),
        ] {
            assert!(form.check(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_flat_is_no_form() {
        for field in [
            json!({ "type": "object", "properties": { "street": { "type": "string" } } }),
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "array", "items": { "type": "object" } }),
            json!({ "type": ["string", "null"] }),
            json!({ "type": "string", "anyOf": [{ "minLength": 1 }] }),
            json!({ "type": "string", "enum": [] }),
            json!({ "type": "string", "enum": [1] }),
            json!({ "$ref": "#/properties/x" }),
            json!({}),
            json!(true),
        ] {
            let error = form(&json!({ "x": field })).unwrap_err();
            assert_eq!(error, FormError::NotPrimitive { name: "x".to_owned() }, "{field}");
        }
        for schema in [json!({}), json!([]), json!({ "type": "object" }), json!({ "type": "string", "properties": {} })]
        {
            assert_eq!(QuestionForm::parse(&schema).unwrap_err(), FormError::NotFlat, "{schema}");
        }
        let required = json!({ "type": "object", "properties": {}, "required": ["x"] });
        assert_eq!(QuestionForm::parse(&required).unwrap_err(), FormError::UndeclaredRequired);
        let contradiction = form(&json!({ "x": { "type": "integer", "minimum": 2, "maximum": 1 } }));
        assert!(matches!(contradiction.unwrap_err(), FormError::Schema(_)));
    }

    #[test]
    fn a_form_is_bounded_and_its_names_are_words() {
        let many: Map<String, Value> = (0..33).map(|at| (format!("f{at}"), json!({ "type": "string" }))).collect();
        assert_eq!(form(&Value::Object(many)).unwrap_err(), FormError::TooManyFields { count: 33, limit: 32 });
        let long = json!({ "x": { "type": "string", "description": "d".repeat(1_001) } });
        assert_eq!(form(&long).unwrap_err(), FormError::TooLong { name: "x".to_owned() });
        for name in ["", " a", "a  b", "a\u{202e}b", "a\u{1b}[2J", "a\u{3164}", "a\u{200b}", "a\nb", &"n".repeat(65)] {
            let error = form(&json!({ name: { "type": "string" } })).unwrap_err();
            assert!(matches!(&error, FormError::Name { .. }) && error.to_string().is_ascii(), "{error}");
        }
    }

    #[test]
    fn texts_are_shown_as_the_host_shows_them_and_values_stay_what_they_are() {
        let upper = |text: &str| text.to_uppercase();
        let fields = json!({
            "x": { "type": "string", "title": "t", "default": "low" },
            "y": { "type": "string", "enum": ["A", "b"] },
        });
        let shown = form(&fields).unwrap().to_json_schema(upper);
        assert_eq!(shown["properties"]["x"], json!({ "type": "string", "title": "T" }));
        let options = json!([{ "const": "A", "title": "A" }, { "const": "b", "title": "B" }]);
        assert_eq!(shown["properties"]["y"], json!({ "type": "string", "oneOf": options }));
    }
}
