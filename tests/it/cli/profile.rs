//! The commands about profiles: output, flame graphs, and exit statuses.

use std::fs;

use serde_json::{Value, json};
use toolcell::Profile;

use crate::fixtures::cli::{CliFixture, CommandOutput, assert_refused, toolcell, toolcell_with_input};

const COUNT: &str = "interface Params { times: number }\n\
function work(times: number): number {\n  let sum = 0;\n  for (let i = 0; i < times; i++) {\n    sum ^= i * 3 + times;\n  }\n  return sum;\n}\n\
const execute = ({ times }: Params) => work(times);\n";

fn cli() -> CliFixture {
    let cli = CliFixture::new();
    cli.file("count.ts", COUNT);
    cli.file("policy.toml", "[approval]\nmode = \"auto\"\n[grants.default]\ntools = \"any\"\n");
    cli
}

fn on(cli: &CliFixture, words: &[&str]) -> CommandOutput {
    cli.run(&[&["--no-project", "--config", "$policy.toml"], words].concat())
}

/// Parses the printed profile.
fn profile(done: &CommandOutput) -> Profile {
    assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
    Profile::parse(&done.out).unwrap()
}

#[test]
fn a_draft_is_profiled_by_function_and_by_line() {
    let cli = cli();
    let done = on(&cli, &["profile", "$count.ts", "{\"times\": 50000}"]);
    assert_eq!((done.status, &*done.err), (0, ""));
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("count.ts: returned, ") && lines[0].contains(" fuel in "), "{}", lines[0]);
    assert_eq!(lines[2], "function\tline\tfuel\tshare\twith calls");
    assert!(lines[3].starts_with("work\t2\t"), "{}", lines[3]);
    let titles = lines.iter().position(|line| *line == "line\tfuel\tshare\twith calls\tsource").unwrap();
    assert!(
        lines[titles + 1].starts_with("5\t") && lines[titles + 1].ends_with("\tsum ^= i * 3 + times;"),
        "{}",
        done.out
    );
    assert!(lines[titles + 2].starts_with("4\t"), "{}", done.out);

    let listing = on(&cli, &["profile", "$count.ts", "{\"times\": 50000}", "--lines"]);
    let listed: Vec<&str> = listing.out.lines().skip(2).collect();
    assert_eq!(listed.len(), COUNT.lines().count() + 1);
    assert!(listed[2].ends_with("     3    let sum = 0;"), "{}", listed[2]);
    assert!(listed[4].ends_with("     5      sum ^= i * 3 + times;") && listed[4].contains('%'), "{}", listed[4]);
    assert!(listed.last().unwrap().ends_with(" not attributed to a line"));

    let cli = CliFixture { lang: "ja", ..cli };
    let japanese = on(&cli, &["profile", "$count.ts", "{\"times\": 5}"]);
    assert!(japanese.out.contains("関数\t行\t燃料\t割合\t呼び出し込み"), "{}", japanese.out);
}

#[test]
fn the_json_of_a_profile_adds_up_and_is_the_same_on_another_image() {
    let cli = cli();
    let words = ["profile", "$count.ts", "{\"times\": 20000}", "--json"];
    let first = on(&cli, &words);
    let taken = profile(&first);
    let burned = on(&cli, &["exec", "$count.ts", "{\"times\": 20000}", "--json"]).json();
    assert_eq!(json!([taken.fuel, taken.load_fuel]), json!([burned["fuel"], burned["loadFuel"]]));
    let of_lines: u64 = taken.lines.iter().map(|line| line.own).sum();
    assert_eq!(of_lines + taken.fuel_outside_lines(), taken.fuel);
    let folded: u64 =
        taken.folded_stacks().iter().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(folded, taken.fuel);
    for image in ["bounded", "interpreted"] {
        assert_eq!(on(&cli, &[&words[..], &["--image", image]].concat()).out, first.out, "{image}");
    }
}

