//! Valid and invalid parameters of the short form, and of both forms.

mod json_schema;

use std::fmt::Write as _;

use serde_json::json;
use toolcell_i18n::{Lang, Localize as _};

use super::*;

/// Returns the checked text, or the error.
fn checked(declared: &Value, text: &str) -> String {
    let schema = Schema::compile(declared).unwrap();
    match schema.check(Params::parse(text).unwrap()) {
        Ok(args) => {
            let again = schema.check(args.params().clone()).unwrap();
            assert_eq!(again, args, "what passed passes again unchanged");
            let value = schema.check_value(args.value().unwrap().clone()).unwrap();
            assert_eq!(value.value(), args.value(), "and does so as a value");
            args.params().as_str().to_owned()
        }
        Err(error) => format!("{}: {error}", error.code()),
    }
}

#[track_caller]
fn check(declared: &Value, text: &str, expect: &str) {
    assert_eq!(checked(declared, text), expect, "{text}");
}

#[track_caller]
fn refused(declared: &Value, expect: &str) {
    let actual = match Schema::compile(declared) {
        Ok(schema) => format!("{:?}", schema.parameters()),
        Err(error) => {
            assert_eq!(error.code(), "parameters-invalid");
            assert!(!error.hint().is_empty());
            error.to_string()
        }
    };
    assert_eq!(actual, expect);
}

fn calculate_average() -> Value {
    json!({
        "numbers": { "type": "array", "description": "平均を計算する数値の配列", "required": true },
        "precision": { "type": "number", "description": "小数点以下の桁数", "default": 2, "minimum": 0, "maximum": 10 }
    })
}

fn fetch_json() -> Value {
    json!({
        "url": { "type": "string", "description": "取得するJSONのURL", "required": true },
        "timeout_ms": { "type": "number", "description": "タイムアウト時間（ミリ秒）", "default": 5000 }
    })
}

