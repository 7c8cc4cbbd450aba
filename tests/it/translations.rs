//! The catalogues of messages: what the sources and the help contain, each catalogue translates.
//!
//! The sources are read as tokens. A text of the catalogues is the literal of `tr!`, `message!` or `msgid!`, that of `#[error("…")]`
//! on a type that derives `Localize`, or that of `#[hint("…")]` on a type that derives `Coded`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::fixtures::sandbox::{read, root};
use crate::tidy::walk;

/// The catalogues, by the suffix of their file.
const LANGUAGES: [&str; 2] = ["ja", "zh"];

/// Where literals are not for a person who runs a command, each place with its reason. `docs/CONTRIBUTING.md` names the kinds, too.
const NO_MESSAGES: &[(&str, &[&str])] = &[
    (
        "exceptions of the packages for Python and Node: programmers read them, beside those of the language",
        &["crates/bindings/src/", "crates/node/src/lib.rs", "crates/python/src/lib.rs"],
    ),
    (
        "a tool sees these texts in its cell, and they are the same for each reader",
        &[
            "crates/bridge/src/",
            "crates/capabilities/src/files/",
            "crates/capabilities/src/net/",
            "crates/mcp/src/lent_functions.rs",
            "crates/toolcell/src/admission/grant_hints.rs",
            "crates/toolcell/src/execution/suspend/callbacks.rs",
            "crates/toolcell/src/host_calls/",
            "crates/toolcell/src/operations/run/nested.rs",
            "host/src/host_calls.rs",
        ],
    ),
    (
        "bugs of ours, and violations of a protocol between our own processes",
        &["crates/jail/src/", "crates/protocol/src/", "crates/schema/src/unique.rs", "crates/types/src/", "host/src/"],
    ),
    (
        "commands and marks in files, which this program finds again",
        &["crates/cli/src/adapter/claude_hooks.rs", "crates/cli/src/adapter/own_file.rs"],
    ),
    (
        "protocol errors, HTTP problem documents, and descriptions for a model",
        &[
            "crates/cli/src/commands/mcp/toolboxes.rs",
            "crates/dts/src/",
            "crates/mcp/src/bounds.rs",
            "crates/mcp/src/handler.rs",
            "crates/mcp/src/http/",
            "crates/mcp/src/malformed.rs",
            "crates/mcp/src/prompt.rs",
            "crates/mcp/src/request_state.rs",
            "crates/mcp/src/resources.rs",
            "crates/mcp/src/runtime.rs",
            "crates/mcp/src/server.rs",
            "crates/mcp/src/telemetry/",
            "crates/mcp/src/tools_call.rs",
            "crates/model-tools/src/builtin_tools.rs",
            "crates/model-tools/src/published.rs",
        ],
    ),
    ("JSON, which is the same in each language", &["crates/cli/src/commands/batch.rs", "crates/json/src/params.rs"]),
    ("options of a command", &["crates/cli/src/commands/run/outcome.rs"]),
    (
        "code, words and samples that are data",
        &[
            "crates/analysis/src/semantics/bindings/collect.rs",
            "crates/analysis/src/syntax/script/",
            "crates/analysis/src/testdata",
            "crates/cluster/src/postgres/connection.rs",
            "crates/policy/src/suggest.rs",
            "crates/reflection/src/index_terms/",
            "crates/reflection/src/operation.rs",
            "crates/reflection/src/proposal/",
            "crates/reflection/src/templates/clause.rs",
            "crates/toolcell/src/presentation/reflection.rs",
            "crates/toolcell/src/type_check/",
            "crates/toolcell/src/verification/",
            "crates/ui/src/headers.rs",
        ],
    ),
    (
        "what files, tables and profiles contain, and errors of these formats",
        &[
            "crates/cli/src/trust_list.rs",
            "crates/policy/src/raw_grants.rs",
            "crates/store/src/audit/append.rs",
            "crates/store/src/bundle/signature.rs",
            "crates/store/src/catalog/",
            "crates/store/src/db/",
            "crates/store/src/entry.rs",
            "crates/store/src/maintenance/index_check.rs",
            "crates/store/src/maintenance/refusals.rs",
            "crates/store/src/runs/records.rs",
            "crates/toolcell/src/execution/suspend/encryption.rs",
            "crates/toolcell/src/operations/profile/aggregate.rs",
            "crates/toolcell/src/receipt/format.rs",
        ],
    ),
    (
        "texts for the developer of a host or of its tests",
        &[
            "crates/testing/src/budget.rs",
            "crates/testing/src/harness.rs",
            "crates/testing/src/mocks.rs",
            "crates/toolcell/src/admission/hook/",
        ],
    ),
];

