//! Differential testing of tools: two tools are equivalent if they give the same answers to the
//! same inputs.
//!
//! Invariant: the compared tools run in the cell without grants and within small limits, and their
//! answers are shown to no one. Names are ignored: those of tools, of parameters, and of the fields
//! of results may differ.
//!
//! The inputs are generated from the declaration and the source of either tool (differential
//! testing, `McKeeman` 1998).

mod compare;
mod dates;
mod mutate;
mod plausible;
mod probe;
mod rng;

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolcell_host::CallError;
use toolcell_schema::Schema;
use toolcell_store::{Entry, Fault, Store};
use toolcell_tool::Status;

use crate::admission::AdmissionControl;
use crate::execution::Runtime;
use crate::verification::EquivalentTool;
use crate::vet::VettedTool;
use compare::{ObservedOutcome, OutcomePair, outcomes_agree};
use mutate::mutate;
use probe::{Observation, Probe, observe, run_probe};
use rng::SplitMix64;

/// The number of compared answers after which a difference ends the comparison early.
const EARLY_CHECK_INPUTS: usize = 12;
/// The minimum evidence for equivalence: the number of results, and the number of distinct results.
const MIN_EVIDENCE: (usize, usize) = (12, 2);
/// The number of mutated inputs tried at the end of a comparison.
const MUTATIONS: usize = 200;
/// The maximum number of parameter mappings tried for a pair of tools.
const MAX_MAPPINGS: usize = 24;

/// Pairs of a parameter name and the name that the other tool uses for it, or of a name and its
/// type.
type ParameterMapping = Vec<(String, String)>;

/// An error that prevented a comparison.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum CompareError {
    /// The store failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The sandbox did not accept a call.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The comparison of a new tool with stored ones.
#[derive(Clone, Copy)]
pub(crate) struct Comparison<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) admission: &'a AdmissionControl,
    /// The store of the other tools.
    pub(crate) store: &'a Store,
}

impl Comparison<'_> {
    /// Finds the candidates that are equivalent to a new tool, in their order. Tools that need an
    /// approval before they run are not compared.
    pub(crate) fn find_equivalent(
        &self,
        tool: &VettedTool,
        schema: &Schema,
        examples: &[Value],
        candidates: impl FnOnce() -> Result<Vec<Entry>, Fault>,
    ) -> Result<Vec<EquivalentTool>, CompareError> {
        if !self.admission.runs_unapproved(tool) {
            return Ok(Vec::new());
        }
        let left = probe::comparison_fuel(self.runtime.image());
        let one = Probe::new(tool, schema, examples, &left);
        let mut told = None;
        let mut found = Vec::new();
        for entry in candidates()? {
            if one.is_out_of_fuel() {
                break;
            }
            if entry.id == tool.spec().id() || matches!(entry.status, Status::Quarantined | Status::Deprecated) {
                continue;
            }
            let ready = self.runtime.load_tool(self.store, &entry)?;
            let (Ok(known), Ok(schema)) = (&ready.vetted, ready.schema()) else { continue };
            if !self.admission.runs_unapproved(known) {
                continue;
            }
            let notes = self.store.catalog().metadata(&entry)?;
            let other = Probe::new(known, schema, notes.examples(), &left);
            if parameter_mappings(&one, &other).is_empty() {
                continue;
            }
            let told = match &told {
                Some(told) => told,
                None => told.insert(observe(self.runtime, &one)?),
            };
            if let Some((inputs, parameters)) = self.compare_tools(&one, told, &other)? {
                found.push(EquivalentTool { entry, inputs, parameters });
            }
        }
        Ok(found)
    }

    /// Compares two tools. If they are equivalent, returns the number of inputs and the parameter
    /// mapping. `told` holds the observations of the first tool.
    fn compare_tools(
        &self,
        one: &Probe<'_>,
        told: &[Observation],
        other: &Probe<'_>,
    ) -> Result<Option<(usize, ParameterMapping)>, CallError> {
        let mut others = None;
        for way in parameter_mappings(one, other) {
            let Some(pairs) = self.compare_answers(other, told, &way)? else { continue };
            if !is_sufficient_evidence(&pairs) {
                continue;
            }
            // Inputs made for the other tool may reveal differences that those of the first do not.
            let told_back = match &others {
                Some(told) => told,
                None => others.insert(observe(self.runtime, other)?),
            };
            let back: ParameterMapping = way.iter().map(|(name, called)| (called.clone(), name.clone())).collect();
            let Some(pairs_back) = self.compare_answers(one, told_back, &back)? else { continue };
            let mut all = pairs;
            all.extend(pairs_back.into_iter().map(OutcomePair::swapped));
            if !is_sufficient_evidence(&all) || !outcomes_agree(&all) {
                continue;
            }
            let known = told_back.iter().map(|told| rename_fields(&told.input, &back));
            let known: Vec<Value> = told.iter().map(|told| told.input.clone()).chain(known).collect();
            all.extend(self.compare_mutated(one, other, &way, known)?);
            if outcomes_agree(&all) {
                return Ok(Some((all.len(), way)));
            }
        }
        Ok(None)
    }

    /// Runs a tool on the inputs of another one, with the parameters renamed. Returns the pairs of
    /// answers if they agree.
    fn compare_answers(
        &self,
        tool: &Probe<'_>,
        told: &[Observation],
        names: &[(String, String)],
    ) -> Result<Option<Vec<OutcomePair>>, CallError> {
        let mut pairs = Vec::new();
        for Observation { input, answer } in told {
            if tool.is_out_of_fuel() {
                break;
            }
            // An input that the tool rejects, or does not finish on, is no evidence.
            let Some(other) = run_probe(self.runtime, tool, &rename_fields(input, names))? else { continue };
            pairs.push(OutcomePair::new(input, answer.clone(), other));
            if pairs.len() == EARLY_CHECK_INPUTS && !outcomes_agree(&pairs) {
                return Ok(None);
            }
        }
        Ok(outcomes_agree(&pairs).then_some(pairs))
    }

    /// Compares the answers of both tools to mutations of the known inputs. Inputs with a new
    /// answer are mutated in turn.
    fn compare_mutated(
        &self,
        one: &Probe<'_>,
        other: &Probe<'_>,
        names: &[(String, String)],
        mut known: Vec<Value>,
    ) -> Result<Vec<OutcomePair>, CallError> {
        let (mut pairs, mut seen, mut dice) = (Vec::new(), BTreeSet::new(), SplitMix64(3));
        for _ in 0..MUTATIONS {
            if one.is_out_of_fuel() {
                break;
            }
            let (Some(input), Some(with)) = (dice.pick(&known), dice.pick(&known)) else { break };
            let input = one.make_plausible(mutate(input, std::slice::from_ref(with), &mut dice));
            let Some(ones) = run_probe(self.runtime, one, &input)? else { continue };
            let Some(others) = run_probe(self.runtime, other, &rename_fields(&input, names))? else { continue };
            let is_new = seen.insert(format!("{ones:?}"));
            pairs.push(OutcomePair::new(&input, ones, others));
            if is_new {
                known.push(input);
            }
        }
        Ok(pairs)
    }
}

