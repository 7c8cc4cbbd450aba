use std::path::Path;
use std::sync::Arc;

use toolcell_host::Params;

use super::*;
use crate::gate::{Gates, Waiting};
use crate::policy::Layer;
use crate::run::{RunError, RunOptions};
use crate::{CreateTool, Policy, PolicyFile, RunTool, ToolboxConfig};

/// Somebody who always gives the same answer.
struct Always(Answer);

impl Person for Always {
    fn ask(&self, _: &Question) -> Answer {
        self.0.clone()
    }
}

fn with(answer: Answer) -> RunOptions {
    RunOptions { person: Some(Arc::new(Always(answer))), ..RunOptions::default() }
}

/// A toolbox with the tool `one`, in which tools are approved in this mode.
fn toolbox(folder: &Path, mode: &str, gates: Gates) -> Toolbox {
    let text = format!("[approval]\nmode = \"{mode}\"");
    let file = PolicyFile::parse(Layer::User, &text, Path::new("policy.toml")).unwrap();
    let policy = Policy::layered([file]).unwrap();
    let toolbox = Toolbox::open(folder, ToolboxConfig { policy, gates, ..ToolboxConfig::default() }).unwrap();
    let (name, code) = ("one".to_owned(), "const execute = () => 1".to_owned());
    toolbox.create(&CreateTool { name, description: "One".to_owned(), code, ..CreateTool::default() }).unwrap();
    toolbox
}

fn run(toolbox: &Toolbox, options: &RunOptions) -> Result<(), Denial> {
    match toolbox.run(&RunTool::of("one", Params::default()), options) {
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
    let toolbox = toolbox(folder.path(), "ask", Gates::default());
    let id = toolbox.find("one").unwrap().id;
    let denial = run(&toolbox, &with(Answer::Later)).unwrap_err();
    assert_eq!(denial.waits(), Some(Waiting::Approval(id)));
    assert_eq!(denial.by, "person");
    assert_eq!(denial.reason, "somebody is being asked: every tool has to be approved");
    assert!(denial.hint.contains("approvals grant"), "{}", denial.hint);
    let pending = toolbox.store().unwrap().pending(9).unwrap();
    assert_eq!(pending.iter().map(|question| question.tool).collect::<Vec<_>>(), [id]);
    run(&toolbox, &with(Answer::Yes)).unwrap();
    run(&toolbox, &with(Answer::Later)).unwrap();
}

#[test]
fn what_waits_is_told_from_what_is_refused() {
    let waits = |mode: &str, options: &RunOptions| {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = toolbox(folder.path(), mode, Gates::default());
        run(&toolbox, options).unwrap_err().waits().is_some()
    };
    assert!(waits("ask", &RunOptions::default()));
    assert!(waits("ask", &with(Answer::Later)));
    assert!(!waits("ask", &with(Answer::No { feedback: None })));
    assert!(!waits("never", &with(Answer::Later)));

    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Gates::default());
    toolbox.refuse("one", "me").unwrap();
    assert_eq!(run(&toolbox, &with(Answer::Later)).unwrap_err().waits(), None);
}

#[test]
fn a_gate_whose_question_was_passed_on_denies_this_call_and_waits() {
    let folder = tempfile::tempdir().unwrap();
    let mut gates = Gates::default();
    gates.before("costs", |_: &GateCall| crate::Verdict::ask("it costs money"));
    let toolbox = toolbox(folder.path(), "auto", gates);
    let denial = run(&toolbox, &with(Answer::Later)).unwrap_err();
    assert_eq!((denial.by.as_str(), denial.waits()), ("person", Some(Waiting::Question)));
    assert_eq!(denial.reason, "somebody is being asked: it costs money");
    let nobody = run(&toolbox, &RunOptions::default()).unwrap_err();
    assert_eq!((nobody.by.as_str(), nobody.waits()), ("gate costs", None));
    assert!(toolbox.store().unwrap().pending(9).unwrap().is_empty());
    run(&toolbox, &with(Answer::Yes)).unwrap();
}

#[test]
fn a_question_that_cannot_be_shown_is_not_asked_and_the_tool_waits_for_an_approval() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Gates::default());
    let id = toolbox.find("one").unwrap().id;
    let denial = run(&toolbox, &with(Answer::NotShown { reason: "it is too long".to_owned() })).unwrap_err();
    assert_eq!(denial.waits(), Some(Waiting::Approval(id)));
    assert_eq!(denial.reason, "nobody was asked to approve `one`: it is too long");
    assert!(denial.hint.contains("`toolcell approvals`"), "{}", denial.hint);
    assert_eq!(toolbox.pending(9).unwrap().len(), 1);
}

#[test]
fn who_is_asked_is_told_who_calls() {
    struct Hears(std::sync::Mutex<Vec<String>>);
    impl Person for Hears {
        fn ask(&self, question: &Question) -> Answer {
            self.0.lock().unwrap().extend(question.facts(toolcell_tool::Lang::En));
            Answer::Later
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut gates = Gates::default();
    gates.before("costs", |_: &GateCall| crate::Verdict::ask("it costs money"));
    for gates in [Gates::default(), gates] {
        let toolbox = toolbox(folder.path(), "ask", gates);
        let hears = Arc::new(Hears(std::sync::Mutex::default()));
        let person = Some(Arc::clone(&hears) as Arc<dyn Person>);
        run(&toolbox, &RunOptions { caller: "mcp alice".to_owned(), person, ..RunOptions::default() }).unwrap_err();
        assert!(hears.0.lock().unwrap().contains(&"  caller: mcp alice".to_owned()));
        assert_eq!(toolbox.pending(9).unwrap()[0].question.by, "create");
        toolbox
            .delete(&crate::DeleteTool { tool_name: Some("one".to_owned()), confirm: true, ..Default::default() })
            .unwrap();
    }
}

#[test]
fn arguments_that_cannot_be_shown_are_not_approved() {
    struct Never;
    impl Person for Never {
        fn ask(&self, question: &Question) -> Answer {
            panic!("{question:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox(folder.path(), "ask", Gates::default());
    // A number that is JSON, and no number of most of its readers.
    let params = Params::parse(r#"{"amount": 1e999}"#).unwrap();
    let options = RunOptions { person: Some(Arc::new(Never)), ..RunOptions::default() };
    let error = toolbox.run(&RunTool::of("one", params), &options).unwrap_err();
    assert_eq!(error.code(), "permission-denied");
    assert!(error.to_string().contains("cannot be shown"), "{error}");
}
