//! The comparison of two profiles.
//!
//! Invariant: the deltas of the functions and of the unattributed fuel add up to the delta of the
//! run.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use toolcell_i18n::msgid;

use super::{LineFuel, Profile, ProfileError, Unattributed};

/// The difference between two profiles of the same tool, or of two versions of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDifference {
    /// The delta of the run.
    pub fuel: ProfileDelta,
    /// The delta of loading the script.
    pub load_fuel: ProfileDelta,
    /// The deltas of functions, the largest first. Functions with the same name are matched in the
    /// order of their start lines.
    pub functions: Vec<ProfileDelta>,
    /// The deltas of lines, the largest first. Lines with the same text are matched in order,
    /// wherever they are.
    pub lines: Vec<ProfileDelta>,
}

/// The fuel of a part before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDelta {
    /// The part: the name of a function, or the text of a line.
    pub what: String,
    /// The line number in the first profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_before: Option<u32>,
    /// The line number in the second profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_after: Option<u32>,
    /// Fuel in the first profile.
    pub before: u64,
    /// Fuel in the second profile.
    pub after: u64,
    /// The fuel of the second profile minus that of the first.
    pub difference: i128,
}

impl ProfileDelta {
    fn new(what: &str, before: u64, after: u64) -> Self {
        let difference = i128::from(after) - i128::from(before);
        Self { what: what.to_owned(), line_before: None, line_after: None, before, after, difference }
    }
}

/// A part of a profile: its identity, its line and its fuel.
struct ProfilePart<'a> {
    kind: &'a str,
    what: &'a str,
    line: Option<u32>,
    fuel: u64,
}

impl Profile {
    /// Compares this profile with a later one.
    ///
    /// # Errors
    /// `profile-model-mismatch`: the profiles were metered by different models.
    pub fn compare(&self, after: &Self) -> Result<ProfileDifference, ProfileError> {
        if self.model != after.model {
            let (before, after) = (Box::new(self.model.clone()), Box::new(after.model.clone()));
            return Err(ProfileError::ModelMismatch { before, after });
        }
        Ok(ProfileDifference {
            fuel: ProfileDelta::new(msgid!("the run"), self.fuel, after.fuel),
            load_fuel: ProfileDelta::new(msgid!("loading"), self.load_fuel, after.load_fuel),
            functions: deltas(function_parts(self), function_parts(after)),
            lines: deltas(line_parts(self), line_parts(after)),
        })
    }
}

fn function_parts(profile: &Profile) -> Vec<ProfilePart<'_>> {
    let mut parts: Vec<ProfilePart<'_>> = profile
        .functions
        .iter()
        .map(|function| ProfilePart {
            kind: &function.home,
            what: &function.name,
            line: function.line,
            fuel: function.own,
        })
        .collect();
    let Unattributed { engine, other_tools, unattributed } = profile.outside;
    let outside = [
        (msgid!("(engine)"), engine),
        (msgid!("(other tools)"), other_tools),
        (msgid!("(after the last sample)"), unattributed),
    ];
    parts.extend(outside.map(|(what, fuel)| ProfilePart { kind: "", what, line: None, fuel }));
    parts
}

fn line_parts<'a>(profile: &'a Profile) -> Vec<ProfilePart<'a>> {
    let part = |line: &'a LineFuel| ProfilePart { kind: "", what: &line.text, line: Some(line.line), fuel: line.own };
    profile.lines.iter().map(part).collect()
}

/// Matches the parts of both profiles and returns their deltas.
fn deltas(before: Vec<ProfilePart<'_>>, after: Vec<ProfilePart<'_>>) -> Vec<ProfileDelta> {
    let mut changes: BTreeMap<(&str, &str, usize), ProfileDelta> = BTreeMap::new();
    for (mut parts, is_after) in [(before, false), (after, true)] {
        parts.sort_by_key(|part| part.line);
        let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
        for part in parts {
            let nth = seen.entry((part.kind, part.what)).or_default();
            let change =
                changes.entry((part.kind, part.what, *nth)).or_insert_with(|| ProfileDelta::new(part.what, 0, 0));
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
    let mut changes: Vec<ProfileDelta> = changes.into_values().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.difference.unsigned_abs()));
    changes
}