#[test]
fn where_nothing_is_declared_anything_passes_byte_for_byte() {
    for declared in [json!(null), json!({})] {
        let schema = Schema::compile(&declared).unwrap();
        let text = " {\"a\" : 1e400, \"b\": \"\\ud800\", \"a\": 9007199254740993} ";
        let args = schema.check(Params::parse(text).unwrap()).unwrap();
        assert_eq!((args.params().as_str(), args.value()), (text, None));
        assert_eq!((schema.parameters(), schema.json_schema()), (&[][..], None));
        let args = schema.check_value(json!({ "a": 1 })).unwrap();
        assert_eq!(args.params().as_str(), r#"{"a":1}"#);
    }
}

#[test]
fn the_example_of_the_documents_is_checked_as_it_is_declared() {
    let average = calculate_average();
    for (text, expect) in [
        (r#"{"numbers":[1,2]}"#, r#"{"numbers":[1,2],"precision":2}"#),
        (r#"{ "numbers": [1.50], "precision": 3 }"#, r#"{ "numbers": [1.50], "precision": 3 }"#),
        (r#"{"numbers":[],"precision":"3"}"#, r#"{"numbers":[],"precision":3}"#),
        (r#"{"numbers":[],"precision":"1e1"}"#, r#"{"numbers":[],"precision":10}"#),
        (r#"{"numbers":["1"],"precision":0}"#, r#"{"numbers":["1"],"precision":0}"#),
        (r#"{"precision":9,"numbers":[],"precision":1}"#, r#"{"precision":9,"numbers":[],"precision":1}"#),
        ("{}", "parameters-missing: required parameters are missing: `numbers`"),
        (r#"{"precision":2}"#, "parameters-missing: required parameters are missing: `numbers`"),
        (r#"{"numbers":null}"#, "parameters-invalid: the parameters are invalid: /numbers is null, expected array"),
        (
            r#"{"numbers":"1,2"}"#,
            "parameters-invalid: the parameters are invalid: /numbers is \"1,2\" (string), expected array",
        ),
        (
            r#"{"numbers":[],"precision":11}"#,
            "parameters-invalid: the parameters are invalid: /precision is 11, the maximum is 10",
        ),
        (
            r#"{"numbers":[],"precision":-0.5}"#,
            "parameters-invalid: the parameters are invalid: /precision is -0.5, the minimum is 0",
        ),
        (
            r#"{"numbers":[],"precision":"0x10"}"#,
            "parameters-invalid: the parameters are invalid: /precision is \"0x10\" (string), expected number",
        ),
        (
            r#"{"numbers":[],"precision":true}"#,
            "parameters-invalid: the parameters are invalid: /precision is true, expected number",
        ),
        (
            r#"{"nubmers":[1]}"#,
            "parameters-invalid: the parameters are invalid: /nubmers is not declared; did you mean `numbers`?; /numbers is missing",
        ),
        (
            r#"{"numbers":[],"x/y":1}"#,
            "parameters-invalid: the parameters are invalid: /x~1y is not declared, expected one of `numbers`, \
             `precision`",
        ),
    ] {
        check(&average, text, expect);
    }
    check(&fetch_json(), r#"{"url":"https://a"}"#, r#"{"url":"https://a","timeout_ms":5000}"#);
    check(&fetch_json(), r#"{"url":5,"timeout_ms":"10"}"#, r#"{"url":"5","timeout_ms":10}"#);
    check(
        &fetch_json(),
        r#"{"url":1.5}"#,
        "parameters-invalid: the parameters are invalid: /url is 1.5 (number), expected string",
    );
}

#[test]
fn the_parameters_are_told_in_the_order_declared() {
    let told = |schema: &Schema| {
        schema.parameters().iter().fold(String::new(), |mut told, it| {
            let default = it.default.as_ref().map(ToString::to_string).unwrap_or_default();
            let allowed = Value::from(it.allowed.clone());
            writeln!(told, "{} ({}): {} {} {default} {allowed}", it.name, it.kind, it.description, it.required)
                .unwrap();
            told
        })
    };
    let schema = Schema::compile(&calculate_average()).unwrap();
    assert_eq!(
        told(&schema),
        "numbers (array): 平均を計算する数値の配列 true  []\nprecision (number): 小数点以下の桁数 false 2 []\n"
    );
    assert_eq!(schema.json_schema().unwrap()["required"], json!(["numbers"]));
    assert_eq!(schema.json_schema().unwrap()["additionalProperties"], json!(false));
    let schema = Schema::compile(&json!({
        "type": "object",
        "properties": {
            "z": { "anyOf": [{ "const": "a" }, { "const": "b" }] },
            "a": { "type": ["string", "null"], "description": "text" },
            "m": { "$ref": "#/$defs/unit" },
            "b": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null },
            "n": {}
        },
        "required": ["m"],
        "$defs": { "unit": { "enum": ["s", "ms"], "description": "a unit" } }
    }))
    .unwrap();
    assert_eq!(
        told(&schema),
        "z (string):  false  [\"a\",\"b\"]\na (string | null): text false  []\nm (string): a unit true  [\"s\",\"ms\"]\n\
         b (integer | null):  false null []\nn (any):  false  []\n"
    );
}

#[test]
fn a_parameter_may_be_called_anything() {
    let declared = json!({
        "type": { "type": "string" }, "properties": { "type": "object" }, "$schema": { "type": "string" },
        "required": { "type": "boolean" }, "enum": { "type": "array" }, "$ref": { "type": "string" },
        "a/b~c": { "type": "number", "default": 1 }, "名前": { "type": "number", "default": 2 }, "": { "type": "string" }
    });
    let text = r#"{"type":"a","properties":{"x":1},"$ref":"x","required":true,"enum":[],"":"","a/b~c":1,"名前":2}"#;
    check(&declared, text, text);
    check(&declared, r#"{"type":"a"}"#, r#"{"type":"a","a/b~c":1,"名前":2}"#);
    check(
        &declared,
        r#"{"a/b~c":"x"}"#,
        "parameters-invalid: the parameters are invalid: /a~1b~0c is \"x\" (string), expected number",
    );
    for name in ["toString", "__proto__", "constructor", "hasOwnProperty"] {
        let declared = json!({ (name): { "type": "object", "required": true } });
        check(&declared, "{}", &format!("parameters-missing: required parameters are missing: `{name}`"));
        let text = format!(r#"{{"{name}":{{"x":1}}}}"#);
        check(&declared, &text, &text);
    }
}

#[test]
fn a_definition_that_is_none_is_refused_by_its_name() {
    refused(&json!([]), "the parameters are declared as [], expected an object");
    refused(&json!("number"), "the parameters are declared as \"number\", expected an object");
    refused(
        &json!({ "n": "number" }),
        "`n` is declared as \"number\", expected an object with `type` and `description`",
    );
    refused(&json!({ "n": {} }), "`n` has no `type`, expected one of `string`, `number`, `boolean`, `object`, `array`");
    refused(&json!({ "n": { "type": "nubmer" } }), "`n` has the unknown type \"nubmer\"; did you mean `number`?");
    refused(
        &json!({ "n": { "type": "date" } }),
        "`n` has the unknown type \"date\", expected one of `string`, `number`, `boolean`, `object`, `array`",
    );
    refused(
        &json!({ "n": { "type": 5 } }),
        "`n` has the unknown type 5, expected one of `string`, `number`, `boolean`, `object`, `array`",
    );
    refused(
        &json!({ "n": { "type": "number", "minimun": 1 } }),
        "`n` has the unknown key `minimun`; did you mean `minimum`?",
    );
    refused(
        &json!({ "n": { "type": "string", "allowedValues": [] } }),
        "`n` has the unknown key `allowedValues`; did you mean `enum`?",
    );
    refused(
        &json!({ "n": { "type": "array", "uniqueItems": true } }),
        "`n` has the unknown key `uniqueItems`, expected one of `type`, `description`, `default`, `enum`, `minimum`, `maximum`, `required`, `items`, `properties`",
    );
    refused(
        &json!({ "n": { "type": "number", "required": "yes" } }),
        "`n` has `required` \"yes\", expected true or false",
    );
    refused(&json!({ "n": { "type": "number", "description": 5 } }), "`n` has the description 5, expected a string");
    refused(&json!({ "n": { "type": "number", "minimum": "0" } }), "`n` has the `minimum` \"0\", expected a number");
}

#[test]
fn a_definition_that_contradicts_itself_is_refused() {
    for (definition, expect) in [
        (json!({ "type": "number", "minimum": 2, "maximum": 1 }), "its `minimum` 2 is above its `maximum` 1"),
        (json!({ "type": "number", "default": 11, "maximum": 10 }), "its default is 11, the maximum is 10"),
        (json!({ "type": "number", "default": -1, "minimum": 0 }), "its default is -1, the minimum is 0"),
        (json!({ "type": "number", "default": "2" }), "its default is \"2\" (string), expected number"),
        (json!({ "type": "string", "default": null }), "its default is null, expected string"),
        (json!({ "type": "string", "enum": ["a"], "default": "b" }), "its default is \"b\", expected \"a\""),
        (
            json!({ "type": "string", "enum": ["a", "b"], "default": "c" }),
            "its default is \"c\", expected one of \"a\", \"b\"",
        ),
        (json!({ "type": "string", "enum": [] }), "its `enum` is empty"),
        (json!({ "type": "string", "enum": "a" }), "its `enum` is \"a\", expected a list of values"),
        (json!({ "type": "string", "enum": ["a", 1] }), "its type is string, but 1 in its `enum` has another type"),
        (json!({ "type": "string", "minimum": 1 }), "it has a `minimum`, which its type string does not support"),
        (json!({ "type": "array", "maximum": 1 }), "it has a `maximum`, which its type array does not support"),
        (json!({ "type": "number", "minimum": 5, "enum": [1, 6], "default": 1 }), "its default is 1, the minimum is 5"),
    ] {
        refused(&json!({ "n": definition }), &format!("`n` contradicts itself: {expect}"));
        let schema = json!({ "type": "object", "properties": { "n": definition } });
        refused(&schema, &format!("`n` contradicts itself: {expect}"));
    }
    let both = json!({ "n": { "type": "number", "default": 1, "required": true } });
    check(&both, "{}", r#"{"n":1}"#);
}

#[test]
fn a_text_that_is_no_value_is_refused_with_its_place() {
    let declared = json!({ "a": { "type": "array" }, "s": { "type": "string" } });
    let unread = |text: &str, expect: &str| {
        let said = checked(&declared, text);
        let place = said.strip_prefix("parameters-invalid: the parameters are invalid: the value ").unwrap();
        assert!(place.starts_with(expect), "{text}: {said}");
    };
    let overflow = "has a number that is out of range";
    unread(r#"{"a":[1e400]}"#, &format!("{overflow} at line 1, column 11"));
    unread("{\"a\":\n [1, -1e400]}", &format!("{overflow} at line 2, column 1"));
    unread(r#"{"s":"[\"","a":[1, 1e999]}"#, &format!("{overflow} at line 1, column 24"));
    let half = "has a string with an unpaired surrogate";
    unread(r#"{"s":"\ud800"}"#, &format!("{half} at line 1, column 1"));
    unread(r#"{"s":"a 1, \ud800\u0041 8"}"#, &format!("{half} at line 1, column 2"));
    unread("{\n\"s\":\"\\udc00\"}", &format!("{half} at line 2, column 1"));
    let nested = |levels: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    unread(&nested(300), "is nested more than 127 deep at line 1, column 132");
    check(&declared, &nested(126), &nested(126));
    let schema = Schema::compile(&declared).unwrap();
    let deep = (0..200).fold(json!([]), |inner, _| json!([inner]));
    let error = schema.check_value(json!({ "a": deep })).unwrap_err();
    assert_eq!(error.detail(), "the value is nested 202 deep, the limit is 127");
    let error = schema.check_value(json!([1])).unwrap_err();
    assert_eq!(error.detail(), "the value is [1], expected an object");
}

#[test]
fn a_fault_is_told_in_the_language_of_the_reader() {
    let declared = json!({ "n": { "type": "number", "maximum": 10 }, "s": { "type": "string", "enum": ["a", "b"] } });
    let schema = Schema::compile(&declared).unwrap();
    let error = schema.check(Params::parse(r#"{"n":11,"s":[],"extra":1}"#).unwrap()).unwrap_err();
    let problem = |path: &str, lang| {
        let ParamsError::Invalid { problems, .. } = &error else { panic!("{error}") };
        problems.iter().find(|problem| problem.path == path).unwrap().message.to_text(lang)
    };
    assert_eq!(problem("/n", Lang::En), "is 11, the maximum is 10");
    assert_eq!(problem("/n", Lang::Ja), "11 です。最大値は 10 です");
    assert_eq!(problem("/n", Lang::Zh), "值为 11，最大为 10");
    assert_eq!(problem("/extra", Lang::Ja), "宣言されていません。使えるのは `n`、`s` です");
    let text = error.localize().to_text(Lang::Ja);
    assert!(text.starts_with("パラメータが不正です: ") && text.contains("/n: 11 です"), "{text}");

    let error = Schema::compile(&json!({ "n": { "type": "number", "minimum": 2, "maximum": 1 } })).unwrap_err();
    assert_eq!(
        error.localize().to_text(Lang::Ja),
        "`n` は矛盾しています: `minimum` の 2 が `maximum` の 1 より大きくなっています"
    );
    assert_eq!(error.localize().to_text(Lang::Zh), "`n` 自相矛盾：其 `minimum` 2 大于 `maximum` 1");
}

#[test]
fn what_is_missing_is_named_in_the_order_declared() {
    let declared = json!({
        "z": { "type": "string", "required": true },
        "m": { "type": "string" },
        "a": { "type": "number", "required": true }
    });
    check(&declared, "{}", "parameters-missing: required parameters are missing: `z`, `a`");
    check(&declared, r#"{"m":""}"#, "parameters-missing: required parameters are missing: `z`, `a`");
    check(&declared, r#"{"a":"5"}"#, "parameters-missing: required parameters are missing: `z`");
}
