//! Equal outcomes inside and outside of the jail.

use std::time::Duration;

use serde_json::{Value, json};
use toolcell_host::{ImageKind, Outcome, Params, Report, Stop};

use super::jail_with;
use crate::fixtures::sandbox::{SandboxFixture, files, read};
use crate::hostile::HostileFixture;
use crate::operations::ToolboxFixture;
use crate::operations::loopback::LoopbackServer;

/// Returns everything that must be equal: the report without its duration.
pub(super) fn facts(mut report: Report) -> Report {
    (report.usage.duration, report.usage.waited) = (Duration::ZERO, Duration::ZERO);
    report
}

#[test]
fn every_good_tool_comes_to_the_same_on_every_image() {
    let tools = files("fixtures/tools", "js");
    for path in &tools {
        let case: Value = serde_json::from_str(&read(path.with_extension("expected.json"))).unwrap();
        let params = case["params"].to_string();
        let sandbox = || SandboxFixture::new().file(path).seed(7).started_at(1_700_000_000_000);
        let here = facts(sandbox().run_text(&params));
        for kind in ImageKind::ALL {
            assert_eq!(facts(sandbox().run_in(jail_with(kind), &params)), here, "{} on {kind:?}", path.display());
        }
    }
    assert!(tools.len() >= 25, "{}", tools.len());
}

#[test]
fn every_attack_meets_the_same_fate() {
    let attacks = files("fixtures/hostile", "js");
    for path in &attacks {
        let HostileFixture { sandbox, params, .. } = HostileFixture::read(path);
        if Params::parse(&*params).is_err() {
            continue;
        }
        let (here, there) = (sandbox.run_text(&params), sandbox.run_in(jail_with(ImageKind::Roomy), &params));
        match &here.outcome {
            // The progress up to the deadline depends on timing.
            Outcome::Stopped(Stop::Deadline { .. }) => assert_eq!(there.outcome, here.outcome, "{}", path.display()),
            _ => assert_eq!(facts(there), facts(here), "{}", path.display()),
        }
    }
    assert!(attacks.len() >= 80, "{}", attacks.len());
    super::works(jail_with(ImageKind::Roomy));
}

const RULES: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\nclock = true\ntools = [\"inner\"]\n\
    [grants.default.kv]\nspace = \"notes\"\n";

/// A tool that makes one host call of each kind.
const DOES: &str = "const execute = async ({ url }) => { \
    const [answer, inner] = await Promise.all([fetch(url).then((answer) => answer.json()), tools.call('inner', { n: 3 })]); \
    await kv.set('a', inner); \
    await new Promise((done) => setTimeout(done, 5)); \
    return [answer, await kv.get('a'), Date.now(), Math.random()] }";

#[test]
fn what_is_granted_is_done_by_the_host() {
    let run = |jailed: bool| {
        let server = LoopbackServer::with_handler(|arrived| ("200 OK", json!({ "asked": arrived.line }).to_string()));
        let host = ToolboxFixture::with_policy(&format!("{RULES}{}", server.grant_for("does", "")));
        let host = if jailed { host.in_jail() } else { host };
        let make = |name: &str, code: &str, asks: &Value| {
            let fields = json!({ "name": name, "description": "a tool", "code": code, "capabilities": asks });
            host.create(&fields).unwrap();
        };
        make("inner", "const execute = async ({ n }) => { await kv.set('n', n); return 2 * n }", &json!(["kv"]));
        make("does", DOES, &json!(["net", "timers", "clock", "kv", "tools"]));
        let ran = host.run("does", &json!({ "url": server.url("/x") })).unwrap();
        let records: Vec<_> = host.audit_lines().iter().filter_map(|line| host.record(line)).collect();
        let done: Vec<_> =
            records.iter().flat_map(|record| record.done.iter().flat_map(|done| &done.effects)).collect();
        let kinds: Vec<String> = done.iter().map(|effect| format!("{} {:?}", effect.kind, effect.effects)).collect();
        (crate::operations::returned_value(&ran), ran.report.readings.len(), kinds)
    };
    let (here, there) = (run(false), run(true));
    let shown = |(value, readings, kinds): &(Value, usize, Vec<String>)| {
        let mut value = value.clone();
        // The seed is random for each run, and the port is the server's.
        value[3] = Value::Null;
        (value, *readings, kinds.clone())
    };
    assert_eq!(shown(&here), shown(&there));
    assert_eq!((&there.0[0], &there.0[1]), (&json!({ "asked": "GET /x" }), &json!(6)));
    assert!(there.2.len() >= 3, "{:?}", there.2);
}
