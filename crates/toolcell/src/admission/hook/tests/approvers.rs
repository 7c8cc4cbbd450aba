use std::sync::Mutex;
use std::sync::mpsc::channel;

use toolcell_i18n::Message;

use super::*;

/// An approver with a delay and a fixed answer, which records the prompts.
struct TestApprover {
    delay: Duration,
    answer: ApprovalAnswer,
    prompts: Mutex<Vec<String>>,
}

impl TestApprover {
    fn new(says: ApprovalAnswer) -> Self {
        Self { delay: Duration::ZERO, answer: says, prompts: Mutex::default() }
    }
}

impl Approver for TestApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        std::thread::sleep(self.delay);
        let heard = format!("{}: {} {}", question.asked_by, question.text, question.call.args);
        self.prompts.lock().unwrap().push(heard);
        self.answer.clone()
    }
}

fn prompts_by_itself(call: &HookEvent) -> HookVerdict {
    match call.approver().ask("sure?") {
        Some(ApprovalAnswer::Approve | ApprovalAnswer::ApproveUnder { .. }) => HookVerdict::allow(),
        Some(ApprovalAnswer::Refuse { feedback }) => {
            feedback.map_or_else(|| HookVerdict::deny("no"), HookVerdict::deny_with)
        }
        Some(ApprovalAnswer::Defer) => HookVerdict::deny("not yet"),
        Some(ApprovalAnswer::NotShown { reason }) => HookVerdict::deny_with(reason),
        None => HookVerdict::deny("nobody is there"),
    }
}

#[test]
fn the_clock_stands_still_while_a_person_thinks() {
    let timeout = Duration::from_millis(250);
    let person = TestApprover { delay: timeout * 3, ..TestApprover::new(ApprovalAnswer::Approve) };
    let mut hooks = Hooks::default();
    hooks.before("x", prompts_by_itself).set_timeout(timeout);
    hooks.before_async("y", |call: HookEvent| async move { prompts_by_itself(&call) }).set_timeout(timeout);
    let admission = hooks.admit(event(), Some(&person));
    assert_eq!(decision_text(&admission), "allow");
    assert!(admission.steps.iter().all(|step| step.elapsed >= timeout * 3));
    assert_eq!(*person.prompts.lock().unwrap(), [r#"x: sure? {"n":1}"#, r#"y: sure? {"n":1}"#]);
}

#[test]
fn a_hook_that_asks_and_then_hangs_is_out_of_time() {
    let person = TestApprover::new(ApprovalAnswer::Approve);
    let mut hooks = Hooks::default();
    let hook = |call: &HookEvent| {
        let _ = call.approver().ask("sure?");
        std::thread::sleep(LONG);
        HookVerdict::allow()
    };
    hooks.before("x", hook).set_timeout(SHORT);
    assert_eq!(decision_text(&hooks.admit(event(), Some(&person))), "deny: the hook `x` did not answer within 80 ms");
}

#[test]
fn a_hook_that_was_given_up_reaches_nobody() {
    let (sender, answered) = channel();
    let (release, hang) = channel::<()>();
    let hang = Mutex::new(hang);
    let person = TestApprover::new(ApprovalAnswer::Approve);
    let mut hooks = Hooks::default();
    let hook = move |call: &HookEvent| {
        let _ = hang.lock().unwrap().recv();
        sender.send(call.approver().ask("still there?")).unwrap();
        HookVerdict::allow()
    };
    hooks.before("x", hook).set_timeout(SHORT);
    let _ = hooks.admit(event(), Some(&person));
    drop(release);
    assert!(answered.recv_timeout(LONG).unwrap().is_none());
    assert!(person.prompts.lock().unwrap().is_empty());
}

#[test]
fn a_hook_can_tell_that_nobody_is_there() {
    let mut hooks = Hooks::default();
    hooks.before("x", prompts_by_itself);
    assert_eq!(decision_text(&hooks.admit(event(), None)), "deny: nobody is there");
}

#[test]
fn an_ask_is_settled_by_the_person_who_sees_the_changed_arguments() {
    let check = |person: Option<TestApprover>, expect: &str| {
        let mut hooks = Hooks::default();
        hooks.before("x", |_: &HookEvent| HookVerdict::ask("it costs money").with_args(json!({"n": 2})));
        let admission = hooks.admit(event(), None);
        let person = person.as_ref();
        let settled = admission.resolve_ask(&event(), person.map(|person| person as &dyn Approver));
        assert_eq!(decision_text(&settled), expect);
        assert_eq!(settled.decided_by.as_deref(), Some("x"));
        if let Some(person) = person {
            assert_eq!(*person.prompts.lock().unwrap(), [r#"x: it costs money {"n":2}"#]);
        }
    };
    check(Some(TestApprover::new(ApprovalAnswer::Approve)), "allow");
    check(
        Some(TestApprover::new(ApprovalAnswer::Refuse { feedback: None })),
        "deny: a person refused the call: it costs money",
    );
    let feedback = Some(Message::verbatim("use the test account".to_owned()));
    check(
        Some(TestApprover::new(ApprovalAnswer::Refuse { feedback })),
        "deny: a person refused the call: it costs money; use the test account",
    );
    check(Some(TestApprover::new(ApprovalAnswer::Defer)), "deny: a person is being asked: it costs money");
    let not_shown = ApprovalAnswer::NotShown { reason: Message::verbatim("it is too long".to_owned()) };
    let expect = "deny: the hook `x` asks a person, but the prompt was not shown: it is too long: \
                  shorten the arguments, or run the tool in a terminal";
    check(Some(TestApprover::new(not_shown)), expect);
    check(None, "deny: the hook `x` asks a person, but no approver is available: it costs money");
}

#[test]
fn an_answer_that_comes_later_denies_and_is_waited_for() {
    let waits = |person: &TestApprover, hook: fn(&HookEvent) -> HookVerdict| {
        let mut hooks = Hooks::default();
        hooks.before("x", hook);
        let settled = hooks.admit(event(), Some(person)).resolve_ask(&event(), Some(person));
        assert!(matches!(settled.decision, HookDecision::Deny { .. }) || settled.awaits.is_none());
        settled.awaits
    };
    let later = TestApprover::new(ApprovalAnswer::Defer);
    let asks: fn(&HookEvent) -> HookVerdict = |_| HookVerdict::ask("it costs money");
    assert_eq!(waits(&later, asks), Some(AwaitedAnswer::HookPrompt));
    assert_eq!(waits(&later, prompts_by_itself), Some(AwaitedAnswer::HookPrompt));
    // A hook whose decision does not depend on the answer waits for nothing.
    let allows = |call: &HookEvent| {
        let _ = call.approver().ask("sure?");
        HookVerdict::allow()
    };
    assert_eq!(waits(&later, allows), None);
    assert_eq!(waits(&later, |_| HookVerdict::deny("no")), None);
    for answer in [ApprovalAnswer::Approve, ApprovalAnswer::Refuse { feedback: None }] {
        assert_eq!(waits(&TestApprover::new(answer.clone()), asks), None);
        assert_eq!(waits(&TestApprover::new(answer), prompts_by_itself), None);
    }
}
