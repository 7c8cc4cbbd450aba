//! The parameters of each kind of tool, in the short form of the contract, and the JSON Schema of
//! its result.

use serde_json::{Map, Value, json};

use super::defaults::{Defaults, TextFormat};
use super::pattern::RepetitionPattern;
use super::task_language::{TaskLanguage, Translations};
use super::tool_kind::ToolKind;

/// The parameters of a tool.
pub(super) fn parameters(
    family: ToolKind,
    tongue: TaskLanguage,
    defaults: Defaults,
    pattern: &RepetitionPattern,
) -> Value {
    let formats = TextFormat::ALL.map(TextFormat::name);
    let say = |text: Translations| tongue.pick(text);
    match family {
        ToolKind::Transformation => json!({
            "text": {"type": "string", "description": say(TEXT), "required": true},
            "from": {"type": "string", "description": say(FROM), "enum": formats, "default": defaults.from.name()},
            "to": {"type": "string", "description": say(TO), "enum": formats, "default": defaults.to.name()},
            "values": {"type": "string", "description": say(VALUES), "enum": ["text", "numbers", "dates"], "default": defaults.values},
        }),
        ToolKind::Validation => json!({
            "records": {"type": "array", "description": say(RECORDS), "required": true},
            "rules": {"type": "array", "description": say(RULES), "required": true},
        }),
        ToolKind::Aggregation => json!({
            "records": {"type": "array", "description": say(RECORDS), "required": true},
            "operation": {"type": "string", "description": say(OPERATION),
                "enum": ["count", "sum", "average", "minimum", "maximum"], "default": defaults.operation},
            "by": {"type": "string", "description": say(BY)},
            "value": {"type": "string", "description": say(VALUE)},
        }),
        ToolKind::Api => json!({
            "base": {"type": "string", "description": say(BASE), "required": true},
            "path": {"type": "string", "description": say(PATH), "default": ""},
            "method": {"type": "string", "description": say(METHOD),
                "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"], "default": defaults.method},
            "query": {"type": "object", "description": say(QUERY)},
            "body": {"type": "object", "description": say(BODY)},
            "response": {"type": "string", "description": say(RESPONSE)},
            "pick": {"type": "string", "description": say(PICK)},
        }),
        ToolKind::Repetition => repetition(tongue, pattern),
    }
}

/// The items, the template, and one parameter per shared field, whose value is used for items that
/// lack the field.
fn repetition(tongue: TaskLanguage, pattern: &RepetitionPattern) -> Value {
    let mut items = tongue.pick(ITEMS).to_owned();
    let optional = tongue.pick([", optional", "、省略可", "，可省略"]);
    let fields = pattern.fields.iter().map(|field| {
        let kind = field.kind.unwrap_or("any");
        format!("{} ({kind}{})", field.name, if field.is_always { "" } else { optional })
    });
    let fields: Vec<String> = fields.collect();
    if !fields.is_empty() {
        items = format!("{items}: {}", fields.join(", "));
    }
    let mut parameters = Map::new();
    let template = json!({"type": "string", "description": tongue.pick(TEMPLATE), "default": pattern.template()});
    parameters.insert("items".to_owned(), json!({"type": "array", "description": items, "required": true}));
    parameters.insert("template".to_owned(), template);
    for (field, kind) in pattern.shared_parameters() {
        let [before, after] = match tongue {
            TaskLanguage::En | TaskLanguage::Th => ["What stands for ", " in items that have none"],
            TaskLanguage::Ja => ["項目に ", " がないときに使う値"],
            TaskLanguage::Zh => ["条目没有 ", " 时使用的值"],
        };
        let description = format!("{before}{}{after}", field.name);
        parameters.insert(field.name.clone(), json!({"type": kind, "description": description}));
    }
    Value::Object(parameters)
}

