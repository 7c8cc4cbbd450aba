//! The labelled set: the analysis of programs that are known to be dangerous or harmless.
//!
//! The rules were tuned on one part, which was written before them. The other part was written
//! afterwards, by authors who knew the purpose of the rules but not their implementation. It is the
//! test set.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toolcell_analysis::{Capabilities, Capability, Severity, analyze, rule_names};
use toolcell_tool::Language;

use crate::fixtures::sandbox::{files, stem};

/// A labelled program.
struct LabelledProgram {
    path: PathBuf,
    source: String,
    /// The rules that must report a finding; empty for a benign program.
    finds: BTreeSet<String>,
    declared: Option<Capabilities>,
}

impl LabelledProgram {
    fn read(path: &Path) -> Self {
        let source = std::fs::read_to_string(path).unwrap();
        let directive = |name: &str| {
            let mut header = source.lines().take(3);
            header.find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
        };
        let finds = directive("finds").unwrap_or_else(|| panic!("{} has no label", path.display()));
        let finds: BTreeSet<String> =
            finds.split_whitespace().filter(|word| *word != "nothing").map(str::to_owned).collect();
        for rule in &finds {
            assert!(rule_names().contains(&rule.as_str()), "{}: there is no rule `{rule}`", path.display());
        }
        let declared = directive("capabilities").map(|names| {
            Capabilities::unscoped(names.split_whitespace().map(|name| Capability::from_name(name).unwrap()))
        });
        Self { path: path.to_owned(), source, finds, declared }
    }

    /// Returns the rules with a relevant finding.
    fn found(&self) -> BTreeSet<String> {
        let language = Language::from_file_name(&self.path.to_string_lossy());
        let analysis = analyze(&self.source, language, self.declared.as_ref())
            .unwrap_or_else(|rejection| panic!("{}: {rejection}", self.path.display()));
        let issues = analysis.safety.issues.iter().filter(|issue| issue.severity >= Severity::Medium);
        issues.map(|issue| issue.kind.name().to_owned()).collect()
    }
}

/// The results for the programs of one part of the set.
#[derive(Default)]
struct ClassifierCounts {
    benign: usize,
    right: usize,
    missed: usize,
    false_alarms: usize,
    /// The number of labels of all programs: rules that must report a finding.
    labels: usize,
    labels_found: usize,
    notes: String,
}

impl ClassifierCounts {
    fn add(&mut self, program: &LabelledProgram) {
        let found = program.found();
        let name = stem(&program.path);
        if program.finds.is_empty() {
            self.benign += 1;
            if !found.is_empty() {
                self.false_alarms += 1;
                writeln!(self.notes, "false alarm: {name}: {found:?}").unwrap();
            }
            return;
        }
        let missing: Vec<&String> = program.finds.difference(&found).collect();
        self.labels += program.finds.len();
        self.labels_found += program.finds.len() - missing.len();
        if missing.len() < program.finds.len() {
            self.right += 1;
        } else {
            self.missed += 1;
        }
        if !missing.is_empty() {
            writeln!(self.notes, "missed: {name}: {missing:?}").unwrap();
        }
    }

    fn precision(&self) -> f64 {
        share(self.right, self.false_alarms)
    }

    fn recall(&self) -> f64 {
        share(self.right, self.missed)
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are a few hundred programs")]
fn share(right: usize, wrong: usize) -> f64 {
    right as f64 / (right + wrong) as f64
}

/// Evaluates the programs of one part of the set.
fn classify_programs(part: &str) -> ClassifierCounts {
    let mut judged = ClassifierCounts::default();
    for kind in ["dangerous", "benign"] {
        for ending in ["js", "ts"] {
            for path in files(&format!("fixtures/analysis/{part}/{kind}"), ending) {
                let program = LabelledProgram::read(&path);
                assert_eq!(program.finds.is_empty(), kind == "benign", "{}", path.display());
                judged.add(&program);
            }
        }
    }
    judged
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the set is for")]
fn the_labelled_set_is_told_apart() {
    let parts = ["tuning", "checking"].map(|part| (part, classify_programs(part)));
    for (part, judged) in &parts {
        println!(
            "{part}: {} dangerous, {} benign; precision {:.3}, recall {:.3} ({} of {} labels found)",
            judged.right + judged.missed,
            judged.benign,
            judged.precision(),
            judged.recall(),
            judged.labels_found,
            judged.labels
        );
    }
    for (part, judged) in &parts {
        assert!(judged.precision() >= 0.95 && judged.recall() >= 0.95, "{part}:\n{}", judged.notes);
    }
}
