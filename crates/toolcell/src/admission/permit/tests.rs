use std::path::Path;
use std::sync::Arc;

use toolcell_host::Params;
use toolcell_i18n::Lang;
use toolcell_policy::{Layer, Policy, SuggestedArgument};

use super::*;
use crate::admission::hook::{AwaitedAnswer, HookEvent, Hooks};
use crate::operations::run::RunError;
use crate::{CreateTool, PolicyFile, RunOptions, RunTool, Toolbox, ToolboxConfig};

/// An approver with a fixed answer.
struct FixedAnswer(ApprovalAnswer);

impl Approver for FixedAnswer {
    fn ask(&self, _: &ApprovalPrompt) -> ApprovalAnswer {
        self.0.clone()
    }
}

fn options_with(answer: ApprovalAnswer) -> RunOptions {
    RunOptions { approver: Some(Arc::new(FixedAnswer(answer))), ..RunOptions::default() }
}

/// Creates a toolbox with the tool `one` and this approval mode.
fn toolbox(folder: &Path, mode: &str, hooks: Hooks) -> Toolbox {
    let text = format!("[approval]\nmode = \"{mode}\"");
    let file = PolicyFile::parse(Layer::User, &text, Path::new("policy.toml")).unwrap();
    let policy = Policy::from_layers([file]).unwrap();
    let toolbox = Toolbox::open(folder, ToolboxConfig { policy, hooks, ..ToolboxConfig::default() }).unwrap();
    let (name, code) = ("one".to_owned(), "const execute = () => 1".to_owned());
    toolbox.create(&CreateTool { name, description: "One".to_owned(), code, ..CreateTool::default() }).unwrap();
    toolbox
}

fn run(toolbox: &Toolbox, options: &RunOptions) -> Result<(), Denial> {
    match toolbox.run(&RunTool::new("one", Params::default()), options) {
        Ok(ran) => {
            assert_eq!(ran.value().unwrap().unwrap().as_str(), "1");
            Ok(())
        }
        Err(RunError::Denied(denial)) => Err(denial),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_tool_that_somebody_is_asked_about_runs_when_it_comes_again_with_a_yes() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Hooks::default());
    let id = toolbox.find("one").unwrap().id;
    let denial = run(&toolbox, &options_with(ApprovalAnswer::Defer)).unwrap_err();
    assert_eq!(denial.awaits(), Some(AwaitedAnswer::ToolApproval(id)));
    assert_eq!(denial.denied_by, "person");
    assert_eq!(denial.reason, "a person is being asked: every tool requires approval");
    assert!(denial.hint.to_string().contains("approvals grant"), "{}", denial.hint);
    let pending = toolbox.store().unwrap().approvals().pending(9).unwrap();
    assert_eq!(pending.iter().map(|question| question.tool).collect::<Vec<_>>(), [id]);
    run(&toolbox, &options_with(ApprovalAnswer::Approve)).unwrap();
    run(&toolbox, &options_with(ApprovalAnswer::Defer)).unwrap();
}

#[test]
fn what_waits_is_told_from_what_is_refused() {
    let waits = |mode: &str, options: &RunOptions| {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = toolbox(folder.path(), mode, Hooks::default());
        run(&toolbox, options).unwrap_err().awaits().is_some()
    };
    assert!(waits("ask", &RunOptions::default()));
    assert!(waits("ask", &options_with(ApprovalAnswer::Defer)));
    assert!(!waits("ask", &options_with(ApprovalAnswer::Refuse { feedback: None })));
    assert!(!waits("never", &options_with(ApprovalAnswer::Defer)));

    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Hooks::default());
    toolbox.refuse("one", "me").unwrap();
    assert_eq!(run(&toolbox, &options_with(ApprovalAnswer::Defer)).unwrap_err().awaits(), None);
}

