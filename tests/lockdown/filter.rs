//! Seccomp filters: from an OCI profile, one against executable pages, and one against threads.
//!
//! Invariant: a profile rule that is not understood makes the launcher exit.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, TargetArch, compile_from_json};
use serde_json::{Value, json};

/// `EACCES`, the error of kernels that forbid executable pages.
const NOT_ALLOWED: u32 = 13;

/// Compiles a profile. A filter has a single action, so each action of the profile becomes a
/// filter; the strictest result of all filters counts. The last filter forbids further ones.
pub(crate) fn from_profile(profile: &Value) -> Vec<BpfProgram> {
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO", "what is not named is refused");
    let mut passed = FilterRules::default();
    let mut refused: BTreeMap<u32, FilterRules> = BTreeMap::new();
    for rule in profile["syscalls"].as_array().unwrap() {
        let action = rule["action"].as_str().unwrap();
        for name in rule["names"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            match action {
                "SCMP_ACT_ALLOW" => passed.add(name, rule),
                // The call passes the allowing filter and is refused by the filter of its action.
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

/// Forbids making a written page executable, and mapping anonymous executable pages. Files may be
/// mapped executable: programs are loaded that way.
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

/// Makes thread creation fail, as at a process limit (`ulimit -u`, `pids.max`). Processes can be
/// started.
pub(crate) fn no_threads() -> [BpfProgram; 2] {
    let (thread, none_left, unknown) = (nix::libc::CLONE_THREAD, nix::libc::EAGAIN, nix::libc::ENOSYS);
    let of_clone = json!({ "index": 0, "type": "dword", "op": { "masked_eq": thread }, "val": thread });
    let clone = json!([{ "syscall": "clone", "args": [of_clone] }]);
    // No filter can inspect the arguments of clone3. If it does not exist, C libraries use clone.
    [(clone, none_left), (json!([{ "syscall": "clone3" }]), unknown)].map(|(rules, errno)| {
        compile(&rules, &json!("allow"), &json!({ "errno": errno })).expect("the filter is well formed")
    })
}

/// The calls that a filter matches: with one of these argument conditions, or with any
/// arguments if the list is empty.
#[derive(Default)]
struct FilterRules(BTreeMap<String, Vec<Value>>);

impl FilterRules {
    fn add(&mut self, name: &str, rule: &Value) {
        self.0.entry(name.to_owned()).or_default().push(conditions(&rule["args"]));
    }

    fn compiled(&self, mismatch: &Value, matched: &Value) -> BpfProgram {
        let rules: Vec<Value> = self.0.iter().filter(|(name, _)| is_known(name)).flat_map(call_rules).collect();
        compile(&json!(rules), mismatch, matched).unwrap()
    }
}

/// Returns the rules of one call. A rule without conditions makes the others redundant.
fn call_rules((name, all): (&String, &Vec<Value>)) -> Vec<Value> {
    if all.iter().any(Value::is_null) {
        return vec![json!({ "syscall": name })];
    }
    all.iter().map(|args| json!({ "syscall": name, "args": args })).collect()
}

/// Converts conditions to the compiler's format.
fn conditions(args: &Value) -> Value {
    let Some(args) = args.as_array() else { return Value::Null };
    let converted = args.iter().map(|arg| {
        let (op, value) = match arg["op"].as_str().unwrap() {
            "SCMP_CMP_EQ" => (json!("eq"), &arg["value"]),
            "SCMP_CMP_MASKED_EQ" => (json!({ "masked_eq": arg["value"] }), &arg["valueTwo"]),
            other => panic!("the comparison {other} is not known"),
        };
        // Requests and options are 32-bit integers; the kernel ignores the upper half too.
        json!({ "index": arg["index"], "type": "dword", "op": op, "val": value })
    });
    converted.collect()
}

/// Whether this architecture has a system call of this name. One that does not exist needs no rule.
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
