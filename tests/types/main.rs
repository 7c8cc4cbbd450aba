//! Type checks as Toolcell makes them, with the program that `TOOLCELL_TYPES` names, and with the compiler of TypeScript 7
//! that `TOOLCELL_TEST_TSC` names, if it does: `make test-types`.
//!
//! The first line of a source in `fixtures/types` is its label, with the name of what it is checked with, from
//! `fixtures/types/settings`: grants, the schemas of its parameters and of its result, and servers.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the files are fixtures, and the environment names the program")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use toolcell::policy::Grants;
use toolcell::{
    Capabilities, Capability, CreateTool, Finding, Language, RunCode, RunOptions, Toolbox, ToolboxConfig,
    TypeCheckRequest, TypeChecker, TypeCheckerProgram, analyze, read_request,
};
use toolcell_dts::{Detail, FunctionSchema, server_interface};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn program() -> PathBuf {
    std::env::var_os("TOOLCELL_TYPES").expect("TOOLCELL_TYPES names the program: see `make test-types`").into()
}

/// Returns the compiler of TypeScript, which is there where npm is.
fn compiler() -> Option<TypeCheckerProgram> {
    let path = std::env::var("TOOLCELL_TEST_TSC").ok().filter(|path| !path.is_empty());
    path.map(|path| TypeCheckerProgram::Compiler { command: vec![path], folder: PathBuf::new() })
}

/// Returns a checker of each kind that there is.
fn checkers() -> Vec<(&'static str, TypeChecker)> {
    let worker = ("toolcell-types", TypeChecker::new(TypeCheckerProgram::Worker(program())));
    let compiler = compiler().map(|compiler| ("tsc", TypeChecker::new(compiler)));
    [Some(worker), compiler].into_iter().flatten().collect()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// What a source is checked with.
#[derive(Deserialize)]
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
#[serde(rename_all = "camelCase")]
struct Definition {
    name: String,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
}

fn declare(server: &Server) -> String {
    match server {
        Server::Recorded(name) => read(format!("fixtures/servers/definitions/{name}.d.ts")),
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
            server_interface(server, &functions, Detail::Full).unwrap()
        }
    }
}

fn check(types: &TypeChecker, source: &str, settings: &Settings) -> Vec<Finding> {
    let named = settings.grants.iter().filter_map(|name| Capability::from_name(name));
    let mut capabilities = Capabilities::unscoped(named);
    if !settings.servers.is_empty() {
        capabilities.insert(Capability::Servers);
    }
    let analysis = analyze(source, Language::Unknown, Some(&capabilities)).unwrap();
    let request = TypeCheckRequest {
        source,
        entry_point: analysis.entry_point,
        capabilities: &capabilities,
        parameters: settings.parameters.as_ref(),
        returns: settings.result.as_ref(),
        servers: &settings.servers.iter().map(declare).collect::<String>(),
    };
    types.check(&request).map_err(|why| why.to_string()).unwrap()
}

const NOTHING: Settings = Settings { grants: Vec::new(), parameters: None, result: None, servers: Vec::new() };

