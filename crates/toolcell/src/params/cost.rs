//! The work of checking a value against a schema, counted before it is done.
//!
//! Invariant: what is counted is at least what the validator does, whatever passes and whatever fails: every branch of an
//! alternative counts, and every pattern counts for every text that it may be tried on. Counting stops at the limit, so it
//! takes no longer than the work that is allowed.
//!
//! A step is what it takes to look at one value with one schema, some 20 ns. The count depends on the schema and on the
//! value alone, so the same call is accepted or refused on every machine. A validator that is under way cannot be
//! stopped, which is why this is not a deadline.

use std::collections::HashMap;

use serde_json::Value;

use super::error::SchemaError;
use super::multiple;
use super::pattern::{Pattern, Room};
use super::shown;
use super::survey::Survey;

/// The most steps that checking the parameters of one call may take.
pub(crate) const STEP_LIMIT: u64 = 4_000_000;
/// The most bytes that a list of faults may take while it is made.
const LIST_LIMIT: u64 = 32 << 20;
/// The most patterns in a declaration.
const PATTERN_LIMIT: usize = 100;
/// The library keeps the result of a schema that is referred to from here on: it looked at so many others.
const KEPT_VISITS: u64 = 16;
/// Declared properties are looked for one by one in each object where there are fewer of them.
const FEW_PROPERTIES: usize = 15;
/// What it takes to divide a number that is no whole one of 64 bits, or by one.
const DIVISION_STEPS: u64 = 20;
/// Bytes of one fault in a list, without its path and its value.
const FAULT_BYTES: u64 = 250;

/// What a schema makes of a value, as far as it takes time.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a keyword of the schema, in any combination")]
struct Node {
    /// Schemas for the same value.
    in_place: Vec<usize>,
    /// Schemas for the same value that are referred to.
    references: Vec<usize>,
    /// How many times what is in place is looked at: more than once where something asks which parts it looked at.
    times: u64,
    /// Whether faults of what is in place are kept with a copy of the value.
    copies: bool,
    properties: HashMap<String, usize>,
    patterns: Vec<(Pattern, usize)>,
    /// Schemas of the properties that are not declared.
    others: Vec<usize>,
    names: Option<usize>,
    first: Vec<usize>,
    /// Schemas of the items that are not among the first.
    items: Vec<usize>,
    pattern: Option<Pattern>,
    /// Whether a text is read as a regular expression.
    reads_pattern: bool,
    /// How often each byte of a text is looked at.
    passes: u64,
    /// How many values are listed by `enum` and `const`.
    options: u64,
    /// The size of those values.
    listed: u64,
    unique: bool,
    /// Whether numbers are divided.
    divides: bool,
    /// The properties whose schemas are looked for by name, where there are few of them.
    named: Names,
    /// The properties that an object has to have.
    required: Names,
    /// The properties that ask for something if an object has them.
    conditions: Names,
    /// What they ask for.
    conditional: Names,
}

/// Names that are looked for in each object, whatever it has.
#[derive(Debug, Default, Clone, Copy)]
struct Names {
    count: u64,
    bytes: u64,
}

impl Names {
    fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut all = Self::default();
        for name in names {
            all.count += 1;
            all.bytes += name.len() as u64;
        }
        all
    }

    /// The names that a schema lists.
    fn listed<'n>(lists: impl IntoIterator<Item = &'n Value>) -> Self {
        Self::new(lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str))
    }

    /// The steps of looking for each in an object of so many properties.
    fn steps(self, properties: usize) -> u64 {
        match properties {
            // There is nothing to compare or to hash.
            0 => self.count.div_ceil(4),
            1 => self.count.div_ceil(2),
            _ => self.count * 2 + self.bytes / 32,
        }
    }
}

/// The schemas of a declaration.
#[derive(Debug)]
pub(super) struct Costs {
    nodes: Vec<Node>,
    /// Whether any fault is kept with a copy of the value.
    copies: bool,
}

/// There is more than the limit.
#[derive(Debug)]
pub(super) struct TooMuch;

impl Costs {
    /// # Errors
    /// Too many patterns, and a pattern that is not accepted.
    pub(super) fn of(survey: &Survey<'_>) -> Result<Self, SchemaError> {
        let count = survey.nodes.len();
        let mut patterns = Patterns { room: Room::new(), count: 0 };
        let mut nodes = Vec::with_capacity(count);
        for id in 0..count {
            nodes.push(node(survey, id, &mut patterns)?);
        }
        let copies = nodes.iter().any(|node| node.copies);
        let mut heights = vec![None; count];
        for id in 0..count {
            let schema = survey.nodes[id].schema;
            if schema.get("unevaluatedProperties").is_some() || schema.get("unevaluatedItems").is_some() {
                nodes[id].times = 2 + height(&nodes, id, &mut heights);
            }
        }
        Ok(Self { nodes, copies })
    }

