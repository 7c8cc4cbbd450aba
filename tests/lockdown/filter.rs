//! Filters of system calls: from a profile, one against executable pages, and one against threads.
//!
//! Invariant: a rule of a profile that is not understood is no rule: the launcher ends.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, TargetArch, compile_from_json};
use serde_json::{Value, json};

/// `EACCES`, as kernels answer that take away executable pages.
const NOT_ALLOWED: u32 = 13;

/// The filters that a profile means. One filter has one answer, so each answer of the profile has a filter of its own;
/// the strictest answer of all filters counts. The last of them allows no further ones.
pub(crate) fn of_profile(profile: &Value) -> Vec<BpfProgram> {
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO", "what is not named is refused");
    let mut passed = Rules::default();
    let mut refused: BTreeMap<u32, Rules> = BTreeMap::new();
    for rule in profile["syscalls"].as_array().unwrap() {
        let action = rule["action"].as_str().unwrap();
        for name in rule["names"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            match action {
                "SCMP_ACT_ALLOW" => passed.add(name, rule),
                // It passes the filter of what is allowed, and is refused by the one with its answer.
                "SCMP_ACT_ERRNO" => {
                    passed.add(name, &Value::Null);
                    refused.entry(number(&rule["errnoRet"])).or_default().add(name, rule);
                }
                other => panic!("the action {other} of {name} is not known"),
            }
        }
    }
    let default = number(&profile["defaultErrnoRet"]);
    let refused = refused.iter().map(|(errno, rules)| rules.compiled(&json!("allow"), &json!({ "errno": errno })));
    refused.chain([passed.compiled(&json!({ "errno": default }), &json!("allow"))]).collect()
}

/// No page that was written becomes executable, and no page is made executable out of nothing. Pages of files may be
/// mapped as they are: that is how a program is loaded.
pub(crate) fn no_executable_pages() -> BpfProgram {
    let set =
        |index: u8, mask: u32| json!({ "index": index, "type": "dword", "op": { "masked_eq": mask }, "val": mask });
    let (executable, anonymous) = (4, 0x20);
    let rules = json!([
        { "syscall": "mmap", "args": [set(2, executable), set(3, anonymous)] },
        { "syscall": "mprotect", "args": [set(2, executable)] },
        { "syscall": "pkey_mprotect", "args": [set(2, executable)] },
    ]);
    compile(&rules, &json!("allow"), &json!({ "errno": NOT_ALLOWED })).expect("the filter is well formed")
}

/// No thread is started, as where the limit of processes is reached (`ulimit -u`, `pids.max`). Processes are.
pub(crate) fn no_threads() -> [BpfProgram; 2] {
    let (thread, none_left, unknown) = (nix::libc::CLONE_THREAD, nix::libc::EAGAIN, nix::libc::ENOSYS);
    let of_clone = json!({ "index": 0, "type": "dword", "op": { "masked_eq": thread }, "val": thread });
    let clone = json!([{ "syscall": "clone", "args": [of_clone] }]);
    // No filter can see what clone3 is asked for. Where it is said not to exist, C libraries use clone.
    [(clone, none_left), (json!([{ "syscall": "clone3" }]), unknown)].map(|(rules, errno)| {
        compile(&rules, &json!("allow"), &json!({ "errno": errno })).expect("the filter is well formed")
    })
}

/// Which calls a filter is about: with none but these arguments, or, where there are none, with any.
#[derive(Default)]
struct Rules(BTreeMap<String, Vec<Value>>);

impl Rules {
    fn add(&mut self, name: &str, rule: &Value) {
        self.0.entry(name.to_owned()).or_default().push(conditions(&rule["args"]));
    }

    fn compiled(&self, mismatch: &Value, matched: &Value) -> BpfProgram {
        let rules: Vec<Value> = self.0.iter().filter(|(name, _)| is_known(name)).flat_map(of_call).collect();
        compile(&json!(rules), mismatch, matched).unwrap()
    }
}

/// The rules of one call. One without conditions makes the others pointless.
fn of_call((name, all): (&String, &Vec<Value>)) -> Vec<Value> {
    if all.iter().any(Value::is_null) {
        return vec![json!({ "syscall": name })];
    }
    all.iter().map(|args| json!({ "syscall": name, "args": args })).collect()
}

/// Conditions in the form of the compiler.
fn conditions(args: &Value) -> Value {
    let Some(args) = args.as_array() else { return Value::Null };
    let converted = args.iter().map(|arg| {
        let (op, value) = match arg["op"].as_str().unwrap() {
            "SCMP_CMP_EQ" => (json!("eq"), &arg["value"]),
            "SCMP_CMP_MASKED_EQ" => (json!({ "masked_eq": arg["value"] }), &arg["valueTwo"]),
            other => panic!("the comparison {other} is not known"),
        };
        // Requests and options are integers of 32 bits; what is above them is not looked at by the kernel either.
        json!({ "index": arg["index"], "type": "dword", "op": op, "val": value })
    });
    converted.collect()
}

/// Whether this architecture has a call of this name. Where it has none, there is nothing to allow.
fn is_known(name: &str) -> bool {
    compile(&json!([{ "syscall": name }]), &json!("allow"), &json!("trap")).is_some()
}

fn compile(rules: &Value, mismatch: &Value, matched: &Value) -> Option<BpfProgram> {
    let filter = json!({ "only": { "mismatch_action": mismatch, "match_action": matched, "filter": rules } });
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    compile_from_json(filter.to_string().as_bytes(), arch).ok()?.remove("only")
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}
