//! Search for stored tools.

use serde_json::json;
use toolcell::Status;
use toolcell::store::ToolRef;

use super::ToolboxFixture;

/// Creates a toolbox with tools on several subjects.
fn host() -> ToolboxFixture {
    let host = ToolboxFixture::new();
    for (name, description, tags, parameters) in [
        ("csv_to_json", "Converts tables to objects", &["data"][..], json!({})),
        ("kana", "ひらがなをカタカナに変換する", &["文字"], json!({})),
        ("report", "统计销售数据", &[], json!({})),
        ("mean", "Takes the mean", &["statistics"], json!({ "numbers": { "type": "array", "description": "測定値" } })),
    ] {
        let code = format!("const execute = () => '{name}'");
        let fields =
            json!({ "name": name, "description": description, "code": code, "tags": tags, "parameters": parameters });
        host.create(&fields).unwrap();
    }
    host
}

fn found(host: &ToolboxFixture, query: &str) -> String {
    let hits = host.toolbox().search(query, 10).unwrap();
    hits.iter().map(|hit| hit.entry.name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn tools_are_found_in_their_language_by_all_that_is_said_about_them() {
    let host = host();
    for (query, expect) in [
        ("カタカナ", "kana"),
        ("カタカナにしたい", "kana"),
        ("销售", "report"),
        ("statistics", "mean"),
        ("測定値", "mean"),
        ("NUMBERS", "mean"),
        ("csv", "csv_to_json"),
        ("csvToJson", "csv_to_json"),
        ("ＣＳＶ", "csv_to_json"),
        ("weather", ""),
        ("\"*()^:-\0", ""),
        ("", ""),
    ] {
        assert_eq!(found(&host, query), expect, "{query}");
    }
    let hits = host.toolbox().search("csv weather", 10).unwrap();
    assert!(hits[0].coverage > 0.1 && hits[0].coverage < 0.9, "{}", hits[0].coverage);
    assert!((host.toolbox().search("csv", 1).unwrap()[0].coverage - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_said_anew_deleted_or_given_back_is_found_as_it_is_now() {
    let host = host();
    assert_eq!(found(&host, "objects"), "csv_to_json");
    let code = "const execute = () => 'csv_to_json'";
    let fields = json!({ "name": "csv_to_json", "description": "Converts records", "code": code, "replace": true });
    let again = host.create(&fields).unwrap();
    assert_eq!((found(&host, "objects"), found(&host, "records")), (String::new(), "csv_to_json".to_owned()));
    host.delete(&json!({ "tool_name": "csv_to_json", "confirm": true })).unwrap();
    assert_eq!(found(&host, "records"), "");
    host.toolbox().undelete(&ToolRef::parse("csv_to_json").unwrap()).unwrap();
    assert_eq!(found(&host, "records"), "csv_to_json");
    // Tools stored by another process are found too.
    let other = host.second_toolbox();
    let fields = json!({ "name": "new", "description": "Keeps records", "code": "const execute = () => 1" });
    other.create(&super::request(&fields)).unwrap();
    assert!(found(&host, "records").split(' ').any(|name| name == "new"));
    host.store().catalog().set_status(again.id, Status::Quarantined).unwrap();
    assert_eq!(found(&host, "records"), "new");
}

#[test]
fn any_text_can_be_looked_for() {
    let host = host();
    let long = "csv ".repeat(1 << 18);
    assert_eq!(found(&host, &long), "csv_to_json");
    let words: Vec<String> = (0..200_000).map(|number| format!("word{number}")).collect();
    assert_eq!(found(&host, &words.join(" ")), "");
    for limit in [0, 1_001, usize::MAX] {
        let error = host.toolbox().search("csv", limit).unwrap_err();
        let message = format!("limit is {limit}, it must be 1 to 1000");
        assert_eq!((error.code().as_str(), error.to_string()), ("filter-invalid", message));
    }
    // A search leaves no audit line.
    assert!(host.audit_lines().iter().all(|line| line.action == "create_tool"));
}
