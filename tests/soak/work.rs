//! The ordinary work of an agent, over any transport.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::client::{Era, Message};
use crate::tally::Tally;

/// Maximum number of its own tools that an agent keeps.
const KEPT: usize = 20;
/// Number of distinct tools that it creates: deleted ones are created again, so that the server's
/// caches stop growing.
const MADE: u64 = 40;

/// A connection to a server.
pub(crate) trait SoakClient {
    /// Sends a request and returns the reply as a message.
    fn reply(&mut self, id: u64, message: &Message) -> String;
}

/// A deterministic pseudorandom generator (splitmix64).
pub(crate) struct SoakRng(u64);

impl SoakRng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// An agent: its next request, and what it knows.
pub(crate) struct Agent {
    name: String,
    era: Era,
    pub(crate) random: SoakRng,
    pub(crate) tally: Tally,
    /// The tools that it created, oldest first.
    made: VecDeque<String>,
    creations: u64,
    asked: u64,
    /// The identifier of its first tool, and the record of its last run.
    tool: String,
    record: Option<String>,
}

impl Agent {
    pub(crate) fn new(name: String, era: Era, seed: u64) -> Self {
        let (random, tally, made) = (SoakRng::new(seed), Tally::default(), VecDeque::new());
        Self { name, era, random, tally, made, creations: 0, asked: 0, tool: String::new(), record: None }
    }