#[test]
fn sixty_labelled_sources_have_their_findings() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures/types"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ts"))
        .collect();
    paths.sort();
    let mut messages = Vec::new();
    for (name, types) in checkers() {
        let (mut right, mut wrong, mut failed, mut told) = (0, 0, Vec::new(), Vec::new());
        for path in &paths {
            let source = std::fs::read_to_string(path).unwrap();
            let (label, settings) = source.lines().next().unwrap().rsplit_once(": ").unwrap();
            let settings = serde_json::from_str(&read(format!("fixtures/types/settings/{settings}.json"))).unwrap();
            let found = check(&types, &source, &settings);
            let places: Vec<u32> = found.iter().map(|finding| finding.location.line).collect();
            let expected: Vec<u32> = match label.strip_prefix("// error: line ") {
                Some(line) => vec![line.split(',').next().unwrap().parse().unwrap()],
                None => Vec::new(),
            };
            let counted = if expected.is_empty() { &mut right } else { &mut wrong };
            *counted += 1;
            if places != expected {
                failed.push(format!("{name}: {}: {expected:?}, not {found:#?}", path.display()));
            }
            told.extend(found.into_iter().map(|finding| (path, finding)));
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        assert_eq!((right, wrong), (30, 30), "{name}");
        messages.push(told);
    }
    // The checkers differ in nothing that is told.
    if let [worker, compiler] = messages.as_slice() {
        for (ours, theirs) in worker.iter().zip(compiler) {
            assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn what_is_created_and_run_is_checked_and_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        ToolboxConfig { type_checker: Some(TypeCheckerProgram::Worker(program())), ..ToolboxConfig::default() };
    let toolbox = Toolbox::open(folder.path(), config).unwrap();
    let code = "const execute = ({ text }: { text: string }): number => text.lenght;";
    let parameters = json!({ "text": { "type": "string", "description": "a text", "required": true } });
    let fields = json!({ "name": "length", "description": "Counts", "code": code, "parameters": parameters, "returns": { "type": "number" } });
    let request: CreateTool = read_request(&fields.to_string()).unwrap();
    let created = toolbox.create(&request).unwrap();
    let found: Vec<_> = created.findings.iter().filter(|finding| finding.rule.name() == "type-error").collect();
    let [finding] = found.as_slice() else { panic!("{:?}", created.findings) };
    assert_eq!(
        finding.message.to_string(),
        "TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?"
    );
    assert_eq!((finding.location.line, finding.location.column, finding.location.end_column), (1, 62, 68));
    // Code that is not stored, and its grants.
    let run = |code: &str, grants: Grants| {
        let request: RunCode = read_request(&json!({ "code": code, "parameters": {} }).to_string()).unwrap();
        let options = RunOptions { code_grants: Some(grants), ..RunOptions::default() };
        toolbox.run_code(&request, &options).unwrap()
    };
    let ran = run("const execute = (): string => 'a'.at(0)!.toFixd()", Grants::default());
    assert!(ran.value().is_err() && ran.type_errors.len() == 1, "{:?}", ran.type_errors);
    let ran = run("const execute = () => typeof fetch", Grants::default());
    assert_eq!(ran.type_errors[0].suggestion, "it needs the capability `net`: request it");
    assert_eq!(run("const execute = () => 1", Grants::default()).type_errors, []);
    // Plain JavaScript is JavaScript.
    let ran =
        run("const execute = () => { const a = {}; a.b = 1; let c = 1; c = 'x'; return [a, c]; }", Grants::default());
    assert_eq!(ran.type_errors, []);
}

#[test]
fn what_is_too_complex_says_so_and_the_next_is_checked() {
    let types = TypeChecker::new(TypeCheckerProgram::Worker(program()));
    let began = Instant::now();
    for source in [
        "type F<N, A extends unknown[] = []> = A['length'] extends N ? A : F<N, [...A, 1]>; const a: F<999> = 1; const execute = () => a",
        "const execute = (): string => 1",
    ] {
        let found = check(&types, source, &NOTHING);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
    }
    let counting = "type F<N, A extends unknown[] = []> = A['length'] extends N ? A : F<N, [...A, 1]>; export const a: F<999> = 1; const execute = () => a";
    let found = check(&types, counting, &NOTHING);
    assert_eq!(found[0].message.to_string(), "has types that are too complex to be checked");
    assert!(began.elapsed().as_secs() < 15);
}

/// The compiler can do more, and has more time.
#[test]
fn what_is_too_complex_for_the_compiler_says_so_and_leaves_no_process() {
    let Some(compiler) = compiler() else { return };
    let types = TypeChecker::new(compiler);
    for source in [
        // Memory.
        "type P<T extends string> = T extends `${infer A}${infer B}` ? [A, ...P<B>] : [];\ntype D = 0|1|2|3|4|5|6|7|8|9; \
         type X = `${D}${D}${D}${D}`; type Y = { [K in X]: { [L in X]: P<`${K}${L}`> } };\n\
         export const a: Y[X][X] = 1; const execute = () => a",
        // Time.
        "type N<T, D extends number[] = []> = D['length'] extends 40 ? T : N<[T, T, { a: T, b: T }], [...D, 1]>;\n\
         declare const x: N<string>; export const a: N<number> = x; const execute = () => a",
    ] {
        let began = Instant::now();
        let found = check(&types, source, &NOTHING);
        assert_eq!(found[0].message.to_string(), "has types that are too complex to be checked", "{source}");
        assert!(began.elapsed().as_secs() < 15);
        assert_eq!(check(&types, "const execute = (): string => 1", &NOTHING).len(), 1);
    }
    let running =
        Command::new("pgrep").args(["-f", "moduleSuffixes [.][0-9a-f]{32}.*singleThreaded"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&running.stdout), "");
}

/// What a source names is not read, and a finding does not tell whether it is there.
#[test]
fn the_compiler_reads_no_file_of_the_machine() {
    let Some(compiler) = compiler() else { return };
    let types = TypeChecker::new(compiler);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("there.ts"), "export const key = 'only-in-the-file' as const;").unwrap();
    std::fs::write(at("there.json"), "{\"only-in-the-file\": 1}").unwrap();
    std::fs::write(at("there.js"), "export const key = 'only-in-the-file'").unwrap();
    std::fs::write(at("there.d.ts"), "declare const onlyInTheFile: 1;").unwrap();
    std::fs::create_dir_all(at("there/node_modules/@types")).unwrap();
    std::fs::write(at("there/package.json"), r#"{"types": "../there.ts"}"#).unwrap();
    let told = |file: &str| {
        let source = format!(
            "/* a */ /// <reference path=\"{file}\" />\n/// <reference lib=\"dom\" />\n/// <reference types=\"{file}\" />\n\
             import data from \"{file}\";\nimport {{ key }} from \"{file}\";\nimport * as all from \"{file}\";\n\
             const a: 1 = data; const b: 1 = key; const c: 1 = all; const d: typeof import(\"{file}\") = 1;\n\
             const execute = (): string => document.title + onlyInTheFile;"
        );
        let found = check(&types, &source, &NOTHING);
        found
            .iter()
            .map(|one| format!("{}: {}", one.location.line, one.message).replace(file, "FILE"))
            .collect::<Vec<_>>()
    };
    let missing = told(&at("missing"));
    assert!(missing.iter().any(|one| one.contains("Cannot find name 'document'")), "{missing:?}");
    assert!(missing.iter().any(|one| one.contains("Cannot find name 'onlyInTheFile'")), "{missing:?}");
    for name in ["there.ts", "there.json", "there.js", "there", "there.d.ts"] {
        assert_eq!(told(&at(name)), missing, "{name}");
    }
}

#[test]
fn a_program_that_is_no_checker_checks_nothing() {
    let request = TypeCheckRequest {
        source: "const execute = (): string => 1",
        entry_point: None,
        capabilities: &Capabilities::default(),
        parameters: None,
        returns: None,
        servers: "",
    };
    for program in ["/bin/cat", "/bin/true", "/nonexistent/toolcell-types"] {
        let types = TypeChecker::new(TypeCheckerProgram::Worker(PathBuf::from(program)));
        assert!(types.check(&request).is_err(), "{program}");
    }
}

/// A folder with a source that has a type error, and a policy.
struct Place(tempfile::TempDir);

impl Place {
    fn new(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wrong.ts"), "const execute = (a: string): number => a.lenght;\n").unwrap();
        let config = folder.path().join(".config/toolcell");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("toolcell.toml"), policy).unwrap();
        Self(folder)
    }

    /// Runs a command with this program, or with none that is named, and returns what it prints.
    fn run(&self, words: &[&str], types: Option<&Path>) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_store_worker")).with_file_name("toolcell");
        let mut command = Command::new(&binary);
        command.args(words).current_dir(self.0.path()).env("TOOLCELL_LANG", "en").env("HOME", self.0.path());
        command.env("TOOLCELL_DIR", self.0.path().join("store")).env_remove("XDG_CONFIG_HOME");
        match types {
            Some(types) => command.env("TOOLCELL_TYPES", types),
            None => command.env_remove("TOOLCELL_TYPES"),
        };
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    fn json(&self, words: &[&str], types: Option<&Path>) -> Value {
        serde_json::from_str(&self.run(words, types)).unwrap()
    }
}

#[test]
fn commands_show_what_is_found_and_doctor_names_the_program() {
    let place = Place::new("");
    let program = program();
    let (with, none) = (Some(program.as_path()), Some(Path::new("")));
    let text = place.run(&["check", "wrong.ts"], with);
    assert!(
        text.contains("TS2551") && text.contains("Did you mean 'length'?") && text.contains("wrong.ts:1:"),
        "{text}"
    );
    assert_eq!(place.json(&["check", "wrong.ts", "--json"], with)["typeErrors"][0]["line"], 1);
    let without = place.run(&["check", "wrong.ts", "--json"], none);
    assert!(!without.contains("typeErrors"), "{without}");
    let created = place.run(&["create", "wrong.ts", "--description", "Counts"], with);
    assert!(created.contains("Created the tool `wrong`."), "{created}");
    assert_eq!(place.json(&["doctor", "--json"], Some(Path::new("/bin/true")))["types"], Value::Null);
    assert_eq!(place.json(&["doctor", "--json"], with)["types"], program.display().to_string());
}

#[test]
fn a_verification_shows_what_is_found_and_its_verdict_stays() {
    let place = Place::new("");
    let program = program();
    let (with, none) = (Some(program.as_path()), Some(Path::new("")));
    let source = "const execute = ({ text }: { text: string }): string => text.length;";
    std::fs::write(place.0.path().join("length.ts"), source).unwrap();
    let example = r#"{"parameters": {"text": "abc"}, "result": 3}"#;
    let parameters = r#"{"text": {"type": "string", "description": "A text", "required": true}}"#;
    let create = ["create", "length.ts", "--description", "Counts", "--example", example, "--parameters", parameters];
    place.run(&create, none);
    let told = "1:57 TS2322: Type 'number' is not assignable to type 'string'.";
    let without = place.json(&["verify", "length", "--json"], none);
    assert!(without.get("typeErrors").is_none(), "{without}");
    let checked = place.json(&["verify", "length", "--json"], with);
    assert_eq!(checked["verdict"], without["verdict"]);
    assert_eq!(checked["checks"], without["checks"]);
    let [error] = checked["typeErrors"].as_array().unwrap().as_slice() else { panic!("{checked}") };
    assert_eq!((&error["line"], &error["column"]), (&json!(1), &json!(57)));
    assert!(error["message"].as_str().unwrap().starts_with("TS2322: ") && error["suggestion"].is_string(), "{error}");
    let text = place.run(&["verify", "length"], with);
    assert!(text.contains(&format!("\ntype error: {told}")) && text.contains(": passed"), "{text}");
    assert!(place.run(&["verify", "--all"], with).contains("type error: "));
    // It stays in the record, also where nothing checks types.
    assert_eq!(place.json(&["show", "length", "--json"], none)["proof"]["typeErrors"], checked["typeErrors"]);
    assert!(!place.run(&["verify", "length"], none).contains("type error"));
    let calls = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "verify_dynamic_tool", "arguments": { "tool_name": "length" } } }),
    ];
    let answer = |types: &Path| {
        use std::io::{BufRead as _, BufReader, Write as _};

        let binary = Path::new(env!("CARGO_BIN_EXE_store_worker")).with_file_name("toolcell");
        let mut command = Command::new(binary);
        command.args(["mcp"]).env("TOOLCELL_TYPES", types).env("HOME", place.0.path());
        command.env("TOOLCELL_DIR", place.0.path().join("store")).env("TOOLCELL_LANG", "en");
        let piped = std::process::Stdio::piped;
        let mut server = command.stdin(piped()).stdout(piped()).spawn().unwrap();
        let mut input = server.stdin.take().unwrap();
        for call in &calls {
            writeln!(input, "{call}").unwrap();
        }
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let answer = messages.into_iter().find(|message| message["id"] == 2).unwrap();
        drop(input);
        server.wait().unwrap();
        answer["result"].clone()
    };
    let (checked, without) = (answer(&program), answer(Path::new("")));
    let [error] = checked["structuredContent"]["typeErrors"].as_array().unwrap().as_slice() else {
        panic!("{checked}")
    };
    assert!(error.as_str().unwrap().starts_with(told), "{error}");
    assert!(checked["content"][0]["text"].as_str().unwrap().contains(told), "{checked}");
    assert_eq!(checked["structuredContent"]["verdict"], without["structuredContent"]["verdict"]);
    assert!(!without.to_string().contains("type error") && !without.to_string().contains("typeErrors"), "{without}");
}

