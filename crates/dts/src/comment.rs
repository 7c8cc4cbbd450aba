//! Comments: descriptions of a schema's author, and what TypeScript has no type for, such as a range.
//!
//! Invariant: a comment is one line that nothing in it ends, of bounded length, without characters
//! that are not displayed.

use serde_json::Value;
use unicode_general_category::{GeneralCategory, get_general_category};

/// The maximum length of a default value, a pattern or a format in a comment, in characters.
const MAX_LIMIT_CHARS: usize = 60;

/// The maximum length of a first sentence in characters.
const MAX_SENTENCE_CHARS: usize = 160;

/// Words with a full stop that ends no sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "incl."];

/// Returns the first sentence of a description, on one line and without characters that are not displayed.
///
/// # Examples
/// ```
/// assert_eq!(toolcell_dts::first_sentence("Creates an issue, e.g. a bug.\nNeeds `repo`."), "Creates an issue, e.g. a bug.");
/// ```
#[must_use]
pub fn first_sentence(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    // One more, so that a longer text is cut as one.
    let text: String = displayed(paragraph).chars().take(MAX_SENTENCE_CHARS + 1).collect();
    let mut end = text.len();
    for (at, char) in text.char_indices() {
        let next = at + char.len_utf8();
        let is_last_of_word = text[next..].starts_with(' ');
        let word = text[..next].rsplit(' ').next().unwrap_or_default().trim_start_matches('(');
        let ends = match char {
            // Not the number of a list's first item.
            '.' if text[..at].chars().all(|char| char.is_ascii_digit()) => false,
            '.' => is_last_of_word && !ABBREVIATIONS.iter().any(|one| one.eq_ignore_ascii_case(word)),
            '!' | '?' => is_last_of_word,
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            end = next;
            break;
        }
    }
    cut(&text[..end], MAX_SENTENCE_CHARS)
}

/// Returns the comment for a description of at most this many characters, and the limits of a schema.
/// `None` if there is nothing to say.
pub(crate) fn comment(description: &str, limits: &[String], max_chars: usize) -> Option<String> {
    let mut text = cut(&displayed(description), max_chars);
    if !limits.is_empty() {
        let limits = limits.join(", ");
        text = if text.is_empty() { limits } else { format!("{text} ({limits})") };
    }
    // A compiler obeys `@ts-ignore` and the like.
    (!text.is_empty()).then(|| text.replace("*/", "*\\/").replace("@ts-", "@ ts-"))
}

/// Returns what a schema demands of a value beyond its type.
pub(crate) fn limits(schema: &Value) -> Vec<String> {
    let mut limits = Vec::new();
    let number = |key: &str| schema.get(key).filter(|value| value.is_number() && !is_limit_of_numbers(value));
    // In draft 4, these are true or false, and change the others.
    let is_exclusive = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let (above, below) = (is_exclusive("exclusiveMinimum"), is_exclusive("exclusiveMaximum"));
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) if !above && !below => limits.push(format!("{min} to {max}")),
        (min, max) => {
            limits.extend(min.map(|min| format!("{} {min}", if above { "above" } else { "at least" })));
            limits.extend(max.map(|max| format!("{} {max}", if below { "below" } else { "at most" })));
        }
    }
    limits.extend(number("exclusiveMinimum").map(|min| format!("above {min}")));
    limits.extend(number("exclusiveMaximum").map(|max| format!("below {max}")));
    limits.extend(number("multipleOf").map(|of| format!("multiple of {of}")));
    for (min, max, unit) in [
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "properties"),
    ] {
        // A text or a list that is not empty is what everybody expects.
        let min = number(min).and_then(Value::as_u64).filter(|min| *min > 1);
        match (min, number(max).and_then(Value::as_u64)) {
            (Some(min), Some(max)) if min == max => limits.push(format!("{min} {unit}")),
            (Some(min), Some(max)) => limits.push(format!("{min} to {max} {unit}")),
            (Some(min), None) => limits.push(format!("at least {min} {unit}")),
            // Limits against abuse are of no use to a caller.
            (None, Some(max)) if max < 100_000 => limits.push(format!("at most {max} {unit}")),
            (None, _) => {}
        }
    }
    // A text that cannot be shown as it is would be another one.
    let shown = |text: &str| Some(displayed(text)).filter(|shown| is_short(shown) && shown == text);
    let text = |key: &str| schema.get(key).and_then(Value::as_str).and_then(shown);
    limits.extend(text("format").filter(|format| !format.is_empty()));
    limits.extend(text("pattern").map(|pattern| format!("matches {pattern}")));
    let default = schema.get("default").and_then(|default| shown(&default.to_string()));
    limits.extend(default.map(|default| format!("default {default}")));
    limits
}

/// Returns whether a limit is that of the integers that JavaScript's numbers represent exactly, which generators of
/// schemas add to each integer.
fn is_limit_of_numbers(limit: &Value) -> bool {
    limit.as_i64().is_some_and(|limit| limit.unsigned_abs() >= (1 << 53) - 1)
}

fn is_short(text: &str) -> bool {
    text.chars().nth(MAX_LIMIT_CHARS).is_none()
}

/// Returns a text on one line, with single spaces, and without what is not displayed.
fn displayed(text: &str) -> String {
    let visible: String = text.chars().filter(|char| char.is_whitespace() || !is_hidden(*char)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is not displayed, or changes the order in which others are: with
/// such characters, a text looks like another one.
pub(crate) fn is_hidden(char: char) -> bool {
    use GeneralCategory as Category;
    let category = get_general_category(char);
    matches!(
        category,
        Category::Control
            | Category::Format
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::PrivateUse
            | Category::Unassigned
    ) || matches!(
        char,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Cuts a text of one line to at most this many characters, after a sentence if most of the text is kept, else after a word.
fn cut(text: &str, max_chars: usize) -> String {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let kept = &text[..limit];
    if let Some(end) = kept.rfind(". ")
        && end > limit / 2
    {
        return kept[..=end].to_owned();
    }
    let end = kept.rfind(' ').filter(|end| *end > limit / 2).unwrap_or_else(|| {
        // Room for the ellipsis.
        kept.char_indices().next_back().map_or(0, |(at, _)| at)
    });
    format!("{}…", kept[..end].trim_end_matches([' ', ',', ';', ':']))
}
