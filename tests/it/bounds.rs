//! Worst-case inputs of models, tools and tenants, each run in a process with limits of CPU time
//! and memory.
//!
//! `docs/security/bounds.md` names the bound of each input. A limit here is ten times what an optimised
//! build needs, because tests run unoptimised and on busy machines. Limits are CPU time, so waiting
//! for a processor does not count.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};

/// An input, the command that reads it, and the expected end of the command.
struct Case {
    name: &'static str,
    words: Vec<String>,
    input: Vec<u8>,
    /// The accepted exit statuses.
    ends: &'static [i32],
    /// A text that the output must contain.
    says: &'static str,
    limits: Limits,
}

#[derive(Clone, Copy)]
struct Limits {
    cpu_seconds: u64,
    mebibytes: u64,
}

/// Limits of an analysis. An optimised build takes 200 ms and 64 MiB, on top of the 40 MiB of the
/// process itself.
const ANALYSIS: Limits = Limits { cpu_seconds: 2, mebibytes: 112 };
/// Limits of a command that also runs a cell.
const CALL: Limits = Limits { cpu_seconds: 10, mebibytes: 400 };

impl Case {
    fn new(name: &'static str, words: &[&str], input: impl Into<Vec<u8>>, limits: Limits) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self { name, words, input: input.into(), ends: &[0, 1, 2, 3], says: "", limits }
    }

    fn ends(self, ends: &'static [i32], says: &'static str) -> Self {
        Self { ends, says, ..self }
    }

    /// Runs the command, and returns an error if it does not end as expected.
    fn run(self, dir: &Path) -> Result<(), String> {
        let Limits { cpu_seconds, mebibytes } = self.limits;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -t {cpu_seconds}; exec \"$0\" \"$@\"")).arg(crate::mcp::server::binary());
        shell.args(["--lang", "en", "--config", "/dev/null", "--no-project", "--dir"]).arg(dir).args(&self.words);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut to, mut out, mut err) =
            (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let input = self.input;
        let feed = std::thread::spawn(move || {
            // A command that rejects its input need not read all of it.
            let _ = to.write_all(&input);
        });
        let read = std::thread::spawn(move || {
            let (mut output, mut errors) = (Vec::new(), Vec::new());
            out.read_to_end(&mut output).unwrap();
            err.read_to_end(&mut errors).unwrap();
            output.append(&mut errors);
            output
        });
        let mut peak = 0;
        let status = loop {
            peak = peak.max(resident(child.id()));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        feed.join().unwrap();
        let output = read.join().unwrap();
        let text = String::from_utf8_lossy(&output);
        let shown: String = text.chars().take(400).collect();
        let name = self.name;
        match status.code() {
            Some(code) if self.ends.contains(&code) => {}
            ended => return Err(format!("{name}: ended with {ended:?} ({status}): {shown}")),
        }
        if peak > mebibytes << 10 {
            return Err(format!("{name}: took {} MiB, the limit is {mebibytes}: {shown}", peak >> 10));
        }
        if output.len() > 4 << 20 {
            return Err(format!("{name}: says {} bytes", output.len()));
        }
        if !text.contains(self.says) {
            return Err(format!("{name}: does not say {:?}: {shown}", self.says));
        }
        Ok(())
    }
}

