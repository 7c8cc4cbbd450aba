//! What was done before, where the history says it as a line of text: `grep TODO src/a.ts`.
//!
//! A line is taken apart into words, of which some stand for what differs each time: paths, addresses, numbers, quotations.
//! Lines that agree in all other words are the same operation. So are three and more that differ in one word, where that
//! is not the word that says what is done.
//!
//! Invariant: of a line that is repeated, the first word is taken over if it is a command, and the kinds of what differs;
//! never a value. The time grows with the history, of which the last lines are read.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::operation::Operation;
use crate::words::words;

/// How many lines are read, the last ones.
const LINES: usize = 256;
/// How much of a line is read, in bytes, and how many words it may have.
const LINE_LIMIT: usize = 400;
const PIECES_LIMIT: usize = 24;
/// How often lines are there that differ in a word which may be anything.
const ALIKE: usize = 3;
/// The longest command, in characters.
const COMMAND_LIMIT: usize = 32;
/// What a line is called that begins with no command.
const UNNAMED: &str = "line";

/// A word of a line, or what stands for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece {
    Word(String),
    /// Something that differs each time, by its kind.
    Open(&'static str),
}

/// A line of the history.
struct Line {
    at: usize,
    pieces: Vec<Piece>,
}

/// The history, with lines that were repeated as operations with arguments.
pub(crate) fn understood(history: &[Operation]) -> Cow<'_, [Operation]> {
    let is_line = |(_, operation): &(usize, &Operation)| is_line(operation);
    let lines: Vec<Line> = history
        .iter()
        .enumerate()
        .rev()
        .filter(is_line)
        .take(LINES)
        .filter_map(|(at, operation)| Some(Line { at, pieces: pieces(&operation.name)? }))
        .collect();
    let mut found: Vec<(usize, String, Value)> = Vec::new();
    for (pieces, places) in groups(&lines) {
        let (name, arguments) = (name(&pieces), arguments(&pieces));
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

/// Whether an operation is a line of text: it has no arguments, and its name is more than a name.
fn is_line(operation: &Operation) -> bool {
    let is_bare = match &operation.arguments {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    is_bare && operation.name.trim().contains(|char: char| char.is_whitespace() || !char.is_ascii())
}

/// Lines that are the same, by what they have in common, and their places. Each line is in one group.
fn groups(lines: &[Line]) -> Vec<(Vec<Piece>, Vec<usize>)> {
    let mut same: HashMap<&[Piece], Vec<usize>> = HashMap::new();
    for line in lines {
        same.entry(&line.pieces).or_default().push(line.at);
    }
    let mut alike: HashMap<Vec<Piece>, Vec<usize>> = HashMap::new();
    for line in lines {
        for at in free(&line.pieces) {
            let mut pieces = line.pieces.clone();
            pieces[at] = Piece::Open("value");
            alike.entry(pieces).or_default().push(line.at);
        }
    }
    // Of groups that share lines, the largest; the order of a map decides nothing.
    let mut groups: Vec<(Vec<Piece>, Vec<usize>)> = same
        .into_iter()
        .map(|(pieces, places)| (pieces.to_vec(), places))
        .filter(|(_, places)| places.len() > 1)
        .chain(alike.into_iter().filter(|(_, places)| places.len() >= ALIKE))
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

/// The words of a line that may differ: not the first one, which is the command, nor in Japanese those at the end, which
/// say what is done; and at least two others must stay.
fn free(pieces: &[Piece]) -> impl Iterator<Item = usize> {
    let is_kana = |char: char| matches!(char, '\u{3040}'..='\u{30ff}');
    let is_japanese = pieces.iter().any(|piece| matches!(piece, Piece::Word(word) if word.contains(is_kana)));
    let (from, to) = if is_japanese { (0, pieces.len().saturating_sub(3)) } else { (1, pieces.len()) };
    let words = pieces.iter().filter(|piece| matches!(piece, Piece::Word(_))).count();
    let free = pieces.get(from..to).unwrap_or_default().iter().enumerate();
    free.filter(move |(_, piece)| words > 2 && matches!(piece, Piece::Word(_))).map(move |(at, _)| from + at)
}

/// The words of a line, and what stands for those that differ each time; nothing where there is no word, or too many.
fn pieces(line: &str) -> Option<Vec<Piece>> {
    let line = line.trim();
    let mut rest = &line[..line.floor_char_boundary(LINE_LIMIT)];
    let mut pieces = Vec::new();
    while let Some(first) = rest.chars().next() {
        if pieces.len() > PIECES_LIMIT {
            return None;
        }
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if let Some(behind) = quoted(rest, first) {
            pieces.push(Piece::Open("text"));
            rest = behind;
        } else {
            // Letters of Japanese and Chinese stand beside a path without a blank between them.
            let is_plain = first.is_ascii();
            let ends = |char: char| char.is_whitespace() || char.is_ascii() != is_plain || closing(char).is_some();
            let end = rest[first.len_utf8()..].find(ends).map_or(rest.len(), |at| at + first.len_utf8());
            let (run, behind) = rest.split_at(end);
            if is_plain {
                pieces.extend(plain(run));
            } else {
                pieces.extend(words(run).into_iter().map(|word| Piece::Word(word.text)));
            }
            rest = behind;
        }
    }
    let says = pieces.iter().any(|piece| matches!(piece, Piece::Word(_)));
    (says && pieces.len() <= PIECES_LIMIT).then_some(pieces)
}

/// The sign that ends what this sign begins.
fn closing(opening: char) -> Option<char> {
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

/// What stands behind a quotation that a text begins with.
fn quoted(text: &str, first: char) -> Option<&str> {
    let within = &text[first.len_utf8()..];
    let closing = closing(first)?;
    within.find(closing).map(|end| &within[end + closing.len_utf8()..])
}

/// A word of ASCII, or what stands for it.
fn plain(run: &str) -> Option<Piece> {
    let word = run.trim_matches(|char: char| matches!(char, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"'));
    let word = word.trim_end_matches('.');
    if word.is_empty() {
        return None;
    }
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    Some(match () {
        () if word.contains("://") => Piece::Open("url"),
        () if word.contains(['/', '\\']) || has_ending => Piece::Open("path"),
        () if word.contains('@') => Piece::Open("text"),
        () if word.bytes().any(|byte| byte.is_ascii_digit()) => Piece::Open("number"),
        () => Piece::Word(word.to_ascii_lowercase()),
    })
}

/// What a line does: its command.
fn name(pieces: &[Piece]) -> String {
    let is_command = |word: &&String| {
        word.len() <= COMMAND_LIMIT
            && word.starts_with(|first: char| first.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    let first = match pieces.first() {
        Some(Piece::Word(word)) => Some(word).filter(is_command),
        _ => None,
    };
    first.map_or_else(|| UNNAMED.to_owned(), String::clone)
}

/// What a line was given, as names and kinds.
fn arguments(pieces: &[Piece]) -> Value {
    let mut fields = Map::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for piece in pieces {
        let Piece::Open(kind) = piece else { continue };
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
    use crate::operation::repeated;

    /// How often the most frequent operation was done, and what it is.
    fn check(lines: &[&str], expect: &[&str]) {
        let line = |line: &&str| Operation { name: (*line).to_owned(), ..Operation::default() };
        let history: Vec<Operation> = lines.iter().map(line).collect();
        let found: Vec<String> =
            repeated(&history).iter().map(|one| format!("{} {} ×{}", one.name, one.shape, one.count)).collect();
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
        let line = |at: u32| Operation {
            name: format!("curl -H 'Bearer sk-secret' https://x.example/{at}"),
            ..Operation::default()
        };
        let history = [line(1), line(2)];
        let understood = understood(&history);
        assert!(!format!("{understood:?}").contains("secret"), "{understood:?}");
    }
}
