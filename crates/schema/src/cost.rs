//! The cost model of validation: counts the work of checking a value before it is done.
//!
//! Invariant: the count is an upper bound of the validator's work, for valid and invalid values:
//! every branch of an alternative counts, and every pattern counts for every text that it may be
//! matched against. Counting stops at the limit, so it takes no longer than the allowed work.
//!
//! A step is the evaluation of one schema on one value, about 20 ns. The count depends only on the
//! schema and the value, so the same call is accepted or refused on every machine. A running
//! validator cannot be interrupted, which is why this is not a deadline.

use std::collections::HashMap;

use serde_json::Value;
use toolcell_i18n::message;

use super::display;
use super::error::SchemaError;
use super::multiple;
use super::pattern::{AutomatonBudget, PatternCost};
use super::subschemas::Subschemas;

/// The maximum number of steps for checking the parameters of one call.
pub const MAX_CHECK_STEPS: u64 = 4_000_000;
/// The maximum size in memory of a list of faults, in bytes.
const MAX_FAULT_LIST_BYTES: u64 = 32 << 20;
/// The maximum number of patterns in a declaration.
const MAX_PATTERNS: usize = 100;
/// The number of nested visits from which the library caches the result of a referenced schema.
const MIN_CACHED_VISITS: u64 = 16;
/// Below this number of declared properties, the library looks each one up in the object.
const FEW_PROPERTIES_LIMIT: usize = 15;
/// The steps of a `multipleOf` check in the slowest case: a number or a divisor that is not a
/// 64-bit integer.
const DIVISION_STEPS: u64 = 20;
/// The size of one listed fault in bytes, without its path and its value.
const FAULT_BYTES: u64 = 250;

/// The cost-relevant parts of a schema.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a keyword of the schema, in any combination")]
struct NodeCost {
    /// The in-place schemas.
    in_place: Vec<usize>,
    /// The referenced in-place schemas.
    references: Vec<usize>,
    /// How often the in-place schemas are evaluated: more than once for `unevaluated*`, which ask
    /// what they evaluated.
    repetitions: u64,
    /// Whether faults of the in-place schemas contain a copy of the value.
    copies_value: bool,
    properties: HashMap<String, usize>,
    patterns: Vec<(PatternCost, usize)>,
    /// The schemas of undeclared properties.
    additional: Vec<usize>,
    names: Option<usize>,
    prefix_items: Vec<usize>,
    /// The schemas of the items after the prefix.
    items: Vec<usize>,
    pattern: Option<PatternCost>,
    /// Whether a text is parsed as a regular expression.
    is_regex_format: bool,
    /// The number of passes over the bytes of a text.
    byte_passes: u64,
    /// The number of values in `enum` and `const`.
    options: u64,
    /// The size of those values in bytes.
    option_bytes: u64,
    unique: bool,
    /// Whether there is a `multipleOf`.
    has_multiple_of: bool,
    /// The declared properties that are looked up by name, if they are few.
    few_properties: NameList,
    /// The required properties.
    required: NameList,
    /// The properties that have conditions if they are present.
    conditions: NameList,
    /// The properties that these conditions require.
    conditional: NameList,
}

/// The number and total size of names that are looked up in each object.
#[derive(Debug, Default, Clone, Copy)]
struct NameList {
    count: u64,
    bytes: u64,
}

impl NameList {
    fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut all = Self::default();
        for name in names {
            all.count += 1;
            all.bytes += name.len() as u64;
        }
        all
    }

    /// Creates the list from arrays of names.
    fn from_lists<'n>(lists: impl IntoIterator<Item = &'n Value>) -> Self {
        Self::new(lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str))
    }

    /// Returns the steps of looking up all names in an object with this number of properties.
    fn steps(self, properties: usize) -> u64 {
        match properties {
            // Nothing has to be compared or hashed.
            0 => self.count.div_ceil(4),
            1 => self.count.div_ceil(2),
            _ => self.count * 2 + self.bytes / 32,
        }
    }
}

/// The cost model of a declaration.
#[derive(Debug)]
pub(super) struct CostModel {
    nodes: Vec<NodeCost>,
    /// Whether any fault contains a copy of the value.
    copies_values: bool,
}

/// The limit is exceeded.
#[derive(Debug)]
pub(super) struct OverLimit;

impl CostModel {
    /// # Errors
    /// Too many patterns, or a pattern that is not accepted.
    pub(super) fn from_subschemas(survey: &Subschemas<'_>) -> Result<Self, SchemaError> {
        let count = survey.nodes.len();
        let mut patterns = PatternParser { room: AutomatonBudget::new(), count: 0 };
        let mut nodes = Vec::with_capacity(count);
        for id in 0..count {
            nodes.push(build_node(survey, id, &mut patterns)?);
        }
        let copies = nodes.iter().any(|node| node.copies_value);
        let mut heights = vec![None; count];
        for id in 0..count {
            let schema = survey.nodes[id].schema;
            if schema.get("unevaluatedProperties").is_some() || schema.get("unevaluatedItems").is_some() {
                nodes[id].repetitions = 2 + in_place_height(&nodes, id, &mut heights);
            }
        }
        Ok(Self { nodes, copies_values: copies })
    }

