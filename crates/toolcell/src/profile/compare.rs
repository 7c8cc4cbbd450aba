//! What is different between two profiles.
//!
//! Invariant: what changed in the functions, with what is charged to none of them, adds up to what changed in the run.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{LineFuel, Outside, Profile, ProfileError};

/// What is different between two profiles of the same tool, or of two versions of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileDifference {
    /// Of the run.
    pub fuel: Change,
    /// Of evaluating the script.
    pub load_fuel: Change,
    /// Of functions, the greatest change first. Functions of the same name are taken in the order in which they begin.
    pub functions: Vec<Change>,
    /// Of lines, the greatest change first. Lines of the same text are taken in order, wherever they are.
    pub lines: Vec<Change>,
}

/// Fuel before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What burned it: the name of a function, or the text of a line.
    pub what: String,
    /// The line where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_before: Option<u32>,
    /// The line where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_after: Option<u32>,
    /// Fuel in the first profile.
    pub before: u64,
    /// Fuel in the second profile.
    pub after: u64,
    /// What the second one has more than the first one, in units of fuel.
    pub difference: i128,
}

impl Change {
    fn of(what: &str, before: u64, after: u64) -> Self {
        let difference = i128::from(after) - i128::from(before);
        Self { what: what.to_owned(), line_before: None, line_after: None, before, after, difference }
    }
}

/// A part of a profile: what it is known by, where it is, and its fuel.
struct Part<'a> {
    kind: &'a str,
    what: &'a str,
    line: Option<u32>,
    fuel: u64,
}

impl Profile {
    /// What is different in another profile.
    ///
    /// # Errors
    /// `profile-model-mismatch`: fuel was counted differently.
    pub fn compared_to(&self, after: &Self) -> Result<ProfileDifference, ProfileError> {
        if self.model != after.model {
            let (before, after) = (Box::new(self.model.clone()), Box::new(after.model.clone()));
            return Err(ProfileError::Models { before, after });
        }
        Ok(ProfileDifference {
            fuel: Change::of("the run", self.fuel, after.fuel),
            load_fuel: Change::of("loading", self.load_fuel, after.load_fuel),
            functions: changes(functions(self), functions(after)),
            lines: changes(lines(self), lines(after)),
        })
    }
}

fn functions(profile: &Profile) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = profile
        .functions
        .iter()
        .map(|function| Part { kind: &function.home, what: &function.name, line: function.line, fuel: function.own })
        .collect();
    let Outside { engine, other_tools, unattributed } = profile.outside;
    let outside = [("(engine)", engine), ("(other tools)", other_tools), ("(after the last sample)", unattributed)];
    parts.extend(outside.map(|(what, fuel)| Part { kind: "", what, line: None, fuel }));
    parts
}

fn lines<'a>(profile: &'a Profile) -> Vec<Part<'a>> {
    let part = |line: &'a LineFuel| Part { kind: "", what: &line.text, line: Some(line.line), fuel: line.own };
    profile.lines.iter().map(part).collect()
}

/// What changed, of parts that are the same or have a counterpart.
fn changes(before: Vec<Part<'_>>, after: Vec<Part<'_>>) -> Vec<Change> {
    let mut changes: BTreeMap<(&str, &str, usize), Change> = BTreeMap::new();
    for (mut parts, is_after) in [(before, false), (after, true)] {
        parts.sort_by_key(|part| part.line);
        let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
        for part in parts {
            let nth = seen.entry((part.kind, part.what)).or_default();
            let change = changes.entry((part.kind, part.what, *nth)).or_insert_with(|| Change::of(part.what, 0, 0));
            *nth += 1;
            let (line, fuel) = if is_after {
                (&mut change.line_after, &mut change.after)
            } else {
                (&mut change.line_before, &mut change.before)
            };
            (*line, *fuel) = (part.line, part.fuel);
            change.difference = i128::from(change.after) - i128::from(change.before);
        }
    }
    let mut changes: Vec<Change> = changes.into_values().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.difference.unsigned_abs()));
    changes
}
