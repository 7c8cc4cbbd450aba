//! The description of a tool: one sentence in the language of the task.

use super::defaults::{Defaults, TextFormat};
use super::pattern::RepetitionPattern;
use super::task_language::{TaskLanguage, TranslationsWithThai};
use super::tool_kind::ToolKind;

/// The longest excerpt of the task, in characters.
const MAX_TASK_CHARS: usize = 120;

/// Describes what the tool does, and quotes the task.
pub(super) fn description(
    family: ToolKind,
    tongue: TaskLanguage,
    defaults: Defaults,
    pattern: &RepetitionPattern,
    task: &str,
) -> String {
    let (from, to) = (format_label(defaults.from, tongue), format_label(defaults.to, tongue));
    let what = match family {
        ToolKind::Transformation => tongue.pick_with_thai(CONVERTS).replace("{from}", from).replace("{to}", to),
        ToolKind::Validation => tongue.pick_with_thai(VALIDATES).to_owned(),
        ToolKind::Aggregation => tongue.pick_with_thai(SUMMARIZES).to_owned(),
        ToolKind::Api => tongue.pick_with_thai(REQUESTS).to_owned(),
        ToolKind::Repetition => match &pattern.operation {
            Some(operation) => {
                tongue.pick_with_thai(REPEATS_OPERATION).replace("{operation}", &single_line(operation, 40))
            }
            None => tongue.pick_with_thai(REPEATS).to_owned(),
        },
    };
    let task = single_line(task, MAX_TASK_CHARS);
    if task.is_empty() {
        return tongue.pick_with_thai(["{}.", "{}。", "{}。", "{}"]).replacen("{}", &what, 1);
    }
    let ended = task.trim_end_matches(['.', '。', '．']);
    tongue
        .pick_with_thai(["{what}, for: {task}.", "{what}（{task}）。", "{what}（{task}）。", "{what} ({task})"])
        .replacen("{what}", &what, 1)
        .replacen("{task}", ended, 1)
}

/// Puts a text on one line without invisible characters, and truncates it.
fn single_line(text: &str, limit: usize) -> String {
    let read: String =
        text.chars().take(limit * 8).map(|letter| if is_visible(letter) { letter } else { ' ' }).collect();
    let line = read.split_whitespace().collect::<Vec<_>>().join(" ");
    super::truncate_chars(&line, limit)
}

/// Whether a character is visible and does not move others.
fn is_visible(letter: char) -> bool {
    !super::call::is_invisible(letter)
}

fn format_label(format: TextFormat, tongue: TaskLanguage) -> &'static str {
    match format {
        TextFormat::Csv => "CSV",
        TextFormat::Tsv => "TSV",
        TextFormat::Json => "JSON",
        TextFormat::Lines => tongue.pick_with_thai(["lines", "行", "文本行", "บรรทัด"]),
        TextFormat::KeyValue => tongue.pick_with_thai(["pairs of key and value", "キーと値の組", "键值对", "คู่คีย์และค่า"]),
    }
}

const CONVERTS: TranslationsWithThai = [
    "Converts text from {from} to {to}, or between any two of CSV, TSV, JSON, lines and pairs of key and value",
    "テキストを{from}から{to}に変換します。CSV・TSV・JSON・行・キーと値の組のどれからどれへも変換できます",
    "把文本从{from}转换为{to}，也可在 CSV、TSV、JSON、文本行、键值对之间任意转换",
    "แปลงข้อความจาก {from} เป็น {to} หรือระหว่าง CSV, TSV, JSON, บรรทัด และคู่คีย์และค่า",
];
const VALIDATES: TranslationsWithThai = [
    "Checks records against rules on their fields, and returns each problem with its place",
    "レコードをフィールドごとの規則と照らし合わせ、問題を場所とともに返します",
    "按字段规则校验记录，并给出每个问题及其位置",
    "ตรวจสอบระเบียนตามกฎของแต่ละฟิลด์ และคืนปัญหาพร้อมตำแหน่ง",
];
const SUMMARIZES: TranslationsWithThai = [
    "Groups records by a field, and takes the count, sum, average, minimum or maximum of each group",
    "レコードをフィールドでグループ分けし、件数・合計・平均・最小・最大を求めます",
    "按字段对记录分组，并求出每组的数量、总和、平均、最小或最大值",
    "จัดกลุ่มระเบียนตามฟิลด์ แล้วหาจำนวน ผลรวม ค่าเฉลี่ย ค่าต่ำสุด หรือค่าสูงสุด",
];
const REQUESTS: TranslationsWithThai = [
    "Prepares a request to an API for the host to send, and reads the JSON that came back",
    "API へのリクエストをホストが送れる形に組み立て、返ってきた JSON を読み取ります",
    "准备由宿主发送的 API 请求，并读取返回的 JSON",
    "เตรียมคำขอ API ให้โฮสต์ส่ง และอ่าน JSON ที่ได้กลับมา",
];
const REPEATS: TranslationsWithThai = [
    "Does the same step for each of many items, in order, and says of each how it went",
    "多数の項目に同じ処理を順に行い、項目ごとに結果を報告します",
    "对多个条目依次执行同一步骤，并逐条报告结果",
    "ทำขั้นตอนเดียวกันกับทุกรายการตามลำดับ และรายงานผลทีละรายการ",
];
const REPEATS_OPERATION: TranslationsWithThai = [
    "Prepares `{operation}` for each of many items, in order, and says of each how it went",
    "多数の項目について `{operation}` の内容を順に組み立て、項目ごとに結果を報告します",
    "为多个条目依次准备 `{operation}`，并逐条报告结果",
    "เตรียม `{operation}` ให้ทุกรายการตามลำดับ และรายงานผลทีละรายการ",
];
