//! The labelled set: what the analysis says of programs whose danger, or harmlessness, is known.
//!
//! The rules are tuned on one part, which was written before they were. The other part was written by others, who knew
//! what the rules are about and not how they work, after them; it is what they are judged by.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toolcell_analysis::{Capabilities, Capability, Severity, analyze, rule_names};
use toolcell_tool::Language;

use crate::world::{files, stem};

/// A labelled program.
struct Labelled {
    path: PathBuf,
    source: String,
    /// The rules that must find something; none for a benign program.
    finds: BTreeSet<String>,
    declared: Option<Capabilities>,
}

impl Labelled {
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
        let declared = directive("capabilities")
            .map(|names| Capabilities::these(names.split_whitespace().map(|name| Capability::named(name).unwrap())));
        Self { path: path.to_owned(), source, finds, declared }
    }

    /// The rules that find something that matters.
    fn found(&self) -> BTreeSet<String> {
        let language = Language::of_name(&self.path.to_string_lossy());
        let analysis = analyze(&self.source, language, self.declared.as_ref())
            .unwrap_or_else(|rejection| panic!("{}: {rejection}", self.path.display()));
        let issues = analysis.safety.issues.iter().filter(|issue| issue.severity >= Severity::Medium);
        issues.map(|issue| issue.kind.name().to_owned()).collect()
    }
}

/// Programs of both kinds, judged.
#[derive(Default)]
struct Judged {
    benign: usize,
    right: usize,
    missed: usize,
    false_alarms: usize,
    /// Labels, not programs: how many of the rules that must find something did.
    labels: usize,
    labels_found: usize,
    notes: String,
}

impl Judged {
    fn add(&mut self, program: &Labelled) {
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

/// The programs of one part of the set, judged.
fn judged(part: &str) -> Judged {
    let mut judged = Judged::default();
    for kind in ["dangerous", "benign"] {
        for ending in ["js", "ts"] {
            for path in files(&format!("fixtures/analysis/{part}/{kind}"), ending) {
                let program = Labelled::read(&path);
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
    let parts = ["tuning", "checking"].map(|part| (part, judged(part)));
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
