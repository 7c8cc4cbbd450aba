//! The commands that maintain a store: text output, JSON output, and exit statuses.

use std::fs;

use serde_json::{Value, json};
use toolcell::store::{HistoryScope, OnConflict};

use crate::fixtures::cli::{CommandOutput, toolcell, toolcell_with_input};
use crate::fixtures::store::{StoreFixture, overwrite, returns, sample_tool};
use crate::rebuild::with_an_older_index;

/// Runs a command on a store.
fn on(fixture: &StoreFixture, words: &[&str]) -> CommandOutput {
    toolcell(&[&["--dir", fixture.dir()], words].concat())
}

#[track_caller]
fn assert_output(done: &CommandOutput, status: u8, out: &str, err: &str) {
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (status, out, err));
}

/// Creates a store with the tool `sum`, and a name that was deleted in 1970.
fn fixture() -> StoreFixture {
    let fixture = StoreFixture::new();
    fixture.tool("sum", &returns(1));
    fixture.tool("gone", &returns(2));
    fixture.delete("gone").unwrap();
    fixture
}

#[test]
fn fsck_names_what_is_wrong_and_what_was_done() {
    let mut fixture = fixture();
    fixture.close();
    let done = on(&fixture, &["fsck"]);
    assert!(done.out.starts_with("1 tool, 5 objects, ") && done.out.ends_with(": no problems\n"), "{}", done.out);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    let looked = on(&fixture, &["fsck", "--json"]).json();
    assert_eq!((&looked["good"], &looked["tools"], &looked["problems"]), (&json!(true), &json!(1), &json!([])));

    let id = sample_tool("sum", &returns(1)).id().short();
    overwrite(&fixture.source_object(&returns(1)), b"const execute = () => 2");
    let hash = blake3::hash(returns(1).as_bytes()).to_hex();
    let actual = &blake3::hash(b"const execute = () => 2").to_hex()[..16];
    let object = format!("object {hash}: does not match its hash: its 23 bytes hash to {actual}…");
    let done = on(&fixture, &["fsck"]);
    let expected = format!("problem: {object}\nproblem: sum ({id}): its source is lost\n1 tool, 4 objects, ");
    assert!(done.out.starts_with(&expected) && done.out.ends_with(": 2 problems\n"), "{}", done.out);
    assert_eq!((done.status, done.err.as_str()), (6, "hint: repair the store with `toolcell fsck --repair`\n"));
    assert_eq!(on(&fixture, &["fsck", "--json"]).json()["good"], false);

    let done = on(&fixture, &["fsck", "--repair"]);
    let expected =
        format!("repaired: {object}; moved to the quarantine\nrepaired: sum ({id}): its source is lost; it is ");
    assert!(done.out.starts_with(&expected) && done.out.ends_with(", 1 in quarantine: 2 repaired\n"), "{}", done.out);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    assert!(on(&fixture, &["fsck"]).out.ends_with(", 1 in quarantine: no problems\n"));
    assert!(on(&fixture, &["audit", "--action", "repair"]).out.ends_with("  repair  done  {\"count\":2}\n"));
}

