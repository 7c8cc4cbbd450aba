//! The CI examples (`fixtures/ci/`) pass inputs that the action and the GitLab job have; their scripts use commands that exist, and
//! install a single file. `tests/dist/test_ci_actions.py` runs them.

use std::collections::BTreeSet;

use saphyr::{LoadableYamlNode as _, Yaml};

use crate::fixtures::cli::toolcell;
use crate::fixtures::sandbox::read;

const ACTION: &str = ".github/actions/toolcell";
const GITLAB: &str = ".gitlab/toolcell.yml";

/// Parses the documents of a file, and hands them to `visit`.
fn with_documents<T>(file: &str, visit: impl FnOnce(&[Yaml<'_>]) -> T) -> T {
    let text = read(file);
    let documents = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    visit(&documents)
}

/// Follows keys into a document.
fn get<'a, 'input>(node: &'a Yaml<'input>, keys: &[&str]) -> &'a Yaml<'input> {
    keys.iter().fold(node, |node, key| node.as_mapping_get(key).unwrap_or_else(|| panic!("no {key} in {keys:?}")))
}

fn keys(node: &Yaml<'_>) -> BTreeSet<String> {
    node.as_mapping().into_iter().flatten().filter_map(|(key, _)| key.as_str().map(str::to_owned)).collect()
}

/// Returns the inputs that must be given, and all inputs.
fn inputs(declared: &Yaml<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
    let all = keys(declared);
    let required = all
        .iter()
        .filter(|name| get(declared, &[name.as_str()]).as_mapping_get("default").is_none())
        .cloned()
        .collect();
    (required, all)
}

/// Collects the lines of all strings in a document.
fn lines(node: &Yaml<'_>, found: &mut Vec<String>) {
    if let Some(text) = node.as_str() {
        found.extend(text.lines().map(|line| line.trim().to_owned()));
    }
    for item in node.as_sequence().into_iter().flatten() {
        lines(item, found);
    }
    for (_, value) in node.as_mapping().into_iter().flatten() {
        lines(value, found);
    }
}

/// Returns the lines of what the action runs, and of what the GitLab job runs.
fn scripts() -> [(&'static str, Vec<String>); 2] {
    let of_action = |name: &str| read(format!("{ACTION}/{name}.sh"));
    let action: Vec<String> = ["resolve", "setup", "test"]
        .into_iter()
        .flat_map(|name| of_action(name).lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .filter(|line| !line.starts_with('#'))
        .collect();
    let mut gitlab = Vec::new();
    with_documents(GITLAB, |documents| lines(&documents[1], &mut gitlab));
    gitlab.retain(|line| !line.starts_with('#'));
    [(ACTION, action), (GITLAB, gitlab)]
}

fn check_passed_inputs(passed: &Yaml<'_>, declared: &Yaml<'_>) {
    let (passed, (required, all)) = (keys(passed), inputs(declared));
    assert!(passed.is_superset(&required), "{required:?} are required, passed are {passed:?}");
    assert!(passed.is_subset(&all), "{all:?} are known, passed are {passed:?}");
}

#[test]
fn what_they_pass_is_understood() {
    with_documents("fixtures/ci/github.yml", |documents| {
        let steps = get(&documents[0], &["jobs", "tools", "steps"]).as_sequence().unwrap();
        let uses = |step: &Yaml<'_>| step.as_mapping_get("uses").and_then(|name| name.as_str().map(str::to_owned));
        let step = steps.iter().find(|step| uses(step).is_some_and(|name| name.contains(ACTION))).unwrap();
        with_documents(&format!("{ACTION}/action.yml"), |action| {
            check_passed_inputs(get(step, &["with"]), get(&action[0], &["inputs"]));
        });
    });
    with_documents("fixtures/ci/gitlab.yml", |documents| {
        let include = &get(&documents[0], &["include"]).as_sequence().unwrap()[0];
        assert_eq!(get(include, &["local"]).as_str(), Some(GITLAB));
        with_documents(GITLAB, |component| {
            assert_eq!(component.len(), 2);
            check_passed_inputs(get(include, &["inputs"]), get(&component[0], &["spec", "inputs"]));
        });
    });
}

#[test]
fn what_they_type_is_understood() {
    for (file, lines) in scripts() {
        let typed: Vec<Vec<&str>> = lines
            .iter()
            .filter_map(|line| {
                line.strip_prefix("toolcell ").or_else(|| line.strip_prefix(r#""$TOOLCELL_PREFIX/bin/toolcell" "#))
            })
            .map(|words| words.split(' ').collect())
            .collect();
        let commands: BTreeSet<&str> = typed.iter().map(|words| words[0]).collect();
        assert_eq!(commands.into_iter().collect::<Vec<_>>(), ["check", "doctor", "test"], "{file}");
        // Options of `test` are collected before.
        let added = lines.iter().filter(|line| line.contains("set -- ")).flat_map(|line| line.split([' ', '=']));
        let added: BTreeSet<&str> = added.filter(|word| word.len() > 2 && word.starts_with("--")).collect();
        assert_eq!(added.iter().copied().collect::<Vec<_>>(), ["--junit", "--max-regression"], "{file}");
        for words in typed {
            let help = toolcell(&["help", words[0]]);
            assert_eq!(help.status, 0, "{file}: toolcell {}: {}", words[0], help.err);
            let options = words.iter().filter(|word| word.starts_with("--"));
            for option in options.chain(added.iter().filter(|_| words[0] == "test")) {
                assert!(help.out.contains(&format!("{option} ")), "{file}: toolcell {} {option}", words[0]);
            }
        }
    }
}

#[test]
fn they_install_the_binary_checked_and_nothing_else() {
    for (file, lines) in scripts() {
        let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
        let fetched = lines.iter().filter(|line| line.starts_with("curl ") || line.starts_with("wget ")).count();
        assert_eq!((fetched, count(r#"[ "$actual" = "$expected" ]"#), count("tar -x")), (2, 1, 1), "{file}");
        let at = |part: &str| lines.iter().position(|line| line.contains(part)).unwrap();
        let compared = at(r#"[ "$actual" = "$expected" ] || fail "#);
        assert!(compared < at("tar -x"), "{file} unpacks before it compares");
        for line in &lines {
            for installer in ["apt", "npm", "npx", "pip", "cargo", "docker", "brew", "| sh", "| bash"] {
                assert!(
                    !line.split(&[' ', '-'][..]).any(|word| word == installer),
                    "{file} installs something: {line}"
                );
                assert!(!line.ends_with(installer), "{file} installs something: {line}");
            }
        }
    }
}
