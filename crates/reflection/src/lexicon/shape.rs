//! What words say by their shape: names of files, methods of requests, numbers of things.

use super::{Hit, Inflection, Sense};
use crate::reading::{Reading, Tongue};
use crate::trigger::Trigger;

/// Endings of the names of files that hold data.
const DATA_FILES: &[&str] = &[
    "csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml", "xml", "html", "xlsx", "xls", "ods", "parquet", "avro",
    "sqlite", "db", "geojson", "gpx", "kml", "vcf", "ics", "bib", "ris", "srt", "vtt", "po", "xliff", "tmx", "log",
    "txt", "toml", "ini", "conf", "dat", "sql", "pcap", "fasta", "fastq", "midi", "musicxml", "svg",
];

/// Japanese and Chinese words that things are counted with.
const COUNTERS: &str =
    "点件枚本個通冊社章曲店台行列組分人名棟校軒条份张張个位家幅集组封篇户戶间間道题題盘盤笔筆批首座块塊项項";

/// What is counted where work is not meant: times, lengths of texts.
const NO_THINGS: &[&str] = &[
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

/// From which number on there are many.
const MANY: u64 = 5;

/// What a word says by its shape.
pub(super) fn hits(reading: &Reading, at: usize) -> Vec<Hit> {
    let token = &reading.tokens()[at];
    let word = reading.word(token);
    let behind = &reading.text()[token.end..];
    let said = |sense| Hit {
        sense,
        first: at,
        behind: at + 1,
        start: token.start,
        end: token.end,
        inflection: Inflection::Base,
    };
    if let Some((_, ending)) = word.rsplit_once('.') {
        return if DATA_FILES.contains(&ending) { vec![said(Sense::Datum)] } else { Vec::new() };
    }
    let is_method = matches!(word, "get" | "post" | "put" | "patch" | "delete" | "head");
    let path = behind.trim_start();
    let is_call = matches!(word, "http" | "https") && is_call(behind);
    if is_call || token.method || is_method && (path.starts_with('/') || path.starts_with("http")) {
        return vec![said(Sense::Act(Trigger::Api))];
    }
    let is_many = if word.bytes().all(|byte| byte.is_ascii_digit()) {
        word.parse::<u64>().is_ok_and(|number| number >= MANY)
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
    // 点 counts things in Japanese and hours in Chinese.
    let is_clock =
        reading.tongue() == Tongue::Chinese && (behind.starts_with(['点', '點']) || word.ends_with(['点', '點']));
    let ends_counted = word.chars().next_back().is_some_and(|last| COUNTERS.contains(last)) && is_big;
    match () {
        () if (is_many || is_big) && counts && !is_time(behind) && !is_clock => {
            vec![said(Sense::Many), said(Sense::Datum)]
        }
        () if ends_counted && !is_clock => vec![said(Sense::Many), said(Sense::Datum)],
        () if is_many && behind.starts_with('の') && !is_time(behind) => vec![said(Sense::Many), said(Sense::Datum)],
        () if is_many && counts_things(reading, at) => vec![said(Sense::Many), said(Sense::Datum)],
        () if matches!(word, "these" | "those" | "all" | "every" | "each") && counts_things(reading, at) => {
            vec![said(Sense::Datum)]
        }
        () => Vec::new(),
    }
}

/// Whether an address is one that programs call.
fn is_call(behind: &str) -> bool {
    let end = behind.find(|char: char| char.is_whitespace() || !char.is_ascii()).unwrap_or(behind.len());
    let address = &behind[..end];
    let signs = ["api", ".json", "/v1", "/v2", "/v3", "hook", "graphql", "rss", "/rest"];
    address.starts_with("://") && signs.iter().any(|sign| address.contains(sign))
}

/// Whether what follows a number makes it a time, a length or a place.
fn is_time(behind: &str) -> bool {
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
fn counts_things(reading: &Reading, at: usize) -> bool {
    let tokens = reading.tokens();
    let next = tokens[at + 1..].iter().take(3).take_while(|token| token.part == tokens[at].part);
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
    words.any(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !NO_THINGS.contains(&word))
}
