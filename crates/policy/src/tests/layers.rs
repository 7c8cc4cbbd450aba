//! The merge of the user's file with a project's.

use std::collections::BTreeSet;
use std::path::Path;

use toolcell_i18n::{Lang, Localize as _};
use toolcell_tool::AuditContents;
use toolcell_tool::ToolId;
use toolcell_tool::{Capabilities, Capability};

use super::{ALL, granted, name, policy, project, user};
use crate::{ApprovalMode, HookProtocol, HookTiming, Layer, Limit, LimitOverrides, OnAuditFailure, Overrides, Policy};

/// Returns the row of a key, followed by its ignored values.
pub(super) fn row(policy: &Policy, key: &str) -> String {
    let rows = policy.settings().into_iter().filter(|setting| setting.key == key).map(|setting| {
        let beyond = setting.ignored.iter().map(|(value, origin)| format!("; not {value} ({origin})"));
        format!("{} ({}){}", setting.value, setting.origin, beyond.collect::<String>())
    });
    rows.collect::<Vec<_>>().join(" and ")
}

fn check(of_user: &str, of_project: &str, key: &str, expect: &str) {
    let actual = row(&policy(of_user, of_project), key);
    assert_eq!(actual.replace("config/user.toml", "U").replace("project/toolcell.toml", "P"), expect);
}

#[test]
fn a_project_lowers_limits_and_raises_none() {
    let fuel = |value: u64| format!("[limits]\nfuel = {value}");
    check("", "", "limits.fuel", "250000000000 (built-in)");
    check(&fuel(500_000_000_000), "", "limits.fuel", "500000000000 (user U:2)");
    check("", &fuel(5), "limits.fuel", "5 (project P:2)");
    check("", &fuel(500_000_000_000), "limits.fuel", "250000000000 (built-in); not 500000000000 (project P:2)");
    check(&fuel(7), &fuel(5), "limits.fuel", "5 (project P:2)");
    check(&fuel(7), &fuel(7), "limits.fuel", "7 (user U:2)");
    check(&fuel(7), &fuel(9), "limits.fuel", "7 (user U:2); not 9 (project P:2)");
    let ceiling = |value: u64| format!("[ceilings]\nfuel = {value}");
    check(&ceiling(7), &ceiling(9), "ceilings.fuel", "7 (user U:2); not 9 (project P:2)");
    check(&ceiling(9), &ceiling(7), "ceilings.fuel", "7 (project P:2)");
    // A ceiling lowers the limit below it.
    check(&fuel(9), &ceiling(7), "limits.fuel", "7 (project P:2)");
    check("[store]\ntools = 5_000", "[store]\ntools = 9_000", "store.tools", "5000 (user U:2); not 9000 (project P:2)");
    check("", "[store]\ntools = 3", "store.tools", "3 (project P:2)");
}

#[test]
fn a_source_is_named_in_the_language_of_the_reader() {
    let policy = policy("[limits]\nfuel = 7\n[ceilings]\ntimeout_ms = 5", "");
    let origins = |lang| {
        let limits = policy.limits_with_origins(&LimitOverrides { memory_mb: Some(9), ..LimitOverrides::default() });
        limits.into_iter().map(|(_, _, origin)| origin.to_text(lang)).take(4).collect::<Vec<_>>()
    };
    assert_eq!(
        origins(Lang::En),
        ["user config/user.toml:2", "user config/user.toml:4", "requested by the caller", "built-in"]
    );
    assert_eq!(
        origins(Lang::Ja),
        ["ユーザー config/user.toml:2", "ユーザー config/user.toml:4", "呼び出し元の指定", "組み込み"]
    );
    let wanted = LimitOverrides { timeout_ms: Some(9), ..LimitOverrides::default() };
    let error = policy.budget(&wanted).unwrap_err();
    assert_eq!(error.to_string(), "timeout_ms is 9, it must be 1 to 5 (ceiling of user config/user.toml:4)");
    assert_eq!(
        error.localize().to_text(Lang::Zh),
        "timeout_ms 为 9，必须在 1 到 5 之间（最高值来源：用户 config/user.toml:4）"
    );
}

