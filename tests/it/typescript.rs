//! TypeScript as models write it runs, and errors have the positions of the original source.

use std::fmt::Write as _;
use std::fs;

use tempfile::TempDir;
use toolcell_analysis::{AnalysisError, analyze, transpile};
use toolcell_tool::Language;

use crate::fixtures::cli::{CliFixture, assert_output, exec, toolcell, toolcell_with_input};
use crate::fixtures::sandbox::{SandboxFixture, files, root};

/// Returns the result of a TypeScript tool.
fn returns(source: &str) -> String {
    let script = transpile(source, Language::TypeScript).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    SandboxFixture::new().script(script.code()).returns()
}

#[test]
fn types_are_blanked_out_where_they_stand() {
    let source = "interface P<T> { a: T }\nfunction execute<T extends number>({ a }: P<T>): number { return (a as number)! * 2 satisfies number }";
    let script = transpile(source, Language::TypeScript).unwrap();
    assert!(!script.has_position_map());
    assert_eq!(script.code().chars().count(), source.chars().count());
    assert_eq!(script.code().find("return"), source.find("return"));
}

#[test]
fn everything_of_typescript_that_models_write_runs() {
    for (source, expect) in [
        ("enum Color { Red = 1, Green } const execute = () => Color.Green", "2"),
        ("const enum Size { S = 's', L = 'l' } const execute = () => Size.L", r#""l""#),
        ("namespace Geo { export const pi = 3 } const execute = () => Geo.pi", "3"),
        (
            "class P { constructor(private x: number, readonly y = 2) {} sum() { return this.x + this.y } }\nconst execute = () => new P(1).sum()",
            "3",
        ),
        ("import type { Foo } from './foo'; const execute = (): Foo => 1 as unknown as Foo", "1"),
        ("import { type Foo } from './foo'; const execute = (): Foo => 1 as unknown as Foo", "1"),
        ("import { Foo, Bar } from './foo'; export const execute = (p: Foo): Bar => <Bar>1", "1"),
        ("import Foo, * as All from './型'; class A implements Foo {} export const execute = (p: All.X) => 2", "2"),
        ("const a = [1, 2] as const; const execute = () => a[1] satisfies number", "2"),
        (
            "function f(x: string): string;\nfunction f(x: number): number;\nfunction f(x: any) { return x }\nconst execute = () => f(7)",
            "7",
        ),
        (
            "abstract class A { abstract n(): number } class B extends A { n() { return 4 } }\nconst execute = () => new B().n()",
            "4",
        ),
        ("const id = <T,>(x: T): T => x; const execute = () => id<number>(5)", "5"),
        ("type X = { a?: number }; declare const y: X; const execute = (p: X) => p?.a ?? 6", "6"),
        ("export function execute(this: void, p: Record<string, unknown>): number { return 8 }", "8"),
        ("export default { name: 'x', async execute(): Promise<number> { return 9 } }", "9"),
        ("let x!: number; x = 10; const execute = () => x!", "10"),
        (
            "const seen: string[] = []; const open = (name: string) => ({ name, [Symbol.dispose]() { seen.push(name) } });\nconst execute = () => { { using a = open('a'), b: { name: string } = open('b'); seen.push('in') } return seen }",
            r#"["in","b","a"]"#,
        ),
        ("const execute = async () => { await using x = null; return 1 }", "1"),
        ("class C { declare y: number; static #n = 11; static n = () => C.#n }\nconst execute = () => C.n()", "11"),
    ] {
        assert_eq!(returns(source), expect, "{source}");
    }
}

#[test]
fn what_does_not_run_here_is_refused_with_what_to_write_instead() {
    for (source, code, expected) in [
        (
            "class A { m(@checked x) {} } const execute = () => 1",
            "syntax-unsupported",
            "parameter decorators are not supported: only the old `experimentalDecorators` has them; decorate",
        ),
        (
            "import fs from 'node:fs'; export const execute = () => fs",
            "syntax-unsupported",
            "`node:fs` cannot be imported",
        ),
        (
            "import { z } from 'zod/v4'; export const execute = () => z",
            "syntax-unsupported",
            "build the schema with `zod`",
        ),
        (
            "import { Value } from '@sinclair/typebox/value'; export const execute = () => Value",
            "syntax-unsupported",
            "`@sinclair/typebox`",
        ),
        ("import fs = require('fs'); export const execute = () => fs", "syntax-unsupported", "`fs` cannot be imported"),
        ("import './x'; export const execute = () => 1", "syntax-unsupported", "`./x` cannot be imported"),
        ("export const execute = () => <b>1</b>", "syntax-unsupported", "JSX is not supported: build strings"),
        ("export const execute = () => <></>", "syntax-unsupported", "JSX is not supported: build strings"),
        ("export * from './x'; export const execute = () => 1", "syntax-unsupported", "`./x` cannot be imported"),
        ("const execute = () => { return 1", "syntax-error", ""),
    ] {
        let rejection = transpile(source, Language::TypeScript).unwrap_err();
        assert_eq!(rejection.code(), code, "{source}");
        assert!(rejection.to_string().contains(expected), "{source}: {rejection}");
    }
}

#[test]
fn an_import_that_javascript_would_run_is_not_dropped() {
    let source = "import { Foo } from './foo'; export const execute = () => 1";
    assert_eq!(transpile(source, Language::JavaScript).unwrap_err().code(), "syntax-unsupported");
    assert!(transpile(source, Language::TypeScript).is_ok());
}

#[test]
fn the_builder_of_schemas_is_served_to_imports_and_to_factories() {
    let schema = r#"{"type":"object","required":["city","unit"],"properties":{"city":{"minLength":1,"type":"string"},"unit":{"anyOf":[{"const":"C","type":"string"},{"const":"F","type":"string"}]},"days":{"default":3,"type":"integer"}}}"#;
    let object = "Type.Object({ city: Type.String({ minLength: 1 }), unit: Type.Union([Type.Literal('C'), Type.Literal('F')]), days: Type.Optional(Type.Integer({ default: 3 })) })";
    let manifest = |source: &str| {
        let script = transpile(source, Language::TypeScript).unwrap_or_else(|error| panic!("{error}:\n{source}"));
        SandboxFixture::new().script(script.code()).prepare().unwrap().manifest().as_str().to_owned()
    };
    let imported = format!(
        "import {{ Static, Type, type TSchema }} from '@sinclair/typebox';\nconst parameters = {object};\nexport default {{ name: 'w', parameters, execute: (p: Static<typeof parameters>) => p as TSchema }};"
    );
    assert_eq!(manifest(&imported), format!(r#"{{"shape":"object","tools":[{{"name":"w","parameters":{schema}}}]}}"#));
    assert!(analyze(&imported, Language::TypeScript, None).unwrap().safety.is_safe);
    let made = format!(
        "const factory: CustomToolFactory = (pi) => {{ const {{ Type }} = pi.typebox; return {{ name: 'w', parameters: {object}, async execute(id: string, p: unknown) {{ return p }} }} }};\nexport default factory;"
    );
    assert_eq!(manifest(&made), format!(r#"{{"shape":"factory","tools":[{{"name":"w","parameters":{schema}}}]}}"#));
    let broken = "delete Object.keys; export default (pi) => ({ name: 'w', parameters: pi.typebox.Type.Object({ a: pi.typebox.Type.String() }), execute: () => 1 })";
    assert!(SandboxFixture::new().script(broken).throws().contains("not a function"));
}

#[test]
fn the_shape_that_the_analysis_sees_is_the_one_that_the_sandbox_finds() {
    for (source, shape) in [
        ("function execute() { return 1 }", "script"),
        ("export const execute = () => 1", "export"),
        ("const run = () => 1; export { run as execute }", "export"),
        ("export default function () { return 1 }", "default"),
        ("export default async function execute(pi) { return 1 }", "default"),
        ("const run = (p) => p; export default run", "default"),
        ("export default { execute() { return 1 } }", "object"),
        ("const tool = { execute: () => 1 }; export { tool as default }", "object"),
        ("export default (pi) => ({ name: 'a', execute: () => 1 })", "factory"),
        ("export default async (host) => [{ name: 'a', execute: () => 1 }]", "factory"),
        ("const make = (pi) => ({ name: 'a', execute: () => 1 }); export default make", "factory"),
        ("export default function make({ cwd }) { return { name: 'a', async execute() {} } }", "factory"),
    ] {
        let seen = analyze(source, Language::Unknown, None).unwrap().entry_point;
        assert_eq!(serde_json::to_value(seen).unwrap(), shape, "{source}");
        let manifest = SandboxFixture::new().script(source).prepare().unwrap().manifest().as_str().to_owned();
        let found = match shape {
            "script" | "export" | "default" => "function",
            other => other,
        };
        assert!(manifest.contains(&format!(r#""shape":"{found}""#)), "{source}: {manifest}");
    }
}

#[test]
fn several_syntax_errors_are_told_in_one_go() {
    let source = "function execute() {\n  const a = 1;\n  const b;\n  const c = 1;\n  const d;\n}\n";
    let Err(AnalysisError::Syntax(problems)) = analyze(source, Language::JavaScript, None) else { panic!("it parses") };
    let lines: Vec<u32> = problems.iter().map(|problem| problem.location.line).collect();
    assert_eq!(lines, [3, 5]);
    assert_eq!(problems[0].snippet, "  const b;");
}

#[test]
fn of_a_hundred_problems_twenty_are_told_each_with_a_part_of_its_line() {
    for (before, each, after) in
        [("", "export*from'x';", ""), ("", "x = <a/>;", ""), ("class A {", "m(@a x) {}", "}"), ("", "const a;", "")]
    {
        // All of them on one line, and on a line each.
        for end in ["", "\n"] {
            let source = format!("{before}{}{after}", [each, end].concat().repeat(100));
            let rejection = transpile(&source, Language::TypeScript).unwrap_err();
            let problems = rejection.diagnostics();
            assert_eq!(problems.len(), 20, "{each}: {rejection}");
            assert!(problems.iter().all(|problem| problem.snippet.len() <= 260), "{problems:?}");
        }
    }
}

#[test]
fn a_thrown_error_names_the_authors_line_also_where_text_moved() {
    let source = "enum Kind { A = 'a', B = 'b' }\n\nclass Box<T> {\n  constructor(private readonly value: T, public kind: Kind) {}\n  open(): T {\n    throw new RangeError(`no ${this.kind}: ${this.value}`);\n  }\n}\n\nexport function execute({ n }: { n: number }): number {\n  return new Box<number>(n, Kind.B).open();\n}\n";
    let done = exec(source, &["{\"n\": 3}"]);
    assert_eq!(done.status, 1);
    assert!(done.err.starts_with("error: the tool failed: RangeError: no b: 3\n    at open (stdin:6:"), "{}", done.err);
    assert!(done.err.contains("at execute (stdin:11:"), "{}", done.err);
    let answer = exec(source, &["{\"n\": 3}", "--json"]).json();
    assert_eq!((answer["error"]["line"].as_u64(), answer["error"]["name"].as_str()), (Some(6), Some("RangeError")));
}

#[test]
fn positions_lead_back_through_each_construct_that_is_compiled() {
    for before in [
        "enum E { A, B = 5, C = 'c' }",
        "const enum E {\n  A = 1 << 2,\n  B,\n}",
        "declare enum Gone { A } enum E { A }",
        "namespace N {\n  export const a = 1;\n  export namespace M { export function f() { return a } }\n}",
        "class P { constructor(private a = 1, readonly b?: string) {} }",
        "import { Foo } from './foo'; enum E { 名前 = '値' }",
        "namespace N { export const M = 3 }\nimport Alias = N.M;\nconst used = Alias;",
        "enum E { A }\r\nabstract class B<T> { abstract f(x: T): void; constructor(protected x: T) {} }",
    ] {
        let source = format!(
            "// 日本語のコメント\n{before}\nexport function execute(params: {{ 値: number }}): number {{\n  const 名: string = 'a'; /* 😀 */ if (params) {{ return (params as any).値.missing.deeper; }}\n  return 0;\n}}\n"
        );
        let script = transpile(&source, Language::TypeScript).unwrap_or_else(|error| panic!("{error}:\n{source}"));
        assert!(script.has_position_map(), "{source}");
        let answer = exec(&source, &["{\"値\": 3}", "--json", "--lang", "en"]).json();
        let line = source.lines().position(|line| line.contains("deeper")).unwrap();
        let text: Vec<u16> = source.lines().nth(line).unwrap().encode_utf16().collect();
        let column = answer["error"]["column"].as_u64().unwrap();
        let there = String::from_utf16_lossy(&text[usize::try_from(column).unwrap() - 1..]);
        assert_eq!(answer["error"]["line"].as_u64().unwrap(), line as u64 + 1, "{source}");
        assert!([".deeper", "deeper", "(params"].iter().any(|start| there.starts_with(start)), "{source}: {there}");
    }
}

#[test]
fn standard_decorators_run_on_every_kind_of_member() {
    let log = "const said: string[] = [];\nconst note = (label: string) => { said.push(`eval ${label}`); return (value: any, { kind, name, static: s, private: p, access, addInitializer }: any) => { said.push(`${label}: ${kind} ${String(name)} ${s} ${p} ${Object.keys(access ?? {})} ${typeof value}`); addInitializer(function (this: any) { said.push(`init ${label} ${typeof this}`) }) } };\n";
    for (members, expected) in [
        ("@note('a') m() {}", "eval a|a: method m false false has,get function|init a object"),
        ("@note('a') static m() {}", "eval a|a: method m true false has,get function|init a function"),
        ("@note('a') x = 1", "eval a|a: field x false false has,get,set undefined|init a object"),
        ("@note('a') static x = 1", "eval a|a: field x true false has,get,set undefined|init a function"),
        ("@note('a') accessor x = 1", "eval a|a: accessor x false false has,get,set object|init a object"),
        ("@note('a') static accessor x = 1", "eval a|a: accessor x true false has,get,set object|init a function"),
        ("@note('a') get x() { return 1 }", "eval a|a: getter x false false has,get function|init a object"),
        ("@note('a') set x(v) {}", "eval a|a: setter x false false has,set function|init a object"),
        ("@note('a') #m() {}", "eval a|a: method #m false true has,get function|init a object"),
        ("@note('a') static #m() {}", "eval a|a: method #m true true has,get function|init a function"),
        ("@note('a') #x = 1", "eval a|a: field #x false true has,get,set undefined|init a object"),
        ("@note('a') accessor #x = 1", "eval a|a: accessor #x false true has,get,set object|init a object"),
        ("@note('a') get #x() { return 1 }", "eval a|a: getter #x false true has,get function|init a object"),
        ("@note('a') set #x(v) {}", "eval a|a: setter #x false true has,set function|init a object"),
        ("@note('a') ['k' + 1]() {}", "eval a|a: method k1 false false has,get function|init a object"),
        (
            "@note('a') @note('b') m() {} @note('c') x = 1; @note('d') static s() {}",
            "eval a|eval b|eval c|eval d|d: method s true false has,get function|b: method m false false has,get function|a: method m false false has,get function|c: field x false false has,get,set undefined|init d function|init b object|init a object|init c object",
        ),
    ] {
        // Compiled alone, and together with constructs that TypeScript compiles.
        for before in ["", "namespace N { export const x = 1 }\n"] {
            let source =
                format!("{before}{log}class A {{ {members} }}\nnew A();\nconst execute = () => said.join('|')");
            assert_eq!(returns(&source), format!("{expected:?}"), "{members}");
        }
    }
}

/// The limitations listed in `docs/architecture/engine.md`; an update of the parser may lift them.
#[test]
fn what_the_parser_does_not_take_is_refused_at_its_place() {
    for (statement, place) in [
        ("if (true) function f() {}", "1:11"),
        ("for (using x = null; false;) {}", "1:12"),
        ("async function f() { for (await using x = null; false;) {} }", "1:39"),
        ("class A { static declare x: number }", "1:26"),
    ] {
        let done = exec(format!("{statement}\nconst execute = () => 1"), &[]);
        assert_eq!(done.status, 3, "{statement}: {}", done.err);
        assert!(done.err.starts_with("error: syntax error: ") && done.err.contains(place), "{statement}: {}", done.err);
    }
}

/// The legacy decorator signature `(target, key, descriptor)` receives `(value, context)`.
#[test]
fn decorators_of_the_old_signature_are_handed_what_the_standard_says() {
    for (class, call, expect) in [
        (
            "const old = (target: any, key: any, descriptor?: any) => { seen = [typeof target, typeof key, typeof descriptor] }; let seen: any; class A { @old m() {} }",
            "seen",
            r#"["function","object","undefined"]"#,
        ),
        (
            "const tag = (name: string) => (target: any) => { target.tag = name }; @tag('x') class A {}",
            "(A as any).tag",
            r#""x""#,
        ),
        (
            "let seen: any; const old = (target: any, key: any) => { seen = [typeof target, key.kind, key.name] }; class A { @old n = 1 }",
            "seen",
            r#"["undefined","field","n"]"#,
        ),
        (
            "let seen: any; const old = (target: any, key: any, descriptor?: any) => { seen = [typeof target, key.kind, typeof descriptor] }; class A { @old accessor n = 1 }",
            "seen",
            r#"["object","accessor","undefined"]"#,
        ),
    ] {
        assert_eq!(returns(&format!("{class}\nconst execute = () => {call}")), expect, "{class}");
    }
}

#[test]
fn what_decorators_give_takes_the_place_of_what_they_were_given() {
    let decorators = "const twice = (value: any) => function (this: any, ...args: any[]) { return value.apply(this, args) * 2 };\nconst plus = (n: number) => () => (value: number) => value + n;\nconst loud = ({ get, set }: any, _: any) => ({ get(this: any) { return get.call(this) + 100 }, set(this: any, v: number) { set.call(this, v * 2) }, init: (v: number) => v + 1 });\nconst bound = (_: any, { name, addInitializer }: any) => addInitializer(function (this: any) { this[name] = this[name].bind(this) });\n";
    for (class, call, expect) in [
        ("class A { @twice m() { return 21 } }", "new A().m()", "42"),
        ("class A { @twice #m() { return 21 } n() { return this.#m() } }", "new A().n()", "42"),
        (
            "class B { m() { return 20 } } class A extends B { @twice #m() { return super.m() } n() { return this.#m() } }",
            "new A().n()",
            "40",
        ),
        ("class A { @plus(1) @plus(10) x = 5 }", "new A().x", "16"),
        ("class A { @plus(1) static #x = 5; static get() { return A.#x } }", "A.get()", "6"),
        (
            "class A { @loud accessor x = 1; run() { const a = this.x; this.x = 5; return [a, this.x] } }",
            "new A().run()",
            "[102,110]",
        ),
        (
            "class A { @loud accessor #x = 1; run() { const a = this.#x; this.#x = 5; return [a, this.#x] } }",
            "new A().run()",
            "[102,110]",
        ),
        ("class A { y = 7; @bound m() { return this.y } }", "(0, new A().m)()", "7"),
        (
            "@((c: any) => class extends c { z = 8 }) class A { static n = 1; self() { return A } }",
            "[(new A() as any).z, A.n, new A().self() === A, Object.keys(new A())]",
            r#"[8,1,true,["z"]]"#,
        ),
        (
            "const A = @((c: any, { name }: any) => { c.seen = name }) class {}",
            "[(A as any).seen, A.name]",
            r#"["A","A"]"#,
        ),
        (
            "const make = (n: number) => @((c: any) => { c.n = n }) class {}; const A = [make(1), make(2)] as any[]",
            "A.map(one => one.n)",
            "[1,2]",
        ),
        (
            "const o = { n: 9, dec(this: any, _: any, c: any) { const n = this.n; c.addInitializer(function (this: any) { this.n = n }) } }; class A { @o.dec m() {} }",
            "(new A() as any).n",
            "9",
        ),
        (
            "class A { accessor a = 1; static accessor b = 2; accessor #c = 3; accessor ['d'] = 4; all() { this.a++; A.b++; this.#c++; return [this.a, A.b, this.#c, (this as any).d, Object.keys(this)] } }",
            "new A().all()",
            "[2,3,4,4,[]]",
        ),
        (
            "class A { @((_: any, c: any) => { c.metadata.m = 1 }) m() {} }\n@((_: any, c: any) => { c.metadata.c = 2 }) class B extends A {}",
            "[(A as any)[(Symbol as any).metadata].m, (B as any)[(Symbol as any).metadata].m, (B as any)[(Symbol as any).metadata].c]",
            "[1,1,2]",
        ),
        (
            "namespace N { @((c: any) => { c.n = 1 }) export class A { constructor(public readonly x = 2) {} } }",
            "[(N.A as any).n, new N.A().x]",
            "[1,2]",
        ),
        ("@((c: any) => { c.n = 1 })\nexport class A {}", "(A as any).n", "1"),
        ("@((c: any) => { c.n = 1 }) class A {}", "(A as any)[Symbol.metadata] === null", "false"),
        ("enum Q { X } const o: any = [(c: any) => { c.n = 1 }]; @(o[0]) class A {}", "(A as any).n", "1"),
        (
            "enum Q { X } const o: any = { 'f g'(this: any, c: any) { c.n = this === o } }; @(o['f g']) class A {}",
            "(A as any).n",
            "true",
        ),
        (
            "@((c: any): any => class extends c {}) class A { static accessor x = 1; static accessor y: any; static z = this.x; static up() { A.x += 1; return A.x } }",
            "[A.x, A.y === undefined, A.z, A.up(), A.x]",
            "[1,true,1,2,2]",
        ),
        ("@((c: any): any => class extends c {}) class A { @loud static accessor x = 1; }", "A.x", "102"),
        (
            "const make = () => { @((c: any): any => class extends c {}) class A { static #n = 1; static n() { return A.#n } } return A.n() }; const made = () => { try { return make() } catch (error) { return String(error).slice(0, 57) } }",
            "made()",
            r#""TypeError: a decorator replaces class A, which has static""#,
        ),
        ("@((c: any) => c) class A { static #n = 1; static n() { return A.#n } }", "A.n()", "1"),
        (
            "const d = async () => (c: any) => { c.n = 1 }; const run = async () => { @(await d()) class A { @((await d()) && (() => {})) m() {} } return (A as any).n }",
            "run()",
            "1",
        ),
        (
            "class A { static f() { try { class B { @(5 as any) m() {} } return B } catch (error) { return String(error) } } }",
            "A.f()",
            r#""TypeError: a decorator must be a function, not number""#,
        ),
    ] {
        let export = if class.contains("export class") { "export " } else { "" };
        let source = format!("{decorators}{class}\n{export}const execute = () => {call}");
        assert_eq!(returns(&source), expect, "{source}");
    }
    let plain = "const d = (v, c) => () => c.kind;\nclass A { @d m() {} accessor x = 1 }\nfunction execute() { return [new A().m(), new A().x] }";
    let given: Vec<String> = exec(plain, &[]).out.split_whitespace().map(str::to_owned).collect();
    assert_eq!(given.concat(), r#"["method",1]"#);
}

#[test]
fn errors_in_a_tool_with_decorators_are_told_at_the_authors_lines() {
    for before in ["", "enum E { A }\n"] {
        let source = format!(
            "{before}const guard = (limit: number) => (value: Function, context: any) => function (this: unknown, ...args: number[]) {{\n  if (args[0] > limit) throw new RangeError(`over ${{limit}} in ${{context.name}}`);\n  return value.apply(this, args);\n}};\n@((c: any) => c)\nclass Meter {{\n  @guard(3) accessor level = 1; @guard(3)\n  read(n: number): number {{ return n; }}\n}}\nexport function execute(): number {{\n  return new Meter().read(4);\n}}\n"
        )
        .replace("@guard(3) accessor", "accessor");
        let shift = u32::from(!before.is_empty());
        let answer = exec(&source, &["--json", "--lang", "en"]).json();
        assert_eq!(answer["error"]["name"], "RangeError", "{answer}");
        assert_eq!(answer["error"]["line"], 2 + shift, "{answer}");
        let done = exec(&source, &[]);
        assert!(done.err.contains(&format!("at execute (stdin:{}:", 11 + shift)), "{}", done.err);
        // An exception during class evaluation names its line, and every frame is in the author's
        // source.
        let thrown = format!(
            "{before}const fails = () => {{\n  throw new TypeError('no');\n}};\nclass A {{\n  @fails m() {{}}\n}}\nconst execute = () => 1\n"
        );
        let done = exec(&thrown, &[]);
        assert!(done.err.contains(&format!("(stdin:{}:", 2 + shift)), "{}", done.err);
        let lines = thrown.lines().count();
        for place in done.err.split("stdin:").skip(1) {
            let line: usize = place.split(':').next().unwrap().parse().unwrap();
            assert!((1..=lines).contains(&line), "{}", done.err);
        }
        let wrong = format!("{before}class A {{\n  @(5 as any) m() {{}}\n}}\nconst execute = () => 1\n");
        let line = exec(&wrong, &["--json", "--lang", "en"]).json()["error"]["line"].as_u64().unwrap();
        assert!((1..=3 + u64::from(shift)).contains(&line), "{line}");
    }
}

#[test]
fn parts_of_a_namespace_see_what_other_parts_export() {
    for (source, expect) in [
        (
            "namespace A.B.C { export const v = 42 } namespace A { export namespace D { export const w = B.C.v + 1 } } const execute = () => A.D.w",
            "43",
        ),
        (
            "namespace A { export let n = 1; export const up = () => ++n } namespace A { n += 10; export const get = () => [n, up(), n] } const execute = () => A.get()",
            "[11,12,12]",
        ),
        (
            "function A() { return 1 } namespace A { export const x = 2 } namespace A { export const y = x + A() } const execute = () => A.y",
            "3",
        ),
        ("enum E { X = 1 } enum E { Y = X + 1 } const execute = () => [E.X, E.Y, E[2]]", r#"[1,2,"Y"]"#),
        (
            "namespace A { export namespace B { export const x = 1 } import P = B; export import Q = B; export const q = P.x } const execute = () => [A.q, A.Q.x]",
            "[1,1]",
        ),
        (
            "namespace A { export const d = 5; export function f(p: any) { const { x = d } = p; const [{ y = d }] = [p]; for (const { z = d } of [p]) return [x, y, z] } } const execute = () => A.f({})",
            "[5,5,5]",
        ),
        (
            "namespace N { export enum E { C = 3 } } enum F { X = N.E.C, Y, Z } const execute = () => [F.Y, F.Z, F[5]]",
            r#"[4,5,"Z"]"#,
        ),
        (
            "const enum E { A, B } const execute = () => [Object.values(E), E!.A, (E).B, E?.A]",
            r#"[["A","B",0,1],0,1,0]"#,
        ),
        (
            "namespace N { export enum E { X = 1 } } namespace N { export enum E { Y = X + 1 } export const both = [E.X, E.Y] } const execute = () => N.both",
            "[1,2]",
        ),
    ] {
        assert_eq!(returns(source), expect, "{source}");
    }
}

#[test]
fn types_in_an_export_list_are_left_out() {
    for source in [
        "interface Params { n: number } function execute({ n }: Params) { return n } export { execute, Params };",
        "import type { Params } from './types'; function execute({ n }: Params) { return n } export { Params, execute };",
        "import { Params } from './types'; function execute({ n }: Params) { return n } export { execute, Params as P };",
        "interface Params { n: number } function execute({ n }: Params) { return n }\nexport {\n  execute,\n  Params,\n}",
        "enum E { A } type Params = { n: number }; function execute({ n }: Params) { return n + E.A } export { execute, Params };",
    ] {
        let done = exec(source, &["{\"n\": 3}"]);
        assert_eq!(done.out.trim(), "3", "{source}: {}", done.err);
    }
}

#[test]
fn a_draft_with_a_critical_finding_does_not_run_unless_it_is_asked_to() {
    let source = "const execute = () => eval('1 + 1')";
    let refused = exec(source, &[]);
    assert_eq!(refused.status, 3);
    let expected = "error: safety check failed: stdin: runs a string as code: `eval` (eval-usage) at 1:23\n    \
                    1 | const execute = () => eval('1 + 1')\nhint: write the code out";
    assert!(refused.err.starts_with(expected), "{}", refused.err);
    assert_eq!(exec(source, &["--json"]).json()["error"]["code"], "safety-check-failed");
    // The sandbox is the protection: `eval` does not exist there either.
    assert_eq!(exec(source, &["--no-analysis"]).status, 1);
}

#[test]
fn the_good_tools_are_clean() {
    let folder = root().join("fixtures/tools");
    let done = toolcell(&["check", &folder.to_string_lossy()]);
    assert_eq!(done.status, 0, "{}", done.out);
    assert!(done.out.contains("63 checked, 0 refused: no findings"), "{}", done.out);
}

#[test]
fn what_is_no_tool_is_refused() {
    for (source, expected) in [
        ("const x = 1", "declares no tool"),
        ("export const execute = () => 1; export default 3", "0 refused"),
        ("", "the source is empty"),
        ("function execute( {", "1 checked, 1 refused: 1 not runnable"),
        ("let execute = () => 1; execute = () => 2", "declares `execute` twice"),
    ] {
        let done = exec_check(source);
        assert!(done.out.contains(expected), "{source}: {}", done.out);
        assert_eq!(done.status, if expected == "0 refused" { 0 } else { 3 }, "{source}: {}", done.out);
    }
}

#[test]
fn a_capability_that_is_asked_for_is_no_finding() {
    let source = "async function execute({ q }) { return (await fetch(`https://api.example.com/?q=${q}`)).json() }";
    let check =
        |words: &[&str]| toolcell_with_input(&[&["check", "-", "--json"], words].concat(), source.as_bytes()).json();
    let undeclared = check(&[]);
    assert_eq!(undeclared["safety"]["issues"][0]["type"], "network-access");
    assert_eq!(undeclared["capabilities"][0]["name"], "net");
    assert_eq!(undeclared["capabilities"][0]["named"][0], "api.example.com");
    let declared = check(&["--capabilities", "net,kv"]);
    assert_eq!(declared["safety"]["isSafe"], true);
    assert_eq!(declared["comparison"]["unused"][0], "kv");
    assert_eq!(check(&["--capabilities", "timers"])["comparison"]["missing"][0], "net");
}

#[test]
fn quality_tells_a_good_tool_from_an_empty_program() {
    let score = |source: &str| analyze(source, Language::TypeScript, None).unwrap().quality.score;
    let good = "/** The mean of some numbers. */\nexport function execute({ numbers }: { numbers: number[] }): number {\n  if (!Array.isArray(numbers) || numbers.length === 0) {\n    throw new TypeError('numbers must be a list with something in it');\n  }\n  let sum = 0;\n  for (const number of numbers) {\n    if (!Number.isFinite(number)) {\n      throw new TypeError(`${number} is no number`);\n    }\n    sum += number;\n  }\n  return sum / numbers.length;\n}\n";
    let careless = "function execute(p) { var x = p.a; try { if (x == 1) { return JSON.parse(p.b) } } catch (e) {} return Math.random() }";
    assert!(score(good) > 0.8, "{}", score(good));
    assert!(score("") <= 0.2 && score("const x = 1") <= 0.2);
    assert!(score(careless) < 0.7, "{}", score(careless));
    let issues = analyze(careless, Language::TypeScript, None).unwrap().quality.issues;
    assert!(issues.iter().all(|issue| issue.line == 1 && !issue.suggestion.is_empty()) && issues.len() >= 4);
}

#[test]
fn a_report_in_sarif_says_where_and_what() {
    let folder = root().join("fixtures/analysis/tuning/dangerous/eval-usage-joined-letters.js");
    let done = toolcell(&["check", "--format", "sarif", &folder.to_string_lossy()]);
    assert_eq!(done.status, 3);
    let report = done.json();
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "toolcell");
    let results = run["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["ruleId"] == "eval-usage" && result["level"] == "error"), "{results:?}");
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert!(region["startLine"].as_u64().unwrap() > 1);
    assert_eq!(report["$schema"], "https://json.schemastore.org/sarif-2.1.0.json");
}

#[test]
fn a_path_in_sarif_is_a_uri() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a b#c%d é:?.js");
    fs::write(&path, "const execute = () => eval('1');\n").unwrap();
    let done = toolcell(&["check", "--format", "sarif", &path.to_string_lossy()]);
    let report = done.json();
    let uri = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    let uri = uri.as_str().unwrap();
    assert!(uri.ends_with("/a%20b%23c%25d%20%C3%A9%3A%3F.js"), "{uri}");
}

#[test]
fn a_finding_is_shown_with_its_line_and_help() {
    let done = exec_check("const execute = (p) => process.env[p.名前];\n");
    assert_eq!(done.status, 3);
    for part in [
        "error[environment-access]: high:",
        "--> -:1:24",
        "process.env[p.名前]",
        "= help: take the value as a parameter",
    ] {
        assert!(done.out.contains(part), "{part} is missing in\n{}", done.out);
    }
}

#[test]
fn a_check_is_shown_in_the_language_of_the_reader() {
    let source = "const execute = () => process.env.HOME;\n";
    let check = |source: &str, lang| toolcell_with_input(&["check", "-", "--lang", lang], source.as_bytes()).out;
    for (lang, parts) in [
        (
            "ja",
            [
                "エラー[environment-access]: 高: プロセスの環境を読み取ります: `process.env.HOME`",
                "= 対処: 値をパラメータで受け取るか",
                "-: 安全性 ",
                "検査 1 件、拒否 1 件: 高 1 件",
            ],
        ),
        (
            "zh",
            [
                "错误[environment-access]: 高：读取进程的环境：`process.env.HOME`",
                "= 建议: 请通过参数传入该值",
                "-：安全性 ",
                "已检查 1 个，拒绝 1 个：高 1 项",
            ],
        ),
    ] {
        let shown = check(source, lang);
        for part in parts {
            assert!(shown.contains(part), "{part} is missing in\n{shown}");
        }
    }
    assert!(
        check("import { z } from 'valibot'; const execute = () => z", "ja")
            .contains("`valibot` はインポートできません")
    );
    assert!(check("const execute = () => fetch('https://a.example')", "zh").contains("访问网络：`fetch`"));
}

#[test]
fn a_check_in_json_and_sarif_is_the_same_in_each_language() {
    let source = "import 'zod'; const execute = (p) => fetch(process.env[p.url])";
    for format in ["json", "sarif"] {
        let check = |lang| {
            let arguments = ["check", "-", "--format", format, "--lang", lang];
            toolcell_with_input(&arguments, source.as_bytes()).out
        };
        let english = check("en");
        assert!(english.contains("reaches the network: `fetch`"), "{english}");
        assert_eq!([check("ja"), check("zh")], [english.clone(), english]);
    }
}

fn exec_check(source: &str) -> crate::fixtures::cli::CommandOutput {
    toolcell_with_input(&["check", "-"], source.as_bytes())
}

#[test]
fn deep_nesting_of_any_shape_ends_in_an_answer() {
    let size = 60_000;
    let twice = |open: &str, close: &str| {
        let times = size / (open.len() + close.len());
        format!("const execute = () => {}1{}", open.repeat(times), close.repeat(times))
    };
    // Unlimited constant folding would produce 2^1999 characters.
    let mut doubling = "const a0 = 'a';".to_owned();
    for i in 1..2_000 {
        write!(doubling, "const a{i} = a{} + a{};", i - 1, i - 1).unwrap();
    }
    doubling.push_str("const execute = () => a1999");
    let shapes = [
        twice("(", ")"),
        twice("[", "]"),
        format!("const execute = () => ({}1{})", "{a:".repeat(15_000), "}".repeat(15_000)),
        twice("()=>", ""),
        twice("!", ""),
        twice("-(", ")"),
        twice("1+", ""),
        twice("a?b:", ""),
        twice("f(", ")"),
        twice("`${", "}`"),
        twice("(class{m(){", "}})"),
        twice("new ", ""),
        twice("await ", ""),
        twice("async()=>", ""),
        format!("function execute() {{ {} }}", "if(a){".repeat(9_000) + &"}".repeat(9_000)),
        format!("function execute() {{ {} }}", "if(a);else ".repeat(5_400)),
        format!("function execute() {{ {} }}", "while(1){".repeat(6_000) + &"}".repeat(6_000)),
        format!("function execute() {{ {} }}", "{".repeat(29_000) + &"}".repeat(29_000)),
        format!("type T = {}1{}; const execute = () => 1", "[".repeat(29_000), "]".repeat(29_000)),
        format!("const execute = () => /{}/", "(".repeat(29_000) + &")".repeat(29_000)),
        format!("const {}a{} = 1; const execute = () => a", "[".repeat(29_000), "]".repeat(29_000)),
        format!("const execute = () => x{}", ".a".repeat(29_000)),
        format!("const execute = () => x{}", "?.a".repeat(19_000)),
        doubling,
    ];
    for shape in shapes {
        match analyze(&shape, Language::TypeScript, None) {
            Ok(analysis) => assert!(analysis.findings.len() < 100, "{}", &shape[..200]),
            Err(rejection) => assert!(!rejection.diagnostics().is_empty(), "{rejection}"),
        }
    }
}

#[test]
fn what_could_be_worked_out_for_ever_ends_in_an_answer() {
    let each = |times: usize, line: &dyn Fn(usize) -> String| (1..times).map(line).collect::<String>();
    let called = |what: &str, times: usize| format!("function execute() {{ return [{}] }}", what.repeat(times));
    let shapes = [
        // Arrays, strings and calls that double at each step.
        format!("const a0 = [1, 2];{}", each(1_400, &|i| format!("const a{i} = [...a{0}, ...a{0}];", i - 1))),
        format!(
            "const a0 = [1, 2];{}const s = `${{a1999}}`;",
            each(2_000, &|i| format!("const a{i} = [a{0}, a{0}];", i - 1))
        ),
        format!(
            "const f0 = (x) => x;{}f1199('a');",
            each(1_200, &|i| format!("const f{i} = (x) => f{0}(x) + f{0}(x);", i - 1))
        ),
        format!("let s = 'x';{}", "s += s;".repeat(8_000)),
        format!("const a = [];{}", "a.push(a, a);".repeat(4_000)),
        format!(
            "class C {{ {} }} new C().a0;",
            each(900, &|i| format!("get a{}() {{ return this.a{i} + this.a{i} }}", i - 1))
        ),
        // Functions that never return, and decoders called repeatedly.
        format!("function d() {{ while (true) {{}} }} {}", called("d(),", 5_000)),
        format!("const f = (x) => f(x + 'a'); {}", called("f('a'),", 5_000)),
        format!(
            "function d(s) {{ let r = ''; for (let i = 0; i < s.length; i++) r += String.fromCharCode(s.charCodeAt(i) ^ 3); return r }} {}",
            called("d('abcdefgh'),", 3_500)
        ),
        format!("function execute(p) {{ {} }}", "with (p) { x; }".repeat(4_000)),
        each(1_500, &|i| format!("function f{i}(a) {{ return f{}(a) }}", i % 1_499 + 1)),
    ];
    for shape in shapes {
        assert!(shape.len() < 65_536, "{}", shape.len());
        if let Ok(analysis) = analyze(&shape, Language::Unknown, None) {
            assert!(analysis.findings.len() < 100, "{}", &shape[..200]);
        }
    }
}

#[test]
fn hostile_fixtures_that_can_be_seen_are_seen() {
    // Code from strings, modules and the process environment must be visible in the source.
    let mut unseen = Vec::new();
    for path in files("fixtures/hostile", "js") {
        let source = fs::read_to_string(&path).unwrap();
        let code: String =
            source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let visible = ["eval(", "new Function(", "require(", "process.env"].iter().any(|word| code.contains(word));
        if !visible {
            continue;
        }
        if let Ok(analysis) = analyze(&source, Language::JavaScript, None)
            && analysis.safety.is_safe
        {
            unseen.push(path.display().to_string());
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}

#[test]
fn declarations_have_the_calls_of_stored_tools() {
    let any_call = "interface Tools {\n  call(name: string, params?: object): Promise<any>;\n}\n";
    let cli = CliFixture::new();
    // There is no store yet.
    let before = cli.run(&["types", "--tools"]);
    assert_output(&before, 0, toolcell::TYPE_DECLARATIONS, "");
    assert!(before.out.contains(any_call));
    let parameters = r#"{"xs":{"type":"array","items":{"type":"number"},"description":"the numbers","required":true}}"#;
    cli.tool("average", "Averages */ numbers", &["--parameters", parameters, "--returns", r#"{"type":"number"}"#]);
    cli.tool("anything", "Does nothing", &[]);
    let declared = cli.run(&["types", "--tools"]).out;
    assert!(!declared.contains(any_call));
    let calls = declared.split_once("interface Tools {\n").unwrap().1.split_once("interface ToolKeeping").unwrap().0;
    assert_eq!(
        calls,
        "  /** Does nothing */\n  call(name: \"anything\", params?: Record<string, unknown>): Promise<any>;\n  /** Averages *\\/ numbers */\n  \
         call(name: \"average\", params: {\n    /** the numbers */\n    xs: number[];\n  }): Promise<number>;\n}\n"
    );
    let code = "const execute = () => tools.call('average', { xs: [1] })";
    transpile(&format!("{declared}\n{code}"), Language::TypeScript).unwrap_or_else(|error| panic!("{error}"));
}
