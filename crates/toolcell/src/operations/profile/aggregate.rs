//! The aggregation of samples into a profile.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use toolcell_host::{CallProfile as Sampled, FrameOrigin};

use super::{FunctionFuel, LineFuel, Profile, StackFuel, Unattributed};

/// The maximum length of a line's text in characters.
const MAX_TEXT_CHARS: usize = 160;

/// Aggregates the samples; the other fields are copied from `empty`.
pub(super) fn aggregate(sampled: &Sampled, source: &str, empty: Profile) -> Profile {
    let (functions, order) = aggregate_functions(sampled);
    let outside =
        Unattributed { engine: sampled.engine, other_tools: sampled.other_tools, unattributed: sampled.unattributed };
    let lines = aggregate_lines(sampled, source);
    let stacks = aggregate_stacks(sampled, &order);
    Profile { fuel: sampled.fuel, samples: sampled.samples, outside, functions, lines, stacks, ..empty }
}

/// Returns the fuel of each function, the most expensive first, and the index of each sampled
/// function in that list.
fn aggregate_functions(sampled: &Sampled) -> (Vec<FunctionFuel>, Vec<usize>) {
    let mut fuel = vec![(0_u64, 0_u64); sampled.functions.len()];
    for stack in &sampled.stacks {
        let on_stack: BTreeSet<usize> = stack.frames.iter().map(|frame| frame.function).collect();
        for function in on_stack {
            fuel[function].1 += stack.fuel;
        }
        if let Some(innermost) = stack.frames.last() {
            fuel[innermost.function].0 += stack.fuel;
        }
    }
    let mut sorted: Vec<usize> = (0..fuel.len()).collect();
    sorted.sort_by(|one, other| {
        let by_name = || {
            let of = |at: usize| (&sampled.functions[at].name, sampled.functions[at].line, at);
            of(*one).cmp(&of(*other))
        };
        fuel[*other].cmp(&fuel[*one]).then_with(by_name)
    });
    let mut order = vec![0; sorted.len()];
    for (at, function) in sorted.iter().enumerate() {
        order[*function] = at;
    }
    let summed = sorted.iter().map(|at| {
        let function = &sampled.functions[*at];
        let line = (function.origin == FrameOrigin::Tool).then_some(function.line);
        let (own, total) = fuel[*at];
        FunctionFuel { name: function.name.clone(), home: function.origin.name().to_owned(), line, own, total }
    });
    (summed.collect(), order)
}

/// Returns the fuel of each line of the tool.
fn aggregate_lines(sampled: &Sampled, source: &str) -> Vec<LineFuel> {
    let mut fuel: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for stack in &sampled.stacks {
        let of_tool = stack.frames.iter().filter(|frame| sampled.functions[frame.function].origin == FrameOrigin::Tool);
        let on_stack: Vec<u32> = of_tool.map(|frame| frame.line).collect();
        for line in on_stack.iter().collect::<BTreeSet<_>>() {
            fuel.entry(*line).or_default().1 += stack.fuel;
        }
        if let Some(innermost) = on_stack.last() {
            fuel.entry(*innermost).or_default().0 += stack.fuel;
        }
    }
    let texts: Vec<&str> = source.lines().collect();
    let line = |(line, (own, total))| {
        let text = usize::try_from(line).ok().and_then(|line: usize| texts.get(line.checked_sub(1)?));
        let text = text.map(|text| text.trim().chars().take(MAX_TEXT_CHARS).collect()).unwrap_or_default();
        LineFuel { line, own, total, text }
    };
    fuel.into_iter().map(line).collect()
}

/// Returns the stacks with new function indices; stacks that differ only in a column are merged.
fn aggregate_stacks(sampled: &Sampled, order: &[usize]) -> Vec<StackFuel> {
    let mut stacks: BTreeMap<Vec<(usize, u32)>, u64> = BTreeMap::new();
    for stack in &sampled.stacks {
        let frames = stack.frames.iter().map(|frame| {
            let is_of_tool = sampled.functions[frame.function].origin == FrameOrigin::Tool;
            (order[frame.function], if is_of_tool { frame.line } else { 0 })
        });
        *stacks.entry(frames.collect()).or_default() += stack.fuel;
    }
    stacks.into_iter().map(|(frames, fuel)| StackFuel { frames, fuel }).collect()
}

/// Returns the stacks by function names, including the unattributed fuel.
pub(super) fn folded_stacks(profile: &Profile) -> Vec<String> {
    // Functions with the same name are distinguished by their lines.
    let mut often: HashMap<&str, u32> = HashMap::new();
    for function in &profile.functions {
        *often.entry(&function.name).or_default() += 1;
    }
    let name = |at: usize| {
        let FunctionFuel { name, line, .. } = &profile.functions[at];
        // Names must not contain the separators.
        let plain = name.replace([';', '\n', '\r'], " ");
        match line {
            Some(line) if often[name.as_str()] > 1 => format!("{plain}:{line}"),
            _ => plain,
        }
    };
    let mut folded: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &profile.stacks {
        let names: Vec<String> = stack.frames.iter().map(|(function, _)| name(*function)).collect();
        *folded.entry(names.join(";")).or_default() += stack.fuel;
    }
    let Unattributed { engine, other_tools, unattributed } = profile.outside;
    for (name, fuel) in
        [("(engine)", engine), ("(other tools)", other_tools), ("(after the last sample)", unattributed)]
    {
        if fuel > 0 {
            *folded.entry(name.to_owned()).or_default() += fuel;
        }
    }
    folded.into_iter().map(|(names, fuel)| format!("{names} {fuel}")).collect()
}
