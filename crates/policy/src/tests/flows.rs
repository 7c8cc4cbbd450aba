//! Rules about flows of data.

use std::path::Path;

use toolcell_flows::{FlowAction, Label, Sink, Target};

use crate::{Layer, Policy, PolicyFile};

fn parse(layer: Layer, text: &str) -> Result<PolicyFile, String> {
    PolicyFile::parse(layer, text, Path::new("toolcell.toml")).map_err(|error| error.to_string())
}

fn decide(policy: &Policy, from: &str, host: &str) -> Option<FlowAction> {
    let sink = Sink { target: Target::Web(host.to_owned()), writes: false };
    policy.flows().rules().decide(&Label::parse([from]), None, &sink).map(|decision| decision.action)
}

#[test]
fn rules_of_all_files_count() {
    let user = "[[flows]]\nfrom = [\"files:private\"]\nto = [\"web:*\"]\n\
                except = [{ from = \"files:private\", to = \"web:archive.example.com\" }]\ndo = \"ask\"";
    let project = "[[flows]]\nfrom = [\"*\"]\nto = [\"web:*.example.org\"]\ndo = \"deny\"";
    let files = [parse(Layer::Project, project).unwrap(), parse(Layer::User, user).unwrap()];
    let policy = Policy::from_layers(files).unwrap();
    assert_eq!(decide(&policy, "files:private", "a.example.com"), Some(FlowAction::Ask));
    assert_eq!(decide(&policy, "files:private", "archive.example.com"), None);
    assert_eq!(decide(&policy, "caller", "a.example.com"), None);
    assert_eq!(decide(&policy, "caller", "a.example.org"), Some(FlowAction::Deny));
    assert_eq!(policy.flows().origin(0).to_string(), "user toolcell.toml:5");
    assert_eq!(policy.flows().origin(1).to_string(), "project toolcell.toml:4");
    let shown: Vec<String> =
        policy.settings().into_iter().map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
    let first = "flows[0] = { from = [\"files:private\"], to = [\"web:*\"], \
                 except = [{ from = \"files:private\", to = \"web:archive.example.com\" }], do = \"ask\" }";
    assert!(shown.iter().any(|line| line == first), "{shown:#?}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, expected) in [
        ("[[flows]]\nfrom = [\"mail\"]\nto = [\"web:*\"]\ndo = \"ask\"", "2:9: `mail` is not a source: write "),
        (
            "[[flows]]\nfrom = [\"kv:*\"]\nto = [\"caller\"]\ndo = \"ask\"",
            "3:7: the caller and secrets are sources: nothing goes there",
        ),
        ("[[flows]]\nfrom = [\"kv:a b\"]\nto = [\"*\"]\ndo = \"ask\"", "2:9: `a b` is not a valid space name"),
        ("[[flows]]\nfrom = [\"web:*.com\"]\nto = [\"*\"]\ndo = \"ask\"", "2:9: "),
        ("[[flows]]\nfrom = [\"*\"]\nto = [\"*\"]\ndo = \"allow\"", "4:6: "),
        ("[[flows]]\nfrom = [\"*\"]\nto = [\"*\"]", "`do`"),
        ("[[flows]]\nfrom = []\nto = [\"*\"]\ndo = \"ask\"", "2:8: "),
        (
            "[[flows]]\nfrom = [\"*\"]\nto = [\"*\"]\nexcept = [{ from = \"x\", to = \"*\" }]\ndo = \"ask\"",
            "4:20: `x` is not a source",
        ),
        ("[[declassify]]\ntool = \"a b\"\nfrom = [\"*\"]\nbits = 1", "2:8: not a tool name or identifier"),
        ("[[declassify]]\ntool = \"a\"\nfrom = [\"*\"]\nbits = 0", "4:8: "),
    ] {
        let error = parse(Layer::User, text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let declassifies = "[[declassify]]\ntool = \"a\"\nfrom = [\"*\"]\nbits = 1";
    assert!(parse(Layer::User, declassifies).is_ok());
    let error = parse(Layer::Project, declassifies).unwrap_err();
    assert!(error.contains("2:8: only the user's file declassifies: a project's file can only narrow"), "{error}");
    let many = "[[flows]]\nfrom = [\"*\"]\nto = [\"*\"]\ndo = \"ask\"\n".repeat(257);
    assert!(parse(Layer::User, &many).unwrap_err().contains("there are 257 rules about flows, the limit is 256"));
}