    /// The steps of checking a value, if they are within the limit.
    pub(super) fn can_check(&self, value: &Value) -> Result<u64, TooMuch> {
        self.can_check_each(&[(0, value)])
    }

    /// The steps of checking each value against the schema of this number, if all together are within the limit.
    pub(super) fn can_check_each(&self, values: &[(usize, &Value)]) -> Result<u64, TooMuch> {
        let mut count = Count { costs: self, spent: 0, visits: 0, kept: HashMap::new() };
        for (id, value) in values {
            count.visit(*id, Part::Value(value))?;
        }
        Ok(count.spent)
    }

    /// Whether all faults of a value can be listed.
    pub(super) fn can_list(&self, value: &Value) -> bool {
        let mut listing = Listing { costs: self, spent: 0 };
        listing.visit(0, value, 0, false).is_ok()
    }

    /// Whether the first fault of a value can be told where not all of them can.
    pub(super) fn can_tell_first(&self) -> bool {
        !self.copies
    }
}

/// How many schemas stand behind one another for the same value; there is no circle among them.
fn height(nodes: &[Node], id: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(height) = known[id] {
        return height;
    }
    let children = nodes[id].in_place.iter().chain(&nodes[id].references);
    let most = children.map(|child| 1 + height(nodes, *child, known)).max().unwrap_or(0);
    known[id] = Some(most);
    most
}

struct Patterns {
    room: Room,
    count: usize,
}

impl Patterns {
    fn parse(&mut self, survey: &Survey<'_>, id: usize, pattern: &str) -> Result<Pattern, SchemaError> {
        self.count += 1;
        if self.count > PATTERN_LIMIT {
            return Err(SchemaError::TooLarge { what: format!("has more than {PATTERN_LIMIT} patterns") });
        }
        Pattern::parse(pattern, &mut self.room).map_err(|what| SchemaError::Pattern {
            at: survey.place(id),
            pattern: shown::name(pattern),
            what,
        })
    }
}

fn node(survey: &Survey<'_>, id: usize, patterns: &mut Patterns) -> Result<Node, SchemaError> {
    let entry = &survey.nodes[id];
    let Some(schema) = entry.schema.as_object() else { return Ok(Node { times: 1, ..Node::default() }) };
    let under = |keyword: &str| survey.under(id, &format!("/{keyword}"));
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    // What is referred to is behind the others, as many as there are references.
    let own = entry.in_place.iter().position(|child| survey.nodes[*child].parent != Some(id));
    let (in_place, references) = entry.in_place.split_at(own.unwrap_or(entry.in_place.len()));
    let each = |keyword: &str| -> Vec<(String, usize)> {
        let named = schema.get(keyword).and_then(Value::as_object);
        let path = |name: &str| format!("/{keyword}/{}", super::survey::escaped(name));
        let found = named.into_iter().flatten().map(|(name, _)| (name.clone(), survey.under(id, &path(name))));
        found.filter_map(|(name, child)| Some((name, child?))).collect()
    };
    let listed = |keyword: &str| -> Vec<usize> {
        let items = schema.get(keyword).and_then(Value::as_array);
        (0..items.map_or(0, Vec::len)).filter_map(|at| survey.under(id, &format!("/{keyword}/{at}"))).collect()
    };
    let properties = each("properties");
    let few = properties.iter().take(if properties.len() < FEW_PROPERTIES { FEW_PROPERTIES } else { 0 });
    let conditions = ["dependentRequired", "dependentSchemas", "dependencies"];
    let conditions = || conditions.iter().filter_map(|keyword| schema.get(*keyword)?.as_object()).flatten();
    let mut matched = Vec::new();
    for (pattern, child) in each("patternProperties") {
        matched.push((patterns.parse(survey, id, &pattern)?, child));
    }
    let mut first = listed("prefixItems");
    first.extend(listed("items"));
    let pattern = text("pattern").map(|pattern| patterns.parse(survey, id, pattern)).transpose()?;
    Ok(Node {
        in_place: in_place.to_vec(),
        references: references.to_vec(),
        times: 1,
        copies: ["anyOf", "oneOf", "not"].iter().any(|keyword| schema.contains_key(*keyword)),
        named: Names::new(few.map(|(name, _)| name.as_str())),
        required: Names::listed(schema.get("required")),
        conditions: Names::new(conditions().map(|(name, _)| name.as_str())),
        conditional: Names::listed(conditions().map(|(_, asked)| asked)),
        divides: schema.contains_key(multiple::KEYWORD),
        properties: properties.into_iter().collect(),
        patterns: matched,
        others: ["additionalProperties", "unevaluatedProperties"].into_iter().filter_map(under).collect(),
        names: under("propertyNames"),
        first,
        items: ["items", "additionalItems", "contains", "unevaluatedItems"].into_iter().filter_map(under).collect(),
        pattern,
        reads_pattern: text("format") == Some("regex"),
        passes: ["format", "minLength", "maxLength", "contentEncoding", "contentMediaType"]
            .iter()
            .filter(|keyword| schema.contains_key(**keyword))
            .count() as u64,
        options: schema.get("enum").and_then(Value::as_array).map_or(0, |options| options.len() as u64)
            + u64::from(schema.contains_key("const")),
        listed: ["enum", "const"].iter().filter_map(|keyword| schema.get(*keyword)).map(size).sum(),
        unique: schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default(),
    })
}

