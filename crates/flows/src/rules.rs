//! Rules about which data may decide which operations.
//!
//! Invariant: the order of rules does not matter: deny beats ask, and ask beats what no rule speaks of, which is
//! allowed.

use crate::label::{Label, Source};
use crate::pattern::{Sink, SinkPattern, SourcePattern};

/// What a rule says about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowAction {
    /// A person decides about the operation, of which all bytes are shown.
    Ask,
    /// The operation is refused.
    Deny,
}

impl FlowAction {
    /// Returns the name of the action in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A pair of source and sink that a rule leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowException {
    /// The sources.
    pub from: SourcePattern,
    /// The sinks.
    pub to: SinkPattern,
}

/// A rule: operations that lead to one of `to` and depend on data from one of `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowRule {
    /// The sources.
    pub from: Vec<SourcePattern>,
    /// The sinks.
    pub to: Vec<SinkPattern>,
    /// What the rule leaves out.
    pub except: Vec<FlowException>,
    /// What it says.
    pub action: FlowAction,
}

impl FlowRule {
    /// Whether the rule speaks of data from this source in an operation that leads there.
    #[must_use]
    pub fn covers(&self, source: &Source, sink: &Sink) -> bool {
        self.to.iter().any(|pattern| pattern.matches(sink)) && self.covers_source(source, sink)
    }

    fn covers_source(&self, source: &Source, sink: &Sink) -> bool {
        self.from.iter().any(|pattern| pattern.matches(source))
            && !self.except.iter().any(|except| except.from.matches(source) && except.to.matches(sink))
    }

    /// Whether the rule names an operation both as source and as sink: what it reads and what it sends are one call.
    fn names_both(&self, own: &Source, sink: &Sink) -> bool {
        self.from.iter().any(|pattern| pattern.is_named() && pattern.matches(own))
            && self.to.iter().any(|pattern| pattern.is_named() && pattern.matches(sink))
            && self.covers_source(own, sink)
    }

    /// Returns the sources of a label that the rule covers, or `None` if it covers none of them. A label of any source
    /// is covered as a whole: some source is in `from`.
    fn covered(&self, label: &Label, own: Option<&Source>, sink: &Sink) -> Option<Label> {
        if !self.to.iter().any(|pattern| pattern.matches(sink)) {
            return None;
        }
        if label.is_any() {
            return (!self.from.is_empty()).then(Label::any);
        }
        let mut covered = Label::default();
        for source in label.sources().filter(|source| self.covers_source(source, sink)) {
            covered.insert(source.clone());
        }
        if let Some(own) = own.filter(|own| self.names_both(own, sink)) {
            covered.insert(own.clone());
        }
        (!covered.is_empty()).then_some(covered)
    }
}

/// The rules of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlowRules(Vec<FlowRule>);

/// What the rules say about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowDecision {
    /// The strictest action.
    pub action: FlowAction,
    /// The index of the first rule that says so.
    pub rule: usize,
    /// The sources of which that rule speaks.
    pub from: Label,
}

impl FlowRules {
    /// Creates rules.
    #[must_use]
    pub const fn new(rules: Vec<FlowRule>) -> Self {
        Self(rules)
    }

    /// Returns the rules.
    #[must_use]
    pub fn as_slice(&self) -> &[FlowRule] {
        &self.0
    }

