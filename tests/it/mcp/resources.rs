//! Resources and the prompt.

use std::path::Path;

use serde_json::{Value, json};

use super::for_each_client;
use super::raw_client::RawClient;
use super::server::BinaryFixture;

const TWICE: &str = "const execute = ({ n }) => 2 * n // twice\n";

fn read(peer: &mut RawClient, uri: &str) -> Value {
    peer.request("resources/read", json!({ "uri": uri })).result()
}

fn text(result: &Value) -> &str {
    result["contents"][0]["text"].as_str().unwrap()
}

#[test]
fn sources_findings_and_records_are_read_by_their_hashes() {
    let home = BinaryFixture::new("");
    home.start_stdio(&[]).stateless(json!({})).create_tool("twice", TWICE);
    for_each_client(&home, &json!({}), |mut peer| {
        let ran = peer.run("twice", json!({ "n": 2 })).measures();
        let (id, record) = (ran["toolId"].as_str().unwrap(), ran["record"].as_str().unwrap());
        let uri = format!("toolcell://tools/{id}/source");
        let source = read(&mut peer, &uri);
        assert_eq!((text(&source), &source["contents"][0]["uri"]), (TWICE, &json!(uri)));
        assert_eq!(text(&read(&mut peer, &format!("toolcell://tools/{}/source", &id[..15]))), TWICE);

        let findings = read(&mut peer, &format!("toolcell://tools/{id}/findings"));
        let findings: Value = serde_json::from_str(text(&findings)).unwrap();
        assert_eq!((&findings["toolName"], &findings["safety"]["isSafe"]), (&json!("twice"), &json!(true)));
        assert!(findings["quality"]["categoryScores"].is_object(), "{findings}");

        let receipt = read(&mut peer, &format!("toolcell://receipts/{record}"));
        assert_eq!(blake3::hash(text(&receipt).as_bytes()).to_hex().as_str(), record);
        let receipt: Value = serde_json::from_str(text(&receipt)).unwrap();
        assert_eq!(receipt["outcome"], "returned", "{receipt}");
    });
}

#[test]
fn what_never_changes_may_be_kept_and_nothing_else() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("twice", TWICE);
    let id = peer.run("twice", json!({ "n": 2 })).measures()["toolId"].as_str().unwrap().to_owned();
    let source = read(&mut peer, &format!("toolcell://tools/{id}/source"));
    assert!(source["ttlMs"].as_u64().unwrap() > 1_000_000_000 && source["cacheScope"] == "private", "{source}");
    for uri in [format!("toolcell://tools/{}/source", &id[..15]), "toolcell://audit".to_owned()] {
        let read = read(&mut peer, &uri);
        assert_eq!(read["ttlMs"].as_u64().unwrap_or(0), 0, "{uri}");
    }
}

#[test]
fn the_end_of_the_log_is_a_resource_the_newest_line_first() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        peer.run("nobody", json!({})).fails("tool-not-found");
        let tail = read(&mut peer, "toolcell://audit");
        let lines: Vec<Value> = text(&tail).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["toolName"], &lines[0]["error"]), (&json!("nobody"), &json!("tool-not-found")));
        assert_eq!(lines.len(), home.audit_lines().len());
    });
}

