//! What a build without a feature refuses, and what it does all the same: run with and without the default features.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

use serde_json::json;
use toolcell::policy::{Layer, PolicyFile};
use toolcell::{
    Budget, CallContext, CreateTool, Draft, ErrorCode, ExecOptions, Grants, HostPattern, NetGrant, Outcome, Params,
    Policy, Precheck, Report, RunOptions, RunTool, SandboxConfig, Scheme, Toolbox, ToolboxConfig,
};

fn exec(options: ExecOptions) -> Result<Report, toolcell::ExecError> {
    let toolbox = Toolbox::new(&SandboxConfig::default()).unwrap();
    let draft = Draft::from_bytes("double.ts", b"const execute = ({ n }: { n: number }) => 2 * n").unwrap();
    let params = Params::parse(r#"{"n": 21}"#).unwrap();
    toolbox.exec(&draft, &params, &Budget::default(), &CallContext::default(), options)
}

fn toolbox_that_refuses_duplicates(folder: &tempfile::TempDir) -> Toolbox {
    let text = "[approval]\nmode = \"auto\"\n[store]\nduplicates = \"refuse\"";
    let rules = PolicyFile::parse(Layer::User, text, "toolcell.toml".as_ref()).unwrap();
    let policy = Policy::from_layers([rules]).unwrap();
    Toolbox::open(folder.path(), ToolboxConfig { policy, ..ToolboxConfig::default() }).unwrap()
}

fn request(name: &str, code: &str) -> CreateTool {
    CreateTool {
        name: name.to_owned(),
        description: "Doubles a number".to_owned(),
        code: code.to_owned(),
        parameters: json!({ "n": { "type": "number", "required": true } }),
        ..CreateTool::default()
    }
}

#[test]
fn tools_are_stored_and_run_in_any_build() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default()).unwrap();
    toolbox.create(&request("double", "const execute = ({ n }) => 2 * n")).unwrap();
    let request = RunTool::with_params("double", &json!({ "n": 21 })).unwrap();
    let ran = toolbox.run(&request, &RunOptions::default()).unwrap();
    assert_eq!(ran.value_as::<i64>().unwrap(), 42);
}

#[test]
fn a_build_without_network_access_refuses_runs_that_are_granted_requests() {
    let host = HostPattern::parse("api.example.com").unwrap();
    let grants = Grants { net: vec![NetGrant::new(host, Scheme::Https)], ..Grants::default() };
    let done = exec(ExecOptions { precheck: Precheck::Critical, grants, ..ExecOptions::default() });
    if cfg!(feature = "net") {
        assert!(matches!(done.unwrap().outcome, Outcome::Returned(Some(value)) if value.as_str() == "42"));
    } else {
        let error = done.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NetUnsupported);
        assert!(error.hint().to_string().contains("the feature `net`"), "{}", error.hint());
    }
}

#[test]
fn a_build_without_proofs_does_not_take_tools_under_a_policy_that_refuses_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox_that_refuses_duplicates(&folder);
    let first = toolbox.create(&request("double", "const execute = ({ n }) => 2 * n"));
    if cfg!(feature = "proof") {
        first.unwrap();
        let error = toolbox.create(&request("twice", "const execute = ({ n }) => n + n")).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ToolDuplicate);
    } else {
        let error = first.unwrap_err();
        assert_eq!(error.code(), ErrorCode::DuplicatesUnsupported);
        assert!(error.hint().to_string().contains("the feature `proof`"), "{}", error.hint());
    }
}

/// The types of a build without the feature have no value that asks for a jail.
#[test]
fn the_default_is_no_jail() {
    assert!(SandboxConfig::default().jail.is_none());
    assert!(Toolbox::new(&SandboxConfig::default()).unwrap().confinement().is_none());
}
