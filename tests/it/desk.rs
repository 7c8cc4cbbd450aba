//! The fixture of CLI tests about tools: `CliFixture::with_mean().run(&["run", "mean",
//! "numbers=[1]"])`.

use std::fs;
use std::io::Cursor;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::CancelToken;
use toolcell_cli::Streams;

use crate::command_line::CommandOutput;

pub(crate) const MEAN: &str = "const execute = ({ numbers, unit }) => \
    numbers.reduce((a, b) => a + b, 0) / numbers.length + (unit ?? 0)\n";
pub(crate) const PARAMETERS: &str = r#"{
    "numbers": {"type": "array", "description": "what to take the mean of", "required": true},
    "unit": {"type": "string", "description": "what it is in"}
}"#;

/// A temporary folder with files and with a store that is created on first use.
pub(crate) struct CliFixture {
    pub(crate) folder: TempDir,
    pub(crate) lang: &'static str,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
}

impl CliFixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lang: "en", terminal: false }
    }

    /// Creates a fixture whose store contains the tool `mean`.
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

    pub(crate) fn run(&self, words: &[&str]) -> CommandOutput {
        self.run_with(words, b"", &CancelToken::new())
    }

    /// Runs a command; `$` in its words stands for the folder.
    pub(crate) fn run_with(&self, words: &[&str], input: &[u8], cancel: &CancelToken) -> CommandOutput {
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
        CommandOutput {
            status: exit.status(),
            out: String::from_utf8(out).unwrap(),
            err: String::from_utf8(err).unwrap(),
        }
    }

    /// Creates a tool with a trivial body.
    pub(crate) fn tool(&self, name: &str, description: &str, words: &[&str]) -> Value {
        let first = ["create", "-", "--json", "--name", name, "--description", description];
        let source = format!("const execute = () => '{name}'");
        let done = self.run_with(&[&first, words].concat(), source.as_bytes(), &CancelToken::new());
        assert_eq!((done.status, &*done.err), (0, ""), "{}", done.out);
        done.json()
    }
}

#[track_caller]
pub(crate) fn assert_output(done: &CommandOutput, status: u8, out: &str, err: &str) {
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (status, out, err));
}

/// Asserts the exit status and the error code.
#[track_caller]
pub(crate) fn assert_refused(done: &CommandOutput, status: u8, code: &str) {
    let answer = done.json();
    assert_eq!((done.status, &answer["outcome"], &answer["error"]["code"]), (status, &json!("refused"), &json!(code)));
    assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{}", done.out);
}
