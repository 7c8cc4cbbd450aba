//! What a task says of how its tool is used: formats, the kind of result, the method of a request.

use super::conversion::Phrase;
use super::lexicon::{Role, Token};

/// What stands for a parameter where a call does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Defaults {
    pub(super) from: Format,
    pub(super) to: Format,
    /// How values of a text are read: as `text`, `numbers` or `dates`.
    pub(super) values: &'static str,
    /// How many become one: `count`, `sum`, …
    pub(super) operation: &'static str,
    /// The method of a request.
    pub(super) method: &'static str,
}

/// A form of text that the code knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Tsv,
    Json,
    Lines,
    KeyValue,
}

impl Format {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Csv, Self::Tsv, Self::Json, Self::Lines, Self::KeyValue];

    /// What parameters call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Lines => "lines",
            Self::KeyValue => "key-value",
        }
    }

    /// The one that a word of a task means.
    fn of(word: &str) -> Option<Self> {
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
    pub(super) fn of(tokens: &[Token], conversion: Option<&(Phrase, Phrase)>) -> Self {
        let said: Vec<Format> = tokens.iter().filter_map(|token| Format::of(&token.word)).collect();
        let (from, to) =
            conversion.map_or((None, None), |(from, to)| (Format::of(&from.name()), Format::of(&to.name())));
        let other = |than: Option<Format>| said.iter().copied().find(|format| Some(*format) != than);
        let from =
            from.or_else(|| other(to)).unwrap_or(if to == Some(Format::Csv) { Format::Json } else { Format::Csv });
        let to = to.or_else(|| other(Some(from)));
        let to = to.unwrap_or(if from == Format::Json { Format::Csv } else { Format::Json });
        let find = |table: &[(&'static str, &str)]| {
            let row = |token: &Token| {
                table.iter().find(|(_, words)| words.split(' ').any(|word| word == token.word)).map(|(value, _)| *value)
            };
            tokens.iter().find_map(row)
        };
        Self {
            from,
            to,
            values: find(VALUES).unwrap_or("text"),
            operation: find(OPERATIONS).unwrap_or("count"),
            method: if tokens.iter().any(sends) { "POST" } else { "GET" },
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

fn sends(token: &Token) -> bool {
    token.role == Role::Action
        && matches!(token.word.as_str(), "send" | "post" | "submit" | "upload" | "push" | "publish" | "notify")
}
