//! Every problem of a file is reported with its line and column.

use std::path::Path;

use toolcell_i18n::{Lang, Localize as _};

use super::{project, user};
use crate::Policy;

fn check(text: &str, expect: &str) {
    let error = user(text).unwrap_err();
    assert_eq!(error.code(), "policy-invalid");
    assert_eq!(error.to_string().replace("config/user.toml:", ""), expect);
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one() {
    check(
        "[limits]\nfule = 1",
        "2:1: `limits` has no `fule`, did you mean `fuel`? (known: `fuel`, `timeout_ms`, `memory_mb`, \
         `output_bytes`, `console_bytes`, `operations`)",
    );
    check(
        "\nlanguage = \"en\"\n  [Limits]\nfuel = 1",
        "3:4: a policy has no `Limits`, did you mean `limits`? (known: `language`, `limits`, `ceilings`, `store`, \
         `reflection`, `audit`, `approval`, `names`, `grants`, `hooks`, `external_tools`, `flows`, `declassify`, \
         `servers`, `types`)",
    );
    check("audit = { verbatim = true }", "1:11: `audit` has no `verbatim` (known: `contents`, `receipts`, `required`)");
    check(
        "[[hooks]]\nname = \"x\"\ncommand = [\"y\"]\n\"\\u001b[31m\" = 1",
        "4:1: `hooks` has no `\\u{1b}[31m` (known: `name`, `command`, `tool`, `protocol`, `when`, `timeout_ms`, `tools`, `env`)",
    );
}

#[test]
fn a_problem_is_told_in_the_language_of_the_reader() {
    let error = user("[limits]\nfuel = \"much\"\n[audit]\nverbatim = true").unwrap_err();
    let in_lang = |lang| error.localize().to_text(lang).replace("config/user.toml:", "");
    assert_eq!(
        in_lang(Lang::Ja),
        "2:8: `limits.fuel` は文字列ですが、整数でなければなりません\n\
         4:1: `audit` に `verbatim` という項目はありません (使えるもの: `contents`、`receipts`、`required`)"
    );
    assert_eq!(
        in_lang(Lang::Zh),
        "2:8: `limits.fuel` 是字符串，必须是整数\n\
         4:1: `audit` 中没有 `verbatim`（可用：`contents`、`receipts`、`required`）"
    );
}

#[test]
fn a_wrong_type_is_told_with_the_right_one() {
    check("[limits]\nfuel = \"much\"", "2:8: `limits.fuel` is a string, it must be an integer");
    check("[limits]\nfuel = 1.5", "2:8: `limits.fuel` is a float, it must be an integer");
    check("limits = 5", "1:10: `limits` is an integer, it must be a table");
    check("hooks = {}", "1:9: `hooks` is a table, it must be an array");
    check("[audit]\nrequired = \"yes\"", "2:12: `audit.required` is a string, it must be a boolean");
    check("[names]\nreserved = [\"a\", 1]", "2:18: `names.reserved` is an integer, it must be a string");
    check("[grants]\ndefault = true", "2:11: `grants.default` is a boolean, it must be a table");
}

#[test]
fn a_value_out_of_its_range_is_told_with_the_range() {
    check("[limits]\nfuel = 0", "2:8: `limits.fuel` is 0, it must be 1 to 1000000000000000");
    check("[limits]\ntimeout_ms = -5", "2:14: `limits.timeout_ms` is -5, it must be 1 to 600000");
    check("[ceilings]\nmemory_mb = 7", "2:13: `ceilings.memory_mb` is 7, it must be 8 to 1024");
    check(
        "[limits]\nfuel = 99999999999999999999",
        "2:8: `limits.fuel` is 99999999999999999999, it must be 1 to 1000000000000000",
    );
    check("[store]\ntools = 1_000_001", "2:9: `store.tools` is 1000001, it must be 0 to 1000000");
}

#[test]
fn an_unknown_word_is_told_with_the_known_ones() {
    check(
        "[approval]\nmode = \"autosafe\"",
        "2:8: `approval.mode` cannot be `autosafe`, did you mean `auto-safe`? (known: `never`, `ask`, \
         `auto-safe`, `auto`)",
    );
    check("language = \"fr\"", "1:12: `language` cannot be `fr` (known: `en`, `ja`, `zh`)");
    check("[audit]\ncontents = \"all\"", "2:12: `audit.contents` cannot be `all` (known: `digests`, `verbatim`)");
}

#[test]
fn a_limit_is_not_above_the_ceiling_of_its_own_file() {
    check(
        "[limits]\ntimeout_ms = 60_000\n[ceilings]\ntimeout_ms = 30_000",
        "2:14: `limits.timeout_ms` is 60000, and its ceiling in line 4 is 30000",
    );
}

#[test]
fn a_capability_is_granted_by_what_fits_it() {
    check(
        "[grants.default]\ntimer = true",
        "2:1: `grants.default` has no `timer`, did you mean `timers`? (known: `timers`, `clock`, `random`, `net`, \
         `kv`, `files`, `secrets`, `tools`, `servers`, `id`)",
    );
    check(
        "[grants.default]\nnet = true",
        "2:7: `grants.default.net` cannot be `true`: list the grants, or set `false` to grant nothing",
    );
    check(
        "[grants.tools.x.net]\nhost = \"a.example\"",
        "1:1: `grants.tools.x.net` is a table, it must be an array (`[[grants.tools.x.net]]`) or `false`",
    );
    check("[grants.default]\nkv = \"notes\"", "2:6: `grants.default.kv` is a string, it must be a table or `false`");
    check("[grants.default]\nnet = []", "2:7: `grants.default.net` is empty, it needs at least one entry");
    check(
        "[grants.default]\ntools = 1",
        "2:9: `grants.default.tools` is an integer, it must be `\"any\"` or an array or `false`",
    );
    check("[grants.default]\ntools = \"all\"", "2:9: `grants.default.tools` cannot be `all` (known: `any`)");
    check(
        "[grants.tags.x]\nfiles = [{ read = \"/\" }]",
        "2:10: `grants.tags.x.files` needs a `name`\n2:10: `grants.tags.x.files` needs a `path`\n\
         2:12: `grants.tags.x.files` has no `read` (known: `name`, `path`, `access`, `bytes`, `read_bytes`)",
    );
}

/// Checks the problem of a network grant, in the line below its host.
#[track_caller]
fn check_net(line: &str, expect: &str) {
    check(&format!("[[grants.tools.x.net]]\nhost = \"a.example\"\n{line}"), &format!("3:{expect}"));
}

#[test]
fn a_grant_of_the_network_says_what_can_be_in_words_that_mean_it() {
    let host = |host: &str, why: &str| {
        let text = format!("[[grants.default.net]]\nhost = {host:?}");
        check(&text, &format!("2:8: `{host}` is not a valid host: {why}"));
    };
    host("*", "to grant every host, write `any`");
    host("*.com", "it covers a whole top-level domain; name at least two labels, or write `any`");
    host("https://a.example", "it is a URL; write only the host, with `scheme`, `ports` and `path` as separate keys");
    host("127.1", "it reads as an address; write all four numbers in decimal");
    check("[[grants.default.net]]\ncalls = 1", "1:1: `grants.default.net` needs a `host`");
    check_net("ports = [0]", "10: `grants.tools.x.net.ports` is 0, it must be 1 to 65535");
    check_net("path = \"v1\"", "8: `v1` is not a valid URL path: it must begin with `/`");
    check_net(
        "path = \"/a/../b\"",
        "8: `/a/../b` is not a valid URL path: it contains `.`, `..`, a backslash or an encoded slash; write the \
         normalized path",
    );
    check_net(
        "methods = [\"GET\", \"post\"]",
        "19: `grants.tools.x.net.methods` cannot be `post`, did you mean `POST`? (known: `GET`, `HEAD`, `OPTIONS`, \
         `POST`, `PUT`, `PATCH`, `DELETE`)",
    );
    check_net("scheme = \"ftp\"", "10: `grants.tools.x.net.scheme` cannot be `ftp` (known: `https`, `http`)");
    check_net(
        "addresses = [\"10.0.0.1/8\"]",
        "14: `10.0.0.1/8` is not a valid address range: it has host bits set; \
                                               write `10.0.0.0/8`",
    );
    check_net("calls = 0", "9: `grants.tools.x.net.calls` is 0, it must be 1 to 1000000");
    check_net("per_minute = 0", "14: `grants.tools.x.net.per_minute` is 0, it must be 1 to 1000000");
    check(
        "[[grants.default.net]]\nhost = \"any\"\naddresses = [\"10.0.0.0/8\"]",
        "3:14: `any` is not a valid host for private addresses: private addresses \
         can only be granted to named hosts: name them instead of `any`",
    );
}

#[test]
fn a_secret_has_a_host_and_a_folder_is_not_everything() {
    let secret = "[[grants.default.secrets]]\nname = \"T\"\n";
    check(secret, "1:1: `grants.default.secrets` needs a `hosts`");
    check(&format!("{secret}hosts = []"), "3:9: `grants.default.secrets.hosts` is empty, it needs at least one entry");
    check(&format!("{secret}hosts = [\"*\"]"), "3:10: `*` is not a valid host: to grant every host, write `any`");
    check(
        "[[grants.default.secrets]]\nname = \"A B\"\nhosts = [\"a.example\"]",
        "2:8: `A B` is not a valid secret name: only ASCII letters, digits, `_` and `-` are allowed",
    );
    let folder = |path: &str, more: &str| format!("[[grants.default.files]]\nname = \"d\"\npath = {path:?}\n{more}");
    let all = "it is the whole file system; name the folder that the tool needs";
    for everything in ["/", "/srv/..", "/../."] {
        check(&folder(everything, ""), &format!("3:8: `/` is not a valid folder: {all}"));
    }
    check(&folder("", ""), "3:8: `` is not a valid folder: the path is empty");
    check(&folder("~/data", ""), "3:8: `~` is not expanded in `~/data`: write the full path");
    for around in [".", "../config"] {
        check(
            &folder(around, "access = \"write\""),
            "3:8: the folder contains this policy, and a tool could change it: grant a subfolder, or `read`",
        );
    }
    check(
        "[grants.default.kv]\nspace = \"a/b\"",
        "2:9: `a/b` is not a valid space name: only ASCII letters, digits, `_` and `-` are allowed",
    );
    check("[grants.default.kv]\nbytes = 1", "1:1: `grants.default.kv` needs a `space`");
    check(
        "[grants.default]\ntools = [\"any\"]",
        "2:10: `any` is not a valid tool name here: to grant all tools, write `\"any\"` without a list",
    );
}

#[test]
fn of_one_thing_one_thing_is_said() {
    check(
        "[grants.tools.a-b]\ntimers = true\n[grants.tools.A_B]\ntimers = false",
        "3:15: line 1 grants `timers` differently: `grants.tools.a-b` is the same tool, keep one of the rules",
    );
    let net = |calls: u32| format!("[[grants.default.net]]\nhost = \"a.example\"\ncalls = {calls}\n");
    check(
        &format!("{}{}", net(1), net(2)),
        "5:8: line 2 grants the same requests with other addresses or limits, keep one",
    );
    assert!(user(&format!("{}{}", net(1), net(1))).is_ok());
    let folder = |path: &str| format!("[[grants.default.files]]\nname = \"d\"\npath = {path:?}\n");
    check(
        &format!("{}{}", folder("/a"), folder("/b")),
        "5:8: line 2 grants another folder with this name, give each its own name",
    );
    let secret = |host: &str| format!("[[grants.default.secrets]]\nname = \"T\"\nhosts = [{host:?}]\n");
    check(
        &format!("{}{}", secret("a.example"), secret("b.example")),
        "5:8: line 2 grants this secret differently, combine them in one table",
    );
    let many: Vec<String> = (0..33).map(|at| format!("[[grants.default.net]]\nhost = \"h{at}.example\"\n")).collect();
    let error = user(&many.concat()).unwrap_err().to_string();
    assert!(error.ends_with("`grants.default` has 33 grants, the limit is 32"), "{error}");
}

#[test]
fn the_largest_files_are_judged_in_time_that_grows_with_them() {
    let hosts: Vec<String> = (0..20_000).map(|at| format!("\"a{at}.b\"")).collect();
    let hosts = format!("[[grants.default.secrets]]\nname = \"T\"\nhosts = [{}]\n", hosts.join(","));
    let ranges: Vec<String> = (0..15_000).map(|at| format!("\"10.{}.{}.1\"", at / 200, at % 200)).collect();
    let ranges = format!("[[grants.default.net]]\nhost = \"a.b\"\naddresses = [{}]\n", ranges.join(","));
    let many = |line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for at in 0.. {
            let line = line(at);
            if text.len() + line.len() > 250_000 {
                break;
            }
            text.push_str(&line);
        }
        text
    };
    let nets = many(&|at| format!("[[grants.default.net]]\nhost = \"a{at}.example\"\n"));
    let folders = many(&|at| format!("[[grants.default.files]]\nname = \"d{at}\"\npath = \"/tmp/a{at}\"\n"));
    let rules = many(&|at| format!("[grants.tools.t{at}]\ntimers = true\n"));
    let names = format!("grants.default.tools = [{}]\n", many(&|at| format!("\"t{at}\",")));
    let reserved = format!("names.reserved = [{}]\n", many(&|at| format!("\"t{at}\",")));
    for (name, text, expect) in [
        ("hosts", hosts, "the grant for `T` has 20000 hosts, the limit is 64"),
        ("ranges", ranges, "the grant for `a.b` has 15000 address ranges, the limit is 64"),
        ("nets", nets, "grants, the limit is 32"),
        ("folders", folders, "grants, the limit is 32"),
        ("rules", rules, ""),
        ("names", names, ""),
        ("reserved", reserved, ""),
    ] {
        let before = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let said = user(&text).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(said.ends_with(expect) && said.is_empty() == expect.is_empty(), "{name}: {said}");
        let after = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        // An optimised build takes some 30 ms; 20,000 hosts took 12 s.
        let seconds = after.tv_sec - before.tv_sec;
        assert!(seconds < 5, "{name}: {seconds} s");
    }
}