#[test]
fn the_compiler_that_the_policy_names_checks_where_no_worker_is() {
    let Some(TypeCheckerProgram::Compiler { command, .. }) = compiler() else { return };
    let place = Place::new(&format!("[types]\ncommand = {command:?}\n"));
    let doctor = place.json(&["doctor", "--json"], None);
    assert_eq!((&doctor["types"], &doctor["typescript"]), (&json!(command[0]), &json!("7.0.2")));
    let text = place.run(&["doctor"], None);
    assert!(text.contains(&format!("{} (TypeScript 7.0.2)\n", command[0])), "{text}");
    let found = place.json(&["check", "wrong.ts", "--json"], None);
    assert_eq!(found["typeErrors"], place.json(&["check", "wrong.ts", "--json"], Some(&program()))["typeErrors"]);
    // `toolcell-types` goes before it, and an empty name turns checks off.
    assert_eq!(place.json(&["doctor", "--json"], Some(&program()))["types"], program().display().to_string());
    assert_eq!(place.json(&["doctor", "--json"], Some(Path::new("")))["types"], Value::Null);
    assert!(!place.run(&["check", "wrong.ts", "--json"], Some(Path::new(""))).contains("typeErrors"));
}

/// Two checks run at once, and each has its own answer.
#[test]
fn checks_that_run_at_once_have_their_own_answers() {
    for (name, types) in checkers() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let types = &types;
                scope.spawn(move || {
                    for round in 0..3 {
                        let source = format!("const execute = (): string => missing{thread}x{round}");
                        let found = check(types, &source, &NOTHING);
                        assert!(
                            found[0].message.to_string().contains(&format!("'missing{thread}x{round}'")),
                            "{name}: {found:?}"
                        );
                        assert_eq!(found.len(), 1);
                    }
                });
            }
        });
    }
}

