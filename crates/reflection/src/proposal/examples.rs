//! Example calls of the proposed tools, with their exact results.

use serde_json::{Value, json};

use super::defaults::{Defaults, TextFormat};
use super::pattern::RepetitionPattern;
use super::tool_kind::ToolKind;

/// Returns two or three calls; the first fits the task.
pub(super) fn examples(family: ToolKind, defaults: Defaults, pattern: &RepetitionPattern) -> Vec<Value> {
    let calls = match family {
        ToolKind::Transformation => transformation(defaults.from, defaults.to),
        ToolKind::Validation => validation(),
        ToolKind::Aggregation => aggregation(defaults.operation),
        ToolKind::Api => api(defaults.method),
        ToolKind::Repetition => repetition(pattern),
    };
    calls.into_iter().map(|(parameters, result)| json!({"parameters": parameters, "result": result})).collect()
}

/// The same two records in each format.
const fn table(format: TextFormat) -> &'static str {
    match format {
        TextFormat::Csv => "name,city\nAda,\"London, UK\"\nKen,Osaka",
        TextFormat::Tsv => "name\tcity\nAda\tLondon, UK\nKen\tOsaka",
        TextFormat::Json => r#"[{"name":"Ada","city":"London, UK"},{"name":"Ken","city":"Osaka"}]"#,
        TextFormat::Lines => "Ada London, UK\nKen Osaka",
        TextFormat::KeyValue => "name: Ada\ncity: London, UK\n\nname: Ken\ncity: Osaka",
    }
}

/// The same two lines in each format.
const fn lines(format: TextFormat) -> &'static str {
    match format {
        TextFormat::Csv | TextFormat::Tsv => "line\nstarted\nstopped: no fuel",
        TextFormat::Json => r#"[{"line":"started"},{"line":"stopped: no fuel"}]"#,
        TextFormat::Lines => "started\nstopped: no fuel",
        TextFormat::KeyValue => "line: started\n\nline: stopped: no fuel",
    }
}

