//! The MCP server as its clients see it: round trips, the start, what idle connections take, and what is left to one
//! principal while another takes all it can.

mod crowd;
mod fair;
mod start;
mod trips;

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::client::{Era, Lines, Message, Way, toolcell};
use crate::engines::STRING_REVERSE;
use crate::process::target_folder;
use crate::table::Table;

/// What the result of the tool looks like in an answer.
const RESULT: &str = r#""value":"dlroW olleH""#;

pub(crate) fn measure(table: &mut Table) {
    let Some(place) = Place::new(table) else { return };
    trips::measure(table, &place);
    start::measure(table, &place);
    crowd::measure(table, &place);
}

/// What is left to a principal beside others: `cargo bench --bench ratios -- fair`.
pub(crate) fn measure_fairness(table: &mut Table) {
    let Some(place) = Place::new(table) else { return };
    fair::measure(table, &place);
}

/// Where servers and their stores are.
struct Place {
    program: PathBuf,
    folder: TempDir,
}

impl Place {
    /// None where the server is not built, which the table then says.
    fn new(table: &mut Table) -> Option<Self> {
        let program = target_folder().join("release/toolcell");
        if !program.is_file() {
            table.section("the MCP server");
            table.note("toolcell mcp: not built; `cargo build --release -p toolcell-cli` builds it");
            return None;
        }
        Some(Self { program, folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() })
    }

    fn store(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server over standard input and output.
    fn lines(&self, store: &Path, way: Way) -> Lines {
        Lines::start(toolcell(&self.program, store), way)
    }

    /// A store with the small tool in it.
    fn stocked(&self, name: &str) -> PathBuf {
        let store = self.store(name);
        let mut lines = self.lines(&store, Way::Pipes);
        let answer = lines.ask(&creation("string_reverse", STRING_REVERSE.source));
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        drop(lines);
        store
    }
}

/// A request for a tool that reads one text.
fn creation(name: &str, source: &str) -> Message {
    let parameters = json!({"text": {"type": "string", "description": "The text"}});
    let (about, code) = ("Reverses a text", source);
    let arguments = json!({"name": name, "description": about, "code": code, "parameters": parameters});
    Message::call(Era::Stateless, 1, "create_tool", &arguments)
}

/// A request for a run of the small tool.
fn small_run(era: Era) -> Message {
    Message::run(era, 7, "string_reverse", &json!({"text": "Hello World"}))
}