#[test]
fn fsck_names_steps_that_the_index_does_not_know_and_takes_in_those_that_are_named() {
    let (fixture, _) = with_an_older_index();
    let done = on(&fixture, &["fsck"]);
    assert!(done.out.contains("\nunknown: new (") || done.out.starts_with("unknown: new ("), "{}", done.out);
    let expected = ": no damage, but unknown steps need a decision\n";
    assert!(done.out.ends_with(expected) && done.err.contains("with --adopt"), "{}{}", done.out, done.err);
    assert_eq!(done.status, 6);
    assert_eq!(on(&fixture, &["fsck", "--json"]).json()["good"], false);

    let refused = on(&fixture, &["--json", "fsck", "--repair", "--adopt", "nobody"]);
    assert!(refused.err.contains("step-not-found") || refused.out.contains("step-not-found"), "{}", refused.err);
    assert_eq!(on(&fixture, &["list"]).out.matches("new").count(), 0);
    let done = on(&fixture, &["fsck", "--repair", "--adopt", "new"]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    assert!(on(&fixture, &["fsck"]).out.ends_with(": no problems\n"));
    assert!(on(&fixture, &["list"]).out.contains("new"));
}

#[test]
fn gc_says_what_it_would_collect_and_what_it_did() {
    let fixture = fixture();
    let gone = sample_tool("gone", &returns(2)).id();
    let done = on(&fixture, &["gc", "--dry-run"]);
    let expected = format!("would collect gone ({})\n3 objects, ", gone.short());
    assert!(done.out.starts_with(&expected), "{}", done.out);
    assert!(done.out.ends_with(", and 0 unfinished files would be collected\n"), "{}", done.out);
    let planned = on(&fixture, &["gc", "--dry-run", "--older-than", "0s", "--json"]).json();
    assert_eq!(planned["names"], json!([{"name": "gone", "id": gone.to_string()}]));
    assert_eq!(on(&fixture, &["gc", "--older-than", "1000000d", "--json"]).json()["names"], json!([]));

    let collected = on(&fixture, &["gc", "--json"]).json();
    assert_eq!((&collected["dryRun"], &collected["objects"]), (&json!(false), &json!(3)));
    assert_eq!(collected["bytes"], planned["bytes"]);
    assert_output(
        &on(&fixture, &["gc"]),
        0,
        "0 objects, 0 bytes, 0 run records, 0 expired values, 0 suspended runs, and 0 unfinished files were collected\n",
        "",
    );
    assert_eq!(on(&fixture, &["audit", "--action", "gc", "--json"]).out.lines().count(), 3);
    for age in ["-3d", "soon", "", "1 fortnight"] {
        assert_eq!(on(&fixture, &["gc", &format!("--older-than={age}")]).status, 2, "{age}");
    }
}

#[test]
fn export_writes_tools_where_it_is_told() {
    let fixture = fixture();
    let bundle = String::from_utf8(fixture.export(HistoryScope::Latest)).unwrap();
    assert_output(&on(&fixture, &["export"]), 0, &bundle, "");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.bundle").to_str().unwrap().to_owned();
    let id = sample_tool("sum", &returns(1)).id().short();
    assert_output(&on(&fixture, &["export", "SUM", &id, "-o", &file]), 0, &format!("1 tool in {file}\n"), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), bundle);
    let done = on(&fixture, &["export", "--history", "-o", &file, "--json"]).json();
    assert_eq!(done, json!({"tools": 1, "bytes": bundle.len(), "file": file, "signed": false}));

    let unknown = "error: tool not found: there is no tool `gone`\nhint: `toolcell list` shows all tools\n";
    assert_output(&on(&fixture, &["export", "gone", "-o", &file]), 4, "", unknown);
    assert_eq!(fs::read_to_string(&file).unwrap(), bundle);
    assert_eq!(on(&fixture, &["export", "../x"]).status, 2);
    assert_eq!(on(&fixture, &["export", "--sign", "key"]).status, 2);
    assert_eq!(on(&fixture, &["export", "-o", &format!("{file}/x")]).status, 2);
    let nowhere = on(&fixture, &["export", "-o", "/no/such/folder/x"]);
    assert_eq!(nowhere.status, 4);
    assert!(
        nowhere.err.contains("the folder does not exist") && nowhere.err.contains("choose a path in an existing"),
        "{}",
        nowhere.err
    );
    let failed = on(&fixture, &["audit", "--action", "export", "--outcome", "failed"]);
    assert!(failed.out.ends_with("  export  failed: tool-not-found\n"), "{}", failed.out);
}

