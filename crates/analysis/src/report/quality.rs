//! The code quality of a tool, in six categories, measured on its syntax tree.
//!
//! Categories and weights are those of the seed system (`quality.ts`). The measurements differ,
//! because the seed system took `===` for a loose comparison and gave an empty program 0.47. Each
//! category starts at the score of plain, correct code, loses for each kind of defect, and gains
//! for good practice.
//!
//! Invariant: a source without a tool scores 0.

mod defects;

use rustc_hash::FxHashMap;
use serde::Serialize;
use swc_common::Span;
use swc_common::comments::{Comment, CommentKind, SingleThreadedComments};
use swc_ecma_ast::Program;
use swc_ecma_visit::VisitWith;
use toolcell_i18n::{Message, message, msgid};

use crate::report::finding::{Finding, Severity};
use crate::semantics::bindings::Bindings;
use crate::semantics::facts::Facts;
use crate::syntax::entry_point::EntryPointSearch;
use crate::syntax::position::{LineIndex, byte_range};

/// The scores of the six categories, 0.0 to 1.0 each.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CategoryScores {
    /// How easily the source is read.
    pub readability: f64,
    /// How the source handles wrong input and failures.
    pub error_handling: f64,
    /// Whether the source documents what it does.
    pub documentation: f64,
    /// Whether the same input gives the same output.
    pub testability: f64,
    /// Whether the source avoids unnecessary work.
    pub performance: f64,
    /// Whether the source avoids unsafe operations and checks its input.
    pub security_awareness: f64,
}

/// A defect of the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QualityIssue {
    /// The category of the defect, by its JSON name.
    pub category: &'static str,
    /// The severity, which determines the weight in the score.
    pub severity: Severity,
    /// Line, counted from 1.
    pub line: u32,
    /// The defect, as a noun phrase.
    pub description: Message,
    /// The suggested replacement.
    pub suggestion: &'static str,
}

/// The quality of a tool, in the format of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityAssessment {
    /// The weighted mean of the categories, 0.0 to 1.0.
    pub score: f64,
    /// The score of each category.
    pub category_scores: CategoryScores,
    /// The defects, by line.
    pub issues: Vec<QualityIssue>,
    /// Suggestions, one for each category below 0.7.
    pub improvements: Vec<Message>,
    /// The confidence of this result, 0.0 to 1.0.
    pub confidence: f64,
}

const READABILITY: &str = "readability";
const ERRORS: &str = "errorHandling";
const DOCUMENTATION: &str = "documentation";
const TESTABILITY: &str = "testability";
const PERFORMANCE: &str = "performance";
const SECURITY: &str = "securityAwareness";

/// The input of the quality assessment.
pub(crate) struct QualityInput<'a> {
    pub(crate) program: &'a Program,
    pub(crate) comments: &'a SingleThreadedComments,
    pub(crate) names: &'a Bindings<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) lines: &'a LineIndex<'a>,
    pub(crate) entry_point: &'a EntryPointSearch,
    pub(crate) findings: &'a [Finding],
}

impl QualityAssessment {
    pub(crate) fn assess(subject: &QualityInput<'_>) -> Self {
        if !matches!(subject.entry_point, EntryPointSearch::Found(_)) {
            return Self {
                score: 0.0,
                category_scores: CategoryScores::default(),
                issues: Vec::new(),
                improvements: vec![message!("declare a function `execute(params)`")],
                confidence: 0.95,
            };
        }
        let mut walk = QualityVisitor::new(subject);
        subject.program.visit_with(&mut walk);
        walk.check_lines(subject);
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
            score: round_score(weighed),
            category_scores: CategoryScores {
                readability: round_score(scores.readability),
                error_handling: round_score(scores.error_handling),
                documentation: round_score(scores.documentation),
                testability: round_score(scores.testability),
                performance: round_score(scores.performance),
                security_awareness: round_score(scores.security_awareness),
            },
            issues,
            improvements,
            confidence: round_score(confidence),
        }
    }
}

fn round_score(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

fn improvements(scores: &CategoryScores) -> Vec<Message> {
    [
        (scores.readability, msgid!("split long and deeply nested code into named functions")),
        (scores.error_handling, msgid!("check the parameters, and throw an error that says what is wrong with them")),
        (scores.documentation, msgid!("say in a comment what the tool does, what it takes and what it returns")),
        (scores.testability, msgid!("take what varies, such as the time, as a parameter")),
        (scores.performance, msgid!("run independent work in parallel, and nothing twice")),
        (scores.security_awareness, msgid!("remove what the safety analysis found, and check the parameters")),
    ]
    .into_iter()
    .filter(|(score, _)| *score < 0.7)
    .map(|(_, improvement)| Message::from(improvement))
    .collect()
}

/// The maximum number of reported defects of one kind: together they cost a category all of its
/// score.
const MAX_ISSUES_PER_KIND: usize = 40;

struct QualityVisitor<'a> {
    names: &'a Bindings<'a>,
    lines: &'a LineIndex<'a>,
    issues: Vec<QualityIssue>,
    /// The number of times that each suggestion was made.
    suggestion_counts: FxHashMap<&'static str, usize>,
    /// The number of loops around the current node.
    loop_depth: usize,
    max_loop_depth: usize,
    nesting_depth: usize,
    /// The number of places where the input is checked.
    input_checks: usize,
    error_handlers: usize,
    type_annotations: usize,
    can_fail: bool,
}

