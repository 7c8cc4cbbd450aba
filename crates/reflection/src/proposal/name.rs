//! Derives a tool name from the words of a task.
//!
//! Invariant: for every task the name is a valid [`ToolName`], and equal tasks get equal names.

use std::collections::HashSet;
use std::ops::Range;

use toolcell_tool::ToolName;

use super::conversion::{find_conversion, is_format};
use super::lexicon::{NameRole, NameToken, is_listed, tokens};
use super::tool_kind::ToolKind;
use crate::words::normalize;

/// The longest name, in characters; shorter names are easier to read.
const MAX_NAME_CHARS: usize = 48;
/// The most nouns of a name.
const MAX_NOUNS: usize = 2;
/// The most nouns in English, where adjacent words name one thing.
const MAX_ENGLISH_NOUNS: usize = 3;

/// Verbs of conversions.
const CONVERSION_VERBS: &str =
    "convert transform turn change format reformat translate export generate write save parse";
/// Verbs that add nothing to a name with a result.
const GENERIC_VERBS: &str =
    "calculate compute generate create get prepare process aggregate sum repeat tabulate produce";
/// Nouns for results, in English.
const RESULT_NOUNS: &str =
    "average averages mean median total totals sum sums count counts statistics summary ranking report";
/// Frequencies; they come first.
const FREQUENCIES: &str = "daily weekly monthly yearly";
/// Prepositions after which the object ends.
const PREPOSITIONS: &str = "in from on across within for using with by per at before";

/// Derives a name from a task.
pub(super) fn for_task(task: &str, family: ToolKind) -> String {
    let tokens = tokens(task);
    let parts = conversion_words(&tokens, family).unwrap_or_else(|| composed_words(&tokens, family));
    to_valid_name(&parts).unwrap_or_else(|| hashed_name(family.default_verb(), task))
}

/// Derives a name for performing an operation on many items.
pub(super) fn for_operation(operation: &str, task: &str) -> String {
    let last = operation.rsplit(['.', '/', ':', ' ']).next().unwrap_or(operation);
    let last = last.rsplit("__").next().unwrap_or(last);
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in last.chars() {
        if !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && was_lower) {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.push(letter.to_ascii_lowercase()));
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() || !last.is_ascii() {
        words = tokens(last).into_iter().filter(|it| it.role != NameRole::StopWord).map(|token| token.word).collect();
    }
    words.truncate(4);
    words.insert(0, "batch".to_owned());
    let named = Some(words).filter(|words| words.len() > 1).and_then(|words| to_valid_name(&words));
    named.unwrap_or_else(|| hashed_name("repeat", &format!("{operation} {task}")))
}

/// The words of a conversion: `csv_to_json`.
fn conversion_words(tokens: &[NameToken], family: ToolKind) -> Option<Vec<String>> {
    let (from, to) = find_conversion(tokens).filter(|_| family == ToolKind::Transformation)?;
    let converts = tokens.iter().any(|it| it.role == NameRole::Verb && is_listed(CONVERSION_VERBS, &it.word));
    let acts = tokens.iter().any(|it| it.role == NameRole::Verb);
    let is_named = is_format(&to.name()) && (converts || !acts || is_format(&from.name()));
    (is_named || converts || !acts).then(|| vec![from.name(), "to".to_owned(), to.name()])
}

/// The words of a name: verb, objects, result, grouping. Examples: `summarize_errors_by_hour`,
/// `monthly_sales_totals`.
fn composed_words(tokens: &[NameToken], family: ToolKind) -> Vec<String> {
    let actions = || tokens.iter().enumerate().filter(|(_, it)| it.role == NameRole::Verb);
    let action = actions()
        .find(|(_, it)| family.verbs().contains(&it.word.as_str()))
        .or_else(|| actions().find(|(_, it)| !is_listed(GENERIC_VERBS, &it.word)))
        .or_else(|| actions().next());
    let ending = tokens.iter().find(|it| it.role == NameRole::Result).map(|it| it.word.clone());
    let mut group = tokens.iter().enumerate().position(|(at, _)| is_grouping_key(tokens, at));
    let mut things = nearest_nouns(tokens, action.map(|(at, _)| at), group, NameRole::Noun);
    if things.is_empty() {
        things = nearest_nouns(tokens, action.map(|(at, _)| at), group, NameRole::WeakNoun);
        things.truncate(1);
    }
    if things.is_empty()
        && let Some(at) = group.take()
    {
        things.push(tokens[at].word.clone());
    }
    if things.is_empty() && ending.is_none() {
        return Vec::new();
    }
    let comes_out = ending.is_some() || things.iter().any(|thing| is_listed(RESULT_NOUNS, thing));
    let verb = action.map(|(_, it)| it.word.clone());
    let verb = verb.filter(|verb| !(comes_out && is_listed(GENERIC_VERBS, verb) || things.contains(verb)));
    let is_silent = verb.is_none() && !comes_out && family == ToolKind::Aggregation;
    let ending = ending.or_else(|| is_silent.then(|| "totals".to_owned()));
    let verb = verb.or_else(|| (!comes_out && !is_silent).then(|| family.default_verb().to_owned()));
    let ending = ending.filter(|_| verb.is_none() || things.len() < MAX_NOUNS);
    if group.is_some() {
        things.truncate(if verb.is_some() || ending.is_some() { 1 } else { MAX_NOUNS });
    }
    things.sort_by_key(|thing| !is_listed(FREQUENCIES, thing));
    let group = group.map(|at| ["by".to_owned(), tokens[at].word.clone()]);
    let mut words: Vec<String> = verb.into_iter().chain(things).chain(ending).collect();
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.extend(group.into_iter().flatten().filter(|word| !seen.contains(word)));
    words
}