#[test]
fn a_project_asks_more_often_and_records_less_of_what_is_secret() {
    let mode = |mode: &str| format!("[approval]\nmode = \"{mode}\"");
    check("", "", "approval.mode", "\"auto-safe\" (built-in)");
    check(&mode("auto"), "", "approval.mode", "\"auto\" (user U:2)");
    check("", &mode("auto"), "approval.mode", "\"auto-safe\" (built-in); not \"auto\" (project P:2)");
    check(&mode("auto"), &mode("ask"), "approval.mode", "\"ask\" (project P:2)");
    check(&mode("never"), &mode("ask"), "approval.mode", "\"never\" (user U:2); not \"ask\" (project P:2)");
    let contents = |contents: &str| format!("[audit]\ncontents = \"{contents}\"");
    check(&contents("verbatim"), "", "audit.contents", "\"verbatim\" (user U:2)");
    check(&contents("verbatim"), &contents("digests"), "audit.contents", "\"digests\" (project P:2)");
    check("", &contents("verbatim"), "audit.contents", "\"digests\" (built-in); not \"verbatim\" (project P:2)");
    let required = |required: bool| format!("[audit]\nrequired = {required}");
    check(&required(false), "", "audit.required", "false (user U:2)");
    check(&required(false), &required(true), "audit.required", "true (project P:2)");
    check("", &required(false), "audit.required", "true (built-in); not false (project P:2)");
    let receipts = |keeps: bool| format!("[audit]\nreceipts = {keeps}");
    check(&receipts(true), "", "audit.receipts", "true (user U:2)");
    check(&receipts(true), &receipts(false), "audit.receipts", "false (project P:2)");
    check("", &receipts(true), "audit.receipts", "false (built-in); not true (project P:2)");
}

#[test]
fn the_language_of_the_project_wins() {
    check("language = \"ja\"", "language = \"en\"", "language", "\"en\" (project P:1)");
    check("language = \"ja\"", "", "language", "\"ja\" (user U:1)");
    check("language = \"en\"", "language = \"zh\"", "language", "\"zh\" (project P:1)");
    check("", "", "language", "");
}

#[test]
fn reserved_names_and_hooks_add_up() {
    let hook = |name: &str| format!("[[hooks]]\nname = \"{name}\"\ncommand = [\"./hook\", \"a \\\"b\\\"\"]\n");
    let both = policy(
        &format!("[names]\nreserved = [\"bash\"]\n{}", hook("one")),
        &format!("[names]\nreserved = [\"read\"]\n{}", hook("two words")),
    );
    assert_eq!(both.reserved(&name("Bash")).unwrap().0.as_str(), "bash");
    assert_eq!(both.reserved(&name("READ")).unwrap().1.to_string(), "project project/toolcell.toml:2");
    assert_eq!(both.reserved(&name("write")), None);
    assert_eq!(
        row(&both, "names.reserved"),
        "[\"bash\"] (user config/user.toml:2) and [\"read\"] (project project/toolcell.toml:2)"
    );
    let layers: Vec<(&str, Layer)> = both.hooks().iter().map(|hook| (hook.name.as_str(), hook.layer)).collect();
    assert_eq!(layers, [("one", Layer::User), ("two words", Layer::Project)]);
    assert_eq!(row(&both, "hooks.\"two words\""), "[\"./hook\", \"a \\\"b\\\"\"] (project project/toolcell.toml:4)");
    check("", "", "names.reserved", "[] (built-in)");
}

