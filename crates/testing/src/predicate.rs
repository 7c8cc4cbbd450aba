//! Predicates on a result: a JSON path (RFC 9535), and matchers for each value that it selects.
//!
//! Invariant: a predicate can be satisfied. The constructor refuses contradictory matchers.

use std::collections::HashSet;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use toolcell_i18n::{Message, message};

use crate::diff::{normalize, summarize};

/// The maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1_000;
/// The maximum number of mismatches that are reported.
const MAX_MISMATCHES: usize = 20;
/// The maximum number of descendant segments of a path: each multiplies the visited nodes by the
/// depth of the result.
const MAX_DESCENTS: u32 = 2;
/// The maximum product of the numbers of selectors in the segments of a path: `[0, 1][2, 3]` has
/// four.
const MAX_SELECTORS: usize = 64;
/// The maximum size of the visited nodes in bytes: each is stored with its path from the root.
const MAX_NODES_BYTES: usize = 64 << 20;
/// The maximum number of bytes that filters inspect.
const MAX_FILTER_BYTES: usize = 256 << 20;
/// The size of a node without its path, in bytes.
const BYTES_PER_NODE: usize = 64;
/// The maximum number of values of `one_of` in a message.
const MAX_OPTIONS_SHOWN: usize = 100;
/// The maximum size of a compiled regular expression in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A predicate on a part of a result.
#[derive(Debug, Clone)]
pub struct Predicate {
    path: String,
    query: JpQuery,
    cost: PathCost,
    matchers: Vec<PreparedMatcher>,
}

/// A matcher with its expected values in canonical form.
#[derive(Debug, Clone)]
struct PreparedMatcher {
    matcher: Matcher,
    values: HashSet<String>,
}

/// The properties of a path that determine its cost.
#[derive(Debug, Clone, Copy, Default)]
struct PathCost {
    /// The number of descendant segments (`..`).
    descents: u32,
    /// The product of the numbers of selectors in each segment.
    branches: usize,
    /// The total length of the filters, in characters.
    filters: usize,
    /// Whether a filter refers to the root of the result.
    from_root: bool,
}

/// A condition on a value.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// The value equals this one.
    Is(Value),
    /// The value differs from this one.
    IsNot(Value),
    /// The value equals one of these.
    OneOf(Vec<Value>),
    /// The value is a number that is not less.
    AtLeast(f64),
    /// The value is a number that is not greater.
    AtMost(f64),
    /// The value is a string that the regular expression matches.
    Matches(Regex),
    /// The value is a string that contains this one, or an array with this element.
    Contains(Value),
    /// The value is a string of this many characters, an array of this many elements, or an object
    /// of this many members.
    Length(usize),
    /// The value has this type: `string`, `number`, `boolean`, `null`, `array` or `object`.
    Type(String),
    /// The path selects a value (`true`), or none (`false`).
    Exists(bool),
}

/// The JSON types.
const TYPES: [&str; 6] = ["string", "number", "boolean", "null", "array", "object"];

