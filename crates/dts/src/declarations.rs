//! Declarations: types with their names, and functions.

use std::collections::HashMap;

use serde_json::Value;

use crate::comment::{comment, first_sentence};
use crate::lower::{Comments, Lowering};
use crate::print::{Printer, key, new_line};
use crate::references::References;
use crate::types::{Object, Others, Type};
use crate::{Detail, FunctionSchema, identifier, literal, method_name, type_name};

/// The maximum length of a function's description in characters.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// Two functions would have the same name in code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{first:?} and {second:?} are both `{identifier}` in code")]
pub struct NameCollision {
    /// The name in code.
    pub identifier: String,
    /// The function that comes first.
    pub first: String,
    /// The other function.
    pub second: String,
}

/// Returns the declaration of a single function as a member of an interface, after the types that it names. Their names begin
/// with that of the function.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_dts::{Detail, FunctionSchema, describe};
///
/// let input = json!({
///     "type": "object",
///     "properties": { "title": { "type": "string" }, "labels": { "type": "array", "items": { "type": "string" } } },
///     "required": ["title"]
/// });
/// let function = FunctionSchema { name: "create-issue", description: "Creates an issue.", input: &input, output: None };
/// assert_eq!(
///     describe(&function, Detail::Full),
///     "/** Creates an issue. */\ncreate_issue(input: { title: string; labels?: string[] }): Promise<unknown>;\n"
/// );
/// ```
#[must_use]
pub fn describe(function: &FunctionSchema<'_>, detail: Detail) -> String {
    let mut names = TypeNames::default();
    let own = identifier(function.name);
    let parts = names.declare(function, detail, &format!("{own}_"), 0);
    let comment = function_comment(function, detail, 0);
    let method = parts.method(&method_name(function.name));
    format!("{}{comment}{method};\n", names.declarations())
}

