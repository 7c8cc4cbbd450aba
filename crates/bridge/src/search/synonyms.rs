//! Words that mean the same in the names of tools.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::terms::{Term, terms};

/// Words for one action. Most groups follow Microsoft's *Approved Verbs for PowerShell Commands*, which lists for each verb
/// the synonyms that commands use instead; the others are what shells, Git, HTTP and test frameworks call one action.
const VERBS: &[&str] = &[
    "accept acknowledge agree allow approve confirm grant",
    "add append attach concatenate insert put",
    "alter change edit modify patch revise update",
    "analyze diagnose examine inspect",
    "answer reply respond response",
    "archive compact compress gzip zip",
    "assign configure set update write",
    "associate connect link relate relation",
    "begin boot initiate launch start",
    "block decline deny dismiss refuse reject",
    "broadcast mail post publish send submit tell",
    "build create generate make new open",
    "calculate compute count determine measure",
    "call evaluate execute invoke perform run",
    "abort cancel end finish kill stop terminate",
    "capture record take",
    "check confirm test validate verify",
    "clear empty erase flush reset wipe",
    "clone copy duplicate fork replicate",
    "close shut",
    "combine join merge unite",
    "compare diff",
    "convert parse transform translate",
    "decompress expand extract unzip",
    "delete discard drop eliminate erase remove",
    "deploy install release",
    "disable revoke",
    "display print show view",
    "download fetch get load obtain read retrieve",
    "emulate fake imitate mock pretend simulate stub",
    "enumerate list",
    "export save",
    "filter find list locate look query search",
    "fix repair restore",
    "browse go navigate open visit",
    "hide suppress",
    "migrate move rename transfer",
    "monitor observe track watch",
    "pause sleep suspend wait",
    "plan schedule",
    "replace substitute swap",
    "restore revert rollback undo",
];

/// Words for one thing, as file systems, databases, code hosts, messengers, browsers and offices call it.
const NOUNS: &[&str] = &[
    "account member people person user",
    "address link uri url",
    "alarm alert notification",
    "alert dialog modal popup",
    "allowance balance credit limit quota",
    "appointment event meeting",
    "article paper publication",
    "attachment document file",
    "batch bulk many multiple several",
    "bill invoice",
    "body content text",
    "bug issue ticket",
    "channel conversation room",
    "change commit revision",
    "charge payment transaction",
    "client customer",
    "code source",
    "collection database db table",
    "column field property",
    "comment note remark",
    "company organization tenant workspace",
    "config configuration preferences settings",
    "cost price",
    "credential password secret",
    "dependency library module package",
    "dir directory folder",
    "doc document",
    "domain host site web website",
    "edge relation relationship",
    "entity node vertex",
    "entry item record row",
    "env environment",
    "error exception failure",
    "film screencast video",
    "group team",
    "hierarchy tree",
    "history log",
    "image photo picture",
    "instance machine vm",
    "job pipeline workflow",
    "label tag",
    "location place position",
    "mail message post",
    "mr merge",
    "page tab",
    "pr pull",
    "project repo repository",
    "sum total",
    "task todo",
];

/// The synonyms of each term.
static SYNONYMS: LazyLock<HashMap<Term, Vec<Term>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<Term, Vec<Term>> = HashMap::new();
    for group in VERBS.iter().chain(NOUNS) {
        let group = terms(group);
        for term in &group {
            let known = synonyms.entry(*term).or_default();
            for other in &group {
                if other != term && !known.contains(other) {
                    known.push(*other);
                }
            }
        }
    }
    synonyms
});

/// Returns the terms that mean the same as a term.
pub(super) fn synonyms(term: Term) -> impl Iterator<Item = Term> {
    SYNONYMS.get(&term).into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expect: &str) -> bool {
        let term = |word: &str| terms(word)[0];
        synonyms(term(word)).any(|synonym| synonym == term(expect))
    }

    #[test]
    fn synonyms_are_mutual_and_not_of_themselves() {
        for (one, other) in [("deleting", "remove"), ("folders", "directory"), ("makes", "created"), ("erase", "wipe")]
        {
            assert!(check(one, other) && check(other, one), "{one} {other}");
        }
        assert!(!check("delete", "deleted"));
        assert!(!check("delete", "create"));
        assert!(!check("wipe", "remove"));
    }

    #[test]
    fn no_word_is_a_stop_word_or_stands_alone() {
        for group in VERBS.iter().chain(NOUNS) {
            let all = group.split(' ').count();
            assert!(all > 1 && terms(group).len() == all, "{group}");
        }
    }
}