/// What a schema looks at: a value, or the name of a property.
#[derive(Clone, Copy)]
enum Part<'v> {
    Value(&'v Value),
    Name(&'v str),
}

/// Counts steps.
struct Count<'c> {
    costs: &'c Costs,
    spent: u64,
    /// How many schemas were looked at by reference.
    visits: u64,
    /// Steps and visits of a schema that is referred to, for a container.
    kept: HashMap<(usize, usize), (u64, u64)>,
}

impl Count<'_> {
    fn spend(&mut self, steps: u64) -> Result<(), TooMuch> {
        self.spent = self.spent.saturating_add(steps);
        if self.spent > STEP_LIMIT { Err(TooMuch) } else { Ok(()) }
    }

    fn visit(&mut self, id: usize, part: Part<'_>) -> Result<(), TooMuch> {
        let costs = self.costs;
        let node = &costs.nodes[id];
        self.spend(1)?;
        let before = self.spent;
        for child in &node.in_place {
            self.visit(*child, part)?;
        }
        for child in &node.references {
            self.refer(*child, part)?;
        }
        self.spend((self.spent - before).saturating_mul(node.times - 1))?;
        match part {
            Part::Value(value) => self.parts(node, value),
            Part::Name(name) => {
                self.spend(node.options)?;
                self.text(node, name)
            }
        }
    }

    /// A schema that is referred to is looked at once for a container, if that takes long.
    fn refer(&mut self, id: usize, part: Part<'_>) -> Result<(), TooMuch> {
        let container = match part {
            Part::Value(value) if value.is_array() || value.is_object() => std::ptr::from_ref(value) as usize,
            _ => {
                self.visits += 1;
                return self.visit(id, part);
            }
        };
        if let Some((steps, visits)) = self.kept.get(&(id, container)).copied() {
            let is_kept = visits >= KEPT_VISITS;
            self.visits += if is_kept { 1 } else { visits };
            return self.spend(if is_kept { 1 } else { steps });
        }
        let before = (self.spent, self.visits);
        self.visits += 1;
        self.visit(id, part)?;
        self.kept.insert((id, container), (self.spent - before.0, self.visits - before.1));
        Ok(())
    }

    fn parts(&mut self, node: &Node, value: &Value) -> Result<(), TooMuch> {
        if node.options > 0 {
            self.compare(node, value)?;
        }
        match value {
            Value::String(text) => self.text(node, text),
            Value::Array(items) => {
                if node.unique {
                    // Each item is written out, with its names in order.
                    let weight = self.weight(value, STEP_LIMIT)?;
                    self.spend(weight * 5)?;
                }
                if node.first.is_empty() && node.items.is_empty() {
                    return Ok(());
                }
                for (at, item) in items.iter().enumerate() {
                    self.spend(1)?;
                    for child in node.first.get(at).into_iter().chain(&node.items) {
                        self.visit(*child, Part::Value(item))?;
                    }
                }
                Ok(())
            }
            Value::Object(fields) => {
                self.names(node, fields.len())?;
                for (name, field) in fields {
                    self.spend(1 + name.len() as u64 / 32)?;
                    for (pattern, child) in &node.patterns {
                        // They are matched once more where something asks which names they match.
                        self.spend(pattern.steps(name.len()).saturating_mul(2))?;
                        self.visit(*child, Part::Value(field))?;
                    }
                    if let Some(names) = node.names {
                        self.visit(names, Part::Name(name))?;
                    }
                    let declared = node.properties.get(name);
                    for child in declared.into_iter().chain(&node.others) {
                        self.visit(*child, Part::Value(field))?;
                    }
                }
                Ok(())
            }
            Value::Number(_) if node.divides => self.spend(DIVISION_STEPS),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// Names are looked for in an object of so many properties.
    fn names(&mut self, node: &Node, properties: usize) -> Result<(), TooMuch> {
        self.spend(node.named.steps(properties))?;
        // Where something asks which properties were looked at, these are looked for once more.
        self.spend(node.conditions.steps(properties).saturating_mul(2))?;
        if properties > 0 {
            self.spend(node.conditional.steps(properties))?;
        }
        // An object of fewer properties lacks one of them for certain.
        if properties as u64 >= node.required.count { self.spend(node.required.steps(properties)) } else { Ok(()) }
    }

    /// A value is compared with all that are listed.
    fn compare(&mut self, node: &Node, value: &Value) -> Result<(), TooMuch> {
        self.spend(1 + node.options / 8)?;
        match value {
            Value::Array(_) | Value::Object(_) => {
                let weight = self.weight(value, node.listed)?;
                self.spend((node.listed / 8).min(weight.saturating_mul(node.options)))
            }
            Value::String(text) => self.spend(node.listed.min(node.options.saturating_mul(text.len() as u64)) / 256),
            _ => Ok(()),
        }
    }

    fn text(&mut self, node: &Node, text: &str) -> Result<(), TooMuch> {
        let bytes = text.len() as u64;
        if let Some(pattern) = node.pattern {
            self.spend(pattern.steps(text.len()))?;
        }
        if node.reads_pattern {
            // It is read again for each control escape in it.
            let times = 1 + text.matches("\\c").count() as u64;
            self.spend(bytes.saturating_mul(times).saturating_mul(32))?;
        }
        self.spend(node.passes.saturating_mul(bytes) / 4)
    }

    /// The size of a value in steps, up to a limit.
    fn weight(&mut self, value: &Value, limit: u64) -> Result<u64, TooMuch> {
        let mut weight = 0;
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            weight += 1;
            match value {
                Value::String(text) => weight += text.len() as u64 / 16,
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => {
                    weight += fields.keys().map(|name| 2 + name.len() as u64 / 16).sum::<u64>();
                    open.extend(fields.values());
                }
                _ => {}
            }
            if weight > limit {
                break;
            }
        }
        self.spend(weight / 4)?;
        Ok(weight.min(limit))
    }
}

