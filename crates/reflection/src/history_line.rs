//! Parses history entries that are lines of text: `grep TODO src/a.ts`.
//!
//! A line is split into words. Paths, URLs, numbers and quotations become placeholders, because
//! they differ each time. Lines that agree in all other words are the same operation. So are three
//! or more lines that differ in one further word, unless that word names the action.
//!
//! Invariant: of a repeated line only the command, if it has one, and the kinds of its placeholders
//! are used, never a value. The time is proportional to the history, of which only the last lines
//! are read.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::operation::PastOperation;
use crate::words::words;

/// The most lines that are read, from the end of the history.
const MAX_LINES: usize = 256;
/// The part of a line that is read, in bytes, and the most pieces of a line.
const MAX_LINE_BYTES: usize = 400;
const MAX_PIECES: usize = 24;
/// The number of lines that may differ in a word of any kind.
const MIN_SIMILAR_LINES: usize = 3;
/// The longest command, in characters.
const MAX_COMMAND_CHARS: usize = 32;
/// The name of a line without a command.
const UNNAMED: &str = "line";

/// A word of a line, or a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LinePiece {
    Word(String),
    /// A value that differs each time, by its kind.
    Placeholder(&'static str),
}

/// A line of the history.
struct HistoryLine {
    index: usize,
    pieces: Vec<LinePiece>,
}

/// Returns the history with repeated lines converted into operations with arguments.
pub(crate) fn normalize_history(history: &[PastOperation]) -> Cow<'_, [PastOperation]> {
    let is_line = |(_, operation): &(usize, &PastOperation)| is_line(operation);
    let lines: Vec<HistoryLine> = history
        .iter()
        .enumerate()
        .rev()
        .filter(is_line)
        .take(MAX_LINES)
        .filter_map(|(at, operation)| Some(HistoryLine { index: at, pieces: parse_pieces(&operation.name)? }))
        .collect();
    let mut found: Vec<(usize, String, Value)> = Vec::new();
    for (pieces, places) in group_lines(&lines) {
        let (name, arguments) = (command_name(&pieces), placeholder_arguments(&pieces));
        found.extend(places.into_iter().map(|at| (at, name.clone(), arguments.clone())));
    }
    if found.is_empty() {
        return Cow::Borrowed(history);
    }
    let mut history = history.to_vec();
    for (at, name, arguments) in found {
        (history[at].name, history[at].arguments) = (name, arguments);
    }
    Cow::Owned(history)
}

