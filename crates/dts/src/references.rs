//! References of a schema (`$ref`), and which of the schemas that they lead to get a name.
//!
//! Invariant: a schema that is reached in two ways or more has a name, unless it is short. So each
//! schema is written at most once, and no chain of references is followed for ever.

use std::collections::{HashMap, HashSet, VecDeque};

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Keywords with a map of schemas.
const MAPS: [&str; 2] = ["properties", "patternProperties"];
/// Keywords with a list of schemas.
const LISTS: [&str; 4] = ["prefixItems", "allOf", "anyOf", "oneOf"];
/// Keywords with a schema.
const SINGLE: [&str; 3] = ["items", "additionalProperties", "additionalItems"];

/// Keywords with values that are no schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// The maximum size in bytes of the values of an enumeration that is repeated rather than named.
const MAX_REPEATED_BYTES: usize = 40;

/// The maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 60;

/// The references of one schema.
pub(crate) struct References<'a> {
    root: &'a Value,
    /// Schemas by `#` and their anchor, and by their identifier.
    named: HashMap<String, &'a Value>,
    /// The schemas that get a name.
    pub(crate) aliases: Vec<Alias<'a>>,
    places: HashMap<*const Value, usize>,
    /// Whether a reference makes what stands beside it say nothing, as before draft 2019-09.
    pub(crate) stand_alone: bool,
}

/// A schema with a name.
pub(crate) struct Alias<'a> {
    /// The last part of a reference to it.
    pub(crate) name: String,
    pub(crate) schema: &'a Value,
}

impl<'a> References<'a> {
    /// Finds the references. `name` is the name of the whole schema, if it needs one.
    pub(crate) fn new(root: &'a Value, name: &str) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let stand_alone = ["draft-03", "draft-04", "draft-06", "draft-07"].into_iter().any(|old| draft.contains(old));
        let (named, aliases, places) = (named_schemas(root), Vec::new(), HashMap::new());
        let mut found = Self { root, named, aliases, places, stand_alone };
        let mut uses: HashMap<*const Value, usize> = HashMap::from([(std::ptr::from_ref(root), 1)]);
        let mut targets: Vec<Alias<'a>> = vec![Alias { name: name.to_owned(), schema: root }];
        let mut known = HashSet::from([std::ptr::from_ref(root)]);
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([root]);
        while let Some(schema) = queue.pop_front() {
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            for child in children(schema) {
                *uses.entry(std::ptr::from_ref(child)).or_default() += 1;
                queue.push_back(child);
            }
            if let Some((reference, target)) = found.target(schema) {
                let place = std::ptr::from_ref(target);
                *uses.entry(place).or_default() += 1;
                if known.insert(place) {
                    targets.push(Alias { name: last_part(&reference), schema: target });
                }
                queue.push_back(target);
            }
        }
        for alias in targets {
            let place = std::ptr::from_ref(alias.schema);
            if uses.get(&place).is_some_and(|uses| *uses > 1) && !is_short(alias.schema) {
                found.places.insert(place, found.aliases.len());
                found.aliases.push(alias);
            }
        }
        found
    }

    /// Returns the index of a schema's name, if it has one.
    pub(crate) fn alias(&self, schema: &Value) -> Option<usize> {
        self.places.get(&std::ptr::from_ref(schema)).copied()
    }

    /// Returns the reference of a schema, and the schema that it leads to. References to other documents lead nowhere.
    pub(crate) fn target(&self, schema: &'a Value) -> Option<(String, &'a Value)> {
        let reference = ["$ref", "$dynamicRef"].into_iter().find_map(|key| schema.get(key)?.as_str())?;
        let reference = percent_decode_str(reference).decode_utf8_lossy().into_owned();
        let target = match reference.strip_prefix('#') {
            Some("") => Some(self.root),
            Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer),
            _ => self.named.get(&reference).copied(),
        }?;
        Some((reference, target))
    }
}

/// Returns the schemas that have an anchor or an identifier.
fn named_schemas(root: &Value) -> HashMap<String, &Value> {
    let mut named = HashMap::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            named.entry(format!("#{anchor}")).or_insert(value);
        }
        if let Some(identifier) = text("$id") {
            named.entry(identifier.to_owned()).or_insert(value);
        }
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => {
                rest.extend(fields.iter().filter(|(key, _)| !DATA.contains(&key.as_str())).map(|(_, value)| value));
            }
            _ => {}
        }
    }
    named
}

/// Returns the schemas in a schema that tell about the values' types.
fn children(schema: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    for map in MAPS.into_iter().filter_map(|key| schema.get(key)?.as_object()) {
        found.extend(map.values());
    }
    for list in LISTS.into_iter().filter_map(|key| schema.get(key)?.as_array()) {
        found.extend(list);
    }
    for value in SINGLE.into_iter().filter_map(|key| schema.get(key)) {
        match value {
            // Before draft 2020-12, `items` may be a list.
            Value::Array(items) => found.extend(items),
            value => found.push(value),
        }
    }
    found
}

/// Returns whether a schema is written as shortly as a name for it.
fn is_short(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return true };
    let has_parts = MAPS.into_iter().chain(LISTS).chain(SINGLE).chain(["$ref", "$dynamicRef", "const"]);
    let values = fields.get("enum").map_or(0, |values| values.to_string().len());
    values <= MAX_REPEATED_BYTES && !has_parts.into_iter().any(|key| fields.contains_key(key))
}

/// Returns the last part of a reference: `Item` of `#/$defs/Item`.
fn last_part(reference: &str) -> String {
    let part = reference.rsplit(['/', '#']).next().unwrap_or_default();
    part.replace("~1", "/").replace("~0", "~").chars().take(MAX_NAME_CHARS).collect()
}
