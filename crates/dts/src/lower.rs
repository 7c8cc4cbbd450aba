//! From schemas to types. What TypeScript has no type for (ranges, patterns, `not`, `if`) becomes a
//! comment or is left out, so a type admits all values that its schema admits.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::comment::{comment, limits};
use crate::literal;
use crate::references::References;
use crate::types::{Field, Keyword, Literal, Object, Others, Tuple, Type};

/// The maximum nesting of types. What is nested deeper is `unknown`.
const MAX_DEPTH: usize = 32;

/// The maximum number of items with a type of their own.
const MAX_TUPLE_ITEMS: usize = 32;

/// The maximum length of a parameter's description in characters.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The maximum number of parts of an intersection.
const MAX_PARTS: usize = 64;

/// The first number that has another one beside it that is not told apart from it.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Keywords of objects.
const OBJECT: [&str; 4] = ["properties", "required", "additionalProperties", "patternProperties"];
/// Keywords of arrays.
const ARRAY: [&str; 2] = ["items", "prefixItems"];

/// Turns the parts of one schema into types.
pub(crate) struct Lowering<'r, 'a> {
    pub(crate) references: &'r References<'a>,
    /// The index of the first alias of this schema.
    pub(crate) first_alias: usize,
    pub(crate) comments: Comments,
}

/// The comments of properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// Descriptions, and the limits that a caller has to keep.
    OfParameters,
    /// None: in results, they would take a sixth of all tokens, and names say most of it.
    Omitted,
}

