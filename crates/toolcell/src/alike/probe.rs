//! A tool that is compared: what it is given, and what it answers.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use toolcell_host::{Budget, CallError, Kind, NoOperations, Outcome, Run};
use toolcell_tool::Example;

use super::agree::Answer;
use super::candidates::kind;
use super::dice::Dice;
use super::mutate::{changed, related};
use super::sense::{is_full, sensible};
use crate::cell::Code;
use crate::params::{STEP_LIMIT, Schema};
use crate::permit::Permit;
use crate::proof::{Dictionary, Inputs, Manner};
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;

/// What inputs are made from.
const SEED: [u8; 32] = *b"toolcell 2026-11 compare tools  ";
/// How many inputs are made at most of what is declared, and how many of inputs that had new answers.
const MADE: usize = 600;
const CHANGED: usize = 700;
/// How many results, of how many shapes, are enough before inputs are changed.
const FRESH: usize = 80;
const SHAPES: usize = 24;
/// How many inputs are kept whose answers are results; of those, how many with each answer; and how many where the tool throws.
const RESULTS: usize = 160;
const ALIKE: usize = 24;
const ERRORS: usize = 8;
/// What one call may use.
const FUEL: u64 = 50_000_000;

/// What all calls of a comparison may use, and where the image is slow.
const ALL_FUEL: u64 = 20_000_000_000;
const ALL_FUEL_SLOW: u64 = 2_000_000_000;
/// What a step of a check of parameters counts for.
const STEP_FUEL: u64 = 50;
/// The longest input that is looked at, in bytes of JSON: many are kept.
const LONGEST: usize = 16 * 1024;
/// How long all of them are together.
const ALL_INPUTS: usize = 1024 * 1024;

/// A tool that is compared with others.
pub(crate) struct Probe<'a> {
    tool: &'a VettedTool,
    schema: &'a Schema,
    examples: Vec<Value>,
    /// The fuel that is left for all calls.
    left: &'a Cell<u64>,
}

/// The fuel of a comparison on an image.
pub(super) fn fuel(image: Kind) -> Cell<u64> {
    Cell::new(if image == Kind::Interpreted { ALL_FUEL_SLOW } else { ALL_FUEL })
}

impl<'a> Probe<'a> {
    pub(crate) fn new(tool: &'a VettedTool, schema: &'a Schema, examples: &[Value], left: &'a Cell<u64>) -> Self {
        let examples = examples.iter().filter_map(|example| Example::read(example).ok());
        Self { tool, schema, examples: examples.map(|example| example.parameters).collect(), left }
    }

    /// Whether there is not enough fuel left for a call.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() < FUEL
    }

    /// Names and kinds of its parameters.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        self.schema.parameters().iter().map(|one| (one.name.clone(), kind(&one.kind).to_owned())).collect()
    }

    /// Inputs that it declares that it takes; the same ones each time.
    fn inputs(&self) -> Vec<Value> {
        let mut dictionary = Dictionary::of(self.tool.spec().source());
        let is_parameter = |name: &String| self.schema.parameters().iter().any(|one| one.name == *name);
        dictionary.fields.retain(|name| !is_parameter(name));
        // What a tool is about is what its parameters are about.
        let mut schema = self.schema.json_schema().cloned().unwrap_or_default();
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), self.tool.spec().name().as_str().into());
        }
        let strategy = Inputs::new(&schema, &self.examples, &dictionary, Manner::Ordinary).strategy();
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &SEED));
        let mut dice = Dice(1);
        let mut made = self.examples.clone();
        let mut size = 0;
        for _ in 0..MADE {
            let Ok(tree) = strategy.new_tree(&mut runner) else { break };
            let input = tree.current();
            let len = input.to_string().len();
            size += len;
            if size > ALL_INPUTS {
                break;
            }
            if len <= LONGEST {
                let is_turn = made.len().is_multiple_of(2);
                made.push(self.sensible(if is_turn { related(&input, &mut dice) } else { input }));
            }
        }
        made
    }

    /// The input as it makes sense: an empty text says nothing where there is a default.
    pub(super) fn sensible(&self, input: Value) -> Value {
        let Value::Object(mut fields) = sensible(input) else { return Value::Null };
        for parameter in self.schema.parameters().iter().filter(|one| one.default.is_some()) {
            if fields.get(&parameter.name).and_then(Value::as_str) == Some("") {
                fields.shift_remove(&parameter.name);
            }
        }
        Value::Object(fields)
    }
}

/// An input, and what a tool answers.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) input: Value,
    pub(super) answer: Answer,
}

