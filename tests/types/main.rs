//! Type checks as Toolcell makes them, with the program that `TOOLCELL_TYPES` names: `make test-types`.
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
    TypeCheckRequest, TypeChecker, analyze, read_request,
};
use toolcell_dts::{Detail, FunctionSchema, server_interface};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn program() -> PathBuf {
    std::env::var_os("TOOLCELL_TYPES").expect("TOOLCELL_TYPES names the program: see `make test-types`").into()
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
    types.check(&TypeCheckRequest {
        source,
        entry_point: analysis.entry_point,
        capabilities: &capabilities,
        parameters: settings.parameters.as_ref(),
        returns: settings.result.as_ref(),
        servers: &settings.servers.iter().map(declare).collect::<String>(),
    })
}

#[test]
fn sixty_labelled_sources_have_their_findings() {
    let types = TypeChecker::new(program());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures/types"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ts"))
        .collect();
    paths.sort();
    let (mut right, mut wrong, mut failed) = (0, 0, Vec::new());
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
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
            failed.push(format!("{}: {expected:?}, not {found:#?}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!((right, wrong), (30, 30));
}

#[test]
fn what_is_created_and_run_is_checked_and_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = ToolboxConfig { type_checker: Some(program()), ..ToolboxConfig::default() };
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
    let types = TypeChecker::new(program());
    let settings = Settings { grants: Vec::new(), parameters: None, result: None, servers: Vec::new() };
    let began = Instant::now();
    for source in [
        "type F<N, A extends unknown[] = []> = A['length'] extends N ? A : F<N, [...A, 1]>; const a: F<999> = 1; const execute = () => a",
        "const execute = (): string => 1",
    ] {
        let found = check(&types, source, &settings);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
    }
    let counting = "type F<N, A extends unknown[] = []> = A['length'] extends N ? A : F<N, [...A, 1]>; export const a: F<999> = 1; const execute = () => a";
    let found = check(&types, counting, &settings);
    assert_eq!(found[0].message.to_string(), "has types that are too complex to be checked");
    assert!(began.elapsed().as_secs() < 15);
}

#[test]
fn a_program_that_is_no_checker_checks_nothing() {
    let settings = Settings { grants: Vec::new(), parameters: None, result: None, servers: Vec::new() };
    for program in ["/bin/cat", "/bin/true", "/nonexistent/toolcell-types"] {
        let types = TypeChecker::new(PathBuf::from(program));
        assert_eq!(check(&types, "const execute = (): string => 1", &settings), []);
    }
}

#[test]
fn commands_show_what_is_found_and_doctor_names_the_program() {
    let binary = Path::new(env!("CARGO_BIN_EXE_store_worker")).with_file_name("toolcell");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong.ts"), "const execute = (a: string): number => a.lenght;\n").unwrap();
    let run = |words: &[&str], types: &Path| {
        let mut command = Command::new(&binary);
        command.args(words).current_dir(folder.path()).env("TOOLCELL_TYPES", types).env("TOOLCELL_LANG", "en");
        command.env("HOME", folder.path()).env("TOOLCELL_DIR", folder.path().join("store"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let text = run(&["check", "wrong.ts"], &program());
    assert!(
        text.contains("TS2551") && text.contains("Did you mean 'length'?") && text.contains("wrong.ts:1:"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&run(&["check", "wrong.ts", "--json"], &program())).unwrap();
    assert_eq!(json["typeErrors"][0]["line"], 1);
    let without = run(&["check", "wrong.ts", "--json"], Path::new(""));
    assert!(!without.contains("typeErrors"), "{without}");
    let created = run(&["create", "wrong.ts", "--description", "Counts"], &program());
    assert!(created.contains("Created the tool `wrong`."), "{created}");
    let doctor: Value = serde_json::from_str(&run(&["doctor", "--json"], Path::new("/bin/true"))).unwrap();
    assert_eq!(doctor["types"], Value::Null);
    let doctor: Value = serde_json::from_str(&run(&["doctor", "--json"], &program())).unwrap();
    assert_eq!(doctor["types"], program().display().to_string());
}

/// Tools as models write them, which are right whatever a strict reading of their schemas says.
#[test]
fn right_tools_have_no_findings() {
    let types = TypeChecker::new(program());
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
        let found = check(&types, source, &settings);
        assert!(
            found.is_empty(),
            "{source}: {:?}",
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
        assert_eq!(check(&types, source, &settings).len(), 1, "{source}");
    }
}

/// The tools of this repository are right, too.
#[test]
fn good_fixtures_have_no_findings() {
    let types = TypeChecker::new(program());
    let mut count = 0;
    for folder in ["fixtures/tools", "fixtures/network"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path.extension().is_some_and(|extension| extension == "ts" || extension == "js") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let Ok(analysis) = analyze(&source, Language::Unknown, None) else { continue };
            let found = types.check(&TypeCheckRequest {
                source: &source,
                entry_point: analysis.entry_point,
                capabilities: &analysis.capabilities,
                parameters: None,
                returns: None,
                servers: "",
            });
            assert!(found.is_empty(), "{}: {found:#?}", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn programs_that_hang_are_killed() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { grants: Vec::new(), parameters: None, result: None, servers: Vec::new() };
    for (name, script) in [("closes", "exec >&-; sleep 60"), ("deaf", "exec sleep 60")] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let types = TypeChecker::new(path);
        let long = format!("const execute = (): string => '{}'", "x".repeat(60_000));
        let began = Instant::now();
        drop(check(&types, &long, &settings));
        assert!(began.elapsed().as_secs() < 10, "{name}");
    }
}
