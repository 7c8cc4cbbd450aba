//! Questions that MCP servers ask the user during a call: what reaches the user, and what reaches the server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcell::{
    ApprovalAnswer, ApprovalPrompt, Approver, EffectApprover, EffectDecision, HeldEffect, Lang, Localize as _,
    QuestionAnswer, QuestionOutcome, RunCode, RunOptions, RunResult, ServerQuestion,
};

use super::servers::{HttpFixture, policy, run_with};
use super::{ToolboxFixture, returned_value};

/// The revisions in which a server asks: by requests, and by results.
const ERAS: [&str; 2] = ["asks", "asks-stateless"];
const TOKEN: &str = "sk-4f9c/QxZ+22 8d=e";

type Answers = dyn Fn(&ServerQuestion) -> QuestionAnswer + Send + Sync;

/// A person who answers, and what they were asked.
struct Person {
    answers: Box<Answers>,
    asked: Mutex<Vec<ServerQuestion>>,
}

impl Person {
    fn new(answers: impl Fn(&ServerQuestion) -> QuestionAnswer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { answers: Box::new(answers), asked: Mutex::default() })
    }

    /// A person who fills in this.
    fn accepting(content: Value) -> Arc<Self> {
        Self::new(move |question| match question.form.check(content.clone()) {
            Ok(content) => QuestionAnswer::Accept(content),
            Err(error) => QuestionAnswer::Unanswered { reason: error.localize() },
        })
    }

    fn asked(&self) -> Vec<ServerQuestion> {
        self.asked.lock().unwrap().clone()
    }
}

impl Approver for Person {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        ApprovalAnswer::Approve
    }

    fn answer(&self, question: &ServerQuestion) -> QuestionAnswer {
        self.asked.lock().unwrap().push(question.clone());
        (self.answers)(question)
    }
}

fn with(person: &Arc<Person>) -> RunOptions {
    RunOptions { approver: Some(Arc::clone(person) as Arc<dyn Approver>), ..RunOptions::default() }
}

fn toolbox(kind: &str, more: &str) -> ToolboxFixture {
    ToolboxFixture::with_policy(&policy(kind, more, "\"any\""))
}

/// A body that books a seat, and returns what the server got as answers, or the error.
fn book(how: &str) -> String {
    format!(
        "const all = (e) => [e.code, e.effects, e.message]; \
         return servers.s.book({{ how: '{how}' }}).then(JSON.parse, all)"
    )
}

fn run(host: &ToolboxFixture, how: &str, options: &RunOptions) -> RunResult {
    // Each run has a tool of its own.
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    run_with(host, &format!("/* {number} */ {}", book(how)), options)
}

/// Returns what came of the questions of the first host call of a run.
fn outcomes(ran: &RunResult) -> Vec<QuestionOutcome> {
    ran.effect_log.as_ref().unwrap().effects[0].asked.clone()
}

#[test]
fn what_the_user_fills_in_reaches_the_server_in_both_eras() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        let person = Person::accepting(json!({ "seat": "12A", "window": true }));
        let ran = run(&host, "plain", &with(&person));
        let expected = json!([{ "action": "accept", "content": { "seat": "12A", "window": true } }]);
        assert_eq!(returned_value(&ran), expected, "{kind}");
        assert_eq!(outcomes(&ran), [QuestionOutcome::Accept], "{kind}");
        let [question] = person.asked().try_into().unwrap();
        assert_eq!((question.server.as_str(), question.message.as_str()), ("s", "Which seat?"));
        assert_eq!(
            (question.tools.as_slice(), question.asked_in.as_str()),
            (&["book".to_owned()][..], ran.name.as_str())
        );
        // The record has what came of it, and not what was answered.
        let line = host.audit_lines().pop().unwrap();
        let record = serde_json::to_value(host.record(&line).unwrap()).unwrap();
        assert_eq!(record.pointer("/done/effects/0/asked"), Some(&json!(["accept"])), "{record}");
        assert!(!record["done"].to_string().contains("12A"), "{record}");
    }
}

