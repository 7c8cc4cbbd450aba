//! Tests of the guarantees of the audit log.
#![expect(clippy::disallowed_methods, reason = "the tests damage the files of the log")]

mod appending;
mod forged;
mod many;
mod queries;
mod tampered;

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_tool::ToolId;

use super::files::{CURRENT, HEAD, LogFile};
use super::{
    Action, Audit, AuditConfig, AuditContents, AuditEvent, AuditFilter, AuditOrder, AuditReport, Details, Digest,
    Durability, EventFailure, Head,
};
use crate::directory::{Directory, OnMissing};

const CONFIG: AuditConfig =
    AuditConfig { contents: AuditContents::Digests, durability: Durability::Unsynced, file_limit: 10 << 20 };

/// An audit log in a temporary directory.
struct LogFixture {
    folder: tempfile::TempDir,
    audit: Audit,
}

impl LogFixture {
    fn new() -> Self {
        Self::with(CONFIG)
    }

    fn with(config: AuditConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let audit = open(folder.path(), config);
        Self { folder, audit }
    }

    /// A log with this many lines.
    fn with_lines(lines: u64) -> Self {
        let world = Self::new();
        world.run(lines);
        world
    }

    /// Appends this many lines.
    fn run(&self, lines: u64) -> Option<Head> {
        (0..lines).map(|number| self.audit.record(&attempt(number)).unwrap()).last()
    }

    /// Opens the log a second time, as another process would.
    fn reopen(&self) -> Audit {
        open(self.folder.path(), CONFIG)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path(CURRENT)).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn write(&self, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(CURRENT), content).unwrap();
    }

    fn verify(&self) -> AuditReport {
        self.audit.verify(None).unwrap()
    }

    /// The sequence numbers of all lines that a query finds.
    fn numbers(&self) -> Vec<u64> {
        let lines = self.audit.query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
        lines.filter_map(|line| line.unwrap().seq).collect()
    }

    /// The problems that a verification reports, as text.
    fn problem_texts(&self) -> Vec<String> {
        self.verify().problems.iter().map(ToString::to_string).collect()
    }
}

fn open(path: &std::path::Path, config: AuditConfig) -> Audit {
    Audit::open(&Directory::open(path, OnMissing::Create).unwrap(), config).unwrap()
}

fn at(number: u64) -> Timestamp {
    Timestamp::from_millisecond(1_767_225_600_000 + i64::try_from(number).unwrap()).unwrap()
}

fn tool(byte: u8) -> ToolId {
    ToolId::from_bytes([byte; 32])
}

/// A run of a tool; every third one fails.
fn attempt(number: u64) -> AuditEvent<'static> {
    let failure = EventFailure { code: ErrorCode::Timeout, message: Some("the tool said something".to_owned()) };
    AuditEvent {
        tool: Some(tool(u8::try_from(number % 5).unwrap())),
        name: Some(format!("tool_{}", number % 5)),
        result: if number % 3 == 2 { Err(failure) } else { Ok(()) },
        details: Details { parameters: Some(Digest::new(b"{\"x\":1}")), fuel: Some(number), ..Details::default() },
        ..AuditEvent::new(Action::RunDynamicTool, at(number))
    }
}