impl Predicate {
    /// Creates a predicate on the values that a path selects.
    ///
    /// # Errors
    /// A message if the path is invalid (RFC 9535) or too expensive, or if no value can satisfy all
    /// matchers.
    pub fn new(path: &str, tests: Vec<Matcher>) -> Result<Self, Message> {
        let shape = path_cost(path)?;
        let query = parse_json_path(path).map_err(|error| {
            let reason = error.to_string();
            let line = reason.lines().rev().find_map(|line| line.split_once("= ").map(|(_, detail)| detail.to_owned()));
            message!("`{path}` is not a valid JSON path: {reason}", path, reason = line.unwrap_or(reason))
        })?;
        if tests.is_empty() {
            return Err(message!("`{path}` has no condition", path));
        }
        let tests: Vec<PreparedMatcher> = tests.into_iter().map(PreparedMatcher::new).collect();
        find_contradiction(&tests)
            .map_or_else(|| Ok(Self { path: path.to_owned(), query, cost: shape, matchers: tests }), Err)
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns a message for each mismatch with a result.
    pub(crate) fn mismatches(&self, result: &Value) -> Vec<Message> {
        if !self.cost.is_within_limits(result) {
            let path = &self.path;
            return vec![message!(
                "`{path}` is too expensive for a result of this size: select less, or return less",
                path,
            )];
        }
        let found: Vec<&Value> = match js_path_process(&self.query, result) {
            Ok(found) => found.into_iter().map(jsonpath_rust::query::QueryRef::val).collect(),
            Err(error) => return vec![message!("`{path}` cannot be evaluated: {error}", path = self.path, error)],
        };
        let path = &self.path;
        let none_wanted = self.matchers.iter().any(|it| matches!(it.matcher, Matcher::Exists(false)));
        match found.first() {
            None if none_wanted => return Vec::new(),
            None => return vec![message!("there is nothing at `{path}`", path)],
            Some(first) if none_wanted => {
                return vec![message!("there is {value} at `{path}`", value = summarize(first), path)];
            }
            Some(_) => {}
        }
        let misses = found.iter().flat_map(|value| {
            let missed = self.matchers.iter().filter(|it| !it.is_match(value));
            missed.map(|it| it.matcher.describe_mismatch(path, value))
        });
        misses.take(MAX_MISMATCHES).collect()
    }
}

/// Determines the cost of a path. Refuses a path whose cost grows faster than the result.
fn path_cost(path: &str) -> Result<PathCost, Message> {
    if path.len() > MAX_PATH_BYTES {
        return Err(message!(
            "a JSON path of {actual} bytes is too long, the limit is {limit}",
            actual = path.len(),
            limit = MAX_PATH_BYTES,
        ));
    }
    let (mut quote, mut depth, mut filter) = (None, 0_usize, None);
    let mut from_root = false;
    let mut shape = PathCost { branches: 1, ..PathCost::default() };
    // The number of selectors in each open bracket.
    let mut parts = Vec::new();
    let mut signs = path.char_indices();
    while let Some((at, sign)) = signs.next() {
        let within = filter.is_some();
        shape.filters += usize::from(within);
        #[expect(clippy::match_same_arms, reason = "within quotes, and outside of them")]
        match (quote, sign) {
            (Some(_), '\\') => drop(signs.next()),
            (Some(open), sign) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(sign),
            (None, '[' | '(') => {
                depth += 1;
                parts.push(1_usize);
            }
            (None, ',') => parts.iter_mut().rev().take(1).for_each(|parts| *parts += 1),
            (None, ']' | ')') => {
                depth = depth.saturating_sub(1);
                shape.branches = shape.branches.saturating_mul(parts.pop().unwrap_or(1));
                if shape.branches > MAX_SELECTORS {
                    let limit = MAX_SELECTORS;
                    return Err(message!("`{path}` has more than {limit} selectors: select less", path, limit));
                }
                if filter.is_some_and(|opened| depth < opened) {
                    (filter, from_root) = (None, false);
                }
            }
            (None, '?') if within => return Err(message!("`{path}` has a nested filter: use only one level", path)),
            (None, '?') => filter = Some(depth),
            (None, '$') => {
                from_root = within;
                shape.from_root |= within;
            }
            (None, '*' | ':') if from_root => {
                return Err(message!("`{path}` searches the whole result for each value of a filter", path));
            }
            (None, '.') if path[at..].starts_with("..") => {
                shape.descents += 1;
                if within || shape.descents > MAX_DESCENTS {
                    return Err(message!(
                        "`{path}` uses `..` too often: it is allowed {limit} times, outside of filters",
                        path,
                        limit = MAX_DESCENTS,
                    ));
                }
            }
            (None, 'm' | 's') if ["match", "search"].iter().any(|name| path[at..].starts_with(&format!("{name}("))) => {
                return Err(message!(
                    "`{path}` matches within the path: select the values, and test them with `matches`",
                    path,
                ));
            }
            (None, _) => {}
        }
    }
    Ok(shape)
}

impl PathCost {
    /// Returns whether evaluating the path on a result is within the limits.
    fn is_within_limits(self, result: &Value) -> bool {
        let (mut places, mut depth) = (0_usize, 0);
        // Each value with the length of its path, and its depth.
        let mut open = vec![(result, 1, 0_usize)];
        while let Some((value, path, level)) = open.pop() {
            places = places.saturating_add(path + BYTES_PER_NODE);
            depth = depth.max(level);
            match value {
                // An index of up to seven digits in brackets.
                Value::Array(items) => open.extend(items.iter().map(|item| (item, path + 9, level + 1))),
                Value::Object(members) => {
                    open.extend(members.iter().map(|(name, item)| (item, path + name.len() + 4, level + 1)));
                }
                _ => {}
            }
        }
        let bytes = places;
        // One descendant segment visits each value once; a second one visits it once for each of
        // its ancestors.
        let again = depth.max(1).saturating_pow(self.descents.saturating_sub(1));
        let places = places.saturating_mul(self.branches).saturating_mul(again);
        if places > MAX_NODES_BYTES {
            return false;
        }
        if self.filters == 0 {
            return true;
        }
        // The cost of a filter grows with its length, and with the size of the whole result if it
        // refers to the root.
        let each = 1 + self.filters / 16;
        let whole = if self.from_root { bytes / BYTES_PER_NODE } else { 1 };
        let below = depth.max(1).saturating_pow(self.descents.min(1));
        places.saturating_mul(each).saturating_mul(whole).saturating_mul(below) <= MAX_FILTER_BYTES
    }
}

/// Returns a value as text that is the same for equal values.
fn canonical_text(value: &Value) -> String {
    normalize(value).to_string()
}

impl PreparedMatcher {
    fn new(test: Matcher) -> Self {
        let values = match &test {
            Matcher::Is(value) | Matcher::IsNot(value) | Matcher::Contains(value) => std::slice::from_ref(value),
            Matcher::OneOf(values) => values.as_slice(),
            _ => &[],
        };
        Self { values: values.iter().map(canonical_text).collect(), matcher: test }
    }

