//! The reference of the JSON that commands print, generated from what they print.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::check_generated;
use crate::fixtures::sandbox::root;
use crate::mcp::server::binary;

/// What was seen at one place of the JSON.
#[derive(Debug, Default)]
struct Shape {
    /// The names of the scalar types.
    scalars: BTreeSet<&'static str>,
    /// The elements of arrays.
    elements: Option<Box<Shape>>,
    /// The fields of objects, each with the number of objects that had it.
    fields: Option<BTreeMap<String, (Shape, usize)>>,
    objects: usize,
}

impl Shape {
    fn add(&mut self, value: &Value, path: &str) {
        let is_stated = |stated: &str| match stated.strip_prefix('*') {
            Some(end) => path.ends_with(end),
            None => stated == path,
        };
        if let Some((_, shape)) = STATED.iter().find(|(stated, _)| is_stated(stated)) {
            self.scalars.insert(shape);
            return;
        }
        match value {
            Value::Null => _ = self.scalars.insert("null"),
            Value::Bool(_) => _ = self.scalars.insert("boolean"),
            Value::Number(_) => _ = self.scalars.insert("number"),
            Value::String(_) => _ = self.scalars.insert("string"),
            Value::Array(items) => {
                let elements = self.elements.get_or_insert_default();
                for item in items {
                    elements.add(item, path);
                }
            }
            Value::Object(fields) => {
                self.objects += 1;
                let known = self.fields.get_or_insert_default();
                for (name, value) in fields {
                    let (shape, count) = known.entry(name.clone()).or_default();
                    shape.add(value, &format!("{path}.{name}"));
                    *count += 1;
                }
            }
        }
    }

    /// Writes the shape as a type of TypeScript.
    fn write(&self, indent: usize, path: &str, out: &mut String) {
        let mut kinds = Vec::new();
        if let Some(fields) = &self.fields {
            let mut text = String::from("{\n");
            for (name, (shape, count)) in fields {
                let optional = if *count < self.objects { "?" } else { "" };
                write!(text, "{:1$}{name}{optional}: ", "", indent + 2).unwrap();
                shape.write(indent + 2, &format!("{path}.{name}"), &mut text);
                text.push_str(";\n");
            }
            write!(text, "{:indent$}}}", "").unwrap();
            kinds.push(text);
        }
        if let Some(elements) = &self.elements {
            let mut text = String::new();
            elements.write(indent, path, &mut text);
            let is_union = text.contains(" | ") && !text.starts_with('{');
            assert!(!text.is_empty(), "no command prints an element of {path}: add one, or state its type");
            kinds.push(if is_union { format!("({text})[]") } else { format!("{text}[]") });
        }
        let (null, scalars): (Vec<&str>, Vec<&str>) = self.scalars.iter().partition(|kind| **kind == "null");
        kinds.extend(scalars.iter().map(|kind| (*kind).to_owned()));
        assert!(
            !kinds.is_empty() || null.is_empty(),
            "{path} is only ever null: print another value, or state its type"
        );
        kinds.extend(null.iter().map(|kind| (*kind).to_owned()));
        out.push_str(&kinds.join(" | "));
    }
}

impl Shape {
    /// Returns the shape as a JSON Schema (draft 2020-12).
    fn to_schema(&self) -> Value {
        let mut kinds = Vec::new();
        if let Some(fields) = &self.fields {
            let properties: Map<String, Value> =
                fields.iter().map(|(name, (shape, _))| (name.clone(), shape.to_schema())).collect();
            let required: Vec<&String> =
                fields.iter().filter(|(_, (_, count))| *count == self.objects).map(|(name, _)| name).collect();
            kinds.push(json!({ "type": "object", "properties": properties, "required": required }));
        }
        if let Some(elements) = &self.elements {
            kinds.push(json!({ "type": "array", "items": elements.to_schema() }));
        }
        for scalar in &self.scalars {
            let mut parser = TypeParser { rest: scalar };
            kinds.push(parser.parse_union());
            assert!(parser.rest.trim().is_empty(), "{scalar}");
        }
        union(kinds)
    }
}

fn union(mut kinds: Vec<Value>) -> Value {
    if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) }
}

/// A parser for the types of [`STATED`].
struct TypeParser<'a> {
    rest: &'a str,
}

