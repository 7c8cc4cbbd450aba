//! Non-interference: runs that differ only in what is private look the same outside.
//!
//! Scripts are generated from a grammar of operations, branches on answers, races and exceptions. Each runs in two
//! worlds, in two parts of which the second gets the answer of the first, and what is seen outside without a person's
//! word has to be equal. So has a bug that is planted to be found: a label that is set one turn late.
//! (Goguen and Meseguer, *Security Policies and Security Models*, IEEE S&P 1982; tested by pairs of runs as in
//! Hriţcu et al., *Testing Noninterference, Quickly*, ICFP 2013.)

#![cfg(feature = "proof")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRng, TestRunner};
use serde_json::{Value, json};
use toolcell_host::{Effects, Params};
use toolcell_policy::{Grants, Layer, Policy, PolicyFile};
use toolcell_tool::{CallableTools, KvGrant, SpaceName};

use super::FlowTracker;
use crate::execution::RunOptions;
use crate::host_calls::{FunctionFailure, FunctionReply, FunctionResponder, HostFunction, HostFunctions};
use crate::request::{CreateTool, RunCode};
use crate::{Toolbox, ToolboxConfig};

/// The number of scripts of the proof.
const SCRIPTS: usize = 2_000;
/// Within how many scripts a planted bug is found.
const SCRIPTS_TO_FIND_A_BUG: usize = 200;

const POLICY: &str = r#"
[approval]
mode = "auto"
[grants.default]
tools = "any"
[[flows]]
from = ["tool:mail"]
to = ["tool:post", "tool:search"]
do = "ask"
"#;

