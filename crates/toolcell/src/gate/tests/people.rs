use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::*;

/// Somebody who takes a while, and says this.
struct Somebody {
    takes: Duration,
    says: Answer,
    heard: Mutex<Vec<String>>,
}

impl Somebody {
    fn new(says: Answer) -> Self {
        Self { takes: Duration::ZERO, says, heard: Mutex::default() }
    }
}

impl Person for Somebody {
    fn ask(&self, question: &Question) -> Answer {
        std::thread::sleep(self.takes);
        let heard = format!("{}: {} {}", question.gate, question.text, question.call.args);
        self.heard.lock().unwrap().push(heard);
        self.says.clone()
    }
}

fn asks_itself(call: &GateCall) -> Verdict {
    match call.person().ask("sure?") {
        Some(Answer::Yes) => Verdict::allow(),
        Some(Answer::No { feedback }) => Verdict::deny(feedback.unwrap_or_else(|| "no".to_owned())),
        Some(Answer::Later) => Verdict::deny("not yet"),
        Some(Answer::NotShown { reason }) => Verdict::deny(reason),
        None => Verdict::deny("nobody is there"),
    }
}

#[test]
fn the_clock_stands_still_while_a_person_thinks() {
    let timeout = Duration::from_millis(250);
    let person = Somebody { takes: timeout * 3, ..Somebody::new(Answer::Yes) };
    let mut gates = Gates::default();
    gates.before("x", asks_itself).within(timeout);
    gates.before_async("y", |call: GateCall| async move { asks_itself(&call) }).within(timeout);
    let admission = gates.admit(call(), Some(&person));
    assert_eq!(told(&admission), "allow");
    assert!(admission.steps.iter().all(|step| step.took >= timeout * 3));
    assert_eq!(*person.heard.lock().unwrap(), [r#"x: sure? {"n":1}"#, r#"y: sure? {"n":1}"#]);
}

#[test]
fn a_gate_that_asks_and_then_hangs_is_out_of_time() {
    let person = Somebody::new(Answer::Yes);
    let mut gates = Gates::default();
    let gate = |call: &GateCall| {
        let _ = call.person().ask("sure?");
        std::thread::sleep(LONG);
        Verdict::allow()
    };
    gates.before("x", gate).within(SHORT);
    assert_eq!(told(&gates.admit(call(), Some(&person))), "deny: the gate `x` did not answer within 80 ms");
}

#[test]
fn a_gate_that_was_given_up_reaches_nobody() {
    let (sender, answered) = channel();
    let (release, hang) = channel::<()>();
    let hang = Mutex::new(hang);
    let person = Somebody::new(Answer::Yes);
    let mut gates = Gates::default();
    let gate = move |call: &GateCall| {
        let _ = hang.lock().unwrap().recv();
        sender.send(call.person().ask("still there?")).unwrap();
        Verdict::allow()
    };
    gates.before("x", gate).within(SHORT);
    let _ = gates.admit(call(), Some(&person));
    drop(release);
    assert_eq!(answered.recv_timeout(LONG).unwrap(), None);
    assert!(person.heard.lock().unwrap().is_empty());
}

#[test]
fn a_gate_can_tell_that_nobody_is_there() {
    let mut gates = Gates::default();
    gates.before("x", asks_itself);
    assert_eq!(told(&gates.admit(call(), None)), "deny: nobody is there");
}

#[test]
fn an_ask_is_settled_by_the_person_who_sees_the_changed_arguments() {
    let check = |person: Option<Somebody>, expect: &str| {
        let mut gates = Gates::default();
        gates.before("x", |_: &GateCall| Verdict::ask("it costs money").with_args(json!({"n": 2})));
        let admission = gates.admit(call(), None);
        let person = person.as_ref();
        let settled = admission.settle(&call(), person.map(|person| person as &dyn Person));
        assert_eq!(told(&settled), expect);
        assert_eq!(settled.decided_by.as_deref(), Some("x"));
        if let Some(person) = person {
            assert_eq!(*person.heard.lock().unwrap(), [r#"x: it costs money {"n":2}"#]);
        }
    };
    check(Some(Somebody::new(Answer::Yes)), "allow");
    check(Some(Somebody::new(Answer::No { feedback: None })), "deny: a person said no: it costs money");
    let feedback = Some("use the test account".to_owned());
    check(Some(Somebody::new(Answer::No { feedback })), "deny: a person said no: it costs money; use the test account");
    check(Some(Somebody::new(Answer::Later)), "deny: somebody is being asked: it costs money");
    let not_shown = Answer::NotShown { reason: "it is too long".to_owned() };
    let expect = "deny: the gate `x` asks, and nobody was asked: it is too long: shorten the arguments, or run the tool with `toolcell run` \
                  on a terminal";
    check(Some(Somebody::new(not_shown)), expect);
    check(None, "deny: the gate `x` asks, and nobody is there to answer: it costs money");
}

#[test]
fn an_answer_that_comes_later_denies_and_is_waited_for() {
    let waits = |person: &Somebody, gate: fn(&GateCall) -> Verdict| {
        let mut gates = Gates::default();
        gates.before("x", gate);
        let settled = gates.admit(call(), Some(person)).settle(&call(), Some(person));
        assert!(matches!(settled.decision, Decision::Deny { .. }) || settled.waits.is_none());
        settled.waits
    };
    let later = Somebody::new(Answer::Later);
    let asks: fn(&GateCall) -> Verdict = |_| Verdict::ask("it costs money");
    assert_eq!(waits(&later, asks), Some(Waiting::Question));
    assert_eq!(waits(&later, asks_itself), Some(Waiting::Question));
    // What the gate decides whatever the answer, or without one, waits for nothing.
    let allows = |call: &GateCall| {
        let _ = call.person().ask("sure?");
        Verdict::allow()
    };
    assert_eq!(waits(&later, allows), None);
    assert_eq!(waits(&later, |_| Verdict::deny("no")), None);
    for answer in [Answer::Yes, Answer::No { feedback: None }] {
        assert_eq!(waits(&Somebody::new(answer.clone()), asks), None);
        assert_eq!(waits(&Somebody::new(answer), asks_itself), None);
    }
}
