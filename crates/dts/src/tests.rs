use proptest::prelude::*;
use serde_json::{Value, json};
use swc_common::{FileName, SourceMap, sync::Lrc};
use swc_ecma_parser::{Parser, StringInput, Syntax, TsSyntax};

use super::*;

/// Returns the declaration of a function with this parameter.
fn declared(input: &Value, detail: Detail) -> String {
    let text = describe(&FunctionSchema { name: "f", description: "", input, output: None }, detail);
    assert_parses(&text);
    text
}

/// Returns the type of a result.
fn type_of(schema: &Value) -> String {
    let function = FunctionSchema { name: "f", description: "", input: &json!({}), output: Some(schema) };
    let text = describe(&function, Detail::Full);
    assert_parses(&text);
    text.strip_suffix(">;\n").unwrap().replacen("f(): Promise<", "", 1)
}

/// Checks that a declaration is TypeScript.
fn assert_parses(declaration: &str) {
    let at = declaration.rfind("\n/**").or_else(|| declaration.rfind("\nf(")).map_or(0, |at| at + 1);
    let (types, method) = declaration.split_at(if declaration.starts_with("type ") { at } else { 0 });
    let text = if declaration.contains("interface ") {
        declaration.to_owned()
    } else {
        format!("{types}interface I {{\n{method}}}")
    };
    assert_is_typescript(&text);
}

fn assert_is_typescript(text: &str) {
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(FileName::Anon.into(), text.to_owned());
    let mut parser = Parser::new(Syntax::Typescript(TsSyntax::default()), StringInput::from(&*file), None);
    let parsed = parser.parse_module();
    let errors = parser.take_errors();
    assert!(parsed.is_ok() && errors.is_empty(), "{parsed:?} {errors:?}\n{text}");
}

fn check(schema: &Value, expected: &str) {
    assert_eq!(type_of(schema), expected, "{schema}");
}

