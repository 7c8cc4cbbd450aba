//! Tokenizes a task: its words, with the clause and the sentence of each.
//!
//! Invariant: every offset in the normalised text maps to an offset in the original text, so that
//! evidence quotes the author's own words. Quoted words are marked: they are mentioned, not used.

use crate::dictionary::segmenter;
use crate::words::{NormalizedText, normalize};

/// A word of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its start in the normalised text, in bytes.
    pub(crate) start: usize,
    /// Its end in the normalised text, in bytes.
    pub(crate) end: usize,
    /// The index of its sentence.
    pub(crate) sentence: usize,
    /// The index of its clause in the whole text.
    pub(crate) clause: usize,
    /// Whether it is inside quotation marks.
    pub(crate) is_quoted: bool,
    /// Whether it is an HTTP method in capitals.
    pub(crate) is_http_method: bool,
    /// Whether it is written like an identifier in a program: `checkSum`.
    pub(crate) is_identifier: bool,
}

/// The grammar of a text, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrammarFamily {
    /// English, Thai, and other languages whose negation precedes the verb.
    Western,
    /// Japanese: the verb comes last.
    Japanese,
    /// Chinese.
    Chinese,
}

/// A tokenized task.
#[derive(Debug)]
pub(crate) struct TokenizedTask {
    folded: NormalizedText,
    tokens: Vec<Token>,
    grammar: GrammarFamily,
}

/// HTTP methods, as they are written.
const METHODS: [&str; 6] = ["GET", "POST", "POSTing", "PUT", "PATCH", "DELETE"];

/// The boundary that a punctuation mark makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    Sentence,
    Clause,
}

impl TokenizedTask {
    /// Tokenizes a text, as far as texts are read.
    pub(crate) fn new(text: &str) -> Self {
        let folded = normalize(text);
        let mut tokens = tokens(folded.text());
        for token in &mut tokens {
            let (from, to) = (folded.original_offset(token.start), folded.original_offset(token.end));
            token.is_http_method = text.get(from..to).is_some_and(|word| METHODS.contains(&word));
            token.is_identifier = text.get(from..to).is_some_and(is_identifier);
        }
        let tongue = detect_grammar(folded.text(), &tokens);
        Self { folded, tokens, grammar: tongue }
    }

    /// The normalised text.
    pub(crate) fn text(&self) -> &str {
        self.folded.text()
    }

    /// The grammar of the text.
    pub(crate) fn grammar(&self) -> GrammarFamily {
        self.grammar
    }

    /// The words, in order.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The normalised text of a word.
    pub(crate) fn word(&self, token: &Token) -> &str {
        &self.text()[token.start..token.end]
    }

    /// The original text between two offsets of the normalised text.
    pub(crate) fn original<'a>(&self, text: &'a str, start: usize, end: usize) -> &'a str {
        let (from, to) = (self.folded.original_offset(start), self.folded.original_offset(end));
        text.get(from..to).unwrap_or_default().trim()
    }

    /// The index of the first token at or after an offset.
    pub(crate) fn token_at_or_after(&self, place: usize) -> usize {
        self.tokens.partition_point(|token| token.start < place)
    }
}

/// Detects the grammar: kana mean Japanese and other ideographs Chinese, unless they are few.
fn detect_grammar(text: &str, tokens: &[Token]) -> GrammarFamily {
    let (mut kana, mut han, mut letters) = (0_usize, 0_usize, 0_usize);
    for char in tokens.iter().filter(|token| !token.is_quoted).flat_map(|token| text[token.start..token.end].chars()) {
        match char {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => han += 1,
            _ => letters += 1,
        }
    }
    match (kana, han) {
        _ if (kana + han) * 8 < letters || kana + han == 0 => GrammarFamily::Western,
        _ if kana * 10 >= han => GrammarFamily::Japanese,
        // A text in ideographs alone is Japanese if it has Japanese characters or words.
        _ if kana == 0 && is_japanese(text) => GrammarFamily::Japanese,
        _ => GrammarFamily::Chinese,
    }
}

/// Characters that are used in Japanese but not in Chinese.
pub(crate) const JAPANESE_LETTERS: &str = "変検証処価発図関録読歴実帳収抜総対応売単圧査検込働円覧様覚転効気済続労";
/// Japanese words of characters that both languages use.
const JAPANESE_WORDS: [&str; 8] = ["集計", "月次", "日次", "週次", "年次", "整形", "突合", "照合"];

fn is_japanese(text: &str) -> bool {
    text.chars().any(|letter| JAPANESE_LETTERS.contains(letter))
        || JAPANESE_WORDS.iter().any(|word| text.contains(word))
}

fn tokens(text: &str) -> Vec<Token> {
    let marked = find_quotes(text);
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
            if starts_clause(piece) {
                part += 1;
            }
            tokens.push(Token {
                start,
                end,
                sentence,
                clause: part,
                is_quoted: quoted,
                is_http_method: false,
                is_identifier: false,
            });
        } else if !quoted {
            match break_at(piece, &text[..start], &text[end..]) {
                Some(Break::Sentence) => (sentence, part) = (sentence + 1, part + 1),
                Some(Break::Clause) => part += 1,
                None => {}
            }
        }
        start = end;
    }
    tokens
}

/// Whether a lower-case letter precedes an upper-case one.
fn is_identifier(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Words that start a clause.
fn starts_clause(word: &str) -> bool {
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
        ',' | ':' if !is_number && !behind.starts_with('/') => Some(Break::Clause),
        '、' | '，' | '：' | '—' | '–' | '(' | ')' | '（' | '）' | '…' => Some(Break::Clause),
        _ => None,
    }
}

/// The longest quotation, in bytes.
const MAX_QUOTE_BYTES: usize = 400;

/// The ranges inside quotation marks, in order; none if the text as a whole is a quotation.
fn find_quotes(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let previous = std::mem::replace(&mut before, char);
        if at < from {
            continue;
        }
        let Some(close) = closing_quote(char, previous) else { continue };
        let inside = at + char.len_utf8();
        let limit = text.floor_char_boundary(inside.saturating_add(MAX_QUOTE_BYTES));
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

fn closing_quote(open: char, previous: char) -> Option<char> {
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
        let reading = TokenizedTask::new(text);
        let mut told = String::new();
        let mut last = (0, 0);
        for token in reading.tokens() {
            let sign = match (token.sentence == last.0, token.clause == last.1) {
                _ if told.is_empty() => "",
                (true, true) => " ",
                (true, false) => ", ",
                (false, _) => ". ",
            };
            told.push_str(sign);
            let word = reading.word(token);
            let (open, close) = if token.is_quoted { ("<", ">") } else { ("", "") };
            told.extend([open, word, close]);
            last = (token.sentence, token.clause);
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
        let reading = TokenizedTask::new(text);
        let token = reading.tokens()[2];
        assert_eq!(reading.word(&token), "パース");
        assert_eq!(reading.original(text, token.start, token.end), "ﾊﾟｰｽ");
    }
}