#[test]
fn the_store_is_in_no_folder_that_is_granted() {
    let folder = |path: &str| format!("[[grants.default.files]]\nname = \"d\"\npath = {path:?}\n");
    let same = |path: &Path| path.to_owned();
    let apart = |path: &str| {
        let policy = Policy::from_layers([user(&folder(path)).unwrap()]).unwrap();
        policy.excludes_path(Path::new("/srv/store"), same).map_err(|error| error.to_string())
    };
    let expect =
        "config/user.toml:3:8: the folder contains the store or is inside it (/srv/store): grant a folder outside it";
    for together in ["/srv/store", "/srv", "/srv/store/objects", "/srv/x/../store"] {
        assert_eq!(apart(together), Err(expect.to_owned()), "{together}");
    }
    assert_eq!(apart("/srv/storehouse"), Ok(()));
    let expect = "config/user.toml:3:8: the folder depends on the current directory: give `config/user.toml` as \
                  an absolute path";
    assert_eq!(apart("data"), Err(expect.to_owned()));
}

#[test]
fn a_rule_is_about_something_that_can_be() {
    check("[grants.tags.\"\"]\ntimers = true", "1:14: a tag is empty");
    check("[grants.tags.\" \"]\ntimers = true", "1:14: a tag is empty");
    check(
        "[grants.tags.\" x\"]\ntimers = true",
        "1:14: invalid tag: a tag has no surrounding spaces, no control characters, and at most 128 bytes",
    );
    check(
        "[grants.tools.1x]\ntimers = true",
        "1:15: not a tool name or identifier: `1x` is not a valid tool name: it must start with an ASCII \
         letter",
    );
    check(
        "[grants.tools]\ndt_0a0a = { timers = true }\ncreate_tool = {}",
        "3:1: not a tool name or identifier: `create_tool` is the name of an operation",
    );
    check(
        "[names]\nreserved = [\"bash\", \"a b\"]",
        "2:21: `names.reserved`: `a b` is not a valid tool name: it contains ' ', only ASCII letters, digits, `_` \
         and `-` are allowed",
    );
}

