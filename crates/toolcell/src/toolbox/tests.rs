use std::sync::mpsc::channel;

use toolcell_host::{CancelToken, OnOverload, Params};
use toolcell_policy::Grants;
use toolcell_tool::ToolId;

use super::*;
use crate::execution::RunOptions;
use crate::execution::cache_key;
use crate::{CreateTool, PolicyFile, RunTool};

const ONE: &str = "const execute = () => 1";
/// A tool that reports a partial result, and never ends.
const ENDLESS: &str = "export default (pi) => ({ name: 'endless', description: 'd', parameters: {}, \
                       execute(id, params, onUpdate) { onUpdate(1); for (;;) {} } })";

fn config_with_policy(policy: &str) -> ToolboxConfig {
    let file = PolicyFile::parse(toolcell_policy::Layer::User, policy, Path::new("policy.toml")).unwrap();
    ToolboxConfig { policy: Policy::from_layers([file]).unwrap(), ..ToolboxConfig::default() }
}

fn config_with_slots(slots: usize) -> ToolboxConfig {
    let sandbox = SandboxConfig { slots, ..SandboxConfig::default() };
    ToolboxConfig { sandbox, ..config_with_policy("[approval]\nmode = \"auto\"") }
}

fn create(toolbox: &Toolbox, name: &str, code: &str) -> ToolId {
    let (name, description, code) = (name.to_owned(), "d".to_owned(), code.to_owned());
    toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() }).unwrap().id
}

/// Returns the result of a run, or the code of its error.
fn run(toolbox: &Toolbox, name: &str) -> Result<String, String> {
    let ran = toolbox.run(&RunTool::new(name, Params::default()), &RunOptions::default());
    let ran = ran.map_err(|error| error.code().to_string())?;
    ran.value().map(|value| value.unwrap().to_string()).map_err(|failed| failed.code().to_string())
}

#[test]
fn toolboxes_share_a_sandbox_and_no_tool() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Toolbox::open(&folder.path().join("ours"), config_with_slots(2)).unwrap();
    let theirs = ours.sibling(&folder.path().join("theirs"), config_with_slots(9)).unwrap();
    assert!(ours.parts.runtime.shares_sandbox_with(&theirs.parts.runtime));
    assert_eq!((theirs.slots(), theirs.image()), (2, ours.image()));

    let id = create(&ours, "one", ONE);
    assert_eq!(run(&ours, "one").unwrap(), "1");
    assert_eq!(run(&theirs, "one").unwrap_err(), "tool-not-found");
    assert_eq!(run(&theirs, &id.to_string()).unwrap_err(), "tool-not-found");
    let key = cache_key(id, &Grants::default());
    assert!(ours.parts.runtime.cached_script(&key).is_some() && theirs.parts.runtime.cached_script(&key).is_none());
    assert!(ours.parts.runtime.cached_tool(&id).is_some() && theirs.parts.runtime.cached_tool(&id).is_none());
}

#[test]
fn each_toolbox_has_its_own_rules() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Toolbox::open(&folder.path().join("ours"), config_with_slots(2)).unwrap();
    let never = config_with_policy("[approval]\nmode = \"never\"\n[store]\ntools = 1");
    let theirs = ours.sibling(&folder.path().join("theirs"), never).unwrap();
    for toolbox in [&ours, &theirs] {
        create(toolbox, "one", ONE);
    }
    assert_eq!(run(&ours, "one").unwrap(), "1");
    assert_eq!(run(&theirs, "one").unwrap_err(), "permission-denied");
    let (name, code) = ("two".to_owned(), ONE.to_owned());
    let request = CreateTool { name, description: "d".to_owned(), code, ..CreateTool::default() };
    assert!(ours.create(&request).is_ok());
    assert_eq!(theirs.create(&request).unwrap_err().code(), "tool-limit-reached");
}

#[test]
fn a_slot_that_one_toolbox_takes_is_taken_in_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Toolbox::open(&folder.path().join("ours"), config_with_slots(1)).unwrap();
    let theirs = ours.sibling(&folder.path().join("theirs"), ToolboxConfig::default()).unwrap();
    create(&ours, "endless", ENDLESS);
    create(&theirs, "one", ONE);
    let (runs, running) = channel();
    let cancel = CancelToken::new();
    let options = RunOptions {
        cancel: Some(cancel.clone()),
        partial: Some(Arc::new(move |_: &str| {
            let _ = runs.send(());
        })),
        ..RunOptions::default()
    };
    std::thread::scope(|scope| {
        let endless = RunTool::new("endless", Params::default());
        let run = scope.spawn({
            let ours = &ours;
            move || ours.run(&endless, &options)
        });
        running.recv().unwrap();
        let options = RunOptions { on_overload: OnOverload::Refuse, ..RunOptions::default() };
        let refused = theirs.run(&RunTool::new("one", Params::default()), &options).map(drop);
        cancel.cancel();
        assert_eq!(refused.unwrap_err().code(), "busy");
        assert_eq!(run.join().unwrap().unwrap().value().unwrap_err().code(), "cancelled");
    });
    assert_eq!(run(&theirs, "one").unwrap(), "1");
}
