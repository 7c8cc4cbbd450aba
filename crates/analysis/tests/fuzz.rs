//! Sources that a model writes, fuzzed, with a ceiling on memory: an allocation beyond it ends the test.

use std::alloc::System;

use cap::Cap;
use toolcell_analysis::{analyze, quick_check};
use toolcell_tool::Language;

/// The most that all of this process may allocate at a time, in bytes: the seeds, the fuzzer, and one analysis.
const CEILING: usize = 192 << 20;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, CEILING);

toolcell_fuzz::target!(analysis, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for language in [Language::TypeScript, Language::JavaScript] {
        if let Ok(analysis) = analyze(text, language, None) {
            assert!((0.0..=1.0).contains(&analysis.safety.score));
        }
        let _ = quick_check(text, language);
    }
});