#[test]
fn a_rule_about_external_tools_names_tools_arguments_and_a_decision() {
    let rule = "[[external_tools.rules]]\n";
    check(&format!("{rule}tools = [\"x\"]"), "1:1: `external_tools.rules` needs a `decision`");
    check(
        &format!("{rule}tools = []\ndecision = \"deny\""),
        "2:9: `external_tools.rules.tools` is empty, it needs at least one entry",
    );
    check(
        &format!("{rule}tools = [\" \"]\ndecision = \"deny\""),
        "2:10: the name of a tool is empty; `*` stands for every tool",
    );
    check(
        &format!("{rule}tools = [\"x\"]\ndecision = \"maybe\""),
        "3:12: `external_tools.rules.decision` cannot be `maybe` (known: `allow`, `ask`, `deny`)",
    );
    check(
        &format!("{rule}tools = [\"x\"]\nargs = {{ a = [] }}\ndecision = \"deny\""),
        "3:10: the argument `a` has no pattern; `*` stands for any text",
    );
    check(
        &format!("{rule}tools = [\"x\"]\nargs = {{ a = \"b\" }}\ndecision = \"deny\""),
        "3:14: `external_tools.rules.args.a` is a string, it must be an array",
    );
}

#[test]
fn a_hook_has_a_name_of_its_own_and_a_command() {
    let sound = "[[hooks]]\nname = \"x\"\ncommand = [\"y\"]\n";
    check(&format!("{sound}{sound}"), "5:8: the hook in line 2 is already named `x`");
    check("[[hooks]]\ncommand = [\"y\"]", "1:1: `hooks` needs a `name`");
    check("[[hooks]]\nname = \"x\"", "1:1: `hooks` needs a `command` or a `tool`");
    check(&format!("{sound}tool = \"t\""), "4:8: the hook has both a `command` and a `tool`: remove one of them");
    check(
        "[[hooks]]\nname = \"x\"\ntool = \"t\"\nenv = [\"A\"]",
        "4:8: only a hook with a `command` has an `env`: a tool sees no environment",
    );
    check(
        "[[hooks]]\nname = \"x\"\ntool = \"t\"\nprotocol = \"claude\"",
        "4:12: only a hook with a `command` has a `protocol`",
    );
    check(
        "[[hooks]]\nname = \"x\"\ntool = \"a b\"",
        "3:8: not a tool name or identifier: `a b` is not a valid tool name: it contains ' ', only ASCII letters, digits, `_` and `-` are allowed",
    );
    check(
        &format!("{sound}protocol = \"claud\""),
        "4:12: `hooks.protocol` cannot be `claud`, did you mean `claude`? (known: `toolcell`, `copilot`, `claude`)",
    );
    check(
        "[[hooks]]\nname = \"\"\ncommand = [\"y\"]",
        "2:8: a hook name must not be empty or contain control characters",
    );
    check("[[hooks]]\nname = \"x\"\ncommand = []", "3:11: `hooks.command` is empty, it needs at least one entry");
    check("[[hooks]]\nname = \"x\"\ncommand = [\"\"]", "3:11: the command of a hook must start with a program");
    check(
        "[[hooks]]\nname = \"x\"\ncommand = [\"y\", \"\\u0000\"]",
        "3:11: the command of a hook must not contain U+0000",
    );
    check(
        "[[hooks]]\nname = \"x\"\ncommand = [\"y\"]\nenv = [\"EDITOR\", \"TOOLCELL_SECRET_T\"]",
        "4:18: `hooks.env` must not contain `TOOLCELL_SECRET_T`: it holds a tool secret or a token, which hooks never \
         receive; use a separate variable for the hook",
    );
    check("[[hooks]]\nname = \"x\"\ncommand = [\"y\", 1]", "3:17: `hooks.command` is an integer, it must be a string");
    check(&format!("{sound}timeout_ms = 0"), "4:14: `hooks.timeout_ms` is 0, it must be 1 to 600000");
    check(&format!("{sound}when = []"), "4:8: `hooks.when` is empty, it needs at least one entry");
    check(&format!("{sound}tools = []"), "4:9: `hooks.tools` is empty, it needs at least one entry");
    for wrong in ["*-db", "d*b", "1*", "", "**", "é"] {
        let expect = format!("4:10: `{wrong}` is not a tool name pattern: use a name, or a prefix followed by `*`");
        check(&format!("{sound}tools = [{wrong:?}]"), &expect);
    }
    let long = "n".repeat(65);
    check(
        &format!("[[hooks]]\nname = \"{long}\"\ncommand = [\"y\"]"),
        "2:8: the hook name has 65 characters, the limit is 64",
    );
}