#[test]
fn a_hook_knows_its_file_its_time_and_its_tools() {
    let file = project(ALL).unwrap();
    let [hook, rules, shared] = file.hooks() else { panic!("{:?}", file.hooks()) };
    assert_eq!(hook.file_hash, blake3::hash(ALL.as_bytes()));
    assert_eq!((hook.file_hash, hook.layer), (file.hash(), file.layer()));
    let command = hook.command().unwrap();
    assert_eq!((&*command.command[0], &*command.folder), ("python3", Path::new("project")));
    assert_eq!((command.protocol, shared.command().unwrap().protocol), (HookProtocol::Toolcell, HookProtocol::Copilot));
    assert_eq!((rules.command(), rules.words()), (None, &["house_rules".to_owned()][..]));
    assert_eq!(hook.timeout.as_secs(), 5);
    assert_eq!(hook.tools.iter().map(ToString::to_string).collect::<Vec<_>>(), ["db-*"]);

    let file = project("[[hooks]]\nname = \"x\"\ncommand = [\"./hook\"]\ntools = [\"sum\"]").unwrap();
    let hook = &file.hooks()[0];
    assert_eq!(hook.when, BTreeSet::from([HookTiming::Before]));
    let file = user("[[hooks]]\nname = \"x\"\ncommand = [\"/bin/hook\"]\ntools = [\"*\"]").unwrap();
    assert_eq!(file.hooks()[0].tools[0].to_string(), "*");
}

#[test]
fn the_rule_that_is_closest_to_a_tool_counts() {
    let rules = |text: &str| policy(text, "");
    let timers = |policy: &Policy, tool: &str, tags: &[&str]| granted(policy, tool, tags).has(Capability::Timers);
    assert!(!timers(&Policy::default(), "x", &[]));
    let by_default = rules("[grants.default]\ntimers = true\n[grants.tools.Odd-One]\ntimers = false");
    assert!(timers(&by_default, "x", &[]) && !timers(&by_default, "odd_one", &[]));
    let by_tag = rules("[grants.tags.slow]\ntimers = true\n[grants.tags.wild]\ntimers = false");
    assert!(timers(&by_tag, "x", &["slow"]) && !timers(&by_tag, "x", &[]));
    assert!(!timers(&by_tag, "x", &["slow", "wild"]) && !timers(&by_tag, "x", &["slower"]));
    let by_id = rules("[grants.tools.dt_0a0a0a0a0a]\ntimers = true");
    assert!(timers(&by_id, "x", &[]));
    assert!(!timers(&rules("[grants.tools.dt_0a0a0a0b]\ntimers = true"), "x", &[]));
    let contrary = rules("[grants.tools.dt_0a0a0a0a]\ntimers = true\n[grants.tools.x]\ntimers = false");
    assert!(!timers(&contrary, "x", &[]) && timers(&contrary, "y", &[]));
}

