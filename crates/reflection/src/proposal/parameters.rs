//! The parameters of a skeleton, in the short form of the contract: as far as the task and the history say them.

use serde_json::{Map, Value, json};

use super::lexicon::NameToken;
use super::pattern::RepetitionPattern;
use crate::task_language::{TaskLanguage, Translations};

/// The most parameters that are read off a task.
const MAX_PARAMETERS: usize = 3;

/// Words of tasks, with the parameter that they mean: its name, type and description.
const INPUTS: &[(&str, &str, &str, Translations)] = &[
    ("csv", "csv", "string", ["The CSV text", "CSV テキスト", "CSV 文本"]),
    ("tsv", "tsv", "string", ["The TSV text", "TSV テキスト", "TSV 文本"]),
    ("json", "json", "string", ["The JSON text", "JSON テキスト", "JSON 文本"]),
    ("xml", "xml", "string", ["The XML text", "XML テキスト", "XML 文本"]),
    ("yaml", "yaml", "string", ["The YAML text", "YAML テキスト", "YAML 文本"]),
    ("html", "html", "string", ["The HTML text", "HTML テキスト", "HTML 文本"]),
    ("markdown", "markdown", "string", ["The Markdown text", "Markdown テキスト", "Markdown 文本"]),
    ("log logs", "log", "string", ["The text of the log", "ログのテキスト", "日志文本"]),
    ("text string sentence paragraph message", "text", "string", ["The text", "テキスト", "文本"]),
    ("url urls", "url", "string", ["The URL", "URL", "URL"]),
    ("date dates timestamp timestamps", "date", "string", ["The date", "日付", "日期"]),
    ("email emails", "email", "string", ["The e-mail address", "メールアドレス", "电子邮件地址"]),
    ("numbers values prices amounts scores number price amount", "numbers", "array", ["The numbers", "数値", "数值"]),
    (
        "records rows orders users customers transactions items record row order user customer item",
        "records",
        "array",
        ["The records", "レコード", "记录"],
    ),
    ("object config settings", "object", "object", ["The object", "オブジェクト", "对象"]),
];

/// Returns the fields of a repeated operation, or the inputs that the task names.
pub(super) fn of_skeleton(language: TaskLanguage, pattern: &RepetitionPattern, tokens: &[NameToken]) -> Value {
    let mut parameters = Map::new();
    if let Some(operation) = &pattern.operation {
        let operation = super::description::single_line(operation, 40);
        for (field, kind) in pattern.fields() {
            let description = format!("`{}` of `{operation}`", super::description::single_line(&field.name, 40));
            let mut definition = json!({"type": kind, "description": description});
            if field.is_always {
                definition["required"] = Value::from(true);
            }
            parameters.insert(field.name.clone(), definition);
        }
        return Value::Object(parameters);
    }
    for token in tokens {
        let input = INPUTS.iter().find(|(words, ..)| words.split(' ').any(|word| word == token.word));
        if let Some((_, name, kind, description)) = input
            && parameters.len() < MAX_PARAMETERS
        {
            let definition = json!({"type": kind, "description": language.pick(*description), "required": true});
            parameters.insert((*name).to_owned(), definition);
        }
    }
    Value::Object(parameters)
}