impl<'a> Lowering<'_, 'a> {
    /// Returns the types of all schemas that have a name. None of them is an alias of itself.
    pub(crate) fn lower_aliases(&self) -> Vec<Type> {
        let mut types: Vec<Type> =
            self.references.aliases.iter().map(|alias| self.lower_parts(alias.schema, MAX_DEPTH)).collect();
        let replaced = circular_aliases(&types, self.first_alias);
        for (at, ty) in types.iter_mut().enumerate() {
            if let Some(circular) = replaced.get(&at) {
                let own = std::mem::replace(ty, Type::Unknown);
                *ty = own.replace_direct_aliases(&|alias| match alias - self.first_alias {
                    // `type A = A | string` says `string`.
                    one if one == at => None,
                    one if circular.contains(&one) => Some(Type::Unknown),
                    _ => Some(Type::Alias(alias)),
                });
            }
        }
        types
    }

    /// Returns the type of the values that a schema admits.
    pub(crate) fn lower(&self, schema: &'a Value, depth: usize) -> Type {
        match self.references.alias(schema) {
            Some(alias) => Type::Alias(self.first_alias + alias),
            None if depth == 0 => Type::Unknown,
            None => self.lower_parts(schema, depth - 1),
        }
    }

    /// Returns the type of the values that the whole schema admits.
    pub(crate) fn lower_root(&self, schema: &'a Value) -> Type {
        self.lower(schema, MAX_DEPTH)
    }

    /// As [`lower`](Self::lower), for a schema with a name, too.
    fn lower_parts(&self, schema: &'a Value, depth: usize) -> Type {
        let fields = match schema {
            Value::Bool(false) => return Type::Never,
            Value::Object(fields) => fields,
            _ => return Type::Unknown,
        };
        let target = self.references.target(schema).map(|(_, target)| self.lower(target, depth));
        let target = match target {
            Some(target) if self.references.stand_alone => return target,
            target => target,
        };
        let mut parts = vec![self.lower_kind(fields, depth)];
        parts.extend(target);
        let kinds = fields.get("type").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if let Some(all) = fields.get("allOf").and_then(Value::as_array) {
            // Without some of its parts, an intersection admits more.
            parts.extend(all.iter().take(MAX_PARTS).map(|part| self.lower_branch(part, kinds, depth)));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = fields.get(key).and_then(Value::as_array).filter(|choices| !choices.is_empty()) {
                parts.push(Type::union(choices.iter().map(|choice| self.lower_branch(choice, kinds, depth))));
            }
        }
        let mut result = Type::intersection(parts);
        // A keyword of OpenAPI.
        if fields.get("nullable") == Some(&Value::Bool(true)) {
            result = Type::union([result, Type::Keyword(Keyword::Null)]);
        }
        result
    }

    /// As [`lower`](Self::lower), for a part of a schema that names these kinds of values. If the part names none, it describes
    /// one of them, and admits the others.
    fn lower_branch(&self, schema: &'a Value, kinds: &[Value], depth: usize) -> Type {
        let branch = self.lower(schema, depth);
        let own = match branch {
            _ if kinds.len() < 2 || schema.get("type").is_some() => return branch,
            Type::Object(_) => "object",
            Type::Array(_) | Type::Tuple(_) => "array",
            _ => return branch,
        };
        let others = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != own).map(|kind| match kind {
            "object" => Type::object(),
            "array" => Type::Array(Box::new(Type::Unknown)),
            kind => keyword(kind).map_or(Type::Unknown, Type::Keyword),
        });
        Type::union(std::iter::once(branch).chain(others))
    }

    /// Returns the type that the keywords of one kind of value describe.
    fn lower_kind(&self, fields: &'a Map<String, Value>, depth: usize) -> Type {
        let has = |keys: &[&str]| keys.iter().any(|key| fields.contains_key(*key));
        let kind = match fields.get("type") {
            Some(Value::String(name)) => self.lower_named(name, fields, depth),
            Some(Value::Array(names)) => {
                // A name that is repeated would double the work at each level.
                let mut seen = HashSet::new();
                let names = names.iter().filter_map(Value::as_str).filter(|name| seen.insert(*name));
                Type::union(names.map(|name| self.lower_named(name, fields, depth)))
            }
            _ if fields.contains_key("const") || fields.contains_key("enum") => Type::Unknown,
            _ if has(&OBJECT) => self.lower_object(fields, depth),
            _ if has(&ARRAY) => self.lower_array(fields, depth),
            _ => Type::Unknown,
        };
        let values = match (fields.get("const"), fields.get("enum")) {
            (Some(value), _) => lower_value(value, depth),
            (None, Some(Value::Array(values))) => Type::union(values.iter().map(|value| lower_value(value, depth))),
            (None, _) => return kind,
        };
        // The values of an object or a list say more than its schema.
        match kind {
            Type::Object(_) | Type::Array(_) | Type::Tuple(_) => values,
            kind => kind.intersect(values),
        }
    }

    fn lower_named(&self, name: &str, fields: &'a Map<String, Value>, depth: usize) -> Type {
        match name {
            "array" => self.lower_array(fields, depth),
            "object" => self.lower_object(fields, depth),
            name => keyword(name).map_or(Type::Unknown, Type::Keyword),
        }
    }

    fn lower_array(&self, fields: &'a Map<String, Value>, depth: usize) -> Type {
        let items = fields.get("items");
        let (first, others) = match (fields.get("prefixItems").and_then(Value::as_array), items) {
            (Some(first), others) => (first.as_slice(), others),
            // Before draft 2020-12.
            (None, Some(Value::Array(first))) => (first.as_slice(), fields.get("additionalItems")),
            (None, others) => (&[][..], others),
        };
        let rest = others.map_or(Type::Unknown, |others| self.lower(others, depth));
        if first.is_empty() {
            return Type::Array(Box::new(rest));
        }
        let items: Vec<Type> = first.iter().map(|item| self.lower(item, depth)).collect();
        // A type may refer to itself in an array, and not in every tuple.
        if first.len() > MAX_TUPLE_ITEMS || rest.has_alias() || items.iter().any(Type::has_alias) {
            return Type::Array(Box::new(Type::union(items.into_iter().chain([rest]))));
        }
        let count = |key: &str| fields.get(key).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let may_have_rest = rest != Type::Never && count("maxItems").is_none_or(|most| most > first.len());
        Type::Tuple(Tuple {
            items,
            required: count("minItems").unwrap_or(0).min(first.len()),
            rest: may_have_rest.then(|| Box::new(rest)),
        })
    }

    fn lower_object(&self, fields: &'a Map<String, Value>, depth: usize) -> Type {
        let required: Vec<&str> =
            fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let required_names: HashSet<&str> = required.iter().copied().collect();
        let properties = fields.get("properties").and_then(Value::as_object);
        let mut members: Vec<Field> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Field {
                name: name.clone(),
                value: self.lower(schema, depth),
                is_required: required_names.contains(name.as_str()),
                comment: self.field_comment(schema),
            })
            .collect();
        let mut unmentioned: Vec<&str> = required
            .into_iter()
            .filter(|name| properties.is_none_or(|properties| !properties.contains_key(*name)))
            .collect();
        unmentioned.sort_unstable();
        unmentioned.dedup();
        members.extend(unmentioned.into_iter().map(|name| Field {
            name: name.to_owned(),
            value: Type::Unknown,
            is_required: true,
            comment: None,
        }));
        let patterns = fields.get("patternProperties").and_then(Value::as_object);
        let mut others: Vec<Type> =
            patterns.into_iter().flat_map(Map::values).map(|one| self.lower(one, depth)).collect();
        let others = match fields.get("additionalProperties") {
            Some(Value::Bool(false)) if others.is_empty() => Others::Forbidden,
            Some(Value::Bool(false)) => Others::Typed(Box::new(Type::union(others))),
            Some(schema) => {
                others.push(self.lower(schema, depth));
                Others::Typed(Box::new(Type::union(others)))
            }
            None if others.is_empty() => Others::Unmentioned,
            None => Others::Typed(Box::new(Type::Unknown)),
        };
        Type::Object(Object { fields: members, others })
    }

    /// Returns the comment of a property.
    fn field_comment(&self, schema: &'a Value) -> Option<String> {
        if self.comments == Comments::Omitted {
            return None;
        }
        let own = |schema: &'a Value| schema.get("description").and_then(Value::as_str);
        let described = own(schema).or_else(|| {
            let (_, target) = self.references.target(schema)?;
            own(target)
        });
        comment(described.unwrap_or_default(), &limits(schema), MAX_DESCRIPTION_CHARS)
    }
}

