//! The CI examples (`fixtures/ci/`) are well-formed, use commands that exist, and install a single
//! file.

use std::collections::BTreeSet;

use saphyr::{LoadableYamlNode as _, Yaml};

use crate::fixtures::cli::toolcell;
use crate::fixtures::sandbox::read;

/// Collects the lines of all scripts in a document.
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

fn scripts(file: &str) -> Vec<String> {
    let text = read(format!("fixtures/ci/{file}"));
    let documents = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(documents.len(), 1, "{file}");
    let mut found = Vec::new();
    lines(&documents[0], &mut found);
    found
}

#[test]
fn what_they_type_is_understood() {
    for file in ["github.yml", "gitlab.yml"] {
        let lines = scripts(file);
        let typed: Vec<Vec<&str>> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("toolcell "))
            .map(|words| words.split(' ').collect())
            .collect();
        let commands: BTreeSet<&str> = typed.iter().map(|words| words[0]).collect();
        assert_eq!(commands.into_iter().collect::<Vec<_>>(), ["check", "doctor", "test"], "{file}");
        for words in typed {
            let help = toolcell(&["help", words[0]]);
            assert_eq!(help.status, 0, "{file}: toolcell {}: {}", words[0], help.err);
            for option in words.iter().filter(|word| word.starts_with("--")) {
                assert!(help.out.contains(&format!("{option} ")), "{file}: toolcell {} {option}", words[0]);
            }
        }
    }
}

#[test]
fn they_install_the_binary_checked_and_nothing_else() {
    for file in ["github.yml", "gitlab.yml"] {
        let lines = scripts(file);
        let fetched = lines.iter().filter(|line| line.starts_with("curl ")).count();
        let checked = lines.iter().filter(|line| line.ends_with("| sha256sum --check --strict")).count();
        assert_eq!((fetched, checked), (1, 1), "{file}");
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
