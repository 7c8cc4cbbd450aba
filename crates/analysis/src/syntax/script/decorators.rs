//! Compilation of decorators and `accessor` fields.
//!
//! The semantics are those of the proposal (TC39, November 2023,
//! <https://github.com/tc39/proposal-decorators>), even for code written for TypeScript's older
//! `experimentalDecorators`. The parameter decorators of the latter have no counterpart and are
//! refused.
//!
//! Code is inserted where decorators stand, so each part of a class is evaluated in place:
//! decorators of a member become the computed key of a temporary method before it, and an
//! `accessor` field becomes a private field, a getter and a setter. The helper that they call is
//! appended to the source.
//!
//! Invariant: no line moves, and a source without decorators and `accessor` fields is unchanged.

mod edits;
mod lower;

use swc_ecma_ast::{AutoAccessor, Decorator, Program};
use swc_ecma_visit::{Visit, VisitWith};

use crate::syntax::error::Diagnostic;
pub(crate) use edits::ColumnMap;
pub(crate) use lower::{Provenance, lower};

/// The maximum number of decorators and `accessor` fields of a source, taken together: each expands
/// to up to some hundred bytes.
pub(crate) const MAX_DECORATORS: usize = 2_000;

/// A source without decorators, with a map of its shifted columns.
pub(crate) struct LoweredSource {
    pub(crate) code: String,
    pub(crate) column_map: ColumnMap,
}

/// A lowered source, or the diagnostics of its decorators.
pub(crate) type LoweringResult = Result<LoweredSource, Vec<Diagnostic>>;

/// Returns the number of decorators and `accessor` fields of a program.
pub(crate) fn count(program: &Program) -> usize {
    let mut count = DecoratorCounter(0);
    program.visit_with(&mut count);
    count.0
}

struct DecoratorCounter(usize);

impl Visit for DecoratorCounter {
    fn visit_decorator(&mut self, decorator: &Decorator) {
        self.0 += 1;
        decorator.visit_children_with(self);
    }

