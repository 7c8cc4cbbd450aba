//! The program that `TOOLCELL_TYPES` names checks labelled sources, as Toolcell takes them, and
//! survives hostile ones.
//!
//! The first line of a source in `fixtures/types` is its label, with the name of what it is checked
//! with, from `fixtures/types/settings`: grants, the schemas of its parameters and of its result, and
//! servers.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the files are fixtures, and the environment names the program")]
#![expect(clippy::print_stdout, reason = "the figures are for the reader of the log")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::format_collect, reason = "a source is written once")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use toolcell_dts::{Detail, FunctionSchema, server_interface};
use toolcell_types::{
    CheckReply, CheckRequest, DiagnosticCategory, MAX_DIAGNOSTICS, MAX_REQUEST_BYTES, TypeDiagnostic, TypedFile,
};

/// The time after which a source is too complex.
const DEADLINE: Duration = Duration::from_millis(2_500);
/// Bytes of memory that no worker may take.
const MAX_RESIDENT_BYTES: u64 = 300 << 20;
/// CPU time from the start of a worker to its first reply, and from then on of a reply.
const MAX_FIRST: Duration = Duration::from_millis(150);
const MAX_LATER: Duration = Duration::from_millis(40);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

// --- The worker ---

struct Worker {
    process: Child,
    input: Option<ChildStdin>,
    replies: Receiver<String>,
}

/// How a request ended.
#[derive(Debug)]
enum Fate {
    Answered(CheckReply),
    Died(ExitStatus),
    TooComplex,
}

impl Worker {
    fn start() -> Self {
        let program = std::env::var("TOOLCELL_TYPES").expect("TOOLCELL_TYPES names the program: see `make test-types`");
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (send, replies) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        Self { process, input, replies }
    }

