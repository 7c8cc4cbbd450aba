//! The probes of an equivalence test: inputs and the observed outcomes.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use toolcell_host::{Budget, CallContext, CallError, ImageKind, Outcome};
use toolcell_schema::{MAX_CHECK_STEPS, Schema};
use toolcell_tool::Example;

use super::compare::ObservedOutcome;
use super::mutate::{mutate, relate_values};
use super::plausible::{has_content, make_plausible};
use super::rng::SplitMix64;
use crate::admission::{CallAuthorization, UngrantedCall};
use crate::execution::{Runtime, ToolCode};
use crate::verification::normalized_kind;
use crate::verification::proof::{Dictionary, InputGenerator, InputStyle};
use crate::vet::VettedTool;

/// The seed of the inputs.
const SEED: [u8; 32] = *b"toolcell 2026-11 compare tools  ";
/// The maximum number of inputs generated from the schema, and of mutated inputs.
const MAX_GENERATED: usize = 600;
const MAX_MUTATED: usize = 700;
/// The number of results, and of result shapes, after which inputs are mutated.
const ENOUGH_RESULTS: usize = 80;
const ENOUGH_SHAPES: usize = 24;
/// The maximum number of kept observations: with results, with the same result, and with errors.
const MAX_RESULTS: usize = 160;
const MAX_PER_RESULT: usize = 24;
const MAX_ERRORS: usize = 8;
/// The fuel limit of one call.
const CALL_FUEL: u64 = 50_000_000;

/// The fuel limit of all calls of a comparison, and the one for the interpreter.
const TOTAL_FUEL: u64 = 20_000_000_000;
const TOTAL_FUEL_INTERPRETED: u64 = 2_000_000_000;
/// The fuel that a step of the parameter check counts for.
const STEP_FUEL: u64 = 50;
/// The maximum size of an input in bytes of JSON: many are kept.
const MAX_INPUT_BYTES: usize = 16 * 1024;
/// The maximum size of all inputs in bytes of JSON.
const MAX_TOTAL_INPUT_BYTES: usize = 1024 * 1024;

/// A tool that is compared with others.
pub(crate) struct Probe<'a> {
    tool: &'a VettedTool,
    schema: &'a Schema,
    examples: Vec<Value>,
    /// The fuel that is left for all calls.
    fuel_left: &'a Cell<u64>,
}

/// Returns the fuel limit of a comparison on an image.
pub(super) fn comparison_fuel(image: ImageKind) -> Cell<u64> {
    Cell::new(if image == ImageKind::Interpreted { TOTAL_FUEL_INTERPRETED } else { TOTAL_FUEL })
}

impl<'a> Probe<'a> {
    pub(crate) fn new(tool: &'a VettedTool, schema: &'a Schema, examples: &[Value], left: &'a Cell<u64>) -> Self {
        let examples = examples.iter().filter_map(|example| Example::from_value(example).ok());
        Self { tool, schema, examples: examples.map(|example| example.parameters).collect(), fuel_left: left }
    }

    /// Returns whether there is too little fuel left for a call.
    pub(super) fn is_out_of_fuel(&self) -> bool {
        self.fuel_left.get() < CALL_FUEL
    }

    /// Returns the names and types of the parameters.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        self.schema.parameters().iter().map(|one| (one.name.clone(), normalized_kind(&one.kind).to_owned())).collect()
    }

    /// Generates inputs from the tool's declaration, deterministically.
    fn generate_inputs(&self) -> Vec<Value> {
        let mut dictionary = Dictionary::from_source(self.tool.spec().source());
        let is_parameter = |name: &String| self.schema.parameters().iter().any(|one| one.name == *name);
        dictionary.fields.retain(|name| !is_parameter(name));
        // The tool's name is the topic of its parameters.
        let mut schema = self.schema.json_schema().cloned().unwrap_or_default();
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), self.tool.spec().name().as_str().into());
        }
        let strategy = InputGenerator::new(&schema, &self.examples, &dictionary, InputStyle::Ordinary).strategy();
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &SEED));
        let mut dice = SplitMix64(1);
        let mut made = self.examples.clone();
        let mut size = 0;
        for _ in 0..MAX_GENERATED {
            let Ok(tree) = strategy.new_tree(&mut runner) else { break };
            let input = tree.current();
            let len = input.to_string().len();
            size += len;
            if size > MAX_TOTAL_INPUT_BYTES {
                break;
            }
            if len <= MAX_INPUT_BYTES {
                let is_turn = made.len().is_multiple_of(2);
                made.push(self.make_plausible(if is_turn { relate_values(&input, &mut dice) } else { input }));
            }
        }
        made
    }

    /// Makes an input plausible; drops an empty text if the parameter has a default.
    pub(super) fn make_plausible(&self, input: Value) -> Value {
        let Value::Object(mut fields) = make_plausible(input) else { return Value::Null };
        for parameter in self.schema.parameters().iter().filter(|one| one.default.is_some()) {
            if fields.get(&parameter.name).and_then(Value::as_str) == Some("") {
                fields.shift_remove(&parameter.name);
            }
        }
        Value::Object(fields)
    }
}

/// An input and the observed outcome.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    pub(super) input: Value,
    pub(super) answer: ObservedOutcome,
}

/// The observations of a tool.
#[derive(Default)]
struct Observations {
    /// The first observation of each result, by shape; repeated results; and errors.
    new: BTreeMap<String, Vec<Observation>>,
    repeated: Vec<Observation>,
    errors: Vec<Observation>,
    /// The number of occurrences of each result.
    seen: HashMap<String, usize>,
    count: usize,
}