/// The macros and functions whose texts are for developers, programs or a log.
const DEVELOPER_TEXTS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "bug",
    "concat",
    "debug",
    "debug_assert",
    "env",
    "error",
    "expect",
    "include_str",
    "info",
    "json",
    "panic",
    "trace",
    "unreachable",
    "warn",
];

/// What the sources contain.
#[derive(Default)]
struct Texts {
    /// The keys of the catalogues, each with a file that has it.
    keys: BTreeMap<String, String>,
    /// Literals that read like sentences and are no keys, each as `file: literal`.
    untranslated: BTreeSet<String>,
}

/// What the derives of an item say.
#[derive(Clone, Copy, Default)]
struct Derives {
    localize: bool,
    coded: bool,
}

/// The scan of one file.
struct Scan<'a> {
    file: &'a str,
    texts: &'a mut Texts,
    /// The macros and functions around the current tokens.
    calls: Vec<String>,
}

/// Returns the text of a string literal.
fn text_of(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    syn::parse_str::<syn::LitStr>(&literal.to_string()).ok().map(|literal| literal.value())
}

/// Returns the name and the arguments of an attribute.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<(String, Vec<TokenTree>)> {
    let (TokenTree::Punct(hash), TokenTree::Group(group)) = (tokens.get(at)?, tokens.get(at + 1)?) else { return None };
    if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    let name = inner.first()?.to_string();
    let arguments = match inner.get(1) {
        Some(TokenTree::Group(arguments)) => arguments.stream().into_iter().collect(),
        _ => Vec::new(),
    };
    Some((name, arguments))
}

/// Whether an attribute of the enclosing module, or a comment about it, is here.
fn is_inner_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let is = |at: usize, char: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == char);
    is(at, '#') && is(at + 1, '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)))
}

/// Whether an item ends with this token.
fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => matches!(punct.as_char(), ';' | ','),
        _ => false,
    }
}

/// Returns the key that the derive of `Localize` makes of the text of `#[error]`: each placeholder has a name and no format.
fn error_key(text: &str) -> String {
    let (mut key, mut rest, mut next) = (String::new(), text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        key.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            key.push_str(&rest[..2]);
            rest = &rest[2..];
            continue;
        }
        let (inside, after) = rest[1..].split_once('}').unwrap();
        let mut name = inside.split(':').next().unwrap().trim().to_owned();
        if name.is_empty() {
            name = next.to_string();
            next += 1;
        }
        key.extend(["{", &name, "}"]);
        rest = after;
    }
    key + rest
}

/// Whether a text reads like a sentence: two words in a row, and it is neither a statement of SQL nor a command.
fn is_sentence(text: &str) -> bool {
    let is_sql =
        ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "CREATE "].iter().any(|verb| text.contains(verb));
    if is_sql || text.trim_start().starts_with("toolcell ") {
        return false;
    }
    let plain: String = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after)).collect();
    let is_word = |word: &&str| {
        let word = word.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'')
    };
    plain.split(' ').collect::<Vec<_>>().windows(2).any(|pair| pair.iter().all(is_word))
}

