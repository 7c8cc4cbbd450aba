//! The storage API that tools see: key-value pairs and files.

use toolcell_host::{Effects, Grant, HostCall};

use super::mock_host::{MockHostCalls, MockResult, failure, json, piece};

/// A mock store with one key, value 4 and version 7, whose first commit has a conflict.
fn space(operation: &HostCall) -> Option<MockResult> {
    Some(match operation.kind.as_str() {
        "kv.get" if operation.payload.contains("none") => json("null"),
        "kv.get" => json(r#"{"value": 4, "version": 7}"#),
        "kv.list" => json(r#"{"keys": ["a", "b"], "more": true}"#),
        _ => json(if operation.id == 2 { r#"{"committed": false}"# } else { r#"{"committed": true}"# }),
    })
}

#[test]
fn keys_and_values_are_read_and_committed() {
    let telling = MockHostCalls::new(&[Grant::Kv], &space);
    for (body, expect, asked) in [
        ("return kv.get('a')", "4", &[r#"kv.get {"key":"a"}"#][..]),
        ("return [await kv.get('none')]", "[null]", &[r#"kv.get {"key":"none"}"#]),
        ("return kv.entry('a')", r#"{"value":4,"version":7}"#, &[r#"kv.get {"key":"a"}"#]),
        (
            "return kv.set('a', { b: ['é'] }, { ttl: 1000 })",
            "",
            &[r#"kv.commit {"checks":[],"writes":[{"key":"a","value":{"b":["é"]},"ttl_ms":1000}]}"#],
        ),
        ("return kv.delete('a')", "", &[r#"kv.commit {"checks":[],"writes":[{"key":"a","delete":true}]}"#]),
        (
            "return kv.list({ prefix: 'a', limit: 2 })",
            r#"{"keys":["a","b"],"more":true}"#,
            &[r#"kv.list {"prefix":"a","limit":2}"#],
        ),
        (
            "return kv.commit({ check: [await kv.entry('a').then(({ version }) => ({ key: 'a', version }))], set: [{ key: 'a', value: 1 }] })",
            "false",
            &[
                r#"kv.get {"key":"a"}"#,
                r#"kv.commit {"checks":[{"key":"a","version":7}],"writes":[{"key":"a","value":1}]}"#,
            ],
        ),
        (
            "return kv.update('a', (n) => n + 1)",
            "5",
            &[
                r#"kv.get {"key":"a"}"#,
                r#"kv.commit {"checks":[{"key":"a","version":7}],"writes":[{"key":"a","value":5}]}"#,
                r#"kv.get {"key":"a"}"#,
                r#"kv.commit {"checks":[{"key":"a","version":7}],"writes":[{"key":"a","value":5}]}"#,
            ],
        ),
    ] {
        assert_eq!(telling.returns_body(body), expect, "{body}");
        assert_eq!(telling.requested(), asked, "{body}");
    }
}

#[test]
fn what_is_sent_is_what_json_stringify_writes() {
    let telling = MockHostCalls::new(&[Grant::Kv], &space);
    for value in [
        "null",
        "[true, false, null, 0, -1, 1.5, 1e21, 1e-7, 4294967296, 0.1 + 0.2]",
        "{ b: 1, a: [], 2: {}, 1: '', gone: undefined, '\"': 'quoted' }",
        "'\\u2028 \\0\\u001f \\b\\f\\n\\r\\t \\\\ \" \\u{1f600} é'",
        "{ __proto__: null, inherits: 'nothing' }",
        "JSON.parse('{\"__proto__\": [1]}')",
        "[new Date(0), new Number(3), new String('s'), Object('b')]",
        "{ toJSON() { return { instead: this.x } }, x: 7 }",
        "new (class { own = 1; #private = 2; get inherited() { return 3 } })()",
        "Array.from({ length: 70 }).reduce((inner) => [inner], 1)",
        "{ get read() { return 5 } }",
        "Object.create({ inherited: 1 }, { shown: { value: 2, enumerable: true }, hidden: { value: 3 } })",
    ] {
        let written = telling
            .returns_body(&format!("const value = {value}; await kv.set('k', value); return JSON.stringify(value)"));
        let written: String = serde_json::from_str(&written).unwrap();
        let sent = format!(r#"kv.commit {{"checks":[],"writes":[{{"key":"k","value":{written}}}]}}"#);
        assert_eq!(telling.requested(), [sent], "{value}");
    }
}

#[test]
fn a_value_that_json_would_change_is_refused_before_it_is_sent() {
    let telling = MockHostCalls::new(&[Grant::Kv], &space);
    for (value, why) in [
        ("undefined", "the value of kv.set is undefined"),
        ("NaN", "the value of kv.set is NaN"),
        ("{ deep: { er: Infinity } }", "`er` in the value of kv.set is Infinity"),
        ("[undefined]", "`0` in the value of kv.set is undefined"),
        ("{ f() {} }", "`f` in the value of kv.set is a function"),
        ("10n", "the value of kv.set is a BigInt"),
        ("new Map()", "the value of kv.set is an object that is no plain data"),
        ("[{ then: new Set() }]", "`then` in the value of kv.set is an object that is no plain data"),
        ("'\\ud800'", "half a character"),
    ] {
        let returned = telling.returns_body(&format!(
            "try {{ await kv.set('k', {value}) }} catch (e) {{ return [e.name, e.message, 'code' in e] }}"
        ));
        assert!(
            returned.starts_with("[\"TypeError\",") && returned.contains(why) && returned.ends_with(",false]"),
            "{value}: {returned}"
        );
    }
    assert!(telling.requested().is_empty());
}

/// A mock folder with one file.
fn folder(operation: &HostCall) -> Option<MockResult> {
    Some(match operation.kind.as_str() {
        "files.read" if operation.payload.contains("binary") => piece("null", &[0xff, 0]),
        "files.read" => piece("null", "\u{feff}héllo".as_bytes()),
        "files.list" => json(r#"[{"name": "a.txt", "kind": "file"}, {"name": "b", "kind": "folder"}]"#),
        "files.stat" if operation.payload.contains("none") => json("null"),
        "files.stat" => json(r#"{"kind": "file", "size": 3, "modified_ms": 1700000000000}"#),
        "files.remove" => failure("NotAllowedError", Effects::None),
        _ => json("null"),
    })
}

#[test]
fn files_are_read_written_and_listed() {
    let telling = MockHostCalls::new(&[Grant::Files], &folder);
    for (body, expect, asked) in [
        ("return files.readText('d/a.txt')", r#""héllo""#, r#"files.read {"path":"d/a.txt"}"#),
        ("return [...await files.readBytes('d/binary')]", "[255,0]", r#"files.read {"path":"d/binary"}"#),
        (
            "return files.readText('d/binary').catch((e) => e.message)",
            r#""the file d/binary is no UTF-8: read it with files.readBytes""#,
            r#"files.read {"path":"d/binary"}"#,
        ),
        ("return files.write('d/a', 'é')", "", r#"files.write {"path":"d/a","mode":"replace"} é"#),
        (
            "return files.create('d/a', new TextEncoder().encode('new'))",
            "",
            r#"files.write {"path":"d/a","mode":"create"} new"#,
        ),
        ("return files.append('d/a', 'more')", "", r#"files.write {"path":"d/a","mode":"append"} more"#),
        (
            "return (await files.list('d')).map(({ name, kind }) => name + ' ' + kind)",
            r#"["a.txt file","b folder"]"#,
            r#"files.list {"path":"d"}"#,
        ),
        (
            "return files.stat('d/a')",
            r#"{"kind":"file","size":3,"modified":1700000000000}"#,
            r#"files.stat {"path":"d/a"}"#,
        ),
        ("return [await files.stat('d/none')]", "[null]", r#"files.stat {"path":"d/none"}"#),
        ("return files.mkdir('d/x/y')", "", r#"files.mkdir {"path":"d/x/y"}"#),
        (
            "return files.remove('d/a').catch((e) => [e.name, e.code, e.effects, e instanceof DOMException])",
            r#"["NotAllowedError","out-of-order","none",true]"#,
            r#"files.remove {"path":"d/a"}"#,
        ),
    ] {
        assert_eq!(telling.returns_body(body), expect, "{body}");
        assert_eq!(telling.requested(), [asked], "{body}");
    }
}

#[test]
fn answers_of_the_wrong_shape_are_errors_of_the_tool() {
    let calls = [
        "kv.get('a')",
        "kv.entry('a')",
        "kv.set('a', 1)",
        "kv.delete('a')",
        "kv.list()",
        "kv.commit({})",
        "kv.update('a', () => 1)",
        "files.readText('d')",
        "files.write('d', '')",
        "files.list('d')",
        "files.stat('d')",
        "files.remove('d')",
        "files.mkdir('d')",
    ];
    for answer in [
        "5",
        "true",
        r#""text""#,
        "[1]",
        "{}",
        r#"{"value": 1}"#,
        r#"{"keys": 1, "more": 2, "committed": 3, "kind": 4, "size": 5}"#,
    ] {
        let reply = |_: &HostCall| Some(json(answer));
        let telling = MockHostCalls::new(&[Grant::Kv, Grant::Files], &reply);
        for call in calls {
            let seen = telling.returns_body(&format!(
                "try {{ return await {call} }} catch (e) {{ return [e.name, e.code, e.effects] }}"
            ));
            assert_eq!(seen, r#"["TypeError","answer-malformed","started"]"#, "{call}: {answer}");
        }
    }
}
