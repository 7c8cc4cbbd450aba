//! Rules about flows of data. Each attack runs in two worlds that differ in what is private: outside of them, no
//! difference may be seen.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcell::{
    ApprovalAnswer, ApprovalPrompt, Approver, CancelToken, EffectApprover, EffectDecision, FlowAnswer, FlowContext,
    FlowQuestion, FunctionReply, HeldEffect, HostFunction, HostFunctions, Label, Message, QuestionOutcome, RunOptions,
    RunResult,
};

use super::loopback::LoopbackServer;
use super::{ToolboxFixture, returned_value};
use crate::fixtures::sandbox::{files, stem};

/// A toolbox, what is private in it, and what is seen outside of it.
struct World {
    host: ToolboxFixture,
    sent: Arc<Mutex<Vec<String>>>,
    server: Arc<LoopbackServer>,
    _folder: tempfile::TempDir,
}

const RULES: &str = r#"
[[flows]]
from = ["tool:mail"]
to = ["tool:post", "tool:search", "tool:weather", "tool:slow-weather", "web:*"]
except = [{ from = "tool:mail", to = "web:127.0.0.1" }]
do = "ask"
[[flows]]
from = ["tool:shell"]
to = ["tool:shell"]
do = "ask"
[[declassify]]
tool = "is-urgent"
from = ["tool:mail"]
bits = 2
"#;

impl World {
    fn new(secret: u64) -> Self {
        Self::with_rules(secret, RULES)
    }

    fn with_rules(secret: u64, rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = Arc::new(Mutex::new(String::new()));
        let target = Arc::clone(&port);
        let server = Arc::new(LoopbackServer::with_handler(move |arrived| {
            if arrived.line != "GET /to-untrusted" {
                return ("200 OK", "{}".to_owned());
            }
            let location = target.lock().unwrap().clone();
            let status: &'static str = format!("302 Found\r\nlocation: {location}").leak();
            (status, String::new())
        }));
        let url = server.url("/").replace("127.0.0.1", "localhost");
        port.lock().unwrap().clone_from(&url);
        let grants = format!(
            "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\ntools = \"any\"\n\
             [grants.default.kv]\nspace = \"notes\"\n\
             [[grants.default.files]]\nname = \"shared\"\npath = '{}'\naccess = \"write\"\n{}{}{rules}",
            folder.path().display(),
            server.grant_for("x", "").replace("tools.x", "default"),
            server.grant_for("x", "").replace("tools.x", "default").replacen("127.0.0.1", "localhost", 1),
        );
        let mut host = ToolboxFixture::with_policy(&grants);
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        host.set_functions(functions(secret, &sent));
        let world = Self { host, sent, server, _folder: folder };
        world.tool("read-mail", "const execute = () => tools.call('mail', {})", None);
        world.tool("post-text", "const execute = ({ text }) => tools.call('post', { text })", None);
        let is_urgent = "const execute = async () => (await tools.call('mail', {})).secret % 2 === 1";
        world.tool("is-urgent", is_urgent, Some(json!({ "type": "boolean" })));
        world.approve("is-urgent");
        world
    }

    fn tool(&self, name: &str, code: &str, returns: Option<Value>) {
        let all = json!(["tools", "kv", "files", "net", "timers"]);
        let any = json!({ "type": "object", "additionalProperties": true });
        let mut fields = json!({ "name": name, "description": "a tool", "code": code, "capabilities": all, "parameters": any, "replace": true });
        if let Some(returns) = returns {
            fields["returns"] = returns;
        }
        // Its author knows nothing.
        let request = toolcell::CreateTool { caller: "author".to_owned(), ..super::request(&fields) };
        drop(self.host.toolbox().create(&request).unwrap());
    }

    fn approve(&self, name: &str) {
        let prompt = self.host.toolbox().approval_prompt(name).unwrap();
        self.host.toolbox().approve(&prompt, "a person").unwrap();
    }

    /// Runs the body of a function with these options.
    fn run(&self, body: &str, options: &RunOptions) -> RunResult {
        let name = format!("t{}", &blake3::hash(body.as_bytes()).to_hex()[..12]);
        let code = format!(
            "const call = (name, params = {{}}) => tools.call(name, params); const execute = async () => {{ {body} }}"
        );
        self.tool(&name, &code, None);
        self.host.run_with(&json!({ "tool_name": name, "parameters": {} }), options).unwrap()
    }

    fn value(&self, body: &str) -> Value {
        returned_value(&self.run(body, &RunOptions::default()))
    }

    /// Runs both parts of a script, one after the other. Returns what was seen outside, and how many operations were
    /// refused.
    fn attack(&self, script: &str) -> (Vec<String>, usize) {
        let (url, trusted) = (self.server.url("/").replace("127.0.0.1", "localhost"), self.server.url("/"));
        let code = format!(
            "const call = (name, params = {{}}) => tools.call(name, params);\nconst url = '{url}', trusted = '{trusted}';\n{script}\n\
             const execute = ({{ part, answer }}) => part === 1 ? first() : typeof second === 'function' ? second(answer) : null;"
        );
        self.tool("script", &code, None);
        let mut answer = Value::Null;
        let mut refused = 0;
        for part in [1, 2] {
            let fields = json!({ "tool_name": "script", "parameters": { "part": part, "answer": answer } });
            let ran = self.host.run_with(&fields, &RunOptions::default()).unwrap();
            let log = ran.effect_log.clone().unwrap_or_default();
            let refusals = log.effects.iter().filter(|effect| is_refusal(effect.code.as_deref())).count();
            // What a tool that it called was refused is in that tool's record.
            refused += refusals.max(usize::from(ran.value().is_err()));
            answer = ran.value().map_or(Value::Null, |value| {
                value.map_or(Value::Null, |value| serde_json::from_str(value.as_str()).unwrap())
            });
        }
        let mut seen = self.sent.lock().unwrap().clone();
        // The trusted host may know.
        let lines = self.server.requests().into_iter().filter(|arrived| !arrived.line.contains("to-untrusted"));
        seen.extend(lines.map(|arrived| arrived.line));
        (seen, refused)
    }
}