#[test]
fn all_that_is_wrong_is_told_at_once_in_the_order_of_the_file() {
    let text = "[limits]\nfuel = 0\ntimeout_ms = 9\n[ceilings]\ntimeout_ms = 8\n[grants.default]\nnet = 1\n\
                [[hooks]]\nname = \"x\"\n[[hooks]]\nname = \"y\"\ncommand = [\"\"]\n";
    let error = user(text).unwrap_err();
    let lines: Vec<u32> = error.problems().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 7, 8, 12], "{error}");
}

#[test]
fn broken_syntax_is_told_with_its_place() {
    let place = |text: &str| {
        let error = user(text).unwrap_err();
        let problem = &error.problems()[0];
        assert!(!problem.message.to_string().contains('\n'), "{}", problem.message);
        (problem.line, problem.column)
    };
    assert_eq!(place("[limits]\nfuel = "), (2, 8));
    assert_eq!(place("[limits]\nfuel = 1\nfuel = 2"), (3, 1));
    assert_eq!(place("[limits]\n[limits]"), (2, 2));
    assert_eq!(place("# 規則\n[\"規\" limits]"), (2, 5));
    place("\"\"\"");
    place("a = [");
    place(&format!("a = {}", "[".repeat(100_000)));
}

#[test]
fn two_files_have_no_hook_of_one_name() {
    let text = "[[hooks]]\nname = \"x\"\ncommand = [\"y\"]";
    let error = Policy::from_layers([user(text).unwrap(), project(text).unwrap()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "project/toolcell.toml:2:1: the hook of user config/user.toml:2 is already named `x`"
    );
}

#[test]
fn a_file_of_any_size_is_answered_in_a_few_words() {
    let error = user(&" ".repeat(256 * 1_024 + 1)).unwrap_err();
    assert_eq!(error.to_string(), "config/user.toml:1:1: the file has 262145 bytes, the limit is 262144");
    let error = user(&format!("names = {{ reserved = [{}] }}", "1,".repeat(100_000))).unwrap_err();
    assert_eq!(error.problems().len(), 100);
    assert!(error.to_string().ends_with("an integer, it must be a string\nand 99900 more"), "{error}");
    let error = user(&format!("{} = 1\nlanguage = \"{0}\"", "x".repeat(100_000))).unwrap_err();
    assert!(error.to_string().len() < 600, "{error}");
}
