//! Eight concurrent calls that are decided, completed and interrupted in random order: none is made
//! twice, and none is lost.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolcell::{
    EffectApprover, EffectDecision, FunctionReply, HeldEffect, HostFunction, HostFunctions, ResumeRequest, RunOptions,
    RunOutcome,
};

use super::{KV, request, returned_value};
use crate::operations::ToolboxFixture;

const ROUNDS: u64 = 100;
const CALLS: u64 = 8;

/// A deterministic pseudorandom generator (xorshift64*, Marsaglia and Vigna).
struct TestRng(u64);

impl TestRng {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `sides`.
    fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }
}

/// Decides at random, and sometimes panics, which ends the run.
struct RandomDecisions {
    dice: Arc<Mutex<TestRng>>,
}

impl EffectApprover for RandomDecisions {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        let mut dice = self.dice.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if dice.below(12) == 0 {
            drop(dice);
            std::panic::resume_unwind(Box::new("killed"));
        }
        held.iter().map(|_| if dice.below(3) == 0 { EffectDecision::Perform } else { EffectDecision::Defer }).collect()
    }
}

#[test]
fn in_a_hundred_orders_no_call_is_made_twice_and_none_is_forgotten() {
    let mut host = ToolboxFixture::with_policy(&KV.replace("\"ask\"", "\"send\""));
    let made: Arc<Mutex<BTreeMap<(u64, u64), u32>>> = Arc::default();
    let backend = Arc::clone(&made);
    let number = json!({ "type": "number", "description": "a number", "required": true });
    let declared = json!({ "round": number, "n": number, "step": number });
    let send = HostFunction::new_deferrable("send", &declared, &json!({ "type": "number" }), move |params| {
        let [round, n, step] = ["round", "n", "step"].map(|name| params[name].as_u64().unwrap());
        *backend.lock().unwrap().entry((round, n + CALLS * step)).or_default() += 1;
        let is_later = (round * 31 + n * 7 + step).is_multiple_of(3);
        Ok(if is_later {
            FunctionReply::Deferred(format!("{n} {step}"))
        } else {
            FunctionReply::Immediate(json!(n * 10 + step))
        })
    });
    host.set_functions(HostFunctions::default().with(send.unwrap()).unwrap());
    // Each call is followed by another one, so that both kinds are pending at once.
    let code = "const execute = ({ round }) => Promise.all([...Array(8).keys()].map(async (n) => \
                [await tools.call('send', { round, n, step: 0 }), await tools.call('send', { round, n, step: 1 })]))";
    let fields = json!({ "name": "sends", "description": "a tool", "code": code, "capabilities": ["tools"] });
    host.create(&fields).unwrap();
    let expected: Vec<_> = (0..CALLS).map(|n| json!([n * 10, n * 10 + 1])).collect();
    let toolboxes = [host.second_toolbox(), host.second_toolbox()];
    let (mut ended, mut killed, mut slept) = (0, 0, 0);
    for round in 0..ROUNDS {
        let dice = Arc::new(Mutex::new(TestRng::new(round + 1)));
        let roll = |sides| dice.lock().unwrap_or_else(std::sync::PoisonError::into_inner).below(sides);
        let plan = Arc::new(RandomDecisions { dice: Arc::clone(&dice) }) as Arc<dyn EffectApprover>;
        let options = RunOptions { effect_approver: Some(plan), ..RunOptions::default() };
        let asked = request(&json!({ "tool_name": "sends", "parameters": { "round": round } }));
        let mut last = None;
        let mut state = catch_unwind(AssertUnwindSafe(|| host.toolbox().run_suspendable(&asked, &options)));
        loop {
            match state {
                Ok(Ok(RunOutcome::Finished(ran))) => {
                    assert_eq!(returned_value(&ran), json!(expected), "round {round}");
                    ended += 1;
                    break;
                }
                Ok(Ok(RunOutcome::Suspended(suspended_run))) => {
                    slept += 1;
                    let mut answers = BTreeMap::new();
                    for ticket in suspended_run.tickets.iter().filter(|_| roll(2) == 0) {
                        let (n, step) = ticket.ticket.split_once(' ').unwrap();
                        let answer = n.parse::<u64>().unwrap() * 10 + step.parse::<u64>().unwrap();
                        answers.insert(ticket.ticket.clone(), Ok(json!(answer)));
                    }
                    let wake = ResumeRequest { run: suspended_run.run.to_string(), answers };
                    let toolbox = &toolboxes[usize::from(roll(2) == 0)];
                    last = Some(suspended_run.run);
                    state = catch_unwind(AssertUnwindSafe(|| toolbox.resume(&wake, &options)));
                }
                Ok(Err(error)) => panic!("round {round}: {error}"),
                Err(_) => {
                    killed += 1;
                    if let Some(run) = last {
                        let again = host.toolbox().resume(&ResumeRequest::new(run), &options);
                        assert_eq!(again.unwrap_err().code(), "run-not-asleep", "round {round}");
                    }
                    break;
                }
            }
        }
    }
    let made = made.lock().unwrap();
    assert!(made.values().all(|times| *times == 1), "{made:?}");
    assert!(ended > 20 && killed > 20 && slept > 3 * ROUNDS, "{ended} ended, {killed} were killed, {slept} slept");
    assert_eq!(host.toolbox().suspended_runs().unwrap(), []);
}
