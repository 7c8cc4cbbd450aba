//! Criterion benchmarks of a small call, in the sandbox and in native QuickJS.
//!
//! `ratios` measures the figures that the project promises; this benchmark shows the effect of a
//! change.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

mod engines;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use engines::{CALCULATE_AVERAGE, EMPTY, Native, STRING_REVERSE, Sample, Sealed};
use toolcell_host::{Budget, Sandbox, SandboxOptions};

const SAMPLES: [Sample; 3] = [STRING_REVERSE, CALCULATE_AVERAGE, EMPTY];

fn prepare(criterion: &mut Criterion) {
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    let mut group = criterion.benchmark_group("prepare");
    for sample in SAMPLES {
        group.bench_function(sample.name, |bencher| {
            bencher.iter(|| Sealed::new(&sandbox, black_box(sample.source), Budget::default()));
        });
    }
}

fn sandbox_from_nothing(criterion: &mut Criterion) {
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    let mut group = criterion.benchmark_group("sandbox from nothing");
    for sample in SAMPLES {
        let tool = Sealed::new(&sandbox, sample.source, Budget::default());
        assert_eq!(tool.call(sample.params).as_deref(), sample.result, "{}", sample.name);
        group.bench_function(sample.name, |bencher| bencher.iter(|| tool.call(black_box(sample.params))));
    }
}

fn native_from_nothing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("native from nothing");
    for sample in SAMPLES {
        group.bench_function(sample.name, |bencher| {
            bencher.iter(|| Native::new(black_box(sample.source)).call(sample.params));
        });
    }
}

fn native_warm(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("native warm");
    for sample in SAMPLES {
        let tool = Native::new(sample.source);
        assert_eq!(tool.call(sample.params).as_deref(), sample.result, "{}", sample.name);
        group.bench_function(sample.name, |bencher| bencher.iter(|| tool.call(black_box(sample.params))));
    }
}

criterion_group!(cell, prepare, sandbox_from_nothing, native_from_nothing, native_warm);
criterion_main!(cell);