#[test]
fn a_tool_that_is_kept_is_profiled_in_a_run_that_is_recorded() {
    let cli = cli();
    assert_eq!(on(&cli, &["create", "$count.ts", "--description", "Counts"]).status, 0);
    let caller = "const execute = async () => { const n = await tools.call('count', { times: 20000 }); return n + 1 }";
    cli.file("caller.js", caller);
    let made = on(&cli, &["create", "$caller.js", "--description", "Calls", "--capabilities", "tools"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let taken = profile(&on(&cli, &["profile", "count", "times=20000", "--json"]));
    assert_eq!((&*taken.tool, &*taken.functions[0].name), ("count", "work"));
    let calls = profile(&on(&cli, &["profile", "caller", "--json"]));
    // The fuel of a called tool is one total. It includes the tool's loading if that is counted.
    assert!(calls.outside.other_tools >= taken.fuel, "{:?} {}", calls.outside, taken.fuel);
    assert!(calls.functions.iter().all(|function| function.name != "work"), "{:?}", calls.functions);
    let runs = on(&cli, &["audit", "--json"]).out.matches("run_dynamic_tool").count();
    assert!(runs >= 3, "each run is recorded: {runs}");
}

#[test]
fn a_flame_graph_is_drawn_into_a_file() {
    let cli = cli();
    let draw = || {
        let done = on(&cli, &["profile", "$count.ts", "{\"times\": 20000}", "--svg", "$count.svg"]);
        assert_eq!(done.status, 0, "{}", done.err);
        fs::read_to_string(cli.folder.path().join("count.svg")).unwrap()
    };
    let drawn = draw();
    assert!(drawn.starts_with("<?xml") && drawn.trim_end().ends_with("</svg>"));
    for name in ["<title>all (", "<title>execute (", "<title>work ("] {
        assert!(drawn.contains(name), "{name}");
    }
    assert_eq!(draw(), drawn, "the same bytes, over the file that is there");
    let parts = fs::read_dir(cli.folder.path()).unwrap();
    assert!(parts.into_iter().all(|file| !file.unwrap().file_name().to_string_lossy().contains(".part")));

    // A name with characters that XML cannot contain.
    cli.file("odd.js", "const o = { ['<&\\u0001\\uffff;'](n) { for (let i = 0; i < n; i++); } }; const execute = () => o['<&\\u0001\\uffff;'](9999);");
    assert_eq!(on(&cli, &["profile", "$odd.js", "--svg", "$odd.svg"]).status, 0);
    let odd = fs::read_to_string(cli.folder.path().join("odd.svg")).unwrap();
    assert!(odd.contains("&lt;&amp;") && !odd.contains(['\u{1}', '\u{ffff}']), "{odd}");

    let nowhere = on(&cli, &["profile", "$count.ts", "--svg", "$there/is/none.svg", "--json"]);
    assert_refused(&nowhere, 4, "file-not-found");
}

#[test]
fn a_flame_graph_takes_the_place_of_nothing_but_a_plain_file() {
    let cli = cli();
    let link = cli.folder.path().join("link.svg");
    std::os::unix::fs::symlink("/dev/stdout", &link).unwrap();
    let done = on(&cli, &["profile", "$count.ts", "{\"times\": 5}", "--svg", "$link.svg", "--json"]);
    assert_refused(&done, 4, "file-exists");
    assert!(link.is_symlink());
    assert_refused(&on(&cli, &["profile", "$count.ts", "{\"times\": 5}", "--svg", "-", "--json"]), 2, "usage");
}

#[test]
fn of_two_profiles_the_one_that_is_none_is_named() {
    let cli = cli();
    let done = on(&cli, &["profile", "diff", "$count.ts", "$count.ts"]);
    assert!(done.status == 2 && done.err.contains("count.ts: not a profile: "), "{}", done.err);
    let done = on(&cli, &["profile", "diff", "-", "-"]);
    assert!(done.status == 2 && done.err.contains("two profiles cannot both come from standard input"), "{}", done.err);
}

#[test]
fn two_profiles_are_compared() {
    let cli = cli();
    cli.file(
        "after.ts",
        &COUNT
            .replace("sum ^= i * 3 + times;", "sum = [sum, i, times].length;")
            .replace("interface", "// More.\ninterface"),
    );
    for (file, taken) in [("$count.ts", "before.json"), ("$after.ts", "after.json")] {
        let done = on(&cli, &["profile", file, "{\"times\": 20000}", "--json"]);
        cli.file(taken, &done.out);
    }
    let difference = on(&cli, &["profile", "diff", "$before.json", "$after.json", "--json"]).json();
    let changes = |part: &str| serde_json::from_value::<Vec<Value>>(difference[part].clone()).unwrap();
    let total: i64 = changes("functions").iter().map(|change| change["difference"].as_i64().unwrap()).sum();
    assert_eq!(total, difference["fuel"]["difference"].as_i64().unwrap());
    assert!(total > 0);
    assert_eq!(changes("functions")[0]["what"], "work");
    let lines = changes("lines");
    let of = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap();
    assert_eq!(of("sum ^= i * 3 + times;")["after"], 0);
    assert_eq!(of("sum = [sum, i, times].length;")["before"], 0);
    // A line that moved is recognized as the same line.
    let moved = of("for (let i = 0; i < times; i++) {");
    assert_eq!((&moved["lineBefore"], &moved["lineAfter"]), (&json!(4), &json!(5)));

    let text = on(&cli, &["profile", "diff", "$before.json", "$after.json"]);
    assert_eq!(text.status, 0, "{}", text.err);
    assert!(text.out.contains("\nwork\t2 → 3\t"), "{}", text.out);
    let same = on(&cli, &["profile", "diff", "$before.json", "$before.json", "--json"]).json();
    let same: Vec<i64> =
        same["functions"].as_array().unwrap().iter().map(|change| change["difference"].as_i64().unwrap()).collect();
    assert!(same.iter().all(|difference| *difference == 0) && !same.is_empty());
}

#[test]
fn what_is_no_profile_or_cannot_be_compared_is_said() {
    let cli = cli();
    let taken = on(&cli, &["profile", "$count.ts", "{\"times\": 2000}", "--json"]).out;
    cli.file("good.json", &taken);
    let broken: Value = serde_json::from_str(&taken).unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut broken = broken.clone();
        change(&mut broken);
        broken.to_string()
    };
    let cases = [
        ("{", "EOF while parsing"),
        ("[]", "invalid"),
        ("{\"format\": \"other\"}", "missing field"),
        (&*with(&|profile| profile["format"] = json!("other")), "its format is `other`"),
        (&*with(&|profile| profile["more"] = json!(1)), "unknown field `more`"),
        (&*with(&|profile| profile["fuel"] = json!(1)), "its functions add up to"),
        (&*with(&|profile| profile["stacks"] = json!([])), "its stacks add up to"),
        (&*with(&|profile| profile["stacks"][0]["frames"] = json!([[4096, 1]])), "an unknown function"),
    ];
    for (text, expected) in cases {
        cli.file("bad.json", text);
        let done = on(&cli, &["profile", "diff", "$good.json", "$bad.json"]);
        assert_eq!(done.status, 2, "{text}: {}", done.err);
        assert!(done.err.contains("not a profile") && done.err.contains(expected), "{text}: {}", done.err);
    }
    cli.file("other.json", &with(&|profile| profile["model"]["engine"] = json!("47.0.0")));
    let done = on(&cli, &["profile", "diff", "$good.json", "$other.json", "--json"]);
    assert_refused(&done, 2, "profile-model-mismatch");
    assert!(done.out.contains("under Wasmtime 47.0.0"), "{}", done.out);
    assert_refused(&on(&cli, &["profile", "diff", "$good.json", "$none.json", "--json"]), 4, "file-not-found");
    assert_refused(&toolcell(&["profile", "diff", "-", "-", "--json"]), 2, "usage");
    assert_eq!(toolcell(&["profile"]).status, 2);
    assert_eq!(toolcell(&["profile", "diff", "a.json"]).status, 2);
}

#[test]
fn a_tool_that_fails_is_profiled_and_the_status_says_so() {
    let cases = [
        ("const execute = () => { throw new Error('no') }", &[][..], 1, "threw"),
        ("const execute = () => { for (;;); }", &["--fuel", "100000"][..], 5, "out-of-fuel"),
    ];
    for (source, words, status, outcome) in cases {
        let done = toolcell_with_input(&[&["profile", "-", "--json"], words].concat(), source.as_bytes());
        assert_eq!(done.status, status, "{}", done.err);
        assert_eq!(Profile::parse(&done.out).unwrap().outcome, outcome);
        assert!(done.err.starts_with("error: "), "{}", done.err);
    }
    // A tool that fails to load takes no fuel in a call, and has no flame graph.
    let cli = cli();
    cli.file("load.js", "throw new Error('early'); const execute = () => 1;");
    let done = on(&cli, &["profile", "$load.js", "--json"]);
    let taken = Profile::parse(&done.out).unwrap();
    assert_eq!((done.status, taken.fuel, &*taken.outcome), (1, 0, "threw"));
    assert!(taken.load_fuel > 0);
    assert_refused(&on(&cli, &["profile", "$load.js", "--svg", "$load.svg", "--json"]), 2, "profile-empty");
    assert_refused(&on(&cli, &["profile", "$none.js", "--json"]), 4, "file-not-found");
    assert_refused(&toolcell_with_input(&["profile", "-", "-", "--json"], b""), 2, "usage");
    assert_refused(&on(&cli, &["profile", "$count.ts", "a=1", "b", "--json"]), 2, "usage");
    assert_eq!(on(&cli, &["create", "$count.ts", "--description", "Counts"]).status, 0);
    assert_refused(&on(&cli, &["profile", "nothing", "--json"]), 4, "tool-not-found");
}

#[test]
fn positions_are_those_of_the_authors_text_also_where_it_was_compiled() {
    let cli = cli();
    let source = "enum Kind {\n  One = 1,\n\n  Two = 2,\n}\n\n\nfunction work(times: number) {\n  let sum = 0;\n  for (let i = 0; i < times; i++) {\n    sum ^= Kind.Two * i + times;\n  }\n  return sum;\n}\n\
        const execute = () => work(20000);\n";
    cli.file("kinds.ts", source);
    let taken = profile(&on(&cli, &["profile", "$kinds.ts", "--json"]));
    assert_eq!((&*taken.functions[0].name, taken.functions[0].line), ("work", Some(8)));
    let hottest = taken.lines.iter().max_by_key(|line| line.own).unwrap();
    assert_eq!((hottest.line, &*hottest.text), (11, "sum ^= Kind.Two * i + times;"));
}
