//! Whether two tools do the same: by what they answer to the same inputs.
//!
//! Invariant: what is compared runs in the cell with nothing granted and little of everything, and its answers reach nobody.
//! Names count for nothing: those of tools, of parameters, and of the fields of results may differ.
//!
//! The method is testing on inputs that are made of what either tool declares and says (differential testing, `McKeeman` 1998).

mod agree;
mod candidates;
mod dice;
mod mutate;
mod probe;
mod sense;
mod stamps;

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolcell_host::CallError;
use toolcell_store::{Entry, Fault};
use toolcell_tool::Status;

use crate::params::Schema;
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;
use agree::{Answer, Pair, agree};
pub(crate) use candidates::signature;
use dice::Dice;
use mutate::changed;
use probe::{Probe, Told};

/// How many inputs tell quickly that two tools are different.
const FIRST: usize = 12;
/// How many answers there have to be that are results, and how many different ones, for anything to be said.
const TELLING: (usize, usize) = (12, 2);
/// How many inputs are made in the end of those that both took.
const NEAR: usize = 200;
/// In how many ways parameters are told apart at most.
const WAYS: usize = 24;

/// Names of parameters, and what another tool calls those; or their kinds.
type Names = Vec<(String, String)>;

/// A stored tool that does the same as another.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// The tool.
    pub entry: Entry,
    /// To how many inputs both gave the same answer.
    pub inputs: usize,
    /// What the parameters of one are called by the other.
    pub parameters: Vec<(String, String)>,
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCompared {
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The sandbox did not take a call.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Toolbox {
    /// The stored tools that do the same as another one that is stored.
    pub(crate) fn alike_to_stored(&self, entry: &Entry) -> Result<Vec<Alike>, NotCompared> {
        let ready = self.ready(entry)?;
        let (Ok(tool), Ok(schema)) = (&ready.vetted, ready.schema()) else { return Ok(Vec::new()) };
        let notes = self.shelf()?.notes(entry)?;
        self.alike_to(tool, schema, notes.description(), notes.examples())
    }

    /// The stored tools that do the same as one that is to be made, the likeliest first. Where somebody has to be asked before
    /// a tool runs, nothing is compared.
    pub(crate) fn alike_to(
        &self,
        tool: &VettedTool,
        schema: &Schema,
        about: &str,
        examples: &[Value],
    ) -> Result<Vec<Alike>, NotCompared> {
        if !is_free(self, tool) {
            return Ok(Vec::new());
        }
        let left = probe::fuel(self.image());
        let one = Probe::new(tool, schema, examples, &left);
        let mut told = None;
        let mut found = Vec::new();
        for entry in self.candidates(tool.spec(), about, schema)? {
            if one.is_spent() {
                break;
            }
            if entry.id == tool.spec().id() || matches!(entry.status, Status::Quarantined | Status::Deprecated) {
                continue;
            }
            let ready = self.ready(&entry)?;
            let (Ok(known), Ok(schema)) = (&ready.vetted, ready.schema()) else { continue };
            if !is_free(self, known) {
                continue;
            }
            let notes = self.shelf()?.notes(&entry)?;
            let other = Probe::new(known, schema, notes.examples(), &left);
            if ways(&one, &other).is_empty() {
                continue;
            }
            let told = match &told {
                Some(told) => told,
                None => told.insert(self.told(&one)?),
            };
            if let Some((inputs, parameters)) = self.alike(&one, told, &other)? {
                found.push(Alike { entry, inputs, parameters });
            }
        }
        Ok(found)
    }

    /// Whether two tools give the same answers, to how many inputs, and with which parameters of one for those of the other.
    /// `told` is what the first one answers.
    fn alike(&self, one: &Probe<'_>, told: &[Told], other: &Probe<'_>) -> Result<Option<(usize, Names)>, CallError> {
        let mut others = None;
        for way in ways(one, other) {
            let Some(pairs) = self.answers_alike(other, told, &way)? else { continue };
            if !is_telling(&pairs) {
                continue;
            }
            // What the other one takes may show what the inputs of the first one do not.
            let told_back = match &others {
                Some(told) => told,
                None => others.insert(self.told(other)?),
            };
            let back: Names = way.iter().map(|(name, called)| (called.clone(), name.clone())).collect();
            let Some(pairs_back) = self.answers_alike(one, told_back, &back)? else { continue };
            let mut all = pairs;
            all.extend(pairs_back.into_iter().map(Pair::turned));
            if !is_telling(&all) || !agree(&all) {
                continue;
            }
            let known = told_back.iter().map(|told| renamed(&told.input, &back));
            let known: Vec<Value> = told.iter().map(|told| told.input.clone()).chain(known).collect();
            all.extend(self.near(one, other, &way, known)?);
            if agree(&all) {
                return Ok(Some((all.len(), way)));
            }
        }
        Ok(None)
    }

    /// What a tool and another one answer that was told by these names, if that is the same.
    fn answers_alike(
        &self,
        tool: &Probe<'_>,
        told: &[Told],
        names: &[(String, String)],
    ) -> Result<Option<Vec<Pair>>, CallError> {
        let mut pairs = Vec::new();
        for Told { input, answer } in told {
            if tool.is_spent() {
                break;
            }
            // What a tool does not take, or does not end, tells nothing.
            let Some(other) = self.answer(tool, &renamed(input, names))? else { continue };
            pairs.push(Pair::new(input, answer.clone(), other));
            if pairs.len() == FIRST && !agree(&pairs) {
                return Ok(None);
            }
        }
        Ok(agree(&pairs).then_some(pairs))
    }

    /// What both answer to inputs that are made of those that both were told, and of those in turn whose answers are new.
    fn near(
        &self,
        one: &Probe<'_>,
        other: &Probe<'_>,
        names: &[(String, String)],
        mut known: Vec<Value>,
    ) -> Result<Vec<Pair>, CallError> {
        let (mut pairs, mut seen, mut dice) = (Vec::new(), BTreeSet::new(), Dice(3));
        for _ in 0..NEAR {
            if one.is_spent() {
                break;
            }
            let (Some(input), Some(with)) = (dice.pick(&known), dice.pick(&known)) else { break };
            let input = one.sensible(changed(input, std::slice::from_ref(with), &mut dice));
            let Some(ones) = self.answer(one, &input)? else { continue };
            let Some(others) = self.answer(other, &renamed(&input, names))? else { continue };
            let is_new = seen.insert(format!("{ones:?}"));
            pairs.push(Pair::new(&input, ones, others));
            if is_new {
                known.push(input);
            }
        }
        Ok(pairs)
    }
}

/// Whether answers say anything: there are results of tools that had something to do, and not always the same.
fn is_telling(pairs: &[Pair]) -> bool {
    let results = pairs.iter().filter(|pair| pair.is_full).filter_map(|pair| match &pair.one {
        Answer::Returned(value) => Some(value.to_string()),
        Answer::Threw => None,
    });
    let results: Vec<String> = results.collect();
    let different: BTreeSet<&String> = results.iter().collect();
    results.len() >= TELLING.0 && different.len() >= TELLING.1
}

/// The ways in which the parameters of one tool can be those of another: of the same kinds, those of the same name first.
fn ways(one: &Probe<'_>, other: &Probe<'_>) -> Vec<Names> {
    let (ones, others) = (one.parameters(), other.parameters());
    if ones.len() != others.len() || ones.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    paired(&ones, &others, &mut Vec::new(), &mut found);
    found
}

fn paired(ones: &[(String, String)], others: &[(String, String)], pairs: &mut Names, found: &mut Vec<Names>) {
    let Some(((name, kind), rest)) = ones.split_first() else {
        found.push(pairs.clone());
        return;
    };
    let mut fitting: Vec<&(String, String)> = others.iter().filter(|(_, other)| other == kind).collect();
    fitting.sort_by_key(|(called, _)| called != name);
    for (called, _) in fitting {
        if found.len() >= WAYS {
            return;
        }
        let left: Names = others.iter().filter(|(other, _)| other != called).cloned().collect();
        pairs.push((name.clone(), called.clone()));
        paired(rest, &left, pairs, found);
        pairs.pop();
    }
}

/// Parameters by the names that another tool has for them.
fn renamed(input: &Value, names: &[(String, String)]) -> Value {
    let Value::Object(fields) = input else { return input.clone() };
    let called =
        |name: &String| names.iter().find(|(known, _)| known == name).map_or(name, |(_, called)| called).clone();
    Value::Object(fields.iter().map(|(name, value)| (called(name), value.clone())).collect::<Map<_, _>>())
}

/// Whether a tool may be compared: it would run without anybody being asked.
pub(crate) fn is_free(toolbox: &Toolbox, tool: &VettedTool) -> bool {
    toolbox.gates.admits_all() && crate::permit::needs_approval(toolbox.policy.approval().0, tool).is_none()
}