/// Returns the type of a kind of values without parts.
fn keyword(name: &str) -> Option<Keyword> {
    match name {
        "string" => Some(Keyword::String),
        "number" | "integer" => Some(Keyword::Number),
        "boolean" => Some(Keyword::Boolean),
        "null" => Some(Keyword::Null),
        _ => None,
    }
}

/// Returns, for each alias, the aliases that it consists of, outside of arrays and objects, and that lead back to it:
/// TypeScript refuses these. Aliases have consecutive indices from `first` on.
fn circular_aliases(types: &[Type], first: usize) -> HashMap<usize, HashSet<usize>> {
    let direct = |at: usize| {
        let mut found = Vec::new();
        types[at].direct_aliases(&mut found);
        found.into_iter().map(|alias| alias - first).collect::<Vec<_>>()
    };
    let mut circular: HashMap<usize, HashSet<usize>> = HashMap::new();
    let mut seen = vec![false; types.len()];
    let mut is_on_path = vec![false; types.len()];
    for start in 0..types.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[start], true) {
            is_on_path[start] = true;
            path.push((start, direct(start)));
        }
        while let Some((at, rest)) = path.last_mut() {
            match rest.pop() {
                Some(next) if is_on_path[next] => {
                    circular.entry(*at).or_default().insert(next);
                }
                Some(next) if !std::mem::replace(&mut seen[next], true) => {
                    is_on_path[next] = true;
                    path.push((next, direct(next)));
                }
                Some(_) => {}
                None => {
                    is_on_path[*at] = false;
                    path.pop();
                }
            }
        }
    }
    circular
}

/// Returns the type of a single value.
fn lower_value(value: &Value, depth: usize) -> Type {
    let keyword = match value {
        _ if depth == 0 => return Type::Unknown,
        Value::Null => return Type::Keyword(Keyword::Null),
        Value::Bool(_) => Keyword::Boolean,
        Value::Number(_) => Keyword::Number,
        Value::String(_) => Keyword::String,
        Value::Array(items) if items.len() > MAX_TUPLE_ITEMS => {
            return Type::Array(Box::new(Type::union(items.iter().map(|item| lower_value(item, depth - 1)))));
        }
        Value::Array(items) => {
            let items: Vec<Type> = items.iter().map(|item| lower_value(item, depth - 1)).collect();
            return Type::Tuple(Tuple { required: items.len(), items, rest: None });
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Field {
                name: name.clone(),
                value: lower_value(value, depth - 1),
                is_required: true,
                comment: None,
            });
            return Type::Object(Object { fields: fields.collect(), others: Others::Unmentioned });
        }
    };
    // 1.0 is the number 1.
    let whole = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < MAX_WHOLE);
    let text = whole.map_or_else(|| literal(value), |number| format!("{number:.0}"));
    Type::Literal(Literal { keyword, text })
}
