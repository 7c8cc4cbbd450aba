//! The subschemas of a JSON Schema and their references.
//!
//! Invariant: exactly the positions that hold a schema are included: the content of `enum`,
//! `const`, `default` and `examples` is data. Every reference leads to one of them.
//!
//! The keywords are those of JSON Schema 2020-12 (json-schema.org/draft/2020-12) and, where they
//! differ, of the drafts since 4.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolcell_i18n::{Message, message, msgid};

use super::display;
use super::error::SchemaError;

/// The maximum nesting depth of schemas.
const MAX_NESTING: usize = 64;
/// The maximum number of schemas in a declaration.
const MAX_SUBSCHEMAS: usize = 2_000;
/// The maximum total length of all schemas' pointers in bytes.
const MAX_POINTER_BYTES: usize = 1 << 20;

/// In-place applicators with one schema.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];
/// In-place applicators with several schemas.
const IN_PLACE_EACH: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Applicators with one schema for parts of the value.
const INSIDE: [&str; 8] = [
    "additionalProperties",
    "items",
    "additionalItems",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Applicators with several schemas for parts of the value.
const INSIDE_EACH: [&str; 4] = ["properties", "patternProperties", "prefixItems", "items"];
/// In-place applicators by the name of a present property.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose schemas apply only by reference.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A subschema.
#[derive(Debug)]
pub(super) struct Subschema<'a> {
    /// The position in the document, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    /// The schemas that apply to the same value.
    pub(super) in_place: Vec<usize>,
    /// The schemas that apply to parts of the value.
    pub(super) inside: Vec<usize>,
    /// The target of `$ref`, which is one of those in place.
    pub(super) target: Option<usize>,
    /// The enclosing schema.
    pub(super) parent: Option<usize>,
}

/// All schemas of a document, parents before children; the first is the document itself.
#[derive(Debug)]
pub(super) struct Subschemas<'a> {
    pub(super) nodes: Vec<Subschema<'a>>,
    index: HashMap<String, usize>,
}

impl<'a> Subschemas<'a> {
    pub(super) fn new(root: &'a Value) -> Result<Self, SchemaError> {
        let mut survey = Self { nodes: Vec::new(), index: HashMap::new() };
        let mut open = vec![(None, Relation::Definition, String::new(), root, 0)];
        let mut paths = 0;
        while let Some((parent, relation, pointer, schema, depth)) = open.pop() {
            if depth > MAX_NESTING {
                let what = message!("its schemas are nested more than {limit} deep", limit = MAX_NESTING);
                return Err(SchemaError::TooComplex { what });
            }
            paths += pointer.len();
            if paths > MAX_POINTER_BYTES {
                let limit = MAX_POINTER_BYTES;
                let what = message!("has schema paths that are too long, the limit is {limit} bytes in total", limit);
                return Err(SchemaError::TooLarge { what });
            }
            let id = survey.add(parent, relation, pointer, schema);
            let Some(keywords) = schema.as_object() else { continue };
            let mut found = children(keywords);
            if survey.nodes.len() + open.len() + found.len() > MAX_SUBSCHEMAS {
                let what = message!("has more than {limit} schemas", limit = MAX_SUBSCHEMAS);
                return Err(SchemaError::TooLarge { what });
            }
            found.reverse();
            for (relation, path, child) in found {
                open.push((Some(id), relation, format!("{}{path}", survey.nodes[id].pointer), child, depth + 1));
            }
        }
        survey.resolve_references()?;
        Ok(survey)
    }

    /// Returns the schema at a path below another.
    pub(super) fn child_at(&self, id: usize, path: &str) -> Option<usize> {
        self.index.get(&format!("{}{path}", self.nodes[id].pointer)).copied()
    }

    /// Returns the label of a schema in messages.
    pub(super) fn label(&self, id: usize) -> Message {
        pointer_label(&self.nodes[id].pointer)
    }

