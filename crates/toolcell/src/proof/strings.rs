//! Texts that tools stumble over.
//!
//! Invariant: each text is shorter than a tool's fuel minds, and shrinks towards the empty one or towards one that an example
//! has.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::string::string_regex;
use serde_json::Value;

use super::inputs::{Choice, Hint, Manner, any_of};
use super::samples;

/// Texts at the borders: nothing, blanks, other scripts, signs that are two code units or two code points, what looks like
/// something else, what a prototype has, what separates fields.
const BORDERS: [&str; 36] = [
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
/// Regular expressions for formats of JSON Schema.
const FORMATS: [(&str, &str); 9] = [
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
/// How long texts are that say the same again and again, in characters.
const LONG: [usize; 3] = [10, 100, 1_000];
/// The longest that is made where a longer one is declared.
const LONGEST: usize = 20_000;

/// Texts that pass a schema, as far as it says something that texts can be made by.
pub(super) fn texts(
    schema: &Value,
    seen: &[&Value],
    words: &[String],
    (hint, manner): (Hint<'_>, Manner),
    longest: usize,
) -> BoxedStrategy<Value> {
    let longest = longest.min(LONGEST);
    let seen: Vec<String> = seen.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
    let pattern = schema["pattern"].as_str().and_then(|pattern| matching(pattern, longest));
    let format = schema["format"].as_str().and_then(|format| FORMATS.iter().find(|(known, _)| *known == format));
    let shaped = pattern.or_else(|| format.and_then(|(_, pattern)| string_regex(pattern).ok()).map(Strategy::boxed));
    let is_shaped = shaped.is_some();
    let (least, most) = (length(schema, "minLength").unwrap_or(0).min(longest), length(schema, "maxLength"));
    let mut choices: Vec<Choice<String>> = shaped.into_iter().map(|shaped| (6, shaped)).collect();
    if !is_shaped {
        choices.push((if manner == Manner::Ordinary { 10 } else { 3 }, samples::texts(hint)));
        if !words.is_empty() {
            choices.push((2, vec(select(words.to_vec()), 1..4).prop_map(|some| some.concat()).boxed()));
        }
        if manner == Manner::Hostile {
            choices.extend(hostile(&seen, words, most, longest));
        }
    }
    if !seen.is_empty() {
        choices.push((4, varied(seen)));
    }
    let fitted = any_of(choices).prop_map(move |text| if is_shaped { text } else { fit(&text, least, most) });
    fitted.prop_map(Value::String).boxed()
}

/// Texts at the borders, of any sign, and long ones.
fn hostile(seen: &[String], words: &[String], most: Option<usize>, longest: usize) -> Vec<Choice<String>> {
    let signs = seen.iter().flat_map(|text| text.chars()).map(String::from);
    let pool: Vec<String> = signs.chain(words.iter().cloned()).chain(BORDERS.map(str::to_owned)).collect();
    let lengths: Vec<usize> = LONG.into_iter().chain(most).map(|most| most.min(longest)).collect();
    vec![
        (3, select(BORDERS.as_slice()).prop_map(str::to_owned).boxed()),
        (2, "\\PC{0,12}".boxed()),
        (1, "[a-z0-9 ,;:=\n\"-]{0,24}".boxed()),
        (1, (select(pool), select(lengths)).prop_map(repeated).boxed()),
    ]
}

/// Names of fields in an object that takes any.
pub(super) fn names(words: &[String], hint: Hint<'_>, manner: Manner) -> BoxedStrategy<String> {
    let mut choices: Vec<Choice<String>> = match manner {
        Manner::Hostile => {
            vec![(1, "[a-d]{1,3}".boxed()), (3, select(BORDERS.as_slice()).prop_map(str::to_owned).boxed())]
        }
        Manner::Ordinary => vec![(6, samples::fields(hint))],
    };
    if !words.is_empty() {
        choices.push((3, select(words.to_vec()).boxed()));
    }
    any_of(choices)
}

fn repeated((text, length): (String, usize)) -> String {
    text.repeat(length / text.chars().count().max(1))
}

fn length(schema: &Value, key: &str) -> Option<usize> {
    schema[key].as_u64().and_then(|length| usize::try_from(length).ok())
}

/// Texts that match a pattern of a schema, which need not match all of a text.
fn matching(pattern: &str, most: usize) -> Option<BoxedStrategy<String>> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').filter(|inner| !inner.ends_with('\\')).unwrap_or(inner);
    if longest(inner) > most as u64 {
        return None;
    }
    string_regex(inner).ok().map(Strategy::boxed)
}

/// How long a text may get that matches a pattern, about: what is repeated without a bound is made up to 32 times.
fn longest(pattern: &str) -> u64 {
    // What stands in each open group, and the last thing, which a quantifier would repeat.
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
        if group > LONGEST as u64 {
            return group;
        }
        last = last.saturating_mul(times);
    }
    groups.into_iter().fold(0, u64::saturating_add)
}

/// A text of a length that is declared: what is too short is filled up, what is too long is cut.
fn fit(text: &str, least: usize, most: Option<usize>) -> String {
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

/// Texts that examples have, with something changed.
fn varied(seen: Vec<String>) -> BoxedStrategy<String> {
    let change = (0..13_usize, any::<Index>(), select(BORDERS.as_slice()));
    (select(seen), change).prop_map(|(text, (change, at, sign))| changed(&text, change, at, sign)).boxed()
}

fn changed(text: &str, change: usize, at: Index, sign: &str) -> String {
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
        // The same sign several times in a row.
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
            assert_eq!(matching(pattern, LONGEST).is_some(), may_be_made, "{pattern}");
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
