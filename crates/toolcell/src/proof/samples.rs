//! Texts as people have them: dates, addresses, tables, logs, sentences.
//!
//! Invariant: each kind is drawn from a small stock, so that things meet again: a word in a text and in a list, a name in two
//! records. A hint is a word in the name or the description of a parameter, in the languages that those are written in.

use proptest::prelude::*;
use proptest::sample::select;

use super::inputs::{Choice, Hint, any_of};
use super::kinds::{KINDS, Kind};

/// Names of fields: few, so that one parameter names what is in another.
const FIELDS: [&str; 5] = ["a", "b", "id", "name", "age"];

/// Ordinary words, in the scripts that tools meet; some differ only in case, or in the order of two letters.
pub(super) const WORDS: [&str; 24] = [
    "a", "b", "c", "ab", "ba", "x", "id", "name", "age", "value", "date", "Anna", "anna", "Bob", "the", "cat", "dog",
    "Dog", "red", "blue", "東京", "日本", "中国", "é",
];

/// What every text is: a hint at it says little where there is another.
const GENERAL: [&str; 3] = ["text", "list", "文"];
/// Hints that say what a whole tool is about.
const TOPICS: [&str; 44] = [
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

/// Texts of the kinds that are hinted at, and of any kind. What the name of a parameter hints at counts most, then what is said
/// about it, then what the tool is about.
pub(super) fn texts(hint: Hint<'_>) -> BoxedStrategy<String> {
    let small = any_of(vec![
        (2, "-?(a|b|id|name|age)".boxed()),
        (2, select(WORDS.as_slice()).prop_map(str::to_owned).boxed()),
        (1, "-?[abc]{0,5}".boxed()),
    ]);
    let is_general = |word: &str| GENERAL.contains(&word);
    let special = |text: &str| hinted(text, |word| !is_general(word));
    let (named, said, topic) =
        (special(hint.name), special(hint.about), hinted(hint.topic, |word| TOPICS.contains(&word)));
    let general = [hinted(hint.name, is_general), hinted(hint.about, is_general)].concat();
    let all = [(12, named), (5, said), (2, topic), (2, general)];
    let mut choices: Vec<Choice<String>> = Vec::new();
    for (often, kinds) in all {
        choices.extend((!kinds.is_empty()).then(|| (often, any_of(kinds))));
    }
    if choices.is_empty() {
        let every = any_of(KINDS.iter().filter_map(|kind| Some((1, kind.texts()?))).collect());
        // Where nothing is expected of it, an empty text says little.
        choices.push((2, every.prop_map(|text| if text.is_empty() { "a".to_owned() } else { text }).boxed()));
    }
    choices.push((1, small));
    any_of(choices)
}

/// The kinds that a name or a description hints at, by words that count.
fn hinted(hint: &str, counts: impl Fn(&str) -> bool) -> Vec<Choice<String>> {
    let (whole, hint) = (parts(hint), hint.to_lowercase());
    let is_hinted = |kind: &&Kind| {
        // A short word is only one by itself.
        kind.hints.iter().filter(|word| counts(word)).any(|word| {
            if word.len() < 5 && word.is_ascii() { whole.iter().any(|part| part == word) } else { hint.contains(word) }
        })
    };
    KINDS.iter().filter(is_hinted).filter_map(|kind| Some((1, kind.texts()?))).collect()
}

/// Names of the fields of objects that have any.
pub(super) fn fields(hint: Hint<'_>) -> BoxedStrategy<String> {
    let known = select(FIELDS.as_slice()).prop_map(str::to_owned).boxed();
    let often = if hinted(hint.about, |_| true).is_empty() { (3, 2) } else { (1, 6) };
    let texts = texts(Hint { name: hint.about, about: "", ..hint });
    any_of(vec![(often.0, known), (often.1, texts)])
}

/// The words of a name or a description.
fn parts(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for sign in text.chars() {
        if sign.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(sign.to_lowercase());
    }
    spaced.split(|sign: char| !sign.is_alphanumeric()).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whether a field of this name holds texts of some kind.
pub(super) fn is_text(name: &str) -> bool {
    !hinted(name, |_| true).is_empty()
}

/// Whether what has this name is counted, so that it is whole.
pub(super) fn is_counted(name: &str) -> bool {
    const COUNTED: [&str; 32] = [
        "count", "page", "pages", "size", "limit", "length", "width", "n", "k", "days", "months", "years", "year",
        "month", "day", "index", "offset", "depth", "level", "times", "places", "digits", "decimals", "people",
        "quantity", "qty", "window", "step", "steps", "items", "chunk", "columns",
    ];
    parts(name).iter().any(|part| COUNTED.contains(&part.as_str()))
}

/// Whether a field of this name holds numbers.
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
            assert_eq!((is_number(name), is_counted(name), is_text(name)), (number, counted, text), "{name}");
        }
    }

    #[test]
    fn a_hint_at_any_text_counts_where_there_is_no_other() {
        let kinds = |text: &str| hinted(text, |word| !GENERAL.contains(&word)).len();
        assert_eq!((kinds("text"), kinds("ini text"), kinds("csv or ini")), (0, 1, 2));
    }
}
