//! Costs of following flows of data: a decision about an operation, and a run with and without rules.

use std::sync::Arc;

use serde_json::json;
use toolcell::flows::{
    FlowAction, FlowException, FlowRule, FlowRules, Label, Sink, SinkPattern, Source, SourcePattern, Target as Place,
};
use toolcell::policy::Layer;
use toolcell::store::{Durability, Settings, Store};
use toolcell::{
    CreateTool, FlowContext, HostFunction, HostFunctions, Policy, PolicyFile, RunOptions, RunTool, Toolbox,
    ToolboxConfig, read_request,
};

use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// The number of operations of a run.
const OPERATIONS: usize = 100;
/// A tool that calls a function of the host again and again.
const CODE: &str = "const execute = async () => { for (let i = 0; i < 100; i++) await tools.call('look', {}) }";
const GRANTS: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntools = \"any\"\n";

pub(crate) fn measure(table: &mut Table) {
    table.section("flows of data");
    let rules = FlowRules::new((0..10).map(rule).collect());
    let sources = (0..8).map(|number| format!("server:s{number}.read"));
    let label = Label::parse(sources.collect::<Vec<_>>().iter().map(String::as_str));
    let sink = Sink { target: Place::Web("api.example.com".to_owned()), writes: true };
    let mut decided = Series::default();
    decided.time(20_000, || rules.decide(&label, None, &sink));
    let row = Row::new("decide about an operation, 10 rules, 8 sources, median", decided.median());
    table.row(row.target(Target::AtMost(Figure::Time(1e-6))));
    let mut joined = Series::default();
    joined.time(20_000, || label.clone().join(&Label::from(Source::Caller)));
    table.row(Row::new("  add a source to a label", joined.median()));
    runs(table);
}

fn rule(number: usize) -> FlowRule {
    let from = |text: &str| SourcePattern::parse(text).unwrap();
    let to = |text: &str| SinkPattern::parse(text).unwrap();
    FlowRule {
        from: vec![from(&format!("server:other{number}")), from("files:private")],
        to: vec![to("web:*"), to("server:*")],
        except: vec![FlowException { from: from("server:github"), to: to("server:github") }],
        action: FlowAction::Ask,
    }
}

/// Compares runs of the same tool under the same policy, without rules and with them, in turns.
fn runs(table: &mut Table) {
    let rules = "[[flows]]\nfrom = [\"files:*\", \"kv:*\"]\nto = [\"tool:post\", \"web:*\"]\ndo = \"ask\"\n";
    let plain = Toolboxed::new("");
    let ruled = Toolboxed::new(rules);
    let (mut without, mut with) = (Series::default(), Series::default());
    for _ in 0..300 {
        without.time(1, || plain.run());
        with.time(1, || ruled.run());
    }
    let name = format!("a run of {OPERATIONS} operations, without rules; with them, median");
    table.row(Row::new(name, with.median()).beside(without.median()));
}

struct Toolboxed {
    toolbox: Toolbox,
    request: RunTool,
    options: RunOptions,
    _folder: tempfile::TempDir,
}

impl Toolboxed {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let settings = Settings { durability: Durability::Unsynced, tool_limit: None, ..Settings::default() };
        let file = PolicyFile::parse(Layer::User, &format!("{GRANTS}{rules}"), "toolcell.toml".as_ref()).unwrap();
        let look = HostFunction::new("look", &json!({}), &json!({}), |_| Ok(json!(1))).unwrap().inline().read_only();
        let functions = HostFunctions::default().with(look).unwrap();
        let policy = Policy::from_layers([file]).unwrap();
        let config = ToolboxConfig { policy, functions, ..ToolboxConfig::default() };
        let toolbox = Toolbox::with_store(Store::open(folder.path(), &settings).unwrap(), config).unwrap();
        let fields = json!({ "name": "looks", "description": "Looks", "code": CODE, "capabilities": ["tools"] });
        let request: CreateTool = read_request(&fields.to_string()).unwrap();
        drop(toolbox.create(&request).unwrap());
        let request = read_request(r#"{ "tool_name": "looks", "parameters": {} }"#).unwrap();
        let options = RunOptions { context: FlowContext::parse([]), ..RunOptions::default() };
        Self { toolbox, request, options, _folder: folder }
    }

    fn run(&self) {
        let ran = Arc::new(self.toolbox.run(&self.request, &self.options).unwrap());
        assert!(ran.value().is_ok());
    }
}
