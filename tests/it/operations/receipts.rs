//! Receipts: runs are replayed from the receipt alone.

use serde_json::{Value, json};
use toolcell::policy::LimitOverrides;
use toolcell::{
    HookVerdict, ImageKind, Receipt, ReplayOptions, ReplayResult, RunOptions, RunResult, SandboxConfig, Toolbox,
    ToolboxConfig,
};

use super::loopback::LoopbackServer;
use super::{AUTO, ToolboxFixture, returned_value};

/// A policy that grants timers, the clock and random numbers.
const REAL: &str = "[approval]\nmode = \"auto\"\n[grants.default]\ntimers = true\nclock = true\nrandom = true";

/// A tool that depends on all of these and on its parameters.
const DICE: &str = "const execute = async ({ sides }) => {
  const began = Date.now();
  const rolls = await Promise.all([5, 1, 3].map(async (ms) => {
    await new Promise((done) => setTimeout(done, ms));
    return [ms, 1 + Math.floor(Math.random() * sides)];
  }));
  console.log('rolled', rolls.length);
  return { rolls, took: Date.now() - began, at: new Date().toISOString() };
};";

fn dice(policy: &str) -> ToolboxFixture {
    let host = ToolboxFixture::with_policy(policy);
    let asked = json!(["timers", "clock", "random"]);
    let parameters = json!({ "sides": { "type": "number", "description": "of each", "default": 6 } });
    let fields = json!({ "name": "dice", "description": "Rolls dice", "code": DICE, "capabilities": asked, "parameters": parameters });
    host.create(&fields).unwrap();
    host
}

/// Runs a tool with a receipt.
fn ran(host: &ToolboxFixture, tool: &str, parameters: &Value) -> (RunResult, Receipt) {
    let options = RunOptions { receipt: true, ..RunOptions::default() };
    let ran = host.run_with(&json!({ "tool_name": tool, "parameters": parameters }), &options).unwrap();
    let receipt = *ran.receipt.clone().unwrap();
    (ran, receipt)
}

/// Replays a receipt's text without a store, on these images.
fn replayed_on(images: &[ImageKind], receipt: &Receipt) -> ReplayResult {
    let toolbox = Toolbox::new(&SandboxConfig { images: images.to_vec(), slots: 1, jail: None }).unwrap();
    let receipt = Receipt::parse(&receipt.to_text()).unwrap();
    toolbox.replay(&receipt, &ReplayOptions::default()).unwrap()
}

#[test]
fn a_run_that_saw_the_real_world_is_done_again_without_it() {
    let host = dice(REAL);
    let mut rolls = Vec::new();
    for sides in [6, 1_000_000] {
        let (ran, receipt) = ran(&host, "dice", &json!({ "sides": sides }));
        assert_eq!(receipt.tool(), ran.tool);
        for image in ImageKind::ALL {
            let replayed = replayed_on(&[image], &receipt);
            assert_eq!((replayed.differences.as_slice(), replayed.notes.as_slice()), (&[][..], &[][..]), "{image:?}");
            assert_eq!(replayed.outcome, ran.report.outcome);
            let (fuel, load_fuel) = (ran.report.usage.fuel, ran.report.usage.load_fuel);
            assert_eq!((replayed.fuel, replayed.load_fuel), (fuel, load_fuel));
        }
        rolls.push(returned_value(&ran)["rolls"].clone());
    }
    assert_ne!(rolls[0], rolls[1]);
    // It is one run of the store, with the same record as without a receipt.
    let lines = host.audit_lines();
    let runs = lines.iter().filter(|line| line.details.contains_key("run"));
    assert_eq!(runs.map(|line| host.record(line).unwrap().outcome).collect::<Vec<_>>(), ["returned", "returned"]);
}