fn is_refusal(code: Option<&str>) -> bool {
    matches!(code, Some("flow-not-approved" | "flow-refused"))
}

/// Functions that read what is private, and functions whose calls are seen outside.
fn functions(secret: u64, sent: &Arc<Mutex<Vec<String>>>) -> HostFunctions {
    let any = json!({ "type": "object", "additionalProperties": true });
    let later =
        move |reply: Result<Value, toolcell::FunctionFailure>, wait: u64, responder: toolcell::FunctionResponder| {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(wait));
                responder.respond(move || reply.map(FunctionReply::Immediate));
            });
        };
    let mail = HostFunction::new("mail", &any, &json!({}), |_| Ok(Value::Null)).unwrap().read_only();
    let mail = mail.with_async_implementation(move |params, responder| {
        let answer = json!({ "secret": secret, "body": format!("the number is {secret}") });
        let reply = if params["fails"] == true && secret % 2 == 1 {
            let message = format!("no mail number {secret}");
            Err(toolcell::FunctionFailure { message, effects: toolcell::Effects::None })
        } else {
            Ok(answer)
        };
        let wait = if params["slow"] != true {
            0
        } else if secret % 2 == 1 {
            150
        } else {
            5
        };
        later(reply, wait, responder);
    });
    let slow = HostFunction::new("slow-weather", &any, &json!({}), |_| Ok(Value::Null)).unwrap().read_only();
    let seen = Arc::clone(sent);
    let slow = slow.with_async_implementation(move |_, responder| {
        seen.lock().unwrap().push("slow-weather".to_owned());
        later(Ok(json!("rain")), 70, responder);
    });
    let visible = |name: &'static str| {
        let seen = Arc::clone(sent);
        HostFunction::new(name, &any, &json!({}), move |params| {
            seen.lock().unwrap().push(format!("{name} {params}"));
            Ok(json!(format!("{name} answers")))
        })
        .unwrap()
    };
    let large = HostFunction::new("large", &any, &json!({}), |_| Ok(json!("x".repeat(1 << 20)))).unwrap().read_only();
    let archive = HostFunction::new("archive", &any, &json!({}), |_| Ok(Value::Null)).unwrap();
    let quote = HostFunction::new("quote", &any, &json!({}), |_| Ok(json!("hi\",\"admin\":true,\"x\":\""))).unwrap();
    let quote = quote.inline().read_only();
    let all = HostFunctions::default()
        .with(mail)
        .unwrap()
        .with(quote)
        .unwrap()
        .with(large)
        .unwrap()
        .with(slow)
        .unwrap()
        .with(archive)
        .unwrap();
    let all = all.with(visible("post")).unwrap().with(visible("shell")).unwrap();
    all.with(visible("search").read_only()).unwrap().with(visible("weather").read_only()).unwrap()
}

/// Every attack shows nothing, and at most two harmless scripts are refused anything.
#[test]
fn no_attack_shows_a_difference_outside() {
    let (mut attacks, mut benign, mut alarms) = (0, 0, Vec::new());
    for path in files("fixtures/hostile/flows", "js") {
        let (script, name) = (std::fs::read_to_string(&path).unwrap(), stem(&path));
        let (odd, even) = (World::new(7).attack(&script), World::new(4).attack(&script));
        // That one bit is declared to be free.
        if name != "benign-declassified" {
            assert_eq!(odd.0, even.0, "{name} shows what is private");
        }
        if name.starts_with("attack-") {
            attacks += 1;
            assert!(odd.1 + even.1 > 0, "{name} does not attack");
        } else {
            benign += 1;
            let refused = odd.1 + even.1;
            assert_eq!(refused > 0, name.starts_with("benign-alarm-"), "{name}: {refused} refused");
            alarms.extend((refused > 0).then_some(name));
        }
    }
    assert_eq!((attacks, benign, alarms.len()), (17, 10, 2), "{alarms:?}");
}

/// Without the rules, every attack succeeds: they test what they say.
#[test]
fn every_attack_succeeds_without_rules() {
    for path in files("fixtures/hostile/flows", "js") {
        let (script, name) = (std::fs::read_to_string(&path).unwrap(), stem(&path));
        if !name.starts_with("attack-") || name == "attack-both" || name == "attack-redirect" {
            continue;
        }
        let (odd, even) = (World::with_rules(7, "").attack(&script), World::with_rules(4, "").attack(&script));
        assert_ne!(odd.0, even.0, "{name} shows nothing");
    }
}

struct Decides(EffectDecision, Mutex<Vec<HeldEffect>>);

impl EffectApprover for Decides {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        self.1.lock().unwrap().extend_from_slice(held);
        vec![self.0; held.len()]
    }
}

#[test]
fn a_person_decides_about_exactly_these_bytes_and_is_told_where_data_came_from() {
    let body = "const mail = await call('mail'); return call('search', { text: mail.body })";
    for (decision, sent) in [(EffectDecision::Perform, 1), (EffectDecision::Refuse, 0)] {
        let world = World::new(7);
        let decides = Arc::new(Decides(decision, Mutex::default()));
        let approver: Arc<dyn EffectApprover> = Arc::clone(&decides) as _;
        let ran = world.run(body, &RunOptions { effect_approver: Some(approver), ..RunOptions::default() });
        assert_eq!((ran.value().is_ok(), world.sent.lock().unwrap().len()), (sent == 1, sent));
        let held = decides.1.lock().unwrap();
        let [held] = held.as_slice() else { panic!("{held:?}") };
        assert!(held.details.contains("the number is 7"), "{held:?}");
        assert_eq!(held.from, ["caller", "tool:mail"]);
        assert!(held.to_line(toolcell::Lang::En).ends_with(", after data from caller, tool:mail"), "{held:?}");
    }
}