    /// Returns the steps of checking a value, if they are within the limit.
    pub(super) fn count_steps(&self, value: &Value) -> Result<u64, OverLimit> {
        self.count_steps_of_all(&[(0, value)])
    }

    /// Returns the steps of checking each value against the schema with the given index, if the
    /// total is within the limit.
    pub(super) fn count_steps_of_all(&self, values: &[(usize, &Value)]) -> Result<u64, OverLimit> {
        let mut count = StepCounter { costs: self, steps: 0, visits: 0, cached: HashMap::new() };
        for (id, value) in values {
            count.visit(*id, Part::Value(value))?;
        }
        Ok(count.steps)
    }

    /// Returns whether all faults of a value can be listed.
    pub(super) fn can_list(&self, value: &Value) -> bool {
        let mut listing = FaultListCounter { costs: self, bytes: 0 };
        listing.visit(0, value, 0, false).is_ok()
    }

    /// Returns whether the first fault can be reported if not all of them can.
    pub(super) fn can_report_first(&self) -> bool {
        !self.copies_values
    }
}

/// Returns the height of the in-place schemas, which contain no cycle.
fn in_place_height(nodes: &[NodeCost], id: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(height) = known[id] {
        return height;
    }
    let children = nodes[id].in_place.iter().chain(&nodes[id].references);
    let most = children.map(|child| 1 + in_place_height(nodes, *child, known)).max().unwrap_or(0);
    known[id] = Some(most);
    most
}

struct PatternParser {
    room: AutomatonBudget,
    count: usize,
}

impl PatternParser {
    fn parse(&mut self, survey: &Subschemas<'_>, id: usize, pattern: &str) -> Result<PatternCost, SchemaError> {
        self.count += 1;
        if self.count > MAX_PATTERNS {
            return Err(SchemaError::TooLarge {
                what: message!("has more than {limit} patterns", limit = MAX_PATTERNS),
            });
        }
        PatternCost::parse(pattern, &mut self.room).map_err(|what| SchemaError::Pattern {
            at: survey.label(id),
            pattern: display::name(pattern),
            what,
        })
    }
}

fn build_node(survey: &Subschemas<'_>, id: usize, patterns: &mut PatternParser) -> Result<NodeCost, SchemaError> {
    let entry = &survey.nodes[id];
    let Some(schema) = entry.schema.as_object() else { return Ok(NodeCost { repetitions: 1, ..NodeCost::default() }) };
    let under = |keyword: &str| survey.child_at(id, &format!("/{keyword}"));
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    // The references come last, one for each reference keyword.
    let own = entry.in_place.iter().position(|child| survey.nodes[*child].parent != Some(id));
    let (in_place, references) = entry.in_place.split_at(own.unwrap_or(entry.in_place.len()));
    let each = |keyword: &str| -> Vec<(String, usize)> {
        let named = schema.get(keyword).and_then(Value::as_object);
        let path = |name: &str| format!("/{keyword}/{}", super::subschemas::escape_pointer_step(name));
        let found = named.into_iter().flatten().map(|(name, _)| (name.clone(), survey.child_at(id, &path(name))));
        found.filter_map(|(name, child)| Some((name, child?))).collect()
    };
    let listed = |keyword: &str| -> Vec<usize> {
        let items = schema.get(keyword).and_then(Value::as_array);
        (0..items.map_or(0, Vec::len)).filter_map(|at| survey.child_at(id, &format!("/{keyword}/{at}"))).collect()
    };
    let properties = each("properties");
    let few = properties.iter().take(if properties.len() < FEW_PROPERTIES_LIMIT { FEW_PROPERTIES_LIMIT } else { 0 });
    let conditions = ["dependentRequired", "dependentSchemas", "dependencies"];
    let conditions = || conditions.iter().filter_map(|keyword| schema.get(*keyword)?.as_object()).flatten();
    let mut matched = Vec::new();
    for (pattern, child) in each("patternProperties") {
        matched.push((patterns.parse(survey, id, &pattern)?, child));
    }
    let mut first = listed("prefixItems");
    first.extend(listed("items"));
    let pattern = text("pattern").map(|pattern| patterns.parse(survey, id, pattern)).transpose()?;
    Ok(NodeCost {
        in_place: in_place.to_vec(),
        references: references.to_vec(),
        repetitions: 1,
        copies_value: ["anyOf", "oneOf", "not"].iter().any(|keyword| schema.contains_key(*keyword)),
        few_properties: NameList::new(few.map(|(name, _)| name.as_str())),
        required: NameList::from_lists(schema.get("required")),
        conditions: NameList::new(conditions().map(|(name, _)| name.as_str())),
        conditional: NameList::from_lists(conditions().map(|(_, asked)| asked)),
        has_multiple_of: schema.contains_key(multiple::KEYWORD),
        properties: properties.into_iter().collect(),
        patterns: matched,
        additional: ["additionalProperties", "unevaluatedProperties"].into_iter().filter_map(under).collect(),
        names: under("propertyNames"),
        prefix_items: first,
        items: ["items", "additionalItems", "contains", "unevaluatedItems"].into_iter().filter_map(under).collect(),
        pattern,
        is_regex_format: text("format") == Some("regex"),
        byte_passes: ["format", "minLength", "maxLength", "contentEncoding", "contentMediaType"]
            .iter()
            .filter(|keyword| schema.contains_key(**keyword))
            .count() as u64,
        options: schema.get("enum").and_then(Value::as_array).map_or(0, |options| options.len() as u64)
            + u64::from(schema.contains_key("const")),
        option_bytes: ["enum", "const"].iter().filter_map(|keyword| schema.get(*keyword)).map(approximate_bytes).sum(),
        unique: schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default(),
    })
}