#[test]
fn import_says_what_came_of_each_tool() {
    let from = fixture();
    from.replace("sum", &returns(3));
    let bundle = from.export(HistoryScope::Latest);
    let (sum, new) = (sample_tool("sum", &returns(1)).id().short(), sample_tool("sum", &returns(3)).id().short());
    let into = StoreFixture::new();
    let import = |words: &[&str], bundle: &[u8]| {
        toolcell_with_input(&[&["--dir", into.dir(), "import", "-"], words].concat(), bundle)
    };
    let nobody = "not signed by a trusted key\n";
    let added = format!("added sum ({new})\n1 added, 0 replaced, 0 unchanged; {nobody}");
    assert_output(&import(&[], &bundle), 0, &added, "");
    assert_output(&import(&[], &bundle), 0, &format!("0 added, 0 replaced, 1 unchanged; {nobody}"), "");
    into.replace("sum", &returns(1));
    let hint = "hint: nothing was imported; --replace imports them as new versions\n";
    let taken = format!("error: names are taken by other tools: `sum` refers to {sum}\n{hint}");
    assert_output(&import(&[], &bundle), 4, "", &taken);
    assert_eq!(import(&["--json"], &bundle).json()["error"]["code"], "name-taken");
    let answer = import(&["--replace", "--json"], &bundle).json();
    assert_eq!(
        (&answer["replaced"][0]["name"], &answer["unchanged"], &answer["signer"]),
        (&json!("sum"), &json!(0), &Value::Null)
    );

    let critical = StoreFixture::new();
    critical.insert(&sample_tool("bad", "const execute = () => eval('1')"), OnConflict::Refuse).unwrap();
    let header = |kind: &str| format!("{{\"tools\":1,\"type\":\"{kind}\"}}\n");
    for (bundle, status, code) in [
        (critical.export(HistoryScope::Latest), 3, "critical-risk"),
        (header("toolcell.bundle.v1").into_bytes(), 6, "bundle-invalid"),
        (header("toolcell.bundle.v9").into_bytes(), 2, "bundle-unknown"),
        (b"PK\x03\x04".to_vec(), 2, "bundle-unknown"),
    ] {
        let done = import(&["--json"], &bundle);
        assert_eq!((done.status, &done.json()["error"]["code"]), (status, &json!(code)));
        // A rejected import is logged as well.
        let last = on(&into, &["audit", "--limit", "1"]).out;
        assert!(last.ends_with(&format!("  import  failed: {code}\n")), "{last}");
    }
    assert_eq!(on(&into, &["import", "/no/such/file"]).status, 4);
}

