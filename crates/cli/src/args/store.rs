//! Arguments of the commands on the whole store: `fsck`, `gc`, `export`, `import` and `audit`.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{Span, SpanRelativeTo, Timestamp};
use toolcell::IdPrefix;
use toolcell::store::audit::{Action, AuditFilter, AuditOrder, Head, HeadError};

use clap::{Subcommand, ValueEnum};
use toolcell_i18n::{Localize as _, Message, message};

use super::usage_error::ValueError;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell fsck\n  toolcell fsck --json\n\n\
    Exit status: 0 no problems, or all were repaired; 6 problems remain")]
pub(crate) struct FsckArgs {
    /// Quarantine damaged objects and rebuild a damaged index; nothing is deleted
    #[arg(long)]
    pub(crate) repair: bool,

    /// With --repair: adopt a history step missing from the index, by its name or a prefix of its
    /// hash; other such steps are quarantined
    #[arg(long, value_name = "STEP", requires = "repair")]
    pub(crate) adopt: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell gc --dry-run\n  toolcell gc --older-than 1h\n\n\
    Deleted tools can be restored with `toolcell undelete` until they are collected.")]
pub(crate) struct GcArgs {
    /// Collect only what was deleted longer ago than this: 30d, 12h, 0s
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    pub(crate) older_than: Duration,

    /// Show what would be collected, without deleting
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell export > tools.bundle\n  toolcell export average json-to-csv -o tools.bundle\n  \
    toolcell export -o tools.bundle --sign minisign.key\n\n\
    The same tools produce the same bytes. The signature is a file beside the bundle, tools.bundle.minisig, which\n\
    `minisign -V -m tools.bundle -p minisign.pub` can verify too. The key's password is read from\n\
    TOOLCELL_KEY_PASSWORD."
)]
pub(crate) struct ExportArgs {
    /// Tool names or identifiers; all tools if none is given
    pub(crate) tools: Vec<String>,

    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Include earlier versions
    #[arg(long)]
    pub(crate) history: bool,

    /// Sign with this minisign secret key
    #[arg(long, value_name = "KEY", requires = "output")]
    pub(crate) sign: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell import tools.bundle\n  toolcell import tools.bundle --key author.pub --signed\n  \
    cat tools.bundle | toolcell import -\n\n\
    Imported tools are always analyzed, unverified and unapproved, whatever the bundle says. A signature beside the\n\
    bundle (tools.bundle.minisig) is verified with the keys in the store's `keys/` folder and those given with --key.\n\
    Exit status: 0 done, 2 not a bundle, 3 a tool is refused, 4 a name is taken, 6 the content does not match its hash"
)]
pub(crate) struct ImportArgs {
    /// A bundle file, or - for standard input
    pub(crate) file: String,

    /// Import as a new version if the name is taken
    #[arg(long)]
    pub(crate) replace: bool,

    /// Trust this minisign public key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<PathBuf>,

    /// Reject an unsigned bundle
    #[arg(long)]
    pub(crate) signed: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell audit --limit 20\n  toolcell audit --tool average --outcome failed --since 2026-11-01T00:00:00Z\n  \
        toolcell audit record\n  toolcell audit verify"
)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,

    /// Only events of this tool: a name or an identifier
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// Only events of this action, such as `run_dynamic_tool` or `import`
    #[arg(long, value_name = "ACTION", value_parser = parse_action)]
    action: Option<Action>,

    /// Only events at or after this time: 2026-11-21T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,

    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,

    /// Only events with this outcome
    #[arg(long, value_name = "OUTCOME")]
    outcome: Option<OutcomeFilter>,

    /// Maximum number of lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u64,

    /// Oldest events first
    #[arg(long)]
    oldest_first: bool,
}

/// The outcome of an audited attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeFilter {
    /// It succeeded
    Succeeded,
    /// It failed or was refused
    Failed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the record of a run: outcome, grants and effects
    #[command(
        after_help = "Examples:\n  toolcell audit record\n  toolcell audit record r_00c0ffee00c0ffee-1f --json\n\n\
        Each effect is listed with its phase: none, started (it may have happened) or committed. After 256 effects,\n\
        the rest is counted by kind.\n\
        Exit status: 0 done, 4 no such record"
    )]
    Record {
        /// Run identifier from the log, or the record hash from `run --json` [default: the last
        /// run]
        #[arg(value_name = "RUN|HASH")]
        run: Option<String>,
    },
    /// Verify the hash chain of the log: find changed, dropped and moved lines
    #[command(after_help = "Exit status: 0 the log is intact, 6 it was changed\n\n\
        The hash chain has no key: anyone with write access to the log can rewrite all of it. A head that you store\n\
        elsewhere proves that nothing up to it was changed.")]
    Verify {
        /// Head printed by an earlier verification, which the log must contain
        #[arg(long, value_name = "SEQ:HASH", value_parser = parse_head)]
        head: Option<Head>,
    },
}

impl AuditArgs {
    /// Returns the filter that the options describe.
    pub(crate) fn filter(&self) -> AuditFilter {
        let tool = self.tool.as_deref().map(IdPrefix::parse);
        AuditFilter {
            // Anything that is not an identifier is taken as a name, even an invalid one: such
            // attempts are logged too.
            name: self.tool.clone().filter(|_| matches!(tool, Some(Err(_)))),
            tool: tool.and_then(Result::ok),
            action: self.action,
            since: self.since,
            until: self.until,
            success: self.outcome.map(|outcome| outcome == OutcomeFilter::Succeeded),
            limit: Some(self.limit),
        }
    }

    /// Returns the order of the lines.
    pub(crate) fn order(&self) -> AuditOrder {
        if self.oldest_first { AuditOrder::OldestFirst } else { AuditOrder::NewestFirst }
    }
}

fn parse_action(text: &str) -> Result<Action, ValueError> {
    Action::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Action::ALL.into_iter().map(Action::name).collect();
        ValueError(message!("expected one of {names}", names = names.join(", ")))
    })
}

fn parse_head(text: &str) -> Result<Head, ValueError> {
    text.parse().map_err(|error: HeadError| ValueError(error.localize()))
}

/// Parses an RFC 3339 timestamp.
fn parse_time(text: &str) -> Result<Timestamp, ValueError> {
    text.parse().map_err(|_| ValueError(message!("expected a time such as 2026-11-21T12:00:00Z")))
}

/// Parses a non-negative duration such as `30d`. A day has 24 hours.
pub(super) fn parse_age(text: &str) -> Result<Duration, ValueError> {
    let span: Span = text.parse().map_err(|_| ValueError(message!("expected a duration such as 30d, 12h or 90s")))?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|error| ValueError(Message::verbatim(error.to_string())))?;
    Duration::try_from(duration).map_err(|_| ValueError(message!("the duration is negative")))
}
