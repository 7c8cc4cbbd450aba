//! How well a tool is written: six categories, each from what is in the tree.
//!
//! Categories and weights are those of the seed system (`quality.ts`); what each measures is not, because that one
//! took `===` for a loose comparison and gave 0.47 to an empty program. Each category starts at what plain, correct code
//! deserves, loses for each kind of defect, and gains for what was done beyond that.
//!
//! Invariant: a source with no tool in it scores 0.

mod defects;

use rustc_hash::FxHashMap;
use serde::Serialize;
use swc_common::Span;
use swc_common::comments::{Comment, CommentKind, SingleThreadedComments};
use swc_ecma_ast::Program;
use swc_ecma_visit::VisitWith;

use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::names::Names;
use crate::parse::range;
use crate::position::Lines;
use crate::shape::Found;

/// The scores of the six categories, 0.0 to 1.0 each.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CategoryScores {
    /// How easily it is read.
    pub readability: f64,
    /// What it does with wrong input and failures.
    pub error_handling: f64,
    /// Whether it says what it does.
    pub documentation: f64,
    /// Whether the same input gives the same output.
    pub testability: f64,
    /// Whether it does more work than it needs.
    pub performance: f64,
    /// Whether it is careful.
    pub security_awareness: f64,
}

/// One defect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QualityIssue {
    /// Which category it is in.
    pub category: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Line, counted from 1.
    pub line: u32,
    /// What it is.
    pub description: String,
    /// What to write instead.
    pub suggestion: &'static str,
}

/// How well a tool is written, in the form of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityAssessment {
    /// 0.0 to 1.0: the categories, weighed.
    pub score: f64,
    /// Each category.
    pub category_scores: CategoryScores,
    /// What is to be improved.
    pub issues: Vec<QualityIssue>,
    /// What to do first, in sentences.
    pub improvements: Vec<String>,
    /// How certain this is, 0.0 to 1.0.
    pub confidence: f64,
}

const READABILITY: &str = "readability";
const ERRORS: &str = "errorHandling";
const DOCUMENTATION: &str = "documentation";
const TESTABILITY: &str = "testability";
const PERFORMANCE: &str = "performance";
const SECURITY: &str = "securityAwareness";

/// What is looked at.
pub(crate) struct Subject<'a> {
    pub(crate) program: &'a Program,
    pub(crate) comments: &'a SingleThreadedComments,
    pub(crate) names: &'a Names<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) lines: &'a Lines<'a>,
    pub(crate) found: &'a Found,
    pub(crate) findings: &'a [Finding],
}

impl QualityAssessment {
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        if !matches!(subject.found, Found::Tool(_)) {
            return Self {
                score: 0.0,
                category_scores: CategoryScores::default(),
                issues: Vec::new(),
                improvements: vec!["declare a function `execute(params)`".to_owned()],
                confidence: 0.95,
            };
        }
        let mut walk = Walk::new(subject);
        subject.program.visit_with(&mut walk);
        walk.look_at_text(subject);
        let scores = walk.scores(subject);
        let weighed = scores.readability * 0.2
            + scores.error_handling * 0.2
            + scores.documentation * 0.15
            + scores.testability * 0.15
            + scores.performance * 0.15
            + scores.security_awareness * 0.15;
        let improvements = improvements(&scores);
        walk.issues.sort_by_key(|issue| issue.line);
        let issues = walk.issues;
        let lines = subject.lines.count();
        let confidence = 0.5
            + 0.1 * f64::from(u8::from(lines >= 10))
            + 0.1 * f64::from(u8::from(lines >= 50))
            + if issues.is_empty() { 0.2 } else { 0.1 };
        Self {
            score: round(weighed),
            category_scores: CategoryScores {
                readability: round(scores.readability),
                error_handling: round(scores.error_handling),
                documentation: round(scores.documentation),
                testability: round(scores.testability),
                performance: round(scores.performance),
                security_awareness: round(scores.security_awareness),
            },
            issues,
            improvements,
            confidence: round(confidence),
        }
    }
}

fn round(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

fn improvements(scores: &CategoryScores) -> Vec<String> {
    [
        (scores.readability, "split what is long and deep into functions with names"),
        (scores.error_handling, "check the parameters, and throw an error that says what is wrong with them"),
        (scores.documentation, "say in a comment what the tool does, what it takes and what it returns"),
        (scores.testability, "take what varies, such as the time, as a parameter"),
        (scores.performance, "do what does not depend on each other at the same time, and nothing twice"),
        (scores.security_awareness, "remove what the safety analysis found, and check the parameters"),
    ]
    .into_iter()
    .filter(|(score, _)| *score < 0.7)
    .map(|(_, improvement)| improvement.to_owned())
    .collect()
}

/// So many defects of one kind are told: they take all that a category has to lose.
const MOST: usize = 40;

struct Walk<'a> {
    names: &'a Names<'a>,
    lines: &'a Lines<'a>,
    issues: Vec<QualityIssue>,
    /// How often each suggestion was made.
    told: FxHashMap<&'static str, usize>,
    /// Loops around what is visited.
    loops: usize,
    deepest_loops: usize,
    nesting: usize,
    /// Something looks at the input before it is used.
    checks: usize,
    handled: usize,
    typed: usize,
    can_fail: bool,
}

impl<'a> Walk<'a> {
    fn new(subject: &Subject<'a>) -> Self {
        Self {
            names: subject.names,
            lines: subject.lines,
            issues: Vec::new(),
            told: FxHashMap::default(),
            loops: 0,
            deepest_loops: 0,
            nesting: 0,
            checks: 0,
            handled: 0,
            typed: 0,
            can_fail: false,
        }
    }