    fn is_match(&self, value: &Value) -> bool {
        match &self.matcher {
            Matcher::Is(_) | Matcher::OneOf(_) => self.values.contains(&canonical_text(value)),
            Matcher::IsNot(_) => !self.values.contains(&canonical_text(value)),
            Matcher::AtLeast(least) => value.as_f64().is_some_and(|number| number >= *least),
            Matcher::AtMost(most) => value.as_f64().is_some_and(|number| number <= *most),
            Matcher::Matches(pattern) => value.as_str().is_some_and(|text| pattern.is_match(text)),
            Matcher::Contains(part) => match (value, part) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), _) => items.iter().any(|item| self.values.contains(&canonical_text(item))),
                _ => false,
            },
            Matcher::Length(length) => match value {
                Value::String(text) => text.chars().count() == *length,
                Value::Array(items) => items.len() == *length,
                Value::Object(members) => members.len() == *length,
                _ => false,
            },
            Matcher::Type(name) => type_of(value) == name,
            Matcher::Exists(expected) => *expected,
        }
    }
}

impl Matcher {
    /// Parses a matcher from its name in a test file.
    ///
    /// # Errors
    /// A message if the name is unknown, or its value has the wrong type.
    pub fn from_name(word: &str, value: Value) -> Result<Self, Message> {
        let number = || value.as_f64().ok_or_else(|| message!("`{word}` must be a number", word));
        let text = || value.as_str().ok_or_else(|| message!("`{word}` must be a string", word));
        Ok(match word {
            "is" => Self::Is(value),
            "is_not" => Self::IsNot(value),
            "one_of" => match value {
                Value::Array(values) if !values.is_empty() => Self::OneOf(values),
                _ => return Err(message!("`one_of` must be a list of values")),
            },
            "at_least" => Self::AtLeast(number()?),
            "at_most" => Self::AtMost(number()?),
            "matches" => {
                Self::Matches(RegexBuilder::new(text()?).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| {
                    let reason = error.to_string();
                    let reason = reason.lines().last().unwrap_or_default();
                    message!("`matches` is not a valid regular expression: {reason}", reason)
                })?)
            }
            "contains" => Self::Contains(value),
            "length" => {
                let length = value.as_u64().and_then(|length| usize::try_from(length).ok());
                Self::Length(length.ok_or_else(|| message!("`{what}` must be a whole number, 0 or more", what = word))?)
            }
            "type" => match text()? {
                name if TYPES.contains(&name) => Self::Type(name.to_owned()),
                name => {
                    let types = TYPES.join(", ");
                    return Err(message!("there is no type `{name}`, the types are {types}", name, types));
                }
            },
            "exists" => Self::Exists(value.as_bool().ok_or_else(|| message!("`exists` must be true or false"))?),
            _ => {
                let names = Self::NAMES.join(", ");
                return Err(message!("there is no condition `{word}`, the conditions are {names}", word, names));
            }
        })
    }

    /// The names of matchers in test files.
    const NAMES: [&str; 10] =
        ["is", "is_not", "one_of", "at_least", "at_most", "matches", "contains", "length", "type", "exists"];

    /// Describes the mismatch of a value at a path.
    fn describe_mismatch(&self, path: &str, value: &Value) -> Message {
        let value = summarize(value);
        match self {
            Self::Is(expected) => {
                let expected = summarize(expected);
                message!("`{path}` is {value}, which is not {expected}", path, value, expected)
            }
            Self::IsNot(other) => {
                let other = summarize(other);
                message!("`{path}` is {value}, which it must not be: {other}", path, value, other)
            }
            Self::OneOf(values) => {
                let options: Vec<Value> = values.iter().take(MAX_OPTIONS_SHOWN).cloned().collect();
                let options = summarize(&Value::Array(options));
                message!("`{path}` is {value}, which is not one of {options}", path, value, options)
            }
            Self::AtLeast(least) => message!("`{path}` is {value}, which is not at least {least}", path, value, least),
            Self::AtMost(most) => message!("`{path}` is {value}, which is not at most {most}", path, value, most),
            Self::Matches(pattern) => {
                message!("`{path}` is {value}, which does not match `{pattern}`", path, value, pattern)
            }
            Self::Contains(part) => {
                let part = summarize(part);
                message!("`{path}` is {value}, which does not contain {part}", path, value, part)
            }
            Self::Length(length) => {
                message!("`{path}` is {value}, which does not have the length {length}", path, value, length)
            }
            Self::Type(name) => {
                message!("`{path}` is {value}, which is not of the type {name}", path, value, name)
            }
            Self::Exists(_) => message!("`{path}` is {value}, which must not exist", path, value),
        }
    }

    /// Returns the types of values that can match, or `None` if all can.
    fn possible_types(&self) -> Option<Vec<&str>> {
        Some(match self {
            Self::Is(value) => vec![type_of(value)],
            Self::OneOf(values) => values.iter().map(type_of).collect::<HashSet<_>>().into_iter().collect(),
            Self::AtLeast(_) | Self::AtMost(_) => vec!["number"],
            Self::Matches(_) => vec!["string"],
            Self::Contains(Value::String(_)) => vec!["string", "array"],
            Self::Contains(_) => vec!["array"],
            Self::Length(_) => vec!["string", "array", "object"],
            Self::Type(name) => vec![name],
            Self::IsNot(_) | Self::Exists(_) => return None,
        })
    }
}