#[test]
fn a_run_has_a_receipt_where_one_is_asked_for() {
    let host = dice(REAL);
    let without = host.run("dice", &json!({})).unwrap();
    assert_eq!(without.receipt, None);
    let (_, receipt) = ran(&host, "dice", &json!({}));
    assert_eq!(Some(receipt.signer()), host.toolbox().receipt_key().unwrap().as_ref());
    // The store's signing key is stable.
    assert_eq!(host.second_toolbox().receipt_key().unwrap().as_ref(), Some(receipt.signer()));
    assert_ne!(ToolboxFixture::new().toolbox().receipt_key().unwrap().as_ref(), Some(receipt.signer()));
}

#[test]
fn without_a_store_there_is_no_key_to_sign_with() {
    let toolbox = Toolbox::without_store(ToolboxConfig::default()).unwrap();
    assert_eq!(toolbox.receipt_key().unwrap(), None);
    let request = super::request(&json!({ "tool_name": "dice", "parameters": {} }));
    let error = toolbox.run(&request, &RunOptions { receipt: true, ..RunOptions::default() }).unwrap_err();
    assert_eq!(error.code(), "receipt-no-key");
    assert_eq!(error.to_string(), "a receipt is signed with the key of a store, and this toolbox has no store");
}

#[test]
fn the_receipt_is_of_what_ran_and_not_of_what_was_typed_or_shown() {
    // A hook replaces the parameters.
    let host = ToolboxFixture::with_hook(|_| HookVerdict::allow().with_args(json!({ "n": 21 })));
    host.create_echo(&json!({ "n": { "type": "number", "description": "a number" } }));
    let (changed, receipt) = ran(&host, "echo", &json!({ "n": 1 }));
    assert_eq!(returned_value(&changed), json!({ "n": 21 }));
    let replayed = replayed_on(&ImageKind::ALL, &receipt);
    assert_eq!((replayed.is_reproduced(), replayed.outcome), (true, changed.report.outcome));

    // An error that names a policy line differs where there is no policy.
    let host = ToolboxFixture::with_policy(AUTO);
    host.tool("waits", "const execute = () => { setTimeout(() => {}, 1) }");
    let (result, receipt) = ran(&host, "waits", &json!({}));
    assert!(result.value().unwrap_err().to_string().contains("in the policy would grant it"));
    let replayed = replayed_on(&ImageKind::ALL, &receipt);
    assert!(replayed.is_reproduced(), "{:?}", replayed.differences);
}

#[test]
fn a_tool_that_was_evaluated_before_and_one_that_was_not_have_receipts_that_agree() {
    let host = ToolboxFixture::with_policy(AUTO);
    // Compiled TypeScript, with mapped positions.
    host.tool(
        "typed",
        "enum Unit { Metre = 'm' }\nexport function execute(): string {\n  throw new Error(Unit.Metre);\n}",
    );
    let text = |receipt: &Receipt| {
        let mut json: Value = serde_json::from_str(&receipt.to_text()).unwrap();
        json["run"]["callId"] = json!("");
        json["run"]["outcome"].take();
        json["digests"].take();
        json["signature"].take();
        json
    };
    let (first, then) = (ran(&host, "typed", &json!({})).1, ran(&host, "typed", &json!({})).1);
    assert_eq!(text(&first), text(&then));
    for receipt in [first, then] {
        assert!(receipt.to_text().contains("\"line\": 3"), "{}", receipt.to_text());
        assert_eq!(replayed_on(&ImageKind::ALL, &receipt).differences, []);
    }
}

#[test]
fn a_call_within_smaller_limits_than_its_tool_was_evaluated_in_is_done_again() {
    let large = "const big = new Uint8Array(20 << 20).fill(1); const execute = () => big.length";
    let slow = "let sum = 0; for (let i = 0; i < 10_000; i++) sum += i; const execute = () => sum";
    let (less_memory, less_fuel) = (
        LimitOverrides { memory_mb: Some(16), ..LimitOverrides::default() },
        LimitOverrides { fuel: Some(20_000), ..LimitOverrides::default() },
    );
    for (source, limits, stop) in [(large, less_memory, "out-of-memory"), (slow, less_fuel, "out-of-fuel")] {
        for is_evaluated_before in [false, true] {
            let host = ToolboxFixture::with_policy(AUTO);
            host.tool("tool", source);
            if is_evaluated_before {
                assert!(ran(&host, "tool", &json!({})).0.value().is_ok());
            }
            let options = RunOptions { receipt: true, limits, ..RunOptions::default() };
            let ran = host.run_with(&json!({ "tool_name": "tool", "parameters": {} }), &options).unwrap();
            assert_eq!(ran.value().unwrap_err().code(), stop);
            let replayed = replayed_on(&ImageKind::ALL, &ran.receipt.unwrap());
            assert_eq!(replayed.differences, [], "{source} {is_evaluated_before}");
        }
    }
}