#[test]
fn audit_shows_what_is_asked_for() {
    let fixture = fixture();
    for words in [&["export"][..], &["export", "gone"], &["gc"], &["export", "sum"]] {
        on(&fixture, words);
    }
    let actions = |words: &[&str]| {
        let done = on(&fixture, &[&["audit", "--json"], words].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["action"].as_str().unwrap().to_owned();
        done.out.lines().map(line).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(actions(&[]), "export gc export export");
    assert_eq!(actions(&["--oldest-first"]), "export export gc export");
    assert_eq!(actions(&["--limit", "2"]), "export gc");
    assert_eq!(actions(&["--action", "gc"]), "gc");
    assert_eq!(actions(&["--outcome", "failed"]), "export");
    assert_eq!(actions(&["--outcome", "succeeded", "--action", "export"]), "export export");
    assert_eq!(actions(&["--until", "2000-01-01T00:00:00Z"]), "");
    assert_eq!(actions(&["--since", "2000-01-01T00:00:00Z"]), "export gc export export");
    assert_eq!(actions(&["--tool", "sum"]), "");
    for wrong in [&["--action", "teleport"][..], &["--since", "yesterday"], &["--limit", "-1"], &["--outcome", "odd"]] {
        assert_eq!(on(&fixture, &[&["audit"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn audit_verify_proves_that_nothing_was_changed() {
    let fixture = fixture();
    assert_output(&on(&fixture, &["audit", "verify"]), 0, "0 lines in 0 files, intact; the log is empty\n", "");
    on(&fixture, &["export"]);
    let early = on(&fixture, &["audit", "verify", "--json"]).json();
    let head = early["head"].as_str().unwrap().to_owned();
    on(&fixture, &["gc"]);
    let done = on(&fixture, &["audit", "verify", "--head", &head]);
    assert!(done.out.starts_with("2 lines in 1 files, intact; head 2:"), "{}", done.out);
    assert_eq!(done.status, 0);
    assert_eq!(on(&fixture, &["audit", "verify", "--head", "nonsense"]).status, 2);
    let forged = format!("1:{}", "0".repeat(64));
    assert_eq!(on(&fixture, &["audit", "verify", "--head", &forged]).status, 6);

    let log = fixture.path().join("logs/dynamic-tools-audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("\"success\":true", "\"success\":false", 1)).unwrap();
    let done = on(&fixture, &["audit", "verify"]);
    assert!(done.out.starts_with("problem: dynamic-tools-audit.jsonl:1: entry 1 "), "{}", done.out);
    assert_eq!(done.status, 6);
    let answer = on(&fixture, &["audit", "verify", "--json"]).json();
    assert_eq!((&answer["clean"], &answer["problems"][0]["line"]), (&json!(false), &json!(1)));
}

#[test]
fn doctor_looks_at_the_store_as_well() {
    let mut fixture = fixture();
    let doctor = |fixture: &StoreFixture| on(fixture, &["doctor", "--image", "bounded"]);
    let done = doctor(&fixture);
    let expected = format!("store          {} (read and write)\n               1 tool, 5 objects, ", fixture.dir());
    assert!(done.status == 0 && done.out.contains(&expected) && done.out.ends_with("\nworks\n"), "{}", done.out);
    fixture.close();
    fs::remove_file(fixture.source_object(&returns(1))).unwrap();
    let done = doctor(&fixture);
    assert!(done.status == 6 && done.out.contains("\nproblem: sum (dt_"), "{}", done.out);
    let answer = on(&fixture, &["doctor", "--image", "bounded", "--json"]).json();
    assert_eq!(answer["store"]["health"]["problems"][0]["wrong"], "its source is lost");

    fs::write(fixture.path().join("toolcell-store"), "toolcell store, format 11\n").unwrap();
    let done = doctor(&fixture);
    assert!(done.status == 6 && done.out.contains("it has format 11, this version reads format 10"), "{}", done.out);
    fs::write(fixture.path().join("toolcell-store"), "a shopping list\n").unwrap();
    assert_eq!(doctor(&fixture).status, 6);

    let done = toolcell(&["doctor", "--image", "bounded"]);
    assert!(done.status == 0 && done.out.contains(" (not created yet)\n"), "{}", done.out);
}

#[test]
fn doctor_reports_in_the_language_of_the_reader_and_to_programs_in_english() {
    let doctor = |words: &[&str]| toolcell(&[&["doctor", "--image", "bounded"], words].concat());
    for (lang, kernel, store, works) in [
        ("ja", "\nカーネル       ", "（未作成）\n", "\n正常に動作します\n"),
        ("zh", "\n内核           ", "（尚未创建）\n", "\n工作正常\n"),
    ] {
        let done = doctor(&["--lang", lang]);
        assert_eq!(done.status, 0, "{}", done.out);
        let found = [kernel, store].map(|text| done.out.contains(text));
        assert!(found == [true; 2] && done.out.ends_with(works), "{}", done.out);
        let is_translated = |line: &&str| line.chars().any(|char| char >= '\u{3000}') || line.starts_with("toolcell ");
        let english: Vec<&str> = done.out.lines().filter(|line| !is_translated(line)).collect();
        assert!(english.is_empty(), "{english:?}");
    }
    let json = |lang| {
        let mut findings = doctor(&["--json", "--lang", lang]).json();
        findings["firstCallMs"] = Value::Null;
        findings
    };
    assert_eq!(json("ja"), json("en"));
    assert_eq!(json("zh"), json("en"));
}

#[test]
fn maintenance_reports_in_the_language_of_the_reader() {
    let mut fixture = fixture();
    let gone = sample_tool("gone", &returns(2)).id().short();
    let done = on(&fixture, &["gc", "--dry-run", "--lang", "ja"]);
    let expected = format!("gone ({gone}) は回収対象です\n回収対象: オブジェクト 3 個、");
    assert!(done.out.starts_with(&expected), "{}", done.out);
    let done = on(&fixture, &["gc", "--dry-run", "--lang", "zh"]);
    assert!(done.out.starts_with(&format!("将回收 gone（{gone}）\n将回收 3 个对象（")), "{}", done.out);
    let verify = |lang| on(&fixture, &["audit", "verify", "--lang", lang]).out;
    assert_eq!(verify("ja"), "0 ファイルに 0 行、改変なし、ログは空です\n");
    assert_eq!(verify("zh"), "0 个文件共 0 行，完好；日志为空\n");
    on(&fixture, &["export"]);
    assert!(on(&fixture, &["audit", "--lang", "zh"]).out.contains("  export  完成"));

    fixture.close();
    overwrite(&fixture.source_object(&returns(1)), b"const execute = () => 2");
    let done = on(&fixture, &["fsck", "--lang", "ja"]);
    assert_eq!((done.status, &*done.err), (6, "ヒント: `toolcell fsck --repair` でストアを修復してください\n"));
    let done = on(&fixture, &["fsck", "--lang", "zh"]);
    assert_eq!((done.status, &*done.err), (6, "提示：请用 `toolcell fsck --repair` 修复存储库\n"));
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking_at_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("none").to_str().unwrap().to_owned();
    for words in [&["fsck"][..], &["fsck", "--repair"], &["gc"], &["export"], &["audit"], &["audit", "verify"]] {
        let done = toolcell(&[&["--dir", &dir], words].concat());
        let message = format!("error: {dir} is not a store: there is no such directory\n");
        assert!(done.status == 4 && done.err.starts_with(&message), "{words:?}: {}", done.err);
        assert!(!folder.path().join("none").exists());
    }
    // A folder that is not a store is left unchanged.
    fs::create_dir(folder.path().join("none")).unwrap();
    fs::write(folder.path().join("none/diary"), "mine").unwrap();
    let done = toolcell(&["--dir", &dir, "fsck", "--repair"]);
    assert!(done.status == 4 && done.err.contains("it has no file `toolcell-store`"), "{}", done.err);
    assert_eq!(fs::read_dir(folder.path().join("none")).unwrap().count(), 1);
}

#[test]
fn a_store_is_not_made_among_the_files_of_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let tool = path("one.js");
    fs::write(&tool, returns(1)).unwrap();
    let create = |dir: &str| toolcell(&["--dir", dir, "create", &tool, "--description", "Returns one"]);
    for name in ["home", ".pi"] {
        fs::create_dir(path(name)).unwrap();
        fs::write(folder.path().join(name).join("diary"), "mine").unwrap();
    }
    fs::create_dir(path("empty")).unwrap();
    let done = create(&path("home"));
    let message = format!("error: {} is not a store, and has other files in it\n", path("home"));
    assert!(done.status == 4 && done.err.starts_with(&message), "{}", done.err);
    assert!(done.err.contains("name a new or an empty directory with `--dir`"), "{}", done.err);
    assert_eq!(fs::read_dir(path("home")).unwrap().count(), 1);
    // A hidden directory belongs to a program: the contract's own is `.pi`.
    for name in ["empty", "new/deep", ".pi"] {
        assert_eq!(create(&path(name)).status, 0, "{name}");
        let done = toolcell(&["--dir", &path(name), "create", &tool, "--description", "Returns one", "--replace"]);
        assert_eq!(done.status, 0, "{name}, where the store is now: {}", done.err);
    }
}