impl TypeParser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(token);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn parse_union(&mut self) -> Value {
        let mut kinds = vec![self.parse_array()];
        while self.take("|") {
            kinds.push(self.parse_array());
        }
        union(kinds)
    }

    fn parse_array(&mut self) -> Value {
        let mut kind = self.parse_single();
        while self.take("[]") {
            kind = json!({ "type": "array", "items": kind });
        }
        kind
    }

    fn parse_single(&mut self) -> Value {
        if self.take("{") {
            return self.parse_object();
        }
        if self.take("\"") {
            let (text, rest) = self.rest.split_once('"').unwrap();
            self.rest = rest;
            return json!({ "const": text });
        }
        if self.take("unknown") {
            return json!({});
        }
        let name = ["string", "number", "boolean", "object", "null"].into_iter().find(|name| self.take(name));
        json!({ "type": name.unwrap_or_else(|| panic!("not a type: {}", self.rest)) })
    }

    fn parse_object(&mut self) -> Value {
        let index = self.rest.trim_start();
        if index.starts_with('[') {
            self.rest = index.split_once("]:").unwrap().1;
            let values = self.parse_union();
            assert!(self.take("}"), "{}", self.rest);
            return json!({ "type": "object", "additionalProperties": values });
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        while !self.take("}") {
            let (name, rest) = self.rest.split_once(':').unwrap();
            self.rest = rest;
            let name = name.trim();
            if !name.ends_with('?') {
                required.push(name.to_owned());
            }
            properties.insert(name.trim_end_matches('?').to_owned(), self.parse_union());
            self.take(";");
        }
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

/// Types that the commands of this test do not show, or not in general: `command.field`, or `*` and the end of it, and the type.
const STATED: &[(&str, &str)] = &[
    ("*.alike", "{ name: string; id: string; inputs: number; parameters: { [name: string]: string } }[]"),
    ("*.identicalTo", "{ name: string; id: string }[]"),
    ("*.warnings", "{ place: \"params\" | \"result\"; path: string; what: string }[]"),
    ("*.context", "{ hook: string; text: string }[]"),
    ("*.logs", "{ level: string; text: string }[]"),
    ("run.value", "unknown"),
    ("exec.value", "unknown"),
    ("*.default", "unknown"),
    ("*.enum", "unknown[]"),
    ("create.examples", "{ count: number; fromTemplate: number; mismatches: string[]; notRun?: string } | null"),
    ("*.examples", "{ parameters: object; result?: unknown; throws?: string; holds?: string }[]"),
    ("*.returns", "object | null"),
    ("*.parameters.minimum", "number"),
    ("replay.differences", "{ about: string; says: string }[]"),
    ("replay.notes", "string[]"),
    ("*.tags", "string[]"),
    ("*.lastUsedAt", "string | null"),
    ("*.generatedFrom", "string | null"),
    ("*.idempotent", "string | null"),
    ("*.cost", "number | null"),
    ("*.tokensSaved", "number | null"),
    ("*.balance", "number | null"),
    ("*.rulings", "object[]"),
    ("show.capabilities.asked", "{ [capability: string]: { named: string[]; unknown: boolean } }"),
    ("show.capabilities.inferred", "{ [capability: string]: { named: string[]; unknown: boolean } }"),
    ("show.usage.failures", "{ [outcome: string]: number }"),
    ("*.why", "string | null"),
    ("*.said", "object[]"),
    ("*.findings", "{ category: string; severity: string; description: string; line: number; suggestion: string }[]"),
    ("*.grants", "object"),
    ("*.granted", "object"),
    ("reflect.tools", "object[]"),
    ("reflect.proposal", "object | null"),
    ("approvals.pending.error", "string | null"),
    ("test.problems", "{ code: string; path: string; line: number; column: number; message: string; hint: string }[]"),
    ("test.tests.failures", "{ code: string; message: string; diff: string | null }[]"),
    ("check.safety.allowedOperations", "string[]"),
    ("check.capabilities.named", "string[]"),
    ("suspended.runs", "{ run: string; tool: string; name: string; caller: string; since: string; bytes: number }[]"),
    (
        "servers diff.new",
        "{ name: string; description: string; input: object; output: object | null; hints: object | null }[]",
    ),
    ("flows.told", "{ [holder: string]: string[] }"),
    ("flows.declassify", "{ tool: string; from: string[]; bits: number; origin: string }[]"),
    ("flows.rules.except", "{ from: string; to: string }[]"),
    ("flows clear.cleared", "string[]"),
    ("flows explain.sinks", "string[]"),
    ("flows explain.held", "{ from: string; to: string; action: string; rule: string; origin: string }[]"),
    (
        "flows explain.declassifies",
        "{ from: string[]; bits: number; bitsPerResult: number | null; isApproved: boolean }[]",
    ),
    ("servers diff.changed", "{ before: object; now: object }[]"),
    ("servers diff.gone", "string[]"),
    ("servers diff.collisions", "{ name: string; tools: string[] }[]"),
    (
        "retire.tools",
        "{ id: string; name: string; verificationStatus: string; reasons: { reason: string; text: string }[]; successor: object | null; retired: boolean }[]",
    ),
    (
        "adopt.files.tools",
        "{ name: string; outcome: \"created\" | \"unchanged\" | \"failed\"; id?: string; needsApproval?: string | null; error?: { code: string; message: string; hint: string } }[]",
    ),
    ("import.added", "{ name: string; id: string }[]"),
    ("import.replaced", "{ name: string; id: string }[]"),
    ("import.signer", "string | null"),
    ("fsck.unknown", "{ step: string; name: string; event: string }[]"),
    ("fsck.problems", "{ what: string; wrong: string; mended: string | null }[]"),
    ("gc.names", "string[]"),
    ("audit.details", "object"),
    ("audit verify.cutLogs", "{ node: string; host: string; head: string; noticedAt: string }[]"),
    ("audit verify.problems", "{ file: string; line: number; seq: number | null; code: string; message: string }[]"),
    (
        "config show.files",
        "{ layer: string; path: string; hash: string; hooks: { name: string; command: string[] }[]; trusted: boolean | null }[]",
    ),
    ("config show.settings.beyond", "{ value: unknown; origin: object }[]"),
    ("config show.settings.value", "unknown"),
    (
        "config check.files",
        "{ layer: string; path: string; hash: string; hooks: { name: string; command: string[] }[] }[]",
    ),
    ("config check.problems", "{ path: string; line: number; column: number; message: string }[]"),
];

/// Fields that an answer has only where a type checker is installed, which finds something: `make test-types` sees them.
const OF_TYPE_CHECKER: [(&str, &str, &str); 2] =
    [("check", "typeErrors", TYPE_ERRORS), ("verify", "typeErrors", TYPE_ERRORS)];
const TYPE_ERRORS: &str = "{ message: string; line: number; column: number; suggestion: string }[]";

/// The commands, under the heading of their section. `{…}` in a word is a value of the output before.
const COMMANDS: &[(&str, &str)] = &[
    (
        "create",
        r#"create word_count.ts --description "Counts words" --example '{"parameters": {"text": "a b"}, "result": 2}'"#,
    ),
    ("create", r#"create fetch_page.ts --description "Gets a page""#),
    (
        "create",
        r#"create word_count.ts --replace --description "Counts the words of a text" --parameters '{"text": {"type": "string", "description": "The text", "default": "to be", "enum": ["to be", "a b"]}, "from": {"type": "number", "description": "The first word", "required": true, "minimum": 0, "maximum": 9}}'"#,
    ),
    ("adopt", "adopt fixtures/custom_tools/zod_greeting.ts broken.ts"),
    ("run", "run word_count text='to be' from=0 --receipt receipt.json"),
    ("run", "run word_count"),
    ("exec", "exec throws.js"),
    ("exec", "exec fixtures/tools/calculate_average.js '{\"numbers\": [1, 2]}'"),
    ("replay", "replay receipt.json"),
    ("verify", "verify word_count"),
    ("list", "list --limit 1"),
    ("list", "list"),
    ("search", "search words"),
    ("show", "show word_count"),
    ("show", "show fetch_page"),
    ("reflect", "reflect 'Sum the sales by region'"),
    ("approvals", "approvals"),
    ("approvals grant", "approvals grant fetch_page --yes"),
    ("approvals", "approvals"),
    ("test", "test fixtures/tools --filter average"),
    ("profile", "profile fixtures/tools/calculate_average.js '{\"numbers\": [1, 2]}'"),
    ("check", "check fixtures/tools/calculate_average.js fetch_page.ts"),
    ("suspended", "suspended"),
    ("servers", "servers --config fixtures/servers/toolcell/toolcell.toml"),
    ("servers diff", "servers diff office --config fixtures/servers/toolcell/toolcell.toml"),
    ("servers trust", "servers trust office --yes --config fixtures/servers/toolcell/toolcell.toml"),
    ("flows", "flows --config fixtures/servers/flows/toolcell/toolcell.toml"),
    ("flows explain", "flows explain fetch_page --config fixtures/servers/flows/toolcell/toolcell.toml"),
    ("flows clear", "flows clear --all --yes"),
    ("deprecate", "deprecate fetch_page --successor word_count"),
    ("ledger", "ledger"),
    ("retire", "retire --dry-run"),
    ("rollback", "rollback word_count 1"),
    ("delete", "delete word_count --confirm"),
    ("undelete", "undelete word_count"),
    ("export", "export -o bundle.jsonl"),
    ("import", "import bundle.jsonl"),
    ("fsck", "fsck"),
    ("gc", "gc --dry-run"),
    ("audit", "audit"),
    ("audit verify", "audit verify"),
    ("config show", "config show"),
    ("config check", "config check"),
    ("init", "init"),
    ("mcp config", "mcp config --client claude-code"),
];

fn run(folder: &Path, words: &str) -> Vec<Value> {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{} {words} --json", binary().display())).current_dir(folder).stdin(Stdio::null());
    command.env("HOME", folder).env("TOOLCELL_LANG", "en");
    command.env("TOOLCELL_SECRET_OFFICE_TOKEN", "only-the-office-has-it");
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "TOOLCELL_DIR", "TOOLCELL_JAIL", "GITHUB_ACTIONS"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!values.is_empty(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    values
}

#[test]
fn the_reference_of_the_json_is_what_commands_print() {
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("fixtures")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    for (name, text) in [
        (
            "word_count.ts",
            "export function execute({ text }) { console.log('counting'); return text.split(' ').length; }",
        ),
        ("fetch_page.ts", "export async function execute({ url }) { return await (await fetch(url)).text(); }"),
        ("throws.js", "function execute() {\n  throw new TypeError('no');\n}"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut sections: Vec<(&str, Shape)> = Vec::new();
    for (section, words) in COMMANDS {
        if !sections.iter().any(|(known, _)| known == section) {
            sections.push((section, Shape::default()));
        }
        let shape = sections.iter_mut().find_map(|(known, shape)| (known == section).then_some(shape)).unwrap();
        for value in run(folder.path(), words) {
            shape.add(&value, section);
        }
    }
    for (section, field, stated) in OF_TYPE_CHECKER {
        let (_, shape) = sections.iter_mut().find(|(known, _)| *known == section).unwrap();
        let (of_field, _) = shape.fields.as_mut().unwrap().entry(field.to_owned()).or_default();
        of_field.scalars.insert(stated);
    }
    let mut page = String::from(
        "# JSON\n\nThis page is generated from what the commands print: `make reference` writes it, and a test compares it.\n\n\
         With `--json` a command prints one JSON object on one line; `audit`, `check` and `batch` print one for each line, file or request. It is the same in each\n\
         language. The types are those of TypeScript; a field with `?` is only there in some answers. A command that could not do its work prints\n\
         `outcome` and `error` instead, as `run` does: see [errors](errors.md). A reader must ignore fields that it does not know.\n",
    );
    for (section, shape) in &sections {
        write!(page, "\n## {section}\n\n```ts\n").unwrap();
        shape.write(0, section, &mut page);
        page.push_str("\n```\n");
    }
    check_generated("reference/json.md", &page);

    // A command that could not do its work prints this instead.
    let mut error = Shape::default();
    for words in ["run nothing", "run", "exec nothing.js", "create throws.js"] {
        for value in &run(folder.path(), words) {
            error.add(value, "error");
        }
    }
    let mut schemas: BTreeMap<&str, Value> = BTreeMap::new();
    for (name, shape) in sections.iter().map(|(name, shape)| (*name, shape)).chain([("error", &error)]) {
        let mut schema = shape.to_schema();
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!(format!("What `toolcell {name} --json` prints"));
        if name == "error" {
            schema["title"] = json!("What a command prints with `--json` if it could not do its work");
        }
        schemas.insert(name, schema);
    }
    check_generated("../crates/cli/src/commands/schema/answers.json", &(json!(schemas).to_string() + "\n"));
}

#[test]
fn the_answers_of_commands_match_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("twice.js"), "const execute = ({ n }) => 2 * n").unwrap();
    for (command, words) in [
        ("create", "create twice.js --description Doubles"),
        ("run", "run twice n=4"),
        ("exec", "exec twice.js n=4"),
        ("list", "list"),
        ("show", "show twice"),
        ("search", "search double"),
        ("verify", "verify twice"),
        ("config show", "config show"),
        ("audit", "audit"),
        ("error", "run nowhere"),
        ("error", "delete"),
    ] {
        let schema = Command::new(binary()).arg("schema").args(command.split(' ')).output().unwrap();
        let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for answer in run(folder.path(), words) {
            let problems: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "{words}: {problems:?}: {answer}");
        }
    }
    let unknown = Command::new(binary()).args(["schema", "nothing"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}
