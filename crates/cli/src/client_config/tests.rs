use super::*;

fn entry() -> ClientEntry {
    ClientEntry::new(DEFAULT_NAME, ServerTarget::command("toolcell", ["mcp"]).unwrap()).unwrap()
}

fn over_http() -> ClientEntry {
    ClientEntry::new(DEFAULT_NAME, ServerTarget::http("http://127.0.0.1:8080/mcp", Some("TOKEN")).unwrap()).unwrap()
}

fn upserted(client: Client, text: &str) -> String {
    upsert(client, &entry(), text, OnForeignEntry::Refuse).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn removed(client: Client, text: &str) -> String {
    remove(client, &entry(), text, OnForeignEntry::Refuse).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn check(client: Client, before: &str, with: &str) {
    assert_eq!(upserted(client, before), with, "{before:?}");
    assert_eq!(upserted(client, with), with, "a second time");
    assert_eq!(removed(client, with), before);
}

/// Files that are hard to edit without changing other bytes.
const JSON: [&str; 33] = [
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    "{\r\n}\r\n",
    "\u{feff}{}\n",
    "\n\n",
    "// nothing yet",
    "// nothing yet\n",
    "/* nothing */ ",
    "{ // nothing yet\n}",
    "{\n  // nothing yet\n}\n",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{\"a\":1,  }",
    "{ \"a\": 1 }",
    "{ \"a\": 1 // one\n}",
    "{ \"a\": 1 /* one */ }",
    "{\n\t\"a\": 1\n}",
    "{\n\t\"a\": 1,\n}\n",
    "{\r\n    \"a\": 1,\r\n    \"b\": [\r\n        2 // two\r\n    ] // list\r\n}",
    "{\n  \"a\": 1 // one\n  ,\n}\n",
    "{\n  \"a\": 1, // one\n  // \"b\": 2\n}\n",
    "{\n  \"a\": 1 // one\n  // \"b\": 2\n}\n",
    "{\n  \"a\": 1, \"b\": 2\n}\n",
    "{\"servers\":{},\"mcpServers\":{}}",
    "{\n  \"mcpServers\": {}, \"servers\": {\n  }\n}\n",
    "{\n  \"mcpServers\": { /* none */ },\n  \"servers\": { // none\n  },\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\", \"args\": [] }\n  },\n  \"z\": null\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }, // other\n    // \"toolcell\": {}\n  },\n}",
    "{\n      \"servers\": {\"a\": {}}, \"mcpServers\": {\"a\": {}, /* b */ \"b\": {}}}",
    "{\"t\\u006folcell\": {}, \"x\": \"}\\\"//\", \"日本\": \"語\"}",
    "\u{feff}// 日本\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t}\r\n}\r\n// end",
];

const TOML: [&str; 14] = [
    "\n",
    "\n\n\n",
    "# nothing yet",
    "# nothing yet\n",
    "model = \"x\"",
    "model = \"x\"\n",
    "model = \"x\"\r\n",
    "model = \"x\"\r\n\r\n# end",
    "\u{feff}model = 'x'\n\n\n",
    "[mcp_servers]\n",
    "[mcp_servers.other]\ncommand = \"x\" # x\n\n[mcp_servers.other.env]\nA = '1'\n",
    "mcp_servers.other.command = \"x\"\n[a]\nb = \"\"\"\n[mcp_servers.toolcell]\n\"\"\"\n",
    "[[list]]\na = 1\n[[list]]\na = 2",
    "# 日本\n[tui]\nx = { y = 1 }\n# [mcp_servers.toolcell]\n",
];

#[test]
fn what_is_put_in_and_taken_out_again_leaves_every_byte() {
    let json = Client::ALL
        .iter()
        .filter(|client| **client != Client::Codex)
        .flat_map(|client| JSON.map(|text| (*client, text)));
    for (client, before) in json.chain(TOML.map(|text| (Client::Codex, text))) {
        for entry in [entry(), over_http()] {
            let with = upsert(client, &entry, before, OnForeignEntry::Refuse)
                .unwrap_or_else(|error| panic!("{error}: {before}"));
            assert_ne!(with, before);
            assert_eq!(
                upsert(client, &entry, &with, OnForeignEntry::Refuse).unwrap(),
                with,
                "a second time: {before:?}"
            );
            assert_eq!(remove(client, &entry, &with, OnForeignEntry::Refuse).unwrap(), before, "{client:?} {with}");
            assert_eq!(remove(client, &entry, before, OnForeignEntry::Refuse).unwrap(), before, "nothing to take out");
        }
    }
}

#[test]
fn a_file_that_was_made_is_empty_afterwards() {
    for client in Client::ALL {
        let with = upserted(client, "");
        assert_eq!(with, client.snippet(&entry()));
        assert_eq!(removed(client, &with), "");
        assert_eq!(removed(client, &format!("\u{feff}{with}")), "");
    }
}

#[test]
fn each_client_gets_the_words_that_it_knows() {
    for (client, command, http) in [
        (
            Client::ClaudeCode,
            r#"{"mcpServers":{"toolcell":{"command":"toolcell","args":["mcp"]}}}"#,
            r#"{"mcpServers":{"toolcell":{"type":"http","url":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            Client::VsCode,
            r#"{"servers":{"toolcell":{"type":"stdio","command":"toolcell","args":["mcp"]}}}"#,
            r#"{"servers":{"toolcell":{"type":"http","url":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}}}"#,
        ),
        (
            Client::Cursor,
            r#"{"mcpServers":{"toolcell":{"command":"toolcell","args":["mcp"]}}}"#,
            r#"{"mcpServers":{"toolcell":{"url":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}}}"#,
        ),
        (
            Client::Copilot,
            r#"{"mcpServers":{"toolcell":{"type":"local","command":"toolcell","args":["mcp"],"tools":["*"]}}}"#,
            r#"{"mcpServers":{"toolcell":{"type":"http","url":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${TOKEN}"},"tools":["*"]}}}"#,
        ),
        (
            Client::Gemini,
            r#"{"mcpServers":{"toolcell":{"command":"toolcell","args":["mcp"]}}}"#,
            r#"{"mcpServers":{"toolcell":{"httpUrl":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            Client::Pi,
            r#"{"mcpServers":{"toolcell":{"command":"toolcell","args":["mcp"],"exposure":"direct"}}}"#,
            r#"{"mcpServers":{"toolcell":{"url":"http://127.0.0.1:8080/mcp","headers":{"Authorization":"Bearer ${TOKEN}"},"exposure":"direct"}}}"#,
        ),
    ] {
        let value = |entry| serde_json::from_str::<serde_json::Value>(&client.snippet(entry)).unwrap().to_string();
        assert_eq!((value(&entry()), value(&over_http())), (command.to_owned(), http.to_owned()));
    }
    let words = ["mcp", "--dir", "/a b", "--publish", "5"];
    let entry = ClientEntry::new("my-tools", ServerTarget::command("/opt/\"x\"", words).unwrap()).unwrap();
    let expected =
        "[mcp_servers.my-tools]\ncommand = '/opt/\"x\"'\nargs = [\"mcp\", \"--dir\", \"/a b\", \"--publish\", \"5\"]\n";
    assert_eq!(Client::Codex.snippet(&entry), expected);
    assert_eq!(
        Client::Codex.snippet(&over_http()),
        "[mcp_servers.toolcell]\nurl = \"http://127.0.0.1:8080/mcp\"\nbearer_token_env_var = \"TOKEN\"\n"
    );
}

#[test]
fn it_looks_as_if_the_owner_had_written_it() {
    check(
        Client::Cursor,
        "{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" } // a\n\t}\n}\n",
        "{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" }, // a\n\t\t\"toolcell\": {\n\t\t\t\"command\": \"toolcell\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n",
    );
    check(
        Client::Gemini,
        "{\n    \"theme\": \"x\",\n}\n",
        "{\n    \"theme\": \"x\",\n    \"mcpServers\": {\n        \"toolcell\": {\n            \"command\": \"toolcell\",\n            \"args\": [\"mcp\"]\n        }\n    },\n}\n",
    );
    check(
        Client::ClaudeCode,
        "{\n  \"mcpServers\": {}\n}\n",
        "{\n  \"mcpServers\": {\"toolcell\": {\n    \"command\": \"toolcell\",\n    \"args\": [\"mcp\"]\n  }}\n}\n",
    );
    check(
        Client::ClaudeCode,
        "{\"a\":1}",
        "{\"a\":1, \"mcpServers\": { \"toolcell\": { \"command\": \"toolcell\", \"args\": [\"mcp\"] } }}",
    );
    check(
        Client::Codex,
        "model = \"x\"\r\n",
        "model = \"x\"\r\n\r\n[mcp_servers.toolcell]\r\ncommand = \"toolcell\"\r\nargs = [\"mcp\"]\r\n",
    );
}

#[test]
fn an_entry_of_ours_is_brought_up_to_date_and_keeps_what_its_owner_added() {
    let json = "{\"mcpServers\": {\n  \"toolcell\": {\n    // slow\n    \"timeout\": 9, \"args\": [\"mcp\", \"--old\"],\n    \"command\": \"/old/toolcell\", // mine\n    \"tools\": [\"run_dynamic_tool\"]\n  }\n}}";
    assert_eq!(
        upserted(Client::Copilot, json),
        "{\"mcpServers\": {\n  \"toolcell\": {\n    // slow\n    \"timeout\": 9, \"args\": [\"mcp\"],\n    \"command\": \"toolcell\", // mine\n    \"tools\": [\"run_dynamic_tool\"],\n    \"type\": \"local\"\n  }\n}}"
    );
    let with = upsert(Client::Copilot, &over_http(), json, OnForeignEntry::Refuse).unwrap();
    assert!(with.contains("// slow") && with.contains("\"timeout\": 9") && !with.contains("/old/"), "{with}");
    assert_eq!(
        upserted(
            Client::Cursor,
            "{\"mcpServers\":{\"toolcell\":{\"type\":\"stdio\",\"command\":\"toolcell\",\"args\":[\"mcp\"]}}}"
        )
        .matches("stdio")
        .count(),
        1
    );

    let toml = "[mcp_servers.toolcell] # mine\nargs = [\"mcp\", \"--old\"] # old\nurl = \"x\"\nstartup_timeout_sec = 9\ncommand = \"/old/toolcell\"\n[mcp_servers.toolcell.env]\nA = \"1\"\n";
    assert_eq!(
        upserted(Client::Codex, toml),
        "[mcp_servers.toolcell] # mine\nargs = [\"mcp\"] # old\nstartup_timeout_sec = 9\ncommand = \"toolcell\"\n[mcp_servers.toolcell.env]\nA = \"1\"\n"
    );
    let with = upsert(Client::Codex, &over_http(), toml, OnForeignEntry::Refuse).unwrap();
    assert!(
        with.contains("] # mine\nbearer_token_env_var = \"TOKEN\"\nurl = \"http://") && !with.contains("command"),
        "{with}"
    );
    // Subtables are removed with the entry.
    assert_eq!(removed(Client::Codex, &format!("a = 1\n\n{toml}\n[z]\n")), "a = 1\n\n[z]\n");
    assert_eq!(removed(Client::Codex, &format!("a = 1\n\n{}", toml.trim_end())), "a = 1\n");
}

#[test]
fn only_what_was_made_for_the_entry_goes_with_it() {
    for (with, without) in [
        (
            "{\"mcpServers\":{\"toolcell\":{\"command\":\"toolcell\",\"args\":[\"mcp\"]},\"b\":{}}}",
            "{\"mcpServers\":{\"b\":{}}}",
        ),
        ("{\"mcpServers\":{\"toolcell\":{\"command\":\"toolcell\",\"args\":[\"mcp\"]}}}", "{\"mcpServers\":{}}"),
        (
            "{\n  \"mcpServers\": {\n    // mine\n    \"toolcell\": { \"command\": \"/x/toolcell\", \"args\": [\"--json\", \"mcp\"] },\n  }\n}",
            "{\n  \"mcpServers\": {\n    // mine\n  }\n}",
        ),
        (
            "{ \"mcpServers\": { // mine\n \"toolcell\": { \"command\": \"toolcell\", \"args\": [\"mcp\"] } } }",
            "{ \"mcpServers\": { // mine\n  } }",
        ),
        (
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"toolcell\": { \"url\": \"http://x/mcp\" }\n  },\n  \"b\": 2\n}",
            "{\n  \"a\": 1,\n  \"b\": 2\n}",
        ),
    ] {
        assert_eq!(removed(Client::Cursor, with), without);
    }
}

#[test]
fn what_is_not_ours_is_left_alone_unless_it_is_meant() {
    for (client, text) in [
        (Client::Cursor, "{\"mcpServers\": {\"toolcell\": {\"command\": \"npx\", \"args\": [\"toolcell\", \"mcp\"]}}}"),
        (Client::Cursor, "{\"mcpServers\": {\"toolcell\": {\"command\": \"toolcell\", \"args\": [\"batch\"]}}}"),
        (Client::Cursor, "{\"mcpServers\": {\"toolcell\": null}}"),
        (Client::Codex, "[mcp_servers.toolcell]\ncommand = 'npx'\n"),
        (Client::Codex, "[mcp_servers.toolcell.env]\nA = '1'\n"),
    ] {
        let entry = entry();
        for refused in
            [upsert(client, &entry, text, OnForeignEntry::Refuse), remove(client, &entry, text, OnForeignEntry::Refuse)]
        {
            let error = refused.unwrap_err();
            assert_eq!(error.code(), "client-entry-taken", "{text}");
            assert!(error.to_string().starts_with("line 1: `toolcell` belongs to another entry, "), "{error}");
        }
        let with = upsert(client, &entry, text, OnForeignEntry::Replace).unwrap();
        assert!(!with.contains("npx") && with.contains("\"mcp\""), "{with}");
        assert!(!remove(client, &entry, text, OnForeignEntry::Replace).unwrap().contains("toolcell"), "{text}");
    }
    // Under a name other than the default one, only the URL identifies the entry.
    let server = ServerTarget::http("http://127.0.0.1:1/mcp", None).unwrap();
    let other = ClientEntry::new("other", server).unwrap();
    let text = "{\"servers\": {\"other\": {\"url\": \"http://127.0.0.1:2/mcp\"}}}";
    assert_eq!(remove(Client::VsCode, &other, text, OnForeignEntry::Refuse).unwrap_err().code(), "client-entry-taken");
    assert_eq!(
        remove(Client::VsCode, &other, &text.replace(":2", ":1"), OnForeignEntry::Refuse).unwrap(),
        "{\"servers\": {}}"
    );
}

#[test]
fn a_file_that_is_not_understood_is_refused_with_the_place() {
    for (client, text, code, message) in [
        (Client::Cursor, "{\n  \"a\": 1\n  \"b\": 2\n}", "client-file-invalid", "line 2, column 9: expected comma"),
        (Client::Cursor, "{\"日本\": x}", "client-file-invalid", "line 1, column 8: unexpected token"),
        (Client::Cursor, "{'a': 1}", "client-file-invalid", "line 1, column 2: single-quoted strings are not allowed"),
        (
            Client::Cursor,
            "{} {}",
            "client-file-invalid",
            "line 1, column 4: text cannot contain more than one json value",
        ),
        (Client::Cursor, "[]", "client-file-shape", "line 1: the file is an array, not an object"),
        (
            Client::Cursor,
            "{\n\"mcpServers\": []}",
            "client-file-shape",
            "line 2: `mcpServers` is an array, not an object",
        ),
        (
            Client::Cursor,
            "{\n\"mcpServers\": {},\n\"mcpServers\": {}}",
            "client-file-invalid",
            "line 3, column 1: duplicate key `mcpServers`, first used in line 2",
        ),
        (
            Client::Cursor,
            "{\"mcpServers\": {\"toolcell\": {},\n\"t\\u006folcell\": {}}}",
            "client-file-invalid",
            "line 2, column 1: duplicate key `toolcell`, first used in line 1",
        ),
        (Client::Codex, "a = 1\nb 2\n", "client-file-invalid", "line 2, column 3: key with no value, expected `=`"),
        (Client::Codex, "a = 1\na = 2\n", "client-file-invalid", "line 2, column 1: duplicate key"),
        (
            Client::Codex,
            "mcp_servers = 1\n",
            "client-file-shape",
            "line 1: `mcp_servers` is integer, not a table with its own header",
        ),
        (
            Client::Codex,
            "\nmcp_servers = { a = {} }\n",
            "client-file-shape",
            "line 2: `mcp_servers` is an inline table, not a table with its own header",
        ),
        (
            Client::Codex,
            "[mcp_servers]\ntoolcell = { command = 'toolcell', args = ['mcp'] }\n",
            "client-file-shape",
            "line 2: `toolcell` is not a table with its own header",
        ),
        (
            Client::Codex,
            "[mcp_servers]\ntoolcell.args = ['mcp']\ntoolcell.command = 'toolcell'\n",
            "client-file-shape",
            "line 2: `toolcell` is not a table with its own header",
        ),
    ] {
        let refused = upsert(client, &entry(), text, OnForeignEntry::Refuse).unwrap_err();
        assert_eq!((refused.code().as_str(), refused.to_string().as_str()), (code, message));
        assert_eq!(remove(client, &entry(), text, OnForeignEntry::Refuse).unwrap_err(), refused);
        assert!(!refused.hint().is_empty());
    }
    let deep = "[".repeat(100_000);
    assert_eq!(upsert(Client::Pi, &entry(), &deep, OnForeignEntry::Refuse).unwrap_err().code(), "client-file-invalid");
    let deep = format!("a = {deep}");
    assert_eq!(
        upsert(Client::Codex, &entry(), &deep, OnForeignEntry::Refuse).unwrap_err().code(),
        "client-file-invalid"
    );
}

#[test]
fn an_entry_is_added_beside_a_comment_and_removed_again() {
    assert_eq!(Client::Cursor.project_file(), Path::new(".cursor/mcp.json"));
    assert!(ServerTarget::http("http://127.0.0.1:8080/mcp", Some("TOOLCELL_TOKEN")).is_ok());
    assert_eq!(ServerTarget::http("127.0.0.1:8080", None).unwrap_err().code(), "client-url-invalid");
    let before = "{\n  // mine\n  \"mcpServers\": {}\n}\n";
    let with = upserted(Client::Cursor, before);
    assert!(with.contains(r#""command": "toolcell""#) && with.contains("// mine"));
    assert_eq!(removed(Client::Cursor, &with), before);
}

#[test]
fn no_entry_has_a_word_that_a_client_would_change_and_none_has_a_token() {
    let command = |word: &str| ServerTarget::command(word, ["mcp"]).unwrap_err().to_string();
    assert!(command("/home/$USER/toolcell").contains("clients expand variables"));
    assert!(command("a\nb").contains("control character"));
    for (url, told) in [
        ("ftp://x/mcp", "`ftp://x/mcp` is not a valid server URL: it does not start"),
        ("/mcp", "it does not start"),
        ("http://", "is not a valid server URL"),
        ("http://user:secret@x/mcp", "`…` is not a valid server URL: it contains an `@`"),
        ("http://x/${A}", "clients expand variables"),
        ("http://x/ y", "it cannot be parsed"),
    ] {
        let error = ServerTarget::http(url, None).unwrap_err();
        assert!(error.to_string().contains(told) && !error.to_string().contains("secret"), "{error}");
    }
    for token in ["", "1A", "sk-secret", "a b"] {
        let error = ServerTarget::http("http://x/mcp", Some(token)).unwrap_err();
        assert_eq!(error.code(), "client-variable-invalid");
        assert!(!error.to_string().contains("secret"));
    }
    for name in ["", "a b", "a.b", "ツール", &"x".repeat(33)] {
        let server = ServerTarget::command("toolcell", ["mcp"]).unwrap();
        assert_eq!(ClientEntry::new(name, server).unwrap_err().code(), "client-name-invalid", "{name}");
    }
}

#[test]
fn a_users_file_is_where_the_client_looks_for_it() {
    let home = Path::new("/home/u");
    let usual = |client: Client| client.user_file(home, |_| None);
    let moved = |client: Client| client.user_file(home, |_| Some(PathBuf::from("/else")));
    for (client, usually, elsewhere) in [
        (Client::ClaudeCode, "/home/u/.claude.json", "/else/.claude.json"),
        (Client::Cursor, "/home/u/.cursor/mcp.json", "/home/u/.cursor/mcp.json"),
        (Client::Copilot, "/home/u/.copilot/mcp-config.json", "/else/mcp-config.json"),
        (Client::Codex, "/home/u/.codex/config.toml", "/else/config.toml"),
        (Client::Gemini, "/home/u/.gemini/settings.json", "/home/u/.gemini/settings.json"),
        (Client::Pi, "/home/u/.pi/agent/mcp.json", "/else/mcp.json"),
    ] {
        assert_eq!((usual(client), moved(client)), (usually.into(), elsewhere.into()));
    }
    assert!(usual(Client::VsCode).ends_with("Code/User/mcp.json"));
    assert!(Client::ALL.iter().all(|client| Client::from_name(client.name()) == Some(*client)));
    assert_eq!(Client::from_name("emacs"), None);
}