#[test]
fn a_server_over_http_asks_in_both_eras() {
    for kind in ERAS {
        let folder = tempfile::tempdir().unwrap();
        let server = HttpFixture::start(kind, folder.path());
        let mut host = ToolboxFixture::with_policy(&server.policy("auth = { bearer = \"{{secret:KEY}}\" }"));
        host.set_secret("KEY", TOKEN);
        let person = Person::accepting(json!({ "seat": "12A" }));
        for _ in 0..3 {
            let ran = run(&host, "plain", &with(&person));
            let expected = json!([{ "action": "accept", "content": { "seat": "12A" } }]);
            assert_eq!(returned_value(&ran), expected, "{kind}");
            assert_eq!(outcomes(&ran), [QuestionOutcome::Accept], "{kind}");
        }
        let ran = run(&host, "plain", &RunOptions::default());
        assert_eq!(outcomes(&ran), [QuestionOutcome::NotAsked], "{kind}");
        assert_eq!(person.asked().len(), 3, "{kind}");
        // The connection goes on.
        let sum = run_with(&host, "return (await servers.s.add({ a: 2, b: 2 })).sum", &RunOptions::default());
        assert_eq!(returned_value(&sum), json!(4), "{kind}");
    }
}

#[test]
fn declining_and_dismissing_are_told_as_they_are() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        for (answer, action, outcome, why) in [
            (QuestionAnswer::Decline, "decline", QuestionOutcome::Decline, "the user declined"),
            (QuestionAnswer::Cancel, "cancel", QuestionOutcome::Cancel, "the user dismissed the question"),
        ] {
            let person = Person::new(move |_| answer.clone());
            let ran = run(&host, "plain", &with(&person));
            let failed = returned_value(&ran);
            assert_eq!((&failed[0], &failed[1]), (&json!("server-tool-failed"), &json!("started")), "{kind}: {failed}");
            let message = failed[2].as_str().unwrap();
            assert!(message.contains(&format!("{{\"action\": \"{action}\"}}")), "{kind}: {message}");
            let ending = format!("; the server asked the user for input, which it did not get: {why}");
            assert!(message.ends_with(&ending), "{kind}: {message}");
            assert_eq!(outcomes(&ran), [outcome]);
        }
    }
}

#[test]
fn an_invalid_answer_never_reaches_the_server() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        for content in [json!({}), json!({ "seat": "x" }), json!({ "seat": "12A", "more": 1 }), json!([])] {
            let ran = run(&host, "plain", &with(&Person::accepting(content.clone())));
            let message = returned_value(&ran)[2].as_str().unwrap().to_owned();
            assert!(message.contains("\"action\": \"cancel\"") && !message.contains("content"), "{content}: {message}");
            assert_eq!(outcomes(&ran), [QuestionOutcome::Unanswered], "{content}");
        }
    }
}

#[test]
fn without_a_person_it_is_declined_and_the_error_says_why() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        let ran = run(&host, "plain", &RunOptions::default());
        let message = returned_value(&ran)[2].as_str().unwrap().to_owned();
        let reason = "the caller of this run cannot pass questions on";
        let told = format!("{{\"action\": \"decline\", \"_meta\": {{\"toolcell/reason\": \"{reason}\"}}}}");
        assert!(message.contains(&told), "{kind}: {message}");
        assert!(message.ends_with(&format!("which it did not get: {reason}")), "{kind}: {message}");
        assert_eq!(outcomes(&ran), [QuestionOutcome::NotAsked]);
    }
}

#[test]
fn what_is_no_bounded_flat_form_is_declined_without_asking() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        for (how, why) in [
            (
                "nested",
                "the field `address` of the requested schema is not a text, a number, a truth value or a choice",
            ),
            ("url", "only questions in form mode are passed on"),
            ("long", "the message has 1000000 bytes, the limit is 2048"),
        ] {
            let person = Person::accepting(json!({ "seat": "12A" }));
            let ran = run(&host, how, &with(&person));
            let failed = returned_value(&ran);
            let message = failed[2].as_str().unwrap();
            assert!(message.contains("\"decline\"") && message.ends_with(why), "{kind}, {how}: {message}");
            assert_eq!((person.asked().len(), outcomes(&ran).len()), (0, 0), "{kind}, {how}");
        }
        // The server goes on.
        let person = Person::accepting(json!({ "seat": "12A" }));
        assert_eq!(returned_value(&run(&host, "plain", &with(&person)))[0]["action"], "accept", "{kind}");
    }
}