#[test]
fn only_what_is_asked_for_is_granted() {
    let policy = policy("[grants.default]\ntimers = true", "");
    let granted = |asked| {
        let asked = Capabilities::unscoped(asked);
        policy.grants_for(ToolId::from_bytes([1; 32]), &name("x"), &[], &asked).to_value().to_string()
    };
    assert_eq!(granted(vec![]), "{}");
    assert_eq!(granted(vec![Capability::Timers, Capability::Net]), r#"{"timers":true}"#);
}

#[test]
fn a_project_grants_nothing_beyond_what_the_user_grants() {
    let yes = "[grants.default]\ntimers = true";
    let tagged = "[grants.tags.slow]\ntimers = true";
    for (of_user, of_project, plain, slow) in [
        ("", "", false, false),
        (yes, "", true, true),
        ("", yes, false, false),
        ("[grants]", yes, false, false),
        (yes, "[grants]", false, false),
        (yes, yes, true, true),
        (yes, tagged, false, true),
        (tagged, yes, false, true),
        (yes, "language = \"en\"", true, true),
    ] {
        let policy = policy(of_user, of_project);
        assert_eq!(!granted(&policy, "x", &[]).is_empty(), plain, "{of_user} and {of_project}");
        assert_eq!(!granted(&policy, "x", &["slow"]).is_empty(), slow, "{of_user} and {of_project}");
    }
}

#[test]
fn a_ruling_names_the_rule_that_decided() {
    let said = |of_user: &str, of_project: &str| {
        let asked = Capabilities::unscoped([Capability::Timers]);
        let tags = ["slow".to_owned()];
        let policy = policy(of_user, of_project);
        policy.grant_decisions(ToolId::from_bytes([1; 32]), &name("x"), &tags, &asked)[0].to_string()
    };
    let yes = "[grants.default]\ntimers = true";
    assert_eq!(said("", yes), "timers is not granted by any rule (built-in)");
    assert_eq!(said(yes, ""), "timers is granted by `grants.default` (user config/user.toml:2)");
    assert_eq!(
        said(yes, "[grants.tags.slow]\ntimers = false"),
        "timers is refused by `grants.tags.slow` (project project/toolcell.toml:2)"
    );
    assert_eq!(said(yes, "[grants]"), "timers is not granted by any rule (project project/toolcell.toml:1)");
    check("", yes, "grants.default.timers", "false (built-in); not true (project P:2)");
    check(yes, "", "grants.default.timers", "true (user U:2)");
    check(yes, "[grants.tags.a]\ntimers = true", "grants.default.timers", "false (project P:1)");
    check(yes, "[grants.tags.a]\ntimers = true", "grants.tags.a.timers", "true (user U:2)");
    check("", "", "grants.default.timers", "false (built-in)");
}

#[test]
fn a_call_gets_what_it_wants_up_to_the_ceiling() {
    let policy = policy("[limits]\nmemory_mb = 32\n[ceilings]\nmemory_mb = 64", "[ceilings]\ntimeout_ms = 9_000");
    let budget = policy
        .budget(&LimitOverrides { memory_mb: Some(64), operations: Some(1), ..LimitOverrides::default() })
        .unwrap();
    assert_eq!((budget.memory, budget.deadline.as_millis(), budget.operations), (64 << 20, 9_000, 1));
    assert_eq!(policy.budget(&LimitOverrides::default()).unwrap().memory, 32 << 20);
    let told = |wanted| {
        let error = policy.budget(&wanted).unwrap_err();
        assert_eq!(error.code(), "limit-invalid");
        error.to_string()
    };
    let wanted = LimitOverrides::default();
    assert_eq!(
        told(LimitOverrides { memory_mb: Some(65), ..wanted }),
        "memory_mb is 65, it must be 8 to 64 (ceiling of user config/user.toml:4)"
    );
    assert_eq!(
        told(LimitOverrides { timeout_ms: Some(9_001), ..wanted }),
        "timeout_ms is 9001, it must be 1 to 9000 (ceiling of project project/toolcell.toml:2)"
    );
    assert_eq!(told(LimitOverrides { fuel: Some(0), ..wanted }), "fuel is 0, it must be 1 to 1000000000000000");
    assert_eq!(
        told(LimitOverrides { operations: Some(u64::MAX), ..wanted }),
        format!("operations is {}, it must be 1 to 10000", u64::MAX)
    );
}

#[test]
fn without_a_file_the_sandbox_s_own_values_hold() {
    let policy = Policy::default();
    assert_eq!(policy.budget(&LimitOverrides::default()).unwrap(), toolcell_protocol::Budget::default());
    assert_eq!((policy.tools_limit(), policy.contents()), (10_000, AuditContents::Digests));
    assert_eq!((policy.approval().0, policy.on_audit_failure()), (ApprovalMode::AutoSafe, OnAuditFailure::Refuse));
    assert_eq!((policy.language(), policy.hooks().len()), (None, 0));
}

#[test]
fn a_flag_goes_before_the_files() {
    let overrides = Overrides { language: Some(Lang::En), approval: Some(ApprovalMode::Auto) };
    let policy = policy("language = \"ja\"", "[approval]\nmode = \"ask\"").with_overrides(&overrides);
    assert_eq!((policy.language(), policy.approval().0), (Some(Lang::En), ApprovalMode::Auto));
    assert_eq!(row(&policy, "approval.mode"), "\"auto\" (flag)");
}

/// Picks one of these by the next random number.
fn any<'a>(random: &mut impl Iterator<Item = u8>, of: &[&'a str]) -> &'a str {
    of[usize::from(random.next().unwrap()) % of.len()]
}