    /// Whether there is no rule.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decides about an operation that depends on data with this label; `None` if no rule speaks of it. `own` is where
    /// its answer will come from: a rule that names both this source and the sink, not by a `*`, speaks of the operation
    /// whatever it depends on, because what it reads and what it sends are one call.
    ///
    /// # Examples
    /// ```
    /// use toolcell_flows::{FlowAction, FlowRule, FlowRules, Label, Sink, SinkPattern, SourcePattern, Target};
    ///
    /// let rules = FlowRules::new(vec![FlowRule {
    ///     from: vec![SourcePattern::parse("server:mail")?],
    ///     to: vec![SinkPattern::parse("web:*")?],
    ///     except: Vec::new(),
    ///     action: FlowAction::Ask,
    /// }]);
    /// let post = Sink { target: Target::Web("example.com".to_owned()), writes: true };
    /// assert_eq!(rules.decide(&Label::parse(["caller"]), None, &post), None);
    /// let decision = rules.decide(&Label::parse(["caller", "server:mail.read"]), None, &post).unwrap();
    /// assert_eq!((decision.action, decision.from.to_texts()), (FlowAction::Ask, vec!["server:mail.read".to_owned()]));
    /// # Ok::<(), toolcell_flows::PatternError>(())
    /// ```
    #[must_use]
    pub fn decide(&self, label: &Label, own: Option<&Source>, sink: &Sink) -> Option<FlowDecision> {
        let mut strictest: Option<FlowDecision> = None;
        for (index, rule) in self.0.iter().enumerate() {
            if strictest.as_ref().is_some_and(|decision| decision.action >= rule.action) {
                continue;
            }
            if let Some(from) = rule.covered(label, own, sink) {
                strictest = Some(FlowDecision { action: rule.action, rule: index, from });
            }
        }
        strictest
    }