/// The instance that a schema is evaluated on: a value, or the name of a property.
#[derive(Clone, Copy)]
enum Part<'v> {
    Value(&'v Value),
    Name(&'v str),
}

/// The step counter of one check.
struct StepCounter<'c> {
    costs: &'c CostModel,
    steps: u64,
    /// The number of referenced schemas that were visited.
    visits: u64,
    /// The steps and visits of a referenced schema on a container.
    cached: HashMap<(usize, usize), (u64, u64)>,
}

impl StepCounter<'_> {
    fn spend(&mut self, steps: u64) -> Result<(), OverLimit> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_CHECK_STEPS { Err(OverLimit) } else { Ok(()) }
    }

    fn visit(&mut self, id: usize, part: Part<'_>) -> Result<(), OverLimit> {
        let costs = self.costs;
        let node = &costs.nodes[id];
        self.spend(1)?;
        let before = self.steps;
        for child in &node.in_place {
            self.visit(*child, part)?;
        }
        for child in &node.references {
            self.visit_reference(*child, part)?;
        }
        self.spend((self.steps - before).saturating_mul(node.repetitions - 1))?;
        match part {
            Part::Value(value) => self.visit_parts(node, value),
            Part::Name(name) => {
                self.spend(node.options)?;
                self.count_text(node, name)
            }
        }
    }

    /// Visits a referenced schema. The library evaluates it once per container if it is expensive.
    fn visit_reference(&mut self, id: usize, part: Part<'_>) -> Result<(), OverLimit> {
        let container = match part {
            Part::Value(value) if value.is_array() || value.is_object() => std::ptr::from_ref(value) as usize,
            _ => {
                self.visits += 1;
                return self.visit(id, part);
            }
        };
        if let Some((steps, visits)) = self.cached.get(&(id, container)).copied() {
            let is_kept = visits >= MIN_CACHED_VISITS;
            self.visits += if is_kept { 1 } else { visits };
            return self.spend(if is_kept { 1 } else { steps });
        }
        let before = (self.steps, self.visits);
        self.visits += 1;
        self.visit(id, part)?;
        self.cached.insert((id, container), (self.steps - before.0, self.visits - before.1));
        Ok(())
    }

    fn visit_parts(&mut self, node: &NodeCost, value: &Value) -> Result<(), OverLimit> {
        if node.options > 0 {
            self.count_comparison(node, value)?;
        }
        match value {
            Value::String(text) => self.count_text(node, text),
            Value::Array(items) => {
                if node.unique {
                    // Each item is serialized with sorted names.
                    let weight = self.count_weight(value, MAX_CHECK_STEPS)?;
                    self.spend(weight * 5)?;
                }
                if node.prefix_items.is_empty() && node.items.is_empty() {
                    return Ok(());
                }
                for (at, item) in items.iter().enumerate() {
                    self.spend(1)?;
                    for child in node.prefix_items.get(at).into_iter().chain(&node.items) {
                        self.visit(*child, Part::Value(item))?;
                    }
                }
                Ok(())
            }
            Value::Object(fields) => {
                self.count_names(node, fields.len())?;
                for (name, field) in fields {
                    self.spend(1 + name.len() as u64 / 32)?;
                    for (pattern, child) in &node.patterns {
                        // `unevaluatedProperties` matches them a second time.
                        self.spend(pattern.steps(name.len()).saturating_mul(2))?;
                        self.visit(*child, Part::Value(field))?;
                    }
                    if let Some(names) = node.names {
                        self.visit(names, Part::Name(name))?;
                    }
                    let declared = node.properties.get(name);
                    for child in declared.into_iter().chain(&node.additional) {
                        self.visit(*child, Part::Value(field))?;
                    }
                }
                Ok(())
            }
            Value::Number(_) if node.has_multiple_of => self.spend(DIVISION_STEPS),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// Counts the lookups of names in an object with this number of properties.
    fn count_names(&mut self, node: &NodeCost, properties: usize) -> Result<(), OverLimit> {
        self.spend(node.few_properties.steps(properties))?;
        // `unevaluatedProperties` looks them up a second time.
        self.spend(node.conditions.steps(properties).saturating_mul(2))?;
        if properties > 0 {
            self.spend(node.conditional.steps(properties))?;
        }
        // An object with fewer properties certainly lacks a required one.
        if properties as u64 >= node.required.count { self.spend(node.required.steps(properties)) } else { Ok(()) }
    }

    /// Counts the comparison of a value with the `enum` and `const` values.
    fn count_comparison(&mut self, node: &NodeCost, value: &Value) -> Result<(), OverLimit> {
        self.spend(1 + node.options / 8)?;
        match value {
            Value::Array(_) | Value::Object(_) => {
                let weight = self.count_weight(value, node.option_bytes)?;
                self.spend((node.option_bytes / 8).min(weight.saturating_mul(node.options)))
            }
            Value::String(text) => {
                self.spend(node.option_bytes.min(node.options.saturating_mul(text.len() as u64)) / 256)
            }
            _ => Ok(()),
        }
    }

    fn count_text(&mut self, node: &NodeCost, text: &str) -> Result<(), OverLimit> {
        let bytes = text.len() as u64;
        if let Some(pattern) = node.pattern {
            self.spend(pattern.steps(text.len()))?;
        }
        if node.is_regex_format {
            // It is translated again for each control escape.
            let times = 1 + text.matches("\\c").count() as u64;
            self.spend(bytes.saturating_mul(times).saturating_mul(32))?;
        }
        self.spend(node.byte_passes.saturating_mul(bytes) / 4)
    }

    /// Returns the size of a value in steps, up to a limit.
    fn count_weight(&mut self, value: &Value, limit: u64) -> Result<u64, OverLimit> {
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

/// Counts the bytes of a fault list in which every schema fails on every value.
struct FaultListCounter<'c> {
    costs: &'c CostModel,
    bytes: u64,
}

impl FaultListCounter<'_> {
    fn visit(&mut self, id: usize, value: &Value, path: u64, copied: bool) -> Result<(), OverLimit> {
        let costs = self.costs;
        let node = &costs.nodes[id];
        let copy = if copied || node.unique { approximate_bytes(value) } else { 0 };
        let fault = FAULT_BYTES + path + copy;
        self.add_bytes(fault)?;
        for child in node.in_place.iter().chain(&node.references) {
            self.visit(*child, value, path, copied || node.copies_value)?;
        }
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    for child in node.prefix_items.get(at).into_iter().chain(&node.items) {
                        self.visit(*child, item, path + 8, copied)?;
                    }
                }
            }
            Value::Object(fields) => {
                // Each missing name is a fault of its own, with a copy of the name.
                for names in [node.required, node.conditional] {
                    self.add_bytes(names.count.saturating_mul(fault).saturating_add(names.bytes))?;
                }
                for (name, field) in fields {
                    if let Some(names) = node.names {
                        self.visit_name(names, name, fault)?;
                    }
                    let matched = node.patterns.iter().map(|(_, child)| child);
                    let path = path + name.len() as u64 + 1;
                    for child in matched.chain(node.properties.get(name)).chain(&node.additional) {
                        self.visit(*child, field, path, copied)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the faults of a property name, which are nested in a fault of the object.
    fn visit_name(&mut self, id: usize, name: &str, fault: u64) -> Result<(), OverLimit> {
        self.add_bytes(FAULT_BYTES + fault + name.len() as u64)?;
        let node = &self.costs.nodes[id];
        node.in_place.iter().chain(&node.references).try_for_each(|child| self.visit_name(*child, name, fault))
    }

    fn add_bytes(&mut self, bytes: u64) -> Result<(), OverLimit> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_FAULT_LIST_BYTES { Err(OverLimit) } else { Ok(()) }
    }
}

/// Returns the approximate size of a value in memory in bytes.
fn approximate_bytes(value: &Value) -> u64 {
    let inside = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(approximate_bytes).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() as u64 + 64 + approximate_bytes(value)).sum()
        }
        _ => 0,
    };
    32 + inside
}