/// Returns a small random policy.
fn any_policy(random: &mut impl Iterator<Item = u8>, hook: &str) -> String {
    let rule = ["", "timers = true", "timers = false"];
    let nets = [
        "",
        "[[grants.net]]\nhost = \"any\"\n",
        "[[grants.net]]\nhost = \"*.b.example\"\nmethods = [\"GET\", \"POST\"]\ncalls = 5\n",
        "[[grants.net]]\nhost = \"a.b.example\"\npath = \"/v1\"\n[[grants.net]]\nhost = \"c.example\"\n",
    ];
    let hook = format!("[[hooks]]\nname = \"{hook}\"\ncommand = [\"x\"]");
    let section = |header: &str, body: &str| format!("{header}\n{body}\n");
    [
        section("[limits]", any(random, &["", "fuel = 5", "fuel = 600_000_000_000", "memory_mb = 8"])),
        section(
            "[ceilings]",
            any(random, &["", "fuel = 600_000_000_000", "timeout_ms = 7_000", "timeout_ms = 70_000"]),
        ),
        section("[store]", any(random, &["", "tools = 0", "tools = 5_000", "tools = 9_000"])),
        section("[audit]", any(random, &["", "contents = \"verbatim\"", "required = false", "required = true"])),
        section("[approval]", any(random, &["", "mode = \"never\"", "mode = \"ask\"", "mode = \"auto\""])),
        section("[names]", any(random, &["", "reserved = [\"one\"]", "reserved = [\"two\"]"])),
        section(any(random, &["", "[grants]"]), ""),
        any(random, &["", "[grants.default]\ntimers = true\n", "[grants.default]\ntimers = false\n"]).to_owned(),
        any(random, &nets).replace("grants", "grants.default"),
        any(random, &nets).replace("grants", "grants.tools.x"),
        section("[grants.tags.one]", any(random, &rule)).repeat(usize::from(random.next().unwrap() % 2)),
        section("[grants.tools.x]", any(random, &rule)).repeat(usize::from(random.next().unwrap() % 2)),
        section("[grants.tools.dt_0a0a0a0a]", any(random, &rule)).repeat(usize::from(random.next().unwrap() % 2)),
        any(random, &["", &hook]).to_owned(),
    ]
    .concat()
}

#[test]
fn with_a_project_nothing_is_permitted_that_is_not_without_it() {
    let mut bytes = vec![0; 64 * 1_024];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    let mut random = bytes.into_iter();
    for _ in 0..1_000 {
        let (of_user, of_project) = (any_policy(&mut random, "u"), any_policy(&mut random, "p"));
        let alone = Policy::from_layers([user(&of_user).unwrap()]).unwrap();
        let both = policy(&of_user, &of_project);
        let narrower = [
            Limit::ALL.iter().all(|limit| both.limits.limit(*limit).value <= alone.limits.limit(*limit).value),
            Limit::ALL.iter().all(|limit| both.limits.ceiling(*limit).value <= alone.limits.ceiling(*limit).value),
            both.tools_limit() <= alone.tools_limit(),
            both.contents() == AuditContents::Digests || alone.contents() == AuditContents::Verbatim,
            both.on_audit_failure() <= alone.on_audit_failure(),
            both.approval().0 <= alone.approval().0,
            ["one", "two"].map(name).iter().all(|name| both.reserved(name).is_some() || alone.reserved(name).is_none()),
            both.hooks().starts_with(alone.hooks()),
            ["x", "y"].into_iter().all(|tool| {
                [[].as_slice(), &["one"]]
                    .into_iter()
                    .all(|tags| granted(&both, tool, tags).is_subset_of(&granted(&alone, tool, tags)))
            }),
        ];
        assert_eq!(narrower, [true; 9], "{of_user}\n-- and --\n{of_project}");
    }
}
