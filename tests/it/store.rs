//! Names and their history.

use serde_json::json;
use toolcell::store::{FindError, OnConflict, Settings, Store, VersionCommit};
use toolcell::{IdPrefix, ToolId, ToolMetadata, ToolName, ToolSpec};
use toolcell_tool::Draft;

use crate::fixtures::store::{StoreFixture, name, reference, returns, sample_tool, sample_tool_with};

/// Returns the error code, or what was done.
fn code(done: Result<VersionCommit, toolcell::store::HistoryError>) -> &'static str {
    done.map_or_else(|error| error.code().as_str(), |_| "done")
}

#[test]
fn threads_that_open_a_new_store_at_once_create_one() {
    for _ in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        std::thread::scope(|scope| {
            let opened: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Store::open(&path, &Settings::default()).map(drop))).collect();
            for opened in opened {
                opened.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn a_tool_is_read_back_as_it_was_stored() {
    let mut fixture = StoreFixture::new();
    let source = "// 統計\r\nconst execute = ({ 数 }) => `${数}\u{2028}`\n";
    let deep = (0..60).fold(json!({"minimum": -1.5e-7}), |inner, _| json!([inner]));
    let parameters = json!({"数": {"type": "number", "default": 0.1, "description": "\u{0} \" \\ 😀"}, "deep": deep});
    let tool = sample_tool_with("Average-of", source, parameters, json!({"net": ["example.org"]}));
    let notes = ToolMetadata::new("Tabs\tand\nlines").unwrap().with_tags(["統計", "a b"]).unwrap();
    let notes = notes.with_examples(vec![json!({"parameters": {"数": 1}, "result": "1"})]).unwrap();
    let notes = notes.with_generated_from("平均を取る").unwrap();
    let tool = crate::fixtures::store::ToolFixture { notes: notes.clone(), ..tool.scores(0.123_44, 1.0) };
    let step = fixture.set_clock(77).insert(&tool, OnConflict::Refuse).unwrap();
    assert_eq!((step.id, step.name.as_str(), step.number), (tool.id(), "Average-of", 1));
    fixture.reopen();
    for called in ["Average-of", "average_OF", &tool.id().to_string(), &tool.id().short()] {
        let entry = fixture.find(called).unwrap();
        assert_eq!((entry.id, entry.name.as_str(), entry.current), (tool.id(), "Average-of", true), "{called}");
        assert_eq!(fixture.store().catalog().spec(&entry).unwrap(), tool.spec);
        assert_eq!(fixture.store().catalog().metadata(&entry).unwrap(), notes);
        assert_eq!((entry.description.as_str(), entry.tags.as_slice()), ("Tabs\tand\nlines", notes.tags()));
        assert_eq!((entry.scores.safety, entry.scores.quality, entry.confidence), (0.1234, 1.0, 0.1234));
        assert_eq!((entry.created_at.as_second(), entry.last_used_at), (77, None));
    }
}

#[test]
fn what_could_not_be_read_back_is_refused() {
    let draft = Draft::from_bytes("t.js", returns(1).as_bytes()).unwrap();
    let deep = (0..127).fold(json!(1), |inner, _| json!([inner]));
    let refusal = ToolSpec::new(name("deep"), &draft, deep.clone(), json!(null)).unwrap_err();
    assert_eq!(refusal.to_string(), "the parameters cannot be stored: they are nested more than 64 levels deep");
    let refusal = ToolSpec::new(name("deep"), &draft, json!(null), deep.clone()).unwrap_err();
    assert_eq!(refusal.code(), "capabilities-invalid");
    let refusal = ToolMetadata::new("").unwrap().with_examples(vec![deep]).unwrap_err();
    assert_eq!(refusal.code(), "notes-invalid");
}

#[test]
fn the_same_source_is_stored_once() {
    let fixture = StoreFixture::new();
    let (one, other) = (fixture.tool("one", &returns(1)), fixture.tool("other", &returns(1)));
    assert_ne!(one, other);
    assert_eq!(fixture.objects().len(), 3);
    fixture.delete("one").unwrap();
    fixture.undelete("one").unwrap();
    fixture.replace("one", &returns(1));
    assert_eq!(fixture.objects().iter().filter(|path| **path == fixture.source_object(&returns(1))).count(), 1);
    assert_eq!(fixture.objects().len(), 6);
    let same = fixture.store().catalog().find_same_source(&sample_tool("one", &returns(1)).spec).unwrap();
    assert_eq!(same.iter().map(|entry| entry.id).collect::<Vec<_>>(), [other]);
}

#[test]
fn what_is_said_about_a_tool_changes_and_the_tool_does_not() {
    let fixture = StoreFixture::new();
    let id = fixture.tool("sum", &returns(1));
    let expected = sample_tool("sum", &returns(1)).tags(&["math"]).described("Adds");
    assert_eq!(fixture.insert(&expected, OnConflict::Replace).unwrap().id, id);
    let entry = fixture.find("sum").unwrap();
    assert_eq!((entry.description.as_str(), entry.tags), ("Adds", vec!["math".to_owned()]));
    fixture.roll_back("sum", 1).unwrap();
    let entry = fixture.find("sum").unwrap();
    assert_eq!((entry.description.as_str(), entry.tags, entry.current), ("", Vec::new(), true));
}

#[test]
fn a_name_that_is_taken_stays_with_its_tool() {
    let fixture = StoreFixture::new();
    let id = fixture.tool("read_all", &returns(1));
    for twin in ["read_all", "READ_ALL", "read-all", "Read-ALL"] {
        let error = fixture.insert(&sample_tool(twin, &returns(2)), OnConflict::Refuse).unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.to_string()),
            ("name-taken", format!("`read_all` refers to {}", id.short()))
        );
    }
    let twin = fixture.replace("Read-All", &returns(2));
    let entry = fixture.find("READ_ALL").unwrap();
    assert_eq!((entry.id, entry.name.as_str()), (twin, "Read-All"));
    let old = fixture.store().catalog().find_any(&IdPrefix::parse(&id.short()).unwrap()).unwrap();
    assert_eq!((old.name.as_str(), old.current), ("read_all", false));
    assert_eq!(fixture.find(&id.short()).unwrap_err().code(), "tool-not-found");
    fixture.roll_back("read-all", 1).unwrap();
    assert_eq!(fixture.find("Read-All").unwrap().name.as_str(), "read_all");
}