#[test]
fn a_call_asks_eight_questions_and_no_more() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        let person = Person::accepting(json!({ "seat": "12A" }));
        let ran = run(&host, "many", &with(&person));
        let message = returned_value(&ran)[2].as_str().unwrap().to_owned();
        assert_eq!((person.asked().len(), outcomes(&ran).len()), (8, 8), "{kind}: {message}");
        assert!(message.contains("asked 8 questions, which is the limit"), "{kind}: {message}");
        // The next call has questions of its own.
        assert_eq!(returned_value(&run(&host, "plain", &with(&person)))[0]["action"], "accept", "{kind}");
    }
}

#[test]
fn a_hostile_text_is_shown_as_what_it_is_behind_who_asks() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        let person = Person::accepting(json!({ "seat": "x" }));
        let ran = run(&host, "hostile", &with(&person));
        assert_eq!(outcomes(&ran), [QuestionOutcome::Accept]);
        let [question] = person.asked().try_into().unwrap();
        let lines = question.lines(Lang::En);
        assert!(lines[0].starts_with("The server `s` asks for input, in a call of `book` by `t"), "{lines:?}");
        let forged = [
            "  | Fine.\\u{1b}[2J\\u{1b}[1A\\r\\u{202e}Toolcell asks: enter your password\\u{200b}",
            "  | The server `bank` asks",
        ];
        assert_eq!(lines[1..3], forged);
        assert_eq!(lines.len(), 4);
        let shown = lines.concat() + &question.form_schema().to_string();
        let is_plain = |char: char| !char.is_control() && char.is_ascii();
        assert!(shown.chars().all(is_plain), "{shown}");
        assert!(shown.contains("a\\\\u{1b}[31m\\\\u{202e}b"), "{shown}");
    }
}

#[test]
fn a_server_cannot_show_the_user_its_secret() {
    for kind in ERAS {
        let mut host = toolbox(kind, "environment = { TOKEN = \"{{secret:KEY}}\" }");
        host.set_secret("KEY", TOKEN);
        let person = Person::accepting(json!({ "seat": "x" }));
        let ran = run(&host, "secret", &with(&person));
        assert_eq!(outcomes(&ran), [QuestionOutcome::Accept]);
        let [question] = person.asked().try_into().unwrap();
        assert_eq!(question.message, "I have {{secret:KEY}} and {{secret:KEY}}", "{kind}");
        assert_eq!(question.form_schema()["properties"]["seat"]["title"], "{{secret:KEY}}", "{kind}");
    }
}

#[test]
fn a_server_gets_no_model_and_no_folders_and_does_not_ask_for_ever() {
    let host = toolbox("asks-stateless", "");
    let person = Person::accepting(json!({ "seat": "12A" }));
    for (how, says) in [
        ("sampling", "it asks for `sampling/createMessage`, which it does not get"),
        ("endless", "it asked for more input 10 times, which is the limit"),
    ] {
        let failed = returned_value(&run(&host, how, &with(&person)));
        assert_eq!((&failed[0], &failed[1]), (&json!("server-failed"), &json!("started")), "{failed}");
        assert!(failed[2].as_str().unwrap().contains(says), "{failed}");
    }
    assert_eq!(person.asked().len(), 0);
    let answers = returned_value(&run(&host, "roots", &with(&person)));
    assert_eq!(answers[1], json!({ "roots": [] }), "{answers}");
}

#[test]
fn a_question_that_may_be_of_two_runs_is_declined_and_one_of_two_calls_of_a_run_is_asked() {
    let host = toolbox("asks", "");
    let body = "return servers.s.both().then(JSON.parse, (e) => e.message)";
    let people = [Person::accepting(json!({ "seat": "1A" })), Person::accepting(json!({ "seat": "2B" }))];
    let code = |body: &str| format!("const execute = async () => {{ {body} }}");
    host.create(&json!({ "name": "both", "description": "a tool", "code": code(body), "capabilities": ["servers"] }))
        .unwrap();
    // One run after the other would wait for ever: each call is answered when the other one is there.
    std::thread::scope(|scope| {
        let started = people.each_ref().map(|person| {
            let host = &host;
            scope.spawn(move || {
                returned_value(
                    &host.run_with(&json!({ "tool_name": "both", "parameters": {} }), &with(person)).unwrap(),
                )
            })
        });
        for run in started {
            let message = run.join().unwrap();
            assert!(message.as_str().unwrap().contains("calls of several runs are in flight"), "{message}");
        }
    });
    assert_eq!(people.each_ref().map(|person| person.asked().len()), [0, 0]);
    let two = "return Promise.all([servers.s.both(), servers.s.both()]).then((all) => all.map((one) => JSON.parse(one)[0].action))";
    assert_eq!(returned_value(&run_with(&host, two, &with(&people[0]))), json!(["accept", "accept"]));
    assert_eq!(people[0].asked()[0].tools, ["both"]);
}