/// Whether the answers are sufficient evidence: enough results with content, and not all the same.
fn is_sufficient_evidence(pairs: &[OutcomePair]) -> bool {
    let results = pairs.iter().filter(|pair| pair.has_content).filter_map(|pair| match &pair.left {
        ObservedOutcome::Returned(value) => Some(value.to_string()),
        ObservedOutcome::Threw => None,
    });
    let results: Vec<String> = results.collect();
    let different: BTreeSet<&String> = results.iter().collect();
    results.len() >= MIN_EVIDENCE.0 && different.len() >= MIN_EVIDENCE.1
}

/// Returns the mappings between the parameters of two tools. Mapped parameters have the same type;
/// mappings of equal names come first.
fn parameter_mappings(one: &Probe<'_>, other: &Probe<'_>) -> Vec<ParameterMapping> {
    let (ones, others) = (one.parameters(), other.parameters());
    if ones.len() != others.len() || ones.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    extend_mappings(&ones, &others, &mut Vec::new(), &mut found);
    found
}

fn extend_mappings(
    ones: &[(String, String)],
    others: &[(String, String)],
    pairs: &mut ParameterMapping,
    found: &mut Vec<ParameterMapping>,
) {
    let Some(((name, kind), rest)) = ones.split_first() else {
        found.push(pairs.clone());
        return;
    };
    let mut fitting: Vec<&(String, String)> = others.iter().filter(|(_, other)| other == kind).collect();
    fitting.sort_by_key(|(called, _)| called != name);
    for (called, _) in fitting {
        if found.len() >= MAX_MAPPINGS {
            return;
        }
        let left: ParameterMapping = others.iter().filter(|(other, _)| other != called).cloned().collect();
        pairs.push((name.clone(), called.clone()));
        extend_mappings(rest, &left, pairs, found);
        pairs.pop();
    }
}

/// Renames the fields of an input by a parameter mapping.
fn rename_fields(input: &Value, names: &[(String, String)]) -> Value {
    let Value::Object(fields) = input else { return input.clone() };
    let called =
        |name: &String| names.iter().find(|(known, _)| known == name).map_or(name, |(_, called)| called).clone();
    Value::Object(fields.iter().map(|(name, value)| (called(name), value.clone())).collect::<Map<_, _>>())
}
