//! Edge cases of texts.
//!
//! Invariant: each text is short in relation to a tool's fuel, and shrinks towards the empty text
//! or an example.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::string::string_regex;
use serde_json::Value;

use super::strategies::{Hint, InputStyle, WeightedStrategy, weighted_union};
use super::text_samples;

/// Edge cases: empty, blanks, other scripts, characters of several code units or code points, texts
/// that look like other types, prototype members, field separators.
const EDGE_CASES: [&str; 36] = [
    "",
    " ",
    "a",
    "0",
    "-1",
    "1.5",
    "1e21",
    "null",
    "true",
    "[]",
    "{}",
    "a b",
    "a  b",
    " a ",
    "a\nb",
    "a\r\nb",
    "\n",
    "\t",
    "a,b",
    ",",
    "\"",
    "'",
    "\"a\",\"b\"",
    "\\",
    "%",
    "=",
    "a=b",
    "<b>",
    "é",
    "e\u{301}",
    "日本語",
    "😀",
    "👩‍👩‍👧",
    "__proto__",
    "constructor",
    "toString",
];
/// Regular expressions for the formats of JSON Schema.
const FORMAT_PATTERNS: [(&str, &str); 9] = [
    ("date", "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"),
    (
        "date-time",
        "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{3})?(Z|[+-]0[0-9]:30)",
    ),
    ("time", "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"),
    ("email", "[a-z][a-z0-9.]{0,8}[a-z0-9]@[a-z]{1,8}\\.(com|org|co\\.jp)"),
    ("uri", "https?://[a-z]{1,8}\\.(com|org)(/[a-z0-9]{0,5}){0,3}(\\?[a-z]=[a-z0-9%]{0}[a-z0-9]{1,4})?(#[a-z]{1,3})?"),
    ("hostname", "[a-z]{1,8}(\\.[a-z]{2,5}){1,2}"),
    ("ipv4", "(25[0-5]|1[0-9]{2}|[1-9]?[0-9])(\\.(25[0-5]|1[0-9]{2}|[1-9]?[0-9])){3}"),
    ("ipv6", "([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"),
    ("uuid", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
];
/// The lengths of repetitive texts in characters.
const REPEAT_LENGTHS: [usize; 3] = [10, 100, 1_000];
/// The maximum length of a generated text in characters.
const MAX_GENERATED_CHARS: usize = 20_000;

/// Returns the strategy for texts of a schema, as far as its keywords are supported.
pub(super) fn text_strategy(
    schema: &Value,
    seen: &[&Value],
    words: &[String],
    (hint, manner): (Hint<'_>, InputStyle),
    longest: usize,
) -> BoxedStrategy<Value> {
    let longest = longest.min(MAX_GENERATED_CHARS);
    let seen: Vec<String> = seen.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
    let pattern = schema["pattern"].as_str().and_then(|pattern| pattern_strategy(pattern, longest));
    let format =
        schema["format"].as_str().and_then(|format| FORMAT_PATTERNS.iter().find(|(known, _)| *known == format));
    let shaped = pattern.or_else(|| format.and_then(|(_, pattern)| string_regex(pattern).ok()).map(Strategy::boxed));
    let is_shaped = shaped.is_some();
    let (least, most) =
        (length_keyword(schema, "minLength").unwrap_or(0).min(longest), length_keyword(schema, "maxLength"));
    let mut choices: Vec<WeightedStrategy<String>> = shaped.into_iter().map(|shaped| (6, shaped)).collect();
    if !is_shaped {
        choices.push((if manner == InputStyle::Ordinary { 10 } else { 3 }, text_samples::text_strategy(hint)));
        if !words.is_empty() {
            choices.push((2, vec(select(words.to_vec()), 1..4).prop_map(|some| some.concat()).boxed()));
        }
        if manner == InputStyle::Hostile {
            choices.extend(hostile_texts(&seen, words, most, longest));
        }
    }
    if !seen.is_empty() {
        choices.push((4, mutated_examples(seen)));
    }
    let fitted =
        weighted_union(choices).prop_map(move |text| if is_shaped { text } else { fit_length(&text, least, most) });
    fitted.prop_map(Value::String).boxed()
}

/// Returns the strategies for edge cases, arbitrary characters and long texts.
fn hostile_texts(
    seen: &[String],
    words: &[String],
    most: Option<usize>,
    longest: usize,
) -> Vec<WeightedStrategy<String>> {
    let signs = seen.iter().flat_map(|text| text.chars()).map(String::from);
    let pool: Vec<String> = signs.chain(words.iter().cloned()).chain(EDGE_CASES.map(str::to_owned)).collect();
    let lengths: Vec<usize> = REPEAT_LENGTHS.into_iter().chain(most).map(|most| most.min(longest)).collect();
    vec![
        (3, select(EDGE_CASES.as_slice()).prop_map(str::to_owned).boxed()),
        (2, "\\PC{0,12}".boxed()),
        (1, "[a-z0-9 ,;:=\n\"-]{0,24}".boxed()),
        (1, (select(pool), select(lengths)).prop_map(repeat_to_length).boxed()),
    ]
}

/// Returns the strategy for field names of an open object.
pub(super) fn field_name_strategy(words: &[String], hint: Hint<'_>, manner: InputStyle) -> BoxedStrategy<String> {
    let mut choices: Vec<WeightedStrategy<String>> = match manner {
        InputStyle::Hostile => {
            vec![(1, "[a-d]{1,3}".boxed()), (3, select(EDGE_CASES.as_slice()).prop_map(str::to_owned).boxed())]
        }
        InputStyle::Ordinary => vec![(6, text_samples::field_name_strategy(hint))],
    };
    if !words.is_empty() {
        choices.push((3, select(words.to_vec()).boxed()));
    }
    weighted_union(choices)
}

fn repeat_to_length((text, length): (String, usize)) -> String {
    text.repeat(length / text.chars().count().max(1))
}

fn length_keyword(schema: &Value, key: &str) -> Option<usize> {
    schema[key].as_u64().and_then(|length| usize::try_from(length).ok())
}

/// Returns the strategy for texts that match a pattern, which need not be anchored.
fn pattern_strategy(pattern: &str, most: usize) -> Option<BoxedStrategy<String>> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').filter(|inner| !inner.ends_with('\\')).unwrap_or(inner);
    if max_match_chars(inner) > most as u64 {
        return None;
    }
    string_regex(inner).ok().map(Strategy::boxed)
}

/// Returns the approximate maximum length of a match: an unbounded repetition is generated up to 32
/// times.
fn max_match_chars(pattern: &str) -> u64 {
    // The length of each open group, and of the last atom, which a quantifier would repeat.
    let (mut groups, mut last) = (vec![0_u64], 0);
    let mut signs = pattern.chars().peekable();
    while let Some(sign) = signs.next() {
        let times = match sign {
            '(' => {
                groups.push(0);
                continue;
            }
            ')' => {
                last = groups.pop().unwrap_or(0);
                if groups.is_empty() {
                    groups.push(0);
                }
                1
            }
            '*' | '+' => 32,
            '{' => {
                let bounds: String = signs.by_ref().take_while(|sign| *sign != '}').collect();
                let most = bounds.rsplit(',').next().unwrap_or_default();
                let first = bounds.split(',').next().unwrap_or_default().parse().unwrap_or(u64::MAX);
                if most.is_empty() { first.saturating_add(32) } else { most.parse().unwrap_or(u64::MAX) }
            }
            '?' | '|' | '^' | '$' => continue,
            '\\' => {
                signs.next();
                last = 1;
                1
            }
            _ => {
                last = 1;
                1
            }
        };
        let group = groups.last_mut().map_or(0, |group| {
            *group = group.saturating_add(last.saturating_mul(times));
            *group
        });
        if group > MAX_GENERATED_CHARS as u64 {
            return group;
        }
        last = last.saturating_mul(times);
    }
    groups.into_iter().fold(0, u64::saturating_add)
}

/// Pads or truncates a text to the declared length.
fn fit_length(text: &str, least: usize, most: Option<usize>) -> String {
    let len = text.chars().count();
    let mut text = text.to_owned();
    if len < least {
        text.extend(std::iter::repeat_n('a', least - len));
    }
    match most {
        Some(most) if len > most => text.chars().take(most).collect(),
        _ => text,
    }
}

/// Returns the strategy for mutated texts of the examples.
fn mutated_examples(seen: Vec<String>) -> BoxedStrategy<String> {
    let change = (0..13_usize, any::<Index>(), select(EDGE_CASES.as_slice()));
    (select(seen), change).prop_map(|(text, (change, at, sign))| mutate(&text, change, at, sign)).boxed()
}

fn mutate(text: &str, change: usize, at: Index, sign: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    let at = at.index(signs.len() + 1);
    let (before, after): (String, String) = (signs[..at].iter().collect(), signs[at..].iter().collect());
    match change {
        1 => before,
        2 => after,
        3 => format!("{before}{sign}{after}"),
        4 => before + after.chars().skip(1).collect::<String>().as_str(),
        5 => format!("{text}\n{text}"),
        6 => format!("{text}\n"),
        7 => format!(" {text} "),
        8 => text.to_uppercase(),
        9 => text.chars().map(|sign| if sign.is_ascii_digit() { '9' } else { sign }).collect(),
        10 => text.lines().rev().collect::<Vec<_>>().join("\n"),
        11 => text.replace(' ', "  "),
        // Repeats a character.
        12 => format!("{before}{}{after}", after.chars().take(1).collect::<String>().repeat(3)),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_endless_texts_are_passed_over() {
        let check = |pattern: &str, may_be_made: bool| {
            assert_eq!(pattern_strategy(pattern, MAX_GENERATED_CHARS).is_some(), may_be_made, "{pattern}");
        };
        check("^[A-Z]{2}[0-9]{4,8}$", true);
        check("^[a-z]+@[a-z]+(\\.[a-z]+){1,3}$", true);
        check("^\\d{3}-\\d{4}$", true);
        check("a{1000000000}", false);
        check("(((a{1000}){1000}){1000})", false);
        check("((((((a*)*)*)*)*)*)*", false);
        check("(", false);
    }
}
