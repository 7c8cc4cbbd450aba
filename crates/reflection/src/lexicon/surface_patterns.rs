//! Senses that follow from the surface pattern of a word: file names, HTTP methods, numbers of
//! items.

use super::{Inflection, LexiconMatch, Sense};
use crate::tokenized::{GrammarFamily, TokenizedTask};
use crate::trigger::Trigger;

/// File extensions of data files.
const DATA_FILES: &[&str] = &[
    "csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml", "xml", "html", "xlsx", "xls", "ods", "parquet", "avro",
    "sqlite", "db", "geojson", "gpx", "kml", "vcf", "ics", "bib", "ris", "srt", "vtt", "po", "xliff", "tmx", "log",
    "txt", "toml", "ini", "conf", "dat", "sql", "pcap", "fasta", "fastq", "midi", "musicxml", "svg",
];

/// Japanese and Chinese counters.
const COUNTERS: &str =
    "点件枚本個通冊社章曲店台行列組分人名棟校軒条份张張个位家幅集组封篇户戶间間道题題盘盤笔筆批首座块塊项項";

/// Counted nouns that are not items of work: times, lengths of texts.
const NOT_COUNTED: &[&str] = &[
    "minutes",
    "hours",
    "seconds",
    "days",
    "weeks",
    "months",
    "years",
    "words",
    "sentences",
    "paragraphs",
    "characters",
    "times",
    "people",
    "guests",
    "percent",
    "degrees",
    "pages",
    "is",
    "was",
    "has",
    "this",
    "always",
    "us",
    "thanks",
    "yes",
    "perhaps",
    "as",
    "its",
    "does",
];

/// The number from which on items count as many.
const MIN_PLURAL: u64 = 5;

/// Returns the senses of a token's surface pattern.
pub(super) fn find_matches(reading: &TokenizedTask, at: usize) -> Vec<LexiconMatch> {
    let token = &reading.tokens()[at];
    let word = reading.word(token);
    let behind = &reading.text()[token.end..];
    let said = |sense| LexiconMatch {
        sense,
        first_token: at,
        end_token: at + 1,
        start: token.start,
        end: token.end,
        inflection: Inflection::Base,
    };
    if let Some((_, ending)) = word.rsplit_once('.') {
        return if DATA_FILES.contains(&ending) { vec![said(Sense::Data)] } else { Vec::new() };
    }
    let is_method = matches!(word, "get" | "post" | "put" | "patch" | "delete" | "head");
    let path = behind.trim_start();
    let is_call = matches!(word, "http" | "https") && is_api_address(behind);
    if is_call || token.is_http_method || is_method && (path.starts_with('/') || path.starts_with("http")) {
        return vec![said(Sense::Work(Trigger::Api))];
    }
    let is_many = if word.bytes().all(|byte| byte.is_ascii_digit()) {
        word.parse::<u64>().is_ok_and(|number| number >= MIN_PLURAL)
    } else {
        matches!(
            word,
            "dozen"
                | "hundred"
                | "thousand"
                | "dozens"
                | "hundreds"
                | "thousands"
                | "twelve"
                | "twenty"
                | "thirty"
                | "forty"
                | "fifty"
                | "sixty"
        ) || word.chars().any(|char| matches!(char, '十' | '百' | '千' | '万' | '萬'))
            && !word.chars().all(char::is_alphabetic)
    };
    let is_big = word.chars().any(|char| matches!(char, '百' | '千' | '十' | '万' | '萬' | '几' | '幾'));
    let before = reading.text()[..token.start].trim_end();
    if ["第", "last", "first", "top", "line", "最後の", "最初の", "最后", "前"]
        .iter()
        .any(|ordinal| before.ends_with(ordinal))
    {
        return Vec::new();
    }
    let counts = behind.trim_start().chars().next().is_some_and(|next| COUNTERS.contains(next));
    // 点 counts items in Japanese and hours in Chinese.
    let is_clock = reading.grammar() == GrammarFamily::Chinese
        && (behind.starts_with(['点', '點']) || word.ends_with(['点', '點']));
    let ends_counted = word.chars().next_back().is_some_and(|last| COUNTERS.contains(last)) && is_big;
    match () {
        () if (is_many || is_big) && counts && !is_time_or_place(behind) && !is_clock => {
            vec![said(Sense::Plural), said(Sense::Data)]
        }
        () if ends_counted && !is_clock => vec![said(Sense::Plural), said(Sense::Data)],
        () if is_many && behind.starts_with('の') && !is_time_or_place(behind) => {
            vec![said(Sense::Plural), said(Sense::Data)]
        }
        () if is_many && precedes_plural(reading, at) => vec![said(Sense::Plural), said(Sense::Data)],
        () if matches!(word, "these" | "those" | "all" | "every" | "each") && precedes_plural(reading, at) => {
            vec![said(Sense::Data)]
        }
        () => Vec::new(),
    }
}

/// Whether a URL looks like an API.
fn is_api_address(behind: &str) -> bool {
    let end = behind.find(|char: char| char.is_whitespace() || !char.is_ascii()).unwrap_or(behind.len());
    let address = &behind[..end];
    let signs = ["api", ".json", "/v1", "/v2", "/v3", "hook", "graphql", "rss", "/rest"];
    address.starts_with("://") && signs.iter().any(|sign| address.contains(sign))
}

/// Whether the text after a number makes it a time, a length or an ordinal position.
fn is_time_or_place(behind: &str) -> bool {
    [
        "行目",
        "章目",
        "個目",
        "件目",
        "回目",
        "番目",
        "行の",
        "分钟",
        "分鐘",
        "分間",
        "分以内",
        "分ほど",
        "分くらい",
        "个月",
        "個月",
        "个小时",
        "個小時",
        "人前",
        "人で",
        "人分の",
        "人くらい",
        "人ほど",
        "年",
        "日",
    ]
    .iter()
    .any(|time| behind.trim_start().starts_with(time))
}

/// Whether one of the next words is a plural.
fn precedes_plural(reading: &TokenizedTask, at: usize) -> bool {
    let tokens = reading.tokens();
    let next = tokens[at + 1..].iter().take(3).take_while(|token| token.clause == tokens[at].clause);
    let is_single = matches!(reading.word(&tokens[at]), "every" | "each");
    let mut words = next.map(|token| reading.word(token));
    if is_single {
        return words.next().is_some_and(|word| {
            word.len() > 2
                && !matches!(
                    word,
                    "other"
                        | "day"
                        | "morning"
                        | "evening"
                        | "week"
                        | "month"
                        | "time"
                        | "year"
                        | "night"
                        | "of"
                        | "one"
                        | "single"
                )
        });
    }
    words.any(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !NOT_COUNTED.contains(&word))
}
