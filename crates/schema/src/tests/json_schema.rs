//! Valid and invalid parameters of JSON Schemas.

use serde_json::{Map, json};

use super::*;

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

/// As [`check`], for invalid parameters.
#[track_caller]
fn fails(properties: &Value, text: &str, expect: &str) {
    check(&object(properties), text, &format!("parameters-invalid: the parameters are invalid: {expect}"));
}

#[test]
fn a_json_schema_is_enforced_with_all_faults_at_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "user": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "minLength": 2, "pattern": "^[a-z]+$" },
                    "age": { "type": "integer", "minimum": 0, "default": 18 },
                    "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 2, "uniqueItems": true }
                },
                "required": ["name"],
                "additionalProperties": false
            },
            "mode": { "enum": ["fast", "slow"] }
        },
        "required": ["user"]
    });
    check(&schema, r#"{"user":{"name":"ab"}}"#, r#"{"user":{"name":"ab","age":18}}"#);
    check(
        &schema,
        r#"{"user":{"name":"ab","age":"20","tags":[1]}}"#,
        r#"{"user":{"name":"ab","age":20,"tags":["1"]}}"#,
    );
    check(&schema, r#"{"user":{}}"#, "parameters-missing: required parameters are missing: `/user/name`");
    check(
        &schema,
        r#"{"user":{"name":"A","age":1.5,"tags":["a","a","b"],"nmae":1},"mode":"fats","x":1}"#,
        "parameters-invalid: the parameters are invalid: /user/name has a length of 1, the minimum is 2; \
         /user/name is \"A\", which does not match the pattern `^[a-z]+$`; /user/age is 1.5 (number), expected integer; \
         /user/tags has 3 items, the maximum is 2; /user/tags has 3 items, and two are the same; \
         /user/nmae is not declared; did you mean `name`?; /mode is \"fats\", expected one of \"fast\", \"slow\"; \
         /x is not declared, expected one of `user`, `mode`",
    );
}

#[test]
fn international_host_names_and_addresses_are_checked() {
    let accepts = |format: &str, text: &str| {
        let schema = object(&json!({ "n": { "format": format } }));
        // Draft 7 is the first with these formats.
        let mut draft7 = schema.clone();
        draft7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let [now, then] =
            [schema, draft7].map(|schema| Schema::compile(&schema).unwrap().check_value(json!({ "n": text })).is_ok());
        assert_eq!(now, then, "{text}");
        now
    };
    // RFC 5890 to 5893: labels, their lengths and hyphens, allowed letters, and directions.
    for name in [
        "例え.テスト",
        "실례.테스트",
        "bücher.example",
        "xn--bcher-kva.example",
        "faß.de",
        "l\u{b7}l",
        "ア\u{30fb}イ",
        "\u{5d0}\u{5f3}\u{5d1}",
        "α\u{375}β",
        "क\u{94d}\u{200d}ष",
        "host-name",
        "1host",
        "例\u{3002}テスト",
    ] {
        assert!(accepts("idn-hostname", name), "{name}");
    }
    for name in [
        "",
        ".",
        "-x",
        "x-",
        "a..b",
        "\u{302e}실례",
        "실\u{302e}례",
        "\u{300}a",
        "a\u{b7}l",
        "α\u{375}S",
        "A\u{5f3}\u{5d1}",
        "def\u{30fb}abc",
        "ب\u{660}\u{6f0}",
        "क\u{200d}ष",
        "xn--X",
        "XN--aa---o47jg78q",
        "\u{640}",
        "a b",
        "例え/テスト",
        &"例".repeat(64),
        &"例え.".repeat(60),
    ] {
        assert!(!accepts("idn-hostname", name), "{name}");
    }
    for address in ["実例@例え.テスト", "joe@example.com", "joe@bücher.example"] {
        assert!(accepts("idn-email", address), "{address}");
    }
    for address in ["2962", "実例", "a@-x.example", "a@실\u{302e}례.example", "a b@example.com", "@例え.テスト"]
    {
        assert!(!accepts("idn-email", address), "{address}");
    }
    assert!(!accepts("hostname", "例え.テスト") && !accepts("email", "実例@例え.テスト"));
    fails(
        &json!({ "n": { "format": "idn-hostname" } }),
        r#"{"n":"-x"}"#,
        "/n is \"-x\", which does not have the format `idn-hostname`",
    );
}

#[test]
fn each_keyword_says_what_it_asks_for() {
    let n = |schema: Value| json!({ "n": schema });
    fails(&n(json!({ "exclusiveMinimum": 0 })), r#"{"n":0}"#, "/n is 0, it must be more than 0");
    fails(&n(json!({ "exclusiveMaximum": 9 })), r#"{"n":9}"#, "/n is 9, it must be less than 9");
    fails(&n(json!({ "multipleOf": 2 })), r#"{"n":5}"#, "/n is 5, expected a multiple of 2");
    fails(&n(json!({ "multipleOf": 0.1 })), r#"{"n":0.35}"#, "/n is 0.35, expected a multiple of 0.1");
    fails(&n(json!({ "const": 4 })), r#"{"n":5}"#, "/n is 5, expected 4");
    fails(&n(json!({ "maxLength": 1 })), r#"{"n":"日本"}"#, "/n has a length of 2, the maximum is 1");
    fails(&n(json!({ "minProperties": 1 })), r#"{"n":{}}"#, "/n has 0 properties, the minimum is 1");
    fails(
        &n(json!({ "format": "date" })),
        r#"{"n":"today"}"#,
        "/n is \"today\", which does not have the format `date`",
    );
    fails(&n(json!({ "not": { "type": "null" } })), r#"{"n":null}"#, "/n is null, which `not` excludes");
    fails(&n(json!(false)), r#"{"n":null}"#, "/n is not allowed");
    fails(
        &n(json!({ "contains": { "const": 1 } })),
        r#"{"n":[2]}"#,
        "/n has 1 item, and too few or too many match `contains`",
    );
    fails(&n(json!({ "prefixItems": [{}], "items": false })), r#"{"n":[2,3]}"#, "/n/1 is not allowed");
    fails(
        &n(json!({ "propertyNames": { "maxLength": 1 } })),
        r#"{"n":{"ab":1}}"#,
        "/n has a property whose name has a length of 2, the maximum is 1",
    );
    fails(&n(json!({ "type": ["number", "null"] })), r#"{"n":"x"}"#, "/n is \"x\" (string), expected number or null");
    let literals = json!({ "anyOf": [{ "const": "a", "type": "string" }, { "const": "b", "type": "string" }] });
    fails(&n(literals), r#"{"n":"c"}"#, "/n is \"c\", expected one of \"a\", \"b\"");
    let types = json!({ "oneOf": [{ "type": "number" }, { "type": "null" }] });
    fails(&n(types), r#"{"n":"c"}"#, "/n is \"c\" (string), expected number or null");
    let mixed = json!({ "anyOf": [{ "type": "number", "minimum": 5 }, { "type": "object", "required": ["id"] }] });
    fails(
        &n(mixed.clone()),
        r#"{"n":1}"#,
        "/n matches none of 2 alternatives (it is 1, the minimum is 5; or it is 1 (number), expected object)",
    );
    fails(
        &n(mixed),
        r#"{"n":{}}"#,
        "/n matches none of 2 alternatives (it is {} (object), expected number; or it lacks `id`)",
    );
    let both = json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 2 }] });
    fails(&n(both), r#"{"n":3}"#, "/n is 3, which matches more than one alternative");
    let ways = json!({ "pattern": "^(a+)+(a|aa)+b" });
    let slow = format!(r#"{{"n":"{}"}}"#, "a".repeat(64));
    assert!(checked(&object(&n(ways)), &slow).starts_with("parameters-invalid"));
}

#[test]
fn defaults_are_filled_in_and_scalars_coerced_wherever_it_is_certain() {
    let schema = json!({
        "$defs": {
            "point": { "type": "object", "properties": { "x": { "type": "number", "default": 0 }, "y": { "$ref": "#/$defs/coordinate" } } },
            "coordinate": { "$anchor": "c", "type": "number", "default": 7 },
            "list": { "anyOf": [{ "type": "null" }, { "type": "object", "properties": { "value": { "type": "number" }, "next": { "$ref": "#/$defs/list" } } }] }
        },
        "type": "object",
        "properties": {
            "options": { "type": "object", "default": {}, "properties": { "depth": { "type": "integer", "default": 3 } } },
            "points": { "type": "array", "items": { "$ref": "#/$defs/point" } },
            "pair": { "prefixItems": [{ "type": "number" }, { "type": "string" }], "items": { "type": "boolean" } },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/point" }, { "type": "null" }] },
            "either": { "oneOf": [{ "type": "number" }, { "type": "string" }] },
            "record": { "type": "object", "additionalProperties": { "type": "number" } },
            "list": { "$ref": "#/$defs/list" },
            "all": { "allOf": [{ "$ref": "#c" }, { "type": "integer" }] }
        }
    });
    let filled = r#""options":{"depth":3},"all":7"#;
    for (text, expect) in [
        (r"{}", r"{$}"),
        (r#"{"options":{}}"#, r#"{"options":{"depth":3},"all":7}"#),
        (r#"{"points":[{},{"x":"1"},{"y":"2"}]}"#, r#"{"points":[{"x":0,"y":7},{"x":1,"y":7},{"y":2,"x":0}],$}"#),
        (r#"{"pair":["1",2,"true"]}"#, r#"{"pair":[1,"2",true],$}"#),
        (r#"{"maybe":{"x":"1"}}"#, r#"{"maybe":{"x":1,"y":7},$}"#),
        (r#"{"maybe":null}"#, r#"{"maybe":null,$}"#),
        (r#"{"either":"1"}"#, r#"{"either":"1",$}"#),
        (r#"{"record":{"a":"1","b":2}}"#, r#"{"record":{"a":1,"b":2},$}"#),
        (
            r#"{"list":{"value":"1","next":{"value":"2","next":null}}}"#,
            r#"{"list":{"value":1,"next":{"value":2,"next":null}},$}"#,
        ),
        (r#"{"all":"5"}"#, r#"{"all":5,"options":{"depth":3}}"#),
    ] {
        check(&schema, text, &expect.replace('$', filled));
    }
    let bad =
        json!({ "a": { "type": "object", "default": { "b": "x" }, "properties": { "b": { "type": "number" } } } });
    refused(&object(&bad), "`a` contradicts itself: its default at /b is \"x\" (string), expected number");
    let bad = json!({ "a": { "type": "array", "items": { "type": "string", "default": 5 } } });
    refused(&object(&bad), "`/properties/a/items` contradicts itself: its default is 5 (number), expected string");
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": { "n": { "type": "number", "maximum": 5 } },
        "properties": { "a": { "allOf": [{ "$ref": "#/definitions/n" }], "default": 6 } }
    });
    refused(&old, "`a` contradicts itself: its default is 6, the maximum is 5");
}

#[test]
fn unknown_parameters_are_refused_unless_the_schema_allows_them() {
    let open = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true });
    check(&open, r#"{"b":1}"#, r#"{"b":1}"#);
    check(&json!({ "type": "object" }), r#"{"b":1}"#, r#"{"b":1}"#);
    check(&json!({ "type": "object", "properties": {} }), r#"{"b":1}"#, r#"{"b":1}"#);
    let patterns = json!({ "type": "object", "properties": { "a": {} }, "patternProperties": { "^x-": {} } });
    check(&patterns, r#"{"b":1}"#, r#"{"b":1}"#);
    fails(&json!({ "numbers": {} }), r#"{"number":1}"#, "/number is not declared; did you mean `numbers`?");
    fails(&json!({ "a": {} }), r#"{"a":1,"\u001b[31m":1}"#, "/\\u{1b}[31m is not declared, expected one of `a`");
}

#[test]
fn a_schema_that_is_none_is_refused() {
    refused(
        &json!({ "type": "string" }),
        "the declaration contradicts itself: parameters are an object, which it does not accept",
    );
    refused(&json!({ "type": "objet" }), "the declaration has the unknown type \"objet\"; did you mean `object`?");
    refused(&object(&json!({ "a": { "type": "int" } })), "`a` has the unknown type \"int\"; did you mean `integer`?");
    refused(&object(&json!({ "a": { "minLength": -1 } })), "`a` has a `minLength` that is -1, the minimum is 0");
    refused(
        &object(&json!({ "a": { "pattern": "(" } })),
        "`a` has a `pattern` that is \"(\", which does not have the format `regex`",
    );
    refused(&object(&json!({ "a": 5 })), "`a` is 5 (number), expected boolean or object");
    refused(
        &object(&json!({ "a": { "properties": { "b": { "enum": [] } } } })),
        "`a.b` contradicts itself: its `enum` is empty",
    );
    refused(
        &object(&json!({ "a": { "minItems": 3, "maxItems": 2 } })),
        "`a` contradicts itself: its `minItems` 3 is above its `maxItems` 2",
    );
    refused(
        &object(&json!({ "a": { "exclusiveMinimum": 3, "maximum": 3 } })),
        "`a` contradicts itself: no number is between 3 and 3",
    );
    let schema =
        json!({ "type": "object", "properties": { "a": {} }, "required": ["b"], "additionalProperties": false });
    refused(
        &schema,
        "the declaration contradicts itself: it requires `b`, which it does not declare and so does not allow",
    );
    refused(
        &json!({ "$schema": "https://example.com/mine", "type": "object" }),
        "the declaration refers to `https://example.com/mine`, which is not a schema in the declaration",
    );
    let own = json!({ "a": { "$id": "https://example.com/a" } });
    refused(&object(&own), "`a` has its own `$id`, which only the whole declaration may have");
}

#[test]
fn a_reference_leads_to_a_schema_inside() {
    for reference in [
        "https://example.com/a",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/none",
        "#none",
        "#/enum/0",
        "#%zz",
        "//x",
    ] {
        let schema = object(&json!({ "a": { "$ref": reference } }));
        refused(&schema, &format!("`a` refers to `{reference}`, which is not a schema in the declaration"));
    }
    // Data is not a reference, and neither is a property with that name.
    let schema = object(&json!({ "$ref": { "type": "object" }, "a": { "enum": [{ "$ref": "x" }] } }));
    check(&schema, r#"{"$ref":{},"a":{"$ref":"x"}}"#, r#"{"$ref":{},"a":{"$ref":"x"}}"#);
    let schema = json!({ "type": "object", "$defs": { "a b/c": { "type": "number" } }, "properties": { "n": { "$ref": "#/$defs/a%20b~1c" } } });
    check(&schema, r#"{"n":"5"}"#, r#"{"n":5}"#);
}

#[test]
fn a_schema_of_many_ways_costs_no_time() {
    let entangled = |schema: &Value, expect: &str| {
        let error = Schema::compile(schema).unwrap_err().to_string();
        assert_eq!(error.strip_prefix("the declaration is too complex: ").unwrap(), expect);
    };
    entangled(
        &json!({ "type": "object", "properties": {}, "$ref": "#" }),
        "more than 16 schemas are chained for one value at the declaration",
    );
    let twice = |more: fn(&str) -> Value| {
        let definitions = (0..40).map(|at| (format!("d{at}"), more(&format!("#/$defs/d{}", (at + 1) % 40))));
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions.collect::<Map<_, _>>() })
    };
    entangled(
        &twice(|next| json!({ "allOf": [{ "$ref": next }, { "$ref": next }] })),
        "more than 16 schemas are chained for one value at `/$defs/d7/allOf/0`",
    );
    let schema = twice(
        |next| json!({ "anyOf": [{ "properties": { "a": { "$ref": next } }, "required": ["a"] }, { "properties": { "a": { "$ref": next } }, "required": ["b"] }] }),
    );
    let deep = (0..100).fold("1".to_owned(), |inner, _| format!(r#"{{"a":{inner},"b":{{}}}}"#));
    let deep = format!(r#"{{"a":{deep}}}"#);
    check(&schema, &deep, &deep);
    let deep = (0..100).fold("{}".to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
    check(
        &schema,
        &deep,
        "parameters-invalid: the parameters are invalid: the value does not match the schema, \
         which is too recursive to report where",
    );
    let endless = object(&json!({ "a": { "$ref": "#/$defs/a" } }));
    let mut endless = endless.as_object().unwrap().clone();
    endless.insert(
        "$defs".to_owned(),
        json!({ "a": { "default": {}, "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } } }),
    );
    entangled(&Value::Object(endless), "its nested defaults are infinite or more than 4194304 bytes");
    let chain = (0..600)
        .map(|at| (format!("d{at}"), json!({ "properties": { "a": { "$ref": format!("#/$defs/d{}", at + 1) } } })));
    let mut chain: Map<_, _> = chain.collect();
    chain.insert("d600".to_owned(), json!(true));
    entangled(
        &json!({ "type": "object", "$ref": "#/$defs/d0", "$defs": chain }),
        "including references, its schemas are nested 1204 deep, the limit is 512",
    );
}

#[test]
fn of_many_faults_twenty_are_told() {
    let schema = object(&json!({ "a": { "type": "array", "items": { "type": "number" } } }));
    let checked = Schema::compile(&schema).unwrap();
    let error = checked.check_value(json!({ "a": vec!["x"; 50] })).unwrap_err();
    let ParamsError::Invalid { problems, more } = &error else { panic!("{error}") };
    assert_eq!((problems.len(), *more, problems[19].path.as_str()), (20, 30, "/a/19"));
    assert!(error.to_string().ends_with("/a/19 is \"x\" (string), expected number; and 30 more"));
    let twice = json!({ "properties": { "a": { "type": "number" } }, "required": ["b"] });
    let twice = Schema::compile(&json!({ "type": "object", "allOf": [twice, twice] })).unwrap();
    assert_eq!(
        twice.check_value(json!({ "a": [] })).unwrap_err().detail(),
        "/b is missing; /a is [] (array), expected number"
    );
    assert_eq!(twice.check_value(json!({})).unwrap_err().detail(), "`b`");
    let declared: Map<_, _> = (0..500).map(|at| (format!("parameter_{at}"), json!({}))).collect();
    let items = json!({ "type": "object", "properties": declared, "additionalProperties": false });
    let wide = Schema::compile(&object(&json!({ "a": { "items": items } }))).unwrap();
    let error = wide.check_value(json!({ "a": vec![json!({ "parametre_7": 1 }); 40_000] })).unwrap_err();
    assert!(matches!(error, ParamsError::Invalid { more: 39_980, .. }));
    let error = checked.check_value(json!({ "a": vec!["x"; 200_000] })).unwrap_err();
    assert!(matches!(error, ParamsError::Invalid { problems, more: 0 } if problems.len() == 1));
    let error = checked.check_value(json!({ "a": "日".repeat(1_000_000) })).unwrap_err();
    assert!(error.to_string().len() < 500);
}

#[test]
fn a_schema_that_is_just_not_too_deep_needs_no_more_stack_than_threads_have() {
    let chain = |inside: usize, in_place: usize| {
        let to = |at: usize| json!({ "$ref": format!("#/$defs/d{at}") });
        let step = |at: usize| match at {
            at if at < in_place => to(at + 1),
            at if at < in_place + inside => json!({ "properties": { "a": to(at + 1) } }),
            _ => json!({ "properties": { "a": to(0) }, "additionalProperties": false }),
        };
        let all = (0..=in_place + inside).map(|at| (format!("d{at}"), step(at)));
        json!({ "type": "object", "properties": { "a": to(0) }, "$defs": all.collect::<Map<_, _>>() })
    };
    let deep = (0..126).fold("1".to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
    for schema in [chain(0, 14), chain(14, 0), chain(240, 0), chain(230, 14)] {
        let check_on_it = || check(&schema, &deep, &deep);
        std::thread::scope(|scope| {
            std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, check_on_it).unwrap().join().unwrap();
        });
    }
}

#[test]
fn a_pattern_with_look_around_or_a_back_reference_is_refused_at_creation() {
    let refused = |schema: &Value, expect: &str| {
        let error = Schema::compile(schema).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().as_str()), ("parameters-invalid", expect));
        assert!(error.hint().contains("without look-around"), "{}", error.hint());
    };
    let ahead =
        "uses look-ahead (`(?=`), which cannot be matched in bounded time: write several patterns under `allOf`";
    refused(
        &object(&json!({ "a": { "type": "string", "pattern": "(?=.*b)(?=.*c)x" } })),
        &format!("`a` has the pattern `(?=.*b)(?=.*c)x`, which {ahead}"),
    );
    refused(
        &object(&json!({ "a": { "items": { "properties": { "b": { "pattern": r"^(a+)+\1b$" } } } } })),
        r"`/properties/a/items/properties/b` has the pattern `^(a+)+\1b$`, which uses a back-reference (`\1`), which cannot be matched in bounded time: list what is allowed with `enum` or `anyOf`, or check it in `execute`",
    );
    refused(
        &json!({ "type": "object", "patternProperties": { "(?=x)": {} } }),
        &format!("the declaration has the pattern `(?=x)`, which {ahead}"),
    );
    refused(
        &json!({ "type": "object", "propertyNames": { "pattern": "(?=x)" } }),
        &format!("`/propertyNames` has the pattern `(?=x)`, which {ahead}"),
    );
    let value = Schema::for_value("result", &json!({ "pattern": "(?<!a)b" })).unwrap_err();
    assert!(value.to_string().starts_with("`result` has the pattern `(?<!a)b`, which uses look-behind"), "{value}");
    let many: Map<_, _> = (0..101).map(|at| (format!("^p{at}"), json!({}))).collect();
    let error = Schema::compile(&json!({ "type": "object", "patternProperties": many })).unwrap_err();
    assert_eq!(error.to_string(), "the declaration has more than 100 patterns");
}

#[test]
fn patterns_keep_the_meaning_that_they_have_in_javascript() {
    let matches = |pattern: &str, text: &str, expect: bool| {
        let schema = Schema::compile(&object(&json!({ "a": { "type": "string", "pattern": pattern } }))).unwrap();
        assert_eq!(schema.check_value(json!({ "a": text })).is_ok(), expect, "{pattern} {text}");
    };
    for (pattern, text, expect) in [
        (r"^\d+$", "12", true),
        (r"^\d+$", "１２", false),
        (r"^\w+$", "é", false),
        (r"^\s$", "\u{3000}", true),
        (r"^\S+$", "a b", false),
        ("b", "abc", true),
        ("^(?<year>[0-9]{4})-(?:0[1-9]|1[0-2])$", "2024-02", true),
        (r"^\/a\-b\.c$", "/a-b.c", true),
        (r"^\cA$", "\u{1}", true),
        (r"^\u00e9$", "é", true),
        (r"^\p{L}+$", "日本", true),
        ("^[a-z&&^b]+$", "d", true),
        ("^.$", "😀", true),
    ] {
        matches(pattern, text, expect);
    }
}

#[test]
fn a_declaration_is_measured_before_it_is_compiled() {
    let too_large = |schema: &Value, expect: &str| {
        assert_eq!(Schema::compile(schema).unwrap_err().to_string(), format!("the declaration {expect}"));
    };
    let wide: Map<_, _> = (0..60_000).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect();
    too_large(&object(&Value::Object(wide)), "has more than 98304 bytes");
    let wide: Map<_, _> = (0..3_000).map(|at| (format!("p{at}"), json!({}))).collect();
    too_large(&object(&Value::Object(wide)), "has more than 2000 schemas");
    let inner: Map<_, _> = (0..1_000).map(|at| (format!("p{at}"), json!({}))).collect();
    let long = object(&json!({ ("x".repeat(30_000)): { "properties": inner } }));
    too_large(&long, "has schema paths that are too long, the limit is 1048576 bytes in total");
    let doubling = (0..30).map(|at| {
        let next = format!("#/$defs/d{}", at + 1);
        let field = json!({ "$ref": next });
        (format!("d{at}"), json!({ "type": "object", "default": {}, "properties": { "a": field, "b": field } }))
    });
    let mut doubling: Map<_, _> = doubling.collect();
    doubling.insert("d30".to_owned(), json!({ "default": "x".repeat(1_000) }));
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": doubling });
    let error = Schema::compile(&schema).unwrap_err().to_string();
    assert!(error.ends_with("nested defaults are infinite or more than 4194304 bytes"), "{error}");
}

/// Schemas, each with the parameters that take the longest to check.
#[expect(clippy::too_many_lines, reason = "it is a list")]
fn worst() -> Vec<(&'static str, Value, Value)> {
    let text = "a".repeat(1 << 20);
    let many = |item: Value, bytes: usize| vec![item.clone(); bytes / (item.to_string().len() + 1)];
    let keys = |count: usize| (0..count).map(|at| (format!("key{at:05}"), json!(1))).collect::<Map<_, _>>();
    let patterns: Map<_, _> = (0..100).map(|at| (format!("^(a|b)*a(a|b){{9}}{at}$"), json!({}))).collect();
    let branches: Vec<Value> = (0..900).map(|at| json!({ "properties": { "a": { "const": at } } })).collect();
    let shapes = (0..30_000_u32).map(|at| {
        (0..15).fold(json!([]), |inner, bit| if at >> bit & 1 == 1 { json!([inner, []]) } else { json!([[], inner]) })
    });
    let nested = (0..20).fold(
        json!({ "type": "number" }),
        |inner, _| json!({ "allOf": [{ "properties": { "a": inner } }], "unevaluatedProperties": false }),
    );
    let deep = (0..20).fold(json!(1), |inner, _| json!({ "a": inner }));
    let (long, names) = ("k".repeat(60_000), (0..1_000).map(|at| format!("p{at}")).collect::<Vec<_>>());
    let mut nested = nested;
    nested["type"] = json!("object");
    vec![
        (
            "a pattern that no small automaton has",
            object(&json!({ "a": { "pattern": "(a|b)*a(a|b){200}c" } })),
            json!({ "a": text }),
        ),
        ("a word boundary", object(&json!({ "a": { "pattern": r"\bx+y\b" } })), json!({ "a": "é ".repeat(300_000) })),
        (
            "patterns of names",
            json!({ "type": "object", "patternProperties": patterns, "additionalProperties": false }),
            Value::Object(keys(40_000)),
        ),
        (
            "one of the items",
            object(&json!({ "a": { "contains": { "pattern": "(a|b)*a(a|b){60}c" } } })),
            json!({ "a": many(json!("ab".repeat(500)), 1 << 20) }),
        ),
        (
            "nine hundred branches",
            object(&json!({ "a": { "items": { "anyOf": branches } } })),
            json!({ "a": many(json!({ "a": "x" }), 1 << 20) }),
        ),
        (
            "lists of lists",
            object(&json!({ "a": { "uniqueItems": true } })),
            json!({ "a": shapes.collect::<Vec<_>>() }),
        ),
        ("what is not evaluated", nested, deep),
        (
            "a text that is read as a pattern",
            object(&json!({ "a": { "format": "regex" } })),
            json!({ "a": r"\cA".repeat(100_000) }),
        ),
        (
            "values that are listed",
            object(&json!({ "a": { "items": { "enum": (0..4_000).map(|at| json!([at])).collect::<Vec<_>>() } } })),
            json!({ "a": many(json!([-1]), 1 << 20) }),
        ),
        (
            "formats",
            object(&json!({ "a": { "format": "uri" }, "b": { "format": "email" }, "c": { "format": "hostname" } })),
            json!({ "a": format!("http://{text}"), "b": format!("{text}@x"), "c": text }),
        ),
        (
            "international names",
            object(&json!({
                "a": { "format": "idn-hostname" }, "b": { "format": "idn-hostname" }, "c": { "format": "idn-email" },
                "d": { "format": "idn-hostname" }, "e": { "format": "idn-hostname" }
            })),
            json!({
                "a": "é".repeat(200_000), "b": "例.".repeat(100_000), "c": format!("a@{}", "xn--4ca.".repeat(50_000)),
                "d": format!("xn--{}", "a".repeat(200_000)), "e": "\u{300}\u{323}".repeat(100_000)
            }),
        ),
        (
            "names",
            json!({ "type": "object", "propertyNames": { "pattern": "(a|b)*a(a|b){60}c" } }),
            Value::Object(keys(60_000)),
        ),
        (
            "multiples of the smallest number",
            object(&json!({ "a": { "items": { "multipleOf": 5e-324 } } })),
            json!({ "a": many(json!(1e308), 1 << 20) }),
        ),
        (
            "multiples of several numbers",
            object(&json!({ "a": { "items": { "allOf": [
                { "multipleOf": 3.3e-5 }, { "multipleOf": 7 }, { "multipleOf": 1e-300 }, { "multipleOf": 0.1 }
            ] } } })),
            json!({ "a": many(json!(1e308), 1 << 20) }),
        ),
        (
            "names that ask for others",
            object(&json!({ "a": { "items": { "dependentRequired": lists(4_300, &["a"]) } } })),
            json!({ "a": many(json!({}), 1 << 20) }),
        ),
        (
            "names of a property that ask for others",
            object(&json!({ "a": { "items": { "dependentRequired": lists(4_300, &["a"]) } } })),
            json!({ "a": many(json!({ "b": 1, "c": 1 }), 1 << 20) }),
        ),
        (
            "dependencies",
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": { "a": { "items": { "dependencies": lists(4_300, &["a"]) } } }
            }),
            json!({ "a": many(json!({ "b": 1, "c": 1 }), 1 << 20) }),
        ),
        (
            "what a few names ask for",
            object(&json!({ "a": { "items": { "dependentRequired": lists(9, &names) } } })),
            json!({ "a": many(json!(lists(1_010, &[""; 0])), 1 << 20) }),
        ),
        (
            "a required name that is long",
            object(&json!({ "a": { "items": { "required": [&long] } } })),
            json!({ "a": many(json!({ "b": 1, "c": 1 }), 1 << 20) }),
        ),
        (
            "a declared name that is long",
            object(&json!({ "a": { "items": { "properties": { (long.clone()): {} } } } })),
            json!({ "a": many(json!({ "b": 1, "c": 1 }), 1 << 20) }),
        ),
        (
            "a default under a name that is long",
            object(&json!({ "a": { "items": { "properties": { (long): { "default": 1 } } } } })),
            json!({ "a": many(json!({}), 1 << 16) }),
        ),
        (
            "names that are missing",
            object(&json!({ "a": { "items": { "required": lists(9_000, &[""; 0]).keys().collect::<Vec<_>>() } } })),
            json!({ "a": many(json!({}), 1 << 16) }),
        ),
        (
            "names that are wrong",
            object(&json!({ "a": { "propertyNames": { "allOf": vec![json!({ "maxLength": 1 }); 900] } } })),
            json!({ "a": keys(3_000) }),
        ),
    ]
}

/// Arrays of names under the names `p0`, `p1` and so on.
fn lists(count: usize, list: &[impl AsRef<str>]) -> Map<String, Value> {
    let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
    (0..count).map(|at| (format!("p{at}"), json!(list))).collect()
}

#[test]
fn no_parameters_take_more_work_than_a_call_is_given() {
    for (name, schema, params) in worst() {
        let schema = Schema::compile(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let before = cpu();
        let checked = schema.check_value(params);
        let took = cpu().saturating_sub(before);
        let said = checked.map_or_else(|error| error.to_string(), |_| "passes".to_owned());
        assert!(said.len() < 2_000, "{name}: {said}");
        // Ten times the limit of an optimised build, which is 100 ms.
        assert!(took < std::time::Duration::from_secs(2), "{name}: {took:?}, {said}");
    }
}

/// The CPU time of this thread: other tests run in parallel.
fn cpu() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

#[test]
fn too_much_work_is_told_with_what_to_do() {
    let schema = object(&json!({ "a": { "pattern": "(a|b)*a(a|b){60}c" } }));
    let schema = Schema::compile(&schema).unwrap();
    let error = schema.check_value(json!({ "a": "ab".repeat(1 << 19) })).unwrap_err();
    assert_eq!(error, ParamsError::TooMuchWork { limit: 4_000_000 });
    assert_eq!((error.code().as_str(), error.hint().is_empty()), ("parameters-invalid", false));
    assert!(error.to_string().ends_with("checking them against the schema takes more than 4000000 steps"));
    schema.check_value(json!({ "a": "ab".repeat(100) })).unwrap_err();
    let long = "k".repeat(300_000);
    let closed = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "number" } });
    let error = Schema::compile(&closed).unwrap().check_value(json!({ (long): vec!["x"; 10] })).unwrap_err();
    let ParamsError::Invalid { problems, .. } = &error else { panic!("{error}") };
    assert!(problems[0].path.len() < 1_010 && problems[0].path.ends_with('…'));
}
