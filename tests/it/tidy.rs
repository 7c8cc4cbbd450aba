//! Rules of the project that no compiler checks.

use std::collections::BTreeSet;
use std::path::Path;

use crate::circles::Modules;
use crate::fixtures::sandbox::{files, pages, read, root, stem};
use crate::hostile::CLASSES;

/// The allowed dependencies between crates.
const ARROWS: &[(&str, &[&str])] = &[
    ("crates/error-derive", &[]),
    ("crates/i18n", &["toolcell-error-derive"]),
    ("crates/error", &["toolcell-error-derive", "toolcell-i18n"]),
    ("crates/protocol", &[]),
    ("crates/json", &["toolcell-error", "toolcell-i18n", "toolcell-protocol"]),
    ("crates/tool", &["toolcell-dts", "toolcell-error", "toolcell-i18n"]),
    ("crates/schema", &["toolcell-error", "toolcell-i18n", "toolcell-json"]),
    ("crates/flows", &["toolcell-i18n", "toolcell-tool"]),
    ("crates/policy", &["toolcell-error", "toolcell-flows", "toolcell-i18n", "toolcell-protocol", "toolcell-tool"]),
    ("host", &["toolcell-error", "toolcell-i18n", "toolcell-json", "toolcell-protocol"]),
    ("crates/jail", &["toolcell-host", "toolcell-i18n", "toolcell-protocol"]),
    ("crates/redos", &[]),
    ("crates/dts", &[]),
    ("crates/types", &[]),
    ("crates/analysis", &["toolcell-error", "toolcell-i18n", "toolcell-redos", "toolcell-tool"]),
    ("crates/capabilities", &["toolcell-error", "toolcell-i18n", "toolcell-protocol", "toolcell-tool"]),
    (
        "crates/bridge",
        &["toolcell-capabilities", "toolcell-dts", "toolcell-protocol", "toolcell-schema", "toolcell-tool"],
    ),
    ("crates/reflection", &["toolcell-i18n", "toolcell-tool"]),
    ("crates/store", &["toolcell-error", "toolcell-i18n", "toolcell-tool"]),
    (
        "crates/toolcell",
        &[
            "toolcell-analysis",
            "toolcell-bridge",
            "toolcell-capabilities",
            "toolcell-dts",
            "toolcell-error",
            "toolcell-flows",
            "toolcell-host",
            "toolcell-i18n",
            "toolcell-jail",
            "toolcell-policy",
            "toolcell-reflection",
            "toolcell-schema",
            "toolcell-store",
            "toolcell-tool",
            "toolcell-types",
        ],
    ),
    ("crates/model-tools", &["toolcell", "toolcell-error", "toolcell-i18n"]),
    ("crates/mcp", &["toolcell", "toolcell-error", "toolcell-i18n", "toolcell-model-tools"]),
    ("crates/testing", &["toolcell", "toolcell-error", "toolcell-i18n"]),
    ("crates/bindings", &["toolcell", "toolcell-error", "toolcell-i18n", "toolcell-model-tools", "toolcell-testing"]),
    ("crates/python", &["toolcell-bindings"]),
    ("crates/node", &["toolcell-bindings"]),
    ("crates/ui", &["toolcell", "toolcell-error", "toolcell-i18n"]),
    ("crates/cli", &["toolcell", "toolcell-error", "toolcell-i18n", "toolcell-mcp", "toolcell-testing", "toolcell-ui"]),
    ("crates/cluster", &["toolcell", "toolcell-cli", "toolcell-error", "toolcell-i18n"]),
];

#[test]
fn the_arrows_between_the_crates_are_those_of_the_picture() {
    let crates: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| format!("crates/{}", entry.unwrap().file_name().to_string_lossy()))
        .chain(["host".to_owned()])
        .collect();
    let drawn: BTreeSet<String> = ARROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(crates, drawn);
    for (name, allowed) in ARROWS {
        let manifest = read(format!("{name}/Cargo.toml"));
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let ours: Vec<&str> = dependencies
            .lines()
            .filter_map(|line| line.split([' ', '=']).next())
            .filter(|dependency| dependency.starts_with("toolcell"))
            .collect();
        assert_eq!(ours, *allowed, "{name}");
    }
}

/// The import circles that are allowed, each with its reason.
const CIRCLES: &[(&str, &str, &str)] = &[(
    "guest",
    "abi",
    "the entry points and the state of the one call that a guest makes are one subject in ten files; to move an item between them \
     would move the positions that the compiled guest carries, and with them the fuel of every tool",
)];