/// The nouns that are nearest to the verb.
fn nearest_nouns(tokens: &[NameToken], action: Option<usize>, group: Option<usize>, role: NameRole) -> Vec<String> {
    let of = |range: Range<usize>| -> Vec<String> {
        range.filter(|at| tokens[*at].role == role && Some(*at) != group).map(|at| tokens[at].word.clone()).collect()
    };
    let Some(action) = action else {
        let mut all = of(0..tokens.len());
        all.truncate(MAX_NOUNS);
        return all;
    };
    let (mut before, mut behind) = (of(0..action), of(action + 1..tokens.len()));
    if tokens[action].is_latin {
        behind = english_nouns(tokens, action + 1, group, role);
    }
    behind.truncate(if tokens[action].is_latin { MAX_ENGLISH_NOUNS } else { MAX_NOUNS });
    before.drain(..before.len().saturating_sub(MAX_NOUNS));
    // In Japanese the object precedes the verb, and in Chinese if it is marked with 把 or 将.
    let marks = ["を", "の", "に", "が", "把", "将"];
    let is_marked = tokens[..=action].iter().any(|token| marks.iter().any(|mark| token.gap.contains(mark)));
    let (first, other) = if is_marked { (before, behind) } else { (behind, before) };
    if first.is_empty() { other } else { first }
}

/// The adjacent words after a verb, and further ones if these are vague.
fn english_nouns(tokens: &[NameToken], start: usize, group: Option<usize>, role: NameRole) -> Vec<String> {
    let mut things: Vec<String> = Vec::new();
    let mut is_run = true;
    for token in (start..tokens.len()).filter(|at| Some(*at) != group).map(|at| &tokens[at]) {
        let is_enough = things.iter().any(|thing| !is_listed(FREQUENCIES, thing) && !is_listed(RESULT_NOUNS, thing));
        if is_enough && is_listed(PREPOSITIONS, &token.word) {
            break;
        }
        is_run &= matches!(token.role, NameRole::Noun | NameRole::WeakNoun) && token.gap.trim().is_empty()
            || things.is_empty();
        if token.role == role && (is_run || things.len() < MAX_NOUNS || !is_enough) {
            things.push(token.word.clone());
        }
    }
    things
}

/// Whether a noun is a grouping key.
fn is_grouping_key(tokens: &[NameToken], at: usize) -> bool {
    let token = &tokens[at];
    let is_thing = matches!(token.role, NameRole::Noun | NameRole::WeakNoun);
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let is_said = before.is_some_and(|it| token.is_latin && matches!(it.word.as_str(), "by" | "per"));
    let marked = ["別", "ごと", "毎"].iter().any(|mark| token.after.starts_with(mark));
    let begins = ["按", "按照", "每个", "各个", "各", "ตาม"].iter().any(|mark| token.gap.trim().ends_with(mark));
    is_thing && (is_said || marked || begins)
}

/// Joins words into a valid name; `None` if they do not make one.
fn to_valid_name(words: &[String]) -> Option<String> {
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() < MAX_NAME_CHARS {
            let between = if name.is_empty() { "" } else { "_" };
            name.push_str(between);
            name.push_str(word);
        }
    }
    let name = name.trim_end_matches("_by").trim_end_matches("_to").to_owned();
    let is_enough = name.contains('_');
    ToolName::parse(&name).is_ok_and(|_| is_enough).then_some(name)
}

/// A name with a hash, for texts without known words. Equal texts get equal names.
fn hashed_name(verb: &str, text: &str) -> String {
    // FNV-1a, 64 bits, folded to 24: http://www.isthe.com/chongo/tech/comp/fnv/
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = normalize(text).text().split_whitespace().flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, fold);
    let folded = (hash ^ (hash >> 24) ^ (hash >> 48)) & 0x00ff_ffff;
    format!("{verb}_{folded:06x}")
}