/// Returns declarations that add the functions of a server to the interface `Servers`, which a host declares a value of. The
/// names of its types begin with the [`identifier`] of the server: two servers with the same one have to be kept apart.
///
/// # Errors
/// [`NameCollision`] if two functions have the same [`identifier`].
pub fn server_interface(
    server: &str,
    functions: &[FunctionSchema<'_>],
    detail: Detail,
) -> Result<String, NameCollision> {
    let mut known: HashMap<String, &str> = HashMap::new();
    let mut names = TypeNames::default();
    let mut methods = String::new();
    let line = new_line(2);
    let prefix = format!("{}_", identifier(server));
    for function in functions {
        let name = method_name(function.name);
        if let Some(first) = known.insert(name.clone(), function.name) {
            let (first, second) = (first.to_owned(), function.name.to_owned());
            return Err(NameCollision { identifier: name, first, second });
        }
        let parts = names.declare(function, detail, &prefix, 2);
        methods.push_str(&[&line, function_comment(function, detail, 2).as_str(), &parts.method(&name), ";"].concat());
    }
    let server = key(server);
    Ok(format!("{}interface Servers {{\n  {server}: {{{methods}\n  }};\n}}\n", names.declarations()))
}

/// Returns declarations that add the calls of stored tools to the interface `Tools`.
#[must_use]
pub fn tool_calls(functions: &[FunctionSchema<'_>], detail: Detail) -> String {
    let mut names = TypeNames::default();
    let mut calls = String::new();
    let line = new_line(1);
    for function in functions {
        let parts = names.declare(function, detail, "tool_", 1);
        calls.push_str(
            &[&line, function_comment(function, detail, 1).as_str(), &parts.call(function.name), ";"].concat(),
        );
    }
    format!("{}interface Tools {{{calls}\n}}\n", names.declarations())
}

/// Returns the comment above a function, with the line break after it.
fn function_comment(function: &FunctionSchema<'_>, detail: Detail, indent: usize) -> String {
    let text = match detail {
        Detail::Full => comment(function.description, &[], MAX_DESCRIPTION_CHARS),
        Detail::Brief => comment(&first_sentence(function.description), &[], usize::MAX),
    };
    text.map(|text| format!("/** {text} */{}", new_line(indent))).unwrap_or_default()
}

/// The types of a function as text.
struct Parts {
    aliases: Vec<(String, String)>,
    /// The type of the parameter; `None` if there is nothing to pass.
    input: Option<String>,
    is_optional: bool,
    /// The type of the result, if a schema describes it.
    output: Option<String>,
}

impl Parts {
    fn method(&self, name: &str) -> String {
        let mark = if self.is_optional { "?" } else { "" };
        let input = self.input.as_ref().map(|input| format!("input{mark}: {input}"));
        let output = self.output.as_deref().unwrap_or("unknown");
        // Without quotes, it would be what `new` calls.
        let name = if name == "new" { "\"new\"" } else { name };
        format!("{name}({}): Promise<{output}>", input.unwrap_or_default())
    }

    fn call(&self, name: &str) -> String {
        let mark = if self.is_optional { "?" } else { "" };
        let input = self.input.as_ref().map(|input| format!(", params{mark}: {input}"));
        let output = self.output.as_deref().unwrap_or("any");
        format!("call(name: {}{}): Promise<{output}>", literal(&name.into()), input.unwrap_or_default())
    }
}

/// The named types of several functions. Functions of one server often have the same ones.
#[derive(Default)]
struct TypeNames {
    known: HashMap<String, String>,
    order: Vec<String>,
    /// The number of prefixes that were tried for the functions of a name.
    tries: HashMap<String, u32>,
}

impl TypeNames {
    /// Returns the types of a function, and adds its named types. Their names begin with the prefix.
    fn declare(&mut self, function: &FunctionSchema<'_>, detail: Detail, prefix: &str, indent: usize) -> Parts {
        let own = format!("{prefix}{}_", identifier(function.name));
        let mut candidate = prefix.to_owned();
        loop {
            let parts = parts(function, detail, &candidate, indent);
            let is_free = |(name, text): &(String, String)| self.known.get(name).is_none_or(|known| known == text);
            if parts.aliases.iter().all(is_free) {
                for (name, text) in &parts.aliases {
                    if self.known.insert(name.clone(), text.clone()).is_none() {
                        self.order.push(name.clone());
                    }
                }
                return parts;
            }
            // Numbers go on where the last function of this name stopped.
            let tries = self.tries.entry(own.clone()).or_default();
            *tries += 1;
            candidate = if *tries == 1 { own.clone() } else { format!("{own}{tries}_") };
        }
    }

    fn declarations(&self) -> String {
        self.order.iter().flat_map(|name| ["type ", name, " = ", &self.known[name], ";\n"]).collect()
    }
}

/// Returns whether a schema of an object says no more than that: then a function has no parameter.
fn takes_nothing(input: &Value) -> bool {
    let plain = [
        "$defs",
        "$schema",
        "additionalProperties",
        "definitions",
        "description",
        "properties",
        "required",
        "title",
        "type",
    ];
    input.as_object().is_none_or(|fields| fields.keys().all(|key| plain.contains(&key.as_str())))
}

/// Returns the types of a function. The names of its types begin with the prefix.
fn parts(function: &FunctionSchema<'_>, detail: Detail, prefix: &str, indent: usize) -> Parts {
    let own = type_name(function.name);
    let input = References::new(function.input, &format!("{own}Input"));
    let output = function.output.map(|output| References::new(output, &format!("{own}Result")));
    let mut names: Vec<String> = Vec::new();
    let mut taken: HashMap<String, u32> = HashMap::new();
    for alias in input.aliases.iter().chain(output.iter().flat_map(|output| &output.aliases)) {
        let name = format!("{prefix}{}", type_name(&alias.name));
        let mut numbered = name.clone();
        while taken.contains_key(&numbered) {
            let count = taken.entry(name.clone()).or_insert(1);
            *count += 1;
            numbered = format!("{name}{count}");
        }
        taken.insert(numbered.clone(), 1);
        names.push(numbered);
    }
    let comments = if detail == Detail::Full { Comments::OfParameters } else { Comments::Omitted };
    let lower_input = Lowering { references: &input, first_alias: 0, comments };
    let mut types = lower_input.lower_aliases();
    let parameter = lower_input.lower_root(function.input);
    let mut result = None;
    if let (Some(references), Some(schema)) = (&output, function.output) {
        let first_alias = input.aliases.len();
        let lower_output = Lowering { references, first_alias, comments: Comments::Omitted };
        types.extend(lower_output.lower_aliases());
        result = Some(lower_output.lower_root(schema));
    }
    let printer = Printer::new(&names);
    let aliases = names.iter().cloned().zip(types.iter().map(|ty| printer.print(ty, 0))).collect();
    let (is_empty, is_optional) = match &parameter {
        Type::Object(Object { fields, others }) => (
            fields.is_empty() && !matches!(others, Others::Typed(_)) && takes_nothing(function.input),
            fields.iter().all(|field| !field.is_required),
        ),
        Type::Unknown => (takes_nothing(function.input), true),
        _ => (false, false),
    };
    Parts {
        aliases,
        input: (!is_empty).then(|| printer.print(&parameter, indent)),
        is_optional,
        output: result.map(|result| printer.print(&result, indent)),
    }
}