impl<'a> QualityVisitor<'a> {
    fn new(subject: &QualityInput<'a>) -> Self {
        Self {
            names: subject.names,
            lines: subject.lines,
            issues: Vec::new(),
            suggestion_counts: FxHashMap::default(),
            loop_depth: 0,
            max_loop_depth: 0,
            nesting_depth: 0,
            input_checks: 0,
            error_handlers: 0,
            type_annotations: 0,
            can_fail: false,
        }
    }

    fn add_issue(
        &mut self,
        category: &'static str,
        severity: Severity,
        span: Span,
        description: Message,
        suggestion: &'static str,
    ) {
        let line = self.lines.line_of_byte(byte_range(span).0);
        self.push_issue(QualityIssue { category, severity, line, description, suggestion });
    }

    fn push_issue(&mut self, issue: QualityIssue) {
        let told = self.suggestion_counts.entry(issue.suggestion).or_insert(0);
        *told += 1;
        if *told <= MAX_ISSUES_PER_KIND {
            self.issues.push(issue);
        }
    }

    /// Returns what a category loses: the full weight for the first defect of each kind, and a
    /// quarter for each further one.
    fn penalty(&self, category: &str) -> f64 {
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

    fn scores(&self, subject: &QualityInput<'_>) -> CategoryScores {
        let documentation = documentation_score(subject, self.type_annotations > 0);
        let checked = f64::from(u8::from(self.input_checks > 0));
        let handled = f64::from(u8::from(self.error_handlers > 0));
        // Code that cannot fail has nothing to handle.
        let errors = if self.can_fail { 0.4 + 0.3 * checked + 0.3 * handled } else { 0.6 + 0.4 * checked.max(handled) };
        let unsafe_findings: f64 = subject.findings.iter().map(|finding| finding.severity.weight()).sum::<f64>();
        CategoryScores {
            readability: (1.0 - self.penalty(READABILITY)).max(0.0),
            error_handling: (errors - self.penalty(ERRORS)).max(0.0),
            documentation,
            testability: (1.0 - self.penalty(TESTABILITY)).max(0.0),
            performance: (1.0 - self.penalty(PERFORMANCE)).max(0.0),
            security_awareness: (0.75 + 0.25 * checked - unsafe_findings - self.penalty(SECURITY)).max(0.0),
        }
    }

    /// Adds the defects that are measured on lines, facts and comments.
    fn check_lines(&mut self, subject: &QualityInput<'_>) {
        for line in 1..=u32::try_from(subject.lines.count()).unwrap_or(u32::MAX) {
            let text = subject.lines.text(line);
            // A line has no more characters than bytes, so most lines need no count.
            if text.len() > 120 && text.chars().count() > 120 {
                self.push_issue(QualityIssue {
                    category: READABILITY,
                    severity: Severity::Low,
                    line,
                    description: message!("a line of more than 120 characters"),
                    suggestion: msgid!("break the line"),
                });
            }
        }
        for (path, call) in [(&["Math", "random"] as &[&str], "Math.random()"), (&["Date", "now"], "Date.now()")] {
            if let Some(used) = subject.facts.uses_of_global(path).next() {
                let description = message!("`{call}` makes the result nondeterministic", call);
                let suggestion = msgid!("take it as a parameter");
                self.add_issue(TESTABILITY, Severity::Medium, used.span, description, suggestion);
            }
        }
        if documentation_score(subject, self.type_annotations > 0) <= 0.5 {
            let description = message!("has no comment that says what the tool does");
            self.add_issue(
                DOCUMENTATION,
                Severity::Low,
                swc_common::DUMMY_SP,
                description,
                msgid!("a comment above `execute`"),
            );
        }
        for write in &subject.facts.writes {
            let dom = write.target.as_path().and_then(|thing| thing.last_name()) == Some("innerHTML");
            if dom {
                let description = message!("text is inserted as HTML without escaping");
                self.add_issue(SECURITY, Severity::Medium, write.span, description, msgid!("set `textContent`"));
            }
        }
    }

    fn in_function(&mut self, span: Span, body: impl FnOnce(&mut Self)) {
        let (start, end) = byte_range(span);
        let length = self.lines.line_of_byte(end) - self.lines.line_of_byte(start) + 1;
        if length > 50 {
            let severity = if length > 100 { Severity::High } else { Severity::Medium };
            let description = message!("a function of {length} lines", length);
            self.add_issue(READABILITY, severity, span, description, msgid!("split the function"));
        }
        let (loops, nesting) = (std::mem::take(&mut self.loop_depth), std::mem::take(&mut self.nesting_depth));
        body(self);
        (self.loop_depth, self.nesting_depth) = (loops, nesting);
    }

    fn in_block(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        self.nesting_depth += 1;
        if self.nesting_depth == 5 {
            let description = message!("blocks nested five deep");
            self.add_issue(READABILITY, Severity::Low, span, description, msgid!("return early, or name a step"));
        }
        visit(self);
        self.nesting_depth -= 1;
    }

    fn in_loop(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        self.loop_depth += 1;
        self.max_loop_depth = self.max_loop_depth.max(self.loop_depth);
        if self.loop_depth == 4 {
            let description = message!("loops nested four deep");
            self.add_issue(PERFORMANCE, Severity::Medium, span, description, msgid!("look things up in a Map"));
        }
        self.in_block(span, visit);
        self.loop_depth -= 1;
    }
}

/// Returns the documentation score: for a doc comment or another comment, and for tags or type
/// annotations.
fn documentation_score(subject: &QualityInput<'_>, typed: bool) -> f64 {
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
