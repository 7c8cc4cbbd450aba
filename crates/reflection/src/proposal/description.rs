//! The description of a skeleton: the task in one line, or the operation that was repeated.

use super::pattern::RepetitionPattern;
use crate::task_language::{TaskLanguage, TranslationsWithThai};

/// The longest excerpt of the task, in characters.
const MAX_TASK_CHARS: usize = 100;

/// Describes what the tool is to do.
pub(super) fn of_skeleton(language: TaskLanguage, pattern: &RepetitionPattern, task: &str) -> String {
    if let Some(operation) = &pattern.operation {
        let operation = single_line(operation, 40);
        return language.pick_with_thai(REPEATS_OPERATION).replacen("{operation}", &operation, 1);
    }
    let task = single_line(task, MAX_TASK_CHARS);
    if task.is_empty() { language.pick_with_thai(UNKNOWN).to_owned() } else { task }
}

/// Puts a text on one line without invisible characters, and truncates it.
pub(super) fn single_line(text: &str, limit: usize) -> String {
    let read: String =
        text.chars().take(limit * 8).map(|letter| if is_visible(letter) { letter } else { ' ' }).collect();
    let line = read.split_whitespace().collect::<Vec<_>>().join(" ");
    super::truncate_chars(&line, limit)
}

/// Whether a character is visible and does not move others.
fn is_visible(letter: char) -> bool {
    !super::call::is_invisible(letter)
}

const REPEATS_OPERATION: TranslationsWithThai = [
    "Does the work of the repeated operation `{operation}`",
    "繰り返された操作 `{operation}` の処理を行います",
    "完成重复操作 `{operation}` 的工作",
    "ทำงานของคำสั่งที่ทำซ้ำ `{operation}`",
];
const UNKNOWN: TranslationsWithThai =
    ["A tool for the task", "このタスクのためのツール", "用于此任务的工具", "เครื่องมือสำหรับงานนี้"];