    fn issue(
        &mut self,
        category: &'static str,
        severity: Severity,
        span: Span,
        description: impl Into<String>,
        suggestion: &'static str,
    ) {
        let line = self.lines.line(range(span).0);
        self.push(QualityIssue { category, severity, line, description: description.into(), suggestion });
    }

    fn push(&mut self, issue: QualityIssue) {
        let told = self.told.entry(issue.suggestion).or_insert(0);
        *told += 1;
        if *told <= MOST {
            self.issues.push(issue);
        }
    }

    /// What a category loses: each kind of defect counts fully once, and a little for each further one.
    fn loss(&self, category: &str) -> f64 {
        let mut seen: Vec<&str> = Vec::new();
        let mut loss = 0.0;
        for issue in self.issues.iter().filter(|issue| issue.category == category) {
            let weight = match issue.severity {
                Severity::Low => 0.15,
                Severity::Medium => 0.3,
                Severity::High | Severity::Critical => 0.5,
            };
            if seen.contains(&issue.suggestion) {
                loss += weight * 0.25;
            } else {
                loss += weight;
                seen.push(issue.suggestion);
            }
        }
        loss
    }

    fn scores(&self, subject: &Subject<'_>) -> CategoryScores {
        let documentation = documentation(subject, self.typed > 0);
        let checked = f64::from(u8::from(self.checks > 0));
        let handled = f64::from(u8::from(self.handled > 0));
        // Where nothing can fail there is nothing to handle.
        let errors = if self.can_fail { 0.4 + 0.3 * checked + 0.3 * handled } else { 0.6 + 0.4 * checked.max(handled) };
        let unsafe_findings: f64 = subject.findings.iter().map(|finding| finding.severity.weight()).sum::<f64>();
        CategoryScores {
            readability: (1.0 - self.loss(READABILITY)).max(0.0),
            error_handling: (errors - self.loss(ERRORS)).max(0.0),
            documentation,
            testability: (1.0 - self.loss(TESTABILITY)).max(0.0),
            performance: (1.0 - self.loss(PERFORMANCE)).max(0.0),
            security_awareness: (0.75 + 0.25 * checked - unsafe_findings - self.loss(SECURITY)).max(0.0),
        }
    }

    /// What is in the lines rather than in the tree.
    fn look_at_text(&mut self, subject: &Subject<'_>) {
        for line in 1..=u32::try_from(subject.lines.count()).unwrap_or(u32::MAX) {
            let text = subject.lines.text(line);
            // There are no more characters than bytes, and most lines have fewer of these.
            if text.len() > 120 && text.chars().count() > 120 {
                self.push(QualityIssue {
                    category: READABILITY,
                    severity: Severity::Low,
                    line,
                    description: "a line of more than 120 characters".to_owned(),
                    suggestion: "break the line",
                });
            }
        }
        for (path, what) in [(&["Math", "random"] as &[&str], "`Math.random()`"), (&["Date", "now"], "`Date.now()`")] {
            if let Some(used) = subject.facts.globals(path).next() {
                let description = format!("{what} makes the result vary");
                self.issue(TESTABILITY, Severity::Medium, used.span, description, "take it as a parameter");
            }
        }
        if documentation(subject, self.typed > 0) <= 0.5 {
            let description = "says nothing of what the tool does";
            self.issue(DOCUMENTATION, Severity::Low, swc_common::DUMMY_SP, description, "a comment above `execute`");
        }
        for write in &subject.facts.writes {
            let dom = write.target.as_thing().and_then(|thing| thing.last()) == Some("innerHTML");
            if dom {
                let description = "text becomes HTML without being escaped";
                self.issue(SECURITY, Severity::Medium, write.span, description, "set `textContent`");
            }
        }
    }

    fn function(&mut self, span: Span, body: impl FnOnce(&mut Self)) {
        let (start, end) = range(span);
        let length = self.lines.line(end) - self.lines.line(start) + 1;
        if length > 50 {
            let severity = if length > 100 { Severity::High } else { Severity::Medium };
            self.issue(READABILITY, severity, span, format!("a function of {length} lines"), "split the function");
        }
        let (loops, nesting) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.nesting));
        body(self);
        (self.loops, self.nesting) = (loops, nesting);
    }

    fn nested(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        self.nesting += 1;
        if self.nesting == 5 {
            self.issue(READABILITY, Severity::Low, span, "blocks nested five deep", "return early, or name a step");
        }
        visit(self);
        self.nesting -= 1;
    }

    fn in_loop(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        self.deepest_loops = self.deepest_loops.max(self.loops);
        if self.loops == 4 {
            self.issue(PERFORMANCE, Severity::Medium, span, "loops nested four deep", "look things up in a Map");
        }
        self.nested(span, visit);
        self.loops -= 1;
    }
}

/// Documentation: a comment above a function, what it says of parameters and result, types.
fn documentation(subject: &Subject<'_>, typed: bool) -> f64 {
    let (leading, trailing) = subject.comments.borrow_all();
    let all: Vec<&Comment> = leading.values().chain(trailing.values()).flatten().collect();
    let said = |comment: &&Comment| comment.text.trim().chars().count() >= 8;
    let block = all
        .iter()
        .any(|comment| comment.kind == CommentKind::Block && comment.text.starts_with('*') && said(&&**comment));
    let tags = all.iter().any(|comment| comment.text.contains("@param") || comment.text.contains("@returns"));
    let any = all.iter().any(|comment| said(&&**comment));
    let mut score: f64 = 0.3;
    if block {
        score += 0.5;
    } else if any {
        score += 0.4;
    }
    if tags || typed {
        score += 0.2;
    }
    score.min(1.0)
}
