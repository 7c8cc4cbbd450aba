mod changed;
mod replayed;

use std::time::Duration;

use serde_json::{Value, json};
use toolcell_host::{
    Budget, CallContext, Completion, Effects, Grant, HostCall, HostCallDriver, HostCalls, Json, OperationError,
    OperationOutput, Params, Remaining, WaitResult, WallClock,
};
use toolcell_tool::{Draft, ToolName, ToolSpec};

use super::signature::ReceiptSigner;
use super::*;
use crate::admission::{CallAuthorization, Permit};
use crate::execution::{Runtime, SandboxConfig};
use crate::vet::vet;

/// Creates a sandbox for one call.
fn runtime() -> Runtime {
    Runtime::new(&SandboxConfig { slots: 1, ..SandboxConfig::default() }).unwrap()
}

/// Returns the receipt of a run of this source.
fn receipt(runtime: &Runtime, source: &str, run: &CallContext<'_>) -> Receipt {
    receipt_within(runtime, source, run, 64 << 20)
}

/// The same with a size limit for the trace in bytes.
fn receipt_within(runtime: &Runtime, source: &str, run: &CallContext<'_>, room: usize) -> Receipt {
    let name = ToolName::parse("tool").unwrap();
    let draft = Draft::from_bytes("tool", source.as_bytes()).unwrap();
    let tool = vet(ToolSpec::new(name.clone(), &draft, json!({ "n": { "type": "number" } }), Value::Null).unwrap());
    let tool = tool.unwrap();
    let recording = ReceiptRecording::with_limit(room, run.host_calls, ReceiptSigner::from_seed(&[7; 32]));
    let args = runtime.any_schema().check(Params::parse(r#"{"n": 3}"#).unwrap()).unwrap();
    let permit = Permit::for_test(args, Budget::default());
    let run = CallContext { host_calls: recording.operations(), call_id: "call_1", ..*run };
    let authorized = (CallAuthorization::Admitted(&permit), &run);
    let report = Runtime::execute_uncached(runtime, "tool", tool.script(), authorized, authorized).unwrap();
    recording.finish(runtime.image(), &name, &tool, &permit, (&run, &report));
    *recording.into_receipt().unwrap()
}

/// Returns the receipt with a change, signed again: the receipt of a tool that behaves differently.
fn with(receipt: &Receipt, change: impl FnOnce(&mut ReceiptContents)) -> Receipt {
    let mut run = receipt.document.run.clone();
    change(&mut run);
    Receipt::sign(run, &ReceiptSigner::from_seed(&[7; 32]))
}

/// Completes host calls in random order: any number at once, with values, bytes, failures, time and
/// fuel.
struct Shuffled(u64);

struct ShuffledCall {
    state: u64,
    flying: Vec<HostCall>,
}

impl HostCalls for Shuffled {
    fn grants(&self) -> Vec<Grant> {
        vec![Grant::Timers, Grant::Kv]
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
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

    fn ended(&mut self) -> Completion {
        let at = self.below(self.flying.len());
        let HostCall { id, kind, payload, .. } = self.flying.swap_remove(at);
        let number = self.below(1000);
        let result = if kind == "timer" {
            Ok(Json::NULL.into())
        } else if number.is_multiple_of(5) {
            let (name, code) = ("Error".to_owned(), "kv-broken".into());
            Err(OperationError { name, message: format!("{payload} is broken"), code, effects: Effects::None })
        } else {
            let json = Json::parse(format!(r#"{{"value": [{number}, 1e400], "version": {number}}}"#)).unwrap();
            Ok(OperationOutput { json, bytes: None })
        };
        Completion { id, result }
    }
}

impl HostCallDriver for ShuffledCall {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        self.flying.extend(started);
        self.flying.retain(|operation| !cancelled.contains(&operation.id));
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        if self.flying.is_empty() {
            return WaitResult::nothing_pending();
        }
        let count = 1 + self.below(self.flying.len());
        let ended = (0..count).map(|_| self.ended()).collect();
        let took = Duration::from_nanos(u64::try_from(self.below(9_000_000)).unwrap());
        WaitResult { completions: ended, elapsed: took, fuel: u64::try_from(self.below(50_000)).unwrap() }
    }
}

/// Eight concurrent calls, and their order of completion.
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

/// A clock that advances by two milliseconds at each reading.
fn ticking() -> WallClock {
    let looks = std::sync::atomic::AtomicU64::new(1_700_000_000_000);
    std::sync::Arc::new(move || Duration::from_millis(looks.fetch_add(2, std::sync::atomic::Ordering::Relaxed)))
}