#[test]
fn a_denial_is_told_in_the_language_of_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "never", Hooks::default());
    let id = toolbox.find("one").unwrap().id.short();
    let denial = run(&toolbox, &RunOptions::default()).unwrap_err();
    let shown = |lang| format!("{}\n{}", denial.reason.to_text(lang), denial.hint.to_text(lang));
    let ja = format!(
        "「one」({id})は承認されていません: すべてのツールに承認が必要です\n`toolcell show {id}` で内容を確認し、\
         `toolcell approvals grant {id}` で承認してください"
    );
    let zh = format!(
        "「one」（{id}）未获批准：所有工具都需要批准\n请用 `toolcell show {id}` 查看，并用 \
         `toolcell approvals grant {id}` 批准"
    );
    assert_eq!((shown(Lang::Ja), shown(Lang::Zh)), (ja, zh));

    let explanation = toolbox.explain(&RunTool::new("one", Params::default()), &RunOptions::default());
    let step = explanation.steps.last().unwrap();
    assert_eq!(step.stage, "approval");
    assert_eq!((step.verdict.to_text(Lang::Ja), step.verdict.to_string()), ("拒否".to_owned(), "deny".to_owned()));
    assert_eq!(step.reason.to_text(Lang::Zh), "所有工具都需要批准");
}

#[test]
fn a_hook_whose_question_was_passed_on_denies_this_call_and_waits() {
    let folder = tempfile::tempdir().unwrap();
    let mut hooks = Hooks::default();
    hooks.before("costs", |_: &HookEvent| crate::HookVerdict::ask("it costs money"));
    let toolbox = toolbox(folder.path(), "auto", hooks);
    let denial = run(&toolbox, &options_with(ApprovalAnswer::Defer)).unwrap_err();
    assert_eq!((denial.denied_by.as_str(), denial.awaits()), ("person", Some(AwaitedAnswer::HookPrompt)));
    assert_eq!(denial.reason, "a person is being asked: it costs money");
    let nobody = run(&toolbox, &RunOptions::default()).unwrap_err();
    assert_eq!((nobody.denied_by.as_str(), nobody.awaits()), ("hook costs", None));
    assert!(toolbox.store().unwrap().approvals().pending(9).unwrap().is_empty());
    run(&toolbox, &options_with(ApprovalAnswer::Approve)).unwrap();
}

#[test]
fn a_question_that_cannot_be_shown_is_not_asked_and_the_tool_waits_for_an_approval() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Hooks::default());
    let id = toolbox.find("one").unwrap().id;
    let denial = run(
        &toolbox,
        &options_with(ApprovalAnswer::NotShown { reason: Message::verbatim("it is too long".to_owned()) }),
    )
    .unwrap_err();
    assert_eq!(denial.awaits(), Some(AwaitedAnswer::ToolApproval(id)));
    assert_eq!(denial.reason, "the approval prompt for `one` was not shown: it is too long");
    assert!(denial.hint.to_string().contains("`toolcell approvals`"), "{}", denial.hint);
    assert_eq!(toolbox.pending_approvals(9).unwrap().len(), 1);
}

