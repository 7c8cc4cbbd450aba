//! The search finds the right tool among thousands.
//!
//! `fixtures/servers/questions.json` asks for tools of `fixtures/servers/definitions` in the words of a task, each question
//! with the tools that are right. Weights and synonyms may be tuned with the questions under `tuning`; those under
//! `held_out` show whether that helps where it was not looked at.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "the fixtures are part of the project")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolcell_bridge::{Definition, search};
use toolcell_tool::{ServerName, ServerToolName};

/// The number of tools that are searched.
const TOOLS: usize = 3_000;
/// The right tool must be among so many.
const FIRST: usize = 5;

/// What the made-up tools do, to what, and for whom. Their words are those of real tools.
const VERBS: [&str; 12] =
    ["create", "get", "list", "update", "delete", "search", "add", "move", "read", "send", "open", "close"];
const NOUNS: [&str; 10] =
    ["file", "page", "message", "issue", "comment", "branch", "user", "channel", "request", "project"];
const OWNERS: [&str; 24] = [
    "invoice",
    "patient",
    "warehouse",
    "campaign",
    "payroll",
    "shipment",
    "ticket",
    "contract",
    "vehicle",
    "lesson",
    "hotel",
    "recipe",
    "sensor",
    "donor",
    "claim",
    "match",
    "permit",
    "flight",
    "auction",
    "harvest",
    "museum",
    "clinic",
    "lease",
    "survey",
];

type Tool = (ServerName, ServerToolName, Arc<Definition>);

struct Question {
    text: String,
    right: Vec<String>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/servers")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn questions(half: &str) -> Vec<Question> {
    let all = read(&fixtures().join("questions.json"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let question = |question: &Value| Question {
        text: text(&question["question"]),
        right: question["tools"].as_array().unwrap().iter().map(text).collect(),
    };
    all[half].as_array().unwrap().iter().map(question).collect()
}

/// Returns the tools of the recorded servers.
fn real_tools() -> Vec<Tool> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(fixtures().join("definitions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let tools = paths.iter().flat_map(|path| {
        let server = ServerName::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        let listed = read(path)["tools"].as_array().unwrap().clone();
        listed.into_iter().map(move |tool| {
            let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
            let (input, hints) = (tool["inputSchema"].clone(), tool["annotations"].clone());
            let definition = Definition::new(text("name"), text("description"), input, None, hints);
            (server.clone(), definition.code_name().unwrap(), Arc::new(definition))
        })
    });
    tools.collect()
}

/// Returns made-up tools, which compete for the words of real ones.
fn made_up_tools() -> impl Iterator<Item = Tool> {
    let pairs = VERBS.into_iter().flat_map(|verb| NOUNS.map(|noun| (verb, noun)));
    pairs.flat_map(|(verb, noun)| {
        OWNERS.map(|owner| {
            let description = format!("{verb} a {noun} of a {owner}. Answers with the {noun} and its identifier.");
            let input = json!({
                "type": "object",
                "properties": { "id": { "type": "string" }, noun: { "type": "string" }, "limit": { "type": "number" } },
            });
            let definition = Definition::new(format!("{verb}_{owner}_{noun}"), description, input, None, Value::Null);
            (ServerName::parse(&format!("{owner}s")).unwrap(), definition.code_name().unwrap(), Arc::new(definition))
        })
    })
}

fn haystack() -> Vec<Tool> {
    let mut tools = real_tools();
    let missing = TOOLS - tools.len();
    tools.extend(made_up_tools().take(missing));
    assert_eq!(tools.len(), TOOLS);
    tools
}

/// Returns the questions whose right tool is not among the first, with the tools that are.
fn misses(tools: &[Tool], questions: &[Question]) -> Vec<String> {
    let missed = questions.iter().filter_map(|question| {
        let found = search(tools.iter().map(|(server, name, tool)| (server, name, tool)), &question.text, FIRST);
        let found: Vec<String> = found.iter().map(|found| format!("{}.{}", found.server, found.name)).collect();
        let is_hit = question.right.iter().any(|right| found.contains(right));
        (!is_hit).then(|| format!("{:?}: {found:?} instead of {:?}", question.text, question.right))
    });
    missed.collect()
}

#[test]
fn nine_of_ten_questions_find_the_right_tool_among_the_first_five() {
    let tools = haystack();
    let halves = [("tuning", 40, 4), ("held_out", 20, 2)];
    for (half, count, max_misses) in halves {
        let questions = questions(half);
        assert_eq!(questions.len(), count);
        let missed = misses(&tools, &questions);
        assert!(missed.len() <= max_misses, "{half}: {}\n{}", missed.len(), missed.join("\n"));
    }
}

#[test]
fn each_right_tool_of_a_question_is_there() {
    let names: Vec<String> = real_tools().iter().map(|(server, name, _)| format!("{server}.{name}")).collect();
    for question in ["tuning", "held_out"].into_iter().flat_map(questions) {
        assert!(!question.right.is_empty(), "{}", question.text);
        for right in &question.right {
            assert!(names.contains(right), "{:?}: {right}", question.text);
        }
    }
}
