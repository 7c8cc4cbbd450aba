//! Finds the source and the target of a conversion: `CSVをJSONに`, `from CSV to JSON`, `把CSV转换成JSON`.
//!
//! Invariant: the words around a phrase decide its direction. Without such words, the first phrase
//! is the source.

use super::lexicon::{NameRole, NameToken, is_listed};

/// Formats whose names identify them without further words.
const FORMATS: &str = "csv tsv json jsonl ndjson xml yaml yml toml ini html markdown pdf excel xlsx sql parquet avro \
    protobuf latex svg png jpg jpeg webp gif mp3 wav mp4 base64 base32 hex utf8 utf16 ascii docx rtf env properties iso8601";

/// Adjacent words that name one thing.
#[derive(Debug)]
pub(super) struct Phrase {
    /// The specific words, or the vague words if the task has no specific one.
    words: Vec<String>,
    side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    From,
    To,
    /// The object of the verb.
    Object,
    Unknown,
}

impl Phrase {
    fn is_vague(&self) -> bool {
        self.words.iter().all(|word| VAGUE_NOUNS.contains(&word.trim_end_matches('s')))
    }

    /// The format in the phrase, or its first two words.
    pub(super) fn name(&self) -> String {
        let format = self.words.iter().find(|word| is_format(word));
        format.map_or_else(|| self.words[..self.words.len().min(2)].join("_"), Clone::clone)
    }
}

/// Nouns that are too vague to be the target of a conversion.
const VAGUE_NOUNS: [&str; 8] = ["data", "file", "format", "record", "value", "result", "item", "information"];

/// Whether a word is the name of a format.
pub(super) fn is_format(word: &str) -> bool {
    is_listed(FORMATS, word)
}

/// Finds the source and the target of a conversion.
pub(super) fn find_conversion(tokens: &[NameToken]) -> Option<(Phrase, Phrase)> {
    let mut phrases = phrases(tokens);
    let to = phrases.iter().position(|phrase| phrase.side == Side::To && !phrase.is_vague())?;
    let of = |side: Side| phrases.iter().position(|phrase| phrase.side == side);
    let from = of(Side::From).or_else(|| of(Side::Object)).or(to.checked_sub(1))?;
    // The source of `the CSV exports of the shop` is CSV.
    let is_source = |phrase: &Phrase| phrase.side != Side::To && is_format(&phrase.name());
    let named = || phrases[..to].iter().position(is_source);
    let from = if is_format(&phrases[from].name()) { from } else { named().unwrap_or(from) };
    let target = phrases.swap_remove(to);
    // `swap_remove` moved the last phrase to the target's position.
    let from = if from == phrases.len() { to } else { from };
    Some((phrases.swap_remove(from), target)).filter(|(from, to)| from.name() != to.name())
}

fn phrases(tokens: &[NameToken]) -> Vec<Phrase> {
    let mut phrases = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_next = |next: &NameToken| matches!(next.role, NameRole::Noun | NameRole::WeakNoun);
        let more =
            tokens[at..].iter().enumerate().take_while(|(n, it)| is_next(it) && (*n == 0 || joins_words(&it.gap)));
        let run = more.count();
        if run > 0 {
            let words = |role| tokens[at..at + run].iter().filter(move |it| it.role == role).map(|it| it.word.clone());
            let mut said: Vec<String> = words(NameRole::Noun).collect();
            if said.is_empty() {
                said.extend(words(NameRole::WeakNoun));
            }
            phrases.push(Phrase { words: said, side: side(tokens, at, at + run - 1) });
        }
        at += run.max(1);
    }
    phrases
}

fn joins_words(gap: &str) -> bool {
    matches!(gap.trim(), "" | "の" | "-" | "_" | "的")
}

/// Determines the side of a conversion on which a phrase stands.
fn side(tokens: &[NameToken], first: usize, last: usize) -> Side {
    let gap = tokens[first].gap.trim();
    let after = tokens[last].after.trim_start();
    let before = tokens[..first].iter().rev();
    let preposition =
        before.take_while(|it| it.role == NameRole::StopWord).take(3).find_map(|it| match it.word.as_str() {
            "to" | "into" | "as" => Some(Side::To),
            "from" => Some(Side::From),
            _ => None,
        });
    if let Some(side) = preposition.filter(|_| tokens[first].is_latin) {
        return side;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| gap.ends_with(ending));
    let goes_on = |starts: &[&str]| starts.iter().any(|start| after.starts_with(start));
    if ends(&["成", "为", "到", "至", "转", "เป็น", "->", "→", "=>", "⇒"]) || goes_on(&["に", "へ", "化"])
    {
        Side::To
    } else if ends(&["从", "由", "自", "จาก"]) || goes_on(&["から", "より"]) {
        Side::From
    } else if ends(&["把", "将"]) || goes_on(&["を"]) {
        Side::Object
    } else {
        Side::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::tokens;
    use super::*;

    #[test]
    fn directions_are_read_in_four_languages() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            let found = find_conversion(&tokens(text)).map(|(from, to)| (from.name(), to.name()));
            assert_eq!(found, expect.map(|(from, to)| (from.to_owned(), to.to_owned())), "{text}");
        };
        check("複数のCSVファイルをJSONに変換する", Some(("csv", "json")));
        check("JSON形式のデータからCSVファイルへ", Some(("json", "csv")));
        check("JSONにCSVを変換", Some(("csv", "json")));
        check("Convert the CSV files to valid JSON", Some(("csv", "json")));
        check("Convert the CSV exports of the shop to JSON", Some(("csv", "json")));
        check("make YAML from JSON", None);
        check("Create TSV from a JSON file to TSV", Some(("json", "tsv")));
        check("把CSV文件转换成JSON", Some(("csv", "json")));
        check("转换CSV为JSON", Some(("csv", "json")));
        check("将 JSON 转 CSV", Some(("json", "csv")));
        check("แปลงไฟล์ CSV เป็น JSON", Some(("csv", "json")));
        check("将温度从摄氏度转换为华氏度", Some(("celsius", "fahrenheit")));
        check("แปลงวันที่ให้เป็นรูปแบบมาตรฐาน", None);
        check("摂氏を華氏に変換", Some(("celsius", "fahrenheit")));
        check("csv -> json", Some(("csv", "json")));
        check("count the errors", None);
    }
}