#[test]
fn each_keyword_has_its_type() {
    check(&json!(true), "unknown");
    check(&json!({}), "unknown");
    check(&json!(false), "never");
    check(&json!({"type": "integer"}), "number");
    check(&json!({"type": ["string", "null"]}), "string | null");
    check(&json!({"type": "string", "nullable": true}), "string | null");
    check(&json!({"enum": ["a", 1, null, true]}), "\"a\" | 1 | null | true");
    check(&json!({"type": "string", "enum": ["a", 1]}), "\"a\"");
    check(&json!({"enum": [true, false]}), "boolean");
    check(&json!({"anyOf": [{"const": "a"}, {"type": "string"}]}), "string");
    check(&json!({"const": {"a": [1, "b"]}}), "{ a: [1, \"b\"] }");
    check(&json!({"type": "array"}), "unknown[]");
    check(&json!({"items": {"type": ["string", "number"]}}), "(string | number)[]");
    check(&json!({"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}), "boolean[][]");
    check(
        &json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 1}),
        "[string, number?, ...unknown[]]",
    );
    check(&json!({"prefixItems": [{"type": "string"}], "minItems": 1, "items": false}), "[string]");
    check(
        &json!({"items": [{"type": "string"}], "additionalItems": {"type": "null"}, "minItems": 1}),
        "[string, ...null[]]",
    );
    check(&json!({"prefixItems": [{"type": ["string", "null"]}], "maxItems": 1}), "[(string | null)?]");
    check(&json!({"type": "object"}), "Record<string, unknown>");
    check(&json!({"type": "object", "additionalProperties": false}), "Record<string, never>");
    check(&json!({"additionalProperties": {"type": "number"}}), "Record<string, number>");
    check(
        &json!({"patternProperties": {"^x-": {"type": "number"}}, "additionalProperties": false}),
        "Record<string, number>",
    );
    check(
        &json!({"properties": {"a": {"type": "string"}, "b c": {}}, "required": ["a", "z"], "additionalProperties": true}),
        "{ a: string; \"b c\"?: unknown; z: unknown; [key: string]: unknown }",
    );
    check(&json!({"type": "string", "not": {"const": "x"}, "if": {}, "then": {}}), "string");
}

#[test]
fn combinations_are_unions_and_intersections() {
    check(
        &json!({"anyOf": [{"type": "string"}, {"oneOf": [{"type": "number"}, {"type": "string"}]}]}),
        "string | number",
    );
    check(&json!({"allOf": [{"type": "string"}, {"enum": ["a", "b", 1]}]}), "\"a\" | \"b\"");
    check(&json!({"allOf": [{"type": "string"}, {"type": "number"}]}), "never");
    check(
        &json!({"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}, "required": ["a"]}]}),
        "{ a: string; b?: unknown }",
    );
    check(
        &json!({"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        "{ a?: unknown; b?: unknown } & ({ a: unknown } | { b: unknown })",
    );
    check(
        &json!({"type": "array", "items": {"properties": {"a": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}),
        "({ a?: unknown } & ({ a: unknown } | { b: unknown }))[]",
    );
}

#[test]
fn older_drafts_are_read_as_they_say() {
    let sibling = |draft: &str| json!({"$schema": draft, "properties": {"a": {"$ref": "#/definitions/A", "required": ["b"]}}, "definitions": {"A": {"type": "object"}}});
    let old = declared(&sibling("http://json-schema.org/draft-07/schema#"), Detail::Brief);
    assert_eq!(old, "f(input?: { a?: Record<string, unknown> }): Promise<unknown>;\n");
    let new = declared(&sibling("https://json-schema.org/draft/2020-12/schema"), Detail::Brief);
    assert_eq!(new, "f(input?: { a?: { b: unknown } }): Promise<unknown>;\n");
    let limits = json!({"properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 9}}});
    let limited = declared(&limits, Detail::Full);
    assert!(limited.contains("/** above 0, at most 9 */"), "{limited}");
}

#[test]
fn a_function_without_a_parameter_takes_none() {
    for (input, expected) in [
        (json!({"type": "object"}), "f(): Promise<unknown>;\n"),
        (json!({"type": "object", "properties": {}, "additionalProperties": false}), "f(): Promise<unknown>;\n"),
        (json!({"type": "object", "minProperties": 1}), "f(input?: Record<string, unknown>): Promise<unknown>;\n"),
        (json!({"$ref": "https://example.org/a.json"}), "f(input?: unknown): Promise<unknown>;\n"),
    ] {
        assert_eq!(declared(&input, Detail::Brief), expected);
    }
}

#[test]
fn a_part_that_names_no_kind_admits_the_others() {
    check(
        &json!({"type": ["object", "null"], "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        "({ a?: unknown; b?: unknown } | null) & ({ a: unknown } | null | { b: unknown })",
    );
    check(
        &json!({"type": ["string", "array"], "allOf": [{"items": {"type": "number"}}]}),
        "(string | unknown[]) & (number[] | string)",
    );
    check(&json!({"allOf": [{"const": 1}, {"const": 1.0}]}), "1");
}

#[test]
fn the_variants_of_a_union_are_kept_with_what_tells_them_apart() {
    // The shape of openai/codex#43902: a list of operations, each with a `type` of its own.
    let variants: Vec<Value> = (0..14)
        .map(|at| {
            json!({"type": "object", "properties": {"type": {"const": format!("op{at}")}, "at": {"type": "number"}}, "required": ["type"]})
        })
        .collect();
    let schema = json!({"type": "array", "items": {"type": "object", "oneOf": variants}});
    let text = type_of(&schema);
    for at in 0..14 {
        assert!(text.contains(&format!("{{ type: \"op{at}\"; at?: number }}")), "{text}");
    }
    assert_eq!(text.matches(" | ").count(), 13, "{text}");
}

#[test]
fn references_become_named_types() {
    let node = json!({
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"name": {"$ref": "#/$defs/name"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["name"],
            },
            "name": {"type": "string"},
        },
    });
    let input = json!({"type": "object", "properties": {"root": node.clone()}, "$defs": node["$defs"]});
    assert_eq!(
        declared(&input, Detail::Brief),
        "type f_Node = { name: string; children?: f_Node[] };\nf(input?: { root?: f_Node }): Promise<unknown>;\n"
    );
    let tree = json!({"type": "object", "additionalProperties": {"$ref": "#"}});
    assert_eq!(
        declared(&tree, Detail::Brief),
        "type f_FInput = { [key: string]: f_FInput };\nf(input: f_FInput): Promise<unknown>;\n"
    );
    // Used once, so that a name says no more than the type.
    let once =
        json!({"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"properties": {"b": {}}}}});
    assert_eq!(declared(&once, Detail::Brief), "f(input?: { a?: { b?: unknown } }): Promise<unknown>;\n");
    let other = json!({"properties": {"a": {"$ref": "https://example.org/a.json"}, "b": {"$ref": "#/nowhere"}}});
    assert_eq!(declared(&other, Detail::Brief), "f(input?: { a?: unknown; b?: unknown }): Promise<unknown>;\n");
    let anchor = json!({"properties": {"a": {"$ref": "#x"}, "b": {"$ref": "b.json"}}, "$defs": {
        "p": {"$anchor": "x", "type": "string"}, "q": {"$id": "b.json", "type": "number"}}});
    assert_eq!(declared(&anchor, Detail::Brief), "f(input?: { a?: string; b?: number }): Promise<unknown>;\n");
    let escaped = json!({"properties": {"a": {"$ref": "#/$defs/x~1y%25"}}, "$defs": {"x/y%": {"type": "string"}}});
    assert_eq!(declared(&escaped, Detail::Brief), "f(input?: { a?: string }): Promise<unknown>;\n");
}

#[test]
fn a_type_that_is_itself_is_no_type() {
    let of =
        |defs: Value| json!({"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}}, "$defs": defs});
    for (schema, expected) in [
        (json!({"$ref": "#"}), "type f_FInput = unknown;\nf(input: f_FInput): Promise<unknown>;\n"),
        (
            of(json!({"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}, "b": true})),
            "type f_A = string;\nf(input?: { a?: f_A; b?: unknown }): Promise<unknown>;\n",
        ),
        (
            of(
                json!({"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "string"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}),
            ),
            "type f_A = f_B | string;\ntype f_B = unknown;\nf(input?: { a?: f_A; b?: f_B }): Promise<unknown>;\n",
        ),
    ] {
        assert_eq!(declared(&schema, Detail::Brief), expected);
    }
}

#[test]
fn descriptions_and_limits_are_comments() {
    let input = json!({
        "type": "object",
        "properties": {
            "page": {"type": "integer", "description": "The page\n number */ alert(1)", "minimum": 1, "maximum": 100, "default": 1},
            "query": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 50},
            "day": {"type": "string", "format": "date", "description": "x".repeat(400)},
            "plain": {"type": "string"},
        },
        "required": ["query"],
    });
    assert_eq!(
        declared(&input, Detail::Full),
        "f(input: {\n  \
           /** The page number *\\/ alert(1) (1 to 100, default 1) */\n  page?: number;\n  \
           /** at most 50 characters, matches ^[a-z]+$ */\n  query: string;\n  \
           /** LONG… (date) */\n  day?: string;\n  \
           plain?: string;\n\
         }): Promise<unknown>;\n"
            .replace("LONG", &"x".repeat(199))
    );
    let brief = declared(&input, Detail::Brief);
    assert_eq!(brief, "f(input: { page?: number; query: string; day?: string; plain?: string }): Promise<unknown>;\n");
}

#[test]
fn a_first_sentence_ends_where_a_reader_stops() {
    for (text, expected) in [
        ("Lists files. Slow.", "Lists files."),
        ("Reads a file (e.g. notes.txt) of v1.2 or so.\nMore", "Reads a file (e.g. notes.txt) of v1.2 or so."),
        ("No stop\n\nSecond paragraph", "No stop"),
        ("ファイルを読む。次に書く。", "ファイルを読む。"),
        ("", ""),
    ] {
        assert_eq!(first_sentence(text), expected);
    }
    assert_eq!(first_sentence(&"word ".repeat(100)).chars().count(), 160);
}

#[test]
fn functions_of_one_server_share_the_types_that_are_the_same() {
    let with = |item: Value| json!({"properties": {"a": {"$ref": "#/$defs/Item"}, "b": {"$ref": "#/$defs/Item"}}, "$defs": {"Item": item}});
    let (one, other) = (with(json!({"properties": {"x": {}}})), with(json!({"properties": {"y": {}}})));
    let functions = [("a", &one), ("b", &one), ("c-d", &other)].map(|(name, input)| FunctionSchema {
        name,
        description: "",
        input,
        output: None,
    });
    let text = server_interface("my server", &functions, Detail::Brief).unwrap();
    assert_is_typescript(&text);
    assert_eq!(
        text,
        "type my_server_Item = { x?: unknown };\ntype my_server_c_d_Item = { y?: unknown };\ninterface Servers {\n  \"my server\": {\n    \
         a(input?: { a?: my_server_Item; b?: my_server_Item }): Promise<unknown>;\n    \
         b(input?: { a?: my_server_Item; b?: my_server_Item }): Promise<unknown>;\n    \
         c_d(input?: { a?: my_server_c_d_Item; b?: my_server_c_d_Item }): Promise<unknown>;\n  };\n}\n"
    );
}

#[test]
fn names_that_become_the_same_are_refused() {
    let input = json!({});
    let functions = ["a-b", "a_b"].map(|name| FunctionSchema { name, description: "", input: &input, output: None });
    let error = server_interface("s", &functions, Detail::Brief).unwrap_err();
    assert_eq!(error.to_string(), "\"a-b\" and \"a_b\" are both `a_b` in code");
}

#[test]
fn calls_of_tools_are_overloads() {
    let (input, output) =
        (json!({"properties": {"xs": {"items": {"type": "number"}}}, "required": ["xs"]}), json!({"type": "number"}));
    let functions = [
        FunctionSchema { name: "average", description: "Averages numbers.", input: &input, output: Some(&output) },
        FunctionSchema { name: "now", description: "", input: &json!({"type": "object"}), output: None },
        FunctionSchema { name: "any", description: "", input: &json!({"additionalProperties": true}), output: None },
    ];
    let text = tool_calls(&functions, Detail::Full);
    assert_is_typescript(&text);
    assert_eq!(
        text,
        "interface Tools {\n  /** Averages numbers. */\n  call(name: \"average\", params: { xs: number[] }): Promise<number>;\n  \
         call(name: \"now\"): Promise<any>;\n  call(name: \"any\", params?: Record<string, unknown>): Promise<any>;\n}\n"
    );
}

#[test]
fn no_text_of_a_schema_leaves_its_comment_or_literal() {
    let evil = "*/ }\u{202e}\u{2028}\u{1b}[2J\"`${x}\\u002a/ */";
    let input = json!({
        "type": "object",
        "description": evil,
        "properties": {evil: {"description": evil, "default": evil, "pattern": evil, "format": evil, "enum": [evil]}, "r": {"$ref": format!("#/$defs/{evil}")},
            "s": {"$ref": format!("#/$defs/{evil}")}},
        "$defs": {evil: {"properties": {evil: {"const": evil}}}},
    });
    let function = FunctionSchema { name: evil, description: evil, input: &input, output: Some(&input) };
    for detail in [Detail::Full, Detail::Brief] {
        let functions = [function];
        for text in [server_interface(evil, &functions, detail).unwrap(), tool_calls(&functions, detail)] {
            assert_is_typescript(&text);
            assert!(!text.contains(['\u{202e}', '\u{2028}', '\u{1b}']), "{text}");
        }
    }
}

#[test]
fn no_text_of_a_schema_is_obeyed() {
    let input = json!({"properties": {"a": {"description": "@ts-expect-error"}}});
    let function = FunctionSchema { name: "new", description: "@ts-ignore, me@ts.org", input: &input, output: None };
    assert_eq!(
        describe(&function, Detail::Full),
        "/** @ ts-ignore, me@ts.org */\n\"new\"(input?: {\n  /** @ ts-expect-error */\n  a?: unknown;\n}): Promise<unknown>;\n"
    );
}

#[test]
fn large_and_deep_schemas_are_bounded() {
    let repeated =
        (0..31).fold(json!({}), |inner, _| json!({"type": ["array", "array", "object", "object"], "items": inner}));
    assert!(type_of(&repeated).len() < 2_000);
    assert_eq!(first_sentence(&"(".repeat(1 << 20)).chars().count(), 160);
    let wide = Value::Object((0..2_000).map(|at| (format!("k{at}"), json!({"type": "string"}))).collect());
    let deep = (0..60).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let codes: Vec<String> = (0..500).map(|at| format!("c{at}")).collect();
    let doubling: Value = (0..40_usize)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({"properties": {"l": next, "r": next}}))
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let products: Vec<Value> = (0..40)
        .map(|at| json!({"anyOf": [{"required": [format!("a{at}")]}, {"required": [format!("b{at}")]}]}))
        .collect();
    assert_eq!(type_of(&json!({"allOf": products})).matches(" & ").count(), 12);
    let chain: Value = (0..1_500_usize)
        .map(|at| {
            (format!("d{at}"), json!({"anyOf": [{"$ref": format!("#/$defs/d{}", (at + 1) % 1_500)}, {"type": "null"}]}))
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    // Long values and names that are repeated.
    let repeats = |target: &str, defs: Value| json!({"anyOf": vec![json!({"$ref": target}); 900], "$defs": defs});
    let described = |target: Value| json!({"properties": (0..900).map(|at| (format!("p{at}"), target.clone())).collect::<serde_json::Map<_, _>>()});
    let mut long_comment = described(json!({"$ref": "#/$defs/a"}));
    long_comment["$defs"] = json!({"a": {"description": "\u{1f600}".repeat(200)}});
    for schema in [
        repeats("#/$defs/a", json!({"a": {"enum": ["x".repeat(30_000)]}})),
        repeats("#x", json!({"x".repeat(20_000): {"$anchor": "x", "properties": {"a": {}}}})),
        long_comment,
    ] {
        let text = declared(&schema, Detail::Full);
        assert!(text.len() < 600_000, "{} bytes", text.len());
    }
    for schema in [
        json!({"properties": wide}),
        json!({"properties": {"a": deep}}),
        json!({"properties": {"a": {"enum": codes}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling}),
        json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain}),
    ] {
        let size = schema.to_string().len();
        let text = declared(&schema, Detail::Full);
        assert!(text.len() < 2 * size, "{} bytes of {size}", text.len());
    }
}

/// Schemas of any shape: most keywords with what they expect, some with anything.
fn any_schema() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("a".to_owned()),
        Just("type".to_owned()),
        Just("#".to_owned()),
        Just("#/$defs/a".to_owned()),
        Just("#/properties/a".to_owned()),
        ".{0,8}",
    ];
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({})),
        any::<i32>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
        prop::sample::select(vec!["string", "number", "integer", "boolean", "null", "array", "object"])
            .prop_map(|kind| json!({"type": kind})),
        text.prop_map(|target| json!({"$ref": target})),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        let map = prop::collection::btree_map("a|b|c|[ -~]{0,4}", inner.clone(), 0..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()));
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let keyword = prop_oneof![
            (prop::sample::select(vec!["properties", "patternProperties", "$defs"]), map.clone()),
            (
                prop::sample::select(vec![
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "prefixItems",
                    "items",
                    "enum",
                    "required",
                    "type"
                ]),
                list
            ),
            (
                prop::sample::select(vec!["items", "additionalProperties", "const", "default", "description", "not"]),
                inner
            ),
        ];
        prop::collection::vec(keyword, 1..4)
            .prop_map(|all| Value::Object(all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
    })
}

proptest! {
    #[test]
    fn whatever_the_schema_is_the_text_parses(input in any_schema(), output in any_schema()) {
        let functions = [FunctionSchema { name: "f", description: "d", input: &input, output: Some(&output) }];
        for detail in [Detail::Full, Detail::Brief] {
            assert_is_typescript(&server_interface("s", &functions, detail).unwrap());
        }
    }
}