/// What was found out about a tool.
#[derive(Default)]
struct Found {
    /// Results that are new, by their shape; those that were there before; and errors.
    new: BTreeMap<String, Vec<Told>>,
    again: Vec<Told>,
    errors: Vec<Told>,
    /// How often each result was there.
    seen: HashMap<String, usize>,
    count: usize,
}

impl Found {
    fn add(&mut self, input: Value, answer: Answer) {
        let Answer::Returned(value) = &answer else {
            if self.errors.len() < ERRORS {
                self.errors.push(Told { input, answer });
            }
            return;
        };
        let times = self.seen.entry(value.to_string()).or_insert(0);
        *times += 1;
        match *times {
            1 => {
                self.count += 1;
                self.new
                    .entry(format!("{}{}", is_full(&input), shape(value)))
                    .or_default()
                    .push(Told { input, answer });
            }
            2..=ALIKE => self.again.push(Told { input, answer }),
            _ => {}
        }
    }

    /// An input to change: as often one of each shape of result.
    fn parent(&self, dice: &mut Dice) -> Option<Value> {
        let of_shape = self.new.values().nth(dice.below(self.new.len())).unwrap_or(&self.errors);
        dice.pick(of_shape).map(|told| told.input.clone())
    }

    /// What tells most: some of each shape of result, then results that were there before, then errors.
    fn chosen(mut self) -> Vec<Told> {
        let mut chosen = Vec::new();
        for at in 0.. {
            let row: Vec<&Told> = self.new.values().filter_map(|told| told.get(at)).collect();
            if row.is_empty() || chosen.len() >= RESULTS {
                break;
            }
            chosen.extend(row.into_iter().cloned());
        }
        chosen.truncate(RESULTS);
        self.again.truncate(RESULTS.saturating_sub(chosen.len()));
        chosen.append(&mut self.again);
        chosen.append(&mut self.errors);
        chosen
    }
}

/// What a result looks like from afar.
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

impl Toolbox {
    /// Inputs that show what a tool does: of those that are made, and of those that are made of the ones with new answers, the
    /// ones whose answers differ, results before errors.
    pub(super) fn told(&self, probe: &Probe<'_>) -> Result<Vec<Told>, CallError> {
        let mut found = Found::default();
        for input in probe.inputs() {
            if probe.is_spent() || found.count >= FRESH && found.new.len() >= SHAPES {
                break;
            }
            if let Some(answer) = self.answer(probe, &input)? {
                found.add(input, answer);
            }
        }
        let mut dice = Dice(2);
        for _ in 0..CHANGED {
            if probe.is_spent() {
                break;
            }
            let Some(input) = found.parent(&mut dice) else { break };
            let others: Vec<Value> = found.parent(&mut dice).into_iter().collect();
            let input = probe.sensible(changed(&input, &others, &mut dice));
            if let Some(answer) = self.answer(probe, &input)? {
                found.add(input, answer);
            }
        }
        Ok(found.chosen())
    }

    /// What a tool answers; nothing where it does not take the input, or is stopped, or returns what JSON has no word for.
    pub(super) fn answer(&self, probe: &Probe<'_>, input: &Value) -> Result<Option<Answer>, CallError> {
        if probe.is_spent() {
            return Ok(None);
        }
        // Parameters are checked on the host, by what the author of a tool declared: that is paid for as well, and so is counting
        // the steps of a check that takes too many.
        let steps = probe.schema.steps(input);
        let left = probe.left.get().saturating_sub(steps.unwrap_or(STEP_LIMIT).saturating_mul(STEP_FUEL));
        probe.left.set(left);
        if steps.is_none() || probe.is_spent() {
            return Ok(None);
        }
        let Ok(args) = probe.schema.check_value(input.clone()) else { return Ok(None) };
        let permit = Permit::to_compare(args, Budget { fuel: FUEL, ..Budget::default() });
        let run = Run { operations: &NoOperations, ..Run::default() };
        let spec = probe.tool.spec();
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared to compare");
        hasher.update(spec.id().as_bytes());
        let key = hasher.finalize();
        let code = self.kept(&key).map_or(Code::Script(probe.tool.script()), Code::Evaluated);
        let report = self.enter(key, spec.name().as_str(), code, &permit, &run)?;
        probe.left.set(left.saturating_sub(report.usage.fuel));
        Ok(match report.outcome {
            Outcome::Returned(_) if !report.warnings.is_empty() => None,
            Outcome::Returned(Some(value)) => serde_json::from_str(value.as_str()).ok().map(Answer::Returned),
            Outcome::Returned(None) => Some(Answer::Returned(Value::Null)),
            Outcome::Threw(_) => Some(Answer::Threw),
            Outcome::Stopped(_) => None,
        })
    }
}