impl Observations {
    fn add(&mut self, input: Value, answer: ObservedOutcome) {
        let ObservedOutcome::Returned(value) = &answer else {
            if self.errors.len() < MAX_ERRORS {
                self.errors.push(Observation { input, answer });
            }
            return;
        };
        let times = self.seen.entry(value.to_string()).or_insert(0);
        *times += 1;
        match *times {
            1 => {
                self.count += 1;
                self.new
                    .entry(format!("{}{}", has_content(&input), shape(value)))
                    .or_default()
                    .push(Observation { input, answer });
            }
            2..=MAX_PER_RESULT => self.repeated.push(Observation { input, answer }),
            _ => {}
        }
    }

    /// Picks an input to mutate, evenly over the shapes of results.
    fn pick_input(&self, dice: &mut SplitMix64) -> Option<Value> {
        let of_shape = self.new.values().nth(dice.below(self.new.len())).unwrap_or(&self.errors);
        dice.pick(of_shape).map(|told| told.input.clone())
    }

    /// Selects the most informative observations: some of each shape, then repeated results, then
    /// errors.
    fn select(mut self) -> Vec<Observation> {
        let mut chosen = Vec::new();
        for at in 0.. {
            let row: Vec<&Observation> = self.new.values().filter_map(|told| told.get(at)).collect();
            if row.is_empty() || chosen.len() >= MAX_RESULTS {
                break;
            }
            chosen.extend(row.into_iter().cloned());
        }
        chosen.truncate(MAX_RESULTS);
        self.repeated.truncate(MAX_RESULTS.saturating_sub(chosen.len()));
        chosen.append(&mut self.repeated);
        chosen.append(&mut self.errors);
        chosen
    }
}

/// Returns the shape of a result: its structure without exact values.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            format!("{}{}", number.total_cmp(&0.0) as i8, number.fract() == 0.0)
        }
        Value::String(text) => format!("s{}", text.len().min(3)),
        Value::Array(items) => {
            let few: Vec<String> = items.iter().take(4).map(shape).collect();
            format!("[{}]{}", few.join(","), items.len().min(5))
        }
        Value::Object(fields) => {
            let few: Vec<String> =
                fields.iter().take(8).map(|(name, value)| format!("{name}:{}", shape(value))).collect();
            format!("{{{}}}", few.join(","))
        }
    }
}

/// Observes a tool on generated and mutated inputs, and returns the observations with distinct
/// results, results before errors.
pub(super) fn observe(runtime: &Runtime, probe: &Probe<'_>) -> Result<Vec<Observation>, CallError> {
    let mut found = Observations::default();
    for input in probe.generate_inputs() {
        if probe.is_out_of_fuel() || found.count >= ENOUGH_RESULTS && found.new.len() >= ENOUGH_SHAPES {
            break;
        }
        if let Some(answer) = run_probe(runtime, probe, &input)? {
            found.add(input, answer);
        }
    }
    let mut dice = SplitMix64(2);
    for _ in 0..MAX_MUTATED {
        if probe.is_out_of_fuel() {
            break;
        }
        let Some(input) = found.pick_input(&mut dice) else { break };
        let others: Vec<Value> = found.pick_input(&mut dice).into_iter().collect();
        let input = probe.make_plausible(mutate(&input, &others, &mut dice));
        if let Some(answer) = run_probe(runtime, probe, &input)? {
            found.add(input, answer);
        }
    }
    Ok(found.select())
}

/// Runs a tool on an input; `None` if it rejects the input, is stopped, or returns a value that
/// JSON cannot represent.
pub(super) fn run_probe(
    runtime: &Runtime,
    probe: &Probe<'_>,
    input: &Value,
) -> Result<Option<ObservedOutcome>, CallError> {
    if probe.is_out_of_fuel() {
        return Ok(None);
    }
    // The parameter check runs on the host with the author's schema, so its steps are paid for
    // too, as is the counting of a check that takes too many.
    let steps = probe.schema.check_steps(input);
    let left = probe.fuel_left.get().saturating_sub(steps.unwrap_or(MAX_CHECK_STEPS).saturating_mul(STEP_FUEL));
    probe.fuel_left.set(left);
    if steps.is_none() || probe.is_out_of_fuel() {
        return Ok(None);
    }
    let Ok(args) = probe.schema.check_value(input.clone()) else { return Ok(None) };
    let call = UngrantedCall::new(args, Budget { fuel: CALL_FUEL, ..Budget::default() });
    let authorization = CallAuthorization::without_host_calls(&call);
    let spec = probe.tool.spec();
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared to compare");
    hasher.update(spec.id().as_bytes());
    let key = hasher.finalize();
    let code = runtime.cached_script(&key).map_or(ToolCode::Script(probe.tool.script()), ToolCode::Prepared);
    let report = runtime.execute(key, spec.name().as_str(), code, authorization, &CallContext::default())?;
    probe.fuel_left.set(left.saturating_sub(report.usage.fuel));
    Ok(match report.outcome {
        Outcome::Returned(_) if !report.warnings.is_empty() => None,
        Outcome::Returned(Some(value)) => serde_json::from_str(value.as_str()).ok().map(ObservedOutcome::Returned),
        Outcome::Returned(None) => Some(ObservedOutcome::Returned(Value::Null)),
        Outcome::Threw(_) => Some(ObservedOutcome::Threw),
        Outcome::Stopped(_) => None,
    })
}
