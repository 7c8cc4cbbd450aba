//! Fuzz targets: functions that read text or bytes from an untrusted party, fed with committed seeds and mutations of them.
//!
//! A target stands beside the code that it feeds, in a module or a test file called `fuzz`:
//!
//! ```text
//! toolcell_fuzz::target!(frames, |bytes| {
//!     let _ = decode::<Call<'_>>(bytes);
//! });
//! ```
//!
//! `cargo test fuzz` gives each target every seed of `fixtures/fuzz/NAME/` as it is, and then mutations of them, for as long as
//! [`DURATION_VARIABLE`] says. A failure prints the smallest mutation that fails. `make fuzz` runs the same targets under libFuzzer, which
//! follows the coverage of the code; there the bytes that the fuzzer makes are the input.

use std::path::PathBuf;
use std::time::{Duration, Instant};

#[cfg(fuzzing)]
pub use bolero;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// The environment variable with the time for which a target is fed with mutations, in
/// milliseconds.
pub const DURATION_VARIABLE: &str = "TOOLCELL_FUZZ_MILLISECONDS";
/// The time without that variable, in milliseconds.
const DEFAULT_MILLISECONDS: u64 = 500;
/// Maximum length of an input, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// Maximum number of mutations of one input.
const MAX_MUTATIONS: usize = 6;
/// Maximum length of a changed range, in bytes.
const MAX_RANGE: usize = 64;
/// Base-2 logarithm of the maximum number of repetitions: enough to find quadratic run time, and to
/// nest deeper than any stack.
const MAX_REPETITIONS_LOG2: u32 = 14;
/// Number of inputs between two checks of the clock.
const BATCH: u32 = 32;

/// Tokens that parsers of this project treat specially, or should.
const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n",
    b"\t",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud83d",
    b"\\x41",
    b"%",
    b"%00",
    b"%2e%2e",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"<",
    b">",
    b"</",
    b"<!--",
    b"/*",
    b"//",
    b"`",
    b"${",
    b"=>",
    b"?.",
    b"@",
    b"#",
    b",",
    b":",
    b";",
    b"=",
    b"*",
    b"+",
    b"|",
    b".",
    b"..",
    b"/",
    b"-",
    b"_",
    b"0",
    b"-0",
    b"1e999",
    b"1e-999",
    b"9007199254740993",
    b"18446744073709551616",
    b"0.1",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"\"a\":",
    b"\"$ref\":\"#\"",
    b"\"pattern\":\"(a+)+$\"",
    b"\"__proto__\":",
    b"(?=",
    b"(?:",
    b"\\1",
    b"a{1000}",
    b"[[",
    b"]]",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    b"\xf0\x9f\x98\x80",
];

/// One change of an input.
#[derive(Debug, Clone)]
enum Change {
    /// Deletes the range.
    Delete,
    /// Replaces the range with these bytes.
    Replace(Vec<u8>),
    /// Inserts these bytes before the range.
    Insert(Vec<u8>),
    /// Repeats the range.
    Repeat(u32),
}

/// A change and its range.
#[derive(Debug, Clone)]
struct Mutation {
    start: Index,
    length: usize,
    change: Change,
}

impl Mutation {
    fn apply(&self, input: &mut Vec<u8>) {
        let start = self.start.index(input.len() + 1);
        let end = (start + self.length).min(input.len());
        match &self.change {
            Change::Delete => drop(input.drain(start..end)),
            Change::Replace(bytes) => drop(input.splice(start..end, bytes.iter().copied())),
            Change::Insert(bytes) => drop(input.splice(start..start, bytes.iter().copied())),
            Change::Repeat(log2) => {
                let most = MAX_BYTES.saturating_sub(input.len()) / (end - start).max(1);
                let repeated = input[start..end].repeat((1 << log2).min(most));
                drop(input.splice(end..end, repeated));
            }
        }
    }
}

/// Returns the committed seeds of a target, sorted by name.
///
/// # Panics
/// If the target has no seeds: it would only see noise.
#[must_use]
#[expect(clippy::disallowed_methods, clippy::panic, reason = "only tests call this")]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.sort();
    assert!(!paths.is_empty(), "the fuzz target has no seeds: put some into fixtures/fuzz/{target}");
    let read = |path: &PathBuf| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.iter().map(read).collect()
}