/// The schema of a tool's result.
pub(super) fn returns(family: ToolKind) -> Value {
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let number = json!({"type": ["number", "null"]});
    let list = |items: Value| json!({"type": "array", "items": items});
    match family {
        ToolKind::Transformation => {
            object(json!({"text": text, "records": list(json!({"type": "object"}))}), &["text", "records"])
        }
        ToolKind::Validation => {
            let problem =
                object(json!({"index": count, "field": text, "message": text}), &["index", "field", "message"]);
            let fields = json!({"valid": {"type": "boolean"}, "checked": count, "problems": list(problem)});
            object(fields, &["valid", "checked", "problems"])
        }
        ToolKind::Aggregation => {
            let group = object(json!({"key": text, "count": count, "result": number}), &["key", "count", "result"]);
            object(json!({"groups": list(group), "total": number}), &["groups", "total"])
        }
        ToolKind::Api => {
            let headers = json!({"type": "object", "additionalProperties": {"type": "string"}});
            let fields = json!({"method": text, "url": text, "headers": headers, "body": text});
            object(json!({"request": object(fields, &["method", "url", "headers"]), "data": true}), &["request"])
        }
        ToolKind::Repetition => {
            let fields = json!({"index": count, "ok": {"type": "boolean"}, "result": text, "error": text});
            object(json!({"results": list(object(fields, &["index", "ok"])), "failed": count}), &["results", "failed"])
        }
    }
}

const TEXT: Translations = ["The text to convert", "変換するテキスト", "要转换的文本"];
const FROM: Translations = ["The format of the text", "テキストの形式", "文本的格式"];
const TO: Translations = ["The format that comes out", "変換後の形式", "转换后的格式"];
const VALUES: Translations = [
    "How values are read: as text, as numbers where they look like numbers, or as dates, which become YYYY-MM-DD",
    "値の読み方: text はそのまま、numbers は数に見えるものを数に、dates は日付を YYYY-MM-DD にする",
    "值的读法：text 保持原样，numbers 把像数字的变成数字，dates 把日期变成 YYYY-MM-DD",
];
const RECORDS: Translations = ["The records, as objects", "レコード(オブジェクトの配列)", "记录（对象数组）"];
const RULES: Translations = [
    "The rules: { field, required?, type? (string, number, integer, boolean, array, object, date, email), \
     pattern? (* any letters, ? one, # a digit), minimum?, maximum?, oneOf? }",
    "規則: { field, required?, type? (string, number, integer, boolean, array, object, date, email), \
     pattern? (* は任意の文字列、? は 1 文字、# は数字 1 字), minimum?, maximum?, oneOf? }",
    "规则：{ field, required?, type? (string, number, integer, boolean, array, object, date, email), \
     pattern?（* 任意文字，? 一个字符，# 一位数字）, minimum?, maximum?, oneOf? }",
];
const OPERATION: Translations =
    ["How the values of a group become one", "グループの値のまとめ方", "如何把一组的值变成一个"];
const BY: Translations = [
    "The field to group by; all are one group where it is left out",
    "グループ分けするフィールド。省くと全体で 1 グループ",
    "用来分组的字段；省略时全部为一组",
];
const VALUE: Translations = [
    "The field with the numbers; needed except for count",
    "数値のフィールド。count 以外では必要",
    "数值所在的字段；除 count 外都需要",
];
const BASE: Translations = [
    "The address of the service, http or https",
    "サービスのアドレス (http または https)",
    "服务的地址（http 或 https）",
];
const PATH: Translations = ["The path below the base", "base より下のパス", "base 之下的路径"];
const METHOD: Translations = ["The method of the request", "リクエストのメソッド", "请求的方法"];
const QUERY: Translations = [
    "What is asked for: names with plain values or lists of them",
    "クエリ: 名前と値、または値の配列",
    "查询参数：名称和值，或值的数组",
];
const BODY: Translations = ["What is sent, as JSON", "JSON として送る内容", "以 JSON 发送的内容"];
const RESPONSE: Translations = [
    "The text that came back, JSON; left out to get the request to send",
    "返ってきた JSON のテキスト。省くと送るリクエストを返す",
    "返回的 JSON 文本；省略时给出要发送的请求",
];
const PICK: Translations = [
    "Which part of the response, such as items.0.name",
    "応答のどの部分か (例: items.0.name)",
    "响应中的哪一部分，例如 items.0.name",
];
const ITEMS: Translations = ["What it is done for, in order", "対象の項目(この順に処理)", "要处理的条目（按此顺序）"];
const TEMPLATE: Translations = [
    "What is made of each item; {name} stands for a field, {value} for an item that is no object",
    "各項目から作るもの。{name} はフィールド、{value} はオブジェクトでない項目そのもの",
    "由每个条目生成的内容；{name} 表示字段，{value} 表示不是对象的条目",
];