/// Tools as models write them, which are right whatever a strict reading of their schemas says.
#[test]
fn right_tools_have_no_findings() {
    for (name, types) in checkers() {
        right_tools(name, &types);
    }
}

fn right_tools(name: &str, types: &TypeChecker) {
    let row = json!({ "type": "object", "properties": { "rows": { "type": "array", "items": { "type": "object" } } } });
    let optional = json!({ "type": "object", "properties": { "u": { "type": "string" }, "n": { "type": "number", "default": 1 } } });
    let choice = json!({ "type": "object", "properties": { "how": { "enum": ["a", "b"] } }, "required": ["how"] });
    let numbers = json!({ "enum": [1, 2, 3] });
    let mixed = json!({ "enum": ["a", null, 1] });
    let flags = json!({ "anyOf": [{ "const": true }, { "const": false }] });
    let pair = json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }] });
    let object = json!({ "type": "object" });
    let date = json!({ "type": "object", "properties": { "at": { "type": "string" } }, "required": ["at"] });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    for (source, parameters, returns) in [
        ("const execute = ({ u, n }: { u: string; n: number }): string => u.repeat(n)", Some(&optional), None),
        ("const execute = ({ a }: { a: number }): number => a", None, Some(&json!({ "type": "number" }))),
        (
            "interface Row { a: number }\nconst execute = ({ rows }: { rows: Row[] }): number => rows[0].a",
            Some(&row),
            None,
        ),
        (
            "enum How { A = 'a', B = 'b' }\nconst execute = ({ how }: { how: How }): boolean => how === How.A",
            Some(&choice),
            None,
        ),
        ("const execute = (p: { a: boolean }) => (p.a ? 1 : 2)", None, Some(&numbers)),
        ("const execute = (p: { a: boolean }) => (p.a ? 'a' : null)", None, Some(&mixed)),
        ("const execute = (p: { a: boolean }) => p.a", None, Some(&flags)),
        ("const execute = (p: { a: string }) => [p.a, p.a.length]", None, Some(&pair)),
        ("interface Out { a: string }\nconst execute = (p: { a: string }): Out => ({ a: p.a })", None, Some(&object)),
        ("const execute = (p: { a: string }) => ({ at: new Date(p.a) })", None, Some(&date)),
        ("const execute = (p: { a: string }): readonly string[] => [p.a]", None, Some(&texts)),
        (
            "const execute = async (p: { ms: number }) => { await new Promise((done) => setTimeout(done, p.ms)) }",
            None,
            None,
        ),
        (
            "import { z } from 'zod';\nconst S = z.object({ a: z.string() });\nexport const execute = (p: z.infer<typeof S>) => S.parse(p)",
            None,
            None,
        ),
        (
            "import type { Api } from '@oh-my-pi/pi-coding-agent';\nexport default (api: Api) => ({ name: 'a', execute: () => 1 })",
            None,
            None,
        ),
        (
            "const execute = ({ a }) => { const fmt = (x, y) => x + y; class Q { items = []; push(x) { this.items.push(x) } } return fmt(a) }",
            None,
            None,
        ),
    ] {
        let settings = Settings {
            grants: vec!["timers".to_owned()],
            parameters: parameters.cloned(),
            result: returns.cloned(),
            servers: Vec::new(),
        };
        let found = check(types, source, &settings);
        assert!(
            found.is_empty(),
            "{name}: {source}: {:?}",
            found.iter().map(|one| one.message.to_string()).collect::<Vec<_>>()
        );
    }
    // And wrong ones still have them.
    for (source, parameters, returns) in [
        ("const execute = ({ u }: { u: number }): number => u", Some(&optional), None),
        ("const execute = (p: { a: string }) => p.a", None, Some(&numbers)),
        ("const execute = (p: { a: string }) => ({ when: p.a })", None, Some(&date)),
    ] {
        let settings = Settings {
            grants: Vec::new(),
            parameters: parameters.cloned(),
            result: returns.cloned(),
            servers: Vec::new(),
        };
        assert_eq!(check(types, source, &settings).len(), 1, "{name}: {source}");
    }
}

