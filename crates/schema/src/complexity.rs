//! The complexity limits of a schema.
//!
//! Invariant: a schema that passes here is compiled and checked in time and stack that grow with
//! the schema and the value, not with the number of paths through them.
//!
//! Models write tools and their schemas: forty lines of definitions that each refer twice to the
//! next describe more paths than can be followed.

use std::collections::HashSet;

use serde_json::Value;
use toolcell_i18n::message;

use super::error::SchemaError;
use super::subschemas::Subschemas;

/// The maximum depth of in-place schemas for one value.
const MAX_IN_PLACE_DEPTH: usize = 16;
/// The maximum nesting depth of all schemas together when references are followed.
const MAX_TOTAL_DEPTH: usize = 512;
/// The nesting depth up to which a schema is compiled on the current thread's stack.
const MAX_SMALL_STACK_DEPTH: usize = 32;
/// The maximum number of paths through a schema for which every fault is listed.
const MAX_LISTED_PATHS: u64 = 100_000;

/// The complexity of a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complexity {
    /// The nesting depth when references are followed.
    depth: usize,
    /// The number of paths through the schema; `None` if it is recursive.
    paths: Option<u64>,
    /// The largest number of paths at one value.
    branches: u64,
}

impl Complexity {
    pub(super) fn from_subschemas(survey: &Subschemas<'_>) -> Result<Self, SchemaError> {
        let chain = total_depth(survey);
        if chain > MAX_TOTAL_DEPTH {
            let what = message!(
                "including references, its schemas are nested {depth} deep, the limit is {limit}",
                depth = chain,
                limit = MAX_TOTAL_DEPTH,
            );
            return Err(SchemaError::TooComplex { what });
        }
        let mut known = vec![None; survey.nodes.len()];
        let mut branches = 1;
        for id in 0..survey.nodes.len() {
            branches = branches.max(count_in_place_paths(survey, id, MAX_IN_PLACE_DEPTH, &mut known)?);
        }
        Ok(Self { depth: chain, paths: count_paths(survey), branches })
    }

    /// Returns whether compilation needs more stack than a thread may have.
    pub(super) fn needs_large_stack(self) -> bool {
        self.depth > MAX_SMALL_STACK_DEPTH
    }

    /// Returns whether every fault of a value can be listed.
    pub(super) fn can_list(self, value: &Value) -> bool {
        match self.paths {
            Some(ways) => ways <= MAX_LISTED_PATHS,
            None if self.branches == 1 => true,
            None => {
                let depth = u32::try_from(depth(value)).unwrap_or(u32::MAX);
                self.branches.saturating_pow(depth) <= MAX_LISTED_PATHS
            }
        }
    }
}

/// Returns the nesting depth of containers.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the height of the document plus the heights of all referenced schemas: the maximum
/// depth.
fn total_depth(survey: &Subschemas<'_>) -> usize {
    let mut heights = vec![1_usize; survey.nodes.len()];
    // Parents come before their children.
    for (id, node) in survey.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            heights[parent] = heights[parent].max(heights[id] + 1);
        }
    }
    let targets: HashSet<usize> = survey.nodes.iter().filter_map(|node| node.target).collect();
    heights.first().copied().unwrap_or(0) + targets.iter().map(|id| heights[*id]).sum::<usize>()
}

/// Counts the paths by which a schema leads from a value into its parts.
fn count_in_place_paths(
    survey: &Subschemas<'_>,
    id: usize,
    room: usize,
    known: &mut [Option<(u64, usize)>],
) -> Result<u64, SchemaError> {
    fn walk(
        survey: &Subschemas<'_>,
        id: usize,
        room: usize,
        known: &mut [Option<(u64, usize)>],
    ) -> Result<(u64, usize), SchemaError> {
        if let Some((ways, height)) = known[id].filter(|(_, height)| *height <= room) {
            return Ok((ways, height));
        }
        if room == 0 {
            let place = survey.label(id);
            let limit = MAX_IN_PLACE_DEPTH;
            let what = message!("more than {limit} schemas are chained for one value at {place}", limit, place);
            return Err(SchemaError::TooComplex { what });
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

/// Counts the paths through a schema; `None` if it is recursive (topological sort, Kahn 1962).
fn count_paths(survey: &Subschemas<'_>) -> Option<u64> {
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