impl Scan<'_> {
    fn add(&mut self, key: String) {
        self.texts.keys.entry(key).or_insert_with(|| self.file.to_owned());
    }

    fn tokens(&mut self, stream: TokenStream, inherited: Derives) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let (mut at, mut derives) = (0, inherited);
        while at < tokens.len() {
            let mut attributes = Vec::new();
            while let Some(found) = attribute(&tokens, at) {
                attributes.push(found);
                at += 2;
            }
            if is_inner_attribute(&tokens, at) {
                at += 3;
                continue;
            }
            if !attributes.is_empty() {
                let is_test = attributes.iter().any(|(name, arguments)| {
                    let condition: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                    name == "test"
                        || name == "cfg" && condition[0] == "test"
                        || name == "cfg" && condition.join("").contains("(test")
                });
                if is_test {
                    while at < tokens.len() && !ends_item(&tokens[at]) {
                        at += 1;
                    }
                    at += 1;
                    continue;
                }
                derives = self.attributes(&attributes, inherited);
                continue;
            }
            self.token(&tokens, at, derives);
            if ends_item(&tokens[at]) {
                derives = inherited;
            }
            at += 1;
        }
    }

    /// Adds the texts of the attributes of an item, and returns what its derives say.
    fn attributes(&mut self, attributes: &[(String, Vec<TokenTree>)], inherited: Derives) -> Derives {
        let derived: Vec<String> = attributes
            .iter()
            .filter(|(name, _)| name == "derive")
            .flat_map(|(_, arguments)| arguments.iter().map(ToString::to_string))
            .collect();
        let has = |name: &str| derived.iter().any(|word| word == name);
        let derives =
            if derived.is_empty() { inherited } else { Derives { localize: has("Localize"), coded: has("Coded") } };
        for (name, arguments) in attributes {
            let Some(text) = arguments.first().and_then(text_of) else { continue };
            match name.as_str() {
                "error" if derives.localize => self.add(error_key(&text)),
                "hint" if derives.coded => self.add(text),
                _ => {}
            }
        }
        derives
    }

    fn token(&mut self, tokens: &[TokenTree], at: usize, derives: Derives) {
        match &tokens[at] {
            TokenTree::Group(group) => {
                let before = |back: usize| at.checked_sub(back).map(|at| &tokens[at]);
                let call = match (before(2), before(1)) {
                    (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(mark))) if mark.as_char() == '!' => {
                        if ["tr", "message", "msgid"].iter().any(|known| name == known) {
                            self.message(group.stream());
                        }
                        name.to_string()
                    }
                    (_, Some(TokenTree::Ident(name))) => name.to_string(),
                    _ => String::new(),
                };
                self.calls.push(call);
                self.tokens(group.stream(), derives);
                self.calls.pop();
            }
            token => {
                let Some(text) = text_of(token) else { return };
                let is_known = |call: &String| {
                    DEVELOPER_TEXTS.contains(&call.as_str()) || ["tr", "message", "msgid"].contains(&call.as_str())
                };
                if is_sentence(&text) && !self.calls.iter().any(is_known) {
                    self.texts.untranslated.insert(format!("{}: {text:?}", self.file));
                }
            }
        }
    }

    /// Adds the text of a macro: its first literal, with the context before `=>` if there is one.
    fn message(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let Some((at, text)) = tokens.iter().enumerate().find_map(|(at, token)| Some((at, text_of(token)?))) else {
            return;
        };
        let is_context = matches!(tokens.get(at + 1), Some(TokenTree::Punct(arrow)) if arrow.as_char() == '=');
        match tokens.get(at + 3).and_then(text_of) {
            Some(in_context) if is_context => self.add(format!("{text}\u{4}{in_context}")),
            _ => self.add(text),
        }
    }
}

/// Reads the sources of the product.
fn texts() -> Texts {
    let mut texts = Texts::default();
    for folder in ["crates", "host/src"] {
        walk(&root().join(folder), &mut |path| {
            let file = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let is_product = path.extension().is_some_and(|ending| ending == "rs")
                && file.contains("/src/")
                && !file.contains("/tests/")
                && !file.ends_with("tests.rs")
                && !file.starts_with("crates/i18n/")
                && !file.starts_with("crates/error-derive/");
            if !is_product {
                return;
            }
            let stream: TokenStream = read(&file).parse().unwrap_or_else(|error| panic!("{file}: {error}"));
            Scan { file: &file, texts: &mut texts, calls: Vec::new() }.tokens(stream, Derives::default());
        });
    }
    for code in toolcell_error::ErrorCode::ALL {
        if let Some(title) = code.title(toolcell_i18n::Lang::En) {
            texts.keys.insert(format!("title\u{4}{title}"), "crates/error/src/lib.rs".to_owned());
        }
    }
    for text in toolcell_cli::help_texts() {
        texts.keys.insert(text, "crates/cli/src/args.rs".to_owned());
    }
    texts
}