/// A person who decides, and what they were asked.
struct Person(FlowAnswer, Duration, Mutex<Vec<FlowQuestion>>);

impl Person {
    fn new(answer: FlowAnswer) -> Arc<Self> {
        Arc::new(Self(answer, Duration::ZERO, Mutex::default()))
    }

    fn options(self: &Arc<Self>) -> RunOptions {
        RunOptions { approver: Some(Arc::clone(self) as Arc<dyn Approver>), ..RunOptions::default() }
    }
}

impl Approver for Person {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        ApprovalAnswer::Approve
    }

    fn decide_flow(&self, question: &FlowQuestion) -> FlowAnswer {
        std::thread::sleep(self.1);
        self.2.lock().unwrap().push(question.clone());
        self.0.clone()
    }
}

/// An approver who decides about calls, and about no operation.
struct Elsewhere;

impl Approver for Elsewhere {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        ApprovalAnswer::Approve
    }
}

const SEARCH: &str = "const mail = await call('mail'); \
                      return call('search', { text: mail.body }).catch((e) => [e.code, e.effects, e.message])";

#[test]
fn during_a_run_a_person_decides_about_exactly_one_operation() {
    let refused = |why: &str| {
        json!([
            "flow-not-approved",
            "none",
            format!(
                "this leads to `tool:search`, and the run has read data from `tool:mail`: the policy's `flows[0]` needs a person's \
             approval{why}"
            )
        ])
    };
    let not_today = || FlowAnswer::Refuse { feedback: Some(Message::verbatim("not today".to_owned())) };
    let late = || FlowAnswer::Unanswered { reason: Message::verbatim("late".to_owned()) };
    for (answer, value, outcome) in [
        (FlowAnswer::Approve, json!("search answers"), QuestionOutcome::Accept),
        (FlowAnswer::Refuse { feedback: None }, refused(", which was refused"), QuestionOutcome::Decline),
        (not_today(), refused(", which was refused: not today"), QuestionOutcome::Decline),
        (late(), refused(", and there is no answer: late"), QuestionOutcome::Unanswered),
    ] {
        let (world, person) = (World::new(7), Person::new(answer));
        let ran = world.run(SEARCH, &person.options());
        assert_eq!(returned_value(&ran), value);
        let is_sent = outcome == QuestionOutcome::Accept;
        assert_eq!(world.sent.lock().unwrap().len(), usize::from(is_sent));
        assert_eq!(ran.effect_log.unwrap().effects[1].asked, [outcome]);
        let [question] = person.2.lock().unwrap().clone().try_into().unwrap();
        assert_eq!((question.tool.as_str(), question.kind.as_str()), (ran.name.as_str(), "tools.call"));
        assert_eq!((question.about.as_str(), question.to.as_str()), ("search", "tool:search"));
        assert_eq!(question.rules.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), [0]);
        assert!(question.details.contains("the number is 7"), "{question:?}");
        assert_eq!(
            (question.from.as_slice(), question.known.as_slice()),
            (&["tool:mail".to_owned()][..], &["caller", "tool:mail"].map(str::to_owned)[..])
        );
        // A yes is for one operation: the next one is asked about anew.
        drop(world.run(&format!("/* again */ {SEARCH}"), &person.options()));
        assert_eq!(person.2.lock().unwrap().len(), 2);
    }
    let world = World::new(7);
    let options = RunOptions { approver: Some(Arc::new(Elsewhere)), ..RunOptions::default() };
    let unasked = ", and no person was asked: the caller of this run cannot pass questions on; do it before the run reads that \
                   data, or have the user run the tool with `--plan`";
    assert_eq!(returned_value(&world.run(SEARCH, &options)), refused(unasked));
    assert!(world.sent.lock().unwrap().is_empty());
}

#[test]
fn what_a_called_tool_does_is_asked_about_in_its_name_and_the_time_of_the_answer_is_not_the_runs() {
    let world = World::new(7);
    let person = Arc::new(Person(FlowAnswer::Approve, Duration::from_millis(700), Mutex::default()));
    let mut options = person.options();
    options.limits.timeout_ms = Some(600);
    let body = "const mail = await call('mail'); const both = ['a', 'b'].map((text) => call('post-text', { text })); \
                return [await Promise.all(both), await call('post', { text: mail.body })]";
    let ran = world.run(body, &options);
    assert_eq!(returned_value(&ran), json!([["post answers", "post answers"], "post answers"]));
    let asked: Vec<String> = person.2.lock().unwrap().iter().map(|question| question.tool.clone()).collect();
    assert_eq!(asked, ["post-text", "post-text", ran.name.as_str()]);
}

/// A question is about what the run knows when it is put, which may be more than when the operation was submitted.
#[test]
fn an_operation_that_waits_for_its_question_is_decided_by_what_the_run_knows_then() {
    let rules = "[[flows]]\nfrom = [\"caller\"]\nto = [\"tool:post\"]\ndo = \"ask\"\n\
                 [[flows]]\nfrom = [\"tool:slow-weather\"]\nto = [\"tool:post\"]\ndo = \"ACTION\"\n";
    let body = "const late = call('slow-weather'), first = call('post', { text: 'a' }); \
                const second = call('post', { text: 'b' }).then(() => 'sent', (e) => e.code); \
                await late; await first; return second";
    for (action, told, questions) in [("ask", "sent", 2), ("deny", "flow-refused", 1)] {
        let world = World::with_rules(7, &rules.replace("ACTION", action));
        // The answer comes while the first question is open.
        let person = Arc::new(Person(FlowAnswer::Approve, Duration::from_millis(500), Mutex::default()));
        assert_eq!(returned_value(&world.run(body, &person.options())), told, "{action}");
        let asked = person.2.lock().unwrap();
        assert_eq!(asked.len(), questions, "{action}");
        let rules: Vec<Vec<usize>> =
            asked.iter().map(|question| question.rules.iter().map(|(rule, _)| *rule).collect()).collect();
        assert_eq!(rules[0], [0]);
        if action == "ask" {
            assert_eq!(
                (rules[1].as_slice(), asked[1].known.as_slice()),
                (&[0, 1][..], &["caller", "tool:post", "tool:slow-weather"].map(str::to_owned)[..])
            );
        }
    }
}