#[test]
fn who_is_asked_is_told_who_calls() {
    struct Hears(std::sync::Mutex<Vec<String>>);
    impl Approver for Hears {
        fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
            self.0.lock().unwrap().extend(question.facts(Lang::En));
            ApprovalAnswer::Defer
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut hooks = Hooks::default();
    hooks.before("costs", |_: &HookEvent| crate::HookVerdict::ask("it costs money"));
    for hooks in [Hooks::default(), hooks] {
        let toolbox = toolbox(folder.path(), "ask", hooks);
        let hears = Arc::new(Hears(std::sync::Mutex::default()));
        let person = Some(Arc::clone(&hears) as Arc<dyn Approver>);
        run(&toolbox, &RunOptions { caller: "mcp alice".to_owned(), approver: person, ..RunOptions::default() })
            .unwrap_err();
        assert!(hears.0.lock().unwrap().contains(&"  caller: mcp alice".to_owned()));
        assert_eq!(toolbox.pending_approvals(9).unwrap()[0].approval.by, "create");
        toolbox
            .delete(&crate::DeleteTool { tool_name: Some("one".to_owned()), confirm: true, ..Default::default() })
            .unwrap();
    }
}

#[test]
fn arguments_that_cannot_be_shown_are_not_approved() {
    struct Never;
    impl Approver for Never {
        fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
            panic!("{question:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Hooks::default());
    // Valid JSON, but out of range for most parsers.
    let params = Params::parse(r#"{"amount": 1e999}"#).unwrap();
    let options = RunOptions { approver: Some(Arc::new(Never)), ..RunOptions::default() };
    let error = toolbox.run(&RunTool::new("one", params), &options).unwrap_err();
    assert_eq!(error.code(), "permission-denied");
    assert!(error.to_string().contains("cannot be shown"), "{error}");
}

/// An approver who approves under a policy that grants timers, and counts the questions.
struct GrantingApprover {
    can_grant: bool,
    duration: ApprovalDuration,
    asked: std::sync::atomic::AtomicUsize,
}

impl Approver for GrantingApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let missing = &question.tool_approval.as_ref().unwrap().missing;
        assert_eq!(missing.iter().map(|argument| argument.text.as_str()).collect::<Vec<_>>(), ["timers"]);
        ApprovalAnswer::ApproveUnder { policy: Arc::new(timers_policy()), duration: self.duration }
    }

    fn can_grant(&self, _: &[SuggestedArgument]) -> bool {
        self.can_grant
    }
}

fn timers_policy() -> Policy {
    let file = PolicyFile::parse(Layer::User, "[grants.default]\ntimers = true", Path::new("policy.toml")).unwrap();
    Policy::from_layers([file]).unwrap()
}

#[test]
fn a_tool_without_any_grant_is_asked_about_only_if_the_answer_can_grant() {
    use std::sync::atomic::Ordering::Relaxed;

    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "auto-safe", Hooks::default());
    let (name, code) = ("waits".to_owned(), "const execute = async () => { await sleep(1); return 1 }".to_owned());
    toolbox.create(&CreateTool { name, description: "Waits".to_owned(), code, ..CreateTool::default() }).unwrap();
    let run = |approver: &Arc<GrantingApprover>| {
        let options = RunOptions { approver: Some(Arc::clone(approver) as Arc<dyn Approver>), ..RunOptions::default() };
        toolbox.run(&RunTool::new("waits", Params::default()), &options)
    };
    let approver = |can_grant: bool, duration| {
        Arc::new(GrantingApprover { can_grant, duration, asked: std::sync::atomic::AtomicUsize::new(0) })
    };
    let unasked = approver(false, ApprovalDuration::Always);
    let Err(RunError::Denied(denial)) = run(&unasked) else { panic!("it ran") };
    let id = toolbox.find("waits").unwrap().id;
    assert_eq!((unasked.asked.load(Relaxed), denial.awaits()), (0, Some(AwaitedAnswer::ToolApproval(id))));
    assert!(denial.hint.to_string().contains(&format!("`toolcell grant {} timers`", id.short())), "{}", denial.hint);

    // For one call: the tool has the grant, and nothing is stored.
    let once = approver(true, ApprovalDuration::ThisCall);
    assert_eq!(run(&once).unwrap().value().unwrap().unwrap().as_str(), "1");
    assert!(toolbox.decisions(9).unwrap().is_empty());
    drop(run(&once).unwrap());
    assert_eq!(once.asked.load(Relaxed), 2);

    // For good: the approval covers the grants of the new policy.
    drop(run(&approver(true, ApprovalDuration::Always)).unwrap());
    let [(_, approval)] = toolbox.decisions(9).unwrap().try_into().unwrap();
    assert_eq!(approval.grants, serde_json::json!({ "timers": true }));
}