#[test]
fn no_modules_of_a_crate_import_each_other_in_a_circle() {
    let crates = ARROWS.iter().map(|(name, _)| *name).chain(["guest"]);
    let mut modules = 0;
    let mut allowed: BTreeSet<(&str, &str)> = CIRCLES.iter().map(|(name, member, _)| (*name, *member)).collect();
    for name in crates {
        let parsed = Modules::parse(&root().join(name).join("src/lib.rs"));
        modules += parsed.len();
        for circle in parsed.circles() {
            let exception =
                allowed.iter().find(|(of, member)| *of == name && circle.members.contains(*member)).copied();
            let why = circle.why.join("\n");
            let of = exception.unwrap_or_else(|| panic!("{name}, in `{}`: {:?}\n{why}", circle.folder, circle.members));
            allowed.remove(&of);
        }
    }
    assert!(modules > 500, "{modules}");
    assert!(allowed.is_empty(), "these circles are open now: {allowed:?}");
}

#[test]
fn an_import_circle_is_found_through_re_exports_and_nested_paths() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::deep::Thing;\n");
    write("a.rs", "use crate::b::Right;\npub struct Left(Right);\n");
    write("b.rs", "pub struct Right;\nfn f() { let _ = format!(\"{}\", crate::Thing::NAME); }\n");
    write("c.rs", "pub mod deep;\n");
    let circles = || Modules::parse(&folder.path().join("lib.rs")).circles();
    write("c/deep.rs", "pub struct Thing;\n#[cfg(test)]\nmod tests { use crate::a::Left; }\n");
    assert_eq!(circles().len(), 0);
    write("c/deep.rs", "pub struct Thing;\nimpl Thing { fn f(_: &crate::a::Left) {} }\n");
    let found = circles();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].members.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "c"]);
}

/// Words that a comment does not have, because a sentence with them leaves open who acts.
const VAGUE: [&str; 3] = ["nobody", "somebody", "whoever"];

/// What a name of ours does not shadow.
const PRELUDE: [&str; 12] =
    ["From", "Into", "Cell", "Result", "Option", "Iterator", "Default", "Send", "Sync", "Drop", "String", "Vec"];