    /// Returns the schema that contains a position, and the keyword there.
    pub(super) fn enclosing<'p>(&self, pointer: &'p str) -> (usize, &'p str) {
        let mut end = pointer.len();
        loop {
            if let Some(id) = self.index.get(&pointer[..end]) {
                let keyword = pointer[end..].trim_start_matches('/');
                return (*id, keyword.split('/').next().unwrap_or(keyword));
            }
            match pointer[..end].rfind('/') {
                Some(slash) => end = slash,
                None => return (0, ""),
            }
        }
    }

    fn add(&mut self, parent: Option<usize>, relation: Relation, pointer: String, schema: &'a Value) -> usize {
        let id = self.nodes.len();
        self.index.insert(pointer.clone(), id);
        self.nodes.push(Subschema { pointer, schema, in_place: Vec::new(), inside: Vec::new(), target: None, parent });
        if let Some(parent) = parent {
            match relation {
                Relation::InPlace => self.nodes[parent].in_place.push(id),
                Relation::Inside => self.nodes[parent].inside.push(id),
                Relation::Definition => {}
            }
        }
        id
    }

    /// Resolves the references.
    fn resolve_references(&mut self) -> Result<(), SchemaError> {
        let mut anchors = HashMap::new();
        for (id, node) in self.nodes.iter().enumerate() {
            for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let Some(name) = node.schema.get(keyword).and_then(Value::as_str) else { continue };
                let anchor = name.strip_prefix('#').or_else(|| keyword.ends_with("nchor").then_some(name));
                if let Some(anchor) = anchor {
                    anchors.insert(anchor.to_owned(), id);
                } else if id > 0 {
                    // An own base URI would change where the references in it lead.
                    let what = message!("has its own `{keyword}`, which only the whole declaration may have", keyword);
                    return Err(SchemaError::Definition { at: self.label(id), what });
                }
            }
        }
        for id in 0..self.nodes.len() {
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let Some(reference) = self.nodes[id].schema.get(keyword).and_then(Value::as_str) else { continue };
                let target = self.resolve(reference, &anchors).ok_or_else(|| SchemaError::Reference {
                    at: self.label(id),
                    reference: display::name(reference),
                })?;
                self.nodes[id].in_place.push(target);
                if keyword == "$ref" {
                    self.nodes[id].target = Some(target);
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, reference: &str, anchors: &HashMap<String, usize>) -> Option<usize> {
        let fragment = percent_decode(reference.strip_prefix('#')?)?;
        let by_path = self.index.get(&fragment);
        by_path.or_else(|| anchors.get(&fragment)).copied()
    }
}

/// The relation of a schema to its parent.
#[derive(Debug, Clone, Copy)]
enum Relation {
    InPlace,
    Inside,
    Definition,
}

/// Returns the direct children of a schema with their paths.
fn children(keywords: &Map<String, Value>) -> Vec<(Relation, String, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in keywords {
        let keyword = keyword.as_str();
        let is_schema = value.is_object() || value.is_boolean();
        if IN_PLACE.contains(&keyword) {
            found.push((Relation::InPlace, format!("/{keyword}"), value));
        } else if INSIDE.contains(&keyword) && is_schema {
            found.push((Relation::Inside, format!("/{keyword}"), value));
        } else if IN_PLACE_EACH.contains(&keyword) {
            push_each(Relation::InPlace, keyword, value, &mut found);
        } else if INSIDE_EACH.contains(&keyword) {
            push_each(Relation::Inside, keyword, value, &mut found);
        } else if DEPENDENT.contains(&keyword) {
            push_each(Relation::InPlace, keyword, value, &mut found);
        } else if DEFINITIONS.contains(&keyword) {
            push_each(Relation::Definition, keyword, value, &mut found);
        }
    }
    found
}

fn push_each<'a>(relation: Relation, keyword: &str, value: &'a Value, found: &mut Vec<(Relation, String, &'a Value)>) {
    let mut push = |step: &str, schema: &'a Value| {
        if schema.is_object() || schema.is_boolean() {
            found.push((relation, format!("/{keyword}/{step}"), schema));
        }
    };
    match value {
        Value::Array(schemas) => schemas.iter().enumerate().for_each(|(at, schema)| push(&at.to_string(), schema)),
        Value::Object(schemas) => schemas.iter().for_each(|(name, schema)| push(&escape_pointer_step(name), schema)),
        _ => {}
    }
}

/// Escapes a name as a JSON Pointer token (RFC 6901).
pub(super) fn escape_pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Unescapes a JSON Pointer token.
fn unescape_pointer_step(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Percent-decodes a URI fragment (RFC 3986, section 2.1).
fn percent_decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns the label of a position: the parameter's name if only `properties` lead to it, otherwise
/// the pointer.
pub(super) fn pointer_label(pointer: &str) -> Message {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    if steps.is_empty() {
        return msgid!("the declaration").into();
    }
    if steps.len().is_multiple_of(2) && steps.iter().step_by(2).all(|step| *step == "properties") {
        let names: Vec<String> = steps.iter().skip(1).step_by(2).map(|step| unescape_pointer_step(step)).collect();
        return Message::verbatim(display::name(&names.join(".")));
    }
    Message::verbatim(display::name(pointer))
}