    fn visit_auto_accessor(&mut self, accessor: &AutoAccessor) {
        self.0 += 1;
        accessor.visit_children_with(self);
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use super::MAX_DECORATORS;
    use crate::{Severity, analyze, transpile};

    #[test]
    fn a_source_without_decorators_keeps_its_bytes() {
        for source in ["class A { x = 1; static { this.y = 2 } }", "const a = '@b'; class A { accessor() {} }"] {
            assert_eq!(transpile(source, Language::JavaScript).unwrap().code(), source);
        }
    }

    #[test]
    fn no_line_moves_and_columns_lead_back() {
        for head in ["", "enum E { A }\n"] {
            let source = format!(
                "{head}@a @b.c(1)\nclass A {{\n  @d /* 日本 */ m() {{ const 名 = '😀'; throw x; }}\n  accessor y = z;\n}}\n"
            );
            let script = transpile(&source, Language::TypeScript).unwrap();
            for word in ["throw x", "= z"] {
                let line_of = |text: &str| text.lines().position(|line| line.contains(word)).unwrap();
                let column_of = |text: &str| {
                    let line = text.lines().nth(line_of(text)).unwrap();
                    u32::try_from(line[..line.find(word).unwrap()].encode_utf16().count()).unwrap() + 1
                };
                let line = u32::try_from(line_of(script.code())).unwrap() + 1;
                let place = script.map_back(line, column_of(script.code())).unwrap();
                assert_eq!(place.0, u32::try_from(line_of(&source)).unwrap() + 1, "{word}");
                assert!(place.1.abs_diff(column_of(&source)) <= 2, "{word}: {place:?} {}", column_of(&source));
            }
            let last = u32::try_from(script.code().lines().count()).unwrap();
            assert_eq!(script.map_back(last, 1), None, "the helper is not the author's");
        }
    }

    #[test]
    fn a_class_with_decorators_in_the_first_statement_may_be_beside_symbol_metadata() {
        for class in [
            "@dec class A {}",
            "'use strict'; @dec class A {}",
            "@dec export class A {}",
            "export @dec class A {}",
            "@dec export default class A {}",
            "export default @dec class A {}",
            "// @dec\n/* @dec */ @dec /* x */ class A {}",
            "@(dec) @dec\nclass A {}",
            "class A { @dec x }",
        ] {
            for tail in ["", "\nenum E { X }"] {
                let source =
                    format!("{class}\nfunction dec(v, c) {{}}\nconst execute = () => A[Symbol.metadata];{tail}");
                let code = transpile(&source, Language::TypeScript).unwrap().code().to_owned();
                let (before, behind) = code.split_once("Symbol.metadata??").expect(&source);
                let is_first = before.lines().all(|line| {
                    let line = line.trim();
                    line.is_empty() || line.starts_with(['/', '\'', '"'])
                });
                assert!(is_first && behind.contains("$d"), "{source}: {code}");
                let read = crate::syntax::parse::parse_as(&code, crate::syntax::parse::javascript_syntax());
                assert!(read.is_ok(), "{source}: {code}");
            }
        }
    }

    #[test]
    fn a_nameless_class_with_decorators_is_named_after_what_it_is_given_to() {
        for (source, name) in [
            ("x = { 7: @d class {} }", "7"),
            ("class A { static 'b c' = @d class {} }", "b c"),
            ("class A { static 7 = @d class {} }", "7"),
            ("class A { static #p = @d class {} }", "#p"),
            ("const { x = @d class {} } = {}", "x"),
            ("export default (@d class {})", "default"),
        ] {
            let code = transpile(source, Language::TypeScript).unwrap().code().to_owned();
            assert!(code.contains(&format!("=>({{[\"{name}\"]:")), "{source}: {code}");
        }
    }

    #[test]
    fn decorators_of_parameters_and_of_what_makes_nothing_are_refused_by_name() {
        for (source, says) in [
            ("class A { m(@a x) {} }", "parameter decorators are not supported"),
            ("class A { constructor(@a private x) {} }", "parameter decorators are not supported"),
            ("class A { @a m(): void; m() {} }", "decorates a declaration without code"),
            ("class A { @a declare x }", "decorates a declaration without code"),
            ("abstract class A { @a abstract x }", "decorates a declaration without code"),
            ("function* f() { @a class A { @(yield) m() {} } }", "a decorator that yields is not supported"),
        ] {
            let refused = transpile(source, Language::TypeScript).unwrap_err();
            assert_eq!(refused.code(), "syntax-unsupported", "{source}");
            assert!(refused.to_string().contains(says), "{source}: {refused}");
        }
    }

    #[test]
    fn a_decorator_of_what_cannot_have_one_is_refused_and_does_not_vanish() {
        for decorated in [
            "@d interface X {}",
            "@d export interface X {}",
            "@d type T = 1",
            "@d enum E { A }",
            "@d namespace N { export const x = 1 }",
            "@d import type { A } from './x'",
            "@d let x = 1",
            "@d function f() {}",
            "function f() { /* { */ @d if (x) {} }",
            "switch (x) { case 1: @d let y }",
            "switch (x) { case ':': f(); @d let y }",
            "switch (x) { default: @d interface X {} }",
            "namespace N { @d interface X {} }",
            "class A { @d [k: string]: any }",
            "class A<T> extends (B)<T> implements C /* { */ { @d [k: string]: any }",
            "@d class A { @d x; @d [k: string]: any }",
            "x = class { @d static {} }",
            "class A { @d constructor() {} }",
        ] {
            for head in ["", "const a = '@b' /* @c */; // @d\n"] {
                let refused = transpile(&format!("{head}{decorated}"), Language::TypeScript).unwrap_err();
                assert_eq!(refused.code(), "syntax-unsupported", "{decorated}");
                assert!(
                    refused.to_string().starts_with("a decorator is only allowed on a class"),
                    "{decorated}: {refused}"
                );
            }
        }
        for decorated in [
            "/* @x */ @d /* @y */ export class A { /* @z */ @d x; @d static async m() {} @d accessor y; z }",
            "class A /* {@link x} */ { y; '@z' = 1 }",
            "export @d class A<T> { public y: T }",
            "export default @d class { @d z = '@' }",
            "namespace N { @d export class A {} function f() { @d class B {} } }",
            "switch (x) { case 1: @d class A {} }",
        ] {
            assert!(transpile(decorated, Language::TypeScript).is_ok(), "{decorated}");
        }
    }

    #[test]
    fn more_decorators_than_may_be_are_refused_by_their_number() {
        let row = format!("{}class A {{}}", "@a ".repeat(MAX_DECORATORS));
        assert!(transpile(&row, Language::TypeScript).is_ok());
        let refused = transpile(&format!("@a {row}"), Language::TypeScript).unwrap_err();
        assert!(
            refused.to_string().starts_with("has 2001 decorators and `accessor` fields, the limit is 2000"),
            "{refused}"
        );
    }

    #[test]
    fn classes_in_the_extends_of_classes_and_in_decorators_are_refused_before_they_take_long() {
        for (open, close) in [
            ("class extends ", "{}"),
            ("@(a, @a class extends ", "{}) class {}"),
            ("@(class { @x y }) class extends ", "{}"),
        ] {
            let source = format!("x = {}b{}", open.repeat(100), close.repeat(100));
            let refused = analyze(&source, Language::TypeScript, None).map(|_| ()).unwrap_err();
            assert_eq!(refused.code(), "source-too-deep", "{open}: {refused}");
        }
        assert!(analyze("x = class extends class extends class {} {} {}", Language::TypeScript, None).is_ok());
    }

    #[test]
    fn what_decorators_are_made_of_is_code_that_runs() {
        for (source, rule) in [
            ("@(eval('1')) class A {}", "eval-usage"),
            ("@eval class A {}", "eval-usage"),
            ("class A { @(eval('1')) x }", "eval-usage"),
            ("class A { @((f => f('1'))(eval)) #m() {} }", "eval-usage"),
            ("class A { @(new Function('1')) accessor x }", "eval-usage"),
            ("class A { static accessor x = eval('1') }", "eval-usage"),
            ("class A { accessor [eval('1')] = 1 }", "eval-usage"),
            ("@(fetch('https://a.example/')) class A {}", "network-access"),
            ("@fetch class A {}", "network-access"),
            ("const A = @(() => fetch('https://a.example/')) class {}", "network-access"),
            ("namespace N { export const go = fetch } namespace N { go('https://a.example/') }", "network-access"),
            ("namespace N { export const go = eval } namespace N { go('1') }", "eval-usage"),
            ("namespace N { export const go = fetch } N.go('https://a.example/')", "network-access"),
        ] {
            let source = format!("{source}\nfunction execute() {{}}");
            let found = analyze(&source, Language::TypeScript, None).unwrap().findings;
            assert!(
                found.iter().any(|finding| finding.rule.name() == rule && finding.severity >= Severity::Low),
                "{source}: {found:?}"
            );
        }
    }

    #[test]
    fn a_row_of_decorators_is_read_and_dropped_with_a_small_stack() {
        let source = format!("{}class A {{ {} x }}", "@a.b(c) ".repeat(4_000), "@a ".repeat(9_000));
        let read = move || {
            crate::syntax::parse::with_globals(|| {
                let parsed =
                    crate::syntax::parse::parse(&source, Language::TypeScript).map_err(|error| error.to_string());
                parsed.map(|parsed| (parsed.depth, super::count(&parsed.program)))
            })
        };
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(read).unwrap();
        let (depth, count) = thread.join().unwrap().unwrap();
        assert!(depth < 10 && count == 13_000, "{depth} {count}");
    }
}