#[test]
fn what_was_done_outside_is_done_again_without_the_outside_and_without_its_secrets() {
    const VALUE: &str = "s3cr3t-0123456789-value";
    let server = LoopbackServer::with_handler(|arrived| match arrived.line.as_str() {
        "GET /gone" => ("404 Not Found", String::new()),
        _ => ("200 OK", json!({ "line": arrived.line, "head": arrived.head, "body": arrived.body }).to_string()),
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let policy = server.grant_for("all", "")
        + "[[grants.tools.all.secrets]]\nname = \"TOKEN\"\nhosts = [\"127.0.0.1\"]\n"
        + &format!("[[grants.tools.all.files]]\nname = \"work\"\npath = \"{path}\"\naccess = \"write\"\n")
        + "[grants.tools.all.kv]\nspace = \"notes\"\n[grants.tools.all]\ntimers = true\ntools = [\"mean\"]\n";
    let mut host = ToolboxFixture::with_policy(&format!("{AUTO}\n{policy}"));
    host.set_secret("TOKEN", VALUE);
    host.tool("mean", "const execute = ({ of }) => of.reduce((a, b) => a + b) / of.length");
    let code = "const execute = async ({ url }) => {
      const headers = { Authorization: 'Bearer ' + secret('TOKEN') };
      const fetched = [0, 1, 2].map(async (n) => (await fetch(url + n, { method: 'POST', headers, body: 'n' + n })).json());
      const failed = ['x', 'missing'].map((name) => files.readText('work/' + name).catch((error) => [error.code, error.effects]));
      const late = sleep(3).then(() => 'late');
      const mean = tools.call('mean', { of: [1, 2, 6] });
      const first = await Promise.race([late, ...fetched, kv.get('k')]);
      const gone = (await fetch(url + 'gone')).status;
      await files.write('work/x', JSON.stringify(first ?? null));
      const all = await Promise.all([...fetched, ...failed, late, mean, kv.update('k', (n = 0) => n + 1), files.readText('work/x')]);
      console.log(all.length, gone);
      return [first, gone, all];
    }";
    let asked = json!(["net", "secrets", "files", "kv", "timers", "tools"]);
    host.create(&json!({ "name": "all", "description": "a tool", "code": code, "capabilities": asked })).unwrap();
    let runs: Vec<(RunResult, Receipt)> =
        (0..5).map(|_| ran(&host, "all", &json!({ "url": server.url("/") }))).collect();
    let arrived = server.requests();
    // The requests run concurrently, so the one without a secret may be the first.
    for posted in arrived.iter().filter(|arrived| arrived.line.starts_with("POST")) {
        assert_eq!(posted.header("authorization"), Some(&*format!("Bearer {VALUE}")), "{}", posted.line);
    }
    let requests = arrived.len();
    drop((server, folder, host));
    for (ran, receipt) in runs {
        assert_eq!(returned_value(&ran)[1], json!(404), "{:?}", ran.report.outcome);
        let text = receipt.to_text();
        assert!(text.contains("Bearer {{secret:TOKEN}}") && !text.contains(VALUE), "{text}");
        let replayed = replayed_on(&ImageKind::ALL, &receipt);
        assert_eq!(replayed.differences, []);
        assert_eq!((replayed.outcome, replayed.fuel), (ran.report.outcome, ran.report.usage.fuel));
    }
    assert_eq!(requests, 20);
}
