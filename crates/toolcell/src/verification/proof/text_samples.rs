//! Selects realistic texts by hints: dates, addresses, tables, logs, sentences.
//!
//! Invariant: each kind draws from a small set, so that values recur: a word in a text and in a
//! list, a name in two records. A hint is a word in the name or description of a parameter, in the
//! languages of those.

use proptest::prelude::*;
use proptest::sample::select;

use super::strategies::{Hint, WeightedStrategy, weighted_union};
use super::text_kinds::{TEXT_KINDS, TextKind};

/// Names of fields: few, so that one parameter names a field of another.
const FIELD_NAMES: [&str; 5] = ["a", "b", "id", "name", "age"];

/// Ordinary words in several scripts; some differ only in case, or in the order of two letters.
pub(super) const WORDS: [&str; 24] = [
    "a", "b", "c", "ab", "ba", "x", "id", "name", "age", "value", "date", "Anna", "anna", "Bob", "the", "cat", "dog",
    "Dog", "red", "blue", "東京", "日本", "中国", "é",
];

/// Hints that match every text, and count little beside other hints.
const GENERAL_HINTS: [&str; 3] = ["text", "list", "文"];
/// Hints at the topic of a whole tool.
const TOPIC_HINTS: [&str; 44] = [
    "csv",
    "tsv",
    "ini",
    "markdown",
    "log",
    "json",
    "isbn",
    "luhn",
    "card",
    "iban",
    "colour",
    "color",
    "hex",
    "url",
    "mail",
    "version",
    "semver",
    "template",
    "roman",
    "currency",
    "date",
    "timestamp",
    "chinese",
    "japanese",
    "日本",
    "duration",
    "query",
    "ip",
    "cidr",
    "バージョン",
    "版本",
    "色",
    "颜色",
    "日付",
    "日期",
    "通貨",
    "货币",
    "模板",
    "雛形",
    "メール",
    "邮箱",
    "ログ",
    "日志",
    "設定",
];

/// Returns the strategy for texts of the hinted kinds and of any kind. Hints in the parameter's
/// name weigh most, then those in its description, then those in the tool's topic.
pub(super) fn text_strategy(hint: Hint<'_>) -> BoxedStrategy<String> {
    let small = weighted_union(vec![
        (2, "-?(a|b|id|name|age)".boxed()),
        (2, select(WORDS.as_slice()).prop_map(str::to_owned).boxed()),
        (1, "-?[abc]{0,5}".boxed()),
    ]);
    let is_general = |word: &str| GENERAL_HINTS.contains(&word);
    let special = |text: &str| hinted_kinds(text, |word| !is_general(word));
    let (named, said, topic) =
        (special(hint.name), special(hint.description), hinted_kinds(hint.topic, |word| TOPIC_HINTS.contains(&word)));
    let general = [hinted_kinds(hint.name, is_general), hinted_kinds(hint.description, is_general)].concat();
    let all = [(12, named), (5, said), (2, topic), (2, general)];
    let mut choices: Vec<WeightedStrategy<String>> = Vec::new();
    for (often, kinds) in all {
        choices.extend((!kinds.is_empty()).then(|| (often, weighted_union(kinds))));
    }
    if choices.is_empty() {
        let every = weighted_union(TEXT_KINDS.iter().filter_map(|kind| Some((1, kind.strategy()?))).collect());
        // Without a hint, an empty text shows little.
        choices.push((2, every.prop_map(|text| if text.is_empty() { "a".to_owned() } else { text }).boxed()));
    }
    choices.push((1, small));
    weighted_union(choices)
}

/// Returns the kinds that a name or description hints at, by the hints that `counts` admits.
fn hinted_kinds(hint: &str, counts: impl Fn(&str) -> bool) -> Vec<WeightedStrategy<String>> {
    let (whole, hint) = (split_words(hint), hint.to_lowercase());
    let is_hinted = |kind: &&TextKind| {
        // A short ASCII hint has to be a whole word.
        kind.hints.iter().filter(|word| counts(word)).any(|word| {
            if word.len() < 5 && word.is_ascii() { whole.iter().any(|part| part == word) } else { hint.contains(word) }
        })
    };
    TEXT_KINDS.iter().filter(is_hinted).filter_map(|kind| Some((1, kind.strategy()?))).collect()
}

/// Returns the strategy for field names of open objects.
pub(super) fn field_name_strategy(hint: Hint<'_>) -> BoxedStrategy<String> {
    let known = select(FIELD_NAMES.as_slice()).prop_map(str::to_owned).boxed();
    let often = if hinted_kinds(hint.description, |_| true).is_empty() { (3, 2) } else { (1, 6) };
    let texts = text_strategy(Hint { name: hint.description, description: "", ..hint });
    weighted_union(vec![(often.0, known), (often.1, texts)])
}

/// Splits a name or description into words.
fn split_words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for sign in text.chars() {
        if sign.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(sign.to_lowercase());
    }
    spaced.split(|sign: char| !sign.is_alphanumeric()).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns whether a field with this name holds a known kind of text.
pub(super) fn is_text(name: &str) -> bool {
    !hinted_kinds(name, |_| true).is_empty()
}

/// Returns whether a value with this name is a count, so that it is an integer.
pub(super) fn is_count(name: &str) -> bool {
    const COUNTED: [&str; 32] = [
        "count", "page", "pages", "size", "limit", "length", "width", "n", "k", "days", "months", "years", "year",
        "month", "day", "index", "offset", "depth", "level", "times", "places", "digits", "decimals", "people",
        "quantity", "qty", "window", "step", "steps", "items", "chunk", "columns",
    ];
    split_words(name).iter().any(|part| COUNTED.contains(&part.as_str()))
}

/// Returns whether a field with this name holds numbers.
pub(super) fn is_number(name: &str) -> bool {
    const NUMBERS: [&str; 31] = [
        "amount", "price", "value", "count", "quantity", "qty", "age", "size", "total", "rate", "score", "min", "max",
        "width", "height", "weight", "number", "percent", "tax", "cost", "level", "year", "month", "hours", "minutes",
        "seconds", "points", "x", "y", "lat", "salary",
    ];
    let name = name.to_lowercase();
    NUMBERS.iter().any(|known| if known.len() < 3 { name == *known } else { name.contains(known) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_fields_hold() {
        for (name, number, counted, text) in [
            ("price", true, false, true),
            ("pageSize", true, true, false),
            ("limit", false, true, false),
            ("start", false, false, true),
            ("busy", false, false, false),
        ] {
            assert_eq!((is_number(name), is_count(name), is_text(name)), (number, counted, text), "{name}");
        }
    }

    #[test]
    fn a_hint_at_any_text_counts_where_there_is_no_other() {
        let kinds = |text: &str| hinted_kinds(text, |word| !GENERAL_HINTS.contains(&word)).len();
        assert_eq!((kinds("text"), kinds("ini text"), kinds("csv or ini")), (0, 1, 2));
    }
}