/// Mutations of seeds.
fn mutations(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let part = |(seed, start, length): (Vec<u8>, Index, usize)| {
        let start = start.index(seed.len() + 1);
        seed[start..(start + length).min(seed.len())].to_vec()
    };
    let bytes = prop_oneof![
        4 => select(TOKENS).prop_map(<[u8]>::to_vec),
        2 => vec(any::<u8>(), 1..4),
        1 => (select(seeds.clone()), any::<Index>(), 0..MAX_BYTES).prop_map(part),
    ];
    let change = prop_oneof![
        1 => Just(Change::Delete),
        2 => bytes.clone().prop_map(Change::Replace),
        2 => bytes.prop_map(Change::Insert),
        1 => (0..=MAX_REPETITIONS_LOG2).prop_map(Change::Repeat),
    ];
    let mutation =
        (any::<Index>(), 0..MAX_RANGE, change).prop_map(|(start, length, change)| Mutation { start, length, change });
    (select(seeds), vec(mutation, 1..=MAX_MUTATIONS)).prop_map(|(mut input, mutations)| {
        for mutation in &mutations {
            mutation.apply(&mut input);
        }
        input.truncate(MAX_BYTES);
        input
    })
}

/// Feeds a target with its seeds, and then with mutations of them.
///
/// # Panics
/// If the target panics, with the smallest mutation that causes it.
#[expect(clippy::panic, reason = "only tests call this")]
pub fn feed(target: &str, run: impl Fn(&[u8])) {
    let seeds = seeds(target);
    for seed in &seeds {
        run(seed);
    }
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says how long they run")]
    let milliseconds = std::env::var(DURATION_VARIABLE).ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_millis(milliseconds.unwrap_or(DEFAULT_MILLISECONDS));
    let config = Config { cases: BATCH, failure_persistence: None, max_shrink_iters: 10_000, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let mutations = mutations(seeds);
    while Instant::now() < end {
        let fed = runner.run(&mutations, |input| {
            run(&input);
            Ok::<(), TestCaseError>(())
        });
        if let Err(error) = fed {
            panic!("{target}: {error}");
        }
    }
}

/// A fuzz target, as a test.
#[cfg(not(fuzzing))]
#[macro_export]
macro_rules! target {
    ($name:ident, |$bytes:ident| $body:block) => {
        #[test]
        fn $name() {
            $crate::feed(stringify!($name), |$bytes: &[u8]| $body);
        }
    };
}

/// A fuzz target, as a test that libFuzzer drives.
#[cfg(fuzzing)]
#[macro_export]
macro_rules! target {
    ($name:ident, |$bytes:ident| $body:block) => {
        #[test]
        fn $name() {
            $crate::bolero::check!().for_each(|$bytes: &[u8]| $body);
        }
    };
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn mutations_are_bounded_and_differ_from_their_seeds() {
        let seeds = vec![b"{\"a\":[1,2,3]}".to_vec(), b"plain".to_vec()];
        let (different, long) = (Cell::new(0), Cell::new(0));
        let mut runner = TestRunner::deterministic();
        let checked = runner.run(&mutations(seeds.clone()), |input| {
            assert!(input.len() <= MAX_BYTES);
            different.set(different.get() + u32::from(!seeds.contains(&input)));
            long.set(long.get() + u32::from(input.len() > 10_000));
            Ok(())
        });
        assert!(checked.is_ok() && different.get() > 128 && long.get() > 0, "{different:?} {long:?}");
    }

    #[test]
    fn an_input_that_fails_is_told() {
        let known = seeds("json");
        let failed =
            catch_unwind(AssertUnwindSafe(|| feed("json", |bytes| assert!(known.iter().any(|seed| seed == bytes)))));
        let message = failed.unwrap_err().downcast::<String>().unwrap();
        assert!(message.starts_with("json: ") && message.contains("minimal failing input"), "{message}");
    }
}
