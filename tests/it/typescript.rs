//! Any TypeScript that a model writes runs, and what it throws is told at the author's own line.

use std::fmt::Write as _;

use toolcell_analysis::{Rejection, analyze, translate};
use toolcell_tool::Language;

use crate::command_line::{exec, toolcell, toolcell_with_input};
use crate::world::{World, files, root};

/// What a TypeScript tool returns.
fn returns(source: &str) -> String {
    let script = translate(source, Language::TypeScript).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    World::new().script(script.code()).returns()
}

#[test]
fn types_are_blanked_out_where_they_stand() {
    let source = "interface P<T> { a: T }\nfunction execute<T extends number>({ a }: P<T>): number { return (a as number)! * 2 satisfies number }";
    let script = translate(source, Language::TypeScript).unwrap();
    assert!(!script.is_compiled());
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
        ("class C { declare y: number; static #n = 11; static n = () => C.#n }\nconst execute = () => C.n()", "11"),
    ] {
        assert_eq!(returns(source), expect, "{source}");
    }
}

#[test]
fn what_does_not_run_here_is_refused_with_what_to_write_instead() {
    for (source, code, said) in [
        ("@sealed class A {} const execute = () => 1", "syntax-unsupported", "decorators are not supported: wrap"),
        (
            "const execute = () => { using x = open(); return 1 }",
            "syntax-unsupported",
            "`using` is not supported: write",
        ),
        (
            "import fs from 'node:fs'; export const execute = () => fs",
            "syntax-unsupported",
            "`node:fs` cannot be imported",
        ),
        ("import { z } from 'zod'; export const execute = () => 1", "syntax-unsupported", "plain JSON Schema object"),
        ("export * from './x'; export const execute = () => 1", "syntax-unsupported", "`./x` cannot be imported"),
        ("const execute = () => { return 1", "syntax-error", ""),
    ] {
        let rejection = translate(source, Language::TypeScript).unwrap_err();
        assert_eq!(rejection.code(), code, "{source}");
        assert!(rejection.to_string().contains(said), "{source}: {rejection}");
    }
}

#[test]
fn several_syntax_errors_are_told_in_one_go() {
    let source = "function execute() {\n  const a = 1;\n  const b;\n  const c = 1;\n  const d;\n}\n";
    let Err(Rejection::Syntax(problems)) = analyze(source, Language::JavaScript, None) else { panic!("it parses") };
    let lines: Vec<u32> = problems.iter().map(|problem| problem.location.line).collect();
    assert_eq!(lines, [3, 5]);
    assert_eq!(problems[0].text, "  const b;");
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
fn a_draft_with_a_critical_finding_does_not_run_unless_it_is_asked_to() {
    let source = "const execute = () => eval('1 + 1')";
    let refused = exec(source, &[]);
    assert_eq!(refused.status, 3);
    let said = "error: safety check failed: runs text as code: `eval` (eval-usage) at 1:23\nhint: write the code out";
    assert!(refused.err.starts_with(said), "{}", refused.err);
    assert_eq!(exec(source, &["--json"]).json()["error"]["code"], "safety-check-failed");
    // The cell is the guard: there is no `eval` in it either.
    assert_eq!(exec(source, &["--no-analysis"]).status, 1);
}

#[test]
fn the_good_tools_are_clean() {
    let folder = root().join("fixtures/tools");
    let done = toolcell(&["check", &folder.to_string_lossy()]);
    assert_eq!(done.status, 0, "{}", done.out);
    assert!(done.out.contains("63 checked, 0 refused: nothing found"), "{}", done.out);
}

#[test]
fn what_is_no_tool_is_refused() {
    for (source, said) in [
        ("const x = 1", "declares no tool"),
        ("export const execute = () => 1; export default 3", "0 refused"),
        ("", "the source is empty"),
        ("function execute( {", "1 checked, 1 refused: 1 that do not run here"),
        ("let execute = () => 1; execute = () => 2", "declares `execute` twice"),
    ] {
        let done = exec_check(source);
        assert!(done.out.contains(said), "{source}: {}", done.out);
        assert_eq!(done.status, if said == "0 refused" { 0 } else { 3 }, "{source}: {}", done.out);
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
    let folder = root().join("fixtures/analysis/dangerous/eval-usage-joined-letters.js");
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

fn exec_check(source: &str) -> crate::command_line::Done {
    toolcell_with_input(&["check", "-"], source.as_bytes())
}

#[test]
fn deep_nesting_of_any_shape_ends_in_an_answer() {
    let size = 60_000;
    let twice = |open: &str, close: &str| {
        let times = size / (open.len() + close.len());
        format!("const execute = () => {}1{}", open.repeat(times), close.repeat(times))
    };
    // Folded without a limit, this would be as long as 2 to the power of 1,999.
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
            Ok(analysis) => assert!(analysis.findings.len() < 100),
            Err(rejection) => assert!(!rejection.problems().is_empty(), "{rejection}"),
        }
    }
}

#[test]
fn hostile_fixtures_that_can_be_seen_are_seen() {
    // Code from strings, modules and the process's surroundings are visible in the text.
    let mut unseen = Vec::new();
    for path in files("fixtures/hostile", "js") {
        let source = std::fs::read_to_string(&path).unwrap();
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
