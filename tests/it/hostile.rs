//! Every hostile fixture meets the fate stated in its first line, and the next call on the same
//! sandbox is correct.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolcell_host::{Outcome, Params, Stop, Timers};

use crate::fixtures::sandbox::{SandboxFixture, files, stem};

/// A hostile fixture: the expected fate, and the parameters of the call.
pub(crate) struct HostileFixture {
    name: String,
    expect: String,
    pub(crate) params: String,
    pub(crate) sandbox: SandboxFixture<'static>,
}

impl HostileFixture {
    pub(crate) fn read(path: &Path) -> Self {
        let mut sandbox = SandboxFixture::new().file(path);
        sandbox.budget.fuel = 2_000_000_000;
        sandbox.budget.deadline = Duration::from_secs(10);
        let source = std::fs::read_to_string(path).unwrap();
        let header: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("// ")).collect();
        let directive =
            |name: &str| header.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned));
        for setting in directive("budget").unwrap_or_default().split_whitespace() {
            let (name, value) = setting.split_once('=').unwrap_or_else(|| panic!("{}: {setting}", path.display()));
            let value: u64 = value.parse().unwrap();
            let bytes = usize::try_from(value).unwrap();
            match name {
                "fuel" => sandbox.budget.fuel = value,
                "timeout_ms" => sandbox.budget.deadline = Duration::from_millis(value),
                "memory_mb" => sandbox.budget.memory = bytes << 20,
                "output_bytes" => sandbox.budget.output = bytes,
                "console_bytes" => sandbox.budget.console = bytes,
                "operations" => sandbox.budget.operations = u32::try_from(value).unwrap(),
                other => panic!("{}: unknown budget `{other}`", path.display()),
            }
        }
        match directive("grants").as_deref() {
            None => {}
            Some("timers") => sandbox = sandbox.operations(&Timers),
            Some(other) => panic!("{}: unknown grant `{other}`", path.display()),
        }
        let repeated = directive("params-repeat").map(|parts| {
            let parts: Vec<&str> = parts.split('|').collect();
            let [prefix, unit, count, suffix] = parts[..] else { panic!("{}: params-repeat", path.display()) };
            format!("{prefix}{}{suffix}", unit.repeat(count.parse().unwrap()))
        });
        Self {
            name: stem(path),
            expect: directive("expect").unwrap_or_else(|| panic!("{} states no fate", path.display())),
            params: repeated.or_else(|| directive("params")).unwrap_or_else(|| "{}".to_owned()),
            sandbox,
        }
    }

    /// Returns the actual fate, in the wording of the first line.
    fn fate(&self) -> String {
        if let Err(error) = Params::parse(&*self.params) {
            return format!("refused({})", error.code());
        }
        match self.sandbox.run_text(&self.params).outcome {
            Outcome::Returned(None) => "returned(undefined)".to_owned(),
            Outcome::Returned(Some(value)) => format!("returned({value})"),
            Outcome::Threw(thrown) => format!("threw({}: {})", thrown.name, thrown.message),
            Outcome::Stopped(stop) => format!("stopped({})", stop.code()),
        }
    }

    pub(crate) fn matches(&self, fate: &str) -> bool {
        if let Some(thrown) = self.expect.strip_prefix("threw(").and_then(|rest| rest.strip_suffix(')')) {
            let (name, message) = thrown.split_once(": ").unwrap_or((thrown, ""));
            return fate.strip_prefix(&format!("threw({name}: ")).is_some_and(|rest| rest.contains(message));
        }
        fate == self.expect
            || (self.expect == "returned" && fate.starts_with("returned("))
            || value_in(fate).is_some_and(|value| value_in(&self.expect) == Some(value))
    }
}

/// Returns the value of `returned(VALUE)`. Values are compared regardless of key order.
fn value_in(fate: &str) -> Option<Value> {
    serde_json::from_str(fate.strip_prefix("returned(")?.strip_suffix(')')?).ok()
}

/// Runs the attacks of one class.
fn attack(class: &str) {
    let next =
        SandboxFixture::new().script("const execute = ({ a, b }) => [a + b, Object.keys({}), JSON.stringify([1])]");
    let next_prepared = next.prepare().unwrap();
    let mut misses = Vec::new();
    let paths = files("fixtures/hostile", "js");
    for path in paths.iter().filter(|path| stem(path).starts_with(&format!("{class}-"))) {
        let fixture = HostileFixture::read(path);
        let started = Instant::now();
        let fate = fixture.fate();
        let took = started.elapsed();
        if !fixture.matches(&fate) {
            let shown: String = fate.chars().take(300).collect();
            misses.push(format!("{}: expected {}, it {shown}", fixture.name, fixture.expect));
        }
        if took > fixture.sandbox.budget.deadline * 2 + Duration::from_millis(1500) {
            misses.push(format!("{}: answered after {took:?}", fixture.name));
        }
        let after = next.call(&next_prepared, r#"{"a": 40, "b": 2}"#);
        if !matches!(&after.outcome, Outcome::Returned(Some(value)) if value.as_str() == r#"[42,[],"[1]"]"#) {
            misses.push(format!("{}: the next call was wrong: {:?}", fixture.name, after.outcome));
        }
    }
    assert!(misses.is_empty(), "{} of the attacks:\n{}", misses.len(), misses.join("\n"));
}

macro_rules! attacks {
    ($($test:ident: $class:literal,)*) => {
        /// The classes that have a test.
        pub(crate) const CLASSES: &[&str] = &[$($class),*];

        $(
            #[test]
            fn $test() {
                attack($class);
            }
        )*
    };
}

attacks! {
    endless_work_is_ended: "cpu",
    endless_work_at_load_time_is_ended: "load",
    microtasks_do_not_outlive_the_tool: "microtask",
    what_a_result_does_while_it_is_written_is_bounded: "serialise",
    recursion_is_a_range_error: "recursion",
    memory_is_bounded: "memory",
    output_is_bounded: "output",
    hostile_parameters_are_data: "params",
    a_poisoned_engine_answers_right: "isolation",
    nothing_outside_can_be_reached: "escape",
}

#[test]
fn a_deadline_is_met_within_20_ms_of_native_code() {
    let sandbox =
        SandboxFixture::new().script("const execute = () => { for (;;); }").fuel(1_000_000_000_000).timeout(100);
    let report = sandbox.run_text("{}");
    assert_eq!(report.outcome, Outcome::Stopped(Stop::Deadline { limit: Duration::from_millis(100) }));
    // The test machine may be busy. The bound that holds on an idle machine is a row of `make
    // bench`.
    assert!(report.usage.duration < Duration::from_millis(1100), "{:?}", report.usage.duration);
}
