//! Every link of the documents leads somewhere: to a file, and to a heading of it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::fixtures::sandbox::{pages, root};

/// Returns the targets of the inline links and images of a page, outside of code.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second part stands between backquotes.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        targets.extend(links.map(|(target, _)| target.to_owned()));
    }
    targets
}

/// Returns the fragment identifiers of the headings of a page, as mdBook and GitHub form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|char| char.is_alphanumeric() || [' ', '-', '_'].contains(char));
        anchors.insert(kept.map(|char| if char == ' ' { '-' } else { char }).collect());
    }
    anchors
}

fn check_link(page: &Path, text: &str, target: &str) -> Result<(), String> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return Ok(());
    }
    let (file, fragment) = target.split_once('#').map_or((target, None), |(file, fragment)| (file, Some(fragment)));
    let path = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    if !path.exists() {
        return Err(format!("there is no file {file}"));
    }
    let docs = root().join("docs").canonicalize().unwrap();
    if page.starts_with(&docs) && !path.canonicalize().unwrap().starts_with(&docs) {
        return Err("it leads out of the book".to_owned());
    }
    let Some(fragment) = fragment else { return Ok(()) };
    let target_text = if file.is_empty() { text.to_owned() } else { std::fs::read_to_string(&path).unwrap() };
    if anchors(&target_text).contains(fragment) { Ok(()) } else { Err(format!("there is no heading #{fragment}")) }
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let others = ["README.md", "CHANGELOG.md"].map(|name| root().join(name));
    let mut count = 0;
    for page in pages().into_iter().chain(others) {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in targets(&text) {
            count += 1;
            if let Err(problem) = check_link(&page, &text, &target) {
                panic!("{}: the link to {target}: {problem}", page.display());
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_page_is_in_the_summary() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = targets(&summary).into_iter().map(|target| docs.join(target)).collect();
    for page in pages() {
        assert!(page.ends_with("SUMMARY.md") || listed.contains(&page), "{} is not listed", page.display());
    }
}

#[test]
fn a_broken_link_is_found() {
    let page = root().join("README.md");
    let text = "# One heading\n[a](#one-heading) [b](LICENSE) `[c](none)`\n```\n[d](none)\n```\n";
    assert_eq!(targets(text), ["#one-heading", "LICENSE"]);
    let check = |target| check_link(&page, text, target).is_ok();
    assert!(check("#one-heading") && check("LICENSE") && check("https://example.com/"));
    assert!(!check("#another") && !check("none.md") && !check("LICENSE#x"));
}