fn transformation(from: TextFormat, to: TextFormat) -> Vec<(Value, Value)> {
    let of_table = json!([{"name": "Ada", "city": "London, UK"}, {"name": "Ken", "city": "Osaka"}]);
    let of_lines = json!([{"line": "started"}, {"line": "stopped: no fuel"}]);
    let (text, expect, records) =
        if from == TextFormat::Lines { (lines(from), lines(to), of_lines) } else { (table(from), table(to), of_table) };
    // Quotes and doubled quotes stay the same in both directions.
    let quoted = "key,note\nk,\"say \"\"hi\"\"\"";
    vec![
        (
            json!({"text": text, "from": from.name(), "to": to.name(), "values": "text"}),
            json!({"text": expect, "records": records}),
        ),
        (
            json!({"text": quoted, "from": "csv", "to": "csv", "values": "text"}),
            json!({"text": quoted, "records": [{"key": "k", "note": "say \"hi\""}]}),
        ),
        (
            json!({"text": "day=2028/2/9\nroom: 12", "from": "key-value", "to": "json", "values": "dates"}),
            json!({"text": r#"[{"day":"2028-02-09","room":"12"}]"#, "records": [{"day": "2028-02-09", "room": "12"}]}),
        ),
    ]
}

fn validation() -> Vec<(Value, Value)> {
    let problem =
        |index: usize, field: &str, message: &str| json!({"index": index, "field": field, "message": message});
    vec![
        (
            json!({
                "records": [{"name": "Ada", "email": "ada@example.com"}, {"email": "nobody"}],
                "rules": [{"field": "name", "required": true}, {"field": "email", "type": "email"}],
            }),
            json!({
                "valid": false,
                "checked": 2,
                "problems": [problem(1, "name", "is missing"), problem(1, "email", "is no email")],
            }),
        ),
        (
            json!({
                "records": [{"day": "2028-02-29", "phone": "090-1234", "count": 3}, {"day": "2027-02-29", "phone": "x", "count": 0}],
                "rules": [
                    {"field": "day", "type": "date"},
                    {"field": "phone", "pattern": "###-####"},
                    {"field": "count", "type": "integer", "minimum": 1, "maximum": 9},
                ],
            }),
            json!({
                "valid": false,
                "checked": 2,
                "problems": [
                    problem(1, "day", "is no date"),
                    problem(1, "phone", "does not match ###-####"),
                    problem(1, "count", "is below 1"),
                ],
            }),
        ),
        (
            json!({"records": [], "rules": [{"field": "state", "oneOf": ["open", "done"]}]}),
            json!({"valid": true, "checked": 0, "problems": []}),
        ),
    ]
}

fn aggregation(operation: &str) -> Vec<(Value, Value)> {
    let records = json!([
        {"region": "north", "amount": 10},
        {"region": "south", "amount": 4.5},
        {"region": "north", "amount": "30"},
    ]);
    let (north, south, total) = match operation {
        "sum" => (json!(40), json!(4.5), json!(44.5)),
        "average" => (json!(20), json!(4.5), json!(44.5 / 3.0)),
        "minimum" => (json!(10), json!(4.5), json!(4.5)),
        "maximum" => (json!(30), json!(4.5), json!(30)),
        _ => (json!(2), json!(1), json!(3)),
    };
    let group = |key: &str, count: usize, result: Value| json!({"key": key, "count": count, "result": result});
    vec![
        (
            json!({"records": records, "operation": operation, "by": "region", "value": "amount"}),
            json!({"groups": [group("north", 2, north), group("south", 1, south)], "total": total}),
        ),
        (
            json!({"records": [{"amount": 2}, {"amount": null}, {"amount": 3}], "operation": "average", "value": "amount"}),
            json!({"groups": [group("all", 3, json!(2.5))], "total": 2.5}),
        ),
        (json!({"records": [], "operation": "count"}), json!({"groups": [], "total": 0})),
    ]
}

fn api(method: &str) -> Vec<(Value, Value)> {
    let headers = json!({"accept": "application/json"});
    let url = "https://api.example.com/v1/users?page=2&tag=a+b";
    let first = if method == "POST" {
        let headers = json!({"accept": "application/json", "content-type": "application/json"});
        let url = "https://api.example.com/v1/users";
        (
            json!({"base": "https://api.example.com/v1", "path": "users", "method": method, "body": {"name": "Ada"}}),
            json!({"request": {"method": method, "url": url, "headers": headers, "body": r#"{"name":"Ada"}"#}}),
        )
    } else {
        (
            json!({"base": "https://api.example.com/v1", "path": "users", "method": method, "query": {"page": 2, "tag": "a b"}}),
            json!({"request": {"method": method, "url": url, "headers": headers}}),
        )
    };
    let read = (
        json!({
            "base": "https://api.example.com/v1",
            "path": "/users",
            "method": "GET",
            "response": r#"{"items": [{"name": "Ada"}]}"#,
            "pick": "items.0.name",
        }),
        json!({
            "request": {"method": "GET", "url": "https://api.example.com/v1/users", "headers": headers},
            "data": "Ada",
        }),
    );
    vec![first, read]
}

fn repetition(pattern: &RepetitionPattern) -> Vec<(Value, Value)> {
    let (items, result) = pattern.sample_items();
    vec![
        (json!({"items": items, "template": pattern.template()}), result),
        (
            json!({"items": ["x", {"value": 2}, {}], "template": "<{value}>"}),
            json!({
                "results": [
                    {"index": 0, "ok": true, "result": "<x>"},
                    {"index": 1, "ok": true, "result": "<2>"},
                    {"index": 2, "ok": false, "error": "there is no value"},
                ],
                "failed": 1,
            }),
        ),
        (json!({"items": [], "template": "{value}"}), json!({"results": [], "failed": 0})),
    ]
}