#[test]
fn the_timers_of_a_tool_stand_still_while_a_person_decides() {
    let world = World::new(7);
    let person = Arc::new(Person(FlowAnswer::Approve, Duration::from_millis(600), Mutex::default()));
    let body = "await call('mail'); let fired = 'no'; setTimeout(() => { fired = 'yes' }, 400); \
                await call('post', { text: 'x' }); return fired";
    assert_eq!(returned_value(&world.run(body, &person.options())), "no");
}

#[test]
fn a_space_that_an_approved_operation_only_reads_learns_nothing() {
    let rules = "[[flows]]\nfrom = [\"tool:mail\"]\nto = [\"kv:notes\"]\ndo = \"ask\"\n";
    let (world, person) = (World::with_rules(7, rules), Person::new(FlowAnswer::Approve));
    let holds = || world.host.toolbox().flow_labels().unwrap().get("kv:notes").cloned().unwrap_or_default();
    returned_value(&world.run("await call('mail'); return (await kv.get('a')) ?? null", &person.options()));
    assert!(!holds().contains(&"tool:mail".to_owned()), "{:?}", holds());
    returned_value(&world.run("await call('mail'); await kv.set('a', 1); return 1", &person.options()));
    assert!(holds().contains(&"tool:mail".to_owned()), "{:?}", holds());
    assert_eq!(person.2.lock().unwrap().len(), 2);
}

#[test]
fn what_is_too_long_to_be_shown_is_not_asked_about() {
    let (world, person) = (World::new(7), Person::new(FlowAnswer::Approve));
    let body = "await call('mail'); return call('post', { text: 'x'.repeat(20_000) }).catch((e) => e.message)";
    let told = returned_value(&world.run(body, &person.options()));
    assert!(told.as_str().unwrap().contains("no person was asked: to show it takes"), "{told}");
    assert!(person.2.lock().unwrap().is_empty());
}

#[test]
fn a_run_asks_sixteen_times_and_no_more() {
    let (world, person) = (World::new(7), Person::new(FlowAnswer::Refuse { feedback: None }));
    // What is not shown does not count.
    let body = "await call('mail'); const told = []; \
                for (let i = 0; i < 20; i++) await call('post', { text: 'x'.repeat(20_000) }).catch(() => {}); \
                for (let i = 0; i < 20; i++) told.push(await call('post-text', { text: 'x' }).catch((e) => e.message)); return told";
    let told = returned_value(&world.run(body, &person.options()));
    assert_eq!(person.2.lock().unwrap().len(), 16);
    let last = told.as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(last.contains("no person was asked: the run has asked 16 times, which is the limit"), "{last}");
    // The next run has questions of its own.
    drop(world.run(SEARCH, &person.options()));
    assert_eq!(person.2.lock().unwrap().len(), 17);
}

#[test]
fn an_operation_that_is_given_up_before_it_is_asked_about_does_not_happen() {
    let world = World::new(7);
    let person = Arc::new(Person(FlowAnswer::Approve, Duration::from_millis(300), Mutex::default()));
    let cancel = CancelToken::new();
    let options = RunOptions { cancel: Some(cancel.clone()), ..person.options() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(150));
            cancel.cancel();
        });
        assert!(world.run(SEARCH, &options).value().is_err());
    });
    // It was asked about, and the run was cancelled before the answer.
    assert!(person.2.lock().unwrap().len() <= 1);
    assert!(world.sent.lock().unwrap().is_empty());
}

