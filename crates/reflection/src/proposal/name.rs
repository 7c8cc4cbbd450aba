//! A name for a tool, from the words of the task.
//!
//! Invariant: whatever the task, the name is a [`ToolName`], and the same task has the same name.

use std::collections::HashSet;
use std::ops::Range;

use toolcell_tool::ToolName;

use super::conversion::{conversion, is_format};
use super::family::Family;
use super::lexicon::{Role, Token, among, tokens};
use crate::words::folded;

/// The longest name, in characters: a shorter one is read.
const LENGTH_LIMIT: usize = 48;
/// The most words that are taken of a text for one place in the name.
const THINGS_LIMIT: usize = 2;
/// The same in English, where words next to each other are one thing.
const ENGLISH_LIMIT: usize = 3;

/// What is done where something becomes something else.
const CONVERTING: &str = "convert transform turn change format reformat translate export generate write save parse";
/// What says nothing beside what comes out.
const GENERIC: &str = "calculate compute generate create get prepare process aggregate sum repeat tabulate produce";
/// What comes out, in English.
const ENDINGS: &str =
    "average averages mean median total totals sum sums count counts statistics summary ranking report";
/// How often: that comes first.
const OFTEN: &str = "daily weekly monthly yearly";
/// Where something is, and no longer what it is.
const PLACES: &str = "in from on across within for using with by per at before";

/// A name for what a task asks for.
pub(super) fn of_task(task: &str, family: Family) -> String {
    let tokens = tokens(task);
    let parts = converted(&tokens, family).unwrap_or_else(|| composed(&tokens, family));
    valid(&parts).unwrap_or_else(|| hashed(family.verb(), task))
}

/// A name for doing many times what an operation does once.
pub(super) fn of_operation(operation: &str, task: &str) -> String {
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
        words = tokens(last).into_iter().filter(|it| it.role != Role::Stop).map(|token| token.word).collect();
    }
    words.truncate(4);
    words.insert(0, "batch".to_owned());
    let named = Some(words).filter(|words| words.len() > 1).and_then(|words| valid(&words));
    named.unwrap_or_else(|| hashed("repeat", &format!("{operation} {task}")))
}

/// `csv_to_json`, where the task says what becomes what.
fn converted(tokens: &[Token], family: Family) -> Option<Vec<String>> {
    let (from, to) = conversion(tokens).filter(|_| family == Family::Transformation)?;
    let converts = tokens.iter().any(|it| it.role == Role::Action && among(CONVERTING, &it.word));
    let acts = tokens.iter().any(|it| it.role == Role::Action);
    let is_named = is_format(&to.name()) && (converts || !acts || is_format(&from.name()));
    (is_named || converts || !acts).then(|| vec![from.name(), "to".to_owned(), to.name()])
}