/// A step of a script. It works on the variables `v` and `w`.
#[derive(Debug, Clone)]
enum Step {
    /// Reads what is private.
    Mail(&'static str),
    /// Reads what is public.
    Weather,
    /// Reads and writes pairs.
    Get,
    Set(Text),
    /// Is seen outside.
    Post(Text),
    Search(Text),
    /// Calls a tool that reads what is private, one that takes longer if that is odd, or one that posts.
    Child(&'static str),
    /// Calls such a tool beside something else, and takes what comes first.
    Beside(&'static str, &'static str),
    /// Waits.
    Sleep(u8),
    /// Has what is private kept, and may pass it on.
    Keep(&'static str),
    /// Begins to read, and goes on without the answer.
    Begin,
    /// Takes what comes first.
    Race(u8),
    /// Reads, and posts meanwhile.
    Both(Text),
    If(Vec<Self>, Vec<Self>),
    Try(Vec<Self>, Vec<Self>),
    Loop(Vec<Self>),
    Swap,
}

/// A text that a step sends.
type Text = &'static str;

const TEXTS: [Text; 7] = ["'a'", "v", "w", "text(v).length", "bit(v)", "bit(w) ? 'x' : 'y'", "answer"];

/// The tools that a script calls.
const CHILDREN: [&str; 3] = ["reader", "busy", "poster"];

/// What it does beside them.
const OTHERS: [&str; 3] = ["sleep(1)", "call('weather')", "call('mail', { slow: true }).catch(() => 0)"];

/// What a script has kept.
const KEPT: [&str; 6] = [
    "'mail', {}",
    "'mail', { fails: true }",
    "'mail', { slow: true }",
    "'reader', {}",
    "'busy', {}",
    "'poster', { text: v ?? null }",
];

impl Step {
    fn write(&self, code: &mut String) {
        let line = match self {
            Self::Mail(how) => format!("v = await call('mail', {{ {how} }}).catch((e) => e.message);"),
            Self::Weather => "v = await call('weather');".to_owned(),
            Self::Get => "v = await kv.get('k');".to_owned(),
            Self::Set(text) => format!("await kv.set('k', {text} ?? null);"),
            Self::Post(text) => format!("await call('post', {{ text: {text} }}).catch(() => 0);"),
            Self::Search(text) => format!("w = await call('search', {{ text: {text} }}).catch((e) => e.code);"),
            Self::Child(name) => format!("v = await call('{name}', {{ text: v ?? null }}).catch((e) => e.code);"),
            Self::Beside(name, other) => {
                format!(
                    "v = await Promise.race([call('{name}', {{ text: 1 }}).then(() => 1, () => 2), {other}.then(() => 3)]);"
                )
            }
            Self::Sleep(time) => format!("await sleep({time});"),
            Self::Keep(how) => format!("v = await tools.keep({how});"),
            Self::Begin => "call('mail', { slow: true }).then((x) => { w = x; }, () => {});".to_owned(),
            Self::Race(time) => {
                format!("v = await Promise.race([call('mail', {{ slow: true }}), sleep({time}).then(() => 'none')]);")
            }
            Self::Both(text) => {
                format!(
                    "[v] = await Promise.all([call('mail', {{}}), call('post', {{ text: {text} }}).catch(() => 0)]);"
                )
            }
            Self::Swap => "[v, w] = [w, v];".to_owned(),
            Self::If(then, otherwise) => return write_blocks(code, "if (bit(v))", then, "else", otherwise),
            Self::Try(work, handle) => {
                let mut throwing = work.clone();
                throwing.push(Self::Swap);
                return write_blocks(code, "try", &throwing, "catch", handle);
            }
            Self::Loop(body) => {
                code.push_str("for (let i = 0; i < size(v); i++) {\n");
                for step in body {
                    step.write(code);
                }
                code.push_str("}\n");
                return;
            }
        };
        code.push_str(&line);
        code.push('\n');
    }
}

fn write_blocks(code: &mut String, first: &str, one: &[Step], second: &str, other: &[Step]) {
    for (head, steps) in [(first, one), (second, other)] {
        code.push_str(head);
        code.push_str(" {\n");
        for (index, step) in steps.iter().enumerate() {
            step.write(code);
            if head == "try" && index == 0 {
                code.push_str("if (bit(v)) throw v;\n");
            }
        }
        code.push_str("}\n");
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || prop::sample::select(&TEXTS[..]);
    let leaf = prop_oneof![
        3 => prop::sample::select(vec!["", "slow: true", "fails: true"]).prop_map(Step::Mail),
        1 => Just(Step::Weather),
        2 => Just(Step::Get),
        2 => text().prop_map(Step::Set),
        4 => text().prop_map(Step::Post),
        2 => text().prop_map(Step::Search),
        1 => prop::sample::select(CHILDREN.to_vec()).prop_map(Step::Child),
        1 => (prop::sample::select(CHILDREN.to_vec()), prop::sample::select(OTHERS.to_vec()))
            .prop_map(|(name, other)| Step::Beside(name, other)),
        2 => prop::sample::select(KEPT.to_vec()).prop_map(Step::Keep),
        1 => (1_u8..6).prop_map(Step::Sleep),
        2 => Just(Step::Begin),
        1 => (1_u8..6).prop_map(Step::Race),
        1 => text().prop_map(Step::Both),
        1 => Just(Step::Swap),
    ];
    let step = leaf.prop_recursive(3, 12, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            3 => (some(), some()).prop_map(|(then, otherwise)| Step::If(then, otherwise)),
            1 => (some(), some()).prop_map(|(work, handle)| Step::Try(work, handle)),
            1 => some().prop_map(Step::Loop),
        ]
    });
    prop::collection::vec(step, 1..6)
}

/// A script of two parts.
fn script(parts: &(Vec<Step>, Vec<Step>)) -> String {
    let mut code = String::from(
        "const call = (name, params = {}) => tools.call(name, params);\n\
         const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));\n\
         const text = (x) => JSON.stringify(x ?? '').replace(/{{kept:[0-9a-f]+}}/g, 'kept');\n\
         const size = (x) => text(x).length % 3;\n\
         const bit = (x) => [...text(x)].reduce((sum, c) => sum + c.charCodeAt(0), 0) % 2 === 1;\n",
    );
    for (name, steps) in [("first", &parts.0), ("second", &parts.1)] {
        code.extend(["async function ", name, "(answer) { let v = answer, w = null;\n"]);
        for step in steps {
            step.write(&mut code);
        }
        code.push_str("return [v, w];\n}\n");
    }
    code.push_str("const execute = ({ part, answer }) => part === 1 ? first(answer) : second(answer);\n");
    code
}

/// A toolbox in which something is private.
struct World {
    toolbox: Toolbox,
    sent: Arc<Mutex<Vec<String>>>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(secret: u32) -> Self {
        let file = PolicyFile::parse(Layer::User, POLICY, Path::new("toolcell.toml")).unwrap();
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let functions = functions(secret, &sent);
        let policy = Policy::from_layers([file]).unwrap();
        let config = ToolboxConfig { policy, functions, ..ToolboxConfig::default() };
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), config).unwrap();
        for (name, code) in [
            ("reader", "const execute = () => tools.call('mail', {})"),
            (
                "busy",
                "const execute = async () => { const mail = await tools.call('mail', {}); \
                 for (let i = 0; i < (mail.endsWith('7') ? 300_000 : 0); i++); return 1 }",
            ),
            ("poster", "const execute = ({ text }) => tools.call('post', { text })"),
        ] {
            let text = |text: &str| text.to_owned();
            let parameters = json!({ "type": "object", "additionalProperties": true });
            let capabilities = json!(["tools"]);
            let (name, description, code) = (text(name), text("a tool"), text(code));
            let request = CreateTool { name, description, code, parameters, capabilities, ..CreateTool::default() };
            toolbox.create(&request).unwrap();
        }
        Self { toolbox, sent, _folder: folder }
    }