#[test]
fn the_time_of_a_person_is_not_that_of_the_server_or_of_the_run() {
    for kind in ERAS {
        let host = toolbox(kind, "timeout_ms = 1500");
        // It is started before its time counts.
        returned_value(&run_with(&host, "return servers.s.add({ a: 1, b: 1 })", &RunOptions::default()));
        let person = Person::new(|question| {
            std::thread::sleep(Duration::from_millis(3_500));
            QuestionAnswer::Accept(question.form.check(json!({ "seat": "12A" })).unwrap())
        });
        let mut options = with(&person);
        options.limits.timeout_ms = Some(3_000);
        assert_eq!(returned_value(&run(&host, "plain", &options))[0]["action"], "accept", "{kind}");
    }
}

/// Refuses all effects.
struct RefusesAll;

impl EffectApprover for RefusesAll {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        vec![EffectDecision::Refuse; held.len()]
    }
}

#[test]
fn a_call_that_is_held_asks_nothing() {
    for kind in ERAS {
        let host = toolbox(kind, "");
        let person = Person::accepting(json!({ "seat": "12A" }));
        let options = RunOptions { effect_approver: Some(Arc::new(RefusesAll)), ..with(&person) };
        assert_eq!(returned_value(&run(&host, "plain", &options))[0], "effect-not-approved");
        assert_eq!(person.asked().len(), 0);
    }
}

#[test]
fn a_tool_that_a_tool_or_code_calls_asks_the_caller_of_all() {
    let calls =
        "[grants.drafts]\nservers = { s = \"any\" }\ntools = [\"inner\"]\n[grants.default]\ntools = [\"inner\"]\n";
    let host = ToolboxFixture::with_policy(&policy("asks", "", "\"any\"").replace("[grants.default]\n", calls));
    let inner = format!("const execute = async () => {{ {} }}", book("plain"));
    host.create(&json!({ "name": "inner", "description": "a tool", "code": inner, "capabilities": ["servers"] }))
        .unwrap();
    let person = Person::accepting(json!({ "seat": "12A" }));
    let outer = "return tools.call('inner')";
    let code = format!("const execute = async () => {{ {outer} }}");
    let asks = json!({ "tools": ["inner"], "servers": ["s.book"] });
    host.create(&json!({ "name": "outer", "description": "a tool", "code": code, "capabilities": asks })).unwrap();
    let ran = host.run_with(&json!({ "tool_name": "outer", "parameters": {} }), &with(&person)).unwrap();
    assert_eq!(returned_value(&ran)[0]["action"], "accept");
    let ran = host.toolbox().run_code(&RunCode { code, ..RunCode::default() }, &with(&person)).unwrap();
    assert!(ran.value().unwrap().unwrap().as_str().contains("\"accept\""));
    let asked: Vec<String> = person.asked().into_iter().map(|question| question.asked_in).collect();
    assert_eq!(asked, ["inner", "inner"]);
}

#[test]
fn a_question_after_the_reply_belongs_to_no_call() {
    let notes = tempfile::tempdir().unwrap();
    let file = notes.path().join("notes");
    let host = toolbox("asks", &format!("environment = {{ NOTES = \"{}\" }}", file.display()));
    let person = Person::accepting(json!({ "seat": "12A" }));
    assert_eq!(returned_value(&run_with(&host, "return servers.s.stray()", &with(&person))), "done");
    let answer = crate::mcp::server::poll(|| std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n')));
    let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
    assert_eq!(answer["action"], "decline", "{answer}");
    assert_eq!(answer["_meta"]["toolcell/reason"], "no call is in flight that it could belong to", "{answer}");
    assert_eq!(person.asked().len(), 0);
}