/// Returns a catalogue: its keys with their translations.
fn catalogue(language: &str) -> BTreeMap<String, String> {
    let path = root().join(format!("crates/i18n/po/{language}.po"));
    let catalog = polib::po_file::parse(Path::new(&path)).unwrap();
    let mut found = BTreeMap::new();
    for message in catalog.messages() {
        let key = match message.msgctxt() {
            Some(context) if !context.is_empty() => format!("{context}\u{4}{}", message.msgid()),
            _ => message.msgid().to_owned(),
        };
        let is_new = found.insert(key.clone(), message.msgstr().unwrap().to_owned()).is_none();
        assert!(is_new, "{language}.po has {key:?} twice");
        assert!(!message.is_fuzzy(), "{language}.po: {key:?} is fuzzy");
    }
    found
}

/// Returns the placeholders of a text, sorted.
fn placeholders(text: &str) -> Vec<String> {
    let plain = text.replace("{{", "").replace("}}", "");
    let mut found: Vec<String> =
        plain.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0.to_owned())).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn each_catalogue_translates_every_message() {
    let texts = texts();
    assert!(texts.keys.len() > 1_000, "{}", texts.keys.len());
    for language in LANGUAGES {
        let catalogue = catalogue(language);
        let missing: Vec<String> = texts
            .keys
            .iter()
            .filter(|(key, _)| catalogue.get(*key).is_none_or(String::is_empty))
            .map(|(key, file)| format!("{file}: {key:?}"))
            .collect();
        assert!(missing.is_empty(), "{language}.po lacks {} messages:\n{}", missing.len(), missing.join("\n"));
    }
}

#[test]
fn no_catalogue_has_a_message_that_no_source_has() {
    let texts = texts();
    for language in LANGUAGES {
        let catalogue = catalogue(language);
        let obsolete: Vec<&String> = catalogue.keys().filter(|key| !texts.keys.contains_key(*key)).collect();
        assert!(obsolete.is_empty(), "{language}.po: {obsolete:#?}");
    }
}

#[test]
fn a_translation_has_the_placeholders_of_its_message() {
    for language in LANGUAGES {
        for (key, translation) in catalogue(language) {
            let text = key.rsplit('\u{4}').next().unwrap();
            assert_eq!(placeholders(text), placeholders(&translation), "{language}.po: {key:?}");
        }
    }
}

#[test]
fn no_text_for_a_person_is_outside_of_the_catalogues() {
    let all = texts().untranslated;
    let paths = || NO_MESSAGES.iter().flat_map(|(_, paths)| *paths);
    let unused: Vec<&&str> = paths().filter(|path| !all.iter().any(|line| line.starts_with(**path))).collect();
    assert!(unused.is_empty(), "these paths have no such texts any more: {unused:?}");
    let untranslated: Vec<String> =
        all.into_iter().filter(|line| !paths().any(|path| line.starts_with(path))).collect();
    assert!(untranslated.is_empty(), "{} texts:\n{}", untranslated.len(), untranslated.join("\n"));
}

#[test]
fn texts_are_found_where_they_are() {
    let source = r#"
        const LABEL: &str = msgid!("a label");
        #[derive(Debug, Localize, Coded)]
        #[hint("a default")]
        enum Error {
            #[error("{} of {count:?}", self.0)]
            #[hint("do this")]
            Many(u32),
        }
        #[derive(thiserror::Error)]
        #[error("not a message")]
        struct Bug;
        fn f(lang: Lang) {
            writeln!(out, "{}", tr!(lang, "noun" => "run"));
            println!("a plain sentence");
            assert!(true, "an assertion for developers");
        }
        #[cfg(test)]
        mod tests { const TEXT: &str = msgid!("a text of a test"); }
    "#;
    let mut texts = Texts::default();
    Scan { file: "f.rs", texts: &mut texts, calls: Vec::new() }.tokens(source.parse().unwrap(), Derives::default());
    let keys: Vec<&str> = texts.keys.keys().map(String::as_str).collect();
    assert_eq!(keys, ["a default", "a label", "do this", "noun\u{4}run", "{0} of {count}"]);
    assert_eq!(texts.untranslated.into_iter().collect::<Vec<_>>(), ["f.rs: \"a plain sentence\""]);
}