    /// Runs both parts of a script as a new caller, with a new space. Returns what was seen outside.
    fn observe(&self, code: &str, number: usize) -> Vec<String> {
        self.sent.lock().unwrap().clear();
        let space = SpaceName::parse(&format!("s{number}")).unwrap();
        let grants = Grants {
            timers: true,
            tools: CallableTools::Any,
            kv: Some(KvGrant { access: toolcell_tool::Access::Write, ..KvGrant::new(space) }),
            ..Grants::default()
        };
        let options =
            RunOptions { caller: format!("caller {number}"), code_grants: Some(grants), ..RunOptions::default() };
        let mut answer = Value::Null;
        for part in [1, 2] {
            let parameters = Params::parse(json!({ "part": part, "answer": answer }).to_string()).unwrap();
            let request = RunCode { code: code.to_owned(), parameters, timeout_ms: None };
            let ran = self.toolbox.run_code(&request, &options).unwrap();
            answer = match ran.value() {
                Ok(value) => value.map_or(Value::Null, |value| serde_json::from_str(value.as_str()).unwrap()),
                Err(failure) => Value::String(failure.to_string()),
            };
        }
        // The texts that stand for kept results are random.
        self.sent.lock().unwrap().iter().map(|line| without_kept(line)).collect()
    }
}

/// Returns a line with one text in place of those that stand for kept results.
fn without_kept(line: &str) -> String {
    let mut parts = line.split("{{kept:");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("kept");
        plain.push_str(part.split_once("}}").map_or("", |(_, rest)| rest));
    }
    plain
}

fn functions(secret: u32, sent: &Arc<Mutex<Vec<String>>>) -> HostFunctions {
    let any = json!({ "type": "object", "additionalProperties": true });
    let mail = HostFunction::new("mail", &any, &json!({}), |_| Ok(Value::Null)).unwrap().read_only();
    let mail = mail.with_async_implementation(move |params, responder: FunctionResponder| {
        let reply = if params["fails"] == true && secret % 2 == 1 {
            Err(FunctionFailure { message: format!("no {secret}"), effects: Effects::None })
        } else {
            Ok(FunctionReply::Immediate(json!(format!("mail {secret}"))))
        };
        if params["slow"] != true {
            return responder.respond(move || reply);
        }
        let wait = Duration::from_millis(if secret % 2 == 1 { 12 } else { 1 });
        std::thread::spawn(move || {
            std::thread::sleep(wait);
            responder.respond(move || reply);
        });
    });
    let visible = |name: &'static str| {
        let seen = Arc::clone(sent);
        let answers = move |params: &Value| {
            let mut seen = seen.lock().unwrap();
            seen.push(format!("{name} {params}"));
            Ok(json!(format!("{name} {}", seen.len())))
        };
        HostFunction::new(name, &any, &json!({}), answers).unwrap().inline()
    };
    let weather = HostFunction::new("weather", &any, &json!({}), |_| Ok(json!("sun"))).unwrap().inline().read_only();
    let all = HostFunctions::default().with(mail).unwrap().with(weather).unwrap();
    all.with(visible("post")).unwrap().with(visible("search").read_only()).unwrap()
}

/// Runs scripts in both worlds until they differ outside; returns how many ran, and the script that differs.
fn find_difference(count: usize) -> (usize, Option<String>, usize) {
    let (odd, even) = (World::new(7), World::new(12));
    let rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = (steps(), steps());
    let mut seen = 0;
    for number in 0..count {
        let code = script(&strategy.new_tree(&mut runner).unwrap().current());
        let (one, other) = (odd.observe(&code, number), even.observe(&code, number));
        if one != other {
            return (number + 1, Some(format!("{code}\n{one:?}\n{other:?}")), seen);
        }
        seen += one.len();
    }
    (count, None, seen)
}

#[test]
fn no_script_shows_outside_what_is_private() {
    let (ran, difference, seen) = find_difference(SCRIPTS);
    assert_eq!(difference, None, "script {ran}");
    // The rules do not just refuse everything.
    assert!(seen > SCRIPTS / 2, "{seen} operations were seen in {SCRIPTS} scripts");
}

#[test]
fn a_label_that_is_set_one_turn_late_is_found() {
    let _planted = FlowTracker::plant_late_labels();
    let (ran, difference, _) = find_difference(SCRIPTS_TO_FIND_A_BUG);
    assert!(difference.is_some(), "{ran} scripts found nothing");
}
