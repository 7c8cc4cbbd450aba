//! How much work a schema can make of a value.
//!
//! Invariant: what passes here is compiled and checked in time and stack that grow with the schema and with the value,
//! not with the number of ways through them.
//!
//! Tools are written by models, and so are their schemas: forty lines of definitions that each refer twice to the next
//! describe more ways than there is time for.

use std::collections::HashSet;

use serde_json::Value;

use super::error::SchemaError;
use super::survey::Survey;

/// How many schemas may stand behind one another for the same value.
const IN_PLACE_LIMIT: usize = 16;
/// How deep all schemas together may be nested when references are followed.
const CHAIN_LIMIT: usize = 512;
/// How deep they may be for the stack of any thread.
const SHALLOW: usize = 32;
/// How many ways through a schema are listed fault by fault.
const WAYS_LIMIT: u64 = 100_000;

/// What is known of the work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How deep the schemas can be nested when references are followed.
    chain: usize,
    /// The number of ways through the schema; none where it leads back to itself.
    ways: Option<u64>,
    /// The largest number of ways at one value.
    branches: u64,
}

impl Bounds {
    pub(super) fn of(survey: &Survey<'_>) -> Result<Self, SchemaError> {
        let chain = chain(survey);
        if chain > CHAIN_LIMIT {
            let what =
                format!("with what they refer to, its schemas are nested {chain} deep, the limit is {CHAIN_LIMIT}");
            return Err(SchemaError::Entangled { what });
        }
        let mut known = vec![None; survey.nodes.len()];
        let mut branches = 1;
        for id in 0..survey.nodes.len() {
            branches = branches.max(ways_in_place(survey, id, IN_PLACE_LIMIT, &mut known)?);
        }
        Ok(Self { chain, ways: ways(survey), branches })
    }

    /// Whether compiling it needs more stack than a thread may have.
    pub(super) fn is_deep(self) -> bool {
        self.chain > SHALLOW
    }

    /// Whether each fault of a value can be listed.
    pub(super) fn can_list(self, value: &Value) -> bool {
        match self.ways {
            Some(ways) => ways <= WAYS_LIMIT,
            None if self.branches == 1 => true,
            None => {
                let depth = u32::try_from(depth(value)).unwrap_or(u32::MAX);
                self.branches.saturating_pow(depth) <= WAYS_LIMIT
            }
        }
    }
}

/// How deep containers are nested.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The height of the document and of everything in it that is referred to, one on top of the other.
fn chain(survey: &Survey<'_>) -> usize {
    let mut heights = vec![1_usize; survey.nodes.len()];
    // Each schema comes after the one that it stands in.
    for (id, node) in survey.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            heights[parent] = heights[parent].max(heights[id] + 1);
        }
    }
    let targets: HashSet<usize> = survey.nodes.iter().filter_map(|node| node.target).collect();
    heights.first().copied().unwrap_or(0) + targets.iter().map(|id| heights[*id]).sum::<usize>()
}

/// In how many ways a schema leads from a value into its parts.
fn ways_in_place(
    survey: &Survey<'_>,
    id: usize,
    room: usize,
    known: &mut [Option<(u64, usize)>],
) -> Result<u64, SchemaError> {
    fn walk(
        survey: &Survey<'_>,
        id: usize,
        room: usize,
        known: &mut [Option<(u64, usize)>],
    ) -> Result<(u64, usize), SchemaError> {
        if let Some((ways, height)) = known[id].filter(|(_, height)| *height <= room) {
            return Ok((ways, height));
        }
        if room == 0 {
            let place = survey.place(id);
            let what = format!("more than {IN_PLACE_LIMIT} schemas stand behind each other for one value at {place}");
            return Err(SchemaError::Entangled { what });
        }
        let node = &survey.nodes[id];
        let (mut ways, mut height) = (u64::from(!node.inside.is_empty()), 0);
        for child in &node.in_place {
            let (more, below) = walk(survey, *child, room - 1, known)?;
            ways = ways.saturating_add(more);
            height = height.max(below);
        }
        known[id] = Some((ways, height + 1));
        Ok((ways, height + 1))
    }
    walk(survey, id, room, known).map(|(ways, _)| ways)
}

/// The number of ways through a schema: none where it leads back to itself (Kahn 1962).
fn ways(survey: &Survey<'_>) -> Option<u64> {
    let children = |id: usize| survey.nodes[id].in_place.iter().chain(&survey.nodes[id].inside);
    let mut parents = vec![0_usize; survey.nodes.len()];
    (0..survey.nodes.len()).flat_map(children).for_each(|child| parents[*child] += 1);
    let mut open: Vec<usize> = (0..parents.len()).filter(|id| parents[*id] == 0).collect();
    let mut order = Vec::with_capacity(parents.len());
    while let Some(id) = open.pop() {
        order.push(id);
        for child in children(id) {
            parents[*child] -= 1;
            if parents[*child] == 0 {
                open.push(*child);
            }
        }
    }
    if order.len() < parents.len() {
        return None;
    }
    let mut ways = vec![1_u64; parents.len()];
    for id in order.into_iter().rev() {
        ways[id] = children(id).fold(1, |sum: u64, child| sum.saturating_add(ways[*child]));
    }
    ways.first().copied()
}