#[test]
fn what_is_no_name_or_identifier_finds_nothing() {
    use toolcell::store::ToolRef;
    for text in [
        "",
        "  ",
        "../etc/passwd",
        "/",
        "a/b",
        "a\0",
        "平均",
        "аverage",
        "DT-0123ABCD",
        "dt_12/../34",
        "a b",
        "create-tool",
    ] {
        assert!(ToolRef::parse(text).is_err(), "{text}");
    }
    assert!(ToolRef::parse(&"a".repeat(1 << 20)).unwrap_err().to_string().len() < 200);
    let fixture = StoreFixture::new();
    fixture.tool("average", &returns(1));
    for absent in ["avera", "averages", "dt_00000000", &format!("dt_{}", "f".repeat(64))] {
        assert_eq!(fixture.find(absent).unwrap_err().code(), "tool-not-found", "{absent}");
    }
}

#[test]
fn a_deleted_name_comes_back() {
    let fixture = StoreFixture::new();
    let id = fixture.set_clock(1).tool("sum", &returns(1)).short();
    fixture.delete(&id).unwrap();
    assert_eq!((fixture.source("sum").as_str(), code(fixture.delete("sum"))), ("tool-not-found", "tool-not-found"));
    let step = fixture.undelete("SUM").unwrap();
    assert_eq!((step.number, fixture.source("sum")), (3, returns(1)));
    assert_eq!(code(fixture.undelete("sum")), "not-deleted");
    assert_eq!(code(fixture.undelete("never")), "tool-not-found");
    assert_eq!(fixture.history("sum"), format!("created {id} at 1, deleted {id} at 2, undeleted {id} at 4"));
}

#[test]
fn a_name_that_was_taken_again_is_not_given_back() {
    let fixture = StoreFixture::new();
    let first = fixture.tool("sum", &returns(1)).short();
    fixture.delete("sum").unwrap();
    let second = fixture.tool("Sum", &returns(2)).short();
    assert_eq!((code(fixture.undelete("sum")), code(fixture.undelete(&first))), ("not-deleted", "not-deleted"));
    assert_eq!(fixture.source("sum"), returns(2));
    fixture.delete("sum").unwrap();
    // A name is undeleted with its last tool; the tool before is an earlier version.
    assert_eq!(code(fixture.undelete(&first)), "not-deleted");
    assert_eq!(fixture.undelete(&second).unwrap().name.as_str(), "Sum");
    assert_eq!(code(fixture.roll_back("sum", 1)), "done");
    assert_eq!(fixture.source("sum"), returns(1));
}

