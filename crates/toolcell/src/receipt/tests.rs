mod changed;
mod replayed;

use std::time::Duration;

use serde_json::{Value, json};
use toolcell_host::{
    Budget, Effects, Ended, Grant, Json, Left, Operation, OperationAnswer, OperationFailure, Operations,
    OperationsOfCall, Params, RealClock, Run, Waited,
};
use toolcell_tool::{Draft, ToolName, ToolSpec};

use super::seal::Signer;
use super::*;
use crate::cells::SandboxConfig;
use crate::permit::Permit;
use crate::toolbox::Toolbox;
use crate::vet::vet;

/// A sandbox for one call.
fn toolbox() -> Toolbox {
    Toolbox::new(&SandboxConfig { slots: 1, ..SandboxConfig::default() }).unwrap()
}

/// The receipt of a run of this source.
fn receipt(toolbox: &Toolbox, source: &str, run: &Run<'_>) -> Receipt {
    receipt_within(toolbox, source, run, 64 << 20)
}

/// The same with so much room for the journal, in bytes.
fn receipt_within(toolbox: &Toolbox, source: &str, run: &Run<'_>, room: usize) -> Receipt {
    let name = ToolName::parse("tool").unwrap();
    let draft = Draft::from_bytes("tool", source.as_bytes()).unwrap();
    let tool = vet(ToolSpec::new(name.clone(), &draft, json!({ "n": { "type": "number" } }), Value::Null).unwrap());
    let tool = tool.unwrap();
    let recording = Recording::within(room, run.operations, Signer::from_seed(&[7; 32]));
    let args = toolbox.anything.check(Params::parse(r#"{"n": 3}"#).unwrap()).unwrap();
    let permit = Permit::to_replay(args, Budget::default());
    let run = Run { operations: recording.operations(), call_id: "call_1", ..*run };
    let report = Toolbox::enter_again(toolbox, "tool", tool.script(), (&permit, &run), (&permit, &run)).unwrap();
    recording.ended(toolbox, &name, &tool, &permit, (&run, &report));
    *recording.into_receipt().unwrap()
}

/// The same receipt with something else in it, signed anew: what a tool that does otherwise would have.
fn with(receipt: &Receipt, change: impl FnOnce(&mut Contents)) -> Receipt {
    let mut run = receipt.form.run.clone();
    change(&mut run);
    Receipt::signed(run, &Signer::from_seed(&[7; 32]))
}

/// Ends what is asked for in an order of chance: any number at once, with values, bytes, failures, time and fuel.
struct Shuffled(u64);

struct ShuffledCall {
    state: u64,
    flying: Vec<Operation>,
}

impl Operations for Shuffled {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers, Grant::Kv]
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(ShuffledCall { state: self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, flying: Vec::new() })
    }
}

impl ShuffledCall {
    /// A number below `most` (Marsaglia's xorshift).
    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % u64::try_from(most).unwrap()).unwrap()
    }

    fn ended(&mut self) -> Ended {
        let at = self.below(self.flying.len());
        let Operation { id, kind, payload, .. } = self.flying.swap_remove(at);
        let number = self.below(1000);
        let result = if kind == "timer" {
            Ok(Json::NULL.into())
        } else if number.is_multiple_of(5) {
            let (name, code) = ("Error".to_owned(), "kv-broken".into());
            Err(OperationFailure { name, message: format!("{payload} is broken"), code, effects: Effects::None })
        } else {
            let json = Json::parse(format!(r#"{{"value": [{number}, 1e400], "version": {number}}}"#)).unwrap();
            Ok(OperationAnswer { json, bytes: None })
        };
        Ended { id, result }
    }
}

impl OperationsOfCall for ShuffledCall {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        self.flying.extend(started);
        self.flying.retain(|operation| !cancelled.contains(&operation.id));
    }

    fn wait(&mut self, _: &Left<'_>) -> Waited {
        if self.flying.is_empty() {
            return Waited::in_vain();
        }
        let count = 1 + self.below(self.flying.len());
        let ended = (0..count).map(|_| self.ended()).collect();
        let took = Duration::from_nanos(u64::try_from(self.below(9_000_000)).unwrap());
        Waited { ended, took, fuel: u64::try_from(self.below(50_000)).unwrap() }
    }
}

/// Eight things at once, and what came first.
const PARALLEL: &str = "async function execute() {
  const order = [];
  const one = async (key) => {
    try { const value = await kv.get(key); order.push(key); return value; }
    catch (error) { order.push(error.code); await new Promise((done) => setTimeout(done, 5)); return error.message; }
  };
  const never = setTimeout(() => order.push('never'), 50);
  const all = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(one));
  clearTimeout(never);
  console.log(order.join(' '));
  return { all, order, at: Date.now(), chance: Math.random() };
}";

/// A clock that goes on by two milliseconds each time that somebody looks.
fn ticking() -> RealClock {
    let looks = std::sync::atomic::AtomicU64::new(1_700_000_000_000);
    std::sync::Arc::new(move || Duration::from_millis(looks.fetch_add(2, std::sync::atomic::Ordering::Relaxed)))
}
