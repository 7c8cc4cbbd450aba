//! One sentence in the language of the task, that says what the tool does and what for.

use super::defaults::{Defaults, Format};
use super::family::Family;
use super::pattern::Pattern;
use super::tongue::{Spoken, Tongue};

/// How much of the task is part of a description, in characters.
const TASK_LIMIT: usize = 120;

/// What the tool does, and the task that it is for.
pub(super) fn description(family: Family, tongue: Tongue, defaults: Defaults, pattern: &Pattern, task: &str) -> String {
    let (from, to) = (shown(defaults.from, tongue), shown(defaults.to, tongue));
    let what = match family {
        Family::Transformation => tongue.spoken(CONVERTS).replace("{from}", from).replace("{to}", to),
        Family::Validation => tongue.spoken(VALIDATES).to_owned(),
        Family::Aggregation => tongue.spoken(SUMMARIZES).to_owned(),
        Family::Api => tongue.spoken(REQUESTS).to_owned(),
        Family::Repetition => match &pattern.operation {
            Some(operation) => tongue.spoken(REPEATS_OPERATION).replace("{operation}", &cut(operation, 40)),
            None => tongue.spoken(REPEATS).to_owned(),
        },
    };
    let task = cut(task, TASK_LIMIT);
    if task.is_empty() {
        return tongue.spoken(["{}.", "{}。", "{}。", "{}"]).replacen("{}", &what, 1);
    }
    let ended = task.trim_end_matches(['.', '。', '．']);
    tongue
        .spoken(["{what}, for: {task}.", "{what}（{task}）。", "{what}（{task}）。", "{what} ({task})"])
        .replacen("{what}", &what, 1)
        .replacen("{task}", ended, 1)
}

/// A text on one line, without what is not seen, cut where it is long.
fn cut(text: &str, limit: usize) -> String {
    let read: String = text.chars().take(limit * 8).map(|letter| if is_shown(letter) { letter } else { ' ' }).collect();
    let line = read.split_whitespace().collect::<Vec<_>>().join(" ");
    super::cut(&line, limit)
}

/// Whether a letter is seen, and leaves others where they are.
fn is_shown(letter: char) -> bool {
    !super::call::is_hidden(letter)
}

fn shown(format: Format, tongue: Tongue) -> &'static str {
    match format {
        Format::Csv => "CSV",
        Format::Tsv => "TSV",
        Format::Json => "JSON",
        Format::Lines => tongue.spoken(["lines", "行", "文本行", "บรรทัด"]),
        Format::KeyValue => tongue.spoken(["pairs of key and value", "キーと値の組", "键值对", "คู่คีย์และค่า"]),
    }
}

const CONVERTS: Spoken = [
    "Converts text from {from} to {to}, or between any two of CSV, TSV, JSON, lines and pairs of key and value",
    "テキストを{from}から{to}に変換します。CSV・TSV・JSON・行・キーと値の組のどれからどれへも変換できます",
    "把文本从{from}转换为{to}，也可在 CSV、TSV、JSON、文本行、键值对之间任意转换",
    "แปลงข้อความจาก {from} เป็น {to} หรือระหว่าง CSV, TSV, JSON, บรรทัด และคู่คีย์และค่า",
];
const VALIDATES: Spoken = [
    "Checks records against rules on their fields, and returns each problem with its place",
    "レコードをフィールドごとの規則と照らし合わせ、問題を場所とともに返します",
    "按字段规则校验记录，并给出每个问题及其位置",
    "ตรวจสอบระเบียนตามกฎของแต่ละฟิลด์ และคืนปัญหาพร้อมตำแหน่ง",
];
const SUMMARIZES: Spoken = [
    "Groups records by a field, and takes the count, sum, average, minimum or maximum of each group",
    "レコードをフィールドでグループ分けし、件数・合計・平均・最小・最大を求めます",
    "按字段对记录分组，并求出每组的数量、总和、平均、最小或最大值",
    "จัดกลุ่มระเบียนตามฟิลด์ แล้วหาจำนวน ผลรวม ค่าเฉลี่ย ค่าต่ำสุด หรือค่าสูงสุด",
];
const REQUESTS: Spoken = [
    "Prepares a request to an API for the host to send, and reads the JSON that came back",
    "API へのリクエストをホストが送れる形に組み立て、返ってきた JSON を読み取ります",
    "准备由宿主发送的 API 请求，并读取返回的 JSON",
    "เตรียมคำขอ API ให้โฮสต์ส่ง และอ่าน JSON ที่ได้กลับมา",
];
const REPEATS: Spoken = [
    "Does the same step for each of many items, in order, and says of each how it went",
    "多数の項目に同じ処理を順に行い、項目ごとに結果を報告します",
    "对多个条目依次执行同一步骤，并逐条报告结果",
    "ทำขั้นตอนเดียวกันกับทุกรายการตามลำดับ และรายงานผลทีละรายการ",
];
const REPEATS_OPERATION: Spoken = [
    "Prepares `{operation}` for each of many items, in order, and says of each how it went",
    "多数の項目について `{operation}` の内容を順に組み立て、項目ごとに結果を報告します",
    "为多个条目依次准备 `{operation}`，并逐条报告结果",
    "เตรียม `{operation}` ให้ทุกรายการตามลำดับ และรายงานผลทีละรายการ",
];