/// The tools of this repository are right, too.
#[test]
fn good_fixtures_have_no_findings() {
    for (name, types) in checkers() {
        good_fixtures(name, &types);
    }
}

fn good_fixtures(name: &str, types: &TypeChecker) {
    let mut count = 0;
    for folder in ["fixtures/tools", "fixtures/network"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path.extension().is_some_and(|extension| extension == "ts" || extension == "js") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let Ok(analysis) = analyze(&source, Language::Unknown, None) else { continue };
            let checked = types.check(&TypeCheckRequest {
                source: &source,
                entry_point: analysis.entry_point,
                capabilities: &analysis.capabilities,
                parameters: None,
                returns: None,
                servers: "",
            });
            let found = checked.unwrap();
            assert!(found.is_empty(), "{name}: {}: {found:#?}", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn programs_that_hang_are_killed() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    for (name, script) in [("closes", "exec >&-; sleep 60"), ("deaf", "exec sleep 60")] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let types = TypeChecker::new(TypeCheckerProgram::Worker(path));
        let long = format!("const execute = (): string => '{}'", "x".repeat(60_000));
        let began = Instant::now();
        drop(types.check(&TypeCheckRequest {
            source: &long,
            entry_point: None,
            capabilities: &Capabilities::default(),
            parameters: None,
            returns: None,
            servers: "",
        }));
        assert!(began.elapsed().as_secs() < 10, "{name}");
    }
}
