//! `delete_dynamic_tool`: deletion needs confirmation, and can be undone.

use serde_json::json;
use toolcell::store::ToolRef;

use super::{ToolboxFixture, returned_value};

const ONE: &str = "const execute = () => 1";

// Row 23 of the feature table.
#[test]
fn a_deletion_is_confirmed_and_can_be_undone() {
    let host = ToolboxFixture::new();
    let id = host.tool("one", ONE).id;
    let _ = host.run("one", &json!({})).unwrap();
    let before = host.list(&json!({})).tools;
    assert_eq!(host.delete(&json!({ "tool_name": "one" })).unwrap_err().code(), "confirm-required");
    assert_eq!(host.list(&json!({})).tools, before);

    host.delete(&json!({ "tool_name": "one", "confirm": true })).unwrap();
    assert_eq!(host.list(&json!({})).total, 0);
    let back = host.toolbox().undelete(&ToolRef::parse("one").unwrap()).unwrap();
    assert_eq!(back.id, id);
    let entry = &host.list(&json!({})).tools[0];
    assert_eq!((entry.id, entry.runs, entry.confidence), (id, 1, before[0].confidence));
    assert_eq!(returned_value(&host.run("one", &json!({})).unwrap()), 1);
}

#[test]
fn a_deletion_that_is_none_is_refused() {
    let host = ToolboxFixture::new();
    let id = host.tool("one", ONE).id;
    let delete = |fields| host.delete(&fields).unwrap_err().code();
    assert_eq!(delete(json!({ "confirm": true })), "request-invalid");
    assert_eq!(delete(json!({ "tool_name": "none", "confirm": true })), "tool-not-found");
    assert_eq!(delete(json!({ "tool_name": "none" })), "tool-not-found");
    let undelete = |text: &str| host.toolbox().undelete(&ToolRef::parse(text).unwrap()).unwrap_err().code();
    assert_eq!(undelete("one"), "not-deleted");
    assert_eq!(undelete("none"), "tool-not-found");
    assert_eq!(undelete(&id.short()), "not-deleted");
}

#[test]
fn a_name_that_was_deleted_is_free() {
    let host = ToolboxFixture::new();
    let old = host.tool("one", ONE).id;
    host.delete(&json!({ "tool_name": "one", "confirm": true })).unwrap();
    let new = host.tool("one", "const execute = () => 2");
    assert_ne!(new.id, old);
    assert_eq!(returned_value(&host.run("one", &json!({})).unwrap()), 2);
    let error = host.toolbox().undelete(&ToolRef::parse(&old.to_string()).unwrap()).unwrap_err();
    assert_eq!(error.code(), "not-deleted");
}
