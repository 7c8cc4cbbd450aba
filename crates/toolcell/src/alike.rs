//! Whether two tools do the same: by what they answer to the same inputs.
//!
//! Invariant: what is compared runs in the cell with nothing granted and little of everything, and its answers reach nobody.
//! Names count for nothing: those of tools, of parameters, and of the fields of results may differ.
//!
//! The method is testing on inputs that are made of what either tool declares and says (differential testing, McKeeman 1998).

mod agree;
mod candidates;
mod probe;

use serde_json::{Map, Value};
use toolcell_host::CallError;
use toolcell_store::{Entry, Fault};
use toolcell_tool::Status;

use crate::params::Schema;
use crate::toolbox::Toolbox;
use crate::vet::VettedTool;
use agree::{Answer, agree};
pub(crate) use candidates::signature;
use probe::{Probe, Told};

/// How many inputs tell quickly that two tools are different.
const FIRST: usize = 12;
/// How many answers there have to be that are results, and how many different ones, for anything to be said.
const TELLING: (usize, usize) = (12, 2);
/// In how many ways parameters are told apart at most.
const WAYS: usize = 24;

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
        let one = Probe::new(tool, schema, examples);
        let mut told = None;
        let mut found = Vec::new();
        for entry in self.candidates(tool.spec(), about, schema)? {
            if entry.id == tool.spec().id() || matches!(entry.status, Status::Quarantined | Status::Deprecated) {
                continue;
            }
            let ready = self.ready(&entry)?;
            let (Ok(known), Ok(schema)) = (&ready.vetted, ready.schema()) else { continue };
            if !is_free(self, known) {
                continue;
            }
            let notes = self.shelf()?.notes(&entry)?;
            let other = Probe::new(known, schema, notes.examples());
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
    fn alike(
        &self,
        one: &Probe<'_>,
        told: &[Told],
        other: &Probe<'_>,
    ) -> Result<Option<(usize, Vec<(String, String)>)>, CallError> {
        let mut others = None;
        for way in ways(one, other) {
            let (mut ones, mut answers) = (Vec::new(), Vec::new());
            if !self.answers_alike(other, told, &way, &mut ones, &mut answers)? {
                continue;
            }
            // What the other one takes may show what the inputs of the first one do not.
            let told_back = match &others {
                Some(told) => told,
                None => others.insert(self.told(other)?),
            };
            let back: Vec<(String, String)> = way.iter().map(|(name, called)| (called.clone(), name.clone())).collect();
            if self.answers_alike(one, told_back, &back, &mut answers, &mut ones)? {
                return Ok(Some((ones.len(), way)));
            }
        }
        Ok(None)
    }

    /// Whether a tool answers as another one did that was told by these names.
    fn answers_alike(
        &self,
        tool: &Probe<'_>,
        told: &[Told],
        names: &[(String, String)],
        ones: &mut Vec<Answer>,
        others: &mut Vec<Answer>,
    ) -> Result<bool, CallError> {
        for (at, Told { input, answer }) in told.iter().enumerate() {
            // What a tool does not take, or does not end, tells nothing.
            let Some(said) = self.answer(tool, &renamed(input, names))? else { continue };
            ones.push(answer.clone());
            others.push(said);
            if at + 1 == FIRST && !agree(ones, others) {
                return Ok(false);
            }
        }
        let results = ones.iter().filter(|answer| matches!(answer, Answer::Returned(_))).count();
        let mut different: Vec<String> = ones.iter().map(|answer| format!("{answer:?}")).collect();
        different.sort_unstable();
        different.dedup();
        Ok(results >= TELLING.0 && different.len() >= TELLING.1 && agree(ones, others))
    }
}

/// The ways in which the parameters of one tool can be those of another: of the same kinds, those of the same name first.
fn ways(one: &Probe<'_>, other: &Probe<'_>) -> Vec<Vec<(String, String)>> {
    let (ones, others) = (one.parameters(), other.parameters());
    if ones.len() != others.len() || ones.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    paired(&ones, &others, &mut Vec::new(), &mut found);
    found
}

fn paired(
    ones: &[(String, String)],
    others: &[(String, String)],
    pairs: &mut Vec<(String, String)>,
    found: &mut Vec<Vec<(String, String)>>,
) {
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
        let left: Vec<(String, String)> = others.iter().filter(|(other, _)| other != called).cloned().collect();
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
