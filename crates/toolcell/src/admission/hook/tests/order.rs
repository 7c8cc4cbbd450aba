use super::*;

/// Returns all permutations.
fn orders(names: &[&'static str]) -> Vec<Vec<&'static str>> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = names.to_vec();
        let name = rest.remove(at);
        orders(&rest).into_iter().map(move |order| [vec![name], order].concat())
    };
    (0..names.len()).flat_map(first).collect()
}

fn verdict(name: &str) -> HookVerdict {
    match name {
        "allow" => HookVerdict::allow(),
        "ask" => HookVerdict::ask("look at it"),
        "deny" => HookVerdict::deny("no"),
        _ => HookVerdict::no_objection(),
    }
}

fn admit(order: &[&'static str]) -> Admission {
    let mut hooks = Hooks::default();
    for &name in order {
        hooks.before(name, move |_: &HookEvent| verdict(name));
    }
    hooks.admit(event(), None)
}

#[test]
fn deny_beats_ask_beats_allow_in_every_order() {
    let mut count = 0;
    for kept in 0..16_usize {
        let names = ["none", "allow", "ask", "deny"];
        let names: Vec<_> = (0..4).filter(|bit| kept & (1 << bit) != 0).map(|bit| names[bit]).collect();
        for order in orders(&names) {
            let admission = admit(&order);
            let strictest = ["deny", "ask", "allow"].into_iter().find(|name| order.contains(name));
            assert_eq!(admission.decision.name(), strictest.unwrap_or("no-objection"), "{order:?}");
            assert_eq!(admission.decided_by.as_deref(), strictest, "{order:?}");
            count += 1;
        }
    }
    assert_eq!(count, 65);
}

#[test]
fn no_hook_is_no_objection_and_not_an_allowance() {
    let admission = Hooks::default().admit(event(), None);
    assert_eq!((decision_text(&admission).as_str(), &admission.decided_by), ("no-objection", &None));
    assert_eq!(decision_text(&admission.resolve_ask(&event(), None)), "no-objection");
}

#[test]
fn a_denial_ends_the_chain_and_the_steps_say_who_was_asked() {
    let admission = admit(&["allow", "deny", "ask"]);
    let steps: Vec<_> = admission.steps.iter().map(|step| (step.hook.as_str(), step.decision.name())).collect();
    assert_eq!(steps, [("allow", "allow"), ("deny", "deny")]);
}

#[test]
fn the_reasons_of_all_who_ask_are_kept() {
    let mut hooks = Hooks::default();
    hooks.before("a", |_: &HookEvent| HookVerdict::ask("it costs money"));
    hooks.before("b", |_: &HookEvent| HookVerdict::ask("it is late"));
    let admission = hooks.admit(event(), None);
    assert_eq!(decision_text(&admission), "ask: it costs money; it is late");
    assert_eq!(admission.decided_by.as_deref(), Some("a"));
}

#[test]
fn a_later_hook_sees_the_arguments_as_the_earlier_one_changed_them() {
    let mut hooks = Hooks::default();
    for name in ["one", "two", "three"] {
        hooks.before(name, |call: &HookEvent| {
            let n = call.args["n"].as_u64().unwrap();
            HookVerdict::no_objection().with_args(json!({"n": n * 10})).with_context(format!("saw {n}"))
        });
    }
    let admission = hooks.admit(event(), None);
    assert_eq!(admission.args.as_deref(), Some(&json!({"n": 1000})));
    let context: Vec<_> = admission.context.iter().map(|context| (&*context.hook, &*context.text)).collect();
    assert_eq!(context, [("one", "saw 1"), ("two", "saw 10"), ("three", "saw 100")]);
    assert!(admission.steps.iter().all(|step| step.args == Modification::Changed));
}

#[test]
fn arguments_that_are_no_object_deny() {
    for (args, kind) in [(json!([1]), "an array"), (json!("x"), "a string"), (Value::Null, "null")] {
        let mut hooks = Hooks::default();
        hooks.before("x", move |_: &HookEvent| HookVerdict::allow().with_args(args.clone()));
        let admission = hooks.admit(event(), None);
        let expect = format!(
            "deny: the hook `x` gave an invalid answer: the modified arguments are {kind}, they must be an object"
        );
        assert_eq!(decision_text(&admission), expect);
        assert_eq!(admission.args, None);
    }
}

#[test]
fn one_hook_that_suppresses_is_enough() {
    let mut hooks = Hooks::default();
    hooks.before("a", |_: &HookEvent| HookVerdict::allow().with_suppressed_output());
    hooks.before("b", |_: &HookEvent| HookVerdict::allow());
    assert!(hooks.admit(event(), None).suppress_output);
}

#[test]
fn a_hook_is_for_the_tools_it_names_however_they_are_spelt() {
    let check = |patterns: &[&str], expect| {
        let mut hooks = Hooks::default();
        hooks.before("x", |_: &HookEvent| HookVerdict::deny("no")).restrict_to(patterns).unwrap();
        assert_eq!(hooks.admit(event(), None).decision.name(), expect, "{patterns:?}");
    };
    check(&[], "deny");
    check(&["*"], "deny");
    check(&["send-mail"], "deny");
    check(&["Send_Mail"], "deny");
    check(&["read-*", "SEND_*"], "deny");
    check(&["send-mail*"], "deny");
    check(&["send"], "no-objection");
    check(&["mail*"], "no-objection");
    let mut hooks = Hooks::default();
    for wrong in ["", "a*b", "**", "*-mail"] {
        let error = hooks.before("x", |_: &HookEvent| HookVerdict::allow()).restrict_to([wrong]).unwrap_err();
        assert_eq!((error.code().as_str(), error), ("gate-invalid", HookError::Pattern(wrong.to_owned())));
    }
}