/// Returns the peak resident memory of a process, in KiB; 0 if it has ended.
fn resident(process: u32) -> u64 {
    // Between fork and exec a process has the memory of its parent.
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    if program(&process.to_string()) == program("self") {
        return 0;
    }
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[track_caller]
fn all(cases: Vec<Case>, dir: &Path) {
    let wrong: Vec<String> = cases.into_iter().filter_map(|case| case.run(dir).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Repeats a text up to the maximum size of a source.
fn again(text: &str) -> String {
    text.repeat(60_000 / text.len())
}

fn nested(open: &str, close: &str) -> String {
    let times = 60_000 / (open.len() + close.len());
    format!("{}1{}", open.repeat(times), close.repeat(times))
}

fn numbered(line: impl Fn(usize) -> String) -> String {
    numbered_up_to(60_000, line)
}

fn numbered_up_to(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut all = String::new();
    for at in 1.. {
        let next = line(at);
        if all.len() + next.len() > bytes {
            return all;
        }
        all.push_str(&next);
    }
    all
}

/// Returns short distinct names, separated by `between`, up to a total size: `a`, then `_` followed
/// by digits in base 36.
fn names(bytes: usize, between: &str) -> String {
    let digit = |at: usize| char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[at % 36]);
    let name = |at: usize| match at {
        1 => "a".to_owned(),
        2..=1_000 => format!("_{}{}", digit(at), digit(at / 36)),
        _ => format!("_{}{}{}", digit(at), digit(at / 36), digit(at / 1_296)),
    };
    let all = numbered_up_to(bytes, |at| format!("{}{between}", name(at)));
    all.trim_end_matches(between).to_owned()
}

/// Returns declarations of constants, each ten times as long as the previous one.
fn doubled() -> String {
    (b'b'..b'j').fold(String::new(), |constants, at| {
        let before = char::from(at - 1).to_string();
        format!("{constants}const {}={};", char::from(at), [before.as_str(); 10].join("+"))
    })
}

/// Sources of up to 64 KiB that are slow to compile to JavaScript.
fn sources_to_compile() -> Vec<(&'static str, String)> {
    vec![
        ("decorators", format!("{} class B{{}}", "@a".repeat(16_000))),
        ("decorators of members", format!("class A {{ {} }}", again("@a x;"))),
        ("as many decorators as may be", format!("{} class B{{}}", "@a".repeat(2_000))),
        ("decorated classes", "@a class A{} ".repeat(2_000)),
        ("decorated private methods", format!("class A {{ {} }}", numbered(|at| format!("@a #m{at}(){{}} ")))),
        (
            "decorated accessors of long names",
            format!("class A {{ {} }}", format!("@a accessor #{};", "x".repeat(14_000)).repeat(4)),
        ),
        (
            "classes in decorators",
            format!("x = {}b{}", "@(a, @a class extends ".repeat(1_000), "{}) class {}".repeat(1_000)),
        ),
        ("classes in the extends of classes", nested("(class extends ", "{})")),
        ("namespaces opened again", again("namespace A.B { export const x = 1; x; y } ")),
        (
            "names in a namespace within namespaces",
            format!(
                "namespace A {{ export const x = 1 }} {}{}{}",
                "namespace A {".repeat(150),
                "y;".repeat(20_000),
                "}".repeat(150)
            ),
        ),
        ("enums opened again", again("enum E { A = B }")),
        ("members of an enum opened again", format!("enum A{{{}}}{}", names(32_000, ","), "enum A{a}".repeat(3_500))),
        ("members of an enum beside others", format!("enum A{{{}}}{}", names(32_000, ","), "enum B{}".repeat(3_500))),
        ("scopes of one name", format!("enum A{{x}}{}", format!("{}1;", "a=>".repeat(180)).repeat(110))),
        ("classes of one name", format!("enum A{{x}}{}", "{class a{}}".repeat(5_000))),
        (
            "names such as a1 that are tried",
            format!("enum A{{x}}a;{}{}", numbered_up_to(25_000, |at| format!("a{at};")), "a=>1;".repeat(6_000)),
        ),
        ("names in deep scopes", format!("enum A{{x}}{}[{}]", "()=>".repeat(190), names(60_000, ","))),
        (
            "names in deep namespaces",
            format!("{}[{}]{}", "namespace A{".repeat(190), names(55_000, ","), "}".repeat(190)),
        ),
        ("a name of many namespaces", format!("namespace A{} {{ export let a = 1 }}", ".A".repeat(1_000))),
        (
            "variables hoisted out of blocks",
            format!("enum A{{x}}{}var {}a{}", "{".repeat(120), "a,".repeat(20_000), "}".repeat(120)),
        ),
        ("a sum in an enum", format!("enum A{{x=[{}]{}}}", "1,".repeat(25_000), "+a".repeat(190))),
        ("a sum in a constant", format!("enum A{{x}} const y=[{}]{};", "1,".repeat(25_000), "+a".repeat(190))),
        (
            "templates in an enum",
            format!("enum A{{x={}[{}]{}}}", "`${".repeat(150), "1,".repeat(25_000), "}`".repeat(150)),
        ),
        (
            "constants that double in an enum",
            format!("enum A{{x=(()=>{{const a='{}';{}}})()}}", "x".repeat(1_000), doubled()),
        ),
        (
            "constants that double beside a namespace",
            format!("namespace A{{1}}const a='{}';{}", "x".repeat(1_000), doubled()),
        ),
        (
            "calls of super",
            format!(
                "class A extends B{{constructor(public a){{{}}} x=[{}]}}",
                "super();".repeat(3_500),
                "1,".repeat(15_000)
            ),
        ),
        (
            "values beside wide characters",
            format!("enum E{{a=1}}/*{}*/{}", "é".repeat(15_000), "f(E.a);".repeat(4_500)),
        ),
        (
            "export lists of types",
            format!("{}export {{ {} execute }}", "type T = 1;".repeat(3_000), "T, ".repeat(8_000)),
        ),
    ]
}

/// Sources of up to 64 KiB that are slow to parse or to analyse.
#[expect(clippy::too_many_lines, reason = "it is a list")]
fn sources() -> Vec<(&'static str, String)> {
    vec![
        ("open tags", "<a>".repeat(12_000)),
        ("closed tags", format!("x = {}{}", "<a>".repeat(6_000), "</a>".repeat(6_000))),
        ("exports of modules", "export*from'x';".repeat(3_500)),
        ("accessor fields", format!("class A {{ {} }}", "accessor a;".repeat(5_000))),
        ("open brackets", "(".repeat(65_000)),
        ("brackets", nested("(", ")")),
        ("arrows in brackets", nested("(a=>", ")")),
        ("arrows that may be", again("(a=>(")),
        ("defaults of arrows", nested("(a=", ")=>1")),
        ("calls of async", again("async(")),
        ("generic arrows", again("<T>(")),
        ("type arguments", again("a<")),
        ("closed type arguments", nested("a<", ">")),
        ("conditional arrows", format!("x = {}1", again("a?(b):"))),
        ("conditional arrows with types", format!("x = {}1", again("a?(b):c=>d:"))),
        ("a type of functions", format!("type A = {}c", again("(a:b)=>"))),
        ("a type in brackets", format!("type A = {}", nested("(", ")"))),
        ("a conditional type", format!("type A = {}d", again("a extends b?c:"))),
        ("templates", format!("x = {}", nested("`${", "}`"))),
        ("comments", again("/**/")),
        ("blocks", nested("{", "}")),
        ("else if", format!("{};", again("if(a);else "))),
        ("labels", format!("{};", numbered(|at| format!("l{at}:")))),
        ("optional chaining", format!("a{}", again("?.b"))),
        ("patterns of objects", format!("let {}", nested("{a:", "}"))),
        ("patterns of lists", format!("{}=1", nested("[", "]"))),
        ("members of a class", format!("class A {{ {} }}", again("a(){}"))),
        ("private members", format!("class A {{ {} }}", numbered(|at| format!("#f{at}=1;")))),
        ("classes", nested("class A{a=", "}")),
        ("functions that call each other", numbered(|at| format!("function f{at}(){{f{}();f{}()}}", at + 1, at - 1))),
        ("texts added up", format!("x = {}'b'", again("'a'+"))),
        (
            "texts that double",
            format!("const s0='aaaaaaaaaa';{}", numbered(|at| format!("const s{at}=s{0}+s{0};", at - 1))),
        ),
        ("members of an enum", format!("enum A {{ {} }}", numbered(|at| format!("k{at},")))),
        ("regular expressions", again("/(a+)+b/;")),
        ("different regular expressions", numbered(|at| format!("/(a{at}+)+b|(x*y*z*)*{at}/;"))),
        ("a long regular expression", format!("x = /{}/", "(a+)+".repeat(12_000))),
        ("a number", format!("x = {}1", "1_".repeat(30_000))),
        ("escapes", format!("x = '{}'", again("\\u{61}"))),
        ("cases", format!("switch (a) {{ {} }}", again("case 1:"))),
        ("variables", format!("var v0 = 1;{}", numbered(|at| format!("var v{at}=v{};", at - 1)))),
        (
            "variables in a loop",
            format!(
                "function execute(p) {{ while (p) {{ {} }} }}",
                numbered(|at| format!("v{}=v{};", at % 100, at * 7 % 100))
            ),
        ),
        ("loops", format!("function execute(n) {{ {} }}", again("while(n>0){n--}"))),
        (
            "loops that wait",
            format!("function execute(t) {{ {} }}", again("while(Date.now()<t){let n=Date.now();if(n>t)break}")),
        ),
        (
            "loops that wait by functions",
            format!(
                "const f0=()=>Date.now()>9;{}",
                numbered(|at| format!("const f{at}=()=>f{0}()||f{0}();while(f{at}());", at - 1))
            ),
        ),
        ("built-ins that are replaced", again("[Math.max]=[JSON.parse=parseInt];")),
        ("names that are exported again", numbered(|at| format!("export{{a as a{at}}}from'fs';"))),
        ("imports", numbered(|at| format!("import{{a{at}}}from'x';"))),
        ("exports", numbered(|at| format!("export const e{at}=1;"))),
        ("evals", again("eval(\"1\");")),
        ("decoders", format!("const d=s=>s.split('').reverse().join('');{}", again("d('lave');"))),
        ("null bytes", "\0".repeat(60_000)),
        ("signs that are none", again("#")),
        ("backslashes", again("\\")),
        ("open strings", again("\"\n")),
        ("var", again("var a;")),
        (
            "functions in blocks",
            format!("{}{}{}", "{class b{}".repeat(388), "function a(){}".repeat(4_000), "}".repeat(388)),
        ),
        ("names in blocks", format!("{}{}{}", "{".repeat(388), "a;".repeat(30_000), "}".repeat(388))),
        (
            "variables of a catch clause in blocks",
            format!("{}try{{}}catch{{var {}a}}{}", "{".repeat(388), "a,".repeat(30_000), "}".repeat(388)),
        ),
        (
            "catch clauses in one with many parameters",
            format!(
                "{}try{{}}catch({{{}}}){{{}}}{}",
                "{".repeat(100),
                names(30_000, ","),
                "try{}catch{}".repeat(2_700),
                "}".repeat(100)
            ),
        ),
        (
            "catch clauses in one with many variables",
            format!(
                "{}try{{}}catch{{var {};{}}}{}",
                "{".repeat(100),
                names(30_000, ","),
                "try{}catch{}".repeat(2_600),
                "}".repeat(100)
            ),
        ),
    ]
}

#[test]
fn the_worst_sources_are_analysed_within_a_limit_of_cpu_time_and_memory() {
    let dir = tempfile::tempdir().unwrap();
    let case = |(name, source): (&'static str, String)| {
        assert!(source.len() <= 65_536, "{name}");
        Case::new(name, &["check", "-"], source, ANALYSIS).ends(&[0, 3], "")
    };
    all([sources_to_compile(), sources()].concat().into_iter().map(case).collect(), dir.path());
}

fn draft(parameters: &Value) -> Vec<u8> {
    let code = "function execute() { return 1 }";
    json!({ "name": "worst", "description": "d", "code": code, "parameters": parameters }).to_string().into_bytes()
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn the_worst_declarations_are_refused_or_compiled_within_a_limit_of_cpu_time_and_memory() {
    let create = |name, parameters: &Value| Case::new(name, &["create", "-"], draft(parameters), CALL);
    let wide =
        |count: usize| (0..count).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect::<Map<_, _>>();
    let patterns: Map<_, _> = (0..1_500).map(|at| (format!("^(a|b)*{at}"), json!({}))).collect();
    let few: Map<_, _> = (0..100).map(|at| (format!("^(a|b)*a(a|b){{12}}{at}"), json!({}))).collect();
    let deep = (0..1_000).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }));
    let branches: Vec<Value> = (0..1_900).map(|at| json!({ "const": at })).collect();
    let factory = "export default (pi) => ({ name: 'worst', description: 'd', execute() { return 1 }, \
                   parameters: { type: 'object', properties: Object.fromEntries(Array.from({ length: 60_000 }, \
                   (_, i) => ['p' + i, { type: 'string' }])) } })";
    let factory = json!({ "name": "worst", "description": "d", "code": factory });
    let cases = vec![
        create("look-ahead", &object(&json!({ "a": { "pattern": "(?=.*b)(?=.*c)(?=.*d)x" } })))
            .ends(&[2, 3], "look-ahead"),
        create("a back-reference", &object(&json!({ "a": { "pattern": r"^(a+)+\1b$" } })))
            .ends(&[2, 3], "back-reference"),
        create("a pattern that repeats", &object(&json!({ "a": { "pattern": "((a{1000}){1000}){1000}" } })))
            .ends(&[2, 3], "repeat less"),
        create("many patterns", &json!({ "type": "object", "patternProperties": patterns }))
            .ends(&[2, 3], "more than 100 patterns"),
        create("patterns", &json!({ "type": "object", "patternProperties": few })),
        create("control escapes", &object(&json!({ "a": { "pattern": r"\cA".repeat(300) } })))
            .ends(&[2, 3], "write `\\x01`"),
        create("60,000 properties", &object(&Value::Object(wide(60_000)))).ends(&[2, 3], "bytes"),
        create("1,900 properties", &object(&Value::Object(wide(1_900)))),
        create("a deep declaration", &object(&json!({ "a": deep }))),
        create("alternatives", &object(&json!({ "a": { "anyOf": branches } }))),
        Case::new("a factory with 60,000 properties", &["create", "-"], factory.to_string(), CALL)
            .ends(&[1], "the result is longer than 262144 bytes"),
    ];
    for case in cases {
        // Each case has its own store, in which the name is free.
        let dir = tempfile::tempdir().unwrap();
        all(vec![case], dir.path());
    }
}

