//! The MCP server as its clients see it: round trips, startup, the memory of idle connections, and
//! fairness between principals.

mod crowd;
mod fair;
mod nodes;
mod start;
mod trips;

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::client::{Era, Message, StdioClient, StdioKind, serve_command};
use crate::engines::STRING_REVERSE;
use crate::process::target_folder;
use crate::table::Table;

/// The tool's result in a reply.
const RESULT: &str = r#""value":"dlroW olleH""#;

pub(crate) fn measure(table: &mut Table) {
    let Some(place) = BenchFolder::new(table) else { return };
    trips::measure(table, &place);
    start::measure(table, &place);
    crowd::measure(table, &place);
}

/// Measures what a principal gets beside others: `cargo bench --bench ratios -- fair`.
pub(crate) fn measure_fairness(table: &mut Table) {
    let Some(place) = BenchFolder::new(table) else { return };
    fair::measure(table, &place);
}

/// Measures nodes of a shared library: `cargo bench --bench ratios -- nodes`.
pub(crate) fn measure_nodes(table: &mut Table) {
    let Some(place) = BenchFolder::new(table) else { return };
    nodes::measure(table, &place);
}

/// The folder with the servers' stores.
struct BenchFolder {
    program: PathBuf,
    folder: TempDir,
}

impl BenchFolder {
    /// Returns `None` if the server is not built, and notes that in the table.
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

    /// Starts a server over standard input and output.
    fn lines(&self, store: &Path, way: StdioKind) -> StdioClient {
        StdioClient::start(serve_command(&self.program, store), way)
    }

    /// Creates a store with the small tool.
    fn stocked(&self, name: &str) -> PathBuf {
        let store = self.store(name);
        let mut lines = self.lines(&store, StdioKind::Pipes);
        let answer = lines.ask(&creation("string_reverse", STRING_REVERSE.source));
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        drop(lines);
        store
    }
}

/// Returns a request to create a tool with one string parameter.
fn creation(name: &str, source: &str) -> Message {
    let parameters = json!({"text": {"type": "string", "description": "The text"}});
    let (about, code) = ("Reverses a text", source);
    let arguments = json!({"name": name, "description": about, "code": code, "parameters": parameters});
    Message::call(Era::Stateless, 1, "create_tool", &arguments)
}

/// Returns a request to run the small tool.
fn small_run(era: Era) -> Message {
    Message::run(era, 7, "string_reverse", &json!({"text": "Hello World"}))
}