/// Counts the bytes of a list of faults in which every schema has one for every value.
struct Listing<'c> {
    costs: &'c Costs,
    spent: u64,
}

impl Listing<'_> {
    fn visit(&mut self, id: usize, value: &Value, path: u64, copied: bool) -> Result<(), TooMuch> {
        let costs = self.costs;
        let node = &costs.nodes[id];
        let copy = if copied || node.unique { size(value) } else { 0 };
        let fault = FAULT_BYTES + path + copy;
        self.keep(fault)?;
        for child in node.in_place.iter().chain(&node.references) {
            self.visit(*child, value, path, copied || node.copies)?;
        }
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    for child in node.first.get(at).into_iter().chain(&node.items) {
                        self.visit(*child, item, path + 8, copied)?;
                    }
                }
            }
            Value::Object(fields) => {
                // Each name that is missing is a fault of its own, with a copy of the name.
                for names in [node.required, node.conditional] {
                    self.keep(names.count.saturating_mul(fault).saturating_add(names.bytes))?;
                }
                for (name, field) in fields {
                    if let Some(names) = node.names {
                        self.name(names, name, fault)?;
                    }
                    let matched = node.patterns.iter().map(|(_, child)| child);
                    let path = path + name.len() as u64 + 1;
                    for child in matched.chain(node.properties.get(name)).chain(&node.others) {
                        self.visit(*child, field, path, copied)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A name has a fault for each schema, in one of the object that has the property.
    fn name(&mut self, id: usize, name: &str, fault: u64) -> Result<(), TooMuch> {
        self.keep(FAULT_BYTES + fault + name.len() as u64)?;
        let node = &self.costs.nodes[id];
        node.in_place.iter().chain(&node.references).try_for_each(|child| self.name(*child, name, fault))
    }

    fn keep(&mut self, bytes: u64) -> Result<(), TooMuch> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > LIST_LIMIT { Err(TooMuch) } else { Ok(()) }
    }
}

/// The size of a value in memory, roughly, in bytes.
fn size(value: &Value) -> u64 {
    let inside = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() as u64 + 64 + size(value)).sum(),
        _ => 0,
    };
    32 + inside
}