#[test]
fn a_name_goes_back_to_each_version_that_it_led_to() {
    let fixture = StoreFixture::new();
    fixture.tool("sum", &returns(1));
    fixture.replace("sum", &returns(2));
    fixture.delete("sum").unwrap();
    for (number, expect) in [(3, "version-not-found"), (0, "version-not-found"), (9, "version-not-found"), (1, "done")]
    {
        assert_eq!(code(fixture.roll_back("sum", number)), expect, "{number}");
    }
    assert_eq!((fixture.source("sum"), code(fixture.roll_back("never", 1))), (returns(1), "tool-not-found"));
    fixture.roll_back("sum", 2).unwrap();
    fixture.roll_back("sum", 4).unwrap();
    assert_eq!(fixture.source("sum"), returns(1));
    let events: Vec<&str> =
        fixture.store().catalog().history(&name("SUM")).unwrap().iter().map(|past| past.event.name()).collect();
    assert_eq!(events, ["created", "replaced", "deleted", "rolled-back", "rolled-back", "rolled-back"]);
    assert!(fixture.store().catalog().history(&name("never")).unwrap().is_empty());
}

#[test]
fn a_tool_that_is_created_again_is_the_one_it_was() {
    let fixture = StoreFixture::new();
    let id = fixture.set_clock(10).tool("sum", &returns(1));
    fixture.run(id, None, 7, 7);
    fixture.delete("sum").unwrap();
    fixture.run(id, Some("timeout"), 7, 7);
    assert_eq!(fixture.set_clock(20).tool("sum", &returns(1)), id);
    let entry = fixture.find("sum").unwrap();
    assert_eq!((entry.runs, entry.successes, entry.created_at.as_second()), (2, 1, 10));
    assert_eq!(entry.updated_at.as_second(), 20);
}

#[test]
fn no_more_tools_have_names_than_may() {
    let fixture = StoreFixture::with_settings(Settings { tool_limit: Some(2), ..Settings::default() });
    fixture.tool("one", &returns(1));
    fixture.tool("two", &returns(2));
    let error = fixture.insert(&sample_tool("three", &returns(3)), OnConflict::Refuse).unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.to_string().as_str()),
        ("tool-limit-reached", "the store has 2 tools, which is the limit")
    );
    fixture.replace("one", &returns(4));
    fixture.delete("one").unwrap();
    fixture.tool("three", &returns(3));
    assert_eq!(code(fixture.undelete("one")), "tool-limit-reached");
    assert_eq!(code(fixture.roll_back("one", 1)), "tool-limit-reached");
    fixture.delete("two").unwrap();
    assert_eq!((code(fixture.undelete("one")), fixture.source("one")), ("done", returns(4)));
}

/// Returns two sources whose tools have identifiers with the same first eight digits. A search over
/// some hundred thousand finds such a pair.
fn twins() -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    let draft = Draft::from_bytes("t.js", returns(1).as_bytes()).unwrap();
    for number in 0_u32.. {
        let called = format!("t{number}");
        let spec = ToolSpec::new(ToolName::parse(&called).unwrap(), &draft, json!(null), json!(null)).unwrap();
        let digits: [u8; 4] = spec.id().as_bytes()[..4].try_into().unwrap();
        if let Some(first) = seen.insert(digits, called.clone()) {
            return (first, called);
        }
    }
    unreachable!("there are no more numbers than beginnings")
}

#[test]
fn a_prefix_that_fits_two_tools_names_both() {
    let fixture = StoreFixture::new();
    let (one, other) = twins();
    let mut ids: Vec<(ToolId, &String)> = [&one, &other].map(|tool| (fixture.tool(tool, &returns(1)), tool)).into();
    ids.sort();
    let text = ids[0].0.to_string();
    let prefix = &text[..11];
    let error = fixture.find(prefix).unwrap_err();
    let [(first, first_name), (second, second_name)] = ids.as_slice() else { unreachable!() };
    let both = format!("`{prefix}` matches {first} ({first_name}) and {second} ({second_name})");
    assert_eq!((error.code().as_str(), error.to_string()), ("id-ambiguous", both));
    assert!(matches!(error, FindError::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert_eq!(code(fixture.delete(prefix)), "id-ambiguous");
    let longer = ids.iter().map(|(id, _)| fixture.find(&id.to_string()).unwrap().id).collect::<Vec<_>>();
    assert_eq!(longer, [*first, *second]);

    // Once the other tool is deleted, the prefix is unambiguous.
    fixture.delete(&one).unwrap();
    assert_eq!(fixture.store().catalog().find(&reference(prefix)).unwrap().name.as_str(), other);
    assert_eq!(code(fixture.undelete(prefix)), "id-ambiguous");
}
