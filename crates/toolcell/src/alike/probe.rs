//! A tool that is compared: what it is given, and what it answers.

use std::collections::HashMap;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use toolcell_host::{Budget, CallError, NoOperations, Outcome, Run};
use toolcell_tool::Example;

use super::Answer;
use crate::cell::Code;
use crate::params::Schema;
use crate::permit::Permit;
use crate::proof::{Dictionary, Inputs, Manner};
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;

/// What inputs are made from.
const SEED: [u8; 32] = *b"toolcell 2026-11 compare tools  ";
/// How many inputs are made.
const MADE: usize = 2_000;
/// How many of them are kept whose answers are results, how often the same result, and how many where the tool throws.
const RESULTS: usize = 96;
const ALIKE: usize = 12;
const ERRORS: usize = 8;
/// What one call may use.
const FUEL: u64 = 200_000_000;

/// A tool that is compared with others.
pub(crate) struct Probe<'a> {
    tool: &'a VettedTool,
    schema: &'a Schema,
    examples: Vec<Value>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(tool: &'a VettedTool, schema: &'a Schema, examples: &[Value]) -> Self {
        let examples = examples.iter().filter_map(|example| Example::read(example).ok());
        Self { tool, schema, examples: examples.map(|example| example.parameters).collect() }
    }

    /// Names and kinds of its parameters.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let kind = |kind: &str| if kind == "integer" { "number".to_owned() } else { kind.to_owned() };
        self.schema.parameters().iter().map(|one| (one.name.clone(), kind(&one.kind))).collect()
    }

    /// Inputs that it declares that it takes; the same ones each time.
    fn inputs(&self) -> Vec<Value> {
        let nothing = Value::Null;
        let dictionary = Dictionary::of(self.tool.spec().source());
        let schema = self.schema.json_schema().unwrap_or(&nothing);
        let strategy = Inputs::new(schema, &self.examples, &dictionary, Manner::Ordinary).strategy();
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &SEED));
        let mut made = self.examples.clone();
        while let (true, Ok(tree)) = (made.len() < MADE, strategy.new_tree(&mut runner)) {
            let input = tree.current();
            made.push(if made.len() % 2 == 0 { related(&input, made.len()) } else { input });
        }
        made
    }
}

/// The input with a parameter that is nearly another one of its kind: what compares, merges or looks things up shows what it
/// does where its parameters have to do with each other.
fn related(input: &Value, turn: usize) -> Value {
    let Value::Object(fields) = input else { return input.clone() };
    let mut fields = fields.clone();
    let pairs = fields.iter().enumerate().flat_map(|(at, (name, value))| {
        let alike = fields.iter().skip(at + 1).filter(move |(_, other)| kind(value) == kind(other));
        alike.map(move |(other, _)| (name.clone(), other.clone()))
    });
    let pairs: Vec<(String, String)> = pairs.collect();
    let Some((from, to)) = pairs.get(turn / 2 % pairs.len().max(1)) else { return input.clone() };
    let changed = nearly(&fields[from], turn / 2);
    fields.insert(to.clone(), changed);
    Value::Object(fields)
}

fn kind(value: &Value) -> Option<u8> {
    match value {
        Value::String(_) => Some(0),
        Value::Array(_) => Some(1),
        Value::Object(_) => Some(2),
        _ => None,
    }
}

/// A value with one part of it gone, twice there, or changed with its neighbour.
fn nearly(value: &Value, turn: usize) -> Value {
    fn change<T: Clone>(parts: &mut Vec<T>, turn: usize) {
        let at = turn / 3 % parts.len().max(1);
        match turn % 3 {
            0 if at + 1 < parts.len() => parts.swap(at, at + 1),
            1 if at < parts.len() => {
                parts.remove(at);
            }
            _ => parts.extend(parts.get(at).cloned()),
        }
    }
    match value {
        Value::String(text) if text.contains(['\n', ' ']) => {
            let between = if text.contains('\n') { "\n" } else { " " };
            let mut parts: Vec<&str> = text.split(between).collect();
            change(&mut parts, turn);
            Value::String(parts.join(between))
        }
        Value::String(text) => {
            let mut signs: Vec<char> = text.chars().collect();
            change(&mut signs, turn);
            Value::String(signs.into_iter().collect())
        }
        Value::Array(items) => {
            let mut items = items.clone();
            change(&mut items, turn);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let at = turn % fields.len().max(1);
            let changed = |(place, (name, value)): (usize, (&String, &Value))| {
                (name.clone(), if place == at { nearly(value, turn / 2) } else { value.clone() })
            };
            Value::Object(fields.iter().enumerate().map(changed).collect())
        }
        Value::Number(number) => Value::from(number.as_i64().map_or(1, |number| number.wrapping_add(1))),
        other => other.clone(),
    }
}

/// An input, and what a tool answers.
pub(super) struct Told {
    pub(super) input: Value,
    pub(super) answer: Answer,
}

impl Toolbox {
    /// Inputs that show what a tool does: of many that are made those whose answers differ, results before errors.
    pub(super) fn told(&self, probe: &Probe<'_>) -> Result<Vec<Told>, CallError> {
        let (mut results, mut errors, mut seen) = (Vec::new(), Vec::new(), HashMap::new());
        for input in probe.inputs() {
            let Some(answer) = self.answer(probe, &input)? else { continue };
            if answer == Answer::Threw {
                if errors.len() < ERRORS {
                    errors.push(Told { input, answer });
                }
                continue;
            }
            let times = seen.entry(format!("{answer:?}")).or_insert(0);
            *times += 1;
            if *times <= ALIKE {
                results.push(Told { input, answer });
            }
            if results.len() >= RESULTS {
                break;
            }
        }
        results.append(&mut errors);
        Ok(results)
    }

    /// What a tool answers; nothing where it does not take the input, or is stopped, or returns what JSON has no word for.
    pub(super) fn answer(&self, probe: &Probe<'_>, input: &Value) -> Result<Option<Answer>, CallError> {
        let Ok(args) = probe.schema.check_value(input.clone()) else { return Ok(None) };
        let permit = Permit::to_compare(args, Budget { fuel: FUEL, ..Budget::default() });
        let run = Run { operations: &NoOperations, ..Run::default() };
        let spec = probe.tool.spec();
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared to compare");
        hasher.update(spec.id().as_bytes());
        let key = hasher.finalize();
        let code = self.kept(&key).map_or(Code::Script(probe.tool.script()), Code::Evaluated);
        let report = self.enter(key, spec.name().as_str(), code, &permit, &run)?;
        Ok(match report.outcome {
            Outcome::Returned(_) if !report.warnings.is_empty() => None,
            Outcome::Returned(Some(value)) => serde_json::from_str(value.as_str()).ok().map(Answer::Returned),
            Outcome::Returned(None) => Some(Answer::Returned(Value::Null)),
            Outcome::Threw(_) => Some(Answer::Threw),
            Outcome::Stopped(_) => None,
        })
    }
}