    /// Sends a line and waits for the reply, at most until the deadline. Returns how that ended, and the
    /// largest resident memory of the process so far, in bytes.
    fn send(&mut self, line: &str) -> (Fate, u64) {
        let began = Instant::now();
        // A worker that dies does not read to the end.
        let _ = self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
        let mut resident = 0;
        loop {
            resident = self.resident_bytes().unwrap_or(resident);
            match self.replies.recv_timeout(Duration::from_millis(1)) {
                Ok(reply) => {
                    resident = self.resident_bytes().unwrap_or(resident);
                    return (Fate::Answered(serde_json::from_str(&reply).unwrap()), resident);
                }
                Err(RecvTimeoutError::Disconnected) => return (Fate::Died(self.process.wait().unwrap()), resident),
                Err(RecvTimeoutError::Timeout) if began.elapsed() > DEADLINE => return (Fate::TooComplex, resident),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn check(&mut self, files: &[TypedFile]) -> Vec<TypeDiagnostic> {
        let request = serde_json::to_string(&CheckRequest { files: files.to_vec() }).unwrap();
        match self.send(&request).0 {
            Fate::Answered(CheckReply::Checked { diagnostics }) => diagnostics,
            other => panic!("{other:?}: {request}"),
        }
    }

    fn check_source(&mut self, text: &str) -> Vec<TypeDiagnostic> {
        self.check(&[file("tool.ts", text)])
    }

    fn proc(&self, name: &str) -> Option<String> {
        fs::read_to_string(format!("/proc/{}/{name}", self.process.id())).ok()
    }

    fn resident_bytes(&self) -> Option<u64> {
        let status = self.proc("status")?;
        let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(kibibytes.trim().strip_suffix(" kB")?.parse::<u64>().unwrap() * 1024)
    }

    /// The CPU time of all threads so far: see `schedstat` in `proc(5)`.
    fn cpu_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let nanoseconds = tasks.map(|task| {
            let schedstat = fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
            schedstat.split(' ').next().unwrap().parse::<u64>().unwrap()
        });
        Duration::from_nanos(nanoseconds.sum())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn file(name: &str, text: &str) -> TypedFile {
    TypedFile { name: name.to_owned(), text: text.to_owned() }
}

// --- The labelled sources ---

/// What a source is checked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    grants: Vec<String>,
    parameters: Option<Value>,
    result: Option<Value>,
    #[serde(default)]
    servers: Vec<Server>,
}

/// A server: one that was recorded, by its name, or its definitions.
#[derive(Deserialize)]
#[serde(untagged)]
enum Server {
    Recorded(String),
    Defined { server: String, tools: Vec<Definition> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Definition {
    name: String,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
}

/// The name of a fixture, its files, and the line and the code of its error, if it has one.
struct Fixture {
    name: String,
    files: Vec<TypedFile>,
    execute_line: u32,
    error: Option<(u32, i32)>,
}

fn fixtures() -> Vec<Fixture> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("fixtures/types"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ts"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fixture(path)).collect()
}

fn fixture(path: &Path) -> Fixture {
    let source = read(path);
    let label = source.lines().next().unwrap();
    let (label, settings) = label.rsplit_once(": ").unwrap();
    let error = match label {
        "// right" => None,
        wrong => {
            let (line, code) = wrong.strip_prefix("// error: line ").unwrap().split_once(", TS").unwrap();
            Some((line.parse().unwrap(), code.parse().unwrap()))
        }
    };
    let settings: Settings = serde_json::from_str(&read(format!("fixtures/types/settings/{settings}.json"))).unwrap();
    let line_of = |words: &[&str]| source.lines().position(|line| words.iter().any(|word| line.starts_with(word)));
    let script = line_of(&["function execute", "async function execute", "const execute"]);
    let named = line_of(&["export function execute", "export async function execute", "export const execute"]);
    let method = line_of(&["  execute(", "  async execute("]);
    let import = match (script.or(named), method) {
        (Some(_), _) => "import { execute } from \"./tool.ts\";\n",
        (None, Some(_)) => "import tool from \"./tool.ts\";\nconst execute = tool.execute;\n",
        (None, None) => "",
    };
    let text = if script.is_some() { format!("{source}export {{ execute }};\n") } else { source.clone() };
    let mut files = vec![file("tool.ts", &text), file("toolcell.d.ts", &declarations(&settings))];
    if let Some(parameters) = &settings.parameters {
        files.push(file("contract.ts", &contract(import, parameters, settings.result.as_ref())));
    }
    let execute_line = script.or(named).or(method).map_or(0, |line| u32::try_from(line).unwrap() + 1);
    Fixture { name: path.file_stem().unwrap().to_string_lossy().into_owned(), files, execute_line, error }
}

/// Checks `execute` against the schemas. A result in which literals are not inferred as such is as good as one in which they are.
fn contract(import: &str, parameters: &Value, result: Option<&Value>) -> String {
    let result = result.map(widen);
    let execute = FunctionSchema { name: "execute", description: "", input: parameters, output: result.as_ref() };
    let mut text = format!("{import}{}", server_interface("contract", &[execute], Detail::Brief).unwrap());
    text.push_str("type Execute = Servers[\"contract\"][\"execute\"];\n");
    text.push_str("type Result = Awaited<ReturnType<Execute>>;\n");
    text.push_str("export const checked: (...params: Parameters<Execute>) => Result | Promise<Result> = execute;\n");
    text
}

/// Replaces each enumeration of strings by the type of its values.
fn widen(schema: &Value) -> Value {
    match schema {
        Value::Object(members) if members.contains_key("enum") => serde_json::json!({ "type": "string" }),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), widen(value))).collect(),
        other => other.clone(),
    }
}

/// What `toolcell types --servers` prints, without what is not granted.
fn declarations(settings: &Settings) -> String {
    let all = read("crates/toolcell/src/presentation/toolcell.d.ts");
    let has = |grant: &str| settings.grants.iter().any(|granted| granted == grant);
    let mut kept = String::new();
    let mut is_kept = true;
    for block in all.split("\n\n") {
        is_kept = match block.lines().next().unwrap_or_default() {
            "// --- A tool ---" | "// --- Always there ---" => true,
            // Each of these is looked at by itself.
            line if line.starts_with("// --- With the grants ") => true,
            "// --- With the grant `timers` ---" => has("timers"),
            "// --- With the grant `net`: requests to the granted hosts ---" => has("net"),
            _ => is_kept,
        };
        let is_granted = |of: &str, grant: &str| !block.contains(of) || has(grant);
        let is_block_kept = is_kept
            && is_granted("declare const kv: ", "kv")
            && is_granted("declare const files: ", "files")
            && is_granted("declare function secret(", "secrets")
            && is_granted("declare const tools: ", "tools");
        if block.contains("declare const servers: ") {
            if !settings.servers.is_empty() {
                let any = "interface Servers {\n  [server: string]: { [tool: string]: (input?: object) => Promise<any> };\n}\n";
                assert!(block.contains(any));
                let _ = writeln!(kept, "{}", block.replace(any, &servers(&settings.servers)));
            }
        } else if is_block_kept {
            let _ = writeln!(kept, "{block}\n");
        }
    }
    for module in ["zod", "typebox", "@sinclair/typebox", "arktype"] {
        let _ = writeln!(kept, "declare module \"{module}\";");
    }
    kept
}

fn servers(servers: &[Server]) -> String {
    servers.iter().fold(String::new(), |all, server| match server {
        Server::Recorded(name) => all + &read(format!("fixtures/servers/definitions/{name}.d.ts")),
        Server::Defined { server, tools } => {
            let functions: Vec<_> = tools
                .iter()
                .map(|tool| FunctionSchema {
                    name: &tool.name,
                    description: &tool.description,
                    input: &tool.input_schema,
                    output: tool.output_schema.as_ref(),
                })
                .collect();
            all + &server_interface(server, &functions, Detail::Full).unwrap()
        }
    })
}

/// Checks a fixture. Returns the line and the code of each diagnostic; one of the contract is on the line of `execute`.
fn check(worker: &mut Worker, fixture: &Fixture) -> (Vec<(u32, i32)>, Vec<TypeDiagnostic>) {
    let diagnostics = worker.check(&fixture.files);
    let place = |found: &TypeDiagnostic| match found.file.as_deref() {
        Some("tool.ts") => (found.line, found.code),
        Some("contract.ts") => (fixture.execute_line, found.code),
        other => panic!("{}: {other:?}: {}", fixture.name, found.message),
    };
    (diagnostics.iter().map(place).collect(), diagnostics)
}

#[test]
fn thirty_right_sources_have_no_diagnostics() {
    let mut worker = Worker::start();
    let right: Vec<Fixture> = fixtures().into_iter().filter(|fixture| fixture.error.is_none()).collect();
    assert_eq!(right.len(), 30);
    let failed: Vec<_> = right
        .iter()
        .filter_map(|fixture| {
            let (places, diagnostics) = check(&mut worker, fixture);
            (!places.is_empty()).then(|| format!("{}: {diagnostics:#?}", fixture.name))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_one_error_of_thirty_wrong_sources_is_found_on_its_line() {
    let mut worker = Worker::start();
    let wrong: Vec<Fixture> = fixtures().into_iter().filter(|fixture| fixture.error.is_some()).collect();
    assert_eq!(wrong.len(), 30);
    let failed: Vec<_> = wrong
        .iter()
        .filter_map(|fixture| {
            let (places, diagnostics) = check(&mut worker, fixture);
            let is_error = diagnostics.iter().all(|found| found.category == DiagnosticCategory::Error);
            let is_found = is_error && places == [fixture.error.unwrap()];
            (!is_found).then(|| format!("{}: {:?}, not {places:?}: {diagnostics:#?}", fixture.name, fixture.error))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

// --- Hostile sources ---

fn hostile() -> Vec<(&'static str, String)> {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("export const a = {}{inner}{};", open.repeat(times), close.repeat(times))
    };
    let lines = |times: usize, line: &dyn Fn(usize) -> String| (0..times).map(line).collect::<String>();
    let counting = "type F<N, A extends unknown[] = []> = A['length'] extends N ? A : F<N, [...A, 1]>; export const a: F<999> = 1;";
    let digits =
        "type D = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9; type T = `${D}${D}${D}${D}${D}${D}`; export const a: T = 'x';";
    let doubled = lines(12, &|at| format!("type A{}<T> = A{at}<A{at}<T>>;", at + 1));
    vec![
        ("parentheses", nested("(", "1", ")", 20_000)),
        ("brackets", nested("[", "", "]", 5_000)),
        ("brackets without an end", format!("export const a = {}", "[".repeat(5_000))),
        ("braces", "{".repeat(20_000)),
        ("objects", nested("{a:", "1", "}", 5_000)),
        ("arrow functions", nested("() => ", "1", "", 5_000)),
        ("templates", nested("`${", "1", "}`", 3_000)),
        ("tuple types", format!("export type T = {}1{};", "[".repeat(5_000), "]".repeat(5_000))),
        ("generic types", format!("export type T = {}1{};", "Array<".repeat(5_000), ">".repeat(5_000))),
        ("conditional types", format!("export type T<X> = {}3;", "X extends 1 ? 2 : ".repeat(5_000))),
        ("an if-else chain", format!("declare const a: boolean; {};", "if (a); else ".repeat(5_000))),
        ("a ternary chain", format!("declare const a: boolean; export const b = {}2;", "a ? 1 : ".repeat(5_000))),
        ("a chain of properties", format!("declare const a: any; a{};", ".b".repeat(20_000))),
        ("a chain of optional properties", format!("declare const a: any; a{};", "?.b".repeat(10_000))),
        ("a chain of calls", format!("declare const a: any; a{};", "()".repeat(20_000))),
        ("a sum", format!("export const a = 1{};", "+1".repeat(20_000))),
        ("a sum of strings", format!("export const a = ''{};", "+'a'".repeat(8_000))),
        ("assertions", format!("export const a = 1{};", " as any".repeat(5_000))),
        ("a type that counts", counting.to_owned()),
        ("a union of templates", digits.to_owned()),
        ("aliases that double", format!("type A0<T> = [T, T];{doubled} export const a: A12<1> = 1;")),
        (
            "a union of 2,000",
            format!("export type U = {}never;", lines(2_000, &|at| format!("{{ k: '{at}', v{at}: 1 }} | "))),
        ),
        (
            "1,500 overloads",
            format!(
                "{}declare function f(a: 1): 1; f(2);",
                lines(1_500, &|at| format!("declare function f(a: '{at}'): {at};"))
            ),
        ),
        ("20,000 errors", lines(20_000, &|at| format!("export const a{at}: string = {at};\n"))),
        ("a long string", format!("export const a = '{}';", "x".repeat(3_000_000))),
    ]
}

#[test]
fn hostile_sources_end_in_bounded_time_and_memory_and_a_new_worker_answers() {
    let mut worker = Worker::start();
    let mut largest = 0;
    for (name, source) in hostile() {
        let files = vec![file("tool.ts", &source)];
        let began = Instant::now();
        let (fate, resident) = worker.send(&serde_json::to_string(&CheckRequest { files }).unwrap());
        let took = began.elapsed().as_millis();
        let fate = match fate {
            Fate::Answered(CheckReply::Checked { diagnostics }) => format!("{} diagnostics", diagnostics.len()),
            Fate::Answered(CheckReply::Failed { error }) => format!("failed: {error}"),
            Fate::Died(status) => format!("died: {status}"),
            Fate::TooComplex => "killed".to_owned(),
        };
        println!("{name:32} {:9} bytes {took:5} ms {:4} MiB  {fate}", source.len(), resident >> 20);
        assert!(resident < MAX_RESIDENT_BYTES, "{name}: {resident}");
        largest = largest.max(resident);
        worker = Worker::start();
        assert_eq!(worker.check_source("const a: string = 1;").len(), 1, "after {name}");
    }
    println!("the largest worker had {} MiB", largest >> 20);
}

// --- The process ---

#[test]
fn a_check_takes_milliseconds() {
    let mut worker = Worker::start();
    let mut before = Duration::ZERO;
    let mut times = Vec::new();
    for fixture in fixtures() {
        worker.check(&fixture.files);
        let now = worker.cpu_time();
        times.push(now.checked_sub(before).unwrap());
        before = now;
    }
    let first = times.remove(0);
    times.sort();
    let (median, longest) = (times[times.len() / 2], *times.last().unwrap());
    println!("CPU time: {first:?} to the first reply, then {median:?} (median), {longest:?} (longest)");
    println!("resident: {} MiB", worker.resident_bytes().unwrap() >> 20);
    assert!(first < MAX_FIRST, "{first:?}");
    assert!(longest < MAX_LATER, "{longest:?}");
}

#[test]
fn all_recorded_servers_can_be_there() {
    let mut names: Vec<String> = fs::read_dir(root().join("fixtures/servers/definitions"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    let servers: Vec<Server> = names.into_iter().map(Server::Recorded).collect();
    let settings = Settings { grants: Vec::new(), parameters: None, result: None, servers };
    let declared = declarations(&settings);
    let mut worker = Worker::start();
    let source = "export const a = await servers.github.create_issue({ owner: 'a', repo: 'b' });";
    let mut before = Duration::ZERO;
    for _ in 0..3 {
        let found = worker.check(&[file("tool.ts", source), file("toolcell.d.ts", &declared)]);
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [2741]);
        let now = worker.cpu_time();
        println!("CPU time with {} bytes of declarations: {:?}", declared.len(), now.checked_sub(before).unwrap());
        before = now;
    }
    assert!(before < MAX_FIRST, "{before:?}");
}

#[test]
fn the_process_is_confined_before_it_answers() {
    let mut worker = Worker::start();
    worker.check_source("");
    let status = worker.proc("status").unwrap();
    for line in ["Threads:\t2", "NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(status.lines().any(|has| has == line), "{line} is not in {status}");
    }
    let limits = worker.proc("limits").unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    for name in ["Max core file size", "Max processes", "Max open files"] {
        assert_eq!(limit(name), ["0", "0"], "{name}");
    }
    assert!(limit("Max address space")[1].parse::<u64>().unwrap() < 1 << 30);
}

#[test]
fn no_request_changes_the_answer_to_a_later_one() {
    let mut worker = Worker::start();
    let global = [file("globals.d.ts", "declare const shared: number;"), file("tool.ts", "export const a = shared;")];
    let augmented = "declare global { interface Array<T> { sum(): T } } export const a = [1].sum();";
    for _ in 0..2 {
        assert_eq!(worker.check(&global), []);
        assert_eq!(worker.check_source("export const a = shared;")[0].code, 2304);
        assert_eq!(worker.check_source(augmented), []);
        assert_eq!(worker.check_source("export const a = [1].sum();")[0].code, 2339);
    }
}

#[test]
fn nothing_but_the_files_and_the_standard_library_is_resolved() {
    let mut worker = Worker::start();
    let codes = |worker: &mut Worker, source: &str| {
        worker.check_source(source).iter().map(|found| found.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&mut worker, "/// <reference lib=\"dom\" />\nexport const a = document;"), [2584]);
    assert_eq!(codes(&mut worker, "/// <reference lib=\"webworker\" />\nexport const a = self;"), [2304]);
    assert_eq!(codes(&mut worker, "import { a } from '/etc/passwd';"), [2307]);
    assert_eq!(codes(&mut worker, "import { a } from './other';"), [2307]);
    assert_eq!(codes(&mut worker, "export const a: Set<number> = new Set([1]).union(new Set([2]));"), [0; 0]);
    let other = [file("tool.ts", "import { a } from './other'; a.b;"), file("other.ts", "export const a = 1;")];
    assert_eq!(worker.check(&other)[0].code, 2339);
}

#[test]
fn what_is_no_request_is_answered_and_the_next_one_is_served() {
    let mut worker = Worker::start();
    let long = "a".repeat(70);
    for (line, error) in [
        ("", "EOF while parsing a value"),
        ("[1", "expected"),
        (r#"{"sources":[]}"#, "unknown field `sources`"),
        (r#"{"files":[{"name":"../a.ts","text":""}]}"#, "`../a.ts` is not a name of a file"),
        (r#"{"files":[{"name":"..ts","text":""}]}"#, "is not a name of a file"),
        (r#"{"files":[{"name":"a.js","text":""}]}"#, "`a.js` is not a name of a file"),
        (&format!(r#"{{"files":[{{"name":"{long}.ts","text":""}}]}}"#), "is not a name of a file"),
        (r#"{"files":[{"name":"a.ts","text":""},{"name":"a.ts","text":""}]}"#, "two files have the name `a.ts`"),
    ] {
        match worker.send(line).0 {
            Fate::Answered(CheckReply::Failed { error: is }) => assert!(is.contains(error), "{line}: {is}"),
            other => panic!("{line}: {other:?}"),
        }
    }
    assert_eq!(worker.check(&[]), []);
    assert_eq!(worker.check_source("export const a: string = 1;").len(), 1);
    let too_long = "x".repeat(MAX_REQUEST_BYTES);
    let Fate::Died(status) = worker.send(&too_long).0 else { panic!("it is too long") };
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_check_ends_by_itself_if_no_parent_ends_it() {
    let mut worker = Worker::start();
    let source = format!("export const a = {}{};", "[".repeat(20_000), "]".repeat(20_000));
    let files = vec![file("tool.ts", &source)];
    assert!(matches!(worker.send(&serde_json::to_string(&CheckRequest { files }).unwrap()).0, Fate::TooComplex));
    let status = worker.process.wait().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGALRM));
}

#[test]
fn a_worker_ends_with_its_input() {
    let mut worker = Worker::start();
    worker.check_source("");
    worker.input = None;
    assert!(worker.process.wait().unwrap().success());
}

#[test]
fn diagnostics_are_bounded_ordered_and_placed() {
    let mut worker = Worker::start();
    let many: String = (0..100).map(|at| format!("export const a{at}: string = {at};\n")).collect();
    let found = worker.check(&[file("b.ts", &many), file("a.ts", "export const b: string = 1;")]);
    assert_eq!(found.len(), MAX_DIAGNOSTICS);
    assert!(found.iter().zip(1..).all(|(found, line)| found.line == line && found.file.as_deref() == Some("b.ts")));
    // The column counts UTF-16 code units.
    let found = worker.check_source("/* 🦀 */ const a: string = 1;");
    assert_eq!((found[0].line, found[0].column), (1, 16));
    assert_eq!(found[0].message, "Type 'number' is not assignable to type 'string'.");
    let found = worker.check_source("const a: 'x' = '\\u001b[31m\\u0000';");
    assert!(!found[0].message.chars().any(char::is_control), "{found:?}");
    let found = worker.check_source(&format!("const a: 1 = '{}';", "é".repeat(2_000)));
    assert!(found[0].message.chars().count() <= 1_000, "{found:?}");
}