#[test]
fn a_person_decides_whether_a_caller_may_run_a_tool() {
    let rules = |action: &str| {
        format!("[[flows]]\nfrom = [\"tool:read-mail\"]\nto = [\"tool:post-text\"]\ndo = \"{action}\"\n")
    };
    let post = json!({ "tool_name": "post-text", "parameters": { "text": "the number is 7" } });
    for (action, answer, is_asked, ending) in [
        ("ask", FlowAnswer::Approve, true, None),
        ("ask", FlowAnswer::Refuse { feedback: None }, true, Some("approval for `tool:post-text`: the user refused")),
        ("deny", FlowAnswer::Approve, false, Some("does not let that go to `tool:post-text`")),
    ] {
        let (world, person) = (World::with_rules(7, &rules(action)), Person::new(answer));
        let read = json!({ "tool_name": "read-mail", "parameters": {} });
        drop(world.host.run_with(&read, &person.options()).unwrap());
        let ran = world.host.run_with(&post, &person.options());
        match ending {
            None => {
                let ran = ran.unwrap();
                assert_eq!(returned_value(&ran), "post answers");
                assert_eq!(ran.effect_log.unwrap().asked, Some(QuestionOutcome::Accept));
            }
            Some(ending) => {
                let error = ran.unwrap_err();
                assert_eq!(error.code().as_str(), "flow-refused");
                assert!(error.to_string().ends_with(ending), "{error}");
            }
        }
        let asked = person.2.lock().unwrap();
        assert_eq!(asked.len(), usize::from(is_asked));
        for question in asked.iter() {
            assert_eq!((question.kind.as_str(), question.to.as_str()), ("run", "tool:post-text:writes"));
            assert_eq!(question.from, ["tool:read-mail"]);
            assert_eq!(question.known, ["caller", "tool:mail", "tool:read-mail"]);
            assert_eq!(question.details, r#"{"text":"the number is 7"}"#);
        }
    }
}

#[test]
fn an_error_says_which_rule_and_what_to_do() {
    let world = World::new(7);
    let caught =
        "await call('mail'); return call('post', { text: 'x' }).catch((e) => [e.name, e.code, e.effects, e.message])";
    let error = world.value(caught);
    assert_eq!(error.as_array().unwrap()[..3], [json!("NotAllowedError"), json!("flow-not-approved"), json!("none")]);
    assert_eq!(
        error[3],
        "this leads to `tool:post:writes`, and the run has read data from `tool:mail`: the policy's `flows[0]` needs a \
         person's approval; do it before the run reads that data, or have the user run the tool with `--plan`"
    );
    let denies = "[[flows]]\nfrom = [\"*\"]\nto = [\"tool:post\"]\ndo = \"deny\"\n";
    let world = World::with_rules(7, &format!("{RULES}{denies}"));
    let error = world.value("return call('post', { text: 'x' }).catch((e) => [e.code, e.message])");
    assert_eq!(error[0], "flow-refused");
    assert!(error[1].as_str().unwrap().contains("`caller`: the policy's `flows[2]` refuses that"), "{error}");
}

#[test]
fn records_name_where_data_came_from_and_results_carry_it() {
    let world = World::new(7);
    let ran =
        world.run("await call('weather'); await call('mail'); await kv.set('a', 1); return 1", &RunOptions::default());
    let log = ran.effect_log.unwrap();
    assert_eq!(log.sources, ["caller", "tool:weather", "tool:mail", "kv:notes"]);
    let from: Vec<Option<u32>> = log.effects.iter().map(|effect| effect.from).collect();
    assert_eq!(from, [Some(1), Some(2), Some(3)]);
    let own = format!("tool:{}", ran.name);
    assert_eq!(ran.label, Some(Label::parse([own.as_str(), "caller", "kv:notes", "tool:mail", "tool:weather"])));
    // Without rules, nothing is followed.
    let world = World::with_rules(7, "");
    let ran = world.run("await call('mail'); return 1", &RunOptions::default());
    assert!(ran.label.is_none());
    let log = ran.effect_log.unwrap();
    assert!(log.sources.is_empty() && log.effects[0].from.is_none());
}

#[test]
fn a_caller_is_held_to_what_it_was_told_until_a_person_clears_it() {
    let world = World::new(7);
    let post = "return call('post', { text: 'x' }).catch((e) => e.code)";
    let by = |caller: &str| RunOptions { caller: caller.to_owned(), ..RunOptions::default() };
    let outcome = |options: &RunOptions| returned_value(&world.run(post, options));
    assert_eq!(outcome(&by("agent")), "post answers");
    drop(world.run("return call('mail')", &by("agent")));
    assert_eq!(outcome(&by("agent")), "flow-not-approved");
    // Another caller was told nothing.
    assert_eq!(outcome(&by("other")), "post answers");
    // A host that follows its own contexts has exact rules.
    let given = |sources: &[&str]| RunOptions { context: FlowContext::parse(sources.iter().copied()), ..by("agent") };
    assert_eq!(outcome(&given(&[])), "post answers");
    assert_eq!(outcome(&given(&["tool:mail"])), "flow-not-approved");
    assert_eq!(outcome(&given(&["nonsense"])), "flow-not-approved");
    // A tool that it writes may hold what it was told.
    let told = json!({ "name": "literal", "description": "a tool", "code": "const execute = () => tools.call('post', { text: '7' })",
                       "capabilities": ["tools"] });
    let mut request: toolcell::CreateTool = super::request(&told);
    "agent".clone_into(&mut request.caller);
    drop(world.host.toolbox().create(&request).unwrap());
    let ran = world.host.run_with(&json!({ "tool_name": "literal", "parameters": {} }), &by("other")).unwrap();
    assert!(ran.value().unwrap_err().to_string().contains("`tool:mail`"));
    assert!(world.host.toolbox().flow_labels().unwrap()["caller:agent"].contains(&"tool:mail".to_owned()));
    world.host.toolbox().clear_flow_label("caller:agent").unwrap();
    assert_eq!(outcome(&by("agent")), "post answers");
    let line = world.host.audit_lines().into_iter().find(|line| line.action == "clear_context").unwrap();
    assert_eq!(line.name.as_deref(), Some("caller:agent"));
}

#[test]
fn a_suspended_run_keeps_what_it_was_handed() {
    let world = World::new(7);
    let body = "await call('mail'); await call('archive'); return call('post', { text: 'x' }).catch((e) => e.code)";
    let code = format!(
        "const call = (name, params = {{}}) => tools.call(name, params); const execute = async () => {{ {body} }}"
    );
    world.tool("sleeper", &code, None);
    let decides = |decision| RunOptions {
        effect_approver: Some(Arc::new(Decides(decision, Mutex::default()))),
        ..RunOptions::default()
    };
    let request = super::request(&json!({ "tool_name": "sleeper", "parameters": {} }));
    let outcome = world.host.toolbox().run_suspendable(&request, &decides(EffectDecision::Defer)).unwrap();
    let toolcell::RunOutcome::Suspended(suspended) = outcome else { panic!("{outcome:?}") };
    assert_eq!(suspended.held[0].from, ["caller", "tool:mail"]);
    // The store forgets the caller; the run does not.
    world.host.toolbox().clear_flow_label("caller:host").unwrap();
    let resumed = Arc::new(Decides(EffectDecision::Perform, Mutex::default()));
    let approver: Arc<dyn EffectApprover> = Arc::clone(&resumed) as _;
    let options = RunOptions { effect_approver: Some(approver), ..RunOptions::default() };
    let request = toolcell::ResumeRequest::new(suspended.run);
    let toolcell::RunOutcome::Finished(ran) = world.host.toolbox().resume(&request, &options).unwrap() else {
        panic!()
    };
    assert_eq!(
        ran.label.clone().unwrap().to_texts(),
        ["caller", "tool:archive", "tool:mail", "tool:post", "tool:sleeper"]
    );
    assert!(resumed.1.lock().unwrap().iter().all(|held| held.from.contains(&"tool:mail".to_owned())));
}

#[test]
fn an_approved_tool_of_few_values_lowers_a_label_within_its_bits() {
    let world = World::new(7);
    let twice = "const a = await call('is-urgent'); await call('post', { text: a }); const b = await call('is-urgent'); \
                 return [a, b, await call('post', { text: b }).catch((e) => e.code)]";
    // Both bits are used up by the first answer.
    assert_eq!(world.value(twice), json!([true, true, "flow-not-approved"]));
    // Another tool of the same kind is not declared to.
    world.tool(
        "is-odd",
        "const execute = async () => (await tools.call('mail', {})).secret % 2 === 1",
        Some(json!({ "type": "boolean" })),
    );
    world.approve("is-odd");
    let post = |tool: &str| format!("await call('{tool}'); return call('post', {{}}).catch((e) => e.code)");
    assert_eq!(value_of_new_caller(&world, &post("is-odd"), "a"), "flow-not-approved");
    // A result that is not declared to have few values, or is another one, or of a tool that was not approved.
    for (number, (code, returns, is_approved)) in [
        ("(await tools.call('mail', {})).secret % 2 === 1", Some(json!({ "type": "string" })), true),
        ("(await tools.call('mail', {})).body", Some(json!({ "type": "boolean" })), true),
        ("(await tools.call('mail', {})).secret % 2 === 1", Some(json!({ "type": "boolean" })), false),
        ("(await tools.call('mail', {})).secret % 2 === 1", None, true),
    ]
    .into_iter()
    .enumerate()
    {
        let world = World::with_rules(7, &RULES.replace("is-urgent", "lowers"));
        world.tool("lowers", &format!("const execute = async () => {code}"), returns);
        if is_approved {
            world.approve("lowers");
        }
        assert_eq!(world.value(&post("lowers")), "flow-not-approved", "{number}");
    }
}

fn value_of_new_caller(world: &World, body: &str, caller: &str) -> Value {
    returned_value(&world.run(body, &RunOptions { caller: caller.to_owned(), ..RunOptions::default() }))
}

#[test]
fn code_that_is_not_stored_is_followed_too() {
    let world = World::new(7);
    let code = "const execute = async () => { await tools.call('mail', {}); return tools.call('post', {}).catch((e) => e.code) }";
    let grants =
        toolcell::policy::Grants { tools: toolcell::CallableTools::Any, ..toolcell::policy::Grants::default() };
    let options = RunOptions { code_grants: Some(grants), ..RunOptions::default() };
    let ran = world.host.toolbox().run_code(&super::request(&json!({ "code": code })), &options).unwrap();
    assert_eq!(ran.value().unwrap().unwrap().as_str(), "\"flow-not-approved\"");
    assert_eq!(ran.label, Some(Label::parse(["caller", "tool:mail"])));
}

#[test]
fn an_explanation_says_what_a_tool_may_cause() {
    let world = World::new(7);
    let flows = world.host.toolbox().explain_flows("read-mail").unwrap();
    assert!(flows.sources.contains(&"web:localhost".to_owned()) && flows.sinks.contains(&"kv:notes:writes".to_owned()));
    assert!(flows.held.is_empty(), "{flows:?}");
    let rules = r#"
[[flows]]
from = ["files:shared"]
to = ["web:*:writes"]
do = "deny"
[[flows]]
from = ["kv:*"]
to = ["web:localhost"]
do = "ask"
[[declassify]]
tool = "is-urgent"
from = ["files:*"]
bits = 1
"#;
    let world = World::with_rules(7, rules);
    let flows = world.host.toolbox().explain_flows("is-urgent").unwrap();
    let held: Vec<_> =
        flows.held.iter().map(|flow| (flow.from.as_str(), flow.to.as_str(), flow.action, flow.rule.as_str())).collect();
    assert_eq!(
        held,
        [
            ("files:shared", "web:localhost:writes", "deny", "flows[0]"),
            ("files:shared", "web:127.0.0.1:writes", "deny", "flows[0]"),
            ("kv:notes", "web:localhost:writes", "ask", "flows[1]"),
        ]
    );
    let state = &flows.declassifies[0];
    assert_eq!((state.bits, state.bits_per_result, state.is_approved), (1, Some(2), true));
}

#[test]
fn a_kept_result_is_passed_on_and_not_read() {
    let world = World::new(7);
    // The cell sees a text of one form, however it looks at it.
    let looks = "const k = await tools.keep('mail', {}); console.log(k, { k }); \
                 return [k, String(k), JSON.stringify({ k }), structuredClone(k), [...k].join(''), `${k}`, Object.keys(k).length, typeof k, k.length]";
    let ran = world.run(looks, &RunOptions::default());
    let seen = returned_value(&ran);
    let text = seen[0].as_str().unwrap();
    assert!(text.starts_with("{{kept:") && text.len() == 41, "{seen}");
    assert_eq!(
        seen.as_array().unwrap()[1..6],
        [json!(text), json!(format!("{{\"k\":\"{text}\"}}")), json!(text), json!(text), json!(text)]
    );
    assert!(!format!("{:?}", ran.report).contains("the number is"), "{:?}", ran.report);
    let own = format!("tool:{}", ran.name);
    // How the run went may tell its caller of what it kept.
    assert_eq!(ran.label, Some(Label::parse(["caller", own.as_str(), "tool:mail"])));
    assert_eq!(ran.effect_log.unwrap().sources, ["caller"]);
    // What the run does meanwhile is free; what it sends is not.
    let body = "const k = await tools.keep('mail', {}); await call('post', { text: 'read' }); \
                return [await call('archive', { text: k }).then(() => 'archived'), await call('post', { text: 'done' }).catch((e) => e.code)]";
    assert_eq!(value_of_new_caller(&world, body, "a"), json!(["archived", "flow-not-approved"]));
    let sends = |how: &str| format!("const k = await tools.keep('mail', {{}}); return {how}.catch((e) => e.code)");
    for (number, how) in [
        "call('post', { text: k })",
        "call('post', { deep: [{ text: `it says: ${k}` }] })",
        "call('post-text', { text: k }).catch((e) => { throw { code: e.message.includes('flows[0]') ? 'flow-not-approved' : e } })",
        "fetch('http://localhost:1/', { method: 'POST', body: k })",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = value_of_new_caller(&world, &sends(how), &format!("b{number}"));
        assert_eq!(answer, "flow-not-approved", "{how}");
    }
    let sent = world.sent.lock().unwrap().clone();
    assert_eq!(sent, [r#"post {"text":"read"}"#]);
}

#[test]
fn kept_results_arrive_as_they_are_where_they_may_go() {
    let world = World::with_rules(7, "");
    let body = "const k = await tools.keep('mail', {}); const w = await tools.keep('weather'); \
                await call('post', { all: k, in: [`<${w}>`, w], text: `${k}` }); \
                await kv.set('k', { k }); await files.write('shared/k', `${w}!`); \
                return [await kv.get('k'), await files.readText('shared/k'), await call('read-mail', {}).then((m) => m.secret)]";
    let mail = json!({ "secret": 7, "body": "the number is 7" });
    assert_eq!(world.value(body), json!([{ "k": mail }, "weather answers!", 7]));
    let sent = world.sent.lock().unwrap().clone();
    let post: Value = serde_json::from_str(sent[1].strip_prefix("post ").unwrap()).unwrap();
    assert_eq!(post["all"], mail);
    assert_eq!(post["in"], json!(["<weather answers>", "weather answers"]));
    // A text that stands for nothing here is a text.
    let text = format!("{{{{kept:{}}}}}", "0".repeat(32));
    let forged = format!("await tools.keep('mail', {{}}); return call('post', {{ text: '{text}' }})");
    assert_eq!(world.value(&forged), "post answers");
    assert!(world.sent.lock().unwrap().last().unwrap().contains(&text));
    // A failure is kept, too, and told where it is sent.
    let failed = "const k = await tools.keep('mail', { fails: true }); return call('post', { k }).catch((e) => [e.code, e.message])";
    let failed = world.value(failed);
    assert_eq!(failed, json!(["function-failed", "`mail`: no mail number 7"]));
    // What is wrong before it begins is said at once.
    assert_eq!(world.value("return tools.keep('mail', []).catch((e) => e.name)"), "TypeError");
}

#[test]
fn what_a_kept_result_is_written_to_holds_its_sources() {
    let world = World::new(7);
    let body = "await kv.set('k', await tools.keep('mail', {})); return 1";
    assert_eq!(value_of_new_caller(&world, body, "a"), 1);
    let read = "await kv.get('k'); return call('post', {}).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, read, "b"), "flow-not-approved");
    // Which of two answers comes first is told, so it counts.
    let race = "await Promise.race([tools.keep('mail', { slow: true }), call('slow-weather')]); return call('post', {}).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, race, "c"), "flow-not-approved");
}

/// The findings of a second reader.
#[test]
fn a_tool_is_a_source_and_a_sink_for_its_caller_too() {
    let rules = r#"
[[flows]]
from = ["tool:read-mail"]
to = ["tool:post"]
do = "deny"
[[flows]]
from = ["tool:mail"]
to = ["tool:post-text"]
do = "ask"
"#;
    let world = World::with_rules(7, rules);
    let by = |caller: &str| RunOptions { caller: caller.to_owned(), ..RunOptions::default() };
    let run = |tool: &str, caller: &str| {
        world.host.run_with(&json!({ "tool_name": tool, "parameters": { "text": "x" } }), &by(caller))
    };
    // What a tool answered its caller comes from the tool.
    drop(run("read-mail", "a").unwrap());
    let failed = run("post-text", "b").unwrap();
    assert!(failed.value().is_ok(), "another caller was told nothing");
    let post = "return call('post', {}).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, post, "a"), "flow-refused");
    // And what a caller was told goes to the tool that it runs.
    let (code, message) = super::refusal(run("post-text", "a"));
    assert_eq!(code, "flow-refused");
    assert!(message.starts_with("the caller was told of `tool:mail`, and the policy's `flows[1]` (user"), "{message}");
}

#[test]
fn a_redirect_is_decided_by_what_says_where_it_leads() {
    let rules = "[[flows]]\nfrom = [\"web:127.0.0.1\"]\nto = [\"web:localhost\"]\ndo = \"deny\"\n";
    let world = World::with_rules(7, rules);
    let url = world.server.url("/to-untrusted");
    let answer = world.value(&format!("return fetch('{url}').then((r) => r.status, (e) => [e.code, e.effects])"));
    assert_eq!(answer, json!(["flow-refused", "committed"]));
}

#[test]
fn what_took_how_long_is_not_declassified() {
    let world = World::new(7);
    let beside = "const [urgent] = await Promise.all([call('is-urgent'), new Promise((r) => setTimeout(r, 1))]); \
                  return call('post', { urgent }).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, beside, "a"), "flow-not-approved");
}

#[test]
fn errors_of_a_tool_that_did_not_run_tell_no_more_than_it() {
    let world = World::new(7);
    let by = |caller: &str| RunOptions { caller: caller.to_owned(), ..RunOptions::default() };
    drop(world.run("return call('mail')", &by("agent")));
    let parameters = json!({ "seven": { "type": "string", "description": "a text", "required": true } });
    let fields = json!({ "name": "needs_seven", "description": "a tool", "code": "const execute = () => 1", "parameters": parameters });
    let request = toolcell::CreateTool { caller: "agent".to_owned(), ..super::request(&fields) };
    drop(world.host.toolbox().create(&request).unwrap());
    let probe = "const text = await call('needs_seven').catch((e) => e.message); return [text, await call('post', { text }).catch((e) => e.code)]";
    let answer = value_of_new_caller(&world, probe, "other");
    assert!(answer[0].as_str().unwrap().contains("`seven`"), "{answer}");
    assert_eq!(answer[1], "flow-not-approved");
    // Which tools there are is not said.
    let near = value_of_new_caller(&world, "return call('needs_sevem').catch((e) => e.message)", "third");
    assert_eq!(near, "`needs_sevem` was not run: there is no such tool");
}

#[test]
fn a_folder_has_all_the_names_under_which_it_is_granted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let policy = format!(
        "[approval]\nmode = \"auto\"\n[grants.default]\ntools = \"any\"\n[[grants.default.files]]\nname = \"alias\"\npath = '{path}'\n\
         [[grants.tools.other.files]]\nname = \"private\"\npath = '{path}'\n\
         [[flows]]\nfrom = [\"files:private\"]\nto = [\"tool:post\"]\ndo = \"ask\"\n"
    );
    let mut host = ToolboxFixture::with_policy(&policy);
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    host.set_functions(functions(7, &sent));
    let code =
        "const execute = async () => { await files.list('alias'); return tools.call('post', {}).catch((e) => e.code) }";
    let fields = json!({ "name": "lists", "description": "a tool", "code": code, "capabilities": ["tools", "files"] });
    host.create(&fields).unwrap();
    assert_eq!(returned_value(&host.run("lists", &json!({})).unwrap()), "flow-not-approved");
}

#[test]
fn a_refused_run_does_not_spoil_what_it_could_not_write() {
    let rules = "[[flows]]\nfrom = [\"tool:mail\"]\nto = [\"kv:notes:writes\", \"tool:post\"]\ndo = \"deny\"\n";
    let world = World::with_rules(7, rules);
    let tries = "await call('mail'); return kv.set('a', 1).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, tries, "a"), "flow-refused");
    let reads = "await kv.get('a'); return call('post', {}).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, reads, "b"), "post answers");
    assert!(!world.host.toolbox().flow_labels().unwrap()["kv:notes"].contains(&"tool:mail".to_owned()));
}

#[test]
fn a_kept_result_tells_nothing_by_its_size_its_time_or_its_order() {
    let world = World::new(7);
    let post = "return call('post', { text: 'x' }).catch((e) => e.code)";
    // The clock of the cell does not tell how long a kept result took.
    let waits = "const began = Date.now(); await tools.keep('mail', { slow: true }); return Date.now() - began";
    let took = value_of_new_caller(&world, waits, "a");
    assert!(took.as_u64().unwrap() < 20, "{took}");
    // A stored tool burns fuel that its caller has not left.
    assert_eq!(
        value_of_new_caller(&world, &format!("await tools.keep('read-mail'); {post}"), "b"),
        "flow-not-approved"
    );
    // What is beyond the limits depends on all that was kept.
    let many = "await tools.keep('mail', {}); let last; for (let i = 0; i < 1001; i++) last = await tools.keep('quote'); \
                return call('post', { text: last }).catch((e) => e.code)";
    assert_eq!(value_of_new_caller(&world, many, "c"), "operation-invalid");
    assert_eq!(
        value_of_new_caller(&world, &format!("{}; {post}", many.replace("return", "await")), "d"),
        "flow-not-approved"
    );
    // Nor does a tool that keeps something alone tell its caller when it is done.
    world.tool("keeps", "const execute = () => tools.keep('mail', { slow: true }).then(() => 1)", None);
    let race = "return Promise.race([call('keeps').then(() => 'kept'), call('slow-weather')])";
    let raced = value_of_new_caller(
        &world,
        &race.replace("return", "await").replace(")])", ")]); return call('post', {}).catch((e) => e.code)"),
        "e",
    );
    assert_eq!(raced, "flow-not-approved");
}

#[test]
fn a_kept_result_becomes_no_more_than_a_value() {
    let world = World::with_rules(7, "");
    let body = "const k = await tools.keep('quote'); await files.write('shared/x', JSON.stringify({ text: k, admin: false })); \
                const json = JSON.parse(await files.readText('shared/x')); await kv.set('k', { text: `${k}!` }); \
                return [json, (await kv.get('k')).text]";
    let quote = "hi\",\"admin\":true,\"x\":\"";
    assert_eq!(world.value(body), json!([{ "text": quote, "admin": false }, format!("{quote}!")]));
    // As much as may be sent, and no more.
    let large = "const k = await tools.keep('large'); const began = Date.now(); \
                 return call('post', { all: Array.from({ length: 2000 }, () => k) }).catch((e) => [e.name, e.message])";
    let failed = world.value(large);
    assert_eq!(failed[0], "QuotaExceededError");
    assert!(failed[1].as_str().unwrap().contains("more than 33554432 bytes would be sent"), "{failed}");
}

#[test]
fn a_run_that_keeps_something_is_not_suspended() {
    let world = World::with_rules(7, "");
    let code = "const execute = async () => { const k = await tools.keep('mail', {}); return tools.call('post', { k }).catch((e) => e.code) }";
    world.tool("keeper", code, None);
    let approver: Arc<dyn EffectApprover> = Arc::new(Decides(EffectDecision::Defer, Mutex::default()));
    let options = RunOptions { effect_approver: Some(approver), ..RunOptions::default() };
    let request = super::request(&json!({ "tool_name": "keeper", "parameters": {} }));
    let outcome = world.host.toolbox().run_suspendable(&request, &options).unwrap();
    let toolcell::RunOutcome::Finished(ran) = outcome else { panic!("{outcome:?}") };
    assert_eq!(returned_value(&ran), "effect-not-approved");
}