/// Whether an operation is a line of text: it has no arguments, and its name is not a single ASCII
/// word.
fn is_line(operation: &PastOperation) -> bool {
    let is_bare = match &operation.arguments {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    is_bare && operation.name.trim().contains(|char: char| char.is_whitespace() || !char.is_ascii())
}

/// Groups equal and similar lines. Returns the common pieces and the indices of each group; each
/// line is in at most one.
fn group_lines(lines: &[HistoryLine]) -> Vec<(Vec<LinePiece>, Vec<usize>)> {
    let mut same: HashMap<&[LinePiece], Vec<usize>> = HashMap::new();
    for line in lines {
        same.entry(&line.pieces).or_default().push(line.index);
    }
    let mut alike: HashMap<Vec<LinePiece>, Vec<usize>> = HashMap::new();
    for line in lines {
        for at in variable_positions(&line.pieces) {
            let mut pieces = line.pieces.clone();
            pieces[at] = LinePiece::Placeholder("value");
            alike.entry(pieces).or_default().push(line.index);
        }
    }
    // Of overlapping groups the largest is kept. Sorting makes the result independent of the map's
    // order.
    let mut groups: Vec<(Vec<LinePiece>, Vec<usize>)> = same
        .into_iter()
        .map(|(pieces, places)| (pieces.to_vec(), places))
        .filter(|(_, places)| places.len() > 1)
        .chain(alike.into_iter().filter(|(_, places)| places.len() >= MIN_SIMILAR_LINES))
        .collect();
    groups.sort_by(|(_, one), (_, other)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    let mut taken = std::collections::HashSet::new();
    groups.retain(|(_, places)| {
        let is_free = places.iter().all(|at| !taken.contains(at));
        taken.extend(places.iter().copied().filter(|_| is_free));
        is_free
    });
    groups
}

/// The positions of words that may differ. The first word is the command; in Japanese the last
/// three say what is done. At least two other words must be equal.
fn variable_positions(pieces: &[LinePiece]) -> impl Iterator<Item = usize> {
    let is_kana = |char: char| matches!(char, '\u{3040}'..='\u{30ff}');
    let is_japanese = pieces.iter().any(|piece| matches!(piece, LinePiece::Word(word) if word.contains(is_kana)));
    let (from, to) = if is_japanese { (0, pieces.len().saturating_sub(3)) } else { (1, pieces.len()) };
    let words = pieces.iter().filter(|piece| matches!(piece, LinePiece::Word(_))).count();
    let free = pieces.get(from..to).unwrap_or_default().iter().enumerate();
    free.filter(move |(_, piece)| words > 2 && matches!(piece, LinePiece::Word(_))).map(move |(at, _)| from + at)
}

/// Splits a line into words and placeholders; `None` if it has no word, or too many pieces.
fn parse_pieces(line: &str) -> Option<Vec<LinePiece>> {
    let line = line.trim();
    let mut rest = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let mut pieces = Vec::new();
    while let Some(first) = rest.chars().next() {
        if pieces.len() > MAX_PIECES {
            return None;
        }
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if let Some(behind) = after_quotation(rest, first) {
            pieces.push(LinePiece::Placeholder("text"));
            rest = behind;
        } else {
            // Japanese and Chinese characters may adjoin a path without a space.
            let is_plain = first.is_ascii();
            let ends =
                |char: char| char.is_whitespace() || char.is_ascii() != is_plain || closing_quote(char).is_some();
            let end = rest[first.len_utf8()..].find(ends).map_or(rest.len(), |at| at + first.len_utf8());
            let (run, behind) = rest.split_at(end);
            if is_plain {
                pieces.extend(ascii_piece(run));
            } else {
                pieces.extend(words(run).into_iter().map(|word| LinePiece::Word(word.text)));
            }
            rest = behind;
        }
    }
    let says = pieces.iter().any(|piece| matches!(piece, LinePiece::Word(_)));
    (says && pieces.len() <= MAX_PIECES).then_some(pieces)
}

/// The closing quotation mark of an opening one.
fn closing_quote(opening: char) -> Option<char> {
    Some(match opening {
        '"' => '"',
        '\'' => '\'',
        '`' => '`',
        '“' => '”',
        '‘' => '’',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        _ => return None,
    })
}

/// The text after the quotation that a text begins with.
fn after_quotation(text: &str, first: char) -> Option<&str> {
    let within = &text[first.len_utf8()..];
    let closing = closing_quote(first)?;
    within.find(closing).map(|end| &within[end + closing.len_utf8()..])
}

/// Classifies an ASCII word.
fn ascii_piece(run: &str) -> Option<LinePiece> {
    let word = run.trim_matches(|char: char| matches!(char, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"'));
    let word = word.trim_end_matches('.');
    if word.is_empty() {
        return None;
    }
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    Some(match () {
        () if word.contains("://") => LinePiece::Placeholder("url"),
        () if word.contains(['/', '\\']) || has_ending => LinePiece::Placeholder("path"),
        () if word.contains('@') => LinePiece::Placeholder("text"),
        () if word.bytes().any(|byte| byte.is_ascii_digit()) => LinePiece::Placeholder("number"),
        () => LinePiece::Word(word.to_ascii_lowercase()),
    })
}

/// The name of the operation: the command of the line.
fn command_name(pieces: &[LinePiece]) -> String {
    let is_command = |word: &&String| {
        word.len() <= MAX_COMMAND_CHARS
            && word.starts_with(|first: char| first.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    let first = match pieces.first() {
        Some(LinePiece::Word(word)) => Some(word).filter(is_command),
        _ => None,
    };
    first.map_or_else(|| UNNAMED.to_owned(), String::clone)
}

/// The placeholders as arguments: names and kinds.
fn placeholder_arguments(pieces: &[LinePiece]) -> Value {
    let mut fields = Map::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for piece in pieces {
        let LinePiece::Placeholder(kind) = piece else { continue };
        let count = counts.entry(kind).or_default();
        *count += 1;
        let name = if *count == 1 { (*kind).to_owned() } else { format!("{kind}{count}") };
        fields.insert(name, Value::from("string"));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repetition::find_repeated;

    /// Formats the repeated operations of a history.
    fn check(lines: &[&str], expect: &[&str]) {
        let line = |line: &&str| PastOperation { name: (*line).to_owned(), ..PastOperation::default() };
        let history: Vec<PastOperation> = lines.iter().map(line).collect();
        let found: Vec<String> =
            find_repeated(&history).iter().map(|one| format!("{} {} ×{}", one.name, one.shape, one.count)).collect();
        assert_eq!(found, expect, "{lines:?}");
    }

    #[test]
    fn lines_that_differ_in_a_value_are_the_same_operation() {
        check(&["grep TODO src/a.ts", "grep TODO src/b.ts"], &["grep {path: string} ×2"]);
        check(&["fetch https://a.example/1", "ls", "fetch https://b.example/2"], &["fetch {url: string} ×2"]);
        check(&["close issue #41.", "close issue #42", "close issue #43"], &["close {number: string} ×3"]);
        check(&["mail \"Ann\" the list", "mail \"Bob\" the list"], &["mail {text: string} ×2"]);
        check(&["src/a.tsでTODOを検索", "src/b.tsでTODOを検索"], &["line {path: string} ×2"]);
        check(&["「春」を要約した", "「夏」を要約した"], &["line {text: string} ×2"]);
        check(&["在 src/a.ts 中搜索 TODO", "在 src/b.ts 中搜索 TODO"], &["line {path: string} ×2"]);
        check(&["npm test", "npm test"], &["npm {} ×2"]);
    }

    #[test]
    fn three_lines_that_differ_in_one_word_are_the_same_operation() {
        check(&["resize lake photo", "resize hut photo", "resize goat photo"], &["resize {value: string} ×3"]);
        check(&["东京的天气查询", "查询北京的天气", "查询上海的天气", "查询广州的天气"], &["line {value: string} ×3"]);
        check(&["東京の天気を調べた", "大阪の天気を調べた", "京都の天気を調べた"], &["line {value: string} ×3"]);
    }

    #[test]
    fn lines_that_do_something_else_are_not_the_same() {
        check(&["grep TODO src/a.ts", "sort src/a.ts", "git commit -m fix"], &[]);
        check(&["read the file", "write the file", "delete the file"], &[]);
        check(&["open the door", "open the shop"], &[]);
        check(&["設定を読んだ", "設定を書いた", "設定を消した"], &[]);
        check(&["src/a.ts", "src/b.ts"], &[]);
        check(&["42 7", "41 8"], &[]);
        check(&["run_dynamic_tool a.json", "run_dynamic_tool b.json"], &[]);
    }

    #[test]
    fn no_value_of_a_line_is_taken_over() {
        let line = |at: u32| PastOperation {
            name: format!("curl -H 'Bearer sk-secret' https://x.example/{at}"),
            ..PastOperation::default()
        };
        let history = [line(1), line(2)];
        let understood = normalize_history(&history);
        assert!(!format!("{understood:?}").contains("secret"), "{understood:?}");
    }
}