    /// Returns what each rule says that speaks of an operation, as [`decide`](Self::decide) takes it.
    pub fn matching(&self, label: &Label, own: Option<&Source>, sink: &Sink) -> impl Iterator<Item = FlowDecision> {
        let rules = self.0.iter().enumerate();
        rules.filter_map(move |(index, rule)| {
            rule.covered(label, own, sink).map(|from| FlowDecision { action: rule.action, rule: index, from })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::Target;

    const SOURCES: [&str; 8] = [
        "caller",
        "files:private",
        "kv:notes",
        "secret:TOKEN",
        "server:mail.read",
        "server:mail.search",
        "tool:lookup",
        "web:api.example.com",
    ];
    const FROM: [&str; 9] = [
        "*",
        "caller",
        "files:*",
        "kv:notes",
        "secret:*",
        "server:mail",
        "server:mail.read",
        "tool:lookup",
        "web:*.example.com",
    ];
    const TO: [&str; 9] = [
        "*",
        "*:writes",
        "files:private",
        "kv:*:writes",
        "server:*",
        "server:mail.read",
        "tool:lookup",
        "web:*",
        "web:api.example.com:writes",
    ];

    fn sink() -> impl Strategy<Value = Sink> {
        let targets = vec![
            Target::Files("private".to_owned().try_into().unwrap()),
            Target::Kv("notes".to_owned().try_into().unwrap()),
            Target::Server("mail".to_owned().try_into().unwrap(), None),
            Target::Tool(toolcell_tool::ToolName::parse("lookup").unwrap()),
            Target::Web("api.example.com".to_owned()),
            Target::Web("example.org".to_owned()),
            Target::Unknown,
        ];
        (prop::sample::select(targets), any::<bool>()).prop_map(|(target, writes)| Sink { target, writes })
    }

    fn label() -> impl Strategy<Value = Label> {
        let known = prop::collection::vec(prop::sample::select(&SOURCES[..]), 0..6).prop_map(Label::parse);
        prop_oneof![9 => known, 1 => Just(Label::any())]
    }

    fn rule() -> impl Strategy<Value = FlowRule> {
        let from = || prop::sample::select(&FROM[..]).prop_map(|text| SourcePattern::parse(text).unwrap());
        let to = || prop::sample::select(&TO[..]).prop_map(|text| SinkPattern::parse(text).unwrap());
        let except = (from(), to()).prop_map(|(from, to)| FlowException { from, to });
        let action = prop::sample::select(vec![FlowAction::Ask, FlowAction::Deny]);
        (
            prop::collection::vec(from(), 0..3),
            prop::collection::vec(to(), 0..3),
            prop::collection::vec(except, 0..2),
            action,
        )
            .prop_map(|(from, to, except, action)| FlowRule { from, to, except, action })
    }

    fn action(rules: &[FlowRule], label: &Label, sink: &Sink) -> Option<FlowAction> {
        FlowRules::new(rules.to_vec()).decide(label, None, sink).map(|decision| decision.action)
    }

    proptest! {
        /// A larger label is never allowed what a smaller one is refused.
        #[test]
        fn decisions_are_monotone_in_the_label(rules in prop::collection::vec(rule(), 0..5), a in label(), b in label(), sink in sink()) {
            let mut both = a.clone();
            both.join(&b);
            prop_assert!(action(&rules, &both, &sink) >= action(&rules, &a, &sink));
            prop_assert!(both.includes(&a) && both.includes(&b));
        }

        /// More rules never allow more, and their order does not matter.
        #[test]
        fn decisions_are_monotone_in_the_rules(rules in prop::collection::vec(rule(), 0..5), more in rule(), label in label(), sink in sink()) {
            let mut all = rules.clone();
            all.push(more);
            prop_assert!(action(&all, &label, &sink) >= action(&rules, &label, &sink));
            let forward = action(&all, &label, &sink);
            all.reverse();
            prop_assert_eq!(action(&all, &label, &sink), forward);
        }

        /// Joining is idempotent and says whether the label grew.
        #[test]
        fn joining_is_idempotent(a in label(), b in label()) {
            let mut both = a.clone();
            let grew = both.join(&b);
            prop_assert_eq!(grew, both != a);
            prop_assert!(!both.join(&b) && !both.join(&a));
            prop_assert_eq!(Label::parse(both.to_texts().iter().map(String::as_str)), both);
        }

        /// A decision names a rule and sources that make it.
        #[test]
        fn a_decision_says_why(rules in prop::collection::vec(rule(), 1..5), label in label(), sink in sink()) {
            if let Some(decision) = FlowRules::new(rules.clone()).decide(&label, None, &sink) {
                let rule = &rules[decision.rule];
                prop_assert_eq!(rule.action, decision.action);
                prop_assert!(label.includes(&decision.from));
                prop_assert!(decision.from.sources().all(|source| rule.covers(source, &sink)));
            } else if !label.is_any() {
                prop_assert!(!rules.iter().any(|rule| label.sources().any(|source| rule.covers(source, &sink))));
            }
        }
    }

    #[test]
    fn a_call_that_reads_and_sends_is_asked_about_the_first_time() {
        let rule = |from: &str, to: &str| FlowRule {
            from: vec![SourcePattern::parse(from).unwrap()],
            to: vec![SinkPattern::parse(to).unwrap()],
            except: Vec::new(),
            action: FlowAction::Ask,
        };
        let shell = Source::parse("tool:shell").unwrap();
        let Source::Tool(name) = shell.clone() else { unreachable!() };
        let sink = Sink { target: Target::Tool(name), writes: true };
        let asks = |rule| FlowRules::new(vec![rule]).decide(&Label::default(), Some(&shell), &sink).is_some();
        assert!(asks(rule("tool:shell", "tool:shell")));
        assert!(!asks(rule("tool:*", "tool:shell")) && !asks(rule("tool:shell", "tool:*")));
        let except = FlowException {
            from: SourcePattern::parse("tool:shell").unwrap(),
            to: SinkPattern::parse("tool:shell").unwrap(),
        };
        assert!(!asks(FlowRule { except: vec![except], ..rule("tool:shell", "tool:shell") }));
    }

    #[test]
    fn a_label_of_too_many_sources_is_the_set_of_all() {
        let mut label = Label::default();
        for number in 0..=Label::LIMIT {
            assert!(label.insert(Source::Web(format!("{number}.example.com"))));
        }
        assert!(label.is_any() && !label.insert(Source::Caller));
        assert_eq!(label.to_texts(), ["*"]);
    }
}