    /// Returns the identifier of the next request.
    pub(crate) fn next(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Returns the name of one of its own tools.
    pub(crate) fn own(&self, tool: &str) -> String {
        format!("{}_{tool}", self.name)
    }

    /// Creates the tools that it needs throughout, and each other tool once.
    pub(crate) fn settle(&mut self, peer: &mut impl SoakClient) {
        for (name, source) in [
            ("reverse", "const execute = ({ text }) => [...text].reverse().join('');"),
            ("broken", "function execute() { console.log('no frame'); throw new TypeError('it is broken'); }"),
            ("endless", "const execute = () => { for (let i = 0; i < 1e15; i++); };"),
            (
                "steps",
                "export default (pi) => ({ name: 'steps', description: 'Tells each step', \
                 parameters: pi.typebox.Type.Object({}), \
                 execute(id, params, onUpdate) { for (let i = 0; i < 5; i++) onUpdate({ i }); return 5; } });",
            ),
        ] {
            let source = format!("// of {}\n{source}", self.name);
            let answer = self.create(peer, &self.own(name), &source, "create_tool", &["ok"]);
            if name == "reverse" {
                self.tool = value(&answer, "id").unwrap_or_default();
            }
        }
        // At the limit, every second step deletes a tool.
        for _ in 0..2 * MADE {
            self.make_or_delete(peer);
            self.run_made(peer);
        }
    }

    /// Performs one random operation.
    pub(crate) fn work(&mut self, peer: &mut impl SoakClient) {
        match self.random.below(100) {
            0..50 => self.run_small(peer),
            50..58 => self.make_or_delete(peer),
            58..64 => self.run_made(peer),
            64..68 => {
                self.operation(peer, "list", "list_dynamic_tools", &json!({"name": self.name, "limit": 5}), &["ok"]);
            }
            68..72 => {
                let task = format!("Convert file {} of 40 from CSV to JSON", self.asked);
                let arguments =
                    json!({"task_description": task, "last_tool_result": "a.csv: 3 rows", "failed_attempts": 1});
                self.operation(peer, "reflect", "tool_reflection", &arguments, &["ok"]);
            }
            72..80 => self.read(peer),
            80..84 => self.run(peer, "run a tool that throws", "broken", &json!({}), &["tool-failed"]),
            84..86 => self.run(peer, "run a tool that is not there", "nothing", &json!({}), &["tool-not-found"]),
            86..88 => self.run(peer, "run without a parameter", "reverse", &json!({}), &["parameters-missing"]),
            88..91 => self.run_with_progress(peer),
            91 => {
                let arguments = json!({"tool_name": self.own("endless"), "timeout_ms": 20});
                self.operation(peer, "run an endless tool", "run_dynamic_tool", &arguments, &["timeout"]);
            }
            92 => {
                let arguments = json!({"tool_name": self.own("reverse")});
                self.operation(peer, "delete unconfirmed", "delete_dynamic_tool", &arguments, &["confirm-required"]);
            }
            93 => {
                let source = "const execute = () => require('child_process').execSync('id');";
                self.create(peer, &self.own("danger"), source, "create a dangerous tool", &["critical-risk"]);
            }
            94 => self.operation(peer, "call nothing we have", "no_such_tool", &json!({}), &["tool-unknown"]),
            95 => {
                self.operation(
                    peer,
                    "run with nonsense",
                    "run_dynamic_tool",
                    &json!({"tool": 1}),
                    &["request-invalid"],
                );
            }
            96 => self.request(peer, "tools/list", json!({})),
            97 => self.request(peer, "prompts/list", json!({})),
            98 => self.request(peer, "resources/templates/list", json!({})),
            _ => {
                let message = Message::request(self.era, self.next(), "no/such/method", json!({}));
                self.ask(peer, "a method that is not there", &message, &["-32601"]);
            }
        }
    }

    fn run_small(&mut self, peer: &mut impl SoakClient) {
        let arguments =
            json!({"tool_name": self.own("reverse"), "parameters": {"text": format!("Hello {}", self.asked)}});
        let message = Message::call(self.era, self.next(), "run_dynamic_tool", &arguments);
        let answer = self.ask(peer, "run a small tool", &message, &["ok"]);
        self.record = value(&answer, "record").or_else(|| self.record.take());
    }

    fn make_or_delete(&mut self, peer: &mut impl SoakClient) {
        if self.made.len() < KEPT {
            self.creations += 1;
            let name = self.own(&format!("t{}", self.creations % MADE));
            let source = format!("const execute = ({{ text }}) => `${{text}} {name}`;");
            self.create(peer, &name, &source, "create_tool", &["ok"]);
            self.made.push_back(name);
        } else if let Some(oldest) = self.made.pop_front() {
            let arguments = json!({"tool_name": oldest, "confirm": true});
            self.operation(peer, "delete", "delete_dynamic_tool", &arguments, &["ok"]);
        }
    }

    fn run_made(&mut self, peer: &mut impl SoakClient) {
        let Some(newest) = self.made.back() else { return };
        let arguments = json!({"tool_name": newest, "parameters": {"text": "of"}});
        self.operation(peer, "run a tool just made", "run_dynamic_tool", &arguments, &["ok"]);
    }

    fn read(&mut self, peer: &mut impl SoakClient) {
        let uri = match (self.random.below(4), &self.record) {
            (0, _) => return self.request(peer, "resources/list", json!({})),
            (1, Some(record)) => format!("toolcell://receipts/{record}"),
            (2, _) => format!("toolcell://tools/{}/source", self.tool),
            (3, _) => format!("toolcell://tools/{}/findings", self.tool),
            _ => "toolcell://audit".to_owned(),
        };
        self.request(peer, "resources/read", json!({"uri": uri}));
    }

    fn run_with_progress(&mut self, peer: &mut impl SoakClient) {
        let arguments = json!({"tool_name": self.own("steps"), "parameters": {}});
        let id = self.next();
        let params = json!({"name": "run_dynamic_tool", "arguments": arguments, "_meta": {"progressToken": id}});
        let message = Message::request(self.era, id, "tools/call", params);
        self.ask(peer, "run with progress", &message, &["ok"]);
    }

    fn run(
        &mut self,
        peer: &mut impl SoakClient,
        what: &'static str,
        tool: &str,
        parameters: &Value,
        expected: &[&str],
    ) {
        let arguments = json!({"tool_name": self.own(tool), "parameters": parameters});
        self.operation(peer, what, "run_dynamic_tool", &arguments, expected);
    }

    fn create(
        &mut self,
        peer: &mut impl SoakClient,
        name: &str,
        code: &str,
        what: &'static str,
        expected: &[&str],
    ) -> String {
        let parameters =
            json!({"text": {"type": "string", "description": "The text", "required": name.ends_with("_reverse")}});
        let parameters = if code.contains("pi.typebox") { json!({}) } else { parameters };
        let arguments =
            json!({"name": name, "description": "Does what it does", "code": code, "parameters": parameters});
        let message = Message::call(self.era, self.next(), "create_tool", &arguments);
        self.ask(peer, what, &message, expected)
    }

    fn operation(
        &mut self,
        peer: &mut impl SoakClient,
        what: &'static str,
        name: &str,
        arguments: &Value,
        expected: &[&str],
    ) {
        let message = Message::call(self.era, self.next(), name, arguments);
        self.ask(peer, what, &message, expected);
    }

    fn request(&mut self, peer: &mut impl SoakClient, method: &'static str, params: Value) {
        let message = Message::request(self.era, self.next(), method, params);
        self.ask(peer, method, &message, &["ok"]);
    }

    fn ask(&mut self, peer: &mut impl SoakClient, what: &'static str, message: &Message, expected: &[&str]) -> String {
        let answer = peer.reply(self.asked, message);
        self.tally.count(what, expected, &answer);
        answer
    }
}

/// Returns a field of a reply's structured content.
fn value(answer: &str, field: &str) -> Option<String> {
    let message: Value = serde_json::from_str(answer).ok()?;
    let meta = &message["result"]["_meta"];
    let found = ["toolcell/response", "toolcell/run"].into_iter().find_map(|part| meta[part][field].as_str());
    found.map(str::to_owned)
}