#[test]
fn names_and_comments_have_the_words_of_the_field() {
    let mut wrong = Vec::new();
    for folder in ["crates", "guest/src", "host", "tests"] {
        walk(&root().join(folder), &mut |path| {
            if path.extension().is_none_or(|ending| ending != "rs") || path.ends_with("tests/it/tidy.rs") {
                return;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for (index, line) in text.lines().enumerate() {
                let line = line.trim_start();
                let words = |text: &str| -> Vec<String> {
                    text.split(|char: char| !char.is_alphanumeric() && char != '_').map(str::to_owned).collect()
                };
                let wrong_word = if line.starts_with("//") {
                    words(&line.to_lowercase()).into_iter().find(|word| VAGUE.contains(&word.as_str()))
                } else {
                    let names = words(line);
                    let is_type = |pair: &[String]| {
                        ["struct", "enum", "trait", "union"].contains(&pair[0].as_str())
                            && PRELUDE.contains(&pair[1].as_str())
                    };
                    let is_bound =
                        |name: &String| name.len() > 5 && (name.ends_with("_MOST") || name.ends_with("_LEAST"));
                    let shadows = names.windows(2).find(|pair| is_type(pair)).map(|pair| pair[1].clone());
                    let constructs =
                        names.windows(2).find(|pair| pair[0] == "fn" && pair[1] == "of").map(|_| "of".to_owned());
                    shadows.or(constructs).or_else(|| names.iter().find(|name| is_bound(name)).cloned())
                };
                if let Some(word) = wrong_word {
                    let path = path.strip_prefix(root()).unwrap().display();
                    wrong.push(format!("{path}:{}: `{word}`", index + 1));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Public types that share their names, each with its reason.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Thrown", "the frame of the guest, whose names are in its compiled code, and what a host gets of it"),
    ("Warning", "likewise"),
    (
        "Confinement",
        "the type of a build without the feature `jail`, which has no value, stands in for that of the jail",
    ),
    ("Program", "likewise"),
];

#[test]
fn two_public_types_of_the_workspace_do_not_share_a_name() {
    let mut owners = std::collections::BTreeMap::<String, BTreeSet<String>>::new();
    for (name, _) in ARROWS {
        for (module, public) in Modules::parse(&root().join(name).join("src/lib.rs")).public_types() {
            owners.entry(public).or_default().insert(format!("{name}::{module}"));
        }
    }
    assert!(owners.len() > 400, "{}", owners.len());
    let shared: Vec<_> = owners
        .iter()
        .filter(|(name, places)| places.len() > 1 && !SHARED_NAMES.iter().any(|(known, _)| known == name))
        .collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

#[test]
fn the_questions_of_a_newcomer_have_one_word_and_at_most_two_files() {
    let page = read("docs/architecture/overview.md");
    let table = page.split("## Where is …?").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| line.contains("| `")).map(|line| line.split('`').collect()).collect();
    assert_eq!(rows.len(), 10);
    for row in rows {
        // A question may have code of its own: the word is the first code of the second column.
        let cells: Vec<&str> = row.iter().copied().skip(1).step_by(2).collect();
        let files: Vec<&str> = cells.iter().copied().filter(|cell| Path::new(cell).extension().is_some()).collect();
        let word = cells[cells.len() - files.len() - 1];
        assert!((1..=2).contains(&files.len()), "{cells:?}");
        for file in files {
            assert!(read(file).to_lowercase().contains(&word.to_lowercase()), "{file} does not have `{word}`");
        }
    }
}

#[test]
fn the_top_level_has_what_the_picture_has_and_nothing_else() {
    let mut found: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    found.sort();
    let picture = "CHANGELOG.md Cargo.lock Cargo.toml LICENSE Makefile README.md crates docs fixtures guest host tests";
    assert_eq!(found.join(" "), picture);
}

#[test]
fn only_the_crate_that_owns_a_library_names_it() {
    for (library, owners) in [
        ("wasmtime", &["host"][..]),
        // The declarations that `dts` writes are parsed in its tests.
        ("swc_", &["crates/analysis", "crates/dts"]),
        ("cap-std", &["crates/capabilities", "crates/store"]),
        ("rusqlite", &["crates/store"]),
        ("jsonschema", &["crates/policy", "crates/schema", "crates/toolcell"]),
        (
            "tokio",
            &[
                "crates/bindings",
                "crates/bridge",
                "crates/capabilities",
                "crates/cluster",
                "crates/toolcell",
                "crates/mcp",
                "crates/ui",
            ],
        ),
        ("postgres", &["crates/cluster"]),
        ("proptest", &["crates/dts", "crates/flows", "crates/tool", "crates/toolcell"]),
        ("icu_segmenter", &["crates/reflection"]),
        ("clap", &["crates/cli"]),
        ("notify", &["crates/cli"]),
        ("jsonpath-rust", &["crates/testing"]),
        ("quick-junit", &["crates/testing"]),
        ("crossterm", &["crates/cli"]),
        ("inquire", &["crates/cli"]),
        ("landlock", &["crates/jail", "crates/types"]),
        ("seccompiler", &["crates/jail", "crates/types"]),
        ("tsr_", &["crates/types"]),
        ("rmcp", &["crates/mcp", "crates/bridge"]),
        ("hyper", &["crates/bridge", "crates/capabilities", "crates/mcp", "crates/ui"]),
        ("axum", &["crates/mcp", "crates/ui"]),
        ("maud", &["crates/ui"]),
        ("tower", &["crates/mcp"]),
        ("toml_edit", &["crates/cli", "crates/testing"]),
        ("jsonc-parser", &["crates/cli"]),
        ("opentelemetry", &["crates/mcp"]),
        ("napi", &["crates/node"]),
        ("pyo3", &["crates/python"]),
    ] {
        for (name, _) in ARROWS.iter().filter(|(name, _)| !owners.contains(name)) {
            assert!(!read(format!("{name}/Cargo.toml")).contains(library), "{name} uses {library}");
        }
    }
}

#[test]
fn no_code_of_an_error_is_compared_as_a_string() {
    // The guest is built with this crate, which therefore has no codes but those of its frames.
    const STRINGS: [&str; 1] = ["crates/protocol/src/budget.rs"];
    let mut found = Vec::new();
    for folder in ["crates", "host"] {
        walk(&root().join(folder), &mut |path| {
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let is_test = path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("/examples/");
            if is_test || !is_source || STRINGS.contains(&path.as_str()) {
                return;
            }
            let text = read(&path);
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines: Vec<&str> = product.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            for (at, line) in lines.iter().enumerate() {
                let next = lines.get(at + 1).map_or("", |next| next.trim_start());
                let is_compared =
                    ["code() == \"", "code() != \"", "matches!(self.code(), \"", "matches!(error.code(), \""]
                        .iter()
                        .any(|comparison| line.contains(comparison));
                let is_matched = line.contains("match ") && line.contains("code() {") && next.starts_with('"');
                let is_answered = line.contains("fn code(") && next.starts_with('"');
                if is_compared || is_matched || is_answered {
                    found.push(format!("{path}: {}", line.trim()));
                }
            }
        });
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn unsafe_is_in_the_listed_files_only() {
    let mut unsafe_files = Vec::new();
    for folder in ["crates", "host", "guest/src", "tests"] {
        walk(&root().join(folder), &mut |path| {
            let text = std::fs::read_to_string(path).unwrap();
            let used = text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
            });
            if used && !path.ends_with("tidy.rs") {
                unsafe_files.push(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
            }
        });
    }
    unsafe_files.sort();
    // The build script selects a CPU level for the images, which is part of loading an image.
    assert_eq!(
        unsafe_files,
        [
            "crates/cli/src/malloc.rs",
            "crates/cli/src/name_service.rs",
            "guest/src/abi.rs",
            "host/build/compile.rs",
            "host/src/engine/image.rs",
        ]
    );
}

#[test]
fn every_hostile_fixture_has_a_test() {
    let paths = files("fixtures/hostile", "js");
    assert!(paths.len() >= 80, "{}", paths.len());
    for path in paths {
        let name = stem(&path);
        assert!(CLASSES.iter().any(|class| name.starts_with(&format!("{class}-"))), "no test claims {name}");
        let source = std::fs::read_to_string(&path).unwrap();
        assert!(source.starts_with("// expect: "), "{name} states no fate in its first line");
    }
}

#[test]
fn every_good_tool_has_its_expectation_and_every_expectation_its_tool() {
    let names = |ending| files("fixtures/tools", ending).iter().map(|path| stem(path)).collect::<Vec<_>>();
    let expected = names("json").into_iter().filter_map(|name| name.strip_suffix(".expected").map(str::to_owned));
    assert_eq!(names("js"), expected.collect::<Vec<_>>());
    assert!(names("js").len() >= 25);
}

#[test]
fn the_benchmark_has_the_engine_of_the_guest() {
    let locked = |lock: &str| {
        let text = read(lock);
        let after = text.split("name = \"rquickjs-sys\"\nversion = \"").nth(1).unwrap().to_owned();
        after.split('"').next().unwrap().to_owned()
    };
    assert_eq!(locked("Cargo.lock"), locked("guest/Cargo.lock"));
}

#[test]
fn images_are_kept_under_the_version_of_their_compiler() {
    let after = |file: &str, start: &str| {
        let text = read(file);
        let rest = text.split(start).nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(
        after("host/build.rs", "const WASMTIME: &str = \""),
        after("Cargo.toml", "\nwasmtime = { version = \"=")
    );
}

#[test]
fn nothing_names_the_place_where_it_was_written() {
    for folder in [
        ".ci",
        "crates",
        "fixtures",
        "guest/c",
        "guest/js",
        "guest/prebuilt",
        "guest/snapshot",
        "guest/src",
        "host",
        "tests",
    ] {
        walk(&root().join(folder), &mut |path| {
            let Ok(text) = std::fs::read_to_string(path) else { return };
            for word in [concat!("/wo", "rk/"), concat!("registry.npm", "js.org"), concat!("index.crates", ".io-")] {
                assert!(!text.contains(word), "{} names {word}", path.display());
            }
        });
    }
}

#[test]
fn the_tests_that_the_documents_name_are_there() {
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut names = BTreeSet::new();
    for folder in ["crates", "guest/js", "host", "tests"] {
        walk(&root().join(folder), &mut |path| {
            names.extend(
                path.iter()
                    .filter_map(|part| Path::new(part).file_stem())
                    .map(|stem| stem.to_string_lossy().into_owned()),
            );
            let Ok(text) = std::fs::read_to_string(path) else { return };
            names.extend(text.split(|char| !is_of_name(char)).map(str::to_owned));
        });
    }
    let mut named = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2).filter(|name| name.contains("::") && !name.contains(' ')) {
            let last = name.rsplit("::").next().unwrap();
            assert!(names.contains(last), "{} names `{name}`, which is not there", page.display());
            named += 1;
        }
        for path in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.starts_with("fixtures/") && !name.contains(['*', 'T']))
        {
            assert!(root().join(path).exists(), "{} names `{path}`, which is not there", page.display());
        }
    }
    assert!(named > 200, "{named}");
}

/// Visits every source file below a folder.
pub(crate) fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "node_modules", "dist"].contains(&&*name) {
                walk(&path, visit);
            }
        } else if path.extension().is_some_and(|ending| {
            ["rs", "js", "mjs", "toml", "json", "md", "txt", "sh", "lock"].iter().any(|known| ending == *known)
        }) {
            visit(&path);
        }
    }
}
