//! Default values that a task implies: formats, the operation, the HTTP method.

use super::conversion::Phrase;
use super::lexicon::{NameRole, NameToken};

/// The default values of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Defaults {
    pub(super) from: TextFormat,
    pub(super) to: TextFormat,
    /// How text values are parsed: `text`, `numbers` or `dates`.
    pub(super) values: &'static str,
    /// The aggregation: `count`, `sum`, …
    pub(super) operation: &'static str,
    /// The HTTP method.
    pub(super) method: &'static str,
}

/// A text format that the code supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFormat {
    Csv,
    Tsv,
    Json,
    Lines,
    KeyValue,
}

impl TextFormat {
    /// All formats.
    pub(super) const ALL: [Self; 5] = [Self::Csv, Self::Tsv, Self::Json, Self::Lines, Self::KeyValue];

    /// The name in parameters.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Lines => "lines",
            Self::KeyValue => "key-value",
        }
    }

    /// The format that a word of a task means.
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "csv" | "excel" | "xlsx" => Some(Self::Csv),
            "tsv" | "table" => Some(Self::Tsv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "log" | "logs" | "lines" | "line" | "markdown" | "txt" => Some(Self::Lines),
            "yaml" | "yml" | "toml" | "ini" | "env" | "properties" | "settings" => Some(Self::KeyValue),
            _ => None,
        }
    }
}

impl Defaults {
    pub(super) fn from_tokens(tokens: &[NameToken], conversion: Option<&(Phrase, Phrase)>) -> Self {
        let said: Vec<TextFormat> = tokens.iter().filter_map(|token| TextFormat::from_word(&token.word)).collect();
        let (from, to) = conversion.map_or((None, None), |(from, to)| {
            (TextFormat::from_word(&from.name()), TextFormat::from_word(&to.name()))
        });
        let other = |than: Option<TextFormat>| said.iter().copied().find(|format| Some(*format) != than);
        let from = from.or_else(|| other(to)).unwrap_or(if to == Some(TextFormat::Csv) {
            TextFormat::Json
        } else {
            TextFormat::Csv
        });
        let to = to.or_else(|| other(Some(from)));
        let to = to.unwrap_or(if from == TextFormat::Json { TextFormat::Csv } else { TextFormat::Json });
        let find = |table: &[(&'static str, &str)]| {
            let row = |token: &NameToken| {
                table.iter().find(|(_, words)| words.split(' ').any(|word| word == token.word)).map(|(value, _)| *value)
            };
            tokens.iter().find_map(row)
        };
        Self {
            from,
            to,
            values: find(VALUES).unwrap_or("text"),
            operation: find(OPERATIONS).unwrap_or("count"),
            method: if tokens.iter().any(is_sending_verb) { "POST" } else { "GET" },
        }
    }
}

const VALUES: &[(&str, &str)] =
    &[("dates", "date dates timestamp timestamps"), ("numbers", "number numbers amount amounts price prices numeric")];

const OPERATIONS: &[(&str, &str)] = &[
    ("average", "average averages mean averaging"),
    ("maximum", "maximum max highest largest"),
    ("minimum", "minimum min lowest smallest"),
    ("count", "count counts counting distribution tally"),
    ("sum", "totals total sum sums add amount"),
];

fn is_sending_verb(token: &NameToken) -> bool {
    token.role == NameRole::Verb
        && matches!(token.word.as_str(), "send" | "post" | "submit" | "upload" | "push" | "publish" | "notify")
}