/// Returns why no value can satisfy all matchers, if none can.
fn find_contradiction(prepared: &[PreparedMatcher]) -> Option<Message> {
    let tests: Vec<&Matcher> = prepared.iter().map(|it| &it.matcher).collect();
    if tests.len() > 1 && tests.iter().any(|test| matches!(test, Matcher::Exists(false))) {
        return Some(message!("`exists = false` allows no other condition"));
    }
    let least = tests.iter().find_map(|test| if let Matcher::AtLeast(least) = test { Some(*least) } else { None });
    let most = tests.iter().find_map(|test| if let Matcher::AtMost(most) = test { Some(*most) } else { None });
    if let (Some(least), Some(most)) = (least, most)
        && least > most
    {
        return Some(message!("no number is at least {least} and at most {most}", least, most));
    }
    let typed: Vec<_> = tests.iter().filter_map(|test| test.possible_types()).collect();
    if !TYPES.iter().any(|name| typed.iter().all(|types| types.contains(name))) {
        return Some(message!("the conditions need values of different types"));
    }
    let candidates: Option<Vec<&Value>> = tests.iter().find_map(|test| match test {
        Matcher::Is(value) => Some(vec![value]),
        Matcher::OneOf(values) => Some(values.iter().collect()),
        _ => None,
    });
    let holds = |value: &&Value| prepared.iter().all(|it| it.is_match(value));
    if candidates.is_some_and(|values| !values.iter().any(holds)) {
        return Some(message!("the expected values contradict the other conditions"));
    }
    None
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn predicate(path: &str, tests: &Value) -> Result<Predicate, String> {
        let tests: Result<Vec<Matcher>, Message> =
            tests.as_object().unwrap().iter().map(|(word, value)| Matcher::from_name(word, value.clone())).collect();
        tests.and_then(|tests| Predicate::new(path, tests)).map_err(|reason| reason.to_string())
    }

    fn mismatches(predicate: &Predicate, result: &Value) -> Vec<String> {
        predicate.mismatches(result).iter().map(Message::to_string).collect()
    }

    #[test]
    fn a_predicate_holds_of_what_its_path_selects() {
        let result = json!({ "id": "ab12", "items": [{ "price": 3 }, { "price": 4.5 }], "none": null });
        for (path, tests, expect) in [
            ("$.id", json!({ "matches": "^a" }), ""),
            ("$.id", json!({ "matches": "^b" }), "`$.id` is \"ab12\", which does not match `^b`"),
            ("$.items[0].price", json!({ "at_least": 3, "at_most": 3 }), ""),
            ("$.items[*].price", json!({ "at_least": 4 }), "`$.items[*].price` is 3, which is not at least 4"),
            ("$.items", json!({ "length": 2, "type": "array" }), ""),
            ("$.items", json!({ "contains": { "price": 4.5 } }), ""),
            ("$.none", json!({ "is": null }), ""),
            ("$.other", json!({ "exists": false }), ""),
            ("$.other", json!({ "is": 1 }), "there is nothing at `$.other`"),
            ("$.id", json!({ "exists": false }), "there is \"ab12\" at `$.id`"),
            ("$.id", json!({ "one_of": ["x", "y"] }), "`$.id` is \"ab12\", which is not one of [\"x\",\"y\"]"),
        ] {
            let misses = mismatches(&predicate(path, &tests).unwrap(), &result).join("; ");
            assert_eq!(misses, expect, "{path} {tests}");
        }
    }

    #[test]
    fn what_nothing_can_satisfy_is_refused() {
        for (path, tests, expect) in [
            ("$.a", json!({ "at_least": 3, "at_most": 2 }), "no number is at least 3 and at most 2"),
            ("$.a", json!({ "type": "string", "at_least": 2 }), "the conditions need values of different types"),
            ("$.a", json!({ "is": "b", "matches": "^a" }), "the expected values contradict the other conditions"),
            ("$.a", json!({ "exists": false, "is": 1 }), "`exists = false` allows no other condition"),
            ("$.a", json!({ "matches": "(" }), "`matches` is not a valid regular expression"),
            ("$.a", json!({ "length": -1 }), "`length` must be a whole number"),
            ("$.a", json!({ "one_of": [] }), "`one_of` must be a list"),
            ("$.a", json!({ "bigger": 1 }), "there is no condition `bigger`"),
            ("$.a", json!({ "type": "date" }), "there is no type `date`"),
            ("a..", json!({ "is": 1 }), "`a..` is not a valid JSON path"),
        ] {
            let error = predicate(path, &tests).unwrap_err();
            assert!(error.starts_with(expect), "{tests}: {error}");
        }
    }

    #[test]
    fn a_path_whose_work_multiplies_is_refused() {
        let is = json!({ "is": 1 });
        for (path, expect) in [
            ("$..*..*..*", "uses `..` too often"),
            ("$[?@..a]", "uses `..` too often"),
            ("$[?@.a[?@.b]]", "has a nested filter"),
            ("$.a[?$.b[*] == @.c]", "searches the whole result"),
            ("$[?search(@.a, '(((a{100}){100}){100})')]", "matches within the path"),
        ] {
            let error = predicate(path, &is).unwrap_err();
            assert!(error.contains(expect), "{path}: {error}");
        }
        assert!(predicate(&format!("$.{}", "a".repeat(1_000)), &is).unwrap_err().contains("is too long"));
        assert!(predicate("$.a", &json!({ "matches": "((a{1000}){1000}){10}" })).is_err());
        for path in
            ["$..a..b", "$.a[?@.b > 1 && $.c == 2].d", "$['a..b..c..d', '?']", "$[?@.a == 'search(']", "$..[?@.b]"]
        {
            predicate(path, &is).unwrap();
        }
        let many = json!(vec![2; 10_000]);
        assert_eq!(predicate("$[*]", &is).unwrap().mismatches(&many).len(), 20);
        for path in ["$.a[?$.b[::1] == 1]", "$.a[?@ == $.b[1:2]]"] {
            let error = predicate(path, &is).unwrap_err();
            assert!(error.contains("searches the whole result"), "{path}: {error}");
        }
        for path in
            ["[*,*]".repeat(7), format!("[{}]", ["0"; 65].join(",")), "[?@[0,0][0,0][0,0][0,0][0,0][0,0][0,0]]".into()]
        {
            let error = predicate(&format!("${path}"), &is).unwrap_err();
            assert!(error.contains("has more than 64 selectors"), "{path}: {error}");
        }
        for path in ["$[0,1,2].a", "$.a[0:5]", "$.a[?count(@.b) > 1 && length(@.c) < 3]", "$['a,b','c:d']"] {
            predicate(path, &is).unwrap();
        }
    }

    #[test]
    fn a_path_that_makes_too_much_work_of_a_result_is_not_followed() {
        let is = json!({ "is": 1 });
        let too_much = "is too expensive for a result of this size: select less, or return less";
        let deep = (0..100).fold(json!([]), |inner, _| json!([vec![0; 320], inner]));
        let long = json!({ ("k".repeat(100_000)): vec![1; 10_000] });
        let wide = json!({ "a": vec![1; 200_000], "b": "x".repeat(200_000), "c": "y" });
        for (path, result) in [
            ("$..*..*", &deep),
            ("$.*[*]", &long),
            ("$.a[?length($.b) > 3]", &wide),
            (&format!("$.a[?{}@ == 1]", "@ == 1 && ".repeat(30)), &wide),
        ] {
            let misses = mismatches(&predicate(path, &is).unwrap(), result);
            assert!(misses.len() == 1 && misses[0].ends_with(too_much), "{path}: {misses:?}");
        }
        let small = json!({ "a": vec![json!({ "b": 1, "c": [1, 2] }); 100], "d": 1 });
        for path in ["$..b", "$.a[*].b", "$.a[?@.b == $.d].b", "$.a[?@.c[0] == 1 && @.b > 0].b", "$..c..[0]"] {
            assert!(predicate(path, &is).unwrap().mismatches(&small).is_empty(), "{path}");
        }
        assert!(predicate("$.a[*]", &is).unwrap().mismatches(&wide).is_empty());
    }

    #[test]
    fn many_values_are_compared_with_many_options() {
        let options: Vec<i32> = (0..100_000).map(|at| -at).collect();
        let one_of = predicate("$[*]", &json!({ "one_of": options })).unwrap();
        let misses = mismatches(&one_of, &json!((-100_000..0).rev().map(f64::from).collect::<Vec<_>>()));
        assert_eq!(misses.len(), 1, "{misses:?}");
        assert!(misses[0].len() < 500);
        assert_eq!(one_of.mismatches(&json!(vec![1; 100_000])).len(), 20);
    }
}