#[test]
fn the_worst_parameters_are_checked_within_a_limit_of_cpu_time_and_memory() {
    let text = "ab".repeat(500_000);
    let keys: Map<_, _> = (0..40_000).map(|at| (format!("key{at}"), json!(1))).collect();
    let shapes = (0..30_000_u32).map(|at| {
        (0..15).fold(json!([]), |inner, bit| if at >> bit & 1 == 1 { json!([inner, []]) } else { json!([[], inner]) })
    });
    let patterns: Map<_, _> = (0..100).map(|at| (format!("^(a|b)*a(a|b){{9}}{at}$"), json!({}))).collect();
    let asking: Map<_, _> = (0..4_300).map(|at| (format!("p{at}"), json!(["a"]))).collect();
    let branches: Vec<Value> = (0..500).map(|at| json!({ "properties": { "a": { "const": at } } })).collect();
    for (name, declared, params) in [
        ("a pattern", object(&json!({ "a": { "pattern": "(a|b)*a(a|b){200}c" } })), json!({ "a": text })),
        ("patterns of names", json!({ "type": "object", "patternProperties": patterns }), Value::Object(keys.clone())),
        (
            "names",
            json!({ "type": "object", "propertyNames": { "pattern": "(a|b)*a(a|b){60}c" } }),
            Value::Object(keys),
        ),
        (
            "items that contain",
            object(&json!({ "a": { "contains": { "pattern": "(a|b)*a(a|b){60}c" } } })),
            json!({ "a": vec!["ab".repeat(500); 1_000] }),
        ),
        (
            "alternatives",
            object(&json!({ "a": { "items": { "anyOf": branches } } })),
            json!({ "a": vec![json!({ "a": "x" }); 90_000] }),
        ),
        ("unique lists", object(&json!({ "a": { "uniqueItems": true } })), json!({ "a": shapes.collect::<Vec<_>>() })),
        ("faults", object(&json!({ "a": { "items": { "type": "number" } } })), json!({ "a": vec!["x"; 200_000] })),
        (
            "multiples",
            object(&json!({ "a": { "items": { "multipleOf": 5e-324 } } })),
            json!({ "a": vec![json!(1e308); 170_000] }),
        ),
        (
            "names that ask for others",
            object(&json!({ "a": { "items": { "dependentRequired": asking } } })),
            json!({ "a": vec![json!({}); 300_000] }),
        ),
        (
            "a default under a long name",
            object(&json!({ "a": { "items": { "properties": { ("k".repeat(60_000)): { "default": 1 } } } } })),
            json!({ "a": vec![json!({}); 30_000] }),
        ),
        (
            "names that are missing",
            object(&json!({ "a": { "items": { "required": asking.keys().collect::<Vec<_>>() } } })),
            json!({ "a": vec![json!({}); 30_000] }),
        ),
        (
            "a long name",
            json!({ "type": "object", "additionalProperties": { "items": { "type": "number" } } }),
            json!({ ("k".repeat(50_000)): vec!["x"; 100_000] }),
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let made = Case::new(name, &["create", "-"], draft(&declared), CALL).ends(&[0], "");
        let run = Case::new(name, &["run", "worst", "-"], params.to_string(), CALL).ends(&[0, 2, 3], "");
        all(vec![made, run], dir.path());
    }
}

#[test]
fn numbers_and_names_before_any_schema_are_read_within_a_limit_of_cpu_time_and_memory() {
    let dir = tempfile::tempdir().unwrap();
    let made = Case::new("a tool", &["create", "-"], draft(&json!(null)), CALL).ends(&[0], "");
    // The cell enforces its own limits.
    let run = |name, params: String| {
        Case::new(name, &["run", "worst", "-", "--timeout-ms", "500"], params, CALL).ends(&[0, 1, 4, 5], "")
    };
    let exact = format!("{:.0}", f64::MAX);
    all(
        vec![
            made,
            run("wide numbers", format!(r#"{{"a":[{}0]}}"#, "1e308,".repeat(700_000))),
            run("long numbers", format!(r#"{{"a":[{}0]}}"#, format!("{exact},").repeat(13_000))),
            run("a long key", format!(r#"{{"{}":[{}0]}}"#, "k".repeat(4 << 20), "1e999,".repeat(100))),
        ],
        dir.path(),
    );
}

#[test]
fn the_worst_files_are_read_within_a_limit_of_cpu_time_and_memory() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let hosts: Vec<String> = (0..20_000).map(|at| format!("\"a{at}.b\"")).collect();
    let hosts = format!("[[grants.default.secrets]]\nname = \"T\"\nhosts = [{}]\n", hosts.join(","));
    let net = |at| format!("[[grants.default.net]]\nhost = \"a{at}.example\"\n");
    let nets: String = (0..5_000).map(net).collect();
    let names: Vec<String> = (0..25_000).map(|at| format!("t{at}")).collect();
    let policies = [
        ("a policy of many hosts", at("hosts.toml", &hosts), "20000 hosts, the limit is 64"),
        ("a policy of many grants", at("nets.toml", &nets), "has 5000 grants, the limit is 32"),
        ("a policy of many tools", at("tools.toml", &format!("grants.default.tools = {names:?}\n")), ""),
        ("a policy of many names", at("names.toml", &format!("names.reserved = {names:?}\n")), ""),
    ];
    let mut cases: Vec<Case> = policies
        .into_iter()
        .map(|(name, path, says)| {
            let ends: &[i32] = if says.is_empty() { &[0] } else { &[1, 2, 3] };
            Case::new(name, &["config", "check", &path], "", CALL).ends(ends, says)
        })
        .collect();
    at(
        "deep.js",
        "function execute(p) { let a = []; for (let i = 0; i < 100; i++) a = [...Array(p.n).fill(0), a]; return a }",
    );
    at("list.js", "function execute(p) { return Array.from({ length: p.n }, (_, i) => i % 7) }");
    let case = |params: &str, rest: &str| format!("[[case]]\nname = \"x\"\nparams = {{ {params} }}\n{rest}\n");
    let other: Vec<u32> = (0..60_000).map(|at| at * 7 % 5).collect();
    let options: Vec<i32> = (0..100_000).map(|at| -at).collect();
    for (name, tool, text, says) in [
        ("everything below twice", "deep", case("n = 320", "where = { \"$..*..*\" = 0 }"), "is too expensive"),
        (
            "parts that multiply",
            "deep",
            case("n = 1", &format!("where = {{ \"${}\" = 0 }}", "[0,0]".repeat(40))),
            "selectors: select less",
        ),
        ("a slice in a filter", "list", case("n = 1", "where = { \"$[?$.b[::1]]\" = 0 }"), "the whole result"),
        (
            "one of many",
            "list",
            case("n = 60_000", &format!("where = {{ \"$[*]\" = {{ one_of = {options:?} }} }}")),
            "is not one of",
        ),
        (
            "a difference of many lines",
            "list",
            case("n = 60_000", &format!("returns = {other:?}")),
            "the rest is not compared",
        ),
    ] {
        // A test file is named after its tool.
        let path = at(&format!("{tool}.test.toml"), &text);
        let one = Case::new(name, &["test", &path], "", CALL).ends(&[1, 2, 3], says);
        all(vec![one], dir.path());
    }
    let runs = format!("{{\"outcome\":\"stopped\",\"result\":[{}0]}}\n", "0,".repeat(16 << 20));
    cases.push(
        Case::new("a long run", &["budget", "learn", "--runs", "-"], runs, CALL).ends(&[1, 2, 3], "1 ignored: stopped"),
    );
    all(cases, dir.path());
}

#[test]
fn what_a_tool_returns_and_writes_is_an_answer_of_bounded_length() {
    let dir = tempfile::tempdir().unwrap();
    let exec = |name, source: &str| Case::new(name, &["--json", "exec", "-"], source, CALL);
    let cases = vec![
        exec("paths of warnings", "const execute = () => ({ ['k'.repeat(50_000)]: Array(99).fill(NaN) })")
            .ends(&[0], "…"),
        exec("empty lines", "function execute() { for (let i = 0; i < 60_000; i++) console.log(); return 1 }")
            .ends(&[1, 5], "console-too-large"),
        exec("escapes", "const execute = () => { console.log('\\u0001'.repeat(60_000)); return 1 }")
            .ends(&[5], "console-too-large"),
        exec("a thrown text", "function execute() { throw new Error('x'.repeat(20_000_000)) }").ends(&[1, 5], ""),
        exec(
            "a name that is thrown",
            "function execute() { const e = new Error('x'); e.name = 'n'.repeat(10_000_000); throw e }",
        )
        .ends(&[1, 5], ""),
    ];
    all(cases, dir.path());
}

#[test]
fn what_is_said_of_tasks_and_searched_for_is_read_within_a_limit_of_cpu_time_and_memory() {
    let dir = tempfile::tempdir().unwrap();
    let history: Vec<Value> = (0..20_000)
        .map(|at| json!({ "name": format!("n{at}"), "arguments": { format!("k{}", at % 100): at } }))
        .collect();
    let mut lines = String::new();
    for at in 0..150 {
        let asked = json!({
            "id": at, "op": "reflect", "task_description": "convert ".repeat(50), "last_tool_result": "ok",
        });
        writeln!(lines, "{asked}").unwrap();
    }
    let text = |words: &str| words.repeat(1_000_000 / words.len());
    let reflect = |name, task: String, result: String| {
        let asked = json!({
            "id": 1, "op": "reflect", "task_description": task, "last_tool_result": result, "history": history,
        });
        Case::new(name, &["batch"], format!("{asked}\n"), CALL).ends(&[0], "\"id\":1,\"outcome\":\"reflected\"")
    };
    let made = Case::new("a store", &["create", "-"], draft(&json!({})), CALL).ends(&[0], "");
    let lines_of_text = |line: &dyn Fn(usize) -> String| Value::from((0..20_000).map(line).collect::<Vec<_>>());
    let reflect_on = |name, history: Value| {
        Case::new(name, &["reflect", "go on", "--history", "-"], history.to_string(), CALL)
            .ends(&[0], "# Tool reflection")
    };
    let cases = vec![
        made,
        reflect_on("a history of operations", json!(history)),
        reflect_on("a history of lines", lines_of_text(&|at| format!("{}{at}", "a b c d e f g h ".repeat(3)))),
        reflect_on("a history of words", lines_of_text(&|at| format!("w{} {}", at % 7, "変換 の ".repeat(20)))),
        reflect("a long task", text("convert the files "), "ok".to_owned()),
        reflect("a long word", "変換".repeat(300_000), "ok".to_owned()),
        reflect("marks", text("\u{301}"), "ok".to_owned()),
        reflect("a long result", "go on".to_owned(), text("no such file: 変換.csv ")),
        Case::new("many reflections", &["batch"], lines, CALL).ends(&[0], "\"id\":149,\"outcome\":\"reflected\""),
        Case::new("a deep request", &["batch"], format!("{}\n", "[".repeat(1_000_000)), CALL)
            .ends(&[0], "request-invalid"),
        Case::new("a long search", &["search", &"a b ".repeat(25_000)], "", CALL),
    ];
    all(cases, dir.path());
}