/// What is done, to what, by what, and what comes out: `summarize_errors_by_hour`, `monthly_sales_totals`.
fn composed(tokens: &[Token], family: Family) -> Vec<String> {
    let actions = || tokens.iter().enumerate().filter(|(_, it)| it.role == Role::Action);
    let action = actions()
        .find(|(_, it)| family.verbs().contains(&it.word.as_str()))
        .or_else(|| actions().find(|(_, it)| !among(GENERIC, &it.word)))
        .or_else(|| actions().next());
    let ending = tokens.iter().find(|it| it.role == Role::Ending).map(|it| it.word.clone());
    let mut group = tokens.iter().enumerate().position(|(at, _)| is_group(tokens, at));
    let mut things = things(tokens, action.map(|(at, _)| at), group, Role::Thing);
    if things.is_empty() {
        things = self::things(tokens, action.map(|(at, _)| at), group, Role::Weak);
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
    let comes_out = ending.is_some() || things.iter().any(|thing| among(ENDINGS, thing));
    let verb = action.map(|(_, it)| it.word.clone());
    let verb = verb.filter(|verb| !(comes_out && among(GENERIC, verb) || things.contains(verb)));
    let is_silent = verb.is_none() && !comes_out && family == Family::Aggregation;
    let ending = ending.or_else(|| is_silent.then(|| "totals".to_owned()));
    let verb = verb.or_else(|| (!comes_out && !is_silent).then(|| family.verb().to_owned()));
    let ending = ending.filter(|_| verb.is_none() || things.len() < THINGS_LIMIT);
    if group.is_some() {
        things.truncate(if verb.is_some() || ending.is_some() { 1 } else { THINGS_LIMIT });
    }
    things.sort_by_key(|thing| !among(OFTEN, thing));
    let group = group.map(|at| ["by".to_owned(), tokens[at].word.clone()]);
    let mut words: Vec<String> = verb.into_iter().chain(things).chain(ending).collect();
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.extend(group.into_iter().flatten().filter(|word| !seen.contains(word)));
    words
}

/// The things that are nearest to what is done.
fn things(tokens: &[Token], action: Option<usize>, group: Option<usize>, role: Role) -> Vec<String> {
    let of = |range: Range<usize>| -> Vec<String> {
        range.filter(|at| tokens[*at].role == role && Some(*at) != group).map(|at| tokens[at].word.clone()).collect()
    };
    let Some(action) = action else {
        let mut all = of(0..tokens.len());
        all.truncate(THINGS_LIMIT);
        return all;
    };
    let (mut before, mut behind) = (of(0..action), of(action + 1..tokens.len()));
    if tokens[action].is_latin {
        behind = english_things(tokens, action + 1, group, role);
    }
    behind.truncate(if tokens[action].is_latin { ENGLISH_LIMIT } else { THINGS_LIMIT });
    before.drain(..before.len().saturating_sub(THINGS_LIMIT));
    // Japanese says first what it is done to, and Chinese where it says 把 or 将.
    let marks = ["を", "の", "に", "が", "把", "将"];
    let is_marked = tokens[..=action].iter().any(|token| marks.iter().any(|mark| token.gap.contains(mark)));
    let (first, other) = if is_marked { (before, behind) } else { (behind, before) };
    if first.is_empty() { other } else { first }
}

/// The words next to each other behind a verb, and more where they say little.
fn english_things(tokens: &[Token], start: usize, group: Option<usize>, role: Role) -> Vec<String> {
    let mut things: Vec<String> = Vec::new();
    let mut is_run = true;
    for token in (start..tokens.len()).filter(|at| Some(*at) != group).map(|at| &tokens[at]) {
        let is_enough = things.iter().any(|thing| !among(OFTEN, thing) && !among(ENDINGS, thing));
        if is_enough && among(PLACES, &token.word) {
            break;
        }
        is_run &= matches!(token.role, Role::Thing | Role::Weak) && token.gap.trim().is_empty() || things.is_empty();
        if token.role == role && (is_run || things.len() < THINGS_LIMIT || !is_enough) {
            things.push(token.word.clone());
        }
    }
    things
}

/// Whether a thing is what something is counted by.
fn is_group(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let is_thing = matches!(token.role, Role::Thing | Role::Weak);
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let is_said = before.is_some_and(|it| token.is_latin && matches!(it.word.as_str(), "by" | "per"));
    let marked = ["別", "ごと", "毎"].iter().any(|mark| token.after.starts_with(mark));
    let begins = ["按", "按照", "每个", "各个", "各", "ตาม"].iter().any(|mark| token.gap.trim().ends_with(mark));
    is_thing && (is_said || marked || begins)
}

/// The words as a name, if they are one.
fn valid(words: &[String]) -> Option<String> {
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() < LENGTH_LIMIT {
            let between = if name.is_empty() { "" } else { "_" };
            name.push_str(between);
            name.push_str(word);
        }
    }
    let name = name.trim_end_matches("_by").trim_end_matches("_to").to_owned();
    let is_enough = name.contains('_');
    ToolName::parse(&name).is_ok_and(|_| is_enough).then_some(name)
}

/// A name for what has no words: the same for the same text.
fn hashed(verb: &str, text: &str) -> String {
    // FNV-1a, 64 bits, folded to 24: http://www.isthe.com/chongo/tech/comp/fnv/
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = folded(text).text().split_whitespace().flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, fold);
    let folded = (hash ^ (hash >> 24) ^ (hash >> 48)) & 0x00ff_ffff;
    format!("{verb}_{folded:06x}")
}
