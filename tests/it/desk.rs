//! The sentence that tests of the commands about tools are written in: `Desk::with_mean().run(&["run", "mean", "numbers=[1]"])`.

use std::fs;
use std::io::Cursor;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::CancelToken;
use toolcell_cli::Streams;

use crate::command_line::Done;

pub(crate) const MEAN: &str = "const execute = ({ numbers, unit }) => \
    numbers.reduce((a, b) => a + b, 0) / numbers.length + (unit ?? 0)\n";
pub(crate) const PARAMETERS: &str = r#"{
    "numbers": {"type": "array", "description": "what to take the mean of", "required": true},
    "unit": {"type": "string", "description": "what it is in"}
}"#;

/// A folder with a store in it that is made when it is needed, and files beside that.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) lang: &'static str,
    /// Whether a terminal is looked at.
    pub(crate) terminal: bool,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lang: "en", terminal: false }
    }

    /// One with `mean` in its store.
    pub(crate) fn with_mean() -> Self {
        let desk = Self::new();
        desk.file("mean.js", MEAN);
        let words = ["create", "$mean.js", "--description", "Takes a mean", "--parameters", PARAMETERS];
        assert_eq!(desk.run(&words).status, 0);
        desk
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, words: &[&str]) -> Done {
        self.run_with(words, b"", &CancelToken::new())
    }

    /// `$` stands for the folder.
    pub(crate) fn run_with(&self, words: &[&str], input: &[u8], cancel: &CancelToken) -> Done {
        let folder = self.folder.path().to_str().unwrap();
        let dir = format!("{folder}/store");
        let words = words.iter().map(|word| match word.strip_prefix("@$").or(word.strip_prefix('$')) {
            Some(name) if word.starts_with('@') => format!("@{folder}/{name}"),
            Some(name) => format!("{folder}/{name}"),
            None => (*word).to_owned(),
        });
        let first = ["toolcell", "--lang", self.lang, "--dir", &dir].map(str::to_owned);
        let words: Vec<String> = first.into_iter().chain(words).collect();
        let (mut input, mut out, mut err) = (Cursor::new(input.to_vec()), Vec::new(), Vec::new());
        let streams = Streams {
            input: &mut input,
            output: &mut out,
            errors: &mut err,
            output_is_terminal: self.terminal,
            errors_are_terminal: false,
            input_is_terminal: false,
        };
        let exit = toolcell_cli::run(words, streams, cancel);
        Done { status: exit.status(), out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
    }

    /// Makes a tool that returns nothing much.
    pub(crate) fn tool(&self, name: &str, description: &str, words: &[&str]) -> Value {
        let first = ["create", "-", "--json", "--name", name, "--description", description];
        let source = format!("const execute = () => '{name}'");
        let done = self.run_with(&[&first, words].concat(), source.as_bytes(), &CancelToken::new());
        assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
        done.json()
    }
}

#[track_caller]
pub(crate) fn check(done: &Done, status: u8, out: &str, err: &str) {
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (status, out, err));
}

/// What an error is called, and the exit status.
#[track_caller]
pub(crate) fn refused(done: &Done, status: u8, code: &str) {
    let answer = done.json();
    assert_eq!((done.status, &answer["outcome"], &answer["error"]["code"]), (status, &json!("refused"), &json!(code)));
    assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{}", done.out);
}
