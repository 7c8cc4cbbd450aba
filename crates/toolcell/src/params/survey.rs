//! Every schema inside of a JSON Schema, and how they lead to each other.
//!
//! Invariant: a survey holds each place of the document where a schema stands, and no other: what stands under `enum`,
//! `const`, `default` or `examples` is data. Every reference leads to one of them.
//!
//! The keywords are those of JSON Schema 2020-12 (json-schema.org/draft/2020-12) and, where they were others, of the
//! drafts since 4.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::shown;

/// How deep schemas may be nested.
const NESTING_LIMIT: usize = 64;
/// The most schemas in a declaration.
const SCHEMA_LIMIT: usize = 2_000;
/// The length of the paths of all schemas together, in bytes.
const PATHS_LIMIT: usize = 1 << 20;

/// Keywords with one schema for the value itself.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords with several schemas for the value itself.
const IN_PLACE_EACH: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with one schema for something inside of the value.
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
/// Keywords with several schemas for something inside of the value.
const INSIDE_EACH: [&str; 4] = ["properties", "patternProperties", "prefixItems", "items"];
/// Keywords with schemas for the value itself, by the name of a property that it has.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords with schemas that apply only where they are referred to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// One schema.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Where it stands in the document, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    /// The schemas that the same value has to do with.
    pub(super) in_place: Vec<usize>,
    /// The schemas that parts of the value have to do with.
    pub(super) inside: Vec<usize>,
    /// The schema that it refers to, which is one of those in place.
    pub(super) target: Option<usize>,
    /// The schema that it stands in.
    pub(super) parent: Option<usize>,
}

/// All schemas of a document, each after the one that it stands in; the first is the document itself.
#[derive(Debug)]
pub(super) struct Survey<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    index: HashMap<String, usize>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(root: &'a Value) -> Result<Self, SchemaError> {
        let mut survey = Self { nodes: Vec::new(), index: HashMap::new() };
        let mut open = vec![(None, Relation::Definition, String::new(), root, 0)];
        let mut paths = 0;
        while let Some((parent, relation, pointer, schema, depth)) = open.pop() {
            if depth > NESTING_LIMIT {
                let what = format!("its schemas are nested more than {NESTING_LIMIT} deep");
                return Err(SchemaError::Entangled { what });
            }
            paths += pointer.len();
            if paths > PATHS_LIMIT {
                let what =
                    format!("has schemas under names that are too long: {PATHS_LIMIT} bytes of paths is the limit");
                return Err(SchemaError::TooLarge { what });
            }
            let id = survey.add(parent, relation, pointer, schema);
            let Some(keywords) = schema.as_object() else { continue };
            let mut found = children(keywords);
            if survey.nodes.len() + open.len() + found.len() > SCHEMA_LIMIT {
                return Err(SchemaError::TooLarge { what: format!("has more than {SCHEMA_LIMIT} schemas") });
            }
            found.reverse();
            for (relation, path, child) in found {
                open.push((Some(id), relation, format!("{}{path}", survey.nodes[id].pointer), child, depth + 1));
            }
        }
        survey.refer()?;
        Ok(survey)
    }

    /// The schema that stands under this path in another.
    pub(super) fn under(&self, id: usize, path: &str) -> Option<usize> {
        self.index.get(&format!("{}{path}", self.nodes[id].pointer)).copied()
    }

    /// The name of what a schema is about, as a message says it.
    pub(super) fn place(&self, id: usize) -> String {
        place(&self.nodes[id].pointer)
    }

    /// The schema that a place of the document belongs to, and the keyword there.
    pub(super) fn around<'p>(&self, pointer: &'p str) -> (usize, &'p str) {
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
        self.nodes.push(Node { pointer, schema, in_place: Vec::new(), inside: Vec::new(), target: None, parent });
        if let Some(parent) = parent {
            match relation {
                Relation::InPlace => self.nodes[parent].in_place.push(id),
                Relation::Inside => self.nodes[parent].inside.push(id),
                Relation::Definition => {}
            }
        }
        id
    }

    /// Finds what the references lead to.
    fn refer(&mut self) -> Result<(), SchemaError> {
        let mut anchors = HashMap::new();
        for (id, node) in self.nodes.iter().enumerate() {
            for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let Some(name) = node.schema.get(keyword).and_then(Value::as_str) else { continue };
                let anchor = name.strip_prefix('#').or_else(|| keyword.ends_with("nchor").then_some(name));
                if let Some(anchor) = anchor {
                    anchors.insert(anchor.to_owned(), id);
                } else if id > 0 {
                    // Another base for the references in it: they would not lead where they seem to.
                    let what = format!("has an `{keyword}` of its own, which only the whole declaration may have");
                    return Err(SchemaError::Definition { at: self.place(id), what });
                }
            }
        }
        for id in 0..self.nodes.len() {
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let Some(reference) = self.nodes[id].schema.get(keyword).and_then(Value::as_str) else { continue };
                let target = self
                    .target(reference, &anchors)
                    .ok_or_else(|| SchemaError::Reference { at: self.place(id), reference: shown::name(reference) })?;
                self.nodes[id].in_place.push(target);
                if keyword == "$ref" {
                    self.nodes[id].target = Some(target);
                }
            }
        }
        Ok(())
    }

    fn target(&self, reference: &str, anchors: &HashMap<String, usize>) -> Option<usize> {
        let fragment = decoded(reference.strip_prefix('#')?)?;
        let by_path = self.index.get(&fragment);
        by_path.or_else(|| anchors.get(&fragment)).copied()
    }
}

/// How a schema has to do with the one that it stands in.
#[derive(Debug, Clone, Copy)]
enum Relation {
    InPlace,
    Inside,
    Definition,
}

/// The schemas that stand directly in one, with their paths.
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
            each(Relation::InPlace, keyword, value, &mut found);
        } else if INSIDE_EACH.contains(&keyword) {
            each(Relation::Inside, keyword, value, &mut found);
        } else if DEPENDENT.contains(&keyword) {
            each(Relation::InPlace, keyword, value, &mut found);
        } else if DEFINITIONS.contains(&keyword) {
            each(Relation::Definition, keyword, value, &mut found);
        }
    }
    found
}

fn each<'a>(relation: Relation, keyword: &str, value: &'a Value, found: &mut Vec<(Relation, String, &'a Value)>) {
    let mut push = |step: &str, schema: &'a Value| {
        if schema.is_object() || schema.is_boolean() {
            found.push((relation, format!("/{keyword}/{step}"), schema));
        }
    };
    match value {
        Value::Array(schemas) => schemas.iter().enumerate().for_each(|(at, schema)| push(&at.to_string(), schema)),
        Value::Object(schemas) => schemas.iter().for_each(|(name, schema)| push(&escaped(name), schema)),
        _ => {}
    }
}

/// A name as a step of a JSON Pointer (RFC 6901).
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A step of a JSON Pointer as the name that it is.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A fragment of a URI as the text that it is (RFC 3986, section 2.1).
fn decoded(fragment: &str) -> Option<String> {
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

/// What a place of the document is about: the parameter, where only `properties` lead to it.
pub(super) fn place(pointer: &str) -> String {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    if steps.is_empty() {
        return "the declaration".to_owned();
    }
    if steps.len().is_multiple_of(2) && steps.iter().step_by(2).all(|step| *step == "properties") {
        let names: Vec<String> = steps.iter().skip(1).step_by(2).map(|step| unescaped(step)).collect();
        return shown::name(&names.join("."));
    }
    shown::name(pointer)
}
