//! Reads a task: its words, and which sentence and part of a sentence each of them stands in.
//!
//! Invariant: every place in the normalised text leads back to a place in the text as it was handed in, so that evidence
//! is told in the author's own words. What is quoted is marked: it is mentioned, not meant.

use crate::dictionary::segmenter;
use crate::words::{Folded, folded};

/// A word of a task, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    /// Where it begins in the normalised text, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// The number of its sentence.
    pub(crate) sentence: usize,
    /// The number of its part, counted through the whole text.
    pub(crate) part: usize,
    /// Whether it stands between quotation marks.
    pub(crate) quoted: bool,
    /// Whether it is a method of HTTP, in capitals.
    pub(crate) method: bool,
    /// Whether it is written as a program's names are: `checkSum`.
    pub(crate) identifier: bool,
}

/// The language of a text, as far as its grammar matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// English, Thai, or whatever says `not` before what it denies.
    Western,
    /// Japanese: the verb comes last.
    Japanese,
    /// Chinese.
    Chinese,
}

/// A task that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    folded: Folded,
    tokens: Vec<Token>,
    tongue: Tongue,
}

/// Methods of HTTP, as they are written.
const METHODS: [&str; 6] = ["GET", "POST", "POSTing", "PUT", "PATCH", "DELETE"];

/// What a sign does to the sentence that it stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    Sentence,
    Part,
}

impl Reading {
    /// Reads a text, as far as texts are read.
    pub(crate) fn new(text: &str) -> Self {
        let folded = folded(text);
        let mut tokens = tokens(folded.text());
        for token in &mut tokens {
            let (from, to) = (folded.place(token.start), folded.place(token.end));
            token.method = text.get(from..to).is_some_and(|word| METHODS.contains(&word));
            token.identifier = text.get(from..to).is_some_and(is_identifier);
        }
        let tongue = tongue(folded.text(), &tokens);
        Self { folded, tokens, tongue }
    }

    /// The normalised text.
    pub(crate) fn text(&self) -> &str {
        self.folded.text()
    }

    /// The language.
    pub(crate) fn tongue(&self) -> Tongue {
        self.tongue
    }

    /// The words, in order.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A word.
    pub(crate) fn word(&self, token: &Token) -> &str {
        &self.text()[token.start..token.end]
    }

    /// What stands between two places of the normalised text, as the author wrote it.
    pub(crate) fn original<'a>(&self, text: &'a str, start: usize, end: usize) -> &'a str {
        let (from, to) = (self.folded.place(start), self.folded.place(end));
        text.get(from..to).unwrap_or_default().trim()
    }

    /// The first word that begins at a place or behind it.
    pub(crate) fn at_or_behind(&self, place: usize) -> usize {
        self.tokens.partition_point(|token| token.start < place)
    }
}

/// Kana make a text Japanese, other ideographs Chinese, unless they are few among letters.
fn tongue(text: &str, tokens: &[Token]) -> Tongue {
    let (mut kana, mut han, mut letters) = (0_usize, 0_usize, 0_usize);
    for char in tokens.iter().filter(|token| !token.quoted).flat_map(|token| text[token.start..token.end].chars()) {
        match char {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => han += 1,
            _ => letters += 1,
        }
    }
    match (kana, han) {
        _ if (kana + han) * 8 < letters || kana + han == 0 => Tongue::Western,
        _ if kana * 10 >= han => Tongue::Japanese,
        // What is written in ideographs alone is Japanese where its letters or its words are.
        _ if kana == 0 && is_japanese(text) => Tongue::Japanese,
        _ => Tongue::Chinese,
    }
}

/// Letters that Japanese has and Chinese does not.
pub(crate) const JAPANESE_LETTERS: &str = "変検証処価発図関録読歴実帳収抜総対応売単圧査検込働円覧様覚転効気済続労";
/// Words that Japanese has, of letters that both have.
const JAPANESE_WORDS: [&str; 8] = ["集計", "月次", "日次", "週次", "年次", "整形", "突合", "照合"];

fn is_japanese(text: &str) -> bool {
    text.chars().any(|letter| JAPANESE_LETTERS.contains(letter))
        || JAPANESE_WORDS.iter().any(|word| text.contains(word))
}