#[test]
fn tools_are_listed_as_resources_page_by_page() {
    let home = BinaryFixture::new("[store]\ntools = 200\n");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    for n in 0..120 {
        peer.create_tool(&format!("t{n}"), &format!("const execute = () => {n}"));
    }
    let first = peer.request("resources/list", json!({})).result();
    let second = peer.request("resources/list", json!({ "cursor": first["nextCursor"] })).result();
    assert_eq!(second.get("nextCursor"), None, "{second}");
    let uris = |page: &Value| -> Vec<String> {
        page["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap().to_owned()).collect()
    };
    let mut all = [uris(&first), uris(&second)].concat();
    assert_eq!(all[..2], ["toolcell://types/toolcell.d.ts", "toolcell://audit"]);
    for uri in &all {
        assert!(!text(&read(&mut peer, uri)).is_empty(), "{uri}");
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 122);
    let templates = peer.request("resources/templates/list", json!({})).result()["resourceTemplates"].clone();
    assert_eq!(templates.as_array().unwrap().len(), 5);
    let refused = peer.request("resources/list", json!({ "cursor": "nonsense" }));
    assert_eq!(refused.is_refused_with(-32_602), "cursor-invalid");
}

#[test]
fn a_trusted_tool_of_a_server_is_declared() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/servers/server.py");
    let command = format!("command = [\"python3\", \"{}\", \"honest\"]", script.display());
    let home = BinaryFixture::new(&format!("[servers.office]\n{command}\n[servers.other]\n{command}\n"));
    home.run(&["servers", "trust", "office", "--yes"]);
    for (number, mut peer) in
        [(-32_002, home.start_stdio(&[]).in_session(json!({}))), (-32_602, home.start_stdio(&[]).stateless(json!({})))]
    {
        let declared = read(&mut peer, "toolcell://servers/office/add.d.ts");
        let declared = text(&declared);
        assert!(declared.contains("add(input: { a: number; b: number }): Promise<{ sum: number }>;"), "{declared}");
        let declared = read(&mut peer, "toolcell://servers/office/echo_text.d.ts");
        assert!(text(&declared).contains("echo_text(input: { text: string })"), "{declared}");
        // One that is not trusted, one that does not exist, and invalid names.
        for uri in ["other/add.d.ts", "office/nothing.d.ts", "nobody/add.d.ts", "office/add", "office/../x.d.ts"] {
            let reply = peer.request("resources/read", json!({ "uri": format!("toolcell://servers/{uri}") }));
            assert_eq!(reply.is_refused_with(number), "resource-not-found", "{uri}");
        }
    }
}

#[test]
fn a_resource_that_is_not_there_is_refused_by_its_name() {
    let home = BinaryFixture::new("");
    home.start_stdio(&[]).stateless(json!({})).create_tool("twice", TWICE);
    let nobody = format!("toolcell://receipts/{}", "0".repeat(64));
    for (number, mut peer) in
        [(-32_002, home.start_stdio(&[]).in_session(json!({}))), (-32_602, home.start_stdio(&[]).stateless(json!({})))]
    {
        for uri in [
            "toolcell://tools/dt_00000000/source",
            "toolcell://tools/twice/source",
            "toolcell://tools//source",
            "toolcell://receipts/0",
            "toolcell://nothing",
            "toolcell://audit/../../etc/passwd",
            "toolcell://tools/../source",
            "file:///etc/passwd",
            "",
            nobody.as_str(),
        ] {
            let reply = peer.request("resources/read", json!({ "uri": uri }));
            assert_eq!(reply.is_refused_with(number), "resource-not-found", "{uri}");
        }
        let long = format!("toolcell://{}", "x".repeat(100_000));
        let reply = peer.request("resources/read", json!({ "uri": long }));
        assert_eq!(reply.is_refused_with(number), "resource-not-found");
        assert!(reply.message.to_string().len() < 2_000);
    }
}

#[test]
fn the_prompt_says_when_and_how_to_make_a_tool() {
    let home = BinaryFixture::new("");
    for_each_client(&home, &json!({}), |mut peer| {
        let prompts = peer.request("prompts/list", json!({})).result()["prompts"].clone();
        assert_eq!((prompts.as_array().unwrap().len(), &prompts[0]["name"]), (1, &json!("make-a-tool")));
        let arguments = json!({ "task": "count the words" });
        let got = peer.request("prompts/get", json!({ "name": "make-a-tool", "arguments": arguments })).result();
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("`create_tool`") && text.contains("count the words"), "{text}");
        assert_eq!(peer.request("prompts/get", json!({ "name": "another" })).message["error"]["code"], -32_602);
    });
}
