//! Bundles: equal tools are exported as equal bytes, and an import trusts none of a bundle's
//! claims.

use serde_json::{Value, json};
use toolcell::store::{Approval, Decision, HistoryScope, Import, OnConflict, ToolRef};
use toolcell::{ExportSelection, Status};

use crate::fixtures::store::{StoreFixture, reference, returns, sample_tool, sample_tool_with};

/// Creates a store with two tools.
fn shelf_of_two() -> StoreFixture {
    let fixture = StoreFixture::new();
    fixture.insert(&sample_tool("one", &returns(1)).tags(&["b", "a"]).described("Is 1"), OnConflict::Refuse).unwrap();
    fixture.tool("two", &returns(2));
    fixture
}

/// Returns the bundle line of a tool.
fn line(tool: &str, source: &str) -> Value {
    let fixture = StoreFixture::new();
    fixture.tool(tool, source);
    lines(&fixture.export(HistoryScope::Latest)).remove(1)
}

fn lines(bundle: &[u8]) -> Vec<Value> {
    bundle.split_inclusive(|byte| *byte == b'\n').map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Creates a bundle with these lines, and a header with their number.
fn bundle(lines: &[Value]) -> Vec<u8> {
    bundle_of(&json!(lines.len()), lines)
}

fn bundle_of(says: &Value, lines: &[Value]) -> Vec<u8> {
    let header = json!({"tools": says, "type": "toolcell.bundle.v1"});
    [&header].into_iter().chain(lines).flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

/// Returns the line with another value for a field.
fn but(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

/// Asserts that an import is rejected and stores nothing.
#[track_caller]
fn refused(bundle: &[u8], code: &str, message: &str) {
    let fixture = StoreFixture::new();
    let error = fixture.import_with(bundle, OnConflict::Replace).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert!(fixture.objects().is_empty(), "something is stored");
    assert_eq!(fixture.store().catalog().list(&toolcell::store::Filter::default()).unwrap().total, 0);
}

#[test]
fn the_same_tools_are_the_same_bytes_wherever_they_were() {
    let parameters = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let one = sample_tool("one", &returns(1)).tags(&["x", "統計", "a"]);
    let net = || json!(["net"]);
    let two = sample_tool_with("Two", &returns(2), parameters(r#"{"a": {"type": "number", "default": 1}}"#), net());
    let same = sample_tool_with("Two", &returns(2), parameters(r#"{"a": {"default": 1.0, "type": "number"}}"#), net());

    let here = StoreFixture::new();
    here.insert(&one, OnConflict::Refuse).unwrap();
    here.insert(&two, OnConflict::Refuse).unwrap();
    let there = StoreFixture::new();
    there.set_clock(9_999_999).tool("one", &returns(9));
    there.insert(&same.scores(0.3, 0.2), OnConflict::Refuse).unwrap();
    there.tool("gone", &returns(3));
    there.delete("gone").unwrap();
    there.insert(&sample_tool("one", &returns(1)).tags(&["a", "x", "統計", "x"]), OnConflict::Replace).unwrap();
    there.run(two.id(), Some("timeout"), 5, 5);

    let bundle = here.export(HistoryScope::Latest);
    assert_eq!(String::from_utf8_lossy(&bundle), String::from_utf8_lossy(&there.export(HistoryScope::Latest)));
    let of = |references: &[ToolRef]| {
        let mut bundle = Vec::new();
        let what = ExportSelection::Only(references);
        toolcell::export(there.store(), what, HistoryScope::Latest, &mut bundle, there.now()).unwrap();
        bundle
    };
    let id = reference(&two.id().short());
    assert_eq!(of(&[reference("TWO"), reference("one"), id, reference("one")]), bundle);
    assert!(bundle.starts_with(b"{\"tools\":2,\"type\":\"toolcell.bundle.v1\"}\n"));
    for line in bundle.split_inclusive(|byte| *byte == b'\n') {
        let value: Value = serde_json::from_slice(line).unwrap();
        assert_eq!([toolcell_tool::canonical_json(&value).unwrap(), b"\n".to_vec()].concat(), line);
    }
}

#[test]
fn what_goes_out_comes_in_and_goes_out_the_same() {
    let here = shelf_of_two();
    for number in 3..6 {
        here.replace("one", &returns(number));
    }
    here.roll_back("one", 2).unwrap();
    here.replace("TWO", &returns(7));
    here.replace("two-", &returns(8));
    here.delete("two-").unwrap();
    here.undelete("TWO-").unwrap();
    for history in [HistoryScope::Latest, HistoryScope::All] {
        let bundle = here.export(history);
        let there = StoreFixture::new();
        let imported = there.import(&bundle).unwrap();
        assert_eq!((imported.added.len(), imported.replaced.len(), imported.unchanged), (3, 0, 0));
        assert_eq!(String::from_utf8_lossy(&there.export(history)), String::from_utf8_lossy(&bundle));
        let again = there.import(&bundle).unwrap();
        assert_eq!((again.added.len(), again.replaced.len(), again.unchanged), (0, 0, 3));
        assert_eq!(there.source("one"), returns(3));
    }
    let there = StoreFixture::new();
    there.import(&here.export(HistoryScope::All)).unwrap();
    assert_eq!(there.roll_back("one", 1).unwrap().id, sample_tool("one", &returns(1)).id());
    assert_eq!(there.roll_back("two", 1).unwrap().id, sample_tool("two", &returns(2)).id());
}

#[test]
fn what_is_no_bundle_is_refused() {
    refused(b"", "bundle-unknown", "the type in its first line is not `toolcell.bundle.v1`");
    refused(b"\n", "bundle-unknown", "its first line");
    refused(&[0xff, 0xfe, 0, 1], "bundle-unknown", "its first line");
    refused(br#"{"name": "package"}"#, "bundle-unknown", "its first line");
    refused(br#"{"type": "toolcell.version.v1"}"#, "bundle-unknown", "its type is `toolcell.version.v1`");
    refused(
        b"{\"compressed\":true,\"tools\":1,\"type\":\"toolcell.bundle.v2\"}\n",
        "bundle-unknown",
        "the bundle has the type `toolcell.bundle.v2`, this version reads `toolcell.bundle.v1`",
    );
    let invalid = b"{\"tools\":-1,\"type\":\"toolcell.bundle.v1\"}\n";
    refused(invalid, "bundle-unknown", "its first line is invalid: invalid value");
    refused(b"{\"tools\":0,\"type\":\"toolcell.bundle.v1\",\"x\":1}\n", "bundle-unknown", "unknown field `x`");
    refused(&vec![b'{'; 1 << 20], "bundle-unknown", "its first line");
}

#[test]
fn a_bundle_that_lies_about_its_tools_is_refused() {
    let (one, two) = (|| line("one", &returns(1)), || line("two", &returns(2)));
    let both = [one(), two()];
    refused(&bundle_of(&json!(3), &both), "bundle-invalid", "announces 3 tools, but the bundle has 2");
    refused(&bundle_of(&json!(u64::MAX), &both), "bundle-invalid", "18446744073709551615 tools, but the bundle has 2");
    refused(&bundle_of(&json!(1), &both), "bundle-invalid", "line 3: the bundle has more than the 1 tools");
    refused(&bundle_of(&json!(0), &both), "bundle-invalid", "line 2: the bundle has more than the 0 tools");
    refused(&bundle(&[one(), one()]), "bundle-invalid", "line 3: `one` is already in line 2");
    let twins = [line("a-b", &returns(1)), line("A_B", &returns(2))];
    refused(&bundle(&twins), "bundle-invalid", "line 3: `A_B` is already in line 2");

    let changed = [
        but(one(), "code", json!(returns(2))),
        but(one(), "id", two()["id"].clone()),
        but(one(), "name", json!("One")),
        but(one(), "parameters", json!({"a": {"type": "number"}})),
        but(one(), "capabilities", json!(["net"])),
    ];
    for changed in changed {
        refused(&bundle(&[two(), changed]), "bundle-invalid", "claims to be dt_");
    }
    let wrong = [
        (but(one(), "id", json!("dt_0123456789ab")), "line 2: an identifier is"),
        (but(one(), "id", json!("../../x")), "line 2: an identifier is"),
        (but(one(), "name", json!("../../x")), "`../../x` is not a valid tool name"),
        (but(one(), "name", json!("")), "a tool needs a name"),
        (but(one(), "name", json!("create_tool")), "the name of an operation"),
        (but(one(), "code", json!("")), "the source is empty"),
        (but(one(), "code", json!("x".repeat(65_537))), "the source is longer than 65536 bytes"),
        (but(one(), "description", json!("x".repeat(1 << 20))), "the description is 1048576 bytes, the limit is 16384"),
        (but(one(), "tags", json!(vec!["t"; 100_000])), "there are more than 64 tags"),
        (but(one(), "tags", json!(["\u{1b}[2J"])), "is not a valid tag"),
        (but(one(), "examples", json!(["x".repeat(1 << 20)])), "the limit is 262144"),
        (but(one(), "parameters", json!("x".repeat(1 << 20))), "the limit is 65536"),
        (but(one(), "status", json!("passed")), "unknown field `status`"),
        (but(one(), "approved", json!(true)), "unknown field `approved`"),
        (but(one(), "earlier", json!([{"id": 1}])), "line 2: "),
        (json!([]), "line 2: "),
        (json!(null), "line 2: "),
        (json!({}), "line 2: "),
    ];
    for (line, message) in wrong {
        refused(&bundle(&[line, two()]), "bundle-invalid", message);
    }
}

#[test]
fn what_a_name_led_to_before_is_looked_at_as_closely() {
    let fixture = StoreFixture::new();
    fixture.tool("one", &returns(1));
    fixture.replace("one", &returns(2));
    let line = lines(&fixture.export(HistoryScope::All)).remove(1);
    let earlier = |field: &str, value: Value| {
        but(line.clone(), "earlier", json!([but(line["earlier"][0].clone(), field, value)]))
    };
    refused(&bundle(&[earlier("code", json!(returns(3)))]), "bundle-invalid", "claims to be dt_");
    refused(&bundle(&[earlier("status", json!("passed"))]), "bundle-invalid", "unknown field `status`");
    let other = but(line.clone(), "earlier", json!([self::line("two", &returns(2))]));
    refused(&bundle(&[other]), "bundle-invalid", "line 2: `two` is not the same name as `one`");
    let twice = but(line.clone(), "earlier", json!([line["earlier"][0], line["earlier"][0]]));
    refused(&bundle(&[twice]), "bundle-invalid", "twice");
    let mut itself = line.clone();
    itself.as_object_mut().unwrap().remove("earlier");
    refused(&bundle(&[but(line, "earlier", json!([itself]))]), "bundle-invalid", "twice");
}

#[test]
fn a_bundle_that_was_cut_off_or_changed_is_never_taken_for_another() {
    let whole = shelf_of_two().export(HistoryScope::Latest);
    let tools: Vec<_> = Import::read(&whole).unwrap().tools().iter().map(|tool| tool.spec.clone()).collect();
    for end in 0..whole.len() {
        assert!(Import::read(&whole[..end]).is_err(), "{}", String::from_utf8_lossy(&whole[..end]));
    }
    for at in 0..whole.len() {
        for bit in [0, 3, 5, 7] {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            // Metadata is not part of the identifier, so a change of it may go unnoticed.
            if let Ok(import) = Import::read(&changed) {
                let read: Vec<_> = import.tools().iter().map(|tool| tool.spec.clone()).collect();
                assert_eq!(read, tools, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn a_bundle_cannot_wear_out_who_reads_it() {
    let one = line("one", &returns(1));
    let long = but(one.clone(), "description", json!("x".repeat(17 << 20)));
    refused(&bundle(&[long]), "bundle-invalid", "the limit is 16777216");
    for depth in [200, 100_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let deep = but(one.clone(), "parameters", json!("HERE")).to_string().replace("\"HERE\"", &nested);
        let text = format!("{{\"tools\":1,\"type\":\"toolcell.bundle.v1\"}}\n{deep}\n");
        refused(text.as_bytes(), "bundle-invalid", "recursion limit exceeded");
    }
    let many = "\n".repeat(1 << 20);
    refused(format!("{{\"tools\":1,\"type\":\"toolcell.bundle.v1\"}}{many}").as_bytes(), "bundle-invalid", "line 2: ");
}

#[test]
fn names_that_are_taken_are_all_told_and_nothing_is_stored() {
    let bundle = bundle(&[line("free", &returns(0)), line("one", &returns(1)), line("TWO", &returns(2))]);
    let fixture = StoreFixture::new();
    let (one, two) = (fixture.tool("one", &returns(8)), fixture.tool("two", &returns(9)));
    let before = fixture.objects();
    let error = fixture.import(&bundle).unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.to_string()),
        (
            "name-taken",
            format!("names are taken by other tools: `one` refers to {}, `two` refers to {}", one.short(), two.short())
        )
    );
    assert_eq!((fixture.objects(), fixture.source("free")), (before, "tool-not-found".to_owned()));
}

#[test]
fn replacing_makes_new_versions_and_leaves_alone_what_is_the_same() {
    let bundle = bundle(&[line("free", &returns(0)), line("one", &returns(1)), line("TWO", &returns(2))]);
    let fixture = StoreFixture::new();
    let (one, two) = (fixture.tool("one", &returns(1)), fixture.tool("two", &returns(9)));
    fixture.set_clock(50);
    let imported = fixture.import_with(&bundle, OnConflict::Replace).unwrap();
    let names = |tools: &[(toolcell::ToolName, toolcell::ToolId)]| {
        tools.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!((names(&imported.added), names(&imported.replaced)), (vec!["free".to_owned()], vec!["TWO".to_owned()]));
    assert_eq!(imported.unchanged, 1);
    assert_eq!(fixture.history("one"), format!("created {} at 1000", one.short()));
    let new = sample_tool("TWO", &returns(2)).id().short();
    assert_eq!(fixture.history("two"), format!("created {} at 1001, replaced {new} at 50", two.short()));
}

#[test]
fn one_tool_that_is_refused_keeps_all_others_out() {
    let good = || line("good", &returns(1));
    let (bad, none) = (line("bad", "const execute = () => eval('1')"), line("none", "const x = 1"));
    refused(&bundle(&[good(), bad.clone()]), "critical-risk", "`bad` is refused: ");
    refused(&bundle(&[good(), none]), "critical-risk", "`none` is refused: the source declares no tool");
    refused(&bundle(&[good(), line("broken", "const = ;")]), "critical-risk", "`broken` is refused: ");

    let hidden = but(line("bad", &returns(2)), "earlier", json!([bad]));
    refused(&bundle(&[good(), hidden]), "critical-risk", "`bad` is refused: ");
}

#[test]
fn a_tool_comes_in_unverified_and_unapproved_whatever_was_known_of_it() {
    let fixture = shelf_of_two();
    let bundle = fixture.export(HistoryScope::Latest);
    let one = sample_tool("one", &returns(1)).id();
    let grants = json!({"net": ["example.org"]});
    let decision = Decision::Approved;
    let approval = Approval { tool: one, grants: grants.clone(), decision, by: "me".to_owned(), at: fixture.now() };
    fixture.store().approvals().set_decision(&approval).unwrap();
    fixture.store().catalog().set_status(one, Status::Pending).unwrap();
    fixture.store().catalog().set_status(one, Status::Passed).unwrap();
    fixture.run(one, None, 7, 7);
    fixture.delete("one").unwrap();
    fixture.import(&bundle).unwrap();
    let entry = fixture.find("one").unwrap();
    assert_eq!((entry.status, entry.runs), (Status::Unverified, 1));
    assert_eq!(fixture.store().approvals().decision(one, &grants).unwrap(), None);

    // An import does not change existing tools.
    fixture.store().approvals().set_decision(&approval).unwrap();
    fixture.store().catalog().set_status(one, Status::Pending).unwrap();
    fixture.import(&bundle).unwrap();
    assert_eq!(fixture.find("one").unwrap().status, Status::Pending);
    assert_eq!(fixture.store().approvals().decision(one, &grants).unwrap(), Some(Decision::Approved));
}

#[test]
fn an_import_does_not_take_a_refusal_back() {
    let fixture = shelf_of_two();
    let bundle = fixture.export(HistoryScope::Latest);
    let one = sample_tool("one", &returns(1)).id();
    let grants = json!({"net": ["example.org"]});
    let decision = Decision::Refused;
    let refusal = Approval { tool: one, grants: grants.clone(), decision, by: "me".to_owned(), at: fixture.now() };
    fixture.store().approvals().set_decision(&refusal).unwrap();
    fixture.delete("one").unwrap();
    fixture.import(&bundle).unwrap();
    assert!(fixture.find("one").unwrap().has_decision);
    for grants in [&grants, &json!({})] {
        assert_eq!(fixture.store().approvals().decision(one, grants).unwrap(), Some(Decision::Refused));
    }
}

#[test]
fn a_tool_that_somebody_quarantined_stays_so() {
    let fixture = shelf_of_two();
    let bundle = fixture.export(HistoryScope::Latest);
    let one = sample_tool("one", &returns(1)).id();
    fixture.store().catalog().set_status(one, Status::Quarantined).unwrap();
    fixture.delete("one").unwrap();
    fixture.import(&bundle).unwrap();
    assert_eq!(fixture.find("one").unwrap().status, Status::Quarantined);
}