fn tokens(text: &str) -> Vec<Token> {
    let marked = quotes(text);
    let is_inside = |place: usize| {
        let behind = marked.partition_point(|(start, _)| *start <= place);
        behind > 0 && place < marked[behind - 1].1
    };
    let segmenter = segmenter();
    let (mut start, mut sentence, mut part) = (0, 0, 0);
    let mut tokens: Vec<Token> = Vec::new();
    for (end, kind) in segmenter.segment_str(text).iter_with_word_type() {
        let piece = &text[start..end];
        let quoted = is_inside(start);
        if kind.is_word_like() {
            if opens_part(piece) {
                part += 1;
            }
            tokens.push(Token { start, end, sentence, part, quoted, method: false, identifier: false });
        } else if !quoted {
            match break_at(piece, &text[..start], &text[end..]) {
                Some(Break::Sentence) => (sentence, part) = (sentence + 1, part + 1),
                Some(Break::Part) => part += 1,
                None => {}
            }
        }
        start = end;
    }
    tokens
}

/// Whether a small letter stands before a capital one.
fn is_identifier(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Words that begin a part of their own.
fn opens_part(word: &str) -> bool {
    matches!(word, "but" | "so" | "because" | "although" | "though" | "while" | "但" | "但是" | "不过")
}

fn break_at(piece: &str, before: &str, behind: &str) -> Option<Break> {
    let ends_word = behind.chars().next().is_none_or(|next| !next.is_alphanumeric());
    let is_number =
        before.ends_with(|last: char| last.is_ascii_digit()) && behind.starts_with(|next: char| next.is_ascii_digit());
    match piece.chars().next()? {
        '。' | '！' | '？' | '!' | '?' | ';' | '；' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => {
            Some(Break::Sentence)
        }
        '.' if ends_word => Some(Break::Sentence),
        ',' | ':' if !is_number && !behind.starts_with('/') => Some(Break::Part),
        '、' | '，' | '：' | '—' | '–' | '(' | ')' | '（' | '）' | '…' => Some(Break::Part),
        _ => None,
    }
}

/// How long a quotation is looked for, in bytes.
const QUOTE_LIMIT: usize = 400;

/// What stands between quotation marks: their places, in order. A text that is a quotation as a whole is none.
fn quotes(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let previous = std::mem::replace(&mut before, char);
        if at < from {
            continue;
        }
        let Some(close) = closing(char, previous) else { continue };
        let inside = at + char.len_utf8();
        let limit = text.floor_char_boundary(inside.saturating_add(QUOTE_LIMIT));
        let end = text[inside..limit].char_indices().find(|(place, other)| {
            let next = text[inside + place + other.len_utf8()..].chars().next();
            *other == close && (close != '\'' || next.is_none_or(|next| !next.is_alphanumeric()))
        });
        if let Some((length, _)) = end {
            found.push((inside, inside + length));
            from = inside + length + close.len_utf8();
        }
    }
    let quoted: usize = found.iter().map(|(start, end)| end - start).sum();
    if quoted * 5 > text.trim().len() * 4 { Vec::new() } else { found }
}

fn closing(open: char, previous: char) -> Option<char> {
    match open {
        '「' => Some('」'),
        '『' => Some('』'),
        '《' => Some('》'),
        '“' => Some('”'),
        '‘' => Some('\''),
        '\'' if !previous.is_alphanumeric() => Some('\''),
        '"' => Some('"'),
        '`' => Some('`'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let reading = Reading::new(text);
        let mut told = String::new();
        let mut last = (0, 0);
        for token in reading.tokens() {
            let sign = match (token.sentence == last.0, token.part == last.1) {
                _ if told.is_empty() => "",
                (true, true) => " ",
                (true, false) => ", ",
                (false, _) => ". ",
            };
            told.push_str(sign);
            let word = reading.word(token);
            let (open, close) = if token.quoted { ("<", ">") } else { ("", "") };
            told.extend([open, word, close]);
            last = (token.sentence, token.part);
        }
        assert_eq!(told, expect);
    }

    #[test]
    fn sentences_have_parts_and_numbers_have_none() {
        check("Sum 1,000 rows of a.csv, then stop. Go on!", "sum 1,000 rows of a.csv, then stop. go on");
        check("変換は不要、色だけ。", "変換 は 不要, 色 だけ");
        check("不用转，只要合计：１，０００", "不用 转, 只要 合计, 1,000");
    }

    #[test]
    fn what_is_quoted_is_marked() {
        check("rename `check it` to 'sum'", "rename <check> <it> to <sum>");
        check("don't take Bob's 'a. b'", "don't take bob's <a>. <b>".replace(". ", " ").as_str());
        check("「変換」を消す", "<変換> を 消す");
        check("“convert this to JSON, please”", "convert this to json, please");
    }

    #[test]
    fn evidence_is_told_as_it_stood() {
        let text = "ＣＳＶを ﾊﾟｰｽ する";
        let reading = Reading::new(text);
        let token = reading.tokens()[2];
        assert_eq!(reading.word(&token), "パース");
        assert_eq!(reading.original(text, token.start, token.end), "ﾊﾟｰｽ");
    }
}
